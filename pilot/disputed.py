"""Write the disputed pilot answers into the bank as probes, labelled by their graders.

    python pilot/disputed.py          # how many there are
    python pilot/disputed.py --write  # append those that are missing to their scenarios' probes

An answer is disputed if one of its two graders was unsure of an item, or if they differ; where
they differ the label is the third reader's. Controls have no probes, and an answer in which two
acts are found that exclude each other is left out.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from textwrap import indent

from figures import rows

from careeval.bank import Bank, bank_folder, load_bank
from careeval.bank.rules.probes import excluded
from careeval.bank.yaml_nodes import yaml_text
from careeval.core.scenario import CareError, Probe

TRAP = "disputed"
"""The trap of these probes."""


def disputed(bank: Bank) -> dict[str, tuple[Probe, ...]]:
    """Return the disputed answers of public bases and twins as probes, by scenario."""
    settled = {
        (row["scenario"], row["epoch"], row["item"]): row["present"]
        for row in rows("gradings", "settled")
    }
    labels: dict[tuple[str, int, str], set[bool]] = defaultdict(set)
    unsure: set[tuple[str, int]] = set()
    for row in (*rows("gradings", "closed"), *rows("gradings", "rungs")):
        labels[row["scenario"], row["epoch"], row["item"]].add(row["present"])
        if row.get("unsure"):
            unsure.add((row["scenario"], row["epoch"]))
    probes: dict[str, list[Probe]] = defaultdict(list)
    for row in rows("answers", "closed"):
        answer = row["scenario"], row["epoch"]
        scenario = bank.scenario(answer[0])
        items = [action.id for action in scenario.actions]
        items += [rung.id for rung in scenario.ladder if not rung.of]
        differ = any(len(labels[*answer, item]) > 1 for item in items)
        if scenario.control is not None or not (differ or answer in unsure):
            continue
        agreed = {
            item: settled[*answer, item] if len(given) > 1 else next(iter(given))
            for item in items
            for given in (labels[*answer, item],)
        }
        present = [action for action in scenario.actions if agreed[action.id]]
        if not any(excluded(one, other) for one in present for other in present):
            name = f"{TRAP}-{row['epoch']}"
            probe = Probe(id=name, trap=TRAP, text=row["response"], labels=agreed)
            probes[scenario.id].append(probe)
    return dict(probes)


def write(bank: Bank, scenario: str, probes: tuple[Probe, ...]) -> None:
    """Append the probes that its file lacks, with the indent that the file has."""
    there = {probe.id for probe in bank.probes[scenario]}
    missing = [
        {
            **probe.model_dump(mode="json"),
            "labels": {item: "present" if on else "absent" for item, on in probe.labels.items()},
        }
        for probe in probes
        if probe.id not in there
    ]
    if missing:
        path = bank_folder("3") / bank.scenario(scenario).adl.value / f"{scenario}.probes.yaml"
        text = path.read_text(encoding="utf-8")
        margin = "  " if "\n  - id:" in text else ""
        path.write_text(text + indent(yaml_text(missing), margin), encoding="utf-8")


def main() -> None:
    """Count the disputed answers; with `--write`, write them into the bank."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    try:
        bank = load_bank(bank_folder("3"))
    except CareError as error:
        sys.exit(str(error))
    probes = disputed(bank)
    if args.write:
        for scenario, some in probes.items():
            write(bank, scenario, some)
    sys.stdout.write(f"{sum(map(len, probes.values()))} probes of {len(probes)} scenarios\n")


if __name__ == "__main__":
    main()
