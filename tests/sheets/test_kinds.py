"""Tests of the texts, the data and the order of values."""

from __future__ import annotations

import pytest

from careeval.results.tables import Cost
from careeval.sheets.kinds import (
    AGREEMENT_SHARE,
    DASH,
    DIFFERENCE,
    P_VALUE,
    PERCENT,
    PLAIN,
    PLAIN_DOLLARS,
    POINTS,
    RANKS,
    ROUND_SHARE,
    SHARE,
    TWO_DECIMALS,
    UNKNOWN,
    part_name_kind,
)
from careeval.stats.estimate import Estimate


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (None, DASH),
        (0.0001, "<.001"),
        (0.034, ".034"),
        (0.0996, ".100"),
        (0.1, ".100"),
        (1, "1.000"),
    ],
)
def test_p_values_read_well(p: float | None, text: str) -> None:
    """A p value has three digits, and a dash stands where nothing was tested."""
    assert P_VALUE.page_text(p) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.028, "+2.8"), (-0.305, "−30.5"), (0.0, "0.0"), (0.0004, "0.0"), (-0.0004, "0.0")],
)
def test_a_difference_has_its_sign(value: float, text: str) -> None:
    """A difference has a sign, unless it reads as 0.0."""
    assert DIFFERENCE.page_text(Estimate(value, value, value, None, "few")) == text


@pytest.mark.parametrize("value", [-0.001, -0.0, -0.0049])
def test_0_has_no_minus(value: float) -> None:
    """A number that reads as 0 has no minus, in any unit."""
    texts = [unit.text(value / unit.scale) for unit in (PERCENT, POINTS, PLAIN, TWO_DECIMALS)]
    assert texts == ["0.0", "0.0", "0.00", "0.00"]
    assert TWO_DECIMALS.text(-0.006) == "−0.01"


def test_a_value_that_does_not_exist_is_a_dash() -> None:
    """A page has a dash for a rank that does not exist, and says what is unknown."""
    assert (RANKS.page_text(None), ROUND_SHARE.page_text(None)) == (DASH, DASH)
    assert SHARE.page_text(None) == UNKNOWN


def test_the_name_of_a_part_has_a_capital() -> None:
    """The name of a part has a capital on a page, and none in a sentence."""
    kind = part_name_kind(names={"03": "partial help"})
    assert (kind.page_text("03"), kind.text("03"), kind.store("03")) == (
        "Partial help",
        "partial help",
        ("03",),
    )


def test_an_unknown_cost_says_why() -> None:
    """An unknown cost has its reason below it, and in the data."""
    unknown = Cost(None, "no price is known", 0.5, 2, 1, None, None, None)
    assert PLAIN_DOLLARS.page_text(unknown) == UNKNOWN
    assert PLAIN_DOLLARS.lines(unknown) == ("no price is known",)
    assert PLAIN_DOLLARS.store(unknown) == (None, 0.5, "no price is known")


def test_bounds_of_agreement_say_nothing_twice() -> None:
    """If nothing is unresolved, there are no bounds, which would look like an interval."""
    few = Estimate(0.5, 0.5, 0.5, None, "fewer than five scenarios")
    assert AGREEMENT_SHARE.store(few) == (0.5, None, None, None, None, few.reason)
    unresolved = Estimate(0.5, 0.4, 0.6, (0.2, 0.8))
    assert AGREEMENT_SHARE.store(unresolved)[1:3] == (0.4, 0.6)
