"""Where a run over the held-out split lies: apart from the others, for its owner's eyes alone.

Logs, tables and kept calls hold the scenarios' text and what models said to it. Nothing that is
made of them by default does: see `Runs.without_held_out_texts`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from careeval.core.scenario import Split
from careeval.errors import ProtocolError
from careeval.protocol.run import RUN_FILE, Run, folder_name

PRIVATE = "private"

_APART: ContextVar[bool] = ContextVar("careeval_apart", default=False)

NOTE = """\
What lies here was asked of the held-out split of a bank, and holds its text and the answers to it.
Do not publish it, commit it or send it on: a scenario that has been seen is held out no more.
'careeval summary' and 'careeval report' show its numbers, and none of its words.
"""


def run_folder(root: Path, run: Run) -> Path:
    """Where a run goes below the folder that the user named."""
    name = folder_name(run.system)
    return root / PRIVATE / name if _held_out(run) else root / name


@contextmanager
def apart() -> Iterator[None]:
    """Have the task take the held-out split inside the block: its logs go where they belong."""
    token = _APART.set(True)
    try:
        yield
    finally:
        _APART.reset(token)


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
    """Stop before a system would have two runs of one name below a folder, one of them private.

    Raises:
        ProtocolError: It would.
    """
    name = folder_name(run.system)
    other = root / name if _held_out(run) else root / PRIVATE / name
    if (other / RUN_FILE).exists():
        raise ProtocolError(
            f"{other} holds a run of {run.system!r} already",
            hint="give another --name, or another folder",
        )


def keep_apart(root: Path, run: Run) -> None:
    """Make the place for a held-out run: readable by its owner alone, and ignored by git."""
    if not _held_out(run):
        return
    place = root / PRIVATE
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    place.chmod(0o700)
    (place / ".gitignore").write_text("*\n", encoding="utf-8")
    (place / "README").write_text(NOTE, encoding="utf-8")


def _held_out(run: Run) -> bool:
    return run.task.get("split") == Split.held_out
