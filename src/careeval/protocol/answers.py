"""Answers in a file: JSON lines that were given elsewhere, by a robot's planner, a person or an earlier run.

One line an answer: `{"scenario": "dressing-001", "epoch": 1, "response": "…", "system": "robot-a"}`.
`epoch` and `system` may be left out: answers to one scenario are then numbered in the order of the
file, and belong to a system named after it. What careeval writes for its own regrading has two more
fields, `state` and `note`, so that a refusal stays one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from careeval.core.response import Response, ResponseState
from careeval.errors import ProtocolError

MAX_LINE = 2_000_000
"""Characters of one line; an answer of this length is a mistake."""


class AnswerLine(BaseModel):
    """One line of the file."""

    model_config = ConfigDict(extra="forbid")

    scenario: str
    response: str
    epoch: Annotated[int, Field(ge=1, strict=True)] | None = None
    system: Annotated[str, Field(min_length=1)] | None = None
    state: ResponseState | None = None
    cut: bool = False
    note: str = ""

    def as_response(self, epoch: int) -> Response:
        """The line as a response; without a stated `state`, text is answered and no text is empty."""
        state = self.state or (ResponseState.answered if self.response.strip() else ResponseState.empty)
        return Response(self.scenario, epoch, self.response, state, self.cut, self.note)


def read_answers(path: Path) -> dict[str, list[Response]]:
    """The answers of a file, by system.

    Raises:
        ProtocolError: The file cannot be read or holds no answer, or a line is not one; up to ten
            such lines are listed, each with its number.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise ProtocolError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ProtocolError(f"{path}: is not UTF-8 text", hint="save it as UTF-8") from error
    problems: list[str] = []
    found: dict[str, dict[tuple[str, int], Response]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            answer = _line(line)
            answers = found.setdefault(answer.system or path.stem, {})
            epoch = answer.epoch or 1 + sum(scenario == answer.scenario for scenario, _ in answers)
            if (answer.scenario, epoch) in answers:
                raise ValueError(f"a second answer to {answer.scenario!r}, epoch {epoch}")
            answers[answer.scenario, epoch] = answer.as_response(epoch)
        except ValueError as error:
            problems.append(f"{path}:{number}: {_words(error)}")
    if problems:
        listed = "\n".join(problems[:10]) + (f"\n… and {len(problems) - 10} more" if len(problems) > 10 else "")
        raise ProtocolError(listed, hint='a line is {"scenario": "dressing-001", "epoch": 1, "response": "…"}')
    if not found:
        raise ProtocolError(f"{path}: holds no answers", hint="one JSON object a line")
    return {system: list(answers.values()) for system, answers in found.items()}


def write_answers(path: Path, system: str, responses: Iterable[Response]) -> None:
    """Write one system's responses so that `read_answers` gives them back whole."""
    with path.open("w", encoding="utf-8") as file:
        for r in responses:
            line = AnswerLine(
                scenario=r.scenario, epoch=r.epoch, response=r.text, system=system, state=r.state, cut=r.cut, note=r.note
            )
            file.write(line.model_dump_json() + "\n")


def n_epochs(responses: Sequence[Response]) -> int:
    """The highest epoch among the responses."""
    return max(response.epoch for response in responses)


def _line(line: str) -> AnswerLine:
    if len(line) > MAX_LINE:
        raise ValueError(f"has {len(line):,} characters; expected at most {MAX_LINE:,}")
    return AnswerLine.model_validate(json.loads(line))


def _words(error: ValueError) -> str:
    if isinstance(error, ValidationError):
        return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'line'}: {e['msg']}" for e in error.errors()[:3])
    if isinstance(error, json.JSONDecodeError):
        return f"is not JSON: {error.msg} at column {error.colno}"
    return str(error)
