"""Ratings, views of points and comments of experts."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest

from careeval.core.rating import Comment, PointsView, Rater, Rating, Role, Scale, Subject
from careeval.core.scenario import Rubric

RATER = Rater("r01", Role.occupational_therapist)
WHOLE = Subject("dressing-001", 1, 1)
ITEM = Subject("dressing-001", 1, 1, Rubric.ladder, "-2")


def test_worked_example() -> None:
    """A scenario is rated on realism, an item on relevance, and both keep their subject."""
    assert Rating(RATER, WHOLE, Scale.realism, 4).value == 4
    assert Rating(RATER, ITEM, Scale.relevance, 5).subject.item == "-2"


@pytest.mark.parametrize("value", [0, 6, -1])
def test_a_rating_is_on_its_scale(value: int) -> None:
    """No rating lies outside 1 to 5."""
    with pytest.raises(ValueError, match="expected 1 to 5"):
        Rating(RATER, WHOLE, Scale.validity, value)


@pytest.mark.parametrize(("subject", "scale"), [(WHOLE, Scale.relevance), (ITEM, Scale.realism)])
def test_a_scale_has_its_subject(subject: Subject, scale: Scale) -> None:
    """Relevance is of an item, realism of a scenario, and never the other way round."""
    with pytest.raises(ValueError, match="is not asked of"):
        Rating(RATER, subject, scale, 3)


@pytest.mark.parametrize(("points", "objects"), [(-2, False), (-1, True), (None, False)])
def test_only_other_points_object(points: int | None, objects: bool) -> None:
    """The same points agree, other points object, and being unsure does neither."""
    assert PointsView(RATER, ITEM, -2, points).objects is objects


def test_what_cannot_be() -> None:
    """A scenario has no points, an item no missing rubric, and a comment some words."""
    with pytest.raises(ValueError, match="only an item has points"):
        PointsView(RATER, WHOLE, 1, 1)
    with pytest.raises(ValueError, match="an item needs a rubric and an id"):
        Subject("dressing-001", 1, 1, None, "stops")
    with pytest.raises(ValueError, match="a comment is empty"):
        Comment(RATER, WHOLE, " \n")


def test_a_rater_has_no_name() -> None:
    """A rater is an id and a role, and no field can be added or set."""
    assert [field.name for field in fields(Rater)] == ["id", "role"]
    with pytest.raises(FrozenInstanceError):
        RATER.id = "somebody"  # type: ignore[misc]
