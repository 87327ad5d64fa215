"""The type of a mode: a way to ask a system, and a way to judge its response.

Nothing here depends on Inspect, a model or a log: a mode describes what is asked and how it is
judged, and `careeval.protocol` carries it out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from careeval.core.response import Response
from careeval.core.scenario import Rubric, Scenario
from careeval.errors import ProtocolError
from careeval.modes.grading import ItemJudgment

T = TypeVar("T")

PROVIDER = "careeval"
"""Inspect's provider name of all grader programs."""


class BankFiles(Protocol):
    """The YAML files in a bank's folder, each named by its path there without `.yaml`."""

    def names(self) -> list[str]:
        """Return the names of the files in the bank's subfolders, sorted."""

    def has(self, name: str) -> bool:
        """Tell whether there is a file with that name, in a subfolder or beside `bank.yaml`."""

    def has_field(self, name: str, field: str) -> bool:
        """Tell whether a file has a field at its top level."""

    def read(self, name: str, kind: type[T]) -> T | None:
        """Return a file as an instance of `kind`; None if the file has problems."""

    def read_bytes(self, name: str, beside: str, max_bytes: int) -> bytes | None:
        """Return the content of a file beside another; None if it is missing or has more bytes."""

    def report(
        self, name: str, loc: tuple[str | int, ...], code: str, message: str, hint: str = ""
    ) -> None:
        """Report a problem in a file that has been read; `loc` is the path to the faulty value."""


@dataclass(frozen=True, slots=True)
class Case:
    """The response and the items that a program judges, without points."""

    response: str  # Its text
    items: Sequence[tuple[str, str]]
    """Id and text of each item, in the order in which they are numbered."""
    facts: Mapping[str, Any]  # Facts of the scenario for a program: `Scenario.facts`


Program = Callable[[Case], Sequence[ItemJudgment]]
"""A grader that computes its judgments: one for each item, numbered from 1."""


class Interaction(Protocol):
    """A conversation in which a system acts, and is told what comes of each act."""

    name: str
    """Its name, unique in its response."""

    @property
    def has_ended(self) -> bool:
        """True if the system is asked for nothing more."""

    def observation(self) -> str:
        """Return what the system is told now."""

    def act(self, reply: str) -> None:
        """Carry out what a reply says."""


@dataclass(frozen=True, slots=True)
class Stepping:
    """The way in which a mode asks for one act at a time, in place of one whole response."""

    prompts: Path  # Folder of the prompts
    begin: Callable[[Mapping[str, Any]], Sequence[Any]]
    """Returns the interactions that make one response, from the facts of a scenario: each an
    `Interaction`, and all of one class."""
    text: Callable[[Sequence[Any]], str]  # Returns the text of the response that they make
    n_interactions: int  # Interactions of a response
    max_acts: int  # The most acts of an interaction


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to ask and a way to judge, which a bank names in `bank.yaml`."""

    name: str  # Its name in `bank.yaml` and in logs
    protocol: str
    """Version `N-X` of its protocol: N is raised by a change after which scores are not comparable,
    X by any other change."""
    read: Callable[[BankFiles], list[tuple[str, Scenario | None]]]
    """Reads a bank's folder; returns pairs of a file's name and its scenario, or None for a
    scenario with problems. Scenarios may be of the mode's own subclass of `Scenario`; a scenario's
    `text` is what a system is asked."""
    rubrics: tuple[Rubric, ...]
    """Rubrics that may be graded; the default is the first that the scenarios have."""
    prompts: Path  # Folder of its prompts
    models_grade: bool  # True if a model may grade; if so, the prompts have a part for it
    programs: Mapping[str, Program]  # Graders that compute, by Inspect's name: `careeval/NAME`
    grader: str  # Inspect's name of the default grader
    rules: str | None = None  # The only set of rules that its banks may name
    interpret: Callable[[Response, Mapping[str, Any]], Response] | None = None
    """Returns a response with its state in this mode, given the facts of its scenario: a response
    that is no valid plan, say, is not `answered`. None if any text counts as answered."""

    given: tuple[str, ...] = ()
    """Conditions in which a scenario may be told, the default first; empty if there is one way."""
    tell: Callable[[Scenario, str], Scenario | None] = lambda scenario, _: scenario
    """Returns a scenario with what a system is asked under one of `given`; None if it has nothing
    for that condition: a picture, say."""
    prompts_given: Mapping[str, Path] = field(default_factory=dict)
    """Condition → folder of its prompts, for one in which something else is asked for."""
    unstepped: tuple[str, ...] = ()  # Conditions in which no single acts are asked for
    stepping: Stepping | None = None  # None if it asks for whole responses alone

    def condition(self, given: str | None) -> str | None:
        """Return what a system is given: as asked for, or by default; None where all is given.

        Raises:
            ProtocolError: The mode does not know it.
        """
        if given is None:
            return self.given[0] if self.given else None
        if given not in self.given:
            raise ProtocolError(
                f"in the mode {self.name} a system cannot be given {given!r}",
                hint=f"use --given {' or '.join(self.given)}"
                if self.given
                else "leave --given out, or take the worlds: --bank plans",
            )
        return given

    def prompts_for(self, *, step: bool, given: str | None = None) -> Path:
        """Return the folder of the prompts that ask for a whole response, or for single acts.

        Raises:
            ProtocolError: The mode does not ask for single acts, or not in this condition.
        """
        if not step:
            return self.prompts_given.get(given or "", self.prompts)
        if given in self.unstepped:
            raise ProtocolError(
                f"with --given {given} no acts are asked for", hint="leave --step out"
            )
        if self.stepping is None:
            raise ProtocolError(
                f"the mode {self.name} cannot be asked for one act at a time",
                hint="leave --step out, or take the worlds: --bank plans --step",
            )
        return self.stepping.prompts

    def check_grader(self, grader: str) -> None:
        """Check that a grader, by Inspect's name, can judge responses of this mode.

        Raises:
            ProtocolError: The mode has no program of that name; or the grader is a model, and only
                programs grade in this mode.
        """
        if grader in self.programs:
            return
        hint = f"use {' or '.join(self.programs)}"
        if grader.partition("/")[0] == PROVIDER:
            message = f"{grader} is not a grader program of the mode {self.name}"
            raise ProtocolError(message, hint=hint)
        if not self.models_grade:
            message = f"{grader} cannot grade: in the mode {self.name} only programs grade"
            raise ProtocolError(message, hint=hint)
