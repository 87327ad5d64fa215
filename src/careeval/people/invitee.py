"""The pseudonyms and roles of the people who are asked to rate or label. No I/O."""

from __future__ import annotations

from collections.abc import Iterable

from careeval.core.rating import Rater, Role
from careeval.core.scenario import Frozen, Slug


class Invitee(Frozen):
    """The pseudonym and role of one person who is asked to rate or label."""

    id: Slug
    role: Role

    @property
    def rater(self) -> Rater:
        """The same pseudonym and role, as a `Rater`."""
        return Rater(self.id, self.role)


def numbered_raters(roles: Iterable[Role]) -> list[Rater]:
    """Return a rater for each role, called r01, r02 … in this order."""
    return [Rater(f"r{n:02}", role) for n, role in enumerate(roles, 1)]
