"""The transcript: Inspect's record of the events of each sample in a log.

Most of it repeats other parts of the sample, and writing it is a fifth of a run's work. A run of
careeval keeps the transcript only of samples in which something went wrong.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast

from inspect_ai.event import Event
from inspect_ai.log import transcript
from inspect_ai.solver import TaskState

from careeval.protocol.calls.run_calls import current_calls
from careeval.protocol.grade.solvers import find_response


def transcript_cleanup(*, graded: bool) -> Callable[[TaskState], Awaitable[None]]:
    """Return a function that removes a sample's transcript at its end if all went well.

    Outside a run of careeval, as in `inspect eval`, the transcript stays.

    Args:
        graded: Whether responses are graded.
    """

    async def clean(state: TaskState) -> None:
        if current_calls() and _went_well(state, graded=graded):
            # the list itself, which Inspect copies into the log afterwards
            cast("list[Event]", transcript().events).clear()

    return clean


def _went_well(state: TaskState, *, graded: bool) -> bool:
    """Tell whether the response is answered, and every item of it judged if it is graded."""
    response = find_response(state)
    if response is None or not response.state.has_words:
        return False
    scores = list((state.scores or {}).values())
    judgments = [
        judgment
        for score in scores
        for rubric in (score.metadata or {})["rubrics"].values()
        for judgment in rubric["judgments"]
    ]
    return bool(scores) == graded and all(each["present"] is not None for each in judgments)
