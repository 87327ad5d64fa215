"""The mode `response`: a system says in words what it would do, and a grader judges that."""

from __future__ import annotations

from pathlib import Path

from careeval.core.response import LEXICAL
from careeval.core.scenario import Rubric
from careeval.modes.mode import Mode
from careeval.modes.response.lexical import lexical
from careeval.modes.response.scenarios import read_scenarios

PROMPTS = Path(__file__).parent / "prompts"

RESPONSE = Mode(
    name="response",
    read=read_scenarios,
    rubrics=(Rubric.actions, Rubric.ladder),
    prompts=PROMPTS,
    models_grade=True,
    programs={LEXICAL: lexical},
    # the paper's grader, dated: an alias moves
    grader="openai/gpt-4o-2024-08-06",
)
"""The mode of a bank whose `bank.yaml` names none."""
