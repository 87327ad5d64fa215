"""A plan carried out in a room: the steps that run, and every fact before each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from careeval.core.scenario import Answer
from careeval.errors import did_you_mean
from careeval.worlds.acts import Act, Lift, Motion, MoveTo, WaitForAnswer, WaitUntil
from careeval.worlds.conditions import matches, stop_steps
from careeval.worlds.effects import Fact, State, start_facts, transition
from careeval.worlds.plan_json import Branch, Plan, Step
from careeval.worlds.world import Body, Room, When


class Simulator:
    """Carries out acts in one room, by one body.

    No state is ever changed: each method returns another one. `start` is the state before a plan.
    """

    def __init__(self, room: Room, body: Body, acts: Iterable[Act]) -> None:
        """Prepare the acts that may be carried out."""
        self.room, self.body = room, body
        self.start: Mapping[Fact, State] = start_facts(room, body)
        self._transitions = {act: transition(act, room, body, self.start) for act in acts}

    def after(
        self, state: Mapping[Fact, State], act: Act, answer: Answer
    ) -> Mapping[Fact, State] | str:
        """Return the state after an act and what it waits for, or why it cannot be carried out.

        The act is one of those that the simulator was made with.
        """
        after = self.carry_out(state, act, _heard(act, state, answer, self.room))
        if isinstance(act, WaitUntil) and not isinstance(after, str):
            return self.wait(after, act.thing, act.state)
        return after

    def carry_out(
        self, state: Mapping[Fact, State], act: Act, answer: Answer | None = None
    ) -> Mapping[Fact, State] | str:
        """Return the state after an act, or why it cannot be carried out.

        `answer` comes to an act that waits for one.
        """
        change = self._transitions[act]
        if change.impossible:
            return change.impossible
        for need in change.needs:
            if not _holds(state[need.fact], need.value):
                return need.words
        after = dict(state)
        for effect in change.effects:
            before = float(state[effect.fact]) if effect.how == "add" else None
            after[effect.fact] = effect.value if before is None else before + float(effect.value)
        if act.act == "wait-for-answer":
            assert answer is not None
            after |= {"answer": answer, "agreed": answer == "yes"}
        return after

    def say_stop(self, state: Mapping[Fact, State]) -> Mapping[Fact, State]:
        """Return the state after the person has said stop."""
        return {**state, "stopped": True, "agreed": False}

    def wait(self, state: Mapping[Fact, State], thing: str, wanted: str) -> Mapping[Fact, State]:
        """Return the state after the robot has waited for a thing: changed, if it comes about."""
        for change in self.room.changes:
            if (change.thing, change.state) == (thing, wanted):
                if all(_holds(state[fact], value) for fact, value in change.after.items()):
                    return {**state, f"state {thing}": wanted}
                break
        return state


def _holds(now: State, needed: State) -> bool:
    """Return whether a fact has the value that is needed; of a number, at least that."""
    if isinstance(now, float) and not isinstance(needed, str):
        return now >= needed
    return now == needed


@dataclass(frozen=True, slots=True)
class Event:
    """A step that was carried out."""

    step: Step
    before: Mapping[Fact, State]  # Every fact before it
    args: Mapping[str, State]  # As `arguments` returns them
    stopped: bool = False  # True if the person said stop during it


@dataclass(frozen=True, slots=True)
class Trace:
    """A plan carried out under one answer of the person."""

    answer: Answer
    events: tuple[Event, ...]
    end: Mapping[Fact, State]  # Every fact at the end
    broken_at: Step | Branch | None = None
    """The step that could not be carried out, with which the plan breaks off; `None` if it runs to
    its end."""
    problem: str = ""  # The need of that step that was not met; empty if there is none


def carry_out(plan: Plan, simulator: Simulator, answer: Answer) -> Trace:
    """Carry out a plan under one answer of the person, to its end or until it breaks off.

    The simulator was made with the plan's acts. Under `stop` the person answers yes, says stop
    during the step that the room names, and answers no after that. `on_stop` then replaces the rest
    of the plan. Without it the plan goes on, and the rest of that act is an event of its own, after
    the stop.
    """
    return _Course(plan, simulator, answer).run()


class _BrokenOffError(Exception):
    """A step that cannot be carried out."""


class _StoppedError(Exception):
    """The rest of the plan gives way to `on_stop`."""


@dataclass
class _Course:
    plan: Plan
    simulator: Simulator
    answer: Answer
    events: list[Event] = field(default_factory=list)

    def run(self) -> Trace:
        simulator = self.simulator
        self.state = simulator.start
        self.step: Step | Branch = self.plan.steps[0]
        problem = ""
        try:
            try:
                self.steps(self.plan.steps)
            except _StoppedError:
                self.steps(self.plan.on_stop or ())
        except _BrokenOffError as error:
            problem = str(error)
        broken_at = self.step if problem else None
        return Trace(self.answer, tuple(self.events), self.state, broken_at, problem)

    def steps(self, steps: Sequence[Step | Branch]) -> None:
        for step in steps:
            self.step = step
            if isinstance(step, Branch):
                self.steps(step.then if self.decide(step) else step.otherwise)
            else:
                self.act(step)

    def decide(self, branch: Branch) -> bool:
        subject, name = branch.subject, branch.name
        if subject == "answer":
            return self.state["answer"] == branch.value
        if subject == "place":
            places = self.simulator.room.places
            if name not in places:
                raise _BrokenOffError(_unknown(f"the world has no place {name!r}", name, places))
            return self.state["place"] == name
        state = self.state.get(f"{subject} {name}")
        if state is None:
            names = [fact.removeprefix(f"{subject} ") for fact in self.state]
            known = [each for each in names if f"{subject} {each}" in self.state]
            problem = f"the world has nothing called {name!r} that can be {subject}"
            if subject == "state":
                problem = f"the world has no state of {name!r}"
            raise _BrokenOffError(_unknown(problem, name, known))
        if subject != "state":
            return state is True
        if not self.state[f"checked {name}"]:
            raise _BrokenOffError(f"{name} was not checked before the plan branches on it")
        return state == branch.value

    def act(self, step: Step) -> None:
        simulator, before = self.simulator, self.state
        after = simulator.after(before, step.act, self.answer)
        if isinstance(after, str):
            raise _BrokenOffError(after)
        self.state = after
        args = arguments(step.act, before, simulator.body)
        stops = (
            self.answer == "stop"
            and not before["stopped"]
            and matches(stop_steps(simulator.room), step.act.act, args, before, simulator.room)
        )
        self.events.append(Event(step, before, args, stops))
        if stops:
            self.state = simulator.say_stop(self.state)
            if self.plan.on_stop is not None:
                raise _StoppedError
            # nothing ends the act, so the rest of it comes after the stop
            self.events.append(Event(step, self.state, args))


def _unknown(problem: str, name: str, names: Iterable[str]) -> str:
    hint = did_you_mean(name, names)
    return f"{problem} ({hint})" if hint else problem


def _heard(act: Act, before: Mapping[Fact, State], answer: Answer, room: Room) -> Answer:
    """Return the answer that comes to a question: silence if the wait is too short.

    Who says stop answers yes before that, and no after it.
    """
    if isinstance(act, WaitForAnswer) and act.seconds < room.answers_after_s:
        return "silence"
    if answer == "stop":
        return "no" if before["stopped"] else "yes"
    return answer


def arguments(act: Act, before: Mapping[Fact, State], body: Body) -> dict[str, State]:
    """Return an act's arguments, with the force, speed and height that hold if it gives none."""
    args: dict[str, State] = dict(act.arguments)
    if isinstance(act, Motion):
        if act.force_n is None:
            args["force_n"] = before["limit"]
        if act.speed_cm_s is None:
            args["speed_cm_s"] = body.max_speed_cm_s
    if isinstance(act, MoveTo) and act.speed_cm_s is None:
        args["speed_cm_s"] = body.max_speed_cm_s
    if isinstance(act, Lift) and act.height_cm is None:
        args["height_cm"] = body.reach_cm
    return args


def events_that(events: Sequence[Event], conditions: Sequence[When], room: Room) -> Iterator[Event]:
    """Yield the events that meet any of some conditions."""
    for each in events:
        if matches(conditions, each.step.act.act, each.args, each.before, room):
            yield each
