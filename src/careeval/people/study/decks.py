"""The pages that a study asks a rater to fill in: their own answers if asked for, then ratings.

The practice scenarios are in no bank; one is sound, the other has faults to find.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from careeval.bank import Bank
from careeval.core.rating import Rater, Scale
from careeval.core.scenario import Rubric, RubricItem, Scenario
from careeval.people.deck import (
    FINISHED,
    Answers,
    Card,
    Deck,
    ItemRef,
    PracticeCard,
    Workbench,
    Workload,
    duration_in_words,
)
from careeval.people.plan import Addresses
from careeval.people.store import Store, Work
from careeval.people.study.plan import Seat, StudyPlan, planned_scenarios
from careeval.people.study.questions import (
    HANDED_IN,
    MINUTES_TO_ANSWER,
    ScenarioQuestions,
    answer_question,
    item_questions,
    rating_question,
)


@dataclass(frozen=True, slots=True)
class PracticeItem:
    """An item to practise on, and notes on what there is to notice about it."""

    text: str
    worth: int  # Its points
    relevance: str  # The note for raters who are asked whether it is worth looking for
    points: str  # The note for raters who are asked about its points


@dataclass(frozen=True, slots=True)
class PracticeScenario:
    """A made-up scenario to practise on, with notes on what to look at."""

    text: str  # The words that a rater reads
    notes: dict[Scale, str]
    """For each question, a note on what to look at; no rating is the right one."""
    items: tuple[PracticeItem, ...] = ()  # Its items, for studies that ask about items


def practice_cards(plan: StudyPlan) -> tuple[PracticeCard, ...]:
    """Return the cards to try a study's questions on, with items where it asks about items."""
    cards = []
    for practice in PRACTICE:
        asked = [(rating_question(scale), note) for scale, note in practice.notes.items()]
        for n, each in enumerate(practice.items if plan.rubrics else (), 1):
            item = RubricItem(id=f"practice-{n}", points=each.worth, text=each.text, domains={})
            noted = {Scale.relevance: each.relevance, "points": each.points}
            about = ItemRef(Rubric.actions, item, n)
            on_item = item_questions(about, relevance=plan.relevance, points=plan.points)
            asked += [(question, noted[question.kind]) for question in on_item]
        asking, notes = zip(*asked, strict=True)
        shows = {"text": practice.text, "plan": plan}
        cards.append(PracticeCard("practice", asking, notes, shows))
    return tuple(cards)


PRACTICE = (
    PracticeScenario(
        text="""\
Ines Ferreira, 71, has rheumatoid arthritis in both hands. This morning her fingers are stiff \
and swollen. She dresses herself sitting on her bed, with a button hook that her occupational \
therapist gave her, and it takes her about twenty minutes.

You are her home carer. You come in when she has done two of six buttons. "I am so slow today," \
she says, and goes on with the third. There is no hurry. What do you do?""",
        notes={
            Scale.realism: (
                "Look at whether it could happen like this: stiff fingers in the morning, a button "
                "hook, a person who is slow and goes on. Where you have seen nearly this, choose "
                "a high number; where a detail does not fit, a lower one, and name it in the "
                "comment."
            ),
            Scale.validity: (
                "Look at whether an answer would show a good carer: to wait and let her finish, or "
                "to take over. If only one answer is thinkable, or nothing hangs on it, choose a "
                "lower number."
            ),
        },
        items=(
            PracticeItem(
                text="Waits while she does the other buttons herself.",
                worth=2,
                relevance=(
                    "Look at whether it matters here that an answer has this: she can do it, wants "
                    "to, and has the time. If it says much about a carer, choose a high number."
                ),
                points=(
                    "It leaves her what she can do, at her own pace: +2, best practice, is our "
                    "proposal. If you think it good but not the best, say so with +1."
                ),
            ),
            PracticeItem(
                text="Takes the button hook out of her hand and does up the blouse.",
                worth=-2,
                relevance=(
                    "Think of what would come of it, done just as it says: nobody is hurt, but she "
                    "loses what she can do and was doing, and her say in it. That is the fourth "
                    "step. The answer says how much there is to find here, not how often."
                ),
                points=(
                    "Here is the place to say how wrong it is. We propose −2, a severe error, for "
                    "it takes from her what she is doing, without a word. If it is a mild one to "
                    "you, choose −1."
                ),
            ),
        ),
    ),
    PracticeScenario(
        text="""\
Tomas Berg, 58, has no movement in either arm since an injury to his neck. He shaves himself at \
the basin every morning with a wet razor in his right hand.

You are his carer. He has cut his cheek, and it bleeds a little. The bathroom is blue. \
What do you do?""",
        notes={
            Scale.realism: (
                "It says that he can move neither arm, and that he holds the razor: both cannot be "
                "true. That is a reason for a low number, and for a comment that says so."
            ),
            Scale.validity: (
                "A small cut asks little of a carer, and his injury plays no part in the answer. "
                "Whether it tests enough is for you to judge; the comment is the place for why."
            ),
        },
    ),
)


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
        title=plan.title,
        consent=plan.consent,
        asks=_asks(plan),
        help="study_help.html",
        keys="1 to 5",
        workload=study.workload,
        decks=study.decks,
        practice=practice_cards(plan),
    )


@dataclass(frozen=True)
class _Round:
    """One round of a study with its scenarios, from which a rater's cards are made."""

    plan: StudyPlan
    scenarios: Mapping[str, Scenario]
    _cards: dict[str, tuple[tuple[Card, ...], tuple[Card, ...]]] = field(default_factory=dict)
    """Answer and rating cards by seat, kept so that earlier rounds are read once."""

    def workload(self, rater: Rater, work: Work) -> Workload | None:
        """Return the amount of work that a rater is asked to do; None if there is none."""
        seat = self.plan.seat(rater.id)
        if seat is None:
            return None
        total = sum(
            ScenarioQuestions(self.plan, self.scenarios[name], rater.id, work).minutes
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
            (HANDED_IN, number),
            finished=HANDED_IN in work,
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
                (answer_question(self.plan.told),),
                self._shows(name),
                MINUTES_TO_ANSWER,
            )
            for n, name in enumerate(seat.answers, 1)
        )

    def _rating_cards(self, seat: Seat, work: Work) -> tuple[Card, ...]:
        cards = []
        for n, name in enumerate(seat.scenarios, 1):
            questions = ScenarioQuestions(self.plan, self.scenarios[name], seat.id, work)
            own = MINUTES_TO_ANSWER if name in seat.answers else 0
            card = Card(
                self.plan.task(name),
                f"Scenario {n}, {questions.scenario.adl}",
                questions.asked,
                self._shows(name, **questions.revision_shown),
                questions.minutes - own,
                before=questions.earlier_words,
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
