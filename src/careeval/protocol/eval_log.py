"""One log, without Inspect: an `.eval` file is a zip of JSON, one member a sample.

Only what the tables need is taken, each field from its place in the JSON, and checked on the way.
Samples come one at a time: a run has a thousand, and most of each is a record of its events.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AliasChoices, AliasPath, Field, TypeAdapter, ValidationError

from careeval.core.response import ResponseState
from careeval.core.scenario import Domain, Rubric
from careeval.errors import LogError

if sys.version_info < (3, 14):
    # teaches zipfile the compression that Inspect writes
    import zipfile_zstd  # type: ignore[import-untyped]  # noqa: F401


def _at(first: str, *path: str | int) -> Any:
    """Where a field stands in the JSON; what is not there has the field's default."""
    return Field(validation_alias=AliasPath(first, *path))


@dataclass(frozen=True)
class PromptHashes:
    """Hashes of the prompts that asked and graded."""

    ask: str
    grade: str


@dataclass(frozen=True)
class About:
    """What careeval wrote about the run into the header."""

    software: str
    protocol: str
    bank: str
    bank_version: str
    bank_provenance: str
    bank_hash: str
    system: str | None
    recorded: bool
    rubrics: tuple[Rubric, ...]
    grade_mode: str
    prompts: PromptHashes


@dataclass(frozen=True)
class Header:
    """What Inspect wrote about the run.

    Attributes:
        model: Inspect's name of the model that was asked.
        created: When the log was begun, ISO 8601.
        scenarios: What the run asks.
        epochs: How often.
        grader: Inspect's name of the grader, whether or not there was anything to grade.
        scorers: What grades; empty where the responses are stored ungraded.
    """

    model: Annotated[str, _at("eval", "model")]
    created: Annotated[str, _at("eval", "created")]
    scenarios: Annotated[tuple[str, ...], _at("eval", "dataset", "sample_ids")]
    epochs: Annotated[int, _at("eval", "config", "epochs")]
    about: Annotated[About, _at("eval", "metadata", "careeval")]
    grader: Annotated[
        str | None,
        Field(
            validation_alias=AliasChoices(
                AliasPath("eval", "model_roles", "grader", "model"),
                AliasPath("eval", "model_roles", "grader", 0, "model"),
            )
        ),
    ] = None
    scorers: Annotated[tuple[Any, ...] | None, _at("eval", "scorers")] = None


@dataclass(frozen=True)
class Stored:
    """The response as its solver left it in the sample's store."""

    state: ResponseState
    text: str
    cut: bool
    note: str


@dataclass(frozen=True)
class Usage:
    """What a call consumed, as Inspect counts it; what it does not know is `None`."""

    input_tokens: int | None = None
    input_tokens_cache_read: int | None = None
    input_tokens_cache_write: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    total_cost: float | None = None


@dataclass(frozen=True)
class Part:
    """A part of a message that is more than words, such as its reasoning."""

    type: str


@dataclass(frozen=True)
class Judged:
    """One judgment."""

    item: str
    present: bool | None
    quote: str | None
    reason: str | None


@dataclass(frozen=True)
class Spent:
    """What all calls that judged one rubric consumed together; what is not known is `None`."""

    input_tokens: float | None = None
    output_tokens: float | None = None
    cost_usd: float | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Graded:
    """One rubric as the grader judged it; an older log does not say what that took."""

    judgments: tuple[Judged, ...] = ()
    usage: Spent | None = None


@dataclass(frozen=True)
class Item:
    """One item of a rubric, a rung or an action."""

    id: str
    points: int
    text: str
    domains: Mapping[Domain, int]
    of: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Asked:
    """What a sample carries of its scenario: the same in every epoch of a log.

    Attributes:
        text: What was asked; in parts where it was more than words.
        rubrics: Rubric → its items, in the rubric's order.
    """

    text: Annotated[str | tuple[Any, ...], _at("input")]
    rubrics: Annotated[Mapping[Rubric, tuple[Item, ...]], _at("metadata", "rubrics")]
    adl: Annotated[str | None, _at("metadata", "adl")] = None
    condition: Annotated[str | None, _at("metadata", "condition")] = None
    assistance: Annotated[str | None, _at("metadata", "assistance")] = None
    situation: Annotated[tuple[str, ...] | None, _at("metadata", "situation")] = None
    actor: Annotated[str | None, _at("metadata", "actor")] = None
    split: Annotated[str | None, _at("metadata", "split")] = None


@dataclass(frozen=True)
class Sample:
    """One response to one scenario, as far as it came.

    Attributes:
        id: Of the scenario.
        sampling: The sampling fields that were sent.
        model: Name of the model that the provider says answered.
        content: What it said, as words or in parts.
        seconds: Of the call.
        graded: Rubric → its grading; empty where grading broke off.
        error: Why the sample ended in an error; `None` where it did not.
    """

    id: str
    epoch: int
    stored: Annotated[Stored | None, _at("store", "careeval_response")] = None
    sampling: Annotated[Mapping[str, Any] | None, _at("store", "careeval_sampling")] = None
    model: Annotated[str | None, _at("output", "model")] = None
    content: Annotated[
        str | tuple[Part, ...] | None, _at("output", "choices", 0, "message", "content")
    ] = None
    usage: Annotated[Usage | None, _at("output", "usage")] = None
    seconds: Annotated[float | None, _at("output", "time")] = None
    graded: Annotated[Mapping[str, Graded], _at("scores", "careeval", "metadata", "rubrics")] = (
        field(default_factory=dict)
    )
    error: Annotated[str | None, _at("error", "message")] = None

    @property
    def reasoned(self) -> bool:
        """Whether a reasoning trace came with what it said."""
        if not isinstance(self.content, tuple):
            return False
        return any(part.type == "reasoning" for part in self.content)

    @property
    def response(self) -> Stored:
        """The response; where none was stored it is missing, and the error says why."""
        if self.stored:
            return self.stored
        why = self.error or "no response was stored"
        return Stored(ResponseState.missing, "", cut=False, note=f"error: {why.strip()[:500]}")


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
    """

    path: Path
    header: Header
    about: Mapping[str, Any]

    @property
    def system(self) -> str:
        """Name of the system; the model's where the run gave no other."""
        return self.header.about.system or self.header.model

    @property
    def grader(self) -> str | None:
        """The grader with its mode and prompt, as tables name it; `None` if nothing was graded."""
        about = self.header.about
        if self.header.grader is None or not self.header.scorers:
            return None
        return f"{self.header.grader} ({about.grade_mode}, prompt {about.prompts.grade})"

    def samples(self) -> Iterator[tuple[Sample, Asked] | Unreadable]:
        """Its finished samples, one after the other, each read as it is asked for."""
        known: dict[str, Asked] = {}
        with zipfile.ZipFile(self.path) as file:
            for name in dict.fromkeys(file.namelist()):
                if not (key := _SAMPLE_NAME.fullmatch(name)):
                    continue
                try:
                    content = file.read(name)
                    sample = _sample(content)
                    if sample.id not in known:
                        known[sample.id] = _reader(Asked).validate_json(content, strict=True)
                except Exception as error:  # a damaged zip fails in many ways
                    yield Unreadable(key[1], int(key[2]), _reason(error))
                else:
                    yield sample, known[sample.id]


def _sample(content: bytes) -> Sample:
    """A sample from its JSON.

    More than half of that is events, and what a graded sample is read for stands before them. So
    the JSON is cut there and closed. Should the cut be within something else (in no string, where
    quotes are escaped), that is left open, and the whole is read; so is a sample without a grading:
    it may have an error, which stands behind the events.
    """
    reader = _reader(Sample)
    before, cut, _ = content.partition(b'"events":')
    if cut:
        with suppress(ValidationError):
            sample: Sample = reader.validate_json(before.rstrip(b" \n,") + b"}", strict=True)
            if sample.graded:
                return sample
    whole: Sample = reader.validate_json(content, strict=True)
    return whole


def read_log(path: Path) -> Log:
    """One log: its header at once, its samples as they are asked for.

    Raises:
        LogError: It is cut off, is not a log, is not of careeval, or lacks what the tables need.
    """
    try:
        with zipfile.ZipFile(path) as file:
            # a run that is killed leaves a log without an end
            complete = "header.json" in file.namelist()
            content = file.read("header.json" if complete else "_journal/start.json")
        of_eval = json.loads(content)["eval"]
        about = (of_eval.get("metadata") or {}).get("careeval")
    except Exception as error:  # its compressor's failures have no type in common
        raise LogError(
            f"{path}: cannot be read as a log: {_reason(error)}", hint="it may have been cut off"
        ) from error
    if about is None:
        raise LogError(f"{path}: is a log of the task {of_eval.get('task')!r}, not of careeval")
    try:
        return Log(path, _reader(Header).validate_json(content, strict=True), about)
    except ValidationError as error:
        version = about.get("software") if isinstance(about, dict) else None
        raise LogError(
            f"{path}: its header lacks what this version of careeval needs: {_reason(error)}",
            hint=f"it was written by careeval {version or 'of an unknown version'}",
        ) from error


def _reason(error: Exception) -> str:
    """What is wrong, in one line, without the content that it is wrong with."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    if isinstance(error, KeyError):
        return f"not in it: {error.args[0]}"
    return str(error) or type(error).__name__


_SAMPLE_NAME = re.compile(r"samples/(.+)_epoch_(\d+)\.json")
_T = TypeVar("_T")


@cache
def _reader(kind: type[_T]) -> TypeAdapter[_T]:
    """Built when it is needed: a reader of cached tables waits for none."""
    return TypeAdapter(kind)
