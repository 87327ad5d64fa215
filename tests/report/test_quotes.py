"""Quotes: by hand, then for any text."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from careeval.report.quotes import Segment, segments

TEXT = "I stop. “Where does it hurt?” I ask her, and wait."


def test_a_quote_is_marked_where_it_stands() -> None:
    """One quote cuts a response in three, and ends in the second piece."""
    assert segments(TEXT, {"3": "I ask her"}) == [
        Segment("I stop. “Where does it hurt?” "),
        Segment("I ask her,", ("3",), ("3",)),
        Segment(" and wait."),
    ]


def test_case_space_and_punctuation_do_not_matter() -> None:
    """A quote is found by its words, and marked with the punctuation between and after them."""
    found = segments(TEXT, {"3": "where  does it\nhurt -- i ASK"})
    assert [piece.text for piece in found if piece.items] == ["Where does it hurt?” I ask"]


def test_quotes_that_overlap() -> None:
    """Where two quotes overlap the piece belongs to both, and each ends where it ends."""
    found = segments("one two three", {"A": "one two", "2": "two three"})
    assert found == [
        Segment("one ", ("A",)),
        Segment("two", ("A", "2"), ("A",)),
        Segment(" three", ("2",), ("2",)),
    ]


def test_words_are_whole() -> None:
    """A quote is not found inside other words: "arm" does not stand in "warm harm"."""
    assert segments("warm harm", {"1": "arm"}) == [Segment("warm harm")]


def test_the_first_of_equals_is_marked() -> None:
    """A quote that stands there twice is marked once, where it stands first."""
    assert [bool(piece.items) for piece in segments("I wait and I wait", {"1": "I wait"})] == [
        True,
        False,
    ]


def test_letters_that_fold_to_several() -> None:
    """A quote is found behind letters whose folded form is longer, and in the right place."""
    found = segments("Straße, İSTANBUL und Fuß", {"1": "STRASSE", "2": "fuss"})
    assert [piece.text for piece in found if piece.items] == ["Straße,", "Fuß"]


def test_quotes_that_mark_nothing() -> None:
    """A quote that is None, wordless or not there leaves the response in one piece."""
    assert segments(TEXT, {"1": None, "2": "…", "3": "", "4": "never said"}) == [Segment(TEXT)]


def test_no_text_no_pieces() -> None:
    """An empty response has no pieces."""
    assert segments("", {"1": "anything"}) == []


any_text = st.text() | st.text(alphabet="aA bB.,İß\n“”", max_size=40)


@given(any_text, st.dictionaries(st.sampled_from("ABC123"), st.none() | any_text))
def test_joined_pieces_are_the_text(text: str, quotes: dict[str, str | None]) -> None:
    """Whatever is quoted, no letter is lost, added or moved, and no piece is empty."""
    found = segments(text, quotes)
    assert "".join(piece.text for piece in found) == text
    assert all(piece.text for piece in found)
    assert all(set(piece.ends) <= set(piece.items) for piece in found)


@given(
    st.lists(st.text(alphabet="abİß", min_size=1, max_size=4), min_size=1, max_size=8), st.data()
)
def test_words_in_their_order_are_found(words: list[str], data: st.DataObject) -> None:
    """Any run of a response's words is found in it, however it is spaced, cased and pointed."""
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    found = segments(", ".join(words), {"1": " … ".join(words[first : last + 1]).casefold()})
    marked = "".join(piece.text for piece in found if piece.items).casefold()
    wanted = " ".join(words[first : last + 1]).casefold()
    assert re.findall(r"\w+", marked) == re.findall(r"\w+", wanted)
