"""The rounds of a study, read from its file: the ratings, the time that they took, and progress."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from statistics import median
from typing import Any, TypeVar

from careeval.bank import Bank
from careeval.core.rating import Comment, PointsView, Rater, Rating, Scale, Subject, Sufficiency
from careeval.core.scenario import HarmKind, Rubric, RubricItem, Scenario, Split
from careeval.errors import BankError, ReviewError
from careeval.people.deck import ABOUT, CONSENT, FINISHED, Progress, progress
from careeval.people.store import Event, Store, Work
from careeval.people.study.plan import (
    RatedScenario,
    Seat,
    StudyPlan,
    planned_scenarios,
)
from careeval.people.study.questions import (
    AGREE,
    CANNOT_JUDGE,
    ENOUGH,
    HANDED_IN,
    UNSURE,
    ScenarioQuestions,
    count_words,
    count_written,
)
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


@dataclass(frozen=True, slots=True)
class RaterProgress:
    """One rater's progress with the newest round."""

    rater: Rater
    opened: bool
    """True if they have started from their link: have a session, or have saved anything."""
    agreed: bool  # True if they have agreed to the present terms
    declined: bool  # True if they have declined the terms, present or former
    finished: bool  # True if they have said that they finished, even if questions are left open
    counts: Mapping[
        Progress, int
    ]  # Number of their scenarios that are done, begun, skipped and so on
    minutes: float | None  # Median minutes for a scenario that is done; `None` if no time is known
    n_too_fast: int  # Scenarios that were rated in less time than it takes to read them
    last: str  # Time of their last save, UTC; empty if nothing was saved
    n_typed: int  # Answers in this round that another person typed for them
    revoked: bool  # True if their link is switched off
    n_to_write: int  # Answers of their own that they are asked to write first
    n_written: int  # Answers of their own that they have written, in this round and those before
    handed_in: bool
    """True if they have handed in answers of their own, in this round or before, so that these can
    no longer be changed."""


def rater_progress(
    store: Store, plan: StudyPlan, scenarios: Mapping[str, Scenario]
) -> tuple[RaterProgress, ...]:
    """Return the progress of every rater who has not withdrawn, in the order of the plan.

    Args:
        store: The study's.
        plan: Its newest round.
        scenarios: Its scenarios, as they are shown.
    """
    typed = _typed(store, {plan.task(rated.id) for rated in plan.scenarios})
    rows, revoked, events = [], store.revoked_ids(), store.events()
    opened = store.opened_ids() | {event.rater for event in events if not event.typed_by}
    times = minutes_by_task(events)
    for seat in present_seats(store, plan):
        work = store.work(seat.id)
        spent = times.get(seat.id, {})
        questions = [ScenarioQuestions(plan, scenarios[n], seat.id, work) for n in seat.scenarios]
        states = [progress(each.asked, work.get(each.task, {})) for each in questions]
        minutes = [
            spent[each.task]
            for each, state in zip(questions, states, strict=True)
            if state is Progress.done and each.task in spent
        ]
        last = max((a.at for answers in work.values() for a in answers.values()), default="")
        rows.append(
            RaterProgress(
                seat.rater,
                seat.id in opened,
                _agreed(plan, work),
                "declined" in work.get(CONSENT, {}),
                str(plan.round) in work.get(FINISHED, {}),
                Counter(states),
                median(minutes) if minutes else None,
                sum(_is_too_fast(each, spent) is True for each in questions),
                last,
                typed[seat.id],
                seat.id in revoked,
                len(seat.answers),
                count_written(work),
                HANDED_IN in work,
            )
        )
    return tuple(rows)


def read_rounds(store: Store, banks: Sequence[Bank]) -> tuple[RoundAnswers, ...]:
    """Return all rounds with the ratings received, from the first.

    Args:
        store: The study's.
        banks: The banks in which the rated texts are looked for. A scenario is lost if none of them
            has the version that was rated: then ratings of the scenario itself are read, those of
            its items are left out, and the round's note says so.

    Returns:
        The rounds, without the words of scenarios that are held out, or lost and public in no bank:
        their items are called by their places, and their comments are withheld.
    """
    return tuple(_round(store, StudyPlan.read(text), banks) for text in store.plans("study"))


def _round(store: Store, plan: StudyPlan, banks: Sequence[Bank]) -> RoundAnswers:
    shown = {rated.id: scenario_as_shown(plan, rated, banks) for rated in plan.scenarios}
    lost = [name for name, scenario in shown.items() if scenario is None] if plan.rubrics else []
    note = ""
    if lost:
        note = (
            f"Round {plan.round}: what was said of the items of {', '.join(lost)} is left out, "
            "since no bank that was named has the text that was rated."
        )
    readable = {rated.id: shown[rated.id] or _without_items(rated) for rated in plan.scenarios}
    seats = present_seats(store, plan)
    work = {seat.id: store.work(seat.id) for seat in seats}
    answers = parse_ratings(plan, readable, work)
    typed = _typed(store, {plan.task(rated.id) for rated in plan.scenarios})
    times = minutes_by_task(store.events())
    known = {name: scenario for name, scenario in shown.items() if scenario is not None}
    answers = replace(
        answers,
        seats=tuple(
            RoundRater(
                seat.rater,
                seat.scenarios,
                typed[seat.id],
                agreed=_agreed(plan, work[seat.id]),
                years=_years(work[seat.id]),
                **_paces(plan, shown, seat, work[seat.id], times.get(seat.id, {})),
            )
            for seat in seats
        ),
        note=note,
        words={
            subject: text
            for scenario in known.values()
            for subject, text in words_shown(scenario, plan.round).items()
        },
        hashes={rated.id: rated.hash for rated in plan.scenarios},
        items={
            name: {
                subject: ProposedItem(item.points, item.harm is HarmKind.rights)
                for subject, item in items_by_subject(scenario, plan.round).items()
            }
            for name, scenario in known.items()
        },
    )
    public = {s.id for bank in banks for s in bank.scenarios if s.split is Split.public}
    return without_held_out_words(answers, shown, public)


def _paces(
    plan: StudyPlan,
    shown: Mapping[str, Scenario | None],
    seat: Seat,
    work: Work,
    times: Mapping[str, float],
) -> dict[str, frozenset[str]]:
    """Return the scenarios that a rater answered about too fast, and in an unknown time."""
    rated = [name for name in seat.scenarios if work.get(plan.task(name))]
    paces = {
        name: None
        if (scenario := shown[name]) is None
        # a lost text has no words to count
        else _is_too_fast(ScenarioQuestions(plan, scenario, seat.id, work), times)
        for name in rated
    }
    return {
        "too_fast": frozenset(name for name, fast in paces.items() if fast),
        "untimed": frozenset(name for name, fast in paces.items() if fast is None),
    }


def _is_too_fast(questions: ScenarioQuestions, times: Mapping[str, float]) -> bool | None:
    """Tell whether a rater answered about a scenario in less time than it takes to read.

    The words are those of the items answered about, and of the scenario unless the rater had read
    it to write an answer of their own. If answers of earlier rounds still hold, their items and
    their time are counted too.

    Args:
        questions: The questions about the scenario, as it was shown, and the rater's answers.
        times: Task → minutes that the rater took.

    Returns:
        False if nothing was answered; None if no time is known.
    """
    plan, scenario, work = questions.plan, questions.scenario, questions.work
    stored = work.get(questions.task, {})
    given = [q for q in questions.answerable if q.field in stored]
    if not any(question.options for question in given):
        return False
    kept = questions.kept
    former = [each.task for each in questions.rated.former if kept and work.get(each.task)]
    tasks = [questions.task, *former]
    if any(task not in times for task in tasks):
        return None
    n_words = count_words(scenario, (*given, *kept.values()))
    if work.get(plan.answer_task(scenario.id)):
        n_words -= len(scenario.text.split())
    return sum(times[task] for task in tasks) < n_words / FASTEST_READER


def _agreed(plan: StudyPlan, work: Work) -> bool:
    """Tell whether a rater agreed to the present terms."""
    consent = work.get(CONSENT, {}).get("given")
    return consent is not None and consent.value == plan.consent.digest


def _years(work: Work) -> int | None:
    """Return a rater's years of experience; None if they gave none."""
    years = work.get(ABOUT, {}).get("years")
    return int(years.value) if years is not None and years.value.isdecimal() else None


def present_seats(store: Store, plan: StudyPlan) -> tuple[Seat, ...]:
    """Return the seats of raters who have not withdrawn, in the order of the plan."""
    present = {rater.id for rater in store.raters()}
    return tuple(seat for seat in plan.seats if seat.id in present)


def scenario_as_shown(
    plan: StudyPlan, rated: RatedScenario, banks: Iterable[Bank]
) -> Scenario | None:
    """Return a scenario as it was when the plan was written; None if no bank has that version."""
    alone = plan.model_copy(update={"scenarios": (rated,), "seats": ()})
    for bank in banks:
        try:
            return planned_scenarios(alone, bank)[rated.id]
        except (BankError, ReviewError):
            continue
    return None


def _without_items(rated: RatedScenario) -> Scenario:
    """Return a stand-in for a lost text, to which the scenario's own questions still apply."""
    fields: dict[str, Any] = {"id": rated.id, "version": rated.version, "actions": (), "ladder": ()}
    return Scenario.model_construct(**fields)


def _typed(store: Store, tasks: set[str]) -> Counter[str]:
    """Return, for each rater, how many of their answers on these tasks another person typed."""
    newest = {(e.rater, e.task, e.field): e for e in store.events() if e.task in tasks}
    return Counter(e.rater for e in newest.values() if e.typed_by and e.value is not None)


def end_of_round(plan: StudyPlan, work: Mapping[str, Work]) -> str:
    """Return a warning that says how much of a round is rated, and what ends with it."""
    pages = [(seat.id, plan.task(name)) for seat in plan.seats for name in seat.scenarios]
    rated = sum(bool(work.get(rater, {}).get(task)) for rater, task in pages)
    return (
        f"Round {plan.round} ends: {rated:,} of its {len(pages):,} forms have an answer. Answers "
        f"open in a browser can then no longer be saved; paper forms can still be imported, with "
        f"careeval study import --round {plan.round} and the bank as it was."
    )
