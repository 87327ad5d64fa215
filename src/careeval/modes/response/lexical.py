"""The lexical grader, which compares words: deterministic, instant and free, but crude.

An item counts as present when enough of its words are in the response. A word counts less the more
items share it. The grader does not understand negation, sides or order; with it, everything can be
tried without cost. `careeval audit probes` measures its agreement with the labels of the probes,
which is printed wherever its grades are.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Any

from careeval.modes.grading import ItemJudgment
from careeval.modes.mode import Case

THRESHOLD = 0.25
"""The least coverage of an item that counts as present: at this value sensitivity and specificity
were about equal on the probes of the first twelve scenarios."""

STOP_WORDS = frozenset({
    "a", "an", "and", "the", "of", "to", "in", "on", "at", "is", "are", "was", "be", "been", "it",
    "its", "she", "he", "they", "her", "his", "their", "hers", "him", "them", "i", "you", "me",
    "my", "we", "our", "us", "with", "for", "from", "as", "by", "that", "this", "these", "those",
    "or", "so", "if", "not", "no", "do", "does", "did", "then", "than", "into", "up", "out",
    "there", "when", "while", "until", "who", "what", "which", "would", "will", "can", "could",
    "should", "may", "might", "any", "all",
})  # fmt: skip


def word_stems(text: str) -> list[str]:
    """Return the stems of a text's words in their order, without stop words."""
    all_words = re.findall(r"[a-z]+(?:'[a-z]+)?", text.lower().replace("’", "'"))
    return [_stem(word) for word in all_words if word not in STOP_WORDS]


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    stem: str = _stemmer().stemWord(word)
    return stem


@cache
def _stemmer() -> Any:
    import snowballstemmer  # 40 modules, which most commands do not need

    return snowballstemmer.stemmer("english")


def coverage(response: str, items: Sequence[str]) -> list[float]:
    """Return for each item the weighted share of its words that are in the response, 0 to 1.

    A word weighs log((n + 1) / m), where m of the n items have it (inverse document frequency over
    the items shown). An item that has only stop words has coverage 0.
    """
    response_stems = set(word_stems(response))
    return [
        math.fsum(weights[stem] for stem in weights.keys() & response_stems) / total
        if weights
        else 0.0
        for weights, total in _stem_weights(tuple(items))
    ]


@lru_cache(maxsize=1_000)
def _stem_weights(items: tuple[str, ...]) -> tuple[tuple[Mapping[str, float], float], ...]:
    """Return for each item its stems' weights and their sum, which depend on the items alone."""
    stems = [set(word_stems(item)) for item in items]
    n_items = Counter(chain.from_iterable(stems))
    by_item = [{stem: math.log((len(items) + 1) / n_items[stem]) for stem in s} for s in stems]
    # fsum, since the order of a set differs between processes, and with it a rounded sum
    return tuple((weights, math.fsum(weights.values())) for weights in by_item)


def nearest_sentence(response: str, item: str) -> str:
    """Return the sentence that shares the most words with the item; the first if several tie."""
    item_stems = set(word_stems(item))
    sentences = [s.strip() for s in re.split(r"(?<=[.!?])\s+|\n+", response) if s.strip()]
    return max(
        sentences, key=lambda sentence: len(item_stems & set(word_stems(sentence))), default=""
    )


def lexical(case: Case) -> list[ItemJudgment]:
    """Return a judgment of each item: present if its `coverage` is at least `THRESHOLD`."""
    items = [text for _, text in case.items]
    return [
        ItemJudgment(
            item=number,
            quote=nearest_sentence(case.response, item) if share >= THRESHOLD else "",
            reason=f"{share:.0%} of the item's weighted words are in the answer",
            present=share >= THRESHOLD,
        )
        for number, (item, share) in enumerate(
            zip(items, coverage(case.response, items), strict=True), start=1
        )
    ]
