"""Runs are carried out while a person looks on; how they ended is said, and how to go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from threading import Thread

from careeval.cli.app import BUDGET_REACHED, INTERRUPTED, SOME_FAILED, complain, say
from careeval.cli.shared.display import displayed
from careeval.cli.shared.run_costs import Spending, say_spent
from careeval.core.grader import LEXICAL
from careeval.errors import CareEvalError
from careeval.protocol.runs.folder import budget_folders, discard, read_run_file
from careeval.protocol.runs.progress import RunProgress
from careeval.protocol.runs.spec import Outcome, Stop
from careeval.protocol.work.workers import EarlyWorkers, carry_out
from careeval.results.amounts import dollars


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
            discard(folder)
    return status


def work(
    folders: Sequence[Path], *, fresh: bool = False, early: EarlyWorkers | None = None
) -> list[Outcome]:
    """Carry out the runs in these folders, and show how far they have come.

    Meanwhile it loads what the result is shown with.

    Raises:
        ProtocolError: As `carry_out`.
    """
    runs = [read_run_file(folder) for folder in folders]
    max_cost = runs[0].max_cost
    loading = Thread(target=_load, args=(any(run.grader == LEXICAL for run in runs),))
    with displayed(max_cost) as show:

        def told(progress: Sequence[RunProgress], ending: bool) -> None:
            # not before the calls: nothing is to delay the first of them
            if progress and loading.ident is None:
                loading.start()
            show(progress, ending)

        outcomes = carry_out(folders, told, fresh=fresh, early=early)
    if loading.ident is not None:
        loading.join()
    say_spent(list({each for folder in folders for each in budget_folders(folder)}), max_cost)
    return outcomes


def _load(lexical: bool) -> None:
    """Have what a summary needs in memory before it is asked for."""
    from careeval.bank.load import DEFAULT
    from careeval.cli.shared.lexical_agreement import lexical_sentence

    import_module("careeval.protocol.tables.run_tables")
    if lexical:
        lexical_sentence(DEFAULT)


def told_whole(folder: Path, read: Callable[[Path], object]) -> bool:
    """Whether a run's files can be read; where not, it is said which one, and what to do.

    A damaged run is not to stand in the way of those beside it.
    """
    try:
        read(folder)
    except CareEvalError as error:
        complain(error)
        return False
    return True


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
                say(f"{outcome.folder}: no call has succeeded: {outcome.why}")
            case Stop.unusable:
                say(f"{outcome.folder}: the grader answers nothing usable: {outcome.why}")
            case Stop.disk:
                say(f"{outcome.folder}: could not be written: is the disk full?")
            case None if outcome.n_failed:
                last = f", the last of {outcome.why}" if outcome.why else ""
                say(f"{outcome.folder}: {outcome.n_failed} samples failed{last}")
    if Stop.interrupted in reasons:
        say(f"Stopped; what was finished is kept. Go on with: {again}")
        return INTERRUPTED
    if Stop.budget in reasons:
        why = next(outcome.why for outcome in outcomes if outcome.stopped is Stop.budget)
        limit = dollars(read_run_file(outcomes[0].folder).max_cost)
        say(f"The budget of {limit} is reached{f': {why}' if why else ''}.")
        say(f"What was finished is kept. Go on with: {again} --max-cost MORE")
        return BUDGET_REACHED
    if Stop.unmetered in reasons:
        say(
            "A call came back without a count of tokens that can be true, so nobody knows what it "
            "cost, and the budget cannot be kept."
        )
        say(f"What was finished is kept. To go on without a budget: {again} --max-cost inf")
        return BUDGET_REACHED
    if Stop.unusable in reasons:
        say(f"What was asked is kept. With another grader: {again} --grader MODEL")
        return SOME_FAILED
    say(f"What was finished is kept. Go on with: {again}")
    return SOME_FAILED
