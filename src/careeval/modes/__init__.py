"""The modes: each is a way to ask a system and to judge its response. A bank names its mode."""

from careeval.modes.mode import Mode
from careeval.modes.plan import PLAN
from careeval.modes.response import RESPONSE

__all__ = ["MODES", "Mode"]

MODES: dict[str, Mode] = {mode.name: mode for mode in (RESPONSE, PLAN)}
"""Every mode by its name in `bank.yaml`."""
