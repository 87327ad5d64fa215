"""References are over the banks of today, and beside entries on the same scale."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from careeval.bank import load_bank
from careeval.bank.load import OWN_BANKS
from careeval.core.card import Card
from careeval.core.response import Grader
from careeval.core.scenario import Rubric
from careeval.results.entry import Entry
from careeval.results.references import (
    FILE,
    Scale,
    by_scale,
    own_references,
    references_beside,
    references_json,
)
from careeval.sheets.kinds import ERROR_SHARE, ESTIMATE
from careeval.sheets.references import references_sheet
from careeval.stats.estimate import Estimate
from results.authored import changed

WORDS, ACTS = (
    next(each.scale for each in own_references() if each.condition == condition)
    for condition in ("", "facts")
)


@pytest.fixture
def entry(summaries: list[Entry]) -> Entry:
    """An entry over careeval's bank, of which one scenario may be shown."""
    return on(summaries[0], WORDS)


def on(entry: Entry, scale: Scale) -> Entry:
    """The same entry on another scale."""
    bank, bank_n, *others = scale
    names = dict(zip(("rubric", "given", "step"), others, strict=True))
    return changed(
        entry, bank=bank, bank_version=f"{bank_n}-Z", public=frozenset({"shown"}), **names
    )


def test_they_are_over_todays_banks() -> None:
    """A new version of a bank needs them computed again."""
    banks = [load_bank(folder).about for folder in OWN_BANKS.values()]
    own = [(each.bank, each.bank_version) for each in own_references()]
    assert list(dict.fromkeys(own)) == [(about.name, about.version) for about in banks]


@pytest.mark.parametrize(
    ("scale", "highest", "lowest"),
    [(WORDS, "AI by Anthropic", "Vague"), (ACTS, "Safe plan", "Does nothing")],
)
def test_the_scale_has_two_ends(entry: Entry, scale: Scale, highest: str, lowest: str) -> None:
    """The best comes first; what does not look at the situation is at 0 or below."""
    beside = references_beside([on(entry, scale)])
    assert (beside[0].name, beside[-1].name) == (highest, lowest)
    first, last = beside[0].score.value, beside[-1].score.value
    assert first is not None
    assert last is not None
    assert first > 0.8
    assert last <= 0


@pytest.mark.parametrize(
    "scale",
    [
        WORDS._replace(bank_n="3"),
        WORDS._replace(rubric=Rubric.ladder),
        WORDS._replace(bank="made-bank"),
        ACTS._replace(given="reminded"),
        ACTS._replace(given="told", step=True),
    ],
)
def test_another_scale_has_none(entry: Entry, scale: Scale) -> None:
    """Numbers over another bank, rubric or condition do not compare."""
    assert references_beside([on(entry, scale)]) == []


def test_what_was_submitted_is_not_shown_twice(entry: Entry) -> None:
    """A reference among the entries is left out; a system that only has its name hides nothing."""
    card = Card("x", "1", "2026-11-29", "we", "other", "none", "", rank=False, agree=True)
    own = changed(entry, system="Vague")
    assert "Vague" in {each.name for each in references_beside([own])}
    (vague,) = (each for each in references_beside([own]) if each.name == "Vague")
    same = {"n_scenarios": vague.n_scenarios, "n_epochs": vague.n_epochs}
    submitted = changed(own, card=card, grader=Grader(vague.judged_by), **same)
    assert "Vague" not in {each.name for each in references_beside([entry, submitted])}
    for other in (
        changed(submitted, card=replace(card, rank=True)),
        changed(submitted, n_scenarios=1),
        changed(submitted, grader=Grader("another/grader")),
    ):
        assert "Vague" in {each.name for each in references_beside([other])}


def test_what_may_not_be_shown_has_none(entry: Entry) -> None:
    """An entry over the held-out split alone has no scale of the public one."""
    secret = changed(entry, public=frozenset())
    assert by_scale([secret]) == {}
    assert by_scale([secret, entry]) == {WORDS: [entry]}


def test_the_file_is_rounded_and_sorted() -> None:
    """The file of a bank is what its references give; an unknown score comes last, and is null."""
    folder = OWN_BANKS["plans"]
    own = [each for each in own_references() if each.bank == ACTS.bank]
    assert references_json(reversed(own)) == (folder / FILE).read_text(encoding="utf-8")
    unknown = replace(own[0], score=Estimate.unknown("nothing was judged"))
    third = replace(own[1], score=Estimate(1 / 3, 1 / 3, 1 / 3, None, "one scenario"))
    first, last = json.loads(references_json([unknown, third]))
    assert first["score"]["value"] == 0.333333
    assert last["score"]["value"] is None


def test_their_sheet_has_the_numbers_of_an_entry() -> None:
    """Severe errors and score are written as for any system, with the count and the interval."""
    (row, *_) = references_sheet(each for each in own_references() if each.scale == ACTS).rows
    assert (row["name"], row["asked"], row["condition"]) == ("Safe plan", "48 × 1", "facts")
    assert ERROR_SHARE.page_text(row["severe"]) == "0.0%"
    assert ESTIMATE.text(row["score"]) == "100.0 [92.5, 100.0]"
