"""The scenarios that the records of somebody's file make together, each with an id of ours."""

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
from careeval.errors import BankError

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
class FoundScenario:
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


def scenarios_in(
    records: Sequence[Record], columns: Mapping[str, str], adl: str | None
) -> list[FoundScenario]:
    """The scenarios of all records.

    Raises:
        BankError: Records do not fit: all of them.
    """
    problems: list[tuple[str, str]] = []
    found: dict[str, FoundScenario] = {}
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
            found[key] = FoundScenario(where, own_id, text)
            try:
                _describe(found[key], values, adl)
            except ValueError as error:
                problems.append((where, _said(error)))
        elif text and found[key].text != text:
            problems.append((where, f"id {key!r} has another text on {found[key].where}"))
            continue
        try:
            found[key].ladder += options_in(row, columns)
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


def _describe(scenario: FoundScenario, values: Mapping[str, str], adl: str | None) -> None:
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
