"""Compare how a system of another family meets the bank's items with how the pilot's family did.

    python pilot/dif.py RUN           # a run over bank 4, graded on the actions

A class of items functions differently for two families where their difference in it is not their
difference elsewhere. So for each class of good acts, and of bad ones, the table has the share of
judgments that found the act in the pilot's closed-book answers and in the run, the difference, and
that difference less the one over the other acts of the same sign, with its 95% interval (t over
scenarios, linearised). The pilot's answers are AI's, graded by AI: no calibration.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from figures import FIRST, frozen_bank, rows, table, unchanged
from scipy.stats import t

from careeval.bank import Bank, load_bank
from careeval.core.scenario import Action, CareError, Group, ItemKind, Origin, Rubric, Scenario
from careeval.protocol.tables import read_run
from careeval.results.entries import entries

CLASSES = {
    "written from sources (S)": ("group", Group.sources),
    "informed by a pilot (P)": ("group", Group.pilot),
    "technique": ("kind", ItemKind.technique),
    "judgment": ("kind", ItemKind.judgment),
    "easy core": ("core", True),
    "too little care": ("error", CareError.too_little),
    "too much care": ("error", CareError.too_much),
    "from a pilot answer": ("origin", Origin.pilot),
}
"""What a class is called → the field of its acts, or of their scenario, and its value."""

Shares = dict[tuple[str, str], float]
"""Scenario and item → share of judgments that found it."""


def pilot_shares(bank: Bank) -> Shares:
    """The shares in the pilot's closed-book answers, of acts that have not changed since."""
    same = unchanged(bank, frozen_bank())
    return _shares(
        (row["scenario"], row["item"], row["present"])
        for row in rows("gradings", "closed")
        if row["grader"] == FIRST and (row["scenario"], row["item"]) in same
    )


def run_shares(folder: Path) -> Shares:
    """The shares in a run's responses; unresolved judgments left out."""
    of_actions = [e for e in entries(read_run(folder)) if e.rubric is Rubric.actions]
    if len(of_actions) != 1 or of_actions[0].run["bank_version"].partition("-")[0] != "4":
        sys.exit(
            f"{folder}: {len(of_actions)} systems and graders on the actions; expected one, over "
            "bank 4: careeval run --bank 4, graded once"
        )
    entry = of_actions[0]
    judged = entry.first_of("scenario", "item", "present").drop_nulls("present")
    return _shares(judged.iter_rows())


def _shares(judged: Iterator[tuple[str, str, bool]]) -> Shares:
    found: dict[tuple[str, str], list[bool]] = {}
    for scenario, item, present in judged:
        found.setdefault((scenario, item), []).append(present)
    return {key: float(np.mean(of)) for key, of in found.items()}


def lines(bank: Bank, ours: Shares, theirs: Shares) -> Iterator[tuple[str, ...]]:
    """A row for each sign and class that has acts in both and others beside them."""
    for sign, name in ((1, "good"), (-1, "bad")):
        acts = [
            (scenario, act)
            for scenario in bank.bases
            for act in scenario.actions
            if act.points * sign > 0 and {(scenario.id, act.id)} <= ours.keys() & theirs.keys()
        ]
        for what, (field, value) in CLASSES.items():
            inside = [(s, act) for s, act in acts if _value(s, act, field) == value]
            outside = [(s, act) for s, act in acts if _value(s, act, field) != value]
            if min(len({s.id for s, _ in part}) for part in (inside, outside)) < 5:
                continue
            here, rest, error, n = _contrast(inside, outside, ours, theirs)
            margin = float(t.ppf(0.975, n - 1)) * error
            keys = [(s.id, act.id) for s, act in inside]
            yield (
                f"{name} acts, {what}",
                str(len(inside)),
                *(f"{100 * np.mean([of[key] for key in keys]):.1f}" for of in (ours, theirs)),
                f"{100 * here:+.1f}",
                f"{100 * (here - rest):+.1f} "
                f"[{100 * (here - rest - margin):.1f}, {100 * (here - rest + margin):.1f}]",
            )


def _value(scenario: Scenario, act: Action, field: str) -> object:
    return getattr(scenario if field == "group" else act, field)


def _contrast(
    inside: list[tuple[Scenario, Action]],
    outside: list[tuple[Scenario, Action]],
    ours: Shares,
    theirs: Shares,
) -> tuple[float, float, float, int]:
    """Return the mean difference inside and outside a class, and the error of their difference.

    Both may lie in the same scenarios, which the error takes in: sqrt(G / (G - 1) Σ u²), with a
    scenario's u the linearised share that it has in the difference (Miller 2024, with G scenarios).
    """
    scenarios = sorted({s.id for s, _ in (*inside, *outside)})
    means, shares = [], []
    for acts in (inside, outside):
        sums, counts = np.zeros(len(scenarios)), np.zeros(len(scenarios))
        for scenario, act in acts:
            key, place = (scenario.id, act.id), scenarios.index(scenario.id)
            sums[place] += theirs[key] - ours[key]
            counts[place] += 1
        means.append(float(sums.sum() / counts.sum()))
        shares.append((sums - means[-1] * counts) / counts.sum())
    n = len(scenarios)
    error = float(np.sqrt(n / (n - 1) * np.sum((shares[0] - shares[1]) ** 2)))
    return means[0], means[1], error, n


def main() -> int:
    """Print the table for the run that is named."""
    parser = argparse.ArgumentParser(description="Items by the pilot's family and another's.")
    parser.add_argument("run", type=Path)
    given = parser.parse_args()
    head = ("acts", "n", "pilot %", "run %", "run − pilot", "less that of the other acts")
    bank = load_bank("4")
    found = lines(bank, pilot_shares(bank), run_shares(given.run))
    sys.stdout.write("\n".join(table(head, found)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
