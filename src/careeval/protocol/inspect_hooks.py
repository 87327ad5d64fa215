"""Hooks that Inspect calls while it runs. Outside a run of careeval they do nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Any

from inspect_ai._util.registry import registry_find
from inspect_ai.hooks import BeforeModelGenerate, Hooks, ModelRetry, RunEnd, SampleEnd, hooks

from careeval.protocol.calls import current_calls, last_failure_reason
from careeval.protocol.run import Tally

_TALLY: ContextVar[Tally | None] = ContextVar("careeval_tally", default=None)

LONG = 60.0
"""Waits of this many seconds or more are shown with the time of day when they end."""


@contextmanager
def using_tally(tally: Tally) -> Iterator[None]:
    """Count calls and samples with `tally` inside the block."""
    token = _TALLY.set(tally)
    try:
        yield
    finally:
        _TALLY.reset(token)


@contextmanager
def without_other_hooks() -> Iterator[None]:
    """Switch off the hooks of other packages inside the block."""
    others: list[Any] = [
        each
        for each in registry_find(lambda info: info.type == "hooks")
        if not isinstance(each, RunHooks)
    ]
    for each in others:
        each.enabled = lambda: False
    try:
        yield
    finally:
        for each in others:
            del each.enabled


@hooks(name="careeval", description="Lets calls in, and counts what happens.")
class RunHooks(Hooks):
    """The hooks that pass events on to the current run."""

    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:
        """Hold back an attempt, once it has its connection, until the run allows it."""
        if calls := current_calls():
            await calls.wait_to_begin(data.config)

    async def on_run_end(self, data: RunEnd) -> None:  # noqa: ARG002
        """Close all connections, now that all samples are finished or cancelled."""
        if calls := current_calls():
            await calls.disconnect()

    async def on_model_retry(self, data: ModelRetry) -> None:
        """Show why an attempt at a call failed, and when the call is retried."""
        if tally := _TALLY.get():
            reason = last_failure_reason() or str(data.status_code or "an error")
            tally.count_failed_attempt(f"{data.model_name}: {reason}", _retry_time(data.wait_time))
            if data.wait_time >= LONG:
                # nothing else may be shown during the wait
                tally.flush()

    async def on_sample_end(self, data: SampleEnd) -> None:
        """Count a sample as finished or given up, unless the end of the run interrupted it."""
        calls = current_calls()
        is_cut_off = data.sample.error is not None and calls is not None and calls.stopped
        if (tally := _TALLY.get()) and not is_cut_off:
            error = data.sample.error
            message = (
                (error.message.strip().splitlines() or ["an error"])[-1][:200] if error else None
            )
            tally.count_sample((str(data.sample.id), data.sample.epoch), message)


def _retry_time(wait: float) -> str:
    if wait < LONG:
        return f"in {wait:.0f} s"
    end = datetime.now() + timedelta(seconds=wait)
    return f"in {wait / 60:.0f} min, at {end:%H:%M}"
