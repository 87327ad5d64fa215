"""The search for what is to be nowhere, in all that was written."""

from __future__ import annotations

import base64
import gzip
import re
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import polars as pl

KEY = "sk-planted-7f3a91c4d2"
"""What a client is to have for a key; some of the servers of tests repeat it."""


def files_that_hold(folder: Path, secret: str) -> list[str]:
    """Return the files below a folder that hold a secret as it stands, or as JSON may escape it.

    Capitals count as small letters.
    """
    escaped = "".join(f"\\u{ord(character):04x}" for character in secret.lower())
    return [
        str(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for text in texts(path.read_bytes())
        if secret.lower() in text.lower() or escaped in text.lower()
    ]


def texts(raw: bytes) -> Iterator[str]:
    """Yield what a file says, and what is packed in it: in an archive, a table or a page."""
    text = raw.decode(errors="replace")
    yield text
    if raw.startswith(b"\x1f\x8b"):
        yield from texts(gzip.decompress(raw))
    elif raw.startswith(b"PAR1"):
        yield pl.read_parquet(BytesIO(raw)).write_json()
    elif zipfile.is_zipfile(BytesIO(raw)):
        with zipfile.ZipFile(BytesIO(raw)) as file:
            for name in file.namelist():
                yield from texts(file.read(name))
    for packed in re.findall(r'<script type="application/gzip"[^>]*>([^<]+)</script>', text):
        yield gzip.decompress(base64.b64decode(packed)).decode()
