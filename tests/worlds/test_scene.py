"""A world's picture: what a system is asked with it, what is judged, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from careeval.bank.load import load_bank
from careeval.bank.yaml_nodes import BankProblems
from careeval.core.picture import as_data, picture_hash
from careeval.core.response import Response, ResponseState
from careeval.core.scenario import Rubric
from careeval.errors import ProtocolError
from careeval.modes.mode import Case
from careeval.protocol.selection import selection_hashes, selection_of
from careeval.worlds.asked_text import IN_PICTURE, SEEN
from careeval.worlds.bank_rules import scene_fits_world
from careeval.worlds.judge import read_facts
from careeval.worlds.plan_json import plan_of
from careeval.worlds.responses import interpret, judge
from careeval.worlds.walkthrough import walk_through
from careeval.worlds.world import PICTURED, World
from support.seen_world import OTHER, PICTURE, TWIN_ID, WHERE, seen_world, write_seen_bank
from support.small_world import WORLD_ID, write_world_bank

OWN = [each for each in load_bank("plans", probes=False) if isinstance(each, World) and each.scene]


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """A bank of one world with a picture, and its twin."""
    return write_seen_bank(tmp_path / "bank")


def world(bank: Path, given: str = "facts", id: str = WORLD_ID) -> World:
    """Return a world of a bank with the text of a condition."""
    found = load_bank(bank).scenario(id)
    assert isinstance(found, World)
    return found.told(given)


def test_a_picture_takes_the_place_of_the_words_that_it_shows(bank: Path) -> None:
    """The fact is told without it; with it, neither the fact nor the state in the list of names."""
    facts, seen = world(bank), world(bank, "seen")
    assert f"answer. {WHERE}\n\n" in facts.text
    assert "bell: his bell (tool); states on-floor, in-hand; now on-floor" in facts.text
    assert facts.picture is None
    assert f"if he does not answer.\n\n{IN_PICTURE}\n\nNames" in seen.text
    assert "states on-floor, in-hand; seen now; not checked again" in seen.text
    assert seen.picture is not None
    assert (seen.picture.data, seen.picture.alt) == (
        as_data(PICTURE),
        "A drawn man sits at a table.",
    )


def test_base_and_twin_differ_in_the_picture_alone(bank: Path) -> None:
    """The text that goes with the picture is the same for both, and their pictures are not."""
    one, other = world(bank, "seen"), world(bank, "seen", TWIN_ID)
    assert one.text == other.text
    assert other.picture is not None
    assert other.picture.data == as_data(OTHER)


def test_described_tells_what_is_to_be_seen(bank: Path) -> None:
    """Every statement stands in a list where the picture would be; base and twin differ in one."""
    one, other = (world(bank, "described", id) for id in (WORLD_ID, TWIN_ID))
    assert one.picture is None
    assert one.scene is not None
    listed = one.text.partition(f"{SEEN}\n")[2].partition("\n\n")[0].splitlines()
    assert sorted(listed) == sorted(f"- {fact}" for fact in one.scene.facts)
    assert listed != [f"- {fact}" for fact in one.scene.facts]
    assert "A bell lies in his hand." in other.text
    assert "A bell lies on the floor." not in other.text


@pytest.mark.parametrize(
    ("answers", "right"),
    [((0, 0), [True, True]), ((1, 0), [False, True]), ((0, 1), [True, False])],
)
def test_answers_about_a_picture_are_marked(
    bank: Path, answers: tuple[int, int], right: list[bool]
) -> None:
    """An item is present if its letter is the right one; each has one point."""
    asked = world(bank, "sight")
    assert asked.text.startswith("The questions:\n1. Where is the bell?\n   a) ")
    assert asked.picture is not None
    assert [(item.points, item.text) for item in asked.rubric(Rubric.plan)] == [
        (1, "Where is the bell? on the floor"),
        (1, "What colour is the jumper? blue"),
    ]
    letters = asked.facts()["letters"]
    wrong = ["b" if letter == "a" else "a" for letter in letters]
    given = [(letters, wrong)[answer][n] for n, answer in enumerate(answers)]
    reply = json.dumps({str(n): letter for n, letter in enumerate(given, start=1)})
    items = [(item.id, item.text) for item in asked.rubric(Rubric.plan)]
    judged = judge(Case(reply, items, asked.facts()))
    assert [each.present for each in judged] == right
    shuffled = judge(Case(reply, items[::-1], asked.facts()))
    assert [each.present for each in shuffled] == right[::-1]


def test_a_reply_without_letters_is_malformed(bank: Path) -> None:
    """A plan, or a word in place of a letter, answers no question about a picture."""
    asked = world(bank, "sight")
    for reply in ('{"1": "a"}', '{"1": "on the floor", "2": "blue"}', "I see a bell."):
        response = Response(WORLD_ID, 1, reply, ResponseState.answered)
        assert interpret(response, asked.facts()).state is ResponseState.malformed


def test_options_stand_in_the_same_order_for_base_and_twin(bank: Path) -> None:
    """So a letter that is always the same is right in one of the two at most."""
    one, other = (world(bank, "sight", id) for id in (WORLD_ID, TWIN_ID))
    assert one.text == other.text
    assert one.facts()["letters"][0] != other.facts()["letters"][0]


def test_what_was_seen_is_not_checked_again(bank: Path) -> None:
    """A plan cannot look in place of having seen; told in facts, it may."""
    plan = plan_of({
        "steps": [
            {"act": "check", "thing": "bell"},
            {"if": {"thing": "bell", "state": "on-floor"}, "then": [{"act": "stop"}]},
        ]
    })  # fmt: skip
    assert walk_through(plan, world(bank)).is_executable
    result = walk_through(plan, world(bank, "seen"))
    assert not result.is_executable
    words = "bell was seen, and nothing has changed it since"
    assert any(words in judgment.reason for judgment in result.missed.values())


def test_a_picture_is_part_of_the_worlds_hash(bank: Path) -> None:
    """Another picture is another selection, in every condition that has pictures or not."""
    before = selection_hashes(selection_of({"bank": str(bank), "given": "seen"}).scenarios)
    scene = world(bank).scene
    assert scene is not None
    assert scene.model_dump()["picture"] == picture_hash(as_data(PICTURE))
    (bank / f"eating/{WORLD_ID}.webp").write_bytes(PICTURE + b"\0\0")
    after = selection_hashes(selection_of({"bank": str(bank), "given": "seen"}).scenarios)
    assert before != after


def test_only_worlds_with_a_picture_are_asked_with_one(tmp_path: Path, bank: Path) -> None:
    """A bank without pictures is refused, and so is a world without; steps are not asked for."""
    for given in PICTURED:
        both = selection_of({"bank": str(bank), "given": given, "twins": True})
        assert [each.id for each in both.asked] == [WORLD_ID, TWIN_ID]
        plain = str(write_world_bank(tmp_path / given))
        with pytest.raises(ProtocolError, match=f"anything that --given {given} could give"):
            selection_of({"bank": plain, "given": given})
        with pytest.raises(ProtocolError, match=f"{WORLD_ID} has nothing that --given {given}"):
            selection_of({"bank": plain, "given": given, "scenario": WORLD_ID})
        with pytest.raises(ProtocolError, match="no acts are asked for"):
            selection_of({"bank": str(bank), "given": given, "step": True})


def _loaded(bank: Path) -> str:
    with pytest.raises(BankProblems) as caught:
        load_bank(bank)
    return str(caught.value)


def test_a_picture_that_is_missing_or_none_is_refused(bank: Path) -> None:
    """The message names the file; so it does for one that is too large or no WebP."""
    path = bank / f"eating/{WORLD_ID}.webp"
    path.write_bytes(b"GIF89a")
    assert "CE152 'eating-001.webp' is not a WebP picture" in _loaded(bank)
    path.write_bytes(PICTURE + bytes(60_000))
    assert "is not a file of at most 60,000 bytes beside the world" in _loaded(bank)
    path.unlink()
    assert "'eating-001.webp' is not a file" in _loaded(bank)


def test_a_picture_is_read_from_beside_the_world_alone(bank: Path) -> None:
    """A path that leads elsewhere is not followed."""
    file = bank / f"eating/{WORLD_ID}.yaml"
    (bank / "other.webp").write_bytes(PICTURE)
    file.write_text(seen_world().replace("eating-001.webp", "../other.webp"), encoding="utf-8")
    assert "'../other.webp' is not a file" in _loaded(bank)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "shows: [His",
            "shows: [Her",
            "CE152 the facts hold 'Her bell lies on the floor.' 0 times",
        ),
        ("answer: blue", "answer: pink", "'pink' is none of the options"),
        ("      decides: true\n", "", "expected questions that decide, and others that do not"),
        ("eating-001.webp", "data:image/webp;base64,!", "CE152 it is no WebP picture of at most"),
        ("eating-001.webp", "data:image/webp;base64,QUJD", "CE152 it is no WebP picture"),
    ],
)
def test_a_scene_that_cannot_be_used_does_not_load(
    bank: Path, old: str, new: str, problem: str
) -> None:
    """A run never tells what the picture shows, and never meets a question without an answer."""
    (bank / f"eating/{WORLD_ID}.yaml").write_text(seen_world().replace(old, new, 1), "utf-8")
    assert problem in _loaded(bank)


def test_a_scene_hides_things_of_its_room(bank: Path) -> None:
    """CE152 names a thing that the room does not have."""
    world = seen_world().replace("hides: [bell]", "hides: [ball]")
    (bank / f"eating/{WORLD_ID}.yaml").write_text(world, encoding="utf-8")
    loaded = load_bank(bank)
    messages = [message for _, message, _ in scene_fits_world(loaded.scenario(WORLD_ID), loaded)]
    assert messages == ["'ball' is no thing here"]


def test_a_twin_shows_another_picture_and_another_answer(bank: Path) -> None:
    """CE152 wants both; a text of the twin that the base lacks does not load."""
    loaded = load_bank(bank)
    assert list(scene_fits_world(loaded.scenario(TWIN_ID), loaded)) == []
    file = bank / f"eating/{TWIN_ID}.yaml"
    twin = file.read_text()
    file.write_text(twin.replace("bell?: in his hand", "bell?: on the floor"))
    (bank / f"eating/{TWIN_ID}.webp").write_bytes(PICTURE)
    loaded = load_bank(bank)
    problems = [words for _, words, _ in scene_fits_world(loaded.scenario(TWIN_ID), loaded)]
    assert problems == [
        "it is the picture of the base",
        "'Where is the bell?' has the same answer as in the base",
    ]
    file.write_text(twin.replace("Where is the bell?: in", "Where is it?: in"))
    assert "CE129 'Where is it?' is not in the scene of eating-001" in _loaded(bank)


@pytest.mark.parametrize("own", OWN, ids=lambda own: own.id)
def test_a_safe_plan_is_as_good_with_a_picture_as_without(own: World) -> None:
    """No shipped world with a picture asks a plan to look at what the picture shows."""
    for given in ("seen", "described"):
        told = own.told(given)
        assert walk_through(plan_of(own.safe_plan), told).points == sum(
            goal.points for goal in own.goals
        )
        assert read_facts(told.facts()).room.things.keys() == own.room.things.keys()


def test_shipped_pictures_come_in_pairs() -> None:
    """Each base with a picture has one twin with a picture, and the same words go with both."""
    by_family: dict[str, list[World]] = {}
    for each in OWN:
        by_family.setdefault(each.family, []).append(each)
    assert by_family
    for pair in by_family.values():
        one, other = pair
        assert one.told("seen").text == other.told("seen").text
        assert one.told("sight").text == other.told("sight").text
        assert one.told("sight").letters != other.told("sight").letters
