"""Coverage of the 95% intervals of graders' agreement, by class of points; see README.md.

```sh
python bench/class_agreement.py           # some seconds
python bench/class_agreement.py --small   # a try: 50 rounds, nothing kept
```

A round draws scenarios with two items of one class and ten responses each. The chance of
an item to be present differs between items, and so does the chance of each of the two readers to be
right, so that mistakes cluster. In an audit the second reader is people, who read a sample of what
the first called present and a sample of the rest, and each judgment read stands for several.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from careeval.errors import StatsError
from careeval.stats.agreement import (
    positive_agreement,
    positive_agreement_interval,
    presence_ac1,
    presence_ac1_interval,
)
from careeval.stats.intervals import Interval

RESULTS = Path(__file__).parent / "results" / "class_agreement.json"
SCENARIOS = (12, 20, 40, 80)
POPULATION = 20_000
ITEMS, RESPONSES = 2, 10
ALIKE = 5.0
"""How alike the shares in which a reader is right are: a + b of their beta distribution."""

FloatArray = NDArray[np.float64]
Counted = tuple[FloatArray, FloatArray | None]
"""Both present, one alone, neither, of each scenario; and where they are weighted, those read."""

NUMBERS: dict[str, tuple[Callable[[FloatArray], float], Callable[..., Interval]]] = {
    "positive agreement": (positive_agreement, positive_agreement_interval),
    "AC1": (presence_ac1, presence_ac1_interval),
}


@dataclass(frozen=True)
class Class:
    """Items of one point class, and the two who read for them.

    Attributes:
        prevalence: Share of judgments whose item is there.
        spread: How alike items are in that: a + b of the beta distribution of their shares.
        finds: Share that a reader finds of what is there.
        clears: Share that a reader clears of what is not.
        read: In an audit, the share that people read of what the grader called present, and of the
            rest; none where two graders judged everything.
    """

    name: str
    prevalence: float
    spread: float
    finds: float
    clears: float
    read: tuple[float, float] | None = None

    def counted(self, n: int, rng: np.random.Generator, *, whole: bool = False) -> Counted:
        """The judgments of n new scenarios; all of them, also in an audit, if `whole`."""
        shape = (n, ITEMS, 1)
        shares = rng.beta(self.prevalence * self.spread, (1 - self.prevalence) * self.spread, shape)
        there = rng.random((n, ITEMS, RESPONSES)) < shares
        first, second = (self._reader(there, rng) for _ in range(2))
        ways = np.stack([first & second, first ^ second, ~first & ~second], axis=-1)
        if self.read is None or whole:
            return ways.sum(axis=(1, 2)).astype(np.float64), None
        drawn = rng.random(there.shape) < np.where(first, *self.read)
        stands_for = [
            verdict.sum() / max((drawn & verdict).sum(), 1) for verdict in (first, ~first)
        ]
        weight = np.where(first, *stands_for) * drawn
        read = (ways & drawn[..., np.newaxis]).sum(axis=(1, 2)).astype(np.float64)
        return (ways * weight[..., np.newaxis]).sum(axis=(1, 2)), read

    def _reader(self, there: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.bool_]:
        shape = (*there.shape[:2], 1)
        finds = rng.beta(ALIKE * self.finds, ALIKE * (1 - self.finds), shape)
        invents = rng.beta(ALIKE * (1 - self.clears), ALIKE * self.clears, shape)
        return np.asarray(rng.random(there.shape) < np.where(there, finds, invents))


CLASSES = (
    Class("rare, seen alike (−2)", 0.04, 0.4, 0.85, 0.99),
    Class("rare, seen apart (−1)", 0.08, 0.6, 0.5, 0.95),
    Class("frequent, seen apart (0)", 0.3, 1, 0.6, 0.9),
    Class("frequent, seen alike (+1)", 0.6, 1, 0.92, 0.9),
    Class("frequent, hardly a mistake (+2)", 0.4, 1, 0.97, 0.99),
    Class("rare, seen alike, an audit", 0.04, 2, 0.9, 0.99, (0.9, 0.1)),
    Class("frequent, seen apart, an audit", 0.3, 1, 0.6, 0.9, (0.7, 0.2)),
)


@dataclass(frozen=True)
class Row:
    """One interval: shares of the rounds, in which there is none, or it misses the truth.

    Attributes:
        below: It ends below the truth.
        above: It begins above the truth, which flatters the graders.
        width: Mean width of those there are.
    """

    items: str
    number: str
    truth: float
    n_scenarios: int
    none: float
    below: float
    above: float
    width: float
    rounds: int


def main() -> None:
    """Simulate the classes, print the table, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=1_000, help="studies for each number")
    parser.add_argument("--small", action="store_true", help="a try: 50 rounds, not kept")
    args = parser.parse_args()
    began = time.process_time()
    rounds = 50 if args.small else args.rounds
    rows = [asdict(row) for items in CLASSES for row in simulated(items, rounds)]
    sys.stdout.write(table(rows))
    if not args.small:
        from coverage import conditions

        kept = conditions() | {"cpu_seconds": round(time.process_time() - began), "rows": rows}
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def simulated(items: Class, rounds: int) -> Iterator[Row]:
    """One class, by number of scenarios."""
    everything, _ = items.counted(POPULATION, np.random.default_rng(1), whole=True)
    for n in SCENARIOS:
        rng = np.random.default_rng([n, CLASSES.index(items)])
        drawn = [items.counted(n, rng) for _ in range(rounds)]
        for name, (value, interval) in NUMBERS.items():
            truth = value(everything)
            ends = [end for end in (_ends(interval, *each) for each in drawn) if end]
            yield Row(
                items.name,
                name,
                round(truth, 3),
                n,
                none=round(1 - len(ends) / rounds, 3),
                below=round(sum(end.high < truth for end in ends) / rounds, 3),
                above=round(sum(end.low > truth for end in ends) / rounds, 3),
                width=round(sum(end.high - end.low for end in ends) / max(len(ends), 1), 3),
                rounds=rounds,
            )


def _ends(
    interval: Callable[..., Interval], counts: FloatArray, read: FloatArray | None
) -> Interval | None:
    try:
        return interval(counts, read)
    except StatsError:
        return None


def table(rows: list[dict[str, float | str]]) -> str:
    """A line a class and a number: of the intervals given, how many hold the truth, in percent."""
    heads = ["items", "number", "truth", *(f"{n} scenarios" for n in SCENARIOS)]
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    for items, number in dict.fromkeys((row["items"], row["number"]) for row in rows):
        these = [row for row in rows if (row["items"], row["number"]) == (items, number)]
        cells = " | ".join(map(_cell, these))
        lines.append(f"| {items} | {number} | {float(these[0]['truth']):.2f} | {cells} |")
    return "\n".join(lines) + "\n"


def _cell(row: dict[str, float | str]) -> str:
    none, below, above = (float(row[name]) for name in ("none", "below", "above"))
    if none == 1:
        return "–"
    low, high = (100 * missed / (1 - none) for missed in (below, above))
    without = f", none {100 * none:.0f}" if none >= 0.005 else ""
    return f"{100 - low - high:.0f} ({low:.0f}, {high:.0f}{without})"


if __name__ == "__main__":
    main()
