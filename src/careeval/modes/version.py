"""The version of the protocol, and the earlier ones whose runs can still be finished."""

from __future__ import annotations

from careeval.errors import ProtocolError

PROTOCOL_VERSION = "2-A"
"""`N-X`: N rises with any change after which scores do not compare, X with any other change."""

FIRST = "1-A"
"""What a run follows whose `run.json` names no protocol: the one of careeval 0.1."""

KNOWN = {version.partition("-")[0]: version for version in (FIRST, PROTOCOL_VERSION)}
"""N → its newest version, of the protocols that can be carried out."""


def known_version(version: str) -> str:
    """The version that careeval follows where this one is asked for: the newest with the same N.

    Raises:
        ProtocolError: This careeval does not know it.
    """
    if (newest := KNOWN.get(version.partition("-")[0])) is None:
        raise ProtocolError(
            f"protocol {version} is not known to this version of careeval",
            hint=f"it knows {', '.join(KNOWN.values())}; a newer careeval may know it",
        )
    return newest
