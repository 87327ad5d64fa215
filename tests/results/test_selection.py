"""Choosing systems and graders by name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from careeval.errors import UsageError
from careeval.results.tables import Runs, select
from results.authored import judgments, responses

MARKS = {"eating-1": ["11000", "01000"]}
WHOLE = "openai/gpt-4o-2024-08-06 (batched, prompt 0a1b)"
ITEM = "openai/gpt-4o-2024-08-06 (per-item, prompt 0a1b)"
OTHER = "x/judge (batched, prompt 0a1b)"


@pytest.fixture(scope="module")
def runs() -> Runs:
    """Two systems judged by three graders, and a third that nobody has judged."""
    systems = ("first", "second", "third")
    found = Runs.of(
        [row for name in systems for row in responses(MARKS, system=name)],
        [
            row
            for name, graders in (("first", (WHOLE, ITEM, OTHER)), ("second", (WHOLE,)))
            for grader in graders
            for row in judgments(MARKS, system=name, grader=grader)
        ],
    )
    return replace(found, notes=("first: a note", "third: nobody has graded it", "left out: x"))


@pytest.mark.parametrize(
    ("systems", "graders", "kept"),
    [
        (["first"], [], {("first", WHOLE), ("first", ITEM), ("first", OTHER)}),
        (["second", "first"], [OTHER], {("first", OTHER)}),
        ([], ["x/judge"], {("first", OTHER)}),
        ([], ["openai/gpt-4o-2024-08-06"], {("first", WHOLE), ("first", ITEM), ("second", WHOLE)}),
        ([], [ITEM, "x/judge"], {("first", ITEM), ("first", OTHER)}),
        (["third"], [], set()),
    ],
)
def test_only_what_is_named_is_kept(
    systems: list[str], graders: list[str], kept: set[tuple[str, str]], runs: Runs
) -> None:
    """A system is meant by its name, a grader by its whole name or that without mode and prompt."""
    found = select(runs, systems, graders)
    assert set(found.judgments.select("system", "grader").iter_rows()) == kept
    asked = {system for system, _ in kept} if graders else set(systems)
    assert set(found.responses["system"]) == asked
    assert found.responses.height == 2 * len(asked)
    named = {note.partition(":")[0] for note in found.notes}
    assert named <= {*asked, "left out"}
    assert "left out: x" in found.notes


def test_without_a_name_everything_is_kept(runs: Runs) -> None:
    """With nothing chosen the same tables come back."""
    assert select(runs) is runs


@pytest.mark.parametrize(
    ("systems", "graders", "said"),
    [
        (["frist"], [], "no system is named 'frist' did you mean 'first'? there are: first; "),
        ([], ["x/juge"], "no grader is named 'x/juge' did you mean 'x/judge'? there are: openai"),
        (["second"], ["x/judge"], f"no grader is named 'x/judge' there are: {WHOLE}"),
        (["third"], ["x/judge"], "no grader is named 'x/judge' careeval grade FOLDER"),
        ([], ["openai"], "no grader is named 'openai'"),
    ],
)
def test_an_unknown_name_lists_those_there_are(
    systems: list[str], graders: list[str], said: str, runs: Runs
) -> None:
    """A name that is not there is refused, with the nearest one and all that there are."""
    with pytest.raises(UsageError) as caught:
        select(runs, systems, graders)
    assert said in f"{caught.value} {caught.value.hint}"
