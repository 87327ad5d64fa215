"""Tests of the environment of Gymnasium: it is what Gymnasium asks for, and it is the episode."""

from __future__ import annotations

import runpy
import sys
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from careeval.bank.load import load_with_key
from careeval.errors import UsageError
from careeval.worlds import environment
from careeval.worlds.environment import EpisodeEnv
from careeval.worlds.episode import ANSWERS
from careeval.worlds.world import World
from support.plan_worlds import small_facts

WORLDS = [each for each in load_with_key("plans", probes=False) if isinstance(each, World)]


def place_of(env: EpisodeEnv, act: str, **arguments: Any) -> int:
    """Return the action of the first act of a name whose arguments have these values."""
    return next(
        place
        for place, each in enumerate(env.acts)
        if not isinstance(each, dict)
        and each.act == act
        and all(getattr(each, name) == value for name, value in arguments.items())
    )


def ones(env: EpisodeEnv, observation: Any) -> set[str]:
    """Return the features that are 1."""
    return {name for name, each in zip(env.features, observation, strict=True) if each == 1}


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.id)
def test_every_world_is_an_environment(world: World) -> None:
    """Gymnasium's own check finds nothing; each feature has a name of its own."""
    env = EpisodeEnv(world)
    check_env(env, skip_render_check=True)
    assert len(set(env.features)) == len(env.features)


def test_an_observation_is_what_the_robot_perceives() -> None:
    """It says what was heard, held and checked, and how much of the episode is left."""
    env = EpisodeEnv(small_facts(), "yes", max_acts=10)
    observation, info = env.reset()
    assert ones(env, observation) == {"result none", "answer none", "place here", "acts left"}
    for act in (("ask",), ("wait-for-answer",), ("check", "mouth"), ("grasp", "cup")):
        action = place_of(env, act[0], **dict(zip(("thing",), act[1:], strict=False)))
        observation, reward, *_, info = env.step(action)
    assert ones(env, observation) == {
        *("result done", "answer yes", "place here"),
        *("held cup", "state mouth empty"),
    }
    shares = dict(zip(env.features, observation, strict=True))
    assert shares["acts left"] == np.float32(0.6)
    assert shares["clock"] == np.float32(env.episode.observe()["clock_s"] / (10 * 300))
    assert (reward, info["points"]) == (0, 1)


def test_what_is_done_and_earned_is_that_of_the_episode() -> None:
    """At random, under the mask: no act fails, and the rewards add up to the points."""
    for seed in range(20):
        env = EpisodeEnv(small_facts())
        env.action_space.seed(seed)
        _, info = env.reset(seed=seed)
        total, ended = 0.0, False
        while not ended:
            action = env.action_space.sample(info["action_mask"])
            _, reward, terminated, truncated, info = env.step(action)
            total, ended = total + reward, terminated or truncated
        assert total == info["points"] == env.episode.result().points
        assert not [t for t in env.episode.turns if t.observation["result"].startswith("not")]


def test_the_mask_says_what_is_possible() -> None:
    """Finishing always is; a masked act fails, and three in a row end the episode."""
    env = EpisodeEnv(small_facts(), "yes")
    _, info = env.reset()
    mask = info["action_mask"]
    legal = env.episode.legal_acts()
    assert [act for act, one in zip(env.acts, mask, strict=True) if one] == [*legal, env.acts[-1]]
    masked = int(np.flatnonzero(mask == 0)[0])
    for terminated in (False, False, True):
        assert env.step(masked)[2:4] == (terminated, False)
    assert env.episode.ending == "broken off"


def test_an_environment_ends() -> None:
    """`finish` is the last action; after the most acts the episode is cut off."""
    env = EpisodeEnv(small_facts(), max_acts=2)
    env.reset()
    assert env.step(len(env.acts) - 1)[2:4] == (True, False)
    env.reset()
    env.step(0)
    assert env.step(0)[2:4] == (False, True)


def test_the_answer_is_given_or_drawn() -> None:
    """`options` name it; if they do not, it is that of the environment, or the seed's."""
    env = EpisodeEnv(small_facts())
    env.reset(options={"answer": "stop"})
    assert env.episode.course.answer == "stop"
    drawn = []
    for seed in [*range(20), *range(20)]:
        env.reset(seed=seed)
        drawn.append(env.episode.course.answer)
    assert drawn[:20] == drawn[20:]
    assert set(drawn) == set(ANSWERS)
    with pytest.raises(UsageError, match="answer 'maybe' is not known"):
        env.reset(options={"answer": "maybe"})


@pytest.mark.parametrize("action", [-1, 1000])
def test_an_action_that_is_not_there_is_refused(action: int) -> None:
    """A place beyond the acts is a mistake of the program, not of the robot."""
    env = EpisodeEnv(small_facts())
    env.reset()
    with pytest.raises(UsageError, match=f"there is no action {action}"):
        env.step(action)


def test_without_gymnasium_the_error_says_what_to_install(monkeypatch: Any) -> None:
    """The module can be imported; an environment cannot be made."""
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    assert environment.__file__ is not None
    module = runpy.run_path(environment.__file__)
    with pytest.raises(UsageError, match="Gymnasium is not installed") as error:
        module["EpisodeEnv"](small_facts())
    assert error.value.hint == "pip install 'careeval[gym]'"
