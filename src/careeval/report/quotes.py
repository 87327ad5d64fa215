"""Where a grader's quotes stand in a response.

A quote is the response's own words, case, space and punctuation aside. So it is found by its words,
and marked from the first letter to the last, with the punctuation that closes it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

_CLOSING = re.compile(r"[.,;:!?…)\]\"'”’»]*")
"""What closes a sentence or a quotation, as often as it stands there."""
_WORD = re.compile(r"\w+")
_CORE = re.compile(r"\w(?:.*\w)?", re.DOTALL)
"""A quote from its first letter to its last."""


class Place(NamedTuple):
    """A piece of a text: from `start`, up to and without `stop`, in characters."""

    start: int
    stop: int


class Quoted:
    """A response that quotes are looked for in."""

    def __init__(self, text: str) -> None:
        self._text = text

    def place(self, quote: str | None) -> Place | None:
        """Where a quote stands first, sign for sign if it does, else by its words.

        Returns:
            Its place; `None` for a quote that is `None`, has no word, or is not in the text.
        """
        found = (self._sign_for_sign(quote) or self._by_words(quote)) if quote else None
        if found is None:
            return None
        closing = _CLOSING.match(self._text, found.stop)
        return Place(found.start, closing.end() if closing else found.stop)

    def _sign_for_sign(self, quote: str) -> Place | None:
        """Most quotes are: then the words need not be looked for."""
        core = _CORE.search(quote)
        at = self._text.find(core.group()) if core else -1
        if core is None or at == -1:
            return None
        stop = at + len(core.group())
        around = self._text[max(at - 1, 0) : at] + self._text[stop : stop + 1]
        return None if _WORD.search(around) else Place(at, stop)

    def _by_words(self, quote: str) -> Place | None:
        wanted = " ".join(_WORD.findall(quote.casefold()))
        at = self._spoken.find(f" {wanted} ") if wanted else -1
        if at == -1:
            return None
        first = bisect_right(self._starts, at) - 1
        return Place(self._begins[first], self._ends[first + wanted.count(" ")])

    @cached_property
    def _words(self) -> list[tuple[int, int]]:
        """Places of the words in the text with its case folded.

        Folding can turn one character into several, of which not all need be letters: it is done
        before the words are found, as whoever checked the quote did.
        """
        return [match.span() for match in _WORD.finditer(self._text.casefold())]

    @cached_property
    def _spoken(self) -> str:
        """The words, a space before and behind each."""
        folded = self._text.casefold()
        return f" {' '.join(folded[start:stop] for start, stop in self._words)} "

    @cached_property
    def _starts(self) -> list[int]:
        """For each word the place of the space before it in what is spoken."""
        starts, at = [], 0
        for start, stop in self._words:
            starts.append(at)
            at += stop - start + 1
        return starts

    @cached_property
    def _origin(self) -> Sequence[int]:
        """For each character of the folded text, that of the text which it comes from."""
        if len(self._text.casefold()) == len(self._text):
            return range(len(self._text))
        return [at for at, character in enumerate(self._text) for _ in character.casefold()]

    @cached_property
    def _begins(self) -> list[int]:
        return [self._origin[start] for start, _ in self._words]

    @cached_property
    def _ends(self) -> list[int]:
        return [self._origin[stop - 1] + 1 for _, stop in self._words]
