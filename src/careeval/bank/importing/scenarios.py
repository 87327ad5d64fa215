"""Assembly of scenarios from imported records, with an id for each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from pydantic import ValidationError

from careeval.bank.importing.columns import OF_OPTION, plain_name
from careeval.bank.importing.options import options_in
from careeval.bank.importing.records import SURPLUS, Record, cell_text
from careeval.core.scenario import Adl, Assistance, Condition, Scenario
from careeval.core.text import counted
from careeval.errors import BankError

STARTS: Mapping[Adl, str] = {
    Adl.dressing: "dress",
    Adl.grooming: "groom",
    Adl.toileting: "toilet",
    Adl.transferring: "transfer",
    Adl.eating: "eat",
    Adl.bathing: "bathi",
}
"""Activity → the beginning of the words for it; "bathi" leaves out "bathroom"."""

_UPPER, _LOWER = "upper-body", "lower-body"


@dataclass
class FoundScenario:
    """A scenario assembled from the records read so far."""

    where: str  # Place of its first record
    own_id: str  # Its id in the imported file; empty if it has none
    text: str  # The situation
    activity: str = ""  # The activity in the words of the imported file
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
    """Return the scenarios of all records.

    Args:
        records: The records of the file.
        columns: Field → column.
        adl: Activity of scenarios without one.

    Raises:
        BankError: Records cannot be imported; all of these are listed.
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
        raise BankError(
            "\n".join([*lines, last]),
            hint="correct them, then import again",
        )
    _name_scenarios(scenarios.values())
    for scenario in scenarios.values():
        _name_rungs(scenario.ladder)
    return list(scenarios.values())


def _error_message(error: ValueError) -> str:
    """Return an error as one line; if there are several validation errors, only the first."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error)


def _describe(scenario: FoundScenario, values: Mapping[str, str], adl: str | None) -> None:
    """Fill in a scenario from the values of its first record.

    Raises:
        ValueError: A value is not valid.
    """
    scenario.activity = values.get("adl") or adl or ""
    activity, part = _activity(scenario.activity)
    condition = re.sub(r"[^a-z0-9]+", "-", values.get("condition", "").lower()).strip("-")
    level = values.get("assistance", "")
    level = level.zfill(2) if level else ""
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
    """Return the activity that the words name and, for dressing, the part of the body."""
    plain = plain_name(words)
    if not plain:
        raise ValueError("names no activity: map a column to adl, or give --adl for all")
    named = [adl for adl, start in STARTS.items() if re.search(rf"\b{start}", plain)]
    if not named:
        raise ValueError(f"activity {words!r} is none of {', '.join(Adl)}")
    if len(named) > 1:
        raise ValueError(f"activity {words!r} names {' and '.join(named)}, expected one")
    part = _UPPER if "upper" in plain else _LOWER if "lower" in plain else None
    return named[0].value, part if named[0] is Adl.dressing else None


def _name_scenarios(scenarios: Iterable[FoundScenario]) -> None:
    """Give each scenario its own id if that has the bank's form, else the next free number.

    All own ids are assigned first, so that no free number collides with a later scenario's id.
    """
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
    """Sort the rungs best first, and give an id to each whose points are not unique."""
    ladder.sort(key=lambda rung: -rung["points"])
    points = [rung["points"] for rung in ladder]
    for number, rung in enumerate(ladder, start=1):
        if points.count(rung["points"]) > 1:
            rung["id"] = f"option-{number}"
