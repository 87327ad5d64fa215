"""The numbers of an entry for its Every Eval Ever file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from careeval.core.scenario import Domain
from careeval.results.entries import Entry
from careeval.results.graded_rubric import Errors, GradedRubric
from careeval.results.summary import Summary
from careeval.sheets.every_eval_ever.form import result_name
from careeval.stats.estimate import Estimate

_OF_SHARE = "clustered by scenario: Korn and Graubard's, with the effective sample size"
_OF_SCORE = f"{_OF_SHARE}, on the range of the score taken as 0 to 1"


class ReportedMetric(NamedTuple):
    """One number of an entry as the file reports it.

    Attributes:
        name: Name of the number in careeval.
        description: Description of the number.
        part: The part of the scenarios that the number is over; empty if all.
        estimate: The number with its interval.
        lower_is_better: Whether lower numbers are better.
        lowest: The lowest possible value; `None` if it is not computed.
        n: Number of scenarios; for a share of responses, number of responses.
        method: Method by which the interval is computed.
    """

    name: str
    description: str
    part: str
    estimate: Estimate
    lower_is_better: bool
    lowest: float | None
    n: int
    method: str

    @property
    def id(self) -> str:
        """Name of the number in the format."""
        return result_name(self.name, self.part)


def metrics(entry: Entry, s: Summary) -> Iterator[ReportedMetric]:
    """Yield the numbers that the file can report of an entry, unknown ones too."""
    graded = entry.graded
    n, lowest = int(graded.judged.sum()), _lowest(graded)
    yield _errors("severe", s.severe, -2)
    yield ReportedMetric(
        "score",
        f"Points of the {entry.rubric} over the most points, mean of the responses to a scenario, "
        "pooled over scenarios; not cut off at 0.",
        "", s.score, False, lowest, n, _OF_SCORE,
    )  # fmt: skip
    yield ReportedMetric(
        "worst_at_n",
        f"The score if each scenario had the lowest score of its {s.n_epochs} responses.",
        "", s.worst_at_n, False, lowest, n, _OF_SCORE,
    )  # fmt: skip
    yield _errors("mild", s.mild, -1)
    for adl, cell in s.by_adl.items():
        part = graded.only(lambda traits, adl=adl: traits.adl == adl)  # type: ignore[misc]
        yield ReportedMetric(
            "score", "The score over the scenarios of one activity.", adl.value,
            cell.score, False, _lowest(part), int(part.judged.sum()), _OF_SCORE,
        )  # fmt: skip
    for domain in Domain:
        domain_cell = s.by_domain[domain]
        yield ReportedMetric(
            "score", "Points of the items, weighted by the rating of each in one domain.",
            domain.value, domain_cell.score, False, None, domain_cell.n, _OF_SCORE,
        )  # fmt: skip


def _errors(name: str, errors: Errors, points: int) -> ReportedMetric:
    return ReportedMetric(
        name, f"Share of the responses in which any item of {points} is present.", "",
        errors.share, True, 0.0, errors.n, _OF_SHARE,
    )  # fmt: skip


def _lowest(graded: GradedRubric) -> float | None:
    """Return the score with every negative and no positive item; `None` without positive items."""
    most, least = graded.maxima[graded.judged].sum(), graded.minima[graded.judged].sum()
    return float(least / most) if most else None
