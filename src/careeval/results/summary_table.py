"""A summary as one wide row, for CSV and Parquet: `score.value`, `by_adl.dressing.n`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

import polars as pl

from careeval.results.corrected import Scores
from careeval.results.summary import Summary
from careeval.results.summary_json import dumped

_KINDS = {float: pl.Float64, int: pl.Int64, bool: pl.Boolean}


def summary_frame(
    summaries: Sequence[Summary], corrected: Sequence[Scores] | None = None
) -> pl.DataFrame:
    """One row an entry, numbers as fractions; an unknown number is null beside its reason.

    The columns are the same whatever was graded, and are there without an entry too.

    Args:
        summaries: An entry each.
        corrected: Theirs, in the same order; without them the table lacks their columns.
    """
    rows = [_flat(entry) for entry in dumped(summaries, None, corrected or ())["models"]]
    columns = _columns(Summary)
    if corrected is not None:
        columns |= _columns(Scores, "corrected")
    return pl.DataFrame(
        {
            name: pl.Series([row.get(name) for row in rows], dtype=kind)
            for name, kind in columns.items()
        }
    )


def _columns(kind: Any, name: str = "") -> dict[str, type[pl.DataType]]:
    """The names that `_flat` can give a value of a type, in its order, and their types."""
    below = f"{name}." if name else ""
    if name.endswith("ci95"):
        return {f"{name}.low": pl.Float64, f"{name}.high": pl.Float64}
    if is_dataclass(kind):
        parts = get_type_hints(kind)
    elif get_origin(kind) is Mapping:
        keys, value = get_args(kind)
        parts = {key.value: value for key in keys}
    elif type(None) in get_args(kind):
        (known,) = (part for part in get_args(kind) if part is not type(None))
        return _columns(known, name)
    else:
        return {name: _KINDS.get(kind, pl.String)}
    found = (_columns(part, f"{below}{key}") for key, part in parts.items())
    return {column: kind for part in found for column, kind in part.items()}


def _flat(value: Any, name: str = "") -> dict[str, Any]:
    """Nested values as columns."""
    if name.endswith("ci95"):
        low, high = value or (None, None)
        return {f"{name}.low": low, f"{name}.high": high}
    if isinstance(value, dict):
        parts = (_flat(part, f"{name}.{key}" if name else key) for key, part in value.items())
        return {column: cell for part in parts for column, cell in part.items()}
    return {name: "; ".join(value) if isinstance(value, list) else value}
