"""Many entries: which ranks each may have, and which pairs can be told apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from careeval.core.scenario import Rubric
from careeval.errors import StatsError
from careeval.results.comparable import Asked, alike_scenarios, comparable_to, why_unknown
from careeval.results.compare import METRICS, WORST
from careeval.results.differences import LEVEL, Difference, Paired, Verdict, differences
from careeval.results.entries import Entry
from careeval.results.estimates import Parts
from careeval.results.summary import Summary
from careeval.stats import MIN_CLUSTERS, rank_sets, smallest_p


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
        pairs: B − A for each two names (A, B); `p_holm` over all of them, also where some have no
            p. Ranks rest on their verdicts.
        left_out: Name → why it may not be ranked.
        notes: What must be read with it.
    """

    metric: str
    bank: str
    bank_n: str
    protocol_n: str
    grader: str
    ranked: tuple[Ranked, ...]
    pairs: Mapping[tuple[str, str], Difference]
    left_out: Mapping[str, str]
    notes: tuple[str, ...] = ()


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
    places: Sequence[int],
    entries: Sequence[Entry],
    summaries: Sequence[Summary],
    metric: str,
) -> Ranking:
    left_out = {
        entries[place].model: "; ".join(summaries[place].not_ranked)
        for place in places
        if summaries[place].not_ranked
    }
    left_out |= {
        entries[place].model: reason for place in places if (reason := why_unknown(entries[place]))
    }
    kept = [place for place in places if entries[place].model not in left_out]
    rubric, take, fewer = METRICS[metric]
    parts: dict[int, Parts] = {}
    numbers: dict[int, float] = {}
    for place in kept:
        try:
            parts[place] = take(entries[place].rubric(rubric))
            numbers[place] = _value(parts[place])
        except StatsError as error:
            left_out[entries[place].model] = f"no {metric}: {error}"
    # a rank is among those who were asked the same
    hashes = {place: summaries[place].bank_hash for place in numbers}
    kept = _most(hashes, "it was asked other scenarios of the bank", left_out, entries)
    if metric in WORST:
        n_epochs = {place: str(entries[place].n_epochs) for place in kept}
        kept = _most(n_epochs, "the worst of n compares only between equal n", left_out, entries)
    alike = _Alike(rubric)
    kinds = {place: alike.kind(Asked.of(entries[place])) for place in kept}
    couples = list(combinations(kept, 2))
    family: dict[tuple[int, int], Paired | str] = {}
    for i, j in couples:
        try:
            family[i, j] = Paired.of(parts[i], parts[j], alike.of(kinds[i], kinds[j]))
        except StatsError as error:
            family[i, j] = str(error)
    # a difference without a test is no evidence, and counts among the comparisons all the same
    pairs = differences(
        family, fewer_is_better=couples if fewer else (), n_family=len(couples), name=metric
    )
    rows = {place: row for row, place in enumerate(kept)}
    better = np.zeros((len(kept), len(kept)), dtype=bool)
    for (i, j), found in pairs.items():
        if found.verdict is Verdict.better:
            better[rows[j], rows[i]] = True
        elif found.verdict is Verdict.worse:
            better[rows[i], rows[j]] = True
    sets = rank_sets(better)
    ranked = [
        Ranked(place, entries[place].model, numbers[place], sets[rows[place]])
        for place in sorted(kept, key=lambda p: numbers[p], reverse=not fewer)
    ]
    bank, bank_n, protocol_n, grader = key
    return Ranking(
        metric, bank, bank_n, protocol_n, grader, tuple(ranked),
        {(entries[i].model, entries[j].model): found for (i, j), found in pairs.items()},
        left_out, tuple(_notes(pairs.values())),
    )  # fmt: skip


class _Alike:
    """Which scenarios are the same in two entries: looked at once for all that were asked alike."""

    def __init__(self, rubric: Rubric) -> None:
        self._rubric = rubric
        self._kinds: list[Asked] = []
        self._found: dict[tuple[int, int], set[str]] = {}

    def kind(self, asked: Asked) -> int:
        """The number of those that were asked exactly this."""
        if asked not in self._kinds:
            self._kinds.append(asked)
        return self._kinds.index(asked)

    def of(self, i: int, j: int) -> set[str]:
        """The scenarios that are the same in two kinds."""
        if (i, j) not in self._found:
            self._found[i, j] = alike_scenarios(self._kinds[i], self._kinds[j], self._rubric)
        return self._found[i, j]


def _notes(pairs: Iterable[Difference]) -> Iterator[str]:
    """Where nothing could be told apart, however far apart, why."""
    sizes = [d.n for d in pairs]
    most = max(sizes, default=0)
    if sizes and most < MIN_CLUSTERS:
        yield "Fewer than five scenarios in common: nothing is tested."
    elif sizes and smallest_p(most, len(sizes)) >= LEVEL:
        yield (
            f"{most} scenarios cannot tell any of {len(sizes)} pairs apart, however far apart: the "
            "smallest p there is, held up against so many, is not below 5%. Ask more scenarios, or "
            "compare fewer systems."
        )


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
