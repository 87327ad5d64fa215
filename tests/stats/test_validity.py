"""Content validity: worked by hand, where it is refused, and for any panel."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.errors import StatsError
from careeval.stats.validity import (
    AikenV,
    Endorsement,
    EndorsementRule,
    aiken_v,
    cut_sensitive,
    i_cvi,
    modified_kappa,
    s_cvi_ave,
    s_cvi_ua,
)

NAN = np.nan
EIGHT = np.array([5.0, 4, 4, 3, 5, 4, 2, 4])

PANELS = st.lists(st.one_of(st.integers(1, 5).map(float), st.just(NAN)), min_size=1, max_size=12)
COUNTS = st.integers(1, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


# One item


def test_six_of_eight() -> None:
    """Of eight ratings six are 4 or 5 and seven are 3 or more: the cut decides."""
    assert i_cvi(EIGHT, 4) == Endorsement(6, 8)
    assert i_cvi(EIGHT, 3) == Endorsement(7, 8)
    assert not i_cvi(EIGHT, 4).passes(EndorsementRule.paper)
    assert i_cvi(EIGHT, 3).passes(EndorsementRule.paper)
    assert cut_sensitive(EIGHT, EndorsementRule.paper, (4, 3))
    assert not cut_sensitive(EIGHT, EndorsementRule.paper, (4, 5))


def test_who_was_not_asked_does_not_count() -> None:
    """A rating missing by design leaves 3 of 3."""
    given_by_three = np.array([4, 5, NAN, 4])
    assert i_cvi(given_by_three, 4) == Endorsement(3, 3)


@pytest.mark.parametrize(
    ("n", "share", "passes"), [(3, 0.5, 1 / 8), (5, 0.5, 6 / 32), (5, 0.0, 0), (5, 1.0, 1)]
)
def test_probability_to_pass(n: int, share: float, passes: float) -> None:
    """All of three must endorse, and four of five: five ways for four, one for all, of 32."""
    assert EndorsementRule.paper.pass_probability(n, share) == pytest.approx(passes)


@pytest.mark.parametrize(
    ("rule", "least"),
    [
        (EndorsementRule.paper, [3, 4, 4, 5, 6, 7, 8, 8]),
        (EndorsementRule.lynn, [3, 4, 5, 5, 6, 7, 7, 8]),
        (EndorsementRule.polit, [3, 4, 4, 5, 6, 7, 7, 8]),
    ],
)
def test_least_of_three_to_ten(rule: EndorsementRule, least: list[int]) -> None:
    """The presets differ for five raters and for nine, and 7 of 9 is at least .78 as printed."""
    assert [rule.min_endorsements(n) for n in range(3, 11)] == least


@given(st.integers(3, 200))
def test_rules_are_their_words(n: int) -> None:
    """The paper's least is the first share of at least 4/5, Polit's the first that prints .78."""
    shares = [Fraction(k, n) for k in range(n + 1)]
    paper = next(k for k, share in enumerate(shares) if share >= Fraction(4, 5))
    polit = next(
        k for k, share in enumerate(shares) if share + Fraction(1, 200) >= Fraction(78, 100)
    )
    rules = (EndorsementRule.paper, EndorsementRule.polit)
    assert tuple(rule.min_endorsements(n) for rule in rules) == (paper, polit)


@given(PANELS)
def test_raters_have_no_order(panel: list[float]) -> None:
    """Counts and V are the same whoever is listed first."""
    row, turned = np.array(panel), np.array(panel[::-1])
    if np.isnan(row).all():
        with pytest.raises(StatsError, match="nobody"):
            i_cvi(row, 4)
        return
    assert i_cvi(row, 4) == i_cvi(turned, 4)
    assert aiken_v(row, 1, 5) == aiken_v(turned, 1, 5)
    assert i_cvi(row, 4).value <= i_cvi(row, 3).value


@given(COUNTS)
def test_kappa_takes_chance_away(count: tuple[int, int]) -> None:
    """Modified kappa is at most the I-CVI, and 1 exactly where all endorse."""
    k, n = count
    assert modified_kappa(k, n) <= Endorsement(k, n).value
    assert (modified_kappa(k, n) == 1) == (k == n)
    assert Endorsement(k, n).interval.low <= k / n <= Endorsement(k, n).interval.high


# Aiken's V


def test_v_of_six_raters() -> None:
    """3, 3, 4, 3, 2 and 3 of 1 to 4 stand 12 of 18 steps up: .67, from .44 to .84 in print."""
    v = aiken_v(np.array([3.0, 3, 4, 3, 2, 3]), 1, 4)
    assert v == AikenV(excess=12, n=6, steps=3)
    assert v.value == pytest.approx(2 / 3)
    assert v.interval == pytest.approx((0.44, 0.84), abs=0.005)


def test_all_at_the_top_is_not_certain() -> None:
    """Six ratings of 4 out of 4 have a V of 1 and a lower limit of .82."""
    v = aiken_v(np.full(6, 4.0), 1, 4)
    assert (v.value, v.interval.high) == (1, 1)
    assert v.interval.low == pytest.approx(0.82, abs=0.005)


# Scales


def test_items_rated_by_few_weigh_the_same() -> None:
    """The mean of 1/2 and 4/4 is .75, where pooled ratings would say 5 of 6."""
    items = [Endorsement(1, 2), Endorsement(4, 4)]
    assert s_cvi_ave(items) == 0.75
    assert s_cvi_ua(items) == 0.5


@given(st.lists(COUNTS, min_size=1))
def test_universal_agreement_is_at_most_the_average(counts: list[tuple[int, int]]) -> None:
    """The share of items that all endorse is never above the mean share, and 1 only with it."""
    items = [Endorsement(*count) for count in counts]
    assert s_cvi_ua(items) <= s_cvi_ave(items) + 1e-12
    assert (s_cvi_ua(items) == 1) == (s_cvi_ave(items) == 1)


# What is refused


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: i_cvi(np.array([NAN, NAN]), 4), "nobody"),
        (lambda: i_cvi(np.array([]), 4), "nobody"),
        (lambda: modified_kappa(0, 0), "nobody"),
        (lambda: Endorsement(3, 2), "must be 0 to 2"),
        (lambda: Endorsement(2, 2).passes(EndorsementRule.paper), "fewer than three"),
        (lambda: EndorsementRule.lynn.min_endorsements(11), "up to ten raters"),
        (
            lambda: cut_sensitive(np.array([5.0, 2]), EndorsementRule.paper, (4, 3)),
            "fewer than three",
        ),
        (lambda: aiken_v(np.array([0.0, 3]), 1, 5), "0 is not on the scale"),
        (lambda: aiken_v(np.array([3.0, 6]), 1, 5), "6 is not on the scale"),
        (lambda: aiken_v(np.array([3.5]), 1, 5), "3.5 is not on the scale"),
        (lambda: aiken_v(np.array([NAN]), 1, 5), "nobody"),
        (lambda: aiken_v(np.array([3.0]), 3, 3), "fewer than two categories"),
        (lambda: AikenV(9, 2, 4), "must be 0 to 8"),
        (lambda: s_cvi_ave([]), "no item"),
        (lambda: s_cvi_ua([]), "no item"),
    ],
)
def test_what_is_not_defined(call: Callable[[], object], reason: str) -> None:
    """Without ratings, on no scale, or from two raters there is no number and no decision."""
    with pytest.raises(StatsError, match=reason):
        call()


def test_the_paper_panel_decides_the_same_by_every_rule() -> None:
    """Of eight raters every rule keeps an item with seven and none with six."""
    for rule in EndorsementRule:
        assert Endorsement(7, 8).passes(rule)
        assert not Endorsement(6, 8).passes(rule)
