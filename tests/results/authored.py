"""Runs written by hand, as a few characters a response, for the tests of this folder.

`"11000"` is a response judged on five items: 1 present, 0 absent, ? unresolved. `"empty"` and
`"refused"` have every item absent, `"missing"` and `"ungraded"` have no judgment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import fields
from functools import cached_property
from random import Random
from typing import Any

import polars as pl
from hypothesis import strategies as st

from careeval.core.scenario import Domain
from careeval.results.entry import Entry
from careeval.results.graded_rubric import GradedRubric
from careeval.results.parts import Breakdown
from careeval.results.tables import Runs

LADDER = (2, 1, 0, -1, -2)
"""Points of the paper's rubric: at most 3 in all."""

Marks = Mapping[str, Sequence[str]]
"""Scenario → what its responses were, epoch by epoch."""

Levels = Mapping[Domain, Sequence[int | None]]
"""Domain → level of each item; a domain that is absent rates none."""

_PRESENT = {"1": True, "0": False, "?": None}

_UF, _UA, _CI, _FS = Domain

# Two scenarios, twice each. Points: dressing 2 + 1 = 3, then -1; eating 2 - 2 = 0, then 1.
RUNGS: Marks = {"dressing-1": ["11000", "00010"], "eating-1": ["10001", "01000"]}
RUNG_LEVELS: Levels = {_UF: [2, 2, 1, 1, 0], _UA: [2, 1, 1, 0, 0], _CI: [2, 1, 0, 0, 0]}

# Points: dressing 2, then 2 + 1 - 2 - 2 = -1; eating 2 + 2 = 4, then 2.
ACTS: Marks = {"dressing-1": ["1000", "1111"], "eating-1": ["110", "100"]}
ACT_POINTS = {"dressing-1": [2, 1, -2, -2], "eating-1": [2, 2, -2]}
ACT_LEVELS: dict[str, Levels] = {
    "dressing-1": {_UF: [2, 1, None, None], _UA: [None, 2, None, None], _FS: [None, None, 0, 1]},
    "eating-1": {_UF: [None, 1, None], _FS: [2, 1, 0]},
}


def by_hand() -> Runs:
    """Both rubrics of two scenarios asked twice."""
    rungs = judgments(RUNGS, levels=dict.fromkeys(RUNGS, RUNG_LEVELS))
    acts = judgments(ACTS, ACT_POINTS, ACT_LEVELS, rubric="actions")
    return Runs.of(responses(RUNGS), rungs + acts)


def ladder_run(marks: Marks, **columns: Any) -> Runs:
    """One system, judged on the paper's five points by one grader; `columns` of its responses."""
    return Runs.of(responses(marks, **columns), judgments(marks))


def runs_of(systems: Mapping[str, Marks], **columns: Any) -> Runs:
    """Several systems, judged on the paper's five points by one grader."""
    return Runs.of(
        [
            row
            for name, marks in systems.items()
            for row in responses(marks, system=name, **columns)
        ],
        [row for name, marks in systems.items() for row in judgments(marks, system=name)],
    )


def both_rubrics(
    systems: Mapping[str, tuple[Marks, Marks]], points: Sequence[int] = (2, 1, -1, -2)
) -> Runs:
    """Several systems with the marks of their rungs and of their acts, and words of many lengths.

    Args:
        systems: Name → marks on the ladder, marks on the actions, of the same scenarios.
        points: Of the acts.
    """
    said, judged = [], []
    for name, (rungs, acts) in systems.items():
        for place, row in enumerate(responses(rungs, system=name)):
            said.append({**row, "text": "word " * (10 + 7 * place % 23)})
        levels = dict.fromkeys(rungs, RUNG_LEVELS)
        judged += judgments(rungs, LADDER, levels, system=name)
        of_acts = {name: {_UF: [2, None, 1, None], _FS: [None, 1, None, 0]} for name in acts}
        judged += judgments(acts, points, of_acts, system=name, rubric="actions")
    return Runs.of(said, judged)


def settled_at_random(marks: Marks, random: Random) -> Marks:
    """The same with every unresolved item present or absent."""
    return {
        scenario: ["".join(random.choice("01") if c == "?" else c for c in mark) if "?" in mark
                   else mark for mark in of_epochs]
        for scenario, of_epochs in marks.items()
    }  # fmt: skip


def responses(marks: Marks, **columns: Any) -> list[dict[str, Any]]:
    """A row for each response; the scenario's name begins with its activity."""
    return [
        {
            "system": "robot-a",
            "scenario": scenario,
            "epoch": epoch,
            "state": mark if mark in {"empty", "refused", "missing"} else "answered",
            "cut": False,
            "adl": scenario.rsplit("-", 1)[0],
            "bank": "authored",
            "bank_version": "1-0",
            "bank_hash": "0000",
            "bank_provenance": "Written for a test.",
            "protocol": "2-0",
            **columns,
        }
        for scenario, epoch, mark in _each(marks)
    ]


def judgments(
    marks: Marks,
    points: Mapping[str, Sequence[int]] | Sequence[int] = LADDER,
    levels: Mapping[str, Levels] | None = None,
    **columns: Any,
) -> list[dict[str, Any]]:
    """A row for each item of each response.

    Args:
        marks: The responses.
        points: Of the items, the same for all scenarios or for each.
        levels: Of the items, by scenario.
        columns: Of all rows: `rubric`, `grader`, `grading`, `system`.
    """
    rows = []
    for scenario, epoch, mark in _each(marks):
        if mark in {"missing", "ungraded"}:
            continue
        rubric = points[scenario] if isinstance(points, Mapping) else points
        rated = (levels or {}).get(scenario, {})
        found = "0" * len(rubric) if mark in {"empty", "refused"} else mark
        rows += [
            {
                "system": "robot-a",
                "scenario": scenario,
                "epoch": epoch,
                "grader": "judge",
                "grading": 1,
                "rubric": "ladder",
                "protocol": "2-0",
                "bank_hash": "0000",
                "position": position,
                "item": f"item-{position}",
                "points": value,
                "present": _PRESENT[found[position]],
                **{domain.value: of_items[position] for domain, of_items in rated.items()},
                **columns,
            }
            for position, value in enumerate(rubric)
        ]
    return rows


JUDGED = st.text("01?", min_size=5, max_size=5)
"""Any response judged on five items."""

ANY = JUDGED | st.sampled_from(["empty", "refused", "missing"])
"""Any response."""


@st.composite
def marks_of_runs(draw: st.DrawFn, mark: st.SearchStrategy[str] = ANY) -> Marks:
    """Up to three scenarios, each of as many epochs."""
    n_epochs = draw(st.integers(1, 3))
    names = ["dressing-1", "dressing-2", "eating-1"][: draw(st.integers(1, 3))]
    return {n: draw(st.lists(mark, min_size=n_epochs, max_size=n_epochs)) for n in names}


@st.composite
def marks_of_many(draw: st.DrawFn, mark: st.SearchStrategy[str] = ANY) -> Marks:
    """Five to eight scenarios of two activities, each of two epochs of which the first is judged.

    Enough for an interval.
    """
    names = [f"{('dressing', 'eating')[k % 2]}-{k}" for k in range(draw(st.integers(5, 8)))]
    return {name: [draw(JUDGED), draw(mark)] for name in names}


def _each(marks: Marks) -> Iterator[tuple[str, int, str]]:
    for scenario, of_epochs in marks.items():
        for epoch, mark in enumerate(of_epochs, start=1):
            yield scenario, epoch, mark


def all_numbers(entry: Entry) -> dict[str, Any]:
    """Every fact and number of an entry by name, without its tables and arrays."""
    names = [
        name
        for name, value in vars(Entry).items()
        if isinstance(value, property | cached_property) and not name.startswith("_")
    ]
    facts = [each.name for each in fields(entry) if "beside" not in each.name]
    values = {name: getattr(entry, name) for name in (*facts, *names)}
    values["parts"] = {breakdown: entry.by(breakdown) for breakdown in Breakdown}
    return {
        name: value
        for name, value in values.items()
        if not isinstance(value, pl.DataFrame | pl.Series | GradedRubric)
    }


def changed(entry: Entry, **numbers: Any) -> Entry:
    """The entry, with some of its fields and numbers replaced by these."""
    other = copy(entry)
    vars(other).update(numbers)
    return other
