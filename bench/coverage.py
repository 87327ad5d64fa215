"""Coverage of intervals, false findings of tests, and power; see README.md.

```sh
python bench/coverage.py                     # all four tables, some minutes
python bench/coverage.py --table coverage    # one of coverage, candidates, type1, power
python bench/coverage.py --small             # a try: few rounds, nothing kept
```

A round draws a bank of scenarios from a population whose numbers are known (`drawn_banks.py`) and
applies the package's own functions. An interval that is not defined counts as one that misses.
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
from functools import partial
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy import optimize, special

from careeval.errors import StatsError
from careeval.stats.intervals import (
    Interval,
    linearised_ratio,
    rate_interval,
    ratio_errors,
    ratio_interval,
    wilson,
)
from careeval.stats.paired import (
    detectable_after,
    detectable_difference,
    difference_intervals,
    holm,
    one_scenario_error,
    sign_flip_p_values,
    t_test_p_values,
)
from drawn_banks import (
    LEVELS,
    N_EPOCHS,
    Answers,
    FloatArray,
    Population,
    System,
    with_equal_sum,
)
from intervals_tried import intervals

RESULTS = Path(__file__).parent / "results" / "coverage.json"

SIZES = (12, 20, 40, 80)
"""Scenarios of a bank."""

RATES = ((0.01, 0.5), (0.03, 0.5), (0.06, 0.3))
"""Mean and correlation within a scenario of severe errors, one opportunity a response."""

FLIPS = 10_000
"""Patterns of signs. The package draws more for small p, which does not matter at 5%."""

N_SYSTEMS = 6
"""Systems of a ranking."""


@dataclass(frozen=True)
class Row:
    """The coverage of one interval, as fractions; `width` is the mean of the defined ones.

    Attributes:
        below: Share of intervals that lie wholly below the truth; `above`, wholly above it.
        none: Share of banks without an interval.
    """

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


@dataclass(frozen=True)
class TestRow:
    """The false findings between equal systems, as fractions of the rounds.

    Attributes:
        worse: B is worse by the interval, as `--fail-on` decides; `better`: B is better.
        verdict: B differs by both the interval and the p of sign flips, as a verdict needs. For a
            ranking: any pair differs by Holm's p; `worse` and `better` are unknown.
    """

    n_scenarios: int
    case: str
    statistic: str
    margin: float
    worse: float | None
    better: float | None
    verdict: float
    rounds: int


@dataclass(frozen=True)
class PowerRow:
    """The share of rounds in which a detectable difference was found.

    Attributes:
        planned: For the difference planned from the true spread; `None` for errors.
        after: For the difference given with another comparison of as many scenarios.
        size: Median of the differences given.
    """

    n_scenarios: int
    case: str
    statistic: str
    planned: float | None
    after: float
    size: float
    rounds: int


def main() -> None:
    """Simulate the tables of the command line, print them, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--table", choices=list(TABLES), help="one table; by default all")
    parser.add_argument("--banks", type=int, nargs="+", default=SIZES, help="scenarios each")
    parser.add_argument("--rounds", type=int, default=2_000, help="banks drawn for each number")
    parser.add_argument("--small", action="store_true", help="a try: few rounds, not kept")
    args = parser.parse_args()
    rounds, sizes, population = args.rounds, args.banks, Population()
    if args.small:
        rounds, sizes, population = 8, SIZES[:1], Population(20_000, LEVELS[2:3])
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for name in [args.table] if args.table else TABLES:
        began = time.process_time()
        make, written = TABLES[name]
        rows = [row for n in sizes for row in make(n, rounds, population)]
        sys.stdout.write(f"{name}\n{written(rows)}\n")
        kept[name] = conditions() | {
            "cpu_seconds": round(time.process_time() - began),
            "n_epochs": N_EPOCHS,
            "population": population.n_scenarios,
            "rows": [asdict(row) for row in rows],
        }
    if not args.small:
        RESULTS.parent.mkdir(exist_ok=True)
        kept = {name: kept[name] for name in TABLES if name in kept}
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


# The numbers of a population


@dataclass(frozen=True, eq=False)
class Number:
    """The denominators and limits of one number of a system.

    Attributes:
        denominators: Denominator of each scenario, shape (n_scenarios,).
        lowest: The lowest possible numerator of each scenario, shape (n_scenarios,).
        counts_errors: Whether fewer is better.
    """

    denominators: FloatArray
    lowest: FloatArray
    counts_errors: bool = False


def numbers(population: Population) -> dict[str, Number]:
    """Return the numbers by the names of the attributes of `Answers`."""
    rubrics = population.rubrics()
    return {
        "score": Number(rubrics.positive, rubrics.negative),
        "worst": Number(rubrics.positive, rubrics.negative),
        "domain": Number(rubrics.domain_positive, rubrics.domain_negative),
        "severe": Number(rubrics.tried, np.zeros(population.n_scenarios), counts_errors=True),
    }


def banks(
    population: Population, n: int, rounds: int, *, seed: int
) -> Iterator[np.ndarray[Any, np.dtype[np.int64]]]:
    """Yield the indices of the scenarios of each bank, drawn with replacement."""
    rng = np.random.default_rng([n, seed])
    yield from rng.integers(population.n_scenarios, size=(rounds, n))


# Coverage


def coverage_rows(n: int, rounds: int, population: Population) -> Iterator[Row]:
    """Yield the coverage of every number of a system, and every difference of two."""
    for level in population.levels:
        for shape, pair in (
            ("alike", population.alike(level)),
            ("other shape", population.other_shape(level)),
        ):
            yield from _score_rows(n, rounds, population, shape, level, pair)
    yield from rate_rows(n, rounds)


def _score_rows(
    n: int,
    rounds: int,
    population: Population,
    shape: str,
    level: float,
    pair: tuple[Answers, Answers],
) -> Iterator[Row]:
    case = f"{level:.0%}, {shape}"
    for name, number in numbers(population).items():
        a, b = (getattr(system, name) for system in pair)
        m = number.denominators
        one, two = Tally(b.sum() / m.sum()), Tally((b - a).sum() / m.sum())
        for at in banks(population, n, rounds, seed=round(100 * level)):
            one.add(partial(_interval, name, b[at], m[at], number.lowest[at]))
            two.add(partial(_difference, (b - a)[at], m[at], number.counts_errors))
        interval = "rate_interval" if name == "severe" else "ratio_interval"
        yield one.row(n, case, name, interval)
        yield two.row(n, case, f"difference: {name}", "difference_intervals")


def _interval(name: str, y: FloatArray, m: FloatArray, lowest: FloatArray) -> Interval:
    if name == "severe":
        return rate_interval(y * N_EPOCHS, m * N_EPOCHS)
    if not m.sum() > 0:
        raise StatsError("no positive points")
    return ratio_interval(y, m, lowest=lowest.sum() / m.sum())


def _difference(d: FloatArray, m: FloatArray, counts_errors: bool) -> Interval:
    (ends,) = difference_intervals(d[np.newaxis], d[np.newaxis], m, counts_errors=counts_errors)
    if np.isnan(ends).any():
        raise StatsError("no variation")
    return Interval(*ends.tolist())


def rate_rows(n_scenarios: int, rounds: int) -> Iterator[Row]:
    """Yield the coverage of rates of severe errors, by their distribution over scenarios."""
    trials = np.full(n_scenarios, float(N_EPOCHS))
    for rate, rho in RATES:
        for shape, draw in (("beta", beta_chances(rate, rho)), ("logit", logit_chances(rate, rho))):
            rng = np.random.default_rng([n_scenarios, round(rate * 100), len(shape)])
            tallies = {kind: Tally(rate) for kind in RATE_INTERVALS}
            for _ in range(rounds):
                counts = rng.binomial(N_EPOCHS, draw(rng, n_scenarios)).astype(np.float64)
                for kind, interval in RATE_INTERVALS.items():
                    tallies[kind].add(partial(interval, counts, trials))
            for kind, tally in tallies.items():
                case = f"{shape}, correlation {rho:g}"
                yield tally.row(n_scenarios, case, f"rate {rate:.0%}", kind)


RATE_INTERVALS: dict[str, Callable[[FloatArray, FloatArray], Interval]] = {
    "wilson, as independent": lambda counts, trials: wilson(counts.sum(), trials.sum()),
    "rate_interval": rate_interval,
}

Chances = Callable[[np.random.Generator, int], FloatArray]


def beta_chances(rate: float, rho: float) -> Chances:
    """Return a function that draws chances from a beta distribution."""
    size = (1 - rho) / rho
    return lambda rng, n: rng.beta(rate * size, (1 - rate) * size, n)


def logit_chances(rate: float, rho: float) -> Chances:
    """Return a function that draws chances with a normal logit, of this mean and correlation."""
    z = special.ndtri((np.arange(200_000) + 0.5) / 200_000)

    def off(parameters: FloatArray) -> FloatArray:
        chances = special.expit(parameters[0] + np.exp(parameters[1]) * z)
        mean = chances.mean()
        return np.array([np.log(mean / rate), chances.var() / (mean * (1 - mean)) - rho])

    solution = optimize.root(off, [special.logit(rate) * 2, np.log(5)])
    if not solution.success:
        raise RuntimeError(solution.message)
    centre, spread = solution.x[0], np.exp(solution.x[1])
    return lambda rng, n: np.asarray(special.expit(centre + spread * rng.normal(size=n)))


class Tally:
    """Counts of hits and misses of one interval over rounds, and the sum of its widths."""

    def __init__(self, truth: float) -> None:
        self.truth = truth
        self.rounds = self.none = self.below = self.above = 0
        self.widths = 0.0

    def add(self, interval: Callable[[], Interval]) -> None:
        """Count one round."""
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
        """Return the counts as fractions of the rounds."""
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


def candidate_rows(n: int, rounds: int, population: Population) -> Iterator[Row]:
    """Yield the coverage of the candidate intervals of scores, over the same banks."""
    for name in ("score", "worst", "domain"):
        number = numbers(population)[name]
        m = number.denominators
        for level in population.levels:
            y = getattr(population.answers(System(level)), name)
            at = np.array(list(banks(population, n, rounds, seed=round(100 * level))))
            at = at[m[at].sum(axis=1) > 0]
            lowest = number.lowest[at].sum(axis=1) / m[at].sum(axis=1)
            truth = y.sum() / m.sum()
            none = linearised_errors(y[at], m[at]) < 1e-9
            for tried, (low, high) in intervals(y[at], m[at], lowest):
                below, above = high < truth - 1e-9, low > truth + 1e-9
                without = none & (not tried.startswith("KG,"))
                yield Row(
                    n_scenarios=n,
                    case=f"{level:.0%}, alike",
                    statistic=name,
                    interval=tried,
                    truth=round(truth, 4),
                    coverage=round(float(1 - (below | above | without).mean()), 4),
                    below=round(float((below & ~without).mean()), 4),
                    above=round(float((above & ~without).mean()), 4),
                    none=round(float(without.mean()), 4),
                    width=round(float((high - low).mean()), 4),
                    rounds=len(at),
                )


def linearised_errors(y: FloatArray, m: FloatArray) -> FloatArray:
    """Return the standard error of each bank's ratio, shape (n_banks,)."""
    return np.array([linearised_ratio(*bank)[1] for bank in zip(y, m, strict=True)])


# Type I


def test_rows(n: int, rounds: int, population: Population) -> Iterator[TestRow]:
    """Yield false findings for pairs that are equal, or differ by just the margin, and rankings."""
    for level in population.levels:
        for shape, (a, b) in (
            ("alike", population.alike(level)),
            ("other shape", population.other_shape(level)),
        ):
            for name, number in numbers(population).items():
                ours, theirs = getattr(a, name), getattr(b, name)
                equal = with_equal_sum(ours, theirs, number.lowest, number.denominators)
                yield _test_row(
                    n, rounds, population, f"{level:.0%}, {shape}", name, equal - ours, 0.0
                )
                margin = float((theirs - ours).sum() / number.denominators.sum())
                if name == "severe" and shape == "other shape":
                    yield _test_row(
                        n, rounds, population, f"{level:.0%}, {shape}", name, theirs - ours, margin
                    )
        yield from _rank_rows(n, rounds // 4, population, level)


def _test_row(
    n: int,
    rounds: int,
    population: Population,
    case: str,
    name: str,
    d: FloatArray,
    margin: float,
) -> TestRow:
    number = numbers(population)[name]
    m = number.denominators
    at = np.array(list(banks(population, n, rounds, seed=7)))
    low, high = _ends(d[at], m[at], number.counts_errors)
    # more errors are worse
    sign = -1 if number.counts_errors else 1
    more, fewer = low > margin, high < margin
    worse, better = (more, fewer) if sign < 0 else (fewer, more)
    p = sign_flip_p_values(d[at] - margin * m[at], draws=FLIPS)
    return TestRow(
        n_scenarios=n,
        case=case,
        statistic=name,
        margin=round(margin, 4),
        worse=round(float(worse.mean()), 4),
        better=round(float(better.mean()), 4),
        verdict=round(float(((worse | better) & (p < 0.05)).mean()), 4),
        rounds=rounds,
    )


def _ends(d: FloatArray, m: FloatArray, counts_errors: bool) -> tuple[FloatArray, FloatArray]:
    """Return the ends of each bank's interval; without an interval, the difference itself."""
    ends = [
        difference_intervals(row[np.newaxis], row[np.newaxis], w, counts_errors=counts_errors)[0]
        for row, w in zip(d, m, strict=True)
    ]
    ratios = d.sum(axis=1) / m.sum(axis=1)
    low, high = np.where(np.isnan(ends), ratios[:, np.newaxis], ends).T
    return low, high


def _t_ps(d: FloatArray, m: FloatArray, counts_errors: bool) -> FloatArray:
    """Return the p of the t test of each bank."""
    banks_ = zip(d[:, np.newaxis], m, strict=True)
    return np.array(
        [t_test_p_values(row, row, w, counts_errors=counts_errors)[0] for row, w in banks_]
    )


def _rank_rows(n: int, rounds: int, population: Population, level: float) -> Iterator[TestRow]:
    """Yield false findings in rankings of six equal systems, half of them of the other shape."""
    systems = [population.answers(System(level, own=own)) for own in range(N_SYSTEMS // 2)]
    systems += [
        population.answers(System(level, easy=0.15, traps=1.5, own=10 + own))
        for own in range(N_SYSTEMS // 2)
    ]
    pairs = list(combinations(range(N_SYSTEMS), 2))
    at = np.array(list(banks(population, n, rounds, seed=8)))
    for name, number in numbers(population).items():
        m = number.denominators
        first = getattr(systems[0], name)
        equal = [
            with_equal_sum(first, getattr(each, name), number.lowest, number.denominators)[at]
            for each in systems
        ]
        p = np.empty((rounds, len(pairs)))
        apart = np.empty((rounds, len(pairs)), dtype=bool)
        for column, (i, j) in enumerate(pairs):
            d = equal[j] - equal[i]
            low, high = _ends(d, m[at], number.counts_errors)
            apart[:, column] = (low > 0) | (high < 0)
            p[:, column] = np.maximum(
                sign_flip_p_values(d, draws=FLIPS), _t_ps(d, m[at], number.counts_errors)
            )
        adjusted = np.array([holm(row) for row in p.tolist()])
        false = float(((adjusted < 0.05) & apart).any(axis=1).mean())
        yield TestRow(
            n, f"{level:.0%}, rank sets of {N_SYSTEMS}", name, 0.0,
            None, None, round(false, 4), rounds,
        )  # fmt: skip


# Power


def power_rows(n: int, rounds: int, population: Population) -> Iterator[PowerRow]:
    """Yield the power for differences of the detectable size, with the same spread."""
    for level in population.levels:
        for name, number in numbers(population).items():
            a, b = (getattr(system, name) for system in population.alike(level))
            m = number.denominators
            d = b - a - (b - a).sum() / m.sum() * m
            at = np.array(list(banks(population, n, rounds, seed=9)))
            errors = np.array(
                [ratio_errors(row[np.newaxis], w)[0] for row, w in zip(d[at], m[at], strict=True)]
            )
            if number.counts_errors:
                errors = np.maximum(errors, one_scenario_error(n))
            detectable = np.array(
                [detectable_after(e, degrees=n - 1) if e else np.nan for e in errors]
            )
            # the size given with one bank is looked for in the next
            after = np.roll(detectable, 1)
            spread = float((d**2).mean() / m.mean() ** 2)
            planned = detectable_difference(n, spread, (0, 0), (1, 1), degrees=n - 1)
            sizes = {"after": after}
            if not number.counts_errors:
                sizes["planned"] = np.full(rounds, planned)
            power = {}
            for when, size in sizes.items():
                defined = ~np.isnan(size)
                moved = d[at][defined] + size[defined, np.newaxis] * m[at][defined]
                low, _ = _ends(moved, m[at][defined], number.counts_errors)
                p = sign_flip_p_values(moved, draws=FLIPS)
                power[when] = float(((low > 0) & (p < 0.05)).mean())
            yield PowerRow(
                n_scenarios=n,
                case=f"{level:.0%}, alike",
                statistic=name,
                planned=round(power["planned"], 4) if "planned" in power else None,
                after=round(power["after"], 4),
                size=round(float(np.nanmedian(detectable)), 4),
                rounds=rounds,
            )


# The tables


def coverage_table(rows: list[Row]) -> str:
    """Return a table in percent, with a line for each interval."""
    lines = [
        f"{'G':>4} {'case':24}{'statistic':22}{'interval':24}"
        f"{'truth':>7}{'holds':>7}{'below':>7}{'above':>7}{'none':>6}{'width':>7}{'rounds':>8}",
    ]
    lines += [
        f"{row.n_scenarios:>4} {row.case:24}{row.statistic:22}{row.interval:24}"
        f"{100 * row.truth:7.1f}{100 * row.coverage:7.1f}{100 * row.below:7.1f}"
        f"{100 * row.above:7.1f}{100 * row.none:6.1f}{100 * row.width:7.1f}{row.rounds:>8}"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def test_table(rows: list[TestRow]) -> str:
    """Return a table in percent, with a line for each pair of systems or ranking."""
    lines = [
        f"{'G':>4} {'case':26}{'statistic':11}"
        f"{'margin':>7}{'worse':>7}{'better':>7}{'verdict':>9}{'rounds':>8}"
    ]
    lines += [
        f"{row.n_scenarios:>4} {row.case:26}{row.statistic:11}{100 * row.margin:7.1f}"
        f"{_percent(row.worse):>7}{_percent(row.better):>7}{_percent(row.verdict):>9}"
        f"{row.rounds:>8}"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def power_table(rows: list[PowerRow]) -> str:
    """Return a table in percent, with a line for each number."""
    lines = [f"{'G':>4} {'case':14}{'statistic':11}{'size':>7}{'planned':>9}{'after':>7}"]
    lines += [
        f"{row.n_scenarios:>4} {row.case:14}{row.statistic:11}{100 * row.size:7.1f}"
        f"{_percent(row.planned):>9}{_percent(row.after):>7}"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def conditions() -> dict[str, Any]:
    """Return the date, cores and versions of the simulation."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cores": len(os.sched_getaffinity(0)),
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in ("careeval", "numpy", "scipy")},
    }


Rows = Callable[[int, int, Population], Iterator[Any]]
"""Of banks of so many scenarios, in so many rounds, drawn from a population."""

TABLES: dict[str, tuple[Rows, Callable[[list[Any]], str]]] = {
    "coverage": (coverage_rows, coverage_table),
    "candidates": (candidate_rows, coverage_table),
    "type1": (test_rows, test_table),
    "power": (power_rows, power_table),
}

if __name__ == "__main__":
    main()
