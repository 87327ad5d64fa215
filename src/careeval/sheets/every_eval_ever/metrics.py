"""The numbers of an entry that its file in the form of Every Eval Ever holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from careeval.core.scenario import Domain
from careeval.results.score.entries import Entry
from careeval.results.score.graded_rubric import Errors, GradedRubric
from careeval.results.score.summary import Summary
from careeval.sheets.every_eval_ever.form import result_name
from careeval.stats import Estimate

_OF_SHARE = "clustered by scenario: Korn and Graubard's, with the effective sample size"
_OF_SCORE = f"{_OF_SHARE}, on the range of the score taken as 0 to 1"


class Metric(NamedTuple):
    """One number of an entry.

    Attributes:
        name: As careeval calls it.
        says: What it is.
        of: The part of the scenarios it is over; empty if all.
        n: What it is over: scenarios, or the responses that a share of responses is of.
        lowest: The least that it could be; `None` where that is not reckoned.
    """

    name: str
    says: str
    of: str
    estimate: Estimate
    lower_is_better: bool
    lowest: float | None
    n: int
    method: str

    @property
    def id(self) -> str:
        """Its name in the form."""
        return result_name(self.name, self.of)


def metrics(entry: Entry, s: Summary) -> Iterator[Metric]:
    """Every number of an entry, those that are unknown too."""
    graded = entry.graded
    n, lowest = len(graded.judged), _lowest(graded)
    yield _errors("severe", s.severe, -2)
    yield Metric(
        "score",
        f"Points of the {entry.rubric} over the most points, mean of the responses to a scenario, "
        "pooled over scenarios; not cut off at 0.",
        "", s.score, False, lowest, n, _OF_SCORE,
    )  # fmt: skip
    yield Metric(
        "worst_at_n",
        f"The same if every scenario had got the lowest of its {s.n_epochs} responses.",
        "", s.worst_at_n, False, lowest, n, _OF_SCORE,
    )  # fmt: skip
    yield _errors("mild", s.mild, -1)
    for adl, cell in s.by_adl.items():
        part = graded.only(lambda of, adl=adl: of.about.adl == adl)  # type: ignore[misc]
        yield Metric(
            "score", "The score over the scenarios of one activity.", adl.value,
            cell.score, False, _lowest(part), len(part.judged), _OF_SCORE,
        )  # fmt: skip
    for domain in Domain:
        of_domain = s.by_domain[domain]
        yield Metric(
            "score", "Points of the items, weighted by how far each is about one domain.",
            domain.value, of_domain.score, False, None, of_domain.n, _OF_SCORE,
        )  # fmt: skip


def _errors(name: str, errors: Errors, points: int) -> Metric:
    return Metric(
        name, f"Share of the responses in which any item of {points} is present.", "",
        errors.share, True, 0.0, errors.n, _OF_SHARE,
    )  # fmt: skip


def _lowest(graded: GradedRubric) -> float | None:
    """The score if every negative item were present and no positive one."""
    points = [p for s in graded.judged for p in s.points.tolist()]
    most = sum(p for p in points if p > 0)
    return sum(p for p in points if p < 0) / most if most else None
