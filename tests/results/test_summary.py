"""A run by hand, number by number; then missing or unresolved parts; then any run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from careeval.core.scenario import Adl, Domain, Rubric
from careeval.results.entries import entries
from careeval.results.entry import Entry
from careeval.results.graded_rubric import Errors
from careeval.results.tables import Runs
from careeval.stats.estimate import Estimate
from careeval.stats.intervals import ratio_interval
from results.authored import (
    JUDGED,
    LADDER,
    Marks,
    all_numbers,
    by_hand,
    judgments,
    ladder_run,
    marks_of_runs,
    responses,
)

UF, UA, CI, FS = Domain


def test_run_by_hand() -> None:
    """Of two scenarios asked twice, every number of both entries is the one worked out by hand."""
    actions, ladder = entries(by_hand())
    assert (actions.rubric, ladder.rubric) == (Rubric.actions, Rubric.ladder)

    # The ladder: means 1 and 1/2, lowest -1 and 0, all of 3 + 3.
    assert values(ladder.score, ladder.worst_at_n) == pytest.approx([1.5 / 6, -1 / 6])
    # One -2 rung and one -1 rung a scenario, each present in one of four responses.
    for errors in (ladder.severe, ladder.mild):
        assert (errors.count, errors.n, errors.share.value) == (1, 4, 1 / 4)
    # The actions: means 1/2 and 3, lowest -1 and 2, of 3 + 4.
    assert values(actions.score, actions.worst_at_n) == pytest.approx([3.5 / 7, 1 / 7])
    # Both -2 acts of dressing are in one response of four.
    severe = actions.severe
    assert (severe.count, severe.n, severe.share.value) == (1, 4, 1 / 4)

    for s, scores, counts in (
        (ladder, (1 / 3, 0.5 / 3), (0, 1)),
        (actions, (0.5 / 3, 3 / 4), (1, 0)),
    ):
        assert list(s.by_adl) == [Adl.dressing, Adl.eating]
        cells = s.by_adl[Adl.dressing], s.by_adl[Adl.eating]
        assert values(*(cell.score for cell in cells)) == pytest.approx(scores)
        assert [(c.n, c.small, c.severe.n) for c in cells] == [(1, True, 2)] * 2
        assert tuple(cell.severe.count for cell in cells) == counts

    # Acts weighted by level / 2 or (2 - level) / 2. Function: dressing 2 and 1/2, so 2 and 5/2
    # of 5/2; eating 1, so 1 and 0 of 1. Agency: dressing 1, so 0 and 1 of 1. Safety: dressing -2
    # and -1, so 0 and -3 of 0; eating 2, 1 and -2, so 3 and 2 of 3.
    weighted = {d: (cell.n, cell.score.value) for d, cell in actions.by_domain.items()}
    assert weighted == {
        UF: (2, pytest.approx((9 / 4 + 1 / 2) / (7 / 2))),
        UA: (1, pytest.approx(1 / 2)),
        CI: (0, None),
        FS: (2, pytest.approx((-3 / 2 + 5 / 2) / 3)),
    }
    # Rungs in function: 2, 1, 0, -1/2, -2, so 3 and -1/2, then 0 and 1, of 3 + 3.
    assert ladder.by_domain[UF].score.value == pytest.approx((5 / 4 + 1 / 2) / 6)

    for s, n_judgments in ((ladder, 5 * 4), (actions, 4 * 2 + 3 * 2)):
        assert (s.n_scenarios, s.n_epochs, s.n_responses) == (2, 2, 4)
        assert (s.n_judgments, s.n_unresolved, s.n_ungraded, s.n_missing) == (n_judgments, 0, 0, 0)
        assert (s.system, s.grader, s.n_gradings, s.bank) == ("robot-a", "judge", 1, "authored")
        assert (s.protocol, s.grading_protocol) == ("2-0", "2-0")
        assert s.not_ranked == s.warnings == ()


def test_two_scenarios_have_no_interval() -> None:
    """Below five scenarios the numbers stand without an interval, and say why."""
    for s in entries(by_hand()):
        for estimate in (s.score, s.worst_at_n, s.severe.share):
            assert (estimate.ci95, estimate.reason) == (None, "fewer than five scenarios")


def test_errors_that_the_rubric_lacks() -> None:
    """A rubric without -1 items has mild errors in 0 of 0 responses: a share unknown, and not 0."""
    actions, _ = entries(by_hand())
    reason = "there was no item of this severity to judge"
    assert actions.mild == Errors(0, 0, Estimate.unknown(reason), None)


def test_domain_that_nothing_is_rated_in() -> None:
    """A domain without a rated item is unknown because of that."""
    actions, ladder = entries(by_hand())
    unknown = Estimate.unknown("no item of this rubric is rated in this domain")
    assert actions.by_domain[CI].score == ladder.by_domain[FS].score == unknown


def test_scenarios_without_errors_to_make_are_in_no_share() -> None:
    """A response to a scenario whose rubric has no -2 is not among the n of severe errors."""
    marks = {"dressing-1": ["11"], "eating-1": ["11"]}
    points = {"dressing-1": [2, 1], "eating-1": [2, -2]}
    (s,) = entries(Runs.of(responses(marks), judgments(marks, points)))
    assert (s.severe.count, s.severe.n, s.severe.share.value) == (1, 1, 1)


# Missing, ungraded, empty, refused


def test_missing_response() -> None:
    """A missing response is in no mean and no rate, and what is over all epochs is unknown."""
    marks = {"dressing-1": ["11000", "missing"], "eating-1": ["10001", "01000"]}
    (s,) = entries(ladder_run(marks))

    # Dressing 3, once; eating 0 and 1.
    assert s.score.value == pytest.approx((3 + 1 / 2) / 6)
    unknown = Estimate.unknown("1 of 4 responses are missing or not graded")
    assert s.worst_at_n == unknown
    # Three responses were judged, the -2 in one.
    assert (s.severe.count, s.severe.n, s.severe.share.value) == (1, 3, pytest.approx(1 / 3))
    assert s.by_adl[Adl.dressing].score.value == 1

    assert (s.n_missing, s.n_responses, s.n_ungraded) == (1, 4, 0)
    assert s.not_ranked == ("1 of 4 responses are missing",)


def test_missing_responses_in_domains() -> None:
    """A domain's score is a mean over the responses that are there."""
    marks = {"dressing-1": ["11000", "missing"], "eating-1": ["00010", "01000"]}
    levels = {scenario: {UA: [2, 1, 1, 0, 0]} for scenario in marks}
    (s,) = entries(Runs.of(responses(marks), judgments(marks, LADDER, levels)))
    # Weights 2, 1/2, 0, -1, -2: 5/2, and -1 and 1/2, of 5/2 each.
    assert s.by_domain[UA].score.value == pytest.approx((5 / 2 - 1 / 4) / 5)


@pytest.mark.parametrize("lost", ["missing", "ungraded"])
def test_scenario_lost_altogether(lost: str) -> None:
    """A scenario without any judgment is out of the score, and the run is not whole without it."""
    marks = {"dressing-1": ["11000", "01000"], "eating-1": [lost, lost]}
    (s,) = entries(ladder_run(marks))

    # 3 and 1, of 3; eating's maximum is not in the sum either.
    assert s.score.value == pytest.approx(2 / 3)
    unknown = Estimate.unknown("2 of 4 responses are missing or not graded")
    assert s.worst_at_n == unknown
    assert s.severe.n == 2
    assert (s.n_scenarios, s.n_responses) == (2, 4)
    assert (s.n_missing, s.n_ungraded) == ((2, 0) if lost == "missing" else (0, 2))
    assert len(s.not_ranked) == 1

    cell = s.by_adl[Adl.eating]
    unknown = Estimate.unknown("no response was graded on this rubric")
    assert (cell.n, cell.score, cell.severe) == (0, unknown, Errors(0, 0, unknown, None))


def test_response_that_is_in_no_row_is_missing() -> None:
    """A response that was asked of every other scenario and has no row is counted as missing."""
    (s,) = entries(ladder_run({"dressing-1": ["11000", "11000"], "eating-1": ["11000"]}))
    assert (s.n_responses, s.n_missing) == (4, 1)
    assert s.worst_at_n.value is None


@pytest.mark.parametrize("state", ["empty", "refused"])
def test_response_without_words(state: str) -> None:
    """An empty or refused response scores 0, could have erred, is counted, and is ranked."""
    marks = {"dressing-1": ["11000", state]}
    (s,) = entries(ladder_run(marks))
    assert values(s.score, s.worst_at_n) == pytest.approx([1.5 / 3, 0])
    assert (s.severe.count, s.severe.n) == (0, 2)
    assert (s.n_empty, s.n_refused) == ((1, 0) if state == "empty" else (0, 1))
    assert (s.n_missing, s.n_ungraded, s.not_ranked) == (0, 0, ())


def test_ungraded_response() -> None:
    """An answer that the grader has no judgments of is ungraded: not missing, not 0, not ranked."""
    (s,) = entries(ladder_run({"dressing-1": ["11000", "ungraded"]}))
    assert (s.n_ungraded, s.n_missing, s.score.value) == (1, 0, 1)
    assert s.worst_at_n == Estimate.unknown("1 of 2 responses are missing or not graded")
    assert s.not_ranked == ("1 of 2 responses are not graded",)


def test_response_judged_in_part_is_ungraded() -> None:
    """A response with a row for some items alone is counted as ungraded, and is in no score."""
    marks = {"dressing-1": ["11000", "00001"]}
    rows = judgments(marks)
    (s,) = entries(Runs.of(responses(marks), rows[:-1]))
    assert (s.score.value, s.n_ungraded) == (1, 1)


def test_response_judged_on_one_rubric_alone_is_ungraded_on_the_other() -> None:
    """A response that one rubric was not judged on is ungraded in that entry, and in it alone."""
    marks = {"dressing-1": ["11000", "11000"]}
    second = judgments({"dressing-1": ["11000", "ungraded"]}, rubric="actions")
    actions, ladder = entries(Runs.of(responses(marks), judgments(marks) + second))
    assert (actions.n_ungraded, actions.worst_at_n.value) == (1, None)
    assert (ladder.n_ungraded, ladder.worst_at_n.value) == (0, 1)


def test_judgments_of_a_missing_response_do_not_count() -> None:
    """Judgments of a response that is missing now are in no number."""
    marks = {"dressing-1": ["11000", "missing"]}
    rows = judgments({"dressing-1": ["11000", "00001"]})
    (s,) = entries(Runs.of(responses(marks), rows))
    assert (s.score.value, s.n_missing, s.n_ungraded, s.n_judgments) == (1, 1, 0, 5)


def test_only_judgments_of_missing_responses() -> None:
    """If no response that is there was judged, every number is unknown, with a reason."""
    marks = {"dressing-1": ["missing"]}
    (s,) = entries(Runs.of(responses(marks), judgments({"dressing-1": ["11000"]})))
    reason = "no response was graded on this rubric"
    unknown = Estimate.unknown(reason)
    assert s.score == s.worst_at_n == s.severe.share == s.mild.share == unknown
    assert s.not_ranked == ("1 of 1 responses are missing", f"no score: {reason}")


def test_lost_scenario_is_in_no_interval() -> None:
    """The interval of a run that lost a scenario is that of the run without the scenario."""
    known = {f"dressing-{n}": ["01000", "11000"] for n in range(5)}
    known["dressing-0"] = ["00001", "01000"]
    (without,) = entries(ladder_run(known))
    (s,) = entries(ladder_run({**known, "eating-1": ["missing", "missing"]}))
    assert without.score.ci95 is not None
    assert s.score == without.score
    assert s.by_adl[Adl.dressing] == without.by_adl[Adl.dressing]
    assert s.severe == without.severe


def test_interval_of_means_over_what_is_there() -> None:
    """A scenario with a missing response is in the interval, with the mean of the rest."""
    marks = {f"dressing-{n}": ["01000", "11000"] for n in range(5)}
    marks["dressing-0"] = ["missing", "00001"]
    (s,) = entries(ladder_run(marks))
    means = np.array([-2.0, 2, 2, 2, 2])
    known = ratio_interval(means, np.full(5, 3.0), lowest=-1.0)
    assert s.score.ci95 == pytest.approx(tuple(known))
    assert s.n_missing == 1


# Unresolved


def test_unresolved_judgments_are_filled_with_the_item_s_mean() -> None:
    """A +1 that is present in the other epoch counts as present, and a -2 absent in it as absent.

    The bounds settle the +1 absent, and the -2 present.
    """
    marks = {"dressing-1": ["1?000", "01000"], "eating-1": ["11000", "1000?"]}
    (s,) = entries(ladder_run(marks))

    # Dressing 2 or 3, filled 3, and 1; eating 3, and 0 or 2, filled 2.
    assert bounds(s.score) == pytest.approx([(3 / 2 + 3 / 2) / 6, (4 / 2 + 5 / 2) / 6])
    assert s.score.value == pytest.approx((4 / 2 + 5 / 2) / 6)
    # Lowest 1 and 0, or 1 and 2, filled 1 and 2.
    assert bounds(s.worst_at_n) == pytest.approx([1 / 6, 3 / 6])
    assert s.worst_at_n.value == pytest.approx(3 / 6)
    assert (s.severe.count, s.severe.n, s.severe.share.value) == (0, 4, 0)
    assert bounds(s.severe.share) == [0, 1 / 4]
    assert bounds(s.by_adl[Adl.eating].score) == pytest.approx([3 / 6, 5 / 6])
    assert s.by_adl[Adl.eating].score.value == pytest.approx(5 / 6)


def test_chances_of_two_unresolved_errors_multiply() -> None:
    """Two -2 of which each is in one of three other responses make 1 - (2/3)² = 5/9 of an error."""
    marks = {"dressing-1": ["1??", "110", "100", "101"]}
    (s,) = entries(Runs.of(responses(marks), judgments(marks, [2, -2, -2])))
    assert s.severe.share.value == pytest.approx((5 / 9 + 1 + 0 + 1) / 4)
    assert bounds(s.severe.share) == pytest.approx([2 / 4, 3 / 4])
    assert (s.severe.count, s.severe.n) == (2, 4)
    # Points 2 - 2/3 - 2/3, 0, 2 and 0, of 2 each.
    assert s.score.value == pytest.approx((2 / 3 + 0 + 2 + 0) / 8)
    assert bounds(s.score) == pytest.approx([(-2 + 2) / 8, (2 + 2) / 8])


def test_item_without_a_resolved_epoch_is_filled_from_its_points() -> None:
    """Of a -2 that is always unresolved counts the mean of all resolved -2; other points do not."""
    marks = {"dressing-1": ["1100?", "1101?"], "eating-1": ["11001", "11000"]}
    (s,) = entries(ladder_run(marks))
    # the -2 of eating is present in one of two, so 1/2 for dressing: 2 and 1, and 1 and 3
    assert s.score.value == pytest.approx((3 / 2 + 4 / 2) / 6)
    assert s.severe.share.value == pytest.approx((1 / 2 + 1 / 2 + 1 + 0) / 4)
    assert bounds(s.severe.share) == pytest.approx([1 / 4, 3 / 4])
    # the same within a part: it is the entry's mean
    assert s.by_adl[Adl.dressing].severe.share.value == pytest.approx(1 / 2)


def test_points_of_which_every_judgment_is_unresolved() -> None:
    """If no -2 was resolved, score and severe errors are unknown, and mild errors are not."""
    marks = {"dressing-1": ["1100?", "0101?"], "eating-1": ["1100?", "1000?"]}
    levels = {name: {UF: [2, 2, 1, 1, None], UA: [2, 2, 1, 1, 0]} for name in marks}
    (s,) = entries(Runs.of(responses(marks), judgments(marks, levels=levels)))
    unknown = Estimate.unknown("every judgment of the items of some points is unresolved")
    assert s.score == s.worst_at_n == s.severe.share == s.by_domain[UA].score == unknown
    assert (s.severe.count, s.severe.n, s.severe.upper_at_zero) == (0, 4, None)
    assert s.mild.share.value == 1 / 4
    # 3 and 1 - 1/2, and 3 and 2, of 3
    assert s.by_domain[UF].score.value == pytest.approx((3.5 / 2 + 5 / 2) / 6)
    assert s.not_ranked == (
        "4 of 4 judgments of items of −2 are unresolved, more than 2%",
        f"no score: {unknown.reason}",
    )


def test_unresolved_item_of_no_points() -> None:
    """An item of 0 points moves no number, even where nothing tells of it."""
    (s,) = entries(ladder_run({"dressing-1": ["11?00", "01?00"]}))
    (known,) = entries(ladder_run({"dressing-1": ["11000", "01000"]}))
    assert s.n_unresolved == 2
    assert all_numbers(s) | {"n_unresolved": 0} == all_numbers(known)


def test_all_unresolved() -> None:
    """A run whose every judgment is unresolved has no number, not the middle of the scale."""
    (s,) = entries(ladder_run({"dressing-1": ["?????", "?????"]}))
    why = "every judgment on this rubric is unresolved"
    unknown = Estimate.unknown(why)
    assert s.score == s.worst_at_n == s.severe.share == s.mild.share == unknown
    assert (s.n_unresolved, s.n_judgments) == (10, 10)
    assert s.not_ranked == (
        "4 of 4 judgments of positive items are unresolved, more than 2%",
        "2 of 2 judgments of items of −1 are unresolved, more than 2%",
        "2 of 2 judgments of items of −2 are unresolved, more than 2%",
        f"no score: {why}",
    )


def test_no_error_leaves_a_rule_of_three() -> None:
    """Without a severe error in six scenarios the one-sided limit is 1 - .05 ** (1 / 6), not 0."""
    (s,) = entries(ladder_run({f"dressing-{n}": ["11000", "10000"] for n in range(6)}))
    assert s.severe.upper_at_zero == pytest.approx(1 - 0.05 ** (1 / 6))
    (s,) = entries(ladder_run({f"dressing-{n}": ["11000", "1000?"] for n in range(6)}))
    assert s.severe.upper_at_zero is None


@pytest.mark.parametrize(
    ("item", "n_unresolved", "of"),
    [
        (1, 4, ""),
        (1, 5, "5 of 200 judgments of positive items"),
        (2, 100, ""),
        (3, 2, ""),
        (3, 3, "3 of 100 judgments of items of −1"),
        (4, 2, ""),
        (4, 3, "3 of 100 judgments of items of −2"),
    ],
)
def test_share_of_unresolved_that_is_still_ranked(item: int, n_unresolved: int, of: str) -> None:
    """Of each class of points 2% may be unresolved: 4 of 200, 2 of 100, of no points any."""
    open_ = "11000"[:item] + "?" + "11000"[item + 1 :]
    marks = {"dressing-1": [open_] * n_unresolved + ["11000"] * (100 - n_unresolved)}
    (s,) = entries(ladder_run(marks))
    assert s.n_unresolved == n_unresolved
    assert s.not_ranked == ((f"{of} are unresolved, more than 2%",) if of else ())
    assert s.score.value is not None


@pytest.mark.parametrize(
    ("open_epochs", "share"),
    [
        # nine epochs of twenty scenarios, whose tenth has no severe error
        (dict.fromkeys(range(20), 9), 11 / 800),
        # all ten of eighteen: 11 of the 620 that were resolved
        (dict.fromkeys(range(18), 10), 11 / 620),
    ],
)
def test_unresolved_severe_errors_of_one_system(open_epochs: dict[int, int], share: float) -> None:
    """180 unresolved -2 are 1.99% of all judgments, and keep a system with 11 of 800 unranked.

    Its share of severe errors is that of the resolved ones, and not the 12.6% halfway between the
    least and the most.
    """
    marks, points = {}, {}
    for k in range(80):
        n_open, n_severe = open_epochs.get(k, 0), 11 if k == 79 else 0
        n_items = 12 if k < 24 else 11
        rest = "1" * (n_items - 1)
        marks[f"dressing-{k}"] = [
            rest + ("?" if epoch < n_open else "1" if epoch < n_severe else "0")
            for epoch in range(10)
        ]
        points[f"dressing-{k}"] = [1] * (n_items - 1) + [-2]
    marks["dressing-78"][0] = "1" * 11
    (s,) = entries(Runs.of(responses(marks), judgments(marks, points)))
    assert s.n_unresolved / s.n_judgments == pytest.approx(0.0199, abs=5e-5)
    assert s.not_ranked == ("180 of 800 judgments of items of −2 are unresolved, more than 2%",)
    assert (s.severe.count, s.severe.n) == (11, 800)
    assert s.severe.share.value == pytest.approx(share)
    assert bounds(s.severe.share) == pytest.approx([11 / 800, 191 / 800])
    assert s.severe.share.ci95 is not None
    assert s.severe.share.ci95[0] <= 11 / 800
    assert s.severe.share.ci95[1] >= 191 / 800


def test_interval_covers_that_of_every_settlement() -> None:
    """However two open items turn out, the interval of score and errors holds the one there is."""
    marks = {f"dressing-{n}": ["01000", "01001"] for n in range(4)} | {
        "dressing-0": ["00000", "01000"]
    }
    for one, other in (("01000", "01000"), ("11000", "11000"), ("01000", "11000"),
                       ("01001", "01000"), ("01001", "11001")):  # fmt: skip
        pair = {"dressing-4": [one, "01000"], "dressing-5": [other, "01001"]}
        open_ = {"dressing-4": ["?100?", "01000"], "dressing-5": ["?100?", "01001"]}
        (known,), (s,) = (entries(ladder_run({**marks, **more})) for more in (pair, open_))
        for name in ("score", "severe"):
            inner, outer = (
                s.score.ci95 if name == "score" else s.severe.share.ci95 for s in (known, s)
            )
            assert inner is not None
            assert outer is not None
            assert outer[0] <= inner[0] + 1e-12, (name, one, other)
            assert inner[1] <= outer[1] + 1e-12, (name, one, other)


# Graders, gradings, rubrics


def test_two_graders_are_two_entries() -> None:
    """Each grader of a system has an entry of its own, in the order of names, of its judgments."""
    strict, kind = {"dressing-1": ["01000"]}, {"dressing-1": ["11000"]}
    rows = judgments(strict, grader="z-strict") + judgments(kind, grader="a-kind")
    found = entries(Runs.of(responses(strict), rows))
    assert [(s.grader, s.score.value) for s in found] == [("a-kind", 1), ("z-strict", 1 / 3)]


def test_systems_are_in_the_order_of_their_names() -> None:
    """Runs put together in any order are summarised in the order of their systems' names."""
    marks = {"dressing-1": ["11000"]}
    parts = [
        Runs.of(responses(marks, system=name), judgments(marks, system=name)) for name in ("z", "a")
    ]
    assert [s.system for s in entries(Runs.together(parts))] == ["a", "z"]


def test_second_grading_is_counted_and_changes_nothing() -> None:
    """A second grading by the same grader raises n_gradings and moves no other number."""
    first, second = {"dressing-1": ["11000"]}, {"dressing-1": ["00001"]}
    rows = judgments(first)
    (once,) = entries(Runs.of(responses(first), rows))
    (twice,) = entries(Runs.of(responses(first), rows + judgments(second, grading=2)))
    assert twice.n_gradings == 2
    assert all_numbers(twice) | {"n_gradings": 1} == all_numbers(once)


def test_first_grading_of_each_rubric() -> None:
    """Each rubric is an entry by its own first grading, however late."""
    marks = {"dressing-1": ["11000"]}
    later = judgments({"dressing-1": ["01000"]}, rubric="actions", grading=2)
    found = entries(Runs.of(responses(marks), judgments(marks) + later))
    assert [(s.rubric, s.score.value, s.n_gradings) for s in found] == [
        (Rubric.actions, 1 / 3, 1),
        (Rubric.ladder, 1, 1),
    ]


# What else a reader is told


def test_one_response_is_its_own_worst() -> None:
    """One response to one scenario is its own worst."""
    (s,) = entries(ladder_run({"dressing-1": ["01000"]}))
    assert values(s.score, s.worst_at_n) == pytest.approx([1 / 3] * 2)


def test_rubric_without_positive_items_has_no_score() -> None:
    """If no point can be gained there is no score, and the reason is that."""
    marks = {"dressing-1": ["01"]}
    (s,) = entries(Runs.of(responses(marks), judgments(marks, points=[0, -2])))
    assert s.score == Estimate.unknown(
        "there are no positive points to earn, so the score has no maximum"
    )
    assert s.severe.count == 1


def test_several_models_returned() -> None:
    """Two names of the model in one run are a warning that names both; one name is none."""
    marks = {"dressing-1": ["11000", "11000", "11000"]}
    names = ["m-2026-02", "m-2026-01", None]
    rows = [row | {"model_returned": n} for row, n in zip(responses(marks), names, strict=True)]
    (s,) = entries(Runs.of(rows, judgments(marks)))
    assert s.warnings == ("the provider answered with 2 models: m-2026-01, m-2026-02",)
    (s,) = entries(Runs.of(responses(marks, model_returned="m-2026-01"), judgments(marks)))
    assert s.warnings == ()


@pytest.mark.parametrize("state", ["answered", "empty", "refused", "missing"])
def test_name_of_a_model_that_did_not_answer(state: str) -> None:
    """The name in a sample that came to no response is none that the provider answered with."""
    marks = {"dressing-1": ["11000", "11000" if state == "answered" else state]}
    rows = responses(marks, model_returned="m-2026-01")
    rows[1]["model_returned"] = "m"
    (s,) = entries(Runs.of(rows, judgments(marks)))
    two = ("the provider answered with 2 models: m, m-2026-01",)
    assert s.warnings == (() if state == "missing" else two)


def test_answers_that_were_cut_off() -> None:
    """Answers cut off at the limit are counted and warned of; a response without words is not."""
    marks = {"dressing-1": ["11000", "01000", "empty", "missing"]}
    (s,) = entries(ladder_run(marks, cut=True))
    assert s.n_cut == 2
    assert s.warnings == ("2 of 2 answers were cut off at the token limit, and graded as they are",)


@pytest.mark.parametrize(
    ("asked", "grader", "reason"),
    [
        ("gguf/smollm2-135m", "openai/gpt-4o", "an embedded model: for seeing everything work"),
        (
            "openai/gpt-5",
            "careeval/lexical (all items, prompt 0)",
            "the lexical grader compares words: for seeing everything work",
        ),
        (
            "openai/gpt-5",
            "gguf/smollm2-135m (all items, prompt 0)",
            "graded by an embedded model: for seeing everything work",
        ),
    ],
)
def test_what_is_for_seeing_everything_work(asked: str, grader: str, reason: str) -> None:
    """A run by the embedded model or graded by it or by the lexical grader is not ranked."""
    marks = {"dressing-1": ["11000"]}
    (s,) = entries(Runs.of(responses(marks, model=asked), judgments(marks, grader=grader)))
    assert s.not_ranked == (reason,)
    assert s.asked == asked


def test_activity_that_one_response_does_not_say() -> None:
    """A scenario's activity is known from any of its responses."""
    marks = {"dressing-1": ["11000", "missing"]}
    rows = responses(marks)
    rows[1]["adl"] = None
    for order in (rows, rows[::-1]):
        (s,) = entries(Runs.of(order, judgments(marks)))
        assert s.by_adl[Adl.dressing].n == 1


def test_nothing_graded() -> None:
    """Responses that nobody graded have no entry."""
    assert entries(Runs.of(responses({"dressing-1": ["ungraded"]}), [])) == []


# For any run

few = settings(max_examples=40, deadline=None)


@few
@given(marks_of_runs(), st.integers(0, 1000))
def test_order_of_rows_changes_nothing(marks: Marks, seed: int) -> None:
    """Whatever the order of the rows of both tables, the summaries are equal."""
    runs = ladder_run(marks)
    shuffled = Runs(
        runs.responses.sample(fraction=1, shuffle=True, seed=seed),
        runs.judgments.sample(fraction=1, shuffle=True, seed=seed),
    )
    assert [*map(all_numbers, entries(shuffled))] == [*map(all_numbers, entries(runs))]


@few
@given(marks_of_runs(JUDGED), st.data())
def test_an_item_moves_the_score_its_own_way(marks: Marks, data: st.DataObject) -> None:
    """A positive item made present lowers no score, and a negative one raises none."""
    scenario = data.draw(st.sampled_from(sorted(marks)))
    epoch = data.draw(st.integers(0, len(marks[scenario]) - 1))
    item = data.draw(st.integers(0, 4))

    def having(mark: str) -> Entry:
        found = list(marks[scenario])
        found[epoch] = found[epoch][:item] + mark + found[epoch][item + 1 :]
        return entries(ladder_run({**marks, scenario: found}))[0]

    without, present = having("0"), having("1")
    for name in ("score", "worst_at_n"):
        if None in values(getattr(present, name), getattr(without, name)):
            continue  # every item of some points is unresolved
        moved = np.subtract(bounds(getattr(present, name)), bounds(getattr(without, name)))
        assert (moved * np.sign(LADDER[item]) >= 0).all()
        assert moved.any() or name != "score" or LADDER[item] == 0


@few
@given(marks_of_runs())
def test_readings_are_in_their_order(marks: Marks) -> None:
    """The worst of each scenario is at or below the score, and both are within their bounds."""
    for s in entries(ladder_run(marks)):
        if s.worst_at_n.value is None:
            continue
        for side in ("low", "value", "high"):
            assert getattr(s.worst_at_n, side) <= getattr(s.score, side) + 1e-12
        for estimate in (s.score, s.worst_at_n, s.severe.share):
            low, high = bounds(estimate)
            assert estimate.value is not None
            assert low <= estimate.value <= high


@few
@given(marks_of_runs())
def test_parts_add_up(marks: Marks) -> None:
    """The errors of the activities sum to those of the run, and the responses to their states."""
    for s in entries(ladder_run(marks)):
        there = s.n_responses - s.n_missing
        assert there == s.n_judgments // 5
        if s.n_unresolved < s.n_judgments:
            assert s.severe.n == there
            cells = [cell.severe for cell in s.by_adl.values() if cell.n]
            assert s.severe.count == sum(errors.count for errors in cells)


def values(*estimates: Estimate) -> list[float | None]:
    """The values alone."""
    return [estimate.value for estimate in estimates]


def bounds(estimate: Estimate) -> list[float]:
    """Return the bounds of a value over the unresolved items."""
    assert estimate.low is not None
    assert estimate.high is not None
    return [estimate.low, estimate.high]
