"""The fields of a log that tables need, each with its place in Inspect's JSON and its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import (
    AliasChoices,
    AliasPath,
    BeforeValidator,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from careeval.core.response import ResponseState
from careeval.core.scenario import Domain, Rubric
from careeval.modes.response import RESPONSE
from careeval.protocol.logs.limits import (
    MAX_ITEMS,
    MAX_MAKERS,
    MAX_SAMPLING,
    MAX_SCENARIOS,
    Amount,
    Epoch,
    Level,
    Name,
    Points,
    Text,
    Tokens,
    TokenShare,
    shown,
)

MAX_SHOWN = 80
"""Characters of what stands in a log in a message."""

MAX_SAID = 300
"""Characters of an error's own words in a message."""


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
            info.context.append(f"{info.field_name}.{fault(error)}")
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


def fault(error: Exception) -> str:
    """Return what is wrong, in one line, without the content that it is wrong with."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step)[:MAX_SHOWN] for step in first["loc"])
        if "recursion limit" in first["msg"]:
            return "it is nested too deeply: at most 200 lists and mappings in each other"
        is_plain = first["type"] in ("missing", "json_invalid")
        content = "" if is_plain else f" (found {shown(first['input'])})"
        return f"{where}: {first['msg'][:MAX_SAID]}{content}"
    if isinstance(error, KeyError):
        return f"not in it: {error.args[0]}"
    return (str(error) or type(error).__name__)[:MAX_SAID]
