"""The attributes by which scenarios are broken down, and an entry's results by each."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from careeval.results.entry_numbers import EntryNumbers
from careeval.results.score.summary import DomainScore, SubsetScore


class Breakdown(StrEnum):
    """The attributes by which a table can break down the scenarios."""

    adl = "adl"
    domain = "domain"
    condition = "condition"
    assistance = "assistance"
    situation = "situation"
    actor = "actor"

    @property
    def head(self) -> str:
        """Return the header text of the attribute's column."""
        return "activity" if self is Breakdown.adl else self.value

    @property
    def in_detail(self) -> bool:
        """Tell whether an entry has its results by this attribute in `detail`, not in `summary`."""
        return self not in OVERVIEW


OVERVIEW = (Breakdown.adl, Breakdown.domain)
"""The breakdowns shown by default."""


def scores_by(by: Breakdown, entry: EntryNumbers) -> Mapping[Any, SubsetScore | DomainScore]:
    """Return an entry's numbers by one attribute of the scenarios.

    Raises:
        ValueError: These numbers are in the detail, which was not computed for the entry.
    """
    numbers = entry.detail if by.in_detail else entry.summary
    if numbers is None:
        raise ValueError(f"there are no results by {by}: the entry has no `detail`")
    cells: Mapping[Any, SubsetScore | DomainScore] = getattr(numbers, f"by_{by}")
    return cells
