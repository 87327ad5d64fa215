"""An episode as an environment of Gymnasium, for programs that learn or search.

```python
env = careeval.EpisodeEnv("eating-p01")
observation, info = env.reset(seed=1)
action = env.action_space.sample(info["action_mask"])
observation, reward, terminated, truncated, info = env.step(action)
```
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from careeval.core.scenario import Answer
from careeval.errors import UsageError
from careeval.worlds.acts import Act
from careeval.worlds.effects import BETWEEN
from careeval.worlds.episode import DONE, LATE, MAX_ACTS, STOPPED, Episode, Observation
from careeval.worlds.judge import Facts
from careeval.worlds.world import World

try:
    from gymnasium import Env, spaces
except ModuleNotFoundError:

    class Env:  # type: ignore[no-redef]
        """Stands in for Gymnasium's class where it is not installed."""

        def __class_getitem__(cls, _types: object) -> type:
            return cls

        def __new__(cls, *_args: object, **_settings: object) -> Self:
            """Refuse to make one."""
            raise UsageError("Gymnasium is not installed", hint="pip install 'careeval[gym]'")


RESULTS = ("", DONE, LATE, STOPPED, "not possible")
"""Kinds of results: what stands before a colon in the result of an observation."""

HEARD = ("none", "yes", "no", "silence")
"""Answers of an observation."""


class EpisodeEnv(Env[NDArray[np.float32], np.int64]):
    """An episode as an environment of Gymnasium: numbers in place of words.

    An action is a place in `acts`. `info["action_mask"]` has a 1 for each that is possible now; any
    other fails as a system's act does, and three in a row end the episode. The reward is the change
    in points.

    An observation has a number from 0 to 1 for each of `features`: a 1 for what is so, or the share
    of the acts that are left, and of the longest time that they may take. All states of a thing are
    0 until the robot has checked it.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  (Gymnasium's own form)

    def __init__(
        self,
        world: str | World | Facts,
        answer: Answer | None = None,
        *,
        variant: Mapping[str, str] = {},
        max_acts: int = MAX_ACTS,
        bank: str | Path = "plans",
    ) -> None:
        """Prepare an environment; the arguments, and what is raised, are those of `Episode`."""
        self.episode = Episode(world, answer, variant=variant, max_acts=max_acts, bank=bank)
        self.acts: tuple[Act | Mapping[str, str], ...]
        self.acts = (*self.episode.candidates, {"act": "finish"})
        self._max_s = max_acts * max(act.duration_s for act in self.episode.candidates)
        self.features = tuple(self._numbers(self.episode.observe()))
        self.action_space = spaces.Discrete(len(self.acts))
        self.observation_space = spaces.Box(0, 1, (len(self.features),), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin anew; `options` may name the person's `answer`, which is drawn if nobody does."""
        super().reset(seed=seed)
        observation, info = self.episode.reset(seed=seed, options=options)
        return self._array(observation), self._with_mask(info)

    def step(
        self, action: np.int64 | int
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Carry out the act at a place in `acts`: see `Episode.step`.

        Raises:
            UsageError: There is no such place, or the episode has ended.
        """
        if not self.action_space.contains(action):
            raise UsageError(f"there is no action {action}", hint=f"0 to {len(self.acts) - 1}")
        observation, reward, terminated, truncated, info = self.episode.step(self.acts[action])
        return self._array(observation), reward, terminated, truncated, self._with_mask(info)

    def _with_mask(self, info: dict[str, Any]) -> dict[str, Any]:
        mask = np.array([*self.episode.are_possible(), True], np.int8)
        return {**info, "action_mask": mask}

    def _array(self, observation: Observation) -> NDArray[np.float32]:
        return np.array([*self._numbers(observation).values()], np.float32)

    def _numbers(self, observation: Observation) -> dict[str, float]:
        """Return the numbers of an observation by what each is about, in a fixed order."""
        room = self.episode.facts.room
        result = observation["result"].partition(":")[0]
        told = {
            **{f"result {each or 'none'}": result == each for each in RESULTS},
            **{f"answer {each}": observation["answer"] == each for each in HEARD},
            "stopped": observation["stopped"],
            **{f"place {each}": observation["place"] == each for each in (*room.places, BETWEEN)},
            **{f"held {name}": name in observation["held"] for name in room.things},
            **{f"lifted {name}": name in observation["lifted"] for name in room.things},
            **{
                f"state {name} {state}": observation["states"].get(name) == state
                for name, thing in room.things.items()
                if thing.states
                for state in (*thing.states, BETWEEN)
            },
        }
        return {
            **{feature: float(is_so) for feature, is_so in told.items()},
            "acts left": observation["acts_left"] / self.episode.max_acts,
            "clock": observation["clock_s"] / self._max_s,
        }
