"""Agreement of two readings on what is present."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.errors import StatsError
from careeval.stats.agreement import (
    gwet_ac1,
    positive_agreement,
    positive_agreement_interval,
    presence_ac1,
    presence_ac1_interval,
)
from careeval.stats.score import FloatArray


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
