"""Logs as files: read without Inspect, and as Inspect reads them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from inspect_ai.log import read_eval_log
from polars.testing import assert_frame_equal

from careeval.errors import LogError
from careeval.protocol.log_fields import LoggedItem, LoggedResponse, LoggedSample, LoggedScenario
from careeval.protocol.logs import Log, UnreadableSample, read_log
from careeval.protocol.tables import (
    cache_entry,
    make_entry,
    mark_used,
    prune,
    read_run,
    read_runs,
    responses_of,
    run_roots,
)
from careeval.results.entries import entries
from careeval.results.tables import files_in, system_keys
from support.eval_files import COMPLETE, ERRORED, altered, change, renamed
from support.fakes import leave_out

DATA = Path(__file__).parents[1] / "data"
"""Real logs, made by `careeval` itself.

`complete.eval`: `careeval run` over the bank of `fakes.write_bank`, two epochs, a fake system that
says one sentence and `careeval/lexical` as grader. `errored.eval`: the same with a system whose
provider failed for both epochs of eating-001. `graded-twice/`: the first with a `regrade` by
`careeval/lexical`, its two logs as they lay. Made with Inspect 0.3.285; tracebacks and the folders
that they were made in were taken out afterwards, and `mode` was added to their headers.
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run's folder with the complete log in it, to be changed."""
    folder = tmp_path / "robot"
    folder.mkdir()
    shutil.copy(COMPLETE, folder)
    return folder


@pytest.fixture
def own_log(run: Path) -> Path:
    """The log in it."""
    return run / "complete.eval"


# --- the stored logs ---------------------------------------------------------------------------


def test_a_complete_run(run: Path) -> None:
    """The stored run has four answers and 24 judgments, sixteen of them present."""
    runs = read_runs(run)
    assert runs.notes == ()
    assert runs.responses.select("system", "scenario", "epoch", "state").rows() == [
        ("robot", scenario, epoch, "answered")
        for scenario in ("dressing-001", "eating-001")
        for epoch in (1, 2)
    ]
    (grader,) = runs.judgments["grader"].unique()
    assert grader.startswith("careeval/lexical (batched, prompt ")
    counts = runs.judgments.group_by("rubric", "item").agg(pl.col("present").sum())
    assert sorted(counts.rows()) == [
        ("actions", "asks", 4),  # ask, about, blouse: all three are said
        ("actions", "pulls", 0),
        ("actions", "waits", 4),  # wait and sleeve of wait, reach, sleeve: 2/3
        ("ladder", "+1", 4),  # about and blouse, but not speak
        ("ladder", "+2", 4),
        ("ladder", "-1", 0),
    ]


def test_an_errored_sample(tmp_path: Path) -> None:
    """A failed response is missing with its error, without judgments, and does not count as 0."""
    shutil.copy(ERRORED, tmp_path)
    runs = read_runs(tmp_path)
    rows = runs.responses.select("scenario", "epoch", "state", "note").rows()
    assert rows == [
        ("dressing-001", 1, "answered", ""),
        ("dressing-001", 2, "answered", ""),
        ("eating-001", 1, "missing", "error: ConnectionError('the server is down')"),
        ("eating-001", 2, "missing", "error: ConnectionError('the server is down')"),
    ]
    assert set(runs.judgments["scenario"]) == {"dressing-001"}
    assert runs.judgments.height == 12
    [system] = runs.responses["system"].unique()
    assert runs.notes == (
        f"{system}: 2 samples failed; the last: ConnectionError('the server is down')",
    )


def test_graded_twice(tmp_path: Path) -> None:
    """The stored run that was graded twice has two gradings of its responses, and they agree."""
    folder = Path(shutil.copytree(DATA / "graded-twice", tmp_path / "runs"))
    runs = read_runs(folder)
    assert runs.responses.height == 4
    assert set(runs.responses["model"]) == {"fake/robot"}
    first, second = (runs.judgments.filter(pl.col("grading") == n) for n in (1, 2))
    assert_frame_equal(first.drop("grading"), second.drop("grading"))
    assert first.height == 24


# --- beside Inspect ----------------------------------------------------------------------------


@pytest.mark.parametrize("log", [COMPLETE, ERRORED], ids=["complete", "errored"])
def test_what_inspect_reads(log: Path) -> None:
    """Every sample is read as Inspect reads it, from its id to the metadata of its scores."""
    ours, theirs = read_log(log), read_eval_log(str(log))
    assert theirs.samples is not None
    found = {(s.id, s.epoch): (s, asked) for s, asked in readable(ours)}
    assert len(found) == len(theirs.samples) == 4
    for sample in theirs.samples:
        mine, asked = found[str(sample.id), sample.epoch]
        assert asked.text == sample.input
        rubrics = {r.value: [asdict(item) for item in items] for r, items in asked.rubrics.items()}
        for rubric, items in sample.metadata["rubrics"].items():
            assert rubrics[rubric] == [asdict(LoggedItem(**tupled(item))) for item in items]
        assert asked.grouping.situation == tuple(sample.metadata["situation"])
        stored = sample.store.get("careeval_response")
        assert mine.stored == (
            stored and LoggedResponse(**{n: stored[n] for n in vars(mine.stored)})
        )
        assert mine.sampling == sample.store.get("careeval_sampling")
        assert mine.error == (sample.error.message if sample.error else None)
        assert mine.model == sample.output.model
        score = (sample.scores or {}).get("careeval")
        recorded = (score.metadata or {})["rubrics"] if score else {}
        judgments = {n: [vars(j) for j in graded.judgments] for n, graded in mine.graded.items()}
        assert judgments == {name: graded["judgments"] for name, graded in recorded.items()}
        for name, count in vars(mine.usage).items() if mine.usage else ():
            assert count == getattr(sample.output.usage, name)
    about = (theirs.eval.metadata or {})["careeval"]
    assert ours.header.about.bank_hash == about["bank_hash"]
    assert ours.header.about.rubrics == tuple(about["rubrics"])
    assert ours.header.scenarios == tuple(theirs.eval.dataset.sample_ids or ())


def readable(log: Log) -> list[tuple[LoggedSample, LoggedScenario]]:
    """The samples of a log of which none is damaged."""
    found = list(log.samples())
    assert not any(isinstance(sample, UnreadableSample) for sample in found)
    return [sample for sample in found if not isinstance(sample, UnreadableSample)]


def tupled(item: dict[str, Any]) -> dict[str, Any]:
    """A rubric item as Inspect reads it, with its lists as we read them."""
    return {name: tuple(v) if isinstance(v, list) else v for name, v in item.items()}


def test_inspect_is_not_imported(tmp_path: Path) -> None:
    """Reading the logs' tables in a process of its own imports nothing of Inspect."""
    code = """
import sys
from careeval.protocol.tables import read_runs
assert read_runs(sys.argv[1]).responses.height == 8
assert "inspect_ai" not in sys.modules
"""
    for name, log in (("whole", COMPLETE), ("failed", ERRORED)):
        renamed(log, tmp_path / name / "1.eval", name)
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)


SAMPLE = "samples/dressing-001_epoch_1.json"


# --- logs that cannot be used ------------------------------------------------------------------


def truncated(folder: Path) -> Path:
    """A log of which the end is not there."""
    path = folder / "0-truncated.eval"
    path.write_bytes((COMPLETE).read_bytes()[:2000])
    return path


def empty(folder: Path) -> Path:
    """A log without a byte."""
    path = folder / "0-empty.eval"
    path.touch()
    return path


def other_version(folder: Path) -> Path:
    """A log whose header does not say how the grader was asked."""
    return altered(
        COMPLETE,
        folder / "0-other-version.eval",
        lambda header: header["eval"]["metadata"]["careeval"].pop("grade_mode"),
    )


def foreign(folder: Path) -> Path:
    """Inspect's log of another task."""
    return altered(
        COMPLETE,
        folder / "0-foreign.eval",
        lambda header: header["eval"].update(task="sums", metadata={}),
    )


def other_zip(folder: Path) -> Path:
    """A zip that is no log at all."""
    path = folder / "0-other.eval"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("header.json", "[]")
    return path


UNUSABLE = [
    (truncated, "cannot be read as a log"),
    (empty, "cannot be read as a log"),
    (other_version, "its header does not fit this version of careeval"),
    (other_zip, "cannot be read as a log"),
    (foreign, "is a log of the task 'sums', not of careeval"),
]


@pytest.mark.parametrize(("spoil", "why"), UNUSABLE)
def test_a_log_that_cannot_be_used(run: Path, spoil: Any, why: str) -> None:
    """A log that is cut off, damaged, or not ours is left out with a note, and the others count.

    A folder that holds nothing else cannot be read, and says why.
    """
    whole = read_runs(run)
    path = spoil(run)
    runs = read_runs(run)
    assert_frame_equal(runs.judgments, whole.judgments)
    assert_frame_equal(runs.responses, whole.responses)
    (note,) = runs.notes
    assert note.startswith(f"left out: {path}: {why}")
    (run / "complete.eval").unlink()
    with pytest.raises(LogError, match=why):
        read_runs(run)


def test_other_logs_beside_a_run(run: Path) -> None:
    """A folder of another task's logs beside a run is noted, and the run is read."""
    path = foreign(run.parent / "other")
    runs = read_runs(run.parent)
    assert runs.responses.height == 4
    assert runs.notes == (f"left out: {path}: is a log of the task 'sums', not of careeval",)


def test_a_folder_that_is_named_like_a_log(run: Path) -> None:
    """A folder whose name ends in .eval is a folder: what lies in it is read, once."""
    (run / "empty.eval").mkdir()
    assert read_runs(run).notes == ()
    folder = run.rename(run.parent / "runs.eval")
    assert read_runs(folder.parent).responses.height == 4


def test_a_damaged_sample(run: Path, own_log: Path) -> None:
    """Of a log with other bytes in one sample the others count, and that one is missing."""
    whole = Path(shutil.copy(own_log, run / "whole"))
    content = bytearray(own_log.read_bytes())
    content[1500:1600] = bytes(100)
    own_log.write_bytes(content)
    runs = read_runs(run)
    (note,) = runs.notes
    assert note.startswith(
        f"{own_log}: 1 of its samples cannot be read; the first, dressing-001 epoch 1: "
    )
    states = runs.responses["state"].to_list()
    assert states == ["missing", "answered", "answered", "answered"]
    assert runs.responses["note"][0].startswith("its record cannot be read: ")
    assert runs.judgments.height == 18
    # where another log has it, nothing is lost
    whole.rename(run / "whole.eval")
    runs = read_runs(run)
    assert set(runs.responses["state"]) == {"answered"}
    assert runs.judgments.height == 24
    assert len(runs.notes) == 1


def test_a_sample_without_its_rubrics(run: Path, own_log: Path) -> None:
    """A sample that lacks its rubrics cannot be read, and the note names them."""
    change(own_log, SAMPLE, lambda sample: sample.pop("metadata"))
    runs = read_runs(run)
    assert runs.notes == (
        f"{own_log}: 1 of its samples cannot be read; "
        "the first, dressing-001 epoch 1: metadata.rubrics: Field required",
    )
    assert runs.responses["state"].to_list() == ["missing", "answered", "answered", "answered"]


def test_a_scenario_without_one_of_the_rubrics(run: Path, own_log: Path) -> None:
    """A rubric that was to be judged, and that the scenario has no items of, is named."""
    assert {tuple(lacks) for lacks in read_runs(run).responses["lacks"]} == {()}
    for epoch in (1, 2):
        part = SAMPLE.replace("epoch_1", f"epoch_{epoch}")
        change(own_log, part, lambda sample: sample["metadata"]["rubrics"].update(ladder=[]))
    runs = read_runs(run)
    by_scenario = runs.responses.group_by("scenario").agg(pl.col("lacks").list.join(" ").unique())
    assert dict(by_scenario.iter_rows()) == {"dressing-001": ["ladder"], "eating-001": [""]}
    whole = {(e.rubric.value, e.n_scenarios, e.n_ungraded)
             for e in entries(runs)}  # fmt: skip
    assert whole == {("actions", 2, 0), ("ladder", 1, 0)}


@pytest.mark.parametrize("part", ["store", "output", "scores", "error", "events", "attachments"])
def test_a_sample_without_a_part(run: Path, own_log: Path, part: str) -> None:
    """A sample that lacks a part which may be absent is read as far as it goes."""
    change(own_log, SAMPLE, lambda sample: sample.pop(part, None))
    runs = read_runs(run)
    row = runs.responses.row(0, named=True)
    assert (row["state"], row["note"]) == (
        ("missing", "error: no response was stored") if part == "store" else ("answered", "")
    )
    judged = runs.judgments.filter((pl.col("epoch") == 1) & pl.col("scenario").str.contains("dre"))
    assert judged.height == (0 if part == "store" else 6)
    assert judged["present"].null_count() == (6 if part == "scores" else 0)


HOSTILE = [
    "{{ 7 * 7 }} {% raw %}",
    "<script>alert(1)</script>",
    '", "events": [{"x": 1}], "error": {"message": "',
    '"events":',
    "\x00\x1b[31m\u202e\u2028 lines\r\n",
    "\N{OLDER MAN}\u200d " * 50_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text(run: Path, own_log: Path, text: str) -> None:
    """Whatever a model and a grader say, up to a megabyte, is in the tables as they said it."""

    def say(sample: dict[str, Any]) -> None:
        sample["store"]["careeval_response"]["text"] = text
        judgment = sample["scores"]["careeval"]["metadata"]["rubrics"]["ladder"]["judgments"][0]
        judgment |= {"quote": text, "reason": text}

    change(own_log, SAMPLE, say)
    runs = read_runs(run)
    assert runs.notes == ()
    assert runs.responses["text"][0] == text
    row = runs.judgments.filter(rubric="ladder").row(0, named=True)
    assert (row["quote"], row["reason"]) == (text, text)


def test_events_within_something_else(run: Path, own_log: Path) -> None:
    """A member of that name before a sample's own events cuts nothing short."""
    before = read_runs(run)

    def nest(sample: dict[str, Any]) -> None:
        sample["input"] = [{"role": "user", "events": [{"events": []}], "content": "Go."}]

    change(own_log, SAMPLE, nest)
    runs = read_runs(run)
    assert runs.responses["scenario_text"][0] is None
    assert_frame_equal(runs.judgments, before.judgments)


def test_an_error_after_the_grading(run: Path, own_log: Path) -> None:
    """A sample that has an error and no grading says so, although the error stands at its end."""

    def fail(sample: dict[str, Any]) -> None:
        del sample["scores"]
        sample["error"] = {"message": "the grader is down", "traceback": "", "traceback_ansi": ""}

    change(own_log, SAMPLE, fail)
    runs = read_runs(run)
    assert runs.notes == ("robot: 1 samples failed; the last: the grader is down",)
    judged = runs.judgments.filter(scenario="dressing-001", epoch=1)
    assert set(judged["reason"]) == {"error: the grader is down"}


def test_folders_without_a_log(tmp_path: Path) -> None:
    """A folder that is not there, or holds no log, is refused by name."""
    with pytest.raises(LogError, match="is not a folder"):
        read_runs(tmp_path / "nowhere")
    with pytest.raises(LogError, match="has no careeval log"):
        read_runs(tmp_path)


def test_a_run_that_nobody_graded(run: Path) -> None:
    """Beside a graded run, one without a grading is noted; alone it needs no note."""
    other = run.parent / "other"
    log = renamed(COMPLETE, other / "quiet.eval", "quiet")
    change(log, "header.json", lambda header: header["eval"].pop("scorers"))
    assert read_runs(run.parent).notes == (
        "quiet: its responses are not graded, so the system is not in the results",
    )
    assert read_runs(other).notes == ()


def test_a_folder_of_runs_that_is_called_graded(tmp_path: Path) -> None:
    """Runs in a folder that a user called as that of later gradings are runs, each of its own."""
    folder = tmp_path / "graded"
    for name in ("one", "two"):
        renamed(COMPLETE, folder / name / "1.eval", name)
    assert run_roots(folder) == [folder / "one", folder / "two"]
    runs = read_runs(folder)
    assert set(runs.responses["system"]) == {"one", "two"}
    assert set(runs.judgments["grading"]) == {1}


def test_two_runs_of_one_system(run: Path) -> None:
    """Two runs of systems of one name are not mixed."""
    shutil.copytree(run, run.parent / "again")
    with pytest.raises(LogError, match="two runs are of the system 'robot'"):
        read_runs(run.parent)
    assert run_roots(run.parent) == [run.parent / "again", run]


def test_one_system_in_two_conditions(tmp_path: Path) -> None:
    """What the header says of the condition is in every row, and in the notes on the run."""
    for name, step in (("plan", False), ("step", True)):
        renamed(ERRORED, tmp_path / name / "1.eval", "robot", given="told", step=step)
    runs = read_runs(tmp_path)
    keys = [("robot", "told", False), ("robot", "told", True)]
    assert system_keys(runs.responses) == system_keys(runs.judgments) == keys
    assert [note.partition(":")[0] for note in runs.notes] == [
        "robot, told", "robot, told, step"
    ]  # fmt: skip


# --- runs that are not finished ----------------------------------------------------------------


def test_a_log_that_holds_its_beginning_alone(run: Path, own_log: Path) -> None:
    """A run killed before its first sample is all missing, with a note of how to go on."""
    with zipfile.ZipFile(own_log) as file:
        start = file.read("_journal/start.json")
    with zipfile.ZipFile(own_log, "w") as file:
        file.writestr("_journal/start.json", start)
    runs = read_runs(run)
    assert runs.responses.height == 4
    assert set(runs.responses["state"]) == {"missing"}
    assert set(runs.responses["note"]) == {"not asked yet: the run is not finished"}
    assert runs.responses["adl"].null_count() == 4
    assert runs.judgments.is_empty()
    assert runs.notes == (
        "robot: 4 of 4 responses are still missing; 'careeval run --resume' asks for them",
    )


def test_a_sample_that_is_not_there(run: Path, own_log: Path) -> None:
    """A response that has not come is missing, and knows its scenario from the other epochs."""
    leave_out(own_log, "samples/eating-001_epoch_2.json")
    runs = read_runs(run)
    row = runs.responses.filter(pl.col("state") == "missing").row(0, named=True)
    assert (row["scenario"], row["epoch"], row["adl"]) == ("eating-001", 2, "eating")
    assert row["scenario_text"].startswith("Scenario eating-001")
    assert runs.judgments.height == 18
    assert len(runs.notes) == 1


@pytest.mark.parametrize("name", ["0.eval", "newer.eval"])  # before and after the other's name
@pytest.mark.parametrize("same_second", [False, True])
def test_the_newest_sample_counts(run: Path, own_log: Path, name: str, same_second: bool) -> None:
    """Of a killed log and the one that resumed it, the newer sample counts, the older fills in."""
    newer = run / name
    with zipfile.ZipFile(own_log) as file, zipfile.ZipFile(newer, "w") as new:
        for member in file.namelist():
            content = file.read(member)
            if member == "samples/eating-001_epoch_2.json":
                continue
            if member in {"header.json", "_journal/start.json"}:
                header = json.loads(content)
                if not same_second:
                    header["eval"]["created"] = "2099-01-01T00:00:00+00:00"
                content = json.dumps(header).encode()
            if member == "samples/dressing-001_epoch_1.json":
                sample = json.loads(content)
                sample["store"] |= {"careeval_response": {**sample["store"]["careeval_response"],
                                    "text": "", "state": "missing", "note": "error"}}  # fmt: skip
                content = json.dumps(sample).encode()
            new.writestr(member, content)
    runs = read_runs(run)
    keys = ("scenario", "epoch", "state")
    assert runs.responses.select(keys).rows() == [
        ("dressing-001", 1, "missing"),
        ("dressing-001", 2, "answered"),
        ("eating-001", 1, "answered"),
        ("eating-001", 2, "answered"),
    ]
    judged = runs.judgments.select("scenario", "epoch").unique().sort("scenario", "epoch")
    assert judged.rows() == [("dressing-001", 2), ("eating-001", 1), ("eating-001", 2)]
    assert runs.judgments["grading"].unique().to_list() == [1]


# --- the tables that are kept ------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache folder, empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def entry_of(cache: Path) -> Path:
    """The only entry of the cache."""
    (entry,) = (cache / "careeval" / "tables").iterdir()
    return entry


def test_tables_are_kept(run: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are kept in the user's cache folder, for the user alone, and none beside the logs.

    They belong to the content of the logs: a run that was moved is not read again.
    """
    first = read_run(run)
    assert {path.name for path in run.iterdir()} == {"complete.eval"}
    entry = entry_of(cache)
    assert {path.name for path in entry.iterdir()} == {
        "judgments.parquet",
        "notes.json",
        "responses.parquet",
    }
    assert {path.stat().st_mode & 0o77 for path in (entry, entry.parent)} == {0}
    monkeypatch.delattr("careeval.protocol.tables.read_log")
    assert_frame_equal(read_run(run).responses, first.responses)
    moved = run.rename(run.with_name("moved"))
    assert_frame_equal(read_run(moved).judgments, first.judgments)


def test_tables_beside_the_logs_are_not_believed(run: Path, cache: Path) -> None:
    """Tables and keys that somebody put into a run's folder change nothing: its logs count."""
    first = read_run(run)
    forged = run / ".tables"
    shutil.copytree(entry_of(cache), forged)
    shutil.copy(forged / "notes.json", forged / "key.json")
    first.judgments.with_columns(present=True).write_parquet(files_in(forged)[1])
    shutil.rmtree(cache)
    assert_frame_equal(read_run(run).judgments, first.judgments)
    assert_frame_equal(read_run(run).judgments, first.judgments)


def test_a_log_of_the_same_size_and_time_is_another(run: Path, own_log: Path, cache: Path) -> None:
    """A log whose size and time were made those of another is read, not taken for it."""
    first = read_run(run)
    status, content = own_log.stat(), bytearray(own_log.read_bytes())
    content[len(content) // 2] ^= 1
    own_log.write_bytes(content)
    os.utime(own_log, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert own_log.stat().st_size == status.st_size
    assert read_run(run).notes != first.notes


def test_tables_are_made_again_when_a_log_changes(run: Path, own_log: Path, cache: Path) -> None:
    """A log that has changed, or that is new, is read again."""
    read_run(run)
    leave_out(own_log, "samples/eating-001_epoch_2.json")
    assert len(read_run(run).notes) == 1
    truncated(run)
    assert len(read_run(run).notes) == 2
    assert len(read_run(run).notes) == 2  # from the cache


def test_a_note_names_the_folder_that_was_read(run: Path, cache: Path) -> None:
    """A note that names a log has its present path, also where the run was kept from another."""
    truncated(run)
    assert any(str(run) in note for note in read_run(run).notes)
    moved = run.rename(run.with_name("moved"))
    assert any(str(moved) in note for note in read_run(moved).notes)
    assert not any(str(run) in note for note in read_run(moved).notes)


@pytest.mark.parametrize("notes", ["", "{", "[]", "{}", '{"notes": [], "place": null}'])
def test_kept_tables_that_cannot_be_read(run: Path, cache: Path, notes: str) -> None:
    """Kept tables that are broken are passed over: the logs are the truth."""
    first = read_run(run)
    (entry_of(cache) / "notes.json").write_text(notes, encoding="utf-8")
    assert_frame_equal(read_run(run).responses, first.responses)
    (entry_of(cache) / "judgments.parquet").write_bytes(b"no table")
    assert_frame_equal(read_run(run).judgments, first.judgments)


@pytest.mark.parametrize("at", ["", "careeval", "careeval/tables"])
def test_a_cache_that_cannot_be_written(run: Path, cache: Path, at: str) -> None:
    """A run is read where no cache folder can be made."""
    (cache / at).parent.mkdir(parents=True, exist_ok=True)
    (cache / at).write_text("in the way", encoding="utf-8")
    assert read_run(run).responses.height == 4


def test_a_user_without_a_home(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run is read by a user who has no home, and a relative cache folder is not used."""

    def no_home() -> Path:
        raise RuntimeError("no home")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setattr("careeval.protocol.tables.Path.home", no_home)
    assert read_run(run).responses.height == 4
    assert not Path("relative").exists()


def test_what_was_not_used_for_longest_goes_first(cache: Path) -> None:
    """Entries beyond the most bytes are removed, but neither the newest nor those just used."""
    entries = [cache_entry("tables", name) for name in "abcd"]
    for number, entry in enumerate(entries, 1):
        assert entry is not None
        make_entry(entry)
        (entry / "table").write_bytes(bytes(10))
        os.utime(entry, (number, number))
    mark_used(entries[0])
    prune(entries[3], max_bytes=30)
    assert {path.name for path in (cache / "careeval" / "tables").iterdir()} == {"a", "c", "d"}
    prune(entries[3], max_bytes=1)
    assert {path.name for path in (cache / "careeval" / "tables").iterdir()} == {"d"}


def test_logs_beyond_the_limit_are_not_kept(
    run: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Logs that are too large to be hashed are read, and their tables are not kept."""
    monkeypatch.setattr("careeval.protocol.tables.MAX_HASHED", 1000)
    assert read_run(run).responses.height == 4
    assert not cache.exists()


# --- tables as values --------------------------------------------------------------------------


def test_responses_come_back_as_values(run: Path) -> None:
    """Each row of the table is one response, whole."""
    found = responses_of(read_run(run))
    assert [(r.scenario, r.epoch, r.state.value, r.cut, r.note) for r in found] == [
        (scenario, epoch, "answered", False, "")
        for scenario in ("dressing-001", "eating-001")
        for epoch in (1, 2)
    ]


def test_domains_and_rungs_are_in_the_table(run: Path) -> None:
    """An item's points, levels, parts and place come from the log; a domain it lacks is null."""
    judgments = read_run(run).judgments.filter(
        (pl.col("scenario") == "eating-001") & (pl.col("epoch") == 1)
    )
    columns = ("rubric", "position", "item", "points", "of", "user_agency", "functional_safety")
    assert judgments.select(columns).rows() == [
        ("actions", 0, "asks", 2, [], None, 2),
        ("actions", 1, "waits", 1, [], None, 2),
        ("actions", 2, "pulls", -2, [], None, 0),
        ("ladder", 0, "+2", 2, ["asks", "waits"], None, None),
        ("ladder", 1, "+1", 1, ["asks"], None, None),
        ("ladder", 2, "-1", -1, [], 0, None),
    ]


# --- what it took ------------------------------------------------------------------------------

AMOUNTS = ("input_tokens", "output_tokens", "cost_usd", "seconds")


def test_tokens_of_a_response(run: Path, own_log: Path) -> None:
    """Counts of tokens are as the provider gave them, and null where it gave none."""
    usage = {
        "input_tokens": 10,
        "output_tokens": 50,
        "total_tokens": 90,
        "input_tokens_cache_read": 25,
        "input_tokens_cache_write": 5,
        "reasoning_tokens": 30,
        "total_cost": 0.125,
    }
    change(own_log, SAMPLE, lambda sample: sample["output"].update(usage=usage))
    columns = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens",
               "reasoning_tokens", "cost_usd")  # fmt: skip
    changed, stored, *_ = read_run(run).responses.select(columns).rows()
    assert changed == (10, 25, 5, 50, 30, 0.125)
    assert stored == (7, None, None, 5, None, None)


def test_share_of_a_judgment(run: Path, own_log: Path) -> None:
    """Items of a rubric share its calls evenly; what a log does not say is null."""
    usage = {"input_tokens": 300, "output_tokens": 99, "cost_usd": None, "seconds": 1.5}

    def pay(sample: dict[str, Any]) -> None:
        sample["scores"]["careeval"]["metadata"]["rubrics"]["ladder"]["usage"] = usage

    change(own_log, SAMPLE, pay)
    judgments = read_run(run).judgments.filter(scenario="dressing-001", epoch=1)
    ladder, actions = (judgments.filter(rubric=name) for name in ("ladder", "actions"))
    assert ladder.select(AMOUNTS).rows() == [(100, 33, None, 0.5)] * 3
    assert actions.select(AMOUNTS).rows() == [(None,) * 4] * 3


@pytest.mark.parametrize("state", ["empty", "refused"])
def test_what_was_not_sent_to_the_grader_cost_nothing(run: Path, own_log: Path, state: str) -> None:
    """For a response without words there was no call: what its judgments took is 0, not unknown."""

    def unsay(sample: dict[str, Any]) -> None:
        sample["store"]["careeval_response"] |= {"state": state, "text": ""}
        sample["scores"]["careeval"]["metadata"]["rubrics"] = {}

    change(own_log, SAMPLE, unsay)
    judgments = read_run(run).judgments.filter(scenario="dressing-001", epoch=1)
    assert judgments.select("present", *AMOUNTS).rows() == [(False, 0, 0, 0, 0)] * 6
    assert set(judgments["reason"]) == {f"{state} response: nothing to grade"}
