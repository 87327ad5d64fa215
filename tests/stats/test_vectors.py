"""Worked numbers, each found by two methods elsewhere, against the functions here.

The numbers are in `tests/data/statistics-vectors.json`, with their sources. `VECTORS` has, for each
id, what is made of its inputs: the same shape as what is expected.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from readings import weighted_kappa
from scipy import special

from careeval import scoring
from careeval.errors import StatsError
from careeval.results.item_statistics import item_rest
from careeval.stats.agreement import gwet_ac1, gwet_ac2, icc, identical_pairs, krippendorff_alpha
from careeval.stats.audit import (
    AccuracyMeasure,
    measure_value,
    prediction_powered,
    sensitivity_range,
)
from careeval.stats.intervals import (
    clopper_pearson,
    fisher_interval,
    rate_interval,
    ratio_errors,
    ratio_interval,
    rule_of_three,
    wilson,
)
from careeval.stats.paired import (
    detectable_after,
    detectable_difference,
    holm,
    rank_sets,
    sign_flip_p_values,
    t_test_p_values,
)
from careeval.stats.score import (
    FloatArray,
    any_of_k,
    epoch_scores,
    lowest_of_k,
    pooled_score,
    sd_epochs,
    worst_epoch,
)
from careeval.stats.validity import (
    AikenV,
    Endorsement,
    EndorsementRule,
    aiken_v,
    endorsed,
    i_cvi,
    modified_kappa,
    s_cvi_ave,
    s_cvi_ua,
)
from careeval.stats.variance import response_reliability

FILE = Path(__file__).parent.parent / "data" / "statistics-vectors.json"
ENTRIES = {entry["id"]: entry for entry in json.loads(FILE.read_text(encoding="utf-8"))}


def ratings(rows: Any) -> FloatArray:
    """Nested lists of numbers, null where there is none."""
    return np.array(rows, dtype=float)


def standard_error(numerators: FloatArray, denominators: FloatArray) -> float:
    """Return the inputs of the t interval of fewer than 20 scenarios."""
    low, high = ratio_interval(numerators, denominators)
    return (high - low) / 2 / float(special.stdtrit(len(denominators) - 1, 0.975))


def normal_order_statistics(n: int) -> FloatArray:
    """Expected values of n standard normal numbers in ascending order, by integration."""
    x = np.linspace(-12, 12, 4001)[:, np.newaxis]
    i = np.arange(1, n + 1)
    ways = n * special.comb(n - 1, i - 1)
    density = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    densities = ways * special.ndtr(x) ** (i - 1) * special.ndtr(-x) ** (n - i) * density
    return np.asarray((x * densities).sum(axis=0) * (24 / 4000))


def score(inputs: Any) -> dict[str, Any]:
    """C01: three rubrics in three runs."""
    rubrics = [np.array(weights) for weights in inputs["weights"]]
    sums = [
        scoring.scenario_points(weights, np.array(present, dtype=float)).low
        for weights, present in zip(rubrics, inputs["present[scenario][run][item]"], strict=True)
    ]
    maxima = np.array([float(scoring.maximum(weights)) for weights in rubrics])
    points = np.array(sums)
    return {
        "S": points,
        "M": maxima,
        "pooled": pooled_score(points, maxima),
        "run_scores": epoch_scores(points, maxima),
        "sd_runs_ddof1": sd_epochs(points, maxima),
        "worst_per_scenario": pooled_score(points.min(axis=1, keepdims=True), maxima),
        "worst_whole_run": worst_epoch(points, maxima),
    }


def two_worsts(inputs: Any) -> dict[str, float]:
    """C02: the worst run is not the worst of each scenario."""
    points, maxima = np.array(inputs["S[scenario][run]"]), np.array(inputs["M"])
    return {
        "mean": pooled_score(points, maxima),
        "per_scenario_min": pooled_score(points.min(axis=1, keepdims=True), maxima),
        "min_of_runs": worst_epoch(points, maxima),
    }


def clustered_se(inputs: Any) -> dict[str, float]:
    """C06: our error is that of the scenario means; the naive one takes each run for a scenario."""
    x = np.array(inputs["x"])
    n_scenarios = len(x)
    clustered = standard_error(x.mean(axis=1), np.ones(n_scenarios))
    return {
        "naive": standard_error(x.ravel(), np.ones(x.size)),
        "CR0": clustered * ((n_scenarios - 1) / n_scenarios) ** 0.5,
        "CR1": clustered,
        "se_of_scenario_means": ratio_errors(x.mean(axis=1)[np.newaxis], np.ones(n_scenarios))[0],
    }


def ratio_se(inputs: Any) -> dict[str, float]:
    """C07: a ratio of sums."""
    means, maxima = np.array(inputs["scenario_mean_score"]), np.array(inputs["M"])
    return {
        "R": pooled_score(means[:, np.newaxis], maxima),
        "se": standard_error(means, maxima),
    }


def paired_difference(inputs: Any) -> dict[str, float]:
    """C08: t and sign flips of the same differences."""
    rows = np.array(inputs["d"])[np.newaxis]
    every = np.ones(rows.shape[1])
    return {
        "se": ratio_errors(rows, every)[0],
        "p_t": t_test_p_values(rows, rows, every)[0],
        "p_signflip": sign_flip_p_values(rows)[0],
    }


def rank_sets_of(inputs: Any) -> list[tuple[int, int]]:
    """C11: from the pairs (better, worse)."""
    better = np.zeros((inputs["models"], inputs["models"]), dtype=bool)
    for first, second in inputs["significantly_better"]:
        better[first, second] = True
    return rank_sets(better)


def detectable(inputs: Any) -> list[list[float]]:
    """C13: the table of scenarios and runs."""
    run_variances = (inputs["sigma"] ** 2,) * 2
    return [
        [n, k, detectable_difference(n, inputs["omega"] ** 2, run_variances, (k, k))]
        for n, k in itertools.product([80, 100, 200, 400], [1, 10])
    ]


def severe_rate(inputs: Any) -> dict[str, Any]:
    """C18: ten runs of ten scenarios, of which two do nearly all the harm."""
    counts = np.array(inputs["severe_runs_of_10"], dtype=float)
    trials = np.full(10, 10.0)
    rate = pooled_score(counts[:, np.newaxis], trials)
    se = standard_error(counts, trials)
    worth = rate * (1 - rate) / se**2
    return {
        "p": rate,
        "se_cluster": se,
        "deff": trials.sum() / worth,
        "neff": worth,
        "KG": clopper_pearson(rate * worth, worth),
        "KG_t": rate_interval(counts, trials),
        "naive_wilson": wilson(counts.sum(), trials.sum()),
    }


def design_effect(inputs: Any) -> dict[str, float]:
    """C22: five scenarios of three runs."""
    reliability = response_reliability(np.array(inputs["x"]))
    return {"rho": reliability.icc, "deff": reliability.design_effect}


def multiplicity(_: Any) -> list[float]:
    """C23: 36 pairs of nine systems, and eight of them against the best."""
    return [detectable_after(1, comparisons=m) / detectable_after(1) for m in (36, 8)]


def additive_ladder(inputs: Any) -> dict[str, Any]:
    """C24: the ladder added up."""
    ladder, present = np.array([2, 1, 0, -1, -2]), np.array(inputs["subsets"], dtype=float)
    added = scoring.scenario_points(ladder, present)
    return {"additive": added.low / scoring.maximum(ladder)}


def no_negatives(inputs: Any) -> dict[str, float | None]:
    """C25: every answer to a rubric of positive items, and the rate of what it cannot have."""
    weights = np.array(inputs["weights"])
    every = np.array(list(itertools.product([0.0, 1.0], repeat=len(weights))))
    scores = scoring.scenario_points(weights, every).low / scoring.maximum(weights)
    severe = scoring.error_counts(weights, every, scoring.SEVERE).high
    opportunities = np.full(len(every), float((weights == scoring.SEVERE).sum()))
    try:
        severe_rate = rate_interval(severe, opportunities).low
    except StatsError:
        severe_rate = None
    return {"min": float(scores.min()), "max": float(scores.max()), "severe_rate": severe_rate}


def domains(inputs: Any) -> dict[str, Any]:
    """D01: every subset of the items, counted in binary."""
    points = np.array([weight for weight, _ in inputs["items"]])
    every = np.array(list(itertools.product([0.0, 1.0], repeat=len(points))))
    weighted = []
    for domain in ("UF", "UA", "RA"):
        levels = np.array([float(rated[domain]) for _, rated in inputs["items"]])
        low, _, most = scoring.domain_weighted(points, levels, every)
        weighted.append(low / most)
    return {"dws": np.transpose(weighted)}


def content_validity(inputs: Any) -> dict[str, Any]:
    """A01: items by experts on one scale."""
    items = [i_cvi(row, inputs["cut"]) for row in ratings(inputs["ratings_items_x_experts"])]
    return {
        "icvi": [item.value for item in items],
        "ave": s_cvi_ave(items),
        "ua": s_cvi_ua(items),
    }


def content_validity_example(inputs: Any) -> dict[str, Any]:
    """A02: the same with modified kappa and Aiken's V."""
    rows = ratings(inputs["ratings_items_x_experts"])
    items = [i_cvi(row, inputs["cut"]) for row in rows]
    kappas = [modified_kappa(item.k, item.n) for item in items]
    return {
        **content_validity(inputs),
        "kappa": kappas,
        "V": [aiken_v(row, inputs["lo"], inputs["hi"]).value for row in rows],
        "mean_kappa": np.mean(kappas),
    }


def gwet_per_item(inputs: Any) -> dict[str, Any]:
    """A03: each item of A02 by itself."""
    example = ENTRIES[f"{inputs['ratings']}_cvi_example"]["inputs"]
    rows = ratings(example["ratings_items_x_experts"])[:, np.newaxis]
    ac1 = [gwet_ac1(endorsed(row, example["cut"]), (0, 1)) for row in rows]
    ac2 = [gwet_ac2(row, range(example["lo"], example["hi"] + 1)) for row in rows]
    return {"ac1": ac1, "ac2": ac2, "mean_ac1": np.mean(ac1), "mean_ac2": np.mean(ac2)}


def modified_kappas(_: Any) -> list[list[float]]:
    """A04: three to ten raters, of whom half or more endorse; chance is what kappa takes away."""
    rows = []
    for n in range(3, 11):
        for k in range(n, (n - 1) // 2, -1):
            by_chance = special.comb(n, k) / 2**n
            rows.append([n, k, Endorsement(k, n).value, by_chance, modified_kappa(k, n)])
    return rows


def rounding_traps(inputs: Any) -> dict[str, float]:
    """A05: what rounding first would give, and what counting gives."""
    (n, k), (n_nine, k_seven) = inputs["cases"]
    by_chance = round(special.comb(n, k) / 2**n, 3)
    seven_of_nine = Endorsement(k_seven, n_nine).value
    return {
        "k_5of6": modified_kappa(k, n),
        "k_from_rounded_icvi": (round(k / n, 2) - by_chance) / (1 - by_chance),
        "icvi_7of9": seven_of_nine,
        "7of9_ge_078": seven_of_nine >= 0.78,
    }


def five_point_cut(inputs: Any) -> dict[str, float]:
    """A07: chance .4 is that of a blind rating of 4 or 5, which our kappa does not take."""
    panel = ratings(inputs["ratings"])
    high, low = i_cvi(panel, 4), i_cvi(panel, 3)
    by_chance = special.comb(high.n, high.k) * 0.4**high.k * 0.6 ** (high.n - high.k)
    return {
        "icvi_cut4": high.value,
        "icvi_cut3": low.value,
        "V": aiken_v(panel, 1, 5).value,
        "k_cut4_p.5": modified_kappa(high.k, high.n),
        "k_cut4_p.4": (high.value - by_chance) / (1 - by_chance),
    }


def missing_rating(inputs: Any) -> dict[str, Any]:
    """A08: one expert did not rate the last item."""
    filled = {**inputs, "ratings_items_x_experts": inputs["ratings"]}
    return content_validity(filled)


def aiken_intervals(inputs: Any) -> list[list[float]]:
    """A09: V and its score interval."""
    result = [aiken_v(ratings(row), low, high) for row, low, high in inputs["cases"]]
    return [[v.value, *v.interval] for v in result]


def aiken_intervals_of_five(inputs: Any) -> list[list[float]]:
    """A10: from V, five raters on 1 to 5."""
    n, steps = inputs["n"], inputs["hi"] - inputs["lo"]
    result = [AikenV(round(v * n * steps), n, steps) for v in inputs["V"]]
    return [[v.value, *v.interval] for v in result]


def two_raters(inputs: Any) -> dict[str, float]:
    """A14: AC1 and Cohen's kappa of the same two."""
    pairs = np.transpose([inputs["rater1"], inputs["rater2"]]).astype(float)
    return {
        "ac1": gwet_ac1(pairs, (0, 1)),
        "kappa": weighted_kappa(inputs["rater1"], inputs["rater2"], (0, 1)),
    }


def four_raters(inputs: Any) -> dict[str, Any]:
    """A15: four raters with gaps on 1 to 5."""
    panel = ratings(inputs["ratings_items_x_raters"])
    scale = range(1, 6)
    return {"ac1": {"coef": gwet_ac1(panel, scale)}, "ac2": {"coef": gwet_ac2(panel, scale)}}


def category_trap(inputs: Any) -> dict[str, float]:
    """A16: the whole scale, and only what was given."""
    row = ratings([inputs["ratings"]])
    return {
        "cats_1_4": gwet_ac2(row, (1, 2, 3, 4)),
        "cats_observed": gwet_ac2(row, (3, 4)),
    }


def three_iccs(inputs: Any) -> dict[str, float]:
    """A17: six targets, four judges, who may also be four responses."""
    panel = ratings(inputs["ratings_targets_x_judges"])
    responses = response_reliability(panel)
    return {"ICC11": responses.icc, "ICC1k": responses.of_mean, "ICC2k": icc(panel)}


def panel_ceiling(inputs: Any) -> dict[str, float]:
    """A19: six experts who nearly always say 4."""
    panel = ratings(inputs["ratings_items_x_experts"])
    in_two = endorsed(panel, 3)
    return {
        "alpha_ordinal": krippendorff_alpha(panel),
        "identical_pairs": identical_pairs(panel),
        "ac1_dichotomised": gwet_ac1(in_two, (0, 1)),
        "identical_pairs_dich": identical_pairs(in_two),
    }


def _kappa(both: int, first: int, second: int, neither: int) -> float:
    """With two levels the weighted kappa is the plain one."""
    readings = [(1, 1)] * both + [(1, 0)] * first + [(0, 1)] * second + [(0, 0)] * neither
    return weighted_kappa(*zip(*readings, strict=True), (0, 1))


def _measures(cells: Sequence[float], **names: str) -> dict[str, float]:
    """Return measures of the counts `tp`, `fn`, `fp` and `tn`: name of a result → measure."""
    table = np.array([cells], float)
    return {key: measure_value(table, AccuracyMeasure(name)) for key, name in names.items()}


def two_by_two(inputs: Any) -> dict[str, float]:
    """B01 and B02: a table of grader and people."""
    table = inputs["TP,FN,FP,TN"]
    named = {"po": "accuracy", "se": "sensitivity", "sp": "specificity", "macro_f1": "macro_f1"}
    return {"kappa": _kappa(*table), **_measures(table, **named)}


def prevalence_paradox(inputs: Any) -> dict[str, float]:
    """B03: nearly everything is present."""
    return {"kappa": _kappa(*inputs["a,b,c,d"])}


def every_physician(inputs: Any) -> dict[str, float]:
    """B04: the grader against each label of each physician."""
    rows = zip(inputs["grader"], inputs["physicians"], strict=True)
    pairs = [(said, graded) for graded, labels in rows for said in labels]
    cells = ((True, True), (True, False), (False, True), (False, False))
    table = [*map(pairs.count, cells)]
    return _measures(
        table, prec_pos="ppv", rec_pos="sensitivity", rec_neg="specificity", macro_f1="macro_f1"
    )


def begg_greenes(inputs: Any) -> dict[str, float]:
    """B06: those with a positive test were verified more often."""
    tp, fp, rest_found = inputs["T+:D+,D-,unverified"]
    fn, tn, rest_not_found = inputs["T-:D+,D-,unverified"]
    naive = (tp, fn, fp, tn)
    result, not_found = 1 + rest_found / (tp + fp), 1 + rest_not_found / (fn + tn)
    whole = (tp * result, fn * not_found, fp * result, tn * not_found)
    return {
        **_measures(naive, se_naive="sensitivity", sp_naive="specificity"),
        **_measures(whole, se="sensitivity", sp="specificity"),
    }


def stratified_audit(inputs: Any) -> dict[str, float]:
    """B12: each judgment counts for those that it was drawn from."""
    (tp, fp), (fn, tn) = (
        np.array([of["true"], of["n"] - of["true"]]) * (of["N"] / of["n"])
        for of in inputs["strata"].values()
    )
    return _measures((tp, fn, fp, tn), se="sensitivity", sp="specificity", ppv="ppv")


def every_audit(inputs: Any) -> dict[str, float]:
    """B14: the mean and variance of the corrected mean over all 20 audits of three responses."""
    graded, human = ratings(inputs["grader_scores"]), ratings(inputs["human_scores"])
    result = []
    for read in itertools.combinations(range(len(graded)), inputs["n_audit"]):
        seen = np.full_like(human, np.nan)
        seen[list(read)] = human[list(read)]
        result.append(prediction_powered(graded[:, np.newaxis], seen[:, np.newaxis]).value)
    return {"expectation": np.mean(result), "design_var": np.var(result)}


def powered_clusters(inputs: Any) -> dict[str, float]:
    """B15: four scenarios of two responses, five of which people read."""
    human = np.where(inputs["audited"], inputs["human"], np.nan)
    result = prediction_powered(ratings(inputs["grader"]), human)
    return {"est": result.value, "se": result.se}


def missed_severe_errors(inputs: Any) -> list[list[float]]:
    """B16: what was found is confirmed; what was not found is read in part."""
    confirmed, total = inputs["grader_pos_confirmed"], inputs["grader_neg_total"]
    cells = [(confirmed, k * total / n, 0, (n - k) * total / n) for k, n in inputs["k_n"]]
    return [
        [_measures(each, se="sensitivity")["se"], *sensitivity_range(confirmed, total, k, n)]
        for each, (k, n) in zip(cells, inputs["k_n"], strict=True)
    ]


VECTORS: dict[str, Callable[[Any], Any]] = {
    "A01_cvi_matrix": content_validity,
    "A02_cvi_example": content_validity_example,
    "A03_gwet_per_item": gwet_per_item,
    "A04_modified_kappa_table": modified_kappas,
    "A05_rounding_traps": rounding_traps,
    "A06_lynn_min_count": lambda inputs: [
        EndorsementRule.lynn.min_endorsements(n) for n in inputs["N"]
    ],
    "A07_five_point_cut": five_point_cut,
    "A08_missing_rating": missing_rating,
    "A09_aiken_v_score_ci": aiken_intervals,
    "A10_aiken_v_5pt": aiken_intervals_of_five,
    "A14_ac1_kappa_wongpakaran": two_raters,
    "A15_gwet_raw4raters": four_raters,
    "A16_ac2_category_trap": category_trap,
    "A17_icc_shrout_fleiss": three_iccs,
    "A18_krippendorff": lambda inputs: {
        "ordinal": krippendorff_alpha(ratings(inputs["ratings_raters_x_units"]).T)
    },
    "A19_panel_ceiling": panel_ceiling,
    "A20_icvi_ci": lambda inputs: [Endorsement(*case).interval for case in inputs["cases"]],
    "B01_kappa_textbook": two_by_two,
    "B02_grader_audit": two_by_two,
    "B03_prevalence_paradox": prevalence_paradox,
    "B04_healthbench_macro_f1": every_physician,
    "B06_begg_greenes": begg_greenes,
    "B12_stratified_audit": stratified_audit,
    "B14_difference_estimator": every_audit,
    "B15_ppi_clustered": powered_clusters,
    "B16_negative_verification": missed_severe_errors,
    "C01_score": score,
    "C02_worst_two_readings": two_worsts,
    "C03_worst_at_k": lambda inputs: lowest_of_k(np.array(inputs["x"])),
    "C04_severe_at_k": lambda inputs: any_of_k(
        np.array([[1.0] * inputs["c"] + [0.0] * (inputs["n"] - inputs["c"])])
    )[0, np.array(inputs["k"]) - 1],
    # What is expected of the lowest of ten follows from what is expected of 20 in order.
    "C05_min_of_10": lambda inputs: lowest_of_k(normal_order_statistics(20))[inputs["K"] - 1],
    "C06_clustered_se": clustered_se,
    "C07_ratio_se": ratio_se,
    "C08_paired_difference": paired_difference,
    "C10_holm": lambda inputs: holm(inputs["p"]),
    "C11_rank_sets": rank_sets_of,
    "C13_mde_table": detectable,
    "C14_item_rest": lambda inputs: item_rest(np.array(inputs["x"])),
    "C15_fisher_ci_r0": lambda inputs: fisher_interval(0, inputs["n"]).high,
    "C16_wilson_cp": lambda inputs: {
        "wilson": [wilson(*case) for case in inputs["cases"]],
        "cp": [clopper_pearson(*case) for case in inputs["cases"]],
    },
    "C17_rule_of_three": lambda inputs: [
        [rule_of_three(n), clopper_pearson(0, n).high] for n in inputs["n"]
    ],
    "C18_clustered_severe_rate": severe_rate,
    "C22_design_effect": design_effect,
    "C23_mde_multiplicity": multiplicity,
    "C24_additive_ladder": additive_ladder,
    "C25_no_negative_items": no_negatives,
    "D01_domain_scores": domains,
}


def numbers(tree: Any, at: str = "") -> dict[str, float]:
    """Every number of nested objects and lists, by its place; NaN for null."""
    if isinstance(tree, list | tuple | np.ndarray):
        tree = dict(enumerate(tree))
    if not isinstance(tree, dict):
        return {at: np.nan if tree is None else float(tree)}
    return {k: v for key, branch in tree.items() for k, v in numbers(branch, f"{at}/{key}").items()}


def test_every_vector_is_checked() -> None:
    """The file and the table of functions have the same ids."""
    assert sorted(VECTORS) == sorted(ENTRIES)


@pytest.mark.parametrize("name", VECTORS)
def test_vector(name: str) -> None:
    """Each number is within its tolerance of the one that two other methods agree on."""
    entry = ENTRIES[name]
    result = numbers(VECTORS[name](entry["inputs"]))
    expected = numbers(entry["expected"])
    assert result == pytest.approx(expected, rel=0, abs=entry["tol"], nan_ok=True)


@pytest.mark.parametrize(
    "name", [name for name in VECTORS if name[0] in "AB" and "published" in ENTRIES[name]]
)
def test_vector_prints_as_published(name: str) -> None:
    """Each number in print is the one found, rounded to the decimals that it is printed with."""
    entry = ENTRIES[name]
    result = numbers(VECTORS[name](entry["inputs"]))
    printed = {at: value for at, value in numbers(entry["published"]).items() if value == value}
    assert printed
    for at, value in printed.items():
        half_a_digit = 10.0 ** int(Decimal(repr(value)).as_tuple().exponent) / 2
        assert abs(result[at] - value) <= half_a_digit * (1 + 1e-9), at


def test_holm_rejects_what_is_published() -> None:
    """C10: of .01, .04, .03 and .005 the first and the last stay below .05."""
    entry = ENTRIES["C10_holm"]
    assert [p <= 0.05 for p in holm(entry["inputs"]["p"])] == entry["published"]["reject"]


def test_limits_print_as_published() -> None:
    """C16: Wilson and Clopper-Pearson limits are the published ones to three or four decimals."""
    for case, published in ENTRIES["C16_wilson_cp"]["published"].items():
        events, trials = map(int, case.split("/"))
        for name, interval in (("wilson", wilson), ("cp", clopper_pearson)):
            decimals = 3 if case == "5/25" else 4
            if limits := published.get(name):
                assert [round(x, decimals) for x in interval(events, trials)] == limits
