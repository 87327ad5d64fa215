"""How far a run has come, said on stderr: a bar in a terminal, nothing in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """What is being counted."""

    system: str
    n_samples: int


@contextmanager
def shown(progress: Progress) -> Iterator[None]:
    """Show the progress of the run that is carried out inside the block."""
    if not sys.stderr.isatty():
        yield
        return
    from inspect_ai.hooks import Hooks, SampleEnd, hooks
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(progress.system, total=progress.n_samples)

        @hooks(name="careeval_progress", description="Counts finished samples.")
        class _Counter(Hooks):
            async def on_sample_end(self, data: SampleEnd) -> None:  # noqa: ARG002
                bar.advance(task)

        yield
