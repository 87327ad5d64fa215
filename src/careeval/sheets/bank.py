"""The printed documents of `careeval bank`, and a bank's public scenarios as data files.

The data files are tables of scenarios, items, probes and sources. Each row of words has the bank's
canary, by which a leak into training data is found.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

import polars as pl

from careeval.bank import Bank
from careeval.bank.coverage import (
    Presence,
    action_points,
    composition_lines,
    coverage,
    domain_shares,
    item_health,
    lengths,
    probe_counts,
)
from careeval.bank.croissant import FILE as CROISSANT
from careeval.bank.croissant import RecordColumn, RecordTable, croissant_of_tables
from careeval.core.scenario import Adl, Domain, Rubric, RubricItem, Scenario, Split
from careeval.core.text import counted, percent
from careeval.files import write_text
from careeval.results.tables import Column
from careeval.sheets.data_files import write_tables
from careeval.sheets.kinds import (
    COUNT,
    DASH,
    SHARE,
    SIGNED,
    WORD_LIST,
    Unit,
    number_kind,
)
from careeval.sheets.sheet import DataTable, Document, Field, Row, Sheet, Shown, View
from careeval.sheets.words import DOMAINS


def _view(sheet: Sheet, caption: str = "") -> View:
    """Return a view that shows all fields of a sheet."""
    return View(sheet, tuple(Shown(field.key) for field in sheet.fields), caption)


def list_document(rows: Iterable[Row]) -> Document:
    """Return the document that lists scenarios.

    Args:
        rows: Scenarios, from `scenario_json`.
    """
    fields = (
        Field("id", "id of the scenario"),
        Field("condition", "what the person lives with"),
        Field("assistance", "usual level of assistance, a Section GG code"),
        Field("situation", "what makes the moment hard, the primary first", WORD_LIST),
        Field("actor", "who acts: person or robot"),
        Field("split", "public or held-out"),
        Field("twin_of", "for a twin or a control, the id of its base; null for a base"),
        Field("words", "number of words of its text", COUNT),
        Field("actions", "number of scored actions", COUNT),
        Field("status", "how far its content has been vetted"),
    )
    sheet = Sheet("scenarios", "a scenario", fields, [*rows])
    return Document((_view(sheet),), (f"{counted(len(sheet.rows), 'scenario')}.",), sheet)


# Coverage


def stats_document(title: str, stats: Mapping[str, Any]) -> Document:
    """Return the document of a bank's coverage and of its probes.

    Args:
        title: Title of the bank.
        stats: From `stats_json`.
    """
    probes = probes_view(stats)
    blocks = (
        f"{title} · {stats['bank']} {stats['version']}",
        *bank_figures(stats),
        stats["provenance"],
        *coverage_views(stats),
        *((probes,) if probes.sheet.rows else ()),
    )
    return Document(blocks, (), coverage_sheet(stats), stats["provenance"])


def bank_figures(stats: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences on the bank's scenarios, domains, actions, texts and probes."""
    held_out, twins = stats["n_held_out"], stats["n_twins"]
    split = f", {held_out} of them held out" if held_out else ", the public split"
    controls = counted(stats["n_controls"], "control")
    beside = f", {counted(twins, 'twin')}, {controls}" if twins else ""
    yield f"{counted(stats['n_scenarios'], 'scenario')}{split}{beside}"
    yield from stats["shares"]
    domains = ", ".join(
        f"{DOMAINS[Domain(name)].lower()} {percent(share, 0)}%"
        for name, share in stats["domain_shares"].items()
    )
    yield f"Positive points of the actions by domain: {domains or DASH}"
    points = ", ".join(f"{n} of {SIGNED.text(int(p))}" for p, n in stats["action_points"].items())
    yield f"Actions: {points or DASH}"
    if stats["words"]:
        (low, middle, high), grades = stats["words"], stats["reading_grade"]
        yield (
            f"Texts: {low} to {high} words, half of them {middle:.0f} or fewer; Coleman–Liau grade "
            f"{grades[0]:.0f} to {grades[2]:.0f}, half of them {grades[1]:.1f} or less"
        )
    probes = stats["probes"]
    if probes["n"]:
        present = percent(probes["n_present"] / max(1, probes["n_labels"]), 0)
        yield (
            f"Probes: {probes['n']:,} with {probes['n_labels']:,} labels on acts, "
            f"{probes['n_present']:,} of them present ({present}%), "
            f"{probes['n_severe_present']:,} on acts of −2"
        )


_SCENARIO_COUNT = replace(COUNT, write=lambda n, form: COUNT.write(n, form) if n else "·")


def coverage_sheet(stats: Mapping[str, Any]) -> Sheet:
    """Return a sheet of the number of scenarios in each part, by activity."""
    fields = (
        Field("by", "what the scenarios are broken down by"),
        Field("part", "the part, as the bank names it"),
        *(Field(adl.value, "scenarios of this activity", _SCENARIO_COUNT) for adl in Adl),
        Field("all", "scenarios of all activities", COUNT),
    )
    rows = [
        {"by": by, "part": part, **cells, "all": sum(cells.values())}
        for by, parts in stats["coverage"].items()
        for part, cells in parts.items()
    ]
    holds = "a part of the scenarios, with the number of them in each activity"
    return Sheet("coverage", holds, fields, rows)


def coverage_views(stats: Mapping[str, Any]) -> Iterator[View]:
    """Yield a table for each breakdown of the scenarios; its last row has all, each once."""
    sheet = coverage_sheet(stats)
    numbers = [field.key for field in sheet.fields[2:]]
    # a scenario has one actor, or is in its row "not given"
    once = [row for row in sheet.rows if row["by"] == "actor"]
    whole = {"part": "all", **{key: sum(row[key] for row in once) for key in numbers}}
    for by in stats["coverage"]:
        rows = [row for row in sheet.rows if row["by"] == by]
        n = sum(row["all"] for row in rows)
        several = f" (several a scenario: {n} in all)" if n > whole["all"] else ""
        yield View(
            replace(sheet, name=f"coverage_by_{by}", rows=[*rows, whole]),
            (Shown("part", head=by), *map(Shown, numbers)),
            f"{by.capitalize()} by activity{several}",
        )


def probes_view(stats: Mapping[str, Any]) -> View:
    """Return a view of the probes' scores, computed from their labels, by trap and rubric."""
    fields = (
        Field("probe", "the trap of the probes; of a generic probe its id"),
        Field("n", "number of probes", COUNT, brief="n"),
        *(
            Field(rubric.value, "points of the present items over the most points", SHARE)
            for rubric in Rubric
            if rubric is not Rubric.plan  # which has no probes
        ),
    )
    rows = [{"probe": name, **scores} for name, scores in stats["probes"]["scores"].items()]
    sheet = Sheet("probe_labels", "probes of one trap", fields, rows)
    return _view(sheet, "Scores by the probes' labels, %")


# The pilot of the items

_WEAK_ITEMS = {
    "always": "good acts that stand in every closed-book answer",
    "never": "good acts that stand in no reference answer",
    "in_reference": "bad acts that stand in a reference answer",
    "unseen": "bad acts that stand in no answer of any kind",
}


def pilot_document(pilot: Mapping[str, Any]) -> Document:
    """Return the document of a pilot: how often items of each class are present, and weak items.

    Args:
        pilot: From `pilot_json`.
    """
    whole = number_kind(unit=Unit(decimals=0))
    fields = (
        Field("class", "points of the items, and what else they are"),
        Field("items", "number of items of this class", COUNT),
        *(Field(kind, "share of these answers that have the item", whole, brief=kind)
          for kind in pilot["kinds"]),
    )  # fmt: skip
    rows = [
        {"class": name, "items": max(share["items"] for share in shares.values())}
        | {kind: share["present"] / share["n"] for kind, share in shares.items() if share["n"]}
        for name, shares in pilot["shares"].items()
    ]
    sheet = Sheet("pilot", "a class of items", fields, rows)
    title = f"Items of {pilot['bank']} {pilot['version']} in the pilot's answers, % present"
    notes = [
        f"{len(pilot[key])} {what}"
        + (f": {', '.join(pilot[key])}" if key in ("never", "in_reference") and pilot[key] else "")
        for key, what in _WEAK_ITEMS.items()
    ]
    return Document((_view(sheet, title),), (*notes, pilot["what"]), sheet, pilot["what"])


# JSON

PILOT = "Answers of AI, graded by AI: no result of a system, and no validation."


def scenario_json(scenario: Scenario) -> dict[str, Any]:
    """Return a scenario as `careeval bank list --json` prints it."""
    return {
        "id": scenario.id,
        "condition": scenario.condition,
        "assistance": scenario.assistance,
        "situation": list(scenario.situation),
        "actor": scenario.actor,
        "split": scenario.split.value,
        **({"twin_of": scenario.twin_of} if scenario.twin_of else {}),
        "words": len(scenario.text.split()),
        "actions": len(scenario.actions),
        "status": scenario.status.value,
    }


def stats_json(bank: Bank) -> dict[str, Any]:
    """Return the output of `careeval bank stats --json`."""
    scenarios = bank.bases
    texts, counts = lengths(scenarios), probe_counts(bank)
    return {
        "bank": bank.about.name,
        "version": bank.about.version,
        "provenance": bank.about.provenance,
        "n_scenarios": len(scenarios),
        "n_twins": sum(s.twin_of is not None and s.control is None for s in bank.scenarios),
        "n_controls": sum(s.control is not None for s in bank.scenarios),
        "shares": composition_lines(scenarios),
        "n_held_out": sum(scenario.split is Split.held_out for scenario in scenarios),
        "coverage": {
            by: {part: {adl.value: n for adl, n in cells.items()} for part, cells in parts.items()}
            for by, parts in coverage(scenarios).items()
        },
        "domain_shares": {domain.value: s for domain, s in domain_shares(scenarios).items()},
        "action_points": {str(p): n for p, n in sorted(action_points(scenarios).items())},
        "words": texts.words if texts else None,
        "reading_grade": texts.grade if texts else None,
        "probes": {
            "n": counts.probes,
            "n_labels": counts.labels,
            "n_present": counts.present,
            "n_severe_present": counts.severe_present,
            "by_trap": dict(counts.by_trap),
            "scores": {
                name: {"n": counts.n[name]} | {rubric.value: s for rubric, s in scores.items()}
                for name, scores in counts.scores.items()
            },
        },
    }


def pilot_json(bank: Bank, rows: Sequence[Presence]) -> dict[str, Any]:
    """Return the output of `careeval bank stats --pilot --json`."""
    return {
        "bank": bank.about.name,
        "version": bank.about.version,
        "what": PILOT,
        **asdict(item_health(bank, rows)),
        "items": [asdict(row) for row in rows],
    }


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
