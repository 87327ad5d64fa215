"""What a study's page calls roles and decisions."""

from __future__ import annotations

from careeval.core.rating import Role
from careeval.results.decided import Decision

ROLES = {
    Role.occupational_therapist: "occupational therapist",
    Role.family_caregiver: "family caregiver",
    Role.person_with_disability: "person with a disability",
    Role.roboticist: "roboticist",
    Role.other: "other",
}

DECISIONS = {
    Decision.keep: "Keep",
    Decision.revise: "Revise",
    Decision.drop: "Drop",
    None: "Undecided",
}
