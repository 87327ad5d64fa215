"""careeval from Python: what a notebook calls and shows."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import polars as pl
import pytest

import careeval
from careeval.core.response import LEXICAL
from careeval.core.scenario import Scenario
from careeval.protocol.recorded_responses import TIMES_FAILED, ask_function, kept_responses
from careeval.protocol.run_folder import RESPONSES_FILE, read_run_file
from support.bank_folder import GOOD_BANK


def _asks(scenario: Scenario) -> str:
    """Stand in for a system."""
    return f"I stop and ask where it hurts, for {scenario.id} <b>."


def test_a_function_is_run_and_summarised(tmp_path: Path) -> None:
    """A function's words are graded as any response; frame, table and entries say the same."""
    runs = careeval.run(
        _asks, tmp_path, grader="careeval/lexical", name="planner", epochs=2, bank=GOOD_BANK
    )
    summaries = careeval.summarise(runs)
    (entry,) = summaries
    assert (entry.system, entry.n_responses) == ("planner", 2 * len(careeval.load_bank(GOOD_BANK)))
    frame = careeval.summary_frame(runs)
    assert frame["score"].to_list() == [entry.score.value]
    for given in (summaries, [*summaries]):
        assert careeval.summary_frame(given).equals(frame)
    n = entry.n_responses
    assert repr(runs).splitlines()[0].startswith(f"<Runs: 1 system, {n} responses, ")
    shown = summaries._repr_html_()
    assert "<td>" in shown
    assert repr(summaries) in shown.replace("&#x27;", "'")
    assert summaries[:1] == summaries
    with pytest.raises(careeval.CareEvalError, match="already has a run"):
        careeval.run(_asks, tmp_path, grader="careeval/lexical", name="planner", bank=GOOD_BANK)


class Planner:
    """Stands in for a system with an asynchronous function, which fails at one of its calls."""

    def __init__(self, fails_at: int) -> None:
        self.fails_at, self.n_calls = fails_at, 0

    async def answer(self, scenario: Scenario) -> str:
        """Answer a scenario."""
        self.n_calls += 1
        if self.n_calls == self.fails_at:
            raise ValueError("the planner broke")
        await asyncio.sleep(0)
        return _asks(scenario)


def test_an_exception_costs_one_response(tmp_path: Path) -> None:
    """Of ten calls the seventh fails: nine are kept and graded, and resuming makes one more."""
    planner = Planner(fails_at=7)
    scenario = careeval.load_bank(GOOD_BANK).bases[0].id
    about = {"grader": LEXICAL, "name": "planner", "bank": GOOD_BANK, "scenarios": [scenario]}
    with pytest.raises(careeval.CareEvalError, match="the planner broke") as raised:
        careeval.run(planner.answer, tmp_path, **about)
    assert isinstance(raised.value.__cause__, ValueError)
    assert planner.n_calls == 10
    graded = careeval.read_runs(tmp_path).judgments.filter(pl.col("present").is_not_null())
    assert graded["epoch"].n_unique() == 9
    with pytest.raises(careeval.CareEvalError, match="already has a run"):
        careeval.run(planner.answer, tmp_path, **about)
    runs = careeval.run(planner.answer, tmp_path, resume=True, **about)
    assert planner.n_calls == 11
    assert runs.responses["state"].to_list() == ["answered"] * 10
    careeval.run(planner.answer, tmp_path, resume=True, **about)
    assert planner.n_calls == 11
    with pytest.raises(careeval.CareEvalError, match="begun with another epochs"):
        careeval.run(planner.answer, tmp_path, resume=True, epochs=3, **about)


def test_a_function_is_called_side_by_side(tmp_path: Path) -> None:
    """Three calls of a plain function are in flight at once if three may be, and no fourth."""
    together, n_inside, most = threading.Barrier(3, timeout=60), 0, 0
    lock = threading.Lock()

    def waits(scenario: Scenario) -> str:
        nonlocal n_inside, most
        with lock:
            n_inside += 1
            most = max(most, n_inside)
        together.wait()
        with lock:
            n_inside -= 1
        return _asks(scenario)

    first = careeval.load_bank(GOOD_BANK).bases[0]
    questions = [(first, epoch) for epoch in range(1, 7)]
    assert ask_function(waits, questions, tmp_path / RESPONSES_FILE, "robot", at_once=3) == []
    assert (len(kept_responses(tmp_path / RESPONSES_FILE)), most) == (6, 3)


def test_each_response_is_on_disk_as_it_comes(tmp_path: Path) -> None:
    """While the third call is made, the file has two; a line that was cut off is not taken."""
    file, kept = tmp_path / RESPONSES_FILE, list[int]()

    def looks(scenario: Scenario) -> str:
        kept.append(len(kept_responses(file)))
        return _asks(scenario) + "\ud800"

    file.write_text('{"scenario": "dressing-001", "resp', encoding="utf-8")
    questions = [(careeval.load_bank(GOOD_BANK).bases[0], epoch) for epoch in (1, 2, 3)]
    assert ask_function(looks, questions, file, "robot", at_once=1) == []
    assert kept == [0, 1, 2]
    assert [response.epoch for response in kept_responses(file)] == [1, 2, 3]


def test_a_function_that_always_fails_is_given_up(tmp_path: Path) -> None:
    """A function that returns no text is called a few times, not for every response."""
    n_calls = 0

    def forgets(_: Scenario) -> str:
        nonlocal n_calls
        n_calls += 1
        return None  # type: ignore[return-value]

    with pytest.raises(careeval.CareEvalError, match="returned NoneType, not text"):
        careeval.run(forgets, tmp_path, grader=LEXICAL, bank=GOOD_BANK, max_connections=1)
    assert n_calls == TIMES_FAILED


def test_a_run_on_a_server_of_ones_own(tmp_path: Path) -> None:
    """Address, connections and prices of one's own are those of the run, which `yes` lets begin."""
    prices = {"vllm/own": {"input": 0.0, "output": 0.5}}
    about = {"grader": LEXICAL, "bank": GOOD_BANK, "base_url": "http://127.0.0.1:9/v1"}
    with pytest.raises(careeval.CareEvalError, match="not complete"):
        careeval.run("vllm/own", tmp_path, prices=prices, yes=True, max_connections=3, **about)
    run = read_run_file(tmp_path / "vllm-own")
    assert (run.base_url, run.max_connections) == (about["base_url"], 3)
    assert run.prices["vllm/own"].output == 0.5
    with pytest.raises(careeval.CareEvalError, match="is not a model name"):
        careeval.run("vllm/own", tmp_path, prices={"own": {"input": 1.0}}, **about)


def test_runs_are_shown_in_a_few_lines() -> None:
    """What is printed of runs has their sizes and notes, and no table."""
    runs = careeval.Runs.of([], [], ["robot: 1 sample failed"])
    assert isinstance(runs.responses, pl.DataFrame)
    shown = "<Runs: 0 systems, 0 responses, 0 judgments>\nrobot: 1 sample failed"
    assert repr(runs) == shown


def test_silence_is_empty(tmp_path: Path) -> None:
    """A function that returns no word has given empty responses, which score 0."""
    runs = careeval.run(
        lambda _: " ", tmp_path, grader="careeval/lexical", name="silent", epochs=1, bank=GOOD_BANK
    )
    (entry,) = careeval.summarise(runs)
    assert (entry.n_empty, entry.score.value) == (entry.n_responses, 0)


@pytest.mark.parametrize(
    ("max_cost", "model", "said"),
    [
        (None, "openai/gpt-4o", "may cost money"),
        (5.0, "vllm/own", "price of vllm/own is not known"),
    ],
)
def test_money_is_asked_for(tmp_path: Path, max_cost: float | None, model: str, said: str) -> None:
    """No call is made that may cost money unless it is said how much, and can be kept to."""
    with pytest.raises(careeval.CareEvalError, match=said):
        careeval.run(model, tmp_path, grader="careeval/lexical", max_cost=max_cost, bank=GOOD_BANK)
    assert list(tmp_path.iterdir()) == []


def test_a_bank_is_asked_for_a_scenario_by_its_id() -> None:
    """It is a collection of scenarios, and each is shown as text, with its markup as text."""
    bank = careeval.load_bank(GOOD_BANK)
    (first, *_) = bank
    assert bank[first.id] is first
    with pytest.raises(careeval.CareEvalError, match="has no scenario 'nobody-1'"):
        bank["nobody-1"]
    hostile = first.model_copy(update={"text": "<script>"})
    assert "<script>" not in hostile._repr_html_()
    assert first.actions[0].text in first._repr_html_()
    assert f"{len(bank)} scenarios" in repr(bank)
    assert bank.about.name in bank._repr_html_()
