"""Damaging the files of unfinished runs at their ends, as a power cut may."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from faults.kept import unfinished

LOG = "log"
"""Name of a run's log among its files."""


def _cut_off(content: bytes, n: int, rng: random.Random) -> bytes:
    return content[:-n]


def _zeroed(content: bytes, n: int, rng: random.Random) -> bytes:
    return content[:-n] + bytes(n)


def _random(content: bytes, n: int, rng: random.Random) -> bytes:
    return content[:-n] + rng.randbytes(n)


DAMAGES: dict[str, Callable[[bytes, int, random.Random], bytes] | None] = {
    "cut off": _cut_off,
    "zeroed": _zeroed,
    "random": _random,
    "removed": None,
}
"""Kind of damage → a function that damages the last n bytes; `None` for removing the file."""


def damage(root: Path, name: str, kind: str, rng: random.Random) -> bool:
    """Damage a file of an unfinished run, and return whether there was one.

    A file of lines is damaged within its last line, as each line was on disk before the next.
    """
    files = [
        file
        for folder in unfinished(root)
        for file in sorted(folder.glob("*.eval") if name == LOG else [folder / name])
        if file.exists() and file.stat().st_size
    ]
    if not files:
        return False
    file = rng.choice(files)
    change = DAMAGES[kind]
    if change is None:
        file.unlink()
        return True
    content = file.read_bytes()
    max_cut = len(content) if name == LOG else len(content.splitlines(keepends=True)[-1])
    file.write_bytes(change(content, rng.randint(1, max_cut), rng))
    return True
