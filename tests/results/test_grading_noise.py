"""Responses judged again: flips by hand, then sources of noise and other differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from careeval.core.scenario import Rubric
from careeval.results.entries import entries
from careeval.results.entry import Entry
from careeval.results.graders import GradingNoise, grading_noise
from careeval.results.tables import Runs
from careeval.stats.variance import grading_variance, noise_corrected_worst
from results.authored import JUDGED, Marks, judgments, responses

LADDER = Rubric.ladder
POINTS, SMALLER = (2, 1, 0, -1, -2), (1, 0, 0, -1, -2)
"""At most 3, and at most 1."""


def entry(first: Marks, *again: Marks, smaller: str = "") -> Entry:
    """A run that was judged first so, and then so; one scenario's rubric may be smaller."""
    points = {name: SMALLER if name == smaller else POINTS for name in first}
    rows = [
        row
        for n, marks in enumerate((first, *again), 1)
        for row in judgments(marks, points, grading=n)
    ]
    (found,) = entries(Runs.of(responses(first), rows))
    return found


def noise(first: Marks, *again: Marks, smaller: str = "") -> GradingNoise:
    """The noise on the ladder of a run that was judged again."""
    found = grading_noise(entry(first, *again, smaller=smaller))
    assert found is not None
    return found


def too_few(n: int) -> str:
    """The reason if only n responses were graded twice."""
    return f"responses graded twice or more: {n}; at least 10 are needed: grade more of them again"


def test_flips_by_hand() -> None:
    """Of two responses judged again, one item of ten differs."""
    marks = {"dressing-1": ["11000", "00010"], "eating-1": ["10001", "01000"]}
    again = {"dressing-1": ["10000", "00010"]}
    found = noise(marks, again)
    assert (found.n_regraded, found.n_gradings) == (2, 2)
    assert found.flipped.value == pytest.approx(1 / 10)
    assert found.reason == too_few(2)
    assert (found.scenario_share, found.corrected_worst_at_n.value) == (None, None)


def test_flips_are_over_all_pairs_of_gradings() -> None:
    """An item found in one of three gradings differs in two of their three pairs."""
    found = noise({"eating-1": ["10000"]}, {"eating-1": ["00000"]}, {"eating-1": ["00000"]})
    assert found.n_gradings == 3
    assert found.flipped.value == pytest.approx(2 / (5 * 3))


def test_an_unresolved_judgment_is_no_flip() -> None:
    """A pair of judgments one of which was not made is left out."""
    found = noise({"eating-1": ["1?000"]}, {"eating-1": ["01000"]})
    assert found.flipped.value == pytest.approx(1 / 4)
    found = noise({"eating-1": ["?????"]}, {"eating-1": ["01000"]})
    assert found.flipped.value is None


def test_nothing_judged_twice() -> None:
    """One grading, a second of the other rubric alone, or of no words, shows no noise."""
    marks = {"eating-1": ["11000", "empty"]}
    assert grading_noise(entry(marks)) is None
    assert grading_noise(entry(marks, {"eating-1": ["ungraded", "empty"]})) is None
    rows = judgments(marks) + [
        row
        for n in (1, 2)
        for row in judgments({"eating-1": ["110"]}, [2, 1, -2], rubric="actions", grading=n)
    ]
    actions, ladder = entries(Runs.of(responses(marks), rows))
    assert grading_noise(ladder) is None
    assert grading_noise(actions) is not None


MARKS = {f"eating-{k}": row for k, row in enumerate(
    (["11000", "10000"], ["01000", "00010"], ["11000", "01000"],
     ["00001", "10000"], ["11010", "00000"], ["11000", "10001"])
)}  # fmt: skip


def test_a_grader_that_repeats_itself() -> None:
    """It has no share in the variance, and the worst of n needs no correction."""
    found = noise(MARKS, MARKS)
    assert (found.flipped.value, found.grading_share, found.reason) == (0, 0, "")
    assert found.scenario_share is not None
    assert found.response_share is not None
    assert found.scenario_share + found.response_share == pytest.approx(1)
    worst = entry(MARKS).graded.worst_at_n()
    assert found.corrected_worst_at_n.value == pytest.approx(worst.value)


def test_the_variance_is_of_points_over_the_maximum() -> None:
    """Shares and the corrected worst are those of the arrays written out by hand."""
    again = {**MARKS, "eating-0": ["10000", "10000"], "eating-3": ["00001", "ungraded"]}
    # the last scenario has points 1 and -1 of 1
    first = np.array([[3, 2], [1, -1], [3, 1], [-2, 2], [2, 0], [1, -1]], dtype=np.float64)
    maxima = np.array([3.0, 3, 3, 3, 3, 1])
    second = first.copy()
    second[0, 0], second[3, 1] = 2, np.nan
    values = np.stack([first, second], axis=2)
    found = noise(MARKS, again, smaller="eating-5")
    shares = found.scenario_share, found.response_share, found.grading_share
    assert shares == pytest.approx(grading_variance(values / maxima[:, None, None]).shares)
    assert found.grading_share is not None
    assert found.grading_share > 0
    corrected = noise_corrected_worst(values, maxima)
    assert found.corrected_worst_at_n.value == pytest.approx(corrected)
    assert found.corrected_worst_at_n.ci95 is not None
    assert found.n_regraded == 11


def test_a_part_that_was_graded_first() -> None:
    """A response's own first grading is the one that its later ones are held against."""
    part = {name: [marks[0], "ungraded"] for name, marks in MARKS.items()}
    found = noise(MARKS, MARKS)
    (early,) = entries(Runs.of(responses(MARKS), judgments(part) + judgments(MARKS, grading=2)))
    other = grading_noise(early)
    assert other is not None
    assert (other.n_regraded, other.n_gradings) == (6, 2)
    assert early.graded.score() == entry(MARKS).graded.score()
    # of the other six responses nothing is known, and what is known is the same
    assert other.reason == too_few(6)
    assert other.flipped.value == found.flipped.value == 0


def test_doubt_is_not_noise() -> None:
    """A response with an unresolved item in a grading is not held against that grading."""
    more = {**MARKS, "eating-6": ["11000", "01000"]}
    first = {**more, "eating-0": ["1?000", "10000"]}
    again = {**more, "eating-5": ["1?000", "10001"]}
    found = noise(first, again)
    assert found.grading_share == 0
    # settling the item moves a point of the first response, which is not the lowest
    worst = found.corrected_worst_at_n
    assert worst.low is not None
    assert worst.high is not None
    assert worst.low <= worst.high


def test_responses_without_words_are_no_regradings() -> None:
    """Rows of refused responses in a second grading change nothing."""
    first = {name: [*marks, "refused"] for name, marks in MARKS.items()}
    again = {**first, "eating-0": ["10000", "10000", "refused"]}
    part = {name: [*marks[:2], "ungraded"] for name, marks in again.items()}
    found, other = noise(first, again), noise(first, part)
    assert found == other
    assert found.n_regraded == 12
    assert found.grading_share is not None
    assert found.grading_share > 0
    few = {name: [marks[0], "refused", "refused"] for name, marks in MARKS.items()}
    assert noise(few, few).reason == too_few(6)
    assert noise(few, few).corrected_worst_at_n.value is None


def test_a_failed_grading_is_not_the_first() -> None:
    """Later gradings are held against the one that counts, and not against one that failed."""
    failed = {name: ["?????", "?????"] for name in MARKS}
    again = {**MARKS, "eating-0": ["10000", "10000"]}
    shown = noise(failed, MARKS, again)
    assert shown.grading_share == noise(MARKS, again).grading_share
    assert shown.grading_share is not None
    assert shown.grading_share > 0


def test_a_missing_response() -> None:
    """Over responses one of which is missing the variance is not split, and the flips are known."""
    marks = {**MARKS, "eating-0": ["missing", "10000"]}
    found = noise(marks, marks)
    assert found.flipped.value == 0
    assert found.grading_share is None
    assert found.reason == "missing responses: 1 of 12"


@settings(max_examples=20)
@given(st.lists(st.tuples(JUDGED, JUDGED), min_size=12, max_size=12))
def test_of_any_gradings(pairs: list[tuple[str, str]]) -> None:
    """Flips lie from 0 to 1, the shares add up to 1, and no order of later gradings matters."""
    first, again = (
        {f"eating-{k}": [row[k] for row in rows] for k in range(6)}
        for rows in ([[a for a, _ in half] for half in (pairs[:6], pairs[6:])],
                     [[b for _, b in half] for half in (pairs[:6], pairs[6:])])
    )  # fmt: skip
    found, other = noise(first, again, first), noise(first, first, again)
    assert found.flipped == other.flipped
    if found.flipped.value is not None:
        assert 0 <= found.flipped.value <= 1
    if found.grading_share is not None:
        shares = [found.scenario_share, found.response_share, found.grading_share]
        assert sum(share for share in shares if share is not None) == pytest.approx(1)
        assert other.grading_share == pytest.approx(found.grading_share)
