"""Comparisons and rankings as JSON; an unknown number is `{"value": null, "reason": "…"}`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from careeval.results.compare import Comparison
from careeval.results.differences import Difference
from careeval.results.flips import Flip
from careeval.results.ranking import Ranking
from careeval.results.summary import NOT_COMPARABLE
from careeval.stats import Estimate

SCHEMA = "careeval.compare/2"


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
        **found.basis._asdict(),
        "ranked": [
            {
                "system": ranked.system,
                "score": ranked.score,
                "ranks": list(ranked.ranks),
                "severe_ranks": list(ranked.severe_ranks) if ranked.severe_ranks else None,
                "bank_maker": ranked.bank_maker,
            }
            for ranked in found.ranked
        ],
        "pairs": _pairs(found.pairs),
        "severe_pairs": _pairs(found.severe_pairs),
        "left_out": dict(found.left_out),
        "notes": list(found.notes),
    }


def _pairs(pairs: Mapping[tuple[str, str], Difference]) -> list[dict[str, Any]]:
    return [{"a": a, "b": b, **_difference(pair)} for (a, b), pair in pairs.items()]


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    """A number with its interval, and its bounds where they differ; or null with the reason."""
    if estimate.value is None:
        return {"value": None, "reason": estimate.reason}
    known: dict[str, Any] = {
        "value": estimate.value,
        "ci95": list(estimate.ci95) if estimate.ci95 else None,
    }
    if estimate.low != estimate.high:
        known |= {"low": estimate.low, "high": estimate.high}
    return {**known, "reason": estimate.reason} if estimate.reason else known
