"""The plan of a study of content validity: who rates which scenarios, in which order. No I/O.

A plan fixes which version of which scenario is rated, by which raters in which roles, and in which
order each of them sees what. Later, only raters can be added and the terms changed. A revised
scenario is rated again in a further plan, the next round; the answers of both rounds are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Annotated, Self

from pydantic import Field, model_validator

from careeval.bank import Bank, rated_hash
from careeval.bank.evidence_changes import MIN_OTHERS, MIN_THERAPISTS, missing_raters
from careeval.core.scenario import READ_RUBRICS, Frozen, Rubric, Scenario, Slug, Text
from careeval.core.text import counted
from careeval.errors import ReviewError
from careeval.people.plan import Invitee, Plan
from careeval.people.study import own_answers

SEVERE = -2  # not imported from careeval.scoring, which loads numpy


class ShownItem(Frozen):
    """An item of a rubric, as raters read it."""

    points: int
    text: Text


class ScenarioWording(Frozen):
    """The text and the items of one version of a scenario, as raters read them."""

    text: Text
    items: Mapping[str, ShownItem]
    """Keys are rubric and id, as actions/asks-first."""


class FormerVersion(Frozen):
    """A version of a scenario that an earlier round rated."""

    task: str
    """The name of its rating in the store."""
    shown: ScenarioWording | None
    """Null where it is held out, or was planned before wordings were kept."""


class RatedScenario(Frozen):
    """One version of a scenario to rate, with a hash of the text that raters are shown."""

    id: Slug
    version: Annotated[int, Field(ge=1)]
    hash: str
    shown: ScenarioWording | None = None
    """Null where it is held out, since the text stays sealed, and in plans without wordings."""
    former: tuple[FormerVersion, ...] = ()
    """The newest first; empty in the first round of a scenario."""


class Seat(Invitee):
    """One rater's part in a round: the rater, and the ids of their scenarios in order."""

    scenarios: tuple[Slug, ...]
    answers: tuple[Slug, ...] = ()
    """The scenarios that the rater answers first, before seeing anything of a rubric."""


class StudyPlan(Plan):
    """The plan of one round of a study: scenarios, seats, and what is asked."""

    kind = "study"

    round: Annotated[int, Field(ge=1)] = 1
    bank: Text
    bank_version: Text
    rubrics: tuple[Rubric, ...]
    """The rubrics whose items are asked about too; empty if only scenarios are rated."""
    relevance: bool
    """True if items are rated on their relevance."""
    points: bool
    """True if the items' provisional points are asked about."""
    scenarios: tuple[RatedScenario, ...]
    seats: tuple[Seat, ...]
    study_id: Slug
    """A name that no other study has; the same in every round."""
    told: str = ""
    """The instructions for raters who write answers of their own; empty if nobody does."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        ids = [rated.id for rated in self.scenarios]
        if len(set(ids)) < len(ids):
            raise ValueError("a scenario is listed twice")
        if len({seat.id for seat in self.seats}) < len(self.seats):
            raise ValueError("a rater is listed twice")
        for seat in self.seats:
            if len(set(seat.scenarios)) < len(seat.scenarios) or set(seat.scenarios) - set(ids):
                raise ValueError(
                    f"the scenarios of {seat.id} have a duplicate, or one that is not in the study"
                )
            if len(set(seat.answers)) < len(seat.answers) or set(seat.answers) - set(
                seat.scenarios
            ):
                raise ValueError(
                    f"the scenarios that {seat.id} answers have a duplicate, or one that "
                    f"{seat.id} does not rate"
                )
            if seat.answers and not self.told.strip():
                raise ValueError(
                    f"{seat.id} is to write answers, but `told`, the instructions, is empty"
                )
        if self.rubrics and not (self.relevance or self.points):
            raise ValueError("rubrics are named, but neither relevance nor points is asked about")
        return self

    def seat(self, rater: str) -> Seat | None:
        """Return a rater's seat; None if that rater is not in this round."""
        return next((seat for seat in self.seats if seat.id == rater), None)

    def rated(self, scenario: str) -> RatedScenario:
        """Return the version of a scenario that this round rates."""
        return next(rated for rated in self.scenarios if rated.id == scenario)

    def task(self, scenario: str) -> str:
        """Return the store's task for the ratings of a scenario in this round."""
        return f"{self.round}/{scenario}@{self.rated(scenario).version}"

    def answer_task(self, scenario: str) -> str:
        """Return the store's task for own answers to a scenario's version, in whatever round."""
        return own_answers.answer_task(scenario, self.rated(scenario).version)


def last_rounds(plans: Iterable[StudyPlan]) -> Mapping[str, StudyPlan]:
    """Return, for each scenario, the newest round that contains it.

    Args:
        plans: Every round, from the first.
    """
    return {rated.id: plan for plan in plans for rated in plan.scenarios}


def asks_severe_points(plan: StudyPlan, scenario: Scenario) -> bool:
    """Tell whether raters are asked about the points of every −2 item; true if there is none."""
    asked = plan.rubrics if plan.points else ()
    unasked = (rubric for rubric in READ_RUBRICS if rubric not in asked)
    return not any(i.points == SEVERE for r in unasked for i in scenario.rubric(r))


def validation_obstacles(plan: StudyPlan, scenarios: Iterable[Scenario]) -> tuple[str, ...]:
    """Return the reasons why a round cannot validate all its scenarios, however they are rated.

    Args:
        plan: The round.
        scenarios: The scenarios of the round.
    """
    reasons = []
    scenarios = tuple(scenarios)
    if not all(asks_severe_points(plan, scenario) for scenario in scenarios):
        reasons.append(
            "nobody is asked whether −2 items deserve it: ask with --points --rubric both"
        )
    if not (plan.relevance and set(plan.rubrics) == set(READ_RUBRICS)):
        reasons.append("nobody rates the relevance of every item: ask with --items --rubric both")
    panels = {rated.id: Counter[str]() for rated in plan.scenarios}
    for seat in plan.seats:
        for name in seat.scenarios:
            panels[name][seat.role.value] += 1
    if n := sum(bool(missing_raters(panel)) for panel in panels.values()):
        reasons.append(
            f"{n} of {counted(len(panels), 'scenario')} would have too few raters: each needs "
            f"{MIN_THERAPISTS} occupational therapists and {MIN_OTHERS} others"
        )
    return tuple(reasons)


def planned_scenarios(plan: StudyPlan, bank: Bank) -> Mapping[str, Scenario]:
    """Return the scenarios of a plan by id, exactly as they were when the plan was written.

    Raises:
        BankError: The bank lacks a scenario.
        ReviewError: A scenario has changed since, so that raters would not see what others have
            rated.
    """
    scenarios = {rated.id: bank.scenario(rated.id) for rated in plan.scenarios}
    changed = [
        rated.id
        for rated in plan.scenarios
        if (rated.version, rated.hash)
        != (scenarios[rated.id].version, rated_hash(scenarios[rated.id]))
    ]
    if changed:
        raise ReviewError(
            f"these scenarios differ from those planned for round {plan.round}: "
            f"{', '.join(changed)}",
            hint="restore the planned versions, or plan the next round: careeval study round",
        )
    return scenarios
