"""A twin, as its file has it: a scenario's text with one fact changed, and what its items are then.

What is looked for is the same in both: the items' texts stand in the base alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from careeval.core.scenario import (
    Action,
    CareError,
    Control,
    Domain,
    Evidence,
    Frozen,
    HarmKind,
    ItemId,
    Level,
    Points,
    Scenario,
    Situation,
    Slug,
    Split,
    Status,
    Text,
)


class TwinItem(Frozen):
    """An item of the base, with its worth in the twin."""

    id: ItemId
    """Of the base's action."""
    points: Points
    """As of any item; 0 is graded and not scored."""
    domains: Mapping[Domain, Level] = {}
    """As of any item; empty for 0 points."""
    why: Text
    """Why it helps or harms this person."""
    sources: tuple[Slug, ...] = ()
    """Keys of the bank's sources; may be empty for 0 points."""
    excludes: tuple[ItemId, ...] = ()
    """Actions that cannot be true of the same answer."""
    harm: HarmKind | None = None
    """Of -2 points, `injury` or `rights`."""
    core: bool = False
    """Whether it belongs to the easy core."""
    error: CareError | None = None
    """Of negative points, `too-little` or `too-much`."""


class Twin(Frozen):
    """A twin's or a control's file."""

    id: Slug
    """The base's id with a word after it."""
    version: Annotated[int, Field(ge=1)] = 1
    """Rises with any change that can move a score."""
    split: Split = Split.public
    """Its base's."""
    twin_of: Slug
    """The id of its base."""
    control: Control | None = None
    """Of a control, which has no actions of its own: what it changes."""
    situation: tuple[Situation, ...] = ()
    """What makes the moment hard; the base's where it is empty."""
    text: Text
    """The base's text with one fact changed."""
    actions: tuple[TwinItem, ...] = ()
    """One for each action of the base, in its order; none of a control."""
    status: Status = Status.drafted
    """How far the content has been vetted."""
    evidence: tuple[Evidence, ...] = ()
    """What `status` rests on."""
    canary: Text | None = None
    """The bank's canary string."""

    def scenario(self, base: Scenario) -> Scenario:
        """Return the twin as a scenario: its own words and points, the rest its base's.

        Args:
            base: Whose actions the twin names all of, in their order, unless it is a control.
        """
        fields = "version", "split", "text", "status", "evidence", "canary", "control"
        own = {name: getattr(self, name) for name in fields}
        actions = base.actions if self.control else tuple(map(_action, self.actions, base.actions))
        return base.model_copy(
            update={
                **own,
                "id": self.id,
                "twin_of": base.id,
                "situation": self.situation or base.situation,
                "actions": actions,
                "ladder": (),
            }
        )


def _action(item: TwinItem, of_base: Action) -> Action:
    return of_base.model_copy(update={name: getattr(item, name) for name in TwinItem.model_fields})


def right_acts(
    base: Mapping[ItemId, Points], twin: Mapping[ItemId, Points]
) -> tuple[list[ItemId], list[ItemId]]:
    """Return the right acts of a base and of its twin: +2 in one, negative in the other.

    A pair that follows the bank's rules has one of each.
    """
    return (
        [item for item, points in base.items() if points == 2 and twin.get(item, 0) < 0],
        [item for item, points in twin.items() if points == 2 and base.get(item, 0) < 0],
    )
