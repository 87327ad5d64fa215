"""Audits as JSON; an unknown number is `{"value": null, "reason": "…"}`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from careeval.results.audit import AuditResults, People, SystemAudit
from careeval.results.audit_sample import Sample
from careeval.results.class_agreement import ClassAgreement
from careeval.results.corrected import Corrected
from careeval.results.measured import Measured
from careeval.results.probes import LIMITS, Agreement, Trial
from careeval.sheets.compare_json import estimate_json

SCHEMA = "careeval.audit/2"


def probes_json(bank: str, bank_version: str, trials: Sequence[Trial]) -> dict[str, Any]:
    """What `careeval audit probes --json` prints."""
    return {
        "schema": SCHEMA,
        "bank": bank,
        "bank_version": bank_version,
        "fails_under": [
            {
                "what": limit.what,
                "measure": limit.measure.value,
                "severe": limit.severe,
                "least": limit.least,
                "why": limit.why,
            }
            for limit in LIMITS
        ],
        "graders": [_trial(trial) for trial in trials],
    }


def _trial(trial: Trial) -> dict[str, Any]:
    of = trial.agreement
    return {
        "grader": trial.grader,
        "failed": list(of.failed),
        "severe": measured_json(of.measured_severe),
        "overall": {**_counts(of.overall), **measured_json(of.measured)},
        "by_points": [
            {
                "rubric": rubric.value,
                "points": points,
                **_counts(of.by_points[rubric, points]),
                **measured_json(found),
                "agreement": agreement_json(of.agreement_by_points[rubric, points]),
            }
            for (rubric, points), found in of.measured_by_points.items()
        ],
        "by_trap": [
            {"trap": trap, **_counts(of.by_trap[trap]), **measured_json(found)}
            for trap, found in of.measured_by_trap.items()
        ],
        "pairs": None
        if of.pairs is None
        else {
            "n": of.pairs.n,
            "mistaken": estimate_json(of.pairs.mistaken),
            "swapped": estimate_json(of.pairs.swapped),
        },
        "cost_usd": trial.cost.value,
        "cost_reason": trial.cost.reason,
        "seconds": trial.seconds,
    }


def _counts(counts: Agreement) -> dict[str, int]:
    return asdict(counts)


def measured_json(found: Measured) -> dict[str, Any]:
    """Counts and numbers of a grader against the truth."""
    names = ("sensitivity", "miss_rate", "specificity", "ppv", "macro_f1")
    return {
        "n": found.n,
        "n_present": found.n_present,
        "n_unresolved": found.n_unresolved,
        **{name: estimate_json(getattr(found, name)) for name in names},
    }


def agreement_json(of: ClassAgreement) -> dict[str, Any]:
    """The agreement on one point class."""
    return {
        **{name: getattr(of, name) for name in ("n", "n_unresolved", "n_both", "n_either")},
        "positive_agreement": estimate_json(of.positive_agreement),
        "ac1": estimate_json(of.ac1),
    }


def sample_json(sample: Sample) -> dict[str, Any]:
    """What `careeval audit sample --json` prints: what was drawn from what, and no words."""
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
        "thin": list(sample.thin()),
    }


def results_json(found: AuditResults) -> dict[str, Any]:
    """What `careeval audit results --json` prints."""
    counts = ("n_drawn", "n_labelled", "n_settled", "n_adjudicated", "n_single", "n_tied")
    return {
        "schema": SCHEMA,
        "grader": found.grader,
        "raters": list(found.raters),
        "adjudicators": list(found.adjudicators),
        **{name: getattr(found, name) for name in (*counts, "n_unsure")},
        "waiting": {"n": found.waiting.n, **asdict(found.waiting)},
        "as_drawn": _counts(found.counts),
        "people": {"severe": _people(found.people_severe), "overall": _people(found.people)},
        "severe": measured_json(found.severe),
        "overall": measured_json(found.overall),
        "by_points": [
            {
                "rubric": rubric.value,
                "points": points,
                **measured_json(of),
                "agreement": agreement_json(found.agreement_by_points[rubric, points]),
                "people": agreement_json(found.people_by_points[rubric, points]),
            }
            for (rubric, points), of in found.by_points.items()
        ],
        "by_system": [{"system": system, **_system(of)} for system, of in found.by_system.items()],
    }


def _people(people: People) -> dict[str, Any]:
    names = ("same", "macro_f1")
    counts = {"n": people.n, "n_left_out": people.n_left_out}
    return {**counts, **{name: estimate_json(getattr(people, name)) for name in names}}


def _system(of: SystemAudit) -> dict[str, Any]:
    return {
        "severe": measured_json(of.severe),
        "overall": measured_json(of.overall),
        "scores": {rubric.value: _score(score) for rubric, score in of.scores.items()},
    }


def _score(score: Corrected) -> dict[str, Any]:
    return {
        "graded": score.graded,
        "corrected": estimate_json(score.corrected),
        "n_responses": score.n_responses,
        "n_judgments": score.n_judgments,
    }
