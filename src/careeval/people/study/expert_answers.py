"""Answers that experts wrote themselves and handed in, for a run to grade.

An answer has its writer's role, but no pseudonym.
"""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from careeval.bank import Bank
from careeval.core.rating import Rater, Role
from careeval.people.store import Store
from careeval.people.study.own_answers import HANDED_IN, has_handed_in, written_answer
from careeval.people.study.plan import StudyPlan
from careeval.people.study.rounds import present_seats, scenario_as_shown

_RaterAnswer = tuple[Rater, str]
"""A rater and the text of their answer."""


@dataclass(frozen=True, slots=True)
class ExpertAnswer:
    """One answer that an expert wrote before seeing a rubric."""

    role: Role  # The role of its writer
    scenario: str  # Its id
    text: str  # As it was typed; never empty


@dataclass(frozen=True, slots=True)
class ExpertAnswers:
    """All answers of a study's raters who have not withdrawn."""

    answers: tuple[ExpertAnswer, ...]
    """Sorted by scenario, and within a scenario in an order that a secret of the study's file
    decides. The order is the same each time, and does not tell who wrote what."""
    people: Mapping[Role, int]  # The number of writers of each role
    unanswered: tuple[str, ...]
    """Scenarios that raters were asked to answer, but without an answer here."""
    n_other: int  # Answers left out because the bank now has another version of the scenario
    n_late: int
    """Answers left out because their writer had rated on paper, and so seen rubrics, before they
    handed in."""
    n_waiting: int  # Raters who are asked for answers in the newest round, and have handed in none


def raters_who_handed_in(store: Store) -> frozenset[str]:
    """Return the ids of raters who have handed in answers; they may have seen rubrics since."""
    works = store.all_work()
    return frozenset(name for name, work in works.items() if has_handed_in(work.get(HANDED_IN, {})))


def read_expert_answers(store: Store, bank: Bank) -> ExpertAnswers:
    """Return the handed-in answers of all rounds that a run can grade; count those left out.

    Args:
        store: The study's.
        bank: The bank with the versions that a run would put to a system.

    Raises:
        ReviewError: The file is not a study's, or cannot be read.
    """
    plans = [StudyPlan.read(text) for text in store.plans("study")]
    works = store.all_work()
    on_paper = _first_typed(store)
    by_scenario: dict[str, list[_RaterAnswer]] = {}
    n_other = n_late = 0
    for plan in plans:
        for seat in present_seats(store, plan):
            work = works[seat.id]
            commit = work.get(HANDED_IN, {}).get(str(plan.round))
            late = commit is not None and on_paper.get(seat.id, commit.seq) < commit.seq
            for name in seat.answers:
                answers = by_scenario.setdefault(name, [])
                text = written_answer(work.get(plan.answer_task(name), {})) if commit else None
                if text is None:
                    continue
                if late:
                    n_late += 1
                elif scenario_as_shown(plan, plan.rated(name), [bank]) is None:
                    n_other += 1
                else:
                    answers.append((seat.rater, text))
    secret = store.secret("answers")
    by_scenario = {name: _in_order(answers, secret, name) for name, answers in by_scenario.items()}
    people = {rater for answers in by_scenario.values() for rater, _ in answers}
    waiting = [
        seat
        for seat in present_seats(store, plans[-1])
        if seat.answers and not has_handed_in(works[seat.id].get(HANDED_IN, {}))
    ]
    return ExpertAnswers(
        answers=tuple(
            ExpertAnswer(rater.role, name, text)
            for name in sorted(by_scenario)
            for rater, text in by_scenario[name]
        ),
        people=Counter(rater.role for rater in people),
        unanswered=tuple(name for name in sorted(by_scenario) if not by_scenario[name]),
        n_other=n_other,
        n_late=n_late,
        n_waiting=len(waiting),
    )


def _in_order(answers: list[_RaterAnswer], secret: bytes, scenario: str) -> list[_RaterAnswer]:
    """Sort answers to a scenario by a keyed hash of their text, so that the order hides writers."""

    def place(answer: _RaterAnswer) -> tuple[bytes, Role]:
        words = f"{scenario}\0{answer[1]}".encode()
        return hmac.digest(secret, words, hashlib.sha256), answer[0].role

    return sorted(answers, key=place)


def _first_typed(store: Store) -> Mapping[str, int]:
    """Return rater → the first event that another person typed for them, for raters with one."""
    return {e.rater: e.seq for e in reversed(store.events()) if e.typed_by}
