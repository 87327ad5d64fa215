"""An audit's files: the sample as JSON, a sheet for people to fill in, and their labels as CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import polars as pl
from pydantic import TypeAdapter, ValidationError

from careeval.core.label import Label, Reading
from careeval.errors import ReviewError
from careeval.results.audit_sample import SCHEMA, Hidden, Sample, ShownResponse
from careeval.results.table_files import csv_text

MOST_PROBLEMS = 20
"""Of a file, that are told at once."""

KEEP_APART = "What stands below `hidden` would sway a rater: an app that shows it is no audit."

_YES, _NO = {"yes", "true", "1"}, {"", "no", "false", "0"}


@dataclass(frozen=True)
class _SampleFile:
    schema: str
    note: str
    shown: tuple[ShownResponse, ...]
    hidden: Hidden


_FILE = TypeAdapter(_SampleFile)


def sample_text(sample: Sample) -> str:
    """A sample as JSON, `careeval.audit-sample/1`: `shown` is for raters, `hidden` is not."""
    file = _SampleFile(SCHEMA, KEEP_APART, sample.shown, sample.hidden)
    return json.dumps(_FILE.dump_python(file, mode="json"), indent=1, ensure_ascii=False) + "\n"


def read_sample(path: Path) -> Sample:
    """A sample from its file.

    Raises:
        ReviewError: It is no sample, or what is shown and what is hidden do not fit together.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ReviewError(f"{path}: not JSON: {error}", hint=_MAKE_ONE) from error
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        raise ReviewError(f"{path}: its schema is {schema!r}, not {SCHEMA!r}", hint=_MAKE_ONE)
    try:
        file = _FILE.validate_python(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ReviewError(f"{path}: {where}: {first['msg']}", hint=_MAKE_ONE) from error
    if problem := _problem(file):
        raise ReviewError(f"{path}: {problem}", hint=_MAKE_ONE)
    return Sample(file.shown, file.hidden)


_MAKE_ONE = "careeval audit sample FOLDER -o FILE writes one"


def _problem(file: _SampleFile) -> str:
    """Why the parts of a sample do not fit together; empty where they do."""
    shown = [(item.judgment, response.id) for response in file.shown for item in response.items]
    drawn = [(each.judgment, each.response) for each in file.hidden.drawn]
    strata = file.hidden.strata
    if shown != drawn or len(dict(shown)) != len(shown):
        return "the judgments that are shown are not those that are hidden, each once"
    counts = [0] * len(strata)
    for each in file.hidden.drawn:
        if not 0 <= each.stratum < len(strata):
            return f"{each.judgment} is of stratum {each.stratum}, and there are {len(strata)}"
        counts[each.stratum] += 1
    for stratum, count in zip(strata, counts, strict=True):
        if not 0 < count == stratum.n <= stratum.of:
            return f"{count} judgments are of the stratum that says {stratum.n} of {stratum.of}"
    return ""


def sheet_text(sample: Sample) -> str:
    """A sheet to fill in, as CSV: a row a judgment, `rater`, `label` and `note` left empty."""
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


def read_labels(path: Path, sample: Sample) -> list[Label]:
    """Labels from a CSV file, separated by commas or semicolons.

    Columns `rater`, `judgment` and `label` (present, absent, unsure), and if there `note`, `at`
    (ISO 8601) and `adjudicated` (yes or no); others are passed over. A row without a label is a
    judgment that is not made yet.

    Raises:
        ReviewError: With the line of each problem: a column is lacking, a label is another word, a
            judgment is not in the sample, or there are two labels where there is to be one.
    """
    known = {each.judgment for each in sample.hidden.drawn}
    labels: list[Label] = []
    problems: list[str] = []
    lines: dict[tuple[str, str], int] = {}
    try:
        for line, row in _rows(path):
            try:
                label = _label(row, known)
            except ValueError as error:
                problems.append(f"{path}:{line}: {error}")
                continue
            if label is None:
                continue
            key = ("" if label.adjudicated else label.rater, label.judgment)
            if key in lines:
                who = "is adjudicated" if label.adjudicated else f"is labelled by {label.rater}"
                problems.append(f"{path}:{line}: {label.judgment} {who} in line {lines[key]} too")
            lines.setdefault(key, line)
            labels.append(label)
    except UnicodeDecodeError as error:
        raise ReviewError(f"{path}: not UTF-8", hint="save it as CSV UTF-8") from error
    if problems:
        more = len(problems) - MOST_PROBLEMS
        told = [*problems[:MOST_PROBLEMS], *([f"and {more} more"] if more > 0 else [])]
        raise ReviewError("\n".join(told))
    return labels


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Each row with the number of its last line."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        head = file.readline()
        file.seek(0)
        reader = csv.reader(file, delimiter=";" if head.count(";") > head.count(",") else ",")
        try:
            names = [name.strip().lower() for name in next(reader, [])]
            if missing := [name for name in ("rater", "judgment", "label") if name not in names]:
                raise ReviewError(
                    f"{path}:1: no column {', '.join(missing)}; there are "
                    f"{', '.join(names) or 'none'}",
                    hint="rater,judgment,label,note",
                )
            for cells in reader:
                # what a spreadsheet leaves where rows were deleted
                if any(cell.strip() for cell in cells):
                    yield reader.line_num, dict(zip(names, cells, strict=False))
        except csv.Error as error:
            raise ReviewError(f"{path}:{reader.line_num}: {error}") from error


def _label(row: Mapping[str, str], known: set[str]) -> Label | None:
    """One row as a label; `None` where it has none.

    Raises:
        ValueError: It is not one.
    """
    cell = {name: row.get(name, "").strip() for name in ("rater", "judgment", "label", "at")}
    adjudicated = row.get("adjudicated", "").strip().lower()
    if not cell["label"]:
        return None
    if cell["label"].lower() not in set(Reading):
        raise ValueError(f"label {cell['label']!r}; expected {', '.join(Reading)}")
    if cell["judgment"] not in known:
        raise ValueError(f"judgment {cell['judgment']!r} is not in the sample")
    if not cell["rater"]:
        raise ValueError("no rater; a pseudonym will do")
    if adjudicated not in _YES | _NO:
        raise ValueError(f"adjudicated {adjudicated!r}; expected yes or no")
    try:
        at = datetime.fromisoformat(cell["at"]) if cell["at"] else None
    except ValueError as error:
        raise ValueError(f"at {cell['at']!r}; expected a time as 2026-03-01T14:30") from error
    return Label(
        rater=cell["rater"],
        judgment=cell["judgment"],
        says=Reading(cell["label"].lower()),
        note=row.get("note", ""),
        at=at,
        adjudicated=adjudicated in _YES,
    )
