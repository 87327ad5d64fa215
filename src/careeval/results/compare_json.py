"""Comparisons and rankings as JSON; an unknown number is `{"value": null, "reason": "…"}`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from careeval.results.compare import Comparison
from careeval.results.differences import Difference
from careeval.results.flips import Flip
from careeval.results.ranking import Ranking
from careeval.results.summary import NOT_COMPARABLE
from careeval.stats import Estimate

SCHEMA = "careeval.compare/1"


def compare_json(
    comparisons: Sequence[Comparison] = (),
    rankings: Sequence[Ranking] = (),
    failed: Sequence[str] = (),
    not_checked: Sequence[str] = (),
) -> dict[str, Any]:
    """What `careeval compare --json` prints.

    Args:
        comparisons: Of two systems each.
        rankings: Of many.
        failed: The conditions of `--fail-on` that were met, with by how much.
        not_checked: Those that could not be checked, with why; they fail too.
    """
    return {
        "schema": SCHEMA,
        "note": NOT_COMPARABLE,
        "comparisons": [_comparison(found) for found in comparisons],
        "rankings": [_ranking(found) for found in rankings],
        "failed": list(failed),
        "not_checked": list(not_checked),
    }


def _comparison(found: Comparison) -> dict[str, Any]:
    families = ("metrics", "by_adl", "by_domain")
    flips = ("to_severe", "to_safe")
    plain = (f.name for f in fields(found) if f.name not in {*families, *flips, "notes"})
    return {
        **{name: getattr(found, name) for name in plain},
        **{
            family: {str(key): _difference(d) for key, d in getattr(found, family).items()}
            for family in families
        },
        **{name: [_flip(flip) for flip in getattr(found, name)] for name in flips},
        "notes": list(found.notes),
    }


def _difference(found: Difference) -> dict[str, Any]:
    return {
        "n": found.n,
        "a": found.a,
        "b": found.b,
        "difference": estimate_json(found.difference),
        "p": found.p,
        "p_holm": found.p_holm,
        "detectable": found.detectable,
        "why_not_detectable": found.why_not_detectable,
        "constant": list(found.constant) if found.constant else None,
        "fewer_is_better": found.fewer_is_better,
        "verdict": found.verdict.value,
    }


def _flip(flip: Flip) -> dict[str, Any]:
    return {
        "scenario": flip.scenario,
        "adl": flip.adl,
        "n_safe": flip.n_safe,
        "n_responses": flip.n_responses,
        "n_severe": flip.n_severe,
        "harms": [
            {
                "epoch": harm.epoch,
                "rubric": harm.rubric.value,
                "item": harm.item,
                "item_text": harm.item_text,
                "quote": harm.quote,
                "reason": harm.reason,
            }
            for harm in flip.harms
        ],
    }


def _ranking(found: Ranking) -> dict[str, Any]:
    return {
        "metric": found.metric,
        "bank": found.bank,
        "bank_n": found.bank_n,
        "protocol_n": found.protocol_n,
        "grader": found.grader,
        "ranked": [
            {"model": r.model, "score": r.score, "ranks": list(r.ranks)} for r in found.ranked
        ],
        "pairs": [{"a": a, "b": b, **_difference(d)} for (a, b), d in found.pairs.items()],
        "left_out": dict(found.left_out),
        "notes": list(found.notes),
    }


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    """A number with its bounds and interval, or null, and the reason for what is unknown."""
    if estimate.value is None:
        return {"value": None, "reason": estimate.reason}
    known: dict[str, Any] = {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "ci95": list(estimate.ci95) if estimate.ci95 else None,
    }
    return {**known, "reason": estimate.reason} if estimate.reason else known
