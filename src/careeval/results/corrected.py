"""A system's score as people correct it: what it would be if they had judged every answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from careeval.core.scenario import Rubric
from careeval.results.exports import percent, with_interval
from careeval.results.summary import Summary
from careeval.stats import Estimate


@dataclass(frozen=True)
class Corrected:
    """A system's score on one rubric, by the grader and by people, over public scenarios.

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


Scores = Mapping[Rubric, Corrected]
"""An entry's scores as people correct them; empty where they did not read its answers."""

HEAD = (
    "model",
    "rubric",
    "as graded %",
    "corrected by people % [95% CI]",
    "responses read",
    "judgments read",
)
"""Column heads of `rows`."""

MEANING = (
    "Corrected by people: what the score would be if people had judged every answer, from those "
    "that they read. Where its interval leaves out the score as graded, the grader is off for that "
    "system."
)


def as_graded(entries: Iterable[tuple[Summary, Scores]]) -> str:
    """What to say of scores as graded where they are not the scores of these entries; else empty.

    Args:
        entries: Each with its scores as people correct them.
    """
    same = all(
        percent(of.graded)
        == percent((s.score if rubric is Rubric.ladder else s.action_score).value)
        for s, scores in entries
        for rubric, of in scores.items()
    )
    if same:
        return ""
    return (
        "As graded: over the public responses that the grader judged whole. It differs from the "
        "score of the run where responses are held out or missing, or not wholly judged."
    )


def rows(names: Sequence[str], corrected: Sequence[Scores]) -> Iterator[tuple[str, ...]]:
    """A row a system and rubric, under `HEAD`; none of what was not audited.

    Args:
        names: What each entry is called.
        corrected: Of each, by rubric.
    """
    for name, scores in zip(names, corrected, strict=True):
        for rubric, of in scores.items():
            yield (
                name,
                rubric.value,
                percent(of.graded),
                with_interval(of.corrected),
                f"{of.n_responses:,}",
                f"{of.n_judgments:,}",
            )


def reasons(names: Sequence[str], corrected: Sequence[Scores]) -> Iterator[str]:
    """Why those that are not corrected are not, a sentence each system and reason."""
    for name, scores in zip(names, corrected, strict=True):
        why: dict[str, list[str]] = {}
        for rubric, of in scores.items():
            if of.corrected.value is None:
                why.setdefault(of.corrected.reason, []).append(rubric.value)
        for reason, rubrics in why.items():
            yield f"{name}, {' and '.join(rubrics)} not corrected: {reason}."
