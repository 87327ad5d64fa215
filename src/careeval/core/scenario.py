"""A scenario: a person, a place, a question, and two rubrics for the answer.

The types are the bank's format: a scenario's file is exactly a `Scenario`, and the JSON Schema that
editors use is made from it. They check the form only; the rules of `careeval.bank` check content.

"The paper" is CareEval (Liu, Dimitropoulou, Cheung, Bhattacharjee; HRI Companion '26).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from html import escape
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from careeval.core.picture import Picture
from careeval.core.text import signed

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""Words for people to read: never empty, without space around them."""

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
"""A name in ids, file names and addresses: lower case, digits, single hyphens."""

ItemId = Annotated[
    str, StringConstraints(pattern=r"^([a-z0-9]+(-[a-z0-9]+)*|[+-]?[0-9]+)$", max_length=64)
]
"""The name of a rubric item: a slug for an action, signed points (`+2`, `0`, `-1`) for a rung."""

Points = Annotated[int, Field(ge=-2, le=2)]
Level = Annotated[int, Field(ge=0, le=2)]
"""Degree to which an act serves a domain: 0 not, 1 in part, 2 fully."""


class Adl(StrEnum):
    """The six basic activities of daily living, in the order of the CareEval paper."""

    dressing = "dressing"
    grooming = "grooming"
    toileting = "toileting"
    transferring = "transferring"
    eating = "eating"
    bathing = "bathing"


class Domain(StrEnum):
    """The CareEval paper's four domains of caregiving competence.

    The paper's worked example calls functional safety "Risk Awareness". Only `careeval bank import`
    accepts that name.
    """

    user_function = "user_function"
    user_agency = "user_agency"
    communication_intent = "communication_intent"
    functional_safety = "functional_safety"


class Condition(StrEnum):
    """The condition that the person lives with."""

    stroke = "stroke"
    cervical_sci = "cervical-sci"
    ms = "ms"
    als = "als"
    cerebral_palsy = "cerebral-palsy"
    parkinsons = "parkinsons"
    hip_replacement = "hip-replacement"
    rheumatoid_arthritis = "rheumatoid-arthritis"
    dementia = "dementia"
    thoracic_sci = "thoracic-sci"
    amputation = "amputation"
    ventilator = "ventilator"
    tbi = "tbi"


class Assistance(StrEnum):
    """The usual level of assistance, as a Section GG code.

    Source: Centers for Medicare & Medicaid Services, Section GG (self-care and mobility).
    """

    independent = "06"
    setup = "05"
    supervision = "04"
    partial = "03"
    substantial = "02"
    dependent = "01"


class Situation(StrEnum):
    """A difficulty of the moment. The first difficulty of a scenario is the primary one."""

    routine = "routine"
    discomfort = "discomfort"
    frustration = "frustration"
    dignity = "dignity"
    refusal = "refusal"
    emergency = "emergency"
    hazard = "hazard"
    communication = "communication"
    family = "family"


class Split(StrEnum):
    """The split of a scenario: public, or held out and sealed."""

    public = "public"
    held_out = "held-out"


class Status(StrEnum):
    """The vetting of a scenario's content so far. Only ratings by experts make it `validated`."""

    drafted = "drafted"
    reviewed = "reviewed"
    validated = "validated"
    withdrawn = "withdrawn"


class Rubric(StrEnum):
    """A kind of rubric: the CareEval paper's ladder of whole answers, single acts, or a plan.

    `plan` has the goals and dangers of a world, each under one answer of the person.
    """

    ladder = "ladder"
    actions = "actions"
    plan = "plan"


READ_RUBRICS = (Rubric.ladder, Rubric.actions)
"""The rubrics whose items are read in a response, so that people can rate and label them."""

Answer = Literal["yes", "no", "silence", "stop"]
"""The person's answer in a world: agrees, refuses, is silent, or agrees and then says stop."""

WHEN: Mapping[Answer, str] = {
    "yes": "The person agrees",
    "no": "The person refuses",
    "silence": "The person does not answer",
    "stop": "The person agrees, then says stop",
}
"""Each answer in words."""


class HarmKind(StrEnum):
    """The harm of a severe error: an `injury`, or a violation of the person's `rights`.

    Delayed help counts as `injury`; overriding a refusal or a stop that holds now, as `rights`.
    """

    injury = "injury"
    rights = "rights"


class ItemKind(StrEnum):
    """The skill that an act needs: hands-on `technique`, or `judgment` of what to do."""

    technique = "technique"
    judgment = "judgment"


class Origin(StrEnum):
    """The origin of an act: a `source`, a `pilot` answer, or the `twin` that needs it."""

    source = "source"
    pilot = "pilot"
    twin = "twin"


class CareError(StrEnum):
    """The direction of an error: `too-little` or `too-much` care."""

    too_little = "too-little"
    too_much = "too-much"


class Group(StrEnum):
    """The way a scenario was written: from sources alone (`S`), or informed by a pilot (`P`)."""

    sources = "S"
    pilot = "P"


class Control(StrEnum):
    """A change that leaves the right act the same: of the wording, or of an irrelevant fact."""

    paraphrase = "paraphrase"
    irrelevant = "irrelevant"


class Frozen(BaseModel):
    """An immutable value that refuses undeclared fields."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        defer_build=True,  # most commands only need the names of this module
    )


UNSET: dict[str, Any] = {"exclude_if": lambda value: not value}
"""For a field added later: it is not dumped if unset, so that older content keeps its hash."""


class Person(Frozen):
    """The person who is helped."""

    age: Annotated[int, Field(ge=18, le=110)]
    """Years."""
    pronoun: Literal["she", "he", "they"]
    """The pronoun that the text uses for the person."""


class RubricItem(Frozen):
    """One line of a rubric: something that a response may contain, and its points.

    The grader never sees this type. It is shown `careeval.core.response.GraderItem`, which has no
    points, sign or domains.
    """

    id: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    """Unique within its rubric."""
    points: Points
    """+2 best practice … −2 unsafe."""
    text: Text
    """The act or answer to look for, clear by itself, without words that judge it."""
    domains: Mapping[Domain, Level]
    """Domain → how well the item serves it, 0 to 2. Unrelated domains are left out, not rated 0."""
    harm: Annotated[HarmKind | None, Field(**UNSET)] = None
    """For an item of −2, `injury` or `rights`; absent if the bank does not say."""


class Action(RubricItem):
    """One act of a good or a bad carer, judged alone."""

    id: ItemId
    """Unique within its rubric."""
    why: Text
    """The reason why it helps or harms this person."""
    sources: tuple[Slug, ...]
    """Keys of the bank's sources."""
    excludes: tuple[ItemId, ...] = ()
    """Ids of actions that cannot be in one answer together with this one."""
    kind: Annotated[ItemKind | None, Field(**UNSET)] = None
    """`technique` or `judgment`; absent if the bank does not say."""
    origin: Annotated[Origin | None, Field(**UNSET)] = None
    """`source`, `pilot` or `twin`; absent if the bank does not say."""
    core: Annotated[bool, Field(**UNSET)] = False
    """True if it belongs to the easy core, such as stop on pain, consent, the emergency call."""
    error: Annotated[CareError | None, Field(**UNSET)] = None
    """For negative points, `too-little` or `too-much`; absent if the bank does not say."""
    sentinel: Annotated[bool, Field(**UNSET)] = False
    """True if it is a never-event, which is kept although strong systems never do it."""


class Rung(RubricItem):
    """One graded whole answer of the ladder."""

    id: ItemId = ""
    """By default its signed points (`+2` … `0` … `-2`)."""
    of: tuple[ItemId, ...] = ()
    """The actions that it consists of; empty if no set of actions makes it."""

    @model_validator(mode="before")
    @classmethod
    def _id_from_points(cls, data: object) -> object:
        if not isinstance(data, Mapping) or "id" in data:
            return data
        try:
            points = int(data["points"])
        except (KeyError, TypeError, ValueError):
            points = 0  # any id will do: the points are reported as the problem
        return {**data, "id": f"{points:+d}" if points else "0"}


class Setting(Frozen):
    """The fields that name a scenario and describe its situation, in a bank of any mode."""

    id: Slug
    """`<adl>-<number>`; a withdrawn scenario's id is never used again."""
    version: Annotated[int, Field(ge=1)] = 1
    """Raised with any change that can change a score."""
    split: Split = Split.public
    """`public`, or `held-out`; a held-out scenario belongs only in the sealed split."""
    adl: Adl
    """The activity that the question is about."""
    part: Literal["upper-body", "lower-body"] | None = None
    """The part of the body; only a scenario of dressing has one."""
    condition: Condition | None = None
    """The condition that the person lives with."""
    assistance: Assistance | None = None
    """Usual level, a Section GG code in quotes. If today's level differs, the text shows it."""
    situation: tuple[Situation, ...] = ()
    """The difficulties of the moment, the primary one first."""
    person: Person | None = None
    """The person who is helped."""


class Scenario(Setting):
    """One situation, its question and its rubrics: one file of the bank.

    The fields that describe the situation are optional for banks by other authors; a rule of our
    own banks requires all of them.
    """

    actor: Literal["person", "robot"] | None = None
    """The kind of "you": a person or a robot. A robot's text states its body and how to stop it."""
    role: Text | None = None
    """The role of "you"."""
    helpers: Text | None = None
    """Other people present, and their training; `none` if nobody."""
    text: Text
    """The situation, spoken to the caregiver, ending with the question."""
    actions: tuple[Action, ...] = ()
    """Our finer rubric; may be empty in an imported bank."""
    ladder: tuple[Rung, ...] = ()
    """The paper's rubric; may be empty in an imported bank."""
    status: Status = Status.drafted
    """Vetting so far; the entry of this text in `evidence.json` takes precedence."""
    canary: Text | None = None
    """The bank's canary string, by which the text can be found in training data."""
    group: Annotated[Group | None, Field(**UNSET)] = None
    """`S` or `P`; absent if the bank has no groups. A twin has the group of its base."""
    twin_of: Annotated[Slug | None, Field(**UNSET)] = None
    """For a twin, the id of its base; absent for a base."""
    control: Annotated[Control | None, Field(**UNSET)] = None
    """For a twin with the same right act as its base, the kind of change."""

    @property
    def family(self) -> str:
        """Id of the base; for a base, its own id. Scores within a family vary together."""
        return self.twin_of or self.id

    def rubric(self, rubric: Rubric) -> tuple[RubricItem, ...]:
        """Return the items of one rubric, in the file's order; empty if the scenario has none."""
        match rubric:
            case Rubric.ladder:
                return self.ladder
            case Rubric.actions:
                return self.actions
            case Rubric.plan:
                return ()

    def _repr_html_(self) -> str:
        text = "".join(f"<p>{escape(each)}</p>" for each in self.text.split("\n\n"))
        items = "".join(
            f"<tr><th>{rubric}</th><td>{signed(item.points)}</td><td>{escape(item.text)}</td></tr>"
            for rubric in Rubric
            for item in self.rubric(rubric)
        )
        return f"<h3>{self.id}</h3>{text}<table>{items}</table>"

    def facts(self) -> Mapping[str, Any]:
        """Return the facts that a program that judges responses gets, as JSON, without points.

        None here: a mode's own class of scenarios may have some.
        """
        return {}

    @property
    def coverage_fields(self) -> Mapping[str, tuple[str, ...]]:
        """Return further fields by which a bank counts its scenarios: name → values.

        Each scenario of a bank has the same names.
        """
        return {}

    @property
    def picture(self) -> Picture | None:
        """Return the picture that a system is shown with `text`; None if it sees none."""
        return None

    @property
    def untold(self) -> str:
        """Return the rules of the situation that `text` leaves out; empty if it leaves out none."""
        return ""


class Probe(Frozen):
    """An answer with a label for every action, given to the grader and never to a system.

    The bank's authors wrote most of the texts and labels. Those of the trap `disputed` are answers
    that AI gave in the bank's pilot, labelled by their readers. None is a system's result or data
    from a human expert.
    """

    id: Slug
    """Unique within its scenario."""
    trap: Slug
    """The difficulty for a grader: `wrong-side`, `expert`, `generic`, `disputed` …"""
    text: Text
    """The answer."""
    labels: Mapping[ItemId, bool]
    """Id of each action and rung → whether the answer contains it."""


class Source(Frozen):
    """A document that clinical content rests on."""

    organisation: Text
    """The publisher."""
    document: Text
    """The title."""
    year: int | None = None
    """Year of publication; absent if not known."""
    tier: Literal["A", "B", "C"]
    """A: guideline, regulator, standard. B: hospital, charity, peer-reviewed paper, textbook.
    C: any other."""
    url: str | None = None
    """A canonical address or DOI, only if it is certain; never a mirror."""
