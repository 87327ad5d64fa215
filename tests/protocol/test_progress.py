"""How far a run has come, as it is counted and told."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from careeval.protocol import progress as module
from careeval.protocol.ledger import Paid
from careeval.protocol.progress import Progress, Tally
from careeval.protocol.run import Run, Watch, prepare, resume
from fakes import Call, Fake, keyword_grader


def paid(usd: float | None) -> Paid:
    """A call that cost so much."""
    return Paid("ask", "fake/model", 10, 20, usd, 0.5)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Progress]:
    """What a tally reports, without waiting in between."""
    monkeypatch.setattr(module, "EVERY", 0.0)
    return []


def test_worked_example(told: list[Progress]) -> None:
    """Of four samples one is there, one is finished now, one is given up, for two calls' money."""
    tally = Tally("robot", 4, {("a", 1)}, told.append)
    tally.paid(paid(0.5))
    tally.paid(paid(0.25))
    tally.failing("429, again in 8 s")
    tally.ended(("a", 2), None)
    tally.ended(("b", 1), "no answer in time")
    assert told[-1] == Progress(
        "robot", 4, n_done=2, n_new=1, n_failed=1, n_calls=2, usd=0.75, n_errors=1,
        last_error="no answer in time",
    )  # fmt: skip


def test_an_unknown_cost_makes_the_whole_unknown(told: list[Progress]) -> None:
    """After one call without a cost the cost so far is not known, whatever comes then."""
    tally = Tally("robot", 1, set(), told.append)
    tally.paid(paid(None))
    tally.paid(paid(1.0))
    assert told[-1].usd is None


def test_what_is_tried_again_counts_once(told: list[Progress]) -> None:
    """A sample that was given up and then finished is done, and no longer given up."""
    tally = Tally("robot", 1, set(), told.append)
    tally.ended(("a", 1), "down")
    tally.ended(("a", 1), None)
    tally.ended(("a", 1), None)
    assert (told[-1].n_done, told[-1].n_new, told[-1].n_failed) == (1, 1, 0)


def test_reports_are_not_a_flood(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a quarter of a second one report is made, however much happens."""
    clock = SimpleNamespace(monotonic=lambda: 100.0)
    monkeypatch.setattr(module, "time", clock)
    told: list[Progress] = []
    tally = Tally("robot", 9, set(), told.append)
    for _ in range(9):
        tally.paid(paid(1.0))
    assert [each.n_calls for each in told] == [1]
    tally.flush()
    assert told[-1].n_calls == 9


def test_a_run_tells_how_far_it_has_come(bank: Path, tmp_path: Path) -> None:
    """A run that is resumed counts what its log has as done, and what it adds as new."""

    def failing(call: Call) -> str:
        if "eating" in call.request:
            raise ConnectionError("down")
        return "I wait."

    model, grader = Fake("watched", failing), Fake("watched-grader", keyword_grader)
    folder = prepare(
        Run("robot", model.model, grader.model, 2, {"bank": str(bank)}), tmp_path / "robot"
    )
    told: list[Progress] = []
    resume(folder, watch=Watch(report=told.append))
    first = told[-1]
    assert (first.n_samples, first.n_done, first.n_new, first.n_failed) == (4, 2, 2, 2)
    assert (first.n_calls, first.last_error) == (6, "the connection failed: down")
    model.script = lambda _: "I wait."
    resume(folder, watch=Watch(report=told.append))
    last = told[-1]
    assert (last.n_done, last.n_failed, last.n_calls) == (4, 0, 6)
