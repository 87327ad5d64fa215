"""The results of calls: the response and the usage in them, and the journal of a run's calls.

With the journal no call is made twice, and every payment is known.

```text
calls.jsonl   finished calls of a run that is not complete
spent.jsonl   the cost log, kept as long as the folder: see `ledger`
```
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ContentImage,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.util import LimitExceededError

from careeval.core.response import Response, ResponseState
from careeval.modes.grading import readable
from careeval.protocol.failures import CallError, failure_reason
from careeval.protocol.ledger import (
    CALLS_FILE,
    SPENT_FILE,
    PaidCall,
    finished_key,
)
from careeval.protocol.providers import Role, provider_of
from careeval.protocol.run_files import JsonLines


class StoredCalls:
    """The finished calls of one run, on disk."""

    def __init__(self, folder: Path) -> None:
        self._calls, self._spent = JsonLines(folder / CALLS_FILE), JsonLines(folder / SPENT_FILE)
        self._finished = {row["key"]: span for span, row in self._calls.rows() if _is_call(row)}

    def get(self, key: str) -> CallResult | None:
        """Return the result of a call; `None` if the call is not finished."""
        if not (span := self._finished.get(key)):
            return None
        row = self._calls.at(span)
        return CallResult(ModelOutput.model_validate(row["output"]), row["sampling"])

    def keep(self, key: str, paid: PaidCall | None, called: CallResult) -> None:
        """Write the cost and then the result of a call.

        Raises:
            OSError: It could not be written.
        """
        # the cost first: a process killed in between has paid, and makes the call again
        if paid:
            self._spent.append(asdict(paid))
        output = called.output.model_dump(mode="json", exclude_none=True)
        row = {"key": key, "output": output, "sampling": called.sampling}
        self._finished[key] = self._calls.append(row)

    def close(self) -> None:
        """Close the files."""
        self._calls.close()
        self._spent.close()


def call_key(role: Role, name: str, model: Model, messages: Sequence[ChatMessage]) -> str:
    """Return the key of a call: its role, its name, and a hash of the model and the messages.

    Pictures in the messages count.
    """
    digest = hashlib.sha256(str(model).encode())
    for message in messages:
        digest.update(f"\0{message.role}\0{message.text}".encode())
        for picture in _pictures(message):
            digest.update(picture.encode())
    return f"{role} {name} {digest.hexdigest()[:16]}"


def n_pictures(messages: Sequence[ChatMessage]) -> int:
    """Return the number of pictures in messages."""
    return sum(len(_pictures(message)) for message in messages)


def _pictures(message: ChatMessage) -> list[str]:
    parts = [] if isinstance(message.content, str) else message.content
    return [part.image for part in parts if isinstance(part, ContentImage)]


def _is_call(row: Any) -> bool:
    """Tell whether a row of the file is a valid finished call; otherwise the call is made again."""
    try:
        ModelOutput.model_validate(row["output"])
        return bool(finished_key(row)) and isinstance(row["sampling"], dict)
    except (KeyError, TypeError, ValueError):
        return False


_SAMPLING_FIELDS = (
    *("temperature", "top_p", "top_k", "min_p", "seed"),
    *("max_tokens", "max_completion_tokens", "max_output_tokens"),
    *("reasoning_effort", "reasoning"),
)
"""Fields of a request to a provider that say how its reply is sampled."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of a call."""

    output: ModelOutput
    sampling: dict[str, Any]
    """The fields of the request that say how the reply was sampled; empty if the provider reports
    no request."""


async def generate(
    model: Model, messages: Sequence[ChatMessage], config: GenerateConfig
) -> ModelOutput:
    """Call a model and return its output.

    Raises:
        CallError: The call failed. The message is ours, without the provider's wrapping.
    """
    try:
        return await model.generate(list(messages), config=config)
    except LimitExceededError:
        raise  # the limits of a user who runs the task through Inspect
    except Exception as error:
        raise CallError(failure_reason(error, [model.api.api_key or ""]), error) from None


def sampling_in(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a request to a provider that say how its reply is sampled.

    A provider may drop a field that its model refuses, such as a reasoning model's temperature.
    Fields that are not in the result were not sent.
    """
    return {name: request[name] for name in _SAMPLING_FIELDS if name in request}


def sampling_logged() -> dict[str, Any]:
    """Return the sampling fields of the last request in Inspect's transcript; empty if none."""
    for event in reversed(transcript().events):
        if isinstance(event, ModelEvent):
            return sampling_in(event.call.request if event.call else {})
    return {}


# The response in an output

MAX_CHARACTERS = 200
"""The most characters shown of the text of a refusal."""


def response_of(output: ModelOutput, scenario: str, epoch: int) -> Response:
    """Return the response in a model's output: answered, empty, refused or missing.

    Text that was cut off at the token limit counts as answered, and is marked as cut. Reasoning is
    not part of the response.
    """
    text = readable(output.completion.strip())
    stop = output.stop_reason if output.choices else "unknown"
    cut = stop in {"max_tokens", "model_length"}
    if stop == "content_filter" or _is_refusal(output):
        note = text or output.error or "content filter"
        return Response(scenario, epoch, "", ResponseState.refused, note=note)
    if text and stop == "model_length" and output.usage is None:
        # it did not fit: Inspect gives the provider's error as if the model had written it
        return Response(scenario, epoch, "", ResponseState.missing, note=text)
    if text:
        return Response(scenario, epoch, text, ResponseState.answered, cut=cut)
    if stop == "stop":
        return Response(scenario, epoch, "", ResponseState.empty)
    note = "cut off before any text" if cut else output.error or f"stopped: {stop}"
    return Response(scenario, epoch, "", ResponseState.missing, note=note)


def stop_problem(output: ModelOutput) -> str:
    """Return why an output is not a complete reply, as text; empty if it is complete."""
    response = response_of(output, "", 0)
    if response.state is ResponseState.refused:
        return f"it is a refusal: {response.note[:MAX_CHARACTERS]}"
    if response.state is ResponseState.missing:
        return f"there is none: {response.note[:MAX_CHARACTERS]}"
    return "it was cut off at the token limit" if response.cut else ""


def _is_refusal(output: ModelOutput) -> bool:
    """Tell whether the provider marks the output's content as a refusal."""
    content = output.message.content if output.choices else ""
    return not isinstance(content, str) and any(getattr(part, "refusal", None) for part in content)


# The usage of a call

MAX_PLAUSIBLE_TOKENS = 10**9
"""The most tokens of one call; a higher count is taken as false."""


def without_false_usage(model: Model, output: ModelOutput) -> ModelOutput:
    """Remove a usage that cannot be true from an output, so that the cost of the call is unknown.

    A model that runs inside the process need not count.
    """
    words = bool(output.completion.strip()) or any(
        not isinstance(choice.message.content, str) and choice.message.content
        for choice in output.choices
    )
    is_free = provider_of(str(model)).in_process
    if not is_free and output.usage and not _is_plausible(output.usage, words=words):
        output.usage = None
    return output


def _is_plausible(usage: ModelUsage, *, words: bool) -> bool:
    """Tell whether the token counts of a call can be true: a prompt has tokens, and so do words."""
    cached = (usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0)
    prompt = (usage.input_tokens, *cached)
    counts = (*prompt, usage.output_tokens, usage.reasoning_tokens or 0)
    if not all(0 <= count <= MAX_PLAUSIBLE_TOKENS for count in (*counts, sum(prompt))):
        return False
    return any(prompt) and bool(usage.output_tokens or not words)


def usage_numbers(output: ModelOutput) -> tuple[int | None, int | None, float | None, float | None]:
    """Return a call's input tokens, output tokens, dollars and seconds; `None` where unknown."""
    usage = output.usage
    if usage is None:
        return None, None, None, output.time
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return usage.input_tokens + cached, usage.output_tokens, usage.total_cost, output.time
