"""A second simulator of one room, by unified-planning: facts are its fluents, acts its actions.

unified-planning applies an action to a state and tells whether its preconditions hold. The tests
hold careeval's own simulator against it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from unified_planning.engines.sequential_simulator import UPSequentialSimulator
from unified_planning.environment import Environment
from unified_planning.model import Fluent, InstantaneousAction, Object, Problem
from unified_planning.model import State as Snapshot

from careeval.core.scenario import Answer
from careeval.worlds.acts import Act
from careeval.worlds.effects import NOTHING, Effect, Fact, Need, State, start_facts, transition
from careeval.worlds.simulator import Simulator
from careeval.worlds.world import Body, Change, Room


class UpState(dict[Fact, State]):
    """Facts, with the snapshot of unified-planning that they were read from."""

    snapshot: Snapshot


class UpSimulator(Simulator):
    """Carries out acts in one room, by one body, with unified-planning."""

    def __init__(self, room: Room, body: Body, acts: Iterable[Act]) -> None:
        self.room, self.body = room, body
        self.start = start_facts(room, body)
        self._problem = Problem("room", Environment())
        self._env = self._problem.environment
        self._word_type = self._env.type_manager.UserType("word")
        acts = list(acts)
        self._words = {
            word: Object(f"word-{number}", self._word_type, self._env)
            for number, word in enumerate(sorted(_words(room, self.start)))
        }
        self._problem.add_objects(self._words.values())
        self._fluents = {fact: self._fluent(fact, value) for fact, value in self.start.items()}
        self._impossible: dict[tuple[Act, Answer | None], str] = {}
        self._needs: dict[tuple[Act, Answer | None], tuple[Need, ...]] = {}
        self._actions: dict[tuple[Act, Answer | None], InstantaneousAction] = {}
        for act in acts:
            for answer in ("yes", "no", "silence") if act.act == "wait-for-answer" else (None,):
                if (act, answer) not in self._actions:
                    self._add(act, answer)
        self._stop = self._action("stop", (), (Effect("stopped", True), Effect("agreed", False)))
        self._changes = [self._change(number, each) for number, each in enumerate(room.changes)]
        self._engine = UPSequentialSimulator(self._problem)
        self.start = self._facts(self._engine.get_initial_state())

    def carry_out(
        self, state: Mapping[Fact, State], act: Act, answer: Answer | None = None
    ) -> Mapping[Fact, State] | str:
        """Return the state after an act, or why it cannot be carried out."""
        key = (act, answer if act.act == "wait-for-answer" else None)
        if problem := self._impossible.get(key):
            return problem
        return self._after(state, self._actions[key]) or next(
            need.words for need in self._needs[key] if not self._holds(state, need)
        )

    def say_stop(self, state: Mapping[Fact, State]) -> Mapping[Fact, State]:
        """Return the state after the person has said stop."""
        after = self._after(state, self._stop)
        assert after is not None
        return after

    def wait(self, state: Mapping[Fact, State], thing: str, wanted: str) -> Mapping[Fact, State]:
        """Return the state after the robot has waited for a thing: changed, if it comes about."""
        for change, action in zip(self.room.changes, self._changes, strict=True):
            if (change.thing, change.state) == (thing, wanted):
                return self._after(state, action) or state
        return state

    def _after(self, state: Mapping[Fact, State], action: InstantaneousAction) -> UpState | None:
        assert isinstance(state, UpState)
        after = self._engine.apply(state.snapshot, action, ())
        return None if after is None else self._facts(after)

    def _facts(self, snapshot: Snapshot) -> UpState:
        state = UpState({fact: self._value(snapshot, fact) for fact in self._fluents})
        state.snapshot = snapshot
        return state

    def _value(self, snapshot: Snapshot, fact: Fact) -> State:
        value = snapshot.get_value(self._fluents[fact])
        if value.is_bool_constant():
            return bool(value.bool_constant_value())
        if value.is_object_exp():
            return next(word for word, each in self._words.items() if each == value.object())
        return float(value.constant_value())

    def _holds(self, state: Mapping[Fact, State], need: Need) -> bool:
        value = state[need.fact]
        if isinstance(value, float) and not isinstance(need.value, str):
            return value >= need.value
        return value == need.value

    def _add(self, act: Act, answer: Answer | None) -> None:
        change = transition(act, self.room, self.body, self.start)
        key = (act, answer)
        if change.impossible:
            self._impossible[key] = change.impossible
            return
        effects = change.effects
        if answer is not None:
            effects += (Effect("answer", answer), Effect("agreed", answer == "yes"))
        self._needs[key] = change.needs
        self._actions[key] = self._action(f"act-{len(self._actions)}", change.needs, effects)

    def _change(self, number: int, change: Change) -> InstantaneousAction:
        needs = tuple(Need(fact, value, "") for fact, value in change.after.items())
        effects = (Effect(f"state {change.thing}", change.state),)
        return self._action(f"change-{number}", needs, effects)

    def _fluent(self, fact: Fact, value: State) -> Any:
        types = self._env.type_manager
        if isinstance(value, bool):
            kind = types.BoolType()
        elif isinstance(value, str):
            kind = self._word_type
        else:
            kind = types.RealType()
        fluent = Fluent(fact.replace(" ", "--"), kind, environment=self._env)
        self._problem.add_fluent(fluent, default_initial_value=self._constant(value))
        return fluent()

    def _constant(self, value: State) -> Any:
        if isinstance(value, str):
            return self._env.expression_manager.ObjectExp(self._words[value])
        (constant,) = self._env.expression_manager.auto_promote(value)
        return constant

    def _action(
        self, name: str, needs: Iterable[Need], effects: Iterable[Effect]
    ) -> InstantaneousAction:
        build = self._env.expression_manager
        action = InstantaneousAction(name, _env=self._env)
        for need in needs:
            fluent = self._fluents[need.fact]
            if isinstance(need.value, bool):
                holds = fluent if need.value else build.Not(fluent)
            elif isinstance(need.value, str):
                holds = build.Equals(fluent, self._constant(need.value))
            else:
                holds = build.GE(fluent, self._constant(need.value))
            action.add_precondition(holds)
        for effect in effects:
            fluent, value = self._fluents[effect.fact], self._constant(effect.value)
            add = action.add_increase_effect if effect.how == "add" else action.add_effect
            add(fluent, value)
        self._problem.add_action(action)
        return action


def _words(room: Room, start: Mapping[Fact, State]) -> set[str]:
    """Return every word that a fact may have as its value."""
    words = {value for value in start.values() if isinstance(value, str)}
    words |= {NOTHING, "none", "yes", "no", "silence", *room.places, *room.things}
    for thing in room.things.values():
        words.update(thing.states)
    return words
