"""Loading a bank: the good one, then each fault at its place, then all of them at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from careeval.bank import Bank, BankProblems, FilePlace, content_hash, load_bank
from careeval.bank.yaml_nodes import parse_yaml
from careeval.core.scenario import Adl, Domain, Scenario
from careeval.errors import BankError
from support.bank_folder import GOOD_BANK, PROBES, SCENARIO, BankFolder
from support.strategies import scenarios, words

# A good bank


def test_good_bank() -> None:
    """A bank has its name, its scenarios, their probes and its sources."""
    bank = load_bank(GOOD_BANK)

    assert (bank.about.name, bank.about.version) == ("test-bank", "1-A")
    (scenario,) = bank.scenarios
    assert (scenario.id, scenario.adl, scenario.person.age) == ("dressing-001", Adl.dressing, 70)
    assert scenario.actions[1].domains == {Domain.user_function: 1, Domain.user_agency: 2}
    assert [rung.id for rung in scenario.ladder] == ["+2", "+1", "0", "-1", "-2"]
    assert len(bank.probes["dressing-001"]) == 5
    assert bank.sources["made-up-guideline"].year == 2020
    assert len(bank) == 1


def test_documents_know_places(folder: BankFolder) -> None:
    """A loaded bank can say where any value of a scenario, its probes or the bank itself stands."""
    documents = folder.load().documents

    place = documents["dressing-001"].place(("person", "pronoun"))
    assert place == folder.place(SCENARIO, "she}")
    place = documents["dressing-001.probes"].place(("probes", 1, "trap"))
    assert place == folder.place(PROBES, "harmful")
    assert documents["bank"].place(("title",)) == folder.place("bank.yaml", "A bank for tests")


def test_scenarios_come_in_the_order_of_ids(folder: BankFolder) -> None:
    """Scenarios are ordered by id, whatever their files are called."""
    folder.copy_scenario("dressing-000", file="dressing-002")

    assert [scenario.id for scenario in folder.load().scenarios] == ["dressing-000", "dressing-001"]


def test_own_bank_by_default() -> None:
    """Without a folder, the bank is careeval's own, with each scenario under its id."""
    bank = load_bank()

    assert bank.about.name == "careeval-open"
    assert all(bank.scenario(scenario.id) is scenario for scenario in bank.scenarios)
    assert [s.id for s in bank.scenarios] == sorted(s.id for s in bank.scenarios)


def test_scenarios_alone_make_a_bank(folder: BankFolder) -> None:
    """A bank without sources, generic answers or probes loads, with none of them."""
    for file in ("sources.yaml", "generic-probes.yaml", PROBES):
        (folder.root / file).unlink()

    bank = folder.load()

    assert (len(bank), bank.sources, bank.probes) == (1, {}, {})


def test_rubrics_may_be_absent(folder: BankFolder) -> None:
    """An imported scenario may have neither rubric: the shape does not ask for one."""
    (folder.root / PROBES).unlink()
    text = (folder.root / SCENARIO).read_text(encoding="utf-8")
    head, tail = text.split("actions:")[0], text[text.index("status:") :]
    (folder.root / SCENARIO).write_text(head + tail, encoding="utf-8")

    (scenario,) = folder.load().scenarios

    assert (scenario.actions, scenario.ladder) == ((), ())


def test_change_is_seen(folder: BankFolder) -> None:
    """A file that was changed after a load is read again."""
    before = folder.load()
    folder.plant(SCENARIO, "age: 70", "age: 71")

    assert folder.load().scenarios[0].person.age == 71
    assert before.scenarios[0].person.age == 70


def test_no_bank(tmp_path: Path) -> None:
    """A folder without bank.yaml is no bank, and the message names the folder."""
    with pytest.raises(BankError, match=r"holds no bank: there is no bank\.yaml") as caught:
        load_bank(tmp_path)

    assert str(tmp_path) in str(caught.value)


@settings(max_examples=50)
@given(scenarios())
def test_any_scenario_reads_back(scenario: Scenario) -> None:
    """Any scenario that is written as JSON, which is YAML, is read back as itself."""
    text = json.dumps(scenario.model_dump(mode="json"), ensure_ascii=False)

    assert Scenario.model_validate(parse_yaml(text, "f.yaml").content) == scenario


# Bank.scenario


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("dressing-01", "did you mean 'dressing-001'?"),
        ("DRESSING", "an id looks like 'dressing-101'"),
    ],
)
def test_unknown_scenario(asked: str, hint: str) -> None:
    """An unknown scenario id gets a hint with the closest id, if one is close."""
    with pytest.raises(BankError, match=f"'test-bank' has no scenario '{asked}'") as caught:
        load_bank(GOOD_BANK).scenario(asked)

    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("dressing-0101", "dressing-101"),
        ("dresing-102", "dressing-102"),
        ("eating-00103", "eating-103"),
    ],
)
def test_the_number_of_an_unknown_scenario_is_kept(asked: str, meant: str) -> None:
    """Of many close ids, the hint names the one with the same number, in any notation."""
    with pytest.raises(BankError) as caught:
        load_bank().scenario(asked)

    assert caught.value.hint == f"did you mean {meant!r}?"


# CE102: the schema

FAULTS = {
    "bad enum": (
        "condition: stroke", "condition: strok", "strok",
        "condition: found 'strok', expected 'stroke', 'cervical-sci'", "did you mean 'stroke'?",
    ),
    "bad enum in a list": (
        "[discomfort]", "[routine, disconfort]", "disconfort",
        "situation[1]: found 'disconfort', expected", "did you mean 'discomfort'?",
    ),
    "bad enum, nothing near": (
        "adl: dressing", "adl: zzz", "zzz", "adl: found 'zzz', expected 'dressing'", "",
    ),
    "bad literal": (
        "pronoun: she", "pronoun: hers", "hers",
        "person.pronoun: found 'hers', expected 'she', 'he' or 'they'", "did you mean 'he'?",
    ),
    "number where a code belongs": (
        'assistance: "03"', "assistance: 3", "3\n",
        "assistance: found '3', expected '06', '05'", "did you mean '03'?",
    ),
    "bad name among names": (
        "user_agency: 2}\n    why: She likes", "user_agensy: 2}\n    why: She likes", "user_agensy",
        "actions[1].domains.user_agensy: found 'user_agensy'", "did you mean 'user_agency'?",
    ),
    "missing": ("adl: dressing\n", "", "id: dressing-001", "adl: is missing", ""),
    "missing inside": ("age: 70, ", "", "{pronoun", "person.age: is missing", ""),
    "missing in a list": (
        "    why: She alone knows.\n", "", "id: asks-where", "actions[2].why: is missing", "",
    ),
    "missing points": (
        "  - points: -1\n    text", "  - text", "text: Tells her that it does not hurt.\n    of",
        "ladder[3].points: is missing", "",
    ),
    "extra": ("role:", "rolle: aide\nrole:", "rolle", "rolle: is not a field of this file", ""),
    "extra inside": ("age: 70", "age: 70, height: 2", "height", "person.height: is not", ""),
    "text for a number": (
        "version: 1", "version: first", "first",
        "version: found 'first', expected a whole number", "",
    ),
    "text for points": (
        "points: 0\n", "points: none\n", "none\n    text",
        "ladder[2].points: found 'none', expected a whole number", "",
    ),
    "text for a list": (
        "[discomfort]", "discomfort", "discomfort",
        "situation: found 'discomfort', expected a list", "",
    ),
    "text for names": (
        "{age: 70, pronoun: she}", "70", "70\nactor",
        "person: found '70', expected names with values", "",
    ),
    "list for text": (
        "role: home-care aide", "role: [aide]", "[aide]", "role: found a list, expected text", "",
    ),
    "nothing for text": (
        "why: She alone knows.", "why:", "\n    sources: [made-up-forum]\n    kind",
        "actions[2].why: found nothing, expected text", "",
    ),
    "out of range": (
        "age: 70", "age: 7", "7,",
        "person.age: Input should be greater than or equal to 18 (found '7')", "",
    ),
    "bad slug": ("id: stops", "id: Stops now", "Stops now", "actions[0].id: ", ""),
}  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "at", "message", "hint"), FAULTS.values(), ids=FAULTS.keys()
)
def test_schema(folder: BankFolder, old: str, new: str, at: str, message: str, hint: str) -> None:
    """A fault of shape is one CE102 problem at its place, with what was found and expected."""
    (problem,) = folder.plant(SCENARIO, old, new).problems()

    assert problem.code == "CE102"
    assert problem.place == folder.place(SCENARIO, at)
    assert message in problem.message
    assert problem.hint == hint


@pytest.mark.parametrize(
    "file", ["bank.yaml", "sources.yaml", "generic-probes.yaml", SCENARIO, PROBES]
)
def test_empty_file(folder: BankFolder, file: str) -> None:
    """An empty file is one CE102 problem that says so."""
    (folder.root / file).write_text("", encoding="utf-8")

    (problem,) = folder.problems()

    assert (problem.code, problem.place) == ("CE102", FilePlace(str(folder.root / file)))
    assert problem.message.startswith("the file: found nothing, expected ")


def test_source_key_is_a_slug(folder: BankFolder) -> None:
    """A source under a name that no action could cite is CE102 at that name."""
    folder.plant("sources.yaml", "made-up-forum:", "Made up forum:")

    (problem,) = folder.problems()

    assert problem.place == folder.place("sources.yaml", "Made up forum")
    assert problem.code == "CE102"


def test_long_value_is_cut(folder: BankFolder) -> None:
    """A wrong value of any length makes a message of one short line."""
    folder.plant(SCENARIO, "adl: dressing", f"adl: {'x' * 9999}")

    (problem,) = folder.problems()

    assert len(problem.message) < 200


# CE103 and CE104: files


def test_duplicate_ids(folder: BankFolder) -> None:
    """An id that two files have is CE103 in the second, which names the first."""
    folder.copy_scenario("dressing-001", file="dressing-002")

    (problem,) = folder.problems()

    assert problem.code == "CE103"
    assert problem.place == folder.place("dressing/dressing-002.yaml", "dressing-001")
    assert problem.message == f"id 'dressing-001' is also that of {folder.root / SCENARIO}"


def test_probes_without_a_scenario(folder: BankFolder) -> None:
    """A probes file that no scenario stands beside is CE104: else nobody would read it."""
    (folder.root / PROBES).rename(folder.root / "dressing/dressing-01.probes.yaml")

    (problem,) = folder.problems()

    assert (problem.code, problem.message) == ("CE104", "there is no dressing-01.yaml beside it")
    assert problem.place == FilePlace(str(folder.root / "dressing/dressing-01.probes.yaml"))


# All at once


def test_all_problems_of_all_files(folder: BankFolder) -> None:
    """Every fault of every file is listed in one go, in the order of files and lines."""
    folder.copy_scenario("dressing-002")
    folder.plant(SCENARIO, "condition: stroke", "condition: strok")
    folder.plant(SCENARIO, "version: 1", "version: one")
    folder.plant(PROBES, "trap: expert", "trick: expert")
    folder.plant("dressing/dressing-002.yaml", "situation: [", "situation: &a [")
    folder.plant("sources.yaml", "tier: C", "tier: D")

    assert [(p.place, p.code) for p in folder.problems()] == [
        (folder.place(PROBES, "trick"), "CE102"),
        (folder.place(SCENARIO, "one"), "CE102"),
        (folder.place(SCENARIO, "strok"), "CE102"),
        (folder.place("dressing/dressing-002.yaml", "&a"), "CE101"),
        (folder.place("sources.yaml", "D\n"), "CE102"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "at"),
    [
        ("title: A bank for tests\n", "", "name"),
        ("rules: careeval\n", "mode: plans\n", "plans"),
        ("rules: careeval\n", "rules: careeval-plans\n", "careeval-plans"),
        ("rules: careeval\n", "rules: careeval\nmode: plan\n", "careeval\n"),
    ],
)
def test_a_mistake_in_the_bank_file_comes_alone(
    folder: BankFolder, old: str, new: str, at: str
) -> None:
    """It says how the other files are read, so that their faults are told when it is mended."""
    folder.plant(SCENARIO, "version: 1", "version: one")
    folder.plant("bank.yaml", old, new)
    assert [(p.place, p.code) for p in folder.problems()] == [
        (folder.place("bank.yaml", at), "CE102")
    ]


def test_one_broken_file_makes_no_others(folder: BankFolder) -> None:
    """A fault in the generic answers is one problem, not one more in each scenario's probes."""
    folder.plant("generic-probes.yaml", "- id: hands-off", "- id: hands-off\n  mood: calm")

    assert [p.place for p in folder.problems()] == [folder.place("generic-probes.yaml", "mood")]


# The hash of the content


def hash_of(bank: Bank) -> str:
    """The hash of all scenarios of a bank."""
    return content_hash(bank.scenarios)


LAYOUTS = {
    "comment": ("id: dressing-001", "# a comment\nid: dressing-001  # another"),
    "order of fields": ("version: 1\nsplit: public\n", "split: public\nversion: 1\n"),
    "order of names": (
        "{user_function: 1, user_agency: 2}",
        "{user_agency: 2, user_function: 1}",
    ),
    "quotes": ("condition: stroke", 'condition: "stroke"'),
    "list in lines": ("situation: [discomfort]", "situation:\n  - discomfort"),
    "id that follows anyway": (
        "  - points: -1\n    text",
        '  - id: "-1"\n    points: -1\n    text',
    ),
    "points with a plus": ("points: 1\n    text: Asks", "points: +1\n    text: Asks"),
}


@pytest.mark.parametrize(("old", "new"), LAYOUTS.values(), ids=LAYOUTS.keys())
def test_hash_ignores_layout(folder: BankFolder, old: str, new: str) -> None:
    """The hash is the same for the same content in another layout."""
    assert hash_of(folder.plant(SCENARIO, old, new).load()) == hash_of(load_bank(GOOD_BANK))


CHANGES = {
    "a word": ("What do you do?", "What do you do now?"),
    "points": ("points: 1\n    text: Leaves", "points: 2\n    text: Leaves"),
    "a level": ("{functional_safety: 2}", "{functional_safety: 1}"),
    "order in a list": ("made-up-guideline, made-up-forum", "made-up-forum, made-up-guideline"),
    "version": ("version: 1", "version: 2"),
}


@pytest.mark.parametrize(("old", "new"), CHANGES.values(), ids=CHANGES.keys())
def test_hash_sees_content(folder: BankFolder, old: str, new: str) -> None:
    """The hash changes with any change of content."""
    assert hash_of(folder.plant(SCENARIO, old, new).load()) != hash_of(load_bank(GOOD_BANK))


@settings(max_examples=20)
@given(st.lists(scenarios(), min_size=2, max_size=2, unique_by=lambda s: s.id))
def test_hash_ignores_order(some: list[Scenario]) -> None:
    """The hash of a set of scenarios does not depend on the order in which they are given."""
    assert content_hash(some) == content_hash(some[::-1])


@settings(max_examples=50)
@given(scenarios(), words())
def test_hash_sees_any_text(scenario: Scenario, text: str) -> None:
    """Two scenarios have one hash if and only if their texts are one, all else equal."""
    other = scenario.model_copy(update={"text": text})

    assert (content_hash([scenario]) == content_hash([other])) == (scenario.text == text)


def test_hash_is_short() -> None:
    """The hash is twelve hex digits, for no scenario as well."""
    for some in ((), load_bank(GOOD_BANK).scenarios):
        assert len(content_hash(some)) == 12
        assert int(content_hash(some), 16) >= 0


def test_probes_are_left_out_where_nobody_needs_them(folder: BankFolder) -> None:
    """A run reads only scenarios, so a broken probes file does not matter."""
    (folder.root / PROBES).write_text("probes: broken", encoding="utf-8")
    bank = load_bank(folder.root, probes=False)
    assert [scenario.id for scenario in bank.scenarios] == ["dressing-001"]
    assert bank.probes == {}
    with pytest.raises(BankProblems):
        load_bank(folder.root)
