"""Sheets and sentences of pairs of ranked systems: their differences and the verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from careeval.results.compare import RANKED_BY, Ranking
from careeval.results.differences import Difference, Verdict
from careeval.results.entries import Entry
from careeval.results.metrics import COMPARED
from careeval.sheets.entries.entries_sheet import (
    BANK,
    BANK_VERSION,
    GRADER,
    GRADING_PROTOCOL,
    PROTOCOL,
    RUBRIC,
)
from careeval.sheets.kinds import difference_kind, text_kind
from careeval.sheets.sheet import Field, Row, Sheet
from careeval.sheets.versus.comparisons import (
    A,
    B,
    all_pairs,
    difference_fields,
    difference_row,
)

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
_HOLDS = "a number of two systems that one grader judged on one rubric"


def ranked_pairs_sheet(ranked: Iterable[Entry], ranking: Ranking, caption: str) -> Sheet:
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


def _metric(n: str) -> Field:
    """Return the field of the metric's name; `n`, the responses per scenario, is put into names."""
    names = {key: metric.head.format(n=n) for key, metric in COMPARED.items()}
    return Field("metric", "the compared metric", text_kind(names=names))


def _pair_row(a: Entry, b: Entry, d: Difference, family: str) -> Row:
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
    kind = difference_kind(if_missing="")
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
