"""One log, without Inspect: an `.eval` file is a zip of JSON, one member a sample.

Only what the tables need is taken, each field from its place in the JSON, and checked on the way.
Samples come one at a time: a run has a thousand, and most of each is a record of its events.
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

from careeval.core.grader import Grader
from careeval.errors import LogError
from careeval.protocol.logs.fields import (
    MAX_SHOWN,
    Asked,
    Header,
    Sample,
    fault,
)
from careeval.protocol.logs.limits import (
    HEADER,
    MAX_RESPONSES,
    SAMPLE,
    SUMMARIES,
    excess,
    opened,
    read_member,
    shown,
)

if sys.version_info < (3, 14):
    # teaches zipfile the compression that Inspect writes
    import zipfile_zstd  # type: ignore[import-untyped]  # noqa: F401


_T = TypeVar("_T")
_SAMPLE_NAME = re.compile(r"samples/(.+)_epoch_([0-9]{1,9})\.json")


@dataclass(frozen=True)
class Odd:
    """A count of a sample that cannot be, and is taken as unknown."""

    id: str
    epoch: int
    reason: str


@dataclass(frozen=True)
class Unreadable:
    """A sample of which nothing is known but its key, and why."""

    id: str
    epoch: int
    reason: str


@dataclass(frozen=True)
class Log:
    """One `.eval` file.

    Attributes:
        path: Where it is.
        header: What the tables need of its header.
        about: All that careeval wrote into the header, as it stands there.
        name: The system's, where its run gives it one.
    """

    path: Path
    header: Header
    about: Mapping[str, Any]
    name: str | None = None

    @property
    def system(self) -> str:
        """Name of the system: that of its run, else of the log; the model's where neither has."""
        return self.name or self.header.about.system or self.header.model

    @property
    def grader(self) -> str | None:
        """The grader with its mode and prompt, as tables name it; `None` if nothing was graded."""
        about = self.header.about
        if self.header.grader is None or not self.header.scorers:
            return None
        return str(Grader(self.header.grader, about.grade_mode, about.prompts.grade))

    def samples(self) -> Iterator[tuple[Sample, Asked] | Odd | Unreadable]:
        """Its finished samples, one after the other, each read as it is asked for."""
        known: dict[str, Asked] = {}
        with opened(self.path) as file:
            for name in dict.fromkeys(file.namelist()):
                if not (key := _SAMPLE_NAME.fullmatch(name)):
                    continue
                try:
                    content = read_member(file, name, SAMPLE)
                    sample, odd = _sample(content)
                    if sample.id not in known:
                        known[sample.id] = _reader(Asked).validate_json(content, strict=True)
                except Exception as error:  # a damaged zip fails in many ways
                    yield Unreadable(key[1][:MAX_SHOWN], int(key[2]), fault(error))
                else:
                    if odd:
                        yield Odd(sample.id, sample.epoch, odd[0])
                    yield sample, known[sample.id]


def _sample(content: bytes) -> tuple[Sample, list[str]]:
    """A sample from its JSON, and its counts that cannot be.

    More than half of that is events, and what a graded sample is read for stands before them. So
    the JSON is cut there and closed. Should the cut be within something else (in no string, where
    quotes are escaped), that is left open, and the whole is read; so is a sample without a grading:
    it may have an error, which stands behind the events.
    """
    reader = _reader(Sample)
    before, cut, _ = content.partition(b'"events":')
    if cut:
        odd: list[str] = []
        with suppress(ValidationError):
            closed = before.rstrip(b" \n,") + b"}"
            sample: Sample = reader.validate_json(closed, strict=True, context=odd)
            if sample.graded:
                return sample, odd
    odd = []
    return reader.validate_json(content, strict=True, context=odd), odd


def read_log(path: Path) -> Log:
    """One log: its header at once, its samples as they are asked for.

    Raises:
        LogError: It is cut off, is not a log, is not of careeval, lacks what the tables need, or
            holds more than a log may.
    """
    try:
        with opened(path) as file:
            names = file.namelist()
            # a run that is killed leaves a log without an end
            complete = "header.json" in names
            content = read_member(
                file, "header.json" if complete else "_journal/start.json", HEADER
            )
        header = from_json(content)
        of_eval = header["eval"] if isinstance(header, dict) else None
        if not isinstance(of_eval, dict):
            raise ValueError(f"its header is {shown(header)}, expected what Inspect writes")
    except LogError:
        raise
    except Exception as error:  # its compressor's failures have no type in common
        raise LogError(
            f"{path}: cannot be read as a log: {fault(error)}", hint="it may have been cut off"
        ) from error
    metadata = of_eval.get("metadata")
    about = metadata.get("careeval") if isinstance(metadata, dict) else None
    if about is None:
        task = short_repr(of_eval.get("task"))
        raise LogError(f"{path}: is a log of the task {task}, not of careeval")
    try:
        log = Log(path, _reader(Header).validate_json(content, strict=True), about)
    except ValidationError as error:
        version = about.get("software") if isinstance(about, dict) else None
        version = version[:MAX_SHOWN] if isinstance(version, str) else "of an unknown version"
        raise LogError(
            f"{path}: its header lacks what this version of careeval needs: {fault(error)}",
            hint=f"it was written by careeval {version}",
        ) from error
    too_many = excess(len(log.header.scenarios), log.header.epochs)
    n_samples = sum(name.startswith("samples/") for name in names)
    if n_samples > MAX_RESPONSES:
        too_many = f"{n_samples:,} samples, at most {MAX_RESPONSES:,}"
    if too_many:
        raise LogError(f"{path}: has {too_many}")
    return log


def log_summaries(path: Path) -> Iterator[dict[str, Any]]:
    """What a log says of each of its samples in short; nothing where it cannot be read."""
    try:
        with opened(path) as file:
            names = file.namelist()
            whole = [name for name in names if name == "summaries.json"]
            parts = [name for name in names if name.startswith("_journal/summaries/")]
            for each in whole or parts:
                yield from from_json(read_member(file, each, SUMMARIES))
    except Exception:  # a damaged zip fails in many ways
        return


def is_finished(path: Path) -> bool:
    """Whether a log says that its run came to its end, every sample without an error."""
    try:
        with opened(path) as file:
            header = from_json(read_member(file, "header.json", HEADER))
        results = header.get("results") or {}
        is_all = results.get("completed_samples") == results.get("total_samples")
        return bool(header["status"] == "success" and is_all)
    except Exception:  # a damaged zip fails in many ways
        return False


@cache
def _reader(kind: type[_T]) -> TypeAdapter[_T]:
    """Built when it is needed: a reader of cached tables waits for none."""
    return TypeAdapter(kind)
