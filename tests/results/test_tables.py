"""The two tables: made from rows, put together, written and read."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from careeval.errors import LogError
from careeval.results.tables import JUDGMENTS, RESPONSES, Runs
from results.authored import judgments, ladder_run, responses

MARKS = {"dressing-1": ["1?000", "missing"], "eating-1": ["00001", "empty"]}


def test_tables_of_rows() -> None:
    """Rows in any order become sorted tables of all columns, with null for what they lack."""
    runs = Runs.of(responses(MARKS)[::-1], judgments(MARKS)[::-1], ["one log was left out"])

    assert runs.responses.columns == [column.name for column in RESPONSES]
    assert runs.judgments.columns == [column.name for column in JUDGMENTS]
    keys = runs.responses.select("scenario", "epoch").rows()
    assert keys == [("dressing-1", 1), ("dressing-1", 2), ("eating-1", 1), ("eating-1", 2)]
    # five items each, and none of the missing response
    assert runs.judgments["position"].to_list() == [0, 1, 2, 3, 4] * 3
    assert runs.judgments["present"][1] is None
    assert runs.responses["cost_usd"].null_count() == 4
    assert runs.notes == ("one log was left out",)


def test_no_rows() -> None:
    """Without rows the tables have all columns and no row."""
    runs = Runs.of([], [])
    assert runs.responses.shape == (0, len(RESPONSES))
    assert runs.judgments.shape == (0, len(JUDGMENTS))


def test_written_and_read(tmp_path: Path) -> None:
    """Tables are read as they were written: values, types, nulls and lists; notes are new."""
    lists = {"situation": ["refusal", "dignity"], "cost_usd": 0.5, "seconds": None}
    rows = judgments(MARKS, of=["cover-skin"], excludes=[], quote="„so“")
    runs = Runs.of(responses(MARKS, **lists), rows, ["lost on the way"])

    runs.write(tmp_path / "made" / "here")
    read = Runs.read(tmp_path / "made" / "here", ["one log was left out"])

    assert_frame_equal(read.responses, runs.responses)
    assert_frame_equal(read.judgments, runs.judgments)
    assert read.responses["situation"].to_list()[0] == ["refusal", "dignity"]
    assert read.notes == ("one log was left out",)


def test_reading_what_is_not_there(tmp_path: Path) -> None:
    """A folder without tables is refused, and named."""
    with pytest.raises(LogError, match="nowhere: its tables cannot be read"):
        Runs.read(tmp_path / "nowhere")


def test_reading_what_is_no_table(tmp_path: Path) -> None:
    """A file that was cut off is refused."""
    ladder_run(MARKS).write(tmp_path)
    (tmp_path / "judgments.parquet").write_bytes(b"PAR1")
    with pytest.raises(LogError, match="cannot be read"):
        Runs.read(tmp_path)


@pytest.mark.parametrize(
    "changed",
    [
        pl.col("epoch").cast(pl.Int64),
        pl.lit(1).alias("colour"),
    ],
)
@pytest.mark.parametrize("table", ["responses", "judgments"])
def test_reading_other_columns(tmp_path: Path, table: str, changed: pl.Expr) -> None:
    """A table with a column more, or one of another type, is refused."""
    runs = ladder_run(MARKS)
    runs.write(tmp_path)
    getattr(runs, table).with_columns(changed).write_parquet(tmp_path / f"{table}.parquet")
    with pytest.raises(LogError, match="other columns than this version writes"):
        Runs.read(tmp_path)


def test_together() -> None:
    """Runs of two systems become one with the rows and the notes of both."""
    parts = [
        Runs.of(responses(MARKS, system=name), judgments(MARKS, system=name), [f"of {name}"])
        for name in ("robot-b", "robot-a")
    ]
    runs = Runs.together(parts)
    assert runs.responses["system"].value_counts().sort("system").rows() == [
        ("robot-a", 4),
        ("robot-b", 4),
    ]
    assert runs.judgments.height == 30
    assert runs.notes == ("of robot-b", "of robot-a")


def test_none_together() -> None:
    """No runs together are two empty tables."""
    assert Runs.together([]).responses.is_empty()


def test_two_runs_of_one_system() -> None:
    """Two runs of one system are not put together, and the message says which and what to do."""
    run, other = ladder_run(MARKS), ladder_run(MARKS, system="robot-b")
    with pytest.raises(LogError, match="two runs are of the system 'robot-a'") as error:
        Runs.together([run, other, run])
    assert "careeval status RUN --rename NAME" in error.value.hint
