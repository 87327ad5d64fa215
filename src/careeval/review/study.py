"""The plan of a study of content validity: who rates what, in which order. No I/O.

A plan is fixed when it is written: which version of which scenario, which raters in which roles, in
which order each of them sees what. A revised scenario is rated again in a further plan, the next
round; the answers of both rounds are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import Annotated, Self

from pydantic import Field, ValidationError, model_validator

from careeval.bank import Bank, content_hash
from careeval.core.rating import Rater, Role
from careeval.core.scenario import Frozen, Rubric, Scenario, Slug, Status, Text
from careeval.errors import ReviewError
from careeval.review.assignment import assign
from careeval.review.consent import Consent


class Rated(Frozen):
    """One version of a scenario, held to the text that raters are shown."""

    id: Slug
    version: Annotated[int, Field(ge=1)]
    hash: str


class Seat(Frozen):
    """One rater, and the ids of their scenarios in their order."""

    id: Slug
    role: Role
    scenarios: tuple[Slug, ...]

    @property
    def rater(self) -> Rater:
        """Who sits here."""
        return Rater(self.id, self.role)


class StudyPlan(Frozen):
    """One round of a study."""

    title: Text
    round: Annotated[int, Field(ge=1)] = 1
    bank: Text
    bank_version: Text
    seed: int
    rubrics: tuple[Rubric, ...]
    """Whose items are asked about too; empty where the scenarios alone are."""
    relevance: bool
    """Whether items are rated on their relevance."""
    points: bool
    """Whether the items' provisional points are asked about."""
    consent: Consent
    scenarios: tuple[Rated, ...]
    seats: tuple[Seat, ...]

    @model_validator(mode="after")
    def _whole(self) -> Self:
        known = [rated.id for rated in self.scenarios]
        if len(set(known)) < len(known):
            raise ValueError("a scenario stands twice")
        if len({seat.id for seat in self.seats}) < len(self.seats):
            raise ValueError("a rater stands twice")
        for seat in self.seats:
            if len(set(seat.scenarios)) < len(seat.scenarios) or set(seat.scenarios) - set(known):
                raise ValueError(f"the scenarios of {seat.id} are not of this study, each once")
        if self.rubrics and not (self.relevance or self.points):
            raise ValueError("of the items of a rubric, nothing is asked")
        return self

    def seat(self, rater: str) -> Seat | None:
        """Where a rater sits; None where that rater is not in this round."""
        return next((seat for seat in self.seats if seat.id == rater), None)

    def rated(self, scenario: str) -> Rated:
        """The version of a scenario that is rated."""
        return next(rated for rated in self.scenarios if rated.id == scenario)

    def task(self, scenario: str) -> str:
        """What the store calls the rating of a scenario in this round."""
        return f"{self.round}/{scenario}@{self.rated(scenario).version}"

    def json_text(self) -> str:
        """The plan as the store keeps it."""
        return self.model_dump_json()


def read_plan(text: str) -> StudyPlan:
    """The plan that `StudyPlan.json_text` wrote.

    Raises:
        ReviewError: It is none.
    """
    try:
        return StudyPlan.model_validate_json(text)
    except ValidationError as error:
        raise ReviewError(f"this is no plan of a study: {error}") from error


def new_plan(
    bank: Bank,
    roles: Iterable[Role],
    *,
    title: str,
    consent: Consent,
    seed: int,
    scenarios: Iterable[str] | None = None,
    rubrics: Iterable[Rubric] = (Rubric.ladder, Rubric.actions),
    relevance: bool = True,
    points: bool = True,
    per_rater: int | None = None,
    raters_per_scenario: int | None = None,
) -> StudyPlan:
    """The first round.

    Args:
        bank: Where the scenarios come from.
        roles: One a rater; raters are called r01, r02 … in this order.
        title: What raters see.
        consent: What they agree to.
        seed: Of who rates what, and in which order.
        scenarios: Their ids; all of the bank's that are not withdrawn where not given.
        rubrics: Whose items are asked about too.
        relevance: Whether items are rated on their relevance.
        points: Whether the items' provisional points are asked about.
        per_rater: As of `assign`.
        raters_per_scenario: As of `assign`.

    Raises:
        BankError: The bank has no such scenario.
        ReviewError: As `assign`.
    """
    if scenarios is None:
        chosen = [s for s in bank.scenarios if s.status is not Status.withdrawn]
    else:
        chosen = [bank.scenario(name) for name in dict.fromkeys(scenarios)]
    raters = [Rater(f"r{n:02}", role) for n, role in enumerate(roles, 1)]
    order = assign(
        [scenario.id for scenario in chosen],
        raters,
        seed=seed,
        per_rater=per_rater,
        raters_per_scenario=raters_per_scenario,
    )
    asked = tuple(dict.fromkeys(rubrics)) if relevance or points else ()
    return StudyPlan(
        title=title,
        bank=bank.about.name,
        bank_version=bank.about.version,
        seed=seed,
        rubrics=asked,
        relevance=relevance,
        points=points,
        consent=consent,
        scenarios=tuple(_rated(scenario) for scenario in chosen),
        seats=tuple(Seat(id=r.id, role=r.role, scenarios=order[r.id]) for r in raters),
    )


def next_round(
    plan: StudyPlan, bank: Bank, scenarios: Iterable[str], raters: Iterable[Rater]
) -> StudyPlan:
    """A further round over revised scenarios: who rated one rates its new version.

    Args:
        plan: The round before.
        bank: With the scenarios as revised.
        scenarios: Their ids.
        raters: Who is still in.

    Raises:
        BankError: The bank has no such scenario.
        ReviewError: A scenario was not in the round before, or has not been revised since.
    """
    revised = [bank.scenario(name) for name in dict.fromkeys(scenarios)]
    before = {rated.id: rated.version for rated in plan.scenarios}
    for scenario in revised:
        if scenario.id not in before:
            raise ReviewError(f"{scenario.id} was not rated in round {plan.round}")
        if scenario.version <= before[scenario.id]:
            raise ReviewError(
                f"{scenario.id} is still version {scenario.version}, as in round {plan.round}",
                hint="raise its version when you revise it",
            )
    ids = {scenario.id for scenario in revised}
    present = set(raters)
    seats = []
    for seat in plan.seats:
        if seat.rater not in present:
            continue
        again = [name for name in seat.scenarios if name in ids]
        Random(f"{plan.seed}/{plan.round + 1}/{seat.id}").shuffle(again)
        seats.append(seat.model_copy(update={"scenarios": tuple(again)}))
    return plan.model_copy(
        update={
            "round": plan.round + 1,
            "bank_version": bank.about.version,
            "scenarios": tuple(_rated(scenario) for scenario in revised),
            "seats": tuple(seat for seat in seats if seat.scenarios),
        }
    )


def scenarios_of(plan: StudyPlan, bank: Bank) -> Mapping[str, Scenario]:
    """The scenarios of a plan by id, exactly as they were when it was written.

    Raises:
        BankError: The bank lacks one.
        ReviewError: One has changed since: what people rated would not be what they now see.
    """
    found = {rated.id: bank.scenario(rated.id) for rated in plan.scenarios}
    changed = [rated.id for rated in plan.scenarios if _rated(found[rated.id]) != rated]
    if changed:
        raise ReviewError(
            f"changed in the bank since round {plan.round} was planned: {', '.join(changed)}",
            hint="put the planned version back, or close this round and plan the next",
        )
    return found


def _rated(scenario: Scenario) -> Rated:
    """Held to all but its status, which a study's outcome changes."""
    content = scenario.model_copy(update={"status": Status.drafted})
    return Rated(id=scenario.id, version=scenario.version, hash=content_hash([content]))
