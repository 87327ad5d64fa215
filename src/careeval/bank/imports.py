"""Another bank's file into a bank of ours: graded options become ladders.

A file is read as records, one for each option (a spreadsheet's rows) or one for each scenario with
its options inside (JSON). Columns are found by their names, or named by the user. All or nothing:
where a record does not fit, every such record is reported with its number, and nothing is written.
"""

from __future__ import annotations

import csv
import io
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from careeval.bank.load import did_you_mean, load_bank
from careeval.core.scenario import Adl, Assistance, Condition, Domain
from careeval.errors import BankError

MAX_BYTES = 50_000_000
"""A file of this size is no bank."""

ALIASES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "scenario id", "scenario_id"),
    "text": ("text", "scenario", "scenario text", "prompt", "situation", "question"),
    "adl": ("adl", "activity", "task", "category"),
    "options": ("options", "ladder", "answers", "choices", "rubric"),
    "option": ("option", "option text", "answer", "item", "response option"),
    "points": ("points", "score", "option score", "grade"),
    "condition": ("condition", "diagnosis", "disability"),
    "assistance": ("assistance", "level", "assistance level"),
    Domain.user_function: ("user function", "function"),
    Domain.user_agency: ("user agency", "agency"),
    Domain.communication_intent: (
        "communication & intent", "communication and intent", "communication intent",
        "communication",
    ),
    Domain.functional_safety: ("functional safety", "risk awareness", "safety"),
}  # fmt: skip
"""Field → names that a column may have; case, space and underscores do not matter. The paper's
worked example prints "Risk Awareness" for the domain of functional safety."""

OF_OPTION = ("option", "points", *Domain)
"""Fields of an option; the others are of its scenario."""

_UPPER, _LOWER = "upper-body", "lower-body"


@dataclass
class _Found:
    """A scenario as far as its records have been read."""

    where: str
    id: str
    text: str
    adl: str
    part: str | None
    condition: str | None
    assistance: str | None
    unknown: tuple[tuple[str, str], ...]
    ladder: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Imported:
    """What an import wrote.

    Attributes:
        folder: The new bank.
        n_scenarios: Scenarios.
        n_options: Their graded options.
        columns: Field → the column that was taken for it.
        notes: What was not understood, and so was left out.
    """

    folder: Path
    n_scenarios: int
    n_options: int
    columns: Mapping[str, str]
    notes: tuple[str, ...]


def import_bank(
    file: Path, folder: Path, name: str, given: Mapping[str, str], adl: str | None = None
) -> Imported:
    """Make a bank of a file of scenarios with graded options.

    Args:
        file: JSON, JSON lines, CSV or XLSX, by its ending.
        folder: Where the bank is to be; new, or empty.
        name: The bank's, in every table and log: lower case, digits, hyphens.
        given: Field → column, where a column is not called as `ALIASES` has it.
        adl: Activity of scenarios that name none.

    Raises:
        BankError: The file cannot be read, a column is not there, or records do not fit; each is
            named with its number, and nothing has been written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BankError(f"{folder} is there already", hint="name a folder that is new")
    records = read_records(file)
    columns = find_columns(records, given)
    scenarios = _scenarios(records, columns, adl)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".import-") as made:
        root = Path(made) / "bank"
        _write(root, file, name, scenarios)
        load_bank(root)
        if folder.exists():
            folder.rmdir()
        root.rename(folder)
    n_options = sum(len(scenario.ladder) for scenario in scenarios)
    return Imported(folder, len(scenarios), n_options, columns, tuple(_left_out(scenarios)))


def _left_out(scenarios: Iterable[_Found]) -> Iterator[str]:
    """A note on each value of a column that is none of ours."""
    counts = Counter(unknown for scenario in scenarios for unknown in scenario.unknown)
    for (name, value), n in sorted(counts.items()):
        yield f"{name} {value!r} is none that this bank knows: left out in {n} scenarios"


Record = tuple[str, Mapping[str, Any]]
"""Where it stands, as messages say it, and column → value."""


def read_records(file: Path) -> list[Record]:
    """The records of a file.

    Raises:
        BankError: It cannot be read as what its ending says.
    """
    try:
        if file.stat().st_size > MAX_BYTES:
            raise BankError(f"{file} is too long: at most {MAX_BYTES:,} bytes")
        match file.suffix.lower():
            case ".xlsx":
                found = list(_xlsx(file))
            case ".csv":
                found = list(_csv(file.read_text(encoding="utf-8-sig")))
            case ".jsonl" | ".ndjson":
                found = list(_jsonl(file.read_text(encoding="utf-8-sig")))
            case ".json":
                found = list(_json(json.loads(file.read_text(encoding="utf-8-sig"))))
            case other:
                raise BankError(
                    f"{file}: {other or 'no ending'} is no kind of file that can be read",
                    hint="use .json, .jsonl, .csv or .xlsx",
                )
    except OSError as error:
        raise BankError(f"{file} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BankError(f"{file} is not UTF-8 text", hint="save it as UTF-8") from error
    except (ValueError, RecursionError, csv.Error) as error:
        raise BankError(f"{file} cannot be read: {error}") from error
    if not found:
        raise BankError(f"{file} holds no scenario")
    return found


def _csv(text: str) -> Iterator[Record]:
    reader = csv.DictReader(io.StringIO(text, newline=""), restkey="(more)")
    for row in reader:
        yield f"line {reader.line_num}", row


def _xlsx(file: Path) -> Iterator[Record]:
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        book = load_workbook(file, read_only=True, data_only=True)
    except (InvalidFileException, KeyError, EOFError) as error:
        raise ValueError(f"it is no spreadsheet ({error})") from error
    except Exception as error:  # a damaged zip or a hostile one fails in many ways
        raise ValueError(f"it is no spreadsheet ({type(error).__name__})") from error
    rows = book.worksheets[0].iter_rows(values_only=True)
    head = [str(cell).strip() if cell is not None else "" for cell in next(rows, ())]
    for number, row in enumerate(rows, start=2):
        if any(cell is not None for cell in row):
            yield f"row {number}", {name: cell for name, cell in zip(head, row) if name}  # noqa: B905


def _jsonl(text: str) -> Iterator[Record]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            yield f"line {number}", _object(json.loads(line), f"line {number}")


def _json(content: Any) -> Iterator[Record]:
    if isinstance(content, dict):
        lists = [value for value in content.values() if isinstance(value, list)]
        content = lists[0] if len(lists) == 1 else [content]
    if not isinstance(content, list):
        raise ValueError("it is no list of scenarios")
    for number, value in enumerate(content, start=1):
        yield f"entry {number}", _object(value, f"entry {number}")


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where} is no object with names and values")
    return value


def find_columns(records: Sequence[Record], given: Mapping[str, str]) -> dict[str, str]:
    """Field → column, as given or by its name.

    Raises:
        BankError: A given field or column is not known, or what must be there is not.
    """
    there = list(dict.fromkeys(name for _, row in records for name in row if name))
    inside = list(dict.fromkeys(name for _, row in records for name in _names_inside(row)))
    columns: dict[str, str] = {}
    for name, column in given.items():
        if name not in ALIASES:
            raise BankError(
                f"{name!r} is no field to map to",
                hint=did_you_mean(name, ALIASES) or f"use {', '.join(ALIASES)}",
            )
        if column not in (*there, *inside):
            raise BankError(
                f"there is no column {column!r}",
                hint=did_you_mean(column, [*there, *inside]) or f"there are {', '.join(there)}",
            )
        columns[name] = column
    for name, aliases in ALIASES.items():
        known = {_plain(alias) for alias in (name, *aliases)}
        for column in (*inside, *there) if name in OF_OPTION else there:
            free = name not in columns and column not in columns.values()
            if free and _plain(column) in known:
                columns[name] = column
    nested = "options" in columns
    for name in ("text", "option", "points"):
        if name not in columns:
            where = "options" if nested and name != "text" else "columns"
            raise BankError(
                f"no column is the {name}: the {where} are "
                f"{', '.join(inside if where == 'options' else there) or 'none'}",
                hint=f"name it: --map {name}=COLUMN",
            )
    return columns


def _names_inside(row: Mapping[str, Any]) -> Iterator[str]:
    for value in row.values():
        if isinstance(value, list):
            for option in value:
                if isinstance(option, dict):
                    yield from option
                    for ratings in option.values():
                        if isinstance(ratings, dict):
                            yield from ratings


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name).strip().lower()


def _scenarios(
    records: Sequence[Record], columns: Mapping[str, str], adl: str | None
) -> list[_Found]:
    """The scenarios of all records.

    Raises:
        BankError: Records do not fit: all of them.
    """
    problems: list[str] = []
    found: dict[str, _Found] = {}
    taken: dict[str, str] = {}
    last = ""
    for where, row in records:
        values = {name: _text(row.get(column)) for name, column in columns.items()
                  if name not in OF_OPTION and name != "options"}  # fmt: skip
        text = values.get("text", "")
        if not text and "options" not in columns:
            text = last  # a merged cell, or a scenario that is written once
        if not text:
            problems.append(f"{where}: has no text of its scenario")
            continue
        last = text
        key = values.get("id") or text
        if key not in found:
            try:
                found[key] = _begin(where, text, values, adl, taken)
            except ValueError as error:
                problems.append(f"{where}: {error}")
                continue
        elif found[key].text != text:
            problems.append(f"{where}: id {key!r} has another text on {found[key].where}")
            continue
        try:
            found[key].ladder += _options(row, columns)
        except ValueError as error:
            problems.append(f"{where}: {error}")
    problems += [f"{s.where}: has no option above 0 points" for s in found.values()
                 if s.ladder and not any(rung["points"] > 0 for rung in s.ladder)]  # fmt: skip
    if problems:
        raise BankError(
            "\n".join([*problems, f"{len(problems)} records do not fit; nothing was written"])
        )
    for scenario in found.values():
        _name_rungs(scenario.ladder)
    return list(found.values())


def _begin(
    where: str, text: str, values: Mapping[str, str], adl: str | None, taken: dict[str, str]
) -> _Found:
    activity, part = _activity(values.get("adl") or adl or "")
    number = 1 + sum(name.startswith(f"{activity}-") for name in taken)
    name = f"{activity}-{number:03d}"
    taken[name] = where
    condition = re.sub(r"[^a-z0-9]+", "-", values.get("condition", "").lower()).strip("-")
    level = values.get("assistance", "")
    level = level.zfill(2) if level else ""
    unknown = [
        (name, values[name])
        for name, plain, known in (
            ("condition", condition, _CONDITIONS),
            ("assistance", level, _LEVELS),
        )
        if plain and plain not in known
    ]
    return _Found(
        where,
        name,
        text,
        activity,
        part,
        condition if condition in _CONDITIONS else None,
        level if level in _LEVELS else None,
        tuple(unknown),
    )


_CONDITIONS = frozenset(Condition)
_LEVELS = frozenset(Assistance)


def _activity(words: str) -> tuple[str, str | None]:
    """The activity that these words name, and the part of the body where it is dressing."""
    plain = _plain(words)
    if not plain:
        raise ValueError("names no activity: map a column to adl, or give --adl for all")
    for adl in Adl:
        if adl.value in plain or adl.value[:5] in plain:
            part = _UPPER if "upper" in plain else _LOWER if "lower" in plain else None
            return adl.value, part if adl is Adl.dressing else None
    raise ValueError(f"activity {words!r} is none of {', '.join(Adl)}")


def _options(row: Mapping[str, Any], columns: Mapping[str, str]) -> list[dict[str, Any]]:
    """The options of a record.

    Raises:
        ValueError: One does not fit.
    """
    if "options" not in columns:
        return [_option(row, columns)]
    inside = row.get(columns["options"])
    if not isinstance(inside, list) or not inside:
        raise ValueError(f"{columns['options']!r} is no list of options")
    return [_option(_object(option, f"option {i}"), columns) for i, option in enumerate(inside, 1)]


def _option(values: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    flat = {**values}
    for value in values.values():
        if isinstance(value, dict):
            flat |= value
    text = _text(flat.get(columns["option"]))
    if not text:
        raise ValueError(f"has no {columns['option']!r}")
    points = _whole(flat.get(columns["points"]), columns["points"], -2, 2)
    if points is None:
        raise ValueError(f"has no {columns['points']!r}")
    rated = {
        domain.value: _whole(flat.get(columns[domain]), columns[domain], 0, 2)
        for domain in Domain
        if domain in columns
    }
    domains = {domain: level for domain, level in rated.items() if level is not None}
    return {"points": points, "text": text, "domains": domains}


def _whole(value: Any, name: str, least: int, most: int) -> int | None:
    """A whole number in these bounds; `None` where nothing stands.

    Raises:
        ValueError: It is another thing.
    """
    text = _text(value).replace("−", "-")
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if number != number or number != int(number) or not least <= number <= most:
        raise ValueError(f"{name} is {text[:60]!r}, expected a whole number {least} to {most}")
    return int(number)


def _text(value: Any) -> str:
    if value is None or isinstance(value, (list, dict)):
        return ""
    return str(value).strip()


def _name_rungs(ladder: list[dict[str, Any]]) -> None:
    """Best first, and an id for each rung whose points are those of another one."""
    ladder.sort(key=lambda rung: -rung["points"])
    points = [rung["points"] for rung in ladder]
    for number, rung in enumerate(ladder, start=1):
        if points.count(rung["points"]) > 1:
            rung["id"] = f"option-{number}"


def _write(root: Path, file: Path, name: str, scenarios: Iterable[_Found]) -> None:
    about = {
        "name": name,
        "title": f"Imported from {file.name}",
        "version": "1-A",
        "licence": "unknown: ask its authors",
        "provenance": f"Imported from {file.name}; its authors know how it was made and vetted.",
        "canary": f"{name}: imported, without a canary of its own",
    }
    _dump(root / "bank.yaml", about)
    for scenario in scenarios:
        content = {
            "id": scenario.id,
            "adl": scenario.adl,
            "part": scenario.part,
            "condition": scenario.condition,
            "assistance": scenario.assistance,
            "text": scenario.text,
            "ladder": scenario.ladder,
        }
        content = {key: value for key, value in content.items() if value is not None}
        _dump(root / scenario.adl / f"{scenario.id}.yaml", content)


def _dump(path: Path, content: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    path.write_text(text, encoding="utf-8")
