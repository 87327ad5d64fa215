"""Stored logs, changed on the way: what a person or a broken disk might do to them."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

# teaches zipfile the compression that Inspect writes
import careeval.protocol.logs  # noqa: F401

COMPLETE, ERRORED = (
    Path(__file__).parents[1] / "data" / name for name in ("complete.eval", "errored.eval")
)
"""Two scenarios asked twice, graded by the lexical grader; in the second, one scenario failed."""


def change(log: Path, member: str, edit: Callable[[dict[str, Any]], object]) -> None:
    """Change one JSON member of a log in place."""
    with zipfile.ZipFile(log) as file:
        content = {name: file.read(name) for name in file.namelist()}
    changed = json.loads(content[member])
    edit(changed)
    with zipfile.ZipFile(log, "w") as file:
        for name, text in {**content, member: json.dumps(changed).encode()}.items():
            file.writestr(name, text)


def altered(source: Path, target: Path, edit: Callable[[dict[str, Any]], object]) -> Path:
    """A copy of a log with another header; its path."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
    change(target, "header.json", edit)
    return target


def renamed(source: Path, target: Path, system: str, **about: object) -> Path:
    """A copy of a log as if another system had answered; `about` changes what careeval wrote."""

    def edit(header: dict[str, Any]) -> None:
        header["eval"]["metadata"]["careeval"].update(system=system, **about)

    return altered(source, target, edit)
