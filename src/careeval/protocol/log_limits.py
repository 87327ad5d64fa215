"""The limits of a log: members, bytes, texts, responses, and how it is opened within them.

A log may come from anybody and must not exhaust the machine. Each limit is far above what a run of
careeval writes. A run that would go beyond them is refused before its first call, so that careeval
can read every log that it writes.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
