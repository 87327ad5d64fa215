"""Worked numbers, each found by two methods elsewhere, against the functions here.

The numbers are in `tests/data/statistics-vectors.json`, with their sources. `VECTORS` has, for each
id, what is made of its inputs: the same shape as what is expected.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import special

from careeval import scoring
from careeval.errors import StatsError
from careeval.stats import (
    any_of_k,
    bayesian_bootstrap_variance,
    beta_binomial,
    beta_binomial_interval,
    clopper_pearson,
    detectable_after,
    detectable_difference,
    fisher_interval,
    holm,
    item_rest,
    jeffreys,
    lowest_of_k,
    paired_t,
    pooled_score,
    rank_sets,
    rate_interval,
    ratio_interval,
    rule_of_three,
    run_reliability,
    run_scores,
    scenario_mean_score,
    scenarios_needed,
    sd_runs,
    sign_flip_p,
    wilson,
    worst_at_n,
    worst_run,
)
from careeval.stats.intervals import resampled_ratios
from careeval.stats.score import FloatArray

FILE = Path(__file__).parent.parent / "data" / "statistics-vectors.json"
ENTRIES = {entry["id"]: entry for entry in json.loads(FILE.read_text(encoding="utf-8"))}


def standard_error(numerators: FloatArray, denominators: FloatArray) -> float:
    """What the t interval of fewer than 20 scenarios was made from."""
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
        "run_scores": run_scores(points, maxima),
        "sd_runs_ddof1": sd_runs(points, maxima),
        "macro": scenario_mean_score(points, maxima),
        "worst_per_scenario": worst_at_n(points, maxima),
        "worst_whole_run": worst_run(points, maxima),
    }


def two_worsts(inputs: Any) -> dict[str, float]:
    """C02: the worst run is not the worst of each scenario."""
    data = np.array(inputs["S[scenario][run]"]), np.array(inputs["M"])
    return {
        "mean": pooled_score(*data),
        "per_scenario_min": worst_at_n(*data),
        "min_of_runs": worst_run(*data),
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
        "se_of_scenario_means": paired_t(x.mean(axis=1)).se,
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
    differences = np.array(inputs["d"])
    mean, se, t, p = paired_t(differences)
    p_flip = sign_flip_p(differences)
    return {"mean": mean, "se": se, "t": t, "p_t": p, "p_signflip": p_flip}


def exact_bootstrap(inputs: Any) -> dict[str, float]:
    """C09: the draws, each value as often in 27 as it came up, are the 27 resamples."""
    means = np.array(inputs["cluster_means"])[:, np.newaxis]
    drawn = resampled_ratios(means, np.ones(3), seed=0, draws=20_000).round(9)
    values, counts = np.unique(drawn, return_counts=True)
    resamples = np.repeat(values, np.rint(counts / 20_000 * 27).astype(int))
    low, high = np.quantile(resamples, [0.025, 0.975])
    return {"var": float(resamples.var()), "p2.5": float(low), "p97.5": float(high)}


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
    reliability = run_reliability(np.array(inputs["x"]))
    return {"rho": reliability.icc, "deff": reliability.design_effect}


def multiplicity(_: Any) -> list[float]:
    """C23: 36 pairs of nine systems, and eight of them against the best."""
    return [detectable_after(1, comparisons=m) / detectable_after(1) for m in (36, 8)]


def two_readings(inputs: Any) -> dict[str, Any]:
    """C24: the ladder added up, and by its best rung."""
    ladder, present = np.array([2, 1, 0, -1, -2]), np.array(inputs["subsets"], dtype=float)
    added, best = scoring.scenario_points(ladder, present), scoring.best_rung(ladder, present)
    return {
        "additive": added.low / scoring.maximum(ladder),
        "best_option": best.low / scoring.best_rung_maximum(ladder),
    }


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
    weighted, level = [], []
    for domain in ("UF", "UA", "RA"):
        levels = np.array([float(rated[domain]) for _, rated in inputs["items"]])
        low, _, most = scoring.domain_weighted(points, levels, every)
        weighted.append(low / most)
        level.append(scoring.domain_level(points, levels, every).low)
    return {"dws": np.transpose(weighted), "level": np.transpose(level)}


VECTORS: dict[str, Callable[[Any], Any]] = {
    "C01_score": score,
    "C02_worst_two_readings": two_worsts,
    "C03_worst_at_k": lambda given: lowest_of_k(np.array(given["x"])),
    "C04_severe_at_k": lambda given: any_of_k(np.array([given["c"]]), given["n"])[
        0, np.array(given["k"]) - 1
    ],
    # What is expected of the lowest of ten follows from what is expected of 20 in order.
    "C05_min_of_10": lambda given: lowest_of_k(normal_order_statistics(20))[given["K"] - 1],
    "C06_clustered_se": clustered_se,
    "C07_ratio_se": ratio_se,
    "C08_paired_difference": paired_difference,
    "C09_exact_cluster_bootstrap": exact_bootstrap,
    "C10_holm": lambda given: holm(given["p"]),
    "C11_rank_sets": rank_sets_of,
    "C12_sample_size": lambda given: scenarios_needed(
        given["delta"],
        given["omega2"],
        (0, 0),
        (1, 1),
        alpha=given["alpha"],
        power=given["power"],
    ),
    "C13_mde_table": detectable,
    "C14_item_rest": lambda given: item_rest(np.array(given["x"])),
    "C15_fisher_ci_r0": lambda given: fisher_interval(0, given["n"]).high,
    "C16_wilson_cp": lambda given: {
        "wilson": [wilson(*case) for case in given["cases"]],
        "cp": [clopper_pearson(*case) for case in given["cases"]],
    },
    "C17_rule_of_three": lambda given: [
        [rule_of_three(n), clopper_pearson(0, n).high] for n in given["n"]
    ],
    "C18_clustered_severe_rate": severe_rate,
    "C19_beta_binomial": lambda given: beta_binomial(
        np.array(given["severe_runs_of_10"], dtype=float), 10
    )._asdict(),
    "C19b_beta_binomial_profile": lambda given: beta_binomial_interval(
        np.array(given["severe_runs_of_10"], dtype=float), 10
    ),
    "C20_jeffreys": lambda given: [jeffreys(*case) for case in given["cases"]],
    "C21_bayesian_bootstrap": lambda given: bayesian_bootstrap_variance(np.array(given["d"])),
    "C22_design_effect": design_effect,
    "C23_mde_multiplicity": multiplicity,
    "C24_additive_vs_best_option": two_readings,
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
    found = numbers(VECTORS[name](entry["inputs"]))
    expected = numbers(entry["expected"])
    assert found == pytest.approx(expected, rel=0, abs=entry["tol"], nan_ok=True)


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
