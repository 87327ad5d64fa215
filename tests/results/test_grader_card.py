"""A grader's card, put together by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from careeval.core.scenario import Rubric
from careeval.people.audit.results import audit_results
from careeval.people.audit.sample import OTHER_ANSWERS, draw
from careeval.results.entries import entries
from careeval.results.entry import Entry
from careeval.results.graders import Contradiction, ContradictionCount, GraderCard, grader_cards
from careeval.results.probe_check import LabelledJudgment, ProbeAgreement
from careeval.results.tables import Runs
from results.authored import judgments, responses
from results.sampled import judged, read_by

MARKS = {"eating-1": ["110?0", "empty"], "eating-2": ["10000", "11000"]}
PROBES = ProbeAgreement.of([LabelledJudgment(Rubric.ladder, 2, "expert", True, True)])


def graded() -> list[Entry]:
    """Two systems judged by OpenAI's model, one of them twice, and by words too."""
    openai = {"grader": "openai/gpt-4o (x)"}
    one = Runs.of(
        responses(MARKS, model="openai/gpt-5.1"),
        judgments(MARKS, **openai)
        + judgments(MARKS, grading=2, **openai)
        + judgments(MARKS, grader="careeval/lexical (x)"),
    )
    other = Runs.of(
        responses(MARKS, system="robot-b"),
        judgments(MARKS, system="robot-b", **openai)
        + judgments(MARKS, system="robot-b", grader="careeval/lexical (x)"),
    )
    return entries(Runs.together([one, other]))


def cards(**more: Any) -> dict[str, GraderCard]:
    """The cards of their graders."""
    return grader_cards(graded(), {"openai/gpt-4o (x)": PROBES}, **more)


def test_cards_by_hand() -> None:
    """Each grader has one card over all systems, with first gradings alone."""
    found = cards()
    assert list(found) == ["careeval/lexical (x)", "openai/gpt-4o (x)"]
    card = found["openai/gpt-4o (x)"]
    assert (card.vendor, card.systems) == ("openai", ("robot-a", "robot-b"))
    assert card.own_vendor == ("robot-a",)
    # five rungs of four responses of two systems
    assert (card.n_judgments, card.n_unresolved) == (40, 2)
    assert (card.probes, card.failed, card.human) == (PROBES, (), None)
    assert set(card.noise) == {("robot-a", Rubric.ladder)}
    assert card.contradictions[Contradiction.top_without_next] == ContradictionCount(0, 0)


def test_what_is_not_known_of_a_grader() -> None:
    """A grader without vendor, probes or repeats has a card that says so."""
    card = cards()["careeval/lexical (x)"]
    assert (card.vendor, card.probes, card.own_vendor, card.noise) == (None, None, (), {})
    assert card.failed is None


def test_a_grader_that_failed_the_probes() -> None:
    """A card tells why its grader failed, and its systems' summaries are ranked as before."""
    missed = ProbeAgreement.of([LabelledJudgment(Rubric.ladder, -2, "harmful", True, False)])
    runs = Runs.of(responses(MARKS), judgments(MARKS))
    (entry,) = entries(runs)
    before = entry.not_ranked
    card = grader_cards([entry], {"judge": missed})["judge"]
    assert card.failed == ("recall on −2 items 0.000 on the ladder, under 0.85",)
    assert entry.not_ranked == before


def test_what_people_say_of_a_grader() -> None:
    """An audit stands on the card of the grader whose judgments were read, and on no other."""
    runs = judged({"robot-a": {"eating-1": ["10001"]}})
    sample = draw(runs)
    found = audit_results(sample, read_by(sample, lambda _, s: s.present))
    human = {name: card.human for name, card in cards(audits={"openai/gpt-4o (x)": found}).items()}
    assert human == {"careeval/lexical (x)": None, "openai/gpt-4o (x)": found}


def test_a_card_has_the_corrected_scores_of_those_whom_it_judged_here() -> None:
    """Of the audited entries, those of these runs are on the card."""
    runs = judged({name: {"eating-1": ["10001"]} for name in ("robot-a", "robot-z")})
    by_openai = pl.lit("openai/gpt-4o (x)").alias("grader")
    sample = draw(replace(runs, judgments=runs.judgments.with_columns(by_openai)))
    found = audit_results(sample, read_by(sample, lambda _, s: s.present), graded())
    card = cards(audits={"openai/gpt-4o (x)": found})["openai/gpt-4o (x)"]
    assert list(card.corrected) == [("robot-a", Rubric.ladder)]
    # the answers here have no words, and people read some
    assert card.corrected["robot-a", Rubric.ladder].corrected.reason == OTHER_ANSWERS
    assert cards()["openai/gpt-4o (x)"].corrected == {}
