"""Another bank's file into a bank of ours: graded options become ladders.

A file is read as records, one for each option (a spreadsheet's rows) or one for each scenario with
its options inside (JSON). Columns are found by their names, or named by the user. All or nothing:
where a record does not fit, every such record is reported with its number, and nothing is written.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from careeval.bank.load import did_you_mean
from careeval.bank.records import SURPLUS, Record, as_object, cell_text, read_records
from careeval.bank.yaml_nodes import MAX_BYTES as MAX_SCENARIO_BYTES
from careeval.core.scenario import Adl, Assistance, Condition, Domain, Rung, Scenario, Slug
from careeval.errors import BankError

MAX_ID_NOTES = 10
"""Notes on new ids before the rest is only counted."""

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
"""Field → names that a column may have, the likeliest first; case, space and underscores do not
matter. The paper's worked example prints "Risk Awareness" for the domain of functional safety."""

OF_OPTION = ("option", "points", *Domain)
"""Fields of an option; the others are of its scenario."""

STARTS: Mapping[Adl, str] = {
    Adl.dressing: "dress",
    Adl.grooming: "groom",
    Adl.toileting: "toilet",
    Adl.transferring: "transfer",
    Adl.eating: "eat",
    Adl.bathing: "bathi",
}
"""Activity → what a word that names it begins with; a bathroom names none."""

_UPPER, _LOWER = "upper-body", "lower-body"


@dataclass
class _Found:
    """A scenario as far as its records have been read.

    Attributes:
        where: Its first record.
        own_id: Its id in the file it comes from; empty where it has none.
        text: The situation.
        activity: As the file words it.
        content: What its own file says but for id and ladder; empty where it does not fit.
        unknown: Name and value of what is none of ours.
        ladder: Its options.
        id: Its id in the bank, which it has once all are read.
    """

    where: str
    own_id: str
    text: str
    activity: str = ""
    content: Mapping[str, str] = field(default_factory=dict)
    unknown: tuple[tuple[str, str], ...] = ()
    ladder: list[dict[str, Any]] = field(default_factory=list)
    id: str = ""


@dataclass(frozen=True)
class Imported:
    """What an import wrote.

    Attributes:
        folder: The new bank.
        n_scenarios: Scenarios.
        n_options: Their graded options.
        columns: Field → the column that was taken for it.
        notes: What was left out, what was read as something else, and which ids are new.
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
    try:
        TypeAdapter(Slug).validate_python(name)
    except ValidationError as error:
        raise BankError(
            f"{name!r} is no name for a bank",
            hint="use lower case and digits, with single hyphens between, 64 characters at most",
        ) from error
    target = folder.resolve()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise BankError(f"{folder} is there already", hint="name a folder that is new")
    records = read_records(file)
    columns = find_columns(records, given)
    scenarios = _scenarios(records, columns, adl)
    files = dict(_files(file, name, scenarios))
    try:
        _write(target, files)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise BankError(f"{folder} cannot be written: {why}") from error
    n_options = sum(len(scenario.ladder) for scenario in scenarios)
    return Imported(folder, len(scenarios), n_options, columns, tuple(_notes(scenarios)))


def _notes(scenarios: Sequence[_Found]) -> Iterator[str]:
    """Each value of a column that is none of ours, each activity read from other words, new ids."""
    counts = Counter(unknown for scenario in scenarios for unknown in scenario.unknown)
    for (name, value), n in sorted(counts.items()):
        yield f"{name} {value!r} is none that this bank knows: left out in {n} scenarios"
    for words, adl in dict.fromkeys((s.activity, s.content["adl"]) for s in scenarios):
        if _plain(words) != adl:
            yield f"activity {words!r} read as {adl}"
    renamed = [s for s in scenarios if s.own_id not in ("", s.id)]
    for scenario in renamed[:MAX_ID_NOTES]:
        yield f"id {scenario.own_id!r} is now {scenario.id!r}"
    if more := len(renamed[MAX_ID_NOTES:]):
        yield f"and {more} more ids are new ones"


def find_columns(records: Sequence[Record], given: Mapping[str, str]) -> dict[str, str]:
    """Field → column, as given or by its name.

    Raises:
        BankError: A given field or column is not known, or what must be there is not.
    """
    there = list(dict.fromkeys(name for _, row in records for name in row))
    there = [name for name in there if name not in ("", SURPLUS)]
    lists = [name for name in there if any(isinstance(row.get(name), list) for _, row in records)]
    options = _match({"options": ALIASES["options"]}, lists, given).get("options")
    inside = list(
        dict.fromkeys(name for _, row in records for name in _names_inside(row.get(options or "")))
    )
    outer = {name: ALIASES[name] for name in ALIASES if name not in (*OF_OPTION, "options")}
    inner = {name: ALIASES[name] for name in OF_OPTION}
    if options:
        # an option's own text needs no other name there, and is what "option" may else number
        inner["option"] = ("text", *inner["option"])
    for name, column in given.items():
        if name not in ALIASES:
            raise BankError(
                f"{name!r} is no field to map to",
                hint=did_you_mean(name, ALIASES) or f"use {', '.join(ALIASES)}",
            )
        names = inside if options and name in inner else there
        if column not in names:
            raise BankError(
                f"there is no column {column!r}",
                hint=did_you_mean(column, names) or f"there are {', '.join(names) or 'none'}",
            )
    if options:
        given = {**given, "options": options}
        columns = _match({"options": (), **outer}, there, given) | _match(inner, inside, given)
    else:
        columns = _match(outer | inner, there, given)
    for name in ("text", "option", "points"):
        if name not in columns:
            where = "options" if options and name in inner else "columns"
            raise BankError(
                f"no column is the {name}: the {where} are "
                f"{', '.join(inside if where == 'options' else there) or 'none'}",
                hint=f"name it: --map {name}=COLUMN",
            )
    return columns


def _match(
    fields: Mapping[str, Collection[str]], names: Sequence[str], given: Mapping[str, str]
) -> dict[str, str]:
    """Field → the column that is given, or the first that it may have and no other one took."""
    columns = {name: column for name, column in given.items() if name in fields}
    for name, aliases in fields.items():
        for alias in aliases:
            for column in names:
                free = name not in columns and column not in columns.values()
                if free and _plain(column) == _plain(alias):
                    columns[name] = column
    return columns


def _names_inside(options: Any) -> Iterator[str]:
    if isinstance(options, list):
        for option in options:
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
    problems: list[tuple[str, str]] = []
    found: dict[str, _Found] = {}
    of_text: dict[str, str] = {}
    key = ""
    for where, row in records:
        if any(row.get(SURPLUS) or ()):
            problems.append((where, "has more cells than the header has names"))
            continue
        values = {name: cell_text(row.get(column)) for name, column in columns.items()
                  if name not in OF_OPTION and name != "options"}  # fmt: skip
        text, own_id = values["text"], values.get("id", "")
        if own_id or text:
            key = own_id or of_text.get(text, text)
        elif "options" in columns:
            key = ""
        # else merged cells, or a scenario that is written once: that of the row before
        if key not in found and not text:
            problems.append((where, "has no text of its scenario"))
            continue
        if text:
            of_text[text] = key
        if key not in found:
            found[key] = _Found(where, own_id, text)
            try:
                _describe(found[key], values, adl)
            except ValueError as error:
                problems.append((where, _said(error)))
        elif text and found[key].text != text:
            problems.append((where, f"id {key!r} has another text on {found[key].where}"))
            continue
        try:
            found[key].ladder += _options(row, columns)
        except ValueError as error:
            problems.append((where, _said(error)))
    problems += [(s.where, "has no option above 0 points") for s in found.values()
                 if s.ladder and not any(rung["points"] > 0 for rung in s.ladder)]  # fmt: skip
    if problems:
        lines = [f"{where}: {problem}" for where, problem in problems]
        n_records = len({where for where, _ in problems})
        raise BankError("\n".join([*lines, f"{n_records} records do not fit; nothing was written"]))
    scenarios = list(found.values())
    _name_scenarios(scenarios)
    for scenario in scenarios:
        _name_rungs(scenario.ladder)
    return scenarios


def _said(error: ValueError) -> str:
    """An error in a line, the first of those that a type has found."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error)


def _describe(scenario: _Found, values: Mapping[str, str], adl: str | None) -> None:
    """Read what its first record says of a scenario.

    Raises:
        ValueError: It does not fit.
    """
    scenario.activity = values.get("adl") or adl or ""
    activity, part = _activity(scenario.activity)
    condition = re.sub(r"[^a-z0-9]+", "-", values.get("condition", "").lower()).strip("-")
    level = values.get("assistance", "")
    level = level.zfill(2) if level else ""
    scenario.unknown = tuple(
        (name, values[name])
        for name, plain, known in (
            ("condition", condition, _CONDITIONS),
            ("assistance", level, _LEVELS),
        )
        if plain and plain not in known
    )
    content = {
        "adl": activity,
        "part": part,
        "condition": condition if condition in _CONDITIONS else None,
        "assistance": level if level in _LEVELS else None,
        "text": scenario.text,
    }
    scenario.content = {name: value for name, value in content.items() if value is not None}
    Scenario.model_validate({"id": activity, **scenario.content})


_CONDITIONS = frozenset(Condition)
_LEVELS = frozenset(Assistance)


def _activity(words: str) -> tuple[str, str | None]:
    """The activity that these words name, and the part of the body where it is dressing."""
    plain = _plain(words)
    if not plain:
        raise ValueError("names no activity: map a column to adl, or give --adl for all")
    named = [adl for adl, start in STARTS.items() if re.search(rf"\b{start}", plain)]
    if not named:
        raise ValueError(f"activity {words!r} is none of {', '.join(Adl)}")
    if len(named) > 1:
        raise ValueError(f"activity {words!r} names {' and '.join(named)}, expected one")
    part = _UPPER if "upper" in plain else _LOWER if "lower" in plain else None
    return named[0].value, part if named[0] is Adl.dressing else None


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
    return [
        _option(as_object(option, f"option {i}"), columns) for i, option in enumerate(inside, 1)
    ]


def _option(values: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    flat = {**values}
    for value in values.values():
        if isinstance(value, dict):
            flat |= value
    text = cell_text(flat.get(columns["option"]))
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
    rung = {"points": points, "text": text, "domains": domains}
    Rung.model_validate(rung)
    return rung


def _whole(value: Any, name: str, least: int, most: int) -> int | None:
    """A whole number in these bounds; `None` where nothing stands.

    Raises:
        ValueError: It is another thing.
    """
    text = cell_text(value).replace("−", "-")
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not number.is_integer() or not least <= number <= most:
        raise ValueError(f"{name} is {text[:60]!r}, expected a whole number {least} to {most}")
    return int(number)


def _name_scenarios(scenarios: Iterable[_Found]) -> None:
    """Its own id to each that has one of the bank's form, and the next free number to the others.

    All own ids come first, so that no number is taken that stands further down in the file.
    """
    for scenario in scenarios:
        if re.fullmatch(rf"{scenario.content['adl']}-[0-9]{{1,9}}", scenario.own_id):
            scenario.id = scenario.own_id
    own = {scenario.id for scenario in scenarios}
    free = {adl.value: _free(adl, own) for adl in Adl}
    for scenario in scenarios:
        scenario.id = scenario.id or next(free[scenario.content["adl"]])


def _free(adl: Adl, taken: Collection[str]) -> Iterator[str]:
    for number in count(1):
        if (name := f"{adl}-{number:03d}") not in taken:
            yield name


def _name_rungs(ladder: list[dict[str, Any]]) -> None:
    """Best first, and an id for each rung whose points are those of another one."""
    ladder.sort(key=lambda rung: -rung["points"])
    points = [rung["points"] for rung in ladder]
    for number, rung in enumerate(ladder, start=1):
        if points.count(rung["points"]) > 1:
            rung["id"] = f"option-{number}"


def _files(file: Path, name: str, scenarios: Iterable[_Found]) -> Iterator[tuple[str, str]]:
    """Path in the bank's folder, and text, of each of its files.

    Raises:
        BankError: One would be too long to be read again.
    """
    source = file.name.encode(errors="replace").decode()  # a file's name need not be text
    about = {
        "name": name,
        "title": f"Imported from {source}",
        "version": "1-A",
        "licence": "unknown: ask its authors",
        "provenance": f"Imported from {source}; its authors know how it was made and vetted.",
        "canary": f"{name}: imported, without a canary of its own",
    }
    yield "bank.yaml", _yaml(about)
    for scenario in scenarios:
        text = _yaml({"id": scenario.id, **scenario.content, "ladder": scenario.ladder})
        if len(text.encode()) > MAX_SCENARIO_BYTES:
            raise BankError(
                f"{scenario.where}: its scenario is too long: at most {MAX_SCENARIO_BYTES:,} bytes"
            )
        yield f"{scenario.content['adl']}/{scenario.id}.yaml", text


def _yaml(content: Mapping[str, Any]) -> str:
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    return text


def _write(folder: Path, files: Mapping[str, str]) -> None:
    """Write all files, or none: they are moved to their places once all are there."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".import-") as made:
        root = Path(made)
        for name, text in files.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        # bank.yaml last: what has none is no bank
        for path in sorted(root.iterdir(), key=Path.is_file):
            path.rename(folder / path.name)
