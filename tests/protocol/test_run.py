"""Counting and reporting the progress of a run."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from careeval.protocol import run as module
from careeval.protocol.evaluate import resume
from careeval.protocol.ledger import PaidCall
from careeval.protocol.run import Pace, Run, RunCallbacks, RunProgress, Tally, total_progress
from careeval.protocol.run_setup import prepare
from support.fakes import Call, Fake, keyword_grader


def paid(usd: float | None) -> PaidCall:
    """A call that cost so much."""
    return PaidCall("ask", "fake/model", 10, 20, usd, 0.5)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[RunProgress]:
    """The reports of a tally, without waiting in between."""
    monkeypatch.setattr(module, "EVERY", 0.0)
    return []


def test_worked_example(told: list[RunProgress]) -> None:
    """Of four samples one is there, one is finished now, one is given up, for two calls' money."""
    tally = Tally("robot", 4, {("a", 1)}, told.append)
    tally.count_call(paid(0.5))
    tally.count_call(paid(0.25))
    tally.count_failed_attempt("429", "in 8 s")
    tally.count_sample(("a", 2), None)
    tally.count_sample(("b", 1), "no answer in time")
    assert told[-1] == RunProgress(
        "robot", 4, n_done=2, n_failed=1, n_calls=2, usd=0.75, n_errors=1,
        last_error="no answer in time",
    )  # fmt: skip


def test_an_unknown_cost_makes_the_whole_unknown(told: list[RunProgress]) -> None:
    """After one call without a cost the cost so far is not known, whatever comes then."""
    tally = Tally("robot", 1, set(), told.append)
    tally.count_call(paid(None))
    tally.count_call(paid(1.0))
    assert told[-1].usd is None


def test_what_is_tried_again_counts_once(told: list[RunProgress]) -> None:
    """A sample that was given up and then finished is done, and no longer given up."""
    tally = Tally("robot", 1, set(), told.append)
    tally.count_sample(("a", 1), "down")
    tally.count_sample(("a", 1), None)
    tally.count_sample(("a", 1), None)
    assert (told[-1].n_done, told[-1].n_failed) == (1, 0)


def test_reports_are_not_a_flood(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a quarter of a second one report is made, however much happens."""
    clock = SimpleNamespace(monotonic=lambda: 100.0)
    monkeypatch.setattr(module, "time", clock)
    told: list[RunProgress] = []
    tally = Tally("robot", 9, set(), told.append)
    for _ in range(9):
        tally.count_call(paid(1.0))
    assert [each.n_calls for each in told] == [1]
    tally.flush()
    assert told[-1].n_calls == 9


def test_a_run_tells_how_far_it_has_come(bank: Path, tmp_path: Path) -> None:
    """A run that is resumed counts what its log has as done, and adds to it."""

    def failing(call: Call) -> str:
        if "eating" in call.request:
            raise ConnectionError("down")
        return "I wait."

    model, grader = Fake("watched", failing), Fake("watched-grader", keyword_grader)
    folder = prepare(
        Run("robot", model.model, grader.model, 2, {"bank": str(bank)}), tmp_path / "robot"
    )
    told: list[RunProgress] = []
    resume(folder, watch=RunCallbacks(report=told.append))
    first = told[-1]
    assert (first.n_samples, first.n_done, first.n_failed) == (4, 2, 2)
    assert (first.n_calls, first.last_error) == (4, "the connection failed: down")
    model.script = lambda _: "I wait."
    resume(folder, watch=RunCallbacks(report=told.append))
    last = told[-1]
    assert (last.n_done, last.n_failed, last.n_calls) == (4, 0, 4)


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def test_the_rate_is_of_the_last_minute() -> None:
    """After a slow start, 60 in the last minute are one a second, whatever came before."""
    clock = Clock()
    pace = Pace(clock)
    for second in range(600):
        pace.rate(second // 10)
        clock.now += 1
    rates = []
    for second in range(61):
        rates.append(pace.rate(60 + second))
        clock.now += 1
    assert rates[0] == pytest.approx(0.1)
    assert rates[-1] == pytest.approx(1)


def test_what_was_done_before_is_no_rate() -> None:
    """A resumed run begins with 900 of 1,000, and is not fast for that."""
    clock = Clock()
    pace = Pace(clock)
    assert pace.rate(900) is None
    clock.now += 10
    assert pace.rate(905) == pytest.approx(0.5)


def test_a_run_that_stalls_slows_down() -> None:
    """While nothing is finished the rate falls, and after a minute it is 0: no time is promised."""
    clock = Clock()
    pace = Pace(clock)
    pace.rate(0)
    clock.now += 10
    assert pace.rate(10) == pytest.approx(1)
    clock.now += 10
    assert pace.rate(10) == pytest.approx(0.5)
    for _ in range(61):
        clock.now += 1
        rate = pace.rate(10)
    assert rate == 0
    assert RunProgress("a", 20, n_done=10, rate=rate).seconds_left is None


def test_there_is_no_hundred_percent_before_the_end() -> None:
    """999 of 1,000 are 99%, all of them are 99% while the run goes on, and 100% when it ended."""
    assert RunProgress("a", 1_000, n_done=999, ended=True).percent == 99
    assert RunProgress("a", 1_000, n_done=1_000).percent == 99
    assert RunProgress("a", 1_000, n_done=1_000, ended=True).percent == 100


def test_what_is_left_takes_as_long_as_the_rate_says() -> None:
    """100, of which 60 are done and 10 given up, at 3 a second: 10 seconds."""
    assert RunProgress("a", 100, n_done=60, n_failed=10, rate=3.0).seconds_left == 10


def test_runs_together() -> None:
    """Counts and rates add up; an unknown cost is unknown for all; one that ended has no rate."""
    a = RunProgress("a", 10, n_done=10, usd=1.0, rate=None, ended=True)
    b = RunProgress("b", 10, n_done=4, usd=0.5, rate=2.0)
    both = total_progress([a, b])
    assert (both.n_samples, both.n_done, both.usd, both.rate, both.ended) == (20, 14, 1.5, 2, False)
    unknown = total_progress([b, RunProgress("c", 10, usd=None)])
    assert (unknown.usd, unknown.rate) == (None, None)


def test_a_held_out_run_shows_that_a_call_is_made_again() -> None:
    """The display says when it goes on, and none of the server's words."""
    shown: list[RunProgress] = []
    tally = Tally("robot", 2, set(), shown.append, is_held_out=True)
    tally.count_failed_attempt("m: the server answered 429: secret words", "in 60 min, at 12:00")
    tally.flush()
    assert shown[-1].n_errors == 1
    assert shown[-1].last_error == (
        "an attempt failed, its words are not shown; again in 60 min, at 12:00"
    )
