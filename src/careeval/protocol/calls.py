"""Every call to a model goes through here: kept on disk before its result is used, and paid for.

```text
calls.jsonl   finished calls of a run that is not complete: nothing is asked twice
spent.jsonl   what they cost, as long as the folder lives: see `ledger`
```

A run that is to end early (Ctrl-C, a budget) begins no new call, waits for those in flight, since
they will be paid for, and is then interrupted.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput
from inspect_ai.util import LimitExceededError

from careeval.protocol.failures import CallError, why
from careeval.protocol.ledger import (
    CALLS_FILE,
    SPENT_FILE,
    Budget,
    Lines,
    Paid,
    Role,
    entry,
)
from careeval.protocol.run import Stop

NOT_TAKEN = ("content_filter", "model_length")
"""How an answer without a count of tokens ends when its request was refused as it stood."""

TURNED_AWAY = (401, 404)
"""Statuses that a server gives to every call alike: no such key, no such model."""

TIMES_TURNED_AWAY = 5
"""After so many of them, and no other answer, a run ends instead of failing a thousand times."""

DRAIN = 300.0
"""Seconds that calls in flight may still take once a budget is reached."""

_SAMPLING_FIELDS = (
    *("temperature", "top_p", "top_k", "min_p", "seed"),
    *("max_tokens", "max_completion_tokens", "max_output_tokens"),
    *("reasoning_effort", "reasoning"),
)
"""Fields of a request to a provider that say how its answer was drawn."""


@dataclass(frozen=True, slots=True)
class Called:
    """What came back from a call.

    Attributes:
        output: The model's.
        sampling: The fields of the request that say how the answer was drawn; empty if the provider
            reports no request.
    """

    output: ModelOutput
    sampling: dict[str, Any]


@dataclass(slots=True)
class _Flight:
    """One call on its way; `under_way` from its first attempt until its answer is kept."""

    under_way: bool = False


class Calls:
    """The calls of one run, and whether it may make more.

    Attributes:
        stopped: Why the run is ending early; `None` while it is not.
        why: The same in words, where there is more to say.
    """

    def __init__(
        self,
        folder: Path,
        budget: Budget | None = None,
        tell: Callable[[Paid], None] = lambda _: None,
    ) -> None:
        """Open the files in the run's folder, and look up what was finished before.

        Args:
            folder: The run's.
            budget: What may be spent; without one, anything.
            tell: Is told of each call that comes back.

        Raises:
            OSError: The files cannot be written.
        """
        self._calls, self._spent = Lines(folder / CALLS_FILE), Lines(folder / SPENT_FILE)
        self._finished = {row["key"]: place for place, row in self._calls.places()}
        self._budget, self._tell = budget, tell
        self._models: dict[str, Model] = {}
        self._n_under_way = 0
        self._interrupted = False
        self._loop: asyncio.AbstractEventLoop | None = None
        # until a call has come back, how many were turned away
        self._n_turned_away: dict[Role, int | None] = {"ask": 0, "grade": 0}
        self.stopped: Stop | None = None
        self.why = ""

    async def call(
        self,
        role: Role,
        name: str,
        model: Model,
        messages: Sequence[ChatMessage],
        config: GenerateConfig,
    ) -> Called:
        """Ask a model, unless its answer is on disk already.

        Args:
            role: What the call is for.
            name: Of the call within the run: scenario, epoch, rubric, attempt.
            model: Whom to ask.
            messages: What is sent.
            config: How.

        Raises:
            OSError: The answer could not be kept; the run is stopping.
        """
        self._loop = asyncio.get_running_loop()
        if self.stopped:
            await _never()
        key = _key(role, name, model, messages)
        if place := self._finished.get(key):
            row = self._calls.at(place)
            return Called(ModelOutput.model_validate(row["output"]), row["sampling"])
        self._models[f"{role} {model}"] = model
        flight = _Flight()
        token = _FLIGHT.set(flight)
        try:
            output = await _generate(model, messages, config)
            called = Called(output, _sampling_sent())
            self._keep(key, role, model, called)
            self._n_turned_away[role] = None
        except CallError as error:
            self._turned_away(role, error)
            raise
        finally:
            _FLIGHT.reset(token)
            self._land(flight)
        return called

    def _turned_away(self, role: Role, error: CallError) -> None:
        """End a run that cannot but fail: a wrong key, say, or a model that there is not."""
        count = self._n_turned_away[role]
        if count is not None and error.status in TURNED_AWAY:
            self._n_turned_away[role] = count = count + 1
            if count == TIMES_TURNED_AWAY:
                self.why = error.message
                self.stop(Stop.turned_away, DRAIN)

    async def let_in(self) -> None:
        """Come back when an attempt at a call may be made; once the run is ending, never.

        Inspect says when: a call may wait long for a connection, and is in flight only then.
        """
        flight = _FLIGHT.get()
        if flight is None:
            return
        if not self.stopped and self._budget is not None:
            self._look_at(self._budget)
        if self.stopped:
            self._land(flight)
            await _never()
        elif not flight.under_way:
            flight.under_way = True
            self._n_under_way += 1

    def _look_at(self, budget: Budget) -> None:
        try:
            if budget.spent_usd() >= budget.limit_usd:
                self.stop(Stop.budget, DRAIN)
            elif budget.n_unknown():
                self.stop(Stop.unmetered, DRAIN)
        except (OSError, TypeError) as error:
            # Inspect would go on after an error here, and the budget would not be kept
            self.why = f"the ledger cannot be read: {error}"
            self.stop(Stop.disk, DRAIN)

    def stop(self, why: Stop, within: float) -> None:
        """Begin no more calls, and end the run when those in flight are done or time is up.

        May be called from another thread and from a signal's handler.

        Args:
            why: The first reason that is given stands.
            within: Seconds that calls in flight may still take.
        """
        self.stopped = self.stopped or why
        if self._loop is None:
            self._interrupt()
        else:
            self._loop.call_soon_threadsafe(self._end, self._loop, within)

    async def disconnect(self) -> None:
        """Close the connections of the models that were called, in the loop that opened them."""
        for model in self._models.values():
            await model.api.aclose()

    def close(self) -> None:
        """Close the files."""
        self._calls.close()
        self._spent.close()

    def _end(self, loop: asyncio.AbstractEventLoop, within: float) -> None:
        if self._n_under_way:
            loop.call_later(within, self._interrupt)
        else:
            self._interrupt()

    def _land(self, flight: _Flight) -> None:
        if flight.under_way:
            flight.under_way = False
            self._n_under_way -= 1
            if self.stopped and not self._n_under_way:
                self._interrupt()

    def _interrupt(self) -> None:
        """What Ctrl-C does: Inspect cancels the samples that are under way and ends its log."""
        if not self._interrupted:
            # once: a second one would break into the writing of the log
            self._interrupted = True
            os.kill(os.getpid(), signal.SIGINT)

    def _keep(self, key: str, role: Role, model: Model, called: Called) -> None:
        """Write the cost first: a process killed in between has paid, and asks again."""
        # a request that the provider would not take is no call that it charges for
        taken = called.output.usage is not None or called.output.stop_reason not in NOT_TAKEN
        paid = Paid(role, str(model), *metered(called.output)) if taken else None
        try:
            if paid:
                self._spent.append(entry(paid))
            output = called.output.model_dump(mode="json", exclude_none=True)
            row = {"key": key, "output": output, "sampling": called.sampling}
            self._finished[key] = self._calls.append(row)
        except OSError:
            self.stop(Stop.disk, 0)
            raise
        if paid:
            self._tell(paid)


_CURRENT: ContextVar[Calls | None] = ContextVar("careeval_calls", default=None)
_FLIGHT: ContextVar[_Flight | None] = ContextVar("careeval_flight", default=None)


@contextmanager
def kept_by(calls: Calls) -> Iterator[None]:
    """Have every `call` inside the block kept by `calls`."""
    token = _CURRENT.set(calls)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current_calls() -> Calls | None:
    """The calls of the run that is under way in this context."""
    return _CURRENT.get()


async def call(
    role: Role, name: str, model: Model, messages: Sequence[ChatMessage], config: GenerateConfig
) -> Called:
    """`Calls.call` of the run that is under way; where there is none, as in `inspect eval`, ask."""
    if calls := current_calls():
        return await calls.call(role, name, model, messages, config)
    return Called(await _generate(model, messages, config), _sampling_sent())


async def _generate(
    model: Model, messages: Sequence[ChatMessage], config: GenerateConfig
) -> ModelOutput:
    """What the model says.

    Raises:
        CallError: It failed; said in our words, without what its provider wraps it in.
    """
    try:
        return await model.generate(list(messages), config=config)
    except LimitExceededError:
        raise  # of whoever runs the task with limits of their own
    except Exception as error:
        status = getattr(error, "status_code", None)
        raise CallError(why(error, [model.api.api_key or ""]), status) from None


async def _never() -> None:
    """Wait for the cancellation that ends the run."""
    await asyncio.get_running_loop().create_future()


def _key(role: Role, name: str, model: Model, messages: Sequence[ChatMessage]) -> str:
    digest = hashlib.sha256(str(model).encode())
    for message in messages:
        digest.update(f"\0{message.role}\0{message.text}".encode())
    return f"{role} {name} {digest.hexdigest()[:16]}"


def metered(output: ModelOutput) -> tuple[int | None, int | None, float | None, float | None]:
    """Tokens in and out, dollars and seconds, as the provider reports them."""
    usage = output.usage
    if usage is None:
        return None, None, None, output.time
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return usage.input_tokens + cached, usage.output_tokens, usage.total_cost, output.time


def _sampling_sent() -> dict[str, Any]:
    """How the last call's answer was drawn, as the request to the provider said it.

    A provider may drop a field that its model refuses (a reasoning model's temperature, say): what
    is not in here was not sent.
    """
    for event in reversed(transcript().events):
        if isinstance(event, ModelEvent):
            request = event.call.request if event.call else {}
            return {name: request[name] for name in _SAMPLING_FIELDS if name in request}
    return {}
