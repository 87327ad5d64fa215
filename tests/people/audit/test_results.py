"""A grader against people: by hand, unbiased over samples, and honest where labels lack."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from careeval.core.rating import Label, Reading
from careeval.core.scenario import Rubric
from careeval.errors import ReviewError
from careeval.people.audit.results import AuditedSample, audit_results
from careeval.people.audit.sample import (
    OTHER_ANSWERS,
    OTHER_JUDGMENTS,
    AuditSample,
    DrawnJudgment,
    GradedTotals,
    Hidden,
    Stratum,
    Waiting,
    draw,
    truth_of,
)
from careeval.results.entries import entries
from careeval.results.grader_accuracy import LabelCounts, PeopleAudit
from careeval.results.tables import Runs
from careeval.sheets.words import audit_remarks
from careeval.stats.agreement import gwet_ac1
from careeval.stats.estimate import Estimate
from results.authored import Marks, judgments
from results.sampled import at_random, judged, read_by

PRESENT, ABSENT, UNSURE = Reading


def sample_of(strata: list[Stratum], graded: tuple[GradedTotals, ...] = ()) -> AuditSample:
    """A sample with these strata, each judgment in a scenario of its own, named a0, a1, b0."""
    drawn = tuple(
        DrawnJudgment(f"{'abcdef'[k]}{i}", f"r{k}{i}", k, f"eating-{k}-{i}", 1, "x", whole=True)
        for k, stratum in enumerate(strata)
        for i in range(stratum.n)
    )
    about: dict[str, Any] = dict.fromkeys(("bank", "bank_version", "protocol"), "1-0")
    hidden = Hidden(
        **about,
        bank_hashes=(),
        grader="judge",
        seed=0,
        strata=tuple(strata),
        drawn=drawn,
        graded=graded,
        left_out={},
    )
    return AuditSample((), hidden)


def severe(present: bool, n: int, of: int, system: str = "robot-a") -> Stratum:
    """A stratum of −2 rungs."""
    return Stratum(Rubric.ladder, -2, present, system, n, of)


def said(rater: str, says: str, *, adjudicated: bool = False) -> list[Label]:
    """Labels as `a0+ a1-`: present, absent, unsure for `+`, `-`, `?`."""
    readings = {"+": PRESENT, "-": ABSENT, "?": UNSURE}
    return [
        Label(rater, each[:-1], readings[each[-1]], adjudicated=adjudicated)
        for each in says.split()
    ]


# the grader found 2, and people read both; it called 8 absent, and they read 2
TINY = sample_of([severe(True, 2, 2), severe(False, 2, 8)])
SEVERE = (Rubric.ladder, -2)
LABELS = said("ann", "a0+ a1- b0+ b1-") + said("ben", "a0+ a1- b0+ b1-")


def value(estimate: Estimate) -> float:
    """The number, which must be known."""
    assert estimate.value is not None
    return estimate.value


def test_weighted_by_hand() -> None:
    """One of two misses among eight that were called absent stands for four."""
    # weighted: found 1, invented 1, missed 4, cleared 4
    found = audit_results(TINY, LABELS)
    assert value(found.severe.sensitivity) == 1 / 5
    assert value(found.severe.miss_rate) == 4 / 5
    assert value(found.severe.specificity) == 4 / 5
    assert value(found.severe.ppv) == 1 / 2
    assert value(found.severe.macro_f1) == pytest.approx((2 / 7 + 8 / 13) / 2)
    assert found.counts == LabelCounts(found=1, missed=1, invented=1, cleared=1, unresolved=0)
    assert found.by_points == {SEVERE: found.severe}
    agreement = found.agreement_by_points[SEVERE]
    assert (agreement.n, agreement.n_both, agreement.n_either) == (4, 1, 3)
    assert value(agreement.positive_agreement) == pytest.approx(2 / 7)
    # half agrees; .35 is present on average
    assert value(agreement.ac1) == pytest.approx((0.5 - 0.455) / (1 - 0.455))
    assert (found.severe.n, found.severe.n_present) == (4, 2)


def test_what_stands_on_the_card() -> None:
    """No share stands without its interval, and what rests on one person is counted."""
    sample = sample_of([severe(True, 10, 10), severe(False, 10, 10)])
    ann = said("ann", " ".join(f"{k}{i}{v}" for k, v in ("a+", "b-") for i in range(10)))
    found = audit_results(sample, ann)
    assert found.sentence() == (
        "Audited by 1 person on 20 judgments, 20 rest on one person alone: it finds 100% (69 to "
        "100) of the −2 items that are there, 100% (69 to 100) of all that is there, and clears "
        "100% (69 to 100) of what is not. In brackets: 95% intervals."
    )
    ben, cat = said("ben", "a0- a1+"), said("cat", "a0+", adjudicated=True)
    settled = audit_results(sample, ann + ben + cat)
    assert (settled.raters, settled.adjudicators) == (("ann", "ben"), ("cat",))
    assert settled.sentence().startswith(
        "Audited by 2 people on 20 judgments, 18 rest on one person alone, 1 settled by "
        "adjudication: it finds"
    )
    few = audit_results(TINY, LABELS).sentence()
    assert few.startswith(
        "Audited by 2 people on 4 judgments: it finds 20% (no interval) of the −2 items"
    )
    assert (
        "positive agreement with people on −2 items of the ladder 29% (no interval), of people "
        "with each other 100% (no interval)"
    ) in few


def test_people_against_each_other_by_hand() -> None:
    """The ceiling stands for all judgments of a stratum, and leaves the unsure out."""
    labels = said("ann", "a0+ a1+ b0+ b1-") + said("ben", "a0+ a1- b0? b1-")
    found = audit_results(TINY, labels)
    people, agreement = found.people, found.people_by_points[SEVERE]
    # both present 1, ann alone 1, both absent 8: one of two stands for all
    assert (people.n, people.n_left_out) == (3, 0)
    assert value(people.same) == 9 / 10
    by_chance = 2 * 0.15 * 0.85
    assert value(agreement.ac1) == pytest.approx((0.9 - by_chance) / (1 - by_chance))
    assert value(agreement.positive_agreement) == pytest.approx(2 / 3)
    assert (agreement.n, agreement.n_both, agreement.n_either) == (3, 1, 2)
    assert value(people.macro_f1) == pytest.approx((2 / 3 + 16 / 17) / 2)


def test_a_stratum_that_few_labelled_twice_stands_for_all_of_it() -> None:
    """Of two strata of 100, ten pairs that all agree weigh as much as a hundred, half agreeing."""
    sample = sample_of([severe(True, 100, 100), severe(False, 100, 100)])
    ann = " ".join([f"a{i}+" for i in range(100)] + [f"b{i}+" for i in range(100)])
    ben = " ".join([f"a{i}+" for i in range(10)] + [f"b{i}{'+-'[i % 2]}" for i in range(100)])
    people = audit_results(sample, said("ann", ann) + said("ben", ben)).people
    assert people.n == 110
    assert value(people.same) == pytest.approx(0.75)
    low, high = people.same.ci95 or (1, 0)
    assert low < 0.75 < high


def test_a_judgment_of_three_raters_counts_once() -> None:
    """Three who label one judgment, two of them alike, weigh as one judgment of two."""
    sample = sample_of([severe(True, 2, 2)])
    labels = said("ann", "a0+ a1+") + said("ben", "a0+ a1+") + said("cat", "a0-")
    people = audit_results(sample, labels).people
    # a third of one judgment, and all of the other
    assert (people.n, value(people.same)) == (2, pytest.approx(2 / 3))


def test_a_kind_that_nobody_labelled_twice_is_left_out_of_agreement() -> None:
    """Agreement is over the kinds that two labelled, and says how many judgments it leaves out."""
    sample = sample_of([severe(True, 2, 2), severe(False, 2, 8), severe(False, 2, 32, "robot-b")])
    found = audit_results(sample, said("ann", "a0+ b0+") + said("ben", "a0+ b0?"))
    assert (found.people.n, found.people.n_left_out) == (1, 40)
    assert value(found.people.same) == 1
    agreement = found.people_by_points[SEVERE]
    assert (agreement.n, agreement.positive_agreement.value) == (1, None)
    assert agreement.ac1.reason == (
        "of 40 ladder judgments on −2 items that the grader called absent, no two raters labelled "
        "any"
    )


def test_one_rater_has_no_ceiling() -> None:
    """With one rater the grader has its numbers, and people's agreement has a reason."""
    found = audit_results(TINY, said("ann", "a0+ a1- b0+ b1-"))
    assert value(found.severe.sensitivity) == 1 / 5
    assert (found.n_single, found.people.n) == (4, 0)
    assert found.people.same.reason == "no judgment was labelled by two raters"
    assert "no two raters labelled any" in found.people_by_points[SEVERE].ac1.reason


def test_how_a_truth_is_settled() -> None:
    """Adjudication settles first, then most raters; a tie and the unsure settle nothing."""
    sample = sample_of([severe(True, 6, 6)])
    labels = (
        said("ann", "a0+ a1+ a2+ a3? a4+ a5-")
        + said("ben", "a0- a1- a2+ a3? a4?")
        + said("cat", "a1-")
        + said("dan", "a0+ a4?", adjudicated=True)
    )
    found = audit_results(sample, labels)
    # a0 adjudicated, a1 and a2 by most, a3 and a4 unsure, a5 by one
    assert (found.n_labelled, found.n_settled) == (6, 4)
    assert (found.n_adjudicated, found.n_single, found.n_unsure, found.n_tied) == (1, 1, 2, 0)
    assert found.counts == LabelCounts(found=2, missed=0, invented=2, cleared=0, unresolved=0)
    assert (found.raters, found.adjudicators) == (("ann", "ben", "cat"), ("dan",))
    tied = audit_results(sample, said("ann", "a0+") + said("ben", "a0-"))
    assert (tied.n_tied, tied.n_settled) == (1, 0)
    assert "1 on which they disagree or are unsure is not settled yet" in tied.sentence()


def test_what_waits_is_one_number_split_by_kind() -> None:
    """All that differ or are unsure wait until adjudicated; one sure of two is not one alone."""
    sample = sample_of([severe(True, 7, 7)])
    labels = (
        said("ann", "a0+ a1+ a2+ a3? a4+ a5- a6+")
        + said("ben", "a0- a1? a2- a3? a4+ a6?")
        + said("cat", "a2+")
        + said("dan", "a6+", adjudicated=True)
    )
    found = audit_results(sample, labels)
    # a0 tied, a1 one sure, a2 two of three, a3 nobody; a4 and a5 do not differ, a6 is settled
    assert found.waiting == Waiting(tied=1, unsure=1, one_sure=1, outvoted=1)
    assert (found.n_single, found.n_alone) == (2, 1)
    sentence = found.sentence()
    assert "1 rests on one person alone" in sentence
    assert "4 on which they disagree or are unsure are not settled yet (1 tied" in sentence


def test_who_is_sure_where_the_other_is_not() -> None:
    """With two readers of each nothing rests on one alone, and nothing is said to look better."""
    sample = sample_of([severe(True, 2, 2), severe(False, 2, 2)])
    found = audit_results(sample, said("ann", "a0+ a1+ b0- b1-") + said("ben", "a0? a1+ b0- b1-"))
    assert "alone" not in found.sentence()
    assert "(1 with one sure rater, others being unsure). In brackets" in found.sentence()


def test_a_verdict_that_nobody_read_leaves_sensitivity_unknown() -> None:
    """If people settled nothing that the grader called absent, finding all is not claimed."""
    found = audit_results(TINY, said("ann", "a0+ a1+")).severe
    assert found.sensitivity.value is None
    assert found.sensitivity.reason == (
        "of 8 ladder judgments on −2 items that the grader called absent, people settled none"
    )
    assert (found.n, found.n_present) == (2, 2)


def test_a_stratum_without_labels_is_as_those_of_other_systems() -> None:
    """Over systems the strata of one kind stand for each other; within one system they do not."""
    sample = sample_of([severe(True, 2, 2), severe(False, 2, 8), severe(False, 2, 32, "robot-b")])
    found = audit_results(sample, LABELS)
    # 40 called absent, half of them there
    assert value(found.severe.sensitivity) == pytest.approx(1 / 21)
    assert value(found.by_system["robot-a"].severe.sensitivity) == 1 / 5
    of_b = found.by_system["robot-b"].severe.sensitivity
    assert "of 32 ladder judgments of robot-b" in of_b.reason


def test_labels_that_lack_are_made_up_for() -> None:
    """Half of a stratum read counts double, so that it still stands for all of it."""
    found = audit_results(TINY, said("ann", "a0+ a1- b0+")).severe
    assert value(found.sensitivity) == 1 / 9


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (said("ann", "z9+"), "ann labels 'z9', which is not in this sample"),
        (said("ann", "a0+ a0-"), "ann labels a0 twice"),
        (
            said("ann", "a0+", adjudicated=True) + said("ben", "a0-", adjudicated=True),
            "a0 was adjudicated twice",
        ),
    ],
)
def test_labels_that_cannot_be(labels: list[Label], message: str) -> None:
    """Labels of something else, or two where one is due, are refused with the judgment's name."""
    with pytest.raises(ReviewError, match=message):
        audit_results(TINY, labels)


def test_without_labels_all_is_unknown() -> None:
    """No label gives no number, and a reason for each."""
    found = audit_results(TINY, [])
    assert (found.n_labelled, found.severe.sensitivity.value) == (0, None)
    assert "people settled none" in found.overall.macro_f1.reason
    assert "people settled none" in found.agreement_by_points[SEVERE].ac1.reason


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores are corrected however few responses were read."""
    monkeypatch.setattr("careeval.people.audit.results.MIN_AUDITED", 1)


def scores(marks: Marks, says: Any, **numbers: int) -> PeopleAudit:
    """An audit of one system by two raters who say the same."""
    sample = draw(judged({"robot-a": marks}), **numbers)
    return audit_results(sample, read_by(sample, says))


def test_corrected_score_by_hand() -> None:
    """A grader that takes +2 for there in all of 40 responses is corrected to people's half."""
    marks = {f"eating-{k}": ["10000"] for k in range(40)}
    found = scores(marks, lambda each, s: s.present and int(each.scenario.split("-")[1]) % 2 == 0)
    (score,) = found.by_system["robot-a"].scores.values()
    assert score.graded == 2 / 3
    assert value(score.corrected) == pytest.approx(1 / 3)
    assert (score.n_responses, score.n_judgments) == (40, 200)
    low, high = score.corrected.ci95 or (0, 0)
    assert low < 1 / 3 < high < 2 / 3
    assert score.sentence() == (
        "People give less than the grader: it would be about 33.3% if people had judged every "
        f"answer, with 95% confidence between {100 * low:.1f} and {100 * high:.1f}%."
    )


def test_scores_of_a_system() -> None:
    """An entry that was audited has its score as people correct it, and another has none."""
    runs = judged({name: {"eating-1": ["10000"]} for name in ("robot-a", "robot-z")})
    robot_a, robot_z = entries(runs)
    sample = draw(judged({"robot-a": {"eating-1": ["10000"]}}))
    found = audit_results(sample, read_by(sample, lambda _, s: s.present))
    known = found.by_system["robot-a"].scores[Rubric.ladder]
    assert found.score_of(robot_a.system, robot_a.rubric) == known
    assert found.score_of(robot_z.system, robot_z.rubric) is None


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("marks", "text", "why"),
    [
        (["10000", "01000"], "I wait.", ""),
        (["10000", "01000"], "I hurry.", OTHER_ANSWERS),
        # as many points, of other items
        (["01000", "10000"], "I wait.", OTHER_JUDGMENTS),
        # one that was not there when the sample was drawn
        (["10000", "01000", "00000"], "I wait.", OTHER_JUDGMENTS),
        (["10000"], "I wait.", OTHER_ANSWERS),
    ],
)
def test_another_run_of_a_system_of_that_name_is_not_corrected(
    marks: list[str], text: str, why: str
) -> None:
    """Only answers that people read, judged as they were, have a corrected score."""
    read = {f"eating-{k}": ["10000", "01000"] for k in range(6)}
    sample = draw(judged({"robot-a": read}))
    labels = read_by(sample, lambda _, s: s.present and s.points > 1)
    runs = judged({"robot-a": read | {"eating-3": marks}})
    said = pl.when(pl.col("scenario") == "eating-3").then(pl.lit(text)).otherwise(pl.col("text"))
    (entry,) = entries(replace(runs, responses=runs.responses.with_columns(said.alias("text"))))
    found = audit_results(sample, labels, [entry])
    of = found.score_of(entry.system, entry.rubric)
    assert of is not None
    assert (of.corrected.reason if of.corrected.value is None else "") == why
    points = [{"10000": 2, "01000": 1, "00000": 0}[m] for m in [*marks, *["10000", "01000"] * 5]]
    assert of.graded == pytest.approx(sum(points) / len(points) / 3)
    lines = audit_remarks({"judge": found}, [replace(entry, corrected=of)])
    assert [line for line in lines if "not corrected" in line] == (
        [f"robot-a not corrected: {why}."] if why else []
    )


def test_what_the_sample_did_not_draw_from_changes_nothing() -> None:
    """A run judged on the second rubric since keeps its corrected score on the first."""
    marks = {f"eating-{k}": ["10000"] for k in range(30)}
    runs = judged({"robot-a": marks})
    sample = draw(runs)
    labels = list(read_by(sample, lambda _, s: s.present))
    acts = judgments(marks, rubric="actions")
    more = Runs.of([], [{**row, "item_text": "Does it."} for row in acts])
    both = entries(replace(runs, judgments=pl.concat([runs.judgments, more.judgments])))
    actions, ladder = both
    found = audit_results(sample, labels, both)
    before = audit_results(sample, labels).by_system["robot-a"]
    assert found.score_of(ladder.system, ladder.rubric) == before.scores[Rubric.ladder]
    assert found.score_of(actions.system, actions.rubric) is None


def test_too_few_responses_are_not_corrected() -> None:
    """Below thirty responses read the corrected score is unknown, and the grader's own is not."""
    found = scores({f"eating-{k}": ["10000"] for k in range(29)}, lambda _, s: s.present)
    (score,) = found.by_system["robot-a"].scores.values()
    assert (score.graded, score.corrected.value) == (2 / 3, None)
    assert score.corrected.reason == "people read 29 of its responses, fewer than 30"


@pytest.mark.usefixtures("few")
@settings(max_examples=25)
@given(
    st.lists(
        st.lists(st.text("01", min_size=5, max_size=5) | st.just("empty"), min_size=2, max_size=2),
        min_size=5,
        max_size=7,
    ),
    st.integers(0, 99),
)
def test_a_census_is_corrected_to_what_people_say(rows: list[list[str]], seed: int) -> None:
    """If people read all, the corrected score is theirs, whatever the grader said."""
    marks = {f"eating-{k}": row for k, row in enumerate(rows)}
    if all(mark == "empty" for row in rows for mark in row):
        return
    random = Random(seed)
    truth = {
        (scenario, epoch, f"item-{i}"): random.random() < 0.5
        for scenario, row in marks.items()
        for epoch, mark in enumerate(row, start=1)
        for i in range(5)
        if mark != "empty"
    }
    found = scores(marks, lambda each, _: truth[each.scenario, each.epoch, each.item])
    points = dict(zip((f"item-{i}" for i in range(5)), (2, 1, 0, -1, -2), strict=True))
    theirs = sum(points[item] for (_, _, item), present in truth.items() if present)
    (score,) = found.by_system["robot-a"].scores.values()
    assert value(score.corrected) == pytest.approx(theirs / (3 * 2 * len(rows)))


@pytest.mark.usefixtures("few")
def test_weights_undo_the_drawing() -> None:
    """Over 80 samples, shares of all judgments and the corrected score are right on average."""
    marks = {"a": at_random(1, 12, 3), "b": at_random(2, 12, 3, 0.3)}
    runs = judged(marks)
    random, items = Random(3), [f"item-{i}" for i in range(5)]
    truth: dict[tuple[str, str, int, str], bool] = {}
    for (system, of), k in product(marks.items(), range(12)):
        for epoch, mark in enumerate(of[f"eating-{k}"], start=1):
            for item, found in zip(items, mark, strict=True):
                # a grader that misses severe errors, and of one system more than of the other
                misses = {"a": 0.8, "b": 0.4}[system] if item == "item-4" and found == "0" else 0.1
                wrong = random.random() < misses
                truth[system, f"eating-{k}", epoch, item] = (found == "1") != wrong
    points = dict(zip(items, (2, 1, 0, -1, -2), strict=True))
    theirs = {
        name: sum(points[i] for (s, _, _, i), there in truth.items() if there and s == name)
        / (3 * 36)
        for name in marks
    }
    seen: dict[str, list[float]] = {"prevalence": [], "a": [], "b": []}
    for seed in range(80):
        sample = draw(runs, n=60, severe_found=8, severe_cleared=12, seed=seed)
        strata = sample.hidden.strata
        labels = list(
            read_by(
                sample, lambda each, s: truth[s.system, each.scenario, each.epoch, each.item], "ann"
            )
        )
        known = AuditedSample(sample, {}, {x.judgment: truth_of([x]) for x in labels})
        weights = known.weights(range(len(strata)), one_system=True)
        assert not isinstance(weights, str)
        seen["prevalence"].append(sum(weights[each.stratum] for each, t in known.settled if t))
        for name in marks:
            ((_, score),) = known.scores(name)
            seen[name].append(value(score.corrected))
    expected = {"prevalence": sum(truth.values()), **theirs}
    for name, values in seen.items():
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        assert abs(np.mean(values) - expected[name]) < 4 * error
    # and not because nothing was to be corrected
    for name, raw in known_raw(runs).items():
        assert raw - theirs[name] > 0.05


def known_raw(runs: Any) -> dict[str, float]:
    """The grader's own scores."""
    graded = draw(runs, n=60).hidden.graded
    return {
        name: sum(g.points for g in graded if g.system == name) / (3 * 36) for name in ("a", "b")
    }


def test_agreement_of_two_is_gwets() -> None:
    """With one chance for all, AC1 of two raters is that of `gwet_ac1`."""
    sample = sample_of([severe(True, 6, 6)])
    labels = said("ann", "a0+ a1+ a2- a3+ a4- a5+") + said("ben", "a0+ a1- a2- a3+ a4+ a5+")
    ratings = np.array([[1, 1], [1, 0], [0, 0], [1, 1], [0, 1], [1, 1]], dtype=np.float64)
    expected = gwet_ac1(ratings, (0, 1))
    agreement = audit_results(sample, labels).people_by_points[SEVERE]
    assert value(agreement.ac1) == pytest.approx(expected)


@given(st.permutations(LABELS))
def test_the_order_of_labels_is_nothing(labels: list[Label]) -> None:
    """Labels in any order say the same."""
    assert audit_results(TINY, labels) == audit_results(TINY, LABELS)
