"""Sheets of systems against each other: pairs, and the ranks that each may have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from careeval.results.ranking import Ranking
from careeval.sheets.differences import SYSTEMS, difference_fields, difference_row
from careeval.sheets.entries import RUBRIC
from careeval.sheets.kinds import RANKS, SHARE
from careeval.sheets.sheet import Field, Row, Sheet

_BASIS = (
    Field("bank", "name of the bank that all share"),
    Field("bank_n", "N of its version"),
    Field("bank_hash", "hash of the scenarios that were asked"),
    Field("protocol_n", "N of the protocol that asked"),
    Field("grading_n", "N of the protocol that judged"),
    Field("grader", "who judged them all"),
    RUBRIC,
)


def pairs_sheet(rankings: Sequence[Ranking]) -> Sheet:
    """Return B − A in severe errors and in score for each two ranked systems."""
    fields = (
        *_BASIS,
        Field("metric", "what is compared: score, or severe"),
        *SYSTEMS,
        *difference_fields("all pairs of the ranking"),
    )
    rows = [
        {**ranking.basis._asdict(), "metric": metric, "a": a, "b": b, **difference_row(pair)}
        for ranking in rankings
        for metric, pairs in (("score", ranking.pairs), ("severe", ranking.severe_pairs))
        for (a, b), pair in pairs.items()
    ]
    return Sheet("pairs", "two systems that one grader judged", fields, rows)


RANK_SETS = (
    Field("rank", "by score", RANKS),
    Field("severe_rank", "by severe errors", RANKS, "Rank"),
)


def rank_sets_sheet(rankings: Sequence[Ranking]) -> Sheet:
    """Return the ranks that each system may have, and why others have none."""
    fields = (
        *_BASIS,
        Field("system", "name of the system"),
        Field("score", "its score; null where it is not ranked", SHARE),
        *RANK_SETS,
        Field("bank_maker", "its vendor where that is one of the bank's makers; else null"),
        Field("reason", "why it is not ranked; else empty"),
    )
    rows = [ranking.basis._asdict() | row for ranking in rankings for row in _ranks(ranking)]
    return Sheet("rank_sets", "the ranks that a system may have", fields, rows)


def _ranks(ranking: Ranking) -> Iterator[Row]:
    for ranked in ranking.ranked:
        yield {
            "system": ranked.system,
            "score": ranked.score,
            "rank": ranked.ranks,
            "severe_rank": ranked.severe_ranks,
            "bank_maker": ranked.bank_maker,
            "reason": "",
        }
    for name, why in ranking.left_out.items():
        yield {"system": name, "reason": why}
