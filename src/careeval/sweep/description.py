"""The description of a sweep: its systems, gradings and scenarios, and the files that have them.

A user writes it as TOML. The copy in the sweep's folder names every scenario, so that each cell
finds in it all that it needs.
"""

from __future__ import annotations

import json
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, PositiveFloat, PositiveInt, ValidationError

from careeval.bank.load import OWN_BANKS
from careeval.core.scenario import Scenario, Split
from careeval.errors import ProtocolError
from careeval.files import read_toml, write_text
from careeval.modes import Mode
from careeval.protocol.held_out_runs import PRIVATE
from careeval.protocol.providers import check_address
from careeval.protocol.run import MAX_TOKENS, Run, as_fields, folder_name, from_fields
from careeval.protocol.run_files import read_json
from careeval.protocol.selection import selection_of
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
        return f"{PRIVATE}/{name}" if self.run.is_held_out else name


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
    content = {"schema": SCHEMA, **as_fields(sweep)}
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


# The TOML file that a user writes


class _Table(BaseModel, extra="forbid", frozen=True):
    """A table of a sweep file."""


class ScenariosTable(_Table):
    """The selection of scenarios, by the options of `careeval run`."""

    bank: str | None = None
    adl: list[str] | None = None
    scenario: list[str] | None = None
    split: Literal["public", "held-out"] = "public"
    limit: PositiveInt | None = None
    twins: bool = False


class SystemTable(_Table):
    """One system in a sweep file."""

    model: str
    name: str | None = None
    base_url: str | None = None
    server: str | None = None
    """Command that starts the model's server; `{port}` is replaced by a free port."""
    health: str = "/health"
    """Path on the server that answers 200 once the model is loaded."""
    ready_seconds: PositiveFloat = 900.0
    """The most seconds until the server must be ready; a large model takes minutes to load."""
    gpus: float = Field(default=0, ge=0)
    cpus: float = Field(default=1, ge=0)
    slices: PositiveInt | None = None
    max_connections: PositiveInt | None = None


class GradingTable(_Table):
    """One way to grade, in a sweep file."""

    grader: str | None = None
    """The grader; if not given, the default grader of the bank's mode."""
    rubric: Literal["actions", "ladder", "plan"] | None = None
    per_item: bool = False
    grader_context: Literal["none", "scenario"] = "none"
    grade_seed: int = 0
    base_url: str | None = None
    model_args: dict[str, Any] = {}
    """Arguments of the grader's provider."""
    max_connections: PositiveInt | None = None


class SweepTable(_Table):
    """The top level of a sweep file."""

    systems: list[SystemTable] = Field(min_length=1)
    gradings: list[GradingTable] = [GradingTable()]
    scenarios: ScenariosTable = ScenariosTable()
    slices: PositiveInt = 1
    samples: PositiveInt = 10
    seed: int = 0
    max_tokens: PositiveInt = MAX_TOKENS
    max_cost: PositiveFloat | None = None
    prompts: str | None = None


def read_sweep(file: Path) -> Sweep:
    """Return the sweep that a TOML file describes, with the ids of its scenarios.

    Raises:
        ProtocolError: The file cannot be read, or is not a valid sweep file; every mistake is
            listed with its place.
        BankError: The bank cannot be read.
    """
    table = _table(file)
    task: dict[str, Any] = {
        "bank": _bank(file, table.scenarios.bank),
        "split": table.scenarios.split,
        "prompts": str((file.parent / table.prompts).resolve()) if table.prompts else None,
    }
    selection = selection_of(table.scenarios.model_dump() | task)
    families, mode = _families(selection.scenarios), selection.bank.mode
    asking = task | {"seed": table.seed, "max_tokens": table.max_tokens}
    systems = tuple(
        _system(each, asking, table.samples, min(each.slices or table.slices, len(families)), mode)
        for each in table.systems
    )
    _refuse_duplicates(
        [system.folder for system in systems], "systems", 'give one of the two another name = "…"'
    )
    gradings = tuple(_grading(each, mode) for each in table.gradings)
    _refuse_duplicates(
        [f"{run.grader} {run.task}" for run in gradings], "gradings", "leave out one of the two"
    )
    command = ("careeval", "sweep", str(file.resolve()))
    return Sweep(systems, gradings, families, table.max_cost, command)


def _table(file: Path) -> SweepTable:
    hint = "see docs/guides/sweeps.md for the form of a sweep file"
    try:
        return SweepTable.model_validate(read_toml(file, ProtocolError, hint=hint))
    except ValidationError as error:
        mistakes = [f"{file}: {_place(each['loc'])}: {each['msg']}" for each in error.errors()]
        raise ProtocolError("\n".join(mistakes), hint=hint) from error


def _place(loc: Sequence[int | str]) -> str:
    return ".".join(str(each + 1 if isinstance(each, int) else each) for each in loc)


def _bank(file: Path, name: str | None) -> str | None:
    """Return a bank's absolute path, or the name of one of our own, whose path differs by node."""
    if name is None or (name in OWN_BANKS and not (file.parent / name).exists()):
        return name
    return str((file.parent / name).resolve())


def _families(selected: Sequence[Scenario]) -> tuple[tuple[str, ...], ...]:
    ids = {scenario.id for scenario in selected}
    families: dict[str, list[str]] = {}
    for scenario in selected:
        base = scenario.twin_of if scenario.twin_of in ids else None
        families.setdefault(base or scenario.id, []).append(scenario.id)
    return tuple(tuple(sorted(family)) for _, family in sorted(families.items()))


def _system(
    table: SystemTable, task: Mapping[str, Any], n_epochs: int, n_slices: int, mode: Mode
) -> System:
    held_out = " (held-out)" if task["split"] == Split.held_out.value else ""
    name = table.name or f"{table.model}{held_out}"
    if table.server is not None and table.base_url is not None:
        raise ProtocolError(
            f"{name}: server and base_url must not both be given",
            hint="leave out base_url: each cell starts the server, at an address of its own",
        )
    if table.server is not None:
        _check_command(name, table.server)
    run = Run(
        name, table.model, None, n_epochs, dict(task), base_url=table.base_url,
        max_connections=table.max_connections, protocol=mode.protocol,
    )  # fmt: skip
    server = Server(table.server, table.health, table.ready_seconds) if table.server else None
    return System(run, n_slices, server, table.gpus, table.cpus)


def _check_command(name: str, command: str) -> None:
    try:
        fields = {field for _, field, *_ in string.Formatter().parse(command) if field is not None}
    except ValueError:
        fields = {"}"}
    if fields != {"port"}:
        others = fields - {"port"}
        problem = "has braces other than {port}" if others else "has no {port}"
        raise ProtocolError(
            f"server command of {name} {problem}",
            hint="put {port} where the port number goes; write literal braces as {{ and }}",
        )


def _grading(table: GradingTable, mode: Mode) -> Run:
    task = table.model_dump(include={"rubric", "per_item", "grader_context", "grade_seed"})
    if table.base_url is not None:
        check_address(table.grader, table.base_url, "base_url of a grading")
    if "api_key" in table.model_args:
        raise ProtocolError(
            "model_args of a grading has a key, which files of the sweep would keep",
            hint="leave api_key out, and set the provider's environment variable, NAME_API_KEY",
        )
    return Run(
        "", None, table.grader or mode.grader, 1, task, grader_args=table.model_args,
        grader_base_url=table.base_url, max_connections=table.max_connections,
        protocol=mode.protocol,
    )  # fmt: skip


def _refuse_duplicates(names: Sequence[str], what: str, hint: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ProtocolError(f"duplicate {what}: {name}", hint=hint)
