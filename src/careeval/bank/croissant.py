"""Metadata of a bank in the format Croissant 1.1 with its RAI terms, for dataset search.

`croissant-template.json` has the parts that all banks share, `croissant-plans.json` those that
differ for a bank of worlds. The context is copied from the specification word for word, as the
validator requires.

Source: MLCommons, Croissant format specification 1.1, and Croissant RAI 1.0.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from careeval.bank.evidence import FILE as EVIDENCE
from careeval.bank.load import Bank
from careeval.bank.sealed import HASH, SEALED
from careeval.core.scenario import Scenario, Split, Status
from careeval.files import read_bytes

FILE = "croissant.json"

_TEMPLATE = Path(__file__).with_name("croissant-template.json")
_OF_MODE = {"plan": Path(__file__).with_name("croissant-plans.json")}
"""Mode → file with the parts that replace those of the template."""

_FORMATS = {
    ".yaml": "application/yaml",
    ".json": "application/json",
    ".csv": "text/csv",
    ".jsonl": "application/jsonlines",
    ".parquet": "application/x-parquet",
    ".sha256": "text/plain",
    ".webp": "image/webp",
}
_FILES = (
    *("*.yaml", "*/*.yaml", "*/*.webp", "*.jsonl", "second-reading/*.csv"),
    *(EVIDENCE, SEALED, HASH),
)


def croissant(bank: Bank, folder: Path) -> str:
    """Return the metadata of a bank's public split as JSON, with hashes of the folder's files."""
    return _metadata(bank, folder, [path for pattern in _FILES for path in folder.glob(pattern)])


@dataclass(frozen=True)
class RecordColumn:
    """One column of a table, as a field of a record set."""

    name: str
    holds: str
    data_type: str
    is_list: bool = False


@dataclass(frozen=True)
class RecordTable:
    """A table in a data file, as a record set."""

    name: str
    holds: str  # Description of one row
    path: Path  # The data file
    columns: tuple[RecordColumn, ...]
    key: tuple[str, ...]  # The columns whose values are unique together


def croissant_of_tables(bank: Bank, folder: Path, tables: Sequence[RecordTable]) -> str:
    """Return the metadata of the tables of a bank's public split, exported to a folder, as JSON."""
    return _metadata(bank, folder, [table.path for table in tables], tables)


def _metadata(
    bank: Bank, folder: Path, files: Iterable[Path], tables: Sequence[RecordTable] = ()
) -> str:
    public = [scenario for scenario in bank.scenarios if scenario.split is Split.public]
    about = bank.about
    values = {
        "name": about.name,
        "title": about.title,
        "version": about.version,
        "licence": about.licence,
        "provenance": about.provenance,
        "year": (about.released or "")[:4],
        "n_scenarios": len(public),
        "n_probes": sum(len(bank.probes.get(scenario.id, ())) for scenario in public),
    }
    content = json.loads(_TEMPLATE.read_text(encoding="utf-8"))
    if (parts := _OF_MODE.get(about.mode)) is not None:
        content |= json.loads(parts.read_text(encoding="utf-8"))
    for field in ("name", "alternateName", "description", "version", "license", "citeAs"):
        content[field] = Template(content[field]).substitute(values)
    content |= {"usageInfo": about.request, "datePublished": about.released}
    content["distribution"] = [_file_object(path, folder) for path in sorted(files)]
    if tables:
        content["recordSet"] = [_record_set(table, folder) for table in tables]
    _describe_ratings(content, bank, public)
    content = {name: value for name, value in content.items() if value is not None}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _file_object(path: Path, folder: Path) -> dict[str, str]:
    name = path.relative_to(folder).as_posix()
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "encodingFormat": _FORMATS.get(path.suffix, "application/octet-stream"),
        "sha256": hashlib.sha256(read_bytes(path)).hexdigest(),
    }


def _record_set(table: RecordTable, folder: Path) -> dict[str, Any]:
    file = {"@id": table.path.relative_to(folder).as_posix()}
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{table.name}/{column.name}",
            "name": column.name,
            "description": column.holds,
            "dataType": column.data_type,
            **({"repeated": True} if column.is_list else {}),
            "source": {"fileObject": file, "extract": {"column": column.name}},
        }
        for column in table.columns
    ]
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": f"A row is {table.holds}.",
        "key": [{"@id": f"{table.name}/{name}"} for name in table.key],
        "field": fields,
    }


def _describe_ratings(content: dict[str, Any], bank: Bank, scenarios: Sequence[Scenario]) -> None:
    """Replace what the template says about unrated scenarios if some are rated or validated."""
    rated = [evidence for scenario in scenarios if (evidence := bank.evidence(scenario))]
    if rated:
        roles = sorted({role for evidence in rated for each in evidence for role in each.raters})
        content["rai:annotatorDemographics"] = [
            f"{len(rated)} of {len(scenarios)} scenarios were rated by people, whose roles and "
            f"counts are in evidence.json: {', '.join(roles)}"
        ]
    if n_validated := sum(scenario.status is Status.validated for scenario in scenarios):
        content["rai:dataLimitations"][0] = (
            f"{n_validated} of {len(scenarios)} scenarios are validated by ratings of experts; "
            "no other is."
        )
