"""Limits on the numbers of an entry, such as "at most 5% severe errors", judged by intervals."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from careeval.errors import UsageError
from careeval.results.amounts import percent
from careeval.results.score.graded_rubric import Errors
from careeval.results.score.metrics import HEADLINE
from careeval.results.score.summary import Summary
from careeval.stats import Estimate

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

    def check(self, summary: Summary, entry: str) -> Check:
        """Check the limit on one entry.

        Args:
            summary: The numbers of the entry.
            entry: Name of the entry.
        """
        name = f"{self.option} {self.text}"
        value, interval = _measured(summary.numbers[self.metric])
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
