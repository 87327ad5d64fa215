"""Reading one `.eval` log without Inspect: a zip of JSON files, one per sample.

Only the fields that the tables need are read, and each is checked. Samples are read one at a time:
a run has a thousand, and most of each is a record of its events.

A log may come from anybody and must not exhaust the machine. Each limit, here and in `log_fields`,
is far above what a run of careeval writes. A run that would go beyond them is refused before its
first call, so that careeval can read every log that it writes.
"""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from reprlib import repr as short_repr
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from careeval.core.response import Grader
from careeval.errors import LogError, ProtocolError
from careeval.files import open_file
from careeval.protocol.log_fields import (
    MAX_EPOCHS,
    MAX_RESPONSES,
    MAX_SCENARIOS,
    MAX_SHOWN,
    LoggedSample,
    LoggedScenario,
    LogHeader,
    error_text,
    is_cancelled,
)
from careeval.protocol.run import SampleKey
from careeval.protocol.run_files import MAX_JSON

if sys.version_info < (3, 14):
    # teaches zipfile the compression that Inspect writes
    import zipfile_zstd  # type: ignore[import-untyped]  # noqa: F401


_T = TypeVar("_T")
_SAMPLE_NAME = re.compile(r"samples/(.+)_epoch_([0-9]{1,9})\.json")

MAX_MEMBERS = 1_000_000
"""The most members of a log; one of 250,000 responses has half as many."""

MAX_UNPACKED = 50_000_000_000
"""The most bytes of all members of a log together; they are read one at a time."""

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


@dataclass(frozen=True)
class ImpossibleCount:
    """An impossible count in a sample, such as a negative one; it is taken as unknown."""

    id: str
    epoch: int
    reason: str


@dataclass(frozen=True)
class UnreadableSample:
    """A sample that cannot be read, of which only the key is known."""

    id: str
    epoch: int
    reason: str


@dataclass(frozen=True)
class Log:
    """One `.eval` file."""

    path: Path
    header: LogHeader  # The fields of its header that the tables need
    name: str | None = None  # Name of the system in `run.json`; `None` if `run.json` has no name

    @property
    def system(self) -> str:
        """The system's name: from `run.json`, else from the log, else the model's name."""
        return self.name or self.header.about.system or self.header.model

    @property
    def grader(self) -> Grader | None:
        """The grader with its mode and prompt, as in the tables; `None` if nothing was graded."""
        about = self.header.about
        if self.header.grader is None or not self.header.scorers:
            return None
        return Grader.named(self.header.grader, about.grade_mode, about.prompts.grade)

    def samples(
        self,
    ) -> Iterator[tuple[LoggedSample, LoggedScenario] | ImpossibleCount | UnreadableSample]:
        """Yield the log's finished samples, each read only when needed.

        A sample with an impossible count is preceded by an `ImpossibleCount`.
        """
        scenarios: dict[str, LoggedScenario] = {}
        with open_log(self.path) as file:
            for name in dict.fromkeys(file.namelist()):
                if not (key := _SAMPLE_NAME.fullmatch(name)):
                    continue
                try:
                    content = read_member(file, name)
                    sample, odd = _sample(content)
                    if sample.id not in scenarios:
                        scenarios[sample.id] = _reader(LoggedScenario).validate_json(
                            content, strict=True
                        )
                except Exception as error:  # a damaged zip fails in many ways
                    yield UnreadableSample(key[1][:MAX_SHOWN], int(key[2]), error_text(error))
                else:
                    if odd:
                        yield ImpossibleCount(sample.id, sample.epoch, odd[0])
                    yield sample, scenarios[sample.id]


def _sample(content: bytes) -> tuple[LoggedSample, list[str]]:
    """Return a sample from its JSON, and a description of each impossible count.

    More than half of the JSON is events, and a graded sample has its needed fields before them. So
    the JSON is cut at the events and closed. Where the cut is inside another object, what remains
    is not valid JSON, and the whole is read. (It cannot be inside a string, where quotes are
    escaped.) A sample without a grading is read whole too: its error comes after the events.
    """
    reader = _reader(LoggedSample)
    before, cut, _ = content.partition(b'"events":')
    if cut:
        odd: list[str] = []
        with suppress(ValidationError):
            closed = before.rstrip(b" \n,") + b"}"
            sample: LoggedSample = reader.validate_json(closed, strict=True, context=odd)
            if sample.graded:
                return sample, odd
    odd = []
    return reader.validate_json(content, strict=True, context=odd), odd


def read_log(path: Path) -> Log:
    """Open a log and read its header; its samples are read when they are needed.

    Raises:
        LogError: The file is cut off, is not a log, is not from careeval, lacks fields that the
            tables need, or is beyond the limits.
    """
    try:
        with open_log(path) as file:
            names = file.namelist()
            # a run that is killed leaves a log without an end
            complete = "header.json" in names
            content = read_member(file, "header.json" if complete else "_journal/start.json")
        header = from_json(content)
        eval_fields = header["eval"] if isinstance(header, dict) else None
        if not isinstance(eval_fields, dict):
            raise ValueError(
                "its header has no section `eval` with names and values, "
                "so Inspect did not write it"
            )
    except LogError:
        raise
    except Exception as error:  # its compressor's failures have no type in common
        raise LogError(
            f"{path}: cannot be read as a log: {error_text(error)}",
            hint="copy or download the file again: it may be cut off",
        ) from error
    metadata = eval_fields.get("metadata")
    about = metadata.get("careeval") if isinstance(metadata, dict) else None
    if about is None:
        task = short_repr(eval_fields.get("task"))
        raise LogError(f"{path}: is a log of the task {task}, not of careeval")
    try:
        log = Log(path, _reader(LogHeader).validate_json(content, strict=True))
    except ValidationError as error:
        version = about.get("software") if isinstance(about, dict) else None
        version = version[:MAX_SHOWN] if isinstance(version, str) else "an unknown version"
        raise LogError(
            f"{path}: its header does not fit this version of careeval: {error_text(error)}",
            hint=f"read it with the careeval that wrote it: {version}",
        ) from error
    too_many = size_problem(len(log.header.scenarios), log.header.epochs)
    n_samples = sum(name.startswith("samples/") for name in names)
    if n_samples > MAX_RESPONSES:
        too_many = f"{n_samples:,} samples, at most {MAX_RESPONSES:,}"
    if too_many:
        raise LogError(f"{path}: has {too_many}")
    return log


def log_summaries(path: Path) -> Iterator[dict[str, Any]]:
    """Yield a log's summary of each sample; nothing if the log cannot be read."""
    try:
        with open_log(path) as file:
            names = file.namelist()
            whole = [name for name in names if name == "summaries.json"]
            parts = [name for name in names if name.startswith("_journal/summaries/")]
            for member in whole or parts:
                yield from from_json(read_member(file, member, MAX_SUMMARIES))
    except Exception:  # a damaged zip fails in many ways
        return


def logged_samples(folder: Path) -> tuple[set[SampleKey], set[SampleKey]]:
    """Return the finished samples in a folder's logs, and the samples that were given up."""
    finished, failed = set[SampleKey](), set[SampleKey]()
    for log in folder.glob("*.eval"):
        for sample in log_summaries(log):
            with suppress(AttributeError, KeyError, TypeError, ValueError):
                key = (str(sample["id"]), int(sample["epoch"]))
                error = sample.get("error")
                if not is_cancelled(error):
                    (failed if error else finished).add(key)
    return finished, failed - finished


def is_finished(path: Path) -> bool:
    """Tell whether a log's header says that all its samples finished without an error."""
    try:
        with open_log(path) as file:
            header = from_json(read_member(file, "header.json"))
        results = header.get("results") or {}
        is_all = results.get("completed_samples") == results.get("total_samples")
        return bool(header["status"] == "success" and is_all)
    except Exception:  # a damaged zip fails in many ways
        return False


@cache
def _reader(kind: type[_T]) -> TypeAdapter[_T]:
    # built when it is needed: reading cached tables needs none
    return TypeAdapter(kind)
