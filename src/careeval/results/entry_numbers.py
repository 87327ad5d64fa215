"""The record of all numbers of one entry, for sheets and report sections."""

from __future__ import annotations

from dataclasses import dataclass

from careeval.results.score.entry_details import Detail
from careeval.results.score.summary import Summary
from careeval.results.trust.audit.corrected_score import CorrectedScore


@dataclass(frozen=True, eq=False)
class EntryNumbers:
    """The numbers of one entry."""

    summary: Summary  # The main numbers
    detail: Detail | None = None  # The detailed numbers; `None` if not requested
    corrected: CorrectedScore | None = None
    """The score corrected by people; `None` if the grader was not audited."""
