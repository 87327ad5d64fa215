"""Second readings: kept as files, counted from them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from careeval.bank.second_reading import (
    FOLDER,
    Consistency,
    LabelRead,
    PointsRead,
    parse,
    second_reading,
    written,
)
from careeval.errors import BankError

ROW = PointsRead("eating-001", 1, "actions", "stops", 2, 2, "user_agency:2", "user_agency:1")
LABEL = LabelRead("eating-001", 1, "expert", "stops", "present", "absent")


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
    assert parse(written([ROW], PointsRead), PointsRead, "x") == [ROW]
    assert parse(written([LABEL], LabelRead), LabelRead, "x") == [LABEL]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [(",2,2,", ",2,two,", "2 is no second reading: reader"), ("reader,", "rater,", "reader")],
)
def test_a_file_that_is_none_says_where(old: str, new: str, message: str) -> None:
    """A value or a column that does not fit is named with its line."""
    with pytest.raises(BankError, match=message):
        parse(written([ROW], PointsRead).replace(old, new), PointsRead, "x.csv")


def test_rounds_are_kept_apart_and_the_sealed_one_joins(tmp_path: Path) -> None:
    """The first reading stays as it was; the held-out split's rows come after the public ones."""
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "points-first.csv").write_text(written([ROW], PointsRead))
    sealed = replace(ROW, scenario="eating-h01")
    reading = second_reading(
        tmp_path, {f"{FOLDER}/points-first.csv": written([sealed], PointsRead)}
    )
    assert reading.points["first"] == [ROW, sealed]
    assert reading.points["last"] == []
    assert reading.labels == {"first": [], "last": []}
