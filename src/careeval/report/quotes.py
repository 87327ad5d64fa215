"""Finds a grader's quotes in a response.

A quote repeats words of the response, but may differ in case, space and punctuation. So words are
compared, and the match runs from the first letter to the last and the punctuation that follows.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

_CLOSING = re.compile(r"[.,;:!?…)\]\"'”’»]*")
"""Punctuation that ends a sentence or a quotation, any number of times."""
_WORD = re.compile(r"\w+")
_CORE = re.compile(r"\w(?:.*\w)?", re.DOTALL)
"""A quote from its first letter to its last."""


class TextSpan(NamedTuple):
    """A part of a text, from `start` up to but excluding `stop`, in characters."""

    start: int
    stop: int


class QuoteFinder:
    """Finds quotes in the text of one response."""

    def __init__(self, text: str) -> None:
        self._text = text

    def find(self, quote: str | None) -> TextSpan | None:
        """Return the first place of a quote in the text: an exact match or else one of the words.

        Returns:
            The span; `None` if the quote is `None`, has no word, or is not in the text.
        """
        span = (self._find_exactly(quote) or self._find_by_words(quote)) if quote else None
        if span is None:
            return None
        closing = _CLOSING.match(self._text, span.stop)
        return TextSpan(span.start, closing.end() if closing else span.stop)

    def _find_exactly(self, quote: str) -> TextSpan | None:
        core = _CORE.search(quote)
        at = self._text.find(core.group()) if core else -1
        if core is None or at == -1:
            return None
        stop = at + len(core.group())
        around = self._text[max(at - 1, 0) : at] + self._text[stop : stop + 1]
        return None if _WORD.search(around) else TextSpan(at, stop)

    def _find_by_words(self, quote: str) -> TextSpan | None:
        wanted = " ".join(_WORD.findall(quote.casefold()))
        at = self._spaced_words.find(f" {wanted} ") if wanted else -1
        if at == -1:
            return None
        first = bisect_right(self._starts, at) - 1
        return TextSpan(self._begins[first], self._ends[first + wanted.count(" ")])

    @cached_property
    def _words(self) -> list[tuple[int, int]]:
        """Spans of the words in the case-folded text.

        Case folding can turn one character into several, not all of them letters. So the text is
        folded first and split into words after that, as in the check of the quote.
        """
        return [match.span() for match in _WORD.finditer(self._text.casefold())]

    @cached_property
    def _spaced_words(self) -> str:
        """The words of the folded text, joined by spaces, with a space at both ends."""
        folded = self._text.casefold()
        return f" {' '.join(folded[start:stop] for start, stop in self._words)} "

    @cached_property
    def _starts(self) -> list[int]:
        """For each word, the index of the space before it in `_spaced_words`."""
        starts, at = [], 0
        for start, stop in self._words:
            starts.append(at)
            at += stop - start + 1
        return starts

    @cached_property
    def _origin(self) -> Sequence[int]:
        """For each character of the folded text, the index of its source in the text."""
        if len(self._text.casefold()) == len(self._text):
            return range(len(self._text))
        return [at for at, character in enumerate(self._text) for _ in character.casefold()]

    @cached_property
    def _begins(self) -> list[int]:
        return [self._origin[start] for start, _ in self._words]

    @cached_property
    def _ends(self) -> list[int]:
        return [self._origin[stop - 1] + 1 for _, stop in self._words]
