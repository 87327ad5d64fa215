"""Scenarios answered by simulated systems whose true numbers are known.

A population stands for all scenarios. It holds a few systems' ten answers to each of many of them,
those to a twin added to those to its base, so that a bank is some of its scenarios drawn at random,
and the truth is the ratio of sums over all of them.

It has the features of real banks that make intervals difficult: rubrics of six to nine items with
few positive points, answers that are the same every time, many scenarios without an error beside a
few in which everything goes wrong, and scores near the maximum. None of it was chosen by the
coverage of an interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

FloatArray = NDArray[np.float64]

N_EPOCHS = 10

LEVELS = (0.55, 0.70, 0.80, 0.90, 0.95)
"""True scores."""

EASY = {0.55: 0.05, 0.70: 0.15, 0.80: 0.25, 0.90: 0.40, 0.95: 0.60}
"""Level → share of scenarios in which such a system never makes an error."""
TRAP = {0.55: 0.08, 0.70: 0.06, 0.80: 0.05, 0.90: 0.03, 0.95: 0.015}
"""Level → share of scenarios in which such a system nearly always makes severe errors."""

# Positive points sum to 5 to 7; with its negatives a rubric has six to nine items.
RUBRICS = (
    (2, 2, 2, -2, -1, -1),
    (2, 2, 1, 1, -2, -1),
    (2, 2, 1, -2, -2, -1),
    (2, 1, 1, 1, -2, -1, -1),
    (2, 2, 1, 1, 1, -2, -2, -1, -1),
    (2, 1, 1, 1, 1, -2, -1, -1),
    (2, 2, 2, 1, -1, -1, -1),
)
TWIN = 0.3
"""Share of scenarios that have a twin."""

# Standard deviations on the logit scale: how hard a scenario is for every system, for one of them,
# beside its twin, an item, and one answer.
SCENARIO_SD, SYSTEM_SD, TWIN_SD, ITEM_SD, EPOCH_SD = 1.0, 0.7, 0.5, 1.5, 0.5
MILD_LOGIT, SEVERE_LOGIT = -1.5, -2.5
EASY_LOGIT, TRAP_LOGIT = 30.0, -3.0
SHARED = 0.6
"""Share of scenarios that are easy, or traps, for all systems alike."""


@dataclass(frozen=True)
class System:
    """The parameters of a simulated system.

    Attributes:
        level: Its true score.
        easy: Added to the share of easy scenarios.
        traps: Factor of the share of traps.
        own: Distinguishes systems that are otherwise alike.
    """

    level: float
    easy: float = 0.0
    traps: float = 1.0
    own: int = 0


@dataclass(frozen=True, eq=False)
class Answers:
    """One system's answers, summed by scenario; every array has shape (n_scenarios,).

    Attributes:
        score: Points, mean of the epochs.
        worst: Points of the lowest epoch of each scenario.
        domain: Points weighted by how far each item bears on one domain.
        severe: Responses with an item of -2, mean of the epochs.
    """

    score: FloatArray
    worst: FloatArray
    domain: FloatArray
    severe: FloatArray

    def mixed(self, other: Answers, chosen: NDArray[np.bool_]) -> Answers:
        """Return these answers, with the other's in the chosen scenarios."""
        return Answers(
            *(
                np.where(chosen, getattr(other, name), getattr(self, name))
                for name in ("score", "worst", "domain", "severe")
            )
        )


@dataclass(frozen=True, eq=False)
class RubricSums:
    """Sums over the rubrics of each scenario, shape (n_scenarios,).

    Attributes:
        positive: Sum of positive points.
        negative: Sum of negative points.
        domain_positive: The same, weighted for the domain; 0 where nothing bears on it.
        domain_negative: The same of negative points.
        tried: Scenarios whose rubric has an item of -2.
    """

    positive: FloatArray
    negative: FloatArray
    domain_positive: FloatArray
    domain_negative: FloatArray
    tried: FloatArray


class _Drawn:
    """The rubrics and difficulties that all systems share.

    A share `TWIN` of the scenarios has a twin.
    """

    def __init__(self, n_scenarios: int) -> None:
        rng = np.random.default_rng(20_260)
        widest = max(map(len, RUBRICS))
        padded = np.array([[*items, *[0] * (widest - len(items))] for items in RUBRICS], float)
        kind = rng.integers(len(RUBRICS), size=n_scenarios)
        has_twin = rng.random(n_scenarios) < TWIN
        self.base = np.concatenate([np.arange(n_scenarios), np.flatnonzero(has_twin)])
        self.points = padded[kind[self.base]]
        self.item = rng.normal(0, ITEM_SD, (n_scenarios, widest))[self.base]
        self.hard = rng.normal(0, SCENARIO_SD, n_scenarios)[self.base] + rng.normal(
            0, TWIN_SD, len(self.base)
        )
        self.place = rng.random(n_scenarios)
        self.domain = rng.choice([0, 0, 0.5, 1], (n_scenarios, widest))[self.base]
        self.n_scenarios = n_scenarios

    def by_base(self, numbers: FloatArray) -> FloatArray:
        return np.bincount(self.base, numbers, self.n_scenarios)

    def rubrics(self) -> RubricSums:
        weighted = self.points * self.domain
        rated = (weighted > 0).any(axis=1)[:, np.newaxis]
        return RubricSums(
            self.by_base(self.points.clip(0).sum(axis=1)),
            self.by_base(self.points.clip(None, 0).sum(axis=1)),
            self.by_base((weighted * rated).clip(0).sum(axis=1)),
            self.by_base((weighted * rated).clip(None, 0).sum(axis=1)),
            self.by_base((self.points == -2).any(axis=1).astype(float)),
        )

    def answers(self, system: System, mean_logit: float) -> Answers:
        """Return ten answers of a system to every scenario."""
        rng = np.random.default_rng([20_261, system.own])
        quality = mean_logit + self.hard + rng.normal(0, SYSTEM_SD, self.n_scenarios)[self.base]
        place = np.where(
            rng.random(self.n_scenarios) < SHARED, self.place, rng.random(self.n_scenarios)
        )[self.base]
        is_easy = place < EASY[system.level] + system.easy
        is_trap = place > 1 - TRAP[system.level] * system.traps
        quality = np.where(is_easy, EASY_LOGIT, np.where(is_trap, TRAP_LOGIT, quality))
        total = np.zeros(len(quality))
        lowest = np.full(len(quality), np.inf)
        domain, severe = total.copy(), total.copy()
        shift = np.select(
            [self.points > 0, self.points == -1], [0.0, MILD_LOGIT], SEVERE_LOGIT
        )  # fmt: skip
        sign = np.sign(self.points)
        rated = ((self.points * self.domain) > 0).any(axis=1)
        for _ in range(N_EPOCHS):
            now = quality + rng.normal(0, EPOCH_SD, len(quality))
            logit = sign * now[:, np.newaxis] + shift - self.item
            present = rng.random(logit.shape, dtype=np.float32) < special.expit(logit)
            points = (present * self.points).sum(axis=1)
            total += points / N_EPOCHS
            np.minimum(lowest, points, out=lowest)
            domain += rated * (present * self.points * self.domain).sum(axis=1) / N_EPOCHS
            severe += (present & (self.points == -2)).any(axis=1) / N_EPOCHS
        return Answers(*(self.by_base(part) for part in (total, lowest, domain, severe)))


@dataclass(frozen=True)
class Population:
    """The scenarios that banks are drawn from.

    Attributes:
        n_scenarios: Their number.
        levels: True scores of the systems that answer them.
    """

    n_scenarios: int = 100_000
    levels: tuple[float, ...] = LEVELS

    def rubrics(self) -> RubricSums:
        """Return the sums over the rubrics of the whole population."""
        return _rubrics(self.n_scenarios)

    def answers(self, system: System) -> Answers:
        """Return a system's answers to the whole population, with a score near its level."""
        return _answers(self.n_scenarios, system)

    def alike(self, level: float) -> tuple[Answers, Answers]:
        """Return two systems of one level with the same kind of errors, in other scenarios."""
        return self.answers(System(level)), self.answers(System(level, own=1))

    def other_shape(self, level: float) -> tuple[Answers, Answers]:
        """Return two systems of one level; the second has more easy scenarios and more traps."""
        other = System(level, easy=0.15, traps=1.5, own=2)
        return self.answers(System(level)), self.answers(other)


@cache
def _drawn(n_scenarios: int) -> _Drawn:
    return _Drawn(n_scenarios)


@cache
def _rubrics(n_scenarios: int) -> RubricSums:
    return _drawn(n_scenarios).rubrics()


@cache
def _answers(n_scenarios: int, system: System) -> Answers:
    few = _drawn(n_scenarios // 10)
    positive = few.rubrics().positive.sum()
    low, high = -8.0, 16.0
    for _ in range(14):
        middle = (low + high) / 2
        if few.answers(system, middle).score.sum() / positive < system.level:
            low = middle
        else:
            high = middle
    everything = _drawn(n_scenarios).answers(system, (low + high) / 2)
    if abs(everything.score.sum() / _rubrics(n_scenarios).positive.sum() - system.level) > 0.02:
        raise RuntimeError(f"no mean logit gives {system}")
    return everything


def with_equal_sum(
    a: FloatArray, b: FloatArray, lowest: FloatArray, highest: FloatArray
) -> FloatArray:
    """Return b with so many scenarios set to their lowest or highest that its sum is that of a.

    All have shape (n_scenarios,). It makes the true number of two systems equal.
    """
    ends = highest if b.sum() < a.sum() else lowest
    order = np.random.default_rng(20_262).permutation(len(b))
    change = np.cumsum((ends - b)[order])
    n = int(np.searchsorted(np.abs(change), abs(a.sum() - b.sum())))
    changed = b.copy()
    changed[order[:n]] = ends[order[:n]]
    return changed
