"""Pictures that a system is shown with a text: WebP, as data URIs."""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from dataclasses import dataclass

DATA = "data:image/webp;base64,"
"""The start of a picture as a data URI."""

MAX_BYTES = 60_000
"""The most bytes of a picture."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture, and what it shows in words."""

    data: str  # The picture as a data URI
    alt: str
    """A description for readers who cannot see it, without the fact that a system is to see."""

    @property
    def hash(self) -> str:
        """The SHA-256 of its bytes, in hexadecimal digits."""
        return picture_hash(self.data)


def as_data(picture: bytes) -> str:
    """Return a picture as a data URI."""
    return DATA + b64encode(picture).decode()


def picture_bytes(data: str) -> bytes:
    """Return the bytes of a picture that is a data URI.

    Raises:
        ValueError: It is not one.
    """
    if not data.startswith(DATA):
        raise ValueError(f"a picture does not begin with {DATA}")
    return b64decode(data.removeprefix(DATA), validate=True)


def picture_hash(data: str) -> str:
    """Return the SHA-256 of the bytes of a picture that is a data URI, in hexadecimal digits."""
    return hashlib.sha256(picture_bytes(data)).hexdigest()


def is_webp(picture: bytes) -> bool:
    """Tell whether bytes begin as those of a WebP picture do."""
    return picture[:4] == b"RIFF" and picture[8:12] == b"WEBP"
