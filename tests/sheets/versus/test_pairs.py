"""Tests of the sheets of a pair of ranked systems."""

from __future__ import annotations

from careeval.results.compare import compare_entries
from careeval.results.entries import entries
from careeval.results.ranking import RANKED_BY, rankings
from careeval.results.summary import summary_of
from careeval.sheets.versus.comparisons import differences_sheet
from careeval.sheets.versus.pairs import difference_sentence, pair_sheets
from results.authored import Marks, runs_of

NAMES = [f"dressing-{n}" for n in range(12)]
SYSTEMS: dict[str, Marks] = {
    "good": {name: ["11000"] for name in NAMES},
    "fair": {name: ["11000"] if n % 4 else ["01000"] for n, name in enumerate(NAMES)},
    "poor": {name: ["00001"] if n % 3 else ["11000"] for n, name in enumerate(NAMES)},
}


def test_a_pair_has_the_numbers_of_a_comparison_of_the_two_alone() -> None:
    """A page names the tests of each p, and has what `careeval compare` prints of the same two."""
    graded = list(entries(runs_of(SYSTEMS)))
    summaries = [summary_of(entry) for entry in graded]
    (ranking,) = rankings(graded, summaries)
    by_name = {entry.system: (entry, s) for entry, s in zip(graded, summaries, strict=True)}
    (a, a_summary), (b, b_summary) = by_name["fair"], by_name["poor"]
    comparison = compare_entries(a, b)
    by_metric, *_ = pair_sheets(a_summary, b_summary, comparison, ranking)
    printed = {row["name"]: row for row in differences_sheet(comparison).data.frame.to_dicts()}
    rows = by_metric.data.frame.to_dicts()
    assert {row["metric"] for row in rows} >= {*RANKED_BY, "mild"}
    for row in rows:
        alone = printed[row["metric"]]
        assert (row["p_holm_alone"], row["detectable_alone"]) == (
            alone["p_holm"],
            alone["detectable"],
        )
        assert alone["p_holm_family"] == "over 4 metrics"
        if row["metric"] in RANKED_BY:
            assert row["p_holm_family"] == "over all 3 pairs"
        else:
            assert (row["p_holm"], row["p_holm_family"]) == (alone["p_holm"], "over 4 metrics")
    assert "over 4 metrics, as careeval compare prints them" in by_metric.note


def test_a_missed_difference_names_its_tests() -> None:
    """What could be missed is said with the tests that it allows for."""
    graded = list(entries(runs_of(SYSTEMS)))
    (ranking,) = rankings(graded, [summary_of(entry) for entry in graded])
    difference = ranking.difference("score", "good", "fair")
    sentence = difference_sentence("good", "fair", "score", difference)
    assert "points could be missed (over all 3 pairs of the ranking)." in sentence
