"""The sheets of the site as files: CSV and JSON, each with where its numbers come from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import polars as pl

from careeval.results.score.summary import NOT_COMPARABLE
from careeval.sheets.entries.numbers import PROVENANCE
from careeval.sheets.formats.files import LIST_SEPARATOR, csv_text
from careeval.sheets.sheet import Sheet

SCHEMA = "careeval.site.table/2"


def data_files(
    name: str, sheet: Sheet, canary: str | None = None, provenance: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield a sheet as CSV and as JSON: path in the site, and text.

    Lists are one text, and an empty text is null, so that a cell holds one value in both.

    Args:
        name: Of the files.
        sheet: What.
        canary: Of the bank; in a last column of that name, where it is known.
        provenance: Of all that the site shows, where rows have none of their own.
    """
    origins = [row[PROVENANCE.key] for row in sheet.rows if PROVENANCE.key in row]
    texts = pl.col(pl.List(pl.String)).list.join(LIST_SEPARATOR)
    frame = sheet.data.frame.with_columns(texts).with_columns(pl.col(pl.String).replace("", None))
    sources = pl.Series(origins, dtype=pl.String) if origins else pl.lit(provenance)
    columns = {PROVENANCE.key: sources} | ({"canary": pl.lit(canary)} if canary else {})
    yield f"data/{name}.csv", csv_text(frame.with_columns(**columns))
    several = list(dict.fromkeys(origins))
    head: dict[str, Any] = {
        "schema": SCHEMA,
        "table": name,
        "caption": sheet.caption,
        "note": NOT_COMPARABLE,
        "provenance": " ".join(several) or provenance,
        "canary": canary,
        "columns": {column.name: column.holds for column in sheet.data.columns},
    }
    if len(several) > 1:
        frame = frame.with_columns(**{PROVENANCE.key: sources})
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in frame.iter_rows(named=True))
    yield (
        f"data/{name}.json",
        f'{json.dumps(head, indent=1, ensure_ascii=False)[:-2]},\n "rows": [\n{rows}\n]}}\n',
    )
