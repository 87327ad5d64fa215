"""Arrays in, numbers out. Nothing here knows of files, models or tables.

NaN inside an array is a missing or unresolved entry. A number that is not defined raises
`careeval.errors.StatsError` with a plain reason, which an `Estimate` then carries; it is never 0.
"""

from careeval.stats.agreement import weighted_kappa
from careeval.stats.estimate import Estimate
from careeval.stats.intervals import (
    MIN_CLUSTERS,
    Interval,
    bootstrap_interval,
    rate_interval,
    ratio_interval,
    sd_runs_interval,
)
from careeval.stats.score import (
    pooled_score,
    run_scores,
    scenario_mean_score,
    sd_runs,
    worst_at_n,
    worst_run,
)

__all__ = [
    "MIN_CLUSTERS",
    "Estimate",
    "Interval",
    "bootstrap_interval",
    "pooled_score",
    "rate_interval",
    "ratio_interval",
    "run_scores",
    "scenario_mean_score",
    "sd_runs",
    "sd_runs_interval",
    "weighted_kappa",
    "worst_at_n",
    "worst_run",
]
