"""The display of runs in progress, in a terminal and in a pipe."""

from __future__ import annotations

import pytest
from rich.console import Console
from rich.text import Text

from careeval.cli.shared.run_execution import ProgressLines, bars, line
from careeval.protocol.run import RunProgress

BAR = "━" * 20


def shown(*progress: RunProgress, max_cost: float | None = None, ending: bool = False) -> list[str]:
    """Return the lines on a wide terminal, with each bar as one character."""
    console = Console(width=200, color_system="truecolor", force_terminal=True, _environ={})
    with console.capture() as capture:
        console.print(bars(progress, max_cost, ending=ending))
    plain = Text.from_ansi(capture.get()).plain.replace("╸", "━").replace("╺", "━")
    return [" ".join(line.replace(BAR, "▬").split()) for line in plain.splitlines()]


def test_worked_example() -> None:
    """143 of 400, 4 a second in the last minute: 257 are left and take 64 seconds."""
    run = RunProgress("robot", 400, n_done=143, n_calls=80, usd=0.71, rate=4.0)
    assert shown(run) == ["robot ▬ 143/400 35% 4.0/s 0:01:04 left $0.71"]


def test_a_bar_is_as_long_as_what_is_done() -> None:
    """Half of the responses are half of the bar."""
    console = Console(width=200, color_system=None)
    with console.capture() as capture:
        console.print(bars([RunProgress("a", 10, n_done=5)], None))
    assert capture.get().count("━") == 10


def test_a_slow_run_has_a_rate_a_minute() -> None:
    """One in ten seconds is shown as six a minute."""
    assert "6.0/min" in shown(RunProgress("robot", 100, n_done=1, rate=0.1))[0]


def test_errors_and_the_budget_are_said() -> None:
    """Errors, the last one and the budget are shown below the bars, and failed samples beside."""
    run = RunProgress(
        "robot",
        10,
        n_done=2,
        n_failed=1,
        usd=0.5,
        n_errors=3,
        last_error="429, again in 8 s",
        rate=0.0,
    )
    assert shown(run, max_cost=3.0) == [
        "robot ▬ 2/10 20% 0.0/s $0.50 1 failed",
        "budget $3.00, earlier spending included",
        "errors 4, the last: 429, again in 8 s",
    ]


def test_several_runs_have_a_sum() -> None:
    """Below several runs is their sum, which takes as long as the slowest of them."""
    a = RunProgress("a", 10, n_done=5, n_calls=5, usd=1.0, rate=2.5)
    b = RunProgress("b", 10, n_done=8, n_calls=1, usd=None, rate=1.0)
    c = RunProgress("c", 10, n_done=10, n_calls=9, usd=2.0, ended=True)
    assert shown(a, b, c) == [
        "a ▬ 5/10 50% 2.5/s 0:00:02 left $1.00",
        "b ▬ 8/10 80% 1.0/s 0:00:02 left unknown",
        "c ▬ 10/10 100% $2.00",
        "all ▬ 23/30 76% 3.5/s 0:00:02 left unknown",
    ]


def test_in_a_pipe_there_is_one_line_in_thirty_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Called four times a second for 100 seconds, it prints three plain lines."""
    now = [0.0]
    lines = ProgressLines(lambda: now[0])
    for quarter in range(400):
        now[0] = quarter / 4
        lines([RunProgress("robot", 400, n_done=quarter, usd=0.71, rate=4.0)], False)
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "robot: 120 of 400 responses (30%), 4.0/s, 0:01:10 left, $0.71",
        "robot: 240 of 400 responses (60%), 4.0/s, 0:00:40 left, $0.71",
        "robot: 360 of 400 responses (90%), 4.0/s, 0:00:10 left, $0.71",
    ]


def test_a_line_takes_all_runs_together() -> None:
    """Two runs are one line, with their errors, and while one's rate is unknown without a time."""
    a = RunProgress("a", 10, n_done=5, usd=1.0, rate=2.5, n_errors=2)
    b = RunProgress("b", 10, n_done=1, usd=1.0, n_failed=1)
    assert line([a, b], ending=True) == "2 runs: 6 of 20 responses (30%), $2.00, 3 errors, ending"


def test_the_end_is_announced() -> None:
    """While runs are being ended, a line says what is waited for and how not to wait."""
    assert "Ctrl-C once more" in shown(RunProgress("a", 1), ending=True)[-1]


def test_what_a_model_is_called_moves_no_cursor() -> None:
    """A name and an error are shown without the control characters that are in them."""
    [line, error] = shown(RunProgress("a\x1b[31m", 1, last_error="\x1b]0;x\x07bad", n_errors=1))
    assert "\x1b" not in line + error
    assert "\x07" not in error
