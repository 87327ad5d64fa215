"""Many entries: which ranks each may have, and which pairs can be told apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from careeval.errors import StatsError
from careeval.results.compare import (
    LEVEL,
    METRICS,
    WORST,
    Difference,
    comparable_to,
    difference,
)
from careeval.results.entries import Entry
from careeval.results.estimates import Parts
from careeval.results.points import FloatArray
from careeval.results.summary import Summary
from careeval.stats import holm, paired_t, rank_sets, sign_flip_p

MOST_FLIPPED = 105
"""Pairs up to which their signs are flipped.

The smallest p that 10,000 patterns can give, times more pairs than that, would come near `LEVEL`,
and nothing could be told apart. Beyond, p is of the paired t, which has no such floor.
"""


@dataclass(frozen=True)
class Ranked:
    """One entry in a ranking.

    Attributes:
        place: Its place in the entries that were given, from 0.
        ranks: The best and the worst rank that it may have, from 1: one more than the number that
            are significantly better, and all but those that are significantly worse.
    """

    place: int
    model: str
    score: float
    ranks: tuple[int, int]


@dataclass(frozen=True)
class Ranking:
    """Entries that compare with each other, by one metric.

    Attributes:
        bank: Name of the bank they share, the N of its version, and that of the protocol.
        grader: Who judged them all.
        ranked: Best first.
        pairs: B − A for each two names (A, B); `p_holm` over all of them.
        left_out: Name → why it may not be ranked.
    """

    metric: str
    bank: str
    bank_n: str
    protocol_n: str
    grader: str
    ranked: tuple[Ranked, ...]
    pairs: Mapping[tuple[str, str], Difference]
    left_out: Mapping[str, str]


def rankings(
    entries: Sequence[Entry], summaries: Sequence[Summary], metric: str = "score"
) -> list[Ranking]:
    """A ranking for each set of entries that compare: one bank, one protocol, one grader.

    Args:
        entries: All of them.
        summaries: Theirs, in the same order: they say what may not be ranked.
        metric: One of `careeval.results.compare.METRICS`.
    """
    groups: dict[tuple[str, str, str, str], list[int]] = {}
    for place, entry in enumerate(entries):
        groups.setdefault(comparable_to(entry), []).append(place)
    return [_ranking(key, places, entries, summaries, metric) for key, places in groups.items()]


def _ranking(
    key: tuple[str, str, str, str],
    places: Iterable[int],
    entries: Sequence[Entry],
    summaries: Sequence[Summary],
    metric: str,
) -> Ranking:
    left_out = {
        entries[place].model: "; ".join(summaries[place].not_ranked)
        for place in places
        if summaries[place].not_ranked
    }
    kept = [place for place in places if not summaries[place].not_ranked]
    take, fewer = METRICS[metric]
    numbers: dict[int, float] = {}
    for place in kept:
        try:
            numbers[place] = _value(take(entries[place]))
        except StatsError as error:
            left_out[entries[place].model] = f"no {metric}: {error}"
    # a rank is among those who were asked the same
    asked = {place: summaries[place].bank_hash for place in numbers}
    kept = _most(asked, "it was asked other scenarios of the bank", left_out, entries)
    if metric in WORST:
        n_epochs = {place: str(entries[place].n_epochs) for place in kept}
        kept = _most(n_epochs, "the worst of n compares only between equal n", left_out, entries)
    couples = list(combinations(kept, 2))
    test = sign_flip_p if len(couples) <= MOST_FLIPPED else _paired_p
    tried = {
        (i, j): difference(metric, entries[i], entries[j], take, fewer_is_better=fewer, test=test)
        for i, j in couples
    }
    # a difference without a test is no evidence, and counts among the comparisons all the same
    adjusted = holm([1.0 if d.p is None else d.p for d in tried.values()])
    pairs = {
        pair: replace(found, p_holm=p)
        for (pair, found), p in zip(tried.items(), adjusted, strict=True)
    }
    rows = {place: row for row, place in enumerate(kept)}
    better = np.zeros((len(kept), len(kept)), dtype=bool)
    for (i, j), found in pairs.items():
        value = found.difference.value
        if value is not None and found.p_holm is not None and found.p_holm < LEVEL:
            b_is_better = (value > 0) != fewer
            winner, loser = (j, i) if b_is_better else (i, j)
            better[rows[winner], rows[loser]] = True
    sets = rank_sets(better)
    ranked = [
        Ranked(place, entries[place].model, numbers[place], sets[rows[place]])
        for place in sorted(kept, key=lambda p: numbers[p], reverse=not fewer)
    ]
    bank, bank_n, protocol_n, grader = key
    return Ranking(
        metric, bank, bank_n, protocol_n, grader, tuple(ranked),
        {(entries[i].model, entries[j].model): found for (i, j), found in pairs.items()},
        left_out,
    )  # fmt: skip


def _paired_p(differences: FloatArray) -> float:
    return paired_t(differences).p


def _value(parts: Parts) -> float:
    total = float(parts.denominators.sum())
    if not total > 0:
        raise StatsError("no positive points: it has no maximum")
    return float(parts.numerators.middle.sum() / total)


def _most(
    of: Mapping[int, str], reason: str, left_out: dict[str, str], entries: Sequence[Entry]
) -> list[int]:
    """The places that share the commonest value, of equals the first; the others are left out."""
    common = Counter(of.values()).most_common(1)
    left_out.update({entries[p].model: reason for p, v in of.items() if v != common[0][0]})
    return [place for place, value in of.items() if value == common[0][0]]
