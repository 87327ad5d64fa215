"""A study's file as values: who is where, and every round as it came in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from careeval.bank import Bank
from careeval.core.rating import Rater
from careeval.core.scenario import Scenario
from careeval.errors import BankError, ReviewError
from careeval.results.study import RoundSaid, Seated
from careeval.review.asking import Progress, progress
from careeval.review.desk import CONSENT
from careeval.review.questions import questions
from careeval.review.said import said
from careeval.review.store import Store
from careeval.review.study import Rated, Seat, StudyPlan, read_plan, scenarios_of


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """How far one rater is with the newest round.

    Attributes:
        agreed: Whether they have agreed to the terms.
        counts: Their scenarios, by how far each is.
        last: When anything of theirs was last saved, UTC; empty where nothing was.
        n_typed: Answers that somebody else typed for them.
    """

    rater: Rater
    agreed: bool
    counts: Mapping[Progress, int]
    last: str
    n_typed: int


def whereabouts(
    store: Store, plan: StudyPlan, scenarios: Mapping[str, Scenario]
) -> tuple[Whereabouts, ...]:
    """Who is where; of those who are still in, in the order of the plan.

    Args:
        store: The study's.
        plan: Its newest round.
        scenarios: Its scenarios, as they are shown.
    """
    typed = _typed(store, {plan.task(rated.id) for rated in plan.scenarios})
    found = []
    for seat in _seats(store, plan):
        work = store.work(seat.id)
        counts = Counter(
            progress(questions(plan, scenarios[name], seat.id), work.get(plan.task(name), {}))
            for name in seat.scenarios
        )
        given = work.get(CONSENT, {}).get("given")
        last = max((a.at for answers in work.values() for a in answers.values()), default="")
        agreed = given is not None and given.value == plan.consent.digest
        found.append(Whereabouts(seat.rater, agreed, counts, last, typed[seat.id]))
    return tuple(found)


def rounds_said(store: Store, banks: Sequence[Bank]) -> tuple[RoundSaid, ...]:
    """Every round as it came in, from the first.

    Args:
        store: The study's.
        banks: Where the rated texts are looked for. Of a version that is in none of them, what was
            said of the scenario itself is read, and its items are left out; the round's note says
            so.
    """
    return tuple(_round(store, read_plan(text), banks) for text in store.plans("study"))


def _round(store: Store, plan: StudyPlan, banks: Sequence[Bank]) -> RoundSaid:
    shown = {rated.id: _as_shown(plan, rated, banks) for rated in plan.scenarios}
    lost = [name for name, scenario in shown.items() if scenario is None] if plan.rubrics else []
    note = ""
    if lost:
        note = (
            f"Round {plan.round}: what was said of the items of {', '.join(lost)} is left out, "
            "since no bank that was named has the text that was rated."
        )
    readable = {rated.id: shown[rated.id] or _without_items(rated) for rated in plan.scenarios}
    seats = _seats(store, plan)
    answers = said(plan, readable, {seat.id: store.work(seat.id) for seat in seats})
    typed = _typed(store, {plan.task(rated.id) for rated in plan.scenarios})
    return RoundSaid(
        plan.round,
        {rated.id: rated.version for rated in plan.scenarios},
        tuple(Seated(seat.rater, seat.scenarios, typed[seat.id]) for seat in seats),
        answers.ratings,
        answers.views,
        answers.comments,
        note,
    )


def _seats(store: Store, plan: StudyPlan) -> tuple[Seat, ...]:
    present = {rater.id for rater in store.raters()}
    return tuple(seat for seat in plan.seats if seat.id in present)


def _as_shown(plan: StudyPlan, rated: Rated, banks: Iterable[Bank]) -> Scenario | None:
    alone = plan.model_copy(update={"scenarios": (rated,), "seats": ()})
    for bank in banks:
        try:
            return scenarios_of(alone, bank)[rated.id]
        except (BankError, ReviewError):
            continue
    return None


def _without_items(rated: Rated) -> Scenario:
    """Stands for a text that is lost: a scenario's own questions are the same whatever it says."""
    known: dict[str, Any] = {"id": rated.id, "version": rated.version, "actions": (), "ladder": ()}
    return Scenario.model_construct(**known)


def _typed(store: Store, tasks: set[str]) -> Counter[str]:
    """Rater → answers on these tasks that stand as somebody else typed them."""
    newest = {(e.rater, e.task, e.field): e for e in store.events() if e.task in tasks}
    return Counter(e.rater for e in newest.values() if e.typed_by and e.value is not None)
