"""The disputed pilot answers as probes, labelled by their graders.

    python pilot/disputed.py          # how many there are

They stand among the bank's probes. An answer is disputed if one of its two graders was unsure of an
item, or if they differ; where they differ the label is the third reader's. Controls have no probes,
and an answer in which two acts are found that exclude each other is left out.
"""

from __future__ import annotations

import sys
from collections import defaultdict

from figures import frozen_bank, rows

from careeval.bank import Bank
from careeval.bank.rules.items import excluded
from careeval.core.scenario import Probe

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


def main() -> None:
    """Count the disputed answers of bank 3-A."""
    probes = disputed(frozen_bank())
    sys.stdout.write(f"{sum(map(len, probes.values()))} probes of {len(probes)} scenarios\n")


if __name__ == "__main__":
    main()
