"""A plan carried out in a room in one course: the steps, and every fact before and after each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace

from careeval.core.scenario import Answer
from careeval.errors import did_you_mean
from careeval.worlds.acts import (
    Act,
    BringToMouth,
    Check,
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
    Transition,
    is_fixture,
    is_hazard,
    is_loose,
    start_facts,
    transition,
)
from careeval.worlds.plan_json import Branch, NoAct, Plan, Step
from careeval.worlds.room import Body, Change, Room

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

    def __init__(self, room: Room, body: Body) -> None:
        self.room, self.body = room, body
        self.start: Facts = start_facts(room, body)
        self._transitions: dict[Act, Transition] = {}

    def _transition(self, act: Act) -> Transition:
        known = self._transitions.get(act)
        if known is None:
            known = self._transitions[act] = transition(act, self.room, self.body, self.start)
        return known

    def lacks(self, state: Facts, act: Act) -> str:
        """Return why an act cannot be carried out in a state; empty if it can."""
        change = self._transition(act)
        if change.impossible:
            return change.impossible
        return next((need.words for need in change.needs if not _holds(state, need)), "")

    def is_impossible(self, act: Act) -> bool:
        """Tell whether no state of the room allows an act."""
        return bool(self._transition(act).impossible)

    def put_right(self, state: Facts, act: Act) -> Facts:
        """Return the state with what an act lacks put right."""
        right = dict(state)
        for need in self._transition(act).needs:
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
        for effect in self._transition(act).effects:
            before = float(state[effect.fact]) if effect.how == "add" else None
            after[effect.fact] = effect.value if before is None else before + float(effect.value)
        if isinstance(act, WaitForAnswer):
            _hear(self._heard(act, state, course), after, self.room)
        elif isinstance(act, WaitUntil) and course.absent != (act.thing, act.state):
            self._wait(act, after)
        elif isinstance(act, Check):
            self._look(act.thing, after, course)
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
                if act.seconds >= change.takes_s and _is_due(change, after):
                    after[f"state {act.thing}"] = act.state
                return

    def _look(self, thing: str, after: dict[Fact, State], course: Course) -> None:
        """Let a thing be seen in the state that something else has brought about at once."""
        for change in self.room.changes:
            is_at_once = change.thing == thing and change.after and not change.takes_s
            if is_at_once and course.absent != (thing, change.state) and _is_due(change, after):
                after[f"state {thing}"] = change.state
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


def _is_due(change: Change, facts: Facts) -> bool:
    return all(_holds(facts, Need(fact, value, "")) for fact, value in change.after.items())


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


INNER = COUNTERS | {
    "about", "asked", "checked", "fed", "help-comes", "leave", "limit", "speed-limit", "swallowed",
    "touched",
}  # fmt: skip
"""First words of facts whose changes are not shown, since they follow from the act alone."""


def changes(event: Event) -> Iterator[tuple[str, tuple[State, State]]]:
    """Yield what a step changed: a fact, and its values before and after."""
    for fact, after in event.after.items():
        before = event.before.get(fact)
        if before is not None and before != after and fact.partition(" ")[0] not in INNER:
            yield fact, (before, after)


def change_words(event: Event) -> Iterator[str]:
    """Yield what a step changed, in words: `state mouth: empty → full`."""
    for fact, (before, after) in changes(event):
        yield f"{fact}: {value_words(before)} → {value_words(after)}"


def value_words(value: State) -> str:
    """Return the value of a fact in words: `true`, `1`, `full`."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else value


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
    broken_at: Step | Branch | NoAct | None = None
    """The step that could not be carried out, with which the plan breaks off; `None` if it runs to
    its end."""
    problem: str = ""  # The need of that step that was not met; empty if there is none


@dataclass(frozen=True, slots=True)
class _Break:
    """The step at which a plan breaks off, what it lacks, and every fact before it."""

    step: Step | Branch | NoAct
    problem: str
    state: Facts


class Execution:
    """The steps carried out one after another in one course, with the facts around each."""

    def __init__(self, simulator: Simulator, course: Course) -> None:
        self.simulator, self.course = simulator, course
        hidden = {f"state {name}": state for name, state in course.hidden.items()}
        self.state: Facts = {**simulator.start, **hidden}  # Every fact now
        self.events: list[Event] = []
        self.broken: _Break | None = None
        self._counts: dict[int, int] = {}
        """Place of an event of the room → how often its step has been carried out."""

    def copy(self) -> Execution:
        """Return an execution that stands where this one does, and then goes its own way."""
        other = copy(self)
        other.events, other._counts = [*self.events], {**self._counts}
        return other

    def trace(self) -> Trace:
        """Return the trace, with its end where things stand now."""
        room, events = self.simulator.room, tuple(self.events)
        end, broken = _end_facts(self.state, room), self.broken
        if broken is None:
            return Trace(self.course, events, end)
        stands = _end_facts(broken.state, room)
        return Trace(self.course, events, stands, end, broken.step, broken.problem)

    def break_off(self, step: Step | Branch | NoAct, problem: str) -> None:
        """Record that a step cannot be carried out; what follows is only intended."""
        if self.broken is None:
            self.broken = _Break(step, problem, self.state)

    def would_be(self, step: Step) -> Event:
        """Return what carrying out a step to its end would do."""
        before, act = self.state, step.act
        return self._event(step, self.simulator.after(before, act, self.course))

    def carry_out(self, step: Step) -> Event:
        """Carry out a step that is possible, to its end."""
        return self._happen(self.would_be(step))

    def halt_in(self, step: Step) -> Event:
        """Carry out half of a step that is possible; then the person says stop."""
        whole = self.would_be(step)
        half = self.simulator.half_done(step.act, whole.before, whole.after)
        event = self._happen(self._event(step, half), stopped=True)
        self.state = self.simulator.say_stop(self.state)
        return event

    def go_on_in(self, step: Step) -> None:
        """Carry out a whole step, during which the person says stop and nothing heeds it.

        The rest of the act is an event of its own, after the stop.
        """
        event = self._happen(self.would_be(step), stopped=True)
        self.state = self.simulator.say_stop(self.state)
        stopped = self.simulator.say_stop(event.before)
        args = arguments(step.act, event.before)
        known = {**args, **self._properties(step.act, args, stopped, self.state)}
        self.events.append(Event(step, stopped, stopped, known, is_intended=event.is_intended))

    def _event(self, step: Step, after: Facts) -> Event:
        before, act = self.state, step.act
        args = arguments(act, before)
        known = {**args, **self._properties(act, args, before, after)}
        return Event(step, before, after, known, is_intended=self.broken is not None)

    def _properties(self, act: Act, args: Args, before: Facts, after: Facts) -> Args:
        simulator = self.simulator
        rides = simulator.body.rides
        return properties(act, args, before, after, simulator.room, body_rides=rides)

    def _happen(self, event: Event, *, stopped: bool = False) -> Event:
        """Add an event, with what happens by itself at its step."""
        room, after = self.simulator.room, event.after
        for place, each in enumerate(room.events):
            if not matches(each.when, event.step.act.act, event.known, event.before):
                continue
            self._counts[place] = self._counts.get(place, 0) + 1
            if self._counts[place] == each.nth:
                states = [name for name in room.things if f"state {name}" in each.then]
                since = {f"since {name}": after["clock"] for name in states}
                left = _left(room, "no") if each.then.get("agreed") is False else {}
                after = {**after, **since, **left, **each.then, "last-motion": ""}
        event = replace(event, after=after, stopped=stopped)
        self.events.append(event)
        self.state = after
        return event


def carry_out(plan: Plan, simulator: Simulator, course: Course) -> Trace:
    """Carry out a plan in one course, to its end.

    At a stop `on_stop` replaces the rest of the plan. Without it the plan goes on, and the rest of
    that act is an event of its own, after the stop.
    """
    run = _PlanRun(plan, Execution(simulator, course))
    try:
        run.steps(plan.steps)
    except _StoppedError:
        run.steps(plan.on_stop or ())
    return run.execution.trace()


class _StoppedError(Exception):
    """The rest of the plan gives way to `on_stop`."""


@dataclass
class _PlanRun:
    plan: Plan
    execution: Execution

    def steps(self, steps: Sequence[Step | Branch]) -> None:
        for step in steps:
            if len(self.execution.events) >= MAX_ACTS:
                return
            if isinstance(step, Branch):
                self.steps(step.then if self.decide(step) else step.otherwise)
            else:
                self.act(step)

    def decide(self, branch: Branch) -> bool:
        execution, state = self.execution, self.execution.state
        subject, name = branch.subject, branch.name
        if subject == "answer":
            return state["answer"] == branch.value
        if subject == "place":
            places = execution.simulator.room.places
            if name not in places:
                problem = _unknown(f"the world has no place {name!r}", name, places)
                execution.break_off(branch, problem)
            return state["place"] == name
        value = state.get(f"{subject} {name}")
        if value is None and subject == "held" and is_fixture(name, execution.simulator.room):
            return False  # it is moved without being held
        if value is None:
            names = [fact.removeprefix(f"{subject} ") for fact in state]
            known = [each for each in names if f"{subject} {each}" in state]
            problem = f"the world has nothing called {name!r} that can be {subject}"
            if subject == "state":
                problem = f"the world has no state of {name!r}"
            execution.break_off(branch, _unknown(problem, name, known))
            return False
        if subject != "state":
            return value is True
        if not state[f"checked {name}"]:
            execution.break_off(branch, f"{name} was not checked before the plan branches on it")
        return value == branch.value

    def act(self, step: Step) -> None:
        execution, simulator, act = self.execution, self.execution.simulator, step.act
        if execution.state["stopped"] and is_done(act, execution.state):
            return
        problem = simulator.lacks(execution.state, act)
        if problem:
            execution.break_off(step, problem)
            if simulator.is_impossible(act):
                return
            execution.state = simulator.put_right(execution.state, act)
        if execution.course.stop_at != len(execution.events):
            execution.carry_out(step)
        elif self.plan.on_stop is not None:
            execution.halt_in(step)
            raise _StoppedError
        else:
            execution.go_on_in(step)


def is_done(act: Act, state: Facts) -> bool:
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
