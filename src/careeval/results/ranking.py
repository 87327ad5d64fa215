"""Rankings: the ranks that each entry may have, and the pairs that can be told apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from careeval.errors import StatsError
from careeval.results.differences import LEVEL, Difference, Paired, Verdict, differences
from careeval.results.entries import Basis, Entry, basis, why_unknown
from careeval.results.graded_rubric import RatioTerms
from careeval.results.metrics import COMPARED
from careeval.stats.estimate import Estimate
from careeval.stats.intervals import MIN_CLUSTERS
from careeval.stats.paired import rank_sets, smallest_p
from careeval.stats.score import pooled_score


@dataclass(frozen=True)
class Ranked:
    """One entry in a ranking."""

    place: int  # Index among the entries, from 0
    system: str  # Name of the system
    score: float  # Score of the entry
    ranks: tuple[int, int]
    """Best and worst rank that it may have by score, from 1: one more than the number of
    significantly better entries, and the number of entries without the significantly worse."""
    severe_ranks: tuple[int, int] | None
    """Best and worst rank by the share of responses with a severe error; `None` if unknown."""
    bank_maker: str | None = None
    """The system's vendor if it is one of the bank's makers; else `None`."""


@dataclass(frozen=True)
class Ranking:
    """Entries that compare with each other, ranked by score and by severe errors."""

    basis: Basis  # Bank, protocols, grader and rubric that they share
    ranked: tuple[Ranked, ...]  # The entries, highest score first
    pairs: Mapping[tuple[str, str], Difference]
    """B − A in score for each two names (A, B). `p_holm` is over all pairs, also those without a p.
    The ranks follow from the verdicts."""
    severe_pairs: Mapping[tuple[str, str], Difference]
    """B − A in the share of responses with a severe error, likewise."""
    left_out: Mapping[str, str]  # Name → why it may not be ranked
    notes: tuple[str, ...] = ()  # Notes for the reader

    def difference(self, metric: str, a: str, b: str) -> Difference:
        """Return B − A of two systems in a metric of `RANKED_BY`; unknown if not computed."""
        pairs = {"score": self.pairs, "severe": self.severe_pairs}[metric]
        if (a, b) in pairs:
            return pairs[a, b]
        if (b, a) in pairs:
            return pairs[b, a].reversed
        unknown = Estimate.unknown(f"{metric} is not known for one of them")
        return Difference(metric, 0, None, None, unknown, None, None, None)


RANKED_BY = ("severe", "score")
"""Metrics by which a ranking compares each two systems."""


def rankings(entries: Sequence[Entry]) -> list[Ranking]:
    """Return one ranking for each set of entries that can be compared with each other."""
    groups: dict[Basis, list[int]] = {}
    for place, entry in enumerate(entries):
        groups.setdefault(basis(entry), []).append(place)
    return [_ranking(key, places, entries) for key, places in groups.items()]


def _ranking(key: Basis, places: Sequence[int], entries: Sequence[Entry]) -> Ranking:
    reasons = {
        place: "; ".join(entries[place].not_ranked) or why_unknown(entries[place])
        for place in places
    }
    rankable = {place: entries[place] for place in places if not reasons[place]}
    by_score = _MetricRanks.of(rankable, "score")
    by_severe = _MetricRanks.of({place: rankable[place] for place in by_score.values}, "severe")
    left_out = {entries[place].system: reason for place, reason in reasons.items() if reason}
    left_out |= {rankable[place].system: why for place, why in by_score.unknown.items()}
    ranked = [
        Ranked(
            place,
            entries[place].system,
            value,
            by_score.ranks[place],
            by_severe.ranks.get(place),
            rankable[place].bank_maker,
        )
        for place, value in sorted(by_score.values.items(), key=lambda each: -each[1])
    ]
    return Ranking(
        key,
        tuple(ranked),
        _named(by_score.pairs, entries),
        _named(by_severe.pairs, entries),
        left_out,
        (*_notes(by_score.pairs.values()), *_maker_notes(ranked)),
    )


@dataclass(frozen=True)
class _MetricRanks:
    """The ranks of entries by one metric, by their places."""

    values: Mapping[int, float]  # The metric of each entry
    unknown: Mapping[int, str]  # For entries without a number, the reason
    pairs: Mapping[tuple[int, int], Difference]  # B − A for each two
    ranks: Mapping[int, tuple[int, int]]  # Best and worst rank that each may have

    @classmethod
    def of(cls, entries: Mapping[int, Entry], name: str) -> _MetricRanks:
        """Compare each two entries by the metric of that name."""
        metric = COMPARED[name]
        parts: dict[int, RatioTerms] = {}
        values: dict[int, float] = {}
        unknown: dict[int, str] = {}
        for place, entry in entries.items():
            try:
                parts[place] = metric.terms_of(entry.graded)
                numerators = parts[place].numerators.value[:, np.newaxis]
                values[place] = pooled_score(numerators, parts[place].denominators)
            except StatsError as error:
                unknown[place] = f"no {name}: {error}"
        couples = list(combinations(values, 2))
        family: dict[tuple[int, int], Paired | str] = {}
        for i, j in couples:
            try:
                family[i, j] = Paired.of(parts[i], parts[j], set(parts[i].scenarios))
            except StatsError as error:
                family[i, j] = str(error)
        # a difference without a test is no evidence, but still counts in the size of the family
        pairs = differences(
            family,
            fewer_is_better=couples if metric.fewer_is_better else (),
            n_family=len(couples),
            name=name,
        )
        rows = {place: row for row, place in enumerate(values)}
        better = np.zeros((len(rows), len(rows)), dtype=bool)
        for (i, j), difference in pairs.items():
            if difference.verdict is Verdict.better:
                better[rows[j], rows[i]] = True
            elif difference.verdict is Verdict.worse:
                better[rows[i], rows[j]] = True
        return cls(values, unknown, pairs, dict(zip(values, rank_sets(better), strict=True)))


def _named(
    pairs: Mapping[tuple[int, int], Difference], entries: Sequence[Entry]
) -> dict[tuple[str, str], Difference]:
    return {(entries[i].system, entries[j].system): pair for (i, j), pair in pairs.items()}


def _notes(pairs: Iterable[Difference]) -> Iterator[str]:
    """Yield a note if no pair has enough scenarios for a difference to be found."""
    sizes = [d.n for d in pairs]
    most = max(sizes, default=0)
    if sizes and most < MIN_CLUSTERS:
        yield "Fewer than five scenarios in common: nothing is tested."
    elif sizes and smallest_p(most, len(sizes)) >= LEVEL:
        yield (
            f"{most} scenarios are too few to tell any of {len(sizes)} pairs apart: corrected for "
            "so many pairs, even the smallest possible p is not below 5%. Ask more scenarios, or "
            "compare fewer systems."
        )


MAKER_MARK = "†"
"""Marks a system whose vendor is one of its bank's makers."""


def _maker_notes(ranked: Sequence[Ranked]) -> Iterator[str]:
    """Yield a note on the systems whose vendor is one of the bank's makers."""
    if marked := [each for each in ranked if each.bank_maker]:
        makers = ", ".join(dict.fromkeys(str(each.bank_maker) for each in marked))
        names = ", ".join(each.system for each in marked)
        yield (
            f"{MAKER_MARK} {names}: AI of the same vendor ({makers}) wrote this bank or answered "
            "its pilot, which may help or hinder."
        )
