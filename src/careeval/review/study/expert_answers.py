"""The answers that experts wrote themselves and handed in: what a run can take and grade.

Whose an answer is, is lost here: a role is kept, and no pseudonym goes on.
"""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from careeval.bank import Bank
from careeval.core.rating import Rater, Role
from careeval.review.store import Store
from careeval.review.study.own_answers import HANDED_IN, handed_in, written
from careeval.review.study.plan import read_plan
from careeval.review.study.rounds import as_shown, seats_in

_Said = tuple[Rater, str]
"""Somebody, and what they would do."""


@dataclass(frozen=True, slots=True)
class ExpertAnswer:
    """What somebody would do, written before they saw a rubric.

    Attributes:
        role: In which capacity.
        scenario: Its id.
        text: As it was typed; never empty.
    """

    role: Role
    scenario: str
    text: str


@dataclass(frozen=True, slots=True)
class HandedIn:
    """All of a study's answers, of those who are still in.

    Attributes:
        answers: To scenarios as the bank has them; by scenario, and there in an order that a
            secret of the study's file decides: the same each time, and a place in it is nobody's,
            whatever else of the study is known.
        people: How many of each role wrote them.
        unanswered: Scenarios that somebody was to answer, and that have no answer here.
        n_other: Answers left out: the bank has another version than the one that was answered.
        n_late: Answers left out: their writer had rated on paper, with the rubric before them.
        n_waiting: Raters who have been asked for answers in the newest round, and have not handed
            in.
    """

    answers: tuple[ExpertAnswer, ...]
    people: Mapping[Role, int]
    unanswered: tuple[str, ...]
    n_other: int
    n_late: int
    n_waiting: int


def who_answered(store: Store) -> frozenset[str]:
    """The ids of those who have handed in answers: they have seen rubrics since."""
    works = store.everybody()
    return frozenset(name for name, work in works.items() if handed_in(work.get(HANDED_IN, {})))


def handed_in_answers(store: Store, bank: Bank) -> HandedIn:
    """The answers of all rounds.

    Args:
        store: The study's.
        bank: Whose versions are meant: those that a run over it would put.

    Raises:
        ReviewError: The file is no study's, or cannot be read.
    """
    plans = [read_plan(text) for text in store.plans("study")]
    works = store.everybody()
    on_paper = _first_typed(store)
    given: dict[str, list[_Said]] = {}
    n_other = n_late = 0
    for plan in plans:
        for seat in seats_in(store, plan):
            work = works[seat.id]
            said = work.get(HANDED_IN, {}).get(str(plan.round))
            late = said is not None and on_paper.get(seat.id, said.seq) < said.seq
            for name in seat.answers:
                found = given.setdefault(name, [])
                text = written(work.get(plan.answer_task(name), {})) if said else None
                if text is None:
                    continue
                if late:
                    n_late += 1
                elif as_shown(plan, plan.rated(name), [bank]) is None:
                    n_other += 1
                else:
                    found.append((seat.rater, text))
    secret = store.secret("answers")
    given = {name: _in_order(found, secret, name) for name, found in given.items()}
    people = {rater for found in given.values() for rater, _ in found}
    waiting = [
        seat
        for seat in seats_in(store, plans[-1])
        if seat.answers and not handed_in(works[seat.id].get(HANDED_IN, {}))
    ]
    return HandedIn(
        answers=tuple(
            ExpertAnswer(rater.role, name, text)
            for name in sorted(given)
            for rater, text in given[name]
        ),
        people=Counter(rater.role for rater in people),
        unanswered=tuple(name for name in sorted(given) if not given[name]),
        n_other=n_other,
        n_late=n_late,
        n_waiting=len(waiting),
    )


def _in_order(found: list[_Said], secret: bytes, scenario: str) -> list[_Said]:
    """Answers to a scenario by a keyed hash of their words: their writers' seats do not count."""

    def place(each: _Said) -> tuple[bytes, Role]:
        words = f"{scenario}\0{each[1]}".encode()
        return hmac.digest(secret, words, hashlib.sha256), each[0].role

    return sorted(found, key=place)


def _first_typed(store: Store) -> Mapping[str, int]:
    """Rater → the first event that somebody typed for them; who has none is no key."""
    return {e.rater: e.seq for e in reversed(store.events()) if e.typed_by}
