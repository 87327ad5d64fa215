"""The numbers of an entry that its file in the form of Every Eval Ever holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from careeval.core.scenario import Domain, Rubric
from careeval.results.entries import Entry
from careeval.results.estimates import Errors, GradedRubric
from careeval.results.every_eval_ever_form import result_name
from careeval.results.summary import Summary
from careeval.stats import Estimate

_RESAMPLED = (
    "clustered by scenario: percentiles over 10,000 resamples of the scenarios; below 20 "
    "scenarios, Student's t with the linearised standard error"
)
_KORN_GRAUBARD = "clustered by scenario: Korn and Graubard's, with the effective sample size"


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

    @property
    def rubric(self) -> Rubric:
        """The rubric that it is of."""
        return Rubric.actions if self.name.startswith("action_") else Rubric.ladder


def metrics(entry: Entry, s: Summary) -> Iterator[Metric]:
    """Every number of an entry, those that are unknown too."""
    of_rubrics = (
        ("", "ladder", entry.ladder, s.score, s.worst_at_n, s.severe, s.mild),
        ("action_", "actions", entry.actions, s.action_score, s.action_worst_at_n,
         s.action_severe, s.action_mild),
    )  # fmt: skip
    for prefix, rubric, graded, score, worst, severe, mild in of_rubrics:
        n, lowest = len(graded.judged), _lowest(graded)
        yield Metric(
            f"{prefix}score",
            f"Points of the {rubric} over the most points, mean of the responses to a scenario, "
            "pooled over scenarios; not cut off at 0.",
            "", score, False, lowest, n, _RESAMPLED,
        )  # fmt: skip
        yield Metric(
            f"{prefix}worst_at_n",
            f"The same if every scenario had got the lowest of its {s.n_epochs} responses.",
            "", worst, False, lowest, n, _RESAMPLED,
        )  # fmt: skip
        for name, errors, points in (("severe", severe, -2), ("mild", mild, -1)):
            of = f"item of {points} of the {rubric}"
            yield from _rates(f"{prefix}{name}", errors, of, _tried(graded, points))
    for adl, cell in s.by_adl.items():
        part = entry.ladder.only(lambda of, adl=adl: of.about.adl == adl)  # type: ignore[misc]
        yield Metric(
            "score", "The score over the scenarios of one activity.", adl.value,
            cell.score, False, _lowest(part), len(part.judged), _RESAMPLED,
        )  # fmt: skip
    for domain in Domain:
        of_domain = s.by_domain[domain]
        yield Metric(
            "action_score",
            "Points of the actions, weighted by how far each is about one domain.",
            domain.value, of_domain.action_score, False, None, of_domain.n, _RESAMPLED,
        )  # fmt: skip


def _tried(graded: GradedRubric, points: int) -> tuple[int, int]:
    """The responses and the scenarios judged whose rubric has an item of these points."""
    n_responses = [len(s.epochs) for s in graded.judged if (s.points == points).any()]
    return sum(n_responses), len(n_responses)


def _rates(name: str, errors: Errors | None, what: str, tried: tuple[int, int]) -> Iterator[Metric]:
    unknown = Estimate.unknown("nothing was graded on this rubric")
    rates = (
        ("per_response", f"Share of the responses in which any {what} is present."),
        ("per_scenario", f"Share of the scenarios with any response in which any {what} is."),
    )
    for n, (rate, says) in zip(tried, rates, strict=True):
        estimate = getattr(errors, rate) if errors else unknown
        yield Metric(f"{name}.{rate}", says, "", estimate, True, 0.0, n, _KORN_GRAUBARD)


def _lowest(graded: GradedRubric) -> float | None:
    """The score if every negative item were present and no positive one."""
    points = [p for s in graded.judged for p in s.points.tolist()]
    most = sum(p for p in points if p > 0)
    return sum(p for p in points if p < 0) / most if most else None
