"""The mode `plan`: a system gives a typed plan for a robot's body, and a simulation judges it.

This module reads worlds, bodies and shared dangers from the files of a bank, and writes the text
that a system is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from careeval.bank.load import OWN_BANKS
from careeval.bank.reader import BankReader
from careeval.core.scenario import Rubric, Scenario
from careeval.errors import did_you_mean
from careeval.modes.mode import BankFiles, Mode, Stepping
from careeval.worlds.episode import ANSWERS, MAX_ACTS
from careeval.worlds.episodes import begin, live_text
from careeval.worlds.judge import JUDGE
from careeval.worlds.responses import interpret, judge
from careeval.worlds.room_names import unknown_names
from careeval.worlds.shared_dangers import can_meet
from careeval.worlds.world import (
    GIVEN,
    Body,
    DangersFile,
    PlansFile,
    SharedDanger,
    Thing,
    World,
    WorldFile,
)
from careeval.worlds.world_twin import WorldTwin

PROMPTS = Path(__file__).parent / "prompts"

BODIES = "bodies/"
"""The subfolder of a bank in which each file is a body."""

DANGERS = "dangers"
"""The name of a bank's file with dangers that its worlds share, beside those of careeval."""

TEST_PLANS = ".plans"
"""The end of the name of a file with plans by which the judge is tested."""


def read_worlds(files: BankFiles) -> list[tuple[str, Scenario | None]]:
    """Return every world with the name of its file; None in place of one with problems."""
    names = files.names()
    bodies = {
        name.removeprefix(BODIES): files.read(name, Body)
        for name in names
        if name.startswith(BODIES)
    }
    for name, body in bodies.items():
        if body is not None and body.name != name:
            message = f"name: found {body.name!r}, expected {name!r}, as the file is called"
            files.report(f"{BODIES}{name}", ("name",), "CE140", message)
    shared = _shared_dangers(files)
    worlds = [
        name for name in names if not name.startswith(BODIES) and not name.endswith(TEST_PLANS)
    ]
    twins = {
        name: files.read(name, WorldTwin) for name in worlds if files.has_field(name, "twin_of")
    }
    read = {name: files.read(name, WorldFile) for name in worlds if name not in twins}
    bases = {file.id: file for file in read.values() if file is not None}
    for name, twin in twins.items():
        read[name] = None if twin is None else _twin(name, twin, bases, files)
    joined: list[tuple[str, Scenario | None]] = []
    for name, file in read.items():
        tests = f"{name}{TEST_PLANS}"
        test_plans = files.read(tests, PlansFile) if tests in names else None
        world = None if file is None else _world(name, file, files, bodies, shared)
        if world is not None:
            twin = twins.get(name)
            about = {"twin_of": twin and twin.twin_of, "test_plans": test_plans}
            world = world.model_copy(update=about)
        joined.append((name, world))
    return joined


def _twin(
    name: str, twin: WorldTwin, bases: Mapping[str, WorldFile], files: BankFiles
) -> WorldFile | None:
    """Return a twin as a whole world; if it does not fit its base, report that and return None."""
    base = bases.get(twin.twin_of)
    loc: tuple[str, ...] = ("twin_of",)
    if base is None:
        message = f"{twin.twin_of!r} is not a base of this bank"
        hint = did_you_mean(twin.twin_of, bases)
    elif twin.split is not base.split:
        loc = ("split",)
        message, hint = f"is {twin.split}, but its base is {base.split}", f"write {base.split}"
    elif (n := base.facts.count(twin.change.was)) != 1:
        loc = ("change", "was")
        message = f"the facts of {base.id} hold these words {n} times, expected once"
        hint = "copy the sentence from the base, without the ends of its lines"
    else:
        own = [check.id for check in (*base.goals, *base.dangers)]
        unknown = [(n, id) for n, id in enumerate(twin.drop) if id not in own]
        if not unknown:
            return twin.applied_to(base)
        place, id = unknown[0]
        message = f"{id!r} is no goal or own danger of {base.id}"
        files.report(name, ("drop", place), "CE129", message, did_you_mean(id, own))
        return None
    files.report(name, loc, "CE129", message, hint)
    return None


@cache
def _careevals_dangers() -> Mapping[str, SharedDanger]:
    """Return the shared dangers of careeval's own bank of worlds, by id."""
    own = BankReader(OWN_BANKS["plans"], {}).read(DANGERS, DangersFile) or ()
    return {danger.id: danger for danger in own}


def _shared_dangers(files: BankFiles) -> Mapping[str, SharedDanger] | None:
    """Return the dangers that all worlds share, by id; None if the bank's file has problems.

    They are careeval's. A bank's file adds others, or another form of one with the same id.
    """
    listed = files.read(DANGERS, DangersFile) if files.has(DANGERS) else []
    if listed is None:
        return None
    added: dict[str, SharedDanger] = {}
    for position, danger in enumerate(listed):
        if added.setdefault(danger.id, danger) is not danger:
            message = f"danger {danger.id!r} appears twice"
            files.report(DANGERS, (position, "id"), "CE141", message)
    return {**_careevals_dangers(), **added}


def _world(
    name: str,
    file: WorldFile,
    files: BankFiles,
    bodies: Mapping[str, Body | None],
    shared: Mapping[str, SharedDanger] | None,
) -> World | None:
    body = bodies.get(file.body)
    if file.body not in bodies:
        message = f"{file.body!r} is not a body of this bank"
        files.report(name, ("body",), "CE140", message, did_you_mean(file.body, bodies))
    for excused in file.excuses:
        if shared is not None and excused not in shared:
            message = f"{excused!r} is not a danger that worlds share"
            hint = did_you_mean(excused, shared) or "excuse only shared dangers"
            files.report(name, ("excuses", excused), "CE141", message, hint)
    if body is None or shared is None:
        return None
    unknown = [*unknown_names(file.room, body)]
    for loc, message, hint in unknown:
        files.report(name, loc, "CE146", message, hint)
    if unknown:
        return None
    own = {danger.id for danger in file.dangers}
    held = [
        danger
        for danger in shared.values()
        if danger.id not in file.excuses
        and danger.id not in own
        and can_meet(danger, file.room, body)
    ]
    left_out = {"body", "facts", "rules", "dangers", "room", "goals", "foils"}
    content = file.model_dump(exclude=left_out)
    return World(
        **content,
        actor="robot",
        text=asked_text(file, body),
        robot=body,
        room=file.room,
        goals=file.goals,
        dangers=(*file.dangers, *held),
        n_own=len(file.dangers),
        facts_text=file.facts,
        rules=file.rules,
        foils=file.foils,
        shared_rules=tuple(danger.text for danger in shared.values()),
    )


def asked_text(world: WorldFile, body: Body) -> str:
    """Return what a system is asked: the body, the situation, and the names a plan may use."""
    return "\n\n".join([body.text, world.facts, "\n".join(_names(world))])


def _names(world: WorldFile) -> Iterator[str]:
    room = world.room
    yield "Names for your plan:"
    for name, thing in room.things.items():
        yield f"- {name}: {'; '.join(_details(thing, name, world))}"
    if len(room.places) > 1:
        yield f"Places: {', '.join(room.places)}; you are at {room.places[0]}."
    if room.tasks:
        tasks = "; ".join(f"{name} ({words})" for name, words in room.tasks.items())
        yield f"Tasks that the person can do: {tasks}."


def _details(thing: Thing, name: str, world: WorldFile) -> Iterator[str]:
    room = world.room
    yield f"{thing.words} ({thing.kind})"
    if thing.states:
        states = f"states {', '.join(thing.states)}"
        yield states if thing.hidden else f"{states}; now {thing.state or thing.states[0]}"
    if name in room.holding:
        yield "you hold it"
    if on := [each.partition(" ")[2] for each in room.worn if each.partition(" ")[0] == name]:
        yield f"it is on {', '.join(on)}"
    if name == room.seat:
        yield "the person is on it"
    if thing.brake is not None and not thing.hidden:
        yield f"brakes {'on' if thing.brake else 'off'}"
    if thing.limit_n is not None:
        yield f"at most {thing.limit_n:g} N"
    if thing.limit_cm_s is not None:
        yield f"at most {thing.limit_cm_s:g} cm/s"
    if thing.weight_kg is not None:
        yield f"{thing.weight_kg:g} kg"
    if thing.place is not None:
        yield f"in reach from {thing.place}"
    if thing.sensed_by is not None:
        yield f"checked by {thing.sensed_by}"
    for task, things in thing.can.items():
        yield f"can {task} {', '.join(things)}".rstrip()
    if not thing.here:
        yield "not here until called"


def tell(scenario: Scenario, given: str) -> Scenario:
    """Return a world with the text that a system is asked in a condition."""
    assert isinstance(scenario, World)
    return scenario.told(given)


PLAN = Mode(
    name="plan",
    protocol="4-A",
    read=read_worlds,
    rubrics=(Rubric.plan,),
    prompts=PROMPTS,
    models_grade=False,
    programs={JUDGE: judge},
    grader=JUDGE,
    rules="careeval-plans",
    interpret=interpret,
    given=GIVEN,
    tell=tell,
    prompts_given={"questions": PROMPTS / "questions"},
    stepping=Stepping(PROMPTS / "step", begin, live_text, len(ANSWERS), MAX_ACTS),
)
"""The mode of a bank of worlds."""
