"""The items that a grader is shown, and its judgments."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest
from hypothesis import given

from careeval.core.response import GraderItem, Judgment
from careeval.core.scenario import RubricItem
from support.strategies import grader_items, judgments


def test_worked_example() -> None:
    """An item is shown as its number and its text."""
    assert str(GraderItem(3, "Asks her where it hurts.")) == "3. Asks her where it hurts."


def test_nothing_rides_along() -> None:
    """An item has a number and a text, and no place for points, a sign, an id or a domain."""
    assert [field.name for field in fields(GraderItem)] == ["number", "text"]
    assert not hasattr(GraderItem(1, "Asks."), "__dict__")
    assert not issubclass(GraderItem, RubricItem)
    assert not issubclass(RubricItem, GraderItem)


@given(grader_items())
def test_shown_line(item: GraderItem) -> None:
    """The line of an item can be read back into its number and its text."""
    number, text = str(item).split(". ", 1)

    assert (int(number), text) == (item.number, item.text)


def test_unresolved_says_why() -> None:
    """A judgment that is neither present nor absent is refused unless it has a reason."""
    assert Judgment("stops", None, "no answer after two repairs").present is None

    with pytest.raises(ValueError, match="unresolved judgment needs a reason: 'stops'"):
        Judgment("stops", None, "")


@pytest.mark.parametrize("present", [True, False])
def test_resolved_needs_no_reason(present: bool) -> None:
    """A judgment of present or absent needs no reason and no quote."""
    judgment = Judgment("stops", present, "")

    assert (judgment.present, judgment.quote) == (present, None)


@given(judgments())
def test_frozen(judgment: Judgment) -> None:
    """No field of a judgment can be set."""
    for field in fields(judgment):
        with pytest.raises(FrozenInstanceError):
            setattr(judgment, field.name, None)
