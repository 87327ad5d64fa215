"""The time that somebody took over a page: gaps between answers, and reading."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from careeval.people.deck import CONSENT
from careeval.people.forms import FormId
from careeval.people.store import Event, Store
from careeval.people.study.rounds import minutes_by_task, rater_progress, read_rounds
from support.review_study import Study


def _saved(rater: str, task: str, at: str, typed_by: str | None = None) -> Event:
    return Event(1, rater, task, "realism", "4", f"2026-11-23T10:{at}+00:00", None, "", typed_by)


def test_time_is_what_passes_between_answers() -> None:
    """By hand: 30 s and 30 s on the first page, 2 min and 1 min on the second."""
    events = [
        _saved("r01", "consent", "00:00"),
        _saved("r02", "consent", "00:10"),
        _saved("r01", "a", "00:30"),
        _saved("r01", "a", "01:00"),
        _saved("r01", "b", "03:00"),
        _saved("r01", "b", "04:00"),
    ]
    assert minutes_by_task(events) == {"r01": {"a": 1.0, "b": 3.0}}


def test_a_page_with_an_answer_without_time_has_no_time() -> None:
    """A page is not timed whose first answer, or one after ten minutes, or a typed one has none."""
    events = [
        _saved("r01", "a", "00:00"),
        _saved("r01", "a", "00:01"),
        _saved("r01", "b", "10:02"),
        _saved("r01", "b", "10:03"),
        _saved("r01", "c", "10:33"),
        _saved("r01", "d", "10:43", "an assistant"),
        _saved("r01", "d", "10:44"),
    ]
    assert minutes_by_task(events) == {"r01": {"c": 0.5}}


def _rated_in(seconds: float, study: Study, rater: str, *, ladder: bool) -> None:
    """Agree, then answer about each scenario, so many seconds after the save before."""
    at = datetime(2026, 11, 23, 10, tzinfo=UTC)
    store = Store(study.store._database, lambda: at)
    form = FormId(rater, 1, 10**6)
    store.save(rater, CONSENT, {"given": study.plan.consent.digest}, form)
    for n, name in enumerate(study.plan.seat(rater).scenarios, 2):
        at += timedelta(seconds=seconds)
        values = {"realism": "4", "validity": "4"}
        values |= {"ladder/+1/relevance": "4"} if ladder else {}
        store.save(rater, study.plan.task(name), values, replace(form, number=n))


def test_ratings_are_too_fast_for_the_words_that_they_are_about(study: Study) -> None:
    """The time that suffices for a scenario alone is too short for the scenario and an item."""
    scenario = study.bank.scenarios[0]
    item = next(item for item in scenario.ladder if item.id == "+1")
    seconds = {
        ladder: 60 * (len(scenario.text.split()) + ladder * len(item.text.split())) / 500
        for ladder in (False, True)
    }
    between = sum(seconds.values()) / 2
    _rated_in(between, study, "r01", ladder=False)
    _rated_in(between, study, "r02", ladder=True)
    _rated_in(660, study, "r03", ladder=True)
    (round_,) = read_rounds(study.store, [study.bank])
    paces = {seat.rater.id: (len(seat.too_fast), len(seat.untimed)) for seat in round_.seats}
    assert paces == {"r01": (0, 0), "r02": (3, 0), "r03": (0, 3)}
    scenarios = {each.id: each for each in study.bank.scenarios}
    progress = rater_progress(study.store, study.plan, scenarios)
    assert [each.n_too_fast for each in progress] == [0, 3, 0]
