"""Import of a file of scenarios with graded options as a bank with ladders.

A file is read as records, one for each option (a spreadsheet's rows) or one for each scenario with
its options inside (JSON). Columns are found by their names, or named by the user. If any record
cannot be imported, all such records are reported with their numbers, and nothing is written.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from careeval.bank.importing.columns import find_columns, plain_name
from careeval.bank.importing.records import read_records
from careeval.bank.importing.scenarios import FoundScenario, scenarios_in
from careeval.bank.yaml_nodes import MAX_BYTES as MAX_SCENARIO_BYTES
from careeval.bank.yaml_nodes import yaml_text
from careeval.core.scenario import Slug
from careeval.core.text import counted
from careeval.errors import BankError

MAX_ID_NOTES = 10
"""The most notes on new ids; the rest are counted in one note."""


@dataclass(frozen=True)
class Imported:
    """The result of an import."""

    folder: Path  # The new bank
    n_scenarios: int  # Number of scenarios
    n_options: int  # Number of their graded options
    columns: Mapping[str, str]  # Field → the column it was read from
    notes: tuple[str, ...]
    """Messages on values left out, on activities recognised by other words, and on new ids."""


def import_bank(
    file: Path, folder: Path, name: str, given: Mapping[str, str], adl: str | None = None
) -> Imported:
    """Make a bank of a file of scenarios with graded options.

    Args:
        file: JSON, JSON lines, CSV or XLSX, by its ending.
        folder: Folder for the bank; new, or empty.
        name: Name of the bank in tables and logs: lower case, digits, hyphens.
        given: Field → column, for columns whose names are not in `columns.ALIASES`.
        adl: Activity of scenarios without one.

    Raises:
        BankError: The name is not valid, the folder is neither new nor empty or cannot be written,
            the file cannot be read, a column is missing, or records cannot be imported, which are
            listed with their numbers. Nothing has been written.
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
    """Yield notes on unknown values, on activities recognised by other words, and on new ids."""
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
    """Yield, for each file of the bank, its path in the bank's folder and its text.

    Raises:
        BankError: A file would be too large to be loaded.
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
    """Write all files, or none: they are moved to their places when all are written."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".import-") as made:
        root = Path(made)
        for name, text in files.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        # bank.yaml last: without it the folder is not a bank
        for path in sorted(root.iterdir(), key=Path.is_file):
            path.rename(folder / path.name)
