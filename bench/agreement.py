"""Coverage of the 95% intervals of agreement, on simulated panels; see README.md.

```sh
python bench/agreement.py           # about a minute
python bench/agreement.py --small   # a try: few rounds, nothing kept
```

A round draws scenarios and a panel's ratings of them from a population whose agreement is known. A
rating of 1 to 5 is a normal number, rounded and limited to the scale, with a part of the scenario,
a part of the rater and an error. The raters are fixed, as in the intervals. Undefined intervals,
from too few pairs of ratings or a coefficient at its end, are counted separately.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from careeval.stats.agreement import (
    gwet_ac1,
    gwet_ac1_interval,
    gwet_ac2,
    gwet_ac2_interval,
    icc,
    icc_interval,
    krippendorff_alpha,
    krippendorff_interval,
)
from careeval.stats.intervals import Interval
from coverage import Tally, conditions

RESULTS = Path(__file__).parent / "results" / "agreement.json"
LEVELS = (1, 2, 3, 4, 5)
SCENARIOS = (6, 8, 12, 20, 40, 80)
POPULATION = 40_000

FloatArray = NDArray[np.float64]

COEFFICIENTS: dict[str, tuple[Callable[[FloatArray], float], Callable[[FloatArray], Interval]]] = {
    "AC1": (lambda r: gwet_ac1(r, LEVELS), lambda r: gwet_ac1_interval(r, LEVELS)),
    "AC2": (lambda r: gwet_ac2(r, LEVELS), lambda r: gwet_ac2_interval(r, LEVELS)),
    "alpha": (krippendorff_alpha, krippendorff_interval),
    "ICC(2,k)": (icc, icc_interval),
}


@dataclass(frozen=True)
class Panel:
    """Raters, and what they rate.

    Attributes:
        n_raters: Of a scenario.
        out_of: Raters in all; each scenario goes to `n_raters` of them, drawn.
        mean: Of the ratings before they are rounded.
        between: Standard deviation between scenarios.
        error: Of a rating; raters differ by 0.3.
    """

    n_raters: int
    out_of: int
    mean: float
    between: float
    error: float = 0.7

    @property
    def name(self) -> str:
        """In short."""
        raters = f"{self.n_raters} raters"
        if self.out_of > self.n_raters:
            raters += f" of {self.out_of}"
        return f"{raters}, mean {self.mean:g}, sd {self.between:g}"

    def ratings(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Of n new scenarios, shape (n, out_of); NaN = not asked."""
        shape = (n, self.out_of)
        raters = np.random.default_rng(5).normal(0, 0.3, self.out_of)
        drawn = self.mean + rng.normal(0, self.between, (n, 1)) + raters
        rated = np.clip(np.rint(drawn + rng.normal(0, self.error, shape)), 1, 5)
        asked = rng.random(shape).argsort(axis=1) < self.n_raters
        return np.where(asked, rated, np.nan)


PANELS = (
    Panel(8, 8, 4.2, 0.7),
    Panel(8, 8, 4.6, 0.5),
    Panel(5, 5, 3.5, 1.0),
    Panel(5, 12, 4.2, 0.7),
    Panel(3, 3, 4.2, 0.7),
)


@dataclass(frozen=True)
class Row:
    """One interval; `coverage` and `width` are of those given, `none` the share that is not."""

    panel: str
    n_scenarios: int
    coefficient: str
    truth: float
    coverage: float | None
    none: float
    width: float
    rounds: int


def main() -> None:
    """Simulate the panels, print the table, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=1_000, help="studies for each number")
    parser.add_argument("--small", action="store_true", help="a try: 50 rounds, not kept")
    args = parser.parse_args()
    began = time.process_time()
    rows = [row for panel in PANELS for row in simulated(panel, 50 if args.small else args.rounds)]
    sys.stdout.write(table(rows))
    if not args.small:
        results = conditions() | {
            "cpu_seconds": round(time.process_time() - began),
            "rows": [asdict(row) for row in rows],
        }
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def simulated(panel: Panel, rounds: int) -> Iterator[Row]:
    """One panel, by number of scenarios."""
    everything = panel.ratings(POPULATION, np.random.default_rng(1))
    chosen = {
        n: c for n, c in COEFFICIENTS.items() if panel.out_of == panel.n_raters or "I" not in n
    }
    truths = {name: value(everything) for name, (value, _) in chosen.items()}
    for n in SCENARIOS:
        rng = np.random.default_rng([n, panel.n_raters, panel.out_of])
        tallies = {name: Tally(truth) for name, truth in truths.items()}
        for _ in range(rounds):
            ratings = panel.ratings(n, rng)
            for name, (_, interval) in chosen.items():
                tallies[name].add(partial(interval, ratings))
        for name, tally in tallies.items():
            defined = rounds - tally.none
            yield Row(
                panel.name,
                n,
                name,
                truth=round(tally.truth, 3),
                coverage=round(1 - (tally.below + tally.above) / defined, 3) if defined else None,
                none=round(tally.none / rounds, 3),
                width=round(tally.widths / max(defined, 1), 2),
                rounds=rounds,
            )


def table(rows: list[Row]) -> str:
    """A line a panel and a coefficient: coverage in percent by number of scenarios."""
    lines = [f"{'':34}{'truth':>14}" + "".join(f"{n:>7}" for n in SCENARIOS)]
    for panel, name in dict.fromkeys((row.panel, row.coefficient) for row in rows):
        these = [row for row in rows if (row.panel, row.coefficient) == (panel, name)]
        cells = ("–" if r.coverage is None else f"{100 * r.coverage:.1f}" for r in these)
        lines.append(
            f"{panel:34}{name:>8}{these[0].truth:6.2f}" + "".join(f"{cell:>7}" for cell in cells)
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
