"""The coded rules: careeval's own bank is clean, and each rule finds the fault planted for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from careeval.bank import Bank, Problem, load_bank
from careeval.bank.load import bank_folder
from careeval.bank.rules.check import check
from careeval.bank.rules.items import (
    VERDICT_WORDS,
    action_points,
    excluded,
    ladder_nested,
    no_verdict_words,
)
from careeval.bank.rules.rule_sets import MIN_BANK, RULES, domains_balanced
from careeval.bank.rules.scenarios import part_for_dressing, text_is_a_question
from careeval.core.scenario import Action, Adl, Scenario
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
        Planted("id: dressing-001", "id: dressing-002", "dressing-002", "stands in"),
        Planted("id: dressing-001", "id: shirt-1", "shirt-1", "is not 'dressing-' and a number"),
    ],
    "CE107": [
        Planted("What do you do?", "You act.", "|\n  Ines", "does not end with a question"),
        Planted("She sits on a firm chair beside her bed, feet flat,\n  and likes to choose what"
                " she wears.\n\n  You are her home-care aide, alone with her. ", "",
                "|\n  Ines", "words, expected 60 to 140"),
    ],
    "CE108": [
        Planted("part: upper-body\n", "", "id: dressing", "needs 'part: upper-body' or"),
    ],
    "CE109": [
        Planted("  - points: -1\n    text", "  - id: talks-over\n    points: -1\n    text",
                "talks-over\n    points: -1\n    text: Tells her that it does not hurt.\n    of",
                "item 'talks-over' stands twice"),
    ],
    "CE110": [
        Planted("points: 1\n    text: Asks", "points: 2\n    text: Asks", "- id: stops",
                "positive points sum to 7, expected 6"),
        Planted("carries-on\n    points: -2", "carries-on\n    points: -1", "- id: stops",
                "has no action of -2 points"),
        Planted("talks-over\n    points: -1", "talks-over\n    points: 0", "- id: stops",
                "has 1 negative actions, expected 2 to 4"),
    ],
    "CE111": [
        Planted("excludes: [carries-on]", "excludes: [carries-of]", "carries-of]",
                "'carries-of' is no action of this scenario"),
        Planted("excludes: [carries-on]", "excludes: [own-part]", "own-part]",
                "excludes 'own-part', which is positive too"),
    ],
    "CE112": [
        Planted("  - points: -1\n    text", "  - id: -1\n    points: 0\n    text",
                "- points: 2\n    text: >-", "are not 2, 1, 0, -1, -2"),
        Planted("of: [talks-over]", "of: [talk-over]", "talk-over",
                "'talk-over' is no action of this scenario"),
        Planted("of: [stops, asks-where]", "of: [stops, carries-on]", "carries-on]\n    domains",
                "'carries-on' has -2 points"),
        Planted("of: [stops, asks-where]", "of: [stops, offers-choice, asks-where, own-part]",
                "points: 1\n    text: Stops", "is not a part of what +2 is made of"),
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
                "a positive act that serves a domain at 0"),
        Planted("{communication_intent: 0}", "{communication_intent: 2}",
                "{communication_intent: 2}\n    why: She stops",
                "a negative act that serves a domain fully"),
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
    "CE117": [
        Planted("trap: harmful", "trap: hedge", "- id: expert", "has 0 'harmful' probes", PROBES),
        Planted("trap: expert", "trap: hedge", "- id: expert", "has 0 'expert' probes", PROBES),
        Planted("trap: harmful", "trap: generic", "- id: expert", "has 1 probes of its", PROBES),
        Planted("id: hands-off\n", "id: hands-off\n    trap: hedge\n    text: I wait.\n",
                "- id: expert", "has 2 'generic' probes, expected 3", PROBES),
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
        Planted("role: home-care aide\n", "", "id: dressing-001", "role is not there"),
        Planted("[discomfort]", "[]", "[]", "situation is not there"),
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
    "CE124": [
        Planted("last winter.", "last winter. She has a C5 injury, spasms, a shirt with buttons.",
                "|\n  Ines", "comes near to a published scenario: a shirt with buttons"),
    ],
}  # fmt: skip

ENOUGH = (
    "evidence: [{study: Made up, round: 1, version: 1, raters: {occupational-therapist: 3,"
    " roboticist: 2}, realism: 4/5, validity: 5/5, objections: 0, rejected: []}]"
)
"""What the least panel that validates has found."""


def vetted(old: str = "", new: str = "") -> str:
    """A validated scenario's lines, with one change of the least evidence that is enough."""
    assert not old or ENOUGH.count(old) == 1
    return f"status: validated\n{ENOUGH.replace(old, new) if old else ENOUGH}\n"


FAULTS["CE128"] = [
    Planted("talks-over\n    points: -1", "talks-over\n    points: -1\n    harm: rights", "rights",
            "an item of -1 points names a harm"),
]  # fmt: skip
FAULTS["CE127"] = [
    Planted("status: drafted\n", new, at, message)
    for new, at, message in [
        ("status: validated\n", "validated", "has no evidence of it"),
        ("status: validated\nevidence: []\n", "validated", "has no evidence of it"),
        (vetted("version: 1", "version: 2"), "validated", "raters saw version 2, not 1"),
        (vetted("therapist: 3", "therapist: 2"), "{study", "enough: 2 of 3 occupational therap"),
        (vetted("roboticist: 2", "roboticist: 1"), "{study", "enough: 1 of 2 other stakeholders"),
        (vetted("roboticist: 2", "friend: 2"), "{study", "enough: 0 of 2 other stakeholders"),
        (vetted("realism: 4/5", "realism: 3/5"), "{study",
         "enough: realism: 3 of 5 gave 4 or 5; 4 were needed"),
        (vetted("validity: 5/5", "validity: 7/9"), "{study",
         "enough: validity: 7 of 9 gave 4 or 5; 8 were needed"),
        (vetted("validity: 5/5", "validity: 4/4"), "{study",
         "enough: validity: only 4 rated it, but 5 are said to have rated both scales"),
        (vetted("validity: 5/5", "validity: 9/5"), "{study",
         "enough: validity: 9 of 5 raters endorse it, but the number must be 0 to 5"),
        (vetted("objections: 0", "objections: 1"), "{study",
         "enough: 1 open objection to an item of −2 points"),
        (vetted("objections: 0", "objections: null"), "{study",
         "enough: too few gave a view of the points of its −2 items"),
        (vetted(", objections: 0", ""), "{study",
         "enough: too few gave a view of the points of its −2 items"),
        (vetted("rejected: []", "rejected: [actions/waits]"), "{study",
         "enough: raters reject 1 item: actions/waits"),
        (vetted(", rejected: []", ""), "{study",
         "enough: fewer than three rated the relevance of some item"),
    ]
]  # fmt: skip

CASES = [(code, planted) for code, faults in FAULTS.items() for planted in faults]


@pytest.mark.parametrize(("name", "rules"), [("2", "careeval"), ("4", "careeval-3")])
def test_own_banks_are_clean(name: str, rules: str) -> None:
    """No rule finds a problem in careeval's own banks, which are held to them."""
    bank = load_bank(bank_folder(name))
    assert bank.about.rules == rules
    assert [str(problem) for problem in check(bank)] == []


def test_good_bank_is_clean() -> None:
    """No rule finds a problem in the bank that faults are planted in, which is held to them."""
    assert load_bank(GOOD_BANK).about.rules == "careeval"
    assert check(load_bank(GOOD_BANK)) == []


def test_a_bank_that_names_no_rules_is_held_to_none(folder: BankFolder) -> None:
    """Rules on a scenario and on the bank apply if the bank names its rules."""
    unbalance(ten(folder), [f"dressing/dressing-{n:03}.yaml" for n in range(1, MIN_BANK + 1)])
    assert {"CE119", "CE125"} <= {problem.code for problem in check(folder.load())}

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
    """No rule over a scenario is without a fault that it must find."""
    assert {*FAULTS, "CE125"} == {rule.code for rule in RULES}


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


def test_enough_evidence(folder: BankFolder) -> None:
    """CE127: the least panel that validates is enough, whatever others find short of objecting."""
    folder.plant(SCENARIO, "status: drafted\n", vetted())
    assert check(folder.load()) == []
    failed = ENOUGH.removeprefix("evidence: [").removesuffix("]").replace("4/5", "1/5")
    folder.plant(SCENARIO, "evidence: [", f"evidence: [{failed}, ")
    assert check(folder.load()) == []
    folder.plant(SCENARIO, "rejected: []}]", f"rejected: []}}, {failed}]")
    assert check(folder.load()) == []


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("version", [1, 2])
def test_an_objection_is_open_in_any_study(folder: BankFolder, place: str, version: int) -> None:
    """CE127: one study's objection to the version is found, wherever another that is enough is."""
    enough = ENOUGH.removeprefix("evidence: [").removesuffix("]")
    against = enough.replace("objections: 0", "objections: 2")
    against = against.replace("version: 1", f"version: {version}")
    both = [against, enough] if place == "before" else [enough, against]
    folder.plant(
        SCENARIO, "status: drafted\n", f"status: validated\nevidence: [{', '.join(both)}]\n"
    )
    found = [problem.message for problem in check(folder.load())]
    assert found == [
        "is validated, but its evidence is not enough: 2 open objections to an item of −2 points"
    ] * (version == 1)


@pytest.mark.parametrize("status", ["drafted", "reviewed", "withdrawn"])
def test_other_statuses_need_no_evidence(folder: BankFolder, status: str) -> None:
    """CE127: no other status claims that experts endorse the scenario."""
    folder.plant(SCENARIO, "status: drafted\n", f"status: {status}\n")
    assert check(folder.load()) == []


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
    """CE117: a scenario without a probes file is found, at the top of the scenario's file."""
    (folder.root / PROBES).unlink()

    problems = check(folder.load())

    assert {problem.code for problem in problems} == {"CE117"}
    assert {problem.place for problem in problems} == {folder.place(SCENARIO, "id:")}


def test_problems_come_in_the_order_of_lines(folder: BankFolder) -> None:
    """Problems are listed by file and line, not by rule."""
    folder.plant(SCENARIO, "canary 00000000", "canary 1")
    folder.plant(SCENARIO, "What do you do?", "You act.")
    folder.plant(PROBES, "own-part: present", "own-part: absent")

    assert [problem.code for problem in check(folder.load())] == ["CE118", "CE107", "CE116"]


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


@pytest.mark.parametrize(("n", "allowed"), [(5, False), (6, True), (9, True), (10, False)])
def test_number_of_actions(good: tuple[Scenario, Bank], n: int, *, allowed: bool) -> None:
    """CE110: six to nine actions are allowed."""
    scenario, bank = good
    actions = (scenario.actions * 2)[:n]

    found = action_points(scenario.model_copy(update={"actions": actions}), bank)

    assert any(f"has {n} actions" in message for _, message, _ in found) is not allowed


@pytest.mark.parametrize(("n", "allowed"), [(1, False), (2, True), (4, True), (5, False)])
def test_number_of_negatives(good: tuple[Scenario, Bank], n: int, *, allowed: bool) -> None:
    """CE110: two to four negative actions are allowed."""
    scenario, bank = good
    negative = tuple(action for action in scenario.actions if action.points < 0)

    found = action_points(scenario.model_copy(update={"actions": (negative * 3)[:n]}), bank)

    assert any(f"has {n} negative" in message for _, message, _ in found) is not allowed


@pytest.mark.parametrize(("n", "allowed"), [(59, False), (60, True), (140, True), (141, False)])
def test_number_of_words(good: tuple[Scenario, Bank], n: int, *, allowed: bool) -> None:
    """CE107: a text of 60 to 140 words is allowed."""
    scenario, bank = good

    found = list(text_is_a_question(scenario.model_copy(update={"text": "why? " * n}), bank))

    assert any(f"has {n} words" in message for _, message, _ in found) is not allowed


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


def ten(folder: BankFolder) -> BankFolder:
    """The folder with ten scenarios."""
    for number in range(2, MIN_BANK + 1):
        folder.copy_scenario(f"dressing-{number:03}")
    return folder


def of_balance(bank: Bank) -> list[Problem]:
    """Return the problems other than the wording, which the ten have in common."""
    return [problem for problem in check(bank) if problem.code != "CE125"]


def unbalance(folder: BankFolder, files: list[str]) -> BankFolder:
    """The folder with the acts of agency in `files` about safety instead."""
    for file in files:
        folder.plant(file, "{user_function: 1, user_agency: 2}", "{functional_safety: 2}")
    return folder


def test_balanced_bank(folder: BankFolder) -> None:
    """CE119: ten good scenarios, of 33, 17, 17 and 33% by domain, are balanced."""
    assert of_balance(ten(folder).load()) == []


def test_unbalanced_bank(folder: BankFolder) -> None:
    """CE119: a bank of ten with no act of agency is out of balance, by agency and by safety."""
    folder = unbalance(ten(folder), [f"dressing/dressing-{n:03}.yaml" for n in range(1, 11)])

    problems = of_balance(folder.load())

    assert [(p.code, p.message) for p in problems] == [
        (
            "CE119",
            "domain functional_safety carries 67% of the positive points, expected 15% to 35%",
        ),
        ("CE119", "domain user_agency carries 0% of the positive points, expected 15% to 35%"),
    ]
    assert {p.place for p in problems} == {folder.place("bank.yaml", "name")}


def test_bounds_of_balance(folder: BankFolder) -> None:
    """CE119: shares of 15 and 35% are allowed, and one point of sixty further is not."""
    ten(folder)
    act = "{communication_intent: 2}\n    why: She alone"
    moved = act.replace("communication_intent", "functional_safety")
    folder.plant("dressing/dressing-001.yaml", act, moved)
    assert of_balance(folder.load()) == []

    folder.plant("dressing/dressing-002.yaml", act, moved)

    assert [problem.message.split(" of ")[0] for problem in of_balance(folder.load())] == [
        "domain communication_intent carries 13%",
        "domain functional_safety carries 37%",
    ]


def test_small_bank_need_not_balance(folder: BankFolder) -> None:
    """CE119: a bank of one scenario is not held to a balance."""
    assert check(unbalance(folder, [SCENARIO]).load()) == []


def test_balance_of_nothing(good: tuple[Scenario, Bank]) -> None:
    """CE119: a bank without actions has no balance to judge."""
    scenario, bank = good
    empty = scenario.model_copy(update={"actions": ()})

    assert list(domains_balanced(replace(bank, scenarios=(empty,) * MIN_BANK))) == []
