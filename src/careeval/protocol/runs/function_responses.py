"""Asking a Python function for the responses of a run, each kept on disk as it comes.

The function stands for a system. Its responses go to the run's file of recorded responses, and are
then graded from there. A call that raises an exception costs its response alone.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from careeval.core.response import Response, ResponseState
from careeval.core.scenario import Scenario
from careeval.modes.grading import readable
from careeval.protocol.json_lines import JsonLines, json_rows
from careeval.protocol.logs.json_limits import MAX_CALLS
from careeval.protocol.runs.recorded_responses import MAX_LINE, ResponseLine, response_line

Function = Callable[[Scenario], str | Awaitable[str]]
"""A system: a function from a scenario to the text of a response, or a coroutine function."""

Question = tuple[Scenario, int]
"""A scenario and the epoch of the response."""

AT_ONCE = 10
"""Calls of a function in flight, if not given."""

TIMES_FAILED = 5
"""Failed calls after which no more are made, if no call has succeeded before."""


@dataclass(frozen=True)
class FailedCall:
    """A call of the function that raised an exception, or returned no text."""

    scenario: str
    epoch: int
    error: BaseException

    def __str__(self) -> str:
        reason = f"{type(self.error).__name__}: {self.error}".removesuffix(": ")
        return f"{self.scenario}, epoch {self.epoch}: {reason}"


def kept_responses(file: Path) -> list[Response]:
    """Return the responses in a file that a run was killed over; a damaged line is skipped.

    Without the file there are none.
    """
    if not file.exists():
        return []
    responses = []
    for _, row in json_rows(file, MAX_CALLS):
        with suppress(ValidationError):
            line = ResponseLine.model_validate(row)
            responses.append(line.as_response(line.epoch or 1))
    return responses


def ask_function(
    function: Function, questions: Sequence[Question], file: Path, system: str, at_once: int
) -> list[FailedCall]:
    """Ask a function all questions, and add each response to the file as it comes.

    A coroutine function runs in an event loop of its own, a plain function in threads. Ctrl-C makes
    no more calls, waits for those in flight, and is then raised.

    Args:
        function: The function.
        questions: The scenarios and epochs that the file has no response to.
        file: The file of recorded responses.
        system: Name of the system.
        at_once: The most calls in flight.

    Returns:
        The calls that failed. If the first `TIMES_FAILED` fail, they are the only ones made.

    Raises:
        OSError: The file cannot be written.
    """
    asking = _Asking(function, questions, JsonLines(file), system)
    with ThreadPoolExecutor(1) as thread:
        # not in this thread, which may have a running event loop: that of a notebook
        asked = thread.submit(copy_context().run, asyncio.run, asking.ask_all(at_once))
        try:
            asked.result()
        except KeyboardInterrupt:
            asking.ending = True
            asked.result()
            raise
    return asking.failed


class _Asking:
    """The calls of a function."""

    def __init__(
        self, function: Function, questions: Sequence[Question], kept: JsonLines, system: str
    ) -> None:
        self._function, self._questions = function, iter(questions)
        self._kept, self._system = kept, system
        self._has_succeeded = False
        self.ending = False
        self.failed: list[FailedCall] = []

    async def ask_all(self, at_once: int) -> None:
        try:
            with ThreadPoolExecutor(at_once) as threads:
                await asyncio.gather(*(self._ask_next(threads) for _ in range(at_once)))
        finally:
            self._kept.close()

    def _due(self) -> Iterator[Question]:
        for question in self._questions:
            yield question
            if self.ending or (len(self.failed) >= TIMES_FAILED and not self._has_succeeded):
                return

    async def _ask_next(self, threads: ThreadPoolExecutor) -> None:
        for scenario, epoch in self._due():
            try:
                response = _response(scenario, epoch, await self._text(scenario, threads))
                line = response_line(self._system, response)
                if len(line.model_dump_json()) > MAX_LINE:
                    raise ValueError(f"the response has more than {MAX_LINE:,} characters")
            # a cancellation is the function's own: nothing here cancels a call
            except (Exception, asyncio.CancelledError) as error:
                self.failed.append(FailedCall(scenario.id, epoch, error))
            else:
                self._kept.append(line.model_dump(mode="json"))
                self._has_succeeded = True

    async def _text(self, scenario: Scenario, threads: ThreadPoolExecutor) -> str:
        if inspect.iscoroutinefunction(self._function):
            text = await self._function(scenario)
        else:
            loop, context = asyncio.get_running_loop(), copy_context()
            result = await loop.run_in_executor(threads, context.run, self._function, scenario)
            text = await result if inspect.isawaitable(result) else result
        if not isinstance(text, str):
            raise TypeError(f"the function returned {type(text).__name__}, not text")
        return text


def _response(scenario: Scenario, epoch: int, text: str) -> Response:
    text = readable(text)
    state = ResponseState.answered if text.strip() else ResponseState.empty
    return Response(scenario.id, epoch, text if text.strip() else "", state)
