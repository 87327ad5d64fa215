"""Entries: who judged what, which grading counts, and what a run must have one of."""

from __future__ import annotations

import polars as pl
import pytest

from careeval.core.scenario import Rubric
from careeval.results.entries import entries
from careeval.results.summary import summary_of
from careeval.results.tables import Runs
from results.authored import Marks, by_hand, judgments, ladder_run, responses

TWICE: Marks = {"dressing-1": ["11000", "01000"]}


def test_entries_by_hand() -> None:
    """Each system and grader with judgments is one entry, in the order of their names."""
    rows = [row for name in ("b", "a", "silent") for row in responses(TWICE, system=name)]
    judged = [
        row
        for name, grader in (("b", "y"), ("b", "x"), ("a", "y"))
        for row in judgments(TWICE, system=name, grader=grader)
    ]
    found = list(entries(Runs.of(rows, judged)))
    assert [(e.model, e.grader) for e in found] == [("a", "y"), ("b", "x"), ("b", "y")]
    assert {e.n_epochs for e in found} == {2}
    assert all(set(e.responses["system"]) == {e.model} for e in found)
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
    (entry,) = entries(Runs.of(responses(TWICE), [*again, *later_rubric, *first]))
    assert entry.ladder.score().value == (3 + 1) / 2 / 3
    assert entry.actions.score().value == 1
    assert entry.judgments.height == 10 + 10 + 4
    assert entry.first.height == 10 + 4


def test_a_later_grading_counts_where_the_first_is_not_there() -> None:
    """A response that the first grading lacks counts as the next one has it."""
    worse: Marks = {"dressing-1": ["00001", "00001"]}
    rows = judgments(TWICE)[:5] + judgments(worse, grading=2)
    (entry,) = entries(Runs.of(responses(TWICE), rows))
    assert entry.ladder.score().value == pytest.approx((3 - 2) / 2 / 3)


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
    assert entry.ladder.score().value == 1


def test_its_two_rubrics() -> None:
    """An entry gives the rubric that it is asked for."""
    (entry,) = entries(by_hand())
    assert entry.rubric(Rubric.ladder) is entry.ladder
    assert entry.rubric(Rubric.actions) is entry.actions
    assert len(entry.ladder.scenarios[0].points) == 5


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
    assert summary_of(entry).not_ranked == (reason,)
    (whole,) = entries(ladder_run(TWICE))
    assert whole.mixed == {}
    assert summary_of(whole).not_ranked == ()
