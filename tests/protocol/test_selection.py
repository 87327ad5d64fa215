"""Selecting the scenarios and rubrics of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from careeval.bank import Bank, load_bank
from careeval.core.scenario import Rubric, Split
from careeval.errors import BankError, ProtocolError
from careeval.modes.response import RESPONSE
from careeval.protocol.selection import rubric_graded, rubrics_named, select_scenarios, selection_of
from support.fakes import write_bank

IDS = ["bathing-001", "dressing-001", "dressing-002", "dressing-003", "eating-001", "eating-002"]


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Bank:
    """Six scenarios of three activities."""
    return load_bank(write_bank(tmp_path_factory.mktemp("bank"), IDS))


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        ({}, IDS),
        ({"adls": ["eating"]}, IDS[4:]),
        ({"adls": ["eating", "bathing"]}, [IDS[0], *IDS[4:]]),
        ({"ids": ["eating-002", "dressing-001"]}, ["dressing-001", "eating-002"]),
        ({"ids": ["eating-002", "dressing-001"], "adls": ["dressing"]}, ["dressing-001"]),
        ({"limit": 1}, ["dressing-001"]),
        ({"limit": 3}, ["bathing-001", "dressing-001", "eating-001"]),
        ({"limit": 4}, ["bathing-001", "dressing-001", "dressing-002", "eating-001"]),
        ({"limit": 99}, IDS),
    ],
)
def test_what_is_chosen(bank: Bank, asked: dict[str, object], chosen: list[str]) -> None:
    """All filters hold at once, a limit takes the activities in turn, and ids come in order."""
    found = select_scenarios(bank, Split.public, **asked)  # type: ignore[arg-type]
    assert [scenario.id for scenario in found] == chosen


@pytest.mark.parametrize(
    ("asked", "message", "hint"),
    [
        ({"adls": ["dresing"]}, "activity 'dresing' is not known", "did you mean 'dressing'?"),
        (
            {"adls": ["sleep"]},
            "activity 'sleep' is not known",
            "use dressing, grooming, toileting, transferring, eating, bathing",
        ),
        ({"limit": 0}, "the limit must be 1 or more, not 0", "use 1 or more"),
        (
            {"adls": ["grooming"]},
            "bank 'small' has no public scenario of the chosen activities and ids",
            "choose others: 'careeval bank list' shows what there is",
        ),
    ],
)
def test_what_cannot_be_chosen(
    bank: Bank, asked: dict[str, object], message: str, hint: str
) -> None:
    """A name that is not known, and a choice that leaves nothing, are refused with a way out."""
    with pytest.raises(ProtocolError) as caught:
        select_scenarios(bank, Split.public, **asked)  # type: ignore[arg-type]
    assert (str(caught.value), caught.value.hint) == (message, hint)


def test_the_other_split_is_never_taken(bank: Bank) -> None:
    """A bank without held-out scenarios has none to put, whatever is asked for."""
    with pytest.raises(ProtocolError, match="has no held-out scenario"):
        select_scenarios(bank, Split.held_out)


def test_an_unknown_id_names_the_nearest(bank: Bank) -> None:
    """An id that is not in the bank is refused with the one that was meant."""
    with pytest.raises(BankError) as caught:
        select_scenarios(bank, Split.public, ids=["eating-01"])
    assert caught.value.hint == "did you mean 'eating-001'?"


def test_a_task(tmp_path: Path) -> None:
    """The arguments of a task select, given as lists, as one text or not at all."""
    folder = write_bank(tmp_path, IDS)
    chosen = selection_of({"bank": str(folder), "scenario": "eating-001, dressing-001"})
    assert [scenario.id for scenario in chosen.scenarios] == ["dressing-001", "eating-001"]
    assert (chosen.asked, chosen.rubric) == (chosen.scenarios, Rubric.actions)
    task = {"bank": str(folder), "split": None, "adl": None, "limit": 3, "rubric": "ladder"}
    chosen = selection_of(task | {"part": ["eating-001"], "max_tokens": 5})
    assert [scenario.id for scenario in chosen.scenarios] == [IDS[0], IDS[1], IDS[4]]
    assert [scenario.id for scenario in chosen.asked] == ["eating-001"]
    assert chosen.rubric == Rubric.ladder
    with pytest.raises(ProtocolError, match="'part' names 'eating-002', which is not among"):
        selection_of(task | {"part": ["eating-002"]})
    with pytest.raises(ProtocolError, match="split 'secret' is not known"):
        selection_of(task | {"split": "secret"})


def test_rubrics() -> None:
    """Both rubrics go by one name, each by its own, and no other name is one."""
    assert rubrics_named("both") == [Rubric.ladder, Rubric.actions]
    assert rubrics_named("ladder") == [Rubric.ladder]
    assert rubrics_named("actions") == [Rubric.actions]
    with pytest.raises(ProtocolError, match="rubric 'rungs' is not known"):
        rubrics_named("rungs")


def test_a_grading_judges_the_actions_unless_there_are_none(tmp_path: Path) -> None:
    """Without a rubric named, actions; the ladder where no scenario has actions."""
    both = load_bank(write_bank(tmp_path / "both")).scenarios
    rungs = [scenario.model_copy(update={"actions": ()}) for scenario in both]
    acts = [scenario.model_copy(update={"ladder": ()}) for scenario in both]
    assert rubric_graded(None, both, RESPONSE) == Rubric.actions
    assert rubric_graded("ladder", both, RESPONSE) == Rubric.ladder
    assert rubric_graded(None, rungs, RESPONSE) == Rubric.ladder
    assert rubric_graded(None, [rungs[0], both[1]], RESPONSE) == Rubric.actions
    bare = [scenario.model_copy(update={"actions": ()}) for scenario in acts]
    # responses may be stored ungraded
    assert rubric_graded(None, bare, RESPONSE) == Rubric.ladder
    with pytest.raises(ProtocolError, match="has the rubric actions") as caught:
        rubric_graded("actions", rungs, RESPONSE)
    assert caught.value.hint == "use --rubric ladder"
    with pytest.raises(ProtocolError, match="has the rubric ladder"):
        rubric_graded("ladder", acts, RESPONSE)


def test_a_grading_judges_one_rubric(tmp_path: Path) -> None:
    """Both rubrics in a grading are refused, with the way to get them."""
    scenarios = load_bank(write_bank(tmp_path)).scenarios
    with pytest.raises(ProtocolError, match="judges one rubric, not both") as caught:
        rubric_graded("both", scenarios, RESPONSE)
    assert "careeval grade RUN --rubric ladder" in caught.value.hint
