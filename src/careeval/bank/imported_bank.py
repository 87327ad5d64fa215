"""Making a bank of another bank's file: its columns become fields, its records scenarios."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from careeval.bank.imported_records import SURPLUS, Record, cell_text, options_in, read_records
from careeval.bank.yaml_nodes import MAX_BYTES as MAX_SCENARIO_BYTES
from careeval.bank.yaml_nodes import yaml_text
from careeval.core.scenario import Adl, Assistance, Condition, Domain, Scenario, Slug
from careeval.core.text import counted
from careeval.errors import BankError, did_you_mean

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
"""Field → names that its column may have, the likeliest first; case, space, hyphens and underscores
do not matter. The paper's worked example calls the domain functional safety "Risk Awareness"."""

OF_OPTION = ("option", "points", *Domain)
"""Fields of an option; the others are fields of its scenario."""


def find_columns(records: Sequence[Record], given: Mapping[str, str]) -> dict[str, str]:
    """Return field → column, as given by the user or found by name.

    Raises:
        BankError: A given field or column does not exist, or a required one is not found.
    """
    names = list(dict.fromkeys(name for _, row in records for name in row))
    names = [name for name in names if name not in ("", SURPLUS)]
    lists = [name for name in names if any(isinstance(row.get(name), list) for _, row in records)]
    options = _match({"options": ALIASES["options"]}, lists, given).get("options")
    inside = list(
        dict.fromkeys(name for _, row in records for name in _names_inside(row.get(options or "")))
    )
    outer = {name: ALIASES[name] for name in ALIASES if name not in (*OF_OPTION, "options")}
    inner = {name: ALIASES[name] for name in OF_OPTION}
    if options:
        # inside a list, "text" is the option's text, and "option" may be its number
        inner["option"] = ("text", *inner["option"])
    for name, column in given.items():
        if name not in ALIASES:
            raise BankError(
                f"--map {name}=…: {name!r} is not a field",
                hint=did_you_mean(name, ALIASES) or f"use {', '.join(ALIASES)}",
            )
        candidates = inside if options and name in inner else names
        if column not in candidates:
            raise BankError(
                f"--map {name}={column}: there is no column {column!r}",
                hint=did_you_mean(column, candidates)
                or f"the columns are {', '.join(candidates) or 'none'}",
            )
    if options:
        given = {**given, "options": options}
        columns = _match({"options": (), **outer}, names, given) | _match(inner, inside, given)
    else:
        columns = _match(outer | inner, names, given)
    for name in ("text", "option", "points"):
        if name not in columns:
            where = "options" if options and name in inner else "columns"
            raise BankError(
                f"no column is the {name}: the {where} are "
                f"{', '.join(inside if where == 'options' else names) or 'none'}",
                hint=f"name the column: --map {name}=COLUMN",
            )
    return columns


def _match(
    fields: Mapping[str, Collection[str]], names: Sequence[str], given: Mapping[str, str]
) -> dict[str, str]:
    """Return field → its column: the one given, else the free one that has its likeliest name."""
    columns = {name: column for name, column in given.items() if name in fields}
    for name, aliases in fields.items():
        for alias in aliases:
            for column in names:
                free = name not in columns and column not in columns.values()
                if free and plain_name(column) == plain_name(alias):
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


def plain_name(name: str) -> str:
    """Return a name in lower case, with single spaces for hyphens and underscores too."""
    return re.sub(r"[\s_-]+", " ", name).strip().lower()


STARTS: Mapping[Adl, str] = {
    Adl.dressing: "dress",
    Adl.grooming: "groom",
    Adl.toileting: "toilet",
    Adl.transferring: "transfer",
    Adl.eating: "eat",
    Adl.bathing: "bathi",
}
"""Activity → the beginning of the words for it; "bathi" leaves out "bathroom"."""


@dataclass
class FoundScenario:
    """A scenario assembled from the records read so far."""

    where: str  # Place of its first record
    own_id: str  # Its id in the imported file; empty if it has none
    text: str
    activity: str = ""  # In the words of the imported file
    content: Mapping[str, str] = field(default_factory=dict)
    """Content of its file in the bank, without id and ladder; empty if the record cannot be
    imported."""
    unknown: tuple[tuple[str, str], ...] = ()
    """Field and value, for each value that the bank format does not know."""
    ladder: list[dict[str, Any]] = field(default_factory=list)  # Its options
    id: str = ""  # Its id in the bank, which is set after all records are read


def scenarios_in(
    records: Sequence[Record], columns: Mapping[str, str], adl: str | None
) -> list[FoundScenario]:
    """Return the scenarios of all records; those that name no activity get `adl`.

    Raises:
        BankError: Records cannot be imported; each is listed with its reason.
    """
    problems: list[tuple[str, str]] = []
    scenarios: dict[str, FoundScenario] = {}
    key_by_text: dict[str, str] = {}
    key = ""
    for where, row in records:
        if any(row.get(SURPLUS) or ()):
            problems.append((where, "has more cells than the header has names"))
            continue
        values = {name: cell_text(row.get(column)) for name, column in columns.items()
                  if name not in OF_OPTION and name != "options"}  # fmt: skip
        text, own_id = values["text"], values.get("id", "")
        if own_id or text:
            key = own_id or key_by_text.get(text, text)
        elif "options" in columns:
            key = ""
        # else the scenario of the row before: its cells are merged, or it is written once
        if key not in scenarios and not text:
            problems.append((where, "has no text of its scenario"))
            continue
        if text:
            key_by_text[text] = key
        if key not in scenarios:
            scenarios[key] = FoundScenario(where, own_id, text)
            try:
                _describe(scenarios[key], values, adl)
            except ValueError as error:
                problems.append((where, _error_message(error)))
        elif text and scenarios[key].text != text:
            problems.append((where, f"id {key!r} has another text on {scenarios[key].where}"))
            continue
        try:
            scenarios[key].ladder += options_in(row, columns)
        except ValueError as error:
            problems.append((where, _error_message(error)))
    problems += [(s.where, "has no option above 0 points") for s in scenarios.values()
                 if s.ladder and not any(rung["points"] > 0 for rung in s.ladder)]  # fmt: skip
    if problems:
        lines = [f"{where}: {problem}" for where, problem in problems]
        n_records = counted(len({where for where, _ in problems}), "record")
        last = f"{n_records} cannot be imported, for the reasons above; nothing was written"
        raise BankError("\n".join([*lines, last]), hint="correct them, then import again")
    _name_scenarios(scenarios.values())
    for scenario in scenarios.values():
        _name_rungs(scenario.ladder)
    return list(scenarios.values())


def _error_message(error: ValueError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error)


def _describe(scenario: FoundScenario, values: Mapping[str, str], adl: str | None) -> None:
    scenario.activity = values.get("adl") or adl or ""
    activity, part = _activity(scenario.activity)
    condition = re.sub(r"[^a-z0-9]+", "-", values.get("condition", "").lower()).strip("-")
    level = (level := values.get("assistance", "")) and level.zfill(2)
    scenario.unknown = tuple(
        (name, values[name])
        for name, value, allowed in (
            ("condition", condition, _CONDITIONS),
            ("assistance", level, _LEVELS),
        )
        if value and value not in allowed
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
    plain = plain_name(words)
    if not plain:
        raise ValueError("names no activity: map a column to adl, or give --adl for all")
    named = [adl for adl, start in STARTS.items() if re.search(rf"\b{start}", plain)]
    if not named:
        raise ValueError(f"activity {words!r} is none of {', '.join(Adl)}")
    if len(named) > 1:
        raise ValueError(f"activity {words!r} names {' and '.join(named)}, expected one")
    part = next((f"{half}-body" for half in ("upper", "lower") if half in plain), None)
    return named[0].value, part if named[0] is Adl.dressing else None


def _name_scenarios(scenarios: Iterable[FoundScenario]) -> None:
    """Give each scenario its own id if that has the bank's form, else the next free number."""
    for scenario in scenarios:
        if re.fullmatch(rf"{scenario.content['adl']}-[0-9]{{1,9}}", scenario.own_id):
            scenario.id = scenario.own_id
    own_ids = {scenario.id for scenario in scenarios}
    free_ids = {adl.value: _free_ids(adl, own_ids) for adl in Adl}
    for scenario in scenarios:
        scenario.id = scenario.id or next(free_ids[scenario.content["adl"]])


def _free_ids(adl: Adl, taken: Collection[str]) -> Iterator[str]:
    for number in count(1):
        if (name := f"{adl}-{number:03d}") not in taken:
            yield name


def _name_rungs(ladder: list[dict[str, Any]]) -> None:
    ladder.sort(key=lambda rung: -rung["points"])
    points = [rung["points"] for rung in ladder]
    for number, rung in enumerate(ladder, start=1):
        if points.count(rung["points"]) > 1:
            rung["id"] = f"option-{number}"


MAX_ID_NOTES = 10
"""The most notes on new ids; the rest are counted in one note."""


@dataclass(frozen=True)
class Imported:
    """The result of an import."""

    folder: Path  # The new bank
    n_scenarios: int
    n_options: int
    columns: Mapping[str, str]  # Field → the column that it was read from
    notes: tuple[str, ...]
    """Messages on values left out, on activities recognised by other words, and on new ids."""


def import_bank(
    file: Path, folder: Path, name: str, given: Mapping[str, str], adl: str | None = None
) -> Imported:
    """Make a bank of a file of scenarios with graded options.

    Args:
        file: JSON, JSON lines, CSV or XLSX, by its ending.
        folder: Folder for the bank, new or empty.
        name: Name of the bank in tables and logs: lower case, digits, hyphens.
        given: Field → column, for columns whose names are not in `ALIASES`.
        adl: Activity of scenarios that name none.

    Raises:
        BankError: The name is not valid, the folder is neither new nor empty or cannot be written,
            the file cannot be read, a column is missing, or records cannot be imported, which are
            listed with their numbers. Nothing has been written.
    """
    try:
        TypeAdapter(Slug).validate_python(name)
    except ValidationError as error:
        raise BankError(
            f"{name!r} cannot be the name of a bank",
            hint="use lower case and digits, with single hyphens between, 64 characters at most",
        ) from error
    target = folder.resolve()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise BankError(
            f"{folder} exists and is not an empty folder", hint="name a folder that is new or empty"
        )
    records = read_records(file)
    columns = find_columns(records, given)
    scenarios = scenarios_in(records, columns, adl)
    files = dict(_files(file, name, scenarios))
    try:
        _write(target, files)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise BankError(f"{folder} cannot be written: {why}") from error
    n_options = sum(len(scenario.ladder) for scenario in scenarios)
    return Imported(folder, len(scenarios), n_options, columns, tuple(_notes(scenarios)))


def _notes(scenarios: Sequence[FoundScenario]) -> Iterator[str]:
    counts = Counter(unknown for scenario in scenarios for unknown in scenario.unknown)
    for (name, value), n in sorted(counts.items()):
        left_out = f"left out of {counted(n, 'scenario')}"
        yield f"{name} {value!r} is not known to the bank format: {left_out}"
    for words, adl in dict.fromkeys((s.activity, s.content["adl"]) for s in scenarios):
        if plain_name(words) != adl:
            yield f"activity {words!r} read as {adl}"
    renamed = [s for s in scenarios if s.own_id not in ("", s.id)]
    for scenario in renamed[:MAX_ID_NOTES]:
        yield f"id {scenario.own_id!r} is now {scenario.id!r}"
    if more := len(renamed[MAX_ID_NOTES:]):
        yield f"and {more} more ids were changed"


def _files(file: Path, name: str, scenarios: Iterable[FoundScenario]) -> Iterator[tuple[str, str]]:
    source = file.name.encode(errors="replace").decode()  # a file's name need not be text
    about = {
        "name": name,
        "title": f"Imported from {source}",
        "version": "1-A",
        "licence": "unknown: ask its authors",
        "provenance": f"Imported from {source}; its authors know how it was made and vetted.",
        "canary": f"{name}: imported, without a canary of its own",
    }
    yield "bank.yaml", yaml_text(about)
    for scenario in scenarios:
        text = yaml_text({"id": scenario.id, **scenario.content, "ladder": scenario.ladder})
        if len(text.encode()) > MAX_SCENARIO_BYTES:
            raise BankError(
                f"{scenario.where}: the scenario is too large: {len(text.encode()):,} bytes, "
                f"at most {MAX_SCENARIO_BYTES:,}"
            )
        yield f"{scenario.content['adl']}/{scenario.id}.yaml", text


def _write(folder: Path, files: Mapping[str, str]) -> None:
    """Write all files, or none: they are moved into place once all are written."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".import-") as made:
        root = Path(made)
        for name, text in files.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        # bank.yaml last: without it the folder is not a bank
        for path in sorted(root.iterdir(), key=Path.is_file):
            path.rename(folder / path.name)
