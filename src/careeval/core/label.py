"""What a person says of a judgment that a grader made too: a label.

Nothing here can carry a name: a rater is a pseudonym. A rater who labels has seen the response and
the item, and neither the points, the system, the grader's verdict nor another rater's label.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

N, SEVERE_FOUND, SEVERE_CLEARED = 600, 150, 400
"""Judgments of a grader that people are asked to read: of items that are no severe errors; of −2
items that the grader found; of −2 items that it called absent, among which those that it missed
are, and few."""


class Reading(StrEnum):
    """Whether the item is in the response."""

    present = "present"
    absent = "absent"
    unsure = "unsure"


@dataclass(frozen=True, slots=True)
class Label:
    """One person's word on one judgment of a sample.

    Attributes:
        rater: Who, a pseudonym.
        judgment: Its id in the sample.
        says: Present, absent or unsure.
        note: What the rater wrote beside it, as it was typed; data, not markup.
        at: When it was said; `None` where that was not kept.
        adjudicated: It settles what raters said, who had all committed before; theirs are kept.
    """

    rater: str
    judgment: str
    says: Reading
    note: str = ""
    at: datetime | None = None
    adjudicated: bool = False

    def __post_init__(self) -> None:
        if not self.rater or not self.judgment:
            raise ValueError(f"a label is somebody's, of something: {self}")
