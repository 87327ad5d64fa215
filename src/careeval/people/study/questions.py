"""The questions that raters are asked about a scenario. No I/O.

After a revision, only what it can have changed is asked again. Answers that experts write
themselves are asked for before they see anything of a rubric, which would teach what all rubrics
want; nothing else opens until they are handed in, and nobody changes them afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import cached_property
from random import Random
from typing import Literal

from careeval.core.rating import LIKELY_RESULTS, LOWEST, STEPS, Scale
from careeval.core.scenario import Scenario
from careeval.core.text import counted, signed
from careeval.people.deck import SKIPPED, WORDS_A_MINUTE, ItemRef, Question
from careeval.people.store import Answer, Work
from careeval.people.study.plan import (
    ANSWER_TASKS,
    RatedScenario,
    ScenarioWording,
    ShownItem,
    StudyPlan,
    validation_obstacles,
)


@dataclass(frozen=True, slots=True)
class EarlierAnswer:
    """An answer that was given in an earlier round."""

    value: str
    shown: ScenarioWording | None  # The words that the rater read then; None if they were not kept

    def holds(self, question: Question, now: ScenarioWording | None) -> bool:
        """Tell whether the answer still holds: nothing has changed that could change it.

        If the scenario's text changes, every answer may change; if an item changes, the answers
        about it may. Validity is asked again after any change, since the items are part of what
        tests a carer. Where the wording then or now is not known, no answer holds.
        """
        if self.shown is None or now is None or self.shown.text != now.text:
            return False
        if question.about is None:
            return question.field != "validity" or self.shown == now
        return self.shown.items.get(item_of(question)) == now.items[item_of(question)]


@dataclass(frozen=True, slots=True)
class ChangedWords:
    """A run of words of a revised text that stayed, were added, or were removed."""

    change: Literal["same", "added", "removed"]
    text: str


@dataclass(frozen=True, slots=True)
class Revision:
    """The differences between a scenario and the version that a rater answered about before."""

    text: tuple[ChangedWords, ...]
    """The scenario's text with additions and removals; empty if it is the same."""
    items: Mapping[str, ShownItem]
    """By rubric and id, the former version of each item that was changed."""
    added: frozenset[str]  # Items that are new, by rubric and id
    removed: tuple[str, ...]  # The texts of items that are gone


def item_of(question: Question) -> str:
    """Return rubric and id of the item that a question is about; empty if it is about none."""
    about = question.about
    return f"{about.rubric}/{about.item.id}" if about else ""


def _words(before: str, now: str) -> tuple[ChangedWords, ...]:
    old, new = before.split(), now.split()
    words = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            words.append(ChangedWords("same", " ".join(new[c:d])))
            continue
        if old[a:b]:
            words.append(ChangedWords("removed", " ".join(old[a:b])))
        if new[c:d]:
            words.append(ChangedWords("added", " ".join(new[c:d])))
    return tuple(words)


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


@dataclass(frozen=True)
class ScenarioQuestions:
    """The questions about one scenario to one rater, whose id decides the order of items."""

    plan: StudyPlan  # The round
    scenario: Scenario  # The scenario as it is shown
    rater: str
    work: Work = field(default_factory=dict)  # All that the rater answered, in every round

    @cached_property
    def rated(self) -> RatedScenario:
        """The scenario's version in the round, with the former ones."""
        return self.plan.rated(self.scenario.id)

    @property
    def task(self) -> str:
        """The store's task for the rater's answers on the scenario in the round."""
        return self.plan.task(self.scenario.id)

    @cached_property
    def answerable(self) -> tuple[Question, ...]:
        """All questions that the rater may have answered, item by item.

        The relevance of an item of 0 points is not asked. The items of a rubric are shuffled for
        each rater, so that none of them is always read last.
        """
        plan, scenario, late = self.plan, self.scenario, self.plan.relevance and self.plan.points
        asked = [
            rating_question(Scale.realism),
            rating_question(Scale.validity),
            _INFORMATION,
            _comment(),
        ]
        items = list[ItemRef]()
        for rubric in plan.rubrics:
            of_rubric = [item for item in scenario.rubric(rubric) if plan.points or item.points]
            Random(f"{plan.seed}/{self.rater}/{scenario.id}/{rubric}").shuffle(of_rubric)
            items += [ItemRef(rubric, item, n) for n, item in enumerate(of_rubric, len(items) + 1)]
        for about in items:
            of_item = item_questions(about, relevance=plan.relevance, points=plan.points)
            asked += [q for q in of_item if about.item.points or q.kind is not Scale.relevance]
            asked.append(_comment(about, late=late))
        return (*asked, *([replace(_MISSING, late=late)] if items else []), _COUNTRY)

    @cached_property
    def earlier(self) -> Mapping[str, EarlierAnswer]:
        """The newest answer that the rater gave in earlier rounds, by field, without comments."""
        return {
            name: EarlierAnswer(answer.value, former.shown)
            for former in reversed(self.rated.former)
            for name, answer in self.work.get(former.task, {}).items()
            if not name.endswith("comment")
        }

    @cached_property
    def kept(self) -> Mapping[str, Question]:
        """By field, the questions not asked again since their earlier answer still holds."""
        return {
            q.field: q
            for q in (self.answerable if self.earlier else ())
            if q.options
            and (answer := self.earlier.get(q.field))
            and answer.holds(q, self.rated.shown)
        }

    @cached_property
    def asked(self) -> tuple[Question, ...]:
        """The questions on the scenario's card: late ones after others, closing ones at the end.

        Of what was answered in an earlier round, only what the revision can change is asked again.
        """
        asked = [q for q in self.answerable if q.field not in self.kept]
        open_items = {item_of(q) for q in asked if q.options}
        asked = [q for q in asked if item_of(q) in open_items or not q.about]
        return tuple(sorted(asked, key=lambda q: (q.closing, q.late and not q.closing)))

    @cached_property
    def earlier_words(self) -> Mapping[str, str]:
        """The rater's earlier answers by field, in the words of the options chosen then."""
        words = {}
        for question in self.answerable:
            if question.options and (answer := self.earlier.get(question.field)):
                former = answer.shown.items.get(item_of(question)) if answer.shown else None
                then = _as_asked_of(question, former) if former else question
                words[question.field] = then.in_words(answer.value)
        return words

    @property
    def revision(self) -> Revision | None:
        """The differences from the version of the scenario that the rater last answered about.

        None if they answered in no earlier round, or if one of the texts was not kept.
        """
        formers = (each.shown for each in self.rated.former if self.work.get(each.task))
        before, now = next(formers, None), self.rated.shown
        if before is None or now is None:
            return None
        both = before.items.keys() & now.items.keys()
        return Revision(
            _words(before.text, now.text) if before.text != now.text else (),
            {name: before.items[name] for name in both if before.items[name] != now.items[name]},
            frozenset(now.items.keys() - both),
            tuple(item.text for name, item in before.items.items() if name not in both),
        )

    @property
    def revision_shown(self) -> Mapping[str, object]:
        """A template's values for a revision: the changes, and the answers that still hold."""
        stands = [(question, self.earlier_words[name]) for name, question in self.kept.items()]
        return {"revision": self.revision, "stands": stands}

    @property
    def minutes(self) -> float:
        """The minutes that a careful rater may need: a guess from words and questions.

        Where the rater also writes an answer to the scenario, that and a second reading are
        counted.
        """
        seat = self.plan.seat(self.rater)
        answers = seat is not None and self.scenario.id in seat.answers
        again = len(self.scenario.text.split()) if answers else 0
        read = count_words(self.scenario, self.asked) + again
        scales = sum(isinstance(q.kind, Scale) or q.kind == "information" for q in self.asked)
        views = sum(q.kind == "points" for q in self.asked)
        asking = scales * _MINUTES_A_SCALE + views * _MINUTES_A_VIEW
        return read / WORDS_A_MINUTE + asking + (MINUTES_TO_ANSWER if answers else 0)


def _as_asked_of(question: Question, former: ShownItem) -> Question:
    """Return the question that was asked about the former version of the item."""
    if question.about is None:
        return question
    item = question.about.item.model_copy(update=former.model_dump())
    about = replace(question.about, item=item)
    asked = item_questions(about, relevance=True, points=True)
    return next(each for each in asked if each.kind == question.kind)


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


def minutes_of_raters(
    plan: StudyPlan, scenarios: Mapping[str, Scenario], work: Mapping[str, Work] = {}
) -> list[float]:
    """Return the minutes that each rater may need, a guess, after the answers in `work`."""
    return [
        sum(
            ScenarioQuestions(plan, scenarios[name], seat.id, work.get(seat.id, {})).minutes
            for name in seat.scenarios
        )
        for seat in plan.seats
    ]


def plan_in_words(
    plan: StudyPlan, scenarios: Mapping[str, Scenario], work: Mapping[str, Work] = {}
) -> Iterator[str]:
    """Yield the numbers of scenarios and raters, the expected time, and what cannot be validated.

    `work` has the answers of each rater in earlier rounds, which take no time again.
    """
    loads = [len(seat.scenarios) for seat in plan.seats]
    times = minutes_of_raters(plan, scenarios, work)
    min_load = f"{min(loads)} to " if min(loads) < max(loads) else ""
    load = f"{min_load}{counted(max(loads), 'scenario')}"
    n_answers = max(len(seat.answers) for seat in plan.seats)
    answers = f", {n_answers} of them to be answered first" if n_answers else ""
    n_scenarios, n_raters = len(plan.scenarios), len(plan.seats)
    yield (
        f"{counted(n_scenarios, 'scenario')}, {counted(n_raters, 'rater')}, {load} each{answers}: "
        f"about {counted(round(max(times)), 'minute')} for the person with the most."
    )
    if reasons := validation_obstacles(plan, scenarios.values()):
        yield f"This plan cannot validate every scenario: {'; '.join(reasons)}."


# Answers of one's own


HANDED_IN = "answers-handed-in"
"""The task under which the store keeps that answers are handed in, with a field for each round."""

_WRITTEN = "answer"

MINUTES_TO_ANSWER = 8.0
"""Expected minutes to think of 150 words and write them: a guess."""


def answer_question(told: str) -> Question:
    """Return the one question of the page, with the instructions for answering."""
    return Question(_WRITTEN, "comment", "Your answer", "your answer", hint=told)


def written_answer(answers: Mapping[str, Answer]) -> str | None:
    """Return the text that a rater wrote; None if they wrote nothing or declined.

    An answer that was typed before its writer declined does not count.
    """
    return answers[_WRITTEN].value if _WRITTEN in answers and SKIPPED not in answers else None


def count_written(work: Work) -> int:
    """Return how many answers a rater has written in all rounds, declined ones left out."""
    return sum(
        name.startswith(ANSWER_TASKS) and written_answer(answers) is not None
        for name, answers in work.items()
    )
