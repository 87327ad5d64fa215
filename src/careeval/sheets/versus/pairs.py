"""Sheets of ranked systems, each two of them: what they differ by, and what may be said of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from careeval.results.amounts import percent
from careeval.results.parts import By
from careeval.results.score.metrics import COMPARED
from careeval.results.score.summary import Summary
from careeval.results.versus.compare import Comparison
from careeval.results.versus.differences import Difference, Verdict
from careeval.results.versus.ranking import RANKED_BY, Ranking
from careeval.sheets.entries.numbers import (
    BANK,
    BANK_VERSION,
    GRADER,
    GRADING_PROTOCOL,
    PARTS,
    PROTOCOL,
    RUBRIC,
)
from careeval.sheets.estimate_kinds import MEASURE
from careeval.sheets.kinds import Words
from careeval.sheets.page_kinds import PointsApart
from careeval.sheets.sheet import Field, Row, Sheet
from careeval.sheets.versus.comparisons import A, B, difference_fields, difference_row
from careeval.sheets.words import SMALL
from careeval.stats import MIN_CLUSTERS

VERDICTS = {
    Verdict.better: "second is better",
    Verdict.worse: "first is better",
    Verdict.unclear: "no clear difference",
    Verdict.unknown: "unknown",
}
_ASKED = (BANK, BANK_VERSION, PROTOCOL, GRADING_PROTOCOL, GRADER, RUBRIC)
"""What both were asked and judged by; versions that compare may differ in X."""

_FIELDS = (
    *difference_fields("its family"),
    Field("p_holm_family", "what it is corrected for; null where there is no p"),
    Field("verdict", "what may be said of the second against the first, by the corrected p"),
    *_ASKED,
)
_HOLDS = "two systems that one grader judged on one rubric, and a number of theirs"
_ADL, _DOMAIN = replace(PARTS[By.adl], key="activity"), PARTS[By.domain]


def ranked_pairs_sheet(ranked: Iterable[Summary], ranking: Ranking, caption: str) -> Sheet:
    """Return each two ranked systems, the better one first, by each of `RANKED_BY`."""
    family = _all_pairs(ranking)
    rows = [
        {
            "metric": key,
            **_pair_row(a, b, ranking.difference(key, a.system, b.system), family),
        }
        for a, b in combinations(ranked, 2)
        for key in RANKED_BY
    ]
    return Sheet("ranked_pairs", _HOLDS, (A, B, _metric("n"), *_FIELDS), rows, caption)


def pair_sheets(
    a: Summary, b: Summary, comparison: Comparison, ranking: Ranking
) -> tuple[Sheet, ...]:
    """Return what two ranked entries differ by: by metric, by activity, by domain.

    Each is a family of its own, but for what the ranking rests on: that has the p of all its pairs.
    """
    ranked = {key: ranking.difference(key, a.system, b.system) for key in RANKED_BY}
    metrics = {
        key: ranked.get(key, d)
        for key, d in comparison.metrics.items()
        if d.n or d.difference.value is not None
    }
    by_adl = {adl.value: d for adl, d in comparison.by_adl.items()}
    by_domain = {domain.value: d for domain, d in comparison.by_domain.items()}
    families: tuple[tuple[str, Field, str, str, Mapping[str, Difference]], ...] = (
        ("pair_metrics", _metric(str(a.n_epochs)), "By metric", "metric", metrics),
        ("pair_by_adl", _ADL, "Score by activity", "activity", by_adl),
        ("pair_by_domain", _DOMAIN, "Score by domain", "domain", by_domain),
    )
    return tuple(_family(a, b, ranking, *family) for family in families)


def _family(
    a: Summary,
    b: Summary,
    ranking: Ranking,
    name: str,
    of: Field,
    caption: str,
    one: str,
    differences: Mapping[str, Difference],
) -> Sheet:
    n = sum(d.p is not None for d in differences.values())
    own, of_all = f"over {_counted(n, one)}", _all_pairs(ranking)
    is_ranked = of.key == "metric"
    rows = [
        {of.key: str(key), **_pair_row(a, b, d, of_all if is_ranked and key in RANKED_BY else own)}
        for key, d in differences.items()
    ]
    notes = [
        f"p of severe errors and of the score is corrected {of_all} of the ranking."
        if is_ranked
        else "",
        SMALL if any(0 < d.n < MIN_CLUSTERS for d in differences.values()) else "",
    ]
    fields = (A, B, of, *_FIELDS)
    headed = tuple(replace(f, head=f"p, Holm {own}") if f.key == "p_holm" else f for f in fields)
    return Sheet(name, _HOLDS, headed, rows, caption, " ".join(filter(None, notes)))


def _metric(n: str) -> Field:
    """Return what two systems are compared by; n stands for the number of responses."""
    names = {key: metric.head.format(n=n) for key, metric in COMPARED.items()}
    return Field("metric", "what is compared", Words(names=names))


def _all_pairs(ranking: Ranking) -> str:
    n = len(ranking.pairs)
    return f"over all {n:,} pairs" if n > 1 else "over the one pair"


def _counted(n: int, one: str) -> str:
    many = f"{one[:-1]}ies" if one.endswith("y") else f"{one}s"
    return f"{n:,} {one if n == 1 else many}"


def _pair_row(a: Summary, b: Summary, d: Difference, family: str) -> Row:
    """Return what two entries differ by, B − A, and what its p is corrected for."""
    return {
        **difference_row(d),
        "a": a.system,
        "b": b.system,
        "p_holm_family": None if d.p_holm is None else family,
        "verdict": VERDICTS[d.verdict],
        **{field.key: _both(getattr(s, field.key) for s in (a, b)) for field in _ASKED},
        "provenance": _both((a.bank_provenance, b.bank_provenance), " "),
    }


def _both(values: Iterable[object], between: str = "; ") -> str:
    return between.join(dict.fromkeys(map(str, values)))


# Many systems against each other


def matrix_sheet(ranking: Ranking, key: str, names: Sequence[str]) -> Sheet:
    """Return the row's system minus the column's, each two systems once.

    Args:
        ranking: Of the systems.
        key: One of `RANKED_BY`.
        names: Of the systems, best first: `b2` is the column of the second.
    """
    kind = PointsApart(lacking="")
    fields = (
        Field("a", "name of the row's system", head="Row minus column"),
        *(
            Field(f"b{n}", f"the row's system minus {name}", kind, name)
            for n, name in enumerate(names[1:], start=2)
        ),
    )
    rows = [
        {"a": a}
        | {
            f"b{n}": ranking.difference(key, b, a).difference
            for n, b in enumerate(names[at:], start=at + 1)
        }
        for at, a in enumerate(names[:-1], start=1)
    ]
    return Sheet(f"matrix_{key}", "a system", fields, rows)


# In words


def difference_sentence(a: str, b: str, key: str, d: Difference) -> str:
    """Return what may be said of two systems by severe errors or score, and how surely.

    Args:
        a: Name of the one.
        b: Name of the other.
        key: Of the metric.
        d: B − A.
    """
    value, ci95 = d.difference.value, d.difference.ci95
    if value is None:
        what = COMPARED[key].head.lower()
        return f"Nothing can be said of their difference in {what}: {d.difference.reason}."
    points, more = percent(abs(value)), "less" if value < 0 else "more"
    amount = f"{points} points {more}" if points != "0.0" else "no more and no less"
    verb, rest = _VERBS[key]
    apart = f"{b} {verb} {amount} {rest}than {a}"
    if ci95 is None:
        return f"{apart}; how sure that is cannot be said: {d.difference.reason}."
    apart = f"{apart} (95% interval {MEASURE.lines(d.difference)[0]})"
    if d.verdict in {Verdict.better, Verdict.worse}:
        return f"{apart}: a clear difference."
    missed = f", and one below {percent(d.detectable)} could be missed" if d.detectable else ""
    return f"{apart}: no clear difference{missed}."


_VERBS = {"severe": ("has severe errors in", "of its responses "), "score": ("scores", "")}
