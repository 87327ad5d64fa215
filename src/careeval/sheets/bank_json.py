"""The JSON of `careeval bank`: scenarios, coverage and pilot, as `sheets.bank` prints them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from careeval.bank import Bank
from careeval.bank.coverage import (
    action_points,
    composition_lines,
    coverage,
    domain_shares,
    lengths,
    probe_counts,
)
from careeval.bank.pilot import Presence, item_health
from careeval.core.scenario import Scenario, Split

PILOT = "Answers of AI, graded by AI: no result of a system, and no validation."


def scenario_json(scenario: Scenario) -> dict[str, Any]:
    """Return a scenario as `careeval bank list --json` prints it."""
    return {
        "id": scenario.id,
        "condition": scenario.condition,
        "assistance": scenario.assistance,
        "situation": list(scenario.situation),
        "actor": scenario.actor,
        "split": scenario.split.value,
        **({"twin_of": scenario.twin_of} if scenario.twin_of else {}),
        "words": len(scenario.text.split()),
        "actions": len(scenario.actions),
        "status": scenario.status.value,
    }


def stats_json(bank: Bank) -> dict[str, Any]:
    """Return the output of `careeval bank stats --json`."""
    scenarios = bank.bases
    texts, counts = lengths(scenarios), probe_counts(bank)
    return {
        "bank": bank.about.name,
        "version": bank.about.version,
        "provenance": bank.about.provenance,
        "n_scenarios": len(scenarios),
        "n_twins": sum(s.twin_of is not None and s.control is None for s in bank.scenarios),
        "n_controls": sum(s.control is not None for s in bank.scenarios),
        "shares": composition_lines(scenarios),
        "n_held_out": sum(scenario.split is Split.held_out for scenario in scenarios),
        "coverage": {
            by: {part: {adl.value: n for adl, n in cells.items()} for part, cells in parts.items()}
            for by, parts in coverage(scenarios).items()
        },
        "domain_shares": {domain.value: s for domain, s in domain_shares(scenarios).items()},
        "action_points": {str(p): n for p, n in sorted(action_points(scenarios).items())},
        "words": texts.words if texts else None,
        "reading_grade": texts.grade if texts else None,
        "probes": {
            "n": counts.probes,
            "n_labels": counts.labels,
            "n_present": counts.present,
            "n_severe_present": counts.severe_present,
            "by_trap": dict(counts.by_trap),
            "scores": {
                name: {"n": counts.n[name]} | {rubric.value: s for rubric, s in scores.items()}
                for name, scores in counts.scores.items()
            },
        },
    }


def pilot_json(bank: Bank, rows: Sequence[Presence]) -> dict[str, Any]:
    """Return the output of `careeval bank stats --pilot --json`."""
    return {
        "bank": bank.about.name,
        "version": bank.about.version,
        "what": PILOT,
        **asdict(item_health(bank, rows)),
        "items": [asdict(row) for row in rows],
    }
