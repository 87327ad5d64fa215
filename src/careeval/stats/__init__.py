"""Statistics of arrays of numbers, without files, systems or tables.

NaN in an array given is a missing or unresolved entry. A result that is not defined is never 0: a
single number raises `careeval.errors.StatsError`, whose reason the caller keeps in an `Estimate`;
in an array of results, its element is NaN.
"""

from careeval.stats.agreement.gwet import (
    Gwet,
    gwet_ac1,
    gwet_ac1_interval,
    gwet_ac2,
    gwet_ac2_interval,
    identical_pairs,
)
from careeval.stats.agreement.intraclass import Icc, IccForm, icc, icc_interval
from careeval.stats.agreement.krippendorff import (
    RatingDistance,
    krippendorff_alpha,
    krippendorff_interval,
)
from careeval.stats.agreement.two_raters import (
    positive_agreement,
    positive_agreement_interval,
    presence_ac1,
    presence_ac1_interval,
    weighted_kappa,
)
from careeval.stats.audit.confusion import (
    AccuracyMeasure,
    Confusion,
    measure_interval,
)
from careeval.stats.audit.corrected_mean import (
    CorrectedMean,
    prediction_powered,
)
from careeval.stats.audit.sample_weights import inverse_weights, sensitivity_range
from careeval.stats.estimate import Estimate
from careeval.stats.intervals import (
    MIN_CLUSTERS,
    TRIALS_A_FAMILY,
    Interval,
    bounded_ratio_interval,
    clopper_pearson,
    linearised_ratio,
    ratio_errors,
    ratio_interval,
    sd_epochs_interval,
)
from careeval.stats.items import fisher_interval, item_rest
from careeval.stats.paired import (
    detectable_after,
    detectable_difference,
    difference_intervals,
    holm,
    one_family_error,
    rank_sets,
    sign_flip_draws,
    sign_flip_p_values,
    smallest_p,
    t_test_p_values,
)
from careeval.stats.rates import (
    drawn_rate_interval,
    rate_interval,
    rule_of_three,
    wilson,
)
from careeval.stats.resampling import sum_by_cluster
from careeval.stats.score import (
    epoch_scores,
    pooled_score,
    sd_epochs,
)
from careeval.stats.validity import (
    MIN_RATERS,
    AikenV,
    Endorsement,
    EndorsementRule,
    aiken_v,
    cut_sensitive,
    endorsed,
    i_cvi,
    modified_kappa,
    s_cvi_ave,
    s_cvi_ua,
)
from careeval.stats.variance import (
    MIN_REGRADED,
    GradingVariance,
    Reliability,
    grading_variance,
    noise_corrected_worst,
    noise_corrected_worst_interval,
    response_reliability,
)
from careeval.stats.worst import any_of_k, lowest_of_k, worst_epoch

__all__ = [
    "MIN_CLUSTERS",
    "MIN_RATERS",
    "MIN_REGRADED",
    "TRIALS_A_FAMILY",
    "AccuracyMeasure",
    "AikenV",
    "Confusion",
    "CorrectedMean",
    "Endorsement",
    "EndorsementRule",
    "Estimate",
    "GradingVariance",
    "Gwet",
    "Icc",
    "IccForm",
    "Interval",
    "RatingDistance",
    "Reliability",
    "aiken_v",
    "any_of_k",
    "bounded_ratio_interval",
    "clopper_pearson",
    "cut_sensitive",
    "detectable_after",
    "detectable_difference",
    "difference_intervals",
    "drawn_rate_interval",
    "endorsed",
    "epoch_scores",
    "fisher_interval",
    "grading_variance",
    "gwet_ac1",
    "gwet_ac1_interval",
    "gwet_ac2",
    "gwet_ac2_interval",
    "holm",
    "i_cvi",
    "icc",
    "icc_interval",
    "identical_pairs",
    "inverse_weights",
    "item_rest",
    "krippendorff_alpha",
    "krippendorff_interval",
    "linearised_ratio",
    "lowest_of_k",
    "measure_interval",
    "modified_kappa",
    "noise_corrected_worst",
    "noise_corrected_worst_interval",
    "one_family_error",
    "pooled_score",
    "positive_agreement",
    "positive_agreement_interval",
    "prediction_powered",
    "presence_ac1",
    "presence_ac1_interval",
    "rank_sets",
    "rate_interval",
    "ratio_errors",
    "ratio_interval",
    "response_reliability",
    "rule_of_three",
    "s_cvi_ave",
    "s_cvi_ua",
    "sd_epochs",
    "sd_epochs_interval",
    "sensitivity_range",
    "sign_flip_draws",
    "sign_flip_p_values",
    "smallest_p",
    "sum_by_cluster",
    "t_test_p_values",
    "weighted_kappa",
    "wilson",
    "worst_epoch",
]
