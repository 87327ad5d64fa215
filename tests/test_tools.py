"""The second reader's sheets, and what is made of what they write on them."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
from readings import LabelRead, PointsRead

from careeval.bank import load_bank
from careeval.bank.load import OWN_BANK
from support.bank_folder import GOOD_BANK

TOOL = Path(__file__).parent.parent / "tools" / "second_reading.py"


@pytest.fixture(scope="module")
def tool() -> dict[str, Any]:
    """The names of the tool."""
    return runpy.run_path(str(TOOL))


def test_a_sheet_tells_no_points_and_no_labels(tool: dict[str, Any]) -> None:
    """It has every item's and probe's text, and nothing else of either; not in the file's order."""
    bank = load_bank(GOOD_BANK)
    (scenario,) = bank.scenarios
    probes = bank.probes[scenario.id]

    sheet = tool["sheet"](scenario, probes)

    items = [*scenario.actions, *scenario.ladder]
    for text in (scenario.text, *(item.text for item in items), *(probe.text for probe in probes)):
        assert text in sheet
    for action in scenario.actions:
        assert action.id not in sheet
        assert action.why not in sheet
    for word in ("points", "domains", "trap", "present", "absent", *(p.id for p in probes)):
        assert f"{word}:" not in sheet
    shown = sorted(scenario.actions, key=lambda action: sheet.index(action.text))
    assert [action.id for action in shown] != [action.id for action in scenario.actions]


def test_what_is_said_of_a_name_is_kept_for_its_item(tool: dict[str, Any]) -> None:
    """The reader's points and labels come back to the items whose texts stood at those names."""
    bank = load_bank(GOOD_BANK)
    (scenario,) = bank.scenarios
    probes = bank.probes[scenario.id]
    sheet = tool["sheet"](scenario, probes)
    acts = dict(line[2:].split(": ", 1) for line in sheet.splitlines() if line[:3] == "- A")
    stops = next(name for name, text in acts.items() if text.startswith("Stops"))
    names = [*acts, *(f"R{i}" for i in range(1, 6))]
    said = {
        "points": {name: [2 if name == stops else 0, {"user_agency": 1}] for name in names},
        "labels": {f"P{i}": [stops] for i in range(1, len(probes) + 1)},
    }

    points = tool["points_read"](scenario, said)
    labels = tool["labels_read"](scenario, probes, said)

    assert [row.item for row in points if row.reader == 2] == ["stops"]
    assert {row.item for row in labels if row.reader == "present"} == {"stops"}
    assert len(points) == len(scenario.actions) + 5
    assert len(labels) == len(scenario.actions) * len(probes)
    assert all(isinstance(row, PointsRead) for row in points)
    assert all(isinstance(row, LabelRead) for row in labels)


def test_rows_replace_those_of_the_same_scenario(tool: dict[str, Any], tmp_path: Path) -> None:
    """Readings of another scenario are kept."""
    path = tmp_path / "points-last.csv"
    row = PointsRead("eating-001", 1, "actions", "a", 2, 2, "", "")
    other = PointsRead("eating-002", 1, "actions", "a", 2, 1, "", "")
    again = PointsRead("eating-001", 2, "actions", "b", 1, 1, "", "")
    tool["_add"](path, [row, other], PointsRead)
    tool["_add"](path, [again], PointsRead)
    assert path.read_text().splitlines()[1:] == ["eating-001,2,actions,b,1,1,,",
                                                 "eating-002,1,actions,a,2,1,,"]  # fmt: skip


def test_own_readings_are_of_what_stands_in_the_bank() -> None:
    """Every reading names a scenario of the bank; the last is of the version that stands there."""
    from readings import second_reading

    bank = load_bank(OWN_BANK)
    reading = second_reading(OWN_BANK, {})
    versions = {scenario.id: scenario.version for scenario in bank.scenarios}
    for rows in (*reading.points.values(), *reading.labels.values()):
        assert {row.scenario for row in rows} <= set(versions)
    assert reading.points["first"]
    last = {(row.scenario, row.item): row for row in reading.points["last"]}
    for scenario in bank.scenarios if last else ():
        for item in (*scenario.actions, *scenario.ladder):
            row = last[scenario.id, item.id]
            assert (row.version, row.author) == (scenario.version, item.points)
