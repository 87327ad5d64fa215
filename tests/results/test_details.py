"""What stands behind the headline: by hand, then for any run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from careeval.core.scenario import Adl, Domain, Rubric
from careeval.results.details import Detail, detail_of
from careeval.results.entries import entries
from careeval.results.summary import summary_of
from careeval.results.tables import WITHHELD, Runs
from careeval.stats import Estimate, beta_binomial_interval
from results.authored import (
    ANY,
    JUDGED,
    Marks,
    both_rubrics,
    by_hand,
    judgments,
    ladder_run,
    marks_of_many,
    responses,
    settled_at_random,
)

UF, UA, CI, FS = Domain


def test_instruments_by_hand() -> None:
    """Of the run by hand, every number of the ladder as an instrument is the one worked out.

    Points of 3: dressing 3 and -1, eating 0 and 1.
    """
    ladder = detail(by_hand()).instruments[Rubric.ladder]
    assert values(ladder.worst_at_k) == pytest.approx([1.5 / 6, -1 / 6])
    # dressing never, eating in one of two
    assert values(ladder.severe_of_k) == pytest.approx([1 / 4, 1 / 2])
    assert ladder.scenario_mean.value == pytest.approx((1 / 3 + 1 / 6) / 2)
    # only the best of the positive rungs counts, of 2: dressing 2 and -1, eating 0 and 1
    assert ladder.best_rung.value == pytest.approx((1 / 2 + 1 / 2) / 4)
    assert ladder.worst_run.value == 0
    # dressing never, eating once
    assert ladder.severe_beta_binomial.value == pytest.approx(1 / 4)
    assert ladder.severe_beta_binomial.ci95 is None
    assert ladder.reliability is None
    assert ladder.why_no_reliability == "fewer than five scenarios have positive points"

    actions = detail(by_hand()).instruments[Rubric.actions]
    # of 3 and of 4: dressing 2 and -1, eating 4 and 2
    assert values(actions.worst_at_k) == pytest.approx([3.5 / 7, 1 / 7])
    assert actions.scenario_mean.value == pytest.approx((1 / 6 + 3 / 4) / 2)
    assert actions.best_rung.value is None


def test_reliability_is_over_what_was_judged_whole() -> None:
    """Scenarios with an unresolved item are left out, and the number of the others is said."""
    whole = [[3, 1], [3, 1], [1, 0], [1, 0], [0, -1]]
    mark = {3: "11000", 1: "01000", 0: "00000", -1: "00010"}
    marks: Marks = {f"dressing-{k}": [mark[p] for p in row] for k, row in enumerate(whole)}
    known = detail(ladder_run(marks)).instruments[Rubric.ladder]
    means = np.array(whole).mean(axis=1) / 3
    between = 2 * means.var(ddof=1)
    within = np.mean([np.var(np.array(row) / 3, ddof=1) for row in whole])
    assert known.reliability is not None
    assert known.reliability.icc == pytest.approx((between - within) / (between + within))
    assert known.reliability.of_mean == pytest.approx((between - within) / between)
    assert (known.n_reliability, known.why_no_reliability) == (5, "")
    more = {**marks, "eating-1": ["1?000", "00000"], "eating-2": ["?????", "11000"]}
    shown = detail(ladder_run(more)).instruments[Rubric.ladder]
    assert (shown.n_reliability, shown.reliability) == (5, known.reliability)
    fewer = {**marks, "dressing-0": ["1?000", "01000"]}
    none = detail(ladder_run(fewer)).instruments[Rubric.ladder]
    assert (none.n_reliability, none.reliability) == (0, None)
    assert none.why_no_reliability == "fewer than five scenarios have every judgment made"


def test_the_second_interval_of_severe_errors() -> None:
    """It is the beta-binomial's of the responses with any, of both ends where some are open."""
    counts = [0, 0, 1, 0, 2, 3, 0, 1]
    marks: Marks = {
        f"dressing-{k}": ["11001"] * n + ["11000"] * (3 - n) for k, n in enumerate(counts)
    }
    (entry,) = entries(ladder_run(marks))
    found = detail_of(entry).instruments[Rubric.ladder].severe_beta_binomial
    errors = summary_of(entry).severe
    assert errors is not None
    assert found.value == errors.per_response.value == pytest.approx(7 / 24)
    known = beta_binomial_interval(np.array(counts, dtype=np.float64), 3)
    assert found.ci95 == tuple(known)
    marks["dressing-0"] = ["1100?", "11000", "11000"]
    open_ = detail(ladder_run(marks)).instruments[Rubric.ladder].severe_beta_binomial
    most = beta_binomial_interval(np.array([1, *counts[1:]], dtype=np.float64), 3)
    assert (open_.low, open_.high) == pytest.approx((7 / 24, 8 / 24))
    assert open_.ci95 == pytest.approx((min(known.low, most.low), max(known.high, most.high)))


def test_no_second_interval_says_why() -> None:
    """With a missing response, or without an error, the share has no interval but a reason."""
    marks: Marks = {f"dressing-{k}": ["11001", "11000"] for k in range(6)}
    missing = detail(ladder_run({**marks, "dressing-0": ["11000", "missing"]}))
    found = missing.instruments[Rubric.ladder].severe_beta_binomial
    assert (found.value, found.ci95) == (pytest.approx(5 / 11), None)
    assert found.reason == "1 of 12 responses are missing or not graded"
    none = detail(ladder_run({name: ["11000"] * 2 for name in marks})).instruments[Rubric.ladder]
    assert (none.severe_beta_binomial.value, none.severe_beta_binomial.ci95) == (0, None)
    assert "no event" in none.severe_beta_binomial.reason


def test_scenarios_by_hand() -> None:
    """Each scenario's mean, worst, responses and severe ones are those of its two responses."""
    dressing, eating = detail(by_hand()).scenarios[Rubric.ladder]
    assert (dressing.scenario, dressing.about.adl) == ("dressing-1", "dressing")
    assert (dressing.score, dressing.worst) == pytest.approx((1 / 3, -1 / 3))
    assert dressing.epochs == pytest.approx((1, -1 / 3))
    assert (dressing.n_severe, eating.n_severe) == (0, 1)
    assert (dressing.low, dressing.high) == (dressing.score, dressing.score)
    assert eating.epochs == pytest.approx((0, 1 / 3))


def test_activity_and_domain_by_hand() -> None:
    """Dressing's function is 2 and 5/2 weighted points of 5/2; nothing is rated for intent."""
    found = detail(by_hand()).by_adl_and_domain
    assert set(found) == {Adl.dressing, Adl.eating}
    assert found[Adl.dressing][UF].action_score.value == pytest.approx((9 / 4) / (5 / 2))
    assert (found[Adl.dressing][CI].n, found[Adl.dressing][CI].action_score.value) == (0, None)
    assert found[Adl.eating][FS].action_score.value == pytest.approx(5 / 2 / 3)


def test_a_scenario_counts_in_each_of_its_situations() -> None:
    """Cells are in the bank's order, a name of another bank after; what is not said is in none."""
    marks: Marks = {"dressing-1": ["11000"], "eating-1": ["00000"], "bathing-1": ["01000"]}
    rows = responses(marks, actor="robot")
    told: list[dict[str, Any]] = [
        {"situation": ["dignity", "routine"], "condition": "stroke", "assistance": "03"},
        {"situation": ["dignity", "of-their-own"], "condition": "their-own"},
        {},
    ]
    known = [{**row, **more} for row, more in zip(rows, told, strict=True)]
    found = detail(Runs.of(known, judgments(marks)))
    assert {name: (cell.n, cell.score.value) for name, cell in found.by_situation.items()} == {
        "routine": (1, 1),
        "dignity": (2, 1 / 2),
        "of-their-own": (1, 0),
    }
    assert list(found.by_situation) == ["routine", "dignity", "of-their-own"]
    assert list(found.by_condition) == ["stroke", "their-own"]
    assert list(found.by_assistance) == ["03"]
    assert found.by_actor["robot"].n == 3
    assert found.by_actor["robot"].small


def test_length_by_hand() -> None:
    """100 more words go with 1/5 of the score less, within scenarios.

    Dressing: 100 words score 0 and 200 score 1, deviations ∓1/2: a product of 1/2 over squares of
    1/2. Eating: 100 words score 1 and 300 score 0, deviations ∓1: -1 over 2. Bathing has equal
    lengths. So (1/2 - 1) / (1/2 + 2).
    """
    marks: Marks = {
        "dressing-1": ["00000", "11000"],
        "eating-1": ["11000", "00000"],
        "bathing-1": ["11000", "00000"],
    }
    lengths = [100, 200, 100, 300, 50, 50]
    rows = [{**row, "text": "word " * n} for row, n in zip(responses(marks), lengths, strict=True)]
    length = detail(Runs.of(rows, judgments(marks))).length
    assert length.per_100_words.value == pytest.approx(-1 / 5)
    assert length.per_100_words.reason == "fewer than five scenarios"
    assert length.words.value == pytest.approx((150 + 200 + 50) / 3)


def test_words_that_are_held_out_are_not_counted() -> None:
    """A text that is withheld has no length, and an unknown one is not 0 words."""
    marks: Marks = {"dressing-1": ["00000", "11000"]}
    length = detail(ladder_run(marks, text=WITHHELD)).length
    assert length.words == Estimate.unknown("there is no answer whose words may be counted")
    assert length.per_100_words.value is None


def test_the_rubrics_go_together() -> None:
    """Acts that score as the rungs do correlate with them by 1, and the other way round by -1."""
    rungs: Marks = {f"dressing-{k}": [m] for k, m in enumerate(["11000", "10000", "01000"] * 2)}
    alike: Marks = {f"dressing-{k}": [m] for k, m in enumerate(["11", "10", "01"] * 2)}
    other: Marks = {f"dressing-{k}": [m] for k, m in enumerate(["00", "01", "10"] * 2)}
    for acts, r in ((alike, 1), (other, -1)):
        rows = judgments(rungs) + judgments(acts, (2, 1), rubric="actions")
        found = detail(Runs.of(responses(rungs), rows)).rubric_correlation
        assert found.value == pytest.approx(r)
        assert found.ci95 is None
        assert found.reason
    few = detail(by_hand()).rubric_correlation
    assert few == Estimate.unknown("fewer than five scenarios are judged on both rubrics")


def test_the_worst_of_unresolved_responses() -> None:
    """The worst of two responses, one unresolved, is halfway between the worst it can be.

    The first is 0 or 2 of 3, the second 1: the lowest is 0 or 1.
    """
    (scenario,) = detail(ladder_run({"dressing-1": ["?0000", "01000"]})).scenarios[Rubric.ladder]
    assert scenario.worst == pytest.approx(1 / 6)
    assert (scenario.low, scenario.score, scenario.high) == pytest.approx((1 / 6, 1 / 3, 1 / 2))


def test_a_missing_response_in_detail() -> None:
    """With a missing response, curves, reliability and a scenario's worst are unknown, not 0."""
    found = detail(ladder_run({"dressing-1": ["11000", "missing"], "eating-1": ["11000"] * 2}))
    ladder = found.instruments[Rubric.ladder]
    reason = "1 of 4 responses are missing or not graded"
    assert ladder.worst_at_k == ladder.severe_of_k == (Estimate.unknown(reason),) * 2
    assert (ladder.reliability, ladder.why_no_reliability) == (None, reason)
    dressing, _ = found.scenarios[Rubric.ladder]
    assert (dressing.score, dressing.worst, dressing.epochs) == (1, None, (1, None))


def test_one_response_each() -> None:
    """Asked once, a run has no noise and no reliability, and says so."""
    ladder = detail(ladder_run({"dressing-1": ["11000"], "eating-1": ["01000"]})).instruments[
        Rubric.ladder
    ]
    assert ladder.sd_runs.value is None
    assert ladder.reliability is None
    assert ladder.why_no_reliability
    assert len(ladder.worst_at_k) == 1


# For any run

few = settings(max_examples=12, deadline=None)
BOTH = st.tuples(marks_of_many(JUDGED), st.randoms(use_true_random=False))


@few
@given(BOTH)
def test_bounds_hold_every_settlement(found: tuple[Marks, Random]) -> None:
    """However the unresolved items turn out, each number of summary and detail is in its bounds."""
    rungs, random = found
    acts = {name: [mark[1:] for mark in of] for name, of in rungs.items()}
    before = everything(both_rubrics({"a": (rungs, acts)}))
    after = everything(
        both_rubrics({"a": (settled_at_random(rungs, random), settled_at_random(acts, random))})
    )
    assert before.keys() == after.keys()
    for path, bounds in before.items():
        value = after[path].value
        if bounds.value is None or value is None:
            # whether the scores vary at all, or anything is left to compare, may hang on it
            assert path.startswith(("rubric_correlation", "instruments")) or bounds.value == value
            continue
        assert bounds.low is not None
        assert bounds.high is not None
        assert bounds.low - 1e-9 <= value <= bounds.high + 1e-9, path


@few
@given(marks_of_many(JUDGED))
def test_the_curves(marks: Marks) -> None:
    """The worst at k falls from the score to the worst of n; the chance of a severe error rises."""
    runs = ladder_run(marks)
    (entry,) = entries(runs)
    s, ladder = summary_of(entry), detail_of(entry).instruments[Rubric.ladder]
    assert same(ladder.worst_at_k[0], s.score)
    assert same(ladder.worst_at_k[-1], s.worst_at_n)
    assert s.severe is not None
    assert same(ladder.severe_of_k[0], s.severe.per_response)
    assert same(ladder.severe_of_k[-1], s.severe.per_scenario)
    for curve, way in ((ladder.worst_at_k, -1), (ladder.severe_of_k, 1)):
        for side in ("low", "value", "high"):
            numbers = [getattr(point, side) for point in curve]
            steps = [way * (b - a) for a, b in pairwise(numbers)]
            assert min(steps) >= -1e-12


@few
@given(marks_of_many(ANY))
def test_small_cells(marks: Marks) -> None:
    """A cell of fewer than five scenarios is marked, and no number of it has an interval."""
    found = detail(ladder_run(marks, situation=["routine"], actor="person"))
    cells = [*found.by_situation.values(), *found.by_actor.values()]
    (entry,) = entries(ladder_run(marks))
    for cell in [*cells, *summary_of(entry).by_adl.values()]:
        assert cell.small == (cell.n < 5)
        if cell.small:
            assert cell.score.ci95 is cell.worst_at_n.ci95 is cell.action_score.ci95 is None


@few
@given(marks_of_many(ANY))
def test_scenarios_add_up_to_the_score(marks: Marks) -> None:
    """Each scenario's score, low, high and worst are, over all of them, those of the run."""
    (entry,) = entries(ladder_run(marks))
    s, scenarios = summary_of(entry), detail_of(entry).scenarios[Rubric.ladder]
    # all maxima are 3
    for side, name in (("value", "score"), ("low", "low"), ("high", "high")):
        mean = sum(getattr(found, name) for found in scenarios) / len(scenarios)
        assert getattr(s.score, side) == pytest.approx(mean)
    if s.worst_at_n.value is not None:
        worst = [found.worst for found in scenarios if found.worst is not None]
        assert s.worst_at_n.value == pytest.approx(sum(worst) / len(scenarios))
    if s.severe is not None:
        assert sum(found.n_severe for found in scenarios) == s.severe.count


def detail(runs: Runs) -> Detail:
    """Of the one entry."""
    (entry,) = entries(runs)
    return detail_of(entry)


def everything(runs: Runs) -> dict[str, Estimate]:
    """Every estimate of the summary and the detail of the one entry, by its path."""
    (entry,) = entries(runs)
    return dict(_estimates("", summary_of(entry))) | dict(_estimates("", detail_of(entry)))


def _estimates(path: str, value: Any) -> Iterator[tuple[str, Estimate]]:
    if isinstance(value, Estimate):
        yield path, value
    elif is_dataclass(value):
        for part in fields(value):
            yield from _estimates(f"{path}.{part.name}".lstrip("."), getattr(value, part.name))
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _estimates(f"{path}.{key}", part)
    elif isinstance(value, tuple):
        for place, part in enumerate(value):
            yield from _estimates(f"{path}[{place}]", part)


def same(one: Estimate, other: Estimate) -> bool:
    """Whether two estimates are the same but for rounding."""
    return bool(_numbers(one) == pytest.approx(_numbers(other))) and one.reason == other.reason


def _numbers(estimate: Estimate) -> list[float]:
    known = [estimate.low, estimate.value, estimate.high, *(estimate.ci95 or ())]
    return [x for x in known if x is not None]


def values(estimates: tuple[Estimate, ...]) -> list[float | None]:
    """The values alone."""
    return [estimate.value for estimate in estimates]
