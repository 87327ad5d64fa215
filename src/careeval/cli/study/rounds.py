"""`careeval study round` and `invite`: further rounds and further raters of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from careeval.bank import Bank, load_with_key
from careeval.cli.app import OK, print_json, say
from careeval.cli.shared import people
from careeval.cli.shared.options import BankFolder, Flag, Json, is_confirmed
from careeval.cli.shared.people import local_address
from careeval.core.scenario import Status
from careeval.core.text import counted
from careeval.errors import UsageError
from careeval.people.store import Work
from careeval.people.study.plan import (
    StudyPlan,
    last_rounds,
    next_round,
    planned_scenarios,
    validation_obstacles,
    with_raters,
    with_replacement,
)
from careeval.people.study.questions import ScenarioQuestions
from careeval.protocol.selection import rubrics_named


def round_(
    study: Path,
    scenarios: Annotated[Sequence[str], Parameter(negative=())] = (),
    *,
    bank: BankFolder = None,
    items: Flag = False,
    points: Flag = False,
    rubric: Literal["both", "ladder", "actions"] | None = None,
    yes: Flag = False,
    as_json: Json = False,
) -> int:
    """Plan the next round: raters of a scenario that was revised since rate its new version.

    It ends the round before, and prints how much of that is rated before it asks you to confirm.
    The links stay the same, both rounds are kept and reported, and paper forms of the old one can
    still be imported. The questions are those of the round before, and those that options add.

    Args:
        study: The study's file.
        scenarios: Scenarios to rate; if not given, every one whose version has risen since it
            was last rated, and that is not withdrawn.
        bank: Folder of the bank, with the scenarios as revised.
        items: Have the rubrics' items rated on their relevance too.
        points: Ask about the items' provisional points too.
        rubric: Rubrics whose items and points are rated; if not given, those of the last round,
            else both.
        yes: Plan it without asking.
        as_json: Print JSON.
    """
    from careeval.people.study.rounds import raters_who_handed_in

    loaded = load_with_key(bank, probes=False)
    with people.open_store(study, "study") as store:
        plans = [StudyPlan.read(text) for text in store.plans("study")]
        work = store.all_work()
        versions = {s.id: s.version for s in loaded.scenarios if s.status is not Status.withdrawn}
        last = last_rounds(plans)
        risen = [n for n, plan in last.items() if versions.get(n, 0) > plan.rated(n).version]
        if not (chosen := list(scenarios) or risen):
            raise UsageError(
                "no scenario of this study has a higher version in this bank than when it "
                "was last rated",
                hint="raise the version of each revised scenario, or name its bank with --bank",
            )
        further = next_round(
            plans,
            loaded,
            chosen,
            store.raters(),
            raters_who_handed_in(store),
            {n: [r for r in work if work[r].get(plan.task(n))] for n, plan in last.items()},
            relevance=items,
            points=points,
            rubrics=rubrics_named(rubric) if rubric else (),
        )
        if not further.seats:
            raise UsageError(
                "all raters of these scenarios have left the study",
                hint="name other scenarios, or invite raters: careeval study invite",
            )
        say_plan(further, loaded, work)
        say(_end_of_round(plans[-1], work))
        if not (yes or is_confirmed(f"Plan round {further.round}?")):
            raise UsageError("no round was planned", hint="to plan the round, add --yes")
        store.add_plan("study", further.json_text())
    if as_json:
        print_json(plan_json(further, {}))
    say(
        f"Round {further.round} is planned. If careeval study serve {study} is running, restart it."
    )
    return OK


def _end_of_round(plan: StudyPlan, work: Mapping[str, Work]) -> str:
    """Return a warning that says how much of a round is rated, and what ends with it."""
    pages = [(seat.id, plan.task(name)) for seat in plan.seats for name in seat.scenarios]
    rated = sum(bool(work.get(rater, {}).get(task)) for rater, task in pages)
    return (
        f"Round {plan.round} ends: {rated:,} of its {len(pages):,} forms have an answer. Answers "
        f"open in a browser can then no longer be saved; paper forms can still be imported, with "
        f"careeval study import --round {plan.round} and the bank as it was."
    )


def invite(
    study: Path,
    raters: Annotated[Sequence[str], Parameter(negative=())] = (),
    *,
    replace: str | None = None,
    bank: BankFolder = None,
    links: Path | None = None,
    address: str = local_address("study"),
    as_json: Json = False,
) -> int:
    """Add raters to the newest round, or put somebody new in a rater's place; print the links.

    Further raters get the scenarios that have the fewest raters. A replacement gets the scenarios
    of the rater before, with a new pseudonym and a new link, and sees none of their answers. The
    old link is switched off, and what was answered with it is kept unless the rater withdraws.

    Args:
        study: The study's file.
        raters: Role and number, as occupational-therapist:2.
        replace: The rater to replace by somebody in the same role.
        bank: Folder of the bank.
        links: Write the links to this file, for its owner alone, instead of printing them.
        address: Where raters reach the app.
        as_json: Print JSON.
    """
    if bool(raters) == bool(replace):
        raise UsageError(
            "give either raters to invite, or one rater to replace",
            hint="write roles with numbers, as roboticist:2, or --replace RATER",
        )
    if links is not None:
        people.expect_new(links, None)
    loaded, roles = load_with_key(bank, probes=False), people.roles(raters)
    with people.open_store(study, "study") as store:
        plans = [StudyPlan.read(text) for text in store.plans("study")]
        plan = plans[-1]
        taken = {seat.id for each in plans for seat in each.seats}
        if replace:
            people.expect_person(store, replace)
            amended = with_replacement(plan, replace, taken)
        else:
            amended = with_raters(plan, roles, taken, {s.id: s.family for s in loaded.scenarios})
        seats = amended.seats[len(plan.seats) :]
        urls = {s.id: people.link_address(address, store.add_rater(s.rater)) for s in seats}
        store.amend_plan(amended.json_text())
        if replace:
            store.revoke(replace)
    say_plan(amended, loaded)
    new_raters = amended.model_copy(update={"seats": seats})
    hand_out(new_raters, urls, links, as_json=as_json)
    if replace:
        say(f"The link of {replace} is off now. Their answers are kept.")
    say(f"If careeval study serve {study} is running, restart it.")
    return OK


def hand_out(
    plan: StudyPlan, urls: Mapping[str, str], links: Path | None, *, as_json: bool
) -> None:
    """Print or write the link of each rater of a plan, with pseudonym and role."""
    lines = "".join(f"{seat.id}\t{seat.role}\t{urls[seat.id]}\n" for seat in plan.seats)
    people.hand_out(urls, lines, links, lambda shown: plan_json(plan, shown), as_json=as_json)


def say_plan(plan: StudyPlan, bank: Bank, work: Mapping[str, Work] = {}) -> None:
    """Print the numbers of scenarios and raters, the expected time, and what cannot be validated.

    `work` has the answers of each rater in earlier rounds, which take no time again.
    """
    shown = planned_scenarios(plan, bank)
    loads = [len(seat.scenarios) for seat in plan.seats]
    times = [
        sum(
            ScenarioQuestions(plan, shown[name], seat.id, work.get(seat.id, {})).minutes
            for name in seat.scenarios
        )
        for seat in plan.seats
    ]
    fewest = f"{min(loads)} to " if min(loads) < max(loads) else ""
    load = f"{fewest}{counted(max(loads), 'scenario')}"
    n_answers = max(len(seat.answers) for seat in plan.seats)
    answers = f", {n_answers} of them to be answered first" if n_answers else ""
    n_scenarios, n_raters = len(plan.scenarios), len(plan.seats)
    say(
        f"{counted(n_scenarios, 'scenario')}, {counted(n_raters, 'rater')}, {load} each{answers}: "
        f"about {counted(round(max(times)), 'minute')} for the person with the most."
    )
    if reasons := validation_obstacles(plan, shown.values()):
        say(f"This plan cannot validate every scenario: {'; '.join(reasons)}.")


def plan_json(plan: StudyPlan, links: Mapping[str, str]) -> dict[str, Any]:
    """Return a plan as JSON, with each rater's link if there are any."""
    return {
        "title": plan.title,
        "round": plan.round,
        "n_scenarios": len(plan.scenarios),
        "raters": [
            {
                "id": seat.id,
                "role": seat.role.value,
                "n_scenarios": len(seat.scenarios),
                **({"link": links[seat.id]} if links else {}),
            }
            for seat in plan.seats
        ],
    }
