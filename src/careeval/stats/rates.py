"""Intervals for rates of rare events that cluster by scenario, such as severe errors.

A system tends to make the same error each time it is asked, so ten responses to one scenario may
tell little more than one. Publish `rate_interval`; `wilson` and `clopper_pearson` are for
independent trials only, such as one response per scenario.
"""

from __future__ import annotations

import numpy as np

from careeval.errors import StatsError
from careeval.stats.intervals import (
    TRIALS_A_FAMILY,
    Interval,
    TrialScale,
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
    """Return the interval of a rate of clustered events, such as severe errors per response.

    It is the exact interval for the effective number of independent trials: p (1 - p) / SE², at
    most the number of trials and at most `most_a_family` per family, times (z / t)² with G - 1
    degrees of freedom for the error of SE itself. Without the limit per family, a few events in
    different scenarios would not look clustered, and every trial would count.

    With no event, SE would be 0 though it is unknown. Then each family counts as one trial, and the
    interval is 0 .. 1 - 0.025^(1 / G). It is two-sided; the one-sided `rule_of_three` is lower. The
    same holds in mirror image if every trial is an event. With one event or more the upper limit
    may be lower than with none, since the clustering of the events is then known.

    Args:
        counts: Events, shape (n_families,), 0 to `trials`.
        trials: Trials, shape (n_families,). A family with none is left out.
        most_a_family: The most trials that a family counts for; infinite if trials within a family
            hardly resemble each other, such as a grader's judgments of many items.

    Returns:
        Fractions of the trials, 0 to 1.

    Raises:
        StatsError: There is no trial, a number is missing, or fewer than five families have trials.

    Source: Korn and Graubard 1998, Survey Methodology 24:193; Clopper and Pearson 1934, Biometrika
    26:404. The limit per family is ours.
    """
    tried = trials != 0
    if not tried.any():
        raise StatsError("no opportunity: the rate is 0 of 0")
    counts, trials = counts[tried], trials[tried]
    n, total = count_clusters(counts, trials), float(trials.sum())
    rate, error = linearised_ratio(counts, trials)
    return TrialScale(0.0, n, total / float(trials.max()), most_a_family).interval(
        rate, rate, error, max_trials=total
    )


def drawn_rate_interval(counts: FloatArray, trials: FloatArray) -> Interval:
    """Return the interval of a rate from a stratified sample that is weighted back.

    It is the exact interval for the effective number of trials, p (1 - p) / SE² times (z / t)².
    Stratified trials can count for more than their number, so the limits of `rate_interval` are not
    applied: in simulated audits they made the interval twice as wide as needed.

    Args:
        counts: Weight of the events, shape (n_scenarios,).
        trials: Weight of the trials, shape (n_scenarios,). A scenario with none is left out.

    Returns:
        Fractions of the trials, 0 to 1; as by `rate_interval` without a limit per family if every
        trial or none is an event, or if scenarios do not vary.

    Raises:
        StatsError: As for `rate_interval`.

    Source: Korn and Graubard 1998, Survey Methodology 24:193.
    """
    tried = trials != 0
    clustered = rate_interval(counts, trials, most_a_family=np.inf)
    rate, standard_error = linearised_ratio(counts[tried], trials[tried])
    if not 0 < rate < 1 or standard_error == 0:
        return clustered
    effective = rate * (1 - rate) / standard_error**2
    effective *= (Z / t_quantile(int(tried.sum()))) ** 2
    return clopper_pearson(rate * effective, effective)


def wilson(events: float, trials: float) -> Interval:
    """Return the score interval of a proportion of independent trials, narrower than the exact one.

    Args:
        events: Events, 0 to `trials`.
        trials: Trials, more than 0.

    Returns:
        Fractions, 0 to 1; from 0 if there is no event, to 1 if there are only events.

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
    """Return the upper limit, with one-sided 95% confidence, of the rate of an event not seen.

    Args:
        n: Independent trials, more than 0: the scenarios, not their epochs.

    Returns:
        1 - 0.05^(1/n), a little below 3/n.

    Source: Hanley and Lippman-Hand 1983, doi:10.1001/jama.1983.03330370053031.
    """
    return float(-np.expm1(np.log(0.05) / n))
