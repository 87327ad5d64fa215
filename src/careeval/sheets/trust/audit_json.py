"""The JSON of audits, where an unknown number is `{"value": null, "reason": "…"}`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from careeval.results.probe_check import LIMITS, ProbeTrial
from careeval.sheets.agreement_fields import (
    ACCURACY,
    AGREEMENT,
    PAIR_SLIPS,
    point_class,
)
from careeval.sheets.sheet import Field, row_of
from careeval.sheets.versus.compare_json import estimate_json
from careeval.stats.estimate import Estimate

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
        "severe": numbers(agreement.severe_accuracy, ACCURACY),
        "overall": asdict(agreement.overall) | numbers(agreement.accuracy, ACCURACY),
        "by_points": [
            {
                **point_class(key),
                **asdict(agreement.by_points[key]),
                **numbers(measured, ACCURACY),
                "agreement": numbers(agreement.agreement_by_points[key], AGREEMENT),
            }
            for key, measured in agreement.accuracy_by_points.items()
        ],
        "by_trap": [
            {"trap": trap, **asdict(agreement.by_trap[trap]), **numbers(measured, ACCURACY)}
            for trap, measured in agreement.accuracy_by_trap.items()
        ],
        "pairs": agreement.pairs and numbers(agreement.pairs, PAIR_SLIPS),
        "cost_usd": trial.cost.value,
        "cost_reason": trial.cost.reason,
        "seconds": trial.seconds,
    }


def numbers(record: object, fields: Iterable[Field]) -> dict[str, Any]:
    """Return field key → number of a record, for these fields."""
    return {
        key: estimate_json(value) if isinstance(value, Estimate) else value
        for key, value in row_of(record, fields).items()
    }
