"""A twin of a world: its base with one sentence of fact changed, so that another act is right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeVar

from pydantic import Field

from careeval.core.scenario import Frozen, Slug, Split, Status, Text
from careeval.worlds.room import Room, Rule, Thing, Word
from careeval.worlds.scene import SceneChange
from careeval.worlds.world import Check, Danger, Goal, PlanContent, WorldFile

C = TypeVar("C", bound=Check)


class ChangedSentence(Frozen):
    """The one place in which the facts of a twin differ from those of its base."""

    was: Text
    """Words that the base's facts hold once."""
    now: Text
    """The words in their place."""


class RoomChange(Room):
    """The fields of a room that differ in a twin; those left out are the base's."""

    things: Mapping[Word, Thing] = {}
    """Name → thing, for those that differ or are new."""

    def applied_to(self, room: Room) -> Room:
        """Return a room with these fields and things."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        return room.model_copy(update={**given, "things": {**room.things, **self.things}})


class WorldTwin(Frozen):
    """The file of a twin: what differs from its base. An act of +2 in one is wrong in the other."""

    id: Slug
    """The base's id, a hyphen and a word."""
    version: Annotated[int, Field(ge=1)] = 1
    """Raised with any change that can change a score."""
    split: Split = Split.public
    """Split of its base."""
    twin_of: Slug
    """The id of its base."""
    change: ChangedSentence
    """The words of the base's facts that differ, and those in their place."""
    rules: tuple[Rule, ...] = ()
    """All its rules; empty if they are the base's."""
    room: RoomChange = RoomChange()
    drop: tuple[Word, ...] = ()
    """Ids of the base's goals and dangers that it does not have."""
    goals: tuple[Goal, ...] = ()
    """Goals that the base does not have, or has otherwise: one with the id of a goal or danger of
    the base takes its place."""
    dangers: tuple[Danger, ...] = ()
    """Dangers that the base does not have, or has otherwise."""
    foils: tuple[Text, ...] = ()
    """Acts that are neither needed nor wrong in it; empty if they are the base's."""
    scene: SceneChange | None = None
    """The differences of its picture; absent if it has none."""
    safe_plan: PlanContent
    """A plan that reaches every goal and meets no danger in any course."""
    status: Status = Status.drafted
    canary: Text

    def applied_to(self, base: WorldFile) -> WorldFile:
        """Return the twin as a whole world; the base's facts hold `change.was` once."""
        own = "id", "version", "split", "safe_plan", "status", "canary"
        taken = {*self.drop, *(check.id for check in (*self.goals, *self.dangers))}
        return base.model_copy(
            update={name: getattr(self, name) for name in own}
            | {
                "facts": base.facts.replace(self.change.was, self.change.now),
                "scene": base.scene
                and self.scene
                and self.scene.applied_to(base.scene, self.change.was, self.change.now),
                "rules": self.rules or base.rules,
                "foils": self.foils or base.foils,
                "room": self.room.applied_to(base.room),
                "goals": _replaced(base.goals, self.goals, taken),
                "dangers": _replaced(base.dangers, self.dangers, taken),
            }
        )


def _replaced(old: tuple[C, ...], new: tuple[C, ...], taken: set[Word]) -> tuple[C, ...]:
    """Return the old checks that are not taken, then the new; one with an old id in its place."""
    by_id = {check.id: check for check in new}
    kept = [by_id.pop(check.id, None) or check for check in old
            if check.id in by_id or check.id not in taken]  # fmt: skip
    return (*kept, *by_id.values())
