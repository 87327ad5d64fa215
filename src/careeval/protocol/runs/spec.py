"""The description of a run, its outcome, and the callbacks that it reports to."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from careeval.errors import ProtocolError
from careeval.modes.version import FIRST, PROTOCOL_VERSION
from careeval.protocol.runs.progress import Report

MAX_NAME = 120
"""Characters of a system's name, which is a folder's too."""


PROBES = "probes"
"""Name of the system that a bank's labelled probes stand under: an audit of a grader, no run."""


MAX_TOKENS = 8192
"""At most in one answer, reasoning included; the paper does not say."""


GRADER_TOKENS = 8192
"""At most in one reply of a grader, reasoning included."""


LOCAL = {"gguf", "hf", "vllm", "sglang", "llama-cpp-python", "mlx", "transformer_lens"}
"""Providers that load a model on this machine, unless they are given a server's address."""


class Stop(StrEnum):
    """The reason why a run ended before it was complete."""

    interrupted = "interrupted"
    budget = "budget"
    unmetered = "unmetered"
    """A call came back whose cost nobody knows, and there is a budget to keep."""
    turned_away = "turned away"
    """No call has succeeded: a wrong key, no such model, or no server at the address."""
    unusable = "unusable"
    """The grader answers, and judges nothing."""
    disk = "disk"
    died = "died"
    """Its process was killed, or broke down."""


@dataclass(frozen=True)
class Run:
    """Everything that one run is made of.

    Attributes:
        system: Name of what is evaluated. It may differ from that in the logs: see `rename`.
        model: Inspect's name of the model to ask; `None` for recorded answers.
        grader: Inspect's name of the grader; `None` to store the responses ungraded.
        epochs: Responses to each scenario.
        task: Arguments of the task, `careeval.protocol.grade.task.careeval`; its `system` is the
            name that the run began with, where that is not the present one.
        model_args: Arguments of the model's provider.
        base_url: Address of the model's server, for providers that take one.
        max_connections: Calls in flight to each of model and grader; `None` for as many as the
            provider takes.
        prices: Inspect's name of a model → fields of its `prices.Price`; a model that is not in
            here has none that is known.
        max_cost: Dollars that may be spent, by this run and those it was begun with together.
        together: Paths from the run's folder to those of the runs it was begun with, its own
            included; empty where it was begun alone.
        protocol: Version of the protocol that it follows to its end.
        n_answers: Recorded answers that its folder keeps; `None` where a model is asked, and in
            runs of older versions.
        sweep: Path from the run's folder to that of the sweep that it is a cell of.
    """

    system: str
    model: str | None
    grader: str | None
    epochs: int
    task: dict[str, Any] = field(default_factory=dict)
    model_args: dict[str, Any] = field(default_factory=dict)
    base_url: str | None = None
    max_connections: int | None = None
    prices: dict[str, dict[str, Any]] = field(default_factory=dict)
    max_cost: float | None = None
    together: list[str] = field(default_factory=list)
    protocol: str = PROTOCOL_VERSION
    n_answers: int | None = None
    sweep: str | None = None

    @property
    def local(self) -> bool:
        """Return whether a model is loaded on this machine: such runs take turns."""
        return (provider(self.model) in LOCAL and self.base_url is None) or (
            provider(self.grader) in LOCAL
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run.

    Attributes:
        folder: Where it is.
        complete: Whether every sample finished; otherwise resuming the folder does the rest.
        n_failed: Samples that ended in an error.
        stopped: Why it ended early; `None` if it came to its end.
        why: The same in words, where there is more to say.
    """

    folder: Path
    complete: bool
    n_failed: int
    stopped: Stop | None = None
    why: str = ""


class Stoppable(Protocol):
    """The calls of a run, which can be ended early."""

    def stop(self, why: Stop, within: float) -> None:
        """Begin no more calls, and end the run after at most so many seconds."""


@dataclass(frozen=True)
class Watch:
    """The callbacks that a run reports to.

    Attributes:
        report: How far it has come.
        ready: All is set up as it must be; comes back when the first call may be made.
        hold: The calls of the run, by which it can be ended early.
    """

    report: Report = lambda _: None
    ready: Callable[[], None] = lambda: None
    hold: Callable[[Stoppable], None] = lambda _: None


UNWATCHED = Watch()
"""Tells nobody."""


def provider(model: str | None) -> str:
    """The part of Inspect's name of a model that says who runs it; empty for no model."""
    return (model or "").partition("/")[0]


def folder_name(name: str) -> str:
    """A system's or grader's name as a folder's: what a path cannot hold becomes a hyphen."""
    return re.sub(r"[^\w.]+", "-", name).strip("-.") or "system"


def run_from(fields: Any) -> Run:
    """A run from its fields, as JSON has them.

    Raises:
        TypeError: They are not those of a run.
        ValueError: One is of another type.
    """
    # careeval 0.1, which knew one protocol, named none
    run = Run(**{"protocol": FIRST} | fields)
    if odd := _odd_field(run):
        raise ValueError(odd)
    return run


def _odd_field(run: Run) -> str:
    """Return the field of a run that has a wrong type; empty where none has."""
    words = (run.system, run.protocol)
    maybe_words = (run.model, run.grader, run.base_url, run.sweep)
    tables = (run.task, run.model_args, run.prices, *_values(run.prices))
    right = {
        "system or protocol": all(isinstance(each, str) for each in words),
        "model, grader, base_url or sweep": all(
            isinstance(each, str | None) for each in maybe_words
        ),
        "task, model_args or prices": all(isinstance(each, dict) for each in tables),
        "epochs": type(run.epochs) is int and run.epochs >= 1,
        "max_connections": run.max_connections is None or type(run.max_connections) is int,
        "n_answers": run.n_answers is None or type(run.n_answers) is int,
        "max_cost": run.max_cost is None or type(run.max_cost) in (int, float),
        "together": isinstance(run.together, list)
        and all(isinstance(each, str) for each in run.together),
    }
    return next(
        (f"{name} is of another type" for name, is_right in right.items() if not is_right), ""
    )


def _values(table: object) -> list[object]:
    return list(table.values()) if isinstance(table, dict) else []


def asked_for(run: Run) -> object:
    """Return the fields that make two runs of a system the same: not prices, not speed."""
    of_answers = ("responses", "scenario", "system") if run.model is None else ()
    task = {name: value for name, value in run.task.items() if name not in of_answers}
    epochs = None if run.model is None else run.epochs
    return run.system, run.model, run.grader, run.base_url, epochs, task, run.model_args


def check_name(system: str) -> None:
    """Return if a system may have a name.

    Raises:
        ProtocolError: It may not.
    """
    if not system.strip() or not system.isprintable() or len(system) > MAX_NAME:
        raise ProtocolError(
            f"a system cannot be called {system[:MAX_NAME]!r}",
            hint=f"give a name of at most {MAX_NAME} characters, without control characters",
        )
