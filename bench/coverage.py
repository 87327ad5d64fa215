"""How often the 95% intervals hold the truth, on simulated banks: see README.md beside this.

```sh
python bench/coverage.py                       # banks of 80 and of 100 scenarios, some minutes
python bench/coverage.py --banks 40 --rounds 500
python bench/coverage.py --small               # a try: few rounds, nothing kept
```

A round draws a bank of scenarios, and ten responses to each by two systems, from a population whose
score, worst and rates are known; then the package's own functions say what they always say. An
interval that cannot be given counts as one that misses.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from careeval.errors import StatsError
from careeval.stats import (
    Interval,
    beta_binomial_interval,
    linearised_ratio,
    rate_interval,
    ratio_interval,
    wilson,
)

RESULTS = Path(__file__).parent / "results" / "coverage.json"
AIM = (0.93, 0.97)

N_EPOCHS = 10
POPULATION = 400_000
"""Scenarios that stand for all: their mean is known to within 3% of a bank's standard error."""
CHUNK = 20_000

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """Standard deviations of how well a response does, on the logit scale."""

    scenario: float = 1.0
    scenario_by_system: float = 0.7
    run: float = 0.5


SPREAD = Spread()

LEVELS = {"middling": (0.6, 0.2), "strong": (2.5, 2.1)}
"""Mean logit of two systems; the first is the one whose score and worst are looked at."""

# The ladder: the rung reached is the number of successes in four at the response's own chance. The
# best answer has what the second asks as well, so it gets 2 + 1 of the maximum of 3.
RUNGS = np.array([-2.0, -1, 0, 1, 3])
LADDER_MAXIMUM = 3.0

# The actions: six to nine, each as likely as not; positives sum to 6. A positive is there with
# logit q - d, a negative with logit -q - 1.5 - d, where d ~ N(0, 1) is the item's own.
POSITIVES = ((2, 2, 2), (2, 2, 1, 1), (2, 1, 1, 1, 1))
NEGATIVES = ((-2, -1, -1), (-2, -1), (-2, -2, -1, -1))
ACTIONS_MAXIMUM = 6.0
NEGATIVE_LOGIT = -1.5

RATES = ((0.01, 0.5), (0.03, 0.5), (0.06, 0.3))
"""Mean and correlation within a scenario of severe errors, one opportunity a response."""

BETA_BINOMIAL_ROUNDS = 500
"""The beta-binomial is some hundred times slower than the rest, and gets no more rounds."""


@dataclass(frozen=True)
class Row:
    """How one interval did; `width` is the mean of those given, as fractions."""

    n_scenarios: int
    case: str
    statistic: str
    interval: str
    truth: float
    coverage: float
    below: float
    above: float
    none: float
    width: float
    rounds: int


def main() -> None:
    """Simulate what the command line asks for, print it, and keep it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--banks", type=int, nargs="+", default=[80, 100], help="scenarios each")
    parser.add_argument("--rounds", type=int, default=4_000, help="banks drawn for each number")
    parser.add_argument("--small", action="store_true", help="a try: 100 rounds, not kept")
    given = parser.parse_args()
    rounds = 100 if given.small else given.rounds
    began = time.process_time()
    rows = [
        row
        for n_scenarios in given.banks
        for part in (score_rows, rate_rows)
        for row in part(n_scenarios, rounds)
    ]
    found = conditions() | {
        "cpu_seconds": round(time.process_time() - began),
        "parameters": {
            "n_epochs": N_EPOCHS,
            "population": POPULATION,
            "logit_sd": asdict(SPREAD),
            "mean_logit": LEVELS,
            "rates_and_correlations": RATES,
        },
        "rows": [asdict(row) for row in rows],
    }
    sys.stdout.write(table(rows))
    if not given.small:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


# Scores


def score_rows(n_scenarios: int, rounds: int) -> Iterator[Row]:
    """Score, worst and paired difference, each over many banks, by rubric and level."""
    for rubric, maximum in (("ladder", LADDER_MAXIMUM), ("actions", ACTIONS_MAXIMUM)):
        for level in LEVELS:
            truths = population(rubric, level)
            rng = np.random.default_rng([n_scenarios, len(rubric), len(level)])
            maxima = np.full(n_scenarios, maximum)
            tallies = {name: Tally(truth) for name, truth in truths.items()}
            for _ in range(rounds):
                points = respond(rubric, level, n_scenarios, rng)
                for name, numerators in scenario_values(points).items():
                    tallies[name].add(partial(ratio_interval, numerators, maxima))
            for name, tally in tallies.items():
                yield tally.row(n_scenarios, f"{rubric}, {level}", name, "ratio_interval")


def scenario_values(points: FloatArray) -> dict[str, FloatArray]:
    """What each statistic sums over scenarios; points of shape (2, n_scenarios, n_epochs)."""
    first, second = points
    return {
        "score": first.mean(axis=1),
        "worst_at_10": first.min(axis=1),
        "difference": first.mean(axis=1) - second.mean(axis=1),
    }


@cache
def population(rubric: str, level: str) -> dict[str, float]:
    """Each statistic over a very large bank."""
    rng = np.random.default_rng(20_240)
    maximum = LADDER_MAXIMUM if rubric == "ladder" else ACTIONS_MAXIMUM
    chunks = [
        {
            name: values.mean() / maximum
            for name, values in scenario_values(respond(rubric, level, CHUNK, rng)).items()
        }
        for _ in range(POPULATION // CHUNK)
    ]
    return {name: float(np.mean([chunk[name] for chunk in chunks])) for name in chunks[0]}


def respond(rubric: str, level: str, n_scenarios: int, rng: np.random.Generator) -> FloatArray:
    """Points of two systems on new scenarios, shape (2, n_scenarios, n_epochs)."""
    shape = (2, n_scenarios, N_EPOCHS)
    logit = (
        np.array(LEVELS[level])[:, np.newaxis, np.newaxis]
        + rng.normal(0, SPREAD.scenario, (1, n_scenarios, 1))
        + rng.normal(0, SPREAD.scenario_by_system, (2, n_scenarios, 1))
        + rng.normal(0, SPREAD.run, shape)
    )
    if rubric == "ladder":
        return np.asarray(RUNGS[rng.binomial(4, special.expit(logit))])
    points = np.zeros(shape)
    kind = rng.integers(len(POSITIVES), size=n_scenarios)
    for which, items in enumerate(zip(POSITIVES, NEGATIVES, strict=True)):
        here = kind == which
        for weight in (*items[0], *items[1]):
            own = rng.normal(0, 1, (1, int(here.sum()), 1))
            towards = logit[:, here] if weight > 0 else NEGATIVE_LOGIT - logit[:, here]
            points[:, here] += weight * (rng.random(towards.shape) < special.expit(towards - own))
    return points


# Rates


def rate_rows(n_scenarios: int, rounds: int) -> Iterator[Row]:
    """Severe errors a response, by how the chance varies between scenarios."""
    trials = np.full(n_scenarios, float(N_EPOCHS))
    for rate, rho in RATES:
        for shape, draw in (("beta", beta_chances(rate, rho)), ("logit", logit_chances(rate, rho))):
            rng = np.random.default_rng([n_scenarios, round(rate * 100), len(shape)])
            tallies = {kind: Tally(rate) for kind in RATE_INTERVALS}
            for done in range(rounds):
                counts = rng.binomial(N_EPOCHS, draw(rng, n_scenarios)).astype(np.float64)
                for kind, interval in RATE_INTERVALS.items():
                    if kind != "beta_binomial_interval" or done < BETA_BINOMIAL_ROUNDS:
                        tallies[kind].add(partial(interval, counts, trials))
            for kind, tally in tallies.items():
                case = f"{shape}, correlation {rho:g}"
                yield tally.row(n_scenarios, case, f"rate {rate:.0%}", kind)


def scenario_t(counts: FloatArray, trials: FloatArray) -> Interval:
    """The mean of the scenarios' rates, and t times its error either way."""
    rate, error = linearised_ratio(counts, trials)
    if error == 0:
        raise StatsError("no variation")
    margin = float(special.stdtrit(len(counts) - 1, 0.975)) * error
    return Interval(rate - margin, rate + margin)


RATE_INTERVALS: dict[str, Callable[[FloatArray, FloatArray], Interval]] = {
    "wilson, as independent": lambda counts, trials: wilson(counts.sum(), trials.sum()),
    "scenario t": scenario_t,
    "rate_interval": rate_interval,
    "beta_binomial_interval": lambda counts, _: beta_binomial_interval(counts, N_EPOCHS),
}

Chances = Callable[[np.random.Generator, int], FloatArray]


def beta_chances(rate: float, rho: float) -> Chances:
    """Chances that vary as a beta: what the beta-binomial assumes."""
    size = (1 - rho) / rho
    return lambda rng, n: rng.beta(rate * size, (1 - rate) * size, n)


def logit_chances(rate: float, rho: float) -> Chances:
    """Chances whose logit is normal, with the same mean and correlation."""
    z = special.ndtri((np.arange(200_000) + 0.5) / 200_000)

    def off(parameters: FloatArray) -> FloatArray:
        chances = special.expit(parameters[0] + np.exp(parameters[1]) * z)
        mean = chances.mean()
        return np.array([np.log(mean / rate), chances.var() / (mean * (1 - mean)) - rho])

    found = optimize.root(off, [special.logit(rate) * 2, np.log(5)])
    if not found.success:
        raise RuntimeError(found.message)
    centre, spread = found.x[0], np.exp(found.x[1])
    return lambda rng, n: np.asarray(special.expit(centre + spread * rng.normal(size=n)))


# What is counted


class Tally:
    """Of one interval, over rounds: how often it held the truth, and how wide it was."""

    def __init__(self, truth: float) -> None:
        self.truth = truth
        self.rounds = self.none = self.below = self.above = 0
        self.widths = 0.0

    def add(self, interval: Callable[[], Interval]) -> None:
        """One round."""
        self.rounds += 1
        try:
            low, high = interval()
        except StatsError:
            self.none += 1
            return
        self.below += high < self.truth
        self.above += low > self.truth
        self.widths += high - low

    def row(self, n_scenarios: int, case: str, statistic: str, interval: str) -> Row:
        """What was counted, as fractions of the rounds."""
        missed = self.none + self.below + self.above
        return Row(
            n_scenarios=n_scenarios,
            case=case,
            statistic=statistic,
            interval=interval,
            truth=round(self.truth, 4),
            coverage=round(1 - missed / self.rounds, 4),
            below=round(self.below / self.rounds, 4),
            above=round(self.above / self.rounds, 4),
            none=round(self.none / self.rounds, 4),
            width=round(self.widths / max(self.rounds - self.none, 1), 4),
            rounds=self.rounds,
        )


def table(rows: list[Row]) -> str:
    """In percent, a line an interval; a `!` where a score's interval misses the aim."""
    lines = [
        f"logits: sd {SPREAD.scenario} scenario, {SPREAD.scenario_by_system} scenario x system, "
        f"{SPREAD.run} run; means {LEVELS}; {N_EPOCHS} epochs",
        f"{'G':>4} {'case':24}{'statistic':13}{'interval':24}"
        f"{'truth':>7}{'holds':>7}{'below':>7}{'above':>7}{'none':>6}{'width':>7}{'rounds':>8}",
    ]
    for row in rows:
        missed = row.interval == "ratio_interval" and not AIM[0] <= row.coverage <= AIM[1]
        lines.append(
            f"{row.n_scenarios:>4} {row.case:24}{row.statistic:13}{row.interval:24}"
            f"{100 * row.truth:7.1f}{100 * row.coverage:7.1f}{100 * row.below:7.1f}"
            f"{100 * row.above:7.1f}{100 * row.none:6.1f}{100 * row.width:7.1f}{row.rounds:>8}"
            + (" !" if missed else "")
        )
    return "\n".join(lines) + "\n"


def conditions() -> dict[str, Any]:
    """When and with what this was simulated."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cores": len(os.sched_getaffinity(0)),
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in ("careeval", "numpy", "scipy")},
    }


if __name__ == "__main__":
    main()
