"""Reading the file of `careeval plan check`: one plan, or recorded responses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from careeval.core.response import Response
from careeval.errors import UsageError
from careeval.files import read_given_text
from careeval.protocol.recorded_responses import n_epochs, read_responses

MAX_BYTES = 2_000_000
"""The most bytes of a file with one plan."""

LINES = (".jsonl", ".ndjson")
"""Suffixes of a file of recorded responses."""


@dataclass(frozen=True, slots=True)
class PlanResponse:
    """A response that should be a plan; without epoch and system if it is a file's only plan."""

    place: str  # The file, and in a file of recorded responses the response's place there
    world: str  # Id of its world
    text: str
    epoch: int | None = None
    system: str | None = None


def read_plan_file(path: Path, world: str | None) -> list[PlanResponse]:
    """Return the plans of a file: one, or those of recorded responses, all or those to a world.

    Raises:
        ProtocolError: A line of the recorded responses has a mistake.
        UsageError: The world is not named, or no response is to it; or the file cannot be read.
    """
    if path.suffix.lower() in LINES:
        return _recorded(path, world)
    text = read_plan_text(path)
    if _is_recorded(text):
        return _recorded(path, world)
    if world is None:
        raise UsageError(
            f"{path}: the file has one plan, and does not say for which world",
            hint="add --world ID, as in 'careeval plan worlds'",
        )
    return [PlanResponse(str(path), world, text)]


def read_plan_text(path: Path) -> str:
    """Return the text of a file with one plan.

    Raises:
        UsageError: The file cannot be read.
    """
    return read_given_text(path, UsageError, encoding="utf-8-sig", max_bytes=MAX_BYTES)


def _is_recorded(text: str) -> bool:
    """Tell whether the first line of a file is a recorded response."""
    first = text.lstrip().partition("\n")[0]
    try:
        line = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(line, dict) and {"scenario", "response"} <= set(line)


def _recorded(path: Path, world: str | None) -> list[PlanResponse]:
    responses = list(_of_world(path, read_responses(path), world))
    if not responses:
        raise UsageError(
            f"{path}: no response is to the world {world!r}",
            hint="leave --world out, or name a world of the file",
        )
    return responses


def _of_world(
    path: Path, by_system: Mapping[str, Sequence[Response]], world: str | None
) -> Iterator[PlanResponse]:
    for system, responses in by_system.items():
        for each in responses:
            if world in (None, each.scenario):
                named = f", {system}" if len(by_system) > 1 else ""
                epoch = f", epoch {each.epoch}" if n_epochs(responses) > 1 else ""
                place = f"{path}, {each.scenario}{epoch}{named}"
                yield PlanResponse(place, each.scenario, each.text, each.epoch, system)
