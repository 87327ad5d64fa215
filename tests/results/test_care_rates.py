"""Directions of error by hand: a response counts once, and an unresolved judgment not at all."""

from __future__ import annotations

from typing import Any

import pytest

from careeval.results.entries import entries
from careeval.results.tables import Runs

ITEMS: dict[str, dict[str, Any]] = {
    "asks": {"points": 1, "kind": "judgment", "core": True},
    "supports": {"points": 2, "kind": "technique", "core": False},
    "waits": {"points": 1, "kind": "technique", "core": False},
    "hurries": {"points": -1, "kind": "technique", "error": "too-little"},
    "pulls": {"points": -2, "kind": "technique", "error": "too-little"},
    "lectures": {"points": -1, "kind": "judgment", "error": "too-much"},
}


def runs(*found: set[str], unresolved: tuple[str, ...] = (), told: bool = True) -> Runs:
    """A run of one scenario, an answer with these acts in each epoch; the last unresolved so."""
    one = {"system": "s", "scenario": "a-1"}
    responses = [
        {**one, "epoch": epoch, "state": "answered", "text": "I wait.", "adl": "eating",
         "split": "public", "bank": "b", "bank_version": "3-A", "bank_hash": "h",
         "bank_provenance": "made up", "protocol": "2-A", "lacks": []}
        for epoch, _ in enumerate(found, 1)
    ]  # fmt: skip
    judgments = [
        {**one, "epoch": epoch, "grader": "g", "rubric": "actions", "grading": 1,
         "protocol": "2-A", "position": position, "item": item,
         "present": None if epoch == len(found) and item in unresolved else item in acts,
         **({"core": False, **facts} if told else {"points": facts["points"]})}
        for epoch, acts in enumerate(found, 1)
        for position, (item, facts) in enumerate(ITEMS.items())
    ]  # fmt: skip
    return Runs.of(responses, judgments)


def test_by_hand() -> None:
    """Of four responses two err by too little, one of them twice; one by too much; one is vague."""
    (entry,) = entries(
        runs(
            {"asks", "supports"}, {"supports", "hurries", "pulls"}, {"pulls", "waits"}, {"lectures"}
        )
    )
    numbers = entry.directions
    assert (numbers["too_little"].n, numbers["too_little"].share.value) == (4, 1 / 2)
    assert (numbers["too_much"].n, numbers["too_much"].share.value) == (4, 1 / 4)
    assert (numbers["unspecific"].n, numbers["unspecific"].share.value) == (4, 1 / 4)
    # the core: 1 of 4 points. The other: 2 + 2 + 1 of 3 points, four times
    assert numbers["core"].share.value == pytest.approx(1 / 4)
    assert numbers["other"].share.value == pytest.approx(5 / 12)
    assert numbers["core"].share.ci95 is None
    assert "fewer than 5 scenarios" in numbers["core"].share.reason


def test_what_nobody_could_judge() -> None:
    """An unresolved judgment moves a bound where it decides, and nothing where it does not."""
    (entry,) = entries(runs({"pulls"}, {"pulls"}, unresolved=("hurries", "lectures")))
    numbers = entry.directions
    little, much = numbers["too_little"].share, numbers["too_much"].share
    assert (little.low, little.value, little.high) == (1, 1, 1)
    assert (much.low, much.value, much.high) == (0, 0, 1 / 2)
    assert numbers["too_much"].n == 2


def test_bounds_without_bias() -> None:
    """Of four responses one certainly errs, one cannot be told: as likely as the other three."""
    found: list[set[str]] = [{"pulls"}, set(), set(), set()]
    (entry,) = entries(runs(*found, unresolved=("pulls",)))
    numbers = entry.directions
    share = numbers["too_little"].share
    assert (share.low, share.high) == (1 / 4, 2 / 4)
    assert share.value == pytest.approx((1 + 1 / 3) / 4)


def test_a_bank_that_does_not_say() -> None:
    """If no item says which way it errs, there are no such numbers."""
    (entry,) = entries(runs({"pulls"}, told=False))
    assert entry.directions == {}
