"""The pictures of a run: each once in its folder, as `pictures/<SHA-256>.webp`.

A log has a picture's hash alone. A held-out run keeps no pictures: they are part of the bank.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from careeval.core.picture import MAX_BYTES, as_data, is_webp, picture_bytes, picture_hash
from careeval.files import atomic_write, open_file

FOLDER = "pictures"

MAX_PICTURES = 1_000
"""The most pictures that are read of one run."""


def write_pictures(folder: Path, pictures: Iterable[str]) -> None:
    """Write pictures, as data URIs, into the folder of a run; those that are there stay.

    Raises:
        OSError: One cannot be written.
    """
    for data in pictures:
        path = folder / FOLDER / f"{picture_hash(data)}.webp"
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            with atomic_write(path) as temporary:
                temporary.write_bytes(picture_bytes(data))


def read_pictures(folder: Path) -> dict[str, str]:
    """Return hash → picture as a data URI; files that are no such picture are left out."""
    pictures = {}
    for path in sorted((folder / FOLDER).glob("*.webp"))[:MAX_PICTURES]:
        try:
            with open_file(path) as file:
                content = file.read(MAX_BYTES + 1)
        except OSError:
            continue
        if len(content) <= MAX_BYTES and is_webp(content):
            pictures[hashlib.sha256(content).hexdigest()] = as_data(content)
    return pictures
