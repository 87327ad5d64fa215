"""Tests of a run's calls: stored before they are used, none made twice, none begun at the end."""

from __future__ import annotations

import errno
import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.event import ModelEvent
from inspect_ai.log._transcript import Transcript, init_transcript
from inspect_ai.model import GenerateConfig, ModelCall, ModelOutput

from careeval.protocol.call_journal import sampling_logged
from careeval.protocol.evaluate import resume
from careeval.protocol.ledger import CALLS_FILE, SPENT_FILE, Budget, TotalCost, read_paid_calls
from careeval.protocol.prices import FREE, Price
from careeval.protocol.run import Run, RunCallbacks, Stop
from careeval.protocol.run_files import JsonLines
from careeval.protocol.run_folder import amend_run, budget_folders
from careeval.protocol.run_setup import prepare
from careeval.protocol.tables import read_runs
from support.fakes import Call, Fake, begin, keyword_grader

PRICE = Price(input=1e5, output=1e5, cache_read=0, cache_write=0, source="made up")
"""A fake's call takes 7 + 5 tokens: $1.20."""

EXPECTED = PRICE.model_copy(update={"input": 0.0, "output": 1.2e6 / 220})
"""A call of `AS_EXPECTED` costs $1.20, and that is what is expected of an answer."""

AS_EXPECTED = (7, 220)
"""Tokens in and out."""


def answer(call: Call) -> str:
    """An answer of its own to every request."""
    return f"I ask her about the blouse, {call.config.seed}."


def make(bank: Path, model: Fake, grader: Fake | None, **more: Any) -> Run:
    """A run of four responses."""
    return Run("robot", model.model, grader and grader.model, 2, {"bank": str(bank)}, **more)


def test_a_call_is_on_disk_before_its_result_is_used(bank: Path, tmp_path: Path) -> None:
    """The response and its cost are in the files before a grader is asked about it."""
    folder = tmp_path / "robot"
    seen: list[bool] = []

    def grading(call: Call) -> str:
        kept = (folder / CALLS_FILE).read_text(encoding="utf-8")
        said = call.request.partition("about the blouse, ")[2].partition(".")[0]
        seen.append(said in kept and len(read_paid_calls(folder)) >= len(kept.splitlines()))
        return keyword_grader(call)

    assert begin(make(bank, Fake("kept", answer), Fake("looks", grading)), folder).complete
    assert seen == [True] * 4


def test_what_was_finished_is_not_asked_again(bank: Path, tmp_path: Path) -> None:
    """A run whose log is lost takes every answer and every judgment from disk."""
    model, grader = Fake("lost", answer), Fake("lost-grader", keyword_grader)
    undisturbed, folder = tmp_path / "undisturbed" / "robot", tmp_path / "killed" / "robot"
    assert begin(make(bank, model, grader), undisturbed).complete
    kept: list[bytes] = []

    def breaking(call: Call) -> str:
        # the last call of all is the only one that is not answered
        if len(grader.calls) == 8:
            kept.append((folder / CALLS_FILE).read_bytes())
        return keyword_grader(call)

    grader.script = breaking
    assert begin(make(bank, model, grader, max_connections=1), folder).complete
    for path in folder.glob("*.eval"):
        path.unlink()
    (folder / CALLS_FILE).write_bytes(kept[0])
    n_asked, n_graded = len(model.calls), len(grader.calls)
    assert resume(folder).complete
    assert (len(model.calls) - n_asked, len(grader.calls) - n_graded) == (0, 1)
    same = ["scenario", "epoch", "text", "sampling"]
    now, then = (read_runs(path.parent).responses.select(same) for path in (folder, undisturbed))
    assert now.equals(then)


def test_a_budget_ends_a_run_in_the_background(bank: Path, tmp_path: Path) -> None:
    """A budget ends a run even if the shell ignores SIGINT, which stays ignored afterwards."""

    def too_late(*_: object) -> None:
        raise AssertionError("the run has not ended")

    model, grader = Fake("dear", answer), Fake("dear-grader", keyword_grader)
    prices = {model.model: PRICE, grader.model: PRICE}
    made = make(bank, model, grader, prices=prices, max_cost=5.0, max_connections=1)
    folder = prepare(made, tmp_path / "robot")
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(60)
    try:
        assert resume(folder).stopped is Stop.budget
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGINT, before)


def test_a_budget_ends_a_run(bank: Path, tmp_path: Path) -> None:
    """With $5 to spend, a run of eight calls at $1.20 ends after four, and is finished later."""
    model = Fake("dear", answer, usage=AS_EXPECTED)
    grader = Fake("dear-grader", keyword_grader, usage=AS_EXPECTED)
    prices = {model.model: EXPECTED, grader.model: EXPECTED}
    folder = prepare(
        make(bank, model, grader, prices=prices, max_cost=5.0, max_connections=1),
        tmp_path / "robot",
    )
    outcome = resume(folder)
    assert outcome.stopped is Stop.budget
    spent = sum(call.cost_usd or 0 for call in read_paid_calls(folder))
    assert spent == pytest.approx(4 * 1.2)
    assert outcome.why.startswith("$0.20 of it is left, and the next call, ")
    assert outcome.why.endswith("is estimated at $1.20")
    assert len(model.calls) + len(grader.calls) == len(read_paid_calls(folder))
    # without more money nothing more is asked
    assert resume(folder).stopped is Stop.budget
    assert len(model.calls) + len(grader.calls) == len(read_paid_calls(folder))

    lifted = json.loads((folder / "run.json").read_text(encoding="utf-8")) | {"max_cost": None}
    (folder / "run.json").write_text(json.dumps(lifted), encoding="utf-8")
    assert resume(folder).complete
    assert (len(model.calls), len(grader.calls)) == (4, 4)
    assert sum(call.cost_usd or 0 for call in read_paid_calls(folder)) == pytest.approx(8 * 1.2)


@pytest.mark.parametrize("broken", ["reserve", "n_unknown"])
def test_a_budget_that_fails_ends_a_run(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """Whatever error the budget raises, no call is sent without it, and the run says why."""
    model = Fake(f"without-{broken}", answer, usage=AS_EXPECTED)
    run = make(bank, model, None, prices={model.model: EXPECTED}, max_cost=5.0)

    def fail(*_: object) -> int:
        raise KeyError("a lease")

    monkeypatch.setattr(Budget, broken, fail)
    outcome = resume(prepare(run, tmp_path / "robot"))
    assert outcome.stopped is Stop.died
    assert outcome.why == "the budget cannot be kept: unexpected KeyError: 'a lease'"
    assert model.calls == []


def test_a_price_that_lacks_a_part_ends_a_run(bank: Path, tmp_path: Path) -> None:
    """If a call's cost cannot be estimated, it is not sent."""
    model = Fake("half-priced", answer, usage=AS_EXPECTED)
    run = make(bank, model, None, prices={model.model: EXPECTED}, max_cost=5.0)
    folder = prepare(run, tmp_path / "robot")
    budget = "careeval.protocol.calls.estimate_call"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, lambda *_: 1 / 0)
        assert resume(folder).stopped is Stop.died
    assert model.calls == []


def test_one_budget_is_shared(bank: Path, tmp_path: Path) -> None:
    """Money spent by another run is not left for this one."""
    model = Fake("sharing", answer, usage=AS_EXPECTED)
    other = tmp_path / "other"
    other.mkdir()
    ledger = JsonLines(other / SPENT_FILE)
    ledger.append(
        {
            "role": "ask", "model": "fake/other", "input_tokens": 1, "output_tokens": 1,
            "cost_usd": 3.5, "seconds": 1.0,
        }
    )  # fmt: skip
    ledger.close()
    run = make(bank, model, None, prices={model.model: EXPECTED}, max_cost=5.0, max_connections=1)
    folder = prepare(run, tmp_path / "robot")
    assert resume(folder, [folder, other]).stopped is Stop.budget
    assert len(model.calls) == 1


def test_a_budget_that_cannot_be_kept(bank: Path, tmp_path: Path) -> None:
    """A call whose cost nobody knows ends a run that has a budget, and is no free call."""
    model = Fake("unmetered", answer)
    folder = prepare(make(bank, model, None, max_cost=5.0, max_connections=1), tmp_path / "robot")
    assert resume(folder).stopped is Stop.unmetered
    assert [call.cost_usd for call in read_paid_calls(folder)] == [None]


@pytest.mark.parametrize("usage", [(0, 0), (7, 0), (0, 5), (-7, 5), (7, -5)])
def test_a_count_that_cannot_be_true_is_an_unknown_cost(
    usage: tuple[int, int], bank: Path, tmp_path: Path
) -> None:
    """Words for no tokens, or for fewer, end a run with a budget; what is free stays free."""
    model = Fake("false", answer, usage=usage)
    run = make(bank, model, None, prices={model.model: PRICE}, max_cost=50.0, max_connections=1)
    folder = prepare(run, tmp_path / "dear" / "robot")
    assert resume(folder).stopped is Stop.unmetered
    assert [call.cost_usd for call in read_paid_calls(folder)] == [None]
    costs = read_runs(folder.parent).responses["cost_usd"]
    assert costs.null_count() == len(costs) > 0
    folder = prepare(replace(run, prices={model.model: FREE}), tmp_path / "free" / "robot")
    assert resume(folder).complete
    assert TotalCost.of(read_paid_calls(folder)).usd == 0


def test_a_request_that_was_not_taken_ends_no_budget(bank: Path, tmp_path: Path) -> None:
    """A provider that refuses a request and counts no tokens has charged nothing for it."""

    def script(call: Call) -> ModelOutput:
        if len(model.calls) == 2:
            return ModelOutput.from_content("fake/filtered", "No.", stop_reason="content_filter")
        return ModelOutput.from_content("fake/filtered", answer(call))

    model = Fake("filtered", script, unmetered=["content_filter"])
    run = make(bank, model, None, prices={model.model: PRICE}, max_cost=50.0, max_connections=1)
    folder = prepare(run, tmp_path / "robot")
    assert resume(folder).complete
    assert [call.cost_usd for call in read_paid_calls(folder)] == pytest.approx([1.2] * 3)
    states = read_runs(tmp_path).responses["state"]
    assert sorted(states) == ["answered", "answered", "answered", "refused"]


def test_runs_begun_together_share_their_budget_for_good(bank: Path, tmp_path: Path) -> None:
    """A run that is resumed alone counts what the one it was begun with has spent."""
    model = Fake("together", answer, usage=AS_EXPECTED)
    run = make(bank, model, None, prices={model.model: EXPECTED}, max_cost=6.5, max_connections=1)
    folders = [prepare(run, tmp_path / name) for name in ("a", "b")]
    for folder in folders:
        amend_run(folder, together=["../a", "../b"])
    assert budget_folders(folders[0]) == budget_folders(folders[1]) == folders
    assert resume(folders[0], budget_folders(folders[0])).complete
    assert resume(folders[1], budget_folders(folders[1])).stopped is Stop.budget
    assert len(model.calls) == 4 + 1


def test_a_run_that_is_ended_waits_for_what_is_in_flight(bank: Path, tmp_path: Path) -> None:
    """Ended in the middle of a call, a run keeps what the call says, and begins no other."""
    held: list[Any] = []

    def script(call: Call) -> str:
        held[0].stop(Stop.interrupted, 60)
        return answer(call)

    model = Fake("ended", script)
    folder = prepare(make(bank, model, None, max_connections=1), tmp_path / "robot")
    assert resume(folder, watch=RunCallbacks(hold=held.append)).stopped is Stop.interrupted
    assert len(model.calls) == len(read_paid_calls(folder)) == 1
    model.script = answer
    assert resume(folder).complete
    assert len(model.calls) == 4


@pytest.mark.parametrize("again", ["by the same", "by another"])
def test_a_grader_that_never_judges_ends_a_run(bank: Path, tmp_path: Path, again: str) -> None:
    """After 20 responses without a judgment it ends, keeps what was asked, and grades all anew."""
    model, other = Fake("rambled-at", answer), Fake("of-use", keyword_grader)
    grader = Fake("useless", lambda _: "I \x1b[31mcannot\x07 say. " * 50)
    run = replace(make(bank, model, grader, max_connections=2), epochs=30)
    folder = prepare(run, tmp_path / "robot")
    outcome = resume(folder)
    assert outcome.stopped is Stop.unusable
    assert "none of 20 responses was judged" in outcome.why
    assert "it holds no complete JSON object (20)" in outcome.why
    assert "one reply: I [31mcannot say. I" in outcome.why
    assert len(outcome.why) < 400
    assert outcome.why.isprintable()
    # those that were in flight with the 20th are asked to their end
    assert 20 * 3 <= len(grader.calls) <= 24 * 3
    asked = len(model.calls)

    grader.script = keyword_grader
    judge = grader if again == "by the same" else other
    amend_run(folder, grader=judge.model)
    before = len(judge.calls)
    assert resume(folder).complete
    assert len(judge.calls) - before == 60
    assert len(model.calls) == 60
    assert asked <= 60
    judgments = read_runs(tmp_path).judgments
    assert judgments["present"].null_count() == 0
    assert len(read_paid_calls(folder)) == len(model.calls) + len(grader.calls) + len(other.calls)


def test_one_usable_judgment_is_enough(bank: Path, tmp_path: Path) -> None:
    """A grader that has judged one item is bad and no more: the rest is unresolved."""

    def script(call: Call) -> str:
        return keyword_grader(call) if len(grader.calls) == 1 else "I cannot say."

    model, grader = Fake("judged-once", answer), Fake("useful-once", script)
    run = replace(make(bank, model, grader, max_connections=1), epochs=15)
    outcome = resume(prepare(run, tmp_path / "robot"))
    assert (outcome.complete, outcome.stopped) == (True, None)


class UnauthorizedError(Exception):
    """The error that a provider raises for a wrong key."""

    status_code = 401


def test_a_key_that_is_wrong_ends_a_run(bank: Path, tmp_path: Path) -> None:
    """A run ends after five calls that were turned away, not after failing each sample."""

    def script(_: Call) -> str:
        raise UnauthorizedError("No such key.")

    model = Fake("keyless", script)
    run = replace(make(bank, model, None, max_connections=1), epochs=20)
    folder = prepare(run, tmp_path / "robot")
    outcome = resume(folder)
    assert outcome.stopped is Stop.turned_away
    assert outcome.why == "fake/keyless: the server answered 401 (Unauthorized): No such key."
    assert len(model.calls) == 5
    model.script = answer
    assert resume(folder).complete


def test_one_call_that_is_turned_away_ends_nothing(bank: Path, tmp_path: Path) -> None:
    """Once a call has come back, others that are turned away are missing, and the run goes on."""

    def script(call: Call) -> str:
        if len(model.calls) > 1:
            raise UnauthorizedError("No such key.")
        return answer(call)

    model = Fake("keyless-later", script)
    run = replace(make(bank, model, None, max_connections=1), epochs=5)
    outcome = resume(prepare(run, tmp_path / "robot"))
    assert (outcome.stopped, outcome.n_failed) == (None, 9)


def test_a_full_disk_ends_a_run(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If an answer cannot be stored, no other is paid for, and none is used."""
    model = Fake("full", answer)
    append = JsonLines.append

    def full(lines: JsonLines, row: Any) -> Any:
        if lines.path.name == CALLS_FILE:
            raise OSError(errno.ENOSPC, "No space left on device")
        return append(lines, row)

    monkeypatch.setattr(JsonLines, "append", full)
    folder = prepare(make(bank, model, None, max_connections=1), tmp_path / "robot")
    assert resume(folder).stopped is Stop.disk
    assert len(model.calls) == 1
    monkeypatch.undo()
    assert resume(folder).complete


def event(request: dict[str, Any] | None) -> ModelEvent:
    """A call as the transcript has it."""
    call = None if request is None else ModelCall.create(request, {})
    return ModelEvent(
        model="fake/m", input=[], tools=[], tool_choice="none", config=GenerateConfig(),
        output=ModelOutput(), call=call,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        ([], {}),
        ([None], {}),
        ([{"model": "m", "temperature": 1.0, "seed": 7}], {"temperature": 1.0, "seed": 7}),
        ([{"temperature": 1.0}, {"reasoning_effort": "low"}], {"reasoning_effort": "low"}),
    ],
)
def test_sampling_is_what_the_last_request_said(
    requests: list[dict[str, Any] | None], expected: dict[str, Any]
) -> None:
    """Only fields that the last call really sent are reported, and nothing where it is unknown."""
    transcript = Transcript(log_model_api=True)
    init_transcript(transcript)
    for request in requests:
        transcript._event(event(request))
    assert sampling_logged() == expected
