"""The type of a robot's body: what it can carry, how hard it may push, and what it can sense."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from careeval.core.scenario import Frozen, Slug, Text

Sensor = Literal["camera", "force", "touch", "temperature", "microphone", "load"]
"""A sense of a robot."""

Positive = Annotated[float, Field(gt=0, le=5000)]


class Body(Frozen):
    """A robot's body, as its planner is told of it: one file in `bodies/` of a bank of worlds."""

    name: Slug
    """The name by which worlds refer to it."""
    title: Text
    """The name that people read."""
    text: Text
    """The body in words, spoken to the planner, with every figure that binds it."""
    arms: Annotated[int, Field(ge=1, le=4)]
    """Things or parts of the person that it can hold at the same time."""
    payload_kg: Positive
    """The most that it can lift."""
    reach_cm: Positive
    """Reach of its arm. Planners are told; worlds say what is in reach."""
    max_speed_cm_s: Positive
    """The highest speed that can be commanded."""
    max_force_n: Positive
    """The greatest force that can be commanded, which also holds until a plan sets a limit."""
    lifts_person: bool
    """True if it may lift a whole person."""
    sensors: tuple[Sensor, ...]
    """Its senses."""
    stopped_by: Text
    """The ways in which the person can stop it."""
    cannot_sense: tuple[Text, ...]
    """Things that it cannot sense, in words."""
    generic: tuple[Text, ...] = ()
    """Names of the fields above that rest on no published figure."""
    sources: tuple[Slug, ...] = ()
    """Keys of the bank's sources for the other figures."""
