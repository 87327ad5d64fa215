"""Reading and writing files of recorded responses: of a planner, a person or an earlier run.

The file has one JSON object a line:
`{"scenario": "dressing-101", "epoch": 1, "response": "…", "system": "robot-a"}`.

`epoch` and `system` may be left out. Responses to one scenario are then numbered in the order of
the file, and the system is named after the file. The files that careeval writes for grading again
also have the fields `state`, `cut` and `note`, so that a refusal stays a refusal.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from io import SEEK_END, TextIOWrapper
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from careeval.core.response import Response, ResponseState
from careeval.core.scenario import Scenario
from careeval.errors import ProtocolError
from careeval.files import atomic_write, open_file
from careeval.modes.grading import readable
from careeval.protocol.log_fields import Epoch, Name
from careeval.protocol.run_files import MAX_CALLS, JsonLines, json_rows

MAX_LINE = 2_000_000
"""The most characters of one line; a longer line is a mistake."""

MAX_BYTES = 500_000_000
"""The most bytes of a file; three times as many as the file of the longest run has."""

MAX_RECORDED = 1_000_000
"""The most responses in a file: 100 systems on 1,000 scenarios, ten times each."""

MAX_PROBLEM = 300
"""The most characters shown of a problem."""

MAX_LISTED = 10
"""The most problems of a file that are listed; further problems are only counted."""


class ResponseLine(BaseModel):
    """One line of a file of recorded responses."""

    model_config = ConfigDict(extra="forbid")

    scenario: Name
    response: str
    epoch: Annotated[Epoch, Field(strict=True)] | None = None
    system: Annotated[Name, Field(min_length=1)] | None = None
    state: ResponseState | None = None
    cut: bool = False
    note: str = ""

    def as_response(self, epoch: int) -> Response:
        """Return the line as a response with this epoch.

        If the line has no `state`, a blank text is `empty`, and any other text is `answered`.
        """
        by_text = ResponseState.answered if self.response.strip() else ResponseState.empty
        state = self.state or by_text
        return Response(self.scenario, epoch, self.response, state, self.cut, self.note)


def read_responses(path: Path) -> dict[str, list[Response]]:
    """Return the recorded responses of a file, by system.

    Raises:
        ProtocolError: The file cannot be read, has no responses, or has faulty lines. Up to
            `MAX_LISTED` of these are listed, each with its number.
    """
    problems: list[str] = []
    n_problems = n_responses = 0
    by_system: dict[str, dict[tuple[str, int], Response]] = {}
    n_epochs_of: Counter[tuple[str, str]] = Counter()
    for number, text in _lines(path):
        try:
            line = _parse_line(text)
            system = line.system or path.stem
            responses = by_system.setdefault(system, {})
            epoch = line.epoch or 1 + n_epochs_of[system, line.scenario]
            if (line.scenario, epoch) in responses:
                raise ValueError(f"duplicate response to {line.scenario!r}, epoch {epoch}")
            responses[line.scenario, epoch] = line.as_response(epoch)
            n_epochs_of[system, line.scenario] += 1
            n_responses += 1
        except ValueError as error:
            n_problems += 1
            if n_problems <= MAX_LISTED:
                problems.append(f"{path}:{number}: {_error_text(error)[:MAX_PROBLEM]}")
        if n_responses > MAX_RECORDED:
            raise ProtocolError(
                f"{path}: has more than {MAX_RECORDED:,} responses",
                hint="split it into several files",
            )
    if problems:
        more = [f"… and {n_problems - MAX_LISTED:,} more"] if n_problems > MAX_LISTED else []
        raise ProtocolError(
            "\n".join([*problems, *more]),
            hint='write one JSON object per line: {"scenario": "dressing-101", "epoch": 1, '
            '"response": "…"}',
        )
    if not by_system:
        raise ProtocolError(f"{path}: has no responses", hint="write one JSON object per line")
    return {system: list(responses.values()) for system, responses in by_system.items()}


def responses_of_system(path: Path, system: str) -> list[Response]:
    """Return the recorded responses of one system in a file.

    Raises:
        ProtocolError: The file cannot be read, or has no response of that system.
    """
    by_system = read_responses(path)
    if system not in by_system:
        raise ProtocolError(
            f"{path}: has no responses of system {system!r}",
            hint=f"name a system that the file has: {', '.join(map(repr, by_system))}",
        )
    return by_system[system]


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield each non-blank line with its number; of a line that is too long, only its start."""
    try:
        with open_file(path) as file:
            n_bytes = file.seek(0, SEEK_END)
            if n_bytes > MAX_BYTES:
                raise ProtocolError(
                    f"{path}: has {n_bytes:,} bytes, at most {MAX_BYTES:,}",
                    hint="split it into several files",
                )
            file.seek(0)
            number, is_new = 1, True
            # split at line ends alone: JSON text may have other line separators within
            text = TextIOWrapper(file, "utf-8-sig")
            while line := text.readline(MAX_LINE + 1):
                if is_new and (line.strip() or len(line) > MAX_LINE):
                    yield number, line
                is_new = line.endswith("\n")
                number += is_new
    except OSError as error:
        raise ProtocolError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ProtocolError(f"{path}: is not UTF-8 text", hint="save it as UTF-8") from error


def write_responses(path: Path, system: str, responses: Iterable[Response]) -> None:
    """Write one system's responses with all fields that `read_responses` reads.

    Raises:
        OSError: The file cannot be written; an existing file is unchanged.
    """
    with atomic_write(path, synced=True) as beside, beside.open("w", encoding="utf-8") as file:
        for response in responses:
            file.write(response_line(system, response).model_dump_json() + "\n")


def response_line(system: str, response: Response) -> ResponseLine:
    """Return the line of a file of recorded responses with one system's response."""
    return ResponseLine(
        scenario=response.scenario,
        epoch=response.epoch,
        response=response.text,
        system=system,
        state=response.state,
        cut=response.cut,
        note=response.note,
    )


def n_epochs(responses: Sequence[Response]) -> int:
    """Return the highest epoch of the responses."""
    return max(response.epoch for response in responses)


def _parse_line(text: str) -> ResponseLine:
    text = text.removesuffix("\n")
    if len(text) > MAX_LINE:
        raise ValueError(f"has more than {MAX_LINE:,} characters")
    try:
        line = ResponseLine.model_validate(json.loads(text))
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if any("\ud800" <= character <= "\udfff" for character in line.response):
        raise ValueError("response: has half of a surrogate pair, which is not a character")
    return line


def _error_text(error: ValueError) -> str:
    if isinstance(error, ValidationError):
        return "; ".join(
            f"{'.'.join(map(str, e['loc'])) or 'line'}: {e['msg']}" for e in error.errors()[:3]
        )
    if isinstance(error, json.JSONDecodeError):
        return f"is not JSON: {error.msg} at column {error.colno}"
    return str(error)


# Responses of a Python function

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

    There are none without the file.
    """
    responses = []
    for _, row in json_rows(file, MAX_CALLS) if file.exists() else ():
        with suppress(ValidationError):
            line = ResponseLine.model_validate(row)
            responses.append(line.as_response(line.epoch or 1))
    return responses


def ask_function(
    function: Function, questions: Sequence[Question], file: Path, system: str, at_once: int
) -> list[FailedCall]:
    """Ask a function all questions, and add each response to the file as it comes.

    A coroutine function runs in an event loop of its own, a plain function in threads, `at_once`
    calls at a time. Ctrl-C makes no more calls, waits for those in flight, and is then raised.

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
