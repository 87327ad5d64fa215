"""Cost logs, and budgets: what calls may cost is reserved, seen by all, and released."""

from __future__ import annotations

import asyncio
import errno
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.protocol.evaluate import resume
from careeval.protocol.ledger import (
    SPENT_FILE,
    Budget,
    PaidCall,
    TotalCost,
    open_reservations,
    read_paid_calls,
)
from careeval.protocol.prices import CallEstimate, Price, estimate_call
from careeval.protocol.run import Run, RunCallbacks, Stop
from careeval.protocol.run_files import JsonLines, LineTail, locked
from careeval.protocol.run_setup import prepare
from careeval.protocol.sweep_cells import CellState, JournalWriter, Lease
from support.fakes import Call, Fake, keyword_grader


def paid(usd: float | None) -> PaidCall:
    """A call that cost so much."""
    return PaidCall("ask", "fake/model", 10, 20, usd, 0.5)


def test_worked_example(tmp_path: Path) -> None:
    """Three calls of 10, 20 and 5 cents come to 35 cents, and are read back as they were."""
    ledger = JsonLines(tmp_path / SPENT_FILE)
    for usd in (0.10, 0.20, 0.05):
        ledger.append(asdict(paid(usd)))
    ledger.close()
    calls = read_paid_calls(tmp_path)
    assert calls == [paid(0.10), paid(0.20), paid(0.05)]
    assert TotalCost.of(calls).usd == pytest.approx(0.35)


def test_an_unknown_cost_is_never_nothing() -> None:
    """One call whose cost is not known makes the whole unknown, and what is known is kept apart."""
    spent = TotalCost.of([paid(0.10), paid(None)])
    assert spent.usd is None
    assert (spent.n_calls, spent.n_unknown, spent.known_usd) == (2, 1, 0.10)
    assert TotalCost.of([]).usd == 0


def test_a_run_without_a_ledger_has_paid_nothing(tmp_path: Path) -> None:
    """A folder in which nothing was ever called has no calls."""
    assert read_paid_calls(tmp_path) == []


@pytest.mark.parametrize(
    ("line", "usd"),
    [
        ({}, 0.1),
        ({"cost_usd": 0.0}, 0),
        ({"cost_usd": -0.0008}, None),
        ({"input_tokens": -450}, None),
        ({"cost_usd": float("nan")}, None),
        ({"cost_usd": float("inf")}, None),
        ({"cost_usd": "0.1"}, None),
        ({"input_tokens": None, "output_tokens": None, "cost_usd": 0.0}, 0),
    ],
)
def test_a_line_that_anybody_wrote(line: dict[str, Any], usd: float | None, tmp_path: Path) -> None:
    """A line with a number that is no amount has no known cost, and is no gift."""
    row = json.dumps({**asdict(paid(0.1)), **line})
    (tmp_path / SPENT_FILE).write_text(f"{row}\n", encoding="utf-8")
    assert [call.cost_usd for call in read_paid_calls(tmp_path)] == [usd]
    assert TotalCost.of(read_paid_calls(tmp_path)).usd == usd


@given(rows=st.lists(st.text(), min_size=1, max_size=5), cut=st.integers(1, 40))
def test_a_broken_line_costs_that_line_alone(
    rows: list[str], cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A file that was cut off in its last line loses that line, and goes on as if it were whole."""
    path = tmp_path_factory.mktemp("lines") / "rows.jsonl"
    lines = JsonLines(path)
    for row in rows:
        last = lines.append(row)
    lines.close()
    whole = path.read_bytes()
    kept = whole[: -min(cut, last.length)]
    path.write_bytes(kept)
    # cut by its newline alone, the line is whole
    expected = rows if len(whole) - len(kept) == 1 else rows[:-1]
    lines = JsonLines(path)
    place = lines.append("afterwards")
    assert [row for _, row in lines.rows()] == [*expected, "afterwards"]
    assert lines.at(place) == "afterwards"
    assert list(LineTail(path).new_rows()) == [*expected, "afterwards"]
    lines.close()


def test_a_line_that_did_not_fit_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the disk is full in the middle of a line, the next line does not follow on its half."""
    lines = JsonLines(tmp_path / "rows.jsonl")
    lines.append("first")
    write = os.write

    def half(file: int, data: bytes) -> int:
        if len(data) < 5:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data[: len(data) - 3])

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(OSError, match="No space"):
        lines.append("second")
    monkeypatch.undo()
    lines.append("third")
    lines.close()
    assert list(LineTail(tmp_path / "rows.jsonl").new_rows()) == ["first", "third"]


def test_a_reader_takes_no_half_line(tmp_path: Path) -> None:
    """A line that is being written is read once it is whole, and once only."""
    path = tmp_path / "rows.jsonl"
    reading = LineTail(path)
    assert list(reading.new_rows()) == []
    path.write_bytes(b'"one"\n"tw')
    assert list(reading.new_rows()) == ["one"]
    assert list(reading.new_rows()) == []
    with path.open("ab") as file:
        file.write(b'o"\n')
    assert list(reading.new_rows()) == ["two"]


ASK = CallEstimate("ask fake/model", 0.10, 0.40)
"""A call of 10 cents, at worst 40."""


def reserve(budget: Budget, wanted: CallEstimate = ASK) -> int | None:
    """Set aside what a call may cost."""
    return asyncio.run(budget.reserve(wanted))


def pay(folder: Path, usd: float | None, reservation: int | None = None) -> None:
    """Write a paid call on a run's ledger."""
    ledger = JsonLines(folder / SPENT_FILE)
    ledger.append(asdict(PaidCall("ask", "fake/model", 10, 20, usd, 0.5, reservation)))
    ledger.close()


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """The folders of two runs that share a budget."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    return tmp_path / "a", tmp_path / "b"


def test_one_budget_over_many_runs(folders: tuple[Path, Path]) -> None:
    """A call paid by any of the runs counts at once, whichever process wrote it."""
    budget = Budget(0.30, folders, folders[0])
    assert budget.left_usd() == 0.30
    pay(folders[0], 0.10)
    assert budget.left_usd() == pytest.approx(0.20)
    pay(folders[1], 0.15)
    pay(folders[1], None)
    assert budget.left_usd() == pytest.approx(0.05)
    assert budget.n_unknown() == 1


def test_what_is_set_aside_is_seen_by_the_others(folders: tuple[Path, Path]) -> None:
    """Of $0.50 two processes set aside $0.40 once; the other's turn comes when it is given back."""
    first, second = (Budget(0.50, folders, folder) for folder in folders)
    with locked(folders[0]), locked(folders[1]):
        number = reserve(first)
        assert number is not None
        assert second.left_usd() == pytest.approx(0.10)
        assert second.others_in_flight()
        assert reserve(second) is None
        pay(folders[0], 0.10, number)
        assert second.left_usd() == pytest.approx(0.40)
        assert not second.others_in_flight()
        # one has come back at what was expected; of one alone not much is known
        assert reserve(second) is not None
        assert first.left_usd() == pytest.approx(0.40 - 2 * 0.10)
        first.close()
        second.close()


def test_calls_in_flight_are_as_many_as_the_budget_pays(folders: tuple[Path, Path]) -> None:
    """Once it is known what calls cost, no more are let in than there is money for."""
    budget = Budget(10.0, folders, folders[0])
    for _ in range(100):
        number = reserve(budget)
        assert number is not None
        pay(folders[0], 0.05, number)
    assert budget.left_usd() == pytest.approx(5.0)
    assert budget.next_usd(ASK) == pytest.approx(0.05)
    # a tenth more is set aside, a hundred having come back, but for one that is alone
    n_in_flight = 0
    while reserve(budget) is not None:
        n_in_flight += 1
    assert n_in_flight == int(5.0 / (0.05 * 1.1))


def test_a_small_budget_makes_one_call_at_a_time(folders: tuple[Path, Path]) -> None:
    """One call is made if only its expected cost fits, and none if that does not fit either."""
    budget = Budget(0.31, folders, folders[0])
    number = reserve(budget)
    assert number is not None
    assert budget.left_usd() == pytest.approx(0.21)
    assert reserve(budget) is None
    pay(folders[0], 0.10, number)
    number = reserve(budget)
    assert number is not None
    pay(folders[0], 0.10, number)
    assert reserve(budget) is not None
    assert reserve(budget) is None
    assert reserve(Budget(0.09, folders[1:], folders[1])) is None


def test_a_call_that_failed_gives_back_everything(folders: tuple[Path, Path]) -> None:
    """Nothing is known to be charged for it, and nothing is learnt from it."""
    budget = Budget(0.50, folders, folders[0])
    number = reserve(budget)
    assert number is not None
    budget.release(number)
    assert budget.left_usd() == pytest.approx(0.50)
    assert reserve(budget) is not None
    assert budget.left_usd() == pytest.approx(0.10)


def test_calls_of_a_killed_process_are_taken_for_spent(folders: tuple[Path, Path]) -> None:
    """They count as expected once their run goes on, and nobody waits for them."""
    with locked(folders[0]):
        killed = Budget(1.0, folders, folders[0])
        assert reserve(killed) is not None
        assert reserve(killed) is not None
        killed.close()
    other = Budget(1.0, folders, folders[1])
    assert other.left_usd() == pytest.approx(0.20)
    assert not other.others_in_flight()
    with locked(folders[0]):
        again = Budget(1.0, folders, folders[0])
        assert again.left_usd() == other.left_usd() == pytest.approx(0.80)
        assert not other.others_in_flight()
        number = reserve(again)
        assert number is not None
        pay(folders[0], 0.10, number)
        assert other.left_usd() == pytest.approx(0.70)
    assert open_reservations(folders[0]) == pytest.approx([0.10, 0.10])
    assert open_reservations(folders[1]) == []


def test_a_payment_releases_its_reservation(folders: tuple[Path, Path]) -> None:
    """A process killed right after a call's cost was written costs the budget that call once."""
    killed = Budget(1.0, folders, folders[0])
    number = reserve(killed)
    assert number == 0
    pay(folders[0], 0.10, number)
    killed.close()
    for folder in folders:
        assert Budget(1.0, folders, folder).left_usd() == pytest.approx(0.90)
    assert open_reservations(folders[0]) == []
    again = Budget(1.0, folders, folders[0])
    # what one call cost is known, so less than the worst is set aside
    assert reserve(again) == 1
    assert again.left_usd() == pytest.approx(0.70)


def test_no_number_is_given_twice(folders: tuple[Path, Path]) -> None:
    """Where the line of a reservation is damaged, the call that names it keeps its number."""
    pay(folders[0], 0.10, 0)
    assert reserve(Budget(1.0, folders, folders[0])) == 1


@pytest.mark.parametrize(
    "line",
    [
        '{"n": 0, "who": "ask fake/model", "usd": -5.0, "expected": 0.1}',
        '{"n": 0, "who": "ask fake/model", "usd": 0.1, "expected": -5}',
        '{"n": 0, "who": "ask fake/model", "usd": NaN, "expected": 0.1}',
        '{"n": 0, "who": "ask fake/model", "usd": "1", "expected": 0.1}',
        '{"n": 0, "lost": -5.0}',
        '{"n": 0, "paid": -0.1}',
        '{"n": "x", "failed": true}',
        "3",
    ],
)
def test_an_impossible_line_costs_an_unknown_amount(folders: tuple[Path, Path], line: str) -> None:
    """Less than nothing reserved or lost gives a run no more to spend: its budget ends it."""
    (folders[0] / SPENT_FILE).write_text(f"{line}\n", encoding="utf-8")
    budget = Budget(1.0, folders, folders[1])
    assert (budget.n_unknown(), budget.left_usd()) == (1, 1.0)


def test_a_lease_closed_twice_is_counted_once(tmp_path: Path) -> None:
    """Closing lines of one lease, together or one after another, add its cost once."""
    ended, own = (tmp_path / "a" / "slice-01" / f"ask-00{n}" for n in (1, 2))
    own.mkdir(parents=True)
    ended.mkdir()
    pay(ended, 0.25)
    journal = JournalWriter(tmp_path)
    stopped = Lease("a/slice-01/ask", 1, CellState.stopped)
    journal.write(stopped)
    journal.write(stopped)
    budget = Budget(1.0, [own], own, tmp_path)
    assert budget.left_usd() == pytest.approx(0.75)
    journal.write(stopped)
    assert budget.left_usd() == pytest.approx(0.75)


@given(
    turns=st.lists(st.tuples(st.booleans(), st.booleans(), st.floats(0.01, 1.0)), max_size=60),
    limit=st.floats(0.05, 5.0),
)
def test_two_processes_never_spend_more_than_the_estimates_miss(
    turns: list[tuple[bool, bool, float]],
    limit: float,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Whatever comes back in whatever order: no more than the limit and what estimates missed."""
    root = tmp_path_factory.mktemp("budget")
    folders = [root / "a", root / "b"]
    for folder in folders:
        folder.mkdir()
    budgets = [Budget(limit, folders, folder) for folder in folders]
    in_flight: list[tuple[int, int, float]] = []
    spent = missed = 0.0
    for who, lands, share in turns:
        if lands and in_flight:
            place, number, held = in_flight.pop(0)
            # as dear as share says, of what the worst would have been
            usd = share * ASK.worst_usd
            pay(folders[place], usd, number)
            spent += usd
            missed += max(0.0, usd - held)
        else:
            before = budgets[who].left_usd()
            if (number := reserve(budgets[who])) is not None:
                in_flight.append((int(who), number, before - budgets[who].left_usd()))
        assert spent <= limit + missed + 1e-9
    for budget in budgets:
        budget.close()


def test_an_estimate_is_the_plans() -> None:
    """400 bytes in, 60 tokens out, at $2 and $10 a million; at worst 3 bytes a token, 500 out."""
    price = Price(input=2, output=10, cache_read=0, cache_write=2.5, source="x")
    found = estimate_call("grade m", price, 400, 60, 500)
    assert found.usd == pytest.approx((400 / 4 * 2 + 60 * 10) / 1e6)
    assert found.worst_usd == pytest.approx((400 / 3 * 2.5 + 500 * 10) / 1e6)
    assert estimate_call("grade m", price, 400, 900, 500).usd == pytest.approx((200 + 5000) / 1e6)


@pytest.mark.parametrize("thought", [0, 2000])
def test_many_connections_keep_a_budget(bank: Path, tmp_path: Path, thought: int) -> None:
    """With 300 connections to model and grader a run spends its limit and hardly more.

    A model that thinks costs ten times what is expected: its first calls tell.
    """
    model = Fake("many", lambda call: f"I ask her, {call.config.seed}.", usage=(100, 200 + thought))
    grader = Fake("many-grader", keyword_grader, usage=(300, 150))
    price = Price(input=0, output=100, cache_read=0, cache_write=0, source="x")
    one = (200 + thought) * 100 / 1e6
    made = Run(
        "robot",
        model.model,
        grader.model,
        100,
        {"bank": str(bank), "max_tokens": 3000},
        max_connections=300,
        prices={model.model: price, grader.model: price},
        max_cost=20 * one,
    )
    folder = prepare(made, tmp_path / "robot")
    outcome = resume(folder)
    assert outcome.stopped is Stop.budget
    assert "of it is left" in outcome.why
    spent = TotalCost.of(read_paid_calls(folder)).known_usd
    assert 20 * one * 0.8 <= spent <= 20 * one + 1e-9
    assert not open_reservations(folder)


def test_calls_that_are_dropped_in_flight_stay_set_aside(bank: Path, tmp_path: Path) -> None:
    """Ended in the middle of a call, a run has it counted by its budget, and says so."""
    held: list[object] = []

    async def script(_: Call) -> str:
        held[0].stop(Stop.interrupted, 0)  # type: ignore[attr-defined]
        await asyncio.sleep(60)
        return ""

    model = Fake("dropped", script)
    price = Price(input=0, output=1000, cache_read=0, cache_write=0, source="x")
    made = Run(
        "robot", model.model, None, 2, {"bank": str(bank)}, max_connections=1,
        prices={model.model: price}, max_cost=0.5,
    )  # fmt: skip
    folder = prepare(made, tmp_path / "robot")
    assert resume(folder, watch=RunCallbacks(hold=held.append)).stopped is Stop.interrupted
    assert open_reservations(folder) == pytest.approx([0.22])
    model.script = lambda _: "I ask."
    resume(folder)
    assert open_reservations(folder) == pytest.approx([0.22])
