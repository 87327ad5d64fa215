"""A table for other programs, and the columns that come together in many of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

from careeval.results.estimates import Errors
from careeval.results.summary import Summary
from careeval.results.tables import Column, table
from careeval.stats import Estimate

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class ExportTable:
    """One table.

    Attributes:
        name: As its file is called.
        holds: What one row is.
        columns: In order, with what each holds.
        frame: The rows, of these columns.
    """

    name: str
    holds: str
    columns: tuple[Column, ...]
    frame: pl.DataFrame

    @staticmethod
    def of(name: str, holds: str, columns: Iterable[Column], rows: Iterable[Row]) -> ExportTable:
        """A table from rows; a column that a row lacks is null."""
        known = tuple(columns)
        return ExportTable(name, holds, known, table(rows, known))


def number(name: str, holds: str) -> tuple[Column, ...]:
    """The columns of one `Estimate`: its bounds end in `_low`, its interval in `_ci95_low`."""
    return (
        Column(name, pl.Float64, f"{holds}; null if unknown"),
        Column(f"{name}_low", pl.Float64, "the least that the unresolved items could make of it"),
        Column(f"{name}_high", pl.Float64, "the most that the unresolved items could make of it"),
        Column(f"{name}_ci95_low", pl.Float64, "where its 95% interval begins; null if unknown"),
        Column(f"{name}_ci95_high", pl.Float64, "where its 95% interval ends; null if unknown"),
        Column(f"{name}_reason", pl.String, "why it, or else its interval, is unknown; else empty"),
    )


def of_number(name: str, estimate: Estimate) -> Row:
    """What stands in them."""
    low, high = estimate.ci95 or (None, None)
    return {
        name: estimate.value,
        f"{name}_low": estimate.low,
        f"{name}_high": estimate.high,
        f"{name}_ci95_low": low,
        f"{name}_ci95_high": high,
        f"{name}_reason": estimate.reason,
    }


def rate(name: str, holds: str) -> tuple[Column, ...]:
    """The columns of one `Errors`."""
    return (
        *number(name, holds),
        Column(f"{name}_count", pl.Int64, "responses with any; at least, where any is unresolved"),
        Column(f"{name}_n", pl.Int64, "responses judged, where the rubric has such an item"),
        Column(f"{name}_upper_at_zero", pl.Float64, "where there was none, the most there may be"),
    )


def of_errors(name: str, errors: Errors) -> Row:
    """What stands in them."""
    return of_number(name, errors.share) | {
        f"{name}_count": errors.count,
        f"{name}_n": errors.n,
        f"{name}_upper_at_zero": errors.upper_at_zero,
    }


RUBRIC = Column("rubric", pl.String, "actions or ladder")
ENTRY = (
    Column("system", pl.String, "name of the system"),
    Column("grader", pl.String, "name of the grader, with its mode and the hash of its prompt"),
    RUBRIC,
)


def of_entry(summary: Summary) -> Row:
    """Which entry a row is about: the columns `ENTRY`."""
    return {
        "system": summary.system,
        "grader": summary.grader,
        "rubric": summary.rubric.value,
    }


def listed(names: Iterable[str]) -> str:
    """Names in one cell."""
    return "; ".join(names)
