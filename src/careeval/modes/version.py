"""The version of the protocol, and the earlier versions whose runs can still be finished."""

from __future__ import annotations

from careeval.errors import ProtocolError

PROTOCOL_VERSION = "2-A"
"""`N-X`: N is raised by a change after which scores are not comparable, X by any other change."""

FIRST = "1-A"
"""The version of runs whose `run.json` names none: that of careeval 0.1."""

KNOWN = {version.partition("-")[0]: version for version in (FIRST, PROTOCOL_VERSION)}
"""N → the newest version `N-X`, for every N that this careeval can carry out."""


def newest_version(version: str) -> str:
    """Return the newest version with the same N as `version`; careeval follows it instead.

    Raises:
        ProtocolError: This careeval does not know the version.
    """
    if (newest := KNOWN.get(version.partition("-")[0])) is None:
        raise ProtocolError(
            f"protocol {version} is not known to this version of careeval",
            hint=f"update careeval; this version knows {', '.join(KNOWN.values())}",
        )
    return newest
