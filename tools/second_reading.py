"""A second, blind reading of rubrics and labels: writes sheets, and takes in the readings.

    python tools/second_reading.py sheets FOLDER              a sheet a scenario, to be read blind
    python tools/second_reading.py take FOLDER --round last   what was read, into the bank
    python tools/second_reading.py stats BANK                 agreement of readings with the bank

A sheet has a scenario, its items shuffled and without points, domains or reasons, and its probes
without traps or labels. Beside `<id>.md` the reader writes `<id>.json`:

    {"points": {"A1": [2, {"functional_safety": 2}], …, "R5": [-1, {…}]},
     "labels": {"P1": ["A1", "A3"], …}}

`--held-out FOLDER` reads and writes a held-out split that lies open, in place of the bank.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from readings import (
    FOLDER,
    Consistency,
    LabelRead,
    PointsRead,
    reading_document,
    second_reading,
)

from careeval.bank import OWN_BANK, Bank, load_bank
from careeval.bank.load import read_bank
from careeval.bank.reader import parse_rows, rows_text
from careeval.bank.sealed import pack
from careeval.core.scenario import Probe, Rubric, RubricItem, Scenario, Split
from careeval.sheets.markup import markdown

T = TypeVar("T", Probe, RubricItem)

RUBRICS = {"A": Rubric.actions, "R": Rubric.ladder}
"""How the names of items begin on a sheet."""


def shuffled(things: Iterable[T], scenario: Scenario, prefix: str) -> dict[str, T]:
    """Return things under neutral names, in an order that depends on their ids only."""

    def place(thing: T) -> bytes:
        return hashlib.sha256(f"{scenario.id} {prefix} {thing.id}".encode()).digest()

    return {f"{prefix}{i}": thing for i, thing in enumerate(sorted(things, key=place), start=1)}


def sheet(scenario: Scenario, probes: Sequence[Probe]) -> str:
    """Return the sheet for the reader."""
    lines = [f"# {scenario.id}", "", scenario.text, "", f"You: {scenario.role}.",
             f"Who else: {scenario.helpers}.", ""]  # fmt: skip
    for title, prefix, rubric in (
        ("Acts", "A", Rubric.actions),
        ("Whole answers", "R", Rubric.ladder),
    ):
        lines += [f"## {title}", ""]
        items = shuffled(scenario.rubric(rubric), scenario, prefix)
        lines += [f"- {name}: {item.text}" for name, item in items.items()]
        lines.append("")
    lines += ["## Answers", ""]
    for name, probe in shuffled(probes, scenario, "P").items():
        lines += [f"{name}: {probe.text}", ""]
    return "\n".join(lines)


def points_read(scenario: Scenario, said: dict[str, Any]) -> list[PointsRead]:
    """Return the reader's points beside the author's."""
    rows = []
    for prefix, rubric in RUBRICS.items():
        for name, item in shuffled(scenario.rubric(rubric), scenario, prefix).items():
            points, domains = said["points"][name]
            author, reader = _domains(item.domains), _domains(domains)
            rows.append(
                PointsRead(
                    scenario.id, scenario.version, rubric, item.id, item.points, int(points),
                    author, reader,
                )
            )  # fmt: skip
    return rows


def labels_read(
    scenario: Scenario, probes: Sequence[Probe], said: dict[str, Any]
) -> list[LabelRead]:
    """Return the reader's labels beside the author's."""
    acts = shuffled(scenario.actions, scenario, "A")
    return [
        LabelRead(
            scenario.id, scenario.version, probe.id, act.id,
            "present" if probe.labels[act.id] else "absent",
            "present" if mark in said["labels"][name] else "absent",
        )
        for name, probe in shuffled(probes, scenario, "P").items()
        for mark, act in acts.items()
    ]  # fmt: skip


def _domains(levels: Any) -> str:
    return " ".join(f"{name}:{level}" for name, level in sorted(dict(levels).items()))


def main() -> None:
    """Write sheets, take in readings, or print their agreement with the bank."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=["sheets", "take", "stats"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--round", choices=["first", "last"], default="first")
    parser.add_argument("--only", nargs="*", default=[], help="ids; all where not given")
    parser.add_argument("--held-out", type=Path, help="a held-out split that lies open")
    args = parser.parse_args()
    if args.what == "stats":
        read = second_reading(args.folder, {})
        document = reading_document(load_bank(args.folder), read)
        sys.stdout.write(markdown(replace(document, notes=())))
        sys.stderr.write("".join(f"{note}\n" for note in document.notes))
        return
    bank, wanted = _bank(args.held_out)
    scenarios = [
        s for s in bank.scenarios if s.split is wanted and (not args.only or s.id in args.only)
    ]
    args.folder.mkdir(parents=True, exist_ok=True)
    if args.what == "sheets":
        for scenario in scenarios:
            text = sheet(scenario, bank.probes[scenario.id])
            (args.folder / f"{scenario.id}.md").write_text(text, encoding="utf-8")
        return
    home = (args.held_out or OWN_BANK) / FOLDER
    home.mkdir(exist_ok=True)
    points: list[PointsRead] = []
    labels: list[LabelRead] = []
    for scenario in scenarios:
        path = args.folder / f"{scenario.id}.json"
        if not path.exists():
            sys.stderr.write(f"{scenario.id}: not read\n")
            continue
        try:
            reading = json.loads(path.read_text(encoding="utf-8"))
            points += points_read(scenario, reading)
            labels += labels_read(scenario, bank.probes[scenario.id], reading)
        except (ValueError, KeyError, TypeError) as error:
            sys.exit(f"{path}: {type(error).__name__}: {error}")
    _add(home / f"points-{args.round}.csv", points, PointsRead)
    _add(home / f"labels-{args.round}.csv", labels, LabelRead)
    consistency = Consistency.of(points)
    differ = [row for row in labels if row.author != row.reader]
    for row in (*consistency.far, *differ):
        sys.stderr.write(f"{row}\n")
    sys.stdout.write(
        f"{consistency.n} items, kappa {consistency.kappa}, {len(consistency.far)} far, "
        f"{len(consistency.flips)} flips; "
        f"{len(labels)} labels, {len(differ)} differ\n"
    )


def _bank(held_out: Path | None) -> tuple[Bank, Split]:
    if held_out is None:
        return load_bank(), Split.public
    return read_bank(OWN_BANK, json.loads(pack(held_out))), Split.held_out


R = TypeVar("R", PointsRead, LabelRead)


def _add(path: Path, rows: Sequence[R], kind: type[R]) -> None:
    """Add rows to a file, replacing older ones of the same scenarios."""
    new = {row.scenario for row in rows}
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    old = parse_rows(text, kind, str(path), "second reading")
    kept = [row for row in old if row.scenario not in new]
    both = sorted([*kept, *rows], key=lambda row: row.scenario)
    path.write_text(rows_text(both, kind), encoding="utf-8")


if __name__ == "__main__":
    main()
