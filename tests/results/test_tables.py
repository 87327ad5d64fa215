"""The two tables: made from rows, put together, written and read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from careeval.errors import LogError
from careeval.results.ladder_check import ladder_check
from careeval.results.tables import JUDGMENTS, RESPONSES, WITHHELD, Runs
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
    """What is read is what was written: values, types, nulls and lists; notes are given anew."""
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


ACT_NAMES = ("brakes-on-first", "own-arm", "hurries-her")


def held_out_run(**columns: Any) -> Runs:
    """Both rubrics of a scenario whose actions are called by what they say, and a public one."""
    split = {"dressing-h1": "held-out", "dressing-1": "public"}
    marks = {name: ["11000", "10100"] for name in split}
    rows = [{"note": "", **row, "split": split[row["scenario"]], **columns}
            for row in responses(marks)]  # fmt: skip
    rungs = [
        {**row, "item": f"{row['points']:+}",
         "of": ACT_NAMES[:2] if row["points"] == 2 else ACT_NAMES[:1] if row["points"] == 1 else ()}
        for row in judgments(marks)
    ]  # fmt: skip
    acts = [
        {**row, "item": ACT_NAMES[row["position"]],
         "excludes": [ACT_NAMES[2]] if row["position"] == 1 else []}
        for row in judgments({name: ["111", "011"] for name in split}, (2, 1, -2), rubric="actions")
    ]  # fmt: skip
    return Runs.of(rows, rungs + acts)


def test_items_of_held_out_scenarios_are_called_by_their_places() -> None:
    """No id of a held-out action is left in any column, and a public one's stay."""
    found = held_out_run().without_held_out_texts().judgments
    secret = found.filter(pl.col("scenario") == "dressing-h1", pl.col("epoch") == 1)
    assert secret.filter(pl.col("rubric") == "ladder")["item"].to_list() == [
        "+2", "+1", "+0", "-1", "-2"
    ]  # fmt: skip
    assert secret.filter(pl.col("rubric") == "actions")["item"].to_list() == ["a1", "a2", "a3"]
    assert secret["of"].drop_nulls().to_list() == [["a1", "a2"], ["a1"], [], [], []]
    assert secret["excludes"].drop_nulls().to_list() == [[], ["a3"], []]
    public = pl.col("scenario") == "dressing-1"
    assert_frame_equal(found.filter(public), held_out_run().judgments.filter(public))


def test_contradictions_do_not_hang_on_names() -> None:
    """Each contradiction is found as often by places as by ids."""
    runs = held_out_run()
    found = ladder_check(runs.judgments)
    assert any(count.count for count in found.values())
    assert ladder_check(runs.without_held_out_texts().judgments) == found


def test_rungs_and_acts_that_were_not_judged_are_renamed_too() -> None:
    """A rung called by words, and the acts of a ladder judged alone, lose their ids."""
    marks = {"eating-h1": ["11000"]}
    rows = [{**row, "item": f"says-{row['position']}", "of": ["sits-up", "small-bites"]}
            for row in judgments(marks)]  # fmt: skip
    found = Runs.of(responses(marks, split="held-out"), rows).without_held_out_texts().judgments
    assert found["item"].to_list() == ["r1", "r2", "r3", "r4", "r5"]
    assert found["of"].to_list() == [["a1", "a2"]] * 5


def test_a_response_that_does_not_say_its_split() -> None:
    """It is held out where its scenario is, or where its run is and nothing says otherwise."""
    marks = {name: ["missing"] * 2 for name in ("eating-1", "eating-2", "eating-h1")}
    said = {("eating-1", 1): "public", ("eating-h1", 1): "held-out"}
    rows = [
        {**row, "split": said.get((row["scenario"], row["epoch"])), "note": "Invalid: SECRET"}
        for row in responses(marks)
    ]
    found = Runs.of(rows, []).without_held_out_texts().responses
    notes = dict(found.group_by("scenario").agg(pl.col("note").unique()).iter_rows())
    assert notes == {
        "eating-1": ["Invalid: SECRET"], "eating-2": [WITHHELD], "eating-h1": [WITHHELD]
    }  # fmt: skip
    public = Runs.of([{**row, "split": None} for row in rows], [])
    assert public.without_held_out_texts() is public


def test_two_runs_of_one_system() -> None:
    """Two runs of one system are not put together, and the message says which and what to do."""
    run, other = ladder_run(MARKS), ladder_run(MARKS, system="robot-b")
    with pytest.raises(LogError, match="two runs are of the system 'robot-a'") as error:
        Runs.together([run, other, run])
    assert "careeval rename RUN NAME" in error.value.hint
