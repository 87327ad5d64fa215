"""The rounds of a study, read from its file: progress and ratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from careeval.bank import Bank
from careeval.core.rating import Rater
from careeval.core.scenario import HarmKind, Scenario, Split
from careeval.errors import BankError, ReviewError
from careeval.people.deck import ABOUT, CONSENT, FINISHED, Progress, progress
from careeval.people.store import Store, Work
from careeval.people.study.plan import (
    RatedScenario,
    Seat,
    StudyPlan,
    planned_scenarios,
)
from careeval.people.study.questions import (
    HANDED_IN,
    ScenarioQuestions,
    count_words,
    count_written,
)
from careeval.people.study.round_ratings import (
    FASTEST_READER,
    ProposedItem,
    RoundAnswers,
    RoundRater,
    items_by_subject,
    minutes_by_task,
    parse_ratings,
    without_held_out_words,
    words_shown,
)


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
