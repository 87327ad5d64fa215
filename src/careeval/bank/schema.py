"""Types of the bank's files other than scenarios, and JSON Schemas of all files for editors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from careeval.bank.evidence import Vetting
from careeval.core.registry import Registry
from careeval.core.scenario import Frozen, ItemId, Scenario, Slug, Source, Text
from careeval.core.twin import Twin
from careeval.files import write_text
from careeval.modes import MODES
from careeval.modes.response import RESPONSE

ProbeLabel = Literal["present", "absent"]

Version = Annotated[str, Field(pattern=r"^[0-9]+-[A-Z]$")]
"""`N-X`: N is raised with any change that can change a score, X with any other."""


class BankFile(Frozen):
    """`bank.yaml`: name, terms of use and provenance of a bank."""

    name: Slug
    """Name in tables and logs."""
    title: Text
    """Title for people."""
    version: Version
    """`N-X`: N is raised with any change that can change a score, X with any other."""
    mode: Annotated[str, Field(json_schema_extra={"enum": [*MODES]})] = RESPONSE.name
    """The way in which a system is asked and judged; `response`: in words, by a grader."""
    released: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")] | None = None
    """Day of this version, year-month-day."""
    licence: Text
    """An SPDX identifier."""
    provenance: Text
    """Origin and vetting of the content; printed with every result."""
    makers: tuple[Slug, ...] = ()
    """Vendors of the AI that wrote the bank or answered its pilot, in lower case."""
    request: Text | None = None
    """A request to users, such as not to train on the bank."""
    canary: Text
    """The string in every scenario of the bank, by which leaks are found."""
    rules: Literal["careeval", "careeval-plans"] | None = None
    """The set of rules of `careeval bank check`; if absent, only the form is checked."""


class GenericProbe(Frozen):
    """An answer that is a probe of every scenario; each scenario has its own labels of it."""

    id: Slug
    """Unique within the bank."""
    trap: Slug
    """The difficulty for a grader: always `generic`."""
    text: Text
    """The answer."""


class ProbeEntry(Frozen):
    """A labelled answer; without `text`, the generic answer with that id."""

    id: Slug
    """Unique within the file."""
    trap: Slug | None = None
    """The difficulty for a grader."""
    text: Text | None = None
    """The answer; absent for a generic one."""
    labels: Mapping[ItemId, ProbeLabel]
    """Labels of all actions, and of rungs whose label does not follow from their `of`."""


class ProbesFile(Frozen):
    """The file `<id>.probes.yaml`."""

    probes: tuple[ProbeEntry, ...]
    """The probes, in the order in which they are graded."""


SCHEMAS: Mapping[str, Any] = Registry(
    {
        "scenario.schema.json": Scenario,
        "twin.schema.json": Twin,
        "probes.schema.json": ProbesFile,
        "bank.schema.json": BankFile,
        "generic.schema.json": list[GenericProbe],
        "sources.schema.json": dict[Slug, Source],
        "evidence.schema.json": dict[Slug, Vetting],
        "world.schema.json": "careeval.worlds.world:WorldFile",
        "world-twin.schema.json": "careeval.worlds.world_twin:WorldTwin",
        "world-plans.schema.json": "careeval.worlds.world:PlansFile",
        "body.schema.json": "careeval.worlds.world:Body",
        "dangers.schema.json": "careeval.worlds.world:DangersFile",
    }
)
"""File name of a JSON Schema → the type that it describes."""


def schema_text(name: str) -> str:
    """Return the text of the JSON Schema with that file name."""
    schema = TypeAdapter(SCHEMAS[name]).json_schema()
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def write_schemas(folder: Path) -> None:
    """Write every schema into `folder`."""
    for name in SCHEMAS:
        write_text(folder / name, schema_text(name))
