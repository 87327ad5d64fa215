"""Running: one system over a bank into a folder that can be resumed and graded again.

```text
DIR/<system>/            logs of asking and first grading, run.json, spent.jsonl, and calls.jsonl
                         until the run is complete
DIR/<system>/graded/<grader>-<rubric>-<n>/   the same for a later grading of the same responses
```

Each folder is an `eval_set` of its own. What was asked for stands in `run.json`, so that carrying
out a run needs no more than its folder: a run is *prepared*, and from then on only *resumed*.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from careeval.core.response import Response
from careeval.core.scenario import Rubric
from careeval.errors import ProtocolError
from careeval.files import write_text
from careeval.protocol.address import BARE, check_address
from careeval.protocol.answers import n_epochs, write_answers
from careeval.protocol.budget import BUDGET_LOCK, RESERVED_FILE
from careeval.protocol.cells import refuse_sweep, without_cells
from careeval.protocol.eval_log import is_finished
from careeval.protocol.folder_limits import read_json
from careeval.protocol.ledger import CALLS_FILE, SPENT_FILE, kept_keys, paid_for
from careeval.protocol.lexical import LEXICAL
from careeval.protocol.lock import LOCK_FILE, holder, locked
from careeval.protocol.progress import Report, SampleKey
from careeval.protocol.version import FIRST, PROTOCOL_VERSION

if TYPE_CHECKING:
    from careeval.protocol.calls import Calls

RUN_FILE = "run.json"
"""What a run was asked for; a folder that has one holds a run."""

GRADED = "graded"
"""Folder of later gradings within a run's."""

RESPONSES_FILE = "responses.jsonl"
"""The recorded answers of a run that asks no model."""

MAX_NAME = 120
"""Characters of a system's name, which is a folder's too."""

PROBES = "probes"
"""Name of the system that a bank's labelled probes stand under: an audit of a grader, no run."""

DEFAULT_GRADER = "openai/gpt-4o-2024-08-06"
"""The paper's grader, dated: an alias moves."""

MAX_TOKENS = 8192
"""At most in one answer, reasoning included; the paper does not say."""

GRADER_TOKENS = 8192
"""At most in one reply of a grader, reasoning included."""

LOCAL = {"gguf", "hf", "vllm", "sglang", "llama-cpp-python", "mlx", "transformer_lens"}
"""Providers that load a model on this machine, unless they are given a server's address."""


class Stop(StrEnum):
    """Why a run ended before it was complete."""

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
        task: Arguments of the task, `careeval.protocol.task.careeval`; its `system` is the name
            that the run began with, where that is not the present one.
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
        """Whether a model is loaded on this machine: such runs take turns."""
        return (provider(self.model) in LOCAL and self.base_url is None) or (
            provider(self.grader) in LOCAL
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended.

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


@dataclass(frozen=True)
class Watch:
    """Whom a run tells what.

    Attributes:
        report: How far it has come.
        ready: All is set up as it must be; comes back when the first call may be made.
        hold: The calls of the run, by which it can be ended early.
    """

    report: Report = lambda _: None
    ready: Callable[[], None] = lambda: None
    hold: Callable[[Calls], None] = lambda _: None


def provider(model: str | None) -> str:
    """The part of Inspect's name of a model that says who runs it; empty for no model."""
    return (model or "").partition("/")[0]


def folder_name(name: str) -> str:
    """A system's or grader's name as a folder's: what a path cannot hold becomes a hyphen."""
    return re.sub(r"[^\w.]+", "-", name).strip("-.") or "system"


def prepare(run: Run, folder: Path) -> Path:
    """Set up a run in a folder that holds none yet, whole or not at all; the folder comes back.

    One that was set up like this before, and has not begun, is set up anew.

    Raises:
        ProtocolError: The folder holds another run or one that has begun, or lies in one.
        OSError: The folder cannot be written; nothing of the run is in it.
    """
    check_fit(folder, run)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        # one of two commands at once finds the run of the other
        with locked(folder):
            if not _may_take(folder, run):
                raise _taken(folder)
            write_text(folder / RUN_FILE, _text(run), synced=True)
    except OSError:
        if not _readable(folder):
            forget(folder)
        raise
    return folder


def prepare_recorded(folder: Path, responses: Sequence[Response], run: Run) -> Path:
    """Set up a run over recorded responses: see `recorded`; the folder comes back.

    Raises:
        ProtocolError: As `prepare`; or a scenario that is asked for has no response.
    """
    return prepare(recorded(folder, responses, run), folder)


def recorded(folder: Path, responses: Sequence[Response], run: Run) -> Run:
    """Keep recorded responses in a folder, for the run over them that comes back.

    Args:
        folder: The run's, which is to be prepared next.
        responses: Of one system, to scenarios that `run.task` names or to any.
        run: Without model and epochs, which follow from the responses.

    Raises:
        ProtocolError: As `prepare`; or a scenario that is asked for has no response.
        OSError: The folder cannot be written.
    """
    # before the responses of the run that is there are written over
    check_fit(folder, run)
    answered = {response.scenario for response in responses}
    part = run.task.get("part")
    wanted = set(part or run.task.get("scenario") or answered)
    if unanswered := sorted(wanted - answered):
        raise ProtocolError(f"there is no answer to {', '.join(unanswered)}")
    responses = [response for response in responses if response.scenario in wanted]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / RESPONSES_FILE
    try:
        write_answers(file, run.system, responses)
    except OSError:
        if not _readable(folder):
            forget(folder)
        raise
    task = run.task | {
        "scenario": run.task["scenario"] if part else sorted(wanted),
        "responses": str(file.resolve()),
        "system": run.system,
    }
    n = len(responses)
    return replace(run, model=None, epochs=n_epochs(responses), task=task, n_answers=n)


def grading_folder(folder: Path, grader: str, rubric: Rubric) -> Path:
    """Where the next grading of a rubric by this grader goes, below a run's folder.

    Its number also counts on from those of careeval 0.1, whose folders name no rubric.
    """
    gradings = folder / GRADED
    name = folder_name(grader)
    numbered = re.compile(rf"{re.escape(name)}(?:-{rubric})?-(\d+)")
    named = (numbered.fullmatch(path.name) for path in gradings.glob("*"))
    n = 1 + max((int(match[1]) for match in named if match), default=0)
    return gradings / f"{name}-{rubric}-{n}"


def forget(folder: Path) -> None:
    """Take back a run that was prepared, if nothing has come of it: no log and no call."""
    if _has_calls(folder) or holder(folder):
        return
    with suppress(OSError):
        of_calls = (CALLS_FILE, SPENT_FILE, RESERVED_FILE)
        for name in (RUN_FILE, RESPONSES_FILE, *of_calls, LOCK_FILE, BUDGET_LOCK):
            (folder / name).unlink(missing_ok=True)
        # unless somebody else's files are in them
        folder.rmdir()
        folder.parent.rmdir()


def _has_calls(folder: Path) -> bool:
    """Whether anything has come of the run in a folder: a log, a call."""
    files = (folder / name for name in (CALLS_FILE, SPENT_FILE))
    called = any(file.exists() and file.stat().st_size > 0 for file in files)
    return called or any(folder.glob("*.eval*"))


def read_run_file(folder: Path) -> Run:
    """What the run in a folder was asked for.

    Raises:
        ProtocolError: The folder holds no run, or its file is damaged: the hint says what is lost.
    """
    file = folder / RUN_FILE
    try:
        run = run_from(read_json(file))
    except FileNotFoundError as error:
        raise ProtocolError(
            f"{folder} holds no run: there is no {RUN_FILE}", hint=_without_run_file(folder)
        ) from error
    except OSError as error:
        raise ProtocolError(
            f"{file} cannot be read: {error.strerror}", hint=_without_run_file(folder)
        ) from error
    except (ValueError, TypeError) as error:
        why = "it is empty" if not file.stat().st_size else str(error)
        raise ProtocolError(
            f"{file} is not what careeval wrote: {why}", hint=_without_run_file(folder)
        ) from error
    return run


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
    """Which field of a run is of another type than it should be; empty where none is."""
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


def _without_run_file(folder: Path) -> str:
    """What to do about a run whose file cannot be read."""
    if any(folder.glob("*.eval")):
        return (
            "what it was asked for is lost, and it cannot go on; its logs are there, and 'careeval "
            f"summary {folder}' reads them: put {RUN_FILE} back from a copy, or run the system "
            "anew with another -o"
        )
    if _has_calls(folder):
        return (
            f"what it was asked for is lost, and it cannot go on; {CALLS_FILE} and {SPENT_FILE} "
            f"have its finished calls: put {RUN_FILE} back from a copy, or run the system anew "
            "with another -o"
        )
    return "nothing was asked and nothing is lost: delete the folder, or give 'careeval run' again"


def _readable(folder: Path) -> bool:
    """Whether a folder has a run.json that can be read."""
    with suppress(ProtocolError):
        read_run_file(folder)
        return True
    return False


def system_of(folder: Path) -> str | None:
    """The name of a run's system; `None` where the folder has no run.json of ours."""
    with suppress(ProtocolError):
        return read_run_file(folder).system
    return None


def is_audit(folder: Path) -> bool:
    """Whether a folder holds a grader's audit on the probes, and no system's run."""
    try:
        run = read_run_file(folder)
    except ProtocolError:
        return False
    return run.model is None and run.system == PROBES


def is_grading(folder: Path) -> bool:
    """Whether a folder holds a later grading: it lies in `graded` in the folder of a run.

    A folder of that name may also be one that a user chose for runs.
    """
    run = folder.parent.parent
    in_graded = folder.parent.name == GRADED
    return in_graded and ((run / RUN_FILE).exists() or any(run.glob("*.eval")))


def amend(folder: Path, **changes: Any) -> None:
    """Change what is still open about the run in a folder: its prices, its budget.

    Raises:
        ProtocolError: The folder holds no run.
    """
    run = replace(read_run_file(folder), **changes)
    # a process killed here leaves the old or the new
    write_text(folder / RUN_FILE, _text(run), synced=True)


def sharing(folder: Path) -> list[Path]:
    """The folders of the runs that share a run's budget, its own among them."""
    return [(folder / way).resolve() for way in read_run_file(folder).together] or [folder]


def is_complete(folder: Path) -> bool:
    """Whether nothing is left of the run in a folder, as far as its files show at a glance.

    The calls of a run that is not complete are in a file. Should that be gone, a log says whether
    it came to its end.
    """
    logs = list(folder.glob("*.eval"))
    if not logs or (folder / CALLS_FILE).exists():
        return False
    return all(map(zipfile.is_zipfile, logs)) and any(map(is_finished, logs))


def n_lost(folder: Path) -> int:
    """Paid calls of the run in a folder, not complete, that are in its file of calls no more.

    They are made and paid for again. A process that is killed loses one at most.
    """
    # a call that was never paid for may be there too, so that this is the least
    return max(0, len(paid_for(folder)) - len(kept_keys(folder)))


def on_disk(folder: Path) -> tuple[int, int]:
    """Of the run in a folder that is not complete, how many responses are asked, and graded."""
    asked, graded = kept_calls(folder)
    return len(asked), len(graded)


def kept_calls(folder: Path) -> tuple[set[SampleKey], set[SampleKey]]:
    """The responses of a run that is not complete that are asked, and those that are graded."""
    asked, graded = set[SampleKey](), set[SampleKey]()
    for key in kept_keys(folder):
        role, scenario, epoch, *_ = key.split()
        (asked if role == "ask" else graded).add((scenario, int(epoch)))
    return asked, graded


def latest_unfinished(root: Path) -> Path | None:
    """Find the folder just below `root` with the unfinished run of a system worked on last.

    A grading that is not finished counts as its run does; an audit on the probes does not count.
    `None` where every run is finished.
    """
    open_runs = (
        folder
        for folder in run_folders(root)
        if folder != root and not is_complete(folder) and not is_audit(folder)
    )
    runs = {folder: _worked_on(folder) for folder in open_runs}
    if not runs:
        return None
    newest = max(runs, key=runs.__getitem__)
    return root / newest.relative_to(root).parts[0]


def _worked_on(folder: Path) -> float:
    files = [folder / name for name in (RUN_FILE, LOCK_FILE, SPENT_FILE)]
    return max(file.stat().st_mtime for file in files if file.exists())


def _text(run: Run) -> str:
    return json.dumps(asdict(run), indent=1, ensure_ascii=False) + "\n"


def resume(folder: Path, siblings: Sequence[Path] = (), watch: Watch = Watch()) -> Outcome:
    """Do what is left of the run in a folder, in this process; nothing when it is complete.

    Args:
        folder: The run's.
        siblings: Folders of the runs that share its budget.
        watch: Whom to tell.

    Raises:
        ProtocolError: The folder holds no run, is another process's now, or the run is set up
            wrongly.
    """
    from careeval.protocol.evaluate import evaluate

    run = read_run_file(folder)
    with locked(folder):
        return evaluate(run, folder, siblings or [folder], watch)


def run_folders(root: Path) -> list[Path]:
    """Return the folders under `root` that hold a run or a grading, `root` itself included.

    The cells of a sweep are not among them.
    """
    return without_cells(sorted(path.parent for path in root.rglob(RUN_FILE)))


def orphans(root: Path) -> list[Path]:
    """The folders under `root` that have what a run has paid for, and no run.json any more."""
    files = [*root.rglob(SPENT_FILE), *root.rglob(CALLS_FILE)]
    return without_cells(
        sorted({file.parent for file in files if not (file.parent / RUN_FILE).exists()})
    )


def check_fit(folder: Path, run: Run) -> None:
    """Return if a run may go into a folder.

    Raises:
        ProtocolError: The system cannot be called so, its server's address is none or holds a
            secret, or the folder holds a run already, or lies in one, where it would be mistaken
            for part of it.
    """
    if run.model == LEXICAL:
        raise ProtocolError(f"{LEXICAL} can only grade", hint="use it as --grader")
    check_name(run.system)
    if run.base_url is not None and provider(run.model) not in BARE:
        check_address(run.base_url, "--base-url")
    outside = folder.parent.parent if is_grading(folder) else folder
    for above in outside.absolute().parents:
        # with its logs, since a run.json alone may be anybody's
        if (above / RUN_FILE).exists() and any(above.glob("*.eval")):
            raise ProtocolError(f"{above} is a run's own folder", hint="give a folder beside it")
    if holder(folder) or not _may_take(folder, run):
        raise _taken(folder)


def _may_take(folder: Path, run: Run) -> bool:
    """Whether a folder holds no run; or the same one, or one that cannot be read, not begun."""
    if not (folder / RUN_FILE).exists():
        return True
    if _has_calls(folder):
        return False
    try:
        there = read_run_file(folder)
    except ProtocolError:
        return True
    return _asked_for(there) == _asked_for(run)


def _asked_for(run: Run) -> object:
    """What tells a run from another of the same system: not its price, nor how fast it goes."""
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


def refuse_runs_folder(folder: Path) -> None:
    """Return if a folder is apart from runs, so that other files may be written into it.

    Raises:
        ProtocolError: It is a run's, lies in a run's, or has those of runs just below it.
    """
    refuse_sweep(folder)
    hint = "give a folder of its own, such as -o site"
    if (folder / RUN_FILE).exists() or any(folder.glob("*.eval")):
        raise ProtocolError(f"{folder} is a run's own folder", hint=hint)
    for above in folder.absolute().parents:
        if (above / RUN_FILE).exists() and any(above.glob("*.eval")):
            raise ProtocolError(f"{folder} lies in the folder of a run, {above}", hint=hint)
    below = [*folder.glob(f"*/{RUN_FILE}"), *folder.glob(f"private/*/{RUN_FILE}")]
    if below:
        raise ProtocolError(f"{folder} holds runs, such as {below[0].parent}", hint=hint)


def _taken(folder: Path) -> ProtocolError:
    return ProtocolError(
        f"{folder} holds a run already",
        hint=f"finish it with 'careeval run --resume -o {folder.parent}', "
        "or give another folder or --name",
    )
