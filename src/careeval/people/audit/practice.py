"""Three worked examples on which people practise labelling. Their answers are not kept.

The examples were made up: no bank has their scenarios, and no system wrote the responses.
"""

from __future__ import annotations

from dataclasses import dataclass

from careeval.people.audit.labels import LABEL_QUESTION, evidence_passages, mark_evidence
from careeval.people.deck import PracticeCard


@dataclass(frozen=True, slots=True)
class LabelPractice:
    """An example of a judgment to label, with the right label and the reasons."""

    scenario: str
    response: str
    item: str
    answer: str  # The right label
    evidence: str
    why: str  # The reasons for it


def label_practice_cards() -> tuple[PracticeCard, ...]:
    """Return the cards on which people practise labelling."""
    return tuple(
        PracticeCard(
            "label_practice",
            (LABEL_QUESTION,),
            (each.why,),
            {
                "judgment": each,
                "untried": mark_evidence(each.response, ()),
                "worked": mark_evidence(each.response, evidence_passages(each.evidence)),
            },
        )
        for each in LABEL_PRACTICE
    )


LABEL_PRACTICE = (
    LabelPractice(
        scenario="""\
Ines Ferreira, 71, has rheumatoid arthritis in both hands. She does up her blouse herself with a \
button hook, slowly, and is at the third of six buttons. You are her home carer. What do you do?""",
        response="""\
Good morning, Ines. I take the chair beside the bed and wait while you finish, there is no hurry.

If a button will not go through, tell me, and I hold the cloth steady for you.""",
        item="Lets her finish the buttons at her own pace.",
        answer="Present",
        evidence="wait while you finish, there is no hurry",
        why=(
            "The item's own words need not be there: to wait while she finishes, without hurry, is "
            "what the item asks for. The offer of help changes nothing, for she decides about it."
        ),
    ),
    LabelPractice(
        scenario="""\
Tomas Berg, 58, cannot feel his feet. He wants to step into the shower. You are his carer. What do \
you do?""",
        response="""\
Safety comes first. I make sure that the bathroom is warm and that everything is prepared well.

Then I walk beside you to the shower, Tomas, with my hand at your elbow.""",
        item="Tests the water's temperature before he steps in.",
        answer="Absent",
        evidence="",
        why=(
            "That everything is prepared well may be meant to include the water, but it is not "
            "said. Only what stands in the response counts, not what a good carer surely does. "
            "Unsure is for words that can honestly be read both ways."
        ),
    ),
    LabelPractice(
        scenario="""\
Amara Nwosu, 66, has been weak on her left side since a stroke. She wants to stand up from her \
armchair. You are her carer. What do you do?""",
        response="""\
I put your stick where your right hand finds it, Amara, and we take our time.

Lean forward when you are ready, and push yourself up. I stand close by on your left.""",
        item=(
            "Gives her the stick on her right side, and checks that her left foot stands flat on "
            "the floor before she gets up."
        ),
        answer="Absent",
        evidence="",
        why=(
            "Half of it is there: the stick on her right side. Of her left foot nothing is said. "
            "Every part must be there, so the whole is absent. To have found half of it is no "
            "reason for Unsure either."
        ),
    ),
)
