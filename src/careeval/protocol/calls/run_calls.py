"""Every call to a model goes through here: kept on disk before its result is used, and paid for.

A run that is to end early (Ctrl-C, a budget) begins no new call, waits for those in flight, since
they will be paid for, and is then interrupted.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput
from inspect_ai.model._model import AttemptTimeoutError

from careeval.errors import ProtocolError
from careeval.protocol.address import shown
from careeval.protocol.calls.failures import CallError, is_hopeless, last_attempt, why
from careeval.protocol.calls.pending_call import FLIGHT, Flight
from careeval.protocol.calls.replies import (
    Called,
    generate,
    metered,
    sampling_in,
    sampling_logged,
    truly_metered,
)
from careeval.protocol.calls.stored_calls import KeptCalls, call_key
from careeval.protocol.calls.unusable_grader import GraderTrial
from careeval.protocol.costs.call_estimate import ANSWER_TOKENS, Estimate, estimate
from careeval.protocol.costs.cost_log import Paid, Role
from careeval.protocol.runs.budget import Budget
from careeval.protocol.runs.spec import MAX_TOKENS, Stop
from careeval.results.amounts import dollars

NOT_TAKEN = ("content_filter", "model_length")
"""How an answer without a count of tokens ends when its request was refused as it stood."""

TIMES_TURNED_AWAY = 5
"""After so many hopeless attempts in a row, where none has succeeded yet, a run ends instead of
failing a thousand times."""

DRAIN = 300.0
"""Seconds that calls in flight may still take once a budget is reached."""

SHORT_DRAIN = 5.0
"""The same where no call has ever come back."""

CHARGED = ("input", "output", "cache_read", "cache_write")
"""Fields of a price."""

LOOK_AGAIN = 0.25
"""Seconds after which a call that waits for money looks whether other processes left some over."""


class Calls:
    """The calls of one run, and whether it may make more.

    Attributes:
        stopped: Why the run is ending early; `None` while it is not.
        why: What a server or a model said to cause it, where there is more to say.
        shape: The same without a word of theirs, where there is anything to say without.
        gradings: Keys of the calls to a grader that were made, or taken from disk.
        last_failure: Whom the last call that failed was to, at which address, and why it failed.
    """

    def __init__(
        self,
        folder: Path,
        budget: Budget | None = None,
        tell: Callable[[Paid], None] = lambda _: None,
        prices: Mapping[str, Mapping[str, Any]] = {},
    ) -> None:
        """Open the files in the run's folder, and look up what was finished before.

        Args:
            folder: The run's.
            budget: What may be spent; without one, anything.
            tell: Is told of each call that comes back.
            prices: Of models: see `Run.prices`.

        Raises:
            OSError: The files cannot be written.
        """
        self._kept = KeptCalls(folder)
        self._budget, self._tell, self._prices = budget, tell, prices
        self._for_money = asyncio.Lock()
        self._landed = asyncio.Event()
        self._models: dict[str, Model] = {}
        self._under_way = set[Flight]()
        self._interrupted = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._trial = GraderTrial()
        self.gradings: set[str] = set()
        self._flights = set[Flight]()
        self._succeeded = set[Role]()
        # of those that have not: how many hopeless attempts in a row, and when the first failed
        self._hopeless: dict[Role, tuple[int, float]] = {}
        self.stopped: Stop | None = None
        self.why = self.last_failure = self.shape = ""

    async def call(
        self,
        role: Role,
        name: str,
        model: Model,
        messages: Sequence[ChatMessage],
        config: GenerateConfig,
        expected_tokens: float = ANSWER_TOKENS,
    ) -> Called:
        """Ask a model, unless its answer is on disk already.

        Args:
            role: What the call is for.
            name: Of the call within the run: scenario, epoch, rubric, attempt.
            model: Whom to ask.
            messages: What is sent.
            config: How.
            expected_tokens: Of the reply.

        Raises:
            OSError: The answer could not be kept; the run is stopping.
        """
        self._loop = asyncio.get_running_loop()
        if self.stopped:
            await _never()
        key = call_key(role, name, model, messages)
        if role == "grade":
            self.gradings.add(key)
        if kept := self._kept.get(key):
            return Called(truly_metered(model, kept.output), kept.sampling)
        self._models[f"{role} {model}"] = model
        n_bytes = sum(len(message.text.encode(errors="replace")) for message in messages)
        flight = Flight(role, model, n_bytes, expected_tokens)
        self._flights.add(flight)
        token = FLIGHT.set(flight)
        try:
            output = await generate(model, messages, config)
            # a request that the provider would not take is no call that it charges for
            taken = output.usage is not None or output.stop_reason not in NOT_TAKEN
            called = Called(truly_metered(model, output), flight.sampling)
            paid = self._paid(role, model, output) if taken else None
            self._keep(key, paid, called)
            self._settle(flight, paid.cost_usd if paid else None)
            self._succeeded.add(role)
        except CallError as error:
            self._settle(flight, None)
            self.failed(error.cause)
            raise
        finally:
            FLIGHT.reset(token)
            self._flights.discard(flight)
            self._land(flight)
        return called

    def failed(self, error: BaseException) -> bool:
        """Take down that an attempt at the present call failed; whether waiting will help little.

        It is so while no call of its role has succeeded, and this one failed as all would: nobody
        is at the address, say, or the key is wrong. A run for which that holds five times in a row
        cannot but fail, and is ended.
        """
        flight, error = FLIGHT.get(), last_attempt(error)
        if flight is None or error is flight.failure:
            return False  # it was the last attempt, of which we have been told
        self._land(flight)
        model, role = flight.model, flight.role
        flight.failure, flight.words = error, why(error, [model.api.api_key or ""])
        silent, flight.is_silent = (
            flight.is_silent and isinstance(error, AttemptTimeoutError),
            False,
        )
        if silent:
            flight.words += ", and none to a request for its list of models"
        self.last_failure = f"{model}{_address(model)}: {flight.words}"
        if role in self._succeeded:
            return False
        if not is_hopeless(error):
            self._hopeless.pop(role, None)
            return False
        n, began = self._hopeless.get(role, (0, time.monotonic()))
        # a silent server would be as silent at the attempts that are left
        self._hopeless[role] = max(n + 1, TIMES_TURNED_AWAY if silent else 0), began
        # one that began before all this may still come back, from a server that is merely full
        older = any(each.role == role and each.since < began for each in self._under_way)
        if self._hopeless[role][0] >= TIMES_TURNED_AWAY and not older and not self.stopped:
            self.why = self.last_failure
            self.stop(Stop.turned_away, DRAIN if self._succeeded else SHORT_DRAIN)
        return True

    def none_has_succeeded(self) -> bool:
        """Whether no call of the present one's role has come back so far."""
        flight = FLIGHT.get()
        return flight is not None and flight.role not in self._succeeded

    def sent(self, request: Mapping[str, Any]) -> None:
        """Note what the last attempt at the present call sent to the provider."""
        if flight := FLIGHT.get():
            flight.sampling = sampling_in(request)

    def silent(self) -> None:
        """Take down that the server of the present call answers nothing else either."""
        if flight := FLIGHT.get():
            flight.is_silent = True

    def judged(self, response: str, n_judged: int, problem: str, reply: str) -> None:
        """Take note of what the calls about a response brought; end a run whose grader is no use.

        Args:
            response: Its name.
            n_judged: Items that a reply judged.
            problem: What is wrong with the last reply.
            reply: That reply.
        """
        unusable = self._trial.judged(response, n_judged, problem, reply)
        if unusable and not self.stopped:
            self.shape, self.why = unusable.shape, unusable.words
            self.stop(Stop.unusable, DRAIN)

    async def let_in(self, config: GenerateConfig) -> None:
        """Come back when an attempt at a call may be made; once the run is ending, never.

        Inspect says when: a call may wait long for a connection, and is in flight only then. With a
        budget, what it may cost is set aside first.

        Args:
            config: How the model is asked, the run's own settings included.
        """
        flight = FLIGHT.get()
        if flight is None:
            return
        if not self.stopped and self._budget is not None:
            await self._set_aside(self._budget, flight, self._estimate(flight, config))
        if self.stopped:
            self._settle(flight, None)
            self._land(flight)
            await _never()
        elif not flight.under_way:
            flight.under_way, flight.since = True, time.monotonic()
            self._under_way.add(flight)

    def _estimate(self, flight: Flight, config: GenerateConfig) -> Estimate:
        who = f"{flight.role} {flight.model}"
        if not (price := self._prices.get(str(flight.model))):
            return Estimate(who, 0.0, 0.0)
        schema = config.response_schema
        n_bytes = flight.n_bytes + (len(schema.model_dump_json(exclude_none=True)) if schema else 0)
        limit = config.max_tokens or MAX_TOKENS
        return estimate(who, price, n_bytes, flight.expected_tokens, limit)

    async def _set_aside(self, budget: Budget, flight: Flight, needed: Estimate) -> None:
        """Wait until what a call may cost is set aside; the run ends where it never can be.

        Those that wait do so in the order in which they came.
        """
        try:
            if not needed.usd or flight.reserved is not None:
                self._refuse_unmetered(budget)
                return
            async with self._for_money:
                while not self.stopped:
                    self._landed.clear()
                    self._refuse_unmetered(budget)
                    if self.stopped:
                        return
                    flight.reserved = await budget.reserve(needed)
                    if flight.reserved is not None:
                        return
                    # one that waits for its next attempt has its money, and will give back the rest
                    held = any(each.reserved is not None for each in self._flights)
                    if not held and not budget.others_in_flight():
                        self.why = _nothing_fits(budget, needed)
                        self.stop(Stop.budget, DRAIN)
                        return
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._landed.wait(), LOOK_AGAIN)
        except (OSError, TypeError, ProtocolError) as error:
            # Inspect would go on after an error here, and the budget would not be kept
            self.why = f"the ledger cannot be read: {error}"
            self.stop(Stop.disk, DRAIN)

    def _refuse_unmetered(self, budget: Budget) -> None:
        if budget.n_unknown():
            self.stop(Stop.unmetered, DRAIN)

    def _settle(self, flight: Flight, paid: float | None) -> None:
        """Give back what was set aside for a call: it came back, or failed.

        One that is dropped in flight is not settled: it may be paid for.
        """
        if self._budget is not None and flight.reserved is not None:
            number, flight.reserved = flight.reserved, None
            try:
                self._budget.settle(number, paid)
            except OSError:
                self.stop(Stop.disk, 0)

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
            with suppress(RuntimeError):  # its loop is closed: it has ended
                self._loop.call_soon_threadsafe(self._end, self._loop, within)

    async def disconnect(self) -> None:
        """Close the connections of the models that were called, in the loop that opened them."""
        for model in self._models.values():
            await model.api.aclose()

    def close(self) -> None:
        """Close the files."""
        if self._budget is not None:
            self._budget.close()
        self._kept.close()

    def _end(self, loop: asyncio.AbstractEventLoop, within: float) -> None:
        if self._under_way:
            loop.call_later(within, self._interrupt)
        else:
            self._interrupt()

    def _land(self, flight: Flight) -> None:
        if flight.under_way:
            flight.under_way = False
            self._under_way.discard(flight)
            self._landed.set()
            if self.stopped and not self._under_way:
                self._interrupt()

    def _interrupt(self) -> None:
        """What Ctrl-C does: Inspect cancels the samples that are under way and ends its log."""
        if not self._interrupted:
            # once: a second one would break into the writing of the log
            self._interrupted = True
            os.kill(os.getpid(), signal.SIGINT)

    def _paid(self, role: Role, model: Model, output: ModelOutput) -> Paid:
        paid = Paid(role, str(model), *metered(output))
        price = self._prices.get(str(model))
        if price and not any(price[each] for each in CHARGED):
            # what is free is so without a count of tokens
            return replace(paid, cost_usd=0.0)
        return paid

    def _keep(self, key: str, paid: Paid | None, called: Called) -> None:
        try:
            self._kept.keep(key, paid, called)
        except OSError:
            self.stop(Stop.disk, 0)
            raise
        if paid:
            self._tell(paid)


_CURRENT: ContextVar[Calls | None] = ContextVar("careeval_calls", default=None)


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
    role: Role,
    name: str,
    model: Model,
    messages: Sequence[ChatMessage],
    config: GenerateConfig,
    expected_tokens: float = ANSWER_TOKENS,
) -> Called:
    """`Calls.call` of the run that is under way; where there is none, as in `inspect eval`, ask."""
    if calls := current_calls():
        return await calls.call(role, name, model, messages, config, expected_tokens)
    output = truly_metered(model, await generate(model, messages, config))
    return Called(output, sampling_logged())


def _address(model: Model) -> str:
    """Where a model is asked, after a word; empty for one that is asked nowhere else."""
    url = getattr(getattr(model.api, "client", None), "base_url", None) or model.api.base_url
    return f" at {shown(str(url))}" if url else ""


async def _never() -> None:
    """Wait for the cancellation that ends the run."""
    await asyncio.get_running_loop().create_future()


def _nothing_fits(budget: Budget, needed: Estimate) -> str:
    left, next_usd = budget.left_usd(), budget.next_usd(needed)
    role, _, model = needed.who.partition(" ")
    call = f"the next call, {'grading with' if role == 'grade' else 'asking'} {model}"
    have = f"{dollars(left)} of it is left" if left > 0 else "nothing of it is left"
    return f"{have}, and {call}, is estimated at {dollars(next_usd)}"
