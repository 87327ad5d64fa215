"""Quotes: by hand, then for any text."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from careeval.report.texts import QuoteFinder

TEXT = "I stop. “Where does it hurt?” I ask her, and wait."


def _match(text: str, quote: str | None) -> str | None:
    place = QuoteFinder(text).find(quote)
    return None if place is None else text[place.start : place.stop]


def test_a_quote_is_found_where_it_stands() -> None:
    """A quote's place goes from its first letter to the punctuation that closes it."""
    assert QuoteFinder(TEXT).find("I ask her") == (30, 40)
    assert _match(TEXT, "I ask her") == "I ask her,"


def test_case_space_and_punctuation_do_not_matter() -> None:
    """A quote is found by its words, with the punctuation between and after them."""
    assert _match(TEXT, "where  does it\nhurt -- i ASK") == "Where does it hurt?” I ask"


def test_words_are_whole() -> None:
    """A quote is not found inside other words: "arm" does not stand in "warm harm"."""
    assert _match("warm harm", "arm") is None


def test_the_first_of_equals_is_found() -> None:
    """The first of two equal passages is returned."""
    assert QuoteFinder("I wait and I wait").find("I wait") == (0, 6)


def test_the_very_signs_are_found_before_the_words() -> None:
    """An exact match is preferred to the same words in other case."""
    assert QuoteFinder("STOP NOW. I stop now.").find("stop now") == (12, 21)


def test_letters_that_fold_to_several() -> None:
    """A quote is found behind letters whose folded form is longer, and in the right place."""
    text = "Straße, İSTANBUL und Fuß"
    assert _match(text, "STRASSE") == "Straße,"
    assert _match(text, "fuss") == "Fuß"


def test_quotes_that_are_nowhere() -> None:
    """A quote that is None, wordless or not there has no place, and neither has any in no text."""
    assert [_match(TEXT, quote) for quote in (None, "…", "", "never said")] == [None] * 4
    assert _match("", "anything") is None


any_text = st.text() | st.text(alphabet="aA bB.,İß\n“”", max_size=40)


@given(any_text, any_text)
def test_a_place_is_in_the_text(text: str, quote: str) -> None:
    """Whatever is quoted, its place is a piece of the text that is not empty."""
    place = QuoteFinder(text).find(quote)
    assert place is None or 0 <= place.start < place.stop <= len(text)


@given(
    st.lists(st.text(alphabet="abİß", min_size=1, max_size=4), min_size=1, max_size=8), st.data()
)
def test_words_in_their_order_are_found(words: list[str], data: st.DataObject) -> None:
    """Any run of a response's words is found in it, however it is spaced, cased and pointed."""
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    quote = _match(", ".join(words), " … ".join(words[first : last + 1]).casefold())
    assert quote is not None
    wanted = " ".join(words[first : last + 1]).casefold()
    assert re.findall(r"\w+", quote.casefold()) == re.findall(r"\w+", wanted)
