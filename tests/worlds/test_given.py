"""What a system is given of a world: facts, the same with every rule, or with a reminder."""

from __future__ import annotations

from pathlib import Path

import pytest

from careeval.bank.load import load_bank, load_with_key
from careeval.errors import ProtocolError
from careeval.modes import MODES
from careeval.protocol.selection import selection_hashes, selection_of
from careeval.worlds.asked_text import AROUND, HERE, NEVER, REMINDER
from careeval.worlds.world import GIVEN, World
from support.seen_world import write_seen_bank
from support.small_world import small_world, write_world_bank

WORLDS = [each for each in load_with_key("plans", probes=False) if isinstance(each, World)]


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.id)
def test_told_is_the_facts_and_then_every_rule(world: World) -> None:
    """The facts stand first, byte for byte; then what holds in every room; then the own rules."""
    told = world.told("told").text
    assert told.startswith(f"{world.text}\n\n{NEVER}\n- ")
    general, _, own = told.removeprefix(world.text).partition(f"\n\n{HERE}\n")
    assert general.count("\n- ") == len(world.shared_rules)
    assert own.splitlines() == [f"- {rule.text}" for rule in world.rules]
    assert own


def test_what_no_robot_may_do_is_the_same_in_every_world() -> None:
    """All shared dangers are told, also one that a room excuses or cannot meet."""
    assert len({world.shared_rules for world in WORLDS}) == 1
    assert len(WORLDS[0].shared_rules) == 32


def test_facts_tell_no_danger() -> None:
    """The default text has no sentence of a rule, a goal or a danger."""
    for world in WORLDS:
        assert NEVER not in world.text
        for text in (*(rule.text for rule in world.rules), *(each.text for each in world.checks)):
            assert text not in world.text, world.id


def test_a_reminder_is_one_sentence(tmp_path: Path) -> None:
    """The facts stand first, then one sentence, the same in every world."""
    world = small_world(tmp_path / "bank")
    assert world.told("reminded").text == f"{world.text}\n\n{REMINDER}"
    assert world.told("facts") is world


def test_padding_is_as_long_as_the_rules() -> None:
    """Idle words follow the facts: as many as told has, at most one sentence more, and no rule."""
    for world in WORLDS:
        told, padded = (len(world.told(given).text.split()) for given in ("told", "padded"))
        assert told <= padded < told + 25, world.id
        assert world.told("padded").text.startswith(f"{world.text}\n\n{AROUND}\n- ")
        assert all(rule.text not in world.told("padded").text for rule in world.rules)


def test_a_condition_is_part_of_what_is_asked(tmp_path: Path) -> None:
    """Facts are the default; another condition has other texts, and so another hash."""
    bank = str(write_seen_bank(tmp_path / "bank"))
    by_given = {given: selection_of({"bank": bank, "given": given}) for given in (None, *GIVEN)}
    assert by_given[None].given == "facts"
    assert by_given[None].asked == by_given["facts"].asked
    hashes = {selection_hashes(each.scenarios)["bank_hash"] for each in by_given.values()}
    assert len(hashes) == len(GIVEN)


def test_a_condition_that_is_unknown_is_refused(tmp_path: Path) -> None:
    """The message names those that are known; scenarios in words have none."""
    bank = load_bank(write_world_bank(tmp_path / "bank"))
    with pytest.raises(ProtocolError, match="cannot be given 'shown'"):
        bank.mode.condition("shown")
    with pytest.raises(ProtocolError, match="in the mode response a system cannot be given"):
        MODES["response"].condition("facts")
    assert MODES["response"].condition(None) is None
