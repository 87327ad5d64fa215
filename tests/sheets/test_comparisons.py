"""Tests of the sheets and documents of comparisons and rankings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from careeval.results.compare import Comparison, compare, rankings
from careeval.results.differences import Verdict
from careeval.results.entries import entries
from careeval.results.entry import NOT_COMPARABLE, Entry
from careeval.results.metrics import COMPARED
from careeval.results.tables import Runs
from careeval.sheets.comparisons import (
    MAX_CHARACTERS,
    MAX_FLIPS,
    MAX_ITEMS,
    comparison_document,
    differences_sheet,
    pairs_sheet,
    rank_sets_sheet,
    ranking_document,
)
from careeval.sheets.latex import latex
from careeval.sheets.markup import markdown
from careeval.sheets.sheet import Document
from results.authored import LADDER, Marks, judgments, responses, runs_of

NAMES = [f"dressing-{k}" for k in range(11)] + ["eating-1"]
SAFE: Marks = {name: ["11000", "01000"] for name in NAMES}
HARMFUL: Marks = {**{name: ["00001", "10001"] for name in NAMES}, "eating-1": ["11000", "01000"]}


def compared(
    a: Marks = SAFE, b: Marks = HARMFUL, points: Sequence[int] = LADDER, **words: str
) -> Comparison:
    """Return a comparison of two systems; `words` are columns of their judgments."""
    systems = {"before": a, "after": b}
    asked = [row for name, marks in systems.items() for row in responses(marks, system=name)]
    judged = [
        row
        for name, marks in systems.items()
        for row in judgments(marks, points, system=name, **words)
    ]
    return compare(Runs.of(asked, judged), *systems)


def ranked(systems: Mapping[str, Marks]) -> tuple[Any, list[Entry]]:
    """Return the rankings of some systems, and their summaries."""
    graded = entries(runs_of(systems))
    summaries = graded
    return rankings(graded), summaries


def sentences(document: Document) -> list[str]:
    """Return the sentences of a document."""
    return [block for block in document.blocks if isinstance(block, str)]


# Two systems


def test_a_row_a_difference() -> None:
    """The sheet has each number of the comparison as it is, and names what it is of."""
    comparison = compared()
    sheet = differences_sheet(comparison)
    assert [row["name"] for row in sheet.rows if row["family"] == "metric"] == list(COMPARED)
    assert {row["family"] for row in sheet.rows} == {"metric", "adl", "domain"}
    by_name = {row["name"]: row for row in sheet.rows}
    score, eating = by_name["score"], by_name["eating"]
    assert (score["a"], score["b"], score["rubric"]) == ("before", "after", "ladder")
    # A has 2 of 3 in each; B has -1 of 3 in eleven of twelve, and 2 in the last
    assert (score["value_a"], score["value_b"]) == pytest.approx((2 / 3, -1 / 4))
    assert score["difference"] is comparison.metrics["score"].difference
    assert score["verdict"] is Verdict.worse
    assert (eating["n"], eating["p"], eating["verdict"]) == (1, None, Verdict.unknown)


def test_an_unknown_difference_is_null_in_files() -> None:
    """An unknown difference is null with its reason, and never 0."""
    rows = {row["name"]: row for row in differences_sheet(compared()).data.frame.to_dicts()}
    eating, nobody = rows["eating"], rows["communication_intent"]
    assert (eating["difference_ci95_low"], eating["p_holm"], eating["detectable"]) == (None,) * 3
    assert eating["difference_reason"] == "fewer than five scenarios"
    assert eating["why_not_detectable"] == "fewer than five scenarios"
    assert (nobody["n"], nobody["value_a"], nobody["difference"]) == (0, None, None)
    assert nobody["difference_reason"]


def test_pairs_of_a_ranking_have_the_columns_of_a_difference() -> None:
    """Each column of a pair's numbers has one name, wherever two systems are compared."""
    found, _ = ranked({"a": SAFE, "b": HARMFUL})
    pairs = {row["metric"]: row for row in pairs_sheet(found).data.frame.to_dicts()}
    rows = {row["name"]: row for row in differences_sheet(compared()).data.frame.to_dicts()}
    # what is corrected for other comparisons differs with them
    unlike = {"a", "b", "p_holm", "p_holm_family", "detectable"}
    shared = [key for key in pairs["score"] if key in rows["score"] and key not in unlike]
    assert {"n", "value_a", "value_b", "difference_ci95_low", "p"} <= {*shared}
    for metric, pair in pairs.items():
        assert [pair[key] for key in shared] == [rows[metric][key] for key in shared]


def test_tables_of_a_comparison() -> None:
    """There is a table a family, in the words that people read, and what is too small is marked."""
    document = comparison_document(compared())
    metrics, activities, domains = document.views
    assert metrics.heads[:4] == ("metric", "A", "B", "B − A [95% CI]")
    assert metrics.heads[4:] == ("p", "p Holm over 4 metrics", "detectable", "n", "verdict")
    cells = {row[0]: row for row in map(metrics.cells, metrics.sheet.rows)}
    assert list(cells) == ["severe", "score", "worst of 2", "mild"]
    assert cells["score"][1:3] == ("66.7", "−25.0")
    assert cells["score"][3].startswith("−91.7 [−")
    assert cells["severe"][1:3] == ("0.0", "91.7")
    assert cells["severe"][-1] == "B worse"
    assert activities.cells(activities.sheet.rows[-1])[-2:] == ("1*", "not known")
    assert domains.cells(domains.sheet.rows[0])[0] == "User function"
    assert "* fewer than five scenarios: no interval, and not for comparing." in document.notes
    assert document.notes[-1] == NOT_COMPARABLE


def test_worst_case_of_another_n() -> None:
    """If A and B were asked unequally often, the worst of n is unknown, and a note says why."""
    document = comparison_document(compared(b={name: ["11000"] for name in NAMES}))
    metrics, *_ = document.views
    (worst,) = (row for row in map(metrics.cells, metrics.sheet.rows) if row[0] == "worst of n")
    assert worst[1:] == ("–", "–", "–", "–", "–", "–", "0", "not known")
    assert "worst of n: the worst of n compares only between equal n." in document.notes


def test_unresolved_judgments_are_noted() -> None:
    """The notes say by how much unresolved judgments could move a difference."""
    document = comparison_document(compared(b={**SAFE, "dressing-0": ["1100?", "01000"]}))
    (moved,) = (note for note in document.notes if note.startswith("Unresolved"))
    # one response of 24, and 2 of 72 points, or none: half of that either way
    assert "could move severe ± 2.1, score ± 1.4;" in moved


# Flips


def test_flips_come_first_in_full() -> None:
    """Ten flips are shown in full, with the item and its words, and the others are counted."""
    comparison = compared(item_text="Pulls the arm.", quote="I pull")
    said = sentences(comparison_document(comparison))
    assert said[:2] == [
        "A = before, B = after, both judged on the ladder by judge",
        "11 scenarios went from safe with A to a severe error with B",
    ]
    assert said[2:5] == [
        "  dressing-0: severe in 2 of 2 responses of B, in none of 2 of A",
        "    Pulls the arm.",
        "      “I pull” (response 1)",
    ]
    assert sum("severe in 2 of 2" in sentence for sentence in said) == MAX_FLIPS
    assert said[-3:-1] == [
        "  and 1 more: --json lists them all",
        "From a severe error with A to safe with B: none",
    ]
    assert said[-1].startswith("12 scenarios of authored 1-0, 2 responses each")


def test_flips_the_other_way_and_none() -> None:
    """Scenarios that became safe are named; if none became unsafe, a sentence says so."""
    said = sentences(comparison_document(compared(HARMFUL, SAFE)))
    assert said[1] == "No scenario went from safe with A to a severe error with B."
    assert said[2].startswith("From a severe error with A to safe with B: dressing-0, dressing-1")


def test_a_flip_of_many_long_items_is_short() -> None:
    """A flip has at most three items, and a long quote only its beginning."""
    points = (2, *[-2] * (MAX_ITEMS + 2))
    safe, harmful = ({name: [f"1{mark * (MAX_ITEMS + 2)}"] for name in NAMES} for mark in "01")
    said = sentences(comparison_document(compared(safe, harmful, points, quote="a word " * 1_000)))
    flip = said[2 : said.index("    and 2 more items")]
    assert len(flip) == 1 + 2 * MAX_ITEMS
    assert max(map(len, flip)) < MAX_CHARACTERS + 40


def test_flips_in_markdown_are_a_list() -> None:
    """In Markdown, the items of a flip are a list below it; LaTeX has no flips."""
    document = comparison_document(compared(item_text="Pulls the arm.", quote="I *pull*"))
    lines = markdown(document).splitlines()
    start = lines.index("- dressing-0: severe in 2 of 2 responses of B, in none of 2 of A")
    assert lines[start - 1] == ""
    assert lines[start + 1 : start + 3] == [
        "  - Pulls the arm.",
        "    - “I \\*pull\\*” (response 1)",
    ]
    tex = latex(document)
    assert tex.count(r"\begin{tabular}") == 3
    assert tex.count("A = before, B = after, both judged on the ladder by judge") == 1
    assert tex.count("Scores on this bank do not compare") == 1


# Many systems

TOP: Marks = {name: ["11000"] for name in NAMES}
LOW: Marks = {name: ["00000"] for name in NAMES}


def test_ranks_of_many() -> None:
    """The best score is first, with its rank sets and the numbers of its summary."""
    document = ranking_document(*ranked({"low": LOW, "top": TOP, "equal": TOP}))
    (view,) = document.views
    assert view.caption == "authored, version 1, ladder, judged by judge"
    assert view.heads == (
        "rank",
        "system",
        "severe % [95% CI]",
        "rank by severe",
        "score % [95% CI]",
        "worst of 1 %",
        "mild %",
        "asked",
    )
    cells = [view.cells(row) for row in view.sheet.rows]
    assert [row[:2] for row in cells] == [("1–2", "equal"), ("1–2", "top"), ("3", "low")]
    assert cells[0][4:] == ("100.0 [71.5, 100.0]", "100.0", "0.0", "12 × 1")
    assert sentences(document)[0].startswith("  2 of 3 pairs can be told apart by score")
    assert document.notes == (NOT_COMPARABLE,)


def test_pairs_told_apart_are_those_of_the_verdicts() -> None:
    """The number of pairs told apart is that of the verdicts, and not that of small p values.

    Differences 5 1 1 1 1 1 0 0 0 have a p of 2 / 64, and an interval that holds 0.
    """
    names = NAMES[:9]
    low: Marks = {n: ["00000"] for n in names}
    before: Marks = {**low, names[0]: ["00001"]}
    after: Marks = {**low, **{n: ["01000"] for n in names[1:6]}, names[0]: ["11000"]}
    document = ranking_document(*ranked({"a": before, "b": after}))
    assert sentences(document)[0].startswith("  0 of 1 pairs can be told apart")


def test_one_alone_has_no_rank() -> None:
    """A rank among no others is not shown, and nothing is where nobody can be ranked."""
    unfinished: Marks = {**TOP, NAMES[0]: ["missing"]}
    document = ranking_document(*ranked({"top": TOP, "unfinished": unfinished}))
    (view,) = document.views
    assert [shown.key for shown in view.columns][:3] == ["name", "severe", "score"]
    assert sentences(document) == [
        "  Fewer than two systems can be ranked here.",
        "  unfinished: not ranked: 1 of 12 responses are missing.",
    ]
    nobody = ranking_document(*ranked({"unfinished": unfinished, "other": unfinished}))
    assert not list(nobody.views)
    assert sentences(nobody)[0] == "authored, version 1, ladder, judged by judge"


def test_ranks_in_files() -> None:
    """Files have everybody, whoever is left out with the reason, and the numbers of the ranked."""
    found, summaries = ranked({"top": TOP, "low": LOW, "gone": {**TOP, NAMES[0]: ["missing"]}})
    rows = ranking_document(found, summaries).data.data.frame.to_dicts()
    assert [(row["system"], row["rank_best"], row["score"]) for row in rows] == [
        ("top", 1, 1),
        ("low", 2, 0),
        ("gone", None, None),
    ]
    assert rows[0]["severe_n"] == len(NAMES)
    assert rows[2]["reason"] == "1 of 12 responses are missing"
    # an export, which has the numbers elsewhere, says the same
    alone = rank_sets_sheet(found).data.frame.to_dicts()
    assert alone == [{key: row[key] for key in alone[0]} for row in rows]


def test_a_paper_s_tables_of_several_rankings_have_labels_of_their_own() -> None:
    """Rankings that cannot be compared are separate tables, each with its own label."""
    runs = Runs.together(
        [runs_of({"a": TOP, "b": LOW}), Runs.of([], judgments(TOP, system="a", grader="other"))]
    )
    graded = entries(runs)
    summaries = graded
    document = ranking_document(rankings(graded), summaries)
    assert [view.sheet.name for view in document.views] == ["rank_sets_1", "rank_sets_2"]
    assert re.search(r"{tab:careeval-[0-9a-f]+-rank-sets-2}", latex(document))
