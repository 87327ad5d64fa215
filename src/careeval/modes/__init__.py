"""The modes: each is a way to ask a system and to judge its response. A bank names its mode."""

from careeval.core.registry import Registry
from careeval.modes.mode import Mode
from careeval.modes.response import RESPONSE

__all__ = ["MODES", "Mode"]

MODES: Registry[Mode] = Registry({RESPONSE.name: RESPONSE, "plan": "careeval.worlds.mode:PLAN"})
"""Every mode by its name in `bank.yaml`."""
