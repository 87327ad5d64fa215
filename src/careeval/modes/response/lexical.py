"""The lexical grader: deterministic, instant, free, and honest about how little it understands.

An item counts as present when enough of its words stand in the response: each word weighs more the
fewer of the items shown beside it hold it, so that what the items share counts for little. It knows
no negation, no side and no order. It exists so that everything can be seen working before a cent is
spent; how far it agrees with the labels of the probes is measured by `careeval audit probes`, and
printed wherever its grades are.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Any

from careeval.modes.grading import ItemJudgment
from careeval.modes.mode import Case

THRESHOLD = 0.25
"""Coverage from which an item counts as present: where sensitivity and specificity were about equal
on the probes of the first twelve scenarios."""

STOP_WORDS = frozenset({
    "a", "an", "and", "the", "of", "to", "in", "on", "at", "is", "are", "was", "be", "been", "it",
    "its", "she", "he", "they", "her", "his", "their", "hers", "him", "them", "i", "you", "me",
    "my", "we", "our", "us", "with", "for", "from", "as", "by", "that", "this", "these", "those",
    "or", "so", "if", "not", "no", "do", "does", "did", "then", "than", "into", "up", "out",
    "there", "when", "while", "until", "who", "what", "which", "would", "will", "can", "could",
    "should", "may", "might", "any", "all",
})  # fmt: skip


def words(text: str) -> list[str]:
    """The stems of a text's words that carry meaning, in their order."""
    found = re.findall(r"[a-z]+(?:'[a-z]+)?", text.lower().replace("’", "'"))
    return [_stem(word) for word in found if word not in STOP_WORDS]


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    stem: str = _stemmer().stemWord(word)
    return stem


@cache
def _stemmer() -> Any:
    import snowballstemmer  # 40 modules, for a grader that most commands do not run

    return snowballstemmer.stemmer("english")


def coverage(response: str, items: Sequence[str]) -> list[float]:
    """For each item the weighted share of its words that stand in the response, 0 to 1.

    A word weighs log((n + 1) / m), where m of the n items hold it (inverse document frequency over
    the items shown). An item without a word that carries meaning has coverage 0.
    """
    spoken = set(words(response))
    return [
        _sum(weights[stem] for stem in weights.keys() & spoken) / whole if weights else 0.0
        for weights, whole in _weighed(tuple(items))
    ]


@lru_cache(maxsize=1_000)
def _weighed(items: tuple[str, ...]) -> tuple[tuple[Mapping[str, float], float], ...]:
    """For each item the weights of its stems and their sum: the same for every response."""
    stems = [set(words(item)) for item in items]
    n_items = Counter(chain.from_iterable(stems))
    weighed = [{stem: math.log((len(items) + 1) / n_items[stem]) for stem in s} for s in stems]
    return tuple((weights, _sum(weights.values())) for weights in weighed)


def _sum(weights: Iterable[float]) -> float:
    # rounded once, so that the order of a set, another in every process, changes nothing
    return math.fsum(weights)


def nearest_sentence(response: str, item: str) -> str:
    """The sentence of the response that shares most words with the item; the first of equals."""
    wanted = set(words(item))
    sentences = [s.strip() for s in re.split(r"(?<=[.!?])\s+|\n+", response) if s.strip()]
    return max(sentences, key=lambda sentence: len(wanted & set(words(sentence))), default="")


def lexical(case: Case) -> list[ItemJudgment]:
    """The judgments that the lexical grader makes."""
    items = [text for _, text in case.items]
    return [
        ItemJudgment(
            item=number,
            quote=nearest_sentence(case.response, item) if share >= THRESHOLD else "",
            reason=f"{share:.0%} of the item's weighted words stand in the answer",
            present=share >= THRESHOLD,
        )
        for number, (item, share) in enumerate(
            zip(items, coverage(case.response, items), strict=True), start=1
        )
    ]
