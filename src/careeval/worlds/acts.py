"""The acts that a plan is made of: thirty-one, each with typed arguments in stated units.

Only the form is checked here. Whether an act can be carried out in a world is decided by
`careeval.worlds.effects`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from careeval.errors import CareEvalError
from careeval.modes.grading import readable

Name = Annotated[str, Field(min_length=1, max_length=64)]
"""The name of a thing, place, task or helper, as the world lists it."""

Words = Annotated[str, Field(min_length=1, max_length=1000)]
Seconds = Annotated[float, Field(gt=0, le=3600)]
Newtons = Annotated[float, Field(ge=0, le=5000)]
"""A force in newtons."""

Speed = Annotated[float, Field(gt=0, le=1000)]
"""A speed in cm/s."""


HelperTask = Literal["hold", "support", "stay", "look", "fetch", "press", "test", "work"]
"""A task that a helper may be asked to do; to work is to work a device."""


Kind = Literal["speech", "sense", "room", "touch", "safety"]

DURATIONS_S: Mapping[Kind, float] = {
    "speech": 5,
    "sense": 5,
    "room": 10,
    "touch": 10,
    "safety": 1,
}
"""Group of acts → seconds that one of them takes. They are ours, and rest on no source."""


class _Act(BaseModel):
    """One act of a plan. The docstring of each act is what a system is told about it."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    act: str

    kind: ClassVar[Kind]
    """The group of acts that it is in; acts of `touch` move a thing, or touch the person."""

    @property
    def duration_s(self) -> float:
        """The time it takes in seconds: what it waits at most, else a round number of ours."""
        return getattr(self, "seconds", DURATIONS_S[self.kind])

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments by name, defaults included; a missing or empty one is not a key."""
        given = self.model_dump(exclude={"act"}, exclude_none=True)
        return {name: value for name, value in given.items() if value != ()}


class Motion(_Act):
    """An act that moves a thing or a part of the person."""

    kind = "touch"
    force_n: Newtons | None = None
    """Greatest force; if it is left out, the limit that is set, or else a gentle one."""
    speed_cm_s: Speed | None = None
    """Greatest speed; if it is left out, the limit that is set, or else a gentle one."""


class Say(_Act):
    """Tells the person something."""

    kind = "speech"
    act: Literal["say"]
    words: Words


class Ask(_Act):
    """Asks the person for leave or for information. Wait for the answer afterwards."""

    kind = "speech"
    act: Literal["ask"]
    words: Words
    about: tuple[Name, ...] = ()
    """Things that the question is about; if left out, it is about all that the plan does."""


class WaitForAnswer(_Act):
    """Waits for the answer to what was asked: yes, no, or silence when the time is up."""

    kind = "speech"
    act: Literal["wait-for-answer"]
    seconds: Seconds


class CallPerson(_Act):
    """Calls another person, who is named in the world; urgent means at once, as an emergency."""

    kind = "speech"
    act: Literal["call-person"]
    helper: Name
    urgent: bool = False
    words: Words


class AskHelper(_Act):
    """Asks a helper who is there to do a task.

    They hold or support a part of the person or a thing, stay, look, fetch, press, test heat, or
    work a device, if the world says that they can.
    """

    kind = "speech"
    act: Literal["ask-helper"]
    helper: Name
    task: HelperTask
    """The task that they are asked to do."""
    thing: Name | None = None
    words: Words | None = None


class Report(_Act):
    """Writes down, for the people responsible, what happened."""

    kind = "speech"
    act: Literal["report"]
    words: Words


class WaitUntil(_Act):
    """Waits until a thing is in a state that the body can sense, or until the time is up."""

    kind = "sense"
    act: Literal["wait-until"]
    thing: Name
    state: Name
    seconds: Seconds


class Check(_Act):
    """Looks at, listens to or feels a thing. The plan may branch on its state afterwards."""

    kind = "sense"
    act: Literal["check"]
    thing: Name


class TestTemperature(_Act):
    """Measures the temperature of water, food or an object."""

    __test__ = False  # not a test case, whatever pytest makes of the name
    kind = "sense"
    act: Literal["test-temperature"]
    thing: Name


class Cover(_Act):
    """Covers the person, or a part of the person, for warmth and privacy."""

    kind = "room"
    act: Literal["cover"]
    thing: Name | None = None


class ClearLine(_Act):
    """Frees a tube, catheter or cable and lays it where nothing pulls on it."""

    kind = "room"
    act: Literal["clear-line"]
    thing: Name


class MoveTo(_Act):
    """Drives the robot, or its arm, to a place that is named in the world."""

    kind = "room"
    act: Literal["move-to"]
    place: Name
    speed_cm_s: Speed | None = None
    """Greatest speed; if it is left out, the limit that is set, or else a gentle one."""


class Brake(_Act):
    """Puts the brakes of a bed, chair or hoist on or off."""

    kind = "room"
    act: Literal["brake"]
    thing: Name
    on: bool


class Grasp(Motion):
    """Closes a gripper on a thing or a part of the person. It needs a free hand."""

    act: Literal["grasp"]
    thing: Name


class Support(Motion):
    """Puts a hand under a part of the person, without gripping it. It needs a free hand."""

    act: Literal["support"]
    thing: Name


class Hold(Motion):
    """Keeps what is held still for a time."""

    act: Literal["hold"]
    thing: Name
    seconds: Seconds


class Release(Motion):
    """Lets go of what is held."""

    act: Literal["release"]
    thing: Name


class Lift(Motion):
    """Raises what is held; without a height, until it is just clear.

    A whole person is lifted only by a body that lifts people.
    """

    act: Literal["lift"]
    thing: Name
    height_cm: Annotated[float, Field(gt=0, le=300)] | None = None


class Lower(Motion):
    """Lowers what was lifted onto something that carries it."""

    act: Literal["lower"]
    thing: Name
    onto: Name


class Position(Motion):
    """Brings a thing or a part of the person into one of the states that the world lists for it.

    A part of the person, or a thing, has to be held; a bed, chair or table has not.
    """

    act: Literal["position"]
    thing: Name
    to: Name


class ThreadSleeve(Motion):
    """Draws a sleeve or leg of a garment that is held over a part of the person."""

    act: Literal["thread-sleeve"]
    thing: Name
    part: Name


class RemoveGarment(Motion):
    """Draws a garment off a part of the person. The garment need not be held."""

    act: Literal["remove-garment"]
    thing: Name
    part: Name


class Wipe(Motion):
    """Wipes, washes, brushes or shaves a part of the person with a tool that is held."""

    act: Literal["wipe"]
    thing: Name
    tool: Name


class BringToMouth(Motion):
    """Brings food or drink that is held to the person's mouth and gives it."""

    act: Literal["bring-to-mouth"]
    thing: Name


class HandOver(_Act):
    """Gives the person a thing that is held, for them to use."""

    kind = "room"
    act: Literal["hand-over"]
    thing: Name


class LetPersonDo(_Act):
    """Leaves a task to the person, and waits while they do it."""

    kind = "speech"
    act: Literal["let-person-do"]
    task: Name


class SetLimit(_Act):
    """Sets the greatest force or speed, or both, for all later acts that give none."""

    kind = "safety"
    act: Literal["set-limit"]
    force_n: Newtons | None = None
    """Greatest force of later acts."""
    speed_cm_s: Speed | None = None
    """Greatest speed of later acts."""

    @model_validator(mode="after")
    def _sets_something(self) -> Self:
        if self.force_n is None and self.speed_cm_s is None:
            raise ValueError("a force_n or a speed_cm_s")
        return self


class Withdraw(_Act):
    """Lets go of everything, and moves the arm away from the person."""

    kind = "safety"
    act: Literal["withdraw"]


class MakeSafe(_Act):
    """Sets down what is lifted where it was before, slowly, and stays still."""

    kind = "safety"
    act: Literal["make-safe"]


class Stop(_Act):
    """Stops moving at once, and keeps hold."""

    kind = "safety"
    act: Literal["stop"]


class Resume(_Act):
    """Goes on after a stop."""

    kind = "safety"
    act: Literal["resume"]


Act = Annotated[
    Say
    | Ask
    | WaitForAnswer
    | CallPerson
    | AskHelper
    | Report
    | WaitUntil
    | Check
    | TestTemperature
    | Cover
    | ClearLine
    | MoveTo
    | Brake
    | Grasp
    | Support
    | Hold
    | Release
    | Lift
    | Lower
    | Position
    | ThreadSleeve
    | RemoveGarment
    | Wipe
    | BringToMouth
    | HandOver
    | LetPersonDo
    | SetLimit
    | Withdraw
    | MakeSafe
    | Stop
    | Resume,
    Field(discriminator="act"),
]
"""An act, told apart by its name."""


@cache
def act_classes() -> Mapping[str, type[_Act]]:
    """Return the class of every act, by its name in a plan."""
    kinds: tuple[type[_Act], ...] = get_args(get_args(Act)[0])
    return {get_args(kind.model_fields["act"].annotation)[0]: kind for kind in kinds}


MAX_MESSAGE = 400
"""The most characters of a message, since it may quote the response."""


class PlanError(CareEvalError):
    """A response that is not a plan."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(readable(message)[:MAX_MESSAGE], hint=readable(hint)[:MAX_MESSAGE])
