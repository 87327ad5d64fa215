"""Items over systems, by hand; then unresolved, missing and unlike entries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from careeval.core.scenario import Rubric
from careeval.results.entries import entries
from careeval.results.item_statistics import ItemStatistic, item_rest, item_statistics
from careeval.results.tables import Runs
from careeval.stats.score import FloatArray
from results.authored import JUDGED, Marks, judgments, responses


def statistics(*systems: Marks) -> dict[str, ItemStatistic]:
    """Scenario and item → its statistic over systems with these responses."""
    runs = Runs.together(
        Runs.of(responses(marks, system=name), judgments(marks, system=name))
        for name, marks in ((f"robot-{k}", marks) for k, marks in enumerate(systems))
    )
    found = item_statistics(entries(runs))
    return {f"{s.scenario} {s.item}": s for s in found}


def test_items_by_hand() -> None:
    """Presence is a mean over systems, and the rest is all other items of the rubric."""
    found = statistics(
        {"eating-1": ["11000", "11000"], "eating-2": ["10000", "10000"]},
        {"eating-1": ["10010", "01000"], "eating-2": ["10000", "10000"]},
        {"eating-1": ["00010", "00010"], "eating-2": ["10000", "10001"]},
    )
    assert list(found)[:2] == ["eating-1 item-0", "eating-1 item-1"]
    top = found["eating-1 item-0"]
    assert (top.rubric, top.points, top.bank, top.grader) == (
        Rubric.ladder, 2, "authored", "judge"
    )  # fmt: skip
    assert (top.n_systems, top.n, top.presence.value) == (3, 6, pytest.approx(1 / 2))
    # its points 2, 1, 0; all others 1 + 2, then (-1 + 1) / 2 + 2, then -1 + 2 - 2 / 2
    # deviations 1, 0, -1 and 4/3, 1/3, -5/3: 3 / √(2 × 42 / 9)
    assert top.rest.value == pytest.approx(3 / (2 * 42 / 9) ** 0.5)
    assert top.rest.reason == "fewer than four pairs: a correlation has no interval"
    always = found["eating-2 item-0"]
    assert (always.always, always.never, always.presence.value) == (True, False, 1)
    assert always.rest.value is None
    never = found["eating-1 item-2"]
    assert (never.always, never.never, never.presence.value) == (False, True, 0)


def test_a_share_is_of_a_system_s_own_responses() -> None:
    """A system with fewer responses counts as much as one with more."""
    found = statistics({"eating-1": ["11000", "missing"]}, {"eating-1": ["01000", "01000"]})
    assert found["eating-1 item-0"].presence.value == pytest.approx(1 / 2)
    assert found["eating-1 item-0"].n == 3


def test_unresolved_judgments_widen() -> None:
    """They bound the presence, and count neither as judgments nor against always and never."""
    found = statistics({"eating-1": ["1?000", "11000"]})
    item = found["eating-1 item-1"]
    assert (item.n, item.always) == (1, True)
    bounds = item.presence.low, item.presence.value, item.presence.high
    assert bounds == pytest.approx((1 / 2, 3 / 4, 1))
    unknown = statistics({"eating-1": ["?1000"]})["eating-1 item-0"]
    assert (unknown.n, unknown.always, unknown.never) == (0, False, False)


def test_other_banks_and_graders_are_apart() -> None:
    """Entries that do not compare share no item."""
    marks: Marks = {"eating-1": ["11000"]}
    runs = Runs.together(
        [
            Runs.of(responses(marks), judgments(marks) + judgments(marks, grader="other")),
            Runs.of(
                responses(marks, system="robot-b", bank_version="2-0"),
                judgments(marks, system="robot-b"),
            ),
        ]
    )
    found = item_statistics(entries(runs))
    assert [(s.grader, s.n_systems) for s in found] == [("judge", 1)] * 10 + [("other", 1)] * 5


def test_two_systems_have_no_correlation() -> None:
    """With fewer than three systems the rest is unknown."""
    found = statistics({"eating-1": ["11000"]}, {"eating-1": ["00010"]})
    assert {s.rest.value for s in found.values()} == {None}


@settings(max_examples=25)
@given(st.lists(st.lists(JUDGED, min_size=2, max_size=2), min_size=4, max_size=4))
def test_settling_unresolved_judgments_stays_within_the_bounds(marks: list[list[str]]) -> None:
    """Every item's presence and rest lie within their bounds once all is resolved."""
    found = statistics(*({"eating-1": rows} for rows in marks))
    settled = statistics(*({"eating-1": [r.replace("?", "0") for r in rows]} for rows in marks))
    for key, item in found.items():
        after = settled[key]
        for before, now in ((item.presence, after.presence), (item.rest, after.rest)):
            if now.value is not None and before.low is not None and before.high is not None:
                assert before.low - 1e-9 <= now.value <= before.high + 1e-9


NAN = np.nan


def test_item_is_left_out_of_its_rest() -> None:
    """Two items that are each other's opposite correlate by -1, though their sum is constant."""
    present = np.array([[1.0, 0], [0, 1], [1, 0], [0, 1]])
    assert item_rest(present).tolist() == pytest.approx([-1, -1])


def test_item_that_is_always_present() -> None:
    """An item in every answer has no correlation, and is of no weight in the rest of the others."""
    present = np.array([[1.0, 1, 1], [1, 0, 0], [1, 1, 1]])
    np.testing.assert_allclose(item_rest(present), [NAN, 1, 1])


def test_rest_that_is_rounding_does_not_vary() -> None:
    """Points of .1, .2 and -.3 that cancel in every respondent leave no rest to correlate with."""
    rest = [[0.1, 0.2, -0.3], [0.2, 0.1, -0.3], [-0.3, 0.1, 0.2]]
    present = np.column_stack([[1.0, 2, 3], rest])
    assert np.isnan(item_rest(present)[0])


def test_unresolved_item_takes_its_respondent_out() -> None:
    """A respondent with an unresolved item has no rest, and the others correlate without it."""
    whole = np.array([[1.0, 1, 0], [0, 0, 0], [1, 1, 1], [0, 1, 1]])
    unresolved = np.vstack([whole, [NAN, 1, 0]])
    np.testing.assert_array_equal(item_rest(unresolved), item_rest(whole))


def test_items_of_two_respondents() -> None:
    """Two respondents always lie on a line, so that their correlation is no number."""
    present = np.array([[1.0, 1], [0, 0], [NAN, 1]])
    np.testing.assert_array_equal(item_rest(present), [NAN, NAN])


NUMBERS = st.integers(-5, 5).map(float)


@given(arrays.arrays(np.float64, (6, 4), elements=NUMBERS))
def test_every_item_has_the_correlation_with_its_rest(present: FloatArray) -> None:
    """Each entry is the correlation of one column with the sum of the others, or undefined."""
    for i, result in enumerate(item_rest(present)):
        rest = np.delete(present, i, axis=1).sum(axis=1)
        if np.ptp(rest) == 0 or np.ptp(present[:, i]) == 0:
            assert np.isnan(result)
        else:
            expected = stats.pearsonr(present[:, i], rest).statistic
            assert result == pytest.approx(expected, abs=1e-9)
