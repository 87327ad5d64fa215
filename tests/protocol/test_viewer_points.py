"""Tests of the points that Inspect's viewer shows."""

from __future__ import annotations

import math

import pytest

from careeval.core.response import Judgment
from careeval.core.scenario import Rubric, RubricItem
from careeval.modes.grading import RubricJudgments
from careeval.protocol.grader import viewer_points

ITEMS = [
    RubricItem(id=f"a{n}", points=points, text="…", domains={})
    for n, points in enumerate((1, -2, -2))
]


@pytest.mark.parametrize(
    ("rubric", "present", "points"),
    [
        (Rubric.actions, (True, True, True), -3),
        (Rubric.plan, (True, True, True), -1),  # never below minus the maximum, which is 1
        (Rubric.plan, (True, False, False), 1),
        (Rubric.actions, (True, None, False), math.nan),
    ],
)
def test_points_in_the_viewer(
    rubric: Rubric, present: tuple[bool | None, ...], points: float
) -> None:
    """The sum of what is present; of a plan at least minus the maximum; unscored if uncertain."""
    judgments = tuple(
        Judgment(item.id, each, "why") for item, each in zip(ITEMS, present, strict=True)
    )
    shown = viewer_points(rubric, ITEMS, RubricJudgments(judgments, 1, 0))
    assert shown == points or (math.isnan(shown) and math.isnan(points))
