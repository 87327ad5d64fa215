"""Carrying out runs with a display of their progress, and messages on how they ended."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from careeval.cli.app import BUDGET_REACHED, INTERRUPTED, SOME_FAILED, report_error, say
from careeval.cli.shared.run_costs import SpendingOptions, say_spent
from careeval.core.response import LEXICAL
from careeval.core.text import counted, dollars, plain
from careeval.errors import CareEvalError
from careeval.protocol.retirements import at_their_providers, retirement_notes
from careeval.protocol.run import Outcome, RunProgress, Stop, total_progress
from careeval.protocol.run_folder import budget_folders, read_run_file
from careeval.protocol.run_setup import discard
from careeval.protocol.workers import EarlyWorkers, Show, carry_out

if TYPE_CHECKING:
    from careeval.results.tables import Runs


def confirm_prepared(
    folders: Sequence[Path],
    spending: SpendingOptions,
    *,
    address: str | None = None,
    json_plan: bool = False,
) -> int | None:
    """Ask the user whether prepared runs may send their calls: see `SpendingOptions.confirm`.

    `address` is that of the grader's server, if the user has typed it. Unless the user agrees, the
    runs are deleted from the disk.
    """
    is_agreed = False
    try:
        runs, typed = [read_run_file(each) for each in folders], [address] if address else []
        status = spending.confirm(runs, json_plan=json_plan, typed=typed)
        is_agreed = status is None
    finally:
        for folder in () if is_agreed else folders:
            discard(folder)
    return status


def work(
    folders: Sequence[Path], *, fresh: bool = False, early: EarlyWorkers | None = None
) -> list[Outcome]:
    """Carry out the runs in these folders with a progress display, and return how they ended.

    Meanwhile, the modules that show the result are loaded. Raises as `carry_out` does.
    """
    runs = [read_run_file(folder) for folder in folders]
    max_cost = runs[0].max_cost
    loading = Thread(target=_load, args=(any(run.grader == LEXICAL for run in runs),))
    with progress_display(max_cost) as show:

        def show_and_load(progress: Sequence[RunProgress], ending: bool) -> None:
            # only once calls have begun, so that nothing delays the first of them
            if progress and loading.ident is None:
                loading.start()
            show(progress, ending)

        outcomes = carry_out(folders, show_and_load, fresh=fresh, early=early)
    if loading.ident is not None:
        loading.join()
    say_spent(list({each for folder in folders for each in budget_folders(folder)}), max_cost)
    return outcomes


def _load(lexical: bool) -> None:
    """Load the modules that a summary needs before it is printed."""
    from careeval.bank.load import DEFAULT
    from careeval.protocol.regrade import lexical_sentence

    import_module("careeval.protocol.tables")
    if lexical:
        lexical_sentence(DEFAULT)


def is_readable(folder: Path, read: Callable[[Path], object]) -> bool:
    """Tell whether a run's files can be read; print the error if not, so that other runs go on."""
    try:
        read(folder)
    except CareEvalError as error:
        report_error(error)
        return False
    return True


def report_unfinished(outcomes: Sequence[Outcome], root: Path, again: str = "") -> int:
    """Print why runs did not finish and how to go on, and return the exit status.

    Args:
        outcomes: The outcomes of all runs, at least one of which is not complete.
        root: The folder to resume.
        again: The command that resumes, if not `careeval run --resume`.
    """
    again = again or f"careeval run --resume -o {root}"
    reasons = {outcome.stopped for outcome in outcomes}
    for outcome in outcomes:
        match outcome.stopped:
            case Stop.died:
                say(f"{outcome.folder}: the run ended early: {outcome.why}")
            case Stop.turned_away:
                say(f"{outcome.folder}: no call succeeded: {outcome.why}")
                endpoints = read_run_file(outcome.folder).endpoints
                for note in retirement_notes(at_their_providers(endpoints)):
                    say(note)
            case Stop.blind:
                say(f"{outcome.folder}: the system was not shown to see: {outcome.why}")
            case Stop.unusable:
                say(f"{outcome.folder}: no answer of the grader could be used: {outcome.why}")
            case Stop.disk:
                why = f": {outcome.why}" if outcome.why else ""
                say(f"{outcome.folder} cannot be written{why}; check that the disk is not full")
            case None if outcome.n_failed:
                last = f", the last of {outcome.why}" if outcome.why else ""
                say(f"{outcome.folder}: {outcome.n_failed} samples failed{last}")
    if Stop.interrupted in reasons:
        say(f"Stopped; what was finished is kept. To resume: {again}")
        return INTERRUPTED
    if Stop.budget in reasons:
        why = next(outcome.why for outcome in outcomes if outcome.stopped is Stop.budget)
        limit = dollars(read_run_file(outcomes[0].folder).max_cost)
        say(f"The budget of {limit} is reached{f': {why}' if why else ''}.")
        say(f"What was finished is kept. To resume: {again} --max-cost MORE")
        return BUDGET_REACHED
    if Stop.unmetered in reasons:
        say(
            "A call reported no plausible number of tokens, so its cost is not known and the "
            "budget cannot be kept."
        )
        say(f"What was finished is kept. To go on without a budget: {again} --max-cost inf")
        return BUDGET_REACHED
    if Stop.blind in reasons:
        say("Choose a model that takes pictures, or use --given described or facts.")
    if Stop.unusable in reasons:
        say(f"The responses are kept. To try another grader: {again} --grader MODEL")
        return SOME_FAILED
    say(f"What was finished is kept. To resume: {again}")
    return SOME_FAILED


def print_summary(runs: Runs) -> bool:
    """Print the numbers of runs as a table; tell whether anything is graded."""
    from careeval.protocol.regrade import lexical_sentences
    from careeval.results.entries import entries
    from careeval.sheets.summary import summary_document
    from careeval.sheets.terminal import print_document

    graded = entries(runs)
    print_document(summary_document(graded, more=lexical_sentences(graded)))
    return bool(graded)


# The display of runs in progress: bars in a terminal, a plain line now and then in a pipe

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
