"""Another bank's file into ladders: all of it, or nothing."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from careeval.bank import load_bank
from careeval.bank.imports import import_bank
from careeval.core.scenario import Adl, Domain
from careeval.errors import BankError

HEAD = ("Task", "Scenario", "Option", "Score", "User Function", "User Agency", "Risk Awareness")
ROWS: Sequence[tuple[Any, ...]] = (
    ("Upper body dressing", "He waits for his jumper.", "Asks him which one.", 2, 1, 2, ""),
    ("Upper body dressing", "He waits for his jumper.", "Pulls it over his head.", -2, 0, 0, 0),
    ("Eating", "She coughs on rice.", "Stops the spoon.", 2, 2, 1, 2),
    ("Eating", "She coughs on rice.", "Waits.", 0, 1, 1, 1),
)
"""Two made-up scenarios in the paper's shape."""


def _csv(path: Path, rows: Sequence[Sequence[Any]] = ROWS, head: Sequence[str] = HEAD) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])
    return path


def _xlsx(path: Path) -> Path:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (HEAD, *ROWS):
        sheet.append(row)
    book.save(path)
    return path


def _objects() -> list[dict[str, Any]]:
    return [dict(zip(HEAD, row, strict=True)) for row in ROWS]


def _jsonl(path: Path) -> Path:
    path.write_text("\n".join(map(json.dumps, _objects())), encoding="utf-8")
    return path


def _nested(path: Path) -> Path:
    scenarios: dict[str, dict[str, Any]] = {}
    for row in _objects():
        made = scenarios.setdefault(
            row["Scenario"], {"task": row["Task"], "scenario": row["Scenario"], "options": []}
        )
        ratings = {name: row[name] for name in HEAD[4:] if row[name] != ""}
        made["options"].append({"text": row["Option"], "score": row["Score"], "ratings": ratings})
    path.write_text(json.dumps({"scenarios": list(scenarios.values())}), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("write", "name", "given"),
    [
        (_csv, "a.csv", {}),
        (_xlsx, "a.xlsx", {}),
        (_jsonl, "a.jsonl", {}),
        (_nested, "a.json", {"option": "text"}),
    ],
)
def test_every_kind_of_file_becomes_the_same_ladders(
    tmp_path: Path, write: Any, name: str, given: Mapping[str, str]
) -> None:
    """Activity, text, points, and ratings, with "Risk Awareness" as functional safety."""
    made = import_bank(write(tmp_path / name), tmp_path / "bank", "theirs", given)

    bank = load_bank(tmp_path / "bank")
    dressing, eating = bank.scenarios
    assert (made.n_scenarios, made.n_options) == (2, 4)
    assert (dressing.adl, dressing.part, dressing.text) == (
        Adl.dressing, "upper-body", "He waits for his jumper.",
    )  # fmt: skip
    assert [(rung.id, rung.points, rung.text) for rung in eating.ladder] == [
        ("+2", 2, "Stops the spoon."), ("0", 0, "Waits."),
    ]  # fmt: skip
    assert dressing.ladder[0].domains == {Domain.user_function: 1, Domain.user_agency: 2}
    assert eating.ladder[0].domains[Domain.functional_safety] == 2
    assert bank.about.name == "theirs"


def test_two_options_of_equal_points_have_names_of_their_own(tmp_path: Path) -> None:
    """Items are kept by id: none may stand for two."""
    rows = [*ROWS, ("Eating", "She coughs on rice.", "Calls her name.", 2, 1, 1, 1)]
    import_bank(_csv(tmp_path / "a.csv", rows), tmp_path / "bank", "theirs", {})
    eating = load_bank(tmp_path / "bank").scenarios[1]
    assert [rung.id for rung in eating.ladder] == ["option-1", "option-2", "0"]


def test_every_record_that_does_not_fit_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    """Points out of range, an unknown activity, an empty option, no points: four lines at once."""
    rows = [
        ("Eating", "A.", "Waits.", 3, 1, 1, 1),
        ("Gardening", "B.", "Waits.", 1, 1, 1, 1),
        ("Eating", "C.", "", 1, 1, 1, 1),
        ("Eating", "D.", "Waits.", "", 1, 1, 1),
        ("Eating", "E.", "Waits.", 1, 1.5, 1, 1),
    ]
    with pytest.raises(BankError) as caught:
        import_bank(_csv(tmp_path / "a.csv", [*ROWS, *rows]), tmp_path / "bank", "theirs", {})
    message = str(caught.value)
    for words in (
        "line 6: Score is '3', expected a whole number -2 to 2",
        "line 7: activity 'Gardening' is none of",
        "line 8: has no 'Option'",
        "line 9: has no 'Score'",
        "line 10: User Function is '1.5', expected a whole number 0 to 2",
        "nothing was written",
    ):
        assert words in message
    assert list(tmp_path.iterdir()) == [tmp_path / "a.csv"]


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        ({"txt": "Scenario"}, "'txt' is no field", "did you mean 'text'"),
        ({"text": "Scenarioo"}, "no column 'Scenarioo'", "did you mean 'Scenario'"),
    ],
)
def test_a_mapping_that_does_not_fit_says_so(
    tmp_path: Path, given: Mapping[str, str], message: str, hint: str
) -> None:
    """An unknown field and an unknown column each name the nearest."""
    with pytest.raises(BankError, match=message) as caught:
        import_bank(_csv(tmp_path / "a.csv"), tmp_path / "bank", "theirs", given)
    assert hint in caught.value.hint


def test_a_column_that_is_not_found_can_be_named(tmp_path: Path) -> None:
    """Columns of other names are mapped; without the mapping the error says which is missing."""
    head = ("Task", "Vignette", "Option", "Mark", "User Function", "User Agency", "Safety")
    file = _csv(tmp_path / "a.csv", head=head)
    with pytest.raises(BankError, match="no column is the text") as caught:
        import_bank(file, tmp_path / "bank", "theirs", {})
    assert "--map text=COLUMN" in caught.value.hint
    import_bank(file, tmp_path / "bank", "theirs", {"text": "Vignette", "points": "Mark"})
    assert len(load_bank(tmp_path / "bank")) == 2


def test_what_is_not_understood_is_told(tmp_path: Path) -> None:
    """A diagnosis that is none of ours is left out, and said; ours is taken."""
    head = (*HEAD, "Diagnosis")
    rows = [(*row, "stroke" if row[0] == "Eating" else "gout") for row in ROWS]
    made = import_bank(_csv(tmp_path / "a.csv", rows, head), tmp_path / "bank", "theirs", {})
    assert made.notes == ("condition 'gout' is none that this bank knows: left out in 1 scenarios",)
    assert [s.condition for s in load_bank(tmp_path / "bank").scenarios] == [None, "stroke"]


HOSTILE: dict[str, tuple[str, bytes, str]] = {
    "no spreadsheet": ("a.xlsx", b"PK\x03\x04 not a zip", "is no spreadsheet"),
    "no JSON": ("a.json", b"{", "cannot be read"),
    "deep JSON": ("a.json", b"[" * 100_000, "cannot be read"),
    "no text": ("a.csv", b"\xff\xfe\x00", "is not UTF-8"),
    "nothing": ("a.csv", b"", "holds no scenario"),
    "no kind": ("a.docx", b"x", "is no kind of file"),
    "a number": ("a.json", b"[1]", "is no object"),
}


@pytest.mark.parametrize(("name", "content", "message"), HOSTILE.values(), ids=HOSTILE.keys())
def test_a_file_that_is_none_says_so(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    """A clear error, and no bank."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BankError, match=message):
        import_bank(tmp_path / name, tmp_path / "bank", "theirs", {})
    assert not (tmp_path / "bank").exists()


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    """An import never adds to what somebody else wrote."""
    (tmp_path / "bank").mkdir()
    (tmp_path / "bank" / "mine").write_text("x")
    with pytest.raises(BankError, match="is there already"):
        import_bank(_csv(tmp_path / "a.csv"), tmp_path / "bank", "theirs", {})
    assert [path.name for path in (tmp_path / "bank").iterdir()] == ["mine"]
