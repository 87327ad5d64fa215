"""Agreement by point class: what a pooled number hides, by hand, and unresolved judgments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from readings import weighted_kappa

from careeval.core.scenario import Rubric
from careeval.results.grader_accuracy import ClassAgreement, PointClass, class_agreement
from careeval.stats.agreement import gwet_ac1

NAN = np.nan
ACTIONS = Rubric.actions


def of_one(verdicts: list[tuple[float, ...]], **known: np.ndarray) -> ClassAgreement:
    """The agreement of judgments of one class, each in a scenario of its own."""
    key = (ACTIONS, -1)
    names = [f"eating-{k}" for k in range(len(verdicts))]
    return class_agreement([key] * len(verdicts), np.array(verdicts), names, **known)[key]


def test_a_high_pooled_kappa_hides_classes_that_do_not_agree() -> None:
    """Pooled, two graders reach .82; they agree on 34% of what is there at −1, on nothing at 0."""
    # both present, one alone, neither
    counts = {1: (400, 100, 500), 0: (0, 20, 980), -1: (9, 35, 956), -2: (20, 4, 976)}
    classes: list[PointClass] = []
    verdicts: list[tuple[float, float]] = []
    for points, (both, one, neither) in counts.items():
        rows = [(1.0, 1.0)] * both + [(1.0, 0.0), (0.0, 1.0)] * (one // 2) + [(0, 0)] * neither
        rows += [(1.0, 0.0)] * (one % 2)
        verdicts += rows
        classes += [(ACTIONS, points)] * len(rows)
    scenarios = [f"eating-{k % 20}" for k in range(len(verdicts))]
    first, second = zip(*((int(a), int(b)) for a, b in verdicts), strict=True)
    assert weighted_kappa(first, second, (0, 1)) == pytest.approx(0.82, abs=0.005)
    found = class_agreement(classes, np.array(verdicts), scenarios)
    assert list(found) == [(ACTIONS, points) for points in (1, 0, -1, -2)]
    mild, none = found[ACTIONS, -1], found[ACTIONS, 0]
    assert (mild.n, mild.n_both, mild.n_either) == (1000, 9, 44)
    assert mild.positive_agreement.value == pytest.approx(18 / 53)
    low, high = mild.positive_agreement.ci95 or (0, 0)
    assert low < 18 / 53 < high < 0.6
    assert none.positive_agreement.value == 0
    # 98% alike, and 2 × .01 × .99 by chance
    assert none.ac1.value == pytest.approx((0.98 - 0.0198) / (1 - 0.0198))
    assert found[ACTIONS, -2].positive_agreement.value == pytest.approx(40 / 44)


def test_nothing_present_to_either_is_unknown_not_zero() -> None:
    """If neither calls an item present, positive agreement has a reason, and AC1 is 1."""
    agreement = of_one([(0, 0)] * 6)
    assert (agreement.n, agreement.n_both, agreement.n_either) == (6, 0, 0)
    assert agreement.positive_agreement.value is None
    assert agreement.positive_agreement.reason == "neither of the two calls anything present"
    assert agreement.ac1.value == 1
    assert agreement.ac1.ci95 is not None
    assert agreement.ac1.ci95[1] == 1 > agreement.ac1.ci95[0]


def test_few_scenarios_have_no_interval() -> None:
    """Four scenarios give both numbers, and no interval of either."""
    agreement = of_one([(1, 1), (1, 0), (0, 0), (1, 1)])
    assert agreement.positive_agreement.value == pytest.approx(4 / 5)
    for estimate in (agreement.positive_agreement, agreement.ac1):
        assert estimate.reason == "fewer than five scenarios"


def test_unresolved_judgments_are_bounds_and_no_value() -> None:
    """One judgment that one grader did not make, and one that neither did, by hand.

    Of those made 4 are present to both and 2 to one. The least: both open ones are apart. The most:
    both alike, and present.
    """
    made: list[tuple[float, ...]] = [(1, 1)] * 4 + [(1, 0), (0, 1)] + [(0, 0)] * 4
    agreement = of_one([*made, (1, NAN), (NAN, NAN)])
    assert (agreement.n, agreement.n_unresolved, agreement.n_either) == (10, 2, 6)
    positive = agreement.positive_agreement
    assert (positive.low, positive.value, positive.high) == pytest.approx((8 / 12, 8 / 10, 12 / 14))
    assert positive.ci95 is not None
    alone = of_one(made).positive_agreement.ci95 or (0, 1)
    assert positive.ci95[0] < alone[0]
    assert agreement.ac1.low is not None
    assert agreement.ac1.value == of_one(made).ac1.value
    assert agreement.ac1.low < of_one(made).ac1.value  # type: ignore[operator]
    nothing = of_one([(1, NAN), (NAN, NAN)])
    assert (nothing.n, nothing.n_unresolved, nothing.ac1.value) == (0, 2, None)
    assert nothing.positive_agreement.reason == "no judgment was made by two"


def test_every_pair_of_several_raters_counts_and_a_judgment_once() -> None:
    """Of three raters two agree: a third of a pair is both present, and two thirds are apart."""
    agreement = of_one([(1, 1, 0), (1, 1, NAN)])
    assert (agreement.n, agreement.n_both, agreement.n_either) == (2, 1, 2)
    # both 1/3 + 1, one alone 2/3
    assert agreement.positive_agreement.value == pytest.approx((8 / 3) / (8 / 3 + 2 / 3))


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 1.0])] * 3), min_size=1, max_size=12))
def test_ac1_of_a_panel_is_gwets(rows: list[tuple[float, ...]]) -> None:
    """If everybody read everything, AC1 is that of `gwet_ac1`, however many they are."""
    assert of_one(rows).ac1.value == pytest.approx(gwet_ac1(np.array(rows), (0, 1)))


def test_weights_say_what_a_judgment_stands_for() -> None:
    """A judgment that stands for nine weighs nine, and counts as one read."""
    agreement = of_one([(1, 1), (1, 0), (0, 0)], weights=np.array([1.0, 9, 1]))
    assert (agreement.n, agreement.n_both, agreement.n_either) == (3, 1, 2)
    assert agreement.positive_agreement.value == pytest.approx(2 / 11)


def test_a_class_that_is_not_known_keeps_its_counts() -> None:
    """A reason for a class stands in both numbers, also where it has no judgment."""
    key, other = (ACTIONS, -1), (Rubric.ladder, 0)
    found = class_agreement(
        [key], np.ones((1, 2)), ["eating-1"], unknown={key: "not read", other: "none drawn"}
    )
    assert list(found) == [other, key]
    assert (found[key].n, found[key].ac1.reason) == (1, "not read")
    assert (found[other].n, found[other].positive_agreement.reason) == (0, "none drawn")
