"""The ways to part the scenarios, and an entry's numbers over each part."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from careeval.results.entry_numbers import EntryNumbers
from careeval.results.score.summary import Cell, DomainCell


class By(StrEnum):
    """What a table may break the scenarios down by."""

    adl = "adl"
    domain = "domain"
    condition = "condition"
    assistance = "assistance"
    situation = "situation"
    actor = "actor"

    @property
    def head(self) -> str:
        """As a column is headed."""
        return "activity" if self is By.adl else self.value

    @property
    def in_detail(self) -> bool:
        """Whether a summary lacks it, and a `Detail` has it."""
        return self not in OVERVIEW


OVERVIEW = (By.adl, By.domain)
"""What is shown where nothing is asked for."""


def cells_by(by: By, entry: EntryNumbers) -> Mapping[Any, Cell | DomainCell]:
    """Return the numbers of an entry's parts.

    Raises:
        ValueError: They are in its detail, and there is none.
    """
    numbers = entry.detail if by.in_detail else entry.summary
    if numbers is None:
        raise ValueError(f"there are no cells by {by} without the detail")
    cells: Mapping[Any, Cell | DomainCell] = getattr(numbers, f"by_{by}")
    return cells
