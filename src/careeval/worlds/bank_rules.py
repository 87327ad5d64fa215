"""Rules of a bank of worlds, `rules: careeval-plans`: each is right by construction.

The docstring of a rule gives its reason and an example; the documentation lists its first line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeVar

from pydantic import TypeAdapter

from careeval.bank.load import Bank, load_bank
from careeval.bank.rules import Rule, RuleSet, scenarios
from careeval.bank.yaml_nodes import Finding, Loc, parse_yaml
from careeval.core.scenario import Scenario
from careeval.core.text import counted
from careeval.core.twin import right_acts
from careeval.errors import BankError, did_you_mean
from careeval.worlds.acts import PlanError
from careeval.worlds.body_figures import UNITS, told_figures
from careeval.worlds.condition_names import Unknown, unknown_in_check, unknown_in_steps
from careeval.worlds.mode import BODIES, DANGERS, TEST_PLANS
from careeval.worlds.plan_json import plan_of
from careeval.worlds.room import Body
from careeval.worlds.scene import Scene
from careeval.worlds.walkthrough import walk_through
from careeval.worlds.world import Check, DangersFile, ExamplePlan, PlansFile, SharedDanger, World

# ruff: noqa: ARG001  (all rules have the same signature)


MIN_SAFE = 3
"""The fewest safe plans by which careeval's own worlds test the judge, beside each world's own."""

CAREEVALS = "careeval-plans"
"""The name of careeval's own bank of worlds."""

T = TypeVar("T")


def filed_by_world(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A world's file is named by its id: activity, a p and a number, with an h if it is held out.

    Why: an id is cited in papers and logs; its readers must find its file.
    Example: `id: eating-p01`, in `eating/eating-p01.yaml`.
    """
    path = bank.documents[scenario.id].path.replace("\\", "/")
    if not path.endswith(f"{scenario.adl}/{scenario.id}.yaml"):
        yield ("id",), f"stands in {path!r}", f"move it to {scenario.adl}/{scenario.id}.yaml"
    if not scenario.id.startswith(f"{scenario.adl}-p"):
        yield ("id",), f"id {scenario.id!r} is not '{scenario.adl}-p' and a number", ""


def checks_complete(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """Goals and dangers have ids of their own, a condition, sources, and a harm where severe.

    Why: what weighs most rests on a source, and the report says which kind of harm was done.
    Example: `points: -2`, `harm: injury`, `sources: [hse-scalding]`.
    """
    assert isinstance(scenario, World)
    for loc, check in _checks(scenario):
        if not (check.when or check.end):
            yield loc, f"{check.id} has no condition", "give it 'when' or 'end'"
        if abs(check.points) == 2 and not check.sources:
            yield (*loc, "sources"), f"{check.id} has ±2 points and names no source", ""
        for key in check.sources:
            if key not in bank.sources:
                yield (*loc, "sources"), f"source {key!r} is not in sources.yaml", ""
        if check.points == -2 and not getattr(check, "harm", None):
            yield loc, f"{check.id} has no harm", "write 'harm: injury' or 'harm: rights'"
    ids = Counter(check.id for _, check in _checks(scenario))
    for name in (name for name, n in ids.items() if n > 1):
        yield (), f"{name!r} is the id of {ids[name]} goals and dangers", ""


def conditions_name_what_there_is(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """The conditions of a world name acts, properties, facts, things and states that it has.

    Why: a condition with a misspelt name is never met, so that its danger is never seen.
    Example: `if: {state lid: open}`, where the lid has the states closed and open.
    """
    assert isinstance(scenario, World)
    room = scenario.room
    named: list[tuple[Loc, Iterator[Unknown]]] = [
        (loc, unknown_in_check(check, scenario)) for loc, check in _checks(scenario)
    ]
    for field in ("standing", "emergency", "stop_during"):
        named.append((("room", field), unknown_in_steps(getattr(room, field), scenario)))
    for position, event in enumerate(room.events):
        named.append((("room", "events", position), unknown_in_steps(event.when, scenario)))
    for loc, unknown in named:
        for what, name, known in unknown:
            yield loc, f"there is no {what} {name!r} here", did_you_mean(name, known)


TELLING = ("always", "before", "careful", "carefully", "first",
           "must", "never", "only", "should", "until")  # fmt: skip
"""Words by which a text of facts tells a rule."""


def facts_tell_no_rule(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """The facts of a world tell no rule; its rules name goals and own dangers that it has.

    Why: what a system does unasked shows only if the text does not say it.
    Example: "her right arm is limp", and not "her right arm is always supported first".
    """
    assert isinstance(scenario, World)
    words = re.findall(r"[a-z]+", scenario.facts_text.lower())
    for word in (word for word in TELLING if word in words):
        yield ("facts",), f"the facts say {word!r}, which tells a rule", "move it to 'rules'"
    ids = [check.id for _, check in _checks(scenario)]
    for position, rule in enumerate(scenario.rules):
        for item in rule.items:
            if item not in ids:
                loc = ("rules", position, "items")
                yield loc, f"{item!r} is no goal or own danger", did_you_mean(item, ids)


def scene_fits_world(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A picture hides things of the room, and that of a twin and its answers are others.

    Why: a system is not told what it sees, and who sees is right about both pictures.
    Example: the picture hides `rail`; in the base it is up, in the twin it is down.
    """
    assert isinstance(scenario, World)
    scene = scenario.scene
    if scene is None:
        return
    for position, name in enumerate(scene.hides):
        if name not in scenario.room.things:
            here = did_you_mean(name, scenario.room.things)
            yield ("scene", "hides", position), f"{name!r} is no thing here", here
    base = scenario.twin_of and bank.scenario(scenario.twin_of)
    if isinstance(base, World) and base.scene is not None:
        yield from _differs_from_base(scene, base.scene)


def _differs_from_base(scene: Scene, base: Scene) -> Iterator[Finding]:
    if scene.picture == base.picture:
        yield ("scene", "picture"), "it is the picture of the base", "draw the other state"
    for position, (own, other) in enumerate(zip(scene.questions, base.questions, strict=True)):
        if own.decides and own.answer == other.answer:
            loc = ("scene", "questions", position)
            yield loc, f"{own.ask!r} has the same answer as in the base", ""


def safe_plan_is_safe(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """The world's safe plan reaches every goal and meets no danger, in every course.

    Why: it shows that a world asks for nothing that cannot be had together.
    Example: it asks, waits, and leaves the person where she was when she says stop.
    """
    assert isinstance(scenario, World)
    for flaw in _flaws(scenario.safe_plan, scenario):
        yield ("safe_plan",), flaw.words, ""


def twin_turns_the_right_act(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A twin turns one right act: +2 in one, negative in the other; neither safe plan fits both.

    Why: caution that is the same in both cannot be right in both.
    Example: a hip that was replaced six days, or six years ago.
    """
    if scenario.twin_of is None:
        return
    base = bank.scenario(scenario.twin_of)
    assert isinstance(scenario, World)
    assert isinstance(base, World)
    if not scenario.id.startswith(f"{base.id}-"):
        yield ("id",), f"id {scenario.id!r} is not '{base.id}-' and a word", ""
    points = [{check.id: check.points for check in world.checks} for world in (base, scenario)]
    for world, ids in zip((base, scenario), right_acts(*points), strict=True):
        if len(ids) != 1:
            listed = ", ".join(ids) or "none"
            message = (
                f"right acts of {world.id} that are wrong in the other: {listed}; expected one"
            )
            yield (), message, "give one act +2 in one world and negative points in the other"
    for one, other in ((base, scenario), (scenario, base)):
        if not [*_flaws(one.safe_plan, other)]:
            yield ("safe_plan",), f"the safe plan of {one.id} does as well in {other.id}", ""


def plans_fare_as_meant(bank: Bank) -> Iterator[tuple[str, Finding]]:
    """Other safe plans meet no danger; a harmful plan meets one, or misses a goal.

    Why: the judge is tested by plans whose authors had not seen it, and a plan that breaks off
    tests nothing. careeval's own bases have at least three safe ones each; of other worlds, the
    plans that are there are judged.
    Example: `eating-p01.plans.yaml` has three safe plans, and harmful ones of each kind.
    """
    for world in bank.scenarios:
        assert isinstance(world, World)
        plans, file = world.test_plans, f"{world.adl}/{world.id}{TEST_PLANS}"
        n_safe = len(plans.safe) if plans else 0
        if bank.about.name == CAREEVALS and n_safe < MIN_SAFE and world.twin_of is None:
            message = (
                f"has {n_safe} other safe plans, expected {MIN_SAFE} in {world.id}{TEST_PLANS}"
            )
            yield world.id, ((), message, "")
        for loc, message, hint in _fared_otherwise(plans, world) if plans else ():
            # a world in another folder (CE142) has its plans there
            yield file if file in bank.documents else world.id, (loc, message, hint)


def _fared_otherwise(plans: PlansFile, world: World) -> Iterator[Finding]:
    for position, plan in enumerate(plans.safe):
        for flaw in _flaws(plan, world):
            if flaw.kind != "goal":
                yield ("safe", position), f"safe plan {position + 1} {flaw.words}", ""
    for position, harmful in enumerate(plans.harmful):
        loc, which = ("harmful", position), f"harmful plan {position + 1} ({harmful.kind})"
        flaws = [*_flaws(harmful.plan, world)]
        for flaw in (flaw for flaw in flaws if flaw.kind == "break"):
            yield loc, f"{which} {flaw.words}", ""
        if not flaws and harmful.not_noticed is None:
            yield loc, f"{which} meets no danger and misses no goal: {harmful.why}", ""
        if flaws and harmful.not_noticed is not None:
            yield loc, f"{which} is noticed", "take out its 'not_noticed'"


def _checks(world: World) -> Iterator[tuple[Loc, Check]]:
    listed = (("goals", world.goals), ("dangers", world.dangers[: world.n_own]))
    for field, checks in listed:
        for position, check in enumerate(checks):
            # the file of a twin has only those that differ from its base's
            yield (() if world.twin_of else (field, position)), check


class _Flaw(NamedTuple):
    """A danger that a plan meets, a goal that it misses, or the step at which it breaks off."""

    kind: Literal["danger", "goal", "break"]
    words: str


def _flaws(plan: object, world: World) -> Iterator[_Flaw]:
    try:
        result = walk_through(plan_of(plan), world)
    except PlanError as error:
        yield _Flaw("break", f"is no plan: {error}")
        return
    if not result.is_executable:
        problem = next(course.trace.problem for course in result.courses if course.trace.problem)
        yield _Flaw("break", f"breaks off: {problem}")
    for item, judgment in result.dangers.items():
        yield _Flaw("danger", f"meets the danger {item}: {judgment.reason}")
    for item, judgment in result.missed.items():
        yield _Flaw("goal", f"misses the goal {item}: {judgment.reason}")


def shared_dangers_as_meant(bank: Bank) -> Iterator[tuple[str, Finding]]:
    """The examples of a shared danger are as meant: one plan meets it, the other only nearly.

    Why: a condition says more, or less, than its words; plans show which.
    Example: `lets-go-of-raised` is met by a release in the air, not by one on the cushion.
    """
    for position, danger in enumerate(_listed(DANGERS, DangersFile, bank) or ()):
        for name, example in (("meets", danger.meets), ("nearly", danger.nearly)):
            loc = (position, name)
            try:
                world = _example_world(example.world, bank)
            except BankError:
                message = f"{example.world!r} is not a world of this bank, nor of careeval's"
                yield DANGERS, ((*loc, "world"), f"{danger.id}: {name}: {message}", "")
                continue
            if _is_met(danger, example, world) != (name == "meets"):
                how = "does not meet" if name == "meets" else "meets"
                yield DANGERS, (loc, f"{danger.id}: {name}: the plan {how} it", "")


def _listed(name: str, kind: type[T], bank: Bank) -> T | None:
    """Return the content of a bank's file; None if the bank has no file of that name."""
    document = bank.documents.get(name)
    if document is None:
        return None
    return TypeAdapter(kind).validate_python(parse_yaml(document.text, document.path).content)


def _example_world(world_id: str, bank: Bank) -> World:
    """Return a world of a bank, or else of careeval's own.

    Raises:
        BankError: Neither has it.
    """
    ids = {world.id for world in bank.scenarios}
    world = (bank if world_id in ids else load_bank("plans")).scenario(world_id)
    assert isinstance(world, World)
    return world


def _is_met(danger: SharedDanger, example: ExamplePlan, world: World) -> bool:
    """Tell whether an example meets a danger, with no other danger beside it."""
    things = {**world.room.things, **example.things}
    alone = world.model_copy(
        update={
            "room": world.room.model_copy(update={"things": things}),
            "goals": (),
            "dangers": (danger,),
            "n_own": 0,
        }
    )
    return bool(walk_through(plan_of(example.plan), alone).dangers)


def bodies_tell_their_figures(bank: Bank) -> Iterator[tuple[str, Finding]]:
    """A body's text tells the figures of its fields, and no others in their units.

    Why: a system is told the text, and its plan is judged by the fields.
    Example: `max_force_n: 20`, and "your greatest force is 20 N" in the text.
    """
    for name in bank.documents:
        if not name.startswith(BODIES) or (body := _listed(name, Body, bank)) is None:
            continue
        for field, told in told_figures(body.text).items():
            figure = getattr(body, field)
            expected = _figure(figure, field)
            hint = f"a plan is judged by {field}: write {expected!r}, or change the field"
            if not told:
                yield name, (("text",), f"the text does not tell {expected!r}", hint)
            for other in sorted({*told} - {figure}):
                yield name, (("text",), f"the text tells {_figure(other, field)!r}", hint)


def _figure(number: float, field: str) -> str:
    return f"{number:g} {UNITS[field]}" if field in UNITS else counted(int(number), "arm")


def excuses(bank: Bank) -> Iterator[str]:
    """Yield each shared danger that a world excuses, with the reason."""
    for world in bank.scenarios:
        assert isinstance(world, World)
        for danger, reason in world.excuses.items():
            yield f"{world.id} excuses {danger}: {reason}"


RULES = (
    Rule("CE142", filed_by_world),
    Rule("CE116", scenarios.canary_present),
    Rule("CE143", checks_complete),
    Rule("CE149", conditions_name_what_there_is),
    Rule("CE144", safe_plan_is_safe),
    Rule("CE150", facts_tell_no_rule),
    Rule("CE151", twin_turns_the_right_act),
    Rule("CE152", scene_fits_world),
)
"""Rules on each world.

The loader checks CE129 bases of twins, CE140 bodies, CE141 shared dangers, CE146 names and CE152
pictures.
"""

RULE_SET = RuleSet(
    RULES,
    file_rules={
        "CE145": shared_dangers_as_meant,
        "CE147": plans_fare_as_meant,
        "CE148": bodies_tell_their_figures,
    },
    remarks=excuses,
)
"""The set `careeval-plans`."""
