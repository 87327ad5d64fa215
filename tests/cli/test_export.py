"""`export`, and the forms of `summary`: what is written where, and what is left alone."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import warnings
from pathlib import Path

import jsonschema
import polars as pl
import pytest

from careeval.cli.app import OK, USAGE, run
from sheets.given_summaries import summary_schema
from support.command_line import CommandLine

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with a real run that was graded while it ran."""
    folder = tmp_path / "runs"
    folder.mkdir()
    shutil.copy(DATA / "complete.eval", folder / "run.eval")
    return folder


def logs_in(folder: Path) -> dict[str, str]:
    """Each log's name, and the hash of its bytes."""
    found = sorted(folder.rglob("*.eval"))
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in found}


def test_every_form_is_written_and_every_log_left_alone(runs: Path, tmp_path: Path) -> None:
    """Export, summary and report write beside the logs, and change no byte of one."""
    before = logs_in(runs)
    out = tmp_path / "out"
    forms = ["csv", "parquet", "md", "latex", "svg", "eee"]
    assert run(["export", str(runs), "--to", *forms, "-o", str(out)]) == OK
    assert run(["summary", str(runs), "--format", "md", "-o", str(tmp_path / "s.md")]) == OK
    assert run(["report", str(runs), "-o", str(tmp_path / "report.html")]) == OK
    assert before
    assert logs_in(runs) == before

    names = {path.name for path in out.iterdir()}
    assert names == {"csv", "parquet", "figures", "eee", "results.md", "results.tex", "columns.md"}
    assert {p.stem for p in (out / "csv").iterdir()} == {
        p.stem for p in (out / "parquet").iterdir()
    }
    assert list((out / "eee" / "data").rglob("*_samples.jsonl"))
    assert list((out / "figures").rglob("*.svg"))


def test_inspect_reads_the_log_and_makes_frames_of_it(runs: Path) -> None:
    """After an export the log opens in Inspect, and its data frames have the run's samples."""
    from inspect_ai.analysis import evals_df, samples_df
    from inspect_ai.log import read_eval_log

    assert run(["export", str(runs), "--to", "csv", "-o", str(runs.parent / "out")]) == OK
    log = read_eval_log(str(runs / "run.eval"))
    assert log.status == "success"
    with warnings.catch_warnings():
        # of the frames' own libraries
        warnings.simplefilter("ignore")
        evals, samples = evals_df(str(runs), quiet=True), samples_df(str(runs), quiet=True)
    assert len(evals) == 1
    assert len(samples) == len(log.samples or []) > 0


def test_export_needs_to_be_told_what_and_where(runs: Path, cli: CommandLine) -> None:
    """Without folders, forms or a place the command ends with 2 and an example that works."""
    for line, said in (
        (["export"], "name the folder of a run"),
        (["export", str(runs), "-o", "x"], "--to is missing"),
        (["export", str(runs), "--to", "csv"], "--out is missing"),
        (["export", str(runs), "--to", "xlsx", "-o", "x"], "xlsx"),
    ):
        assert said in cli.refused(*line)


def test_who_ran_it_is_told_to_every_eval_ever(runs: Path, tmp_path: Path) -> None:
    """The organisation and its relationship are those of the command line."""
    line = ["export", str(runs), "--to", "eee", "-o", str(tmp_path / "out")]
    assert run([*line, "--organisation", "A lab", "--relationship", "first_party"]) == OK
    records = list((tmp_path / "out").rglob("*.json"))
    assert records
    for record in records:
        source = json.loads(record.read_text(encoding="utf-8"))["source_metadata"]
        assert source["source_organization_name"] == "A lab"
        assert source["evaluator_relationship"] == "first_party"


def test_summary_in_detail_is_valid(runs: Path, cli: CommandLine) -> None:
    """`--json --detail` adds one key to an entry, and both documents keep to the schema."""
    plain = cli.json("summary", str(runs), "--json")
    full = cli.json("summary", str(runs), "--json", "--detail")
    for found in (plain, full):
        jsonschema.Draft202012Validator(summary_schema()).validate(found)
    assert full["entries"][0].keys() - plain["entries"][0].keys() == {"detail"}


def test_summary_as_parquet(
    runs: Path,
    tmp_path: Path,
    capfdbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Parquet goes to a pipe or a file, a row an entry or a row a part; never to a terminal."""
    assert run(["summary", str(runs), "--format", "parquet"]) == OK
    assert pl.read_parquet(capfdbinary.readouterr().out)["score"].dtype == pl.Float64
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert run(["summary", str(runs), "--format", "parquet"]) == USAGE
    assert b"write it to a file" in capfdbinary.readouterr().err
    out = tmp_path / "s.parquet"
    assert run(["summary", str(runs), "--format", "parquet", "-o", str(out)]) == OK
    assert pl.read_parquet(out)["score"].dtype == pl.Float64
    line = ["summary", str(runs), "--format", "parquet", "--by", "actor", "-o", str(out)]
    assert run(line) == OK
    assert set(pl.read_parquet(out)["actor"]) <= {"person", "robot"}


def test_an_activity_is_an_adl(runs: Path, cli: CommandLine) -> None:
    """--by activity prints what --by adl prints, and both together print it once."""
    printed = []
    for by in (["adl"], ["activity"], ["activity", "adl"]):
        options = [word for part in by for word in ("--by", part)]
        printed.append(cli.ok("summary", str(runs), *options))
    assert printed[0] == printed[1] == printed[2]


@pytest.mark.parametrize("by", ["adl", "domain", "condition", "assistance", "situation", "actor"])
def test_summary_by_each_part(by: str, runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each part has a table for people, one for a page and one for a paper."""
    for form in ("table", "md", "latex"):
        assert run(["summary", str(runs), "--by", by, "--format", form]) == OK
        head = "activity" if by == "adl" else by
        assert head in capsys.readouterr().out


def test_several_parts_are_one_table_of_data(runs: Path, cli: CommandLine) -> None:
    """Two parts in one CSV are told apart by a column; each has the rows that it has alone."""
    tables = {}
    for parts in (["adl"], ["actor"], ["adl", "actor"]):
        by = [word for part in parts for word in ("--by", part)]
        tables[tuple(parts)] = pl.read_csv(
            io.StringIO(cli.ok("summary", str(runs), "--format", "csv", *by))
        )
    both = tables["adl", "actor"]
    for part in ("adl", "actor"):
        rows = both.filter(pl.col("by") == part)
        assert rows["part"].to_list() == tables[part,][part].to_list()
        assert rows["score"].to_list() == tables[part,]["score"].to_list()


def test_json_has_the_part_that_is_asked_for(runs: Path, cli: CommandLine) -> None:
    """A part that only a detail has brings the detail."""
    entries = cli.json("summary", str(runs), "--json", "--by", "actor")["entries"]
    assert all("by_actor" in entry["detail"] for entry in entries)


def test_summary_for_people_has_a_row_for_each_rubric(runs: Path, cli: CommandLine) -> None:
    """A system judged on both rubrics has a row and a sentence for each; --rubric leaves one."""
    shown = cli.ok("summary", str(runs))
    assert "on the actions." in shown
    assert "on the ladder." in shown
    shown = cli.ok("summary", str(runs), "--rubric", "ladder")
    assert "Severe errors and score, on the ladder" in shown
    assert "on the actions." not in shown


def test_summary_in_detail_for_people(runs: Path, cli: CommandLine) -> None:
    """`--detail` prints the worst epoch and the spread of epochs, which are else on demand."""
    assert "worst epoch" not in cli.ok("summary", str(runs))
    assert "worst epoch" in cli.ok("summary", str(runs), "--detail")
