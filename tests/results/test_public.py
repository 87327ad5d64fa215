"""The public part of runs: nothing else reaches a page or an export."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import polars as pl
import pytest

from careeval import scoring
from careeval.results.findings import PublicView, findings
from careeval.results.tables import Runs
from results.authored import all_numbers, judgments, responses

SECRET = "words of the held-out split"
MARKS = {"eating-1": ["00001", "10000"], "eating-h1": ["00001", "00011"], "eating-x": ["00001"] * 2}
SPLITS = {"eating-1": "public", "eating-h1": "held-out", "eating-x": None}


def runs_with_a_held_out_part() -> Runs:
    """A public scenario, a held-out one with words in every column, and one that does not say."""
    plain = {"bank": "made-bank", "bank_version": "2-A", "bank_makers": [], "note": ""}
    rows = [
        {**row, **plain, "text": "I wait.", "scenario_text": "She sits.", "split": SPLITS[name]}
        for row in responses(MARKS)
        for name in [row["scenario"]]
    ]
    judged = [{**row, "item_text": "Asks.", "reason": "It does."} for row in judgments(MARKS)]
    secret = {"text", "scenario_text", "note", "item_text", "quote", "reason", "item"}
    for row in (*rows, *judged):
        if row["scenario"] == "eating-h1":
            row |= dict.fromkeys(secret, SECRET)
            row["item"] = f"{SECRET} {row.get('position')}"
    return Runs.of(rows, judged)


def tables_in(value: Any, seen: set[int]) -> Iterator[pl.DataFrame]:
    """Every table that can be reached from a value."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, pl.DataFrame):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from tables_in(each, seen)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from tables_in(each, seen)
    elif is_dataclass(value):
        for field in fields(value):
            yield from tables_in(getattr(value, field.name), seen)


def test_nothing_that_pages_and_exports_are_made_of_has_a_held_out_word() -> None:
    """From all that is found in runs, which is all that they take, no such word can be reached."""
    runs = runs_with_a_held_out_part()
    assert all(SECRET in table.write_json() for table in (runs.responses, runs.judgments))
    found = findings(runs)
    tables = list(tables_in(found, set()))
    assert len(tables) >= 4
    assert not [table.columns for table in tables if SECRET in table.write_json()]
    assert SECRET not in repr((found.items, [*map(all_numbers, found.entries)], found.cards))


def test_what_may_be_shown() -> None:
    """One response in three is public; of the others there are numbers."""
    public = PublicView.of(runs_with_a_held_out_part())
    assert set(public.responses["scenario"]) == {"eating-1"}
    assert public.scenarios == (("made-bank 2", "eating-1"),)
    assert public.hidden == {"eating-h1", "eating-x"}
    assert (public.n_scenarios_left_out, public.n_held_out, public.n_unknown) == (2, 2, 2)
    assert list(public.abouts) == [("made-bank 2", "eating-1")]
    assert {scenario for _, scenario, _ in public.items} == {"eating-1"}


def test_what_may_be_shown_of_an_entry() -> None:
    """Judgments and scores of a public scenario are there; errors elsewhere count."""
    found = findings(runs_with_a_held_out_part())
    (entry,) = found.entries
    assert entry.public == {"eating-1"}
    items = set(entry.first_of("scenario", "item").iter_rows())
    assert {scenario for scenario, item in items if entry.presence(scenario, item) is not None} == {
        "eating-1"
    }
    assert "eating-h1" in {scenario for scenario, _ in items}
    assert [s.scenario for s in entry.shown(entry.scenarios)] == ["eating-1"]
    harms = found.public.harms(entry, scoring.SEVERE)
    assert [harm.scenario for harm in harms.shown] == ["eating-1"]
    assert (harms.n_held_out, harms.n_unknown) == (2, 2)


@pytest.mark.parametrize("split", ["held-out", None])
def test_one_log_that_holds_a_scenario_out_is_enough(split: str | None) -> None:
    """Public for one system and not for another, a scenario may not be shown, and no id of it."""
    rows = [
        {**row, "system": system, "bank": "made-bank", "bank_version": "2-A", "split": each}
        for system, each in (("a", "public"), ("b", split))
        for row in responses(MARKS)
    ]
    public = PublicView.of(Runs.of(rows, []))
    assert public.scenarios == ()
    assert public.hidden == set(MARKS)
    assert set(public.responses["system"]) == {"a"}
