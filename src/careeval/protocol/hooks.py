"""What Inspect tells us while it runs; outside a run of ours, nothing comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from inspect_ai.hooks import BeforeModelGenerate, Hooks, ModelRetry, RunEnd, SampleEnd, hooks

from careeval.protocol.calls import current_calls
from careeval.protocol.progress import Tally

_TALLY: ContextVar[Tally | None] = ContextVar("careeval_tally", default=None)


@contextmanager
def counted_by(tally: Tally) -> Iterator[None]:
    """Have what happens inside the block counted by `tally`."""
    token = _TALLY.set(tally)
    try:
        yield
    finally:
        _TALLY.reset(token)


@hooks(name="careeval", description="Lets calls in, and counts what happens.")
class RunHooks(Hooks):
    """Passes on what happens in the run that is under way."""

    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:  # noqa: ARG002
        """An attempt at a call has its connection: may it be made?"""
        if calls := current_calls():
            await calls.let_in()

    async def on_run_end(self, data: RunEnd) -> None:  # noqa: ARG002
        """All samples are finished, or cancelled."""
        if calls := current_calls():
            await calls.disconnect()

    async def on_model_retry(self, data: ModelRetry) -> None:
        """An attempt at a call has failed, and is made again."""
        if tally := _TALLY.get():
            what = str(data.status_code or data.exception_type or "an error")
            tally.failing(f"{data.model_name}: {what}, again in {data.wait_time:.0f} s")

    async def on_sample_end(self, data: SampleEnd) -> None:
        """A sample is finished, or given up."""
        if tally := _TALLY.get():
            error = data.sample.error
            words = (
                (error.message.strip().splitlines() or ["an error"])[-1][:200] if error else None
            )
            tally.ended((str(data.sample.id), data.sample.epoch), words)
