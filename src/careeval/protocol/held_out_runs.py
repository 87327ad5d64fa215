"""Keeping runs over the held-out split in a private folder, and their texts out of other files.

The logs, tables and kept calls of such a run hold the texts of scenarios and responses. By default,
files made from them have no texts: see `careeval.results.held_out_words`.
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
from careeval.protocol.run import Run, folder_name
from careeval.protocol.run_folder import runs_named

PRIVATE = "private"

ERROR_FILE = "last-words.txt"
"""Name of the file with the error that ended a held-out run early, in the folder of the run."""

_OUTPUT_VARIABLES = (
    *("INSPECT_TRACE_FILE", "INSPECT_PY_LOGGER_FILE", "INSPECT_TELEMETRY"),
    *("INSPECT_EVAL_SET_OVERRIDES", "INSPECT_EVAL_SET_CAPTURE", "INSPECT_EVAL_SET_SELECTION"),
)
"""Environment variables by which Inspect writes or sends data to other places."""

_VS_CODE = ("VSCODE_IPYTHON_KERNEL", "VSCODE_CLI_REQUIRE_TOKEN", "VSCODE_PID", "VSCODE_CWD",
            "TERM_PROGRAM")  # fmt: skip
"""Environment variables by which Inspect detects VS Code, where it lets a .env file override
variables that are set."""

_ALLOWED: ContextVar[bool] = ContextVar("careeval_held_out_allowed", default=False)

NOTE = """\
These runs used the held-out split of a bank. Their files hold its scenarios and the responses.
Do not publish them, commit them or send them on: a scenario that was seen is no longer held out.
'careeval summary' and 'careeval report' show the numbers without these texts.
"""


def folder_of_run(root: Path, run: Run) -> Path:
    """Return the folder of a run below the folder that the user named."""
    name = folder_name(run.system)
    return root / PRIVATE / name if run.is_held_out else root / name


@contextmanager
def allow_held_out() -> Iterator[None]:
    """Allow the task to use the held-out split inside the block, which logs to a private folder."""
    token = _ALLOWED.set(True)
    try:
        yield
    finally:
        _ALLOWED.reset(token)


@contextmanager
def private_output(run: Run, folder: Path) -> Iterator[None]:
    """Keep the texts of a held-out run from being written outside its folder during the block.

    Logging is disabled, since Inspect's trace has the errors of servers and a client's log has its
    requests. Temporary files go to the run's folder, and the variables by which Inspect writes to
    other places are cleared. For a run over the public split nothing is changed.
    """
    if not run.is_held_out:
        yield
        return
    names = [*_OUTPUT_VARIABLES, *_VS_CODE, "TMPDIR"]
    before = {name: os.environ.get(name) for name in names}
    disabled, temporary = logging.root.manager.disable, tempfile.tempdir
    for name in names:
        os.environ.pop(name, None)
    # set to nothing instead of deleted: a .env file may set variables that are absent
    os.environ.update(dict.fromkeys(_OUTPUT_VARIABLES, ""))
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder.resolve())
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(disabled)
        tempfile.tempdir = temporary
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def public_error(run: Run, folder: Path, words: str) -> str:
    """Return an error to show; if the run is held out, write it to a file and return its place."""
    if not words or not run.is_held_out:
        return words
    path = folder / ERROR_FILE
    path.write_text(f"{words}\n", encoding="utf-8", errors="replace")
    return f"the error is written only to {path}, since it may quote the held-out split"


def check_held_out_allowed(split: str) -> None:
    """Raise a `ProtocolError` if Inspect alone uses the held-out split, without `careeval run`."""
    if split == Split.held_out and not _ALLOWED.get():
        raise ProtocolError(
            "only 'careeval run' may use the held-out split: it keeps the logs in a private folder",
            hint="careeval run --split held-out -m MODEL",
        )


def refuse_taken_name(root: Path, run: Run) -> None:
    """Raise a `ProtocolError` if another run, be it private or renamed, has the system's name."""
    for other in runs_named(root, run.system):
        if other != folder_of_run(root, run):
            raise ProtocolError(
                f"{other} already has a run of {run.system!r}",
                hint="give another --name, or another folder",
            )


def make_private_folder(root: Path, run: Run) -> None:
    """Make the private folder for a held-out run: for its owner alone, and ignored by git."""
    if not run.is_held_out:
        return
    private = root / PRIVATE
    private.mkdir(mode=0o700, parents=True, exist_ok=True)
    private.chmod(0o700)
    write_text(private / ".gitignore", "*\n")
    write_text(private / "README", NOTE)
