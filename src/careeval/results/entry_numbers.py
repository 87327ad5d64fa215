"""The numbers of one entry in one record, as sheets and sections take them."""

from __future__ import annotations

from dataclasses import dataclass

from careeval.results.score.entry_details import Detail
from careeval.results.score.summary import Summary
from careeval.results.trust.audit.corrected_score import Corrected


@dataclass(frozen=True, eq=False)
class EntryNumbers:
    """What is computed from one entry.

    Attributes:
        summary: Its numbers.
        detail: Its numbers in full; `None` where nobody asked for them.
        corrected: Its score as people correct it; `None` where its grader was not audited.
    """

    summary: Summary
    detail: Detail | None = None
    corrected: Corrected | None = None
