"""The tables of a sweep file and the values that they may have."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt

from careeval.protocol.run import MAX_TOKENS

READY_SECONDS = 900.0
"""The default of the seconds until a server must be ready: a large model loads for minutes."""


class _SweepFileTable(BaseModel):
    """The base class of the tables in a sweep file."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ScenariosTable(_SweepFileTable):
    """The selection of scenarios, by the options of `careeval run`."""

    bank: str | None = None
    adl: list[str] | None = None
    scenario: list[str] | None = None
    split: Literal["public", "held-out"] = "public"
    limit: PositiveInt | None = None
    twins: bool = False


class SystemTable(_SweepFileTable):
    """One system in a sweep file."""

    model: str
    name: str | None = None
    base_url: str | None = None
    server: str | None = None
    """Command that starts the model's server; `{port}` is replaced by a free port."""
    health: str = "/health"
    """Path on the server that answers 200 once the model is loaded."""
    ready_seconds: PositiveFloat = READY_SECONDS
    gpus: float = Field(default=0, ge=0)
    cpus: float = Field(default=1, ge=0)
    slices: PositiveInt | None = None
    max_connections: PositiveInt | None = None


class GradingTable(_SweepFileTable):
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


class SweepTable(_SweepFileTable):
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
