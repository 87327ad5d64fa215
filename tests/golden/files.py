"""Printed text, JSON, CSV, Parquet and figures as lines that show what a reader would see."""

from __future__ import annotations

import csv
import io
import json
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from golden.words import digest, short, some, steady

VOLATILE = re.compile(
    r"(^|_)(seconds|created|timestamp|evaluation_id|retrieved_timestamp|study_id|bytes|hash)$"
    r"|^(software|file_path|sha256|checksum)$"
)
"""Names of fields whose value differs from run to run, or with a file's bytes."""

KEPT = {"bank_hash"}
"""Names of fields that look as if they did."""

WIDTH = 110
"""Characters of JSON that stay in one line."""


def is_volatile(name: str) -> bool:
    """Tell whether a field of this name differs from run to run."""
    return name not in KEPT and VOLATILE.search(name) is not None


def printed(text: str, longest: int = 400) -> list[str]:
    """Return what a command prints: labels and numbers in their order, without drawn lines.

    Args:
        text: What is printed.
        longest: Characters of a line that is kept whole.
    """
    lines = []
    for line in text.splitlines():
        words = re.sub(r"[─━│┃]+", " ", line).strip()
        if words:
            lines.append(short(words, longest))
    return lines


def json_lines(document: Any, longest: int = 160) -> list[str]:
    """Return a JSON document, its small parts in one line each, its long texts as hashes."""
    return list(_json(_plain(document, longest), 0))


def _plain(value: Any, longest: int, name: str = "") -> Any:
    match value:
        case _ if value is not None and is_volatile(name):
            return "VOLATILE"
        case str():
            return short(value, longest)
        case dict():
            return {short(key, longest): _plain(each, longest, key) for key, each in value.items()}
        case list():
            return [_plain(each, longest) for each in value]
        case _:
            return value


def _json(value: Any, depth: int, before: str = "") -> Iterator[str]:
    line = json.dumps(value, ensure_ascii=False)
    indent = " " * depth
    if len(line) <= WIDTH or not isinstance(value, dict | list):
        yield f"{indent}{before}{line}"
        return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    yield f"{indent}{before}{opening}"
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _json(each, depth + 1, f"{json.dumps(key, ensure_ascii=False)}: ")
    else:
        blocks = ["\n".join(_json(each, depth + 1)) for each in value]
        for block in some(blocks):
            yield from block.split("\n")
    yield f"{indent}{closing}"


def csv_lines(text: str) -> list[str]:
    """Return a CSV file: its columns, then its rows."""
    rows = list(csv.reader(io.StringIO(text)))
    if not rows:
        return ["empty"]
    heads = rows[0]
    body = [
        " | ".join(_cell(head, value) for head, value in zip(heads, row, strict=True))
        for row in rows[1:]
    ]
    return [f"columns: {' | '.join(heads)}", f"{len(body)} rows", *some(body)]


def _cell(head: str, value: str) -> str:
    return "VOLATILE" if value and is_volatile(head) else short(value, 60)


def parquet_lines(path: Path) -> list[str]:
    """Return a Parquet file: each column with its type, and hashes of its rows."""
    frame = pl.read_parquet(path)
    columns = [f"{name}: {kind}" for name, kind in frame.schema.items()]
    steady_columns = [name for name in frame.columns if not is_volatile(name)]
    rows = [steady(repr(row)) for row in frame.select(steady_columns).rows()]
    return [*_folded(columns), f"{len(rows)} rows", *_hashes(rows)]


def _folded(words: Sequence[str], n: int = 4) -> list[str]:
    """Return words, a few in each line."""
    return [" | ".join(words[start : start + n]) for start in range(0, len(words), n)]


def _hashes(rows: Sequence[str], n: int = 8) -> list[str]:
    starts = range(0, len(rows), n)
    hashes = [f"#{digest(chr(10).join(rows[start : start + n]))}" for start in starts]
    return _folded(hashes, 8)


def png_lines(path: Path) -> list[str]:
    """Return the width and height of a PNG image."""
    width, height = struct.unpack(">II", path.read_bytes()[16:24])
    return [f"image of {width} × {height}"]


def jsonl_lines(text: str) -> list[str]:
    """Return JSON lines, each as one line."""
    rows = [json.loads(line) for line in text.splitlines()]
    return some(json.dumps(_plain(row, 40), ensure_ascii=False) for row in rows)


def file_lines(path: Path, places: Sequence[tuple[Path, str]]) -> list[str]:
    """Return what a written file holds, as lines; a page is not read here.

    Args:
        path: The file.
        places: See `steady`.
    """
    if path.suffix == ".parquet":
        return parquet_lines(path)
    if path.suffix == ".png":
        return png_lines(path)
    text = steady(path.read_text(encoding="utf-8-sig"), places)
    readers: dict[str, Callable[[str], list[str]]] = {
        ".json": lambda text: json_lines(json.loads(text), 100),
        ".jsonl": jsonl_lines,
        ".csv": csv_lines,
    }
    return readers.get(path.suffix, printed)(text)
