"""Running: one system over a bank into a folder that can be resumed and graded again.

```text
DIR/<system>/            logs of asking and first grading, run.json, spent.jsonl, and calls.jsonl
                         until the run is complete
DIR/<system>/graded/<grader>-<n>/   the same for the n-th later grading of the same responses
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
from careeval.errors import CareEvalError, ProtocolError
from careeval.protocol.answers import n_epochs, write_answers
from careeval.protocol.ledger import CALLS_FILE, SPENT_FILE, Reading
from careeval.protocol.lexical import LEXICAL
from careeval.protocol.lock import LOCK_FILE, locked
from careeval.protocol.progress import Report

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
    """The server takes no call at all: a wrong key, a model that there is not."""
    disk = "disk"
    died = "died"
    """Its process was killed, or broke down."""


@dataclass(frozen=True)
class Run:
    """Everything that one run is made of.

    Attributes:
        system: Name of what is evaluated.
        model: Inspect's name of the model to ask; `None` for recorded answers.
        grader: Inspect's name of the grader; `None` to store the responses ungraded.
        epochs: Responses to each scenario.
        task: Arguments of the task, `careeval.protocol.task.careeval`.
        model_args: Arguments of the model's provider.
        base_url: Address of the model's server, for providers that take one.
        max_connections: Calls in flight to each of model and grader; `None` for as many as the
            provider takes.
        prices: Inspect's name of a model → fields of its `prices.Price`; a model that is not in
            here has none that is known.
        max_cost: Dollars that may be spent, by this run and those it was begun with together.
        together: Paths from the run's folder to those of the runs it was begun with, its own
            included; empty where it was begun alone.
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
    """Set up a run in a folder that holds none yet; the folder comes back.

    Raises:
        ProtocolError: The folder holds a run already, or lies in one.
    """
    check_fit(folder, run)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with (folder / RUN_FILE).open("x", encoding="utf-8") as file:
            file.write(_text(run))
    except FileExistsError as error:
        raise _taken(folder) from error
    return folder


def prepare_recorded(folder: Path, responses: Sequence[Response], run: Run) -> Path:
    """Set up a run over recorded responses, which are kept in its folder.

    Args:
        folder: The run's.
        responses: Of one system, to scenarios that `run.task` names or to any.
        run: Without model and epochs, which follow from the responses.

    Raises:
        ProtocolError: As `prepare`; or a scenario that is asked for has no response.
    """
    # before the responses of the run that is there are written over
    check_fit(folder, run)
    answered = {response.scenario for response in responses}
    wanted = set(run.task.get("scenario") or answered)
    if unanswered := sorted(wanted - answered):
        raise ProtocolError(f"there is no answer to {', '.join(unanswered)}")
    responses = [response for response in responses if response.scenario in wanted]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / RESPONSES_FILE
    write_answers(file, run.system, responses)
    task = run.task | {
        "scenario": sorted(wanted),
        "responses": str(file.resolve()),
        "system": run.system,
    }
    return prepare(replace(run, model=None, epochs=n_epochs(responses), task=task), folder)


def grading_folder(folder: Path, grader: str) -> Path:
    """Where the next grading by this grader goes, below a run's folder."""
    gradings = folder / GRADED
    name = folder_name(grader)
    numbers = (path.name.removeprefix(f"{name}-") for path in gradings.glob(f"{name}-*"))
    n = 1 + max((int(number) for number in numbers if number.isdecimal()), default=0)
    return gradings / f"{name}-{n}"


def forget(folder: Path) -> None:
    """Take back a run that was prepared, if nothing has come of it: no log and no call."""
    paid = folder / SPENT_FILE
    if list(folder.glob("*.eval")) or (paid.exists() and paid.stat().st_size):
        return
    for name in (RUN_FILE, RESPONSES_FILE, CALLS_FILE, SPENT_FILE, LOCK_FILE):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):
        # unless somebody else's files are in them
        folder.rmdir()
        folder.parent.rmdir()


def begin(run: Run, folder: Path) -> Outcome:
    """Carry out a run in this process, in a folder that holds none yet.

    Raises:
        ProtocolError: The folder holds a run already, or the run is set up wrongly.
    """
    prepare(run, folder)
    try:
        return resume(folder)
    except CareEvalError:
        forget(folder)
        raise


def read_run_file(folder: Path) -> Run:
    """What the run in a folder was asked for.

    Raises:
        ProtocolError: The folder holds no run.
    """
    try:
        return Run(**json.loads((folder / RUN_FILE).read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise ProtocolError(f"{folder} holds no run: there is no {RUN_FILE}") from error
    except (ValueError, TypeError) as error:
        raise ProtocolError(f"{folder / RUN_FILE} is not what careeval wrote: {error}") from error


def is_audit(folder: Path) -> bool:
    """Whether a folder holds a grader's audit on the probes, and no system's run."""
    try:
        run = read_run_file(folder)
    except ProtocolError:
        return False
    return run.model is None and run.system == PROBES


def amend(folder: Path, **changes: Any) -> None:
    """Change what is still open about the run in a folder: its prices, its budget.

    Raises:
        ProtocolError: The folder holds no run.
    """
    run = replace(read_run_file(folder), **changes)
    # replaced whole, so that a process killed here leaves the old or the new
    new = folder / f"{RUN_FILE}.new"
    new.write_text(_text(run), encoding="utf-8")
    new.replace(folder / RUN_FILE)


def sharing(folder: Path) -> list[Path]:
    """The folders of the runs that share a run's budget, its own among them."""
    return [(folder / way).resolve() for way in read_run_file(folder).together] or [folder]


def is_complete(folder: Path) -> bool:
    """Whether nothing is left of the run in a folder, as far as its files show at a glance."""
    logs = list(folder.glob("*.eval"))
    whole = all(zipfile.is_zipfile(log) for log in logs)
    return bool(logs) and whole and not (folder / CALLS_FILE).exists()


def on_disk(folder: Path) -> tuple[int, int]:
    """Of the run in a folder that is not complete, how many responses are asked, and graded."""
    asked, graded = set[tuple[str, ...]](), set[tuple[str, ...]]()
    for row in Reading(folder / CALLS_FILE).new():
        role, scenario, epoch, *_ = row["key"].split()
        (asked if role == "ask" else graded).add((scenario, epoch))
    return len(asked), len(graded)


def latest(root: Path) -> Path | None:
    """The folder just below `root` with the run that was worked on last; `None` without a run."""
    runs = {folder: _worked_on(folder) for folder in run_folders(root) if folder != root}
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
    """The folders under `root` that hold a run or a grading, `root` itself included."""
    return sorted(path.parent for path in root.rglob(RUN_FILE))


def check_fit(folder: Path, run: Run) -> None:
    """Return if a run may go into a folder.

    Raises:
        ProtocolError: The system cannot be called so, or the folder holds a run already, or lies in
            one, where it would be mistaken for part of it.
    """
    system = run.system
    if run.model == LEXICAL:
        raise ProtocolError(f"{LEXICAL} can only grade", hint="use it as --grader")
    if not system.isprintable() or len(system) > MAX_NAME:
        raise ProtocolError(
            f"a system cannot be called {system[:MAX_NAME]!r}",
            hint=f"give a name of at most {MAX_NAME} characters, without control characters",
        )
    outside = folder.parent.parent if folder.parent.name == GRADED else folder
    for above in outside.absolute().parents:
        # with its logs, since a run.json alone may be anybody's
        if (above / RUN_FILE).exists() and any(above.glob("*.eval")):
            raise ProtocolError(f"{above} is a run's own folder", hint="give a folder beside it")
    if (folder / RUN_FILE).exists():
        raise _taken(folder)


def _taken(folder: Path) -> ProtocolError:
    return ProtocolError(
        f"{folder} holds a run already",
        hint=f"finish it with 'careeval run --resume -o {folder.parent}', "
        "or give another folder or --name",
    )
