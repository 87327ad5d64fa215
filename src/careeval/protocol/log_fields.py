"""The fields of a log that the tables need: their paths in Inspect's JSON, types and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import (
    AliasChoices,
    AliasPath,
    BeforeValidator,
    Field,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from careeval.core.response import ResponseState
from careeval.core.scenario import Domain, Level, Points, Rubric

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

MAX_TOKENS = 10**12
"""The most tokens of one call."""

MAX_USD = 10**9
"""The most dollars, and the most seconds, of one call."""


Name = Annotated[str, StringConstraints(max_length=MAX_NAME)]
Text = Annotated[str, StringConstraints(max_length=MAX_TEXT)]
Epoch = Annotated[int, Field(ge=1, le=MAX_EPOCHS)]
Tokens = Annotated[int, Field(ge=0, le=MAX_TOKENS)]
TokenShare = Annotated[float, Field(ge=0, le=MAX_TOKENS, allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, le=MAX_USD, allow_inf_nan=False)]

MAX_SHOWN = 80
"""The most characters of a log's content that a message quotes."""

MAX_ERROR_TEXT = 300
"""The most characters of an error's text that a message quotes."""


def _at(first: str, *path: str | int) -> Any:
    """Return a field read at a path in the JSON; with its default, if the path is absent."""
    return Field(validation_alias=AliasPath(first, *path))


def _or_unknown(value: Any, validate: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """Return a field's value, or `None` if a count in it is impossible, such as a negative one.

    A description of each impossible count is added to the list in `info.context`.
    """
    try:
        return validate(value)
    except ValidationError as error:
        if info.context is not None:
            info.context.append(f"{info.field_name}.{error_text(error)}")
        return None


OrUnknown = WrapValidator(_or_unknown)


@dataclass(frozen=True)
class PromptHashes:
    """The hashes of the prompts for asking and for grading."""

    ask: Name
    grade: Name


@dataclass(frozen=True)
class RunMetadata:
    """The fields about the run that careeval wrote into the header."""

    software: Name
    protocol: Name
    mode: Name
    bank: Name
    bank_version: Name
    bank_provenance: Text
    bank_hash: Name
    system: Name | None
    recorded: bool
    rubrics: Annotated[tuple[Rubric, ...], Field(max_length=len(Rubric))]
    grade_mode: Name
    prompts: PromptHashes
    given: Name | None = None  # What the system is given of a world; `None` for a bank of words
    step: bool = False  # Whether it acts one act at a time
    twins_hash: Name | None = None
    bank_makers: Annotated[tuple[Name, ...], Field(max_length=MAX_MAKERS)] = ()


@dataclass(frozen=True)
class LogHeader:
    """The fields of a log's header that describe the run."""

    model: Annotated[Name, _at("eval", "model")]  # Inspect's name of the model that was asked
    created: Annotated[Name, _at("eval", "created")]  # Time when the log was begun, ISO 8601
    scenarios: Annotated[
        tuple[Name, ...], Field(max_length=MAX_SCENARIOS), _at("eval", "dataset", "sample_ids")
    ]
    """Ids of the scenarios of the run."""
    epochs: Annotated[Epoch, _at("eval", "config", "epochs")]  # Responses to each scenario
    about: Annotated[RunMetadata, _at("eval", "metadata", "careeval")]
    """The fields that careeval wrote."""
    grader: Annotated[
        Name | None,
        Field(
            validation_alias=AliasChoices(
                AliasPath("eval", "model_roles", "grader", "model"),
                AliasPath("eval", "model_roles", "grader", 0, "model"),
            )
        ),
    ] = None
    """Inspect's name of the grader, whether or not there was anything to grade."""
    scorers: Annotated[tuple[Any, ...] | None, _at("eval", "scorers")] = None
    """Inspect's scorers; empty where the responses are stored ungraded."""


@dataclass(frozen=True)
class LoggedResponse:
    """A response as the solver put it into the sample's store."""

    state: ResponseState
    text: Text
    cut: bool
    note: Text


@dataclass(frozen=True)
class LoggedUsage:
    """Tokens and cost of a call for a response, as Inspect counts them; `None` where unknown."""

    input_tokens: Tokens | None = None
    input_tokens_cache_read: Tokens | None = None
    input_tokens_cache_write: Tokens | None = None
    output_tokens: Tokens | None = None
    reasoning_tokens: Tokens | None = None
    total_cost: Amount | None = None


def _has_reasoning(content: Any) -> bool:
    """Tell whether a message's content, a string or a list of parts, has a part of reasoning."""
    parts = content if isinstance(content, list) else []
    return any(isinstance(part, dict) and part.get("type") == "reasoning" for part in parts)


@dataclass(frozen=True)
class LoggedJudgment:
    """One judgment in a log."""

    item: Name
    present: bool | None
    quote: Text | None
    reason: Text | None


@dataclass(frozen=True)
class GradingUsage:
    """Tokens, cost and time of all calls that judged one rubric of a response.

    A number is `None` if it is unknown for any of the calls.
    """

    input_tokens: TokenShare | None = None  # Cached ones included
    output_tokens: TokenShare | None = None  # Reasoning included
    cost_usd: Amount | None = None
    seconds: Amount | None = None  # Sum of the calls' durations


@dataclass(frozen=True)
class LoggedGrading:
    """The grading of one rubric of a response."""

    judgments: Annotated[tuple[LoggedJudgment, ...], Field(max_length=MAX_ITEMS)] = ()
    usage: Annotated[GradingUsage | None, OrUnknown] = None


@dataclass(frozen=True)
class LoggedItem:
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


def text_of(content: Any) -> Any:
    """Return the text of a message's content, which may have one picture beside it."""
    match content:
        case [{"type": "text", "text": text}, {"type": "image"}]:
            return text
        case list():
            return None
    return content


def _prompt_text(given: Any) -> Any:
    """Return the text of a prompt, which may be one message with a picture."""
    match given:
        case [{"content": [_, _] as content}]:
            return text_of(content)
        case list():
            return None
    return given


@dataclass(frozen=True)
class Grouping:
    """The fields of a scenario by which results are grouped, as columns of responses name them."""

    adl: Name | None = None
    condition: Name | None = None
    assistance: Name | None = None
    situation: Annotated[tuple[Name, ...] | None, Field(max_length=MAX_ITEMS)] = None
    actor: Name | None = None
    split: Name | None = None
    group: Name | None = None
    twin_of: Name | None = None
    control: Name | None = None


@dataclass(frozen=True)
class LoggedScenario:
    """The scenario of a sample, the same in every epoch of a log."""

    text: Annotated[Text | None, BeforeValidator(_prompt_text), _at("input")]
    """The text of the prompt; `None` if it has parts other than one text and one picture."""
    rubrics: Annotated[
        Mapping[Rubric, Annotated[tuple[LoggedItem, ...], Field(max_length=MAX_ITEMS)]],
        _at("metadata", "rubrics"),
    ]
    """Rubric → its items, in the rubric's order."""
    grouping: Annotated[Grouping, _at("metadata")]
    untold: Annotated[Text | None, _at("metadata", "untold")] = None
    """Rules that the prompt leaves out; `None` without any."""
    picture: Annotated[Name | None, _at("metadata", "picture", "hash")] = None
    """Hash of the picture that was shown with the prompt; `None` without one."""
    picture_alt: Annotated[Text | None, _at("metadata", "picture", "alt")] = None
    """A description of the picture, without the fact that decides."""


@dataclass(frozen=True)
class LoggedSample:
    """One sample of a log: a response to a scenario and its gradings, or an error."""

    id: Name  # Id of the scenario
    epoch: Epoch  # Number of the repetition, from 1
    stored: Annotated[LoggedResponse | None, _at("store", "careeval_response")] = None
    """The response; `None` where none was stored."""
    sampling: Annotated[
        Mapping[Name, Any] | None,
        Field(max_length=MAX_SAMPLING),
        _at("store", "careeval_sampling"),
    ] = None
    """The sampling fields that were sent."""
    model: Annotated[Name | None, _at("output", "model")] = None
    """Name of the model that answered, as its provider gives it."""
    reasoned: Annotated[
        bool,
        BeforeValidator(_has_reasoning),
        _at("output", "choices", 0, "message", "content"),
    ] = False
    """True if a reasoning trace came with the response."""
    usage: Annotated[LoggedUsage | None, OrUnknown, _at("output", "usage")] = None
    """Tokens and cost of the call."""
    seconds: Annotated[Amount | None, OrUnknown, _at("output", "time")] = None
    """Duration of the call."""
    n_calls: Annotated[Tokens | None, OrUnknown, _at("store", "careeval_n_calls")] = None
    """Number of the calls for a response of acts; `None` for one call."""
    graded: Annotated[
        Mapping[Name, LoggedGrading],
        Field(max_length=MAX_ITEMS),
        _at("scores", "careeval", "metadata", "rubrics"),
    ] = field(default_factory=dict)
    """Rubric → its grading; empty where grading broke off."""
    error: Annotated[Text | None, _at("error", "message")] = None
    """Message of the error that ended the sample; `None` where none did."""

    @property
    def response(self) -> LoggedResponse:
        """The stored response; if none, a response in the state `missing` with the error."""
        if self.stored:
            return self.stored
        why = self.error or "no response was stored"
        return LoggedResponse(
            ResponseState.missing, "", cut=False, note=f"error: {why.strip()[:500]}"
        )


def is_cancelled(error: str | None) -> bool:
    """Tell whether a sample's error says that it waited or was in flight when its run was stopped.

    Such a sample did not fail. Inspect logs it with the error by which it was cancelled.
    """
    return error is not None and error.startswith("CancelledError(")


def error_text(error: Exception) -> str:
    """Return a short text of an error.

    For a `ValidationError` this is its first problem, with the faulty value described, not quoted;
    for other errors it is their own text, cut to `MAX_ERROR_TEXT` characters.
    """
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step)[:MAX_SHOWN] for step in first["loc"])
        if "recursion limit" in first["msg"]:
            return "nested too deeply: at most 200 lists and mappings inside one another"
        is_plain = first["type"] in ("missing", "json_invalid")
        content = "" if is_plain else f" (found {describe_value(first['input'])})"
        return f"{where}: {first['msg'][:MAX_ERROR_TEXT]}{content}"
    if isinstance(error, KeyError):
        return f"missing: {error.args[0]}"
    return (str(error) or type(error).__name__)[:MAX_ERROR_TEXT]


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
