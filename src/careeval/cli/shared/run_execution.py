"""Carrying out runs with a progress display, and messages on how they ended and what came out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from careeval.cli.app import BUDGET_REACHED, INTERRUPTED, SOME_FAILED, report_error, say
from careeval.cli.shared.display import progress_display
from careeval.cli.shared.run_costs import SpendingOptions, say_spent
from careeval.core.response import LEXICAL
from careeval.core.text import dollars
from careeval.errors import CareEvalError
from careeval.protocol.run import Outcome, RunProgress, Stop
from careeval.protocol.run_folder import budget_folders, read_run_file
from careeval.protocol.run_setup import discard
from careeval.protocol.workers import EarlyWorkers, carry_out

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
    from careeval.cli.shared.lexical_agreement import lexical_sentence

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
    if Stop.unusable in reasons:
        say(f"The responses are kept. To try another grader: {again} --grader MODEL")
        return SOME_FAILED
    say(f"What was finished is kept. To resume: {again}")
    return SOME_FAILED


def print_summary(runs: Runs) -> bool:
    """Print the numbers of runs as a table; tell whether anything is graded."""
    from careeval.cli.shared.lexical_agreement import lexical_sentences
    from careeval.results.details import EntryNumbers
    from careeval.results.summary import summarise
    from careeval.sheets.entries.summary_document import summary_document
    from careeval.sheets.formats.terminal import print_document

    summaries = summarise(runs)
    numbers = [*map(EntryNumbers, summaries)]
    print_document(summary_document(numbers, more=lexical_sentences(summaries)))
    return bool(summaries)
