"""Contradictions counted by hand, then what is no part of any, then for any judgments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from careeval.results.graders import (
    Contradiction,
    ContradictionCount,
    LadderCheck,
    ladder_check,
)
from careeval.results.tables import JUDGMENTS, table

RUNGS: Mapping[str, tuple[int, Sequence[str]]] = {
    "+2": (2, ["asks", "waits"]),
    "+1": (1, ["asks"]),
    "0": (0, []),
    "-2": (-2, ["pulls"]),
}
ACTS: Mapping[str, tuple[int, Sequence[str]]] = {
    "asks": (2, []),
    "waits": (2, ["pulls"]),
    "pulls": (-2, ["waits"]),
}
PRESENT = {"1": True, "0": False, "?": None}


def response(
    rungs: str, acts: str, *, epoch: int = 1, system: str = "robot", **changed: Sequence[str]
) -> list[dict[str, Any]]:
    """Judgments of one response: a character for each of `RUNGS` and of `ACTS`.

    `changed` are other acts that a rung is made of, `next` for +1.
    """
    of = {"+1": changed["next"]} if "next" in changed else {}
    rows = [("ladder", name, p, of.get(name, made), ()) for name, (p, made) in RUNGS.items()]
    rows += [("actions", name, p, (), other) for name, (p, other) in ACTS.items()]
    return [
        {
            "system": system,
            "scenario": "dressing-001",
            "epoch": epoch,
            "rubric": rubric,
            "item": item,
            "points": points,
            "of": list(made),
            "excludes": list(excludes),
            "present": PRESENT[mark],
        }
        for (rubric, item, points, made, excludes), mark in zip(rows, rungs + acts, strict=False)
    ]


def check(*responses: list[dict[str, Any]]) -> LadderCheck:
    """The check of these responses."""
    return ladder_check([table([row for rows in responses for row in rows], JUDGMENTS)])


def test_counts_by_hand() -> None:
    """One response without a contradiction and one with every kind are counted as by hand."""
    sound = response("1100", "110")
    # +2 and not +1, +2 and not "waits"; "asks" and not +1, "pulls" and not -2
    broken = response("1000", "101", epoch=2)
    assert check(sound, broken) == {
        Contradiction.top_without_next: ContradictionCount(1, 2),
        # +2 and +1, then +2
        Contradiction.rung_without_act: ContradictionCount(1, 3),
        # the acts of +2 and +1, then of +1 and -2
        Contradiction.acts_without_rung: ContradictionCount(2, 4),
        # "waits", then "pulls"
        Contradiction.excluded_pair: ContradictionCount(0, 2),
    }
    # one pair, though each of the two names the other
    assert check(response("0000", "011"))[Contradiction.excluded_pair] == ContradictionCount(1, 1)


def test_an_unresolved_item_is_no_part_of_any() -> None:
    """An unresolved judgment is neither a contradiction nor an opportunity."""
    assert check(response("1?00", "1?0")) == {
        Contradiction.top_without_next: ContradictionCount(0, 0),
        # +2 against "asks" alone
        Contradiction.rung_without_act: ContradictionCount(0, 1),
        Contradiction.acts_without_rung: ContradictionCount(0, 0),
        Contradiction.excluded_pair: ContradictionCount(0, 0),
    }


def test_a_rung_that_is_no_part_of_the_top_may_be_absent() -> None:
    """+2 without a +1 that asks for something else, or names no acts, is no contradiction."""
    for other in (["pulls"], []):
        found = check(response("1000", "110", next=other))
        assert found[Contradiction.top_without_next] == ContradictionCount(0, 0)


def test_a_ladder_alone() -> None:
    """Without judged actions nothing is known but the nesting, and the reason says so."""
    found = check(response("1000", ""))
    assert found[Contradiction.top_without_next] == ContradictionCount(1, 1)
    unknown = ContradictionCount(
        None, None, "it needs the actions, which this grader did not judge"
    )
    assert {found[kind] for kind in list(Contradiction)[1:]} == {unknown}
    assert unknown.share is None


def test_actions_alone() -> None:
    """Without a judged ladder nothing is known but the pairs that exclude each other."""
    found = check([row for row in response("0000", "111") if row["rubric"] == "actions"])
    unknown = ContradictionCount(None, None, "it needs the ladder, which this grader did not judge")
    assert found[Contradiction.excluded_pair] == ContradictionCount(1, 1)
    assert {found[kind] for kind in list(Contradiction)[:3]} == {unknown}


def test_only_responses_judged_on_both_are_opportunities() -> None:
    """A rung of a response whose actions were not judged is no opportunity."""
    one = check(response("1000", "100"))
    two = check(response("1000", "100"), response("1000", "", epoch=2))
    for kind in (Contradiction.rung_without_act, Contradiction.acts_without_rung):
        assert two[kind] == one[kind]
    assert two[Contradiction.top_without_next] == ContradictionCount(2, 2)


def test_systems_are_not_mixed() -> None:
    """One system's rung is held against its own acts, and not against another's."""
    found = check(response("1100", "110"), response("0000", "000", system="other"))
    assert {count.count for count in found.values()} == {0}


@given(st.lists(st.text("01?", min_size=7, max_size=7), max_size=4))
def test_of_any_judgments(marks: list[str]) -> None:
    """There are at most as many contradictions as opportunities, and never fewer than none."""
    found = check(*(response(m[:4], m[4:], epoch=k) for k, m in enumerate(marks, start=1)))
    assert set(found) == set(Contradiction)
    for count in found.values():
        assert (count.count is None) == (count.opportunities is None) == (not marks)
        assert (count.count or 0) <= (count.opportunities or 0)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=4))
def test_a_grader_that_reads_the_acts_never_contradicts_itself(
    answers: list[tuple[bool, bool]],
) -> None:
    """Rungs that are present just when all of their acts are make no contradiction."""
    rows = []
    for epoch, (asks, waits) in enumerate(answers, start=1):
        acts = [asks, waits, not waits]
        rungs = [asks and waits, asks, False, not waits]
        marks = ["".join("01"[there] for there in rubric) for rubric in (rungs, acts)]
        rows.append(response(*marks, epoch=epoch))
    assert {count.count for count in check(*rows).values()} == {0}
