"""One log, without Inspect: an `.eval` file is a zip of JSON, one member a sample.

Only what the tables need is taken, each field from its place in the JSON, and checked on the way.
Samples come one at a time: a run has a thousand, and most of each is a record of its events.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from reprlib import repr as short_repr
from typing import Annotated, Any, TypeVar

from pydantic import (
    AliasChoices,
    AliasPath,
    BeforeValidator,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import from_json

from careeval.core.grader import Grader
from careeval.core.response import ResponseState
from careeval.core.scenario import Domain, Rubric
from careeval.errors import LogError
from careeval.modes.response import RESPONSE
from careeval.protocol.log_limits import (
    HEADER,
    MAX_ITEMS,
    MAX_MAKERS,
    MAX_RESPONSES,
    MAX_SAMPLING,
    MAX_SCENARIOS,
    SAMPLE,
    SUMMARIES,
    Amount,
    Epoch,
    Level,
    Name,
    Points,
    Text,
    Tokens,
    TokenShare,
    excess,
    opened,
    read_member,
    shown,
)

if sys.version_info < (3, 14):
    # teaches zipfile the compression that Inspect writes
    import zipfile_zstd  # type: ignore[import-untyped]  # noqa: F401


def _at(first: str, *path: str | int) -> Any:
    """Where a field stands in the JSON; what is not there has the field's default."""
    return Field(validation_alias=AliasPath(first, *path))


def _or_unknown(value: Any, known: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """What a call took, or `None` where that cannot be: a provider may count anything.

    What it counted is noted in the context, a list.
    """
    try:
        return known(value)
    except ValidationError as error:
        if info.context is not None:
            info.context.append(f"{info.field_name}.{_reason(error)}")
        return None


OrUnknown = WrapValidator(_or_unknown)


@dataclass(frozen=True)
class PromptHashes:
    """Hashes of the prompts that asked and graded."""

    ask: Name
    grade: Name


@dataclass(frozen=True)
class About:
    """What careeval wrote about the run into the header."""

    software: Name
    protocol: Name
    bank: Name
    bank_version: Name
    bank_provenance: Text
    bank_hash: Name
    system: Name | None
    recorded: bool
    rubrics: Annotated[tuple[Rubric, ...], Field(max_length=len(Rubric))]
    grade_mode: Name
    prompts: PromptHashes
    twins_hash: Name | None = None
    bank_makers: Annotated[tuple[Name, ...], Field(max_length=MAX_MAKERS)] = ()
    mode: Name = RESPONSE.name  # of runs that were begun before there was another


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

    model: Annotated[Name, _at("eval", "model")]
    created: Annotated[Name, _at("eval", "created")]
    scenarios: Annotated[
        tuple[Name, ...], Field(max_length=MAX_SCENARIOS), _at("eval", "dataset", "sample_ids")
    ]
    epochs: Annotated[Epoch, _at("eval", "config", "epochs")]
    about: Annotated[About, _at("eval", "metadata", "careeval")]
    grader: Annotated[
        Name | None,
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
    text: Text
    cut: bool
    note: Text


@dataclass(frozen=True)
class Usage:
    """What a call consumed, as Inspect counts it; what it does not know is `None`."""

    input_tokens: Tokens | None = None
    input_tokens_cache_read: Tokens | None = None
    input_tokens_cache_write: Tokens | None = None
    output_tokens: Tokens | None = None
    reasoning_tokens: Tokens | None = None
    total_cost: Amount | None = None


def _has_reasoning(content: Any) -> bool:
    """Whether a message, in words or in parts, has a part that is its reasoning."""
    parts = content if isinstance(content, list) else []
    return any(isinstance(part, dict) and part.get("type") == "reasoning" for part in parts)


@dataclass(frozen=True)
class Judged:
    """One judgment."""

    item: Name
    present: bool | None
    quote: Text | None
    reason: Text | None


@dataclass(frozen=True)
class Spent:
    """What all calls that judged one rubric consumed together; what is not known is `None`."""

    input_tokens: TokenShare | None = None
    output_tokens: TokenShare | None = None
    cost_usd: Amount | None = None
    seconds: Amount | None = None


@dataclass(frozen=True)
class Graded:
    """One rubric as the grader judged it; an older log does not say what that took."""

    judgments: Annotated[tuple[Judged, ...], Field(max_length=MAX_ITEMS)] = ()
    usage: Annotated[Spent | None, OrUnknown] = None


@dataclass(frozen=True)
class Item:
    """One item of a rubric, a rung or an action."""

    id: Name
    points: Points
    text: Text
    domains: Mapping[Domain, Level]
    of: Annotated[tuple[Name, ...], Field(max_length=MAX_ITEMS)] = ()
    excludes: Annotated[tuple[Name, ...], Field(max_length=MAX_ITEMS)] = ()
    harm: Name | None = None
    kind: Name | None = None
    core: bool = False
    error: Name | None = None


def _words_alone(content: Any) -> Any:
    """What was asked, in words; nothing where it was more than words."""
    return None if isinstance(content, list) else content


@dataclass(frozen=True)
class Asked:
    """What a sample carries of its scenario: the same in every epoch of a log.

    Attributes:
        text: What was asked; `None` where it was more than words.
        rubrics: Rubric → its items, in the rubric's order.
    """

    text: Annotated[Text | None, BeforeValidator(_words_alone), _at("input")]
    rubrics: Annotated[
        Mapping[Rubric, Annotated[tuple[Item, ...], Field(max_length=MAX_ITEMS)]],
        _at("metadata", "rubrics"),
    ]
    adl: Annotated[Name | None, _at("metadata", "adl")] = None
    condition: Annotated[Name | None, _at("metadata", "condition")] = None
    assistance: Annotated[Name | None, _at("metadata", "assistance")] = None
    situation: Annotated[
        tuple[Name, ...] | None, Field(max_length=MAX_ITEMS), _at("metadata", "situation")
    ] = None
    actor: Annotated[Name | None, _at("metadata", "actor")] = None
    split: Annotated[Name | None, _at("metadata", "split")] = None
    group: Annotated[Name | None, _at("metadata", "group")] = None
    twin_of: Annotated[Name | None, _at("metadata", "twin_of")] = None
    control: Annotated[Name | None, _at("metadata", "control")] = None


@dataclass(frozen=True)
class Sample:
    """One response to one scenario, as far as it came.

    Attributes:
        id: Of the scenario.
        sampling: The sampling fields that were sent.
        model: Name of the model that the provider says answered.
        reasoned: Whether a reasoning trace came with what it said.
        seconds: Of the call.
        graded: Rubric → its grading; empty where grading broke off.
        error: Why the sample ended in an error; `None` where it did not.
    """

    id: Name
    epoch: Epoch
    stored: Annotated[Stored | None, _at("store", "careeval_response")] = None
    sampling: Annotated[
        Mapping[Name, Any] | None,
        Field(max_length=MAX_SAMPLING),
        _at("store", "careeval_sampling"),
    ] = None
    model: Annotated[Name | None, _at("output", "model")] = None
    reasoned: Annotated[
        bool,
        BeforeValidator(_has_reasoning),
        _at("output", "choices", 0, "message", "content"),
    ] = False
    usage: Annotated[Usage | None, OrUnknown, _at("output", "usage")] = None
    seconds: Annotated[Amount | None, OrUnknown, _at("output", "time")] = None
    graded: Annotated[
        Mapping[Name, Graded],
        Field(max_length=MAX_ITEMS),
        _at("scores", "careeval", "metadata", "rubrics"),
    ] = field(default_factory=dict)
    error: Annotated[Text | None, _at("error", "message")] = None

    @property
    def response(self) -> Stored:
        """The response; where none was stored it is missing, and the error says why."""
        if self.stored:
            return self.stored
        why = self.error or "no response was stored"
        return Stored(ResponseState.missing, "", cut=False, note=f"error: {why.strip()[:500]}")


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
                    yield Unreadable(key[1][:MAX_SHOWN], int(key[2]), _reason(error))
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
            f"{path}: cannot be read as a log: {_reason(error)}", hint="it may have been cut off"
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
            f"{path}: its header lacks what this version of careeval needs: {_reason(error)}",
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


def _reason(error: Exception) -> str:
    """What is wrong, in one line, without the content that it is wrong with."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step)[:MAX_SHOWN] for step in first["loc"])
        if "recursion limit" in first["msg"]:
            return "it is nested too deeply: at most 200 lists and mappings in each other"
        told = first["type"] in ("missing", "json_invalid")
        found = "" if told else f" (found {shown(first['input'])})"
        return f"{where}: {first['msg'][:MAX_SAID]}{found}"
    if isinstance(error, KeyError):
        return f"not in it: {error.args[0]}"
    return (str(error) or type(error).__name__)[:MAX_SAID]


MAX_SHOWN = 80
"""Characters of what stands in a log in a message."""

MAX_SAID = 300
"""Characters of an error's own words in a message."""

_SAMPLE_NAME = re.compile(r"samples/(.+)_epoch_([0-9]{1,9})\.json")
_T = TypeVar("_T")


@cache
def _reader(kind: type[_T]) -> TypeAdapter[_T]:
    """Built when it is needed: a reader of cached tables waits for none."""
    return TypeAdapter(kind)
