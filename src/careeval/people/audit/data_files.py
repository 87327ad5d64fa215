"""The files of an audit: the sample as JSON, a CSV sheet to fill in, and the labels as CSV."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import polars as pl
from pydantic import TypeAdapter, ValidationError

from careeval.core.rating import Label, Reading
from careeval.errors import ReviewError
from careeval.files import read_text
from careeval.people.audit.sample import SCHEMA, AuditSample, Hidden, ShownResponse
from careeval.people.filled_forms import read_rows
from careeval.sheets.formats.data_files import csv_text

KEEP_APART = "What stands below `hidden` would sway a rater: an app that shows it is no audit."

_NEEDED = ("rater", "judgment", "label")
_YES, _NO = {"yes", "true", "1"}, {"", "no", "false", "0"}


@dataclass(frozen=True)
class _SampleFile:
    schema: str
    note: str
    shown: tuple[ShownResponse, ...]
    hidden: Hidden


_FILE = TypeAdapter(_SampleFile)


def sample_text(sample: AuditSample) -> str:
    """Return a sample as JSON, `careeval.audit-sample/1`; raters may see only `shown`."""
    file = _SampleFile(SCHEMA, KEEP_APART, sample.shown, sample.hidden)
    return json.dumps(_FILE.dump_python(file, mode="json"), indent=1, ensure_ascii=False) + "\n"


def read_sample(path: Path) -> AuditSample:
    """Return the audit sample that a JSON file contains.

    Raises:
        ReviewError: The file is not a sample, or `shown` and `hidden` do not match.
    """
    try:
        data = json.loads(read_text(path, max_bytes=MAX_BYTES))
    except (ValueError, RecursionError) as error:
        raise ReviewError(f"{path} is not JSON: {error}", hint=_MAKE_ONE) from error
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        raise ReviewError(
            f"{path} is not a valid sample: schema must be {SCHEMA!r}, not {schema!r}",
            hint=_MAKE_ONE,
        )
    try:
        file = _FILE.validate_python(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ReviewError(
            f"{path} is not a valid sample: {where}: {first['msg']}", hint=_MAKE_ONE
        ) from error
    if problem := _problem(file):
        raise ReviewError(f"{path} is not a valid sample: {problem}", hint=_MAKE_ONE)
    return AuditSample(file.shown, file.hidden)


MAX_BYTES = 50_000_000
"""Largest file that is read; a sample that people can read is a hundred times smaller."""

_MAKE_ONE = "write a new sample with careeval audit sample FOLDER -o FILE"


def _problem(file: _SampleFile) -> str:
    """Return the reason why the parts of a sample do not match; empty if they do."""
    shown = [(item.judgment, response.id) for response in file.shown for item in response.items]
    drawn = [(each.judgment, each.response) for each in file.hidden.drawn]
    strata = file.hidden.strata
    if shown != drawn or len(dict(shown)) != len(shown):
        return "`shown` and `hidden` must list the same judgments in the same order, each once"
    counts = [0] * len(strata)
    for each in file.hidden.drawn:
        if not 0 <= each.stratum < len(strata):
            return f"{each.judgment} has stratum {each.stratum}; it must be below {len(strata)}"
        counts[each.stratum] += 1
    for stratum, count in zip(strata, counts, strict=True):
        if not 0 < count == stratum.n <= stratum.of:
            return (
                f"a stratum says {stratum.n} of {stratum.of} judgments were drawn, and {count} are "
                "listed; the first number must equal the last, and be from 1 to the second"
            )
    return ""


def sheet_text(sample: AuditSample) -> str:
    """Return a CSV sheet to fill in: a row per judgment, with empty `rater`, `label` and `note`."""
    rows = [
        {
            "rater": None,
            "judgment": item.judgment,
            "label": None,
            "note": None,
            "item": item.text,
            "response": response.text,
            "scenario": response.scenario,
        }
        for response in sample.shown
        for item in response.items
    ]
    names = ("rater", "judgment", "label", "note", "item", "response", "scenario")
    return csv_text(pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String)))


def read_labels(path: Path, sample: AuditSample) -> list[Label]:
    """Return the labels in a CSV file, separated by commas or semicolons.

    The file must have the columns `rater`, `judgment` and `label` (present, absent, unsure), and
    may have `note`, `at` (ISO 8601) and `adjudicated` (yes or no). Other columns are ignored. A row
    without a label is a judgment not made yet, and is skipped.

    Raises:
        ReviewError: A column is missing, a value is not allowed, or a judgment is not in the
            sample, is labelled twice by one rater, or is adjudicated twice. The message has the
            line of each problem.
    """
    judgments = {each.judgment for each in sample.hidden.drawn}
    labels: list[Label] = []
    lines: dict[tuple[str, str], int] = {}

    def take(line: int, row: Mapping[str, str]) -> None:
        label = _label(row, judgments)
        if label is None:
            return
        key = ("" if label.adjudicated else label.rater, label.judgment)
        if key in lines:
            action = "is adjudicated" if label.adjudicated else f"is labelled by {label.rater}"
            raise ValueError(f"{label.judgment} {action} in line {lines[key]} too; delete one row")
        lines[key] = line
        labels.append(label)

    read_rows(path, _NEEDED, (*_NEEDED, "note", "at", "adjudicated"), take)
    return labels


def _label(row: Mapping[str, str], judgments: set[str]) -> Label | None:
    """Return the label in a row; `None` if the label is empty.

    Raises:
        ValueError: A value is missing or not allowed.
    """
    adjudicated = row["adjudicated"].lower()
    if not row["label"]:
        return None
    if row["label"].lower() not in set(Reading):
        raise ValueError(f"label must be one of {', '.join(Reading)}, not {row['label']!r}")
    if row["judgment"] not in judgments:
        raise ValueError(f"judgment {row['judgment']!r} is not in the sample")
    if not row["rater"]:
        raise ValueError("rater is empty; give a pseudonym")
    if adjudicated not in _YES | _NO:
        raise ValueError(f"adjudicated must be yes or no, not {adjudicated!r}")
    try:
        at = datetime.fromisoformat(row["at"]) if row["at"] else None
    except ValueError as error:
        raise ValueError(
            f"at must be a time such as 2026-03-01T14:30, not {row['at']!r}"
        ) from error
    return Label(
        rater=row["rater"],
        judgment=row["judgment"],
        says=Reading(row["label"].lower()),
        note=row["note"],
        at=at,
        adjudicated=adjudicated in _YES,
    )
