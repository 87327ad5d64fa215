"""The description of a run, its progress and outcome, and the callbacks by which it reports."""

from __future__ import annotations

import json
import re
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Protocol, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from careeval.core.scenario import Split
from careeval.errors import ProtocolError
from careeval.modes.response import RESPONSE
from careeval.protocol.ledger import PaidCall
from careeval.protocol.prices import Price
from careeval.protocol.providers import Endpoint

Kind = TypeVar("Kind")

MAX_NAME = 120
"""The most characters of a system's name, which also names a folder."""

PROBES = "probes"
"""Name of the system in a probe check of a grader, whose responses are the bank's probes."""

N_EPOCHS = 10
"""The paper's number of responses to each scenario."""

MAX_TOKENS = 8192
"""The most tokens of one response, reasoning included; the paper gives no limit."""

GRADER_TOKENS = 8192
"""The most tokens of a grader's reply, reasoning included."""


class Stop(StrEnum):
    """The reason why a run ended before it was complete."""

    interrupted = "interrupted"
    budget = "budget"
    unmetered = "unmetered"
    """The cost of a call is unknown, so that the budget cannot be kept."""
    turned_away = "turned away"
    """No call succeeded: the key is wrong, or the model or the server does not exist."""
    blind = "blind"
    """The model does not see pictures, and is to be asked with pictures."""
    unusable = "unusable"
    """The grader replies, but without judgments."""
    disk = "disk"
    """A file of the run cannot be written or read."""
    died = "died"
    """The run's process was killed, or ended with an error."""


@dataclass(frozen=True)
class Run:
    """The description of one run, as it is stored in `run.json`."""

    system: str  # Name of the system. It may differ from that in the logs: see `run_setup`.
    model: str | None  # Inspect's name of the model to ask; `None` for recorded responses
    grader: str | None  # Inspect's name of the grader; `None` to store the responses ungraded
    epochs: Annotated[int, Field(ge=1)]  # Responses to each scenario
    task: dict[str, Any] = field(default_factory=dict)
    """Arguments of the task, `careeval.protocol.task.careeval`. Its `system` is the name that the
    run began with, if the system has been renamed."""
    model_args: dict[str, Any] = field(default_factory=dict)  # Arguments of the model's provider
    base_url: str | None = None  # Address of the model's server, for providers that take one
    grader_args: dict[str, Any] = field(default_factory=dict)
    grader_base_url: str | None = None
    max_connections: int | None = None
    """The most calls in flight to the model, and as many to the grader; `None` for the provider's
    own limits."""
    prices: dict[str, Price] = field(default_factory=dict)
    """Inspect's name of a model → its price; the price of any other model is unknown."""
    max_cost: float | None = None
    """Dollars that may be spent by this run and those it was begun with, together; `None` for no
    limit."""
    together: list[str] = field(default_factory=list)
    """Paths from the run's folder to those of the runs it was begun with, its own included; empty
    if it was begun alone."""
    protocol: str = RESPONSE.protocol
    """Version of the protocol of its mode that the run follows to its end."""
    n_answers: int | None = None
    """Recorded responses that its folder keeps; `None` if a model is asked, and while a function
    is being asked."""
    sweep: str | None = None
    """Path from the run's folder to that of its sweep; `None` outside a sweep."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")  # an unknown field is a mistake

    @property
    def asks_function(self) -> bool:
        """True if the recorded responses are those of a Python function, which may give more."""
        return bool(self.task.get("all_required"))

    @property
    def is_held_out(self) -> bool:
        """True if the run is over the held-out split."""
        return self.task.get("split") == Split.held_out

    @property
    def endpoints(self) -> list[Endpoint]:
        """The models that the run calls: the one it asks, then its grader."""
        asked = self.model and Endpoint("ask", self.model, self.base_url, self.model_args)
        grader = self.grader and Endpoint(
            "grade", self.grader, self.grader_base_url, self.grader_args
        )
        return [endpoint for endpoint in (asked, grader) if endpoint]

    @property
    def local(self) -> bool:
        """True if a model is loaded on this machine; such runs go one at a time."""
        return any(each.provider.loads_models and not each.address for each in self.endpoints)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run."""

    folder: Path
    complete: bool  # True if every sample finished; if not, resuming the run finishes the others
    n_failed: int  # Samples that ended in an error
    stopped: Stop | None = None  # Why the run ended early; `None` if it came to its end
    why: str = ""  # Details of that, or the last error if samples failed; empty if unknown


class Stoppable(Protocol):
    """The calls of a run, as what stops them knows them."""

    def stop(self, why: Stop, within: float) -> None:
        """Begin no more calls, and end the run within this number of seconds."""


@dataclass(frozen=True)
class RunCallbacks:
    """The callbacks by which a run reports."""

    report: Report = lambda _: None
    ready: Callable[[], None] = lambda: None
    """Is called when the set-up is checked; returns when the first call may be made."""
    hold: Callable[[Stoppable], None] = lambda _: None
    """Is called with the calls of the run, by which it can be stopped."""


NO_CALLBACKS = RunCallbacks()
"""Callbacks that do nothing."""


def folder_name(name: str) -> str:
    """Return the folder name for a system or a grader, with hyphens for special characters."""
    return re.sub(r"[^\w.]+", "-", name).strip("-.") or "system"


def run_from_fields(fields: Any) -> Run:
    """Return a run from its JSON fields.

    Raises:
        ValueError: They are not the fields of a run, or one has the wrong type.
    """
    if isinstance(fields, dict):
        fields = {"protocol": "unknown"} | fields  # never taken for today's
    return from_fields(Run, fields)


def from_fields(kind: type[Kind], fields: Any) -> Kind:
    """Return a dataclass from its JSON fields.

    Raises:
        ValueError: A field is missing, unknown, or has the wrong type; the message names it.
    """
    try:
        # as JSON: strict Python values of a dataclass would have to be its instance already
        return TypeAdapter(kind).validate_json(json.dumps(fields), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise ValueError(f"{where}: {first['msg']}") from error


def as_fields(value: object) -> dict[str, Any]:
    """Return the JSON fields of a dataclass, which `from_fields` reads."""
    fields: dict[str, Any] = TypeAdapter(type(value)).dump_python(value, mode="json")
    return fields


def run_identity(run: Run) -> object:
    """Return the fields in which two descriptions of one run agree; prices, say, may differ."""
    left_out = ("responses", "scenario", "system") if run.model is None else ()
    task = {name: value for name, value in run.task.items() if name not in left_out}
    epochs = None if run.model is None else run.epochs
    asking = run.system, run.model, run.base_url, epochs, task, run.model_args
    return *asking, run.grader, run.grader_base_url, run.grader_args


def check_name(system: str) -> None:
    """Raise a `ProtocolError` if a system's name is blank, too long, or has control characters."""
    if not system.strip() or not system.isprintable() or len(system) > MAX_NAME:
        raise ProtocolError(
            f"the system name is not allowed: {system[:MAX_NAME]!r}",
            hint=f"give a name of at most {MAX_NAME} characters, without control characters",
        )


SampleKey = tuple[str, int]
"""The key of a sample: scenario and epoch."""

# The progress of a run

EVERY = 0.25
"""The least seconds between two reports."""

WINDOW = 60.0
"""Seconds over which a rate is computed."""

SAMPLE_EVERY = 1.0
"""The least seconds between two counts from which a rate is computed."""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The progress of one run."""

    system: str
    n_samples: int  # Responses that the run will have, each with its gradings
    n_done: int = 0
    n_failed: int = 0  # Responses that ended in an error, and were given up
    n_calls: int = 0  # Calls that came back since the run was begun or resumed
    usd: float | None = 0.0  # Cost of those calls; `None` once the cost of one is not known
    n_errors: int = 0
    """Failed attempts at a call since the run was begun or resumed; most are repeated."""
    last_error: str = ""  # The last error, and when the call is tried again
    rate: float | None = None
    """Responses per second that were finished or given up in the last minute; `None` while that is
    not known."""
    ended: bool = False  # True once the run is over, complete or not
    waiting: bool = False
    """True if the run has not begun, since the machine has no room for it; its counts are not known
    then."""

    @property
    def percent(self) -> int:
        """Percent of the responses that are finished, rounded down; at most 99 before the end."""
        percent = 100 * self.n_done // self.n_samples if self.n_samples else 0
        return percent if self.ended else min(percent, 99)

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the end at the last minute's rate; `None` if that rate is unknown or 0."""
        if self.ended:
            return 0.0
        left = self.n_samples - self.n_done - self.n_failed
        return left / self.rate if self.rate else None


Report = Callable[[RunProgress], None]


class Pace:
    """The rate at which a count has grown in the last minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counts: deque[tuple[float, int]] = deque()

    def rate(self, n: int) -> float | None:
        """Record that the count is `n` now; return its growth per second.

        The rate falls while nothing happens. It is `None` during the first second.
        """
        now, counts = self._clock(), self._counts
        if not counts or now - counts[-1][0] >= SAMPLE_EVERY:
            counts.append((now, n))
        while now - counts[0][0] > WINDOW and len(counts) > 1:
            counts.popleft()
        began, before = counts[0]
        return (n - before) / (now - began) if now - began >= SAMPLE_EVERY else None


def total_progress(progress: Sequence[RunProgress]) -> RunProgress:
    """Return the progress of several runs together; a cost or rate unknown for one is `None`."""
    costs, rates = [run.usd for run in progress], [run.rate for run in progress if not run.ended]
    known_costs = [cost for cost in costs if cost is not None]
    known_rates = [rate for rate in rates if rate is not None]
    return RunProgress(
        "all",
        sum(run.n_samples for run in progress),
        sum(run.n_done for run in progress),
        sum(run.n_failed for run in progress),
        sum(run.n_calls for run in progress),
        sum(known_costs) if len(known_costs) == len(costs) else None,
        rate=sum(known_rates) if len(known_rates) == len(rates) else None,
        ended=all(run.ended for run in progress),
    )


class Tally:
    """A counter of the calls and samples of a run, which reports its progress now and then."""

    def __init__(
        self,
        system: str,
        n_samples: int,
        done: set[SampleKey],
        report: Report,
        *,
        is_held_out: bool = False,
    ) -> None:
        self._is_held_out = is_held_out
        self._progress = RunProgress(system, n_samples, n_done=len(done))
        self._done, self._failed = set(done), set[SampleKey]()
        self._report, self._reported = report, 0.0

    def count_call(self, paid: PaidCall) -> None:
        """Count a call that came back."""
        now = self._progress
        usd = None if now.usd is None or paid.cost_usd is None else now.usd + paid.cost_usd
        self._tell(replace(now, n_calls=now.n_calls + 1, usd=usd))

    def _shown(self, text: str) -> str:
        """Return a text to show; for a held-out run a placeholder: the text may quote a prompt."""
        return "its words are not shown" if self._is_held_out else text

    def count_failed_attempt(self, error: str, when: str) -> None:
        """Count a failed attempt at a call; `when` says in our own words when it is tried again."""
        now = self._progress
        shown = f"an attempt failed, {self._shown(error)}" if self._is_held_out else error
        self._tell(replace(now, n_errors=now.n_errors + 1, last_error=f"{shown}; again {when}"))

    def count_sample(self, sample: SampleKey, error: str | None) -> None:
        """Count a sample that is finished, or that is given up because of an error."""
        now = self._progress
        if error is None:
            self._failed.discard(sample)
            self._done.add(sample)
        else:
            self._done.discard(sample)
            self._failed.add(sample)
            # a server's error may quote the prompt
            now = replace(now, last_error=self._shown(error))
        self._tell(replace(now, n_done=len(self._done), n_failed=len(self._failed)))

    def flush(self) -> None:
        """Report what has been counted so far."""
        self._reported = time.monotonic()
        self._report(self._progress)

    def _tell(self, progress: RunProgress) -> None:
        self._progress = progress
        if time.monotonic() - self._reported >= EVERY:
            self.flush()
