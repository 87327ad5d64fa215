"""Whether two entries may be compared at all: one bank, one protocol, one grader, one rubric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from careeval.core.scenario import Rubric
from careeval.errors import UsageError
from careeval.results.entries import Entry
from careeval.results.tables import WITHHELD

UNKNOWN = "version unknown"
"""Stands for a bank, or a version of it or of the protocol, that no response names."""


def comparable_to(entry: Entry) -> tuple[str, str, str, str]:
    """What two entries must have in common: bank, its version's N, the protocol's N, the grader.

    What no response names is `UNKNOWN`. Two of these need not be the same: `why_unknown`.
    """
    bank, *versions = (named(entry, name) for name in _SAME)
    bank_n, protocol_n = (UNKNOWN if version is None else _n(version) for version in versions)
    return UNKNOWN if bank is None else bank, bank_n, protocol_n, entry.grader


def why_unknown(entry: Entry) -> str:
    """Why an entry compares with none, since it does not say what it is over; empty if it does."""
    missing = [what for name, what in _SAME.items() if named(entry, name) is None]
    if not missing:
        return ""
    return f"{UNKNOWN}: its responses do not name the {' and the '.join(missing)}"


_SAME = {
    "bank": "bank",
    "bank_version": "version of the bank",
    "protocol": "version of the protocol",
}
"""Columns that must agree → in words."""


def named(entry: Entry, column: str) -> str | None:
    """What the responses name in a column; `None` where none of them does."""
    known = entry.responses[column].drop_nulls()
    return None if known.is_empty() else str(known[0])


def check_comparable(a: Entry, b: Entry) -> None:
    """Refuse what does not compare.

    Raises:
        UsageError: It names what differs.
    """
    for entry in (a, b):
        for what, names in entry.mixed.items():
            if len({_n(name) for name in names}) > 1:
                raise UsageError(
                    f"{entry.model} compares with nothing: its responses are of {len(names)} "
                    f"{what}, {', '.join(names)}",
                    hint="run it again over one bank, in a new folder",
                )
        if reason := why_unknown(entry):
            raise UsageError(
                f"{entry.model} compares with nothing: {reason}",
                hint="run it again with this version of careeval, in a new folder",
            )
    ours, theirs = comparable_to(a), comparable_to(b)
    for (name, what), one, other in zip(_SAME.items(), ours, theirs, strict=False):
        if one != other:
            raise UsageError(
                f"{a.model} and {b.model} do not compare: another {what}, "
                f"{named(a, name)} and {named(b, name)}",
                hint="run both over the same bank and protocol; of a version N-X, N must be equal",
            )
    if a.grader != b.grader:
        raise UsageError(
            f"{a.model} and {b.model} do not compare: another grader, {a.grader} and {b.grader}",
            hint="grade one of them again: careeval grade FOLDER --grader NAME",
        )


@dataclass(frozen=True)
class Asked:
    """What an entry's scenarios were: for telling whether two runs were asked the same.

    Attributes:
        rubrics: Rubric and scenario → ids and points of the items, in their order.
        texts: Scenario → its text; one that is not known or withheld is not in it.
    """

    rubrics: Mapping[tuple[Rubric, str], tuple[tuple[str, int], ...]]
    texts: Mapping[str, frozenset[str]]

    @staticmethod
    def of(entry: Entry) -> Asked:
        """Those of one entry, as it was first graded."""
        items = (
            entry.first.select("rubric", "scenario", "position", "item", "points")
            .unique()
            .sort("position", "item", "points")
            .group_by("rubric", "scenario", maintain_order=True)
            .agg("item", "points")
        )
        rubrics = {
            (Rubric(rubric), scenario): tuple(zip(names, points, strict=True))
            for rubric, scenario, names, points in items.iter_rows()
        }
        texts = (
            entry.responses.select("scenario", "scenario_text")
            .filter(pl.col("scenario_text") != WITHHELD)
            .unique()
            .group_by("scenario")
            .agg("scenario_text")
        )
        return Asked(rubrics, {name: frozenset(of) for name, of in texts.iter_rows()})

    def retold(self, other: Asked, name: str) -> bool:
        """Whether a scenario's text is known of both and another one."""
        texts = self.texts, other.texts
        return all(name in of for of in texts) and texts[0][name] != texts[1][name]


def alike_scenarios(a: Asked, b: Asked, rubric: Rubric) -> set[str]:
    """Scenarios with the same items and points in both, and the same text as far as it is known."""
    return {
        name
        for (which, name), items in a.rubrics.items()
        if which == rubric and b.rubrics.get((which, name)) == items and not a.retold(b, name)
    }


def _n(version: str) -> str:
    """The N of a version N-X: what must be equal for numbers to compare."""
    return version.partition("-")[0]
