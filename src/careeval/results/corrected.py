"""A system's score as people correct it: what it would be if they had judged every answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from careeval.results.amounts import percent
from careeval.results.summary import Summary
from careeval.stats import Estimate


@dataclass(frozen=True)
class Corrected:
    """A system's score, by the grader and by people, over public scenarios.

    Attributes:
        graded: By the grader alone, over the responses that it judged whole; `None` without any.
        corrected: By the grader, and by people where they differ from it (prediction-powered).
        n_responses: Responses of which people settled anything.
        n_judgments: Judgments in them that people settled.
    """

    graded: float | None
    corrected: Estimate
    n_responses: int
    n_judgments: int

    @property
    def people_give(self) -> str:
        """`more` or `less` than the grader, where their interval leaves its score out.

        Else `as much`; empty where that is not known.
        """
        interval = self.corrected.ci95
        if interval is None or self.graded is None:
            return ""
        low, high = interval
        return "less" if high < self.graded else "more" if low > self.graded else "as much"

    def sentence(self) -> str:
        """What it means, for somebody who has read no other number."""
        value, interval = self.corrected.value, self.corrected.ci95
        if value is None or self.graded is None:
            reason = self.corrected.reason or "the grader judged none of its responses whole"
            return f"Not corrected: {reason}."
        found = f"it would be about {percent(value)}% if people had judged every answer"
        if interval is None:
            reason = self.corrected.reason
            return f"By what people read, {found}; how sure that is cannot be said: {reason}."
        low, high = interval
        sure = f"{found}, with 95% confidence between {percent(low)} and {percent(high)}%."
        if self.people_give == "as much":
            return f"What people read does not show the grader to be off: {sure}"
        return f"People give {self.people_give} than the grader: {sure}"


def as_graded(entries: Iterable[tuple[Summary, Corrected | None]]) -> str:
    """Return what to say of scores as graded that are not these entries' scores; else empty.

    Args:
        entries: Each with its score as people correct it.
    """
    same = all(
        percent(corrected.graded) == percent(summary.score.value)
        for summary, corrected in entries
        if corrected
    )
    if same:
        return ""
    return (
        "As graded: over the public responses that the grader judged whole. It differs from the "
        "score of the run where responses are held out or missing, or not wholly judged."
    )
