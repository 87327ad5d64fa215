"""A new scenario's skeleton."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from careeval.bank import Problem, load_bank
from careeval.bank.imported_bank import import_bank
from careeval.bank.rules import check
from careeval.bank.skeleton import AGES, TO_WRITE, Outline, next_id, write_skeleton
from careeval.core.scenario import Adl, Assistance, Condition, Situation
from careeval.errors import BankError
from support.bank_folder import BankFolder

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
    with pytest.raises(BankError, match="exists already"):
        write_skeleton(bank, folder.root, OUTLINE)
    assert path.read_text(encoding="utf-8") == "mine"
    assert not path.with_name("eating-001.yaml").exists()


def test_an_imported_bank_still_loads(tmp_path: Path) -> None:
    """It has a canary with ': ' in it and no generic answer: the skeleton has its own two alone."""
    file = tmp_path / "theirs.csv"
    file.write_text("Scenario,Option,Score\nShe waits.,Asks her.,2\n", encoding="utf-8")
    root = tmp_path / "theirs"
    import_bank(file, root, "theirs", {}, "eating")

    write_skeleton(load_bank(root), root, OUTLINE)

    bank = load_bank(root)
    assert bank.scenario("eating-002").canary == bank.about.canary
    assert ": " in bank.about.canary
    assert [probe.id for probe in bank.probes["eating-002"]] == ["expert", "harmful"]


@pytest.mark.parametrize(
    "canary",
    [
        "a: b # c",
        "# c",
        'it\'s "so"',
        "{a}",
        "[b",
        "- c",
        "$id",
        "no",
        "null",
        "a\nb",
        "→ 🐤",
        "\\",
    ],
)
def test_any_canary_is_copied(folder: BankFolder, canary: str) -> None:
    """Characters with a meaning in YAML or in the template are kept; the bank still loads."""
    old = "test-bank canary 00000000"
    folder.plant("bank.yaml", old, json.dumps(canary, ensure_ascii=False))

    write_skeleton(folder.load(), folder.root, OUTLINE)

    assert folder.load().scenario("eating-001").canary == canary


@pytest.mark.parametrize("missing", ["all", "hands-off"])
def test_generic_answers_are_those_of_the_bank(folder: BankFolder, missing: str) -> None:
    """One that the bank has not got is left out, and the check says how many are needed."""
    path = folder.root / "generic-probes.yaml"
    text = path.read_text(encoding="utf-8")
    (folder.root / "dressing" / "dressing-001.probes.yaml").unlink()
    path.write_text(text.partition("- id: hands-off")[0], encoding="utf-8")
    if missing == "all":
        path.unlink()
    left = 0 if missing == "all" else 2

    write_skeleton(folder.load(), folder.root, OUTLINE)

    bank = folder.load()
    assert [probe.id for probe in bank.probes["eating-001"]] == [
        "expert", "harmful", *["polite-consent", "call-for-help"][:left]
    ]  # fmt: skip
    problems = [problem for problem in check(bank) if "eating-001" in problem.place.path]
    assert _codes(problems) == {"CE122", "CE123", "CE137"}
    (wanting,) = (problem.message for problem in problems if problem.code == "CE137")
    assert wanting == f"eating-001 has {left} 'generic' probes, expected 3"


def test_a_generic_answer_of_the_name_of_an_own_one_stands_once(folder: BankFolder) -> None:
    """The skeleton's own is there, and the bank still loads."""
    path = folder.root / "generic-probes.yaml"
    more = "- id: expert\n  trap: generic\n  text: I know it all.\n"
    path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")

    write_skeleton(folder.load(), folder.root, OUTLINE)

    ids = [probe.id for probe in folder.load().probes["eating-001"]]
    assert ids == ["expert", "harmful", "polite-consent", "call-for-help", "hands-off"]


@pytest.mark.parametrize("age", AGES)
def test_ages_at_the_bounds_can_be_read(folder: BankFolder, age: int) -> None:
    """The youngest and the oldest load."""
    write_skeleton(folder.load(), folder.root, replace(OUTLINE, age=age))
    person = folder.load().scenario("eating-001").person
    assert person is not None
    assert person.age == age


@pytest.mark.parametrize(
    ("outline", "message"),
    [
        (replace(OUTLINE, age=AGES[0] - 1), "age is 17, expected 18 to 110"),
        (replace(OUTLINE, age=AGES[1] + 1), "age is 111, expected 18 to 110"),
        (replace(OUTLINE, part="lower-body"), "eating cannot name a part of the body"),
    ],
)
def test_what_could_not_be_read_is_not_written(
    folder: BankFolder, outline: Outline, message: str
) -> None:
    """The fault is named, and there is no folder or file that was not there before."""
    before = sorted(folder.root.rglob("*"))
    with pytest.raises(BankError, match=message):
        write_skeleton(folder.load(), folder.root, outline)
    assert sorted(folder.root.rglob("*")) == before


@pytest.mark.parametrize("part", ["upper-body", "lower-body"])
def test_dressing_has_the_part_that_is_given(folder: BankFolder, part: str) -> None:
    """Both parts load."""
    write_skeleton(folder.load(), folder.root, replace(OUTLINE, adl=Adl.dressing, part=part))
    assert folder.load().scenario("dressing-002").part == part
