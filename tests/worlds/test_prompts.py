"""Tests of the prompts of the mode `plan`, which are made from the acts.

`python tests/worlds/test_prompts.py` writes them again.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from careeval.worlds.acts import HelperTask, act_classes
from careeval.worlds.episode import MAX_ACTS, MAX_FAILED, Observation
from careeval.worlds.mode import PROMPTS
from careeval.worlds.plan_json import plan_schema

NEUTRAL_PROMPTS = PROMPTS.with_name("prompts-neutral")
"""Prompts that describe `ask` without the word leave, for an ablation: naming it hints at it."""

FILES = ("ask-role.md", "ask-format.md")

STEP_PROMPTS = PROMPTS / "step"
"""Prompts that ask for one act at a time."""

NEUTRAL_ASK = "- `ask` (words): Says something with a question in it."
"""The line of the ablation: it names neither leave nor an answer."""


def with_generated_parts(text: str, folder: Path) -> str:
    """Return a prompt with its list of acts made anew, and its last line, the schema of a plan."""
    lines = text.splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("- `"))
    end = lines.index("", begin)
    neutral = folder is NEUTRAL_PROMPTS
    lines[begin:end] = [
        NEUTRAL_ASK if neutral and each.startswith("- `ask`") else each for each in _act_lines()
    ]
    if folder is not STEP_PROMPTS:  # each call repeats it, and the list of acts says enough
        lines[-1] = json.dumps(plan_schema(), separators=(",", ":"))
    return "\n".join(lines) + "\n"


def _act_lines() -> Iterator[str]:
    for name, kind in act_classes().items():
        fields = [
            field if info.is_required() else f"[{field}]"
            for field, info in kind.model_fields.items()
            if field != "act"
        ]
        arguments = f" ({', '.join(fields)})" if fields else ""
        yield f"- `{name}`{arguments}: {' '.join((inspect.getdoc(kind) or '').split())}"


@pytest.mark.parametrize(
    "folder", [PROMPTS, NEUTRAL_PROMPTS, STEP_PROMPTS], ids=["prompts", "neutral", "step"]
)
def test_the_prompt_has_every_act_and_the_schema(folder: Path) -> None:
    """What a system is told of the acts is what the judge reads."""
    text = (folder / "ask-format.md").read_text(encoding="utf-8")
    assert text == with_generated_parts(text, folder)
    assert len(act_classes()) == 31


def test_the_step_prompt_tells_every_field_of_an_observation() -> None:
    """What a system is told it will perceive is what an episode gives."""
    text = (STEP_PROMPTS / "ask-format.md").read_text(encoding="utf-8")
    assert [name for name in Observation.__annotations__ if f"`{name}`" not in text] == []
    assert f"one of {', '.join(get_args(HelperTask))}." in text
    assert MAX_FAILED == 3
    assert "Three acts in a row" in text
    assert MAX_ACTS == 60


def test_the_neutral_prompt_differs_in_one_line() -> None:
    """The ablation changes what `ask` is called, and nothing else."""
    assert (PROMPTS / FILES[0]).read_text() == (NEUTRAL_PROMPTS / FILES[0]).read_text()
    plain, neutral = (
        (folder / FILES[1]).read_text().splitlines() for folder in (PROMPTS, NEUTRAL_PROMPTS)
    )
    changed = [(a, b) for a, b in zip(plain, neutral, strict=True) if a != b]
    assert [b for _, b in changed] == [NEUTRAL_ASK]


if __name__ == "__main__":
    for each in (PROMPTS, NEUTRAL_PROMPTS):
        plain = PROMPTS.joinpath(FILES[1]).read_text()
        text = with_generated_parts(plain, each)
        each.joinpath(FILES[1]).write_text(text)
        each.joinpath(FILES[0]).write_text(PROMPTS.joinpath(FILES[0]).read_text())
    step = STEP_PROMPTS / FILES[1]
    step.write_text(with_generated_parts(step.read_text(), STEP_PROMPTS))
