"""Arrays in, numbers out. Nothing here knows of files, models or tables.

NaN inside an array is a missing or unresolved entry. A number that is not defined raises
`careeval.errors.StatsError` with a plain reason, which an `Estimate` then carries; it is never 0.
"""

from careeval.stats.agreement import cohen_kappa, kappa_interval, weighted_kappa
from careeval.stats.estimate import Estimate
from careeval.stats.intervals import (
    MIN_CLUSTERS,
    Interval,
    bootstrap_interval,
    linearised_ratio,
    ratio_interval,
    sd_runs_interval,
)
from careeval.stats.items import correlation, fisher_interval, item_rest
from careeval.stats.paired import (
    PairedT,
    bayesian_bootstrap_variance,
    chance_above_zero,
    detectable_after,
    detectable_difference,
    holm,
    paired_t,
    rank_sets,
    scenarios_needed,
    sign_flip_p,
)
from careeval.stats.rates import (
    BetaBinomial,
    beta_binomial,
    beta_binomial_interval,
    clopper_pearson,
    jeffreys,
    rate_interval,
    rule_of_three,
    wilson,
)
from careeval.stats.score import (
    pooled_score,
    run_scores,
    scenario_mean_score,
    sd_runs,
)
from careeval.stats.variance import (
    MIN_REGRADED,
    GradingVariance,
    Reliability,
    grading_variance,
    noise_corrected_worst,
    noise_corrected_worst_interval,
    run_reliability,
)
from careeval.stats.worst import any_of_k, lowest_of_k, worst_at_k, worst_at_n, worst_run

__all__ = [
    "MIN_CLUSTERS",
    "MIN_REGRADED",
    "BetaBinomial",
    "Estimate",
    "GradingVariance",
    "Interval",
    "PairedT",
    "Reliability",
    "any_of_k",
    "bayesian_bootstrap_variance",
    "beta_binomial",
    "beta_binomial_interval",
    "bootstrap_interval",
    "chance_above_zero",
    "clopper_pearson",
    "cohen_kappa",
    "correlation",
    "detectable_after",
    "detectable_difference",
    "fisher_interval",
    "grading_variance",
    "holm",
    "item_rest",
    "jeffreys",
    "kappa_interval",
    "linearised_ratio",
    "lowest_of_k",
    "noise_corrected_worst",
    "noise_corrected_worst_interval",
    "paired_t",
    "pooled_score",
    "rank_sets",
    "rate_interval",
    "ratio_interval",
    "rule_of_three",
    "run_reliability",
    "run_scores",
    "scenario_mean_score",
    "scenarios_needed",
    "sd_runs",
    "sd_runs_interval",
    "sign_flip_p",
    "weighted_kappa",
    "wilson",
    "worst_at_k",
    "worst_at_n",
    "worst_run",
]
