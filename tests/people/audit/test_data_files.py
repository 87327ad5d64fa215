"""Tests of the files of an audit: they are read as written, and errors name the line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.core.rating import Label, Reading
from careeval.errors import ReviewError
from careeval.people.audit.documents import read_labels, read_sample, sample_text, sheet_text
from careeval.people.audit.sample import draw
from careeval.results.tables import Runs
from results.authored import judgments, responses
from results.sampled import at_random, judged

SAMPLE = draw(judged({"robot-a": {"eating-1": ["10001"]}}))
"""Five judgments, j00001 to j00005."""


def labels_of(tmp_path: Path, text: str) -> list[Label]:
    """Labels of a file with these lines."""
    path = tmp_path / "labels.csv"
    path.write_text(text, encoding="utf-8")
    return read_labels(path, SAMPLE)


@given(st.integers(0, 9), st.booleans())
def test_a_sample_is_read_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, seed: int, show: bool
) -> None:
    """Whatever was drawn comes back from its file, and the file keeps what sways apart."""
    runs = judged({name: at_random(seed, 6, 2) for name in "ab"})
    sample = draw(runs, seed=seed, show_scenario=show)
    path = tmp_path_factory.mktemp("audit") / "sample.json"
    path.write_text(sample_text(sample), encoding="utf-8")
    assert read_sample(path) == sample
    document = json.loads(path.read_text(encoding="utf-8"))
    assert set(document) == {"schema", "note", "shown", "hidden"}
    assert set(document["shown"][0]) == {"id", "scenario", "text", "items"}
    assert set(document["shown"][0]["items"][0]) == {"judgment", "text"}


def _changed(change: Callable[[Any], object]) -> str:
    document = json.loads(sample_text(SAMPLE))
    change(document)
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "not None"),
        ('{"schema": "careeval.summary/1"}', "not 'careeval.summary/1'"),
        (_changed(lambda d: d["hidden"].pop("seed")), "hidden.seed: Field required"),
        (_changed(lambda d: d["shown"][0]["items"].pop()), "must list the same judgments"),
        (_changed(lambda d: d["hidden"]["drawn"][0].update(stratum=9)), "has stratum 9"),
        (_changed(lambda d: d["hidden"]["strata"][0].update(n=2, of=2)), "says 2 of 2"),
        (_changed(lambda d: d["hidden"]["strata"][0].update(of=0)), "says 1 of 0"),
    ],
)
def test_a_file_that_is_no_sample(text: str, message: str, tmp_path: Path) -> None:
    """A file of another kind, or one that somebody changed, is refused with what is wrong."""
    path = tmp_path / "sample.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ReviewError, match=message) as refused:
        read_sample(path)
    assert str(path) in str(refused.value)
    assert refused.value.hint


def test_a_sample_that_would_take_the_memory(tmp_path: Path) -> None:
    """JSON that is nested without end is refused in words, and so is a file that is too large."""
    path = tmp_path / "sample.json"
    path.write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(ReviewError, match="not JSON"):
        read_sample(path)
    with path.open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(OSError, match="it is too large: at most 50,000,000 bytes"):
        read_sample(path)


def test_labels_by_hand(tmp_path: Path) -> None:
    """Columns in any order and words in any case are read, other columns passed over."""
    found = labels_of(
        tmp_path,
        "judgment,Rater,item,label,note,at,adjudicated\n"
        'j00001,ann,"two\nlines",Present ,"she says ""yes""",2026-03-01T14:30,\n'
        "j00002,ann,x,,not yet,,\n"
        "j00002,cat,x,unsure,,,YES\n"
        ",,,,,,\n",
    )
    assert [(x.rater, x.judgment, x.says, x.adjudicated) for x in found] == [
        ("ann", "j00001", Reading.present, False),
        ("cat", "j00002", Reading.unsure, True),
    ]
    assert found[0].note == 'she says "yes"'
    assert found[0].at is not None
    assert found[0].at.hour == 14


def test_labels_with_semicolons_and_a_mark(tmp_path: Path) -> None:
    """A file with semicolons and a byte order mark, as Excel may write, is read too."""
    (label,) = labels_of(tmp_path, "\ufeffrater;judgment;label\nann;j00001;absent\n")
    assert label == Label("ann", "j00001", Reading.absent)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("ann,j00001,perhaps", ":2: label must be one of present, absent, unsure, not 'perhaps'"),
        ("ann,j9,present", ":2: judgment 'j9' is not in the sample"),
        (",j00001,present", ":2: rater is empty"),
        ("ann,j00001,present\nben,j00001,absent\nann,j00001,absent",
         ":4: j00001 is labelled by ann in line 2 too"),
        ("ann,j00001,present,,noon", ":2: at must be a time such as 2026-03-01T14:30, not 'noon'"),
        ("ann,j00001,present,,,maybe", ":2: adjudicated must be yes or no, not 'maybe'"),
        ("a,j00001,present,,,yes\nb,j00001,absent,,,yes",
         ":3: j00001 is adjudicated in line 2 too"),
    ],
)  # fmt: skip
def test_a_bad_row_is_told_by_its_line(rows: str, message: str, tmp_path: Path) -> None:
    """A row that cannot be a label is named with file, line, what was found and expected."""
    with pytest.raises(ReviewError) as refused:
        labels_of(tmp_path, f"rater,judgment,label,note,at,adjudicated\n{rows}\n")
    assert str(refused.value).startswith(f"{tmp_path / 'labels.csv'}{message}")


def test_all_bad_rows_are_told(tmp_path: Path) -> None:
    """Problems are told together, twenty of them in full."""
    rows = "".join(f"ann,x{k},present\n" for k in range(25))
    with pytest.raises(ReviewError) as refused:
        labels_of(tmp_path, f"rater,judgment,label\n{rows}")
    lines = str(refused.value).splitlines()
    assert len(lines) == 21
    assert lines[-1] == "and 5 more"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no column rater, judgment, label; there are none"),
        (b"rater,judgment\n", "no column label; there are rater, judgment"),
        (b"rater,judgment,label\nann,j00001,pr\xe9sent\n", "not UTF-8"),
        (b"rater,judgment,label,note\nann,j00001,present," + b"x" * 200_000, "field larger"),
    ],
)
def test_a_file_that_is_no_table(content: bytes, message: str, tmp_path: Path) -> None:
    """A file without the columns, in another encoding or with an endless cell is refused."""
    path = tmp_path / "labels.csv"
    path.write_bytes(content)
    with pytest.raises(ReviewError, match=message):
        read_labels(path, SAMPLE)


def test_a_sheet_is_filled_in_and_read(tmp_path: Path) -> None:
    """The sheet has a row a judgment; with names and labels typed in, it is a file of labels."""
    rows = list(csv.DictReader(io.StringIO(sheet_text(SAMPLE))))
    assert [row["judgment"] for row in rows] == [f"j{k:05}" for k in range(1, 6)]
    assert {row["scenario"] for row in rows} == {"She sits on the bed."}
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]))
    writer.writeheader()
    writer.writerows({**row, "rater": "ann", "label": "absent"} for row in rows)
    assert len(labels_of(tmp_path, file.getvalue())) == 5


def test_a_models_words_are_no_formula() -> None:
    """A response that begins as a formula does not compute in a spreadsheet."""
    said = {"text": "=HYPERLINK(1)", "scenario_text": "\x1b[31mred", "split": "public"}
    marks = {"eating-1": ["10000"]}
    items = [{**row, "item_text": "@x"} for row in judgments(marks)]
    sheet = sheet_text(draw(Runs.of(responses(marks, **said), items)))
    (row, *_) = csv.DictReader(io.StringIO(sheet))
    assert (row["response"], row["item"], row["scenario"]) == ("'=HYPERLINK(1)", "'@x", "[31mred")
