"""Sheets and sentences of pairs of ranked systems: their differences and the verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from careeval.core.text import percent
from careeval.results.compare import Comparison
from careeval.results.details import Breakdown
from careeval.results.differences import Difference, Verdict
from careeval.results.metrics import COMPARED
from careeval.results.ranking import RANKED_BY, Ranking
from careeval.results.summary import Summary
from careeval.sheets.entries.entries_sheet import (
    BANK,
    BANK_VERSION,
    GRADER,
    GRADING_PROTOCOL,
    PARTS,
    PROTOCOL,
    RUBRIC,
)
from careeval.sheets.estimate_kinds import ESTIMATE
from careeval.sheets.kinds import P_VALUE, TextKind
from careeval.sheets.page_kinds import PERCENT_POINTS, DifferenceKind
from careeval.sheets.sheet import Field, Row, Sheet
from careeval.sheets.versus.comparisons import (
    A,
    B,
    all_pairs,
    counted_family,
    difference_fields,
    difference_row,
)
from careeval.sheets.words import SMALL
from careeval.stats import MIN_CLUSTERS

VERDICTS = {
    Verdict.better: "second is better",
    Verdict.worse: "first is better",
    Verdict.unclear: "no clear difference",
    Verdict.unknown: "unknown",
}
_ASKED = (BANK, BANK_VERSION, PROTOCOL, GRADING_PROTOCOL, GRADER, RUBRIC)
"""The fields of asking and grading. Versions N-X compare if N is equal; X may differ in a row."""

_FIELDS = (
    *difference_fields("its family"),
    Field("verdict", "verdict on the second system against the first, by the corrected p"),
    *_ASKED,
)
_ALONE = (
    Field(
        "p_holm_alone", "p corrected for the metrics, as in a comparison of the two alone", P_VALUE
    ),
    Field(
        "detectable_alone",
        "smallest difference detected with 80% power in a comparison of the two alone",
        PERCENT_POINTS,
    ),
)
"""The fields that `careeval compare` of two systems prints as `p_holm` and `detectable`."""

_HOLDS = "a number of two systems that one grader judged on one rubric"
_ADL, _DOMAIN = replace(PARTS[Breakdown.adl], key="activity"), PARTS[Breakdown.domain]


def ranked_pairs_sheet(ranked: Iterable[Summary], ranking: Ranking, caption: str) -> Sheet:
    """Return a sheet of differences: a row for each pair of systems and metric of `RANKED_BY`.

    System A of a pair is the one that comes first in `ranked`.
    """
    family = all_pairs(len(ranking.pairs))
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
    """Return three sheets of differences of two ranked entries: by metric, activity and domain.

    A p is corrected (Holm) for the rows of its sheet, but for a metric of `RANKED_BY` it is
    corrected for all pairs of the ranking, with what `careeval compare` prints beside it.
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
    return tuple(_family(a, b, comparison, ranking, *family) for family in families)


def _family(
    a: Summary,
    b: Summary,
    comparison: Comparison,
    ranking: Ranking,
    name: str,
    row_field: Field,
    caption: str,
    noun: str,
    differences: Mapping[str, Difference],
) -> Sheet:
    n = sum(d.p is not None for d in differences.values())
    this_family, of_ranking = counted_family(n, noun), all_pairs(len(ranking.pairs))
    by_metric = row_field.key == "metric"
    rows = [
        {
            row_field.key: str(key),
            **_pair_row(a, b, d, of_ranking if by_metric and key in RANKED_BY else this_family),
        }
        for key, d in differences.items()
    ]
    if by_metric:
        rows = [
            row | {"p_holm_alone": d.p_holm, "detectable_alone": d.detectable}
            for row, d in zip(rows, (comparison.metrics[key] for key in differences), strict=True)
        ]
    notes = [
        "p and the smallest difference detected of severe errors and score are corrected "
        f"{of_ranking} of the ranking; alone: {this_family}, as careeval compare prints them."
        if by_metric
        else "",
        SMALL if any(0 < d.n < MIN_CLUSTERS for d in differences.values()) else "",
    ]
    fields = tuple(
        replace(field, head=f"p, Holm {this_family}") if field.key == "p_holm" else field
        for field in (A, B, row_field, *_FIELDS, *(_ALONE if by_metric else ()))
    )
    return Sheet(name, _HOLDS, fields, rows, caption, " ".join(filter(None, notes)))


def _metric(n: str) -> Field:
    """Return the field of the metric's name; `n`, the responses per scenario, is put into names."""
    names = {key: metric.head.format(n=n) for key, metric in COMPARED.items()}
    return Field("metric", "the compared metric", TextKind(names=names))


def _pair_row(a: Summary, b: Summary, d: Difference, family: str) -> Row:
    """Return the difference B − A of two entries, and the comparisons that p is corrected for."""
    return {
        **difference_row(d, family),
        "a": a.system,
        "b": b.system,
        "verdict": VERDICTS[d.verdict],
        **{field.key: _distinct(getattr(s, field.key) for s in (a, b)) for field in _ASKED},
        "provenance": _distinct((a.bank_provenance, b.bank_provenance), " "),
    }


def _distinct(values: Iterable[object], between: str = "; ") -> str:
    return between.join(dict.fromkeys(map(str, values)))


# The matrix of all pairs


def matrix_sheet(ranking: Ranking, key: str, names: Sequence[str]) -> Sheet:
    """Return a matrix of differences, the row's system minus the column's, with each pair once.

    Args:
        ranking: Ranking of the systems.
        key: A metric of `RANKED_BY`.
        names: Names of the systems, best first: `b2` is the column of the second.
    """
    kind = DifferenceKind(if_missing="")
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


# Sentences


def difference_sentence(a: str, b: str, key: str, d: Difference) -> str:
    """Return a sentence on the difference of two systems in severe errors or score.

    Args:
        a: Name of system A.
        b: Name of system B.
        key: Key of the metric.
        d: The difference B − A.
    """
    value, ci95 = d.difference.value, d.difference.ci95
    if value is None:
        metric = COMPARED[key].head.lower()
        return f"The difference in {metric} is unknown: {d.difference.reason}."
    points, more = percent(abs(value)), "less" if value < 0 else "more"
    amount = f"{points} points {more}" if points != "0.0" else "no more and no less"
    verb, rest = _VERBS[key]
    sentence = f"{b} {verb} {amount} {rest}than {a}"
    if ci95 is None:
        return f"{sentence}; its interval is unknown: {d.difference.reason}."
    sentence = f"{sentence} (95% interval {ESTIMATE.page_lines(d.difference)[0]})"
    if d.verdict in {Verdict.better, Verdict.worse}:
        return f"{sentence}: a clear difference."
    missed = (
        f", but a difference below {percent(d.detectable)} points could be missed "
        f"({all_pairs(d.n_family)} of the ranking)"
        if d.detectable
        else ""
    )
    return f"{sentence}: no clear difference{missed}."


_VERBS = {"severe": ("has severe errors in", "of its responses "), "score": ("scores", "")}
