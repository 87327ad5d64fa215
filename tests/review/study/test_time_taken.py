"""The time that somebody took over a page: gaps between answers, and reading."""

from __future__ import annotations

from careeval.review.store import Event
from careeval.review.study.time_taken import is_faster_than_reading, median_minutes, minutes_by_task


def _saved(rater: str, task: str, at: str, typed_by: str | None = None) -> Event:
    return Event(1, rater, task, "realism", "4", f"2026-11-23T10:{at}+00:00", None, "", typed_by)


def test_time_is_what_passes_between_answers() -> None:
    """By hand: 30 s on the first page after its first answer, 2 min and 1 min on the second."""
    events = [
        _saved("r01", "a", "00:00"),
        _saved("r02", "a", "00:10"),
        _saved("r01", "a", "00:30"),
        _saved("r01", "b", "02:30"),
        _saved("r01", "b", "03:30"),
    ]
    assert minutes_by_task(events) == {"r01": {"a": 0.5, "b": 3.0}}


def test_who_was_away_or_typed_took_no_time() -> None:
    """A gap of over ten minutes is no time, and what an assistant typed is nobody's."""
    events = [
        _saved("r01", "a", "00:00"),
        _saved("r01", "b", "10:01"),
        _saved("r01", "b", "10:31"),
        _saved("r01", "c", "10:40", "an assistant"),
    ]
    assert minutes_by_task(events) == {"r01": {"b": 0.5}}


def test_five_hundred_words_a_minute_are_the_fastest() -> None:
    """A page of 500 words that was done in 59 seconds was not read."""
    assert is_faster_than_reading(59 / 60, 500)
    assert not is_faster_than_reading(1.0, 500)
    assert median_minutes([]) is None
    assert median_minutes([1, 2, 9]) == 2
