"""What a terminal shows of runs while they go on."""

from __future__ import annotations

from rich.console import Console

from careeval.cli.working import status
from careeval.protocol.progress import Progress


def shown(*progress: Progress, max_cost: float | None = None, ending: bool = False) -> list[str]:
    """The lines on a wide terminal after ten seconds."""
    console = Console(width=200)
    with console.capture() as capture:
        console.print(status(progress, 10.0, max_cost, ending=ending))
    return [" ".join(line.split()) for line in capture.get().splitlines()]


def test_worked_example() -> None:
    """143 of 400, of them 40 in these ten seconds, are 4 a second, and take 64 seconds more."""
    run = Progress("robot", 400, n_done=143, n_new=40, n_calls=80, usd=0.71)
    assert shown(run) == ["robot 143/400 36% 4.0/s 0:01:04 left $0.71"]


def test_errors_and_the_budget_are_said() -> None:
    """Errors, the last one and the budget stand below, and what was given up beside."""
    run = Progress(
        "robot",
        10,
        n_done=2,
        n_new=2,
        n_failed=1,
        usd=0.5,
        n_errors=3,
        last_error="429, again in 8 s",
    )
    assert shown(run, max_cost=3.0) == [
        "robot 2/10 20% 0.2/s 0:00:40 left $0.50 1 failed",
        "budget $3.00, what was spent before included",
        "errors 4, the last: 429, again in 8 s",
    ]


def test_several_runs_have_a_sum() -> None:
    """Below several runs stands what they come to together; an unknown cost makes it unknown."""
    a = Progress("a", 10, n_done=5, n_new=5, n_calls=5, usd=1.0)
    b = Progress("b", 10, n_done=0, n_new=0, n_calls=1, usd=None)
    assert shown(a, b) == [
        "a 5/10 50% 0.5/s 0:00:10 left $1.00",
        "b 0/10 0% 0.0/s unknown",
        "all 5/20 25% 0.5/s 0:00:30 left unknown",
    ]


def test_the_end_is_announced() -> None:
    """While runs are being ended it is said what is waited for, and how not to wait."""
    assert "Ctrl-C once more" in shown(Progress("a", 1), ending=True)[-1]


def test_what_a_model_is_called_moves_no_cursor() -> None:
    """A name and an error are shown without the control characters that are in them."""
    [line, error] = shown(Progress("a\x1b[31m", 1, last_error="\x1b]0;x\x07bad", n_errors=1))
    assert "\x1b" not in line + error
    assert "\x07" not in error
