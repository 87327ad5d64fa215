"""The JSON of every command that prints numbers: plain dicts, built from the numbers themselves.

An unknown number is `{"value": null, "reason": "…"}`. A known one has `low` and `high` only if
unresolved judgments could move it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from careeval.results.care import Rate
from careeval.results.compare import Comparison, Flip, Ranking
from careeval.results.differences import Difference
from careeval.results.entry import NOT_COMPARABLE, Entry
from careeval.results.graded_rubric import Errors
from careeval.results.grader_accuracy import CorrectedScore
from careeval.results.metrics import Number, Numbers
from careeval.results.parts import Breakdown, Part
from careeval.results.probe_check import LIMITS, ProbeTrial
from careeval.results.tables import Cost
from careeval.sheets.graders import ACCURACY, AGREEMENT, PAIR_SLIPS, point_class
from careeval.sheets.sheet import Field, row_of
from careeval.stats.estimate import Estimate

SCHEMA = "careeval.summary/2"
COMPARE_SCHEMA = "careeval.compare/2"
AUDIT_SCHEMA = "careeval.audit/2"


def estimate_json(estimate: Estimate, *, bounds: bool = True) -> dict[str, Any]:
    """Return an estimate as JSON: value, interval, bounds if they differ; or null and why."""
    if estimate.value is None:
        return {"value": None, "reason": estimate.reason}
    has_bounds = bounds and estimate.low != estimate.high
    return {
        "value": estimate.value,
        **(_named(estimate, "low", "high") if has_bounds else {}),
        "ci95": list(estimate.ci95) if estimate.ci95 else None,
        **({"reason": estimate.reason} if estimate.reason else {}),
    }


def numbers_json(record: object, fields: Iterable[Field]) -> dict[str, Any]:
    """Return field key → number of a record, for these fields."""
    return {
        key: estimate_json(value) if isinstance(value, Estimate) else value
        for key, value in row_of(record, fields).items()
    }


def _named(record: object, *names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


# Summary


def summary_json(entries: Sequence[Entry], *, in_detail: bool = False) -> dict[str, Any]:
    """Return the output of `careeval summary --json`; `summary.schema.json` describes it.

    Numbers in `by_adl` and `by_domain` have no bounds here, since their intervals include them; the
    tables of `careeval export` have the bounds.
    """
    return {
        "schema": SCHEMA,
        "note": NOT_COMPARABLE,
        "entries": [_entry(entry, in_detail=in_detail) for entry in entries],
    }


_COUNTS = ("scenarios", "epochs", "responses", "missing", "empty", "refused", "cut", "ungraded",
           "judgments", "unresolved", "gradings", "malformed", "not_executable")  # fmt: skip


def _entry(s: Entry, *, in_detail: bool) -> dict[str, Any]:
    optional = {
        "directions": _metrics(s.directions),
        "by_answer": {answer: _metrics(numbers) for answer, numbers in s.by_answer.items()},
        "detail": in_detail and _detail(s),
        "corrected": s.corrected and _corrected(s.corrected),
    }
    return {
        "system": s.system,
        "given": s.given,
        "step": s.step,
        "model": s.asked,
        "grader": s.grader,
        "rubric": s.rubric,
        "bank": {
            "name": s.bank,
            "version": s.bank_version,
            "hash": s.bank_hash,
            "provenance": s.bank_provenance,
        },
        "protocol": {"asking": s.protocol, "grading": s.grading_protocol},
        "counts": {name: getattr(s, f"n_{name}") for name in _COUNTS},
        **_metrics(s.numbers),
        "severe_by_kind": _metrics(s.severe_by_kind),
        "by_adl": _parts(s.by_adl, bounds=False),
        "by_domain": _parts(s.by_domain, bounds=False),
        "cost": {"asking": _cost(s.cost.asking), "grading": _cost(s.cost.grading)},
        "not_ranked": list(s.not_ranked),
        "warnings": list(s.warnings),
        **{name: value for name, value in optional.items() if value},
    }


def _metrics(numbers: Numbers) -> dict[str, Any]:
    return {key: _number(number) for key, number in numbers.items()}


def _number(number: Number) -> dict[str, Any]:
    if isinstance(number, Errors):
        return _errors(number)
    if isinstance(number, Rate):
        return {"n": number.n, "share": estimate_json(number.share)}
    return estimate_json(number)


def _errors(errors: Errors) -> dict[str, Any]:
    found = {"share": estimate_json(errors.share), **_named(errors, "count", "n")}
    limit = errors.upper_at_zero
    return found if limit is None else {**found, "upper_at_zero": limit}


def _parts(parts: Mapping[Any, Part], *, bounds: bool = True) -> dict[str, Any]:
    return {
        str(name): {
            "n": part.n,
            "score": estimate_json(part.score, bounds=bounds),
            **({"n_severe": part.severe.count} if part.severe else {}),
        }
        for name, part in parts.items()
    }


def _cost(cost: Cost) -> dict[str, Any]:
    names = ("reason", "input_tokens", "output_tokens", "n_calls", "seconds")
    return {"usd": cost.value, **_named(cost, *names)}


def _detail(s: Entry) -> dict[str, Any]:
    known = s.reliability
    return {
        **_metrics(s.numbers_in_detail),
        "worst_at_k": [estimate_json(number) for number in s.worst_at_k],
        "severe_of_k": [estimate_json(number) for number in s.severe_of_k],
        "reliability": {
            "n_scenarios": s.n_reliability,
            "icc": known and known.icc,
            "design_effect": known and known.design_effect,
            "of_mean": known and known.of_mean,
            "reason": s.why_no_reliability,
        },
        "length": {
            "words": estimate_json(s.words),
            "per_100_words": estimate_json(s.per_100_words),
        },
        "by_condition": _parts(s.by(Breakdown.condition)),
        "by_assistance": _parts(s.by(Breakdown.assistance)),
        "by_situation": _parts(s.by(Breakdown.situation)),
        "n_situations": sum(part.n for part in s.by(Breakdown.situation).values()),
        "by_actor": _parts(s.by(Breakdown.actor)),
        "by_adl_and_domain": {
            str(adl): _parts(domains) for adl, domains in s.by_adl_and_domain.items()
        },
    }


def _corrected(score: CorrectedScore) -> dict[str, Any]:
    return {
        "graded": score.graded,
        "corrected": estimate_json(score.corrected),
        **_named(score, "n_responses", "n_judgments"),
    }


# Comparisons and ranks


def compare_json(
    comparisons: Sequence[Comparison] = (),
    rankings: Sequence[Ranking] = (),
    failed: Sequence[str] = (),
    not_checked: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the output of `careeval compare --json`.

    Args:
        comparisons: Comparisons of two systems.
        rankings: Rankings of many systems.
        failed: A sentence for each `--fail-on` condition that was met: by how many points B is
            worse.
        not_checked: A sentence for each `--fail-on` condition that could not be checked, with the
            reason; the command then fails too.
    """
    return {
        "schema": COMPARE_SCHEMA,
        "note": NOT_COMPARABLE,
        "comparisons": [_comparison(comparison) for comparison in comparisons],
        "rankings": [_ranking(ranking) for ranking in rankings],
        "failed": list(failed),
        "not_checked": list(not_checked),
    }


_FAMILIES = ("metrics", "by_adl", "by_domain")
_FLIPS = ("to_severe", "to_safe")


def _comparison(comparison: Comparison) -> dict[str, Any]:
    last = {*_FAMILIES, *_FLIPS, "notes"}
    return {
        **{name: value for name, value in vars(comparison).items() if name not in last},
        **{
            family: {str(key): _difference(d) for key, d in getattr(comparison, family).items()}
            for family in _FAMILIES
        },
        **{name: [_flip(flip) for flip in getattr(comparison, name)] for name in _FLIPS},
        "notes": list(comparison.notes),
    }


def _difference(difference: Difference) -> dict[str, Any]:
    return {
        **_named(difference, "n", "a", "b"),
        "difference": estimate_json(difference.difference),
        **_named(difference, "p", "p_holm", "n_family", "detectable"),
        **_named(difference, "why_not_detectable", "constant", "fewer_is_better", "verdict"),
    }


def _flip(flip: Flip) -> dict[str, Any]:
    harms = [_named(h, "epoch", "item", "item_text", "quote", "reason") for h in flip.harms]
    counts = _named(flip, "scenario", "adl", "n_safe", "n_responses", "n_severe")
    return counts | {"harms": harms}


def _ranking(ranking: Ranking) -> dict[str, Any]:
    ranked = ("system", "score", "ranks", "severe_ranks", "bank_maker")
    return {
        **ranking.basis._asdict(),
        "ranked": [_named(entry, *ranked) for entry in ranking.ranked],
        "pairs": _pairs(ranking.pairs),
        "severe_pairs": _pairs(ranking.severe_pairs),
        "left_out": dict(ranking.left_out),
        "notes": list(ranking.notes),
    }


def _pairs(pairs: Mapping[tuple[str, str], Difference]) -> list[dict[str, Any]]:
    return [{"a": a, "b": b, **_difference(pair)} for (a, b), pair in pairs.items()]


# Probes of graders


def probes_json(bank: str, bank_version: str, trials: Sequence[ProbeTrial]) -> dict[str, Any]:
    """Return the output of `careeval audit probes --json`."""
    return {
        "schema": AUDIT_SCHEMA,
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
        "severe": numbers_json(agreement.severe_accuracy, ACCURACY),
        "overall": asdict(agreement.overall) | numbers_json(agreement.accuracy, ACCURACY),
        "by_points": [
            {
                **point_class(key),
                **asdict(agreement.by_points[key]),
                **numbers_json(measured, ACCURACY),
                "agreement": numbers_json(agreement.agreement_by_points[key], AGREEMENT),
            }
            for key, measured in agreement.accuracy_by_points.items()
        ],
        "by_trap": [
            {"trap": trap, **asdict(agreement.by_trap[trap]), **numbers_json(measured, ACCURACY)}
            for trap, measured in agreement.accuracy_by_trap.items()
        ],
        "pairs": agreement.pairs and numbers_json(agreement.pairs, PAIR_SLIPS),
        "cost_usd": trial.cost.value,
        "cost_reason": trial.cost.reason,
        "seconds": trial.seconds,
    }
