"""The pages that a study asks a rater to fill in: their own answers if asked for, then ratings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from careeval.bank import Bank
from careeval.core.rating import Rater
from careeval.core.scenario import Scenario
from careeval.people.addresses import Addresses
from careeval.people.deck import Answers, Card, Deck
from careeval.people.question import duration_in_words
from careeval.people.store import Store, Work
from careeval.people.study import own_answers
from careeval.people.study.plan import Seat, StudyPlan, planned_scenarios
from careeval.people.study.practice import practice_cards
from careeval.people.study.questions import (
    earlier_words,
    expected_minutes,
    questions,
    revision_shown,
)
from careeval.people.study.revision import earlier_answers
from careeval.people.workbench import FINISHED, Workbench, Workload

PATHS, ENDS = ("/answer", "/rate"), ("/answers", "/finish")


def study_workbench(bank: Bank, store: Store, addresses: Addresses) -> Workbench:
    """Return the workbench for the newest round of a study.

    Raises:
        BankError: The bank lacks a scenario of the round.
        ReviewError: A scenario has changed since it was planned.
    """
    plan = StudyPlan.read(store.plans("study")[-1])
    study = _Round(plan, planned_scenarios(plan, bank))
    return Workbench(
        store,
        addresses,
        plan.title,
        plan.consent,
        _asks(plan),
        "study_help.html",
        "1 to 5",
        study.load,
        study.decks,
        practice_cards(plan),
    )


@dataclass(frozen=True)
class _Round:
    """One round of a study with its scenarios, from which a rater's cards are made."""

    plan: StudyPlan
    scenarios: Mapping[str, Scenario]
    _cards: dict[str, tuple[tuple[Card, ...], tuple[Card, ...]]] = field(default_factory=dict)
    """Answer and rating cards by seat, kept so that earlier rounds are read once."""

    def load(self, rater: Rater, work: Work) -> Workload | None:
        """Return the amount of work that a rater is asked to do; None if there is none."""
        seat = self.plan.seat(rater.id)
        if seat is None:
            return None
        total = sum(
            expected_minutes(
                self.plan,
                self.scenarios[name],
                rater.id,
                earlier_answers(self.plan.rated(name), work),
            )
            for name in seat.scenarios
        )
        return Workload(_amount(seat), duration_in_words(total))

    def decks(self, rater: Rater, work: Work) -> tuple[Deck, ...]:
        """Return the decks of a rater's seat; none if the rater is not in the round."""
        seat = self.plan.seat(rater.id)
        if seat is None:
            return ()
        if seat.id not in self._cards:  # every page asks for them
            self._cards[seat.id] = self._answer_cards(seat), self._rating_cards(seat, work)
        answers, ratings = self._cards[seat.id]
        number = str(self.plan.round)
        rate = Deck(
            "/rate",
            "scenario",
            "Scenario",
            "rate",
            ratings,
            (FINISHED, number),
            finished=number in work.get(FINISHED, {}),
        )
        if not answers:
            return (rate,)
        write = Deck(
            "/answer",
            "answer",
            "Your own answer",
            "answer",
            answers,
            (own_answers.HANDED_IN, number),
            finished=own_answers.has_handed_in(work.get(own_answers.HANDED_IN, {})),
            end="/answers",
            end_template="answers",
            end_titles=("Hand in your own answers", "Your answers are handed in"),
            final=True,
            locked_template="answer_stands",
            declines=True,
        )
        return write, rate

    def _answer_cards(self, seat: Seat) -> tuple[Card, ...]:
        """Return a card for each scenario to answer. Nothing on a card tells about a rubric."""
        return tuple(
            Card(
                self.plan.answer_task(name),
                f"Your own answer {n}, {self.scenarios[name].adl}",
                (own_answers.answer_question(self.plan.told),),
                self._shows(name),
                own_answers.MINUTES,
            )
            for n, name in enumerate(seat.answers, 1)
        )

    def _rating_cards(self, seat: Seat, work: Work) -> tuple[Card, ...]:
        cards = []
        for n, name in enumerate(seat.scenarios, 1):
            scenario, rated = self.scenarios[name], self.plan.rated(name)
            before = earlier_answers(rated, work)
            own = own_answers.MINUTES if name in seat.answers else 0
            words = earlier_words(self.plan, scenario, seat.id, before)
            card = Card(
                self.plan.task(name),
                f"Scenario {n}, {scenario.adl}",
                questions(self.plan, scenario, seat.id, before),
                self._shows(name, **revision_shown(self.plan, scenario, seat.id, work)),
                expected_minutes(self.plan, scenario, seat.id, before) - own,
                before=words,
            )
            cards.append(card)
        return tuple(cards)

    def _shows(self, name: str, **more: Any) -> Callable[[Answers], Mapping[str, Any]]:
        shown = {"scenario": self.scenarios[name], "plan": self.plan, **more}
        return lambda _: shown


def _asks(plan: StudyPlan) -> str:
    asks = (
        "You read short care situations, and say how real they are and how well they test what a "
        "carer decides"
    )
    if not plan.rubrics:
        return f"{asks}."
    wanted = {"is worth looking for": plan.relevance, "has the right points": plan.points}
    asked = " and ".join(words for words, is_asked in wanted.items() if is_asked)
    return f"{asks}; and of things that an answer may contain, whether each {asked}."


def _amount(seat: Seat) -> str:
    n, m = len(seat.scenarios), len(seat.answers)
    scenarios = f"{n} scenarios" if n > 1 else "1 scenario"
    answers = f"{m} short answers" if m > 1 else "1 short answer"
    return f"{answers} to write, then {scenarios}" if m else scenarios
