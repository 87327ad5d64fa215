"""The modes, and the versions of the protocol by which they ask and judge."""

from careeval.core.registry import Registry
from careeval.errors import ProtocolError
from careeval.modes.mode import Mode
from careeval.modes.response import RESPONSE

__all__ = ["MODES", "Mode", "check_version"]

MODES: Registry[Mode] = Registry({RESPONSE.name: RESPONSE, "plan": "careeval.worlds.mode:PLAN"})
"""Every mode by its name in `bank.yaml`."""


def check_version(version: str, mode: Mode) -> None:
    """Refuse a run in a mode that was begun under a protocol with another N.

    Raises:
        ProtocolError: This careeval cannot carry out that protocol.
    """
    if version.partition("-")[0] != mode.protocol.partition("-")[0]:
        raise ProtocolError(
            f"the run follows protocol {version}, and this careeval follows {mode.protocol}",
            hint="finish it with the version of careeval that began it, or begin a new run",
        )
