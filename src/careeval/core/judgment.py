"""What a grader is shown, and what it answers.

`GraderItem` is a sibling of `careeval.core.scenario.RubricItem`, not a part of it: there is no
points, sign or domain on it that a prompt could carry by mistake.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GraderItem:
    """One rubric item as the grader sees it: its number on the list, and its text."""

    number: int
    text: str

    def __str__(self) -> str:
        """The line of the prompt."""
        return f"{self.number}. {self.text}"


@dataclass(frozen=True, slots=True)
class Judgment:
    """One grader's word on one item of one response: present, absent, or unresolved.

    Attributes:
        item: Id of the rubric item.
        present: Whether the response contains it; `None`, unresolved, when the grader could not be
            brought to say.
        reason: The grader's reason; for an unresolved judgment, why there is none.
        quote: The response's own words that show it; `None` where none were given or none matched.
    """

    item: str
    present: bool | None
    reason: str
    quote: str | None = None

    def __post_init__(self) -> None:
        if self.present is None and not self.reason:
            raise ValueError(f"an unresolved judgment says why: {self.item!r}")
