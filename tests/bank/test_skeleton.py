"""A new scenario's skeleton."""

from __future__ import annotations

import pytest

from bank_folder import BankFolder
from careeval.bank import Problem
from careeval.bank.rules import check
from careeval.bank.skeleton import TO_WRITE, Outline, next_id, write_skeleton
from careeval.core.scenario import Adl, Assistance, Condition, Situation
from careeval.errors import BankError

OUTLINE = Outline(Adl.eating, Condition.ms, Assistance.setup, Situation.routine, 50, "they")


def _codes(problems: list[Problem]) -> set[str]:
    return {problem.code for problem in problems}


@pytest.mark.parametrize("adl", list(Adl))
def test_a_skeleton_checks_clean_but_for_what_is_to_be_written(
    folder: BankFolder, adl: Adl
) -> None:
    """Every problem is a gap that is marked, and every mark is a problem."""
    outline = Outline(adl, Condition.als, Assistance.partial, Situation.family, 30, "she")

    scenario, probes = write_skeleton(folder.load(), folder.root, outline)

    problems = check(folder.load())
    assert _codes(problems) == {"CE122", "CE123"}
    for path in (scenario, probes):
        text = path.read_text(encoding="utf-8")
        marks = text.count(TO_WRITE) + text.count("[to-write]")
        assert sum(problem.place.path == str(path) for problem in problems) == marks


def test_what_is_known_stands_in_it(folder: BankFolder) -> None:
    """The scenario has its outline, and the bank's canary."""
    write_skeleton(folder.load(), folder.root, OUTLINE)
    bank = folder.load()
    scenario = bank.scenario("eating-001")
    assert scenario.condition is Condition.ms
    assert scenario.person is not None
    assert (scenario.person.age, scenario.person.pronoun) == (50, "they")
    assert scenario.canary == bank.about.canary
    assert scenario.part is None


def test_numbers_go_on_after_the_highest(folder: BankFolder) -> None:
    """A number that was left out is not given again: it may have been withdrawn."""
    folder.copy_scenario("dressing-007")
    assert next_id(folder.load(), Adl.dressing) == "dressing-008"
    assert next_id(folder.load(), Adl.eating) == "eating-001"


def test_nothing_is_overwritten(folder: BankFolder) -> None:
    """A file that is there, even one that no scenario was read from, is left alone."""
    (folder.root / "eating").mkdir()
    path = folder.root / "eating" / "eating-001.probes.yaml"
    bank = folder.load()
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(BankError, match="is there already"):
        write_skeleton(bank, folder.root, OUTLINE)
    assert path.read_text(encoding="utf-8") == "mine"
    assert not path.with_name("eating-001.yaml").exists()
