"""Scores as people correct them: what they mean in words, and their rows."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import Mock

import pytest

from careeval.results.entries import entries
from careeval.results.grader_accuracy import CorrectedScore
from careeval.sheets.entries import as_graded
from careeval.sheets.summary import summary_document
from careeval.stats.estimate import Estimate
from results.authored import ladder_run

KNOWN = Estimate(0.3, 0.3, 0.3, (0.2, 0.4))


@pytest.mark.parametrize(
    ("graded", "says"),
    [
        (0.1, "People give more than the grader: it would be about 30.0% if"),
        (0.2, "What people read does not show the grader to be off: it would be about 30.0% if"),
        (0.41, "People give less than the grader: it would be about 30.0% if"),
    ],
)
def test_what_a_corrected_score_means(graded: float, says: str) -> None:
    """People are said to differ from the grader only where their interval leaves it out."""
    known = CorrectedScore(graded, KNOWN, 30, 90).sentence()
    assert known.startswith(says)
    assert known.endswith("judged every answer, with 95% confidence between 20.0 and 40.0%.")


def test_a_score_that_is_not_corrected_says_why() -> None:
    """An unknown correction gives its reason; one without an interval claims no certainty."""
    unknown = CorrectedScore(0.5, Estimate.unknown("nobody read it"), 0, 0).sentence()
    assert unknown == "Not corrected: nobody read it."
    open_ = CorrectedScore(0.5, Estimate(0.3, 0.3, 0.3, None, "few scenarios"), 30, 90).sentence()
    assert open_.endswith("; how sure that is cannot be said: few scenarios.")


def test_cells_by_hand() -> None:
    """A corrected score has a cell for each head, and what is unknown is a dash with a reason."""
    known = CorrectedScore(0.5, KNOWN, 30, 1090)
    unknown = CorrectedScore(None, Estimate.unknown("nobody read it"), 0, 0)
    (entry,) = entries(ladder_run({"eating-1": ["11000"]}))
    numbers = [
        replace(entry, name=name, corrected=score)
        for name, score in {"a": known, "b": None, "c": unknown}.items()
    ]
    audits = {"judge": Mock(sentence=lambda: "Audited.")}
    document = summary_document(numbers, audits=audits)
    (view,) = (view for view in document.views if view.sheet.name == "corrected_scores")
    assert view.cells(view.sheet.rows[0]) == ("a", "50.0", "30.0 [20.0, 40.0]", "30", "1,090")
    assert view.cells(view.sheet.rows[1]) == ("c", "–", "–", "0", "0")
    assert "c not corrected: nobody read it." in document.blocks


def test_scores_as_graded_are_explained_where_they_differ() -> None:
    """A score as graded that is the run's needs no word; another has its reasons."""
    (entry,) = entries(ladder_run({"eating-1": ["11000", "10000"]}))
    found = entry
    alike = replace(found, corrected=CorrectedScore(5 / 6, KNOWN, 30, 90))
    assert as_graded([alike, found]) == ""
    note = as_graded([replace(alike, corrected=CorrectedScore(2 / 3, KNOWN, 30, 90))])
    assert note.endswith("if responses are held out, missing or only partly judged.")
