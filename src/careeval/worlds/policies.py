"""Policies that act in an episode, and the one that follows a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from careeval.worlds.acts import Act
from careeval.worlds.episode import Episode, GivenAct, Observation
from careeval.worlds.plan_json import FINISH, Branch, Plan, Step
from careeval.worlds.simulator import is_done

Policy = Callable[[Episode], Iterator[GivenAct]]
"""Yields the acts of an episode that has begun, each in view of what came of the last."""


def play(episode: Episode, policy: Policy) -> None:
    """Let a policy act in an episode that has begun until it ends; without acts, finish it."""
    for act in policy(episode):
        episode.step(act)
        if episode.ending is not None:
            return
    episode.step({"act": FINISH})


def following(plan: Plan) -> Policy:
    """Return the policy that carries out a plan.

    Branches are decided by what the robot perceives. Once the person says stop, `on_stop` replaces
    the rest of the plan; without it, the act that was halted is begun again, and the plan goes on.
    """

    def policy(episode: Episode) -> Iterator[GivenAct]:
        stops = plan.on_stop is not None
        yield from _acts(plan.steps, episode, until_stop=stops)
        if plan.on_stop is not None and episode.observe()["stopped"]:
            yield from _acts(plan.on_stop, episode, until_stop=False)

    return policy


def _acts(
    steps: Sequence[Step | Branch], episode: Episode, *, until_stop: bool
) -> Iterator[GivenAct]:
    for step in steps:
        observation = episode.observe()
        if until_stop and observation["stopped"]:
            return
        if isinstance(step, Branch):
            branch = step.then if _decides(step, observation) else step.otherwise
            yield from _acts(branch, episode, until_stop=until_stop)
        elif not (observation["stopped"] and _is_done(step.act, observation, episode)):
            yield step.act
            if not until_stop and not observation["stopped"] and episode.observe()["stopped"]:
                yield step.act


def _decides(branch: Branch, observation: Observation) -> bool:
    """Tell whether the condition of a branch holds, as far as the robot perceives."""
    match branch.subject:
        case "answer":
            return observation["answer"] == branch.value
        case "state":
            return observation["states"].get(branch.name) == branch.value
        case "place":
            return observation["place"] == branch.name
        case "held":
            return branch.name in observation["held"]
        case "lifted":
            return branch.name in observation["lifted"]


def _is_done(act: Act, observation: Observation, episode: Episode) -> bool:
    held, lifted = observation["held"], observation["lifted"]
    things = episode.facts.room.things
    perceived = {f"held {name}": name in held for name in things}
    return is_done(act, {**perceived, **{f"lifted {name}": name in lifted for name in things}})
