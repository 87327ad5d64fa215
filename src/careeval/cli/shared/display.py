"""The display of runs in progress: bars in a terminal, a plain line now and then in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from careeval.cli.app import say
from careeval.core.text import counted, dollars, plain
from careeval.protocol.run import RunProgress, total_progress
from careeval.protocol.workers import Show

LINE_EVERY = 30.0
"""Seconds between two lines in a pipe."""

BAR_WIDTH = 20
"""Width of a bar in columns."""


@contextmanager
def progress_display(max_cost: float | None) -> Iterator[Show]:
    """Show on stderr, while the block carries out runs, how far they are.

    Yields a function to call with the progress of all runs, and whether they are being ended.
    """
    if not sys.stderr.isatty():
        yield ProgressLines()
        return
    with Live(console=Console(stderr=True), auto_refresh=False, transient=True) as live:
        yield lambda runs, ending: live.update(bars(runs, max_cost, ending=ending), refresh=True)


class ProgressLines:
    """Prints a line on the progress of all runs every 30 seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._printed_at = clock()

    def __call__(self, progress: Sequence[RunProgress], ending: bool) -> None:
        """Print the line if 30 seconds have passed since the last one."""
        if progress and self._clock() - self._printed_at >= LINE_EVERY:
            self._printed_at = self._clock()
            say(line(progress, ending=ending))


def line(progress: Sequence[RunProgress], *, ending: bool = False) -> str:
    """Return the progress of all runs in one line, which also says if they are being ended."""
    n_waiting = sum(each.waiting for each in progress)
    progress = [each for each in progress if not each.waiting]
    run = total_progress(progress)
    name = progress[0].system if len(progress) == 1 else f"{len(progress)} runs"
    n_errors = run.n_failed + sum(each.n_errors for each in progress)
    last = next((f", the last: {each.last_error}" for each in progress if each.last_error), "")
    parts = (
        f"{name}: {run.n_done:,} of {run.n_samples:,} responses ({run.percent}%)",
        _rate(run),
        _left(progress),
        _cost(run),
        f"{n_errors} errors{last}" if n_errors else "",
        _waiting(n_waiting),
        "ending" if ending else "",
    )
    return ", ".join(filter(None, parts))


def bars(
    progress: Sequence[RunProgress], max_cost: float | None, *, ending: bool = False
) -> RenderableType:
    """Return a table with a bar for each run, and notes on budget, errors and ending below it."""
    n_waiting = sum(each.waiting for each in progress)
    progress = [each for each in progress if not each.waiting]
    table = Table.grid(padding=(0, 2))
    for run in progress:
        table.add_row(*_row(run, _left([run])))
    if len(progress) > 1:
        table.add_row(*_row(total_progress(progress), _left(progress)))
    failing = [run for run in progress if run.last_error]
    n_errors = sum(run.n_errors + run.n_failed for run in progress)
    lines = []
    if max_cost is not None:
        lines.append(f"budget {dollars(max_cost)}, earlier spending included")
    if n_waiting:
        lines.append(f"{_waiting(n_waiting)} until others have ended")
    if failing:
        lines.append(f"errors {n_errors}, the last: {failing[-1].last_error}")
    if ending:
        lines.append("Ending: waiting for calls in flight. Ctrl-C once more drops them.")
    return Group(table, *(Text(plain(line), style="dim") for line in lines))


def _row(run: RunProgress, left: str) -> tuple[RenderableType, ...]:
    bar = ProgressBar(total=100, completed=run.percent, width=BAR_WIDTH)
    cells = (
        f"{run.n_done:,}/{run.n_samples:,}",
        f"{run.percent}%",
        _rate(run),
        left,
        _cost(run),
        f"{run.n_failed} failed" if run.n_failed else "",
    )
    return Text(plain(run.system)), bar, *(Text(cell) for cell in cells)


def _waiting(n: int) -> str:
    return counted(n, "more run waits", "more runs wait") if n else ""


def _rate(run: RunProgress) -> str:
    if run.rate is None or run.ended:
        return ""
    # a slow run is shown by the minute, since 0.0/s would say nothing
    return f"{run.rate:.1f}/s" if run.rate >= 1 or not run.rate else f"{60 * run.rate:.1f}/min"


def _left(progress: Sequence[RunProgress]) -> str:
    """Return the time until the last of these runs ends, as text; empty while it is unknown."""
    times = [run.seconds_left for run in progress]
    known_times = [seconds for seconds in times if seconds is not None]
    if len(known_times) < len(times) or not any(known_times):
        return ""
    return f"{timedelta(seconds=round(max(known_times)))} left"


def _cost(run: RunProgress) -> str:
    return dollars(run.usd) if run.usd != 0 else ""
