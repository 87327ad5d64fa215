"""The description of a sweep: its systems, gradings and scenarios, and the file that keeps them.

It names every scenario, so that each cell finds in it all that it needs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from careeval.errors import ProtocolError
from careeval.files import write_text
from careeval.protocol.held_out_runs import PRIVATE, is_held_out
from careeval.protocol.run import Run, folder_name, from_fields
from careeval.protocol.run_files import read_json
from careeval.protocol.sweep_cells import ASK, SWEEP_FILE

SCHEMA = "careeval.sweep/1"


@dataclass(frozen=True)
class Server:
    """A server that a cell starts for its model, and stops."""

    command: str  # Command in a shell's syntax; `{port}` is replaced by a free port
    health: str  # Path that answers 200 once the model is loaded
    ready_seconds: float  # The most seconds until the model must be loaded


@dataclass(frozen=True)
class System:
    """One system of a sweep."""

    run: Run  # The run that asks it about all scenarios, and grades nothing
    n_slices: int
    server: Server | None = None  # The server that each of its asking cells starts
    gpus: float = 0  # GPUs that an asking cell needs
    cpus: float = 1  # Processors that an asking cell needs

    @property
    def folder(self) -> str:
        """The system's folder, relative to the sweep's."""
        name = folder_name(self.run.system)
        return f"{PRIVATE}/{name}" if is_held_out(self.run) else name


@dataclass(frozen=True)
class Cell:
    """A cell, a unit of work in a sweep: one stage on one slice of one system."""

    system: System
    slice: int  # Number of the slice, from 1
    stage: str  # `ask`, or `grade-1` for the first grading, and so on

    @property
    def path(self) -> str:
        """The cell's folder, relative to the sweep's, without the number of a lease."""
        return f"{self.system.folder}/slice-{self.slice:02}/{self.stage}"

    @property
    def asks(self) -> bool:
        """True for a cell that asks; the others grade."""
        return self.stage == ASK


@dataclass(frozen=True)
class Sweep:
    """The systems, gradings and scenarios of a sweep."""

    systems: tuple[System, ...]
    gradings: tuple[Run, ...]  # Runs that grade, without system and scenarios, which each cell adds
    families: tuple[tuple[str, ...], ...]  # Ids of the scenarios, each base with its twins
    max_cost: float | None = None  # The most US dollars for all cells together; `None` for no limit
    command: tuple[str, ...] = ()  # The command that carries it out, without folder and budget

    @property
    def scenarios(self) -> list[str]:
        """The ids of all scenarios, sorted."""
        return sorted(scenario for family in self.families for scenario in family)

    def slice(self, cell: Cell) -> list[str]:
        """Return the ids of the scenarios in a cell's slice; slices get the families in turn."""
        dealt = self.families[cell.slice - 1 :: cell.system.n_slices]
        return sorted(scenario for family in dealt for scenario in family)

    def cells(self) -> list[Cell]:
        """Return every cell, those that ask first."""
        stages = [ASK, *(f"grade-{n}" for n in range(1, len(self.gradings) + 1))]
        return [
            Cell(system, number, stage)
            for stage in stages
            for system in self.systems
            for number in range(1, system.n_slices + 1)
        ]

    def cell(self, path: str) -> Cell:
        """Return the cell with a path; raise `ProtocolError` if there is none."""
        if cell := next((cell for cell in self.cells() if cell.path == path), None):
            return cell
        raise ProtocolError(f"the sweep has no cell {path!r}")

    def grading(self, cell: Cell) -> Run:
        """Return the run with the settings of a cell that grades."""
        return self.gradings[int(cell.stage.removeprefix("grade-")) - 1]

    def n_responses(self, cell: Cell) -> int:
        """Return the number of responses that a cell asks for, or grades."""
        return len(self.slice(cell)) * cell.system.run.epochs

    def run(self, cell: Cell) -> Run:
        """Return the run that carries out a cell; a grading run still lacks its responses."""
        run = system_run = cell.system.run
        if not cell.asks:
            grading = self.grading(cell)
            kept = {name: system_run.task.get(name) for name in ("bank", "split", "prompts")}
            run = replace(
                grading, system=system_run.system, model=None, epochs=system_run.epochs,
                task=kept | grading.task,
            )  # fmt: skip
        # the whole selection, whose hash the run has, and the part that this cell asks about
        task = {"scenario": self.scenarios, "part": self.slice(cell)}
        return replace(run, task=run.task | task, max_cost=self.max_cost)


def save_sweep(root: Path, sweep: Sweep) -> None:
    """Write the description of a sweep into its folder.

    Raises:
        ProtocolError: The folder has a sweep of which more has changed than systems and gradings
            that were added at the end.
        OSError: The folder cannot be written.
    """
    if (root / SWEEP_FILE).exists() and (changes := list(_changes(load_sweep(root), sweep))):
        raise ProtocolError(
            "\n  ".join([f"{root} already has a sweep with other settings:", *changes]),
            hint="keep those of that sweep and add new systems or gradings after them, "
            "or give another folder with -o",
        )
    content = {"schema": SCHEMA, **asdict(sweep)}
    write_text(root / SWEEP_FILE, json.dumps(content, ensure_ascii=False) + "\n", synced=True)


def _changes(before: Sweep, now: Sweep) -> Iterator[str]:
    """Yield the settings that may not change and did, each with both values."""
    if before.families != now.families:
        n_others = len(set(before.scenarios) ^ set(now.scenarios))
        yield (
            f"scenarios: {len(before.scenarios):,} then, {len(now.scenarios):,} now "
            f"({n_others:,} not in both)"
        )
    yield from _differences("", _top_settings(before), _top_settings(now))
    systems = [
        [{"name": s.run.system, "model": s.run.model, "slices": s.n_slices} for s in each.systems]
        for each in (before, now)
    ]
    gradings = [
        [{"grader": g.grader, "model_args": g.grader_args or None, **g.task} for g in each.gradings]
        for each in (before, now)
    ]
    for what, (parts, parts_now) in {"systems": systems, "gradings": gradings}.items():
        for n, (one, other) in enumerate(zip(parts, parts_now, strict=False), 1):
            yield from _differences(f"{what}.{n}.", one, other)
        if len(parts_now) < len(parts):
            yield f"{what}: {len(parts)} then, {len(parts_now)} now"


def _differences(
    place: str, before: Mapping[str, object], now: Mapping[str, object]
) -> Iterator[str]:
    for name, value in before.items():
        if value != now[name]:
            then, value_now = ("not given" if each is None else each for each in (value, now[name]))
            yield f"{place}{name}: {then} then, {value_now} now"


def _top_settings(sweep: Sweep) -> dict[str, object]:
    run = sweep.systems[0].run
    names = ("seed", "max_tokens", "prompts", "bank", "split")
    return {"samples": run.epochs} | {name: run.task.get(name) for name in names}


def load_sweep(root: Path) -> Sweep:
    """Return the sweep that is described in a folder.

    Raises:
        ProtocolError: The folder has no description of a sweep, or it is damaged.
    """
    file = root / SWEEP_FILE
    try:
        content = read_json(file)
        if isinstance(content, dict):
            content.pop("schema", None)
        return from_fields(Sweep, content)
    except FileNotFoundError as error:
        raise ProtocolError(
            f"{root} has no sweep: {SWEEP_FILE} is missing",
            hint="give the folder that 'careeval sweep -o' wrote to",
        ) from error
    except (OSError, ValueError, TypeError) as error:
        raise ProtocolError(
            f"{file} is damaged: {error}", hint="restore it from a backup"
        ) from error
