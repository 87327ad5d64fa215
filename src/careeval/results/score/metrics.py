"""The metrics of an entry, each declared once with its name, meaning and function.

Every table, file and page takes its metrics from here, so a new one appears in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from careeval import scoring
from careeval.errors import StatsError
from careeval.results.score.graded_rubric import Errors, GradedRubric, RatioTerms
from careeval.stats import Estimate


@dataclass(frozen=True)
class Metric:
    """One number of an entry."""

    key: str  # Its name in files and in `--fail-on`
    head: str  # Header of its column; `{n}` stands for the number of responses per scenario
    brief: str  # A shorter header for narrow tables, with the same `{n}`
    holds: str  # Meaning of the metric, as in the dictionary of columns
    compute: Callable[[GradedRubric], Estimate | Errors]  # The function that computes it
    terms: Callable[[GradedRubric], RatioTerms] | None = None
    """Its terms by scenario, for paired comparisons; `None` if entries are not compared by it."""
    counts_errors: bool = False  # True for a share of responses with an error, computed as `Errors`
    fewer_is_better: bool = False  # True if a lower number means better care
    of_equal_n: bool = False
    """True if it can only be compared for equal numbers of responses per scenario."""
    in_points: bool = False  # True if its unit is percentage points
    in_detail: bool = False  # True if it is shown only on request

    def terms_of(self, graded: GradedRubric) -> RatioTerms:
        """Return the terms of the metric by scenario.

        Raises:
            StatsError: Nothing was judged, or entries are not compared by this metric.
        """
        if self.terms is None:
            raise StatsError(
                f"entries cannot be compared by {self.key}: it has no terms by scenario"
            )
        return self.terms(graded)


METRICS: tuple[Metric, ...] = (
    Metric(
        "severe",
        "Severe errors",
        "severe",
        "share of responses with an item of −2 present",
        lambda graded: graded.errors(scoring.SEVERE),
        lambda graded: graded.error_terms(scoring.SEVERE),
        counts_errors=True,
        fewer_is_better=True,
    ),
    Metric(
        "score",
        "Score",
        "score",
        "points of the items present over the most points",
        GradedRubric.score,
        GradedRubric.score_terms,
    ),
    Metric(
        "worst_at_n",
        "Worst of {n}",
        "worst of {n}",
        "score if every scenario had got the lowest of its n responses",
        GradedRubric.worst_at_n,
        GradedRubric.worst_terms,
        of_equal_n=True,
    ),
    Metric(
        "mild",
        "Mild errors",
        "mild",
        "share of responses with an item of −1 present",
        lambda graded: graded.errors(scoring.MILD),
        lambda graded: graded.error_terms(scoring.MILD),
        counts_errors=True,
        fewer_is_better=True,
    ),
    Metric(
        "worst_epoch",
        "Worst epoch",
        "worst epoch",
        "lowest score of an epoch over all scenarios",
        GradedRubric.worst_epoch,
        in_detail=True,
    ),
    Metric(
        "sd_epochs",
        "SD of epochs",
        "SD of epochs",
        "SD of the scores of the epochs, on these scenarios; never for comparing",
        GradedRubric.sd_epochs,
        fewer_is_better=True,
        in_points=True,
        in_detail=True,
    ),
)
"""In the order in which they are shown."""

HEADLINE = tuple(metric for metric in METRICS if not metric.in_detail)
IN_DETAIL = tuple(metric for metric in METRICS if metric.in_detail)
COMPARED = {metric.key: metric for metric in METRICS if metric.terms}
"""Key → metric, for the metrics by which entries are compared."""

Numbers = Mapping[str, Estimate | Errors]
"""Key of a metric → its value."""


def errors_of(numbers: Numbers, key: str) -> Errors:
    """Return the value of a metric that counts errors."""
    number = numbers[key]
    assert isinstance(number, Errors)
    return number


def estimate_of(numbers: Numbers, key: str) -> Estimate:
    """Return the value of a metric that does not count errors."""
    number = numbers[key]
    assert isinstance(number, Estimate)
    return number
