"""Two made-up scenarios on which raters try the pages. Their answers are not kept.

The scenarios are in no bank; one is sound, the other has faults to find.
"""

from __future__ import annotations

from dataclasses import dataclass

from careeval.core.rating import Scale
from careeval.core.scenario import Rubric, RubricItem
from careeval.people.deck import PracticeCard
from careeval.people.question import ItemRef
from careeval.people.study.plan import StudyPlan
from careeval.people.study.questions import item_questions, rating_question


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
