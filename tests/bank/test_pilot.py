"""Presence of items in a pilot's answers: reading, counting, and showing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from careeval.bank import bank_folder, load_bank
from careeval.bank.coverage import PILOT_FILE, ClassPresence, Presence, item_health, read_pilot
from careeval.bank.reader import rows_text
from careeval.cli.app import OK, USAGE, run
from careeval.errors import BankError
from support.bank_folder import GOOD_BANK

BANK = load_bank(bank_folder("4"), probes=False)
SCENARIO = "eating-101"
ACTS = {act.id: act for act in BANK.scenario(SCENARIO).actions}
GOOD = [name for name, act in ACTS.items() if act.points > 0]
BAD = [name for name, act in ACTS.items() if act.points < 0]


def row(item: str, kind: str, n: int, present: int) -> Presence:
    """One item of the scenario in one kind of answer."""
    return Presence(SCENARIO, item, kind, n, present)


def test_health_by_hand() -> None:
    """An act in all answers, one in no reference answer, a bad one in a reference answer."""
    rows = [
        row(GOOD[0], "closed", 3, 3),
        row(GOOD[0], "reference", 1, 1),
        row(GOOD[1], "closed", 3, 2),
        row(GOOD[1], "reference", 1, 0),
        row(BAD[0], "closed", 3, 0),
        row(BAD[0], "reference", 1, 1),
        row(BAD[1], "closed", 3, 0),
        row("no-such-act", "closed", 3, 3),
    ]
    found = item_health(BANK, rows)
    assert found.kinds == ("closed", "reference")
    assert found.always == (f"{SCENARIO} {GOOD[0]}",)
    assert found.never == (f"{SCENARIO} {GOOD[1]}",)
    assert found.in_reference == (f"{SCENARIO} {BAD[0]}",)
    assert found.unseen == (f"{SCENARIO} {BAD[1]}",)
    in_closed = [shares["closed"] for shares in found.shares.values()]
    assert sum(share.items for share in in_closed) == 4
    assert sum(share.present for share in in_closed) == 5
    assert ClassPresence(0, 0, 0) in in_closed  # a class without a row is there, and empty


def test_a_file_that_counts_more_than_it_judged_is_refused(tmp_path: Path) -> None:
    """Four of three is named with its item."""
    (tmp_path / PILOT_FILE).write_text(rows_text([row(GOOD[0], "closed", 3, 4)], Presence))
    with pytest.raises(BankError, match=f"{SCENARIO} {GOOD[0]} closed: present in 4 of only 3"):
        read_pilot(tmp_path, {})


def test_an_item_that_stands_twice_is_refused(tmp_path: Path) -> None:
    """Two rows of one item and kind are refused."""
    rows = [row(GOOD[0], "closed", 3, 1), row(GOOD[0], "closed", 3, 2)]
    (tmp_path / PILOT_FILE).write_text(rows_text(rows, Presence))
    with pytest.raises(BankError, match=f"{SCENARIO} {GOOD[0]} closed: has two rows"):
        read_pilot(tmp_path, {})


def test_the_held_out_rows_come_after_the_public_ones(tmp_path: Path) -> None:
    """Whoever has the key sees both."""
    mine, sealed = row(GOOD[0], "closed", 3, 1), row(GOOD[1], "closed", 3, 2)
    (tmp_path / PILOT_FILE).write_text(rows_text([mine], Presence))
    assert read_pilot(tmp_path, {PILOT_FILE: rows_text([sealed], Presence)}) == [mine, sealed]


def test_a_bank_without_a_pilot_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The bank for tests has none."""
    assert run(["bank", "stats", "--pilot", "--bank", str(GOOD_BANK)]) == USAGE
    assert "has no pilot of its items, so --pilot has nothing to show" in capsys.readouterr().err


def test_the_table_and_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Bank 3 shows each class of items by kind of answer, and names what to look at again."""
    assert run(["bank", "stats", "--pilot", "--bank", "4"]) == OK
    shown = capsys.readouterr().out
    assert all(words in shown for words in ("+2", "closed", "good acts that stand in every"))
    assert run(["bank", "stats", "--pilot", "--bank", "4", "--json"]) == OK
    told = json.loads(capsys.readouterr().out)
    assert told["what"].startswith("Answers of AI")
    assert {"always", "never", "in_reference", "unseen", "shares", "items"} <= set(told)
