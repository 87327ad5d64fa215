"""The ways to part the scenarios, and an entry's numbers over each part."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from careeval.results.details import Detail
from careeval.results.summary import Cell, DomainCell, Summary


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


def cells_by(by: By, summary: Summary, detail: Detail | None) -> Mapping[Any, Cell | DomainCell]:
    """Return an entry's cells: those of `OVERVIEW` from its summary, others from its detail.

    Raises:
        ValueError: They are in the detail, and there is none.
    """
    if not by.in_detail:
        cells: Mapping[Any, Cell | DomainCell] = getattr(summary, f"by_{by}")
        return cells
    if detail is None:
        raise ValueError(f"the parts by {by} are in an entry's detail")
    parts: Mapping[Any, Cell] = getattr(detail, f"by_{by}")
    return parts
