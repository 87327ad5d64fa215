"""The type of a mode: a way to ask a system, and a way to judge its response.

Nothing here knows Inspect, a model or a log: a mode says what is asked and how it is judged, and
`careeval.protocol` carries it out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from careeval.core.response import Response
from careeval.core.scenario import Rubric, Scenario
from careeval.errors import ProtocolError
from careeval.modes.grading import ItemJudgment

T = TypeVar("T")

PROVIDER = "careeval"
"""Inspect's name of the provider of all programs."""


class BankFiles(Protocol):
    """The YAML files of a bank's folder, by their paths in it without `.yaml`.

    The bank reads them, and keeps what is wrong with a file with its place.
    """

    def names(self) -> list[str]:
        """Return the names of the files in the folders below, in order."""

    def has_field(self, name: str, field: str) -> bool:
        """Return whether a file has a field at its top."""

    def read(self, name: str, kind: type[T]) -> T | None:
        """Return a file as `kind`; None where it has problems."""

    def report(
        self, name: str, loc: tuple[str | int, ...], code: str, message: str, hint: str = ""
    ) -> None:
        """Keep a problem of a file that has been read; `loc` is the way to the value."""


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that a program sees of what it judges; it has no points to see.

    Attributes:
        response: The response's text.
        items: Id and text of each item, in the order in which they are numbered.
        facts: What the mode's scenarios say for a program: `Scenario.facts`.
    """

    response: str
    items: Sequence[tuple[str, str]]
    facts: Mapping[str, Any]


Program = Callable[[Case], Sequence[ItemJudgment]]
"""A grader that computes: one judgment an item, numbered from 1."""


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to ask and a way to judge, which a bank names in `bank.yaml`.

    Attributes:
        name: In `bank.yaml` and in logs.
        read: Reads the scenarios of a bank's folder, each by the name of its file; None for one
            with problems. They may be of a class of the mode's own, below `Scenario`; their `text`
            is what a system is asked.
        rubrics: What may be graded; where none is named, the first that the scenarios have.
        prompts: Version of the protocol → folder of its prompts.
        models_grade: Whether a model may grade; then the prompts say how.
        programs: Graders that compute, by Inspect's name: `careeval/NAME`.
        grader: The grader where none is named.
        received: What a response in words is taken for, given the facts of its scenario: one that
            is no valid plan, say, is not `answered`. None where words are taken as they are.
    """

    name: str
    read: Callable[[BankFiles], list[tuple[str, Scenario | None]]]
    rubrics: tuple[Rubric, ...]
    prompts: Mapping[str, Path]
    models_grade: bool
    programs: Mapping[str, Program]
    grader: str
    received: Callable[[Response, Mapping[str, Any]], Response] | None = None

    def check_grader(self, grader: str) -> None:
        """Return if a grader can judge responses of this mode.

        Args:
            grader: Inspect's name of it.

        Raises:
            ProtocolError: It is a program of no mode or another, or a model where none can grade.
        """
        if grader in self.programs:
            return
        hint = f"use {' or '.join(self.programs)}"
        if grader.partition("/")[0] == PROVIDER:
            raise ProtocolError(
                f"there is no model {grader} that grades responses of the mode {self.name}",
                hint=hint,
            )
        if not self.models_grade:
            raise ProtocolError(
                f"{grader} cannot grade: responses of the mode {self.name} are judged by a program",
                hint=hint,
            )
