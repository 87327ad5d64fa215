"""The data files of the site: each sheet as CSV and JSON, with its provenance."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import polars as pl

from careeval.results.summary import NOT_COMPARABLE
from careeval.sheets.entries.entries_sheet import PROVENANCE
from careeval.sheets.formats.data_files import LIST_SEPARATOR, csv_text
from careeval.sheets.sheet import Sheet

SCHEMA = "careeval.site.table/2"


def data_files(
    name: str, sheet: Sheet, canary: str | None = None, provenance: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield two files of a sheet, CSV and JSON, each as its path in the site and its text.

    In both files a cell holds one value: a list becomes one text, and an empty text null.

    Args:
        name: Name of the files, without suffix.
        sheet: The sheet.
        canary: Canary of the bank, for the last column; `None` for no such column.
        provenance: Provenance of the site, for rows without their own.
    """
    origins = [row[PROVENANCE.key] for row in sheet.rows if PROVENANCE.key in row]
    texts = pl.col(pl.List(pl.String)).list.join(LIST_SEPARATOR)
    frame = sheet.data.frame.with_columns(texts).with_columns(pl.col(pl.String).replace("", None))
    sources = pl.Series(origins, dtype=pl.String) if origins else pl.lit(provenance)
    columns = {PROVENANCE.key: sources} | ({"canary": pl.lit(canary)} if canary else {})
    yield f"data/{name}.csv", csv_text(frame.with_columns(**columns))
    provenances = list(dict.fromkeys(origins))
    head: dict[str, Any] = {
        "schema": SCHEMA,
        "table": name,
        "caption": sheet.caption,
        "note": NOT_COMPARABLE,
        "provenance": " ".join(provenances) or provenance,
        "canary": canary,
        "columns": {column.name: column.holds for column in sheet.data.columns},
    }
    if len(provenances) > 1:
        frame = frame.with_columns(**{PROVENANCE.key: sources})
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in frame.iter_rows(named=True))
    yield (
        f"data/{name}.json",
        f'{json.dumps(head, indent=1, ensure_ascii=False)[:-2]},\n "rows": [\n{rows}\n]}}\n',
    )
