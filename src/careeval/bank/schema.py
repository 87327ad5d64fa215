"""The bank's files other than scenarios, as types, and the JSON Schemas of all, for editors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from careeval.bank.evidence import Vetting
from careeval.core.scenario import Frozen, ItemId, Scenario, Slug, Source, Text
from careeval.core.twin import Twin
from careeval.files import write_text
from careeval.modes import MODES
from careeval.modes.response import RESPONSE

Label = Literal["present", "absent"]

Version = Annotated[str, Field(pattern=r"^[0-9]+-[A-Z]$")]
"""`N-X`: N rises with any change that can move a score, X with any other."""


class BankFile(Frozen):
    """`bank.yaml`: what a bank is called, who may use it how, and where it comes from."""

    name: Slug
    """In every table and log."""
    title: Text
    """As people read it."""
    version: Version
    """`N-X`."""
    mode: Annotated[str, Field(json_schema_extra={"enum": [*MODES]})] = RESPONSE.name
    """How a system is asked and judged: `response`, in words that a grader reads."""
    released: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")] | None = None
    """Day of this version, year-month-day."""
    licence: Text
    """An SPDX identifier."""
    provenance: Text
    """How the content was made and vetted; printed with every result."""
    makers: tuple[Slug, ...] = ()
    """Vendors of the AI that wrote it, or on whose answers it was piloted, in lower case."""
    request: Text | None = None
    """What users are asked not to do."""
    canary: Text
    """Every file of the bank carries it."""
    rules: Literal["careeval", "careeval-3"] | None = None
    """The coded rules that `careeval bank check` holds the bank to; absent, to its form alone."""


class GenericProbe(Frozen):
    """One of the answers that are put to every scenario; its labels stand beside the scenario."""

    id: Slug
    """Unique within the bank."""
    trap: Slug
    """`generic`."""
    text: Text
    """The answer."""


class ProbeEntry(Frozen):
    """One labelled answer; without `text` it is the generic answer of that id."""

    id: Slug
    """Unique within the file."""
    trap: Slug | None = None
    """What it tries a grader with."""
    text: Text | None = None
    """The answer; absent for a generic one."""
    labels: Mapping[ItemId, Label]
    """For every action; for a rung only where it does not follow from the rung's `of`."""


class ProbesFile(Frozen):
    """`<id>.probes.yaml`."""

    probes: tuple[ProbeEntry, ...]
    """In the order in which they are put."""


SCHEMAS: Mapping[str, Any] = {
    "scenario.schema.json": Scenario,
    "twin.schema.json": Twin,
    "probes.schema.json": ProbesFile,
    "bank.schema.json": BankFile,
    "generic.schema.json": list[GenericProbe],
    "sources.schema.json": dict[Slug, Source],
    "evidence.schema.json": dict[Slug, Vetting],
}
"""File name of a JSON Schema → the type that it describes."""


def schema_text(name: str) -> str:
    """The JSON Schema of that file name, as text."""
    schema = TypeAdapter(SCHEMAS[name]).json_schema()
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def write_schemas(folder: Path) -> None:
    """Write every schema into `folder`."""
    for name in SCHEMAS:
        write_text(folder / name, schema_text(name))
