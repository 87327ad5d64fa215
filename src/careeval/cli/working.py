"""Runs while they are carried out: how far they have come, and how they ended."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from careeval.cli.app import BUDGET_REACHED, INTERRUPTED, SOME_FAILED, plain, say
from careeval.cli.spending import Spending, say_spent
from careeval.protocol.progress import Progress
from careeval.protocol.run import Outcome, Stop, forget, read_run_file, sharing
from careeval.protocol.workers import carry_out
from careeval.results.exports import dollars


def agreed(folders: Sequence[Path], spending: Spending, *, json_plan: bool = False) -> int | None:
    """Have what prepared runs will send and cost agreed to: see `Spending.refused`.

    Where it is not, the runs are taken back.
    """
    go_on = False
    try:
        status = spending.refused([read_run_file(each) for each in folders], json_plan=json_plan)
        go_on = status is None
    finally:
        for folder in () if go_on else folders:
            forget(folder)
    return status


def work(folders: Sequence[Path], *, fresh: bool = False) -> list[Outcome]:
    """Carry out the runs in these folders, and show in a terminal how far they have come.

    Raises:
        ProtocolError: As `carry_out`.
    """
    max_cost = read_run_file(folders[0]).max_cost
    if not sys.stderr.isatty():
        outcomes = carry_out(folders, fresh=fresh)
    else:
        began = time.monotonic()
        with Live(console=Console(stderr=True), auto_refresh=False, transient=True) as live:

            def show(progress: Sequence[Progress], ending: bool) -> None:
                seconds = time.monotonic() - began
                live.update(status(progress, seconds, max_cost, ending=ending), refresh=True)

            outcomes = carry_out(folders, show, fresh=fresh)
    say_spent(list({each for folder in folders for each in sharing(folder)}), max_cost)
    return outcomes


def status(
    progress: Sequence[Progress], seconds: float, max_cost: float | None, *, ending: bool = False
) -> Group:
    """How far runs have come, as a terminal shows it.

    Args:
        progress: Of each run that has begun.
        seconds: Since they were begun or resumed.
        max_cost: Dollars that may be spent.
        ending: Whether they are being ended.
    """
    table = Table.grid(padding=(0, 2))
    for run in progress:
        table.add_row(*_row(run, seconds))
    if len(progress) > 1:
        table.add_row(*_row(_together(progress), seconds))
    failing = [run for run in progress if run.last_error]
    n_errors = sum(run.n_errors + run.n_failed for run in progress)
    lines = []
    if max_cost is not None:
        lines.append(f"budget {dollars(max_cost)}, what was spent before included")
    if failing:
        lines.append(f"errors {n_errors}, the last: {failing[-1].last_error}")
    if ending:
        lines.append("Ending: waiting for calls in flight. Ctrl-C once more drops them.")
    return Group(table, *(Text(plain(line), style="dim") for line in lines))


def _together(progress: Sequence[Progress]) -> Progress:
    costs = [run.usd for run in progress]
    known = [cost for cost in costs if cost is not None]
    return Progress(
        "all",
        sum(run.n_samples for run in progress),
        sum(run.n_done for run in progress),
        sum(run.n_new for run in progress),
        sum(run.n_failed for run in progress),
        sum(run.n_calls for run in progress),
        sum(known) if len(known) == len(costs) else None,
    )


def _row(run: Progress, seconds: float) -> tuple[Text, ...]:
    rate = run.n_new / seconds if seconds else 0.0
    left = run.n_samples - run.n_done
    cells = (
        run.system,
        f"{run.n_done:,}/{run.n_samples:,}",
        f"{run.n_done / run.n_samples:.0%}",
        f"{rate:.1f}/s",
        f"{timedelta(seconds=round(left / rate))} left" if rate else "",
        dollars(run.usd) if run.usd != 0 else "",
        f"{run.n_failed} failed" if run.n_failed else "",
    )
    return tuple(Text(plain(cell)) for cell in cells)


def unfinished(outcomes: Sequence[Outcome], root: Path, again: str = "") -> int:
    """Say of runs that did not come to their end why, and how to go on; the exit status comes back.

    Args:
        outcomes: Of all runs, one of which is not complete at least.
        root: The folder that resuming is told.
        again: The command that goes on, where it is another.
    """
    again = again or f"careeval run --resume -o {root}"
    reasons = {outcome.stopped for outcome in outcomes}
    for outcome in outcomes:
        match outcome.stopped:
            case Stop.died:
                say(f"{outcome.folder}: broke off: {outcome.why}")
            case Stop.turned_away:
                say(f"{outcome.folder}: every call was turned away: {outcome.why}")
            case Stop.disk:
                say(f"{outcome.folder}: could not be written: is the disk full?")
            case None if outcome.n_failed:
                say(f"{outcome.folder}: {outcome.n_failed} samples failed")
    if Stop.interrupted in reasons:
        say(f"Stopped; what was finished is kept. Go on with: {again}")
        return INTERRUPTED
    if Stop.budget in reasons:
        say(f"What was finished is kept. Go on with: {again} --max-cost MORE")
        return BUDGET_REACHED
    if Stop.unmetered in reasons:
        say("A call came back without a count of tokens, so the budget cannot be kept.")
        say(f"What was finished is kept. To go on without a budget: {again} --max-cost inf")
        return BUDGET_REACHED
    say(f"What was finished is kept. Go on with: {again}")
    return SOME_FAILED
