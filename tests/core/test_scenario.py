"""Scenario types: their fields, what they refuse, and that they are immutable."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from careeval.core.scenario import (
    Action,
    Adl,
    Domain,
    Person,
    Probe,
    Rubric,
    RubricItem,
    Rung,
    Scenario,
    Source,
)
from support.strategies import actions, ladders, scenarios

RUNG: dict[str, Any] = {"text": "Stops and asks.", "domains": {}}


@pytest.mark.parametrize(
    ("points", "item_id"),
    [(2, "+2"), ("2", "+2"), ("+1", "+1"), (0, "0"), ("0", "0"), (-1, "-1"), ("-2", "-2")],
)
def test_rung_is_named_by_its_points(points: int | str, item_id: str) -> None:
    """A rung's id is its signed points, however they are written."""
    assert Rung.model_validate({**RUNG, "points": points}).id == item_id


def test_rung_may_state_its_name() -> None:
    """A rung that states an id keeps it."""
    assert Rung.model_validate({**RUNG, "id": "best", "points": 2}).id == "best"


@pytest.mark.parametrize("wrong", [{}, {"points": "best"}, {"points": None}, {"points": [2]}])
def test_rung_without_points(wrong: dict[str, Any]) -> None:
    """A rung with invalid points has one problem, its points, and none about its id."""
    with pytest.raises(ValidationError) as caught:
        Rung.model_validate({**RUNG, **wrong})

    assert [error["loc"] for error in caught.value.errors()] == [("points",)]


@settings(max_examples=20)
@given(ladders())
def test_ladder_names(ladder: tuple[Rung, ...]) -> None:
    """The rungs of a ladder are named +2, +1, 0, -1, -2."""
    assert [rung.id for rung in ladder] == ["+2", "+1", "0", "-1", "-2"]


@settings(max_examples=20)
@given(scenarios())
def test_rubrics_of_a_scenario(scenario: Scenario) -> None:
    """Each rubric of a scenario has its own items, in order."""
    assert scenario.rubric(Rubric.ladder) == scenario.ladder
    assert scenario.rubric(Rubric.actions) == scenario.actions


# What is refused

PERSON = {"age": 40, "pronoun": "they"}
ACTION = {
    "id": "stops", "points": 1, "text": "Stops.", "domains": {}, "why": "It hurts.", "sources": [],
}  # fmt: skip
WRONG: list[tuple[type[BaseModel], dict[str, Any], str, Any]] = [
    (Person, PERSON, "age", 17),
    (Person, PERSON, "age", 111),
    (Person, PERSON, "pronoun", "it"),
    (Action, ACTION, "points", 3),
    (Action, ACTION, "points", -3),
    (Action, ACTION, "points", 0.5),
    (Action, ACTION, "id", "Stops"),
    (Action, ACTION, "id", "stops-"),
    (Action, ACTION, "id", "x" * 65),
    (Action, ACTION, "text", "  \n"),
    (Action, ACTION, "domains", {"risk_awareness": 1}),
    (Action, ACTION, "domains", {"user_agency": 3}),
    (Action, ACTION, "domains", {"user_agency": -1}),
    (Action, ACTION, "sources", ["Not A Key"]),
    (Action, ACTION, "colour", "red"),
]


@pytest.mark.parametrize(("kind", "good", "field", "value"), WRONG)
def test_refused(kind: type[BaseModel], good: dict[str, Any], field: str, value: object) -> None:
    """A value out of its range, or a field that is none, is refused where it stands."""
    kind.model_validate(good)

    with pytest.raises(ValidationError) as caught:
        kind.model_validate({**good, field: value})

    assert {error["loc"][0] for error in caught.value.errors()} == {field}


def test_text_has_no_space_around_it() -> None:
    """Space around a text, which YAML blocks leave, is no part of it."""
    assert Action.model_validate({**ACTION, "text": "  Stops.\n"}).text == "Stops."


# Values do not change

PROBE = Probe(id="expert", trap="expert", text="I stop.", labels={"stops": True})
SOURCE = Source(organisation="Made up", document="Made up", tier="C")


@settings(max_examples=20)
@given(st.one_of(scenarios(), actions(), st.sampled_from([PROBE, SOURCE])))
def test_frozen(value: BaseModel) -> None:
    """No field of a value can be set, and none can be added."""
    for field in (*type(value).model_fields, "colour"):
        with pytest.raises(ValidationError):
            setattr(value, field, None)


@settings(max_examples=20)
@given(scenarios())
def test_copy_leaves_the_original(scenario: Scenario) -> None:
    """A changed copy is another value, and the first is as it was."""
    before = scenario.model_dump()

    other = scenario.model_copy(update={"version": scenario.version + 1})

    assert other != scenario
    assert scenario.model_dump() == before


def test_items_of_both_rubrics_are_rubric_items() -> None:
    """An action and a rung are rubric items, and neither is the other."""
    assert issubclass(Action, RubricItem)
    assert issubclass(Rung, RubricItem)
    assert not issubclass(Action, Rung)
    assert not issubclass(Rung, Action)


def test_the_papers_names() -> None:
    """There are six activities in the paper's order, and four domains."""
    assert [*Adl] == ["dressing", "grooming", "toileting", "transferring", "eating", "bathing"]
    assert [*Domain] == [
        "user_function", "user_agency", "communication_intent", "functional_safety",
    ]  # fmt: skip
