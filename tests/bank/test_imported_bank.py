"""Import of a file of graded options: the whole file, or nothing."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from careeval.bank import imported_records, load_bank
from careeval.bank.imported_bank import import_bank
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


def _xlsx(path: Path, rows: Sequence[Sequence[Any]] = ROWS, head: Sequence[str] = HEAD) -> Path:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (head, *rows):
        sheet.append(row)
    book.save(path)
    return path


def _with_sheet(path: Path, old: str, new: str) -> Path:
    """A spreadsheet in whose sheet other XML stands."""
    name = "xl/worksheets/sheet1.xml"
    with zipfile.ZipFile(_xlsx(path)) as archive:
        parts = {each: archive.read(each) for each in archive.namelist()}
    assert old in parts[name].decode()
    parts[name] = parts[name].decode().replace(old, new).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, content in parts.items():
            archive.writestr(each, content)
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
        (_nested, "a.json", {}),
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
        "line 8: 'Option' is missing or empty",
        "line 9: 'Score' is missing or empty",
        "line 10: User Function is '1.5', expected a whole number 0 to 2",
        "nothing was written",
    ):
        assert words in message
    assert list(tmp_path.iterdir()) == [tmp_path / "a.csv"]


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        ({"txt": "Scenario"}, "'txt' is not a field", "did you mean 'text'"),
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
    """A diagnosis that the bank does not know is left out with a note; others are kept."""
    head = (*HEAD, "Diagnosis")
    rows = [(*row, "stroke" if row[0] == "Eating" else "gout") for row in ROWS]
    made = import_bank(_csv(tmp_path / "a.csv", rows, head), tmp_path / "bank", "theirs", {})
    assert made.notes == (
        "condition 'gout' is not known to the bank format: left out of 1 scenario",
        "activity 'Upper body dressing' read as dressing",
    )
    assert [s.condition for s in load_bank(tmp_path / "bank").scenarios] == [None, "stroke"]


HOSTILE: dict[str, tuple[str, bytes, str]] = {
    "not a spreadsheet": ("a.xlsx", b"PK\x03\x04 not a zip", "is not a spreadsheet"),
    "no JSON": ("a.json", b"{", "cannot be read"),
    "deep JSON": ("a.json", b"[" * 100_000, "cannot be read"),
    "no text": ("a.csv", b"\xff\xfe\x00", "is not UTF-8"),
    "nothing": ("a.csv", b"", "has no scenario"),
    "no kind": ("a.docx", b"x", "has the ending .docx"),
    "a number": ("a.json", b"[1]", "is not an object"),
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
    with pytest.raises(BankError, match="is not an empty folder"):
        import_bank(_csv(tmp_path / "a.csv"), tmp_path / "bank", "theirs", {})
    assert [path.name for path in (tmp_path / "bank").iterdir()] == ["mine"]


IDS = ("Id", *HEAD)


def test_a_merged_id_belongs_to_the_rows_below_it(tmp_path: Path) -> None:
    """Rows join by id, by merged cells and by text; a later row's activity is not read."""
    rows = [
        ("S1", "Eating", "She coughs on rice.", "Stops the spoon.", 2, "", "", ""),
        ("S2", "Dressing", "He waits for his jumper.", "Asks him which one.", 2, "", "", ""),
        ("", "", "", "Waits.", 0, "", "", ""),
        ("S1", "Gardening", "", "Sits her up.", 1, "", "", ""),
        ("", "", "She coughs on rice.", "Looks away.", -1, "", "", ""),
    ]
    for write, name in ((_csv, "a.csv"), (_xlsx, "a.xlsx")):
        import_bank(write(tmp_path / name, rows, IDS), tmp_path / name[2:], "theirs", {})
        bank = load_bank(tmp_path / name[2:])
        assert {s.id: [rung.points for rung in s.ladder] for s in bank.scenarios} == {
            "dressing-001": [2, 0], "eating-001": [2, 1, -1],
        }  # fmt: skip


def test_a_row_without_a_scenario_is_named(tmp_path: Path) -> None:
    """An id that is not there, a first row of merged cells, and an id with two texts: each once."""
    rows = [
        ("", "", "", "Waits.", 0, "", "", ""),
        ("S9", "Eating", "", "Waits.", 0, "", "", ""),
        ("S1", "Eating", "A.", "Waits.", 1, "", "", ""),
        ("S1", "Eating", "B.", "Waits.", 1, "", "", ""),
    ]
    with pytest.raises(BankError) as caught:
        import_bank(_csv(tmp_path / "a.csv", rows, IDS), tmp_path / "bank", "theirs", {})
    assert str(caught.value).splitlines() == [
        "line 2: has no text of its scenario",
        "line 3: has no text of its scenario",
        "line 5: id 'S1' has another text on line 4",
        "3 records cannot be imported, for the reasons above; nothing was written",
    ]


def test_rows_below_a_wrong_dimension_are_read(tmp_path: Path) -> None:
    """No row is dropped by a wrong size in the spreadsheet."""
    file = _with_sheet(tmp_path / "a.xlsx", 'ref="A1:G5"', 'ref="A1:G3"')
    assert import_bank(file, tmp_path / "bank", "theirs", {}).n_options == 4


BOMB = (
    '<!DOCTYPE worksheet [<!ENTITY e0 "eeeeeeeeee">'
    + "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 10))
    + "]><worksheet about='&e9;'"
)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</row>", "</rov>", r"not a spreadsheet \(ParseError\)"),
        ('r="E5"', 'r="E-5"', r"not a spreadsheet \("),
        ('<row r="5"', '<row r="9999999999"', "more than 100,000 rows"),
        ("<worksheet", BOMB, r"not a spreadsheet \(ParseError\)"),
    ],
    ids=["damaged", "cell", "far row", "entities"],
)
def test_a_hostile_sheet_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    """XML that breaks off, a cell of no place, rows without end and entities in entities."""
    file = _with_sheet(tmp_path / "a.xlsx", old, new)
    with pytest.raises(BankError, match=message):
        import_bank(file, tmp_path / "bank", "theirs", {})


def test_a_zip_that_is_long_unpacked_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its parts are counted before any of them is unpacked."""
    monkeypatch.setattr(imported_records, "MAX_UNPACKED_BYTES", 1_000_000)
    with zipfile.ZipFile(_xlsx(tmp_path / "a.xlsx"), "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("more", bytes(1_000_000))
    with pytest.raises(BankError, match="bytes unpacked, at most 1,000,000"):
        import_bank(tmp_path / "a.xlsx", tmp_path / "bank", "theirs", {})


@pytest.mark.parametrize("points", ["inf", "-inf", "1e400", "nan", "2.5", "three"])
def test_points_that_are_no_whole_number_say_so(tmp_path: Path, points: str) -> None:
    """Text that Python reads as a number is refused unless it is whole."""
    rows = [("Eating", "A.", "Waits.", points, "", "", "")]
    with pytest.raises(BankError, match=f"line 2: Score is '{points}', expected a whole number"):
        import_bank(_csv(tmp_path / "a.csv", rows), tmp_path / "bank", "theirs", {})


def test_a_line_with_surplus_cells_is_named(tmp_path: Path) -> None:
    """A comma without quotes shifts what follows; empty cells at the end shift nothing."""
    rows = [*ROWS, ("Eating", "She coughs", " on rice.", "Waits.", 0, 1, 1, 1)]
    with pytest.raises(BankError, match="line 6: has more cells than the header has names"):
        import_bank(_csv(tmp_path / "a.csv", rows), tmp_path / "bank", "theirs", {})
    rows = [*ROWS, ("",) * 9, (*ROWS[-1][:2], "Looks on.", -1, 1, 1, 1, "", "")]
    file = _csv(tmp_path / "a.csv", rows)
    assert import_bank(file, tmp_path / "bank", "theirs", {}).n_options == 5


@pytest.mark.parametrize(("write", "name"), [(_csv, "a.csv"), (_xlsx, "a.xlsx")])
def test_a_header_that_names_a_column_twice_is_refused(
    tmp_path: Path, write: Any, name: str
) -> None:
    """Two columns of one name are refused; columns without a name are ignored."""
    file = write(tmp_path / name, [(*row, 1) for row in ROWS], (*HEAD, "Score "))
    with pytest.raises(BankError, match="the header names the column 'Score' 2 times"):
        import_bank(file, tmp_path / "bank", "theirs", {})
    file = write(tmp_path / name, [(*row, "", "") for row in ROWS], (*HEAD, "", ""))
    assert import_bank(file, tmp_path / "bank", "theirs", {}).n_options == 4


@pytest.mark.parametrize(
    ("words", "adl", "notes"),
    [
        ("eating", "eating", ()),
        ("Eating", "eating", ()),
        ("Eats a meal", "eating", ("activity 'Eats a meal' read as eating",)),
        ("Transfers (bathroom)", "transferring",
         ("activity 'Transfers (bathroom)' read as transferring",)),
    ],
)  # fmt: skip
def test_an_activity_in_other_words_is_read_and_told(
    tmp_path: Path, words: str, adl: str, notes: tuple[str, ...]
) -> None:
    """A word that begins as an activity names it, and the wording is noted once."""
    rows = [(words, text, "Waits.", 1, "", "", "") for text in ("A.", "B.")]
    made = import_bank(_csv(tmp_path / "a.csv", rows), tmp_path / "bank", "theirs", {})
    assert (made.notes, load_bank(tmp_path / "bank").scenarios[0].adl) == (notes, adl)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("Wheelchair seating", "activity 'Wheelchair seating' is none of"),
        ("Transportation", "activity 'Transportation' is none of"),
        ("Dressing or bathing", "names dressing and bathing, expected one"),
    ],
)
def test_an_activity_that_is_none_or_two_is_refused(
    tmp_path: Path, words: str, message: str
) -> None:
    """Neither the middle of a word nor the first of two activities is taken."""
    rows = [(words, "A.", "Waits.", 1, "", "", "")]
    with pytest.raises(BankError, match=message):
        import_bank(_csv(tmp_path / "a.csv", rows), tmp_path / "bank", "theirs", {})


@pytest.mark.parametrize("name", ["Their Bank", "", "../theirs", "a" * 65])
def test_a_name_that_is_none_is_refused_first(tmp_path: Path, name: str) -> None:
    """A bad name is refused before the file is read."""
    with pytest.raises(BankError, match="cannot be the name of a bank") as caught:
        import_bank(tmp_path / "none.csv", tmp_path / "bank", name, {})
    assert "lower case" in caught.value.hint


@pytest.mark.parametrize(
    ("scenario", "option", "message"),
    [
        ("A \ud800.", "Waits.", "entry 1: text: Input should be a valid string"),
        ("A.", "Waits \ud800.", "entry 1: text: Input should be a valid string"),
        ("A" * 1_000_001, "Waits.", "entry 1: the scenario is too large"),
    ],
    ids=["text", "option", "length"],
)
def test_what_could_not_be_loaded_is_named_by_its_record(
    tmp_path: Path, scenario: str, option: str, message: str
) -> None:
    """Half a character, or more than a bank's file may hold: the record, and no made file."""
    options = [{"text": option, "points": 1}]
    content = [{"adl": "eating", "text": scenario, "options": options}]
    (tmp_path / "a.json").write_text(json.dumps(content))
    with pytest.raises(BankError, match=message) as caught:
        import_bank(tmp_path / "a.json", tmp_path / "bank", "theirs", {})
    assert str(tmp_path) not in str(caught.value)
    assert not (tmp_path / "bank").exists()


def test_odd_characters_come_back_as_they_were(tmp_path: Path) -> None:
    """Control characters, line separators and what YAML would read as something else."""
    texts = [
        "null",
        "~",
        "- a: b",
        "a\x00\x7f\x85b",
        "a\u2028b\ufeffc",
        "😀 'x' \"y\"",
        "a\r\n\n b ",
    ]
    options = [{"text": text, "points": 1} for text in texts]
    content = [{"adl": "eating", "text": text, "options": options} for text in texts]
    (tmp_path / "a.json").write_text(json.dumps(content))
    import_bank(tmp_path / "a.json", tmp_path / "bank", "theirs", {})
    scenarios = load_bank(tmp_path / "bank").scenarios
    stripped = [text.strip() for text in texts]
    assert [s.text for s in scenarios] == stripped
    assert [rung.text for rung in scenarios[0].ladder] == stripped


def test_a_folder_that_cannot_be_made_is_named_alone(tmp_path: Path) -> None:
    """A file in the way is an error of the folder that was asked for."""
    (tmp_path / "file").write_text("x")
    folder = tmp_path / "file" / "bank"
    with pytest.raises(BankError) as caught:
        import_bank(_csv(tmp_path / "a.csv"), folder, "theirs", {})
    assert str(caught.value) == f"{folder} cannot be written: Not a directory"


def test_an_empty_folder_can_be_the_bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bank may be written in the current folder, or through a link, which stays a link."""
    file = _csv(tmp_path / "a.csv")
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    import_bank(file, Path(), "theirs", {})
    (tmp_path / "link").symlink_to(tmp_path / "there")
    import_bank(file, tmp_path / "link", "theirs", {})
    assert (tmp_path / "link").is_symlink()
    for name in ("here", "there"):
        assert len(load_bank(tmp_path / name)) == 2
        assert sorted(path.name for path in (tmp_path / name).iterdir()) == [
            "bank.yaml", "dressing", "eating",
        ]  # fmt: skip


@pytest.mark.parametrize("given", [{}, {"option": "text"}, {"option": "text", "text": "text"}])
def test_a_scenario_and_its_options_may_use_one_name(
    tmp_path: Path, given: Mapping[str, str]
) -> None:
    """Outside it is the scenario's, inside the option's, mapped or not."""
    options = [{"option": "A", "text": "Waits.", "points": 1}]
    content = [{"id": "eating-007", "adl": "eating", "text": "A.", "options": options}]
    (tmp_path / "a.json").write_text(json.dumps(content))
    made = import_bank(tmp_path / "a.json", tmp_path / "bank", "theirs", given)
    (scenario,) = load_bank(tmp_path / "bank").scenarios
    assert (scenario.id, scenario.text, scenario.ladder[0].text) == ("eating-007", "A.", "Waits.")
    assert (made.columns["text"], made.columns["option"]) == ("text", "text")


@pytest.mark.parametrize("given", [{}, {"option": "Answers"}])
def test_a_column_without_lists_holds_no_options(tmp_path: Path, given: Mapping[str, str]) -> None:
    """In a table, a column called as a list of options may be is a column like others."""
    head = ["Answers" if given and name == "Option" else name for name in HEAD]
    file = _csv(tmp_path / "a.csv", [(*row, "x") for row in ROWS], [*head, "Rubric"])
    made = import_bank(file, tmp_path / "bank", "theirs", given)
    assert (made.n_options, "options" in made.columns) == (4, False)


def test_a_name_of_the_other_place_is_no_column(tmp_path: Path) -> None:
    """An option is not looked for among the scenario's names."""
    content = [{"adl": "eating", "text": "A.", "options": [{"words": "Waits.", "points": 1}]}]
    (tmp_path / "a.json").write_text(json.dumps(content))
    with pytest.raises(BankError, match="no column 'text'") as caught:
        import_bank(tmp_path / "a.json", tmp_path / "bank", "theirs", {"option": "text"})
    assert caught.value.hint == "the columns are words, points"


def test_an_option_inside_a_list_is_named_by_its_number(tmp_path: Path) -> None:
    """A record can have many options, so its own place is not enough to find one."""
    options = [{"text": "Waits.", "points": 1}, {"text": " ", "points": 0}]
    content = [{"adl": "eating", "text": "A.", "options": options}]
    (tmp_path / "a.json").write_text(json.dumps(content))
    with pytest.raises(BankError, match="entry 1: option 2: 'text' is missing or empty"):
        import_bank(tmp_path / "a.json", tmp_path / "bank", "theirs", {})


def test_ids_of_the_banks_form_are_kept_and_new_ones_told(tmp_path: Path) -> None:
    """A new number is none that stands further down; an id of another activity is not kept."""
    ids = ("S-17", "eating-1", "eating-001", "dressing-004", "Eating-9", "eating-009")
    rows = [(each, "Eating", f"{each}.", "Waits.", 1, "", "", "") for each in ids]
    made = import_bank(_csv(tmp_path / "a.csv", rows, IDS), tmp_path / "bank", "theirs", {})
    assert {s.text.rstrip("."): s.id for s in load_bank(tmp_path / "bank").scenarios} == {
        "S-17": "eating-002", "eating-1": "eating-1", "eating-001": "eating-001",
        "dressing-004": "eating-003", "Eating-9": "eating-004", "eating-009": "eating-009",
    }  # fmt: skip
    assert made.notes == (
        "id 'S-17' is now 'eating-002'",
        "id 'dressing-004' is now 'eating-003'",
        "id 'Eating-9' is now 'eating-004'",
    )


def test_many_new_ids_are_counted(tmp_path: Path) -> None:
    """Ten are named, and a line says how many more there are."""
    rows = [(f"S{n}", "Eating", f"{n}.", "Waits.", 1, "", "", "") for n in range(25)]
    made = import_bank(_csv(tmp_path / "a.csv", rows, IDS), tmp_path / "bank", "theirs", {})
    assert len(made.notes) == 11
    assert made.notes[-1] == "and 15 more ids were changed"


def test_more_records_than_a_bank_has(tmp_path: Path) -> None:
    """A file of text with more records than a spreadsheet may have is refused too."""
    (tmp_path / "a.csv").write_text("text,option\n" + "a,b\n" * 100_001, encoding="utf-8")
    with pytest.raises(BankError, match="has more than 100,000 records"):
        import_bank(tmp_path / "a.csv", tmp_path / "bank", "theirs", {})
