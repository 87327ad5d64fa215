"""The transcript: Inspect's record, in each sample of a log, of the events on its way.

Most of it repeats what the sample says elsewhere, and writing it is a fifth of a run's work. A run
of ours keeps it where something went wrong, so that one can see what, and leaves it out elsewhere.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast

from inspect_ai.event import Event
from inspect_ai.log import transcript
from inspect_ai.solver import TaskState

from careeval.core.response import ResponseState
from careeval.protocol.calls.run_calls import current_calls
from careeval.protocol.grade.solvers import response_given


def transcript_left_out(*, graded: bool) -> Callable[[TaskState], Awaitable[None]]:
    """Return what a task does at the end of a sample: leave out its transcript if all went well.

    Outside a run of ours, as in `inspect eval`, the transcript stays.

    Args:
        graded: Whether responses are graded.
    """

    async def clean(state: TaskState) -> None:
        if current_calls() and _went_well(state, graded=graded):
            # the list itself: Inspect copies it into the log after this
            cast("list[Event]", transcript().events).clear()

    return clean


def _went_well(state: TaskState, *, graded: bool) -> bool:
    """Return whether there is an answer, and a judgment on every item of it."""
    response = response_given(state)
    if response is None or response.state is not ResponseState.answered:
        return False
    scores = list((state.scores or {}).values())
    judgments = [
        judgment
        for score in scores
        for rubric in (score.metadata or {})["rubrics"].values()
        for judgment in rubric["judgments"]
    ]
    return bool(scores) == graded and all(each["present"] is not None for each in judgments)
