"""Running: one system over a bank into a folder that can be resumed and graded again.

```text
DIR/<system>/            logs of asking and first grading, run.json, and calls/ until it is complete
DIR/<system>/graded/<grader>-<n>/   logs of the n-th later grading of the same responses
```

Each folder is an `eval_set` of its own. What was asked for stands in `run.json`, so that resuming
needs no more than the folder.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from careeval.core.response import Response
from careeval.errors import CareEvalError, LogError, ProtocolError
from careeval.protocol.answers import n_epochs, write_answers
from careeval.protocol.lexical import LEXICAL
from careeval.protocol.logs import GRADED, read_log
from careeval.protocol.progress import Progress, shown

RUN_FILE = "run.json"
"""What a run was asked for; a folder that has one holds a run."""

RESPONSES_FILE = "responses.jsonl"
"""The recorded answers of a run that asks no model."""

CALLS = "calls"
"""Folder of finished calls, kept until the run is complete."""

MAX_NAME = 120
"""Characters of a system's name, which is a folder's too."""

DEFAULT_GRADER = "openai/gpt-4o-2024-08-06"
"""The paper's grader, dated: an alias moves."""

EMBEDDED = "gguf/"
"""Models of this provider run inside the process, one run at a time."""

EMBEDDED_CALLS = 8
"""What the embedded engine decodes at a time; more would only wait."""

EMBEDDED_GRADER_TOKENS = 1536
"""Of an embedded grader's reply: enough for nine items, and an end for a small model's rambling."""

INSPECT_CALLS = 20
"""Where Inspect's own limit on calls in flight begins; it adapts from there."""


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
        max_connections: Calls in flight to each of model and grader; the provider's default if
            `None`.
    """

    system: str
    model: str | None
    grader: str | None
    epochs: int
    task: dict[str, Any] = field(default_factory=dict)
    model_args: dict[str, Any] = field(default_factory=dict)
    base_url: str | None = None
    max_connections: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended.

    Attributes:
        folder: Where it is.
        complete: Whether every sample finished; otherwise resuming the folder does the rest.
        n_failed: Samples that ended in an error.
        interrupted: Whether it was stopped from outside, with Ctrl-C.
    """

    folder: Path
    complete: bool
    n_failed: int
    interrupted: bool = False


def folder_name(name: str) -> str:
    """A system's or grader's name as a folder's: what a path cannot hold becomes a hyphen."""
    return re.sub(r"[^\w.]+", "-", name).strip("-.") or "system"


def begin(run: Run, folder: Path) -> Outcome:
    """Carry out a run in a folder that holds none yet.

    Raises:
        ProtocolError: The folder holds a run already, or the run is set up wrongly.
    """
    _refuse_unfit(folder, run.system)
    folder.mkdir(parents=True, exist_ok=True)
    saved = folder / RUN_FILE
    saved.write_text(json.dumps(asdict(run), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    try:
        return _carry_out(run, folder)
    except CareEvalError:
        # nothing was asked: leave no run behind that resuming would trip over
        if not list(folder.glob("*.eval")):
            saved.unlink()
        raise


def resume(folder: Path) -> Outcome:
    """Do what is left of the run in a folder; nothing when it is complete.

    Raises:
        ProtocolError: The folder holds no run.
    """
    try:
        run = Run(**json.loads((folder / RUN_FILE).read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise ProtocolError(f"{folder} holds no run: there is no {RUN_FILE}") from error
    except (ValueError, TypeError) as error:
        raise ProtocolError(f"{folder / RUN_FILE} is not what careeval wrote: {error}") from error
    return _carry_out(run, folder)


def run_folders(root: Path) -> list[Path]:
    """The folders under `root` that hold a run or a grading, `root` itself included."""
    return sorted(path.parent for path in root.rglob(RUN_FILE))


def grade_again(
    folder: Path, system: str, responses: Sequence[Response], grader: str, task: dict[str, Any]
) -> Outcome:
    """Grade stored responses beside the judgments that exist, in a new folder below `folder`.

    Args:
        folder: The run's.
        system: Whose responses they are.
        responses: All of them, those that were refused, empty or missing too.
        grader: Inspect's name of the grader.
        task: Arguments of the task beyond the responses.
    """
    gradings = folder / GRADED
    name = folder_name(grader)
    numbers = (path.name.removeprefix(f"{name}-") for path in gradings.glob(f"{name}-*"))
    n = 1 + max((int(number) for number in numbers if number.isdecimal()), default=0)
    return begin_recorded(gradings / f"{name}-{n}", system, responses, grader, task)


def begin_recorded(
    folder: Path,
    system: str,
    responses: Sequence[Response],
    grader: str | None,
    task: dict[str, Any],
    *,
    max_connections: int | None = None,
) -> Outcome:
    """Carry out a run over recorded responses, kept in its folder so that it can be resumed.

    Raises:
        ProtocolError: As `begin`.
    """
    # before the responses of the run that is there are written over
    _refuse_unfit(folder, system)
    answered = {response.scenario for response in responses}
    wanted = set(task.get("scenario") or answered)
    if unanswered := sorted(wanted - answered):
        raise ProtocolError(f"there is no answer to {', '.join(unanswered)}")
    responses = [response for response in responses if response.scenario in wanted]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / RESPONSES_FILE
    write_answers(file, system, responses)
    recorded = {
        **task,
        "scenario": sorted(wanted),
        "responses": str(file.resolve()),
        "system": system,
    }
    run = Run(system, None, grader, n_epochs(responses), recorded, max_connections=max_connections)
    return begin(run, folder)


def _refuse_unfit(folder: Path, system: str) -> None:
    """Stop before a run goes where it would be mistaken for part of another, or cannot be named."""
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
        raise ProtocolError(
            f"{folder} holds a run already",
            hint=f"finish it with 'careeval run --resume -o {folder.parent}', "
            "or give another folder or --name",
        )


def _carry_out(run: Run, folder: Path) -> Outcome:
    from inspect_ai import eval_set
    from inspect_ai._util.error import PrerequisiteError
    from inspect_ai.model import GenerateConfig, get_model

    from careeval.protocol.task import careeval

    in_flight = run.max_connections or (EMBEDDED_CALLS if _embedded(run.model) else None)
    connections: dict[str, Any] = {"max_connections": in_flight} if in_flight else {}
    task = careeval(
        **{**run.task, "durable": True, "grade": run.grader is not None, "system": run.system}
    )
    _refuse_changed(folder, (task.metadata or {})["careeval"])
    if run.model == LEXICAL:
        raise ProtocolError(f"{LEXICAL} can only grade", hint="use it as --grader")
    n_samples = len(task.dataset) * run.epochs
    try:
        with _calls_kept_in(folder / CALLS), shown(Progress(run.system, n_samples)):
            roles = {}
            if run.grader:
                limit = {"max_tokens": EMBEDDED_GRADER_TOKENS} if _embedded(run.grader) else {}
                config = GenerateConfig(**connections, **limit)
                roles["grader"] = get_model(run.grader, config=config)
            complete, logs = eval_set(
                task,
                log_dir=str(folder),
                log_dir_allow_dirty=True,
                model=run.model or "none",
                model_args=run.model_args,
                model_base_url=run.base_url,
                model_roles=roles or None,
                epochs=run.epochs,
                continue_on_fail=True,
                retry_on_error=2,
                retry_attempts=0,
                retry_immediate=False,
                # twice the connections, so that one half is asked while the other is graded
                max_samples=2 * (in_flight or INSPECT_CALLS),
                max_retries=8,
                timeout=600,
                log_buffer=10,
                display="none",
                log_level="error",
                ctl_server=False,
                **connections,
            )
    except PrerequisiteError as error:
        plain = re.sub(r"\[/?[a-z ]+\]", "", str(error.message)).removeprefix("ERROR: ").strip()
        raise ProtocolError(plain) from error
    except ValueError as error:
        # Inspect has no type of its own for this one
        if not str(error).startswith(("Model API ", "Model name ")):
            raise
        raise ProtocolError(str(error), hint="a model's name is PROVIDER/MODEL") from error
    if not logs:
        # interrupted: Inspect gives back no log, and says that all of none succeeded
        return Outcome(folder, complete=False, n_failed=0, interrupted=True)
    n_failed = sum(
        n_samples - (log.results.completed_samples if log.results else 0) for log in logs
    )
    if complete and not n_failed:
        shutil.rmtree(folder / CALLS, ignore_errors=True)
    return Outcome(folder, complete and not n_failed, n_failed)


def _refuse_changed(folder: Path, about: Mapping[str, Any]) -> None:
    """Stop before a resumed run goes on with other scenarios or prompts than it began with."""
    for path in sorted(folder.glob("*.eval")):
        try:
            begun = read_log(path).about
        except LogError:
            continue
        for key, what in (("bank_hash", "scenarios"), ("prompts", "prompts")):
            if begun[key] != about[key]:
                raise ProtocolError(
                    f"{folder} was begun with {what} that have changed since "
                    f"({begun[key]}, now {about[key]})",
                    hint=f"begin a new run in another folder, or give back the {what} as they were",
                )


def _embedded(model: str | None) -> bool:
    return (model or "").startswith(EMBEDDED)


@contextmanager
def _calls_kept_in(folder: Path) -> Iterator[None]:
    """Have Inspect keep finished calls in the run's own folder, and nowhere else."""
    before = os.environ.get("INSPECT_CACHE_DIR")
    os.environ["INSPECT_CACHE_DIR"] = str(folder.resolve())
    try:
        yield
    finally:
        if before is None:
            del os.environ["INSPECT_CACHE_DIR"]
        else:
            os.environ["INSPECT_CACHE_DIR"] = before
