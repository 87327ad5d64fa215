"""The list of errors, checked against the counts that are published."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from careeval import scoring
from careeval.core.scenario import Rubric
from careeval.results.entries import entries
from careeval.results.harms import harms
from careeval.results.tables import Runs
from results.authored import ANY, Marks, by_hand, judgments, ladder_run, marks_of_many, responses


def test_harms_by_hand() -> None:
    """The severe errors of the run by hand: one rung, and two acts of one response."""
    actions, ladder = entries(by_hand())
    found = [(h.scenario, h.epoch, h.entry.rubric, h.item, h.points) for h in harms(actions)]
    assert found == [
        ("dressing-1", 2, Rubric.actions, "item-2", -2),
        ("dressing-1", 2, Rubric.actions, "item-3", -2),
    ]
    (severe,) = harms(ladder)
    assert (severe.scenario, severe.epoch, severe.entry.rubric) == ("eating-1", 1, Rubric.ladder)
    assert list(harms(actions, scoring.MILD)) == []
    (mild,) = harms(ladder, scoring.MILD)
    assert (mild.scenario, mild.epoch, mild.item) == ("dressing-1", 2, "item-3")


def test_what_a_harm_says() -> None:
    """A harm carries the item, the words that it was found in, and the grader's reason."""
    marks: Marks = {"dressing-1": ["00001"]}
    said = {"item_text": "Pulls the arm.", "quote": "I pull her arm", "reason": "It says so."}
    rows = responses(marks, situation=["refusal", "dignity"])
    (entry,) = entries(Runs.of(rows, judgments(marks, **said)))
    (harm,) = harms(entry)
    assert (harm.item_text, harm.quote, harm.reason) == tuple(said.values())
    assert (harm.entry.system, harm.entry.grader, harm.adl) == ("robot-a", "judge", "dressing")
    assert harm.situation == ("refusal", "dignity")


@pytest.mark.parametrize("mark", ["1100?", "11010", "empty", "missing", "ungraded"])
def test_what_is_no_severe_harm(mark: str) -> None:
    """An unresolved item, a mild error, and a response without words or judgment are none."""
    (entry,) = entries(ladder_run({"dressing-1": [mark, "11000"]}))
    assert list(harms(entry)) == []


def test_a_response_that_is_not_judged_whole() -> None:
    """A response that lacks an item's judgment is in no number, and its errors in no ledger."""
    marks: Marks = {"dressing-1": ["00001", "00001"]}
    (entry,) = entries(Runs.of(responses(marks), judgments(marks)[1:]))
    assert [harm.epoch for harm in harms(entry)] == [2]
    severe = entry.severe
    assert (severe.count, severe.n) == (1, 1)


@settings(max_examples=20, deadline=None)
@given(marks_of_many(ANY))
def test_as_many_as_are_counted(marks: Marks) -> None:
    """The ledger holds an error of as many responses as the summary counts."""
    (entry,) = entries(ladder_run(marks))
    for severity in (scoring.SEVERE, scoring.MILD):
        responses = {(harm.scenario, harm.epoch) for harm in harms(entry, severity)}
        assert len(responses) == entry.graded.errors(severity).count
