"""Options that several commands share, each declared once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

Json = Annotated[bool, Parameter(name="--json", negative=())]
"""Print JSON for machines, instead of tables."""

Yes = Annotated[bool, Parameter(negative=())]
"""What is so only where it is said."""


@Parameter(name="*")
@dataclass(frozen=True)
class Grading:
    """How a grader is asked."""

    rubric: Literal["both", "ladder", "actions"] = "both"
    """Which rubrics to grade."""
    per_item: Annotated[bool, Parameter(negative=())] = False
    """Send one grader call an item, instead of one a rubric."""
    grader_context: Literal["none", "scenario"] = "none"
    """Show the grader the scenario too; the paper does not."""
    prompts: Path | None = None
    """Folder with someone else's prompt files."""
    grade_seed: int = 0
    """Seed of the order in which items are shown."""

    def task(self) -> dict[str, Any]:
        """As arguments of the task."""
        return {
            "rubric": self.rubric,
            "per_item": self.per_item,
            "grader_context": self.grader_context,
            "prompts": str(self.prompts.resolve()) if self.prompts else None,
            "grade_seed": self.grade_seed,
        }


@Parameter(name="*")
@dataclass(frozen=True)
class Scenarios:
    """Which scenarios are put."""

    bank: Path | None = None
    """Folder of the bank; careeval's own where not given."""
    adl: Annotated[list[str], Parameter(negative=())] | None = None
    """Only these activities: dressing grooming toileting transferring eating bathing."""
    scenario: Annotated[list[str], Parameter(negative=())] | None = None
    """Only these scenarios."""
    split: Literal["public", "held-out"] = "public"
    """Public or held-out scenarios."""
    limit: int | None = None
    """At most so many scenarios, taken from the activities in turn."""

    def task(self) -> dict[str, Any]:
        """As arguments of the task."""
        return {
            "bank": str(self.bank.resolve()) if self.bank else None,
            "adl": self.adl,
            "scenario": self.scenario,
            "split": self.split,
            "limit": self.limit,
        }
