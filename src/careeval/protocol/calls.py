"""The calls of a run: each is stored on disk, with its cost, before its result is used.

A run that is to end early (Ctrl-C, a budget) begins no new call, waits for those in flight, since
they will be paid for, and is then interrupted.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput
from inspect_ai.model._model import AttemptTimeoutError

from careeval.core.text import dollars
from careeval.errors import ProtocolError
from careeval.protocol.call_journal import (
    CallResult,
    StoredCalls,
    call_key,
    generate,
    n_pictures,
    sampling_in,
    sampling_logged,
    usage_numbers,
    without_false_usage,
)
from careeval.protocol.failures import (
    CallError,
    GraderTrial,
    failure_reason,
    is_hopeless,
    last_attempt,
    refuses_request,
)
from careeval.protocol.ledger import SIGHT_TEST, Budget, PaidCall
from careeval.protocol.prices import (
    ANSWER_TOKENS,
    WORST_BYTES_PER_TOKEN,
    CallEstimate,
    Price,
    estimate_call,
    picture_tokens,
)
from careeval.protocol.providers import Role, redacted
from careeval.protocol.run import MAX_TOKENS, Stop, Tally
from careeval.protocol.sight_test import sees, sight_request

NOT_TAKEN = ("content_filter", "model_length")
"""Stop reasons that, in an output without usage, mean that the provider refused the request."""

TIMES_TURNED_AWAY = 5
"""Hopeless attempts in a row after which a run ends, if no call has succeeded before."""

DRAIN = 300.0
"""Seconds that calls in flight may still take when a run is to end early."""

SHORT_DRAIN = 5.0
"""Seconds that calls in flight may still take then, if no call has come back yet."""

LOOK_AGAIN = 0.25
"""Seconds between two checks of a waiting call whether the budget has room for it now."""


@dataclass(slots=True, eq=False)
class PendingCall:
    """One pending call, with its attempts so far.

    Between two attempts it waits, and may be ended without loss.
    """

    key: str
    role: Role
    model: Model
    n_bytes: int  # Bytes sent
    expected_tokens: float  # Expected tokens of the reply
    sampling: dict[str, Any] = field(default_factory=dict)
    """The fields of the last attempt's request that say how its reply is sampled."""
    under_way: bool = False
    """True from the beginning of an attempt until it fails or its result is stored."""
    reserved: int | None = None
    """Number of the budget's reservation for it; `None` if there is none."""
    since: float = 0.0  # Monotonic time at which its present or last attempt began
    failure: BaseException | None = None  # The error of its last attempt
    reason: str = ""  # That error as text
    is_silent: bool = False
    """True if the server did not answer a request for its list of models either."""


PENDING_CALL: ContextVar[PendingCall | None] = ContextVar("careeval_flight", default=None)
"""The pending call of this context."""


class RunCalls:
    """The calls of one run, and whether it may make more.

    Attributes:
        stopped: The reason why the run is ending early; `None` while it is not.
        why: Details of the reason, which may quote a server or a model; empty if there are none.
        safe_why: Details that quote nobody; empty if there are none.
        gradings: Keys of the calls to a grader that were made, or taken from disk.
        sight_tests: Keys of the calls that find out whether a model sees.
        last_failure: Model, address and reason of the last call that failed.
    """

    def __init__(
        self,
        folder: Path,
        tally: Tally,
        budget: Budget | None = None,
        prices: Mapping[str, Price] = {},
    ) -> None:
        """Open the files in the run's folder, and read the finished calls.

        Calls and samples are counted in `tally`. Without a budget there is no limit; `prices` are
        those of `Run.prices`.

        Raises:
            OSError: The files cannot be written.
        """
        self._kept = StoredCalls(folder)
        self.tally, self._budget, self._prices = tally, budget, prices
        self._for_money = asyncio.Lock()
        self._for_sight, self._has_seen = asyncio.Lock(), False
        self._landed = asyncio.Event()
        self._models: dict[str, Model] = {}
        self._under_way = set[PendingCall]()
        self._interrupted = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._trial = GraderTrial()
        self.gradings: set[str] = set()
        self.sight_tests: set[str] = set()
        self._pending = set[PendingCall]()
        self._succeeded = set[Role]()
        # number of hopeless attempts in a row, and when the first failed, until a call succeeds
        self._hopeless: dict[Role, tuple[int, float]] = {}
        self.stopped: Stop | None = None
        self.why = self.last_failure = self.safe_why = ""

    async def make(
        self, pending: PendingCall, messages: Sequence[ChatMessage], config: GenerateConfig
    ) -> CallResult:
        """Make a call of this run, or return its stored result: see `call`."""
        self._loop = asyncio.get_running_loop()
        if self.stopped:
            await _never()
        key, role, model = pending.key, pending.role, pending.model
        if role == "grade":
            self.gradings.add(key)
        if kept := self._kept.get(key):
            return kept
        self._models[f"{role} {model}"] = model
        self._pending.add(pending)
        token = PENDING_CALL.set(pending)
        try:
            output = await generate(model, messages, config)
            # the provider does not charge for a request that it refused
            is_charged = output.usage is not None or output.stop_reason not in NOT_TAKEN
            called = CallResult(without_false_usage(model, output), pending.sampling)
            paid = self._paid(pending, output) if is_charged else None
            self._keep(pending, paid, called)
            self._succeeded.add(role)
        except CallError as error:
            self._release(pending)
            self.record_failure(error.cause)
            raise
        finally:
            PENDING_CALL.reset(token)
            self._pending.discard(pending)
            self._land(pending)
        return called

    async def check_sight(self, model: Model, config: GenerateConfig) -> None:
        """Have a model name the colours of a test picture, once a run; end the run if it cannot.

        An answer that is wrong is not kept: resuming asks again.
        """
        async with self._for_sight:
            if self._has_seen:
                return
            messages = sight_request()
            self.sight_tests.add(call_key("ask", f"{SIGHT_TEST} 0", model, messages))
            try:
                called = await call("ask", f"{SIGHT_TEST} 0", model, messages, config)
                reply = called.output.completion.strip()
                self._has_seen = sees(reply)
                problem = f"{model} named the colours of a test picture as {reply[:80]!r}"
            except CallError as error:
                if not refuses_request(error.cause):
                    raise
                problem = f"{model} refused a test picture: {error.message}"
            if not self._has_seen and not self.stopped:
                self.why = problem
                self.stop(Stop.blind, SHORT_DRAIN)
            if self.stopped:
                await _never()

    def record_failure(self, error: BaseException) -> bool:
        """Record that an attempt at the current call failed; return whether it is hopeless.

        The call is hopeless if no call of its role has succeeded so far, and every other call would
        fail in the same way: no server listens at the address, say, or the key is wrong. Five
        hopeless attempts in a row end the run.
        """
        pending, error = PENDING_CALL.get(), last_attempt(error)
        if pending is None or error is pending.failure:
            return False  # the failure of the last attempt is recorded already
        self._land(pending)
        model, role = pending.model, pending.role
        pending.failure, pending.reason = error, failure_reason(error, [model.api.api_key or ""])
        silent = pending.is_silent and isinstance(error, AttemptTimeoutError)
        pending.is_silent = False
        if silent:
            pending.reason += ", and no answer to a request for the server's list of models"
        self.last_failure = f"{model}{_address(model)}: {pending.reason}"
        if role in self._succeeded:
            return False
        if not is_hopeless(error):
            self._hopeless.pop(role, None)
            return False
        n, began = self._hopeless.get(role, (0, time.monotonic()))
        # a silent server will not answer the other attempts either
        self._hopeless[role] = max(n + 1, TIMES_TURNED_AWAY if silent else 0), began
        # a call that began before the first failure may still come back, if the server is just full
        older = any(each.role == role and each.since < began for each in self._under_way)
        if self._hopeless[role][0] >= TIMES_TURNED_AWAY and not older and not self.stopped:
            self.why = self.last_failure
            self.stop(Stop.turned_away, DRAIN if self._succeeded else SHORT_DRAIN)
        return True

    def none_has_succeeded(self) -> bool:
        """Tell whether the current call's role (asking or grading) has had no success so far."""
        pending = PENDING_CALL.get()
        return pending is not None and pending.role not in self._succeeded

    def record_request(self, request: Mapping[str, Any]) -> None:
        """Record the request that the last attempt at the current call sent to the provider."""
        if pending := PENDING_CALL.get():
            pending.sampling = sampling_in(request)

    def record_silence(self) -> None:
        """Record that the server of the current call does not answer other requests either."""
        if pending := PENDING_CALL.get():
            pending.is_silent = True

    def record_grading(self, response: str, n_judged: int, problem: str, reply: str) -> None:
        """Record the grading of a response; end the run if its grader cannot be used.

        `problem` and `reply` are those of the grader's last reply; `n_judged` items were judged.
        """
        unusable = self._trial.record(response, n_judged, problem, reply)
        if unusable and not self.stopped:
            self.safe_why, self.why = unusable.problems, unusable.reply
            self.stop(Stop.unusable, DRAIN)

    async def wait_to_begin(self, config: GenerateConfig) -> None:
        """Wait until an attempt at the current call may be made; forever, once the run is ending.

        Inspect calls this when the call has its connection, which may take long: only then is the
        call in flight. With a budget, the money that the call may cost is reserved first.
        """
        pending = PENDING_CALL.get()
        if pending is None:
            return
        try:
            if not self.stopped and self._budget is not None:
                await self._set_aside(self._budget, pending, self._estimate(pending, config))
        except Exception as error:
            # Inspect would go on after an error here, without a budget
            self._stop_without_budget(error)
        if self.stopped:
            self._release(pending)
            self._land(pending)
            await _never()
        elif not pending.under_way:
            pending.under_way, pending.since = True, time.monotonic()
            self._under_way.add(pending)

    def _estimate(self, pending: PendingCall, config: GenerateConfig) -> CallEstimate:
        # a short reply to a small picture says nothing of what other calls cost
        kind = f"{SIGHT_TEST if SIGHT_TEST in pending.key else pending.role} {pending.model}"
        if not (price := self._prices.get(str(pending.model))):
            return CallEstimate(kind, 0.0, 0.0)
        schema = config.response_schema
        n_bytes = pending.n_bytes + (
            len(schema.model_dump_json(exclude_none=True)) if schema else 0
        )
        limit = config.max_tokens or MAX_TOKENS
        return estimate_call(kind, price, n_bytes, pending.expected_tokens, limit)

    async def _set_aside(self, budget: Budget, pending: PendingCall, needed: CallEstimate) -> None:
        """Wait, in the order of the calls, until the cost is reserved; end the run if none fits."""
        if not needed.usd or pending.reserved is not None:
            self._refuse_unmetered(budget)
            return
        async with self._for_money:
            while not self.stopped:
                self._landed.clear()
                self._refuse_unmetered(budget)
                if self.stopped:
                    return
                pending.reserved = await budget.reserve(needed)
                if pending.reserved is not None:
                    return
                # a call between two attempts has a reservation, and will give back the rest
                is_held = any(each.reserved is not None for each in self._pending)
                if not is_held and not budget.others_in_flight():
                    self.why = _nothing_fits(budget, needed)
                    self.stop(Stop.budget, DRAIN)
                    return
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._landed.wait(), LOOK_AGAIN)

    def _stop_without_budget(self, error: Exception) -> None:
        """End the run because its budget cannot be kept: what keeps it has failed."""
        if isinstance(error, OSError):
            self._stop_for_disk(error, DRAIN)
            return
        expected = isinstance(error, ProtocolError)
        reason = str(error) if expected else f"unexpected {type(error).__name__}: {error}"
        self.why = self.why or f"the budget cannot be kept: {reason}"
        self.stop(Stop.died, DRAIN)

    def _refuse_unmetered(self, budget: Budget) -> None:
        if budget.n_unknown():
            self.stop(Stop.unmetered, DRAIN)

    def _release(self, pending: PendingCall) -> None:
        """Release the reservation of a call that failed, or that is not charged.

        A call that is dropped in flight keeps its reservation: it may be paid for.
        """
        if self._budget is not None and pending.reserved is not None:
            number, pending.reserved = pending.reserved, None
            try:
                self._budget.release(number)
            except Exception as error:
                self._stop_without_budget(error)

    def stop(self, reason: Stop, within: float) -> None:
        """Begin no more calls, and end the run when those in flight are done or time is up.

        Calls in flight may still take `within` seconds. The reason of the first `stop` is kept. May
        be called from another thread and from a signal's handler.
        """
        self.stopped = self.stopped or reason
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
        """Close the files of the calls and of the budget."""
        if self._budget is not None:
            self._budget.close()
        self._kept.close()

    def _end(self, loop: asyncio.AbstractEventLoop, within: float) -> None:
        if self._under_way:
            loop.call_later(within, self._interrupt)
        else:
            self._interrupt()

    def _land(self, pending: PendingCall) -> None:
        if pending.under_way:
            pending.under_way = False
            self._under_way.discard(pending)
            self._landed.set()
            if self.stopped and not self._under_way:
                self._interrupt()

    def _interrupt(self) -> None:
        """Do what Ctrl-C does: Inspect cancels the unfinished samples and ends its log."""
        if not self._interrupted:
            # only once: a second signal would interrupt the writing of the log
            self._interrupted = True
            os.kill(os.getpid(), signal.SIGINT)

    def _paid(self, pending: PendingCall, output: ModelOutput) -> PaidCall:
        model = str(pending.model)
        paid = PaidCall(pending.role, model, *usage_numbers(output), pending.reserved)
        price = self._prices.get(model)
        if price and price.is_free:
            # a free call costs nothing, even if its tokens are not known
            return replace(paid, cost_usd=0.0)
        return paid

    def _keep(self, pending: PendingCall, paid: PaidCall | None, called: CallResult) -> None:
        try:
            self._kept.keep(pending.key, paid, called)
        except OSError as error:
            self._stop_for_disk(error)
            raise
        if paid:
            pending.reserved = None  # the line of the payment has released it
            self.tally.count_call(paid)
        else:
            self._release(pending)

    def _stop_for_disk(self, error: OSError, within: float = 0.0) -> None:
        self.safe_why = self.safe_why or f"{error.filename}: {error.strerror}"
        self.stop(Stop.disk, within)


_CURRENT: ContextVar[RunCalls | None] = ContextVar("careeval_calls", default=None)


@contextmanager
def using_calls(calls: RunCalls) -> Iterator[None]:
    """Make every `call` inside the block through `calls`."""
    token = _CURRENT.set(calls)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current_calls() -> RunCalls | None:
    """Return the calls of the current run; `None` outside a run, as in `inspect eval`."""
    return _CURRENT.get()


async def call(
    role: Role,
    name: str,
    model: Model,
    messages: Sequence[ChatMessage],
    config: GenerateConfig,
    expected_tokens: float = ANSWER_TOKENS,
) -> CallResult:
    """Call a model; within a run, return the stored result if the same call is finished.

    `name` tells the call from others of the run: scenario, epoch, rubric, attempt. The reply is
    expected to have `expected_tokens`. Once the run is ending, this waits to be cancelled instead.

    Raises:
        CallError: The call failed.
        OSError: The result could not be stored; the run is stopping.
    """
    if (calls := current_calls()) is None:
        output = without_false_usage(model, await generate(model, messages, config))
        return CallResult(output, sampling_logged())
    key = call_key(role, name, model, messages)
    n_bytes = sum(len(message.text.encode(errors="replace")) for message in messages)
    n_bytes += round(picture_tokens(str(model)).worst * WORST_BYTES_PER_TOKEN) * n_pictures(
        messages
    )
    return await calls.make(
        PendingCall(key, role, model, n_bytes, expected_tokens), messages, config
    )


def _address(model: Model) -> str:
    """Return " at " and the address of a model's server; empty if the model has none."""
    url = getattr(getattr(model.api, "client", None), "base_url", None) or model.api.base_url
    return f" at {redacted(str(url))}" if url else ""


async def _never() -> None:
    """Wait for the cancellation that ends the run."""
    await asyncio.get_running_loop().create_future()


def _nothing_fits(budget: Budget, needed: CallEstimate) -> str:
    left, next_usd = budget.left_usd(), budget.next_usd(needed)
    role, _, model = needed.kind.partition(" ")
    next_call = f"the next call, {'grading with' if role == 'grade' else 'asking'} {model}"
    rest = f"{dollars(left)} of it is left" if left > 0 else "none of it is left"
    return f"{rest}, and {next_call}, is estimated at {dollars(next_usd)}"


def last_failure_reason() -> str:
    """Return why the last attempt at the current call failed; empty if no attempt failed."""
    pending = PENDING_CALL.get()
    return pending.reason if pending else ""
