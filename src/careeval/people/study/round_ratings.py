"""The ratings of one round, as they came in, with the time that they took."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from careeval.core.rating import Comment, PointsView, Rater, Rating, Scale, Subject, Sufficiency
from careeval.core.scenario import Rubric, RubricItem, Scenario, Split
from careeval.people.store import Event, Work
from careeval.people.study.plan import StudyPlan
from careeval.people.study.questions import AGREE, CANNOT_JUDGE, ENOUGH, UNSURE, ScenarioQuestions
from careeval.results.held_out_words import WITHHELD, names_by_place

T = TypeVar("T", Rating, PointsView, Comment, Sufficiency)


FASTEST_READER = 500
"""The most words a minute that can be read. Silent readers of English mostly do 175 to 300
(Brysbaert 2019, doi:10.1016/j.jml.2019.104047).
"""


@dataclass(frozen=True, slots=True)
class RoundRater:
    """A rater in a round."""

    rater: Rater
    scenarios: tuple[str, ...]  # Scenarios given to the rater
    n_typed: int = 0  # Answers that somebody else typed for the rater
    agreed: bool = False  # True if the rater agreed to the terms, in the app or on paper
    years: int | None = None  # Years of experience; `None` if not given
    too_fast: frozenset[str] = frozenset()
    """Scenarios that the rater answered about in less time than `FASTEST_READER` needs to read the
    scenario and the items answered about."""
    untimed: frozenset[str] = frozenset()
    """Scenarios that the rater answered about in a time that is not known."""


@dataclass(frozen=True, slots=True)
class ProposedItem:
    """A bank's proposal for an item: its points, and whether it describes a harm to rights."""

    points: int
    rights: bool = False


@dataclass(frozen=True, slots=True)
class RoundAnswers:
    """The answers of one round of a study, as received."""

    number: int  # Number of the round, from 1
    versions: Mapping[str, int]  # Scenario → version that was rated
    seats: tuple[RoundRater, ...]
    """The raters. Those who have withdrawn are missing here and in all that follows."""
    ratings: tuple[Rating, ...]
    views: tuple[PointsView, ...]
    comments: tuple[Comment, ...]
    note: str = ""  # A sentence if some answers could not be read; else empty
    words: Mapping[Subject, str] = field(default_factory=dict)
    """Scenario or item → its text, if it may be shown."""
    hashes: Mapping[str, str] = field(default_factory=dict)
    """Scenario → hash of the text that was rated, by `careeval.bank.rated_hash`."""
    items: Mapping[str, Mapping[Subject, ProposedItem]] = field(default_factory=dict)
    """Scenario → its items as the bank proposes them; no key if the text that was rated is lost."""
    held_out: frozenset[str] = frozenset()
    """Scenarios whose words may not be shown: their items are named by position, and comments on
    them are `WITHHELD`."""
    sufficiency: tuple[Sufficiency, ...] = ()
    """Raters' answers on whether they had the information needed; empty if the round did not
    ask."""

    def subject(self, scenario: str) -> Subject:
        """Return the subject of a scenario in this round."""
        return Subject(scenario, self.versions[scenario], self.number)

    def is_too_fast(self, rater: Rater, scenario: str) -> bool | None:
        """Tell whether a rater answered about a scenario too fast; `None` if no time is known."""
        seat = next(seat for seat in self.seats if seat.rater == rater)
        return None if scenario in seat.untimed else scenario in seat.too_fast


def without_fast_answers(round_: RoundAnswers) -> RoundAnswers:
    """Return the round without all that raters chose too fast to have read it.

    Comments stay, since they are read and not counted; so does what took an unknown time.
    """
    fast = {(seat.rater, name) for seat in round_.seats for name in seat.too_fast}

    def kept(answers: Iterable[T]) -> tuple[T, ...]:
        return tuple(a for a in answers if (a.rater, a.subject.scenario) not in fast)

    return replace(
        round_,
        ratings=kept(round_.ratings),
        views=kept(round_.views),
        sufficiency=kept(round_.sufficiency),
    )


def without_held_out_words(
    round_: RoundAnswers, scenarios: Mapping[str, Scenario | None], public: Collection[str]
) -> RoundAnswers:
    """Return the round without anything that reveals the words of held-out scenarios.

    Args:
        round_: The round as it came in.
        scenarios: Scenarios of the round as they were rated; `None` for one that is lost.
        public: Ids that are public in some bank, which decides for a lost scenario.
    """
    secret = {
        name
        for name, scenario in scenarios.items()
        if (name not in public if scenario is None else scenario.split is Split.held_out)
    }
    if not secret:
        return round_
    places = {s.id: names_by_place(s) for s in scenarios.values() if s and s.id in secret}

    def renamed(subject: Subject) -> Subject:
        if subject.scenario not in secret or subject.rubric is None:
            return subject
        return replace(subject, item=places[subject.scenario][subject.rubric, subject.item])

    return replace(
        round_,
        ratings=tuple(replace(r, subject=renamed(r.subject)) for r in round_.ratings),
        views=tuple(replace(v, subject=renamed(v.subject)) for v in round_.views),
        comments=tuple(
            replace(c, subject=renamed(c.subject), text=WITHHELD)
            if c.subject.scenario in secret
            else c
            for c in round_.comments
        ),
        items={
            name: {renamed(item): proposed for item, proposed in items.items()}
            for name, items in round_.items.items()
        },
        held_out=frozenset(secret),
    )


def words_shown(scenario: Scenario, round_: int) -> dict[Subject, str]:
    """Return the texts of a scenario and its items; none if it is held out."""
    if scenario.split is Split.held_out:
        return {}
    items = {subject: item.text for subject, item in items_by_subject(scenario, round_).items()}
    return {Subject(scenario.id, scenario.version, round_): scenario.text} | items


def items_by_subject(scenario: Scenario, round_: int) -> dict[Subject, RubricItem]:
    """Return the items of a scenario in a round, by subject."""
    return {
        Subject(scenario.id, scenario.version, round_, rubric, item.id): item
        for rubric in Rubric
        for item in scenario.rubric(rubric)
    }


class AnswersBySubject:
    """A round's answers by subject: a scenario or an item."""

    def __init__(self, round_: RoundAnswers) -> None:
        self.round = round_
        self.ratings = _by_subject(round_.ratings)
        self.views = _by_subject(round_.views)
        self.comments = _by_subject(round_.comments)
        self.sufficiency = _by_subject(round_.sufficiency)
        self._items: defaultdict[str, set[Subject]] = defaultdict(set)
        for subject in (*self.ratings, *self.views, *self.comments):
            if subject.rubric is not None:
                self._items[subject.scenario].add(subject)

    def proposed(self, item: Subject) -> ProposedItem | None:
        """Return the bank's proposal for an item; `None` if the text that was rated is lost."""
        return self.round.items.get(item.scenario, {}).get(item)

    def rated(self, subject: Subject, scale: Scale) -> tuple[Rating, ...]:
        """Return the ratings of a subject on a scale."""
        return tuple(r for r in self.ratings.get(subject, ()) if r.scale is scale)

    def items(self, scenario: str) -> list[Subject]:
        """Return every item with an answer; the ladder first, then by id."""
        order = list(Rubric)
        return sorted(
            self._items[scenario],
            key=lambda item: (order.index(item.rubric or order[0]), item.item),
        )

    def n_asked(self, scenario: str) -> int:
        """Return the number of raters who were asked to rate a scenario."""
        return sum(scenario in seat.scenarios for seat in self.round.seats)


def _by_subject(answers: Iterable[T]) -> dict[Subject, tuple[T, ...]]:
    groups: dict[Subject, list[T]] = {}
    for answer in answers:
        groups.setdefault(answer.subject, []).append(answer)
    return {subject: tuple(group) for subject, group in groups.items()}


LONGEST_GAP = 10
"""Minutes between two answers after which the rater is taken to have been away."""


def minutes_by_task(events: Iterable[Event]) -> Mapping[str, Mapping[str, float]]:
    """Return rater → task → minutes, summed over its answers, from the save before to each answer.

    An answer has no time if somebody else typed it, if it is the rater's first, or if it follows a
    gap of more than `LONGEST_GAP`, in which the rater may have read the page. A task with such an
    answer is left out.
    """
    minutes: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    untimed: set[tuple[str, str]] = set()
    before: dict[str, datetime] = {}
    for event in events:
        if event.typed_by:
            untimed.add((event.rater, event.task))
            continue
        now = datetime.fromisoformat(event.at)
        last = before.get(event.rater)
        gap = (now - last).total_seconds() / 60 if last else -1.0
        if 0 <= gap <= LONGEST_GAP:
            minutes[event.rater][event.task] += gap
        else:
            untimed.add((event.rater, event.task))
        before[event.rater] = now
    for rater, task in untimed:
        minutes[rater].pop(task, None)
    return {rater: dict(tasks) for rater, tasks in minutes.items() if tasks}


def parse_ratings(
    plan: StudyPlan, bank: Mapping[str, Scenario], work: Mapping[str, Work]
) -> RoundAnswers:
    """Return a round with its answers by kind, each kind in the order of raters and scenarios.

    Args:
        plan: The round.
        bank: Its scenarios by id, in the version that was shown.
        work: Rater id → their answers; raters who have withdrawn are left out.

    Returns:
        The round without its raters, with only what was judged: a question without an answer, or
        with the answer that the rater cannot judge, is left out. An earlier answer that was not
        asked for again counts once the rater has chosen an option of some question about the new
        version; a comment alone does not do.
    """
    ratings: list[Rating] = []
    views: list[PointsView] = []
    comments: list[Comment] = []
    sufficiency: list[Sufficiency] = []
    for seat in plan.seats:
        for name in seat.scenarios:
            questions = ScenarioQuestions(plan, bank[name], seat.id, work.get(seat.id, {}))
            answers = _answers(questions)
            for question in questions.answerable:
                value = answers.get(question.field)
                if value is None or (question.options and value == CANNOT_JUDGE):
                    continue
                about = question.about
                subject = Subject(name, plan.rated(name).version, plan.round)
                if about is not None:
                    subject = replace(subject, rubric=about.rubric, item=about.item.id)
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
    return RoundAnswers(
        plan.round,
        {rated.id: rated.version for rated in plan.scenarios},
        (),
        tuple(ratings),
        tuple(views),
        tuple(comments),
        sufficiency=tuple(sufficiency),
    )


def _answers(questions: ScenarioQuestions) -> Mapping[str, str]:
    """Return a rater's answers in a round, with earlier ones that count: see `parse_ratings`."""
    stored = questions.work.get(questions.task, {})
    answers = {name: answer.value for name, answer in stored.items()}
    if not any(q.field in answers for q in questions.answerable if q.options):
        return answers
    return {name: questions.earlier[name].value for name in questions.kept} | answers
