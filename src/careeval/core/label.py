"""A label: a person's judgment of an item that a grader judged too.

A rater is a pseudonym; nothing here can hold a name. A rater who labels has seen the response and
the item, but not the points, the system, the grader's judgment or another rater's label.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

N, SEVERE_FOUND, SEVERE_CLEARED = 600, 150, 400
"""Number of judgments that people are asked to label, by default: of items other than severe
errors; of −2 items that the grader judged present; of −2 items that it judged absent."""


class Reading(StrEnum):
    """A rater's judgment of whether the item is in the response."""

    present = "present"
    absent = "absent"
    unsure = "unsure"


@dataclass(frozen=True, slots=True)
class Label:
    """A person's label of one judgment of a sample.

    Attributes:
        rater: The rater's pseudonym.
        judgment: Id of the judgment in the sample.
        says: Present, absent or unsure.
        note: The rater's note, as typed; data, not markup.
        at: Time of the label; `None` if it was not kept.
        adjudicated: Whether it settles a disagreement between raters, who had all finished. Their
            own labels are kept.
    """

    rater: str
    judgment: str
    says: Reading
    note: str = ""
    at: datetime | None = None
    adjudicated: bool = False

    def __post_init__(self) -> None:
        if not self.rater or not self.judgment:
            raise ValueError(f"a label needs a rater and a judgment: {self}")
