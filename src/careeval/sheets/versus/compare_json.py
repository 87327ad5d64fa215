"""The JSON of comparisons and rankings, where unknown numbers are null with a reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from careeval.results.compare import Comparison, Flip
from careeval.results.differences import Difference
from careeval.results.ranking import Ranking
from careeval.results.summary import NOT_COMPARABLE
from careeval.stats.estimate import Estimate

SCHEMA = "careeval.compare/2"


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
        "schema": SCHEMA,
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


def _named(record: object, *names: str) -> dict[str, Any]:
    """Return attribute name → value of a record, for JSON."""
    return {name: getattr(record, name) for name in names}


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as JSON: value, interval, bounds if they differ; or null and why."""
    if estimate.value is None:
        return {"value": None, "reason": estimate.reason}
    number: dict[str, Any] = {
        "value": estimate.value,
        "ci95": list(estimate.ci95) if estimate.ci95 else None,
    }
    if estimate.low != estimate.high:
        number |= {"low": estimate.low, "high": estimate.high}
    return {**number, "reason": estimate.reason} if estimate.reason else number
