"""The simulator of one room: a state maps every fact to its value, and an act changes facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from careeval.modes.plan.acts import Act
from careeval.modes.plan.bodies import Body
from careeval.modes.plan.effects import Fact, State, start_facts, transition
from careeval.modes.plan.worlds import Answer, Room


class Simulator:
    """Carries out acts in one room, by one body.

    No state is ever changed: each method returns another one.
    """

    def __init__(self, room: Room, body: Body, acts: Iterable[Act]) -> None:
        """Prepare the acts that may be carried out."""
        self.room, self.body = room, body
        self.start: Mapping[Fact, State] = start_facts(room, body)
        """Every fact before a plan begins."""
        self._transitions = {act: transition(act, room, body, self.start) for act in acts}

    def carry_out(
        self, state: Mapping[Fact, State], act: Act, answer: Answer | None = None
    ) -> Mapping[Fact, State] | str:
        """Return the state after an act, or why it cannot be carried out.

        Args:
            state: The state before it.
            act: One of the acts that the simulator was made with.
            answer: For an act that waits for an answer, the answer that comes.
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
