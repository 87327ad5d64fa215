"""Hypothesis strategies for the core types: any shape that is allowed, good or bad in content."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from careeval.core.response import GraderItem, Judgment, Response, ResponseState
from careeval.core.scenario import (
    Action,
    Adl,
    Assistance,
    Condition,
    Domain,
    Person,
    Probe,
    Rung,
    Scenario,
    Situation,
    Split,
    Status,
)

LADDER_POINTS = (2, 1, 0, -1, -2)


_LEVELS = st.integers(0, 2)
_CHARACTERS = st.characters(categories=("L", "N", "P", "S", "Zs"))


def words(max_size: int = 20) -> SearchStrategy[str]:
    """Return a strategy for texts without control characters or space around them, never empty."""
    return st.text(_CHARACTERS, min_size=1, max_size=max_size).map(lambda text: text.strip() or "—")


def slugs() -> SearchStrategy[str]:
    """Names such as `weak-arm-2`."""
    names = st.sampled_from(["asks", "stops", "weak-arm", "own-part", "x"])
    return st.builds("{}-{}".format, names, st.integers(0, 999))


def points() -> SearchStrategy[int]:
    """−2 to 2."""
    return st.integers(-2, 2)


def domains(min_size: int = 0) -> SearchStrategy[dict[Domain, int]]:
    """Levels of some domains."""
    rated = st.lists(st.sampled_from(Domain), min_size=min_size, unique=True)
    return rated.flatmap(lambda some: st.fixed_dictionaries(dict.fromkeys(some, _LEVELS)))


@st.composite
def actions(draw: DrawFn, item_id: str | None = None) -> Action:
    """One action, of the id given or of any."""
    return Action(
        id=draw(slugs()) if item_id is None else item_id,
        points=draw(points()),
        text=draw(words()),
        domains=draw(domains()),
        why=draw(words()),
        sources=tuple(draw(st.lists(slugs(), max_size=2))),
    )


@st.composite
def ladders(draw: DrawFn, action_ids: tuple[str, ...] = ()) -> tuple[Rung, ...]:
    """The paper's five rungs, each made of some of the actions."""
    made_of = st.lists(st.sampled_from(action_ids), unique=True) if action_ids else st.just([])
    return tuple(
        Rung(
            points=p,
            text=draw(words()),
            domains=draw(domains(min_size=4)),
            of=tuple(draw(made_of)),
        )
        for p in LADDER_POINTS
    )


@st.composite
def scenarios(draw: DrawFn) -> Scenario:
    """One scenario: item ids are unique, and rungs are made of its own actions."""
    adl = draw(st.sampled_from(Adl))
    action_ids = tuple(draw(st.lists(slugs(), max_size=4, unique=True)))
    return Scenario(
        id=f"{adl}-{draw(st.integers(1, 999)):03}",
        version=draw(st.integers(1, 99)),
        split=draw(st.sampled_from(Split)),
        adl=adl,
        part=draw(st.sampled_from(["upper-body", "lower-body"])) if adl is Adl.dressing else None,
        condition=draw(st.sampled_from(Condition)),
        assistance=draw(st.sampled_from(Assistance)),
        situation=tuple(draw(st.lists(st.sampled_from(Situation), min_size=1, unique=True))),
        person=Person(
            age=draw(st.integers(18, 110)), pronoun=draw(st.sampled_from(["she", "he", "they"]))
        ),
        actor=draw(st.sampled_from(["person", "robot"])),
        role=draw(words()),
        helpers=draw(words()),
        text=draw(words(40)),
        actions=tuple(draw(actions(item_id)) for item_id in action_ids),
        ladder=draw(st.just(()) | ladders(action_ids)),
        status=draw(st.sampled_from(Status)),
        canary=draw(words()),
    )


@st.composite
def probes(draw: DrawFn, scenario: Scenario) -> Probe:
    """One probe with a label for every item of the scenario."""
    return Probe(
        id=draw(slugs()),
        trap=draw(slugs()),
        text=draw(words()),
        labels={item.id: draw(st.booleans()) for item in (*scenario.actions, *scenario.ladder)},
    )


@st.composite
def responses(draw: DrawFn) -> Response:
    """One response in any state."""
    state = draw(st.sampled_from(ResponseState))
    answered = state is ResponseState.answered
    return Response(
        scenario=draw(slugs()),
        epoch=draw(st.integers(1, 10)),
        text=draw(words(40)) if state.has_words else "",
        state=state,
        cut=answered and draw(st.booleans()),
        note="" if answered else draw(words()),
    )


@st.composite
def judgments(draw: DrawFn) -> Judgment:
    """One judgment: present, absent or unresolved."""
    return Judgment(
        item=draw(slugs()),
        present=draw(st.sampled_from([True, False, None])),
        reason=draw(words()),
        quote=draw(st.none() | words()),
    )


def grader_items() -> SearchStrategy[GraderItem]:
    """One line of a grader's list."""
    return st.builds(GraderItem, number=st.integers(1, 99), text=words())
