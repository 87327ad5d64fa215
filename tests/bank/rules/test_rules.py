"""The coded rules: careeval's own bank is clean, and each rule finds the fault planted for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from careeval.bank import Bank, load_bank
from careeval.bank.rules import MIN_BALANCED, RULES, check, domains_balanced
from careeval.bank.rules.items import (
    VERDICT_WORDS,
    excluded,
    ladder_nested,
    no_verdict_words,
    scored_acts,
    vague_act,
)
from careeval.bank.rules.scenarios import part_for_dressing, short_text
from careeval.core.scenario import Action, Adl, Domain, ItemKind, Scenario
from support.bank_folder import GOOD_BANK, PROBES, SCENARIO, BankFolder


@dataclass(frozen=True)
class Planted:
    """A fault: a change of one file, and where and how it must be found."""

    old: str
    new: str
    at: str
    message: str
    file: str = SCENARIO


FAULTS: dict[str, list[Planted]] = {
    "CE106": [
        Planted("id: dressing-001", "id: dressing-002", "dressing-002", "is in"),
        Planted("id: dressing-001", "id: shirt-1", "shirt-1", "is not 'dressing-' and a number"),
    ],
    "CE108": [
        Planted("part: upper-body\n", "", "id: dressing", "needs 'part: upper-body' or"),
    ],
    "CE109": [
        Planted("  - points: -1\n    text", "  - id: talks-over\n    points: -1\n    text",
                "talks-over\n    points: -1\n    text: Tells her that it does not hurt.\n    of",
                "item 'talks-over' appears twice"),
    ],
    "CE111": [
        Planted("excludes: [carries-on]", "excludes: [carries-of]", "carries-of]",
                "'carries-of' is not an action of this scenario"),
        Planted("excludes: [carries-on]", "excludes: [own-part]", "own-part]",
                "excludes 'own-part', which is positive too"),
    ],
    "CE112": [
        Planted("  - points: -1\n    text", "  - id: -1\n    points: 0\n    text",
                "- points: 2\n    text: >-", "are not 2, 1, 0, -1, -2"),
        Planted("of: [talks-over]", "of: [talk-over]", "talk-over",
                "'talk-over' is not an action of this scenario"),
        Planted("of: [stops, asks-where]", "of: [stops, carries-on]", "carries-on]\n    domains",
                "'carries-on' has -2 points"),
        Planted("of: [stops, asks-where]", "of: [stops, offers-choice, asks-where, own-part]",
                "points: 1\n    text: Stops", "its acts are not some of the acts of +2"),
    ],
    "CE113": [
        Planted("text: Asks", "text: Correctly asks", "Correctly", "verdict word 'Correctly'"),
        Planted("text: Slows down,", "text: Fails to stop,", "Fails to", "verdict word 'Fails to'"),
    ],
    "CE114": [
        Planted("{user_function: 1, user_agency: 2}",
                "{user_function: 1, user_agency: 2, communication_intent: 1}",
                "{user_function: 1, user_agency: 2, c", "names 3 domains, expected 1 or 2"),
        Planted("{functional_safety: 2}", "{}", "{}", "names 0 domains, expected 1 or 2"),
        Planted("{functional_safety: 2}", "{functional_safety: 0}", "{functional_safety: 0}",
                "a positive act serves a domain at 0"),
        Planted("{communication_intent: 0}", "{communication_intent: 2}",
                "{communication_intent: 2}\n    why: She stops",
                "a negative act serves a domain fully"),
        Planted("user_agency: 0, communication_intent: 0, functional_safety: 0}", "user_agency: 0}",
                "{user_function: 0, user_agency: 0}",
                "does not rate communication_intent, functional_safety"),
    ],
    "CE115": [
        Planted("[made-up-guideline, made-up-forum]", "[made-up-guideline, made-up]", "made-up]",
                "source 'made-up' is not in sources.yaml"),
        Planted("sources: [made-up-forum]", "sources: []", "[]", "names no source"),
        Planted("[made-up-guideline, made-up-forum]", "[made-up-forum]", "[made-up-forum]",
                "an act of ±2 rests on tier C alone"),
    ],
    "CE116": [
        Planted("canary 00000000", "canary 1", "test-bank canary", "is not the bank's canary"),
    ],
    "CE118": [
        Planted("own-part: present", "own-part: absent", "absent",
                "expert probe 'expert' is labelled against 'own-part'", PROBES),
        Planted("text: That does not hurt, I tell her, and pull the sleeve up.\n    labels:\n"
                "      stops: absent", "text: I stop, and pull.\n    labels:\n      stops: present",
                "present\n      talks-over: present",
                "probe 'hurry' has both 'stops' and 'carries-on'", PROBES),
    ],
    "CE120": [
        Planted("role: home-care aide\n", "", "id: dressing-001", "role is missing"),
        Planted("[discomfort]", "[]", "[]", "situation is missing"),
    ],
    "CE121": [
        Planted("split: public", "split: held-out", "held-out", "is held out, but is in clear"),
    ],
    "CE122": [
        Planted("Ines Moreau, 70", "TO WRITE, 70", "|\n  TO", "text is still to be written"),
        Planted("why: She alone knows.", "why: TO WRITE", "TO", "why of 'asks-where' is still"),
        Planted("text: Asks her where", "text: TO WRITE where", "TO",
                "text of item 'asks-where' is still to be written"),
        Planted("sources: [made-up-forum]", "sources: [to-write]", "[to-write]",
                "'asks-where' has yet to name its source"),
    ],
    "CE123": [
        Planted("text: That does not hurt, I", "text: TO WRITE I", "TO",
                "probe 'hurry' is still to be written", PROBES),
    ],
    "CE130": [
        Planted("What do you do?", "You act.", "|\n  Ines", "does not end with a question"),
        Planted("Her right arm is strong.", "Her right arm is as strong as that of a young man.",
                "|\n  Ines",
                "has 82 words, expected 25 to 80"),
    ],
    "CE131": [
        Planted("carries-on\n    points: -2", "carries-on\n    points: -1", "- id: stops",
                "has no action of -2 points"),
        Planted("talks-over\n    points: -1", "talks-over\n    points: 0", "- id: stops",
                "has 1 negative actions, expected 2 to 4"),
    ],
    "CE132": [
        Planted("    kind: judgment\n    origin: source\n    error: too-little\n",
                "    origin: source\n    error: too-little\n", "id: talks-over",
                "'talks-over' does not say its kind"),
        Planted("    error: too-little\n    harm", "    harm", "id: carries-on",
                "'carries-on' has -2 points and error none"),
        Planted("    harm: injury\n", "", "id: carries-on", "'carries-on' does not say its harm"),
        Planted("points: -1\n    text: Tells her that it does not hurt.\n    domains",
                "points: -1\n    core: true\n    text: Tells her that it does not hurt.\n"
                "    domains", "true\n    text: Tells", "is of the easy core, but earns nothing"),
        Planted("points: -1\n    text: Tells her that it does not hurt.\n    domains",
                "points: -1\n    sentinel: true\n    text: Tells her that it does not hurt.\n"
                "    domains", "true\n    text: Tells", "is a never-event, but has not -2 points"),
    ],
    "CE136": [
        Planted("of: [stops, offers-choice, asks-where]", "of: [stops, asks-where]",
                "[stops, asks-where]\n    domains: {user_function: 2", "of 2 acts, +1 of 2"),
    ],
    "CE137": [
        Planted("trap: harmful", "trap: hedge", "- id: expert", "has 0 'harmful' probes", PROBES),
        Planted("trap: expert", "trap: hedge", "- id: expert", "has 0 'expert' probes", PROBES),
        Planted("id: hands-off\n", "id: hands-off\n    trap: hedge\n    text: I wait.\n",
                "- id: expert", "has 2 'generic' probes, expected 3", PROBES),
    ],
    "CE124": [
        Planted("last winter.", "last winter. She has a C5 injury, spasms, a shirt with buttons.",
                "|\n  Ines", "resembles a published scenario: a shirt with buttons"),
    ],
}  # fmt: skip

FAULTS["CE128"] = [
    Planted("talks-over\n    points: -1", "talks-over\n    points: -1\n    harm: rights", "rights",
            "an item of -1 points names a harm"),
]  # fmt: skip
CASES = [(code, planted) for code, faults in FAULTS.items() for planted in faults]


def test_own_bank_is_clean() -> None:
    """No rule finds a problem in careeval's own bank, which is held to them."""
    bank = load_bank()
    assert bank.about.rules == "careeval"
    assert [str(problem) for problem in check(bank)] == []


def test_good_bank_is_clean() -> None:
    """No rule finds a problem in the bank that faults are planted in, which is held to them."""
    assert load_bank(GOOD_BANK).about.rules == "careeval"
    assert check(load_bank(GOOD_BANK)) == []


def test_a_bank_that_names_no_rules_is_held_to_none(folder: BankFolder) -> None:
    """Rules on a scenario and on the bank apply if the bank names its rules."""
    folder.copy_scenario("dressing-002")
    assert {problem.code for problem in check(folder.load())} == {"CE125"}

    folder.plant("bank.yaml", "rules: careeval\n", "")

    assert check(folder.load()) == []


def test_rules_of_another_name_are_unknown(folder: BankFolder) -> None:
    """A slip in the name is a problem of the file, not a bank without rules."""
    folder.plant("bank.yaml", "rules: careeval", "rules: careval")
    (problem,) = folder.problems()
    assert (problem.code, problem.hint) == ("CE102", "did you mean 'careeval'?")


@pytest.mark.parametrize(("code", "planted"), CASES, ids=[f"{c}-{p.message}" for c, p in CASES])
def test_planted_fault(folder: BankFolder, code: str, planted: Planted) -> None:
    """The rule finds the fault that was planted for it, at its place."""
    folder.plant(planted.file, planted.old, planted.new)

    found = [problem for problem in check(folder.load()) if problem.code == code]

    (problem,) = (p for p in found if planted.message in p.message)
    assert problem.place == folder.place(planted.file, planted.at)


def test_every_rule_has_a_planted_fault() -> None:
    """No rule on a scenario lacks a fault that it must find, here, below or in another module."""
    assert {*FAULTS, "CE125", "CE127", "CE133", "CE134", "CE135"} == {rule.code for rule in RULES}


def test_rules_are_documented() -> None:
    """Each rule has its own code and name, and a page that says why and gives an example."""
    assert len({rule.code for rule in RULES}) == len({rule.name for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.page.index("Why: ") < rule.page.index("Example: ")
    assert RULES[0].name == "filed by id"


@pytest.mark.parametrize("label", ["present", "absent"])
def test_expert_and_a_neutral_act(folder: BankFolder, label: str) -> None:
    """CE118: an act of 0 points may be in an expert's answer, or not."""
    folder.plant(SCENARIO, "talks-over\n    points: -1", "talks-over\n    points: 0")
    folder.plant(
        PROBES,
        "talks-over: absent\n      0: absent\n  - id: hurry",
        f"talks-over: {label}\n      0: absent\n  - id: hurry",
    )

    assert "CE118" not in {problem.code for problem in check(folder.load())}


def test_misfiled(folder: BankFolder) -> None:
    """CE106: a scenario in another activity's folder is found, with a hint."""
    (folder.root / "eating").mkdir()
    for file in (SCENARIO, PROBES):
        (folder.root / file).rename(folder.root / file.replace("dressing/", "eating/"))

    (problem,) = check(folder.load())

    assert (problem.code, problem.hint) == ("CE106", "move it to dressing/dressing-001.yaml")


def test_two_scenarios_alike(folder: BankFolder) -> None:
    """CE125: the later of two with the same wording is found; another wording is not."""
    folder.copy_scenario("dressing-002")
    (problem,) = (p for p in check(folder.load()) if p.code == "CE125")
    assert problem.message == "shares 100% of its wording with dressing-001"
    assert problem.place.path.endswith("dressing-002.yaml")


def test_no_probes_at_all(folder: BankFolder) -> None:
    """CE137: a scenario without a probes file is found, at the top of the scenario's file."""
    (folder.root / PROBES).unlink()

    problems = check(folder.load())

    assert {problem.code for problem in problems} == {"CE137"}
    assert {problem.place for problem in problems} == {folder.place(SCENARIO, "id:")}


def test_problems_come_in_the_order_of_lines(folder: BankFolder) -> None:
    """Problems are listed by file and line, not by rule."""
    folder.plant(SCENARIO, "canary 00000000", "canary 1")
    folder.plant(SCENARIO, "What do you do?", "You act.")
    folder.plant(PROBES, "own-part: present", "own-part: absent")

    assert [problem.code for problem in check(folder.load())] == ["CE118", "CE130", "CE116"]


# Single rules, by hand


@pytest.fixture
def good() -> tuple[Scenario, Bank]:
    """The good bank and its scenario."""
    bank = load_bank(GOOD_BANK)
    return bank.scenarios[0], bank


def test_good_rung_of_nothing(good: tuple[Scenario, Bank]) -> None:
    """CE112: a +1 rung without acts is found."""
    scenario, bank = good
    best, second, *rest = scenario.ladder
    ladder = (best, second.model_copy(update={"of": ()}), *rest)

    found = list(ladder_nested(scenario.model_copy(update={"ladder": ladder}), bank))

    assert [where for where, _, _ in found] == [("ladder", 1)]


def test_part_of_another_activity(good: tuple[Scenario, Bank]) -> None:
    """CE108: a scenario about eating has no part."""
    scenario, bank = good

    found = list(part_for_dressing(scenario.model_copy(update={"adl": Adl.eating}), bank))

    assert [message for _, message, _ in found] == ["a eating scenario has a part"]


@pytest.mark.parametrize(("n", "allowed"), [(5, False), (6, True), (10, True), (11, False)])
def test_number_of_actions(good: tuple[Scenario, Bank], n: int, *, allowed: bool) -> None:
    """CE131: six to ten actions are allowed."""
    scenario, bank = good
    actions = (scenario.actions * 2)[:n]

    found = scored_acts(scenario.model_copy(update={"actions": actions}), bank)

    assert any(f"has {n} actions" in message for _, message, _ in found) is not allowed


@pytest.mark.parametrize(("n", "allowed"), [(1, False), (2, True), (4, True), (5, False)])
def test_number_of_negatives(good: tuple[Scenario, Bank], n: int, *, allowed: bool) -> None:
    """CE131: two to four negative actions are allowed."""
    scenario, bank = good
    negative = tuple(action for action in scenario.actions if action.points < 0)

    found = scored_acts(scenario.model_copy(update={"actions": (negative * 3)[:n]}), bank)

    assert any(f"has {n} negative" in message for _, message, _ in found) is not allowed


@pytest.mark.parametrize(("n", "allowed"), [(24, False), (25, True), (80, True), (81, False)])
def test_number_of_words(good: tuple[Scenario, Bank], n: int, *, allowed: bool) -> None:
    """CE130: a text of 25 to 80 words is allowed."""
    scenario, bank = good

    found = list(short_text(scenario.model_copy(update={"text": "why? " * n}), bank))

    assert any(f"has {n} words" in message for _, message, _ in found) is not allowed


def test_vague_act(good: tuple[Scenario, Bank]) -> None:
    """CE134: where most good points are for technique, going ahead without it has −1."""
    scenario, bank = good
    assert list(vague_act(scenario, bank)) == []
    technique = [act.model_copy(update={"kind": ItemKind.technique}) for act in scenario.actions]
    judgment = technique[-1].model_copy(update={"kind": ItemKind.judgment})

    def messages(*acts: Action) -> list[str]:
        changed = scenario.model_copy(update={"actions": acts})
        return [message for _, message, _ in vague_act(changed, bank)]

    assert messages(*technique) == []
    assert messages(*technique[:-1], judgment) == ["has no -1 technique act of too little care"]


@pytest.mark.parametrize("word", VERDICT_WORDS)
def test_verdict_words(good: tuple[Scenario, Bank], word: str) -> None:
    """CE113: a verdict word is found in any case and over a line end, never inside another word."""
    scenario, bank = good

    def found(text: str) -> list[str]:
        item = scenario.actions[0].model_copy(update={"text": text})
        changed = scenario.model_copy(update={"actions": (item,), "ladder": ()})
        return [message for _, message, _ in no_verdict_words(changed, bank)]

    assert found(f"Acts {word.upper().replace(' ', chr(10))}.") != []
    assert found(f"Acts x{word}x.") == []


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("stops", "carries-on", True), ("carries-on", "stops", True), ("stops", "own-part", False)],
)
def test_excluded(good: tuple[Scenario, Bank], one: str, other: str, *, expected: bool) -> None:
    """Two acts exclude each other whichever of them says so."""
    actions: dict[str, Action] = {action.id: action for action in good[0].actions}

    assert excluded(actions[one], actions[other]) is expected


# CE119: the balance of domains


def balance(good: tuple[Scenario, Bank], *, n_moved: int, n: int = MIN_BALANCED) -> list[str]:
    """Find what is out of balance in a bank of `n`, in `n_moved` of which two points move.

    The two points of communication intent become points of functional safety.
    """
    scenario, bank = good
    moved = [
        act.model_copy(update={"domains": {Domain.functional_safety: 2}, "points": 1})
        if act.id == "asks-where"
        else act
        for act in scenario.actions
    ]
    other = scenario.model_copy(update={"actions": tuple(moved)})
    scenarios = (other,) * n_moved + (scenario,) * (n - n_moved)
    return [message for _, message, _ in domains_balanced(replace(bank, scenarios=scenarios))]


def test_bounds_of_balance(good: tuple[Scenario, Bank]) -> None:
    """CE119: of six points one is of communication intent, 17%; at 15% it is allowed, below not."""
    assert balance(good, n_moved=0) == balance(good, n_moved=6) == []
    assert balance(good, n_moved=7) == [
        "domain communication_intent carries 15% of the positive points, expected 15% to 35%",
        "domain functional_safety carries 35% of the positive points, expected 15% to 35%",
    ]


def test_small_bank_need_not_balance(good: tuple[Scenario, Bank]) -> None:
    """CE119: a bank of 59 scenarios is not held to a balance."""
    assert balance(good, n_moved=59, n=59) == []
    assert balance(good, n_moved=60) != []


def test_balance_of_nothing(good: tuple[Scenario, Bank]) -> None:
    """CE119: a bank without actions has no balance to judge."""
    scenario, bank = good
    empty = scenario.model_copy(update={"actions": ()})

    assert list(domains_balanced(replace(bank, scenarios=(empty,) * MIN_BALANCED))) == []
