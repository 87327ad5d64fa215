"""The description of a sweep: read from a TOML file, and kept in the sweep's folder.

The file says what is typed; what is kept says the same with every scenario named, so that each cell
finds in it all that it needs.
"""

from __future__ import annotations

import json
import string
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, ValidationError

from careeval.bank import bank_mode, load_bank
from careeval.bank.load import OWN_BANKS
from careeval.bank.sealed import split_key
from careeval.core.scenario import Scenario, Split
from careeval.errors import ProtocolError
from careeval.files import read_text, write_text
from careeval.modes import Mode
from careeval.protocol.logs.json_limits import read_json
from careeval.protocol.runs.held_out_runs import PRIVATE, is_held_out
from careeval.protocol.runs.spec import MAX_TOKENS, Run, folder_name, run_from
from careeval.protocol.runs.sweep_cells import ASK, SWEEP_FILE
from careeval.protocol.select import select_scenarios

SCHEMA = "careeval.sweep/1"

MAX_BYTES = 1_000_000
"""Of a sweep's file; a longer one is a mistake."""

READY_SECONDS = 900.0
"""Time that a server may take until it answers: a large model loads for minutes."""


class _Typed(BaseModel):
    """A table of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ScenariosTable(_Typed):
    """The selection of scenarios, by the options of `careeval run`."""

    bank: str | None = None
    adl: list[str] | None = None
    scenario: list[str] | None = None
    split: Literal["public", "held-out"] = "public"
    limit: PositiveInt | None = None
    twins: bool = False


class SystemTable(_Typed):
    """One system."""

    model: str
    name: str | None = None
    base_url: str | None = None
    server: str | None = None
    """Command that starts the model's server; `{port}` stands for a free port."""
    health: str = "/health"
    """Path of the server that answers 200 once the model is loaded."""
    ready_seconds: PositiveFloat = READY_SECONDS
    gpus: float = Field(default=0, ge=0)
    cpus: float = Field(default=1, ge=0)
    slices: PositiveInt | None = None
    max_connections: PositiveInt | None = None


class GradingTable(_Typed):
    """One way to grade."""

    grader: str | None = None
    """The default of the bank's mode where not given."""
    rubric: Literal["actions", "ladder"] | None = None
    per_item: bool = False
    grader_context: Literal["none", "scenario"] = "none"
    grade_seed: int = 0
    max_connections: PositiveInt | None = None


class SweepTable(_Typed):
    """The whole file."""

    systems: list[SystemTable] = Field(min_length=1)
    gradings: list[GradingTable] = [GradingTable()]
    scenarios: ScenariosTable = ScenariosTable()
    slices: PositiveInt = 1
    samples: PositiveInt = 10
    seed: int = 0
    max_tokens: PositiveInt = MAX_TOKENS
    max_cost: PositiveFloat | None = None
    prompts: str | None = None


@dataclass(frozen=True)
class Server:
    """A server that a cell starts for its model, and stops.

    Attributes:
        command: Its words are those of a shell, `{port}` standing for a free port.
        health: Path that answers 200 once the model is loaded.
        ready_seconds: How long that may take.
    """

    command: str
    health: str
    ready_seconds: float


@dataclass(frozen=True)
class System:
    """One system of a sweep.

    Attributes:
        run: Asks it over all scenarios, and grades nothing.
        n_slices: Into how many slices its scenarios are cut.
        server: Started by each of its cells that ask; `None` where there is one, or none is needed.
        gpus: Which a cell that asks needs.
        cpus: Likewise.
    """

    run: Run
    n_slices: int
    server: Server | None = None
    gpus: float = 0
    cpus: float = 1

    @property
    def folder(self) -> str:
        """Its folder, from the sweep's."""
        name = folder_name(self.run.system)
        return f"{PRIVATE}/{name}" if is_held_out(self.run) else name


@dataclass(frozen=True)
class Cell:
    """One system, one slice and one stage.

    Attributes:
        system: Whose responses are asked for, or graded.
        slice: Number of the slice, from 1.
        stage: `ask`, or `grade-1` for the first way of grading, and so on.
    """

    system: System
    slice: int
    stage: str

    @property
    def path(self) -> str:
        """Its folder, from the sweep's, without the number of a lease."""
        return f"{self.system.folder}/slice-{self.slice:02}/{self.stage}"

    @property
    def asks(self) -> bool:
        """Return whether it asks; the others grade."""
        return self.stage == ASK


@dataclass(frozen=True)
class Sweep:
    """The systems, gradings and scenarios of a sweep.

    Attributes:
        systems: Each with the run that asks it.
        gradings: Runs that grade, whose system and scenarios are those of the cell.
        families: Ids of the scenarios, each base with its twins.
        max_cost: Dollars that may be spent by all cells together; `None` for any.
    """

    systems: tuple[System, ...]
    gradings: tuple[Run, ...]
    families: tuple[tuple[str, ...], ...]
    max_cost: float | None = None

    @property
    def scenarios(self) -> list[str]:
        """Ids of all scenarios, in order."""
        return sorted(scenario for family in self.families for scenario in family)

    def slice(self, cell: Cell) -> list[str]:
        """Return the ids of a cell's slice: families are dealt out in turn."""
        dealt = self.families[cell.slice - 1 :: cell.system.n_slices]
        return sorted(scenario for family in dealt for scenario in family)

    def cells(self) -> list[Cell]:
        """Return every cell: those that ask, and then those that grade."""
        stages = [ASK, *(f"grade-{n}" for n in range(1, len(self.gradings) + 1))]
        return [
            Cell(system, number, stage)
            for stage in stages
            for system in self.systems
            for number in range(1, system.n_slices + 1)
        ]

    def cell(self, path: str) -> Cell:
        """Return the cell of a path.

        Raises:
            ProtocolError: There is none.
        """
        for cell in self.cells():
            if cell.path == path:
                return cell
        raise ProtocolError(f"the sweep has no cell {path!r}")

    def grading(self, cell: Cell) -> Run:
        """Return how a cell that grades does so."""
        return self.gradings[int(cell.stage.removeprefix("grade-")) - 1]

    def n_responses(self, cell: Cell) -> int:
        """Return how many responses a cell asks for, or grades."""
        return len(self.slice(cell)) * cell.system.run.epochs

    def run(self, cell: Cell) -> Run:
        """Return the run that carries out a cell; one that grades still lacks its responses."""
        run = of_system = cell.system.run
        if not cell.asks:
            grading = self.grading(cell)
            kept = {name: of_system.task.get(name) for name in ("bank", "split", "prompts")}
            run = replace(
                grading, system=of_system.system, model=None, epochs=of_system.epochs,
                task=kept | grading.task,
            )  # fmt: skip
        # the whole selection, whose hash the run bears, and the part that it puts
        task = {"scenario": self.scenarios, "part": self.slice(cell)}
        return replace(run, task=run.task | task, max_cost=self.max_cost)


def read_sweep(file: Path) -> Sweep:
    """Return the sweep that a TOML file describes, every scenario of it named.

    Raises:
        ProtocolError: The file cannot be read, or is not one of a sweep: each mistake with its
            place.
        BankError: The bank cannot be read.
    """
    table = _table(file)
    bank = _bank(file, table.scenarios.bank)
    families = _families(_chosen(table.scenarios, bank))
    task: dict[str, Any] = {
        "bank": bank,
        "split": table.scenarios.split,
        "prompts": str((file.parent / table.prompts).resolve()) if table.prompts else None,
    }
    asked = task | {"seed": table.seed, "max_tokens": table.max_tokens}
    systems = tuple(
        _system(each, asked, table.samples, min(each.slices or table.slices, len(families)))
        for each in table.systems
    )
    _refuse_alike([system.folder for system in systems], "systems", 'give one another name = "…"')
    mode = bank_mode(bank)
    gradings = tuple(_grading(each, mode) for each in table.gradings)
    _refuse_alike(
        [f"{run.grader} {run.task}" for run in gradings], "gradings", "leave one of them out"
    )
    return Sweep(systems, gradings, families, table.max_cost)


def _table(file: Path) -> SweepTable:
    hint = "a sweep's file is described in docs/guides/sweeps.md"
    try:
        return SweepTable.model_validate(tomllib.loads(read_text(file, most=MAX_BYTES)))
    except ValidationError as error:
        raise ProtocolError("\n".join(_mistakes(file, error)), hint=hint) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ProtocolError(f"{file} is not TOML: {error}", hint=hint) from error
    except OSError as error:
        raise ProtocolError(f"{file} cannot be read: {error.strerror}", hint=hint) from error


def _mistakes(file: Path, error: ValidationError) -> list[str]:
    return [
        f"{file}: {'.'.join(str(each + 1 if isinstance(each, int) else each) for each in e['loc'])}"
        f": {e['msg']}"
        for e in error.errors()
    ]


def _bank(file: Path, name: str | None) -> str | None:
    """A bank's folder, seen from the file; careeval's own have the same number on every node."""
    if name is None or (name in OWN_BANKS and not (file.parent / name).exists()):
        return name
    return str((file.parent / name).resolve())


def _chosen(table: ScenariosTable, bank: str | None) -> list[Scenario]:
    loaded = load_bank(bank, split_key(table.split), probes=False)
    adls, ids = table.adl or (), table.scenario or ()
    return select_scenarios(loaded, Split(table.split), adls, ids, table.limit, twins=table.twins)


def _families(chosen: Sequence[Scenario]) -> tuple[tuple[str, ...], ...]:
    ids = {scenario.id for scenario in chosen}
    families: dict[str, list[str]] = {}
    for scenario in chosen:
        base = scenario.twin_of if scenario.twin_of in ids else None
        families.setdefault(base or scenario.id, []).append(scenario.id)
    return tuple(tuple(sorted(family)) for _, family in sorted(families.items()))


def _system(given: SystemTable, task: Mapping[str, Any], n_epochs: int, n_slices: int) -> System:
    held_out = " (held-out)" if task["split"] == Split.held_out.value else ""
    name = given.name or f"{given.model}{held_out}"
    if given.server is not None and given.base_url is not None:
        raise ProtocolError(
            f"{name}: server and base_url exclude each other",
            hint="a cell starts its own server, at an address of its own",
        )
    if given.server is not None:
        _check_command(name, given.server)
    run = Run(
        name, given.model, None, n_epochs, dict(task), base_url=given.base_url,
        max_connections=given.max_connections,
    )  # fmt: skip
    server = given.server and Server(given.server, given.health, given.ready_seconds)
    return System(run, n_slices, server or None, given.gpus, given.cpus)


def _check_command(name: str, command: str) -> None:
    """Return if a server's command has a place for its port, and no other."""
    try:
        fields = {
            field for _, field, _, _ in string.Formatter().parse(command) if field is not None
        }
    except ValueError:
        fields = {"}"}
    if fields != {"port"}:
        odd = fields - {"port"}
        what = "holds braces other than {port}" if odd else "has no {port}"
        raise ProtocolError(
            f"{name}: the command of its server {what}",
            hint="write {port} where the command takes the number of its port, "
            "and {{ and }} for braces of its own",
        )


def _grading(given: GradingTable, mode: Mode) -> Run:
    task = given.model_dump(include={"rubric", "per_item", "grader_context", "grade_seed"})
    grader = given.grader or mode.grader
    return Run("", None, grader, 1, task, max_connections=given.max_connections)


def _refuse_alike(names: Sequence[str], what: str, hint: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ProtocolError(f"two {what} are alike: {name}", hint=hint)


def keep_sweep(root: Path, sweep: Sweep) -> None:
    """Write what a sweep is made of into its folder.

    Raises:
        ProtocolError: Another sweep is there: other scenarios, slices or systems than it began
            with. Systems and gradings may be added at the end.
        OSError: The folder cannot be written.
    """
    if (root / SWEEP_FILE).exists():
        before = kept_sweep(root)
        for what, then, now in (
            ("scenarios", before.families, sweep.families),
            ("systems", _made(before.systems), _made(sweep.systems)[: len(before.systems)]),
            ("gradings", _made(before.gradings), _made(sweep.gradings)[: len(before.gradings)]),
        ):
            if then != now:
                raise ProtocolError(
                    f"{root} holds a sweep with other {what}",
                    hint="add systems and gradings after those that are there, "
                    "or give another folder with -o",
                )
    content = {"schema": SCHEMA, **asdict(sweep)}
    write_text(root / SWEEP_FILE, json.dumps(content, ensure_ascii=False) + "\n", synced=True)


def _made(parts: Sequence[System] | Sequence[Run]) -> list[object]:
    """Return what may not change in systems and gradings; prices, servers and speed may."""
    runs = [each if isinstance(each, Run) else each.run for each in parts]
    sizes = [0 if isinstance(each, Run) else each.n_slices for each in parts]
    return [
        (run.system, run.model, run.grader, run.epochs, run.task, size)
        for run, size in zip(runs, sizes, strict=True)
    ]


def kept_sweep(root: Path) -> Sweep:
    """Return the sweep that a folder holds.

    Raises:
        ProtocolError: It holds none, or one that cannot be read.
    """
    file = root / SWEEP_FILE
    try:
        content = read_json(file)
        systems = tuple(
            System(
                run_from(each["run"]), each["n_slices"],
                Server(**each["server"]) if each["server"] else None, each["gpus"], each["cpus"],
            )
            for each in content["systems"]
        )  # fmt: skip
        return Sweep(
            systems,
            tuple(run_from(each) for each in content["gradings"]),
            tuple(tuple(family) for family in content["families"]),
            content["max_cost"],
        )
    except FileNotFoundError as error:
        raise ProtocolError(
            f"{root} holds no sweep: there is no {SWEEP_FILE}",
            hint="name what 'careeval sweep -o' wrote to",
        ) from error
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ProtocolError(
            f"{file} is not what careeval wrote: {error}", hint="put it back from a copy"
        ) from error
