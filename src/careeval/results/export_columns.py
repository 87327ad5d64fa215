"""A table for other programs, and the columns that come together in many of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

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
    """The columns of one `Estimate`."""
    return (
        Column(f"{name}.value", pl.Float64, f"{holds}; null if unknown"),
        Column(f"{name}.low", pl.Float64, "the least that the unresolved items could make of it"),
        Column(f"{name}.high", pl.Float64, "the most that the unresolved items could make of it"),
        Column(f"{name}.ci95.low", pl.Float64, "where its 95% interval begins; null if unknown"),
        Column(f"{name}.ci95.high", pl.Float64, "where its 95% interval ends; null if unknown"),
        Column(f"{name}.reason", pl.String, "why it, or else its interval, is unknown; else empty"),
    )


def of_number(name: str, estimate: Estimate) -> Row:
    """What stands in them."""
    low, high = estimate.ci95 or (None, None)
    return {
        f"{name}.value": estimate.value,
        f"{name}.low": estimate.low,
        f"{name}.high": estimate.high,
        f"{name}.ci95.low": low,
        f"{name}.ci95.high": high,
        f"{name}.reason": estimate.reason,
    }


ENTRY = (
    Column("model", pl.String, "name of the system"),
    Column("grader", pl.String, "name of the grader, with its mode and the hash of its prompt"),
)


def of_entry(summary: Summary) -> Row:
    """Which entry a row is about: the columns `ENTRY`."""
    return {"model": summary.model, "grader": summary.grader}


def listed(names: Iterable[str]) -> str:
    """Names in one cell."""
    return "; ".join(names)


RUBRIC = Column("rubric", pl.String, "ladder or actions")
