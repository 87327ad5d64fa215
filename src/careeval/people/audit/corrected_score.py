"""A system's score corrected by an audit: an estimate as if people had judged every response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from careeval.errors import StatsError
from careeval.people.audit.sample import DrawnJudgment, GradedTotals, Stratum
from careeval.results.people_audit import CorrectedScore
from careeval.stats import Estimate, prediction_powered

MIN_AUDITED = 30
"""Fewest responses of a system that people must read to correct its score; our own limit."""


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
