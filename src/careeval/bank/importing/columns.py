"""Mapping of an imported file's columns to fields, by their names or as the user says."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from careeval.bank.importing.records import SURPLUS, Record
from careeval.core.scenario import Domain
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
"""Field → names that its column may have, the likeliest first; case, space and underscores do not
matter. The paper's worked example calls the domain functional safety "Risk Awareness"."""

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
    """Return field → its column: the one given, else one found by the field's names.

    That is the column called by the earliest of these names that any column not yet taken has.

    Args:
        fields: Field → the names that its column may have, the likeliest first.
        names: The columns of the file, or the names inside its lists.
        given: Field → the column that the user named.
    """
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
    """Return a name in lower case, with single spaces for hyphens, underscores and spaces."""
    return re.sub(r"[\s_-]+", " ", name).strip().lower()
