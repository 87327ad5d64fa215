"""Reading one `.eval` log without Inspect: a zip of JSON files, one per sample.

Only the fields that the tables need are read, and each is checked. Samples are read one at a time:
a run has a thousand, and most of each is a record of its events.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from reprlib import repr as short_repr
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from careeval.core.response import Grader
from careeval.errors import LogError
from careeval.protocol.log_fields import (
    MAX_SHOWN,
    LoggedSample,
    LoggedScenario,
    LogHeader,
    error_text,
)
from careeval.protocol.log_limits import (
    MAX_RESPONSES,
    MAX_SUMMARIES,
    open_log,
    read_member,
    size_problem,
)

if sys.version_info < (3, 14):
    # teaches zipfile the compression that Inspect writes
    import zipfile_zstd  # type: ignore[import-untyped]  # noqa: F401


_T = TypeVar("_T")
_SAMPLE_NAME = re.compile(r"samples/(.+)_epoch_([0-9]{1,9})\.json")


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
    about: Mapping[str, Any]  # The metadata that careeval wrote into the header, unchecked
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
        log = Log(path, _reader(LogHeader).validate_json(content, strict=True), about)
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
