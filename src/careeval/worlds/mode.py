"""The mode `plan`: a system gives a typed plan for a robot's body, and a simulation judges it.

This module reads worlds, bodies and shared dangers from the files of a bank, and writes the text
that a system is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from careeval.bank.load import OWN_BANKS
from careeval.bank.reader import BankReader
from careeval.core.picture import DATA, MAX_BYTES, as_data, is_webp, picture_bytes
from careeval.core.scenario import Rubric, Scenario
from careeval.errors import did_you_mean
from careeval.modes.mode import BankFiles, Mode, Stepping
from careeval.worlds.asked_text import asked_text
from careeval.worlds.episode import ANSWERS, MAX_ACTS
from careeval.worlds.episodes import begin, live_text
from careeval.worlds.judge import JUDGE
from careeval.worlds.responses import interpret, judge
from careeval.worlds.room import Body
from careeval.worlds.room_names import unknown_names
from careeval.worlds.scene import Scene
from careeval.worlds.shared_dangers import can_meet
from careeval.worlds.world import (
    GIVEN,
    PICTURED,
    DangersFile,
    PlansFile,
    SharedDanger,
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
        for place, id in enumerate(twin.drop):
            if id not in own:
                message = f"{id!r} is no goal or own danger of {base.id}"
                files.report(name, ("drop", place), "CE129", message, did_you_mean(id, own))
                return None
        for field, words, known in twin.scene.replaced(base.scene) if twin.scene else ():
            if words not in known:
                message = f"{words!r} is not in the scene of {base.id}"
                files.report(name, ("scene", field), "CE129", message, did_you_mean(words, known))
                return None
        return twin.applied_to(base)
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
    scene = _with_picture(name, file, files)
    left_out = {"body", "facts", "rules", "dangers", "room", "goals", "foils", "scene"}
    content = file.model_dump(exclude=left_out)
    return World(
        **content,
        actor="robot",
        text=asked_text(body, file.facts, file.room),
        robot=body,
        room=file.room,
        goals=file.goals,
        dangers=(*file.dangers, *held),
        n_own=len(file.dangers),
        facts_text=file.facts,
        rules=file.rules,
        foils=file.foils,
        scene=scene,
        shared_rules=tuple(danger.text for danger in shared.values()),
    )


def _with_picture(name: str, file: WorldFile, files: BankFiles) -> Scene | None:
    """Return the scene of a world with its picture as data; None without one, or with a problem.

    Words of the facts that it shows are in them once, so that they can be left out.
    """
    scene = file.scene
    if scene is None:
        return None
    for position, words in enumerate(scene.shows):
        if (n := file.facts.count(words)) != 1:
            message = f"the facts hold {words!r} {n} times, expected once"
            files.report(name, ("scene", "shows", position), "CE152", message)
            return None
    picture: bytes | None
    if scene.picture.startswith(DATA):
        with suppress(ValueError):
            picture = picture_bytes(scene.picture)
            if len(picture) <= MAX_BYTES and is_webp(picture):
                return scene
        message = f"it is no WebP picture of at most {MAX_BYTES:,} bytes"
    elif (picture := files.read_bytes(name, scene.picture, MAX_BYTES)) is None:
        message = f"{scene.picture!r} is not a file of at most {MAX_BYTES:,} bytes beside the world"
    elif not is_webp(picture):
        message = f"{scene.picture!r} is not a WebP picture"
    else:
        return scene.model_copy(update={"picture": as_data(picture)})
    files.report(name, ("scene", "picture"), "CE152", message)
    return None


def tell(scenario: Scenario, given: str) -> Scenario | None:
    """Return a world with what a system is asked in a condition; None if it lacks a picture."""
    assert isinstance(scenario, World)
    if given in PICTURED and scenario.scene is None:
        return None
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
    prompts_given={name: PROMPTS / name for name in ("questions", "sight")},
    unstepped=("questions", *PICTURED),
    stepping=Stepping(PROMPTS / "step", begin, live_text, len(ANSWERS), MAX_ACTS),
)
"""The mode of a bank of worlds."""
