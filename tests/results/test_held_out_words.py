"""Held-out words: none is left in the tables, and the numbers are the same."""

from __future__ import annotations

from typing import Any

import polars as pl
from polars.testing import assert_frame_equal

from careeval.results.graders import ladder_check
from careeval.results.held_out_words import WITHHELD, withhold
from careeval.results.tables import Runs
from results.authored import judgments, responses

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
    found = withhold(held_out_run()).judgments
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
    found = ladder_check([runs.judgments])
    assert any(count.count for count in found.values())
    assert ladder_check([withhold(runs).judgments]) == found


def test_rungs_and_acts_that_were_not_judged_are_renamed_too() -> None:
    """A rung called by words, and the acts of a ladder judged alone, lose their ids."""
    marks = {"eating-h1": ["11000"]}
    rows = [{**row, "item": f"says-{row['position']}", "of": ["sits-up", "small-bites"]}
            for row in judgments(marks)]  # fmt: skip
    found = withhold(Runs.of(responses(marks, split="held-out"), rows)).judgments
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
    found = withhold(Runs.of(rows, [])).responses
    notes = dict(found.group_by("scenario").agg(pl.col("note").unique()).iter_rows())
    assert notes == {
        "eating-1": ["Invalid: SECRET"], "eating-2": [WITHHELD], "eating-h1": [WITHHELD]
    }  # fmt: skip
    public = Runs.of([{**row, "split": None} for row in rows], [])
    assert withhold(public) is public


def test_withheld_tables_stay_as_they_are() -> None:
    """Withholding twice changes nothing more than withholding once."""
    once = withhold(held_out_run())
    assert withhold(once) is once
