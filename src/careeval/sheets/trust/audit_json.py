"""The JSON of audits, where an unknown number is `{"value": null, "reason": "…"}`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from careeval.results.probe_check import LIMITS, ProbeTrial
from careeval.results.trust.audit.results import AuditResults
from careeval.results.trust.audit.sample import AuditSample
from careeval.sheets.agreement_fields import (
    ACCURACY,
    AGREEMENT,
    CORRECTED,
    PAIR_SLIPS,
    PEOPLE,
    point_class,
)
from careeval.sheets.sheet import Field, row_of
from careeval.sheets.versus.compare_json import estimate_json
from careeval.stats import Estimate

SCHEMA = "careeval.audit/2"


def probes_json(bank: str, bank_version: str, trials: Sequence[ProbeTrial]) -> dict[str, Any]:
    """Return the output of `careeval audit probes --json`."""
    return {
        "schema": SCHEMA,
        "bank": bank,
        "bank_version": bank_version,
        "fails_under": [asdict(limit) for limit in LIMITS],
        "graders": [_trial(trial) for trial in trials],
    }


def _trial(trial: ProbeTrial) -> dict[str, Any]:
    agreement = trial.agreement
    return {
        "grader": trial.grader,
        "failed": list(agreement.failed),
        "severe": _numbers(agreement.severe_accuracy, ACCURACY),
        "overall": asdict(agreement.overall) | _numbers(agreement.accuracy, ACCURACY),
        "by_points": [
            {
                **point_class(key),
                **asdict(agreement.by_points[key]),
                **_numbers(measured, ACCURACY),
                "agreement": _numbers(agreement.agreement_by_points[key], AGREEMENT),
            }
            for key, measured in agreement.accuracy_by_points.items()
        ],
        "by_trap": [
            {"trap": trap, **asdict(agreement.by_trap[trap]), **_numbers(measured, ACCURACY)}
            for trap, measured in agreement.accuracy_by_trap.items()
        ],
        "pairs": agreement.pairs and _numbers(agreement.pairs, PAIR_SLIPS),
        "cost_usd": trial.cost.value,
        "cost_reason": trial.cost.reason,
        "seconds": trial.seconds,
    }


def _numbers(record: object, fields: Iterable[Field]) -> dict[str, Any]:
    """Return field key → number of a record, for these fields."""
    return {
        key: estimate_json(value) if isinstance(value, Estimate) else value
        for key, value in row_of(record, fields).items()
    }


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


def results_json(audit: AuditResults) -> dict[str, Any]:
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
            "severe": _numbers(audit.people_severe, PEOPLE),
            "overall": _numbers(audit.people, PEOPLE),
        },
        "severe": _numbers(audit.severe, ACCURACY),
        "overall": _numbers(audit.overall, ACCURACY),
        "by_points": [
            {
                **point_class(key),
                **_numbers(measured, ACCURACY),
                "agreement": _numbers(audit.agreement_by_points[key], AGREEMENT),
                "people": _numbers(audit.people_by_points[key], AGREEMENT),
            }
            for key, measured in audit.by_points.items()
        ],
        "by_system": [
            {
                "system": name,
                "severe": _numbers(system.severe, ACCURACY),
                "overall": _numbers(system.overall, ACCURACY),
                "scores": {
                    rubric.value: _numbers(score, CORRECTED)
                    for rubric, score in system.scores.items()
                },
            }
            for name, system in audit.by_system.items()
        ],
    }
