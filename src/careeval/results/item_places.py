"""What the items of a held-out scenario are called: by their places, since their ids may tell."""

from __future__ import annotations

import re
from collections.abc import Mapping

from careeval.core.scenario import Rubric, Scenario

BY_POINTS = re.compile(r"[+-]?[0-9]")
"""The id of a rung that is called by its points, which are no secret."""

PREFIX: Mapping[Rubric, str] = {Rubric.ladder: "r", Rubric.actions: "a"}


def names_by_place(scenario: Scenario) -> dict[tuple[Rubric, str], str]:
    """(rubric, id of an item) → a1, a2 … of actions, r1, r2 … of rungs not called by points."""
    named = {}
    for rubric in Rubric:
        n = 0
        for item in scenario.rubric(rubric):
            by_points = rubric is Rubric.ladder and BY_POINTS.fullmatch(item.id)
            n += not by_points
            named[rubric, item.id] = item.id if by_points else f"{PREFIX[rubric]}{n}"
    return named
