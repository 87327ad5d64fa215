"""Second readings: kept as files, counted from them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from readings import (
    FOLDER,
    LEVELS,
    Consistency,
    LabelRead,
    PointsRead,
    SecondReading,
    misread,
    reading_document,
    second_reading,
    weighted_kappa,
)

from careeval.bank import load_bank
from careeval.bank.reader import parse_rows, rows_text
from careeval.bank.sealed import SEALED
from careeval.core.scenario import Rubric
from careeval.errors import BankError, StatsError
from support.bank_folder import GOOD_BANK

ROW = PointsRead("eating-001", 1, Rubric.actions, "stops", 2, 2, "user_agency:2", "user_agency:1")
LABEL = LabelRead("eating-001", 1, "expert", "stops", "present", "absent")
READ = st.lists(st.tuples(st.sampled_from(LEVELS), st.sampled_from(LEVELS)), min_size=2)


def test_one_that_calls_good_what_the_other_calls_bad_flips() -> None:
    """+1 against −1 flips; 0 against −2 is far, and no flip; +2 against +1 is neither."""
    rows = [
        replace(ROW, author=author, reader=reader)
        for author, reader in ((1, -1), (0, -2), (2, 1), (2, 2))
    ]
    found = Consistency.of(rows)
    assert (found.n, found.equal) == (4, 1)
    assert found.flips == (rows[0],)
    assert found.far == (rows[0], rows[1])


def test_a_reading_without_variation_has_no_kappa() -> None:
    """It is not defined, and so is not 1."""
    assert Consistency.of([ROW, ROW]).kappa is None
    assert Consistency.of([]).kappa is None


def test_what_is_written_is_read_again() -> None:
    """Both kinds of file, word for word."""
    assert parse_rows(rows_text([ROW], PointsRead), PointsRead, "x", "second reading") == [ROW]
    assert parse_rows(rows_text([LABEL], LabelRead), LabelRead, "x", "second reading") == [LABEL]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (",2,2,", ",2,two,", "2 is not a second reading: reader"),
        (",2,2,", ",3,2,", "2 is not a second reading: author"),
        (",2,2,", ",2,-3,", "2 is not a second reading: reader"),
        (",2,2,", ",2,1.5,", "2 is not a second reading: reader"),
        ("actions", "acts", "2 is not a second reading: rubric"),
        ("001,1,", "001,0,", "2 is not a second reading: version"),
        ("eating-001", "", "2 is not a second reading: scenario"),
        ("stops", "not an id", "2 is not a second reading: item"),
        ("reader,", "rater,", "reader"),
    ],
)
def test_a_file_that_is_none_says_where(old: str, new: str, message: str) -> None:
    """A value or a column that does not fit is named with its line."""
    with pytest.raises(BankError, match=message):
        parse_rows(
            rows_text([ROW], PointsRead).replace(old, new), PointsRead, "x.csv", "second reading"
        )


def test_rounds_are_kept_apart_and_the_sealed_one_joins(tmp_path: Path) -> None:
    """The first reading stays as it was; the held-out split's rows come after the public ones."""
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "points-first.csv").write_text(rows_text([ROW], PointsRead))
    sealed = replace(ROW, scenario="eating-h01")
    reading = second_reading(
        tmp_path, {f"{FOLDER}/points-first.csv": rows_text([sealed], PointsRead)}
    )
    assert reading.points["first"] == [ROW, sealed]
    assert reading.points["last"] == []
    assert reading.labels == {"first": [], "last": []}


def test_points_of_both_rubrics_and_both_ends_are_read() -> None:
    """The widest that a rubric has is no fault."""
    rows = [
        replace(ROW, rubric=rubric, item=item, author=-2, reader=2)
        for rubric, item in ((Rubric.actions, "stops"), (Rubric.ladder, "+2"))
    ]
    assert parse_rows(rows_text(rows, PointsRead), PointsRead, "x", "second reading") == rows


def test_a_file_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    """A file saved in another encoding is no traceback."""
    (tmp_path / FOLDER).mkdir()
    path = tmp_path / FOLDER / "labels-last.csv"
    path.write_bytes(rows_text([LABEL], LabelRead).replace("stops", "st\xf6ps").encode("latin-1"))
    with pytest.raises(BankError, match=r"labels-last\.csv: is not UTF-8 text"):
        second_reading(tmp_path, {})


def test_a_fault_in_the_sealed_file_is_named_as_sealed(tmp_path: Path) -> None:
    """The public file of the same name is sound, and is not blamed."""
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "points-last.csv").write_text(rows_text([ROW], PointsRead))
    sealed = rows_text([ROW], PointsRead).replace(",2,2,", ",2,9,")
    with pytest.raises(BankError) as told:
        second_reading(tmp_path, {f"{FOLDER}/points-last.csv": sealed})
    assert f"{SEALED}/{FOLDER}/points-last.csv:2 is no" in Path(str(told.value)).as_posix()


def test_what_the_bank_has_not_got_is_told_once_and_of_the_last_alone() -> None:
    """A withdrawn scenario, an item, a probe; not what is there, and not the first readings."""
    there = replace(ROW, scenario="dressing-001")
    label = replace(LABEL, scenario="dressing-001")
    points = [
        there,
        replace(there, rubric=Rubric.ladder, item="+2"),
        ROW,
        replace(ROW, item="other"),
        replace(there, item="gone"),
        replace(there, rubric=Rubric.ladder),
    ]
    labels = [
        label,
        LABEL,
        replace(label, item="gone"),
        replace(label, item="+2"),
        replace(label, probe="lost"),
        replace(label, probe="lost", item="carries-on"),
    ]
    bank = load_bank(GOOD_BANK)

    last = SecondReading({"first": [], "last": points}, {"first": [], "last": labels})
    first = SecondReading({"first": points, "last": []}, {"first": labels, "last": []})

    assert list(misread(bank, last)) == [
        "points-last.csv: the bank has no scenario 'eating-001'",
        "points-last.csv: dressing-001 has no 'gone' among its actions",
        "points-last.csv: dressing-001 has no 'stops' among its ladder",
        "labels-last.csv: the bank has no scenario 'eating-001'",
        "labels-last.csv: dressing-001 has no 'gone' among its actions",
        "labels-last.csv: dressing-001 has no '+2' among its actions",
        "labels-last.csv: dressing-001 has no probe 'lost'",
    ]
    assert list(misread(bank, first)) == []


def test_a_file_that_is_no_csv_is_named() -> None:
    """A cell without an end, longer than any that CSV has, is no traceback."""
    text = rows_text([ROW], PointsRead).replace("stops", '"' + "x" * 200_000)
    with pytest.raises(BankError, match=r"x\.csv is not CSV"):
        parse_rows(text, PointsRead, "x.csv", "second reading")


def test_a_reading_has_a_row_and_names_what_is_open() -> None:
    """Both readings of the points are told apart; kappa of one grade alone is not defined."""
    rows = [
        PointsRead("dressing-001", 1, Rubric.actions, item, author, reader, "", "")
        for item, author, reader in (("stops", 2, 2), ("asks-where", 1, -1), ("carries-on", -2, -2))
    ]
    bank = load_bank(GOOD_BANK)
    document = reading_document(bank, SecondReading({"first": rows, "last": rows[:1]}, {}))
    first, last = document.data.rows
    assert (first["n_sign_flips"], first["n_equal"]) == (1, 2)
    assert (last["n"], last["weighted_kappa"]) == (1, None)
    (view,) = document.views
    assert "AI self-consistency: no validation" in view.caption
    named = reading_document(bank, SecondReading({"last": rows[1:2]}, {}))
    assert "open: dressing-001 asks-where" in [*named.notes]
    assert reading_document(bank, SecondReading({}, {})).blocks == ()


# Weighted kappa


def test_two_levels_are_the_plain_kappa_worked_by_hand() -> None:
    """20 and 15 agree of 50, chance agrees in half of them: (.7 − .5) ÷ .5."""
    first = [1] * 25 + [0] * 25
    second = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert weighted_kappa(first, second, (0, 1)) == pytest.approx(0.4)


def test_two_levels_apart_weigh_four_times_one() -> None:
    """By hand: each reading has 0 and 2 once; one miss by 1 costs 1, one by 2 costs 4."""
    # expected: pairs (0,1) (0,2) (2,1) (2,2), half each: (1 + 4 + 1 + 0) / 2 = 3; observed 1
    assert weighted_kappa([0, 2], [1, 2], (0, 1, 2)) == pytest.approx(1 - 1 / 3)
    # expected: pairs (0,0) (0,2) (2,0) (2,2), half each: (0 + 4 + 4 + 0) / 2 = 4; observed 8
    assert weighted_kappa([0, 2], [2, 0], (0, 1, 2)) == pytest.approx(-1)


def test_a_reading_that_says_one_thing_throughout_has_no_kappa() -> None:
    """Chance alone would agree: undefined, not 1."""
    with pytest.raises(StatsError, match="throughout"):
        weighted_kappa([2, 2], [2, 2], LEVELS)
    with pytest.raises(StatsError, match="nothing"):
        weighted_kappa([], [], LEVELS)
    with pytest.raises(StatsError, match="level 3"):
        weighted_kappa([3], [2], LEVELS)


@given(READ)
def test_which_reading_comes_first_does_not_matter(pairs: list[tuple[int, int]]) -> None:
    """Kappa is symmetric, and at most 1."""
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    try:
        kappa = weighted_kappa(first, second, LEVELS)
    except StatsError:
        return
    assert kappa == pytest.approx(weighted_kappa(second, first, LEVELS))
    assert kappa <= 1
