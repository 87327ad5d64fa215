"""What a run has on disk at any moment, its kept calls; and how its files are damaged."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from careeval.protocol.folder import run_folders
from careeval.protocol.ledger import CALLS_FILE, SPENT_FILE
from careeval.protocol.solvers import epoch_seed
from faults_server import Ident


def part_of(folder: Path) -> str:
    """The name of a run's or grading's folder in an `Ident`."""
    own = folder.parent.parent if folder.parent.name == "graded" else folder
    return own.name.rpartition("-")[2] + ("" if own == folder else "/h")


def rows(file: Path) -> list[dict[str, Any]]:
    """The whole lines of a file; none where there is no file."""
    found = []
    for line in file.read_bytes().splitlines() if file.exists() else ():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def kept(folder: Path) -> set[Ident]:
    """The calls whose replies are in a folder's calls.jsonl."""
    part, found = part_of(folder), set()
    for row in rows(folder / CALLS_FILE):
        role, *name, digest = row["key"].split(" ")
        seed = epoch_seed(0, name[0], int(name[1])) if role == "ask" else None
        found.add(Ident(part, role, digest, seed))
    return found


def unpaid(folder: Path) -> int:
    """How many of the kept calls are not in the folder's ledger."""
    paid = Counter(
        (row["role"], row["input_tokens"], row["output_tokens"])
        for row in rows(folder / SPENT_FILE)
    )
    usages = [(r["key"].split()[0], r["output"]["usage"]) for r in rows(folder / CALLS_FILE)]
    used = Counter((role, u["input_tokens"], u["output_tokens"]) for role, u in usages)
    return (used - paid).total()


def _cut_off(content: bytes, rng: random.Random, most: int) -> bytes:
    return content[: -rng.randint(1, most)]


def _zeroed(content: bytes, rng: random.Random, most: int) -> bytes:
    n = rng.randint(1, most)
    return content[:-n] + bytes(n)


def _random(content: bytes, rng: random.Random, most: int) -> bytes:
    n = rng.randint(1, most)
    return content[:-n] + rng.randbytes(n)


DAMAGES: dict[str, Callable[[bytes, random.Random, int], bytes | None]] = {
    "cut off": _cut_off,
    "zeroed": _zeroed,
    "random": _random,
    "removed": lambda *_: None,
}
"""How a file is damaged at its end, as a power cut may: its content, and at most how much of it."""


def damage(root: Path, name: str, how: str, rng: random.Random) -> bool:
    """Damage a file of an unfinished run; whether there was one."""
    unfinished = [f for f in run_folders(root) if (f / CALLS_FILE).exists()]
    files = [
        file
        for folder in unfinished
        for file in sorted(folder.glob("*.eval") if name == "log" else [folder / name])
        if file.exists() and file.stat().st_size
    ]
    if not files:
        return False
    file = rng.choice(files)
    content = file.read_bytes()
    last = len(content.splitlines(keepends=True)[-1])
    left = DAMAGES[how](content, rng, len(content) if name == "log" else last)
    if left is None:
        file.unlink()
    else:
        file.write_bytes(left)
    return True
