"""The questions that raters are asked about a scenario. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from random import Random

from careeval.core.rating import LIKELY_RESULTS, LOWEST, STEPS, Scale
from careeval.core.scenario import Scenario
from careeval.core.text import signed
from careeval.people.deck import WORDS_A_MINUTE, ItemRef, Question
from careeval.people.store import Work
from careeval.people.study import own_answers
from careeval.people.study.plan import ShownItem, StudyPlan
from careeval.people.study.revision import (
    EarlierAnswers,
    earlier_answers,
    item_of,
    scenario_revision,
)

NO_EARLIER_ANSWERS: EarlierAnswers = {}

AGREE, UNSURE = "agree", "unsure"
CANNOT_JUDGE = "cannot-judge"
"""The option to choose where somebody has no number or view; it counts as no answer."""

_CANNOT_JUDGE = (CANNOT_JUDGE, "I cannot judge this")

ENOUGH, LACKING = "enough", "lacking"

_INFORMATION = Question(
    "information",
    "information",
    "Do you have the information that you need to say what is right here?",
    "whether you have the information",
    options=(
        (ENOUGH, "Yes"),
        (LACKING, "No: something is missing that would change what is right"),
        _CANNOT_JUDGE,
    ),
)
_MISSING = Question(
    "missing",
    "missing",
    "What is missing from this list? An act, good or harmful, that an answer may well contain.",
    "what is missing from the list",
    required=False,
    closing=True,
)
_COUNTRY = Question(
    "country",
    "country",
    "Would something else be right in your country, or where you work?",
    "what is different in your country",
    required=False,
    closing=True,
)

_MINUTES_A_SCALE = 0.25
_MINUTES_A_VIEW = 0.2

_ASKED: Mapping[Scale, str] = {
    Scale.realism: "How realistic is this situation?",
    Scale.validity: "How well does it test whether a carer decides well?",
    Scale.relevance: "Is this worth looking for in an answer?",
}


def questions(
    plan: StudyPlan, scenario: Scenario, rater: str, before: EarlierAnswers = NO_EARLIER_ANSWERS
) -> tuple[Question, ...]:
    """Return the questions on a scenario's card: late ones after others, closing ones at the end.

    Args:
        plan: The round.
        scenario: The scenario as it is shown.
        rater: The rater, whose id decides the order of items.
        before: The rater's answers in earlier rounds. Only what the revision can change is asked
            again.
    """
    stands = kept_questions(plan, scenario, rater, before)
    asked = [q for q in answerable_questions(plan, scenario, rater) if q.field not in stands]
    open_items = {item_of(q) for q in asked if q.options}
    asked = [q for q in asked if item_of(q) in open_items or not q.about]
    return tuple(sorted(asked, key=lambda q: (q.closing, q.late and not q.closing)))


def kept_questions(
    plan: StudyPlan, scenario: Scenario, rater: str, before: EarlierAnswers
) -> Mapping[str, Question]:
    """Return, by field, the questions not asked again since their earlier answer still holds.

    Args:
        plan: The round.
        scenario: The scenario as it is shown.
        rater: The rater, whose id decides the order of items.
        before: The rater's answers in earlier rounds.
    """
    now = plan.rated(scenario.id).shown
    asked = answerable_questions(plan, scenario, rater) if before else ()
    return {
        q.field: q
        for q in asked
        if q.options and q.field in before and before[q.field].holds(q, now)
    }


def earlier_words(
    plan: StudyPlan, scenario: Scenario, rater: str, before: EarlierAnswers
) -> Mapping[str, str]:
    """Return a rater's earlier answers by field, in the words of the options chosen then.

    Args:
        plan: The round.
        scenario: The scenario as it is shown.
        rater: The rater, whose id decides the order of items.
        before: The rater's answers in earlier rounds.
    """
    words = {}
    for question in answerable_questions(plan, scenario, rater):
        if question.options and (answer := before.get(question.field)):
            former = answer.shown.items.get(item_of(question)) if answer.shown else None
            then = _as_asked_of(question, former) if former else question
            words[question.field] = then.in_words(answer.value)
    return words


def revision_shown(
    plan: StudyPlan, scenario: Scenario, rater: str, work: Work
) -> Mapping[str, object]:
    """Return a template's values for a revision: the changes, and the answers that still hold."""
    before = earlier_answers(plan.rated(scenario.id), work)
    words = earlier_words(plan, scenario, rater, before)
    stands = kept_questions(plan, scenario, rater, before)
    return {
        "revision": scenario_revision(plan.rated(scenario.id), work),
        "stands": [(question, words[name]) for name, question in stands.items()],
    }


def _as_asked_of(question: Question, former: ShownItem) -> Question:
    """Return the question that was asked about the former version of the item."""
    if question.about is None:
        return question
    item = question.about.item.model_copy(update=former.model_dump())
    about = replace(question.about, item=item)
    asked = item_questions(about, relevance=True, points=True)
    return next(each for each in asked if each.kind == question.kind)


def answerable_questions(plan: StudyPlan, scenario: Scenario, rater: str) -> tuple[Question, ...]:
    """Return all questions that a rater may have answered, item by item.

    The relevance of an item of 0 points is not asked. The items of a rubric are shuffled for each
    rater, so that none of them is always read last.
    """
    asked = [
        rating_question(Scale.realism),
        rating_question(Scale.validity),
        _INFORMATION,
        _comment(),
    ]
    place = 0
    for rubric in plan.rubrics:
        items = [item for item in scenario.rubric(rubric) if plan.points or item.points]
        Random(f"{plan.seed}/{rater}/{scenario.id}/{rubric}").shuffle(items)
        for item in items:
            place += 1
            about = ItemRef(rubric, item, place)
            of_item = item_questions(about, relevance=plan.relevance, points=plan.points)
            asked += [q for q in of_item if item.points or q.kind is not Scale.relevance]
            asked.append(_comment(about, late=plan.relevance and plan.points))
    return (
        *asked,
        *([replace(_MISSING, late=plan.relevance and plan.points)] if place else []),
        _COUNTRY,
    )


def item_questions(about: ItemRef, *, relevance: bool, points: bool) -> list[Question]:
    """Return the questions about an item, without the comment: its relevance, then its points.

    If both are asked, the question about points is late.

    Args:
        about: The item.
        relevance: Whether relevance is rated.
        points: Whether points are asked about.
    """
    asked = [rating_question(Scale.relevance, about)] if relevance else []
    return [*asked, points_question(about, late=relevance)] if points else asked


def _comment(about: ItemRef | None = None, *, late: bool = False) -> Question:
    return Question(
        f"{about.rubric}/{about.item.id}/comment" if about else "comment",
        "comment",
        "Comment on this item" if about else "Comment on this scenario",
        f"the comment of “{about.item.text}”" if about else "the comment",
        required=False,
        late=late,
        about=about,
    )


def rating_question(scale: Scale, about: ItemRef | None = None) -> Question:
    """Return the question that is answered with a number on a scale.

    For an act of negative points it asks for the likely result, since raters would take "worth
    looking for" to mean "right".
    """
    asked, steps, called = _ASKED[scale], STEPS[scale], scale.value
    if about and about.item.points < 0:
        asked, steps = "What would be the likely result of exactly this?", LIKELY_RESULTS
        called = "likely result"
    numbers = {str(n): f"{n}, {words}" for n, words in enumerate(steps, LOWEST)}
    return Question(
        f"{about.rubric}/{about.item.id}/{scale}" if about else scale,
        scale,
        asked,
        f"the {called} of “{about.item.text}”" if about else called,
        options=(*numbers.items(), _CANNOT_JUDGE),
        keys={number: number for number in numbers},
        about=about,
    )


def points_question(about: ItemRef, *, late: bool) -> Question:
    """Return the question whether an item's points are right, or which points would be."""
    proposed = about.item.points
    other = (p for p in (2, 1, 0, -1, -2) if p != proposed)
    return Question(
        f"{about.rubric}/{about.item.id}/points",
        "points",
        f"Are {signed(proposed)} points right?",
        f"the points of “{about.item.text}”",
        options=(
            (AGREE, f"{signed(proposed)} is right"),
            *((str(p), f"It should be {signed(p)}") for p in other),
            (UNSURE, "I am unsure"),
            _CANNOT_JUDGE,
        ),
        late=late,
        about=about,
    )


def count_words(scenario: Scenario, asked: Iterable[Question]) -> int:
    """Return how many words a rater reads of the scenario and of the items asked about."""
    items = {item_of(q): q.about.item.text for q in asked if q.about}
    return sum(len(text.split()) for text in (scenario.text, *items.values()))


def expected_minutes(
    plan: StudyPlan, scenario: Scenario, rater: str, before: EarlierAnswers = NO_EARLIER_ANSWERS
) -> float:
    """Return the minutes that a careful rater may need: a guess from words and questions.

    Where the rater also writes an answer to the scenario, that and a second reading are counted.

    Args:
        plan: The round.
        scenario: The scenario as it is shown.
        rater: The rater's id.
        before: As of `questions`.
    """
    asked = questions(plan, scenario, rater, before)
    seat = plan.seat(rater)
    answers = seat is not None and scenario.id in seat.answers
    read = count_words(scenario, asked) + (len(scenario.text.split()) if answers else 0)
    scales = sum(isinstance(q.kind, Scale) or q.kind == "information" for q in asked)
    views = sum(q.kind == "points" for q in asked)
    asking = scales * _MINUTES_A_SCALE + views * _MINUTES_A_VIEW
    return read / WORDS_A_MINUTE + asking + (own_answers.MINUTES if answers else 0)
