"""The plan of a study of content validity: who rates which scenarios, in which order. No I/O.

A plan fixes which version of which scenario is rated, by which raters in which roles, and in which
order each of them sees what. Later, only raters can be added and the terms changed. A revised
scenario is rated again in a further plan, the next round; the answers of both rounds are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from random import Random
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from careeval.bank import Bank, rated_hash
from careeval.bank.evidence_changes import MIN_OTHERS, MIN_THERAPISTS, missing_raters
from careeval.core.rating import Rater, Role
from careeval.core.scenario import READ_RUBRICS, Frozen, Rubric, Scenario, Slug, Split, Status, Text
from careeval.core.text import counted
from careeval.errors import ReviewError
from careeval.people.plan import (
    Consent,
    Invitee,
    Plan,
    assign,
    draw_scenarios,
    numbered_raters,
    separate_families,
)

ANSWER_TASKS = "answer/"
"""The beginning of the name of every task on which somebody writes an answer."""

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

    def as_json(self, links: Mapping[str, str]) -> dict[str, Any]:
        """Return who rates how much as JSON, with each rater's link if there are any."""
        return {
            "title": self.title,
            "round": self.round,
            "n_scenarios": len(self.scenarios),
            "raters": [
                {
                    "id": seat.id,
                    "role": seat.role.value,
                    "n_scenarios": len(seat.scenarios),
                    **({"link": links[seat.id]} if links else {}),
                }
                for seat in self.seats
            ],
        }

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
        return f"{ANSWER_TASKS}{scenario}@{self.rated(scenario).version}"


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


def new_plan(
    bank: Bank,
    roles: Iterable[Role],
    *,
    study_id: str,
    title: str,
    consent: Consent,
    seed: int,
    scenarios: Iterable[str] | None = None,
    rubrics: Iterable[Rubric] = READ_RUBRICS,
    relevance: bool = True,
    points: bool = True,
    per_rater: int | None = None,
    raters_per_scenario: int | None = None,
    answers: int = 0,
    told: str = "",
) -> StudyPlan:
    """Plan the first round of a study: who rates which scenarios, in which order.

    Args:
        bank: The bank of the scenarios.
        roles: One role per rater; raters are called r01, r02 … in this order.
        study_id: A name that no other study has.
        title: The title that raters see.
        consent: The terms that they agree to.
        seed: The seed of the assignment and of every order.
        scenarios: Their ids. If not given, all in the bank that are neither withdrawn nor controls.
        rubrics: The rubrics whose items are asked about too.
        relevance: Whether items are rated on their relevance.
        points: Whether the items' provisional points are asked about.
        per_rater: As of `assign`.
        raters_per_scenario: As of `assign`.
        answers: How many of their scenarios each rater answers before anything else. They are drawn
            so that scenarios get the same number of answers, as nearly as the assignment allows.
        told: The instructions for writing answers; needed where `answers` is not 0.

    Raises:
        BankError: The bank has no such scenario.
        ReviewError: As `assign`; or somebody has fewer scenarios than they are to answer.
    """
    chosen = _to_rate(bank, scenarios)
    raters = numbered_raters(roles)
    order = assign(
        [scenario.id for scenario in chosen],
        raters,
        seed=seed,
        per_rater=per_rater,
        raters_per_scenario=raters_per_scenario,
    )
    min_load = min(map(len, order.values()))
    if answers > min_load:
        raise ReviewError(
            f"{answers} answers per rater are too many: a rater has only {min_load} scenarios",
            hint=f"ask for at most {min_load} answers per rater",
        )
    own = draw_scenarios(order, answers, seed=seed) if answers else {}
    family = {scenario.id: scenario.family for scenario in chosen}
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
        seats=tuple(
            Seat(
                id=r.id,
                role=r.role,
                scenarios=separate_families(order[r.id], family),
                answers=separate_families(own.get(r.id, ()), family),
            )
            for r in raters
        ),
        told=told if own else "",
        study_id=study_id,
    )


def _to_rate(bank: Bank, scenarios: Iterable[str] | None) -> list[Scenario]:
    """Return the scenarios of these ids, or all scenarios of a bank that raters can rate."""
    if scenarios is not None:
        return [bank.scenario(name) for name in dict.fromkeys(scenarios)]
    # a control has its base's items: there is nothing of its own to rate
    return [
        scenario
        for scenario in bank.scenarios
        if scenario.status is not Status.withdrawn and scenario.control is None
    ]


def next_round(
    plans: Sequence[StudyPlan],
    bank: Bank,
    scenarios: Iterable[str],
    raters: Iterable[Rater],
    answered: Collection[str] = (),
    rated: Mapping[str, Collection[str]] = {},
    *,
    relevance: bool = False,
    points: bool = False,
    rubrics: Iterable[Rubric] = (),
) -> StudyPlan:
    """Plan a further round, in which revised scenarios are rated.

    Each rater who rated a scenario in its newest round rates its new version. A scenario that
    nobody rated goes to all raters who were asked to rate it. Raters who have already handed in
    their own answers are not asked to write more, since they may have seen rubrics by now.

    Args:
        plans: Every round so far, from the first.
        bank: The bank with the revised scenarios.
        scenarios: Their ids.
        raters: The raters who have not withdrawn.
        answered: The ids of raters who have handed in their own answers.
        rated: Scenario → the ids of those who rated it in its newest round.
        relevance: Whether items are rated on their relevance; once asked, it is asked in every
            later round.
        points: Whether the items' provisional points are asked about; likewise in later rounds.
        rubrics: The rubrics whose items are asked about. If none are given: those of the last
            round; if it had none, both the actions and the ladder.

    Raises:
        BankError: The bank has no such scenario.
        ReviewError: A scenario is withdrawn, was in no round, or has not been revised since.
    """
    plan, before = plans[-1], last_rounds(plans)
    revised = [bank.scenario(name) for name in dict.fromkeys(scenarios)]
    for scenario in revised:
        if scenario.status is Status.withdrawn:
            raise ReviewError(
                f"{scenario.id} is withdrawn from the bank, so it cannot be rated again",
                hint="leave it out of the round",
            )
        if scenario.id not in before:
            raise ReviewError(
                f"{scenario.id} has been in no round of this study",
                hint="name scenarios of earlier rounds, or plan a new study of it",
            )
        last = before[scenario.id]
        if scenario.version <= last.rated(scenario.id).version:
            raise ReviewError(
                f"{scenario.id} is still version {scenario.version}, as in round {last.round}",
                hint="if you have revised it, raise its version in the bank",
            )
    present = set(raters)
    family = {scenario.id: scenario.family for scenario in revised}
    seats = []
    for person in {seat.id: seat for each in plans for seat in each.seats}.values():
        if person.rater not in present:
            continue
        sat = {s.id: before[s.id].seat(person.id) for s in revised}
        had = {name: seat for name, seat in sat.items() if seat and name in seat.scenarios}
        again = [name for name in had if person.id in (rated.get(name) or (person.id,))]
        Random(f"{plan.seed}/{plan.round + 1}/{person.id}").shuffle(again)
        owed = [] if person.id in answered else [n for n in again if n in had[n].answers]
        update = {
            "scenarios": separate_families(again, family),
            "answers": separate_families(owed, family),
        }
        seats.append(person.model_copy(update=update))
    relevance, points = relevance or plan.relevance, points or plan.points
    asked = tuple(dict.fromkeys(rubrics)) or plan.rubrics or READ_RUBRICS
    return plan.model_copy(
        update={
            "relevance": relevance,
            "points": points,
            "rubrics": asked if relevance or points else (),
            "round": plan.round + 1,
            "bank_version": bank.about.version,
            "scenarios": tuple(_rated(s, _former(plans, s.id)) for s in revised),
            "seats": tuple(seat for seat in seats if seat.scenarios),
        }
    )


def with_raters(
    plan: StudyPlan, roles: Iterable[Role], taken: Iterable[str], family: Mapping[str, str]
) -> StudyPlan:
    """Add raters to a round; they get the scenarios that have the fewest raters.

    Each gets as many scenarios as the rater who has most, and writes no answers of their own.

    Args:
        plan: The round.
        roles: The role of each further rater.
        taken: Pseudonyms that the study has used in any round.
        family: Scenario → the base of its twins.
    """
    seats, taken = list(plan.seats), {*taken}
    load = max(len(seat.scenarios) for seat in seats)
    for role in roles:
        name = _next_id(taken)
        random = Random(f"{plan.seed}/{plan.round}/{name}")
        n_raters = Counter(scenario for seat in seats for scenario in seat.scenarios)
        names = [rated.id for rated in plan.scenarios]
        random.shuffle(names)
        chosen = sorted(names, key=lambda each: n_raters[each])[:load]
        random.shuffle(chosen)
        seats.append(Seat(id=name, role=role, scenarios=separate_families(chosen, family)))
        taken.add(name)
    return plan.model_copy(update={"seats": tuple(seats)})


def with_replacement(plan: StudyPlan, rater: str, taken: Iterable[str]) -> StudyPlan:
    """Add a new rater to a round, with the same scenarios as the one who is replaced.

    The one who is replaced stays in the plan, so that their ratings are kept.

    Args:
        plan: The round.
        rater: The id of the one who is replaced.
        taken: Pseudonyms that the study has used in any round.

    Raises:
        ReviewError: That rater is not in this round.
    """
    seat = plan.seat(rater)
    if seat is None:
        raise ReviewError(f"{rater} is not a rater in round {plan.round}")
    new = seat.model_copy(update={"id": _next_id(taken)})
    return plan.model_copy(update={"seats": (*plan.seats, new)})


def _next_id(taken: Iterable[str]) -> str:
    """Return the pseudonym after the highest ever used, so that no pseudonym is used twice."""
    numbers = [int(name[1:]) for name in taken if name[:1] == "r" and name[1:].isdecimal()]
    return f"r{max(numbers, default=0) + 1:02}"


def scenario_wording(scenario: Scenario) -> ScenarioWording:
    """Return the words of a scenario that raters read."""
    items = {
        f"{rubric}/{item.id}": ShownItem(points=item.points, text=item.text)
        for rubric in Rubric
        for item in scenario.rubric(rubric)
    }
    return ScenarioWording(text=scenario.text, items=items)


def _rated(scenario: Scenario, former: tuple[FormerVersion, ...] = ()) -> RatedScenario:
    return RatedScenario(
        id=scenario.id,
        version=scenario.version,
        hash=rated_hash(scenario),
        shown=None if scenario.split is Split.held_out else scenario_wording(scenario),
        former=former,
    )


def _former(plans: Sequence[StudyPlan], scenario: str) -> tuple[FormerVersion, ...]:
    """Return the earlier versions of a scenario, the newest first."""
    return tuple(
        FormerVersion(task=plan.task(scenario), shown=rated.shown)
        for plan in reversed(plans)
        for rated in plan.scenarios
        if rated.id == scenario
    )
