"""The pages that an audit asks people to fill in: judgments to label, disagreements to settle.

Of the plan, the pages read only `BlindPlan`, so that they show nothing that could sway labellers.

The practice examples were made up: no bank has their scenarios, and no system wrote the responses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from careeval.core.rating import Rater
from careeval.people.audit.labels import (
    HANDED_IN,
    LABEL_QUESTION,
    SETTLE_QUESTIONS,
    LabelledAudit,
    evidence_passages,
    has_handed_in,
    label_questions,
    label_task,
    mark_evidence,
    settle_task,
)
from careeval.people.audit.plan import AuditPlan, BlindPlan, JudgmentToLabel
from careeval.people.deck import (
    FINISHED,
    Answers,
    Card,
    Deck,
    PracticeCard,
    Question,
    Workbench,
    Workload,
    duration_in_words,
)
from careeval.people.plan import Addresses
from careeval.people.store import Store, Work


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


PATHS, ENDS = ("/label", "/settle"), ("/finish",)

_LINE = 32
"""Characters of an item that a list shows, so that each takes one line on a telephone."""


def audit_workbench(store: Store, addresses: Addresses) -> Workbench:
    """Return the workbench for an audit."""
    blind = AuditPlan.read(store.plans("audit")[-1]).blind()
    audit = _Audit(blind, store)
    return Workbench(
        store,
        addresses,
        title=blind.title,
        consent=blind.consent,
        asks="You read short answers to care situations, and say of one thing at a time whether it"
        " is in the answer.",
        help="audit_help.html",
        keys="P, A and U (for present, absent, unsure)",
        workload=audit.workload,
        decks=audit.decks,
        practice=label_practice_cards(),
    )


@dataclass(frozen=True)
class _Audit:
    """The part of an audit that labellers may see, with the audit's file."""

    blind: BlindPlan
    store: Store
    _labels: dict[str, tuple[Card, ...]] = field(default_factory=dict)

    def workload(self, rater: Rater, _work: Work) -> Workload | None:
        """Return the amount of work that a person is asked to do; None if there is none.

        Who has no seat of their own is the adjudicator.
        """
        seat = self.blind.seat(rater.id)
        names = seat.judgments if seat else self._labelled().disputed
        amount = "1 judgment" if len(names) == 1 else f"{len(names)} judgments"
        return Workload(amount, duration_in_words(self.blind.minutes(names))) if names else None

    def decks(self, rater: Rater, work: Work) -> tuple[Deck, ...]:
        """Return one deck: judgments for a labeller, disagreements for the adjudicator."""
        if self.blind.seat(rater.id):
            return (self._label(rater.id, work),)
        return (self._settle(work),)

    def _labelled(self) -> LabelledAudit:
        return LabelledAudit(self.blind, self.store.all_work(), self.store.revoked_ids())

    def _label(self, rater: str, work: Work) -> Deck:
        if rater not in self._labels:  # every page asks for them
            seat = self.blind.seat(rater)
            self._labels[rater] = tuple(self._label_cards(seat.judgments if seat else ()))
        return Deck(
            "/label",
            "judgment",
            "Judgment",
            "label",
            self._labels[rater],
            (FINISHED, HANDED_IN),
            finished=has_handed_in(work),
            end_template="hand_in",
            final=True,
        )

    def _settle(self, work: Work) -> Deck:
        labelled = self._labelled()
        return Deck(
            "/settle",
            "disagreement",
            "Disagreement",
            "settle",
            tuple(
                self._card(n, name, settle_task(name), SETTLE_QUESTIONS, self._disagreement(name))
                for n, name in enumerate(labelled.disputed, 1)
            ),
            (FINISHED, HANDED_IN),
            finished=has_handed_in(work),
            waits=not labelled.is_settling_open,
        )

    def _label_cards(self, names: Sequence[str]) -> Iterator[Card]:
        """Yield a labeller's cards, grouped by response."""
        group, before = 0, None
        for n, name in enumerate(names, 1):
            judgment = self.blind.judgments[name]
            text = (judgment.response, judgment.scenario)
            group += text != before
            shows = _response(judgment, same=text == before)
            asked = label_questions(judgment.response)
            yield self._card(n, name, label_task(name), asked, shows, group, read=text != before)
            before = text

    def _card(
        self,
        n: int,
        name: str,
        task: str,
        asked: tuple[Question, ...],
        shows: Callable[[Answers], Mapping[str, Any]],
        group: int = 0,
        *,
        read: bool = True,
    ) -> Card:
        judgment = self.blind.judgments[name]
        minutes = self.blind.minutes([name]) if read else self.blind.minutes_to_label(name)
        return Card(task, f"{n}. {_shortened(judgment.item)}", asked, shows, minutes, group)

    def _disagreement(self, name: str) -> Callable[[Answers], Mapping[str, Any]]:
        judgment = self.blind.judgments[name]

        def shows(_: Answers) -> Mapping[str, Any]:
            readings = self._labelled().anonymous_labels(name)
            evidence = [passage for each in readings for passage in each.evidence]
            parts = mark_evidence(judgment.response, evidence)
            return {"judgment": judgment, "same": False, "parts": parts, "readings": readings}

        return shows


def _response(judgment: JudgmentToLabel, *, same: bool) -> Callable[[Answers], Mapping[str, Any]]:
    """Return what a card shows: the response, with the labeller's evidence marked."""

    def shows(answers: Answers) -> Mapping[str, Any]:
        evidence = evidence_passages(answers["evidence"].value) if "evidence" in answers else ()
        return {
            "judgment": judgment,
            "same": same,
            "parts": mark_evidence(judgment.response, evidence),
        }

    return shows


def _shortened(text: str) -> str:
    item = " ".join(text.split())
    if len(item) <= _LINE:
        return item
    return f"{item[:_LINE].rpartition(' ')[0] or item[:_LINE]}…"
