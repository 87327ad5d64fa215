"""Second readings of a bank's rubrics and of its probes' labels.

A second reader sees a scenario and its items shuffled, without points, domains or reasons, and
gives each item its points and domains; and a probe beside the acts, and says which are in it. Both
readers were AI. So this is *AI self-consistency*: it finds slips and unclear wording. It is no
validation, no agreement of experts and no reliability.

```text
second-reading/
├── points-first.csv   the first reading of every rubric, kept as it was
├── points-last.csv    the last one, after what the first led to
├── labels-first.csv   the same of the probes' labels
└── labels-last.csv
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

import numpy as np
import pydantic

from careeval.bank.load import Bank
from careeval.bank.reader import read_rows
from careeval.bank.schema import ProbeLabel
from careeval.core.scenario import ItemId, Points, Rubric, Slug
from careeval.errors import StatsError
from careeval.sheets.kinds import COUNT, Unit, number_kind
from careeval.sheets.sheet import Document, Field, Row, Sheet, Shown, View

FOLDER = "second-reading"
WHAT = "second reading"
Round = Literal["first", "last"]
Version = Annotated[int, pydantic.Field(ge=1)]
LEVELS = (-2, -1, 0, 1, 2)
FAR = 2
"""Points apart from which an item is looked at again."""


@dataclass(frozen=True, slots=True)
class PointsRead:
    """The points of an item by its author and by the second reader.

    Attributes:
        scenario: Id.
        version: Of the scenario that was read.
        rubric: `actions` or `ladder`.
        item: Id.
        author: Its points in the file that was read.
        reader: The points that the second reader gave it.
        author_domains: The domains that the file names, and their levels, as `name:level` with
            spaces between.
        reader_domains: The same of the second reader.
    """

    scenario: Slug
    version: Version
    rubric: Rubric
    item: ItemId
    author: Points
    reader: Points
    author_domains: str
    reader_domains: str

    @property
    def flips(self) -> bool:
        """True if one calls the item good and the other bad."""
        return self.author * self.reader < 0

    @property
    def far(self) -> bool:
        """True if the two are so far apart that the item is looked at again."""
        return self.flips or abs(self.author - self.reader) >= FAR


@dataclass(frozen=True, slots=True)
class LabelRead:
    """The labels of an act in a probe, by its author and by the second reader.

    Attributes:
        scenario: Id.
        version: Of the scenario that was read.
        probe: Id.
        item: Id of the act; rungs are not read.
        author: `present` or `absent`.
        reader: `present` or `absent`.
    """

    scenario: Slug
    version: Version
    probe: Slug
    item: ItemId
    author: ProbeLabel
    reader: ProbeLabel


@dataclass(frozen=True, slots=True)
class Consistency:
    """The agreement of two readings of points.

    Attributes:
        n: Items.
        kappa: Weighted kappa, quadratic weights; `None` where it is not defined.
        equal: Items with the same points.
        flips: Items that one calls good and the other bad.
        far: Items that are two points or more apart, flips among them.
    """

    n: int
    kappa: float | None
    equal: int
    flips: tuple[PointsRead, ...]
    far: tuple[PointsRead, ...]

    @staticmethod
    def of(read: Iterable[PointsRead]) -> Consistency:
        """Return the agreement over these items."""
        items = list(read)
        try:
            kappa = weighted_kappa(
                [item.author for item in items], [item.reader for item in items], LEVELS
            )
        except StatsError:
            kappa = None
        return Consistency(
            n=len(items),
            kappa=kappa,
            equal=sum(item.author == item.reader for item in items),
            flips=tuple(item for item in items if item.flips),
            far=tuple(item for item in items if item.far),
        )


def weighted_kappa(first: Sequence[int], second: Sequence[int], levels: Sequence[int]) -> float:
    """Return Cohen's kappa, with disagreement weighted by the square of its distance in levels.

    Args:
        first: Levels of one reading.
        second: Levels of the other, for the same responses in the same order.
        levels: Every level that could have been given, ascending and evenly spaced.

    Returns:
        1 if all agree, 0 if no better than chance given the shares of both readings, below 0 if
        worse.

    Raises:
        StatsError: Nothing was read, a level is not among `levels`, or both readings gave the same
            single level throughout, so that chance alone would agree.

    Source: Cohen 1968, doi:10.1037/h0026256; Fleiss and Cohen 1973, doi:10.1177/001316447303300309.
    """
    if len(first) != len(second):
        raise StatsError(
            f"one reading has {len(first)} levels, the other {len(second)}; they must be as many"
        )
    if not first:
        raise StatsError("nothing was read")
    place = {level: i for i, level in enumerate(levels)}
    if unknown := sorted({*first, *second} - set(place)):
        raise StatsError(f"level {unknown[0]} is not among {list(levels)}")
    counts = np.zeros((len(levels), len(levels)))
    for a, b in zip(first, second, strict=True):
        counts[place[a], place[b]] += 1
    distance = np.subtract.outer(np.arange(len(levels)), np.arange(len(levels))) ** 2
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / len(first)
    by_chance = float((distance * expected).sum())
    if by_chance == 0:
        raise StatsError("both readings gave one and the same level throughout")
    return 1 - float((distance * counts).sum()) / by_chance


@dataclass(frozen=True)
class SecondReading:
    """The second readings of a bank; empty if there were none.

    Attributes:
        points: By round.
        labels: By round.
    """

    points: Mapping[Round, Sequence[PointsRead]]
    labels: Mapping[Round, Sequence[LabelRead]]


def second_reading(bank: Path, held_out: Mapping[str, str]) -> SecondReading:
    """Return the second readings in a bank's folder, and in its held-out split if that is open.

    Raises:
        BankError: A file cannot be read, or is not what it must be.
    """
    return SecondReading(
        points={
            r: read_rows(bank, held_out, f"{FOLDER}/points-{r}.csv", PointsRead, WHAT)
            for r in get_args(Round)
        },
        labels={
            r: read_rows(bank, held_out, f"{FOLDER}/labels-{r}.csv", LabelRead, WHAT)
            for r in get_args(Round)
        },
    )


def misread(bank: Bank, reading: SecondReading) -> Iterator[str]:
    """Return the names in the last readings that are not in the bank, in words, each once.

    The first readings are kept as they were, and so may name what is there no more.
    """
    yield from dict.fromkeys(f"points-last.csv: {words}" for words in _no_items(bank, reading))
    yield from dict.fromkeys(f"labels-last.csv: {words}" for words in _no_labels(bank, reading))


def _no_items(bank: Bank, reading: SecondReading) -> Iterator[str]:
    by_id = {scenario.id: scenario for scenario in bank.scenarios}
    for row in reading.points.get("last", ()):
        scenario = by_id.get(row.scenario)
        if scenario is None:
            yield f"the bank has no scenario {row.scenario!r}"
        elif all(item.id != row.item for item in scenario.rubric(row.rubric)):
            yield f"{row.scenario} has no {row.item!r} among its {row.rubric}"


def _no_labels(bank: Bank, reading: SecondReading) -> Iterator[str]:
    by_id = {scenario.id: scenario for scenario in bank.scenarios}
    for row in reading.labels.get("last", ()):
        scenario = by_id.get(row.scenario)
        if scenario is None:
            yield f"the bank has no scenario {row.scenario!r}"
            continue
        if all(probe.id != row.probe for probe in bank.probes.get(row.scenario, ())):
            yield f"{row.scenario} has no probe {row.probe!r}"
        if all(action.id != row.item for action in scenario.actions):
            yield f"{row.scenario} has no {row.item!r} among its actions"


_KAPPA = number_kind(unit=Unit(1, "", 3))
_FIELDS = (
    Field("what", "what was read: points of items, or labels of probes", head="Read"),
    Field("reading", "first, or last, after what the first led to"),
    Field("n", "items, or labels", COUNT, brief="n"),
    Field("weighted_kappa", "quadratic weights; null if not defined", _KAPPA),
    # a reader who gives five rungs the five grades can hardly but agree on them
    Field("weighted_kappa_actions", "the same of the actions", _KAPPA, "Actions alone"),
    Field("n_equal", "that both say", COUNT, "Equal"),
    Field("n_two_or_more_apart", "points apart, or of opposite sign", COUNT, "Two or more apart"),
    Field("n_sign_flips", "that one calls good and the other bad", COUNT, "Of opposite sign"),
)


def reading_document(bank: Bank, reading: SecondReading) -> Document:
    """Return a table of the agreement of the second reader with the bank, and of open items."""
    rows = [
        *(_points(name, read) for name, read in reading.points.items() if read),
        *(_labels(name, read) for name, read in reading.labels.items() if read),
    ]
    sheet = Sheet("second_reading", "a reading of the points, or of the labels", _FIELDS, rows)
    last = reading.points.get("last", ()), reading.labels.get("last", ())
    points = [f"{row.scenario} {row.item}" for row in last[0] if row.far]
    labels = [
        f"{row.scenario} {row.probe} {row.item}" for row in last[1] if row.author != row.reader
    ]
    still_open = (f"open: {', '.join(names)}" for names in (points, labels) if names)
    view = View(
        sheet,
        tuple(Shown(field.key) for field in _FIELDS),
        "Second reading. AI self-consistency: no validation, no agreement of experts, no "
        "reliability.",
    )
    return Document((view,) if rows else (), (*still_open, *misread(bank, reading)), sheet)


def _points(name: str, read: Sequence[PointsRead]) -> Row:
    consistency = Consistency.of(read)
    return {
        "what": "points",
        "reading": name,
        "n": consistency.n,
        "weighted_kappa": consistency.kappa,
        "weighted_kappa_actions": Consistency.of(r for r in read if r.rubric == "actions").kappa,
        "n_equal": consistency.equal,
        "n_sign_flips": len(consistency.flips),
        "n_two_or_more_apart": len(consistency.far),
    }


def _labels(name: str, read: Sequence[LabelRead]) -> Row:
    n_equal = sum(row.author == row.reader for row in read)
    return {"what": "labels", "reading": name, "n": len(read), "n_equal": n_equal}
