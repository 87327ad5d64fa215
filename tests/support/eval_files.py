"""Stored logs, changed on the way: what a person or a broken disk might do to them."""

from __future__ import annotations

import json
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


def altered(source: Path, target: Path, edit: Callable[[dict[str, Any]], object]) -> Path:
    """A copy of a log with another header; its path."""
    with zipfile.ZipFile(source) as file:
        content = {name: file.read(name) for name in file.namelist()}
    header = json.loads(content["header.json"])
    edit(header)
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w") as file:
        for name, text in {**content, "header.json": json.dumps(header).encode()}.items():
            file.writestr(name, text)
    return target


def renamed(source: Path, target: Path, system: str, **about: object) -> Path:
    """A copy of a log as if another system had answered; `about` changes what careeval wrote."""

    def edit(header: dict[str, Any]) -> None:
        header["eval"]["metadata"]["careeval"].update(system=system, **about)

    return altered(source, target, edit)
