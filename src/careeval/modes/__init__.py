"""The modes, and the version of the protocol by which they ask and judge."""

from careeval.core.registry import Registry
from careeval.errors import ProtocolError
from careeval.modes.mode import Mode
from careeval.modes.response import RESPONSE

__all__ = ["MODES", "PROTOCOL_VERSION", "Mode", "check_version"]

MODES: Registry[Mode] = Registry({RESPONSE.name: RESPONSE, "plan": "careeval.worlds.mode:PLAN"})
"""Every mode by its name in `bank.yaml`."""

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
