"""Runs over one scenario against the fake server, which fail and try again without waiting."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import polars as pl
import pytest

from careeval.protocol.run import Run

SCENARIO_ID = "dressing-001"


def a_run(bank: Path, epochs: int, grader: str | None = "openai-api/fake/grader") -> Run:
    """Return a run of a system called robot on the fake server."""
    task = {"bank": str(bank)}
    return Run("robot", "openai-api/fake/model", grader, epochs, task, max_connections=8)


@contextmanager
def without_waiting() -> Iterator[list[float]]:
    """Have Inspect ask again at once; the list has what it would have waited, in seconds."""
    waits: list[float] = []

    async def no_sleep(seconds: float) -> None:
        waits.append(seconds)
        await anyio.lowlevel.checkpoint()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("inspect_ai.model._retry._sleep", no_sleep)
        for where in ("inspect_ai.model._model", "inspect_ai.log._log"):
            # drawing them takes longer than all the rest
            patch.setattr(f"{where}.format_traceback", lambda *_: ("", ""))
        yield waits


def judged(judgments: pl.DataFrame) -> dict[str, bool | None]:
    """Return each item and whether it is present."""
    return dict(judgments.select("item", "present").iter_rows())
