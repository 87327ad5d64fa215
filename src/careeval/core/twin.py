"""A twin: a base scenario with one fact changed, so that another act is right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from careeval.core.scenario import (
    Action,
    CareError,
    Control,
    Domain,
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
    """The reason why it helps or harms this person."""
    sources: tuple[Slug, ...] = ()
    """Keys of the bank's sources; may be empty for 0 points."""
    excludes: tuple[ItemId, ...] = ()
    """Ids of actions that cannot be in one answer together with this one."""
    harm: HarmKind | None = None
    """For -2 points, `injury` or `rights`."""
    core: bool = False
    """True if it belongs to the easy core."""
    error: CareError | None = None
    """For negative points, `too-little` or `too-much`."""


class Twin(Frozen):
    """The file of a twin, or of a control: a twin whose change leaves the right act the same."""

    id: Slug
    """The base's id, a hyphen and a word."""
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
    """The base's text with one fact changed; for a paraphrase, in other words."""
    actions: tuple[TwinItem, ...] = ()
    """One for each action of the base, in its order; empty for a control."""
    status: Status = Status.drafted
    """Vetting so far."""
    canary: Text | None = None
    """The bank's canary string."""

    def scenario(self, base: Scenario) -> Scenario:
        """Return the twin as a scenario: its text and points, all else from its base, no ladder.

        A twin that is not a control must list all actions of the base, in order.
        """
        fields = "version", "split", "text", "status", "canary", "control"
        own = {name: getattr(self, name) for name in fields}
        actions = base.actions if self.control else tuple(map(_action, self.actions, base.actions))
        own |= {"id": self.id, "twin_of": base.id, "actions": actions, "ladder": ()}
        return base.model_copy(update=own | {"situation": self.situation or base.situation})


def _action(item: TwinItem, base: Action) -> Action:
    return base.model_copy(update={name: getattr(item, name) for name in TwinItem.model_fields})


def right_acts(
    base: Mapping[ItemId, Points], twin: Mapping[ItemId, Points]
) -> tuple[list[ItemId], list[ItemId]]:
    """Return the ids of the right acts of a base, and of those of its twin.

    An act is right in one of the two if it has +2 points there and negative points in the other. In
    a pair that follows the bank's rules, base and twin have one right act each.
    """
    return (
        [item for item, points in base.items() if points == 2 and twin.get(item, 0) < 0],
        [item for item, points in twin.items() if points == 2 and base.get(item, 0) < 0],
    )
