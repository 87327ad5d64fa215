"""The plan of a study, its questions, and the ratings parsed from answers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.bank import Bank
from careeval.core.rating import Rater, Role, Scale
from careeval.core.scenario import Status
from careeval.errors import BankError, ReviewError
from careeval.people.deck import (
    COMMENT_LIMIT,
    SKIPPED,
    Progress,
    Question,
    missing_questions,
    progress,
)
from careeval.people.store import Answer
from careeval.people.study.plan import (
    StudyPlan,
    next_round,
    planned_scenarios,
    with_raters,
)
from careeval.people.study.questions import (
    AGREE,
    CANNOT_JUDGE,
    UNSURE,
    ScenarioQuestions,
    rating_question,
)
from careeval.people.study.rounds import parse_ratings
from support.review_study import Study, fill, made_plan


def _revised(bank: Bank, scenario_id: str) -> Bank:
    """The bank with one scenario in its second version."""
    scenarios = tuple(
        s.model_copy(update={"version": 2, "text": "Revised. What do you do?"})
        if s.id == scenario_id
        else s
        for s in bank.scenarios
    )
    return replace(bank, scenarios=scenarios)


def _answers(**values: str) -> dict[str, Answer]:
    return {name: Answer(value, n, "") for n, (name, value) in enumerate(values.items())}


def test_what_was_said(bank: Bank, plan: StudyPlan) -> None:
    """Numbers, views of points and comments come back with who and what; the rest is not there."""
    task = plan.task("dressing-001")
    work = {
        "r01": {
            task: {
                **_answers(realism="4", comment="Yes."),
                "ladder/-2/points": Answer("-1", 3, ""),
                "ladder/+2/points": Answer(AGREE, 4, ""),
                "ladder/0/points": Answer(UNSURE, 5, ""),
                "ladder/+1/relevance": Answer("1", 6, ""),
            }
        }
    }
    found = parse_ratings(plan, planned_scenarios(plan, bank), work)
    rater = Rater("r01", Role.occupational_therapist)
    assert {(r.scale, r.subject.item, r.value) for r in found.ratings} == {
        (Scale.realism, "", 4), (Scale.relevance, "+1", 1)
    }  # fmt: skip
    assert {(v.subject.item, v.proposed, v.points, v.objects) for v in found.views} == {
        ("-2", -2, -1, True), ("+2", 2, 2, False), ("0", 0, None, False)
    }  # fmt: skip
    assert [(c.rater, c.subject.scenario, c.text) for c in found.comments] == [
        (rater, "dressing-001", "Yes.")
    ]


def test_who_cannot_judge_has_not_rated(bank: Bank, plan: StudyPlan) -> None:
    """It is an answer to every rating and view, and neither a number nor a view of points."""
    asked = ScenarioQuestions(plan, bank.scenario("dressing-001"), "r01").asked
    chosen = {q.field: Answer(CANNOT_JUDGE, n, "") for n, q in enumerate(asked) if q.options}
    assert all(q.read(CANNOT_JUDGE) == CANNOT_JUDGE for q in asked if q.options)
    assert progress(asked, chosen) is Progress.done
    found = parse_ratings(
        plan, planned_scenarios(plan, bank), {"r01": {plan.task("dressing-001"): chosen}}
    )
    assert (found.ratings, found.views, found.comments) == ((), (), ())


def test_items_of_0_points(bank: Bank, plan: StudyPlan) -> None:
    """Their relevance is not asked; a study that asks for relevance alone leaves them out."""
    scenario = bank.scenario("dressing-001")

    def asked(plan: StudyPlan) -> set[str]:
        return {
            str(q.kind)
            for q in ScenarioQuestions(plan, scenario, "r01").asked
            if q.about and q.about.item.id == "0"
        }

    assert asked(plan) == {"points", "comment"}
    assert asked(plan.model_copy(update={"points": False})) == set()


def test_a_plan_is_kept_whole(plan: StudyPlan) -> None:
    """A plan read back is the plan, and what is no plan is refused."""
    assert StudyPlan.read(plan.json_text()) == plan
    with pytest.raises(ReviewError, match="plan of the study cannot be read"):
        StudyPlan.read('{"title": "x"}')


def test_a_plan_holds_together(plan: StudyPlan) -> None:
    """A rater who sits twice, or has a scenario that is not rated, is refused."""
    for change in (
        {"seats": (plan.seats[0], plan.seats[0])},
        {"scenarios": plan.scenarios[:1]},
        {"scenarios": (*plan.scenarios, plan.scenarios[0])},
        {"relevance": False, "points": False},
    ):
        broken = plan.model_copy(update=change)
        with pytest.raises(ReviewError):
            StudyPlan.read(broken.json_text())


def test_an_unknown_scenario(bank: Bank) -> None:
    """A scenario that the bank lacks makes no plan."""
    with pytest.raises(BankError, match="eating-099"):
        made_plan(bank, scenarios=["eating-099"])


def test_what_is_rated_cannot_change(bank: Bank, plan: StudyPlan) -> None:
    """A scenario changed since the plan is named, unless its status alone has changed."""
    with pytest.raises(ReviewError, match="dressing-002"):
        planned_scenarios(plan, _revised(bank, "dressing-002"))
    reviewed = replace(
        bank, scenarios=tuple(s.model_copy(update={"status": "reviewed"}) for s in bank.scenarios)
    )
    assert set(planned_scenarios(plan, reviewed)) == {s.id for s in bank.scenarios}


def test_a_further_round(bank: Bank, plan: StudyPlan) -> None:
    """Raters of a revised scenario rate its new version under another task, unless they left."""
    revised = _revised(bank, "dressing-002")
    raters = [seat.rater for seat in plan.seats[:2]]
    second = next_round([plan], revised, ["dressing-002"], raters)
    assert (second.round, [s.id for s in second.seats]) == (2, ["r01", "r02"])
    assert second.task("dressing-002") == "2/dressing-002@2"
    assert plan.task("dressing-002") == "1/dressing-002@1"
    with pytest.raises(ReviewError, match="still version 1"):
        next_round([plan], bank, ["dressing-001"], raters)
    with pytest.raises(ReviewError, match="dressing-003 is still version 1, as in round 1"):
        next_round([plan, second], revised, ["dressing-003"], raters)
    with pytest.raises(ReviewError, match="dressing-002 is still version 2, as in round 2"):
        next_round([plan, second], revised, ["dressing-002"], raters)


def test_a_scenario_revised_late_is_rated_by_who_rated_it(bank: Bank) -> None:
    """A scenario that round 2 left out is rated in round 3, by just those who rated it before."""
    first = made_plan(bank, per_rater=2, raters_per_scenario=2)
    who = {s.id: {x.id for x in first.seats if s.id in x.scenarios} for s in bank.scenarios}
    assert who["dressing-001"] != who["dressing-002"]
    raters = [seat.rater for seat in first.seats]
    now = _revised(bank, "dressing-002")
    second = next_round([first], now, ["dressing-002"], raters)
    assert {seat.id for seat in second.seats} == who["dressing-002"]

    late = _revised(now, "dressing-001")
    third = next_round([first, second], late, ["dressing-001"], raters)
    assert (third.round, [r.version for r in third.scenarios]) == (3, [2])
    assert {seat.id for seat in third.seats} == who["dressing-001"]


def test_a_withdrawn_scenario_is_in_no_further_round(bank: Bank, plan: StudyPlan) -> None:
    """A withdrawn scenario is refused by its id, though its version has risen."""
    revised = _revised(bank, "dressing-002")
    gone = [
        s.model_copy(update={"status": Status.withdrawn}) if s.id == "dressing-002" else s
        for s in revised.scenarios
    ]
    with pytest.raises(ReviewError, match="dressing-002 is withdrawn"):
        next_round(
            [plan],
            replace(revised, scenarios=tuple(gone)),
            ["dressing-002"],
            [seat.rater for seat in plan.seats],
        )


def test_a_study_keeps_its_id(bank: Bank, plan: StudyPlan) -> None:
    """Every round of a study has the same."""
    second = next_round(
        [plan],
        _revised(bank, "dressing-002"),
        ["dressing-002"],
        [seat.rater for seat in plan.seats],
    )
    assert second.study_id == plan.study_id == "aaaa"


def test_questions(bank: Bank, plan: StudyPlan) -> None:
    """The scenario is asked about first, then each rung in the rater's order, then missing acts.

    The four that are worth something are rated, then all five have a view of points and a comment.
    """
    scenario = bank.scenario("dressing-001")
    first, second = (ScenarioQuestions(plan, scenario, rater).asked for rater in ("r01", "r02"))
    whole = ["realism", "validity", "information", "comment"]
    assert [q.field for q in first if not q.about] == [*whole, "missing", "country"]
    assert len(first) == 6 + 4 + 2 * 5
    assert [q.late for q in first] == 8 * [False] + 10 * [True] + [True, False]
    assert {q.field for q in first} == {q.field for q in second}
    assert first != second
    bare = plan.model_copy(update={"rubrics": ()})
    assert [q.field for q in ScenarioQuestions(bare, scenario, "r01").asked] == [*whole, "country"]
    few, every = (ScenarioQuestions(each, scenario, "r01").minutes for each in (bare, plan))
    assert 0 < few < every


def test_points_are_chosen_once(bank: Bank, plan: StudyPlan) -> None:
    """To agree, to name other points and to be unsure are one choice: no half-made objection."""
    asked = ScenarioQuestions(plan, bank.scenario("dressing-001"), "r01").asked
    by_field = {q.field: q for q in asked}
    assert by_field["ladder/-2/points"].choices == (
        AGREE, "2", "1", "0", "-1", UNSURE, CANNOT_JUDGE
    )  # fmt: skip


@given(st.text())
def test_only_answers_are_read(text: str) -> None:
    """Only one of the choices or nothing is read; all else is refused."""
    question = rating_question(Scale.realism)
    expected = ("1", "2", "3", "4", "5", CANNOT_JUDGE)
    try:
        assert question.read(text) in (None, *expected)
    except ValueError:
        assert text.strip() not in ("", *expected)


def test_a_comment_has_a_limit() -> None:
    """A comment of the limit is kept, one character more is refused with the number."""
    question = Question("comment", "comment", "", "")
    assert question.read("x" * COMMENT_LIMIT) == "x" * COMMENT_LIMIT
    assert question.read("  \n") is None
    with pytest.raises(ValueError, match="10,001 characters"):
        question.read("x" * (COMMENT_LIMIT + 1))


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({}, Progress.untouched),
        ({"comment": "x"}, Progress.started),
        ({"realism": "1"}, Progress.started),
        ({"realism": "1", SKIPPED: "yes"}, Progress.skipped),
        ({"realism": "1", "validity": "2", SKIPPED: "yes"}, Progress.done),
    ],
)
def test_progress(answers: dict[str, str], expected: Progress) -> None:
    """A scenario is done when nothing asked for is missing, whatever else was said of it."""
    asked = [rating_question(s) for s in (Scale.realism, Scale.validity)]
    asked.append(Question("comment", "comment", "", "", required=False))
    assert progress(asked, _answers(**answers)) is expected
    assert bool(missing_questions(asked, _answers(**answers))) == (expected is not Progress.done)


def test_the_store_and_the_plan_agree(study: Study) -> None:
    """Parsed ratings have the rater who sent them and the version in the plan."""
    client = study.client("r03")
    fill(client, 1, {"q.realism": "2"})
    work = {rater.id: study.store.work(rater.id) for rater in study.store.raters()}
    found = parse_ratings(study.plan, planned_scenarios(study.plan, study.bank), work)
    (rating,) = found.ratings
    assert (rating.rater.role, rating.value) == (Role.family_caregiver, 2)


def test_twins_are_kept_apart(bank: Bank) -> None:
    """A seat's order has none beside its base: in a first round, in a further one, when joining."""
    twin = {"twin_of": "dressing-001"}
    scenarios = tuple(
        s.model_copy(update=twin if s.id == "dressing-002" else {}) for s in bank.scenarios
    )
    pairs = replace(bank, scenarios=scenarios)
    revised = replace(bank, scenarios=tuple(s.model_copy(update={"version": 2}) for s in scenarios))
    names = [s.id for s in scenarios]
    family = {s.id: s.family for s in scenarios}
    for seed in range(9):
        first = made_plan(pairs, seed=seed, answers=3, told="x")
        second = next_round([first], revised, names, [seat.rater for seat in first.seats])
        joined = with_raters(first, [Role.other], ["r03"], family)
        for plan in (first, second, joined):
            for order in (o for seat in plan.seats for o in (seat.scenarios, seat.answers) if o):
                assert order[1] == "dressing-003"


def test_rubrics_need_a_question(bank: Bank) -> None:
    """A plan that asks nothing about items has no rubric."""
    plan = made_plan(bank, relevance=False, points=False)
    assert plan.rubrics == ()
