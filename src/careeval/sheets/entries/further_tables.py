"""Tables of numbers that only entries on some rubrics have, each made by the rubric's slice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from careeval.core.registry import Registry
from careeval.core.scenario import Rubric
from careeval.results.entries import Entry
from careeval.sheets.sheet import Sheet


@dataclass(frozen=True, slots=True)
class FurtherTable:
    """A table of numbers that only entries on one rubric have."""

    sheet: Sheet
    shown: tuple[str, ...]
    """Keys of the fields that people are shown, beside the name of the entry."""
    lead: str
    """One sentence that says how the numbers came about."""


TABLES: Registry[Callable[[Sequence[Entry]], FurtherTable]] = Registry(
    {Rubric.plan.value: "careeval.worlds.plan_answers:plan_answers_table"}
)
"""Rubric → function that makes the table of some entries."""


def further_tables(entries: Sequence[Entry]) -> list[FurtherTable]:
    """Return a table for each rubric that has one and that an entry is on."""
    rubrics = {summary.rubric.value for summary in entries}
    return [TABLES[rubric](entries) for rubric in TABLES if rubric in rubrics]
