"""JSON Schemas for editors: they are made from the types, and fit what authors write."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

import careeval.bank
from careeval.bank.load import OWN_BANKS
from careeval.bank.schema import SCHEMAS, schema_text, write_schemas
from support.bank_folder import GOOD_BANK, SCENARIO

SHIPPED = Path(careeval.bank.__file__).parent


@pytest.mark.parametrize("name", SCHEMAS)
def test_shipped_schema_is_current(name: str) -> None:
    """The schema file that ships is what the types say."""
    assert (SHIPPED / name).read_text(encoding="utf-8") == schema_text(name)


@pytest.mark.parametrize("name", SCHEMAS)
def test_schema_is_one(name: str) -> None:
    """Each schema is valid under the draft that it names."""
    jsonschema.Draft202012Validator.check_schema(json.loads(schema_text(name)))


def test_no_other_schema_ships() -> None:
    """Every schema file in the package is made from a type."""
    assert {path.name for path in SHIPPED.glob("*.schema.json")} == set(SCHEMAS)


def test_write_schemas(tmp_path: Path) -> None:
    """Writing makes exactly the files of the table."""
    write_schemas(tmp_path)

    assert {p.name: p.read_text(encoding="utf-8") for p in tmp_path.iterdir()} == {
        name: schema_text(name) for name in SCHEMAS
    }


@pytest.mark.parametrize(
    ("file", "name"),
    [
        (GOOD_BANK / SCENARIO, "scenario.schema.json"),
        (GOOD_BANK / "bank.yaml", "bank.schema.json"),
        (GOOD_BANK / "sources.yaml", "sources.schema.json"),
        (GOOD_BANK / "generic-probes.yaml", "generic.schema.json"),
        (OWN_BANKS["plans"] / "dangers.yaml", "dangers.schema.json"),
    ],
)
def test_editor_accepts_a_good_file(file: Path, name: str) -> None:
    """An editor, which reads plain YAML, finds no fault in a good file: a rung needs no id."""
    plain = yaml.safe_load(file.read_text(encoding="utf-8"))

    jsonschema.validate(plain, json.loads(schema_text(name)))


def test_editor_shows_a_bad_enum() -> None:
    """An editor finds a condition that is not on the list."""
    plain = yaml.safe_load((GOOD_BANK / SCENARIO).read_text(encoding="utf-8"))

    with pytest.raises(jsonschema.ValidationError, match="'strok' is not one of"):
        jsonschema.validate(
            {**plain, "condition": "strok"}, json.loads(schema_text("scenario.schema.json"))
        )


def test_fields_are_described() -> None:
    """An editor shows what a field means: each is described, itself or by its type."""
    schema = json.loads(schema_text("scenario.schema.json"))

    for properties in (schema["properties"], schema["$defs"]["Action"]["properties"]):
        assert [
            name for name, field in properties.items() if not {"description", "$ref"} & set(field)
        ] == []
