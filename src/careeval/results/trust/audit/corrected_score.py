"""A system's score corrected by an audit: an estimate as if people had judged every response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from careeval.errors import StatsError
from careeval.results.amounts import percent
from careeval.results.trust.audit.sample import DrawnJudgment, GradedTotals, Stratum
from careeval.stats import Estimate, prediction_powered

MIN_AUDITED = 30
"""Fewest responses of a system that people must read to correct its score; our own limit."""


@dataclass(frozen=True)
class CorrectedScore:
    """A system's score, by the grader and by people, over public scenarios.

    Attributes:
        graded: Score by the grader alone, over the responses that it judged completely; `None`
            without any.
        corrected: Score by the grader, corrected by people (prediction-powered).
        n_responses: Responses with a judgment that people settled.
        n_judgments: Judgments that people settled.
    """

    graded: float | None
    corrected: Estimate
    n_responses: int
    n_judgments: int

    @property
    def people_give(self) -> str:
        """Return `more` or `less` if the interval excludes the grader's score, else `as much`.

        Empty if unknown.
        """
        interval = self.corrected.ci95
        if interval is None or self.graded is None:
            return ""
        low, high = interval
        return "less" if high < self.graded else "more" if low > self.graded else "as much"

    def sentence(self) -> str:
        """Return the result as one sentence that can be read alone."""
        value, interval = self.corrected.value, self.corrected.ci95
        if value is None or self.graded is None:
            reason = self.corrected.reason or "the grader judged none of its responses whole"
            return f"Not corrected: {reason}."
        estimate = f"it would be about {percent(value)}% if people had judged every answer"
        if interval is None:
            reason = self.corrected.reason
            return f"By what people read, {estimate}; how sure that is cannot be said: {reason}."
        low, high = interval
        with_interval = (
            f"{estimate}, with 95% confidence between {percent(low)} and {percent(high)}%."
        )
        if self.people_give == "as much":
            return f"What people read does not show the grader to be off: {with_interval}"
        return f"People give {self.people_give} than the grader: {with_interval}"


def corrected_score(
    rows: Sequence[GradedTotals],
    read: Sequence[tuple[DrawnJudgment, bool, Stratum]],
    weights: Mapping[int, float] | str,
) -> CorrectedScore:
    """Return a system's score on one rubric, by the grader and by people.

    Args:
        rows: The grader's totals by scenario.
        read: Judgments of responses that the grader judged completely, with truth and stratum.
        weights: Stratum → sampling weight of its judgments with a truth; or why there is none.
    """
    n_responses = len({each.response for each, _, _ in read})
    if isinstance(weights, str):
        score = Estimate.unknown(weights)
    elif n_responses < MIN_AUDITED:
        reason = f"people read {n_responses} of its responses, fewer than {MIN_AUDITED}"
        score = Estimate.unknown(reason)
    else:
        score = _prediction_powered(rows, read, weights)
    return CorrectedScore(graded_share(rows), score, n_responses, len(read))


def graded_share(rows: Sequence[GradedTotals]) -> float | None:
    """Return the score by the grader alone, as a share of the maximum; `None` if unknown."""
    most = sum(row.maximum * row.n_responses for row in rows)
    return sum(row.points for row in rows) / most if most else None


def _prediction_powered(
    rows: Sequence[GradedTotals],
    read: Sequence[tuple[DrawnJudgment, bool, Stratum]],
    weights: Mapping[int, float],
) -> Estimate:
    """Return the corrected score; each judgment has its points and its part of the maximum.

    So people need not read every item of a response. Judgments of responses without words count as
    read, since no item can be present in them.
    """
    row_of = {row.scenario: k for k, row in enumerate(rows)}
    width = max(row.n_responses * row.n_items for row in rows)
    by_grader, by_people, chances = (np.full((len(rows), width), np.nan) for _ in range(3))
    used = [0] * len(rows)
    for drawn, truth, stratum in read:
        k = row_of[drawn.scenario]
        at = (k, used[k])
        by_grader[at], by_people[at] = stratum.points * stratum.present, stratum.points * truth
        chances[at] = 1 / weights[drawn.stratum]
        used[k] += 1
    for k, row in enumerate(rows):
        wordless = slice(used[k], used[k] + row.n_wordless * row.n_items)
        by_grader[k, wordless] = by_people[k, wordless] = 0
        chances[k, wordless] = 1
        # of the judgments that nobody read only the sum matters
        rest = slice(wordless.stop, row.n_responses * row.n_items)
        left = row.points - np.nansum(by_grader[k, : wordless.stop])
        if rest.stop > rest.start:
            by_grader[k, rest] = left / (rest.stop - rest.start)
    share = np.array([row.maximum / row.n_items for row in rows])
    try:
        mean = prediction_powered(by_grader, by_people, inclusion=chances, maxima=share)
    except StatsError as error:
        return Estimate.unknown(str(error))
    try:
        low, high = mean._replace(n_audited=len({each.scenario for each, _, _ in read})).interval
    except StatsError as error:
        return Estimate(mean.value, mean.value, mean.value, None, str(error))
    return Estimate(mean.value, mean.value, mean.value, (low, high))
