"""Planning of a study: the first round, further rounds, and raters who come later. No I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from random import Random

from careeval.bank import Bank, rated_hash
from careeval.core.rating import Rater, Role
from careeval.core.scenario import READ_RUBRICS, Rubric, Scenario, Split, Status
from careeval.errors import ReviewError
from careeval.people.assignment import assign, separate_families
from careeval.people.plan import Consent, numbered_raters
from careeval.people.study import own_answers
from careeval.people.study.plan import (
    FormerVersion,
    RatedScenario,
    ScenarioWording,
    Seat,
    ShownItem,
    StudyPlan,
    last_rounds,
)


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
    fewest = min(map(len, order.values()))
    if answers > fewest:
        raise ReviewError(
            f"{answers} answers per rater are too many: a rater has only {fewest} scenarios",
            hint=f"ask for at most {fewest} answers per rater",
        )
    own = own_answers.draw_scenarios(order, answers, seed=seed) if answers else {}
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
