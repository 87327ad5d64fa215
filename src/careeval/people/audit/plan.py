"""The plan of an audit: who labels which judgments, in which order. No I/O.

Labellers must not know what could sway them: the system, the points, the grader's verdict and each
other's labels. So the plan keeps what they may see apart from the rest, and the app holds only that
part, a `BlindPlan`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any, Self

from pydantic import model_validator

from careeval.core.rating import Rater, Role
from careeval.core.text import counted
from careeval.errors import ReviewError
from careeval.people.audit.sample import AuditSample, ShownResponse
from careeval.people.deck import WORDS_A_MINUTE
from careeval.people.forms import clean
from careeval.people.plan import Consent, Invitee, Plan, assign, numbered_raters

_SETTLES = "a"
"""The first letter of an adjudicator's pseudonym."""

ADJUDICATOR = f"{_SETTLES}01"

_MINUTES_A_JUDGMENT = 0.4
"""Expected minutes to find a thing in a response that has been read: a guess."""


class LabelSeat(Invitee):
    """One labeller and the ids of their judgments, in their order."""

    judgments: tuple[str, ...]


class AuditPlan(Plan):
    """The whole plan of an audit, including what labellers may not see, such as the verdicts."""

    kind = "audit"

    sample: AuditSample
    show_scenario: bool
    """True if labellers may read the scenario, where the sample has it."""
    seats: tuple[LabelSeat, ...]
    adjudicator: Rater

    @model_validator(mode="after")
    def _whole(self) -> Self:
        drawn = [each.judgment for each in self.sample.hidden.drawn]
        shown = [item.judgment for response in self.sample.shown for item in response.items]
        if shown != drawn or len(set(drawn)) < len(drawn):
            raise ValueError(
                "the judgments to show have a duplicate, or differ from the judgments drawn"
            )
        people = [*(seat.id for seat in self.seats), self.adjudicator.id]
        if len(set(people)) < len(people):
            raise ValueError("a person is listed twice")
        for seat in self.seats:
            if len(set(seat.judgments)) < len(seat.judgments) or set(seat.judgments) - set(drawn):
                raise ValueError(
                    f"the judgments of {seat.id} have a duplicate, or one that is not in this audit"
                )
        return self

    @property
    def raters(self) -> tuple[Rater, ...]:
        """The people who get a link: the labellers, then the adjudicator."""
        return (*(seat.rater for seat in self.seats), self.adjudicator)

    def duty(self, person: str) -> str:
        """Return what a person does: adjudicator or labeller."""
        return "adjudicator" if person == self.adjudicator.id else "labeller"

    def in_words(self) -> str:
        """Return a sentence on the size of the audit and the time that labelling may take."""
        blind = self.blind()
        loads = [len(seat.judgments) for seat in self.seats]
        min_load = f"{min(loads)} to " if min(loads) < max(loads) else ""
        max_minutes = round(max(blind.minutes(seat.judgments) for seat in self.seats))
        return (
            f"{counted(len(blind.judgments), 'judgment')} on "
            f"{counted(len(self.sample.shown), 'response')}, "
            f"{counted(len(self.seats), 'labeller')}, {min_load}"
            f"{counted(max(loads), 'judgment')} each: "
            f"about {counted(max_minutes, 'minute')} for the person with the most."
        )

    def as_json(self, links: Mapping[str, str]) -> dict[str, Any]:
        """Return who labels how much as JSON, with each person's link if there are any."""
        n = {seat.id: len(seat.judgments) for seat in self.seats}
        return {
            "title": self.title,
            "n_judgments": len(self.sample.hidden.drawn),
            "people": [
                {
                    "id": rater.id,
                    "duty": self.duty(rater.id),
                    "role": rater.role.value,
                    "n_judgments": n.get(rater.id),
                    **({"link": links[rater.id]} if links else {}),
                }
                for rater in self.raters
            ],
        }

    def blind(self) -> BlindPlan:
        """Return the part of the plan that labellers may see."""
        return BlindPlan(
            title=self.title,
            seed=self.seed,
            consent=self.consent,
            seats=self.seats,
            adjudicator=self.adjudicator,
            judgments={
                item.judgment: JudgmentToLabel(
                    id=item.judgment,
                    item=item.text,
                    response=clean(response.text),
                    scenario=response.scenario if self.show_scenario else None,
                )
                for response in self.sample.shown
                for item in response.items
            },
        )


@dataclass(frozen=True, slots=True)
class JudgmentToLabel:
    """A grader's judgment, as a labeller sees it: item and response, without the verdict."""

    id: str  # Its name in the sample, which tells nothing about it
    item: str  # The rubric item to look for
    response: str  # The system's response, with a visible mark for control characters
    scenario: str | None  # The text of its scenario; None if labellers are not shown it


@dataclass(frozen=True)
class BlindPlan:
    """The part of an audit that labellers may see."""

    title: str
    seed: int
    consent: Consent
    seats: tuple[LabelSeat, ...]
    adjudicator: Rater
    judgments: Mapping[str, JudgmentToLabel]

    @cached_property
    def _seats(self) -> Mapping[str, LabelSeat]:
        return {seat.id: seat for seat in self.seats}

    def seat(self, rater: str) -> LabelSeat | None:
        """Return a labeller's seat; None if the person is not a labeller."""
        return self._seats.get(rater)

    def minutes(self, judgments: Sequence[str]) -> float:
        """Return the minutes that a careful labeller may need, if they read each text once."""
        shown = [self.judgments[name] for name in judgments]
        texts = {each.response for each in shown} | {each.scenario or "" for each in shown}
        words = sum(len(text.split()) for text in texts)
        return words / WORDS_A_MINUTE + sum(map(self.minutes_to_label, judgments))

    def minutes_to_label(self, judgment: str) -> float:
        """Return the expected minutes for one judgment on a response that has been read."""
        return len(self.judgments[judgment].item.split()) / WORDS_A_MINUTE + _MINUTES_A_JUDGMENT


def new_audit(
    sample: AuditSample,
    roles: Iterable[Role],
    *,
    title: str,
    consent: Consent,
    seed: int,
    adjudicator: Role = Role.other,
    per_judgment: int | None = None,
    show_scenario: bool = True,
) -> AuditPlan:
    """Plan an audit. Whoever labels one judgment on a response labels all judgments on it.

    Args:
        sample: The sample of judgments to label.
        roles: The role of each labeller; labellers are called r01, r02 … in this order.
        title: The title that labellers see.
        consent: The terms that they agree to.
        seed: The seed of the assignment and of every order.
        adjudicator: The role of the adjudicator, who settles disagreements.
        per_judgment: The number of labellers of each judgment, two or more; all if not given.
        show_scenario: Whether labellers may read the scenario, where the sample has it.

    Raises:
        ReviewError: The sample is empty, there are fewer than two labellers, or `per_judgment` is
            out of range.
    """
    raters = numbered_raters(roles)
    if len(raters) < 2:
        raise ReviewError(
            "an audit needs two or more labellers, to measure how far people agree; this one has "
            f"{len(raters)}"
        )
    if not sample.shown:
        raise ReviewError(
            "the sample has no judgments", hint="draw a new one: careeval audit sample"
        )
    if per_judgment is not None and not 2 <= per_judgment <= len(raters):
        raise ReviewError(f"labellers per judgment must be 2 to {len(raters)}, not {per_judgment}")
    order = assign(
        [response.id for response in sample.shown],
        raters,
        seed=seed,
        raters_per_scenario=per_judgment,
    )
    by_id = {response.id: response for response in sample.shown}
    return AuditPlan(
        title=title,
        sample=sample,
        show_scenario=show_scenario,
        seed=seed,
        consent=consent,
        seats=tuple(
            LabelSeat(
                id=rater.id,
                role=rater.role,
                judgments=tuple(_in_order([by_id[name] for name in order[rater.id]], rater, seed)),
            )
            for rater in raters
        ),
        adjudicator=Rater(ADJUDICATOR, adjudicator),
    )


def next_adjudicator(plan: AuditPlan, role: Role) -> AuditPlan:
    """Return the plan with another adjudicator, whose pseudonym follows: a02 after a01."""
    n = int(plan.adjudicator.id.removeprefix(_SETTLES)) + 1
    return plan.model_copy(update={"adjudicator": Rater(f"{_SETTLES}{n:02}", role)})


def _in_order(responses: Sequence[ShownResponse], rater: Rater, seed: int) -> Iterator[str]:
    """Yield judgments by response, each response's items shuffled for each labeller."""
    for response in responses:
        names = [item.judgment for item in response.items]
        Random(f"{seed}/{rater.id}/{response.id}").shuffle(names)
        yield from names
