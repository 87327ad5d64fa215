"""Ratings and other answers of raters, parsed from the texts that the store keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from careeval.core.rating import Comment, PointsView, Rating, Scale, Subject, Sufficiency
from careeval.core.scenario import Scenario
from careeval.people.store import Work
from careeval.people.study.plan import StudyPlan
from careeval.people.study.questions import (
    AGREE,
    CANNOT_JUDGE,
    ENOUGH,
    UNSURE,
    answerable_questions,
    kept_questions,
)
from careeval.people.study.revision import earlier_answers


@dataclass(frozen=True, slots=True)
class ParsedRatings:
    """The answers of a round by kind, each kind in the order of raters and their scenarios."""

    ratings: tuple[Rating, ...]
    views: tuple[PointsView, ...]  # Views of items' points
    comments: tuple[Comment, ...]
    sufficiency: tuple[Sufficiency, ...]  # Views of whether a scenario gives enough information


def parse_ratings(
    plan: StudyPlan, bank: Mapping[str, Scenario], work: Mapping[str, Work]
) -> ParsedRatings:
    """Parse the answers of one round.

    Args:
        plan: The round.
        bank: Its scenarios by id, in the version that was shown.
        work: Rater id → their answers; raters who have withdrawn are left out.

    Returns:
        Only what was judged: a question without an answer, or with the answer that the rater cannot
        judge, is left out. An earlier answer that was not asked for again counts once the rater has
        chosen an option of some question about the new version; a comment alone does not do.
    """
    ratings: list[Rating] = []
    views: list[PointsView] = []
    comments: list[Comment] = []
    sufficiency: list[Sufficiency] = []
    for seat in plan.seats:
        for name in seat.scenarios:
            answers = _answers(plan, bank[name], seat.id, work.get(seat.id, {}))
            for question in answerable_questions(plan, bank[name], seat.id):
                value = answers.get(question.field)
                if value is None or (question.options and value == CANNOT_JUDGE):
                    continue
                about = question.about
                version = plan.rated(name).version
                subject = Subject(name, version, plan.round)
                if about is not None:
                    subject = Subject(name, version, plan.round, about.rubric, about.item.id)
                if isinstance(question.kind, Scale):
                    ratings.append(Rating(seat.rater, subject, question.kind, int(value)))
                elif question.kind == "information":
                    sufficiency.append(Sufficiency(seat.rater, subject, value == ENOUGH))
                elif not question.options:
                    topic = "" if question.kind == "comment" else question.kind
                    comments.append(Comment(seat.rater, subject, value, topic))
                elif about is not None:
                    proposed = about.item.points
                    other = {AGREE: proposed, UNSURE: None}
                    points = other[value] if value in other else int(value)
                    views.append(PointsView(seat.rater, subject, proposed, points))
    return ParsedRatings(tuple(ratings), tuple(views), tuple(comments), tuple(sufficiency))


def _answers(plan: StudyPlan, scenario: Scenario, rater: str, work: Work) -> Mapping[str, str]:
    """Return a rater's answers in a round, with earlier ones that count: see `parse_ratings`."""
    stored = work.get(plan.task(scenario.id), {})
    answers = {name: answer.value for name, answer in stored.items()}
    if not any(
        q.field in answers for q in answerable_questions(plan, scenario, rater) if q.options
    ):
        return answers
    before = earlier_answers(plan.rated(scenario.id), work)
    kept = kept_questions(plan, scenario, rater, before)
    return {name: before[name].value for name in kept} | answers
