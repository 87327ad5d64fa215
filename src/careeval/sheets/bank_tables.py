"""The tables of a bank's public scenarios, for data files: scenarios, items, probes and sources.

Each row of words has the bank's canary, by which a leak into training data is found.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import polars as pl

from careeval.bank import Bank
from careeval.bank.croissant import FILE as CROISSANT
from careeval.bank.croissant import RecordColumn, RecordTable, croissant_of_tables
from careeval.core.scenario import Domain, Rubric, RubricItem, Scenario, Split
from careeval.files import write_text
from careeval.results.tables import Column
from careeval.sheets.formats.data_files import write_tables
from careeval.sheets.sheet import DataTable

_CANARY = Column("canary", pl.String, "the bank's canary: never train on a text beside it")

SCENARIOS = (
    Column("id", pl.String, "id of the scenario"),
    Column("version", pl.Int32, "raised with any change that can change a score"),
    Column("adl", pl.String, "activity"),
    Column("part", pl.String, "of dressing, the part of the body; else null"),
    Column("condition", pl.String, "what the person lives with; null where not said"),
    Column("assistance", pl.String, "usual level, a Section GG code; null where not said"),
    Column("situation", pl.List(pl.String), "what makes the moment hard, the primary one first"),
    Column("age", pl.Int32, "of the person, in years; null where not said"),
    Column("pronoun", pl.String, "she, he or they; null where not said"),
    Column("actor", pl.String, "who acts: person or robot; null where not said"),
    Column("role", pl.String, "role of who acts; null where not said"),
    Column("helpers", pl.String, "other people present, and their training; null where not said"),
    Column("text", pl.String, "the situation, ending with the question"),
    Column("facts", pl.String, "of a world, JSON of what the simulation knows; else null"),
    Column("status", pl.String, "vetting so far"),
    Column("group", pl.String, "S or P: how the scenario was written; null where not said"),
    Column("twin_of", pl.String, "of a twin or a control, the id of its base; else null"),
    Column("control", pl.String, "paraphrase or irrelevant; null where it is no control"),
    _CANARY,
)

ITEMS = (
    Column("scenario", pl.String, "id of the scenario"),
    Column("rubric", pl.String, "actions, ladder or plan"),
    Column("position", pl.Int32, "place of the item in its rubric, from 0"),
    Column("item", pl.String, "id of the item, unique within its rubric"),
    Column("points", pl.Int32, "-2 to 2"),
    Column("text", pl.String, "the act or answer to look for"),
    *(
        Column(domain.value, pl.Int32, "0 to 2; null where the item is not about it")
        for domain in Domain
    ),
    Column("why", pl.String, "of an act, why it helps or harms; else null"),
    Column("sources", pl.List(pl.String), "of an act, keys of its sources"),
    Column("of", pl.List(pl.String), "of a rung, the acts that it consists of"),
    Column("excludes", pl.List(pl.String), "of an act, acts that cannot be in one answer with it"),
    Column("harm", pl.String, "of an item of -2, injury or rights; null where not said"),
    Column("kind", pl.String, "technique or judgment; null where not said"),
    Column("error", pl.String, "of a bad act, too-little or too-much; null where not said"),
    Column("core", pl.Boolean, "whether it belongs to the easy core"),
    Column("sentinel", pl.Boolean, "whether it is a never-event"),
    _CANARY,
)

PROBES = (
    Column("scenario", pl.String, "id of the scenario"),
    Column("probe", pl.String, "id of the probe, unique within its scenario"),
    Column("trap", pl.String, "the difficulty for a grader"),
    Column("text", pl.String, "the answer"),
    Column("present", pl.List(pl.String), "ids of the acts and rungs that it contains"),
    Column("absent", pl.List(pl.String), "ids of the acts and rungs that it does not contain"),
    _CANARY,
)

SOURCES = (
    Column("source", pl.String, "key of the source"),
    Column("organisation", pl.String, "the publisher"),
    Column("document", pl.String, "the title"),
    Column("year", pl.Int32, "year of publication; null if not known"),
    Column("tier", pl.String, "A: guideline, regulator, standard; B: hospital, charity, paper; C"),
    Column("url", pl.String, "address or DOI; null if not certain"),
)


KEYS = {
    "scenarios": ("id",),
    "items": ("scenario", "rubric", "item"),
    "probes": ("scenario", "probe"),
    "sources": ("source",),
}
"""Table → the columns whose values are unique together."""

_DATA_TYPES = {
    "String": "sc:Text",
    "Boolean": "sc:Boolean",
    "Int32": "sc:Integer",
}
"""Type in polars → type in Croissant; a list has the type of its elements, which are text."""


def write_bank(
    bank: Bank, folder: Path, forms: Sequence[Literal["jsonl", "parquet"]]
) -> list[Path]:
    """Write a bank's tables to `folder/jsonl` and `folder/parquet`, and describe them.

    The record sets of `croissant.json` read the Parquet files if there are any, as they have types.

    Returns:
        The paths of the written files.
    """
    tables = list(bank_tables(bank))
    about = (
        f"{bank.about.title} {bank.about.version}, {bank.about.licence}. {bank.about.provenance}"
    )
    read_as = f"{bank.about.request or ''} Null means unknown or not applicable.".strip()
    written = write_tables(tables, folder, forms, about, read_as)
    form = "parquet" if "parquet" in forms else "jsonl"
    records = [
        RecordTable(
            table.name,
            table.holds,
            folder / form / f"{table.name}.{form}",
            tuple(map(_record_column, table.columns)),
            KEYS[table.name],
        )
        for table in tables
    ]
    file = folder / CROISSANT
    write_text(file, croissant_of_tables(bank, folder, records))
    return [*written, file]


def _record_column(column: Column) -> RecordColumn:
    is_list = isinstance(column.kind, pl.List)
    data_type = "sc:Text" if is_list else _DATA_TYPES[str(column.kind)]
    return RecordColumn(column.name, column.holds, data_type, is_list)


def bank_tables(bank: Bank) -> Iterator[DataTable]:
    """Yield the tables of a bank's public scenarios; a table without a row is left out."""
    public = [scenario for scenario in bank.scenarios if scenario.split is Split.public]
    canary = {"canary": bank.about.canary}
    tables: tuple[tuple[str, str, tuple[Column, ...], Iterable[Mapping[str, Any]]], ...] = (
        ("scenarios", "a public scenario", SCENARIOS, map(_scenario_row, public)),
        ("items", "a rubric item of a public scenario", ITEMS, _item_rows(public)),
        ("probes", "a labelled answer to try a grader with", PROBES, _probe_rows(bank, public)),
        ("sources", "a document that items rest on", SOURCES, _source_rows(bank)),
    )
    for name, holds, columns, rows in tables:
        marks = canary if _CANARY in columns else {}
        table = DataTable.of(name, holds, columns, [{**row, **marks} for row in rows])
        if table.frame.height:
            yield table


def _scenario_row(scenario: Scenario) -> dict[str, Any]:
    values = scenario.model_dump(mode="json")
    facts = scenario.facts()
    return {
        **{column.name: values.get(column.name) for column in SCENARIOS},
        **(values.get("person") or {}),
        "facts": json.dumps(facts, ensure_ascii=False) if facts else None,
    }


def _item_rows(scenarios: Iterable[Scenario]) -> Iterator[dict[str, Any]]:
    for scenario in scenarios:
        for rubric in Rubric:
            for position, item in enumerate(scenario.rubric(rubric)):
                place = {"scenario": scenario.id, "rubric": rubric.value, "position": position}
                yield {**_item_row(item), **place}


def _item_row(item: RubricItem) -> dict[str, Any]:
    values = item.model_dump(mode="json")
    flags = {name: bool(values.get(name)) for name in ("core", "sentinel")}
    return {**values, **values["domains"], **flags, "item": item.id}


def _probe_rows(bank: Bank, scenarios: Iterable[Scenario]) -> Iterator[dict[str, Any]]:
    for scenario in scenarios:
        for probe in bank.probes.get(scenario.id, ()):
            yield {
                "scenario": scenario.id,
                "probe": probe.id,
                "trap": probe.trap,
                "text": probe.text,
                "present": [item for item, label in probe.labels.items() if label],
                "absent": [item for item, label in probe.labels.items() if not label],
            }


def _source_rows(bank: Bank) -> Iterator[dict[str, Any]]:
    for key, source in bank.sources.items():
        yield {"source": key, **source.model_dump(mode="json")}
