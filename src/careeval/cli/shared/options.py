"""Options that several commands share, each declared once."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from careeval.errors import UsageError

if TYPE_CHECKING:
    from careeval.results.tables import Runs

Json = Annotated[bool, Parameter(name="--json", negative=())]
"""Print JSON for machines, instead of tables."""

Flag = Annotated[bool, Parameter(negative=())]
"""A flag that is off unless it is typed, and has no --no- form."""

Count = Annotated[int, Parameter(validator=Number(gte=1))]
"""A whole number, 1 or more."""

Repeated = Annotated[list[str], Parameter(negative=())]
"""An option that may be given more than once."""

Several = Annotated[list[str], Parameter(negative=(), consume_multiple=True)]
"""An option that takes all words up to the next option."""

Out = Annotated[Path, Parameter(name=("--out", "-o"))]
"""The file or folder to write."""

Audits = Annotated[list[Path], Parameter(negative=())]
"""Files of people's labels, that `careeval audit new` wrote."""

BankFolder = Annotated[Path | None, Parameter(name="--bank")]
"""The bank's folder; careeval's own bank if not given."""


def _one_rubric(_: object, tokens: Sequence[Any]) -> Literal["actions", "ladder", "plan"]:
    """Read the value of --rubric; `both` gets a hint."""
    value = tokens[0].value
    if value == "both":
        raise UsageError(
            "--rubric both: each grading judges only one rubric",
            hint="run with --rubric actions, then: careeval grade RUN --rubric ladder",
        )
    if value not in ("actions", "ladder", "plan"):
        raise UsageError(
            f"--rubric must be actions, ladder or plan, not {value}",
            hint="write --rubric actions, --rubric ladder or --rubric plan",
        )
    rubric: Literal["actions", "ladder", "plan"] = value
    return rubric


@Parameter(name="*")
@dataclass(frozen=True)
class GradingOptions:
    """Options for asking the grader."""

    rubric: Annotated[
        Literal["actions", "ladder", "plan"] | None, Parameter(converter=_one_rubric, n_tokens=1)
    ] = None
    """Rubric to grade; if not given, actions, or ladder where a scenario has no actions.

    A bank of worlds has the rubric plan alone.
    """
    per_item: Flag = False
    """Send one grader call for each item, instead of one for all items."""
    grader_context: Literal["none", "scenario"] = "none"
    """With `scenario`, the grader sees the scenario too; in the paper it does not."""
    prompts: Path | None = None
    """Folder with prompt files of your own."""
    grade_seed: int = 0
    """Seed of the order in which items are shown."""
    grader_base_url: str | None = None
    """Address of the grader's server."""

    def task(self) -> dict[str, Any]:
        """Return these options as arguments of the Inspect task."""
        return {
            "rubric": self.rubric,
            "per_item": self.per_item,
            "grader_context": self.grader_context,
            "prompts": str(self.prompts.resolve()) if self.prompts else None,
            "grade_seed": self.grade_seed,
        }


@Parameter(name="*")
@dataclass(frozen=True)
class SelectionOptions:
    """Options that select the results to show."""

    system: Repeated | None = None
    """Only this system; may be given more than once."""
    grader: Repeated | None = None
    """Only this grader, named with its mode or without; may be given more than once."""

    rubric: Literal["actions", "ladder", "plan"] | None = None
    """Only what was judged on this rubric."""

    def read(self, folders: Sequence[Path | str], example: str, *, graded: bool = False) -> Runs:
        """Return the part of the runs in folders that these options select.

        Raises:
            UsageError: No folder is given, and the hint is the `example`; or nothing is graded
                that must be.
        """
        from careeval.protocol.tables import read_runs
        from careeval.results.tables import select

        if not folders:
            raise UsageError("name the folder of a run", hint=example)
        runs = select(read_runs(*folders), self.system or (), self.grader or (), self.rubric)
        if graded and runs.judgments.is_empty():
            hint = "grade them: careeval grade FOLDER --grader MODEL"
            raise UsageError("these runs have no grading yet", hint=hint)
        return runs


@Parameter(name="*")
@dataclass(frozen=True)
class ScenarioOptions:
    """Options that select scenarios."""

    bank: Annotated[list[Path] | None, Parameter(negative=(), consume_multiple=True)] = None
    """Folder of a bank, 4 for careeval's scenarios (the default), or plans for its worlds.

    More than one are asked in one command."""
    adl: Repeated | None = None
    """Only these activities: dressing grooming toileting transferring eating bathing."""
    scenario: Repeated | None = None
    """Only these scenarios."""
    split: Literal["public", "held-out"] = "public"
    """Public or held-out scenarios."""
    limit: int | None = None
    """At most this many scenarios, taken from the activities in turn."""
    twins: Flag = False
    """Add their twins and controls, which no headline number counts."""

    def task(self, bank: Path | None) -> dict[str, Any]:
        """Return these options for one of the banks, as arguments of the Inspect task."""
        from careeval.bank import bank_reference

        return {
            "bank": bank_reference(bank),
            "adl": self.adl,
            "scenario": self.scenario,
            "split": self.split,
            "limit": self.limit,
            **({"twins": True} if self.twins else {}),
        }


def is_confirmed(question: str) -> bool:
    """Ask on the terminal and tell whether the answer is yes; False without a terminal."""
    if not sys.stdin.isatty():
        return False
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
