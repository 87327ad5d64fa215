"""Acts in short words, for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from careeval.worlds.acts import Act, PlanError
from careeval.worlds.plan_json import Step, plan_of

ARGUMENTS = {
    "thing": " {}",
    "helper": " {}",
    "place": " {}",
    "task": " {}",
    "part": " on {}",
    "tool": " with {}",
    "to": " to {}",
    "onto": " onto {}",
    "state": " is {}",
    "about": ", about {}",
    "seconds": ", {:g} s",
    "height_cm": ", {:g} cm",
    "force_n": ", {:g} N",
    "speed_cm_s": ", {:g} cm/s",
    "on": " {}",
    "urgent": ", {}",
    "words": " “{}”",
}
"""Argument of an act → its short words, in the order in which they follow the act."""

_FLAGS = {("on", True): "on", ("on", False): "off", ("urgent", True): "urgent"}


def act_words(act: Act) -> str:
    """Return an act with its arguments in short words: `bring-to-mouth spoon, 3 N, 5 cm/s`."""
    return f"{act.act}{argument_words(act.arguments)}"


def argument_words(arguments: Mapping[str, Any]) -> str:
    """Return arguments of an act in short words, as they follow its name."""
    return "".join(
        template.format(_shown(name, arguments[name]))
        for name, template in ARGUMENTS.items()
        if name in arguments and (name, arguments[name]) != ("urgent", False)
    )


def _shown(name: str, value: Any) -> Any:
    if isinstance(value, tuple):
        return ", ".join(value)
    return _FLAGS.get((name, value), value) if isinstance(value, bool) else value


def step_words(quote: str) -> str:
    """Return a quoted step in short words; any other text as it is."""
    try:
        (step,) = plan_of([json.loads(quote)]).steps
    except (ValueError, RecursionError, PlanError):
        return quote
    return act_words(step.act) if isinstance(step, Step) else quote
