"""What Inspect tells us while it runs; outside a run of ours, nothing comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Any

from inspect_ai._util.registry import registry_find
from inspect_ai.hooks import BeforeModelGenerate, Hooks, ModelRetry, RunEnd, SampleEnd, hooks

from careeval.protocol.calls.pending_call import why_failed
from careeval.protocol.calls.run_calls import current_calls
from careeval.protocol.runs.progress import Tally

_TALLY: ContextVar[Tally | None] = ContextVar("careeval_tally", default=None)

LONG = 60.0
"""Seconds: a longer wait is said with the time of day when it is over."""


@contextmanager
def counted_by(tally: Tally) -> Iterator[None]:
    """Have what happens inside the block counted by `tally`."""
    token = _TALLY.set(tally)
    try:
        yield
    finally:
        _TALLY.reset(token)


@contextmanager
def alone() -> Iterator[None]:
    """Have Inspect tell nobody else inside the block: a package may plug hooks of its own in."""
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
    """Passes on what happens in the run that is under way."""

    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:
        """An attempt at a call has its connection: may it be made?"""
        if calls := current_calls():
            await calls.let_in(data.config)

    async def on_run_end(self, data: RunEnd) -> None:  # noqa: ARG002
        """All samples are finished, or cancelled."""
        if calls := current_calls():
            await calls.disconnect()

    async def on_model_retry(self, data: ModelRetry) -> None:
        """An attempt at a call has failed, and is made again."""
        if tally := _TALLY.get():
            what = why_failed() or str(data.status_code or "an error")
            tally.failing(f"{data.model_name}: {what}", _when(data.wait_time))
            if data.wait_time >= LONG:
                # it may be the last that is heard for as long
                tally.flush()

    async def on_sample_end(self, data: SampleEnd) -> None:
        """A sample is finished, or given up; one that the end of the run cut off is neither."""
        calls = current_calls()
        is_cut_off = data.sample.error is not None and calls is not None and calls.stopped
        if (tally := _TALLY.get()) and not is_cut_off:
            error = data.sample.error
            words = (
                (error.message.strip().splitlines() or ["an error"])[-1][:200] if error else None
            )
            tally.ended((str(data.sample.id), data.sample.epoch), words)


def _when(wait: float) -> str:
    """When an attempt is made again."""
    if wait < LONG:
        return f"in {wait:.0f} s"
    then = datetime.now() + timedelta(seconds=wait)
    return f"in {wait / 60:.0f} min, at {then:%H:%M}"
