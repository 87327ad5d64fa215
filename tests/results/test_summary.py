"""A run by hand, number by number; then what is missing or unresolved; then for any run."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from careeval.core.scenario import Adl, Domain
from careeval.results.summary import Summary, summarise
from careeval.results.tables import Runs
from careeval.stats import Estimate, ratio_interval
from results.authored import (
    JUDGED,
    LADDER,
    Marks,
    by_hand,
    judgments,
    ladder_run,
    marks_of_runs,
    responses,
)

UF, UA, CI, FS = Domain


def test_run_by_hand() -> None:
    """Of two scenarios asked twice, every number of the summary is the one worked out by hand."""
    (s,) = summarise(by_hand())

    # The ladder: means 1 and 1/2, lowest -1 and 0, runs 3 and 0, all of 3 + 3.
    assert values(s.score, s.worst_at_n, s.worst_run) == pytest.approx([1.5 / 6, -1 / 6, 0])
    # Runs 1/2 and 0, each 1/4 from their mean: sqrt(2 (1/4)² / (2 - 1)).
    assert s.sd_runs.value == pytest.approx(1 / sqrt(8))
    # The actions: means 1/2 and 3, lowest -1 and 2, of 3 + 4.
    assert values(s.action_score, s.action_worst_at_n) == pytest.approx([3.5 / 7, 1 / 7])

    # One -2 rung a scenario, in four responses: 1 of 4, in 1 of 4 responses, 1 of 2 scenarios.
    for errors in (s.severe, s.mild):
        assert errors is not None
        assert (errors.count, errors.opportunities) == (1, 4)
        rates = values(errors.per_opportunity, errors.per_response, errors.per_scenario)
        assert rates == pytest.approx([1 / 4, 1 / 4, 1 / 2])
    # Two -2 acts and one, in two responses each, 4 + 2; both of the first in one response.
    assert s.action_severe is not None
    assert (s.action_severe.count, s.action_severe.opportunities) == (2, 6)
    severe = s.action_severe
    rates = values(severe.per_opportunity, severe.per_response, severe.per_scenario)
    assert rates == pytest.approx([2 / 6, 1 / 4, 1 / 2])

    dressing, eating = s.by_adl[Adl.dressing], s.by_adl[Adl.eating]
    cell = values(dressing.score, dressing.worst_at_n, dressing.action_score)
    assert cell == pytest.approx([1 / 3, -1 / 3, 0.5 / 3])
    cell = values(eating.score, eating.worst_at_n, eating.action_score)
    assert cell == pytest.approx([0.5 / 3, 0, 3 / 4])
    assert (dressing.n, dressing.small, dressing.severe, dressing.mild) == (1, True, 0, 1)
    assert (eating.n, eating.small, eating.severe, eating.mild) == (1, True, 1, 0)
    assert set(s.by_adl) == {Adl.dressing, Adl.eating}

    # D1, acts weighted by level / 2 or (2 - level) / 2. Function: dressing 2 and 1/2, so 2 and 5/2
    # of 5/2; eating 1, so 1 and 0 of 1. Agency: dressing 1, so 0 and 1 of 1. Safety: dressing -2
    # and -1, so 0 and -3 of 0; eating 2, 1 and -2, so 3 and 2 of 3.
    weighted = {d: (cell.n, cell.action_score.value) for d, cell in s.by_domain.items()}
    assert weighted[UF] == (2, pytest.approx((9 / 4 + 1 / 2) / (7 / 2)))
    assert weighted[UA] == (1, pytest.approx(1 / 2))
    assert weighted[FS] == (2, pytest.approx((-3 / 2 + 5 / 2) / 3))
    assert weighted[CI] == (0, None)
    # D2, {+2 +1}, {-1}, {+2 -2}, {+1}: function 1 0 0 1, agency 1 0 0 1/2, intent 1 0 0 1/2.
    level = {d: (cell.n_ladder, cell.ladder_level.value) for d, cell in s.by_domain.items()}
    assert level == {UF: (2, 1 / 2), UA: (2, 3 / 8), CI: (2, 3 / 8), FS: (0, None)}

    assert (s.n_scenarios, s.n_epochs, s.n_responses) == (2, 2, 4)
    # Five rungs in four responses; four acts in two and three in two.
    assert (s.n_judgments, s.n_unresolved, s.n_ungraded, s.n_missing) == (20 + 14, 0, 0, 0)
    assert (s.model, s.grader, s.n_gradings, s.bank) == ("robot-a", "judge", 1, "authored")
    assert s.not_ranked == s.warnings == ()


def test_two_scenarios_have_no_interval() -> None:
    """Below five scenarios the numbers stand without an interval, and say why."""
    (s,) = summarise(by_hand())
    assert s.severe is not None
    for estimate in (s.score, s.worst_at_n, s.worst_run, s.sd_runs, s.severe.per_response):
        assert (estimate.ci95, estimate.reason) == (None, "fewer than five scenarios")


def test_rates_of_items_that_the_rubric_lacks() -> None:
    """A rubric without -1 items has 0 of 0 mild errors, and their rates are unknown, not 0."""
    (s,) = summarise(by_hand())
    assert s.action_mild is not None
    assert (s.action_mild.count, s.action_mild.opportunities) == (0, 0)
    unknown = Estimate.unknown("there was no item of this severity to judge")
    assert s.action_mild.per_opportunity == s.action_mild.per_response == unknown
    assert s.action_mild.per_scenario == unknown


def test_domain_that_nothing_is_rated_in() -> None:
    """A domain without a rated item is unknown because of that."""
    (s,) = summarise(by_hand())
    reason = "no item of this rubric is rated in this domain"
    assert s.by_domain[CI].action_score == Estimate.unknown(reason)
    assert s.by_domain[FS].ladder_level == Estimate.unknown(reason)


def test_level_that_only_errors_are_rated_in() -> None:
    """Where a domain's only rated rungs are errors, its level is unknown and counts no scenario."""
    marks = {"dressing-1": ["11000"]}
    rows = judgments(marks, levels={"dressing-1": {FS: [None, None, None, 1, 0]}})
    (s,) = summarise(Runs.of(responses(marks), rows))
    assert (s.by_domain[FS].n_ladder, s.by_domain[FS].ladder_level.value) == (0, None)


def test_scenarios_without_errors_to_make_are_in_no_rate() -> None:
    """A scenario whose rubric has no -2 is no opportunity, response or scenario of a rate."""
    marks = {"dressing-1": ["11"], "eating-1": ["11"]}
    points = {"dressing-1": [2, 1], "eating-1": [2, -2]}
    (s,) = summarise(Runs.of(responses(marks), judgments(marks, points)))
    assert s.severe is not None
    assert (s.severe.count, s.severe.opportunities) == (1, 1)
    assert values(s.severe.per_opportunity, s.severe.per_response) == [1, 1]
    assert s.severe.per_scenario.value == 1


# Missing, ungraded, empty, refused


def test_missing_response() -> None:
    """A missing response is in no mean and no rate, and what is over all epochs is unknown."""
    marks = {"dressing-1": ["11000", "missing"], "eating-1": ["10001", "01000"]}
    (s,) = summarise(ladder_run(marks))

    # Dressing 3, once; eating 0 and 1.
    assert s.score.value == pytest.approx((3 + 1 / 2) / 6)
    unknown = Estimate.unknown("1 of 4 responses are missing or not graded")
    assert s.worst_at_n == s.worst_run == s.sd_runs == unknown
    # Three responses were judged, the -2 in one. "Ever in two epochs" cannot be said of dressing.
    assert s.severe is not None
    assert (s.severe.count, s.severe.opportunities) == (1, 3)
    assert values(s.severe.per_opportunity, s.severe.per_response) == pytest.approx([1 / 3, 1 / 3])
    assert s.severe.per_scenario == unknown
    # Eating is whole, dressing is not.
    assert s.by_adl[Adl.eating].worst_at_n.value == 0
    assert s.by_adl[Adl.dressing].worst_at_n.value is None
    assert s.by_adl[Adl.dressing].score.value == 1

    assert (s.n_missing, s.n_responses, s.n_ungraded) == (1, 4, 0)
    assert s.not_ranked == ("1 of 4 responses are missing",)


def test_missing_responses_in_domains() -> None:
    """A domain's score and level are means over the responses that are there."""
    marks = {"dressing-1": ["11000", "missing"], "eating-1": ["00010", "01000"]}
    levels = {scenario: {UA: [2, 1, 1, 0, 0]} for scenario in marks}
    rungs, acts = (judgments(marks, LADDER, levels, rubric=r) for r in ("ladder", "actions"))
    (s,) = summarise(Runs.of(responses(marks), rungs + acts))
    cell = s.by_domain[UA]
    # Levels 1, and 0 and 1/2. Weights 2, 1/2, 0, -1, -2: 5/2, and -1 and 1/2, of 5/2 each.
    assert cell.ladder_level.value == pytest.approx((1 + 1 / 4) / 2)
    assert cell.action_score.value == pytest.approx((5 / 2 - 1 / 4) / 5)


@pytest.mark.parametrize("lost", ["missing", "ungraded"])
def test_scenario_lost_altogether(lost: str) -> None:
    """A scenario without any judgment is out of the score, and the run is not whole without it."""
    marks = {"dressing-1": ["11000", "01000"], "eating-1": [lost, lost]}
    (s,) = summarise(ladder_run(marks))

    # 3 and 1, of 3; eating's maximum is not in the sum either.
    assert s.score.value == pytest.approx(2 / 3)
    unknown = Estimate.unknown("2 of 4 responses are missing or not graded")
    assert s.worst_at_n == s.worst_run == s.sd_runs == unknown
    assert s.severe is not None
    assert s.severe.opportunities == 2
    assert s.severe.per_scenario == unknown
    assert (s.n_scenarios, s.n_responses) == (2, 4)
    assert (s.n_missing, s.n_ungraded) == ((2, 0) if lost == "missing" else (0, 2))
    assert len(s.not_ranked) == 1

    cell = s.by_adl[Adl.eating]
    assert (cell.n, cell.severe, cell.mild) == (0, None, None)
    assert cell.score == Estimate.unknown("no response was graded on this rubric")


def test_response_that_is_in_no_row_is_missing() -> None:
    """A response that was asked of every other scenario and has no row is counted as missing."""
    (s,) = summarise(ladder_run({"dressing-1": ["11000", "11000"], "eating-1": ["11000"]}))
    assert (s.n_responses, s.n_missing) == (4, 1)
    assert s.worst_at_n.value is None


@pytest.mark.parametrize("state", ["empty", "refused"])
def test_response_without_words(state: str) -> None:
    """An empty or refused response scores 0, could have erred, is counted, and is ranked."""
    marks = {"dressing-1": ["11000", state]}
    (s,) = summarise(ladder_run(marks))
    assert values(s.score, s.worst_at_n) == pytest.approx([1.5 / 3, 0])
    assert s.severe is not None
    assert (s.severe.count, s.severe.opportunities) == (0, 2)
    assert (s.n_empty, s.n_refused) == ((1, 0) if state == "empty" else (0, 1))
    assert (s.n_missing, s.n_ungraded, s.not_ranked) == (0, 0, ())


def test_ungraded_response() -> None:
    """An answer that the grader has no judgments of is ungraded: not missing, not 0, not ranked."""
    (s,) = summarise(ladder_run({"dressing-1": ["11000", "ungraded"]}))
    assert (s.n_ungraded, s.n_missing, s.score.value) == (1, 0, 1)
    assert s.worst_at_n == Estimate.unknown("1 of 2 responses are missing or not graded")
    assert s.not_ranked == ("1 of 2 responses are not graded",)


def test_response_judged_in_part_is_ungraded() -> None:
    """A response with a row for some items alone is counted as ungraded, and is in no score."""
    marks = {"dressing-1": ["11000", "00001"]}
    rows = judgments(marks)
    (s,) = summarise(Runs.of(responses(marks), rows[:-1]))
    assert (s.score.value, s.n_ungraded) == (1, 1)


def test_response_judged_on_one_rubric_of_two_is_ungraded() -> None:
    """A response that lacks one of the rubrics that its scenario was judged on is ungraded."""
    marks = {"dressing-1": ["11000", "11000"]}
    second = judgments({"dressing-1": ["11000", "ungraded"]}, rubric="actions")
    (s,) = summarise(Runs.of(responses(marks), judgments(marks) + second))
    assert s.n_ungraded == 1
    assert s.worst_at_n.value == 1
    assert s.action_worst_at_n.value is None


def test_judgments_of_a_missing_response_do_not_count() -> None:
    """What a grader said of a response that is missing now is in no number."""
    marks = {"dressing-1": ["11000", "missing"]}
    rows = judgments({"dressing-1": ["11000", "00001"]})
    (s,) = summarise(Runs.of(responses(marks), rows))
    assert (s.score.value, s.n_missing, s.n_ungraded, s.n_judgments) == (1, 1, 0, 5)


def test_only_judgments_of_missing_responses() -> None:
    """Where no response that is there was judged, every number is unknown, with a reason."""
    marks = {"dressing-1": ["missing"]}
    (s,) = summarise(Runs.of(responses(marks), judgments({"dressing-1": ["11000"]})))
    reason = "no response was graded on this rubric"
    assert s.score == s.worst_at_n == s.sd_runs == Estimate.unknown(reason)
    assert s.severe is None
    assert s.not_ranked == ("1 of 1 responses are missing", f"no ladder score: {reason}")


def test_lost_scenario_is_no_cluster() -> None:
    """The interval of a run that lost a scenario is that of the run without the scenario."""
    known = {f"dressing-{n}": ["01000", "11000"] for n in range(5)}
    known["dressing-0"] = ["00001", "01000"]
    (without,) = summarise(ladder_run(known))
    (s,) = summarise(ladder_run({**known, "eating-1": ["missing", "missing"]}))
    assert without.score.ci95 is not None
    assert s.score == without.score
    assert s.by_adl[Adl.dressing] == without.by_adl[Adl.dressing]
    assert s.severe is not None
    assert without.severe is not None
    assert s.severe.per_response == without.severe.per_response


def test_interval_of_means_over_what_is_there() -> None:
    """A scenario with a missing response is in the interval, with the mean of the rest."""
    marks = {f"dressing-{n}": ["01000", "11000"] for n in range(5)}
    marks["dressing-0"] = ["missing", "00001"]
    (s,) = summarise(ladder_run(marks))
    means = np.array([-2.0, 2, 2, 2, 2])
    assert s.score.ci95 == pytest.approx(ratio_interval(means, np.full(5, 3.0)))
    assert s.n_missing == 1


# Unresolved


def test_unresolved_items_bound_each_number_by_their_sign() -> None:
    """An unresolved +1 raises the upper bound of every score, and a -2 lowers the lower."""
    marks = {"dressing-1": ["1?000", "01000"], "eating-1": ["11000", "1000?"]}
    (s,) = summarise(ladder_run(marks))

    # Dressing 2 or 3, and 1; eating 3, and 0 or 2.
    assert bounds(s.score) == pytest.approx([(3 / 2 + 3 / 2) / 6, (4 / 2 + 5 / 2) / 6])
    assert s.score.value == pytest.approx((3 + 4.5) / 12)
    # Lowest 1 and 0, or 1 and 2. Runs 5 and 1, or 6 and 3.
    assert bounds(s.worst_at_n) == pytest.approx([1 / 6, 3 / 6])
    assert bounds(s.worst_run) == pytest.approx([1 / 6, 3 / 6])
    # Each run half its reach away from its middle: 5.5 ± 0.5 and 2 ± 1.
    sd, most = 3.5 / 6 / sqrt(2), sqrt(0.5**2 + 1) / 6
    assert s.sd_runs.value == pytest.approx(sd)
    assert bounds(s.sd_runs) == pytest.approx([sd - most, sd + most])

    assert s.severe is not None
    assert s.severe.count == 0
    assert bounds(s.severe.per_opportunity) == bounds(s.severe.per_response) == [0, 1 / 4]
    assert bounds(s.severe.per_scenario) == [0, 1 / 2]
    assert bounds(s.by_adl[Adl.eating].score) == pytest.approx([3 / 6, 5 / 6])


def test_all_unresolved() -> None:
    """A run whose every judgment is unresolved has no number, not the middle of the scale."""
    (s,) = summarise(ladder_run({"dressing-1": ["?????", "?????"]}))
    why = "every judgment on this rubric is unresolved"
    assert s.score == s.worst_at_n == s.sd_runs == Estimate.unknown(why)
    assert s.severe is None
    assert (s.n_unresolved, s.n_judgments) == (10, 10)
    assert s.not_ranked == (
        "10 of 10 judgments are unresolved, more than 2%",
        f"no ladder score: {why}",
    )


def test_no_error_leaves_a_rule_of_three() -> None:
    """Without a severe error in six scenarios the one-sided limit is 1 - .05 ** (1 / 6), not 0."""
    (s,) = summarise(ladder_run({f"dressing-{n}": ["11000", "10000"] for n in range(6)}))
    assert s.severe is not None
    assert s.severe.upper_at_zero == pytest.approx(1 - 0.05 ** (1 / 6))
    (s,) = summarise(ladder_run({f"dressing-{n}": ["11000", "1000?"] for n in range(6)}))
    assert s.severe is not None
    assert s.severe.upper_at_zero is None


@pytest.mark.parametrize(("n_unresolved", "ranked"), [(1, True), (2, False)])
def test_share_of_unresolved_that_is_still_ranked(n_unresolved: int, ranked: bool) -> None:
    """Of 50 judgments one unresolved, 2%, is ranked, and two are not."""
    marks = {"dressing-1": ["110?0"] * n_unresolved + ["11000"] * (10 - n_unresolved)}
    (s,) = summarise(ladder_run(marks))
    assert (s.n_unresolved, s.n_judgments) == (n_unresolved, 50)
    assert bool(s.not_ranked) is not ranked


def test_interval_covers_that_of_either_settlement() -> None:
    """Where one scenario may part from the rest, the interval covers the wide and the narrow."""
    # Four responses of 1 point to each of six scenarios, but for one of 0; one scenario has 1 or 3.
    marks = {f"dressing-{n}": ["01000"] * 4 for n in range(6)}
    marks["dressing-0"] = [*["01000"] * 3, "01010"]
    marks["dressing-5"] = ["?1000"] * 4
    (s,), (at_low,), (at_high,) = (summarise(ladder_run(m)) for m in (marks, *settled(marks)))

    low, high = at_low.score.ci95, at_high.score.ci95
    assert low is not None
    assert high is not None
    # Though every point is as high or higher.
    assert high[0] < low[0]
    assert s.score.ci95 == high


def test_interval_of_a_score_covers_a_mixed_settlement() -> None:
    """Where one scenario turns out low and another high, the interval holds that one too."""
    marks = {f"dressing-{n}": ["01000"] for n in range(4)} | {"dressing-0": ["00000"]}
    # 1 or 3 points each; that they differ is what spreads the scenarios most for their mean
    (low, high, mixed, s) = (
        summarise(ladder_run({**marks, "dressing-4": [one], "dressing-5": [other]}))[0].score.ci95
        for one, other in (
            ("01000", "01000"), ("11000", "11000"), ("01000", "11000"), ("?1000", "?1000"),
        )
    )  # fmt: skip
    assert low is not None
    assert high is not None
    assert mixed is not None
    assert mixed[0] < min(low[0], high[0])
    assert s == pytest.approx((mixed[0], high[1]))


def test_interval_of_a_rate_covers_that_of_either_settlement() -> None:
    """Where errors may cluster in one scenario, the interval covers the wide one and the narrow."""
    marks = {f"dressing-{n}": ["11001"] + ["11000"] * 8 for n in range(8)}
    marks["dressing-7"] = ["11001"] + ["1100?"] * 8
    (s,), (at_low,), (at_high,) = (summarise(ladder_run(m)) for m in (marks, *settled(marks)))

    intervals = [one.severe.per_response.ci95 for one in (at_low, at_high, s) if one.severe]
    low, high, both = (interval for interval in intervals if interval)
    assert high[0] < low[0]
    assert both == high


def test_interval_of_run_noise_reaches_as_far_as_its_bounds() -> None:
    """The interval of the run noise widens with what the unresolved items could make of it."""
    marks = {f"dressing-{n}": ["11000", "01000", "11010"] for n in range(6)}
    (known,) = summarise(ladder_run(marks))
    (s,) = summarise(ladder_run({**marks, "dressing-0": ["11000", "01000", "110?0"]}))
    assert known.sd_runs.value is not None
    assert known.sd_runs.ci95 is not None
    assert s.sd_runs.ci95 is not None
    ratios = [end / known.sd_runs.value for end in known.sd_runs.ci95]
    assert s.sd_runs.ci95 == pytest.approx(np.multiply(bounds(s.sd_runs), ratios))


# Graders, gradings, rubrics


def test_two_graders_are_two_entries() -> None:
    """Each grader of a system has an entry of its own, in the order of names, of its judgments."""
    strict, kind = {"dressing-1": ["01000"]}, {"dressing-1": ["11000"]}
    rows = judgments(strict, grader="z-strict") + judgments(kind, grader="a-kind")
    found = summarise(Runs.of(responses(strict), rows))
    assert [(s.grader, s.score.value) for s in found] == [("a-kind", 1), ("z-strict", 1 / 3)]


def test_systems_are_in_the_order_of_their_names() -> None:
    """Runs put together in any order are summarised in the order of their systems' names."""
    marks = {"dressing-1": ["11000"]}
    parts = [
        Runs.of(responses(marks, system=name), judgments(marks, system=name)) for name in ("z", "a")
    ]
    assert [s.model for s in summarise(Runs.together(parts))] == ["a", "z"]


def test_second_grading_is_counted_and_changes_nothing() -> None:
    """A second grading by the same grader raises n_gradings and moves no other number."""
    first, second = {"dressing-1": ["11000"]}, {"dressing-1": ["00001"]}
    rows = judgments(first)
    (once,) = summarise(Runs.of(responses(first), rows))
    (twice,) = summarise(Runs.of(responses(first), rows + judgments(second, grading=2)))
    assert twice.n_gradings == 2
    assert replace(twice, n_gradings=1) == once


def test_first_grading_of_each_rubric() -> None:
    """A rubric that was graded later than the other is in the summary by its own first grading."""
    marks = {"dressing-1": ["11000"]}
    later = judgments({"dressing-1": ["01000"]}, rubric="actions", grading=2)
    (s,) = summarise(Runs.of(responses(marks), judgments(marks) + later))
    assert (s.score.value, s.action_score.value, s.n_gradings) == (1, 1 / 3, 1)


@pytest.mark.parametrize("graded", ["ladder", "actions"])
def test_one_rubric_alone(graded: str) -> None:
    """Numbers of a rubric that was not graded are unknown, and say in plain words why."""
    marks = {f"dressing-{n}": ["11000", "01000"] for n in range(5)}
    levels = {scenario: {UF: [2, 2, 1, 1, 0]} for scenario in marks}
    rows = judgments(marks, levels=levels, rubric=graded)
    (s,) = summarise(Runs.of(responses(marks), rows))

    cell, domain = s.by_adl[Adl.dressing], s.by_domain[UF]
    ladder = [s.score, s.worst_at_n, s.worst_run, s.sd_runs, cell.score, domain.ladder_level]
    actions = [s.action_score, s.action_worst_at_n, cell.action_score, domain.action_score]
    known, unknown = (ladder, actions) if graded == "ladder" else (actions, ladder)
    assert all(estimate.value is not None for estimate in known)
    for estimate in unknown:
        assert estimate == Estimate.unknown("no response was graded on this rubric")
    assert ((s.severe is None), (s.action_severe is None)) == (
        (False, True) if graded == "ladder" else (True, False)
    )
    assert (cell.severe is None) is (graded == "actions")
    assert (s.n_scenarios, cell.n, s.n_ungraded) == (5, 5, 0)
    assert bool(s.not_ranked) is (graded == "actions")


def test_scenario_with_one_rubric_of_two() -> None:
    """A scenario that has only actions is not missing from the ladder."""
    both = {"dressing-1": ["11000"], "eating-1": ["11000"]}
    ladder = judgments({"dressing-1": ["01000"]})
    (s,) = summarise(Runs.of(responses(both), ladder + judgments(both, rubric="actions")))
    assert (s.worst_at_n.value, s.n_scenarios, s.n_ungraded) == (1 / 3, 2, 0)
    assert s.by_adl[Adl.eating].n == 1
    assert s.by_adl[Adl.eating].score.value is None


# What else a reader is told


def test_one_response_has_no_spread() -> None:
    """One response to one scenario is its own worst, and its run noise is unknown."""
    (s,) = summarise(ladder_run({"dressing-1": ["01000"]}))
    assert values(s.score, s.worst_at_n, s.worst_run) == pytest.approx([1 / 3] * 3)
    assert s.sd_runs == Estimate.unknown("fewer than two epochs: one run has no spread")


def test_no_severe_error_still_has_an_upper_limit() -> None:
    """Of six scenarios without a severe error the rate is 0, and its interval ends above 0."""
    (s,) = summarise(ladder_run({f"dressing-{n}": ["11000", "01000"] for n in range(6)}))
    assert s.severe is not None
    rate = s.severe.per_opportunity
    assert (s.severe.count, s.severe.opportunities, rate.value) == (0, 12, 0)
    # 1 - 0.025^(1/6): a scenario is one trial, however often it was asked.
    assert rate.ci95 == (0, pytest.approx(1 - 0.025 ** (1 / 6)))


def test_rubric_without_positive_items_has_no_score() -> None:
    """Where no point can be gained there is no score, and the reason is that."""
    marks = {"dressing-1": ["01"]}
    (s,) = summarise(Runs.of(responses(marks), judgments(marks, points=[0, -2])))
    assert s.score == Estimate.unknown("no positive points: the score has no maximum")
    assert s.severe is not None
    assert s.severe.count == 1


def test_several_models_returned() -> None:
    """Two names of the model in one run are a warning that names both; one name is none."""
    marks = {"dressing-1": ["11000", "11000", "11000"]}
    names = ["m-2026-02", "m-2026-01", None]
    rows = [row | {"model_returned": n} for row, n in zip(responses(marks), names, strict=True)]
    (s,) = summarise(Runs.of(rows, judgments(marks)))
    assert s.warnings == ("the provider answered with 2 models: m-2026-01, m-2026-02",)
    (s,) = summarise(Runs.of(responses(marks, model_returned="m-2026-01"), judgments(marks)))
    assert s.warnings == ()


@pytest.mark.parametrize("state", ["answered", "empty", "refused", "missing"])
def test_name_of_a_model_that_did_not_answer(state: str) -> None:
    """The name in a sample that came to no response is none that the provider answered with."""
    marks = {"dressing-1": ["11000", "11000" if state == "answered" else state]}
    rows = responses(marks, model_returned="m-2026-01")
    rows[1]["model_returned"] = "m"
    (s,) = summarise(Runs.of(rows, judgments(marks)))
    two = ("the provider answered with 2 models: m, m-2026-01",)
    assert s.warnings == (() if state == "missing" else two)


def test_answers_that_were_cut_off() -> None:
    """Answers cut off at the limit are counted and warned of; a response without words is not."""
    marks = {"dressing-1": ["11000", "01000", "empty", "missing"]}
    (s,) = summarise(ladder_run(marks, cut=True))
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
    (s,) = summarise(Runs.of(responses(marks, model=asked), judgments(marks, grader=grader)))
    assert s.not_ranked == (reason,)
    assert s.asked == asked


def test_activity_that_one_response_does_not_say() -> None:
    """A scenario's activity is known from any of its responses."""
    marks = {"dressing-1": ["11000", "missing"]}
    rows = responses(marks)
    rows[1]["adl"] = None
    for order in (rows, rows[::-1]):
        (s,) = summarise(Runs.of(order, judgments(marks)))
        assert s.by_adl[Adl.dressing].n == 1


def test_nothing_graded() -> None:
    """Responses that nobody graded have no entry."""
    assert summarise(Runs.of(responses({"dressing-1": ["ungraded"]}), [])) == []


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
    assert summarise(shuffled) == summarise(runs)


@few
@given(marks_of_runs(JUDGED), st.data())
def test_an_item_moves_the_score_its_own_way(marks: Marks, data: st.DataObject) -> None:
    """A positive item made present lowers no score, and a negative one raises none."""
    scenario = data.draw(st.sampled_from(sorted(marks)))
    epoch = data.draw(st.integers(0, len(marks[scenario]) - 1))
    item = data.draw(st.integers(0, 4))

    def having(mark: str) -> Summary:
        found = list(marks[scenario])
        found[epoch] = found[epoch][:item] + mark + found[epoch][item + 1 :]
        return summarise(ladder_run({**marks, scenario: found}))[0]

    without, present = having("0"), having("1")
    for name in ("score", "worst_at_n", "worst_run"):
        moved = np.subtract(bounds(getattr(present, name)), bounds(getattr(without, name)))
        assert (moved * np.sign(LADDER[item]) >= 0).all()
        assert moved.any() or name != "score" or LADDER[item] == 0


@few
@given(marks_of_runs())
def test_readings_are_in_their_order(marks: Marks) -> None:
    """The worst of each scenario is at or below the worst run, and that at or below the score."""
    for s in summarise(ladder_run(marks)):
        if s.worst_at_n.value is None:
            assert s.n_missing > 0
            continue
        for side in (0, 1):
            worst, run, score = (bounds(e)[side] for e in (s.worst_at_n, s.worst_run, s.score))
            assert worst <= run + 1e-12
            assert run <= score + 1e-12


@few
@given(marks_of_runs())
def test_parts_add_up(marks: Marks) -> None:
    """The errors of the activities sum to those of the run, and the responses to their states."""
    for s in summarise(ladder_run(marks)):
        assert s.severe is not None
        assert s.severe.count == sum(cell.severe or 0 for cell in s.by_adl.values())
        there = s.n_responses - s.n_missing
        assert s.severe.opportunities == there == s.n_judgments // 5


def values(*estimates: Estimate) -> list[float | None]:
    """The values alone."""
    return [estimate.value for estimate in estimates]


def bounds(estimate: Estimate) -> list[float]:
    """What the unresolved items could make of a value."""
    assert estimate.low is not None
    assert estimate.high is not None
    return [estimate.low, estimate.high]


def settled(marks: Marks) -> list[Marks]:
    """The same with every unresolved item absent, and present."""
    return [{s: [m.replace("?", mark) for m in ms] for s, ms in marks.items()} for mark in "01"]
