"""The detailed numbers of an entry: by hand, then for any run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import pairwise
from math import sqrt
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from careeval.core.scenario import Adl, Domain
from careeval.results.entries import entries
from careeval.results.entry import Entry
from careeval.results.held_out_words import WITHHELD
from careeval.results.parts import Breakdown
from careeval.results.tables import Runs
from careeval.stats.estimate import Estimate
from results.authored import (
    ANY,
    JUDGED,
    Marks,
    all_numbers,
    by_hand,
    judgments,
    ladder_run,
    marks_of_many,
    responses,
    settled_at_random,
)

UF, UA, CI, FS = Domain


def test_curves_by_hand() -> None:
    """Of the run by hand, worst epoch, spread and curves of both entries are those worked out.

    Rungs, of 3: dressing 3 and -1, eating 0 and 1. Acts, of 3 and of 4: dressing 2 and -1, eating 4
    and 2.
    """
    actions, ladder = entries(by_hand())
    assert values(ladder.worst_at_k) == pytest.approx([1.5 / 6, -1 / 6])
    # dressing never, eating in one of two
    assert values(ladder.severe_of_k) == pytest.approx([1 / 4, 1 / 2])
    # epochs of 3 and of 0, of 6
    assert ladder.worst_epoch == Estimate(0, 0, 0, None, "no interval holds for a lowest of epochs")
    assert ladder.reliability is None
    assert ladder.why_no_reliability == "fewer than five scenarios have positive points"
    assert ladder.sd_epochs == Estimate.unknown(ladder.why_no_reliability)

    assert values(actions.worst_at_k) == pytest.approx([3.5 / 7, 1 / 7])
    assert values(actions.severe_of_k) == pytest.approx([1 / 4, 1 / 2])
    # epochs of 6 and of 1, of 7
    assert actions.worst_epoch.value == pytest.approx(1 / 7)


WHOLE = [[3, 1], [3, 1], [1, 0], [1, 0], [0, -1]]
"""Points, of 3, of five scenarios asked twice."""

MARK = {3: "11000", 1: "01000", 0: "00000", -1: "00010"}


def test_spread_and_reliability_are_over_what_was_judged_whole() -> None:
    """Scenarios with an unresolved item are left out of both, and the number of the others is said.

    The epochs score 8 and 1 of 15: 7/15 apart, an SD of 7/15 / sqrt(2).
    """
    marks: Marks = {f"dressing-{k}": [MARK[p] for p in row] for k, row in enumerate(WHOLE)}
    known = detail(ladder_run(marks))
    means = np.array(WHOLE).mean(axis=1) / 3
    between = 2 * means.var(ddof=1)
    within = np.mean([np.var(np.array(row) / 3, ddof=1) for row in WHOLE])
    assert known.reliability is not None
    assert known.reliability.icc == pytest.approx((between - within) / (between + within))
    assert known.reliability.of_mean == pytest.approx((between - within) / between)
    assert (known.n_reliability, known.why_no_reliability) == (5, "")
    assert known.sd_epochs.value == pytest.approx(7 / 15 / sqrt(2))
    assert known.sd_epochs.ci95 is not None
    more = {**marks, "eating-1": ["1?000", "00000"], "eating-2": ["?????", "11000"]}
    shown = detail(ladder_run(more))
    assert (shown.n_reliability, shown.reliability) == (5, known.reliability)
    assert shown.sd_epochs == known.sd_epochs
    fewer = {**marks, "dressing-0": ["1?000", "01000"]}
    none = detail(ladder_run(fewer))
    assert (none.n_reliability, none.reliability) == (0, None)
    assert none.why_no_reliability == "fewer than five scenarios have every judgment made"
    assert none.sd_epochs == Estimate.unknown(none.why_no_reliability)


def test_unresolved_item_of_no_points_leaves_a_scenario_resolved() -> None:
    """An item of 0 points that is open moves neither the spread nor the reliability."""
    marks: Marks = {f"dressing-{k}": [MARK[p] for p in row] for k, row in enumerate(WHOLE)}
    known = detail(ladder_run(marks))
    shown = detail(ladder_run({**marks, "dressing-0": ["11?00", "01?00"]}))
    assert (shown.n_reliability, shown.sd_epochs) == (5, known.sd_epochs)


def test_curves_of_unresolved_errors() -> None:
    """Curves are of the filled judgments, within the bounds of every settlement.

    The -2 of the first response is filled with 1/2: present in one of the two others. Any of two:
    the pairs have 1 - 1/2 · 0, 1 - 1/2 · 1 and 1, so 5/6. Points -1/2 · 2 + 3 = 2, 1 and 3.
    """
    found = detail(ladder_run({"dressing-1": ["1100?", "11001", "11000"]}))
    assert values(found.severe_of_k) == pytest.approx([1 / 2, 5 / 6, 1])
    assert [e.low for e in found.severe_of_k] == pytest.approx([1 / 3, 2 / 3, 1])
    assert [e.high for e in found.severe_of_k] == pytest.approx([2 / 3, 1, 1])
    assert values(found.worst_at_k) == pytest.approx([2 / 3, (1 + 2 + 1) / 9, 1 / 3])
    assert found.worst_epoch.value == pytest.approx(1 / 3)
    assert (found.worst_epoch.low, found.worst_epoch.high) == pytest.approx((1 / 3, 1 / 3))


def test_scenarios_by_hand() -> None:
    """Each scenario's mean, worst, responses and severe ones are those of its two responses."""
    _, ladder = entries(by_hand())
    dressing, eating = ladder.scenarios
    assert (dressing.scenario, dressing.about.adl) == ("dressing-1", "dressing")
    assert (dressing.score, dressing.worst) == pytest.approx((1 / 3, -1 / 3))
    assert dressing.epochs == pytest.approx((1, -1 / 3))
    assert (dressing.n_severe, eating.n_severe) == (0, 1)
    assert (dressing.low, dressing.high) == (dressing.score, dressing.score)
    assert eating.epochs == pytest.approx((0, 1 / 3))


def test_activity_and_domain_by_hand() -> None:
    """Dressing's function is 2 and 5/2 weighted points of 5/2; nothing is rated for intent."""
    actions, _ = entries(by_hand())
    found = actions.by_adl_and_domain
    assert set(found) == {Adl.dressing, Adl.eating}
    assert found[Adl.dressing][UF].score.value == pytest.approx((9 / 4) / (5 / 2))
    assert (found[Adl.dressing][CI].n, found[Adl.dressing][CI].score.value) == (0, None)
    assert found[Adl.eating][FS].score.value == pytest.approx(5 / 2 / 3)


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
    assert {
        name: (cell.n, cell.score.value) for name, cell in found.by(Breakdown.situation).items()
    } == {
        "routine": (1, 1),
        "dignity": (2, 1 / 2),
        "of-their-own": (1, 0),
    }
    assert list(found.by(Breakdown.situation)) == ["routine", "dignity", "of-their-own"]
    assert list(found.by(Breakdown.condition)) == ["stroke", "their-own"]
    assert list(found.by(Breakdown.assistance)) == ["03"]
    assert found.by(Breakdown.actor)["robot"].n == 3
    assert found.by(Breakdown.actor)["robot"].small


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
    found = detail(Runs.of(rows, judgments(marks)))
    assert found.per_100_words.value == pytest.approx(-1 / 5)
    assert found.per_100_words.reason == "fewer than five scenarios"
    assert found.words.value == pytest.approx((150 + 200 + 50) / 3)


def test_words_that_are_held_out_are_not_counted() -> None:
    """A text that is withheld has no length, and an unknown one is not 0 words."""
    marks: Marks = {"dressing-1": ["00000", "11000"]}
    found = detail(ladder_run(marks, text=WITHHELD))
    assert found.words == Estimate.unknown("there is no answer whose words may be counted")
    assert found.per_100_words.value is None


def test_a_scenario_with_unresolved_responses() -> None:
    """A scenario's score and worst are of the filled responses, beside what they could be.

    The +2 of the first is filled with 1/2, of the two others: 1, 1 and 2 of 3 points.
    """
    (scenario,) = detail(ladder_run({"dressing-1": ["?0000", "01000", "10000"]})).scenarios
    assert scenario.epochs == pytest.approx((1 / 3, 1 / 3, 2 / 3))
    assert scenario.worst == pytest.approx(1 / 3)
    assert (scenario.low, scenario.score, scenario.high) == pytest.approx((3 / 9, 4 / 9, 5 / 9))


def test_a_scenario_that_nothing_tells_of() -> None:
    """If no +2 was resolved, a scenario with one open is unknown beside its bounds."""
    found = detail(ladder_run({"dressing-1": ["?0000", "?1001"]}))
    (scenario,) = found.scenarios
    assert (scenario.score, scenario.worst, scenario.epochs) == (None, None, (None, None))
    assert (scenario.low, scenario.high) == pytest.approx((-1 / 6, 3 / 6))
    unknown = Estimate.unknown("every judgment of the items of some points is unresolved")
    assert found.worst_at_k == (unknown, unknown)
    assert found.worst_epoch == unknown
    assert values(found.severe_of_k) == [1 / 2, 1]
    other = detail(ladder_run({"dressing-1": ["1000?", "1100?"]}))
    assert other.severe_of_k == other.worst_at_k == (unknown, unknown)


def test_a_missing_response_in_detail() -> None:
    """With a missing response, curves, reliability and a scenario's worst are unknown, not 0."""
    found = detail(ladder_run({"dressing-1": ["11000", "missing"], "eating-1": ["11000"] * 2}))
    reason = "1 of 4 responses are missing or not graded"
    assert found.worst_at_k == found.severe_of_k == (Estimate.unknown(reason),) * 2
    assert (found.reliability, found.why_no_reliability) == (None, reason)
    assert found.worst_epoch == found.sd_epochs == Estimate.unknown(reason)
    dressing, _ = found.scenarios
    assert (dressing.score, dressing.worst, dressing.epochs) == (1, None, (1, None))


def test_one_response_each() -> None:
    """Asked once, a run has no spread of epochs and no reliability, and says so."""
    found = detail(ladder_run({f"dressing-{k}": [MARK[k % 2]] for k in range(6)}))
    assert found.sd_epochs.value is None
    assert found.sd_epochs.reason
    assert found.reliability is None
    assert found.why_no_reliability
    assert len(found.worst_at_k) == 1


# For any run

few = settings(max_examples=12, deadline=None)


@few
@given(st.tuples(marks_of_many(JUDGED), st.randoms(use_true_random=False)))
def test_bounds_hold_every_settlement(found: tuple[Marks, Random]) -> None:
    """However the unresolved items turn out, each number of summary and detail is in its bounds."""
    marks, random = found
    before = everything(judged_in_domains(marks))
    after = everything(judged_in_domains(settled_at_random(marks, random)))
    assert before.keys() == after.keys()
    for path, bounds in before.items():
        value = after[path].value
        # the spread is over other scenarios once all are resolved
        if bounds.value is None or value is None or path == "sd_epochs":
            continue
        assert bounds.low is not None
        assert bounds.high is not None
        assert bounds.low - 1e-9 <= value <= bounds.high + 1e-9, path
        assert bounds.low <= bounds.value <= bounds.high, path


@few
@given(marks_of_many(JUDGED))
def test_the_curves(marks: Marks) -> None:
    """The worst at k falls from the score to the worst of n; the chance of a severe error rises."""
    found = detail(ladder_run(marks))
    assert same(found.worst_at_k[0], found.score)
    assert same(found.worst_at_k[-1], found.worst_at_n)
    assert same(found.severe_of_k[0], found.severe.share)
    for curve, way in ((found.worst_at_k, -1), (found.severe_of_k, 1)):
        if curve[0].value is None:
            assert {point.value for point in curve} == {None}
            continue
        for side in ("low", "value", "high"):
            numbers = [getattr(point, side) for point in curve]
            steps = [way * (b - a) for a, b in pairwise(numbers)]
            assert min(steps) >= -1e-12


@few
@given(marks_of_many(ANY))
def test_small_cells(marks: Marks) -> None:
    """A cell of fewer than five scenarios is marked, and no number of it has an interval."""
    found = detail(ladder_run(marks, situation=["routine"], actor="person"))
    cells = [*found.by(Breakdown.situation).values(), *found.by(Breakdown.actor).values()]
    for cell in [*cells, *found.by_adl.values()]:
        assert cell.small == (cell.n < 5)
        if cell.small:
            assert cell.score.ci95 is cell.severe.share.ci95 is None


@few
@given(marks_of_many(ANY))
def test_scenarios_add_up_to_the_score(marks: Marks) -> None:
    """Each scenario's score, low, high and worst are, over all of them, those of the run."""
    s = detail(ladder_run(marks))
    scenarios = s.scenarios
    if s.score.value is None:
        return
    # all maxima are 3
    for side, name in (("value", "score"), ("low", "low"), ("high", "high")):
        mean = sum(getattr(found, name) for found in scenarios) / len(scenarios)
        assert getattr(s.score, side) == pytest.approx(mean)
    if s.worst_at_n.value is not None:
        worst = [found.worst for found in scenarios if found.worst is not None]
        assert s.worst_at_n.value == pytest.approx(sum(worst) / len(scenarios))
    assert sum(found.n_severe for found in scenarios) == s.severe.count


def judged_in_domains(marks: Marks) -> Runs:
    """Marks on the ladder, rated in two domains, with words of many lengths."""
    levels = {name: {UF: [2, 1, 1, 0, 0], FS: [None, 1, None, 0, 2]} for name in marks}
    rows = [
        {**row, "text": "word " * (10 + 7 * place % 23)}
        for place, row in enumerate(responses(marks))
    ]
    return Runs.of(rows, judgments(marks, levels=levels))


def detail(runs: Runs) -> Entry:
    """Of the one entry."""
    (entry,) = entries(runs)
    return entry


def everything(runs: Runs) -> dict[str, Estimate]:
    """Every estimate of the summary and the detail of the one entry, by its path."""
    return dict(_estimates("", all_numbers(detail(runs))))


def _estimates(path: str, value: Any) -> Iterator[tuple[str, Estimate]]:
    if isinstance(value, Estimate):
        yield path, value
    elif is_dataclass(value):
        for part in fields(value):
            yield from _estimates(f"{path}.{part.name}".lstrip("."), getattr(value, part.name))
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _estimates(f"{path}.{key}".lstrip("."), part)
    elif isinstance(value, tuple):
        for place, part in enumerate(value):
            yield from _estimates(f"{path}[{place}]", part)


def same(one: Estimate, other: Estimate) -> bool:
    """Tell whether two estimates are the same but for rounding."""
    return bool(_numbers(one) == pytest.approx(_numbers(other))) and one.reason == other.reason


def _numbers(estimate: Estimate) -> list[float]:
    known = [estimate.low, estimate.value, estimate.high, *(estimate.ci95 or ())]
    return [x for x in known if x is not None]


def values(estimates: tuple[Estimate, ...]) -> list[float | None]:
    """The values alone."""
    return [estimate.value for estimate in estimates]
