"""Limits on the numbers of one entry: which side of an interval counts for which option."""

from __future__ import annotations

import pytest

from careeval.errors import UsageError
from careeval.results.entries import entries
from careeval.results.graded_rubric import Errors
from careeval.results.metrics import Limit, Numbers, Option, Outcome
from careeval.stats.estimate import Estimate
from results.authored import by_hand


def with_severe(errors: Errors) -> Numbers:
    """Return the numbers of an entry with these severe errors."""
    return {**entries(by_hand())[0].numbers, "severe": errors}


def share(low: float, high: float) -> Errors:
    """Return errors whose share has this interval."""
    middle = (low + high) / 2
    return Errors(1, 40, Estimate(middle, middle, middle, (low, high)), None)


@pytest.mark.parametrize(
    ("low", "high", "fail_on", "require"),
    [
        (0.06, 0.20, Outcome.failed, Outcome.failed),
        (0.01, 0.20, Outcome.passed, Outcome.failed),
        (0.05, 0.20, Outcome.passed, Outcome.failed),
        (0.01, 0.05, Outcome.passed, Outcome.failed),
        (0.01, 0.04, Outcome.passed, Outcome.passed),
    ],
)
def test_the_whole_interval_decides(
    low: float, high: float, fail_on: Outcome, require: Outcome
) -> None:
    """`--fail-on` fails above for sure, and `--require` passes below for sure."""
    numbers = with_severe(share(low, high))
    assert Limit.parse("--fail-on", "severe>5").check(numbers, "a").outcome is fail_on
    assert Limit.parse("--require", "severe<5").check(numbers, "a").outcome is require


@pytest.mark.parametrize(("option", "text"), [("--fail-on", "severe>5"), ("--require", "severe<5")])
def test_an_unknown_interval_passes_nothing(option: Option, text: str) -> None:
    """A number without an interval fails either check, with its reason."""
    few = Errors(0, 3, Estimate(0.0, 0.0, 0.0, None, "fewer than five scenarios"), None)
    unknown = Errors(0, 0, Estimate.unknown("nothing was judged"), None)
    for errors in (few, unknown):
        check = Limit.parse(option, text).check(with_severe(errors), "a")
        assert check.outcome is Outcome.unknown
        assert errors.share.reason in check.about
        assert check.line.startswith(f"FAIL  {option} {text}: a, ")


def test_no_error_reaches_to_its_upper_limit() -> None:
    """Where no response has an error, the interval ends at the highest share that is possible."""
    none = Errors(0, 40, Estimate(0.0, 0.0, 0.0, None, "none"), 0.037)
    for limit, outcome in (("3", Outcome.failed), ("4", Outcome.passed)):
        check = Limit.parse("--require", f"severe<{limit}").check(with_severe(none), "a")
        assert check.outcome is outcome


@pytest.mark.parametrize(
    ("option", "text", "hint"),
    [
        ("--fail-on", "severe<5", "--require 'severe<5'"),
        ("--require", "severe>5", "--fail-on 'severe>5'"),
        ("--fail-on", "score>70", "--fail-on 'score<70'"),
        ("--require", "score<70", "--require 'score>70'"),
        ("--fail-on", "severe", "percentage"),
        ("--fail-on", "action_score<5", "severe, score, worst_at_n, mild"),
        ("--require", "severe<nan", "in percent"),
    ],
)
def test_what_checks_nothing_is_refused(option: Option, text: str, hint: str) -> None:
    """A condition that good care breaks, or that is none, is refused with what to write."""
    with pytest.raises(UsageError) as refused:
        Limit.parse(option, text)
    assert hint in (refused.value.hint or "")
