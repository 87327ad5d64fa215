"""A plan carried out in a room in one course: the steps, and every fact before and after each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from careeval.core.scenario import Answer
from careeval.errors import did_you_mean
from careeval.worlds.acts import (
    Act,
    BringToMouth,
    Hold,
    Lift,
    Lower,
    MakeSafe,
    Motion,
    MoveTo,
    Position,
    Release,
    WaitForAnswer,
    WaitUntil,
)
from careeval.worlds.conditions import Args, Facts, matches, properties
from careeval.worlds.effects import (
    ALL,
    BETWEEN,
    GENTLE_CM,
    TOUCHED_KINDS,
    Fact,
    Need,
    State,
    is_hazard,
    is_loose,
    start_facts,
    transition,
)
from careeval.worlds.plan_json import Branch, Plan, Step
from careeval.worlds.world import Body, Room

MAX_ACTS = 1000
"""The most acts that are carried out in a course."""

NEWS = frozenset({"check", "test-temperature", "wait-until", "call-person", "ask-helper"})
"""Acts that may bring something new, after which a question may be asked again."""

PAUSES = NEWS | {"wait-for-answer", "let-person-do", "say", "ask", "hold"}
"""Acts during which the person may swallow."""

COUNTERS = frozenset(
    {"answers", "clock", "last-motion", "refusals", "repeats", "since", "still-s", "turn"}
)
"""First words of facts that only count; a change of these alone changes nothing in the room."""


@dataclass(frozen=True, slots=True)
class Course:
    """One way in which things may go while a plan is carried out."""

    label: str
    """Its name in reasons: the answer, then how it differs. It does not tell what is hidden."""
    answer: Answer
    """The answer to which it belongs: `stop` if the person says stop, else her first answer."""
    words: str
    """The course in words, for people: "The person agrees, then says stop"."""
    answers: tuple[str, ...]
    """Her answers to the questions in their order; the last one also holds for all later ones."""
    stop_at: int | None = None
    """Place, from 0, of the carried-out step during which she says stop; None if she never does."""
    hidden: Mapping[str, str] = field(default_factory=dict)
    """States at the start that differ from those of the world: thing → state."""
    absent: tuple[str, str] | None = None
    """A thing and the state that it never comes to, however long the robot waits."""
    counts_goals: bool = False
    """True for the four courses in which goals count."""
    is_own: bool = True
    """False if only the shared dangers are judged, since the world is written for other states."""


class Simulator:
    """Carries out acts in one room, by one body.

    No state is ever changed: each method returns another one. `start` is the state before a plan.
    """

    def __init__(self, room: Room, body: Body, acts: Iterable[Act]) -> None:
        """Prepare the acts that may be carried out."""
        self.room, self.body = room, body
        self.start: Facts = start_facts(room, body)
        self._transitions = {act: transition(act, room, body, self.start) for act in acts}

    def lacks(self, state: Facts, act: Act) -> str:
        """Return why an act cannot be carried out in a state; empty if it can."""
        change = self._transitions[act]
        if change.impossible:
            return change.impossible
        return next((need.words for need in change.needs if not _holds(state, need)), "")

    def is_impossible(self, act: Act) -> bool:
        """Tell whether no state of the room allows an act."""
        return bool(self._transitions[act].impossible)

    def put_right(self, state: Facts, act: Act) -> Facts:
        """Return the state with what an act lacks put right."""
        right = dict(state)
        for need in self._transitions[act].needs:
            if not _holds(state, need):
                how, _, name = need.fact.partition(" ")
                if how == "near":
                    right["place"] = state[f"at {name}"]
                elif how == "carried":
                    right[f"held {name}"] = True
                else:
                    right[need.fact] = need.value
        return right

    def after(self, state: Facts, act: Act, course: Course) -> Facts:
        """Return the state after an act that can be carried out, in a course."""
        after = dict(state)
        for effect in self._transitions[act].effects:
            before = float(state[effect.fact]) if effect.how == "add" else None
            after[effect.fact] = effect.value if before is None else before + float(effect.value)
        if isinstance(act, WaitForAnswer):
            _hear(self._heard(act, state, course), after, self.room)
        elif isinstance(act, WaitUntil) and course.absent != (act.thing, act.state):
            self._wait(act, after)
        elif isinstance(act, MoveTo):
            for name in self.room.things:
                if state[f"at {name}"] and state.get(f"held {name}"):
                    after[f"at {name}"] = act.place
        elif isinstance(act, MakeSafe):
            for name, thing in self.room.things.items():
                if state.get(f"state {name}") == BETWEEN:
                    after[f"state {name}"] = thing.state or thing.states[0]
        self._pass(act, state, after)
        return after

    def _heard(self, act: WaitForAnswer, state: Facts, course: Course) -> str:
        """Return the answer that comes: silence if the wait is too short, no after a stop."""
        if act.seconds < self.room.answers_after_s:
            return "silence"
        if state["stopped"]:
            return "no"
        return course.answers[min(int(state["answers"]), len(course.answers) - 1)]

    def _wait(self, act: WaitUntil, after: dict[Fact, State]) -> None:
        for change in self.room.changes:
            if (change.thing, change.state) == (act.thing, act.state):
                conditions = (Need(fact, value, "") for fact, value in change.after.items())
                if act.seconds >= change.takes_s and all(
                    _holds(after, each) for each in conditions
                ):
                    after[f"state {act.thing}"] = act.state
                return

    def _pass(self, act: Act, before: Facts, after: dict[Fact, State]) -> None:
        """Let the time of an act pass: states pass, motions repeat, what is held stays still."""
        clock = float(before["clock"]) + act.duration_s
        after["clock"] = clock
        if act.act in NEWS:
            after["refusals"] = 0.0
        if act.act in PAUSES:
            after["swallowed"] = True
        for each in self.room.passing:
            fact, since = f"state {each.thing}", f"since {each.thing}"
            if after[fact] != before[fact]:
                after[since] = clock
            if after[fact] == each.state and clock - float(after[since]) >= each.after_s:
                after |= {fact: each.to, since: clock, f"tested {each.thing}": False}
        motion = act.model_dump_json() if act.kind == "touch" else before["last-motion"]
        if _is_changed(before, after):
            after |= {"repeats": 0.0, "last-motion": motion if act.kind == "touch" else ""}
        elif act.kind == "touch":
            again = motion == before["last-motion"]
            after["repeats"] = float(before["repeats"]) + 1.0 if again else 0.0
            after["last-motion"] = motion
        is_still = act.act in ("hold", *PAUSES) and any(
            after.get(f"held {name}") or after.get(f"lifted {name}")
            for name, thing in self.room.things.items()
            if thing.kind in TOUCHED_KINDS
        )
        after["still-s"] = float(before["still-s"]) + act.duration_s if is_still else 0.0

    def half_done(self, act: Act, before: Facts, after: Facts) -> Facts:
        """Return the state in the middle of an act.

        A drive is then at no place, and a person who is lowered still hangs. What falls or spills
        if it is let go is in the air. Any other act counts as done.
        """
        if isinstance(act, MoveTo) and before["place"] != act.place:
            carried = [
                name for name in self.room.things if after[f"at {name}"] != before[f"at {name}"]
            ]
            return {**after, "place": BETWEEN, **{f"at {name}": BETWEEN for name in carried}}
        thing = self.room.things.get(getattr(act, "thing", ""))
        if isinstance(act, Lower) and thing is not None and thing.kind == "person":
            hangs = {f"lifted {act.thing}": True, f"low {act.thing}": True, "seat": before["seat"]}
            return {**after, **hangs}
        half: dict[Fact, State] = {}
        if isinstance(act, Position | BringToMouth) and thing is not None and is_hazard(thing):
            half[f"lifted {act.thing}"] = True
        if isinstance(act, Position) and thing is not None and is_loose(thing):
            half[f"state {act.thing}"] = BETWEEN
        return {**after, **half}

    def say_stop(self, state: Facts) -> Facts:
        """Return the state after the person has said stop."""
        return {**state, **_left(self.room, "none"), "stopped": True, "agreed": False}


def _is_changed(before: Facts, after: Facts) -> bool:
    """Tell whether anything in the room differs, beside what only counts."""
    return any(
        value != before[fact] and fact.partition(" ")[0] not in COUNTERS
        for fact, value in after.items()
    )


def _left(room: Room, answer: str) -> dict[Fact, State]:
    return {f"leave {name}": answer for name in room.things}


def _hear(answer: str, after: dict[Fact, State], room: Room) -> None:
    """Write down an answer, for what the question was about."""
    about = str(after["about"])
    names = {*room.things} if about == ALL else {*about.split(";")}
    if any(room.things[name].kind == "person" for name in names):
        names |= {name for name, thing in room.things.items() if thing.kind == "part"}
    after |= {f"leave {name}": answer for name in names}
    after |= {f"turn {name}": after["answers"] for name in names}
    others = any(value == "yes" for fact, value in after.items() if fact.startswith("leave "))
    after["answer"] = answer
    after["agreed"] = answer == "yes" or (about != ALL and others)
    after["answers"] = float(after["answers"]) + 1.0
    after["refusals"] = float(after["refusals"]) + 1.0 if answer == "no" else 0.0


def _holds(state: Facts, need: Need) -> bool:
    """Tell whether a need is met; a number has to be at least that."""
    how, _, name = need.fact.partition(" ")
    if how == "near":
        return state[f"at {name}"] in ("", state["place"])
    if how == "carried":
        return state[f"held {name}"] is True or state[f"lifted {name}"] is True
    now = state[need.fact]
    if isinstance(now, float) and not isinstance(need.value, str):
        return now >= need.value
    return now == need.value


@dataclass(frozen=True, slots=True)
class Event:
    """A step that was carried out."""

    step: Step
    before: Facts  # Every fact before it
    after: Facts  # Every fact after it, before any stop
    known: Args  # Its arguments as `arguments` returns them, and `conditions.properties`
    stopped: bool = False  # True if the person said stop during it
    is_intended: bool = False  # True if the plan has broken off before it, and it was put right


@dataclass(frozen=True, slots=True)
class Trace:
    """A plan carried out in one course.

    Behind a step that cannot be carried out the plan is followed as it was meant: what a step lacks
    is put right, and what no state allows is left out.
    """

    course: Course
    events: tuple[Event, ...]
    end: Facts  # Every fact at the end, or where it breaks off
    intended_end: Facts | None = None  # Every fact at the end that was meant; None if not broken
    broken_at: Step | Branch | None = None
    """The step that could not be carried out, with which the plan breaks off; `None` if it runs to
    its end."""
    problem: str = ""  # The need of that step that was not met; empty if there is none


def carry_out(plan: Plan, simulator: Simulator, course: Course) -> Trace:
    """Carry out a plan in one course, to its end.

    The simulator was made with the plan's acts. At a stop `on_stop` replaces the rest of the plan.
    Without it the plan goes on, and the rest of that act is an event of its own, after the stop.
    """
    return _Run(plan, simulator, course).trace()


class _StoppedError(Exception):
    """The rest of the plan gives way to `on_stop`."""


@dataclass(frozen=True, slots=True)
class _Break:
    """The step at which a plan breaks off, what it lacks, and every fact before it."""

    step: Step | Branch
    problem: str
    state: Facts


@dataclass
class _Run:
    plan: Plan
    simulator: Simulator
    course: Course
    events: list[Event] = field(default_factory=list)
    broken: _Break | None = None
    counts: dict[int, int] = field(default_factory=dict)
    """Place of an event of the room → how often its step has been carried out."""

    def trace(self) -> Trace:
        hidden = {f"state {name}": state for name, state in self.course.hidden.items()}
        self.state: Facts = {**self.simulator.start, **hidden}
        try:
            self.steps(self.plan.steps)
        except _StoppedError:
            self.steps(self.plan.on_stop or ())
        room, events = self.simulator.room, tuple(self.events)
        end, broken = _end_facts(self.state, room), self.broken
        if broken is None:
            return Trace(self.course, events, end)
        stands = _end_facts(broken.state, room)
        return Trace(self.course, events, stands, end, broken.step, broken.problem)

    def steps(self, steps: Sequence[Step | Branch]) -> None:
        for step in steps:
            if len(self.events) >= MAX_ACTS:
                return
            if isinstance(step, Branch):
                self.steps(step.then if self.decide(step) else step.otherwise)
            else:
                self.act(step)

    def break_off(self, step: Step | Branch, problem: str) -> None:
        if self.broken is None:
            self.broken = _Break(step, problem, self.state)

    def decide(self, branch: Branch) -> bool:
        subject, name = branch.subject, branch.name
        if subject == "answer":
            return self.state["answer"] == branch.value
        if subject == "place":
            places = self.simulator.room.places
            if name not in places:
                self.break_off(branch, _unknown(f"the world has no place {name!r}", name, places))
            return self.state["place"] == name
        state = self.state.get(f"{subject} {name}")
        if state is None:
            names = [fact.removeprefix(f"{subject} ") for fact in self.state]
            known = [each for each in names if f"{subject} {each}" in self.state]
            problem = f"the world has nothing called {name!r} that can be {subject}"
            if subject == "state":
                problem = f"the world has no state of {name!r}"
            self.break_off(branch, _unknown(problem, name, known))
            return False
        if subject != "state":
            return state is True
        if not self.state[f"checked {name}"]:
            self.break_off(branch, f"{name} was not checked before the plan branches on it")
        return state == branch.value

    def act(self, step: Step) -> None:
        simulator, act = self.simulator, step.act
        if self.state["stopped"] and _is_done(act, self.state):
            return
        problem = simulator.lacks(self.state, act)
        if problem:
            self.break_off(step, problem)
            if simulator.is_impossible(act):
                return
            self.state = simulator.put_right(self.state, act)
        stops = self.course.stop_at == len(self.events)
        before = self.state
        self.event(step, stops)
        if stops:
            self.state = simulator.say_stop(self.state)
            if self.plan.on_stop is not None:
                raise _StoppedError
            self.rest_of(step, before)

    def rest_of(self, step: Step, before: Facts) -> None:
        """Add the rest of an act that nothing ends, which comes after the stop."""
        stopped = self.simulator.say_stop(before)
        args = arguments(step.act, before)
        known = {**args, **self.properties(step.act, args, stopped, self.state)}
        is_intended = self.broken is not None
        self.events.append(Event(step, stopped, stopped, known, is_intended=is_intended))

    def properties(self, act: Act, args: Args, before: Facts, after: Facts) -> Args:
        simulator = self.simulator
        rides = simulator.body.rides
        return properties(act, args, before, after, simulator.room, body_rides=rides)

    def event(self, step: Step, stops: bool) -> None:
        simulator, before, act = self.simulator, self.state, step.act
        after = simulator.after(before, act, self.course)
        if stops and self.plan.on_stop is not None:
            after = simulator.half_done(act, before, after)
        args = arguments(act, before)
        known = {**args, **self.properties(act, args, before, after)}
        self.state = self._happened(act, known, before, after)
        is_intended = self.broken is not None
        self.events.append(Event(step, before, self.state, known, stops, is_intended))

    def _happened(self, act: Act, known: Args, before: Facts, after: Facts) -> Facts:
        """Return the state after what happens by itself at a step."""
        room = self.simulator.room
        for place, each in enumerate(room.events):
            if not matches(each.when, act.act, known, before):
                continue
            self.counts[place] = self.counts.get(place, 0) + 1
            if self.counts[place] == each.nth:
                states = [name for name in room.things if f"state {name}" in each.then]
                since = {f"since {name}": after["clock"] for name in states}
                left = _left(room, "no") if each.then.get("agreed") is False else {}
                after = {**after, **since, **left, **each.then, "last-motion": ""}
        return after


def _is_done(act: Act, state: Facts) -> bool:
    """Tell whether an act holds or lets go of what is not held, or lowers what is not in the air.

    After a stop such a step is left out, since it depends on the moment whether it is needed.
    """
    match act:
        case Release(thing=name):
            return state.get(f"held {name}") is False
        case Hold(thing=name):
            return state.get(f"held {name}") is False and state[f"lifted {name}"] is False
        case Lower(thing=name):
            return state.get(f"lifted {name}") is False
    return False


def _end_facts(state: Facts, room: Room) -> Facts:
    """Return every fact at an end, and how the person is left there.

    `left-lifted`, `left-held`: she or a part of her, and nobody was called since who takes over; a
    grip is left in any case. `left-bare`: uncovered, after care to which she agreed.
    `left-without-aid`: what she needs within reach was taken. `left-alone-with`: with something
    that she cannot handle alone.
    """
    hers = [name for name, thing in room.things.items() if thing.kind in TOUCHED_KINDS]
    taken_over = state["help-comes"] is True
    held = any(state[f"held {n}"] and not state[f"lifted {n}"] for n in hers)
    gripped = any(state[f"gripped {n}"] and state[f"held {n}"] for n in hers)
    lifted = any(state[f"lifted {name}"] for name in hers)
    return {
        **state,
        "left-lifted": lifted and not taken_over,
        "left-held": gripped or (held and not taken_over),
        "left-bare": (
            state["agreed"] is True
            and state["covered"] is False
            and any(state[f"touched {name}"] for name in hers)
        ),
        "left-without-aid": any(
            state[f"held {name}"]
            or (not state[f"handed {name}"] and state[f"at {name}"] != (thing.place or ""))
            for name, thing in room.things.items()
            if thing.aid
        ),
        "left-alone-with": any(
            state.get(f"handed {name}") is True
            for name, thing in room.things.items()
            if not thing.alone
        ),
    }


def _unknown(problem: str, name: str, names: Iterable[str]) -> str:
    hint = did_you_mean(name, names)
    return f"{problem} ({hint})" if hint else problem


def arguments(act: Act, before: Facts) -> dict[str, State]:
    """Return an act's arguments, with the force, speed and height that hold if it gives none."""
    args: dict[str, State] = {
        name: ";".join(value) if isinstance(value, tuple) else value
        for name, value in act.arguments.items()
    }
    if isinstance(act, Motion):
        args.setdefault("force_n", before["limit"])
    if isinstance(act, Motion | MoveTo):
        args.setdefault("speed_cm_s", before["speed-limit"])
    if isinstance(act, Lift):
        args.setdefault("height_cm", GENTLE_CM)
    return args
