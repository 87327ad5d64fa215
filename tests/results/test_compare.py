"""Two systems by hand; then entries that do not compare; then any two systems."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import nct, t

from careeval.core.scenario import Adl, Rubric
from careeval.errors import UsageError
from careeval.results.compare import Comparison, compare, compare_entries
from careeval.results.differences import Difference, Verdict
from careeval.results.entries import entries
from careeval.results.metrics import COMPARED
from careeval.results.tables import Runs
from careeval.stats.estimate import Estimate
from results.authored import (
    JUDGED,
    Marks,
    judgments,
    marks_of_many,
    responses,
    runs_of,
    settled_at_random,
)

FIVE = [f"dressing-{k}" for k in range(1, 6)]
ONE_POINT: Marks = {name: ["01000"] for name in [*FIVE, "eating-1"]}
ALL_BUT_ONE_BETTER: Marks = {**{name: ["11000"] for name in FIVE}, "eating-1": ["01000"]}
JUDGED_ALIKE = [row for name in "ab" for row in judgments(ONE_POINT, system=name)]


def test_two_runs_by_hand() -> None:
    """Over six scenarios every number of the difference is the one worked out by hand.

    A has 1 of 3 points in each; B has 3 in five and 1 in the sixth. So 6 and 16 of 18 points, and
    differences 2 2 2 2 2 0: 10 / 18. About 5/9 × 3 they leave 1/3 five times and -5/3, squares
    30 / 9, so that the error is sqrt(6/5 × 30/9) / 18 = 1/9; t with 5 degrees is 2.5706. Of the 32
    patterns of five signs two have all alike.
    """
    found = two(ONE_POINT, ALL_BUT_ONE_BETTER)
    score = found.metrics["score"]
    assert (score.n, score.fewer_is_better) == (6, False)
    assert (score.a, score.b) == pytest.approx((6 / 18, 16 / 18))
    assert score.difference.value == pytest.approx(10 / 18)
    assert score.difference.ci95 == pytest.approx((5 / 9 - 2.57058 / 9, 5 / 9 + 2.57058 / 9))
    assert score.p == 2 / 32
    # held up against worst_at_n, the same numbers, and against both errors, of which there is none
    assert score.p_holm == 4 * 2 / 32
    # the smallest p of six, 2/64, times these four is above 5%
    assert score.detectable is None
    assert score.why_not_detectable == (
        "with 6 scenarios and 4 comparisons no difference can be detected, however large"
    )
    # the interval alone leaves out 0, the family does not let it count
    assert (score.clear, score.verdict) == (True, Verdict.unclear)
    assert score.b_is_worse_by_more_than == pytest.approx(-(5 / 9 + 2.57058 / 9))

    # nobody has any error: nothing speaks against equality, but one scenario of six may have all
    severe = found.metrics["severe"]
    assert (severe.a, severe.b, severe.p, severe.p_holm) == (0, 0, 1, 1)
    assert severe.difference.ci95 == pytest.approx((-2.57058 / 6, 2.57058 / 6))
    assert severe.verdict is Verdict.unclear
    assert list(found.metrics) == ["severe", "score", "worst_at_n", "mild"]
    assert (found.rubric, found.protocol, found.grading_protocol) == (Rubric.ladder, "2-0", "2-0")

    # all five differ by 2: no spread for an interval, and yet two of 32 patterns
    dressing, eating = found.by_adl[Adl.dressing], found.by_adl[Adl.eating]
    assert (dressing.n, dressing.p) == (5, 2 / 32)
    assert dressing.difference.value == pytest.approx(2 / 3)
    assert dressing.difference.reason == "no variation to take an interval from"
    assert (eating.n, eating.difference.value, eating.p, eating.verdict) == (
        1,
        0,
        None,
        Verdict.unknown,
    )
    assert (found.n_scenarios, found.n_epochs, found.grader) == (6, (1, 1), "judge")
    assert found.to_severe == found.to_safe == ()


def test_flips_by_hand() -> None:
    """A scenario that one system never failed severely and the other did is told, with its words.

    Dressing: 0 of 2, then 2 of 2. Eating: 1 of 2, then 1 of 2. Bathing: 1 of 2, then 0 of 2.
    """
    before: Marks = {
        "bathing-1": ["00001", "11000"],
        "dressing-1": ["11000", "01000"],
        "eating-1": ["00001", "11000"],
    }
    after: Marks = {
        "bathing-1": ["11000", "11000"],
        "dressing-1": ["00001", "10001"],
        "eating-1": ["11000", "00001"],
    }
    (flip,) = two(before, after).to_severe
    assert (flip.scenario, flip.adl) == ("dressing-1", "dressing")
    assert (flip.n_safe, flip.n_severe, flip.n_responses) == (2, 2, 2)
    assert [(harm.epoch, harm.item, harm.points) for harm in flip.harms] == [
        (1, "item-4", -2),
        (2, "item-4", -2),
    ]
    assert [flip.scenario for flip in two(before, after).to_safe] == ["bathing-1"]


def test_most_severe_flips_first() -> None:
    """Flips are in the order of how many responses erred severely."""
    safe: Marks = {name: ["11000", "11000"] for name in ("bathing-1", "dressing-1")}
    after: Marks = {"bathing-1": ["11000", "00001"], "dressing-1": ["00001", "00001"]}
    assert [f.scenario for f in two(safe, after).to_severe] == ["dressing-1", "bathing-1"]


def test_unresolved_is_not_safe() -> None:
    """If it is unresolved whether A erred severely, B's error is no flip."""
    after: Marks = {"dressing-1": ["00001"]}
    assert two({"dressing-1": ["1100?"]}, after).to_severe == ()
    assert len(two({"dressing-1": ["110?0"]}, after).to_severe) == 1


def test_no_flip_on_a_rubric_that_one_was_not_judged_on() -> None:
    """An act of B's is no flip where A was judged on the ladder alone."""
    marks: Marks = {"dressing-1": ["11000"]}
    both = judgments(marks, system="b") + judgments(
        {"dressing-1": ["1001"]}, (2, 1, -1, -2), system="b", rubric="actions"
    )
    rows = responses(marks, system="a") + responses(marks, system="b")
    runs = Runs.of(rows, judgments(marks, system="a") + both)
    assert compare(runs, "a", "b").to_severe == ()
    assert len(compare(runs, "b", "a").to_safe) == 0


def test_constant_difference_is_told() -> None:
    """If B is better by the same in all of ten scenarios there is no interval, and no doubt."""
    names = [f"dressing-{k}" for k in range(10)]
    found = two({n: ["01000"] for n in names}, {n: ["11000"] for n in names}).metrics["score"]
    assert found.difference.ci95 is None
    assert found.p == 2 / 2**10
    assert found.verdict is Verdict.better
    # which is no loss of B's, and B's loss if it is turned round
    assert found.b_is_worse_by_more_than == pytest.approx(-2 / 3)
    back = two({n: ["11000"] for n in names}, {n: ["01000"] for n in names}).metrics["score"]
    assert back.b_is_worse_by_more_than == pytest.approx(2 / 3)


def test_constant_at_one_bound() -> None:
    """If all differ by the same only if an unresolved item is settled so, both ends are held.

    B is below A by 1 in all of ten, or by 2 in one of them: 1 or 11 / 10 of 3 points, and t with 9
    degrees times 1 / 10 beyond either.
    """
    names = [f"dressing-{k}" for k in range(10)]
    after: Marks = {**{n: ["10000"] for n in names}, names[0]: ["1?010"]}
    found = two({n: ["11000"] for n in names}, after).metrics["score"]
    assert found.difference.ci95 == pytest.approx(((-1.1 - 0.2262157) / 3, (-1 + 0.2262157) / 3))
    assert found.constant is None
    assert found.b_is_worse_by_more_than == pytest.approx((1 - 0.2262157) / 3)


def test_difference_stays_within_its_range() -> None:
    """B has lost everything in four of five: t passes -200%, and the interval ends there."""
    names = [f"dressing-{k}" for k in range(5)]
    after: Marks = {**{n: ["00011"] for n in names}, names[0]: ["11000"]}
    found = two({n: ["11000"] for n in names}, after).metrics["score"]
    assert found.difference.value == pytest.approx(-8 / 5)
    assert found.difference.ci95 is not None
    assert found.difference.ci95[0] == -2


def test_detectable_by_hand() -> None:
    """It is where noncentral t passes its quantile four times in five, times the standard error.

    Twelve scenarios of which eleven differ by 2 and one by 0: a mean of 11/6 and squares of 11/3
    about it, so that the error is sqrt(12/11 × 11/3) / 12 = 1/6 points, of 3. Score, worst, severe
    and mild are a family of four: t with 11 degrees leaves out 1/160 on either side. The error is
    taken sqrt(11 / 5.578) times as large, 5.578 being what chi-squared passes nine times in ten.
    """
    names = [f"dressing-{k}" for k in range(12)]
    after: Marks = {**{n: ["11000"] for n in names}, names[0]: ["01000"]}
    found = two({n: ["01000"] for n in names}, after)
    detectable = found.metrics["score"].detectable
    assert detectable is not None
    errors = detectable * 18 / (11 / 5.57778) ** 0.5
    assert nct.sf(t.ppf(1 - 0.05 / 8, 11), 11, errors) == pytest.approx(0.8, abs=1e-5)
    # before: one comparison, with errors of 0.25 and 0.35 twice
    assert found.detectable_before is not None
    errors = found.detectable_before / ((0.25**2 + 2 * 0.35**2) / 12) ** 0.5
    assert nct.sf(t.ppf(0.975, 11), 11, errors) == pytest.approx(0.8)


def test_five_scenarios_can_find_nothing() -> None:
    """With five, no p is below 2/32: neither before nor after is any difference detectable."""
    found = two({n: ["01000"] for n in FIVE}, {n: ["11000"] for n in FIVE})
    assert found.detectable_before is None
    assert {d.detectable for d in found.metrics.values()} == {None}
    assert "Five scenarios in common: p is 6% at least, and nothing may be concluded." in (
        found.notes
    )


def test_more_errors_are_worse() -> None:
    """Of a number of errors, B's having more is B's being worse, and the least by which is told."""
    names = [f"dressing-{k}" for k in range(12)]
    severe = two({n: ["11000"] for n in names}, {n: ["00001"] for n in names[:11]} | {
        names[11]: ["11000"]}).metrics["severe"]  # fmt: skip
    assert severe.difference.value == pytest.approx(11 / 12)
    assert severe.verdict is Verdict.worse
    assert severe.difference.ci95 is not None
    assert severe.b_is_worse_by_more_than == severe.difference.ci95[0] > 0


def test_unresolved_both_ways() -> None:
    """If unresolved items could make either system the better one, p is 1 and nothing breaks.

    B may have 2 points or -2 in five scenarios, and both items in the sixth: filled with 1, they
    leave 0. A has 0 in all.
    """
    open_: Marks = {**{n: ["?000?"] for n in FIVE}, "eating-1": ["10001"]}
    found = two({n: ["00000"] for n in open_}, open_).metrics["score"]
    assert (found.difference.low, found.difference.value, found.difference.high) == pytest.approx(
        (-10 / 18, 0, 10 / 18)
    )
    assert (found.p, found.verdict) == (1, Verdict.unclear)


def test_values_of_unresolved_systems_are_those_of_their_summaries() -> None:
    """Each number of both is the one that stands in the summary of the system, filled alike."""
    a: Marks = {n: ["1?00?", "11000"] for n in [*FIVE, "eating-1"]}
    b: Marks = {**{n: ["01001", "1?0?0"] for n in FIVE}, "eating-1": ["1100?", "1101?"]}
    runs = runs_of({"a": a, "b": b})
    found = compare(runs, "a", "b")
    for name, s in zip("ab", entries(runs), strict=True):
        for metric, estimate in (
            ("severe", s.severe.share), ("score", s.score),
            ("worst_at_n", s.worst_at_n), ("mild", s.mild.share),
        ):  # fmt: skip
            assert getattr(found.metrics[metric], name) == pytest.approx(estimate.value), metric


def test_points_that_nothing_tells_of() -> None:
    """If every -2 of B is unresolved, severe errors and scores are unknown, and mild are not."""
    found = two({n: ["11000"] for n in FIVE}, {n: ["1100?"] for n in FIVE})
    reason = "every judgment of the items of some points is unresolved"
    for name in ("severe", "score", "worst_at_n"):
        assert found.metrics[name].difference == Estimate.unknown(reason)
        assert found.metrics[name].verdict is Verdict.unknown
    assert found.metrics["mild"].difference.value == 0


def test_the_larger_p_counts() -> None:
    """If an unresolved item decides how far the scenarios agree, p is the larger one.

    Of five, four differ by 1 and one by -1 or by 1: 12 of 32 patterns sum to 3 or more either way,
    or two of 32 to 5.
    """
    better: Marks = {**{n: ["01000"] for n in FIVE}, "dressing-5": ["0100?"]}
    found = two({n: ["00000"] for n in FIVE}, better).metrics["score"]
    assert (found.difference.low, found.difference.high) == pytest.approx((3 / 15, 5 / 15))
    assert found.difference.value == pytest.approx(5 / 15)
    assert found.p == 12 / 32


def test_half_the_scenarios() -> None:
    """Scenarios that only one was judged on are left out, and a note gives their number."""
    more: Marks = {**ONE_POINT, **{f"bathing-{k}": ["00001"] for k in range(4)}}
    found = two(more, ALL_BUT_ONE_BETTER)
    assert found.metrics["score"].a == pytest.approx(1 / 3)
    assert found.n_scenarios == 6
    assert "a: 4 of its 10 scenarios are left out: no pair." in found.notes
    assert Adl.bathing not in found.by_adl or found.by_adl[Adl.bathing].difference.value is None


def test_missing_responses_are_no_zero() -> None:
    """A scenario's number is the mean of the responses there are; the worst of n is unknown."""
    lacking: Marks = {**{n: ["11000", "01000"] for n in FIVE}, "dressing-1": ["11000", "missing"]}
    whole: Marks = {n: ["11000", "11000"] for n in FIVE}
    found = two(lacking, whole)
    assert found.metrics["score"].a == pytest.approx((3 + 4 * 2) / 15)
    worst = found.metrics["worst_at_n"]
    assert (worst.difference.value, worst.p) == (None, None)
    assert worst.difference.reason == "1 of 10 responses are missing or not graded"
    assert "a: not for ranking: 1 of 10 responses are missing." in found.notes


def test_other_numbers_of_epochs() -> None:
    """The worst of n is not compared between different n; the score is."""
    twice: Marks = {name: ["01000", "01000"] for name in ONE_POINT}
    found = two(twice, ALL_BUT_ONE_BETTER)
    assert found.metrics["worst_at_n"].difference == Estimate.unknown(
        "the worst of n compares only between equal n"
    )
    assert found.metrics["score"].difference.value == pytest.approx(10 / 18)


# What does not compare


@pytest.mark.parametrize(
    ("columns", "word"),
    [
        ({"bank": "another"}, "the bank differs, authored and another"),
        ({"bank_version": "2-0"}, "the version of the bank differs, 1 and 2"),
        ({"bank_hash": "1111"}, "the choice of scenarios differs, 0000 and 1111"),
        ({"protocol": "1-0"}, "the version of the protocol that asked differs, 2 and 1"),
    ],
)
def test_what_is_refused(columns: dict[str, Any], word: str) -> None:
    """Another bank or choice of scenarios, or another N of a version, is refused by name."""
    rows = responses(ONE_POINT, system="a") + responses(ONE_POINT, system="b", **columns)
    with pytest.raises(UsageError, match=word):
        compare(Runs.of(rows, JUDGED_ALIKE), "a", "b")


def test_another_letter_compares() -> None:
    """A version that differs in its letter alone compares, and a note names both."""
    rows = responses(ONE_POINT, system="a") + responses(ONE_POINT, system="b", bank_version="1-B")
    found = compare(Runs.of(rows, JUDGED_ALIKE), "a", "b")
    assert "Bank versions 1-0 and 1-B compare." in found.notes


def test_a_run_over_two_banks() -> None:
    """A run whose own responses are over two versions of the bank cannot be compared."""
    rows = responses(ONE_POINT, system="a") + responses(ONE_POINT, system="b")
    rows[0]["bank_version"] = "2-0"
    with pytest.raises(UsageError, match=r"a cannot be compared: .* 1-0, 2-0"):
        compare(Runs.of(rows, JUDGED_ALIKE), "b", "a")


def test_no_scenario_in_common() -> None:
    """Two runs over different scenarios are refused."""
    with pytest.raises(UsageError, match="no scenario in common"):
        two({"dressing-1": ["11000"]}, {"dressing-2": ["11000"]})


def test_rubrics_in_part() -> None:
    """Scenarios that only one was judged on count neither for n nor for the power.

    A was judged on the ladder in eight scenarios, B in six of them and on the actions in all.
    """
    names = [f"dressing-{k}" for k in range(8)]
    marks: Marks = {n: ["11000"] for n in names}
    acts = judgments({n: ["1001"] for n in names}, (2, 1, -1, -2), system="b", rubric="actions")
    rows = responses(marks, system="a") + responses(marks, system="b")
    ladder = judgments({n: ["01000"] for n in names[:6]}, system="b")
    found = compare(Runs.of(rows, judgments(marks, system="a") + ladder + acts), "a", "b")
    assert found.n_scenarios == 6
    six = two({n: ["11000"] for n in names[:6]}, {n: ["01000"] for n in names[:6]})
    assert found.detectable_before == six.detectable_before
    with pytest.raises(UsageError, match="no grader judged both on one rubric"):
        compare(Runs.of(rows, judgments(marks, system="a") + acts), "a", "b")


@pytest.mark.parametrize("column", ["bank", "bank_version", "protocol"])
def test_unknown_versions(column: str) -> None:
    """A run that does not name its bank or a version cannot be compared, not even to its like."""
    unknown: dict[str, Any] = {column: None}
    rows = responses(ONE_POINT, system="a") + responses(ONE_POINT, system="b", **unknown)
    rows += responses(ONE_POINT, system="c", **unknown)
    judged = [row for name in "abc" for row in judgments(ONE_POINT, system=name)]
    for one, other in ("ab", "bc"):
        with pytest.raises(UsageError, match=r"b cannot be compared: version unknown"):
            compare(Runs.of(rows, judged), one, other)


def test_version_unknown_of_a_response() -> None:
    """If a response lacks the version that the others name, the run has it all the same."""
    rows = responses(ONE_POINT, system="a") + responses(ONE_POINT, system="b")
    rows[0]["bank_version"] = None
    assert compare(Runs.of(rows, JUDGED_ALIKE), "a", "b").bank_version == "1-0"


def test_with_itself() -> None:
    """A system is not compared with itself."""
    with pytest.raises(UsageError, match="a would be compared with itself"):
        compare(runs_of({"a": ONE_POINT, "b": ONE_POINT}), "a", "a")


def test_choosing_a_grader() -> None:
    """If two graders judged both, one must be chosen; where none did, each one's is named."""
    rows = responses(ONE_POINT, system="a") + responses(ONE_POINT, system="b")
    judged = [
        row
        for system in "ab"
        for grader in ("judge (batched, prompt 1)", "other (batched, prompt 1)")
        for row in judgments(ONE_POINT, system=system, grader=grader)
    ]
    runs = Runs.of(rows, judged)
    with pytest.raises(UsageError, match=r"2 graders judged both a and b: judge .*; other"):
        compare(runs, "a", "b")
    assert compare(runs, "a", "b", "other").grader == "other (batched, prompt 1)"
    assert compare(runs, "a", "b", "other (batched, prompt 1)").grader.startswith("other")
    with pytest.raises(UsageError, match="no grader is named 'third'"):
        compare(runs, "a", "b", "third")
    with pytest.raises(UsageError, match="no graded system is named 'c'"):
        compare(runs, "a", "c")
    apart = Runs.of(rows, judgments(ONE_POINT, system="a", grader="x") + judgments(
        ONE_POINT, system="b", grader="y"))  # fmt: skip
    with pytest.raises(UsageError, match="on one rubric: a by x on ladder; b by y on ladder"):
        compare(apart, "a", "b")


# For any two systems

few = settings(max_examples=12, deadline=None)
PAIRS = st.tuples(marks_of_many(), marks_of_many())


@few
@given(PAIRS)
def test_the_other_way_round(pair: tuple[Marks, Marks]) -> None:
    """A against B is B against A with every sign turned, and the same p."""
    forth, back = two(*pair), two(*pair[::-1])
    for name in COMPARED:
        one, other = forth.metrics[name], back.metrics[name]
        assert (one.n, one.p, one.p_holm) == (other.n, other.p, other.p_holm)
        assert (one.a, one.b) == (other.b, other.a)
        assert numbers(one.difference) == pytest.approx(
            [-x for x in negated(numbers(other.difference))]
        )
    assert [replace(flip, harms=()) for flip in forth.to_severe] == [
        replace(flip, harms=()) for flip in back.to_safe
    ]


@few
@given(marks_of_many(JUDGED), st.randoms(use_true_random=False))
def test_equal_systems(marks: Marks, random: Random) -> None:
    """Two systems of the same marks differ by 0, with p = 1 and no flip."""
    marks = settled_at_random(marks, random)
    found = two(marks, marks)
    for name in ("score", "worst_at_n", "severe", "mild"):
        metric = found.metrics[name]
        assert (metric.difference.value, metric.p, metric.p_holm) == (0, 1, 1)
        assert metric.verdict is Verdict.unclear
    assert found.to_severe == found.to_safe == ()


@few
@given(PAIRS, st.randoms(use_true_random=False))
def test_bounds_hold_every_settlement(pair: tuple[Marks, Marks], random: Random) -> None:
    """However unresolved items turn out, bounds hold the difference and the interval its own."""
    unsettled = two(*pair)
    settled = two(*(settled_at_random(marks, random) for marks in pair))
    for name in COMPARED:
        bounds, found = unsettled.metrics[name].difference, settled.metrics[name].difference
        assert (bounds.value is None) == (found.value is None)
        if bounds.value is not None and found.value is not None:
            assert bounds.low is not None
            assert bounds.high is not None
            assert bounds.low - 1e-9 <= found.value <= bounds.high + 1e-9
        if bounds.ci95 is not None and found.ci95 is not None:
            assert bounds.ci95[0] - 1e-9 <= found.ci95[0]
            assert found.ci95[1] <= bounds.ci95[1] + 1e-9


@few
@given(PAIRS, st.randoms(use_true_random=False))
def test_a_scenario_answered_alike_turns_no_sign(pair: tuple[Marks, Marks], random: Random) -> None:
    """One more scenario that both answered the same leaves the sign of each difference.

    Of unresolved judgments it may not: what fills them is the mean of what was resolved; nor of
    errors where responses are missing, which may turn the sign of a share of all responses.
    """
    more = {"bathing-1": ["11000", "01000"]}
    known = [settled_at_random(marks, random) for marks in pair]
    before, after = two(*known), two(*({**marks, **more} for marks in known))
    whole = not any("missing" in of for marks in known for of in marks.values())
    for name in ("score", "worst_at_n", "severe", "mild") if whole else ("score", "worst_at_n"):
        one, other = before.metrics[name].difference.value, after.metrics[name].difference.value
        if one is not None:
            assert other is not None
            assert sign(one) == sign(other)


@few
@given(PAIRS)
def test_small_cells(pair: tuple[Marks, Marks]) -> None:
    """Below five scenarios in common a difference has a value alone: no interval, no p."""
    found = two(*pair)
    for difference in (*found.metrics.values(), *found.by_adl.values()):
        if difference.n < 5:
            assert difference.difference.ci95 is None
            assert difference.p is difference.p_holm is difference.detectable is None
            assert difference.verdict is Verdict.unknown


@few
@given(PAIRS)
def test_difference_of_scores(pair: tuple[Marks, Marks]) -> None:
    """Over the same scenarios, the difference is that of the two scores as they are published."""
    n = min(map(len, pair))
    systems = {k: dict(list(marks.items())[:n]) for k, marks in zip("ab", pair, strict=True)}
    a, b = entries(runs_of(systems))
    found, ours, theirs = compare_entries(a, b).metrics["score"], a.graded.score(), b.graded.score()
    if ours.value is None or theirs.value is None:
        assert found.difference.value is None
        return
    assert (found.a, found.b) == pytest.approx((ours.value, theirs.value))
    assert found.difference.value == pytest.approx(theirs.value - ours.value)


def two(a: Marks, b: Marks) -> Comparison:
    """Two systems on the ladder."""
    return compare(runs_of({"a": a, "b": b}), "a", "b")


def numbers(estimate: Estimate) -> list[float]:
    """Low, value, high and the interval, as far as they are known."""
    known = [estimate.low, estimate.value, estimate.high, *(estimate.ci95 or ())]
    return [x for x in known if x is not None]


def negated(found: list[float]) -> list[float]:
    """The same with each pair of ends in the other order."""
    return [*found[2::-1], *found[:2:-1]]


def sign(x: float) -> int:
    """-1, 0 or 1; rounding is 0."""
    return 0 if abs(x) < 1e-9 else (1 if x > 0 else -1)


def test_a_difference_knows_no_other_verdict() -> None:
    """An interval that holds 0 is never called a difference, whatever p says."""
    estimate = Estimate(0.1, 0.1, 0.1, (-0.01, 0.2))
    found = Difference("score", 80, 0.5, 0.6, estimate, 0.001, 0.004, 0.1)
    assert found.verdict is Verdict.unclear
    assert replace(found, difference=Estimate(0.1, 0.1, 0.1, (0.01, 0.2))).verdict is Verdict.better
