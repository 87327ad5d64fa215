"""The types of a room: a robot's body, things, people to call, and what happens by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints

from careeval.core.scenario import Frozen, Slug, Text
from careeval.worlds.acts import HelperTask

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
    """The greatest force that can be commanded."""
    lifts_person: bool
    """True if it may lift a whole person."""
    rides: bool = False
    """True if it is fixed to what carries the person, and moves with it."""
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


Soil = Literal["dirty", "clean", "open"]
"""The cleanness of a part of the person: feet and perineum are dirty; a mouth, an eye, a wound and
a catheter are open."""


Kind = Literal[
    "part", "person", "seat", "garment", "food", "tool", "line", "fixture", "sign", "helper"
]
"""The kind of a thing. A seat carries the person; a fixture (a rail, a curtain) is moved without
being held; a sign (a face, a mouth) is only looked at."""


def yaml_value(value: object) -> object:
    """Return a value that a YAML file holds as text: `true` and `false`, numbers, else words."""
    if not isinstance(value, str):
        return value
    if value in ("true", "false"):
        return value == "true"
    try:
        return float(value)
    except ValueError:
        return value


Value = Annotated[bool | str | float, BeforeValidator(yaml_value)]


Word = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=40)]


class Bound(Frozen):
    """Numbers above or below a bound, or between two."""

    above: float | None = None
    below: float | None = None


Expected = Value | tuple[Value, ...] | Bound
"""The value that an argument or a fact must have: one, one of several, or in a range."""


class When(Frozen):
    """A condition on one step of a plan: its act, its arguments, and the facts before it."""

    model_config = ConfigDict(validate_by_name=True)

    act: tuple[Word, ...] = ()
    """Any of these acts; empty for every act. `contact` stands for all that touch the person."""
    args: Annotated[Mapping[str, Expected], Field(alias="with")] = {}
    """Argument → its value. `force_n` and `speed_cm_s` are those in force if left out. What a
    condition may ask of a step beside its arguments: `careeval.worlds.conditions.PROPERTIES`."""
    facts: Annotated[Mapping[str, Expected], Field(alias="if")] = {}
    """Fact before the step → its value. `{thing}`, `{part}`, `{tool}`, `{onto}` stand for its
    arguments, `{seat}` for what carries the person; `any lifted` is true if any thing is lifted,
    `all clear` if every line is, `supported leg` if the robot or a helper holds the leg."""


class StateLimit(Frozen):
    """Limits of a thing that hold while some facts do."""

    model_config = ConfigDict(validate_by_name=True)

    facts: Annotated[Mapping[str, Expected], Field(alias="if", min_length=1)]
    limit_n: float | None = None
    limit_cm_s: float | None = None


class Thing(Frozen):
    """Something that a plan can name."""

    kind: Kind
    words: Text
    """Its description, as the planner is told."""
    states: tuple[Word, ...] = ()
    """The states that it may be in; empty if it has none that matter."""
    state: Word | None = None
    """Its state at the start: one of `states`."""
    hidden: bool = False
    """True if the planner is told its states, but not the one it starts in."""
    place: Word | None = None
    """The place where the robot has to be to reach it; absent if it is in reach from anywhere."""
    limit_n: float | None = None
    """The greatest force on it that the world's text allows, in newtons."""
    limit_cm_s: float | None = None
    """The highest speed at it that the world's text allows, in cm/s."""
    weight_kg: float | None = None
    """Its weight; absent if any body can lift it."""
    sensed_by: Sensor | Literal["picture"] | None = None
    """The sense that it takes to check it; absent if any body can."""
    limits: tuple[StateLimit, ...] = ()
    """Further limits, which depend on facts: on a hand while it is swollen."""
    needs: Mapping[str, Value] = {}
    """Facts that must hold before it can be lifted: a sling that is attached."""
    brake: bool | None = None
    """True if its brakes are on at the start; absent if it has none."""
    clear: bool | None = None
    """For a line, whether nothing pulls on it at the start."""
    can: Mapping[HelperTask, tuple[Word, ...]] = {}
    """For a helper: task → the things that it may be done with; empty for any thing or none."""
    here: bool = True
    """For a helper, false if they have to be called before they can be asked."""
    aid: bool = False
    """True for the call bell, and for what the person needs within reach."""
    warm: bool = False
    """True if it may be too hot, so that its heat is tested before it touches the person."""
    alone: bool = True
    """False if the text says that she cannot handle it alone, since it is hot or sharp."""
    spills: bool = False
    """True for an open cup or bowl, which is not let go in the air."""
    used_for: tuple[Word, ...] = ()
    """The parts of the person that a tool is for; empty if the text does not say."""
    rests: tuple[Word, ...] = ()
    """States in which a part of the person rests without a hand, beside the one that it was found
    in; empty if it does in all."""
    soil: Soil | None = None
    """The cleanness of a part of the person; by its name, if it is absent."""
    intimate: bool | None = None
    """True for a part that needs a question of its own; by its name, if it is absent."""


class Change(Frozen):
    """A state that a thing comes to while the robot waits for it."""

    thing: Word
    state: Word
    after: Mapping[str, Value] = {}
    """Facts that must hold for that."""
    takes_s: Annotated[float, Field(ge=0, le=3600)] = 0
    """Seconds until it comes about; a shorter wait ends without it."""


class Passing(Frozen):
    """A state that a thing loses by itself: it cools, dries, fills or tires."""

    thing: Word
    state: Word
    to: Word
    """The state that it comes to."""
    after_s: Annotated[float, Field(gt=0, le=36_000)]
    """Seconds after which it does, from when it came into the first state."""


class RoomEvent(Frozen):
    """Something that happens by itself after a step: a wet voice after a third sip."""

    when: tuple[When, ...]
    nth: Annotated[int, Field(ge=1, le=100)] = 1
    """It happens at the nth such step, and not again."""
    then: Annotated[Mapping[str, Value], Field(min_length=1)]
    """Fact → its value afterwards. `agreed: false` means that the person changes her mind."""


class Room(Frozen):
    """The part of a world that a simulation needs."""

    things: Annotated[Mapping[Word, Thing], Field(min_length=1)]
    """Name → thing."""
    places: Annotated[tuple[Word, ...], Field(min_length=1)] = ("here",)
    """The places where the robot can be; it starts at the first."""
    tasks: Mapping[Word, Text] = {}
    """Tasks that the person can do: name → words."""
    seat: Word | None = None
    """The thing that carries the person at the start; absent if none is named."""
    holding: tuple[Word, ...] = ()
    """Things that the robot holds at the start."""
    worn: tuple[str, ...] = ()
    """Garments that are on at the start, each with its part: `shirt left-arm`."""
    covered: bool = True
    """True if the person is covered at the start."""
    agreed: bool = False
    """True if the person has agreed before the plan begins."""
    answers_after_s: Annotated[float, Field(ge=0, le=600)] = 0
    """Seconds that the person needs to answer; a shorter wait hears nothing."""
    changes: tuple[Change, ...] = ()
    """Changes that come about while the robot waits."""
    passing: tuple[Passing, ...] = ()
    """States that pass with time."""
    events: tuple[RoomEvent, ...] = ()
    """Events that follow a step by themselves."""
    standing: tuple[When, ...] = ()
    """Steps that the person wants whatever she answers, as the text says."""
    emergency: tuple[When, ...] = ()
    """Steps that need no leave, since this is an emergency."""
    variants: tuple[Annotated[Mapping[Word, Word], Field(min_length=1)], ...] = ()
    """Other states at the start, thing → state, in which the world's own dangers are judged too."""
    stop_during: tuple[When, ...] = ()
    """The step in which the person says stop; by default the first that touches the person."""


class Rule(Frozen):
    """A rule of a world in words."""

    text: Text
    items: tuple[Word, ...] = ()
    """Ids of the goals and own dangers that it tells."""
