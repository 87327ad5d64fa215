"""The JSON of audits, where an unknown number is `{"value": null, "reason": "…"}`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from careeval.people.audit.sample import AuditSample
from careeval.results.people_audit import PeopleAudit
from careeval.sheets.agreement_fields import (
    ACCURACY,
    AGREEMENT,
    CORRECTED,
    PEOPLE,
    point_class,
)
from careeval.sheets.trust.audit_json import SCHEMA, numbers


def sample_json(sample: AuditSample) -> dict[str, Any]:
    """Return the output of `careeval audit sample --json`, which has no texts."""
    hidden = sample.hidden
    return {
        "schema": SCHEMA,
        "grader": hidden.grader,
        "bank": hidden.bank,
        "bank_version": hidden.bank_version,
        "bank_hashes": list(hidden.bank_hashes),
        "protocol": hidden.protocol,
        "seed": hidden.seed,
        "n": len(hidden.drawn),
        "n_responses": len(sample.shown),
        "n_scenarios": len({each.scenario for each in hidden.drawn}),
        "strata": [{**asdict(s), "chance": s.chance} for s in hidden.strata],
        "left_out": dict(hidden.left_out),
        "thin": list(sample.shortfalls()),
    }


def results_json(audit: PeopleAudit) -> dict[str, Any]:
    """Return the output of `careeval audit results --json`."""
    counts = ("n_drawn", "n_labelled", "n_settled", "n_adjudicated", "n_single", "n_tied")
    return {
        "schema": SCHEMA,
        "grader": audit.grader,
        "raters": list(audit.raters),
        "adjudicators": list(audit.adjudicators),
        **{name: getattr(audit, name) for name in (*counts, "n_unsure")},
        "waiting": {"n": audit.waiting.n, **asdict(audit.waiting)},
        "as_drawn": asdict(audit.counts),
        "people": {
            "severe": numbers(audit.people_severe, PEOPLE),
            "overall": numbers(audit.people, PEOPLE),
        },
        "severe": numbers(audit.severe, ACCURACY),
        "overall": numbers(audit.overall, ACCURACY),
        "by_points": [
            {
                **point_class(key),
                **numbers(measured, ACCURACY),
                "agreement": numbers(audit.agreement_by_points[key], AGREEMENT),
                "people": numbers(audit.people_by_points[key], AGREEMENT),
            }
            for key, measured in audit.by_points.items()
        ],
        "by_system": [
            {
                "system": name,
                "severe": numbers(system.severe, ACCURACY),
                "overall": numbers(system.overall, ACCURACY),
                "scores": {
                    rubric.value: numbers(score, CORRECTED)
                    for rubric, score in system.scores.items()
                },
            }
            for name, system in audit.by_system.items()
        ],
    }
