"""The items that a grader is shown, and the judgments that it returns.

`GraderItem` does not derive from `careeval.core.scenario.RubricItem`: it has no points, sign or
domains that a prompt could show by mistake.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GraderItem:
    """A rubric item as the grader sees it: its number in the list, and its text."""

    number: int
    text: str

    def __str__(self) -> str:
        """Return the item as its line in the grader's prompt: number and text."""
        return f"{self.number}. {self.text}"


@dataclass(frozen=True, slots=True)
class Judgment:
    """A grader's judgment of one item of one response: present, absent, or unresolved.

    Attributes:
        item: Id of the rubric item.
        present: Whether the response contains the item; `None` if unresolved: the grader gave no
            usable judgment.
        reason: The grader's reason; for an unresolved judgment, why it is unresolved.
        quote: The words of the response that show the item; `None` if the grader gave none or they
            are not in the response.
    """

    item: str
    present: bool | None
    reason: str
    quote: str | None = None

    def __post_init__(self) -> None:
        if self.present is None and not self.reason:
            raise ValueError(f"an unresolved judgment needs a reason: {self.item!r}")
