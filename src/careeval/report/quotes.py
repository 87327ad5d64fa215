"""Where a grader's quotes stand in a response.

A quote is the response's own words, case, space and punctuation aside. So it is found by its words,
and marked from the first letter to the last, with the punctuation that closes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

_CLOSING = re.compile(r"[.,;:!?…)\]\"'”’»]*")
"""What closes a sentence or a quotation, as often as it stands there."""


class Segment(NamedTuple):
    """A piece of a response.

    Attributes:
        text: What it says.
        items: The items that it is quoted for.
        ends: Those of them whose quote ends here.
    """

    text: str
    items: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()


class _Word(NamedTuple):
    text: str
    start: int
    stop: int


def segments(text: str, quotes: Mapping[str, str | None]) -> list[Segment]:
    """A response cut wherever a quote begins or ends.

    Args:
        text: The response.
        quotes: Item → its quote. One that is `None`, has no word, or is not in the response marks
            nothing; one that stands there more than once is marked where it stands first.

    Returns:
        Pieces that, joined, are the text again; none for an empty text. Items are in the order of
        `quotes`.
    """
    words = _words(text)
    spans = {
        item: (span[0], _CLOSING.match(text, span[1]).end())  # type: ignore[union-attr]  # it matches nothing too
        for item, quote in quotes.items()
        if quote and (span := _span(quote, words))
    }
    cuts = sorted({0, len(text), *(place for span in spans.values() for place in span)})
    return [
        Segment(
            text[start:stop],
            tuple(item for item, (first, last) in spans.items() if first <= start and stop <= last),
            tuple(item for item, (_, last) in spans.items() if last == stop),
        )
        for start, stop in pairwise(cuts)
    ]


def _span(quote: str, words: list[_Word]) -> tuple[int, int] | None:
    """Where the quote's words stand one after another, from and to; `None` if they do not."""
    wanted = " ".join(word.text for word in _words(quote))
    spoken = f" {' '.join(word.text for word in words)} "
    at = spoken.find(f" {wanted} ") if wanted else -1
    if at == -1:
        return None
    first = spoken.count(" ", 0, at)
    return words[first].start, words[first + wanted.count(" ")].stop


def _words(text: str) -> list[_Word]:
    """The words of a text, their case folded, with their places in it.

    Folding can turn one character into several, of which not all need be letters: it is done before
    the words are found, as whoever checked the quote did.
    """
    folded = text.casefold()
    origin: Sequence[int] = range(len(text))
    if len(folded) != len(text):
        origin = [place for place, character in enumerate(text) for _ in character.casefold()]
    return [
        _Word(match.group(), origin[match.start()], origin[match.end() - 1] + 1)
        for match in re.finditer(r"\w+", folded)
    ]
