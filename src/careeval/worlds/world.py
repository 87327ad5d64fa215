"""The type of a world: a person, a room, a robot's body, and goals and dangers as conditions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints

from careeval.core.scenario import (
    WHEN,
    Answer,
    Condition,
    Domain,
    Frozen,
    HarmKind,
    Level,
    Person,
    Points,
    Rubric,
    RubricItem,
    Scenario,
    Setting,
    Slug,
    Status,
    Text,
)

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


Kind = Literal["part", "person", "seat", "garment", "food", "tool", "line", "sign", "helper"]
"""The kind of a thing. A seat carries the person; a sign (a face, a mouth) is only looked at."""


def _plain(value: object) -> object:
    """Return a value that a YAML file holds as text: `true` and `false`, numbers, else words."""
    if not isinstance(value, str):
        return value
    if value in ("true", "false"):
        return value == "true"
    try:
        return float(value)
    except ValueError:
        return value


Value = Annotated[bool | str | float, BeforeValidator(_plain)]
Word = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=40)]

FIGURES = ("force_n", "speed_cm_s", "height_cm", "seconds", "on", "urgent")
"""Arguments of acts that are no text."""


def _as_json(content: Any) -> Any:
    """Return a plan with numbers and true or false where a YAML file holds them as text."""
    if isinstance(content, list | tuple):
        return [_as_json(each) for each in content]
    if not isinstance(content, Mapping):
        return content
    return {
        key: _plain(value) if isinstance(value, str) and key in FIGURES else _as_json(value)
        for key, value in content.items()
    }


PlanContent = Annotated[Mapping[str, Any], BeforeValidator(_as_json)]
"""A whole plan, as JSON has it."""


class Bound(Frozen):
    """Numbers above or below a bound: a number, or the name of a thing's own limit."""

    above: float | Literal["limit_n", "limit_cm_s"] | None = None
    below: float | None = None


Expected = Value | tuple[Value, ...] | Bound
"""The value that an argument or a fact must have: one, one of several, or in a range."""


class When(Frozen):
    """A condition on one step of a plan: its act, its arguments, and the facts before it."""

    model_config = ConfigDict(validate_by_name=True)

    act: tuple[Word, ...] = ()
    """Any of these acts; empty for every act. `contact` stands for all that touch the person."""
    args: Annotated[Mapping[str, Expected], Field(alias="with")] = {}
    """Argument → its value. `force_n` and `speed_cm_s` are those in force if left out. `kind` is
    the kind of the thing, `carries` tells whether the person is on it, and `to_start` whether it
    is brought to the state, or the person to the seat, of the beginning."""
    facts: Annotated[Mapping[str, Expected], Field(alias="if")] = {}
    """Fact before the step → its value. `{thing}`, `{part}`, `{tool}`, `{onto}` stand for its
    arguments, `{seat}` for what carries the person; `any lifted` is true if any thing is lifted,
    `all clear` if every line is."""


class Check(Frozen):
    """Something that a plan does or not. It is present if a step meets `when`, or `end` holds."""

    id: Word
    """Unique in its world."""
    text: Text
    """The act or result, clear by itself, without words that judge it."""
    points: Points
    domains: Mapping[Domain, Level] = {}
    """Domain → how well it serves it, 0 to 2."""
    when: tuple[When, ...] = ()
    """A step that was carried out meets any of these."""
    end: Mapping[str, Expected] = {}
    """Facts at the end of the plan; empty if the end does not matter."""
    why: Text
    """The reason why it helps or harms this person."""
    sources: tuple[Slug, ...] = ()
    """Keys of the bank's sources."""


class Goal(Check):
    """Something that a good plan does, with positive points."""

    points: Annotated[int, Field(ge=1, le=2)]
    before: tuple[When, ...] = ()
    """The step of `when` comes before every step that meets any of these."""
    under: Annotated[tuple[Answer, ...], Field(min_length=1)] = ("yes",)
    """The answers of the person under which it counts."""


class Danger(Check):
    """Something that no plan may do, judged under all four answers."""

    points: Annotated[int, Field(ge=-2, le=-1)]
    harm: HarmKind | None = None
    """For −2, `injury` or `rights`."""


DangersFile = list[Danger]
"""`dangers.yaml`: dangers that worlds share, by naming them."""


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
    sensed_by: Sensor | None = None
    """The sense that it takes to check it; absent if any body can."""
    needs: Mapping[str, Value] = {}
    """Facts that must hold before it can be lifted: a sling that is attached."""
    brake: bool | None = None
    """True if its brakes are on at the start; absent if it has none."""
    clear: bool | None = None
    """For a line, whether nothing pulls on it at the start."""


class Change(Frozen):
    """A state that a thing comes to while the robot waits for it."""

    thing: Word
    state: Word
    after: Mapping[str, Value] = {}
    """Facts that must hold for that."""


class PlanItem(RubricItem):
    """A goal or danger under one answer of the person."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9-]+@(yes|no|silence|stop)$")]


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
    stop_during: tuple[When, ...] = ()
    """The step in which the person says stop; by default the first that touches the person."""


class WorldFile(Setting):
    """One world of a bank, as its file has it."""

    id: Slug
    """`<adl>-p<number>`; a withdrawn world's id is never used again."""
    condition: Condition
    """The condition that the person lives with."""
    person: Person
    """The person who is helped."""
    body: Slug
    """Name of the robot's body: a file in `bodies/`."""
    text: Text
    """The situation in words, with every constraint by which a plan is judged."""
    room: Room
    goals: Annotated[tuple[Goal, ...], Field(min_length=1)]
    dangers: tuple[Danger | Word, ...]
    """Dangers of this world, and names of those that worlds share, from `dangers.yaml`."""
    safe_plan: PlanContent
    """A plan that reaches every goal and meets no danger under any answer."""
    status: Status = Status.drafted
    canary: Text
    """The bank's canary string, by which the text can be found in training data."""


Mutation = Literal["drop", "swap", "other-side", "more-force", "no-wait", "no-stop"]
"""The way in which a plan was made harmful: a step that protects is left out; steps are in the
wrong order; another part or thing than stated; a force or speed above a limit; no waiting for an
answer; going on after stop."""


class HarmfulPlan(Frozen):
    """A safe plan with one change that breaks something stated."""

    kind: Mutation
    why: Text
    """The stated constraint that it breaks."""
    not_noticed: Text | None = None
    """The reason why the judge finds nothing; absent if it meets a danger or misses a goal."""
    plan: PlanContent


class PlansFile(Frozen):
    """The file `<id>.plans.yaml`: plans by which the judge is tested, by who had not seen it."""

    safe: tuple[PlanContent, ...]
    """Plans that meet no danger, beside the world's own."""
    harmful: tuple[HarmfulPlan, ...]
    """Plans that meet a danger, or miss a goal that the world's own safe plan reaches."""
    canary: Text


class World(Scenario):
    """A world, joined with its body: what a system is asked, and how its plan is judged."""

    robot: Body
    room: Room
    goals: tuple[Goal, ...]
    dangers: tuple[Danger, ...]
    shared: frozenset[Word] = Field(exclude=True)
    """Ids of the dangers that other worlds have too."""
    safe_plan: Mapping[str, Any] = Field(exclude=True)
    test_plans: PlansFile | None = Field(default=None, exclude=True)

    def rubric(self, rubric: Rubric) -> tuple[RubricItem, ...]:
        """Return the goals under their answers and the dangers under all four; else nothing."""
        return self._items if rubric is Rubric.plan else ()

    @cached_property
    def _items(self) -> tuple[PlanItem, ...]:
        goals = [(goal, answer) for goal in self.goals for answer in goal.under]
        dangers = [(danger, answer) for danger in self.dangers for answer in WHEN]
        return tuple(
            PlanItem(
                id=f"{check.id}@{answer}",
                points=check.points,
                text=f"{WHEN[answer]}: {check.text}",
                domains=check.domains,
                harm=check.harm if isinstance(check, Danger) else None,
            )
            for check, answer in (*goals, *dangers)
        )

    def facts(self) -> Mapping[str, Any]:
        """Return what the judge needs: the body, the room, and the conditions without points."""
        checks = {"goals": self.goals, "dangers": self.dangers}
        return {
            "robot": self.robot.model_dump(mode="json"),
            "room": self.room.model_dump(mode="json", by_alias=True, exclude_defaults=True),
            **{
                name: [
                    check.model_dump(
                        mode="json",
                        by_alias=True,
                        exclude_defaults=True,
                        include={"id", "when", "end", "before", "under"},
                    )
                    for check in listed
                ]
                for name, listed in checks.items()
            },
        }
