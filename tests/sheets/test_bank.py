"""Tests of the documents of a bank: its scenarios, its coverage, and its pilot."""

from __future__ import annotations

from pathlib import Path

import pytest

from careeval.bank import Bank
from careeval.bank.coverage import Presence
from careeval.sheets.bank import (
    bank_figures,
    coverage_views,
    list_document,
    pilot_document,
    pilot_json,
    scenario_json,
    stats_document,
    stats_json,
)
from support.bank_folder import BankFolder


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    """A bank of one scenario."""
    return BankFolder.good(tmp_path / "bank").load()


def test_a_list_has_a_cell_under_every_head(bank: Bank) -> None:
    """A twin has its base in a column that a base leaves open; each row has every column."""
    (scenario,) = bank.scenarios
    twin = scenario.model_copy(update={"id": "dressing-001-twin", "twin_of": "dressing-001"})
    document = list_document([scenario_json(scenario), scenario_json(twin)])
    (view,) = document.views
    base_row, twin_row = (
        dict(zip(view.heads, view.cells(row), strict=True)) for row in view.sheet.rows
    )
    assert (base_row["twin of"], twin_row["twin of"]) == ("–", "dressing-001")
    assert base_row["words"] == twin_row["words"] == str(len(scenario.text.split()))
    assert document.data.data.frame["twin_of"].to_list() == [None, "dressing-001"]
    assert "twin_of" not in scenario_json(scenario)


def test_coverage_adds_up(bank: Bank) -> None:
    """Each part is a row with its scenarios; the last row sums them, and files leave it out."""
    stats = stats_json(bank)
    views = list(coverage_views(stats))
    assert [view.caption for view in views] == [
        "Condition by activity",
        "Assistance by activity",
        "Situation by activity",
        "Actor by activity",
    ]
    stroke, whole = map(views[0].cells, views[0].sheet.rows)
    assert stroke == ("stroke", "1", "·", "·", "·", "·", "·", "1")
    assert whole == ("all", *stroke[1:])
    frame = stats_document("A bank", stats).data.data.frame
    assert frame.select("by", "part", "dressing", "eating", "all").row(0) == (
        "condition", "stroke", 1, 0, 1,
    )  # fmt: skip
    assert "all" not in frame["part"].to_list()


def test_a_scenario_with_two_situations_is_one_of_all(bank: Bank) -> None:
    """It counts in both rows, and the caption says so; the row of all has it once."""
    stats = stats_json(bank)
    (row,) = stats["coverage"]["situation"].values()
    stats["coverage"]["situation"] = {"discomfort": row, "family": row}
    view = [*coverage_views(stats)][2]
    assert view.caption == "Situation by activity (several a scenario: 2 in all)"
    assert [view.cells(row)[-1] for row in view.sheet.rows] == ["1", "1", "1"]


def test_figures_say_what_a_bank_holds(bank: Bank) -> None:
    """One scenario is said to be one, and every act is counted by its points."""
    first, *others = bank_figures(stats_json(bank))
    assert first == "1 scenario, the public split"
    points = [action.points for action in bank.scenarios[0].actions]
    actions = next(sentence for sentence in others if sentence.startswith("Actions: "))
    assert f"{points.count(-2)} of −2" in actions
    assert f"{points.count(2)} of +2" in actions


def test_a_pilot_has_a_row_a_class_and_names_what_nobody_has(bank: Bank) -> None:
    """Shares are of the judgments of a class; a good act that no reference has is named."""
    (scenario,) = bank.scenarios
    good = [action for action in scenario.actions if action.points > 0]
    rows = [
        Presence(scenario.id, action.id, kind, 4, 4 if kind == "closed" else 0)
        for action in good
        for kind in ("closed", "reference")
    ]
    document = pilot_document(pilot_json(bank, rows))
    (view,) = document.views
    assert view.heads == ("class", "items", "closed", "reference")
    assert {cells[2:] for cells in map(view.cells, view.sheet.rows) if cells[1] != "0"} == {
        ("100", "0")
    }
    assert document.notes[0].startswith(f"{len(good)} good acts that stand in every closed-book")
    assert f"{scenario.id} {good[0].id}" in document.notes[1]
