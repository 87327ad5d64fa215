"""`careeval sweep`: many systems over one bank, in cells that one machine or many carry out."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from cyclopts import App
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from careeval.cli.app import BUDGET_REACHED, INTERRUPTED, OK, SOME_FAILED, print_json, say
from careeval.cli.shared.options import Flag, Json, Out
from careeval.cli.shared.run_costs import SpendingOptions
from careeval.cli.shared.run_execution import LINE_EVERY
from careeval.core.text import counted, dollars, plain
from careeval.protocol.run import Run, Stop
from careeval.protocol.run_setup import check_folder, refuse_runs_folder
from careeval.protocol.sweep_cells import ASK, SWEEP_FILE, sweep_command
from careeval.sheets.terminal import console, new_table
from careeval.sweep.description import Sweep, read_sweep
from careeval.sweep.drive import SweepDriver
from careeval.sweep.engines import HERE, engine
from careeval.sweep.progress import (
    GONE,
    CellProgress,
    CellStatus,
    SweepProgress,
    as_json,
    sweep_progress,
)

LOOK_EVERY = 2.0
"""Seconds between two looks at a sweep's files."""

LISTED = 20
"""The most cells that a table lists; failed cells come first, then stopped ones."""

EXAMPLES = """\
Examples:

Every system of a file, on this machine:

  careeval sweep models.toml --dry-run
  careeval sweep models.toml -o runs/models --max-cost 50

The same on the nodes of a running Ray cluster, which share a disk:

  careeval sweep models.toml -o /shared/models --on ray --max-cost 50

How far is it? What came out?

  careeval sweep status /shared/models --watch
  careeval summary /shared/models

Given again, it does only what is missing.
"""

app = App(name="sweep", help_epilogue=EXAMPLES)


@app.default
def sweep(
    file: Path,
    *,
    out: Out | None = None,
    on: str = HERE,
    spending: SpendingOptions = SpendingOptions(),
) -> int:
    """Ask and grade every system of a file, in parts that can run side by side.

    If run again, it does only what is missing.

    Args:
        file: TOML file with systems, scenarios, slices and gradings.
        out: Folder of the sweep, on a disk that all nodes share; runs/FILE if not given.
        on: local for processes of this machine; ray for a running Ray cluster, ray://HOST:10001
            for one elsewhere.
        spending: What may be sent and spent.
    """
    root = (out or Path("runs") / file.stem).absolute()
    spec = read_sweep(file)
    if spending.max_cost is None and spec.max_cost is not None:
        spending = replace(spending, max_cost=spec.max_cost)
    spec = _with_options(_priced(spec, spending), on, spending.prices)
    earlier = sweep_progress(root) if (root / SWEEP_FILE).exists() else None
    runs, on_disk = zip(*_planned(spec, earlier), strict=True)
    for run in runs:
        check_folder(root / "system", run)
    is_agreed = (
        earlier is not None
        and len(earlier.cells) == len(spec.cells())
        # what was paid for and is gone will be paid for again
        and not any(cell.why == GONE for cell in earlier.cells)
    )
    if (status := spending.confirm(runs, on_disk, agreed=is_agreed, here=on == HERE)) is not None:
        return status
    if earlier is None:
        refuse_runs_folder(root)
    with closing(engine(on)) as cluster:
        root.mkdir(parents=True, exist_ok=True)
        with _progress_display(root) as show:
            stop = SweepDriver(root, spec, cluster, show).carry_out()
    return _finish(root, stop)


def _with_options(spec: Sweep, on: str, prices: Path | None) -> Sweep:
    """Return the sweep with the options that its command needs when it is given again."""
    options = ["--on", on] if on != HERE else []
    options += ["--prices", str(prices.absolute())] if prices else []
    return replace(spec, command=(*spec.command, *options))


@app.command
def status(
    folder: Path,
    *,
    watch: Flag = False,
    as_json_: Json = False,
) -> int:
    """Show how far a sweep is: its cells, rate, errors, cost and time left.

    Reads files only, from any machine that has the disk.

    Args:
        folder: Folder that `careeval sweep -o` wrote.
        watch: Refresh until no process works on the sweep.
        as_json_: Print JSON.
    """
    now = sweep_progress(folder)
    if as_json_:
        print_json(as_json(now))
        return OK
    if watch and sys.stderr.isatty():
        with Live(console=Console(stderr=True), auto_refresh=False, transient=True) as live:
            while (now := sweep_progress(folder)).driver is not None:
                live.update(progress_view(now), refresh=True)
                time.sleep(LOOK_EVERY)
    elif watch:
        while (now := sweep_progress(folder)).driver is not None:
            say(line(now))
            time.sleep(LINE_EVERY)
    console().print(progress_view(now))
    _say_next(folder, now)
    return OK


def _priced(spec: Sweep, spending: SpendingOptions) -> Sweep:
    systems = [replace(system, run=spending.with_prices(system.run)) for system in spec.systems]
    gradings = [spending.with_prices(grading) for grading in spec.gradings]
    return replace(
        spec, systems=tuple(systems), gradings=tuple(gradings), max_cost=systems[0].run.max_cost
    )


def _planned(spec: Sweep, earlier: SweepProgress | None) -> Iterator[tuple[Run, tuple[int, int]]]:
    """Yield a run of each system with each grading, and its responses asked and graded so far."""
    done = {cell.cell: cell.n_done for cell in earlier.cells} if earlier else {}
    for system in spec.systems:
        counts = Counter[str]()
        for cell in spec.cells():
            if cell.system == system:
                counts[cell.stage] += done.get(cell.path, 0)
        for n, grading in enumerate(spec.gradings, 1):
            task = system.run.task | grading.task | {"scenario": spec.scenarios}
            prices = system.run.prices | grading.prices
            run = replace(
                system.run, grader=grading.grader, grader_args=grading.grader_args,
                grader_base_url=grading.grader_base_url, task=task, prices=prices,
            )  # fmt: skip
            n_responses = len(spec.scenarios) * run.epochs
            n_asked = counts[ASK] if n == 1 else n_responses  # asked only once
            yield run, (n_asked, counts[f"grade-{n}"])


@contextmanager
def _progress_display(root: Path) -> Iterator[Callable[[], None]]:
    """Show on stderr how far the sweep is: a table in a terminal, a line now and then in a pipe."""
    shown_at = time.monotonic()

    def is_time(seconds: float) -> bool:
        nonlocal shown_at
        if time.monotonic() - shown_at < seconds:
            return False
        shown_at = time.monotonic()
        return True

    if not sys.stderr.isatty():
        yield lambda: say(line(sweep_progress(root))) if is_time(LINE_EVERY) else None
        return
    with Live(console=Console(stderr=True), auto_refresh=False, transient=True) as live:
        yield (
            lambda: (
                live.update(progress_view(sweep_progress(root)), refresh=True)
                if is_time(LOOK_EVERY)
                else None
            )
        )


def line(now: SweepProgress) -> str:
    """Return a sweep's progress as one line."""
    states = ", ".join(f"{now.n(state):,} {state}" for state in CellStatus if now.n(state))
    n_quiet = sum(cell.is_quiet for cell in now.cells)
    (asked, to_ask), (graded, to_grade) = now.done(asks=True), now.done(asks=False)
    unknown = f" and an unknown amount for {counted(now.n_unknown, 'call')}"
    parts = (
        f"cells: {states}",
        f"{n_quiet:,} of the running without news" if n_quiet else "",
        f"asked {asked:,} of {to_ask:,} responses",
        f"graded {graded:,} of {to_grade:,}" if to_grade else "",
        f"{now.rate:.1f}/s" if now.rate else "",
        f"{timedelta(seconds=round(now.seconds_left))} left" if now.seconds_left else "",
        f"{dollars(now.usd)}{unknown if now.n_unknown else ''}",
    )
    return ", ".join(filter(None, parts))


def progress_view(now: SweepProgress) -> RenderableType:
    """Return a table of the cells that failed, stopped or run, and a sweep's progress as lines."""
    order = [CellStatus.failed, CellStatus.stopped, CellStatus.running]
    listed = sorted(
        (cell for cell in now.cells if cell.now in order), key=lambda cell: order.index(cell.now)
    )
    numbers = ("responses", "failed", "begun", "cost", "last report")
    table = new_table("Cells", ("cell", "now"), numbers)
    for cell in listed[:LISTED]:
        table.add_row(
            Text(plain(cell.cell)), cell.now.value, f"{cell.n_done:,} of {cell.n_responses:,}",
            f"{cell.n_failed:,}", f"{cell.n_leases}×", dollars(cell.usd), _last_report(cell),
        )  # fmt: skip
    lines = [line(now)]
    if len(listed) > LISTED:
        lines.append(
            f"… and {counted(len(listed) - LISTED, 'more cell')}, failed, stopped or running"
        )
    lines += [f"{cell.cell}: {cell.why}" for cell in listed[:LISTED] if cell.why]
    if now.overspent:
        lines.append(
            f"That is {dollars(now.overspent)} more than the budget of {dollars(now.max_cost)}: "
            "calls in flight cost more than expected."
        )
    return Group(*([table] if listed else []), *(Text(plain(each)) for each in lines))


def _last_report(cell: CellProgress) -> str:
    if cell.seconds_quiet is None:
        return "–"
    if cell.is_quiet:
        return f"no news for {cell.seconds_quiet // 60:.0f} min"
    return f"{cell.seconds_quiet:.0f} s ago"


def _finish(root: Path, stop: Stop | None) -> int:
    now = sweep_progress(root)
    console().print(progress_view(now))
    _say_next(root, now)
    if stop is Stop.interrupted:
        return INTERRUPTED
    if stop is Stop.unmetered:
        say(
            "The cost of some calls is not known, so the budget cannot be kept; "
            "--max-cost inf goes on without one."
        )
        return BUDGET_REACHED
    if stop is not None:
        say("The budget is reached; --max-cost inf goes on without one.")
        return BUDGET_REACHED
    return OK if now.n(CellStatus.complete) == len(now.cells) else SOME_FAILED


def _say_next(root: Path, now: SweepProgress) -> None:
    if now.driver is not None:
        say(f"The sweep is running. For its progress: careeval sweep status {root}")
    elif now.n(CellStatus.complete) < len(now.cells):
        say(f"What was finished is kept. For the rest: {sweep_command(root, now.next_budget)}")
    if any(cell.n_done for cell in now.cells if not cell.asks):
        say(f"For the result: careeval summary {root}")
