"""The plan of an audit: who labels which judgments, in which order. No I/O.

People label without knowing what would sway them: the model, the points, the grader's verdict and
each other. So what they are shown is parted here from the rest: the app holds a `Blind` alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Self

from pydantic import ValidationError, model_validator

from careeval.core.rating import Rater, Role
from careeval.core.scenario import Frozen, Text
from careeval.errors import ReviewError
from careeval.results.trust.audit.sample import Sample, ShownResponse
from careeval.review.assignment import assign
from careeval.review.consent import Consent
from careeval.review.forms import clean
from careeval.review.invitee import Invitee, numbered
from careeval.review.question import WORDS_A_MINUTE

_SETTLES = "a"
"""What the pseudonym of whoever settles begins with."""

ADJUDICATOR = f"{_SETTLES}01"

_MINUTES_A_JUDGMENT = 0.4
"""To find a thing in a response that has been read, and say so: a guess."""


class LabelSeat(Invitee):
    """One labeller, and the ids of their judgments in their order."""

    judgments: tuple[str, ...]


class AuditPlan(Frozen):
    """An audit, whole: also what nobody who labels may see."""

    title: Text
    sample: Sample
    show_scenario: bool
    """Whether labellers may read the scenario, where the sample has it."""
    seed: int
    consent: Consent
    seats: tuple[LabelSeat, ...]
    adjudicator: Rater

    @model_validator(mode="after")
    def _whole(self) -> Self:
        known = [each.judgment for each in self.sample.hidden.drawn]
        shown = [item.judgment for response in self.sample.shown for item in response.items]
        if shown != known or len(set(known)) < len(known):
            raise ValueError("the judgments that are shown are not those drawn, each once")
        people = [*(seat.id for seat in self.seats), self.adjudicator.id]
        if len(set(people)) < len(people):
            raise ValueError("somebody stands twice")
        for seat in self.seats:
            if len(set(seat.judgments)) < len(seat.judgments) or set(seat.judgments) - set(known):
                raise ValueError(f"the judgments of {seat.id} are not of this audit, each once")
        return self

    @property
    def raters(self) -> tuple[Rater, ...]:
        """Who gets a link: labellers, then the adjudicator."""
        return (*(seat.rater for seat in self.seats), self.adjudicator)

    def blind(self) -> Blind:
        """What those who label may see."""
        return Blind(
            title=self.title,
            seed=self.seed,
            consent=self.consent,
            seats=self.seats,
            adjudicator=self.adjudicator,
            judgments={
                item.judgment: Judgment(
                    id=item.judgment,
                    item=item.text,
                    response=clean(response.text),
                    scenario=response.scenario if self.show_scenario else None,
                )
                for response in self.sample.shown
                for item in response.items
            },
        )

    def json_text(self) -> str:
        """The plan as the store keeps it."""
        return self.model_dump_json()


@dataclass(frozen=True, slots=True)
class Judgment:
    """One judgment to make.

    Attributes:
        id: Its name in the sample; it tells nothing.
        item: What is looked for.
        response: Where: a model's words, with a visible mark for what is not text.
        scenario: What it responds to; None where labellers are not shown it.
    """

    id: str
    item: str
    response: str
    scenario: str | None


@dataclass(frozen=True)
class Blind:
    """What those who label may see of an audit."""

    title: str
    seed: int
    consent: Consent
    seats: tuple[LabelSeat, ...]
    adjudicator: Rater
    judgments: Mapping[str, Judgment]

    @cached_property
    def _seats(self) -> Mapping[str, LabelSeat]:
        return {seat.id: seat for seat in self.seats}

    def seat(self, rater: str) -> LabelSeat | None:
        """Where a labeller sits; None where somebody is none."""
        return self._seats.get(rater)

    def minutes(self, judgments: Sequence[str]) -> float:
        """Return how long a careful labeller may need: each text is read once."""
        each = [self.judgments[name] for name in judgments]
        texts = {one.response for one in each} | {one.scenario or "" for one in each}
        words = sum(len(text.split()) for text in texts)
        return words / WORDS_A_MINUTE + sum(map(self.minutes_to_label, judgments))

    def minutes_to_label(self, judgment: str) -> float:
        """Return how long one judgment may take on a response that has been read."""
        return len(self.judgments[judgment].item.split()) / WORDS_A_MINUTE + _MINUTES_A_JUDGMENT


def read_audit_plan(text: str) -> AuditPlan:
    """The plan that `AuditPlan.json_text` wrote.

    Raises:
        ReviewError: It is none.
    """
    try:
        return AuditPlan.model_validate_json(text)
    except ValidationError as error:
        raise ReviewError(f"this is no plan of an audit: {error}") from error


def new_audit(
    sample: Sample,
    roles: Iterable[Role],
    *,
    title: str,
    consent: Consent,
    seed: int,
    adjudicator: Role = Role.other,
    per_judgment: int | None = None,
    show_scenario: bool = True,
) -> AuditPlan:
    """Who labels what. Whoever labels one judgment of a response labels all of that response.

    Args:
        sample: What is labelled.
        roles: One a labeller; labellers are called r01, r02 … in this order.
        title: What labellers see.
        consent: What they agree to.
        seed: Of who labels what, and in which order.
        adjudicator: The role of whoever settles disagreements.
        per_judgment: By how many each is labelled, two or more; by everybody where not given.
        show_scenario: Whether labellers may read the scenario, where the sample has it.

    Raises:
        ReviewError: There is nothing to label, or there are not enough to label it.
    """
    raters = numbered(roles)
    if len(raters) < 2:
        raise ReviewError(
            "an audit needs two labellers or more: how far people agree bounds what a grader can"
        )
    if not sample.shown:
        raise ReviewError("the sample is empty", hint="careeval audit sample draws one")
    if per_judgment is not None and not 2 <= per_judgment <= len(raters):
        raise ReviewError(
            f"{per_judgment} labellers for each judgment: it is at least 2 and here at most "
            f"{len(raters)}"
        )
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
    """The same audit with somebody else to settle it: a02 after a01."""
    n = int(plan.adjudicator.id.removeprefix(_SETTLES)) + 1
    return plan.model_copy(update={"adjudicator": Rater(f"{_SETTLES}{n:02}", role)})


def _in_order(responses: Sequence[ShownResponse], rater: Rater, seed: int) -> Iterator[str]:
    """Judgments by response, so that each is read once; its items shuffled for each labeller."""
    for response in responses:
        names = [item.judgment for item in response.items]
        Random(f"{seed}/{rater.id}/{response.id}").shuffle(names)
        yield from names
