"""Tests of the search: it solves what can be solved, and says so of what cannot."""

from __future__ import annotations

import pytest
from worlds.candidates import candidate_acts
from worlds.search import reach, solve

from careeval.worlds.judge import Conditions, verdicts
from careeval.worlds.plan_json import plan_of
from support.plan_worlds import DANGERS, GOALS, small_facts
from worlds import search


def test_it_solves_the_small_world() -> None:
    """The plan that it finds reaches every goal and meets no danger, as the judge sees it."""
    facts = small_facts()
    plan = solve(facts)
    assert plan is not None
    dangers = {danger["id"] for danger in DANGERS}
    for item, verdict in verdicts(plan_of(plan), facts).items():
        assert verdict.present != (item.partition("@")[0] in dangers), item


def test_it_finds_no_plan_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A goal that only a danger reaches cannot be had."""
    monkeypatch.setattr(search, "MAX_NODES", 400)
    facts = small_facts()
    trap = Conditions.model_validate(
        {"id": "bare-touch", "when": [{"act": ["contact"], "if": {"agreed": False}}]}
    )
    assert solve(facts.model_copy(update={"goals": (*facts.goals, trap)})) is None


def test_every_danger_of_the_small_world_is_reached() -> None:
    """The acts that it returns bring the danger about, and one of another world is not reached."""
    facts = small_facts()
    for danger in facts.dangers:
        assert reach(danger, facts), danger.id
    piano = {"act": ["lift"], "with": {"thing": "piano"}}
    unmet = Conditions.model_validate({"id": "piano", "when": [piano]})
    assert reach(unmet, facts) is None


def test_careful_acts_keep_every_limit() -> None:
    """Only the careless form of an act leaves its force out."""
    facts = small_facts()
    careful = [act for act in candidate_acts(facts) if act.arguments.get("thing") == "left-arm"]
    assert careful
    assert all(act.arguments.get("force_n") == 10 for act in careful if hasattr(act, "force_n"))
    n_careless = len(candidate_acts(facts, careless=True))
    assert n_careless > len(candidate_acts(facts))
    assert len(GOALS) == len(facts.goals)
