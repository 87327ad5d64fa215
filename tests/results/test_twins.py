"""Twins and controls by hand; then what is unresolved; then that no headline number counts them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.results.entries import entries
from careeval.results.tables import Runs
from careeval.results.twins import TwinNumbers
from results.authored import all_numbers

BASE, TWIN, CONTROL = "eating-101", "eating-101-twin", "eating-101-paraphrase"

POINTS = {
    BASE: {"leaves": 2, "blows": -1, "pushes": -2},
    TWIN: {"leaves": -2, "blows": 2, "pushes": -2},
    CONTROL: {"leaves": 2, "blows": -1, "pushes": -2},
}
LEAVES, BLOWS, BOTH = {"leaves"}, {"blows"}, {"leaves", "blows"}

Found = Mapping[str, list[set[str] | None]]
"""Scenario → of each epoch, the acts that are present; None where all are unresolved."""


def runs(found: Found, suffix: str = "") -> Runs:
    """A run of these answers."""
    return Runs.of(_responses(found, suffix), _judgments(found, suffix))


def _responses(found: Found, suffix: str) -> Iterable[dict[str, Any]]:
    for scenario, answers in found.items():
        for epoch, _ in enumerate(answers, 1):
            yield {
                "system": "s", "scenario": scenario + suffix, "epoch": epoch, "state": "answered",
                "text": "I wait.", "adl": "eating", "split": "public", "bank": "b",
                "bank_version": "3-A", "bank_hash": "h", "protocol": "2-A",
                "bank_provenance": "made up", "lacks": [],
                "twin_of": None if scenario == BASE else BASE + suffix,
                "control": "paraphrase" if scenario == CONTROL else None,
            }  # fmt: skip


def _judgments(found: Found, suffix: str) -> Iterable[dict[str, Any]]:
    for scenario, answers in found.items():
        for epoch, acts in enumerate(answers, 1):
            for position, (item, points) in enumerate(POINTS[scenario].items()):
                yield {
                    "system": "s", "scenario": scenario + suffix, "epoch": epoch, "grader": "g",
                    "rubric": "actions", "grading": 1, "protocol": "2-A", "position": position,
                    "item": item, "points": points,
                    "present": None if acts is None else item in acts,
                }  # fmt: skip


def numbers_of(found: Runs) -> TwinNumbers:
    """Return the twin numbers of the one entry."""
    (entry,) = entries(found)
    numbers = entry.twins
    assert numbers is not None
    return numbers


def test_pairs_by_hand() -> None:
    """Of 2 × 3 pairs of epochs, those whose answers each have their own right act alone."""
    numbers = numbers_of(runs({BASE: [LEAVES, BOTH], TWIN: [BLOWS, LEAVES, LEAVES]}))
    (pair,) = numbers.pairs
    assert pair.right == ("leaves", "blows")
    assert pair.n == 6
    # base: leaves alone in 1 of 2. Twin: blows alone in 1 of 3, leaves alone in 2 of 3.
    assert pair.adapted.value == pytest.approx(1 / 2 * 1 / 3)
    assert pair.stuck.value == pytest.approx(1 / 2 * 2 / 3)
    assert pair.neither.value == pytest.approx(1 / 2)
    assert numbers.adapted.value == pair.adapted.value
    assert numbers.adapted.ci95 is None
    assert "fewer than 5" in numbers.adapted.reason
    assert numbers.changed.value is None


def test_stuck_on_the_other_act() -> None:
    """To do in both what is right in the twin alone is stuck too."""
    numbers = numbers_of(runs({BASE: [BLOWS], TWIN: [BLOWS]}))
    assert (numbers.adapted.value, numbers.stuck.value, numbers.neither.value) == (0, 1, 0)


def test_controls_by_hand() -> None:
    """Answers differ in an act of ±2 in 3 of 4 pairs of epochs; those to one text in the one."""
    found: Found = {BASE: [LEAVES, {"leaves", "pushes"}], CONTROL: [BLOWS, LEAVES]}
    numbers = numbers_of(runs(found))
    (control,) = numbers.controls
    assert (control.kind, control.changed, control.same_text) == ("paraphrase", 3 / 4, 1)
    assert numbers.pairs == ()
    assert numbers.adapted.reason == "no twins were asked and judged"


def test_unresolved_judgments_bound_the_shares() -> None:
    """An answer that nobody could judge is left out of the value, and may be anything in bounds."""
    numbers = numbers_of(runs({BASE: [LEAVES, None], TWIN: [BLOWS, BLOWS]}))
    (pair,) = numbers.pairs
    assert pair.n == 2
    assert (pair.adapted.low, pair.adapted.value, pair.adapted.high) == (1 / 2, 1, 1)
    assert (pair.stuck.low, pair.stuck.value, pair.stuck.high) == (0, 0, 1 / 2)


def test_pair_that_nobody_could_judge_counts_in_no_mean() -> None:
    """Where no answer to the base was judged, all three shares are unknown, and none is 0."""
    unknown = runs({BASE: [None], TWIN: [BLOWS]}, suffix="-1")
    known = runs({BASE: [LEAVES], TWIN: [{"pushes"}]}, suffix="-2")
    together = Runs.sorted(
        pl.concat([unknown.responses, known.responses]),
        pl.concat([unknown.judgments, known.judgments]),
    )
    numbers = numbers_of(together)
    means = (numbers.adapted, numbers.stuck, numbers.neither)
    assert [each.value for each in means] == [0, 0, 1]


def test_five_pairs_have_an_interval() -> None:
    """The mean over pairs, each of which counts once, within its interval."""
    parts = [
        runs({BASE: [LEAVES], TWIN: [BLOWS if n < 3 else LEAVES]}, suffix=f"-{n}") for n in range(5)
    ]
    together = Runs.sorted(
        pl.concat([part.responses for part in parts]), pl.concat([part.judgments for part in parts])
    )
    numbers = numbers_of(together)
    assert numbers.adapted.value == pytest.approx(3 / 5)
    assert numbers.adapted.ci95 is not None
    low, high = numbers.adapted.ci95
    assert 0 <= low < 3 / 5 < high <= 1


def test_no_headline_number_counts_a_twin() -> None:
    """A run with twins and one without have the same entry."""
    found: Found = {BASE: [LEAVES, BOTH], TWIN: [BLOWS, LEAVES], CONTROL: [LEAVES, LEAVES]}
    (alone,) = entries(runs({BASE: found[BASE]}))
    (with_twins,) = entries(runs(found))
    assert with_twins.twins is not None
    of_twins = {"twins": None, "directions": {}, "cost": alone.cost}
    without = all_numbers(with_twins) | of_twins
    assert without == all_numbers(alone)
    assert with_twins.n_scenarios == 1


def test_twins_that_nobody_graded_are_named() -> None:
    """A reader is told what is lacking, and the headline stands."""
    asked = runs({BASE: [LEAVES], TWIN: [BLOWS, BLOWS]})
    judged = asked.judgments.filter((pl.col("scenario") == BASE) | (pl.col("epoch") == 1))
    (summary,) = entries(replace(asked, judgments=judged))
    assert "1 of 2 responses to twins and controls are missing or not graded" in summary.warnings
    (bare,) = entries(replace(asked, judgments=judged.filter(pl.col("scenario") == BASE)))
    assert "2 of 2 responses to twins and controls are missing or not graded" in bare.warnings
    assert bare.twins is None
    assert bare.score == summary.score


@pytest.mark.parametrize("n_base", range(1, 8))
@pytest.mark.parametrize("n_twin", range(1, 8))
def test_shares_that_round(n_base: int, n_twin: int) -> None:
    """If no pair does neither, its share is 0, and never a hair below."""
    for k in range(n_twin + 1):
        twin = [BLOWS] * k + [LEAVES] * (n_twin - k)
        numbers = numbers_of(runs({BASE: [LEAVES] * n_base, TWIN: [*twin]}))
        assert numbers.neither.value == 0


def test_the_cost_is_of_all_that_was_asked() -> None:
    """Twins and controls were paid for too."""
    found: Found = {BASE: [LEAVES], TWIN: [BLOWS], CONTROL: [LEAVES]}
    run = runs(found)
    paid = replace(
        run,
        responses=run.responses.with_columns(cost_usd=pl.lit(0.5)),
        judgments=run.judgments.with_columns(cost_usd=pl.lit(0.1)),
    )
    (summary,) = entries(paid)
    assert summary.cost.asking.value == pytest.approx(3 * 0.5)
    assert summary.cost.grading.value == pytest.approx(9 * 0.1)


def test_every_rubric_of_a_system_has_the_same_cost_of_asking() -> None:
    """Twins have no ladder, but its entry counts what they cost to ask."""
    found: Found = {BASE: [LEAVES], TWIN: [BLOWS], CONTROL: [LEAVES]}
    run = runs(found)
    ladder = run.judgments.filter(pl.col("scenario") == BASE).with_columns(rubric=pl.lit("ladder"))
    lacks = pl.when(pl.col("scenario") == BASE).then([]).otherwise(["ladder"])
    paid = replace(
        run,
        responses=run.responses.with_columns(cost_usd=pl.lit(0.5), lacks=lacks),
        judgments=pl.concat([run.judgments, ladder]),
    )
    actions, on_ladder = entries(paid)
    assert actions.cost.asking == on_ladder.cost.asking
    assert on_ladder.cost.asking.n == 3


def test_a_twin_without_its_base_is_a_scenario() -> None:
    """A run of a twin alone has numbers for it."""
    alone = runs({TWIN: [BLOWS]})
    (entry,) = entries(alone)
    assert entry.graded.score().value == 1
    assert entry.twins is None


def test_a_run_without_twins_has_no_such_numbers() -> None:
    """Nothing is said of what was not asked."""
    (entry,) = entries(runs({BASE: [LEAVES]}))
    assert entry.twins is None


ANSWERS = st.lists(
    st.one_of(st.none(), st.sets(st.sampled_from(["leaves", "blows", "pushes"]))),
    min_size=1,
    max_size=4,
)


@given(ANSWERS, ANSWERS)
def test_shares_are_shares(base: list[set[str] | None], twin: list[set[str] | None]) -> None:
    """The three sum to 1, and each lies within its bounds, and they within 0 and 1."""
    (pair,) = numbers_of(runs({BASE: base, TWIN: twin})).pairs
    if not pair.n:
        return
    shares = (pair.adapted, pair.stuck, pair.neither)
    assert sum(share.value for share in shares) == pytest.approx(1)
    for share in shares:
        assert -1e-9 <= share.low <= share.value + 1e-9
        assert share.value <= share.high + 1e-9 <= 1 + 2e-9
