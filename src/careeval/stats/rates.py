"""Rates of events that are rare and cluster by scenario, such as severe errors.

What a system does wrong in one scenario it tends to do wrong each time it is asked, so ten
responses to one scenario may be worth little more than one. `rate_interval` is the one to publish;
`wilson` and `clopper_pearson` are for independent trials only, such as one response a scenario.
"""

from __future__ import annotations

import numpy as np

from careeval.errors import StatsError
from careeval.stats.intervals import (
    TRIALS_A_FAMILY,
    Interval,
    Scale,
    Z,
    clopper_pearson,
    count_clusters,
    linearised_ratio,
    t_quantile,
)
from careeval.stats.score import FloatArray


def rate_interval(
    counts: FloatArray, trials: FloatArray, *, most_a_family: float = TRIALS_A_FAMILY
) -> Interval:
    """Interval of a rate of events that cluster by scenario, such as severe errors per response.

    The exact interval for as many independent trials as these are worth: p (1 - p) / SE², at most
    their number and at most `most_a_family` a family, times (z / t)² with G - 1 degrees of freedom
    for the error in SE itself. A few events, one a scenario, do not look clustered, and would be
    worth all their trials, had a family no most.

    With no event SE would be 0, for unknown; then each family counts as one trial, and the interval
    is 0 .. 1 - 0.025^(1 / G). It is two-sided: the one-sided `rule_of_three` is lower. The same
    holds in the mirror, where every trial is an event. With an event or more, the upper limit may
    be lower than with none, since how the events cluster is then seen.

    Args:
        counts: Events, shape (n_families,), 0 to `trials`.
        trials: Trials, shape (n_families,). A family with none is no cluster, and is left out.
        most_a_family: Trials that a family is worth at most; infinite where trials within a family
            hardly resemble each other, such as a grader's judgments of many items.

    Returns:
        Fractions of the trials, 0 to 1.

    Raises:
        StatsError: There is no trial, a number is missing, or fewer than five families have trials.

    Source: Korn and Graubard 1998, Survey Methodology 24:193; Clopper and Pearson 1934, Biometrika
    26:404. The most that a family is worth is ours.
    """
    tried = trials != 0
    if not tried.any():
        raise StatsError("no opportunity: the rate is 0 of 0")
    counts, trials = counts[tried], trials[tried]
    n, total = count_clusters(counts, trials), float(trials.sum())
    rate, error = linearised_ratio(counts, trials)
    return Scale(0.0, n, total / float(trials.max()), most_a_family).interval(
        rate, rate, error, most=total
    )


def drawn_rate_interval(counts: FloatArray, trials: FloatArray) -> Interval:
    """The same where trials were drawn by strata and are weighted back, so that they vary less.

    The exact interval for as many trials as they are worth, p (1 - p) / SE² times (z / t)². Strata
    can make that more than were drawn, so neither their number nor that of the families bounds it,
    as they bound `rate_interval`: in simulated audits those made it twice as wide as it must be.

    Args:
        counts: Weight of the events, shape (n_scenarios,).
        trials: Weight of the trials. A scenario with none is left out.

    Returns:
        Fractions of the trials, 0 to 1; that of `rate_interval` where every trial or none is an
        event, or scenarios do not vary.

    Raises:
        StatsError: As `rate_interval`.

    Source: Korn and Graubard 1998, Survey Methodology 24:193.
    """
    tried = trials != 0
    with_few = rate_interval(counts, trials, most_a_family=np.inf)
    rate, standard_error = linearised_ratio(counts[tried], trials[tried])
    if not 0 < rate < 1 or standard_error == 0:
        return with_few
    worth = rate * (1 - rate) / standard_error**2
    worth *= (Z / t_quantile(int(tried.sum()))) ** 2
    return clopper_pearson(rate * worth, worth)


def wilson(events: float, trials: float) -> Interval:
    """Score interval of a proportion of independent trials: narrower than the exact one.

    Args:
        events: Events, 0 to `trials`.
        trials: Trials, more than 0.

    Returns:
        Fractions, 0 to 1; from 0 where there is no event, to 1 where there are only events.

    Source: Wilson 1927, doi:10.1080/01621459.1927.10502953; Newcombe 1998,
    doi:10.1002/(SICI)1097-0258(19980430)17:8<857::AID-SIM777>3.0.CO;2-E.
    """
    centre = events + Z**2 / 2
    margin = Z * np.sqrt(events * (trials - events) / trials + Z**2 / 4)
    low, high = (centre - margin) / (trials + Z**2), (centre + margin) / (trials + Z**2)
    return Interval(
        float(low) if events > 0 else 0.0,
        float(high) if events < trials else 1.0,
    )


def rule_of_three(n: float) -> float:
    """The highest rate, with one-sided 95% confidence, of what n independent trials did not show.

    Args:
        n: Independent trials, more than 0: the scenarios, however often each was asked.

    Returns:
        1 - 0.05^(1/n), a little below 3/n.

    Source: Hanley and Lippman-Hand 1983, doi:10.1001/jama.1983.03330370053031.
    """
    return float(-np.expm1(np.log(0.05) / n))
