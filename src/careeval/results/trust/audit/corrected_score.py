"""A system's score as people correct it: what it would be if they had judged every answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from careeval.errors import StatsError
from careeval.results.amounts import percent
from careeval.results.trust.audit.sample import Drawn, Graded, Stratum
from careeval.stats import Estimate, prediction_powered

MIN_AUDITED = 30
"""Responses of a system that people must have read for its score to be corrected: ours."""


@dataclass(frozen=True)
class Corrected:
    """A system's score, by the grader and by people, over public scenarios.

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


def corrected_score(
    rows: Sequence[Graded],
    read: Sequence[tuple[Drawn, bool, Stratum]],
    weights: Mapping[int, float] | str,
) -> Corrected:
    """Return a system's score on one rubric, by the grader and by people.

    Args:
        rows: What the grader made of it.
        read: Judgments of responses that the grader judged whole, with their truth and stratum.
        weights: Stratum → what each judgment with a truth stands for; or why nothing can.
    """
    n_responses = len({each.response for each, _, _ in read})
    if isinstance(weights, str):
        score = Estimate.unknown(weights)
    elif n_responses < MIN_AUDITED:
        reason = f"people read {n_responses} of its responses, fewer than {MIN_AUDITED}"
        score = Estimate.unknown(reason)
    else:
        score = _prediction_powered(rows, read, weights)
    return Corrected(graded_share(rows), score, n_responses, len(read))


def graded_share(rows: Sequence[Graded]) -> float | None:
    """Return the score by the grader alone, as a share of the maximum; `None` without any."""
    most = sum(row.maximum * row.n_responses for row in rows)
    return sum(row.points for row in rows) / most if most else None


def _prediction_powered(
    rows: Sequence[Graded],
    read: Sequence[tuple[Drawn, bool, Stratum]],
    weights: Mapping[int, float],
) -> Estimate:
    """Return a pooled score: a judgment gives its item's points, and its share of the maximum.

    So a response need not be read whole. Judgments of responses without words count as read: there
    is nothing in them to find.
    """
    row_of = {row.scenario: k for k, row in enumerate(rows)}
    width = max(row.n_responses * row.n_items for row in rows)
    by_grader, by_people, chances = (np.full((len(rows), width), np.nan) for _ in range(3))
    used = [0] * len(rows)
    for each, truth, stratum in read:
        k = row_of[each.scenario]
        at = (k, used[k])
        by_grader[at], by_people[at] = stratum.points * stratum.present, stratum.points * truth
        chances[at] = 1 / weights[each.stratum]
        used[k] += 1
    for k, row in enumerate(rows):
        silent = slice(used[k], used[k] + row.n_wordless * row.n_items)
        by_grader[k, silent] = by_people[k, silent] = 0
        chances[k, silent] = 1
        # what nobody read matters by its sum alone
        rest = slice(silent.stop, row.n_responses * row.n_items)
        left = row.points - np.nansum(by_grader[k, : silent.stop])
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
