"""Limits for reading a log, which may come from anybody and must not exhaust the machine.

Each limit is far above what a run of careeval writes, and a log within them all fits into the
memory of a laptop. A run that would go beyond them is refused before its first call, so that
careeval can read every log that it writes.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from careeval.core.scenario import Level, Points
from careeval.errors import LogError, ProtocolError
from careeval.files import open_file

MAX_MEMBERS = 1_000_000
"""The most members of a log; one of 250,000 responses has half as many."""

MAX_UNPACKED = 50_000_000_000
"""The most bytes of all members of a log together; they are read one at a time."""

MAX_NAME = 1_000
"""The most characters of a name: of a system, a model (which may be a path), a scenario, an
item."""

MAX_TEXT = 2_000_000
"""The most characters of a text: a response, an item, a reason."""

MAX_EPOCHS = 10_000
"""The most responses to one scenario."""

MAX_MAKERS = 100
"""The most vendors of the AI models that helped to make a bank."""

MAX_SCENARIOS = 100_000
"""The most scenarios of one run."""

MAX_RESPONSES = 250_000
"""The most responses of one run: scenarios times epochs."""

MAX_ITEMS = 500
"""The most items of one rubric of a scenario."""

MAX_SAMPLING = 100
"""The most sampling fields of one call."""

MAX_JUDGMENTS = 5_000_000
"""The most judgments of one log."""

MAX_KEPT = 1_000_000_000
"""The most characters kept of one log: responses, errors, quotes, reasons, settings, and the texts
of scenarios and items."""

MAX_TOKENS = 10**12
"""The most tokens of one call."""

MAX_USD = 10**9
"""The most dollars, and the most seconds, of one call."""


MAX_JSON = 32_000_000
"""The most bytes of a JSON text: a member of a log, unpacked, or a file of a run's folder."""

MAX_SUMMARIES = 500_000_000
"""The most bytes of a log's summaries of its samples, unpacked."""

CHUNK = 16_384
"""Packed bytes read at a time, since zstd may unpack them to 30,000 times their size."""

Name = Annotated[str, StringConstraints(max_length=MAX_NAME)]
Text = Annotated[str, StringConstraints(max_length=MAX_TEXT)]
Epoch = Annotated[int, Field(ge=1, le=MAX_EPOCHS)]
Tokens = Annotated[int, Field(ge=0, le=MAX_TOKENS)]
TokenShare = Annotated[float, Field(ge=0, le=MAX_TOKENS, allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, le=MAX_USD, allow_inf_nan=False)]

__all__ = ["Amount", "Epoch", "Level", "Name", "Points", "Text", "TokenShare", "Tokens"]


@contextmanager
def open_log(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a log as a zip file within the limits.

    Raises:
        LogError: The log has too many members, or would be too large when unpacked.
    """
    with open_file(path) as file, zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        n_bytes = sum(member.file_size for member in members)
        if len(members) > MAX_MEMBERS:
            raise LogError(f"{path}: has {len(members):,} members, at most {MAX_MEMBERS:,}")
        if n_bytes > MAX_UNPACKED:
            raise LogError(
                f"{path}: is too large: {n_bytes:,} bytes unpacked, at most {MAX_UNPACKED:,}"
            )
        yield archive


def read_member(archive: zipfile.ZipFile, name: str, max_bytes: int = MAX_JSON) -> bytes:
    """Return the content of one member of a log.

    Raises:
        ValueError: It is longer than `max_bytes`.
        Exception: It is damaged: the decompressors raise many kinds of errors.
    """
    member = archive.getinfo(name)
    # limit the packed size too: a member may declare one byte, and take a gigabyte to read
    if (n_bytes := max(member.file_size, member.compress_size)) > max_bytes:
        raise ValueError(f"{name} has {n_bytes:,} bytes, at most {max_bytes:,}")
    with archive.open(member) as stream:
        return b"".join(iter(lambda: stream.read(CHUNK), b""))


def check_size(n_scenarios: int, epochs: int) -> None:
    """Check that the log of a run of this size could be read.

    Raises:
        ProtocolError: The run would have too many scenarios or responses.
    """
    if too_many := size_problem(n_scenarios, epochs):
        raise ProtocolError(
            too_many, hint="split the scenarios over several runs, or use fewer --samples"
        )


def size_problem(n_scenarios: int, epochs: int) -> str:
    """Return as text the limit that a run of this size exceeds; empty if it exceeds none."""
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


def describe_value(value: Any) -> str:
    """Return a description of a log's value for a message: numbers as they are, others by type.

    Text is not quoted, since it may be of the held-out split.
    """
    match value:
        case None:
            return "nothing"
        case bool() | float():
            return str(value)
        case int():
            # Python refuses to turn much longer ones into text
            return str(value) if abs(value) < 10**30 else "a number of more than 30 digits"
        case str():
            return f"text of {len(value):,} characters"
        case dict():
            return "names with values"
        case list() | tuple():
            return f"a list of {len(value):,}"
    return type(value).__name__
