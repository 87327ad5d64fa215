"""Entries: one for each system and grader; the grading that counts; mixed runs."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from careeval.core.scenario import Rubric
from careeval.errors import UsageError
from careeval.results.compare import basis, check_comparable, rankings
from careeval.results.entries import entries
from careeval.results.tables import Runs
from results.authored import Marks, judgments, ladder_run, responses

TWICE: Marks = {"dressing-1": ["11000", "01000"]}


def test_entries_by_hand() -> None:
    """Each system and grader with judgments is one entry, in the order of their names."""
    rows = [row for name in ("b", "a", "silent") for row in responses(TWICE, system=name)]
    judged = [
        row
        for name, grader in (("b", "y"), ("b", "x"), ("a", "y"))
        for row in judgments(TWICE, system=name, grader=grader)
    ]
    found = entries(Runs.of(rows, judged))
    assert [(e.system, e.grader) for e in found] == [("a", "y"), ("b", "x"), ("b", "y")]
    assert {e.n_epochs for e in found} == {2}
    assert all(set(e.responses["system"]) == {e.system} for e in found)
    assert all(set(e.judgments["grader"]) == {e.grader} for e in found)


def test_nothing_judged() -> None:
    """Responses that nobody judged are no entry."""
    assert list(entries(Runs.of(responses(TWICE), []))) == []


def test_the_first_grading_counts() -> None:
    """Of each rubric the first grading there is counts: a later one moves no number."""
    worse: Marks = {"dressing-1": ["00001", "00001"]}
    acts: Marks = {"dressing-1": ["10", "10"]}
    first, again = judgments(TWICE), judgments(worse, grading=2)
    later_rubric = judgments(acts, (2, -2), rubric="actions", grading=2)
    actions, ladder = entries(Runs.of(responses(TWICE), [*again, *later_rubric, *first]))
    assert (actions.rubric, ladder.rubric) == (Rubric.actions, Rubric.ladder)
    assert actions.graded.score().value == 1
    assert ladder.graded.score().value == (3 + 1) / 2 / 3
    assert (actions.judgments.height, ladder.judgments.height) == (4, 10 + 10)
    assert (actions.first.height, ladder.first.height) == (4, 10)


def test_a_later_grading_counts_where_the_first_is_not_there() -> None:
    """A response that the first grading lacks counts as the next one has it."""
    worse: Marks = {"dressing-1": ["00001", "00001"]}
    rows = judgments(TWICE)[:5] + judgments(worse, grading=2)
    (entry,) = entries(Runs.of(responses(TWICE), rows))
    assert entry.graded.score().value == pytest.approx((3 - 2) / 2 / 3)


def test_a_grading_that_failed_counts_only_where_there_is_no_other() -> None:
    """Of each response the earliest grading with any judgment made counts, else the earliest."""
    failed: Marks = {"dressing-1": ["?????", "?????"]}
    better: Marks = {"dressing-1": ["1100?", "?????"]}
    rows = judgments(failed) + judgments(better, grading=2) + judgments(TWICE, grading=3)
    (entry,) = entries(Runs.of(responses(TWICE), rows))
    counts = entry.first.group_by("epoch").agg(pl.col("grading").unique()).sort("epoch")
    assert counts["grading"].to_list() == [[2], [3]]
    (none,) = entries(Runs.of(responses(TWICE), judgments(failed) + judgments(failed, grading=2)))
    assert set(none.first["grading"]) == {1}


def test_judgments_of_a_missing_response() -> None:
    """A judgment of a response that is missing counts for nothing."""
    rows = responses({"dressing-1": ["11000", "missing"]})
    (entry,) = entries(Runs.of(rows, judgments(TWICE)))
    assert entry.first["epoch"].to_list() == [1] * 5
    assert entry.graded.score().value == 1


def test_a_recorded_system_was_asked_nothing() -> None:
    """The name of the model that was asked is unknown where answers were recorded."""
    (recorded,) = entries(ladder_run(TWICE))
    (asked,) = entries(ladder_run(TWICE, model="openai/gpt-5"))
    assert (recorded.asked, asked.asked) == (None, "openai/gpt-5")


def test_a_run_over_two_versions_of_a_bank() -> None:
    """Responses over two versions of the bank are told apart, and such a run is not ranked."""
    rows = responses(TWICE)
    rows[1]["bank_version"] = "2-0"
    (entry,) = entries(Runs.of(rows, judgments(TWICE)))
    assert entry.mixed == {"versions of the bank": ["1-0", "2-0"]}
    reason = "its responses are of 2 versions of the bank: 1-0, 2-0"
    assert entry.not_ranked == (reason,)
    (whole,) = entries(ladder_run(TWICE))
    assert whole.mixed == {}
    assert whole.not_ranked == ()


# Protocols and rubrics

BOTH: Marks = {"dressing-1": ["11000", "01000"], "eating-1": ["11000", "11000"]}


def judged_on(
    marks: Marks, rubric: str, protocol: str = "1-3", **columns: Any
) -> list[dict[str, Any]]:
    """Judgments on one rubric by one protocol."""
    return judgments(marks, rubric=rubric, protocol=protocol, **columns)


def test_protocol_1_judged_both_rubrics_in_two_entries() -> None:
    """Samples of protocol 1 hold both rubrics: each is an entry, with its own numbers."""
    worse: Marks = {name: ["00001"] * 2 for name in BOTH}
    rows = judged_on(BOTH, "ladder") + judged_on(worse, "actions")
    actions, ladder = entries(Runs.of(responses(BOTH, protocol="1-3"), rows))
    assert [(e.rubric, e.grading_protocol) for e in (actions, ladder)] == [
        (Rubric.actions, "1-3"),
        (Rubric.ladder, "1-3"),
    ]
    assert actions.graded.score().value == pytest.approx(-2 / 3)
    assert ladder.graded.score().value == pytest.approx((3 + 1 + 3 + 3) / 12)
    assert all(e.run["protocol"] == "1-3" for e in (actions, ladder))


def test_a_grading_by_protocol_2_is_an_entry_apart() -> None:
    """Responses of protocol 1 judged again by protocol 2 are two entries that never compare."""
    worse: Marks = {name: ["00001"] * 2 for name in BOTH}
    rows = judged_on(BOTH, "actions") + judged_on(worse, "actions", "2-0", grading=2)
    old, new = found = list(entries(Runs.of(responses(BOTH, protocol="1-3"), rows)))
    assert [(e.system, e.grading_protocol) for e in found] == [
        ("robot-a", "1-3"),
        ("robot-a", "2-0"),
    ]
    assert new.graded.score().value == pytest.approx(-2 / 3)
    assert old.judgments.height == new.judgments.height == 20
    assert basis(old) != basis(new)
    said = found
    assert all(not s.not_ranked for s in said)
    assert [len(ranking.ranked) for ranking in rankings(found)] == [1, 1]
    with pytest.raises(
        UsageError, match="the version of the protocol that judged differs, 1 and 2"
    ):
        check_comparable(old, new)


@pytest.mark.parametrize(
    ("asked", "judged", "difference"),
    [
        ({"bank_hash": "1111"}, {}, "the choice of scenarios differs, 0000 and 1111"),
        ({"bank": "other"}, {}, "the bank differs, authored and other"),
        ({"bank_version": "2-0"}, {}, "the version of the bank differs, 1 and 2"),
        ({"protocol": "1-3"}, {}, "the version of the protocol that asked differs, 2 and 1"),
        ({}, {"protocol": "3-0"}, "the version of the protocol that judged differs, 2 and 3"),
        ({}, {"grader": "other"}, "the grader differs, judge and other"),
        ({}, {"rubric": "actions"}, "one was judged on the ladder, the other on the actions"),
    ],
)
def test_what_does_not_compare_is_ranked_apart(
    asked: dict[str, str], judged: dict[str, str], difference: str
) -> None:
    """Entries that differ in any part of their basis are refused, and stand in two rankings."""
    rows = responses(BOTH, system="a") + responses(BOTH, system="b", **asked)
    marks = judgments(BOTH, system="a") + judgments(BOTH, system="b", **judged)
    a, b = found = entries(Runs.of(rows, marks))
    with pytest.raises(UsageError, match=difference):
        check_comparable(a, b)
    groups = rankings(found)
    assert [[r.system for r in ranking.ranked] for ranking in groups] == [["a"], ["b"]]


def test_x_of_a_version_does_not_part_entries() -> None:
    """Versions of the same N compare, of the bank and of both protocols."""
    rows = responses(BOTH, system="a") + responses(
        BOTH, system="b", bank_version="1-7", protocol="2-1"
    )
    marks = judgments(BOTH, system="a") + judgments(BOTH, system="b", protocol="2-5")
    a, b = entries(Runs.of(rows, marks))
    check_comparable(a, b)
    assert basis(a) == basis(b)


def test_who_does_not_name_what_judged_compares_with_none() -> None:
    """An entry whose judgments name no protocol compares with none, not even its like."""
    rows = [row for name in "ab" for row in responses(BOTH, system=name)]
    marks = [row for name in "ab" for row in judgments(BOTH, system=name, protocol=None)]
    a, b = found = entries(Runs.of(rows, marks))
    with pytest.raises(UsageError, match="the version of the protocol that judged"):
        check_comparable(a, b)
    (ranking,) = rankings(found)
    assert (ranking.ranked, set(ranking.left_out)) == ((), {"a", "b"})


def test_a_grading_that_a_later_version_finished_is_one_entry() -> None:
    """Judgments by two versions of one N are one entry, and not two halves that are not whole."""
    rows = judgments({"dressing-1": BOTH["dressing-1"]}, protocol="2-A")
    rows += judgments({"eating-1": BOTH["eating-1"]}, protocol="2-B")
    (entry,) = entries(Runs.of(responses(BOTH), rows))
    assert entry.grading_protocol == "2-B"
    assert entry.not_ranked == ()


@pytest.mark.parametrize("protocol", ["1-A", "2-A"])
def test_an_unfinished_grading_of_the_other_rubric_is_not_whole(protocol: str) -> None:
    """A scenario that has the ladder and was judged on the actions alone is not graded yet."""
    part = {"dressing-1": BOTH["dressing-1"]}
    rows = judged_on(BOTH, "actions", protocol) + judged_on(part, "ladder", protocol)
    actions, ladder = entries(Runs.of(responses(BOTH), rows))
    assert actions.not_ranked == ()
    s = ladder
    assert (s.n_scenarios, s.n_ungraded) == (2, 2)
    assert s.not_ranked == ("2 of 4 responses are not graded",)


@pytest.mark.parametrize("protocol", ["1-A", "2-A"])
def test_a_scenario_that_has_one_rubric_alone_is_not_missing_from_the_other(protocol: str) -> None:
    """A scenario without a ladder is in the entry of its actions, and no part of the other."""
    asked = [
        {**row, "lacks": ["ladder"] if row["scenario"] == "eating-1" else []}
        for row in responses(BOTH)
    ]
    part = {"dressing-1": BOTH["dressing-1"]}
    rows = judged_on(BOTH, "actions", protocol) + judged_on(part, "ladder", protocol)
    actions, ladder = entries(Runs.of(asked, rows))
    assert [entry.n_scenarios for entry in (actions, ladder)] == [2, 1]
    assert actions.not_ranked == ladder.not_ranked == ()
