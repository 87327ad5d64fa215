"""What a log may hold: it may come from anybody, and reading it must not take the machine.

Each limit is far above what a run of careeval writes, and what they allow together fits into the
memory of a laptop. A run that would go beyond them is refused before its first call, so that what
careeval writes it can read.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, Any

from pydantic import Field, StringConstraints

from careeval.core.scenario import Level, Points
from careeval.errors import LogError, ProtocolError
from careeval.files import open_file

MAX_DIRECTORY = 32_000_000
"""Bytes of a log's list of members; one of 250,000 responses has 25 million."""

MAX_UNPACKED = 50_000_000_000
"""Bytes of all members together, which are read one at a time."""

MAX_NAME = 1_000
"""Characters of a name: of a system, a model (which may be a path), a scenario, an item."""

MAX_TEXT = 2_000_000
"""Characters of a text: a response, an item, a reason."""

MAX_EPOCHS = 10_000
"""Responses to one scenario."""

MAX_MAKERS = 100
"""Vendors of the AI that made a bank."""

MAX_SCENARIOS = 100_000
"""Of one run."""

MAX_RESPONSES = 250_000
"""Of one run: scenarios times epochs."""

MAX_ITEMS = 500
"""Of one rubric of a scenario."""

MAX_SAMPLING = 100
"""Fields of sampling that were sent."""

MAX_JUDGMENTS = 5_000_000
"""Of one log."""

MAX_KEPT = 1_000_000_000
"""Characters of all that is kept of one log: its responses, and what was judged of them."""

MAX_TOKENS = 10**12
"""Of one call."""

MAX_USD = 10**9
"""Dollars or seconds of one call."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one member may hold.

    Attributes:
        n_bytes: Its length, unpacked.
        n_values: Its values, which take far more memory than the text that they are read from.
    """

    n_bytes: int
    n_values: int


HEADER = Bounds(32_000_000, 1_000_000)
SAMPLE = Bounds(64_000_000, 2_000_000)
SUMMARIES = Bounds(500_000_000, 25_000_000)

COMPRESSIONS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, 93}
"""Kinds of compression that Inspect has written: none, deflate, zstd."""

CHUNK = 4096
"""Bytes unpacked at a time: zstd unpacks all that it is given, to 30,000 times the size at most."""

Name = Annotated[str, StringConstraints(max_length=MAX_NAME)]
Text = Annotated[str, StringConstraints(max_length=MAX_TEXT)]
Epoch = Annotated[int, Field(ge=1, le=MAX_EPOCHS)]
Tokens = Annotated[int, Field(ge=0, le=MAX_TOKENS)]
TokenShare = Annotated[float, Field(ge=0, le=MAX_TOKENS, allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, le=MAX_USD, allow_inf_nan=False)]

__all__ = ["Amount", "Epoch", "Level", "Name", "Points", "Text", "TokenShare", "Tokens"]


@contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """A log as a zip, of which no list of members without end is read.

    Raises:
        LogError: Its list of members is too long, it has too many responses, or it would be too
            long when unpacked.
    """
    with open_file(path) as file, zipfile.ZipFile(_Reader(path, file)) as archive:
        n_bytes = sum(member.file_size for member in archive.infolist())
        if n_bytes > MAX_UNPACKED:
            raise LogError(
                f"{path}: is too long: {n_bytes:,} bytes unpacked, at most {MAX_UNPACKED:,}"
            )
        yield archive


class _Reader:
    """A file that gives `MAX_DIRECTORY` bytes at once at most: zipfile reads its list whole."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path, self._file = path, file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, n: int = -1) -> bytes:
        if n > MAX_DIRECTORY:
            raise LogError(
                f"{self._path}: its list of members has {n:,} bytes, at most {MAX_DIRECTORY:,}"
            )
        return self._file.read(n)


def read_member(archive: zipfile.ZipFile, name: str, bounds: Bounds) -> bytes:
    """The content of one member of a log.

    Raises:
        ValueError: It goes beyond its bounds, or is packed in a way that Inspect does not use.
        Exception: It is damaged, which shows itself in many ways.
    """
    member = archive.getinfo(name)
    if member.compress_type not in COMPRESSIONS:
        raise ValueError(f"{name} is packed in a way that no log is ({member.compress_type})")
    # what is packed may be no longer either, or a member of one byte could take a gigabyte to read
    if max(member.file_size, member.compress_size) > bounds.n_bytes:
        n_bytes = max(member.file_size, member.compress_size)
        raise ValueError(f"{name} has {n_bytes:,} bytes, at most {bounds.n_bytes:,}")
    with archive.open(member) as stream:
        content = b"".join(iter(lambda: stream.read(CHUNK), b""))
    check_values(content, bounds, name)
    return content


def check_values(content: bytes, bounds: Bounds, name: str) -> None:
    """Return if JSON has no more values than it may have.

    Raises:
        ValueError: It may have more, by the marks between them.
    """
    n_values = content.count(b",") + content.count(b"[") + content.count(b"{")
    if n_values > bounds.n_values:
        raise ValueError(f"{name} has {n_values:,} values, at most {bounds.n_values:,}")


def check_size(n_scenarios: int, epochs: int) -> None:
    """Stop before a run whose log could not be read.

    Raises:
        ProtocolError: It would have too many responses.
    """
    if too_many := excess(n_scenarios, epochs):
        raise ProtocolError(too_many, hint="ask in several runs, or take fewer --samples")


def excess(n_scenarios: int, epochs: int) -> str:
    """What is too much about a run of this size; empty where nothing is."""
    if epochs > MAX_EPOCHS:
        return f"{epochs:,} responses to each scenario, at most {MAX_EPOCHS:,}"
    if n_scenarios > MAX_SCENARIOS:
        return f"{n_scenarios:,} scenarios, at most {MAX_SCENARIOS:,}"
    if n_scenarios * epochs > MAX_RESPONSES:
        return (
            f"{n_scenarios:,} scenarios, {epochs:,} responses to each: "
            f"{n_scenarios * epochs:,} responses, at most {MAX_RESPONSES:,}"
        )
    return ""


def shown(value: Any) -> str:
    """A value of a log in a message: a number as it is, and of anything else what it is.

    A text may be one that nobody is to see.
    """
    match value:
        case None:
            return "nothing"
        case bool() | float():
            return str(value)
        case int():
            # a longer one cannot even be turned into text
            return str(value) if abs(value) < 10**30 else "a number of more than 30 digits"
        case str():
            return f"text of {len(value):,} characters"
        case dict():
            return "names with values"
        case list() | tuple():
            return f"a list of {len(value):,}"
    return type(value).__name__
