"""The ways to part the scenarios, and an entry's numbers over each part."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from careeval.results.details import Detail
from careeval.results.summary import Cell, Summary


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


def cells_by(by: By, summary: Summary, detail: Detail | None) -> Mapping[Any, Cell]:
    """Return an entry's cells by anything but domain.

    Raises:
        ValueError: They are of another kind, or in the detail, and there is none.
    """
    if by is By.adl:
        return summary.by_adl
    if by is By.domain or detail is None:
        raise ValueError(f"there are no such cells by {by}")
    cells: Mapping[str, Cell] = getattr(detail, f"by_{by}")
    return cells
