"""The prompts: filled in one pass, checked when they are loaded, known by their hash."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.core.response import GraderItem
from careeval.errors import ProtocolError
from careeval.modes import MODES
from careeval.modes.prompts import FIELDS, Prompts, load_prompts
from careeval.modes.response import RESPONSE

ITEMS = [GraderItem(1, "Asks her."), GraderItem(2, "Waits.")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of careeval's own prompts, to be changed."""
    return Path(shutil.copytree(RESPONSE.prompts, tmp_path / "prompts"))


def test_worked_example() -> None:
    """The request holds the response between two equal lines, then the items as numbered."""
    assert load_prompts(RESPONSE).grade_request("I ask her.", ITEMS) == (
        "The answer stands between the two lines === 5d9541c3be ===.\n\n"
        "=== 5d9541c3be ===\nI ask her.\n=== 5d9541c3be ===\n\n"
        "The items:\n\n1. Asks her.\n2. Waits."
    )


def test_prompts_for_single_acts_are_pinned() -> None:
    """They are part of the mode's protocol: a change to them raises its version too."""
    assert load_prompts(MODES["plan"], step=True).ask_hash == "d634bf22"


def test_the_scenario_is_shown_where_asked_for() -> None:
    """The request with a scenario is the one without, and the scenario before it."""
    prompts = load_prompts(RESPONSE)
    alone = prompts.grade_request("I ask her.", ITEMS)
    with_scenario = prompts.grade_request("I ask her.", ITEMS, "\nShe sits.\n")
    assert with_scenario == f"The caregiver was asked:\n\nShe sits.\n\n{alone}"


def test_the_system_is_told_its_role_then_the_format() -> None:
    """The system message is the two files, the role first."""
    prompts = load_prompts(RESPONSE)
    assert prompts.ask_system.startswith("You are an occupational therapist")
    assert prompts.ask_system.endswith(f"\n\n{prompts.texts['ask-format.md']}")


HOSTILE = "{items} {response} {{ 7*7 }} {% raw %} {0} {__class__} %s $x {fence}"


def test_a_response_is_never_a_template() -> None:
    """Fields and template marks within a response, an item or a scenario stay as they are."""
    request = load_prompts(RESPONSE).grade_request(HOSTILE, [GraderItem(1, HOSTILE)], HOSTILE)
    assert request.count(HOSTILE) == 3
    assert load_prompts(RESPONSE).repair(HOSTILE, 2).count(HOSTILE) == 1


@given(st.text())
def test_any_response_stands_whole_between_its_fences(response: str) -> None:
    """No response can close its own fence: the line is made from a hash of it."""
    prompts = Prompts(
        dict.fromkeys(FIELDS, "") | {"grade-request.md": "{fence}{response}{fence}"}, ""
    )
    request = prompts.grade_request(response, [])
    fence = request[:18]
    assert request == f"{fence}{response}{fence}"
    assert fence not in response


PINNED = {
    "response": ("2-A", "74f547fe", "fba5c088"),
    "plan": ("4-A", "76554987", "692b4e74"),
}
"""Mode → version of the protocol, and the hashes of asking and of grading with that version.

The hash of grading covers the prompts and the form of the reply. A change to either makes another
protocol: if the test below fails, raise N of the mode's `protocol`, and put the new hashes here.
"""


@pytest.mark.parametrize("name", PINNED)
def test_a_version_of_the_protocol_never_changes(name: str) -> None:
    """The prompts and the reply's form of each mode are those that its version is known by."""
    prompts = load_prompts(MODES[name])
    assert (MODES[name].protocol, prompts.ask_hash, prompts.grade_hash) == PINNED[name]


def test_every_mode_is_pinned() -> None:
    """No mode may change its prompts unnoticed."""
    assert PINNED.keys() == MODES.keys()


def test_the_form_of_the_reply_is_in_the_hash() -> None:
    """Another field, order, type or meaning of the reply is another hash of grading."""
    own = load_prompts(RESPONSE)
    assert own.schema.splitlines()[:2] == ["judgments", "item: int: number of the item on the list"]
    assert [line.partition(":")[0] for line in own.schema.splitlines()[1:]] == [
        *("item", "quote", "reason", "present")
    ]
    other = replace(own, schema=f"{own.schema}\nsure: bool: whether you are sure")
    assert other.grade_hash != own.grade_hash
    assert other.ask_hash == own.ask_hash


def test_the_hash_changes_with_what_it_stands_for(folder: Path) -> None:
    """A change to a grading prompt changes the grading hash alone, and the same of asking."""
    own = load_prompts(RESPONSE)
    (folder / "grade-repair.md").write_text("Again: {problem}", encoding="utf-8")
    changed = load_prompts(RESPONSE, folder)
    assert changed.ask_hash == own.ask_hash
    assert changed.grade_hash != own.grade_hash
    (folder / "ask-role.md").write_text("You are a carer.", encoding="utf-8")
    assert load_prompts(RESPONSE, folder).ask_hash != own.ask_hash
    assert load_prompts(RESPONSE, folder).grade_hash == changed.grade_hash


def test_space_around_a_prompt_is_no_change(folder: Path) -> None:
    """An editor that adds a line at the end leaves the hash as it is."""
    for path in folder.glob("*.md"):
        path.write_text(f"\n{path.read_text(encoding='utf-8')}\n\n", encoding="utf-8")
    assert load_prompts(RESPONSE, folder) == load_prompts(RESPONSE)


def test_missing_files_are_all_named(tmp_path: Path) -> None:
    """A folder that lacks files is refused with the names of those that are not there."""
    (tmp_path / "ask-role.md").write_text("You are a carer.", encoding="utf-8")
    with pytest.raises(ProtocolError) as caught:
        load_prompts(RESPONSE, tmp_path)
    assert str(caught.value) == (
        f"prompts folder {str(tmp_path)!r} lacks ask-format.md, grade-system.md, "
        "grade-request.md, grade-request-scenario.md, grade-repair.md"
    )
    assert caught.value.hint.startswith(f"copy the missing files from {RESPONSE.prompts}")


@pytest.mark.parametrize(
    ("name", "text", "message", "hint"),
    [
        (
            "ask-role.md",
            "{person}",
            "field {person} is not allowed in this file",
            "allowed in this file: no fields",
        ),
        (
            "grade-repair.md",
            "{items}",
            "field {items} is not allowed in this file",
            "allowed in this file: {n_items}, {problem}",
        ),
        (
            "grade-request.md",
            "{response}{points}{items}",
            "field {points} is not allowed in this file",
            "allowed in this file: {fence}, {items}, {response}",
        ),
        (
            "grade-request.md",
            "{items}",
            "field {response} is missing",
            "add {response} where the prompt needs the value",
        ),
        (
            "grade-request-scenario.md",
            "{scenario}{response}",
            "field {items} is missing",
            "add {items} where the prompt needs the value",
        ),
    ],
)
def test_fields_are_checked(folder: Path, name: str, text: str, message: str, hint: str) -> None:
    """A field that is not known, or that the grader cannot do without, is said with its file."""
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(ProtocolError) as caught:
        load_prompts(RESPONSE, folder)
    assert (str(caught.value), caught.value.hint) == (f"{folder / name}: {message}", hint)


def test_a_prompt_must_be_text(folder: Path) -> None:
    """A prompt in another encoding is refused by name."""
    (folder / "ask-role.md").write_bytes("Füttern".encode("latin-1"))
    with pytest.raises(ProtocolError, match=r"ask-role\.md: is not UTF-8 text"):
        load_prompts(RESPONSE, folder)
