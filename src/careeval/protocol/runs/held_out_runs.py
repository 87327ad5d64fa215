"""Where a run over the held-out split lies: apart from the others, for its owner's eyes alone.

Logs, tables and kept calls hold the scenarios' text and what models said to it. Nothing that is
made of them by default does: see `careeval.results.withheld`.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from careeval.core.scenario import Split
from careeval.errors import ProtocolError
from careeval.files import write_text
from careeval.protocol.runs.folder import is_grading, run_folders, system_of
from careeval.protocol.runs.spec import Run, folder_name

PRIVATE = "private"

LAST_WORDS = "last-words.txt"
"""What was said when a held-out run ended early, in its folder."""

_ELSEWHERE = (
    *("INSPECT_TRACE_FILE", "INSPECT_PY_LOGGER_FILE", "INSPECT_TELEMETRY"),
    *("INSPECT_EVAL_SET_OVERRIDES", "INSPECT_EVAL_SET_CAPTURE", "INSPECT_EVAL_SET_SELECTION"),
)
"""Variables by which Inspect is told to write, or to tell others, elsewhere."""

_VS_CODE = ("VSCODE_IPYTHON_KERNEL", "VSCODE_CLI_REQUIRE_TOKEN", "VSCODE_PID", "VSCODE_CWD",
            "TERM_PROGRAM")  # fmt: skip
"""Variables by which Inspect knows VS Code, where it has a .env file win over what is set."""

_APART: ContextVar[bool] = ContextVar("careeval_apart", default=False)

NOTE = """\
What lies here was asked of the held-out split of a bank, and holds its text and the answers to it.
Do not publish it, commit it or send it on: a scenario that has been seen is held out no more.
'careeval summary' and 'careeval report' show its numbers, and none of its words.
"""


def run_folder(root: Path, run: Run) -> Path:
    """Where a run goes below the folder that the user named."""
    name = folder_name(run.system)
    return root / PRIVATE / name if is_held_out(run) else root / name


@contextmanager
def apart() -> Iterator[None]:
    """Have the task take the held-out split inside the block: its logs go where they belong."""
    token = _APART.set(True)
    try:
        yield
    finally:
        _APART.reset(token)


@contextmanager
def unheard(run: Run, folder: Path) -> Iterator[None]:
    """Have nothing that is asked or answered inside the block written outside a held-out run.

    Nothing is logged: a trace of Inspect's repeats a server's error, a client's log the request.
    Files that are there for a moment lie in the run's folder, and Inspect is told of no other place
    to write to. A run over the public split is left alone.
    """
    if not is_held_out(run):
        yield
        return
    names = [*_ELSEWHERE, *_VS_CODE, "TMPDIR"]
    before = {name: os.environ.get(name) for name in names}
    disabled, place = logging.root.manager.disable, tempfile.tempdir
    for name in names:
        os.environ.pop(name, None)
    # empty and not absent: a .env file fills in what is absent
    os.environ.update(dict.fromkeys(_ELSEWHERE, ""))
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder.resolve())
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(disabled)
        tempfile.tempdir = place
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def tellable(run: Run, folder: Path, words: str) -> str:
    """Words about a run that may be shown: those of a held-out one are kept in its folder."""
    if not words or not is_held_out(run):
        return words
    path = folder / LAST_WORDS
    path.write_text(f"{words}\n", encoding="utf-8", errors="replace")
    return f"the words may be of the held-out split, and stand in {path}"


def refuse_in_the_open(split: str) -> None:
    """Stop before Inspect alone would log the held-out split into any folder.

    Raises:
        ProtocolError: It would.
    """
    if split == Split.held_out and not _APART.get():
        raise ProtocolError(
            "the held-out split is asked by 'careeval run' alone, whose logs lie apart",
            hint="careeval run --split held-out -m MODEL",
        )


def refuse_beside_the_other(root: Path, run: Run) -> None:
    """Stop before a system would have two runs of one name below a folder.

    One may be private, or have been renamed since it began.

    Raises:
        ProtocolError: It would.
    """
    own = run_folder(root, run)
    for other in run_folders(root):
        if is_grading(other) or other == own:
            continue
        if system_of(other) == run.system:
            raise ProtocolError(
                f"{other} holds a run of {run.system!r} already",
                hint="give another --name, or another folder",
            )


def keep_apart(root: Path, run: Run) -> None:
    """Make the place for a held-out run: readable by its owner alone, and ignored by git."""
    if not is_held_out(run):
        return
    place = root / PRIVATE
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    place.chmod(0o700)
    write_text(place / ".gitignore", "*\n")
    write_text(place / "README", NOTE)


def is_held_out(run: Run) -> bool:
    """Whether a run is over the held-out split."""
    return run.task.get("split") == Split.held_out
