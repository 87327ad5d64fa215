"""Two made-up scenarios to learn the pages on. What is answered to them is kept nowhere.

They are careeval's own, in no bank, and written for this: one is sound, one has faults to find.
"""

from __future__ import annotations

from dataclasses import dataclass

from careeval.core.rating import Scale


@dataclass(frozen=True, slots=True)
class Practice:
    """A scenario to try on, and what there is to notice.

    Attributes:
        text: What a rater reads.
        notes: For each question, what somebody might look at: no rating is the right one.
    """

    text: str
    notes: dict[Scale, str]


PRACTICE = (
    Practice(
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
    ),
    Practice(
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
