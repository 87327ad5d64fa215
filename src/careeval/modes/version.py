"""The version of the protocol, and the refusal of runs of another."""

from __future__ import annotations

from careeval.errors import ProtocolError

PROTOCOL_VERSION = "2-A"
"""`N-X`: N is raised by a change after which scores are not comparable, X by any other change."""


def check_version(version: str) -> None:
    """Refuse a run that was begun under a protocol with another N.

    Raises:
        ProtocolError: This careeval cannot carry out that protocol.
    """
    if version.partition("-")[0] != PROTOCOL_VERSION.partition("-")[0]:
        raise ProtocolError(
            f"the run follows protocol {version}, and this careeval follows {PROTOCOL_VERSION}",
            hint="finish it with the version of careeval that began it, or begin a new run",
        )
