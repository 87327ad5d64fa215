"""What a scenario is: a person, a place, a question, and two rubrics over the answer.

The types are the bank's format: a scenario file is exactly a `Scenario`, and the JSON Schema that
editors use is made from it. They decide shape alone. Whether the content is good (points that add
up, nested rungs, known sources) is for the rules of `careeval.bank`, since a bank that somebody
else wrote is held to the shape only.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from html import escape
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from careeval.core.text import signed

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""Words that somebody reads: never empty, no space around them."""

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
"""A name in ids, file names and addresses: lower case, digits, single hyphens."""

ItemId = Annotated[
    str, StringConstraints(pattern=r"^([a-z0-9]+(-[a-z0-9]+)*|[+-]?[0-9]+)$", max_length=64)
]
"""The name of a rubric item: a slug for an action, signed points (`+2`, `0`, `-1`) for a rung."""

Points = Annotated[int, Field(ge=-2, le=2)]
Level = Annotated[int, Field(ge=0, le=2)]
"""How well an act serves a domain: 0 not, 1 in part, 2 fully."""


class Adl(StrEnum):
    """The six basic activities of daily living, in the paper's order."""

    dressing = "dressing"
    grooming = "grooming"
    toileting = "toileting"
    transferring = "transferring"
    eating = "eating"
    bathing = "bathing"


class Domain(StrEnum):
    """The paper's four domains of caregiving competence.

    Its worked example prints "Risk Awareness" for the last one; that is an alias read on import,
    not a name here.
    """

    user_function = "user_function"
    user_agency = "user_agency"
    communication_intent = "communication_intent"
    functional_safety = "functional_safety"


class Condition(StrEnum):
    """What the person lives with."""

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
    """What makes the moment hard. A scenario's first is its primary one."""

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
    """Public text, or held out and sealed."""

    public = "public"
    held_out = "held-out"


class Status(StrEnum):
    """How far a scenario's content has been vetted. Only real expert ratings make `validated`."""

    drafted = "drafted"
    reviewed = "reviewed"
    validated = "validated"
    withdrawn = "withdrawn"


class Rubric(StrEnum):
    """A kind of rubric: the graded whole answers that the paper prints, or single acts."""

    ladder = "ladder"
    actions = "actions"


class HarmKind(StrEnum):
    """What a severe error does: `injury`, also by delaying help, or against the person's `rights`.

    Against rights is to override a refusal or a stop that holds now.
    """

    injury = "injury"
    rights = "rights"


class ItemKind(StrEnum):
    """What an act rests on: hands-on `technique`, or a `judgment` of what to do."""

    technique = "technique"
    judgment = "judgment"


class Origin(StrEnum):
    """Where an act comes from: a `source`, a `pilot` answer that held it, or a need of a `twin`."""

    source = "source"
    pilot = "pilot"
    twin = "twin"


class CareError(StrEnum):
    """Which way an act goes wrong: `too-little` care, or `too-much`."""

    too_little = "too-little"
    too_much = "too-much"


class Group(StrEnum):
    """How a scenario was written: from sources alone (`S`), or informed by a pilot (`P`)."""

    sources = "S"
    pilot = "P"


class Control(StrEnum):
    """What a twin changes that changes no right act: the wording, or a fact without weight."""

    paraphrase = "paraphrase"
    irrelevant = "irrelevant"


class Frozen(BaseModel):
    """A value: unchangeable, and with no field that is not declared."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        defer_build=True,  # most commands want the names in this module alone
    )


UNSET: dict[str, Any] = {"exclude_if": lambda value: not value}
"""For a field that came later: unset it is in no dump, so that older content keeps its hash."""


class Person(Frozen):
    """Who is helped."""

    age: Annotated[int, Field(ge=18, le=110)]
    """Years."""
    pronoun: Literal["she", "he", "they"]
    """The pronoun that the text uses."""


class RubricItem(Frozen):
    """One line of a rubric: what a response may contain, and what that is worth.

    The grader never sees this type: it is shown `careeval.core.judgment.GraderItem`, which has no
    points, no sign and no domains to leak.
    """

    id: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    """Unique within its rubric."""
    points: Points
    """+2 best practice … −2 unsafe."""
    text: Text
    """What is looked for, readable alone, with no word of verdict in it."""
    domains: Mapping[Domain, Level]
    """How the act treats a domain, 0 to 2; a domain it is not about is absent, which is not 0."""
    harm: Annotated[HarmKind | None, Field(**UNSET)] = None
    """Of an item of −2: `injury`, or `rights`; absent where the bank does not say."""


class Action(RubricItem):
    """One act that a good or a bad carer does, judged alone."""

    id: ItemId
    """Unique within its rubric."""
    why: Text
    """Why it helps or harms this person."""
    sources: tuple[Slug, ...]
    """Keys of the bank's sources."""
    excludes: tuple[ItemId, ...] = ()
    """Actions that cannot be true of the same answer."""
    kind: Annotated[ItemKind | None, Field(**UNSET)] = None
    """`technique` or `judgment`; absent where the bank does not say."""
    origin: Annotated[Origin | None, Field(**UNSET)] = None
    """`source`, `pilot` or `twin`; absent where the bank does not say."""
    core: Annotated[bool, Field(**UNSET)] = False
    """Whether it belongs to the easy core: stop on pain, consent, the emergency call."""
    error: Annotated[CareError | None, Field(**UNSET)] = None
    """Of negative points: `too-little` or `too-much`; absent where the bank does not say."""
    sentinel: Annotated[bool, Field(**UNSET)] = False
    """Whether it is a never-event, kept although strong systems do not commit it."""


class Rung(RubricItem):
    """One graded whole answer of the ladder."""

    id: ItemId = ""
    """Its signed points (`+2` … `0` … `-2`) unless the file states another."""
    of: tuple[ItemId, ...] = ()
    """The actions it is made of; empty where no set of them makes it."""

    @model_validator(mode="before")
    @classmethod
    def _id_from_points(cls, data: object) -> object:
        if not isinstance(data, Mapping) or "id" in data:
            return data
        try:
            points = int(data["points"])
        except (KeyError, TypeError, ValueError):
            points = 0  # any id will do: the problem that is shown is that of the points
        return {**data, "id": f"{points:+d}" if points else "0"}


class Evidence(Frozen):
    """What the raters of a study found of one version: counts, so that anybody can do the sum."""

    study: Text
    """The study's title."""
    round: Annotated[int, Field(ge=1)]
    """Of the study."""
    version: Annotated[int, Field(ge=1)]
    """Of the scenario, as it was rated."""
    raters: Mapping[Slug, Annotated[int, Field(ge=1)]]
    """How many rated both scales, by role."""
    realism: Annotated[str, Field(pattern=r"^\d+/\d+$")]
    """How many of how many rated it 4 or 5."""
    validity: Annotated[str, Field(pattern=r"^\d+/\d+$")]
    """The same for clinical validity."""
    objections: Annotated[int, Field(ge=0)] | None = None
    """To items of -2 points; null where too few were asked and said, of each."""
    rejected: tuple[Text, ...] | None = None
    """Items that raters reject, as rubric/id; null where too few rated the items' relevance."""
    study_id: Slug | None = None
    """Which study, since titles are shared; absent where it was written before studies had one."""


class Scenario(Frozen):
    """One situation, its question and its rubrics: one file of the bank.

    What describes the situation may be unknown in a bank that somebody else wrote; a rule of our
    own bank asks for all of it.
    """

    id: Slug
    """`<adl>-<number>`; never used again once withdrawn."""
    version: Annotated[int, Field(ge=1)] = 1
    """Rises with any change that can move a score."""
    split: Split = Split.public
    """`public`, or `held-out` until it is sealed."""
    adl: Adl
    """The activity that the question is about."""
    part: Literal["upper-body", "lower-body"] | None = None
    """For dressing alone."""
    condition: Condition | None = None
    """What the person lives with."""
    assistance: Assistance | None = None
    """Usual level, Section GG code in quotes; today's may differ, and the text then shows it."""
    situation: tuple[Situation, ...] = ()
    """What makes the moment hard, the primary one first."""
    person: Person | None = None
    """Who is helped."""
    actor: Literal["person", "robot"] | None = None
    """Who "you" are made of. A robot's text states its body and how it is stopped."""
    role: Text | None = None
    """Who "you" are."""
    helpers: Text | None = None
    """Who else is there, and trained in what; `none` if nobody."""
    text: Text
    """The situation, spoken to the caregiver, ending with the question."""
    actions: tuple[Action, ...] = ()
    """Our finer rubric; may be empty in an imported bank."""
    ladder: tuple[Rung, ...] = ()
    """The paper's rubric; may be empty in an imported bank."""
    status: Status = Status.drafted
    """How far the content has been vetted; what `evidence.json` says of this text comes first."""
    evidence: tuple[Evidence, ...] = ()
    """What `status` rests on. `careeval study apply` once wrote it here, now in `evidence.json`."""
    canary: Text | None = None
    """The bank's canary string, so that training data can be searched for it."""
    group: Annotated[Group | None, Field(**UNSET)] = None
    """`S` or `P`; absent where the bank was not written so. A twin has its base's."""
    twin_of: Annotated[Slug | None, Field(**UNSET)] = None
    """The id of its base, of a twin; absent for a base."""
    control: Annotated[Control | None, Field(**UNSET)] = None
    """Of a twin that changes no right act: what it changes."""

    @property
    def family(self) -> str:
        """The id of its base, its own for a base: scenarios of one family vary together."""
        return self.twin_of or self.id

    def rubric(self, rubric: Rubric) -> tuple[RubricItem, ...]:
        """The items of one rubric, in the file's order; empty where the scenario has none."""
        match rubric:
            case Rubric.ladder:
                return self.ladder
            case Rubric.actions:
                return self.actions

    def _repr_html_(self) -> str:
        text = "".join(f"<p>{escape(each)}</p>" for each in self.text.split("\n\n"))
        items = "".join(
            f"<tr><th>{rubric}</th><td>{signed(item.points)}</td><td>{escape(item.text)}</td></tr>"
            for rubric in Rubric
            for item in self.rubric(rubric)
        )
        return f"<h3>{self.id}</h3>{text}<table>{items}</table>"

    def facts(self) -> Mapping[str, Any]:
        """What a program that judges knows of the scenario, as JSON: nothing.

        A mode's own class of scenarios may say more; points are not among it.
        """
        return {}


class Probe(Frozen):
    """An answer whose every action is labelled: put to the grader, never to a system.

    Most are written, text and labels, by the bank's authors. Those of the trap `disputed` are
    answers that AI gave in the bank's pilot, labelled by their readers. None is a system's result
    or data from a human expert.
    """

    id: Slug
    """Unique within its scenario."""
    trap: Slug
    """The difficulty for a grader: `wrong-side`, `expert`, `generic`, `disputed` …"""
    text: Text
    """The answer."""
    labels: Mapping[ItemId, bool]
    """For every action, and every rung of the ladder, whether the answer contains it."""


class Source(Frozen):
    """A document that clinical content rests on."""

    organisation: Text
    """Who published it."""
    document: Text
    """Its title."""
    year: int | None = None
    """Year of publication; absent where it is not known."""
    tier: Literal["A", "B", "C"]
    """A: guideline, regulator, standard. B: hospital, charity, peer-reviewed paper, textbook.
    C: any other."""
    url: str | None = None
    """A canonical address or DOI, only where it is certain; never a mirror."""
