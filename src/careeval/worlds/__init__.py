"""The mode `plan`: a system gives a typed plan for a robot's body, and a simulation judges it."""

from __future__ import annotations

from pathlib import Path

from careeval.core.scenario import Rubric
from careeval.modes.mode import Mode
from careeval.worlds.judge import JUDGE, interpret, judge
from careeval.worlds.reading import read_worlds

PROMPTS = Path(__file__).parent / "prompts"

PLAN = Mode(
    name="plan",
    read=read_worlds,
    rubrics=(Rubric.plan,),
    prompts=PROMPTS,
    models_grade=False,
    programs={JUDGE: judge},
    grader=JUDGE,
    interpret=interpret,
)
"""The mode of a bank of worlds."""
