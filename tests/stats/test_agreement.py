"""Agreement in a panel, and of two readings: by hand, where it is refused, for any ratings."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from careeval.errors import StatsError
from careeval.stats.agreement import (
    gwet_ac1,
    gwet_ac1_interval,
    gwet_ac2,
    gwet_ac2_interval,
    icc,
    icc_interval,
    identical_pairs,
    krippendorff_alpha,
    krippendorff_interval,
    positive_agreement,
    positive_agreement_interval,
    presence_ac1,
    presence_ac1_interval,
)
from careeval.stats.intervals import Interval
from careeval.stats.score import FloatArray

NAN = np.nan
SCALE = (1, 2, 3, 4, 5)

GAPPED = st.tuples(st.integers(2, 7), st.integers(2, 5)).flatmap(
    lambda shape: arrays.arrays(
        np.float64, shape, elements=st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0, NAN])
    )
)
COMPLETE = st.tuples(st.integers(2, 7), st.integers(2, 5)).flatmap(
    lambda shape: arrays.arrays(np.float64, shape, elements=st.integers(1, 5).map(float))
)


def panel(n_items: int, n_raters: int, *, seed: int = 0, gaps: float = 0.0) -> FloatArray:
    """Drawn ratings of 1 to 5 in which items differ and raters err."""
    rng = np.random.default_rng(seed)
    drawn = rng.normal(3.5, 1, size=(n_items, 1)) + rng.normal(0, 0.7, size=(n_items, n_raters))
    rated = np.clip(np.rint(drawn), 1, 5)
    return np.where(rng.random(rated.shape) < gaps, NAN, rated)


def has_pairs(ratings: FloatArray) -> bool:
    """Tell whether any item has two ratings."""
    return bool(((~np.isnan(ratings)).sum(axis=1) >= 2).any())


# Identical pairs and Gwet


def test_pairs_worked_by_hand() -> None:
    """Of 4, 4, 3 one pair in three is identical, of 2, 2 the only one, and one rating has none."""
    ratings = np.array([[4, 4, 3], [2, 2, NAN], [5, NAN, NAN]])
    assert identical_pairs(ratings) == pytest.approx((1 / 3 + 1) / 2)


def test_gwet_worked_by_hand() -> None:
    """Two raters agree on two of three items; shares 1/2 and 1/2 give chance 1/2: AC1 is 1/3."""
    ratings = np.array([[1.0, 1], [0, 0], [1, 0]])
    assert gwet_ac1(ratings, (0, 1)) == pytest.approx(1 / 3)


def test_next_door_agrees_in_part() -> None:
    """On three levels, AC2 counts one step apart as 3/4 agreed and two as none; AC1 counts none."""
    one_apart, two_apart = np.array([[1.0, 2]]), np.array([[1.0, 3]])
    # two levels with a share of 1/2 each: by chance, AC2 agrees 6 / 6 × 1/2, AC1 3 / 6 × 1/2
    assert gwet_ac2(one_apart, (1, 2, 3)) == pytest.approx((3 / 4 - 1 / 2) / (1 - 1 / 2))
    assert gwet_ac2(two_apart, (1, 2, 3)) == pytest.approx((0 - 1 / 2) / (1 - 1 / 2))
    assert gwet_ac1(one_apart, (1, 2, 3)) == pytest.approx((0 - 1 / 4) / (1 - 1 / 4))


def test_unused_levels_count() -> None:
    """From 4, 4, 3, 4 AC2 is .913 on the scale of 1 to 4 and .20 on the two levels given."""
    row = np.array([[4.0, 4, 3, 4]])
    assert gwet_ac2(row, (1, 2, 3, 4)) == pytest.approx(0.913, abs=0.0005)
    assert gwet_ac2(row, (3, 4)) == pytest.approx(0.2)


@given(GAPPED)
def test_gwet_is_1_only_where_all_agree(ratings: FloatArray) -> None:
    """AC1 and AC2 are 1 exactly where every pair is identical, also where all is one level."""
    assume(has_pairs(ratings))
    agreed = identical_pairs(ratings) == 1
    assert (gwet_ac1(ratings, SCALE) == 1) == agreed
    assert (gwet_ac2(ratings, SCALE) == 1) == agreed


# Krippendorff


def test_alpha_worked_by_hand() -> None:
    """Of 1 1, 2 2, 1 2 the coincidences off the diagonal are 2 of 6; alpha is 1 - 5 × 2 / 18."""
    ratings = np.array([[1.0, 1], [2, 2], [1, 2]])
    assert krippendorff_alpha(ratings) == pytest.approx(1 - 5 * 2 / 18)


def brute_alpha(ratings: FloatArray) -> float:
    """Ordinal alpha, pair by pair of ratings: that of their middle ranks."""
    rows = [row[~np.isnan(row)] for row in ratings]
    rows = [row for row in rows if len(row) >= 2]
    given_ratings = np.sort(np.concatenate(rows))
    rows = [
        np.searchsorted(given_ratings, row, "left") + np.searchsorted(given_ratings, row, "right")
        for row in rows
    ]
    every = np.concatenate(rows)
    seen = sum(
        sum((a - b) ** 2 for a, b in itertools.permutations(row, 2)) / (len(row) - 1)
        for row in rows
    ) / len(every)
    by_chance = sum((a - b) ** 2 for a, b in itertools.permutations(every, 2))
    return float(1 - seen / (by_chance / (len(every) * (len(every) - 1))))


@given(GAPPED)
def test_alpha_is_that_of_every_pair(ratings: FloatArray) -> None:
    """With any gaps the coincidence matrix gives what single pairs add up to."""
    assume(has_pairs(ratings))
    paired = ratings[(~np.isnan(ratings)).sum(axis=1) >= 2]
    if np.nanmin(paired) == np.nanmax(paired):
        with pytest.raises(StatsError, match="all ratings are the same"):
            krippendorff_alpha(ratings)
        return
    alpha = krippendorff_alpha(ratings)
    assert alpha == pytest.approx(brute_alpha(ratings))
    assert (alpha == pytest.approx(1)) == (identical_pairs(ratings) == 1)


@given(GAPPED)
def test_ordinal_alpha_knows_no_distances(ratings: FloatArray) -> None:
    """Levels moved apart, in the same order, leave alpha as it was."""
    assume(has_pairs(ratings))
    try:
        alpha = krippendorff_alpha(ratings)
    except StatsError:
        return
    assert krippendorff_alpha(ratings**3) == pytest.approx(alpha)


# Intraclass correlation


def test_consistent_raters_who_differ_in_level() -> None:
    """A rater always 1 above the other is consistent, and yet does not agree."""
    # Items 1, 2, 3: MSR 2, MSC 1.5, MSE 0.
    ratings = np.array([[1.0, 2], [2, 3], [3, 4]])
    assert icc(ratings) == pytest.approx(2 / (2 + 1.5 / 3))


def test_items_with_gaps_are_left_out() -> None:
    """An item that one rater skipped adds nothing, and a rater who rated nothing is none."""
    ratings = panel(6, 4)
    more = np.vstack([ratings, [5, NAN, 1, 1]])
    assert icc(more) == icc(ratings)
    assert icc(np.column_stack([ratings, np.full(6, NAN)])) == icc(ratings)


@given(COMPLETE)
def test_icc_of_raters_who_agree(ratings: FloatArray) -> None:
    """The correlation never passes 1, and identical raters reach it."""
    with suppress(StatsError):
        assert icc(ratings) <= 1 + 1e-9
    same = np.repeat(ratings[:, :1], 3, axis=1)
    assume(np.ptp(same) > 0)
    assert icc(same) == pytest.approx(1)


# Whoever is listed first


def every_coefficient(ratings: FloatArray) -> list[float | None]:
    """All coefficients of ratings, none where not defined."""
    calls: list[Callable[[], float]] = [
        lambda: identical_pairs(ratings),
        lambda: gwet_ac1(ratings, SCALE),
        lambda: gwet_ac2(ratings, SCALE),
        lambda: krippendorff_alpha(ratings),
        lambda: icc(ratings),
    ]
    results: list[float | None] = []
    for call in calls:
        try:
            results.append(call())
        except StatsError:
            results.append(None)
    return results


@given(GAPPED)
def test_order_and_unrated_items_change_nothing(ratings: FloatArray) -> None:
    """Raters or items in another order, and an item that nobody rated, leave all as it was."""
    before = every_coefficient(ratings)
    turned = np.vstack([np.full(ratings.shape[1], NAN), ratings[::-1, ::-1]])
    for a, b in zip(before, every_coefficient(turned), strict=True):
        assert (a is None) == (b is None)
        assert a is None or a == pytest.approx(b, abs=1e-9)


# Intervals


INTERVALS: list[tuple[Callable[[FloatArray], float], Callable[..., Interval], int]] = [
    (lambda x: gwet_ac1(x, SCALE), lambda x, **how: gwet_ac1_interval(x, SCALE, **how), 4),
    (lambda x: gwet_ac2(x, SCALE), lambda x, **how: gwet_ac2_interval(x, SCALE, **how), 4),
    (krippendorff_alpha, krippendorff_interval, 4),
    (icc, icc_interval, 1),
]
"""Coefficient, its interval, and the raters of Fisher's scale in a panel of four."""


@pytest.mark.parametrize(("statistic", "interval", "raters"), INTERVALS)
def test_interval_leaves_each_item_out(
    statistic: Callable[[FloatArray], float], interval: Callable[..., Interval], raters: int
) -> None:
    """The ends are t times the jackknife error from the coefficient, on Fisher's scale."""
    ratings = panel(30, 4, seed=1)

    def fisher(a: float) -> float:
        return math.log((1 + (raters - 1) * a) / (1 - a))

    centre = fisher(statistic(ratings))
    moved = [fisher(statistic(np.delete(ratings, n, axis=0))) - centre for n in range(30)]
    margin = 2.045230 * math.sqrt(29 / 30 * sum(m**2 for m in moved))  # t of 29 at .975
    low, high = interval(ratings)
    assert fisher(low) == pytest.approx(centre - margin, rel=1e-5)
    assert fisher(high) == pytest.approx(centre + margin, rel=1e-5)


@pytest.mark.parametrize(("statistic", "interval", "_"), INTERVALS[:3])
def test_incomplete_blocks_have_intervals(
    statistic: Callable[[FloatArray], float], interval: Callable[..., Interval], _: int
) -> None:
    """If every rater skips two items in five by design, the interval still contains the value."""
    ratings = panel(40, 6, seed=2, gaps=0.4)
    low, high = interval(ratings)
    assert low < statistic(ratings) < high


@pytest.mark.parametrize(("statistic", "interval", "_"), INTERVALS)
def test_items_of_a_scenario_go_together(
    statistic: Callable[[FloatArray], float], interval: Callable[..., Interval], _: int
) -> None:
    """Every item written four times is one scenario: the interval is that of the items alone."""
    ratings = panel(20, 4, seed=3)
    four_times = np.repeat(ratings, 4, axis=0)
    by_scenario = interval(four_times, scenarios=np.repeat(np.arange(20), 4))
    alone = interval(ratings)
    as_if_more = interval(four_times)
    assert by_scenario == pytest.approx(alone, abs=0.02)
    assert as_if_more.high - as_if_more.low < 0.7 * (by_scenario.high - by_scenario.low)


# What is refused

LONELY = np.array([[4, NAN], [NAN, 3.0]])
ALIKE = np.full((6, 3), 5.0)
ONE_APART = np.full((20, 3), 5.0)
ONE_APART[0, 0] = 4
BLOCKS = np.array([[4, 5, NAN], [NAN, 3, 4], [2, NAN, 2]])


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: identical_pairs(LONELY), "two ratings"),
        (lambda: gwet_ac1(LONELY, SCALE), "two ratings"),
        (lambda: gwet_ac2(np.array([[4.0, 6]]), SCALE), "6 is not among"),
        (lambda: gwet_ac1(ALIKE, (5,)), "fewer than two categories"),
        (lambda: krippendorff_alpha(LONELY), "two ratings"),
        (lambda: krippendorff_alpha(ALIKE), "all ratings are the same"),
        (lambda: icc(ALIKE), "all ratings are the same"),
        (lambda: icc(BLOCKS), "every rater rated"),
        (lambda: icc(np.array([[1.0], [2]])), "two raters"),
        (lambda: icc(np.array([[1.0, 3], [2, 2], [3, 1]])), "hardly vary"),
        (lambda: icc_interval(panel(4, 3)), "fewer than five"),
        (lambda: gwet_ac1_interval(np.full((20, 3), 5.0), SCALE), "no variation"),
        (lambda: gwet_ac1_interval(panel(19, 3), SCALE), "fewer than 60 pairs of ratings: 57"),
        (lambda: gwet_ac2_interval(ONE_APART, SCALE), "end of its scale"),
        (lambda: krippendorff_interval(ALIKE), "no variation"),
        (lambda: krippendorff_interval(panel(9, 3), scenarios=[0] * 9), "five"),
        (lambda: krippendorff_interval(panel(9, 3), scenarios=[0, 1]), "names of scenarios"),
    ],
)
def test_what_is_not_defined(call: Callable[[], object], reason: str) -> None:
    """Single ratings, one level throughout, or gaps where ICC needs every rater, have a reason."""
    with pytest.raises(StatsError, match=reason):
        call()


def test_alike_ratings_agree_by_ac1_alone() -> None:
    """If every rating is 5, AC1 is 1, while alpha and ICC are not defined."""
    assert gwet_ac1(ALIKE, SCALE) == 1


def test_all_variation_in_one_scenario() -> None:
    """One item apart among twenty alike leaves alpha undefined without it: no interval."""
    assert krippendorff_alpha(ONE_APART) < 0.1
    with pytest.raises(StatsError, match="without one of the scenarios"):
        krippendorff_interval(ONE_APART)


@given(st.integers(0, 2**32 - 1), st.integers(5, 12))
@settings(max_examples=30)
def test_ends_stay_on_the_scale(seed: int, n_items: int) -> None:
    """An interval holds its coefficient, ends by 1, and begins below -1 only where that does."""
    ratings = panel(n_items, 5, seed=seed)
    for statistic, interval, _ in INTERVALS:
        try:
            value, (low, high) = statistic(ratings), interval(ratings)
        except StatsError:
            continue
        assert min(-1, value) - 1e-9 <= low <= value + 1e-9
        assert value - 1e-9 <= high <= 1


def test_ratings_that_tell_nothing_reach_down_to_minus_one() -> None:
    """Six scenarios rated at random have an interval of ICC(2,k) that stops at -1."""
    ratings = np.random.default_rng(3).integers(1, 6, size=(6, 5)).astype(np.float64)
    assert -1 < icc(ratings) < 0
    assert icc_interval(ratings).low == -1


def test_positive_agreement_by_hand() -> None:
    """Of 40 judgments both call 6 present and one alone 8: 12 of 20; AC1 takes chance away."""
    counts = np.array([[4.0, 3, 3], [2, 5, 23]])
    assert positive_agreement(counts) == pytest.approx(12 / 20)
    # 32 of 40 agree; a quarter is present on average, and 2 × 1/4 × 3/4 agree by chance
    assert presence_ac1(counts) == pytest.approx((0.8 - 0.375) / (1 - 0.375))


def test_agreement_on_absence_is_no_positive_agreement() -> None:
    """If neither calls anything present, AC1 is 1 and positive agreement is unknown."""
    counts = np.array([[0.0, 0, 10]] * 6)
    assert presence_ac1(counts) == 1
    with pytest.raises(StatsError, match="neither of the two"):
        positive_agreement(counts)
    with pytest.raises(StatsError, match="neither of the two"):
        positive_agreement_interval(counts)
    with pytest.raises(StatsError, match="no judgment was made in both"):
        presence_ac1(counts * 0)


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 3), min_size=1, max_size=9))
def test_ac1_of_counts_is_gwets(rows: list[tuple[int, int, int]]) -> None:
    """AC1 of counts is `gwet_ac1` of the verdicts that were counted, and positive agreement F1."""
    counts = np.array(rows, dtype=np.float64)
    both, one, neither = (int(n) for n in counts.sum(axis=0))
    verdicts = np.array([[1, 1]] * both + [[1, 0]] * one + [[0, 0]] * neither, dtype=np.float64)
    if len(verdicts):
        assert presence_ac1(counts) == pytest.approx(gwet_ac1(verdicts, (0, 1)))
    if both + one:
        assert positive_agreement(counts) == pytest.approx(2 * both / (2 * both + one))


def test_intervals_take_the_scenario_as_the_unit() -> None:
    """Ten times the judgments of the same scenarios leave them as wide; fewer scenarios widen."""
    rng = np.random.default_rng(3)
    counts = rng.multinomial(10, [0.4, 0.2, 0.4], size=30).astype(float)
    for value, interval in (
        (positive_agreement, positive_agreement_interval),
        (presence_ac1, presence_ac1_interval),
    ):
        low, high = interval(counts)
        assert low < value(counts) < high <= 1
        assert interval(10 * counts) == pytest.approx((low, high), abs=0.02)
        fewer = interval(counts[:8])
        assert fewer.high - fewer.low > high - low
        with pytest.raises(StatsError, match="fewer than five"):
            interval(counts[:4])


def test_agreeing_throughout_is_not_certain() -> None:
    """Twenty scenarios without a disagreement leave both intervals open below, and end at 1."""
    counts = np.array([[1.0, 0, 9]] * 20)
    worth = 1 - 0.025 ** (1 / 20)
    assert positive_agreement_interval(counts) == pytest.approx((1 - worth, 1))
    # by chance 2 × .1 × .9 agree
    assert presence_ac1_interval(counts) == pytest.approx((1 - worth / (1 - 0.18), 1))


def test_weights_have_no_unit() -> None:
    """Weights that are all larger by a factor move neither number nor interval."""
    rng = np.random.default_rng(4)
    read = rng.multinomial(6, [0.3, 0.2, 0.5], size=20).astype(float)
    for interval in (positive_agreement_interval, presence_ac1_interval):
        assert interval(read * 7, read) == pytest.approx(interval(read, read))


@pytest.mark.parametrize("chances", [(0.04, 0.85, 0.99), (0.08, 0.5, 0.95), (0.4, 0.9, 0.95)])
def test_intervals_hold_the_truth(chances: tuple[float, float, float]) -> None:
    """Of 300 draws of 40 scenarios, nine of ten intervals at least hold the agreement drawn from.

    Two graders judge two items of ten responses; each has errors of its own in each scenario.
    """
    prevalence, finds, clears = chances
    rng = np.random.default_rng(5)

    def drawn(n_scenarios: int) -> FloatArray:
        shape = (n_scenarios, 2, 1)
        is_present = rng.random((n_scenarios, 2, 10)) < rng.beta(prevalence, 1 - prevalence, shape)
        a, b = (
            rng.random(is_present.shape)
            < np.where(
                is_present,
                rng.beta(5 * finds, 5 * (1 - finds), shape),
                rng.beta(5 * (1 - clears), 5 * clears, shape),
            )
            for _ in range(2)
        )
        return np.stack([(way).sum(axis=(1, 2)) for way in (a & b, a ^ b, ~a & ~b)], 1).astype(
            np.float64
        )

    whole = drawn(20_000)
    truths = positive_agreement(whole), presence_ac1(whole)
    held = np.zeros(2)
    for _ in range(300):
        counts = drawn(40)
        intervals = positive_agreement_interval(counts), presence_ac1_interval(counts)
        held += [i.low <= truth <= i.high for i, truth in zip(intervals, truths, strict=True)]
    assert (held / 300 > 0.9).all()
