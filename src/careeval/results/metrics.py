"""The metrics of an entry, each declared once with its name, meaning and function; limits on them.

Every table, file and page takes its metrics from here, so a new one appears in all of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from careeval import scoring
from careeval.core.text import percent
from careeval.errors import StatsError, UsageError
from careeval.results.graded_rubric import Errors, GradedRubric, RatioTerms
from careeval.stats.estimate import Estimate


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


LIMITED = {metric.key: metric for metric in HEADLINE}
"""Key → metric, for the metrics that a limit can be on."""

Option = Literal["--fail-on", "--require"]


class Outcome(StrEnum):
    """The result of a check."""

    passed = "pass"
    failed = "FAIL"
    unknown = "unknown"


@dataclass(frozen=True)
class Check:
    """A limit that was checked on one entry."""

    limit: str  # The limit as it was typed, with its option
    entry: str  # Name of the entry
    about: str  # The measured number, and why the check fails if it does
    outcome: Outcome  # The result; an unknown one is not passed

    @property
    def line(self) -> str:
        """The check as a line: pass or FAIL, the limit, the entry and the measured number."""
        word = Outcome.passed if self.outcome is Outcome.passed else Outcome.failed
        return f"{word}  {self.limit}: {self.entry}, {self.about}"


@dataclass(frozen=True)
class Limit:
    """A condition METRIC>X or METRIC<X on a number of an entry.

    The condition holds for sure if the whole 95% interval is on its side of X. `--fail-on` fails
    if it holds for sure; `--require` fails unless it holds for sure. Both fail if it is unknown.
    """

    option: Option  # The option that it was given with
    text: str  # The condition as it was typed
    metric: str  # A key of `LIMITED`
    above: bool  # True if the condition is "above X"
    limit: float  # X, as a fraction

    @classmethod
    def parse(cls, option: Option, text: str) -> Limit:
        """Return the limit of a typed condition; X is in percent.

        Raises:
            UsageError: It is no condition, or one that no care could break: `--fail-on` names the
                bad side of X, and `--require` the good side.
        """
        match = _LIMIT.fullmatch(text)
        if match is None or match[1] not in LIMITED:
            raise UsageError(
                f"{option} {text!r}: expected METRIC>X or METRIC<X",
                hint=f"as METRIC, write one of {', '.join(LIMITED)}; as X, a percentage",
            )
        metric, sign, number = match.groups()
        try:
            limit = float(number)
        except ValueError:
            limit = math.nan
        if not math.isfinite(limit):
            raise UsageError(
                f"{option} {text!r}: {number!r} is not a number",
                hint=f"write X in percent, as {metric}{sign}5",
            )
        bad_side = ">" if LIMITED[metric].fewer_is_better else "<"
        if (sign == bad_side) != (option == "--fail-on"):
            other = "--require" if option == "--fail-on" else "--fail-on"
            good = {">": "<", "<": ">"}[sign]
            side = "bad" if sign == bad_side else "good"
            raise UsageError(
                f"{option} {text!r}: {metric} {'above' if sign == '>' else 'below'} {number} is "
                f"{side}",
                hint=f"write {option} '{metric}{good}{number}', or {other} '{text}'",
            )
        return cls(option, text, metric, sign == ">", limit / 100)

    def check(self, numbers: Numbers, entry: str) -> Check:
        """Check the limit on one entry.

        Args:
            numbers: The numbers of the entry.
            entry: Name of the entry.
        """
        name = f"{self.option} {self.text}"
        value, interval = _measured(numbers[self.metric])
        if value.value is None or interval is None:
            why = (
                f"{self.metric} {percent(value.value)}: not checked, since its interval is unknown"
            )
            return Check(name, entry, f"{why}: {value.reason}", Outcome.unknown)
        low, high = interval
        holds = low > self.limit if self.above else high < self.limit
        failed = holds if self.option == "--fail-on" else not holds
        ends = f"95% interval {percent(low)} to {percent(high)}"
        side = f"{'above' if self.above else 'below'} {100 * self.limit:g}"
        where = f"{'wholly' if holds else 'not wholly'} {side}"
        outcome = Outcome.failed if failed else Outcome.passed
        return Check(name, entry, f"{self.metric} {percent(value.value)}, {ends}: {where}", outcome)


_LIMIT = re.compile(r"\s*([a-z_]+)\s*([<>])\s*(\S+)\s*")


def _measured(number: Estimate | Errors) -> tuple[Estimate, tuple[float, float] | None]:
    """Return a number with its interval; that of no error at all reaches to its upper limit."""
    if not isinstance(number, Errors):
        return number, number.ci95
    if number.upper_at_zero is not None:
        return number.share, (0.0, number.upper_at_zero)
    return number.share, number.share.ci95
