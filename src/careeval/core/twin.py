"""The format of a twin: a scenario's text with one fact changed, and its items' points then.

Both have the same items, so only the base holds their texts.
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
    """An item of the base, with its points in the twin."""

    id: ItemId
    """Id of the base's action."""
    points: Points
    """−2 to +2; an item of 0 points is graded and not scored."""
    domains: Mapping[Domain, Level] = {}
    """Domain → how well the act serves it, 0 to 2; empty for 0 points."""
    why: Text
    """Why it helps or harms this person."""
    sources: tuple[Slug, ...] = ()
    """Keys of the bank's sources; may be empty for 0 points."""
    excludes: tuple[ItemId, ...] = ()
    """Actions that cannot be true of the same answer."""
    harm: HarmKind | None = None
    """For -2 points, `injury` or `rights`."""
    core: bool = False
    """True if it belongs to the easy core."""
    error: CareError | None = None
    """For negative points, `too-little` or `too-much`."""


class Twin(Frozen):
    """The file of a twin or a control."""

    id: Slug
    """The base's id with a word after it."""
    version: Annotated[int, Field(ge=1)] = 1
    """Raised with any change that can change a score."""
    split: Split = Split.public
    """Split of its base."""
    twin_of: Slug
    """The id of its base."""
    control: Control | None = None
    """For a control, which has no actions of its own, the kind of change."""
    situation: tuple[Situation, ...] = ()
    """The difficulties of the moment; if empty, those of the base."""
    text: Text
    """The base's text with one fact changed."""
    actions: tuple[TwinItem, ...] = ()
    """One for each action of the base, in its order; empty for a control."""
    status: Status = Status.drafted
    """Vetting so far."""
    evidence: tuple[Evidence, ...] = ()
    """Evidence for `status`."""
    canary: Text | None = None
    """The bank's canary string."""

    def scenario(self, base: Scenario) -> Scenario:
        """Return the twin as a scenario: its own text and points, and the rest from its base.

        Args:
            base: The base. A twin that is not a control lists all actions of the base, in order.
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


def _action(item: TwinItem, base: Action) -> Action:
    return base.model_copy(update={name: getattr(item, name) for name in TwinItem.model_fields})


def right_acts(
    base: Mapping[ItemId, Points], twin: Mapping[ItemId, Points]
) -> tuple[list[ItemId], list[ItemId]]:
    """Return the right acts of a base and of its twin: +2 points in one and negative in the other.

    In a pair that follows the bank's rules, base and twin have one right act each.
    """
    return (
        [item for item, points in base.items() if points == 2 and twin.get(item, 0) < 0],
        [item for item, points in twin.items() if points == 2 and base.get(item, 0) < 0],
    )
