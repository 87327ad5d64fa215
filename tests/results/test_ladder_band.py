"""The ladder's lenient reading by hand: one missing act is forgiven, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from careeval.results.entries import entries
from careeval.results.tables import Runs

RUNGS = {"+2": (2, ["a", "b", "c"]), "+1": (1, ["a", "b"]), "0": (0, []), "-1": (-1, []),
         "-2": (-2, ["d"])}  # fmt: skip
ACTS = {"a": 2, "b": 1, "c": 1, "d": -2}


def runs(acts: list[set[str]], rungs: list[set[str]], *, group: str | None = "S") -> Runs:
    """One scenario, an answer with these acts and these rungs in each epoch."""
    one = {"system": "s", "scenario": "x-1"}
    responses = [
        {**one, "epoch": epoch, "state": "answered", "text": "I wait.", "adl": "eating",
         "split": "public", "bank": "b", "bank_version": "3-A", "bank_hash": "h",
         "bank_provenance": "made up", "protocol": "2-A", "lacks": [], "group": group}
        for epoch, _ in enumerate(rungs, 1)
    ]  # fmt: skip

    def judged(rubric: str, epoch: int, found: set[str]) -> list[dict[str, Any]]:
        items = ACTS if rubric == "actions" else RUNGS
        return [
            {**one, "epoch": epoch, "grader": "g", "rubric": rubric, "grading": 1,
             "protocol": "2-A", "position": position, "item": item, "present": item in found,
             "points": ACTS[item] if rubric == "actions" else RUNGS[item][0],
             "of": [] if rubric == "actions" else RUNGS[item][1]}
            for position, item in enumerate(items)
        ]  # fmt: skip

    judgments = [row for n, found in enumerate(rungs, 1) for row in judged("ladder", n, found)]
    judgments += [row for n, found in enumerate(acts, 1) for row in judged("actions", n, found)]
    return Runs.of(responses, judgments)


def test_by_hand() -> None:
    """Of 3 points: a and b alone earn +1 strictly, and +2 too leniently; a alone earns +1 then."""
    _, ladder = entries(runs([{"a", "b"}, {"a"}, {"d"}], [{"+1"}, set(), {"-2"}]))
    assert ladder.score.value == pytest.approx((1 + 0 - 2) / 3 / 3)
    assert ladder.lenient is not None
    assert ladder.lenient.value == pytest.approx((3 + 1 - 2) / 3 / 3)
    assert any("band" in reason for reason in ladder.not_ranked)


def test_no_band_without_the_actions() -> None:
    """If nobody judged the actions, nothing is lenient; and the actions have no such number."""
    (ladder,) = entries(runs([], [{"+1"}]))
    assert ladder.lenient is None
    actions, _ = entries(runs([{"a"}], [{"+1"}]))
    assert actions.lenient is None
    _, half = entries(runs([{"a"}], [{"+1"}, {"+1"}]))
    assert half.lenient is None  # of the second answer the actions are not judged


def test_an_older_ladder_is_ranked() -> None:
    """A bank that does not say how it was written keeps its ladder as a scale."""
    (_, ladder) = entries(runs([{"a"}], [{"+1"}], group=None))
    (_, summary) = entries(runs([{"a"}], [{"+1"}], group=None))
    assert ladder.rubric == summary.rubric
    assert not any("band" in reason for reason in summary.not_ranked)
