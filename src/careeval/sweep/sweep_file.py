"""The file that describes a sweep, in TOML."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, PositiveFloat, PositiveInt, ValidationError

from careeval.bank.load import OWN_BANKS
from careeval.core.scenario import Scenario, Split
from careeval.errors import ProtocolError
from careeval.files import read_toml
from careeval.modes import Mode
from careeval.protocol.providers import check_address
from careeval.protocol.run import MAX_TOKENS, Run
from careeval.protocol.selection import selection_of
from careeval.sweep.description import Server, Sweep, System


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
