"""Running and resuming: nothing asked twice, nothing lost, nothing left behind."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from careeval.core.response import Response, ResponseState
from careeval.errors import ProtocolError
from careeval.modes.response import RESPONSE
from careeval.protocol.evaluate import resume
from careeval.protocol.ledger import CALLS_FILE, SPENT_FILE, read_paid_calls
from careeval.protocol.run import PROBES, Outcome, Run, Stop, folder_name
from careeval.protocol.run_files import LOCK_FILE, JsonLines, locked
from careeval.protocol.run_folder import (
    RESPONSES_FILE,
    RUN_FILE,
    amend_run,
    latest_unfinished,
    read_run_file,
    run_folders,
)
from careeval.protocol.run_setup import discard, prepare
from careeval.protocol.tables import read_runs
from careeval.results.tables import Runs
from support.eval_files import COMPLETE
from support.fakes import Call, Fake, begin, begin_recorded, keyword_grader, write_bank

ANSWER = "I ask her about the blouse and wait, holding the sleeve."


def answer(_: Call) -> str:
    """The script of a system that works."""
    return ANSWER


def make(bank: Path, model: Fake, grader: Fake | None, epochs: int = 2) -> Run:
    """A run of a system called robot over the small bank."""
    return Run("robot", model.model, grader and grader.model, epochs, {"bank": str(bank)})


def comparable(runs: Runs) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The tables without what differs between two runs of the same thing: clock and request."""
    return runs.responses.drop("created", "seconds"), runs.judgments.drop("seconds")


Undisturbed = tuple[Path, Outcome, Fake, Fake]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, bank: Path) -> Undisturbed:
    """A run of two scenarios and two epochs, with its outcome, its model and its grader."""
    root = tmp_path_factory.mktemp("undisturbed") / "runs"  # the folder above has nothing else
    model, grader = Fake("run-model", answer), Fake("run-grader", keyword_grader)
    outcome = begin(make(bank, model, grader), root / "robot")
    return root, outcome, model, grader


def test_worked_example(undisturbed: Undisturbed) -> None:
    """A run ends complete, with a row a response and a row a judgment, and no note."""
    root, outcome, _, _ = undisturbed
    assert outcome == Outcome(root / "robot", complete=True, n_failed=0)
    runs = read_runs(root)
    assert runs.notes == ()
    assert runs.responses.select("system", "scenario", "epoch", "state").rows() == [
        ("robot", scenario, epoch, "answered")
        for scenario in ("dressing-001", "eating-001")
        for epoch in (1, 2)
    ]
    assert runs.responses["text"].unique().to_list() == [ANSWER]
    assert runs.judgments.height == 2 * 2 * 3
    (grader,) = runs.judgments["grader"].unique()
    assert grader.startswith("fake/run-grader (batched, prompt ")


def test_what_is_known_of_a_call_is_in_the_table(undisturbed: Undisturbed) -> None:
    """Model, tokens and sampling stand with each response; a price that is unknown is null."""
    row = read_runs(undisturbed[0]).responses.row(0, named=True)
    assert (row["model"], row["model_returned"]) == ("fake/run-model", "fake/run-model")
    assert (row["input_tokens"], row["output_tokens"], row["cost_usd"]) == (7, 5, None)
    assert json.loads(row["sampling"]).keys() == {"temperature", "seed", "max_tokens"}


def test_the_grader_is_asked_at_temperature_0(undisturbed: Undisturbed) -> None:
    """The grader's temperature is 0, the system's 1, neither touching the other."""
    _, _, model, grader = undisturbed
    assert {call.config.temperature for call in grader.calls} == {0.0}
    assert {call.config.temperature for call in model.calls} == {1.0}
    assert {call.config.seed for call in grader.calls} == {None}


def test_finished_calls_are_not_kept(undisturbed: Undisturbed) -> None:
    """A complete run keeps the cost of its calls, and not what they said."""
    root, _, _, _ = undisturbed
    assert not (root / "robot" / CALLS_FILE).exists()
    assert [call.role for call in read_paid_calls(root / "robot")].count("ask") == 4
    assert [call.role for call in read_paid_calls(root / "robot")].count("grade") == 4


def test_resuming_a_complete_run_asks_nothing(undisturbed: Undisturbed) -> None:
    """A complete run that is resumed stays as it is, at no cost."""
    root, outcome, model, grader = undisturbed
    before = len(model.calls), len(grader.calls), comparable(read_runs(root))
    assert resume(root / "robot") == outcome
    assert (len(model.calls), len(grader.calls)) == before[:2] == (4, 4)
    for now, then in zip(comparable(read_runs(root)), before[2], strict=True):
        assert_frame_equal(now, then)


def test_a_used_folder_is_refused(undisturbed: Undisturbed, bank: Path) -> None:
    """A second run into the folder of a first, of any kind, is refused and changes nothing."""
    root, _, model, grader = undisturbed
    before = sorted((p, p.stat().st_mtime_ns) for p in root.rglob("*") if p.is_file())
    with pytest.raises(ProtocolError, match="already has a run") as caught:
        begin(make(bank, model, grader), root / "robot")
    assert caught.value.hint.startswith(f"finish it with 'careeval run --resume -o {root}'")
    given = [Response("eating-001", 1, "I sing.", ResponseState.answered)]
    with pytest.raises(ProtocolError, match="already has a run"):
        begin_recorded(root / "robot", "robot", given, grader.model, {"bank": str(bank)})
    assert sorted((p, p.stat().st_mtime_ns) for p in root.rglob("*") if p.is_file()) == before


def test_a_run_of_another_protocol_is_refused(bank: Path, tmp_path: Path) -> None:
    """A run that another protocol began is not gone on with, and nothing is asked."""
    model, grader = Fake("other-model", answer), Fake("other-grader", keyword_grader)
    folder = prepare(replace(make(bank, model, grader), protocol="1-A"), tmp_path / "robot")
    with pytest.raises(ProtocolError, match="follows protocol 1-A, and this careeval follows 2-A"):
        resume(folder)
    fields = json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))
    del fields["protocol"]
    (folder / RUN_FILE).write_text(json.dumps(fields), encoding="utf-8")
    with pytest.raises(ProtocolError, match="follows protocol unknown"):
        resume(folder)
    assert not model.calls


def test_the_folder_knows_its_run(undisturbed: Undisturbed, bank: Path) -> None:
    """A run's description is in run.json, and its folder is found below any other."""
    root, _, model, grader = undisturbed
    saved = json.loads((root / "robot" / RUN_FILE).read_text(encoding="utf-8"))
    assert saved == asdict(make(bank, model, grader))
    assert run_folders(root.parent).count(root / "robot") == 1
    assert run_folders(root / "robot") == [root / "robot"]


# --- when things break off ---------------------------------------------------------------------


def test_a_provider_that_fails(undisturbed: Undisturbed, bank: Path, tmp_path: Path) -> None:
    """Failed samples are asked again on resuming, they alone, and the tables are as undisturbed."""

    def failing(call: Call) -> str:
        if "eating-001" in call.request:
            raise ConnectionError("the server is down")
        return ANSWER

    model, grader = Fake("run-model", failing), Fake("run-grader", keyword_grader)
    folder = tmp_path / "robot"
    outcome = begin(make(bank, model, grader), folder)
    why = "fake/run-model: the connection failed: the server is down"
    assert outcome == Outcome(folder, complete=False, n_failed=2, why=why)
    assert (folder / CALLS_FILE).is_file()
    assert len(grader.calls) == 2

    runs = read_runs(tmp_path)
    failed = runs.responses.filter(pl.col("state") == "missing")
    assert failed["scenario"].unique().to_list() == ["eating-001"]
    assert all("the server is down" in note for note in failed["note"])
    assert set(runs.judgments["scenario"]) == {"dressing-001"}

    model.script = answer
    model.calls.clear()
    grader.calls.clear()
    assert resume(folder) == Outcome(folder, complete=True, n_failed=0)
    assert ["eating-001" in call.request for call in model.calls] == [True, True]
    assert len(grader.calls) == 2
    assert not (folder / CALLS_FILE).exists()
    for now, then in zip(
        comparable(read_runs(tmp_path)), comparable(read_runs(undisturbed[0])), strict=True
    ):
        assert_frame_equal(now, then)


def test_a_grader_that_fails(bank: Path, tmp_path: Path) -> None:
    """A grader that breaks off costs no answer: on resuming the system is not asked again."""

    def failing(call: Call) -> str:
        raise ConnectionError("the grader is down")

    model, grader = Fake("kept-model", answer), Fake("failing-grader", failing)
    folder = tmp_path / "robot"
    assert not begin(make(bank, model, grader), folder).complete
    asked = len(model.calls)
    assert asked == 4
    runs = read_runs(tmp_path)
    assert set(runs.responses["state"]) == {"answered"}
    assert runs.judgments["present"].null_count() == runs.judgments.height == 12
    assert all("the grader is down" in reason for reason in runs.judgments["reason"])

    grader.script = keyword_grader
    grader.calls.clear()
    assert resume(folder).complete
    assert len(model.calls) == asked
    assert len(grader.calls) == 4
    assert read_runs(tmp_path).judgments["present"].null_count() == 0


@pytest.mark.parametrize(
    ("model", "grader", "message"),
    [
        ("nowhere/model", None, "Model API nowhere of model 'nowhere/model' not recognized"),
        ("gpt", None, "Model name 'gpt' should be in the format"),
        ("fake/any", "nowhere/model", "Model API nowhere"),
        ("fake/any", "careeval/lexicl", "careeval/lexicl is not a grader program"),
        ("openai/gpt-5.1", None, "OPENAI_API_KEY"),
    ],
)
def test_a_run_that_cannot_begin(
    bank: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    grader: str | None,
    message: str,
) -> None:
    """A model that there is no way to is refused in plain words, and leaves no run behind."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ProtocolError, match=message) as caught:
        begin(Run("robot", model, grader, 1, {"bank": str(bank)}), tmp_path / "robot")
    assert "[bold]" not in str(caught.value)
    assert run_folders(tmp_path) == []


def test_what_cannot_be_resumed(tmp_path: Path) -> None:
    """A folder without a run, or with a file that is not ours, is refused by name."""
    with pytest.raises(ProtocolError, match=r"has no run: run\.json is missing"):
        resume(tmp_path)
    for text in ("{", '{"colour": "red"}', "[]"):
        (tmp_path / RUN_FILE).write_text(text, encoding="utf-8")
        with pytest.raises(ProtocolError, match="is damaged"):
            resume(tmp_path)


# --- recorded answers --------------------------------------------------------------------------


def test_recorded_answers(bank: Path, tmp_path: Path) -> None:
    """Answers from elsewhere are graded under their system's name, and no model is named."""
    given = [
        Response("eating-001", 1, ANSWER, ResponseState.answered),
        Response("eating-001", 2, "", ResponseState.refused, note="policy"),
        Response("dressing-001", 1, "", ResponseState.empty),
    ]
    grader = Fake("answers-grader", keyword_grader)
    folder = tmp_path / "robot"
    outcome = begin_recorded(folder, "robot", given, grader.model, {"bank": str(bank)})
    assert outcome == Outcome(folder, complete=True, n_failed=0)
    assert (folder / RESPONSES_FILE).is_file()
    assert len(grader.calls) == 1
    runs = read_runs(tmp_path)
    columns = ("scenario", "epoch", "state", "note", "model", "model_returned", "ask_prompt")
    assert runs.responses.select(columns).rows() == [
        ("dressing-001", 1, "empty", "", None, None, None),
        ("dressing-001", 2, "missing", "no recorded answer", None, None, None),
        ("eating-001", 1, "answered", "", None, None, None),
        ("eating-001", 2, "refused", "policy", None, None, None),
    ]
    present = runs.judgments.group_by("scenario", "epoch").agg(pl.col("present").sum())
    assert sorted(present.rows()) == [
        ("dressing-001", 1, 0),
        ("eating-001", 1, 2),
        ("eating-001", 2, 0),
    ]


def test_a_bank_that_changed_is_not_resumed(tmp_path: Path) -> None:
    """A run is not resumed with scenarios that have changed since it began."""
    bank = write_bank(tmp_path / "bank")
    given = [Response("dressing-001", 1, "I do it.", ResponseState.answered)]
    folder = tmp_path / "robot"
    task = {"bank": str(bank)}
    assert begin_recorded(folder, "robot", given, "careeval/lexical", task).complete
    write_bank(bank, version=2)
    with pytest.raises(ProtocolError, match="have changed since"):
        resume(folder)


def test_prompts_that_changed_are_not_resumed(bank: Path, tmp_path: Path) -> None:
    """A run is not resumed with prompts that have changed since it began."""
    prompts = tmp_path / "prompts"
    shutil.copytree(RESPONSE.prompts, prompts)
    given = [Response("dressing-001", 1, "I do it.", ResponseState.answered)]
    task = {"bank": str(bank), "prompts": str(prompts)}
    assert begin_recorded(tmp_path / "robot", "robot", given, "careeval/lexical", task).complete
    with (prompts / "grade-system.md").open("a", encoding="utf-8") as file:
        file.write("Be strict.")
    with pytest.raises(ProtocolError, match="prompts that have changed since"):
        resume(tmp_path / "robot")


def test_a_run_json_of_something_else_is_in_nobodys_way(bank: Path, tmp_path: Path) -> None:
    """A file run.json without logs beside it does not keep runs out of the folders below."""
    (tmp_path / "run.json").write_text("{}", encoding="utf-8")
    given = [Response("dressing-001", 1, "I do it.", ResponseState.answered)]
    folder = tmp_path / "runs" / "robot"
    assert begin_recorded(folder, "robot", given, "careeval/lexical", {"bank": str(bank)}).complete


def test_an_interrupted_run_is_kept(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Success without a log, which Inspect returns after Ctrl-C, is not a complete run."""
    monkeypatch.setattr("careeval.protocol.evaluate.eval_set", lambda *_, **__: (True, []))
    given = [Response("dressing-001", 1, "I do it.", ResponseState.answered)]
    folder = tmp_path / "robot"
    outcome = begin_recorded(folder, "robot", given, "careeval/lexical", {"bank": str(bank)})
    assert outcome.stopped is Stop.interrupted
    assert not outcome.complete
    assert (folder / "run.json").exists()


def test_a_scenario_that_is_not_in_the_bank(tmp_path: Path) -> None:
    """Answers to a scenario that the bank lacks are refused before anything is graded."""
    bank = write_bank(tmp_path / "bank", ["eating-001"])
    given = [Response("eating-009", 1, ANSWER, ResponseState.answered)]
    with pytest.raises(Exception, match="has no scenario 'eating-009'"):
        begin_recorded(tmp_path / "robot", "robot", given, None, {"bank": str(bank)})


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("openai/gpt-4o-2024-08-06", "openai-gpt-4o-2024-08-06"),
        ("robot a (v2)", "robot-a-v2"),
        ("../../etc", "etc"),
        ("Größe 7", "Größe-7"),
        ("///", "system"),
    ],
)
def test_folder_names(name: str, folder: str) -> None:
    """A name becomes one folder of a path, never a way out of it."""
    assert folder_name(name) == folder


# --- a run's folder ----------------------------------------------------------------------------


def test_the_latest_run_is_the_one_worked_on_last(tmp_path: Path) -> None:
    """Of several folders the one whose run was touched last is found, however deep the run is."""
    assert latest_unfinished(tmp_path) is None
    for age, name in ((30, "old"), (10, "new"), (20, "older")):
        folder = prepare(Run("robot", "fake/any", None, 1), tmp_path / name / "robot")
        for file in folder.iterdir():
            os.utime(file, (1e9 - age, 1e9 - age))
    assert latest_unfinished(tmp_path) == tmp_path / "new"
    (tmp_path / "older" / "robot" / ".lock").touch()
    assert latest_unfinished(tmp_path) == tmp_path / "older"


def test_the_latest_unfinished_run_is_a_systems(tmp_path: Path) -> None:
    """A finished run and an audit on the probes are passed over, however new; a grading is not."""
    for age, name, system, model in (
        (40, "stopped", "robot", "fake/any"),
        (30, "regraded", "robot", "fake/any"),
        (20, "finished", "robot", "fake/any"),
        (10, "audit", PROBES, None),
    ):
        folder = prepare(Run(system, model, None, 1), tmp_path / name / "robot")
        os.utime(folder / RUN_FILE, (1e9 - age, 1e9 - age))
        if name in {"finished", "regraded"}:
            shutil.copy(COMPLETE, folder)
    (tmp_path / "a-study.db").touch()
    assert latest_unfinished(tmp_path) == tmp_path / "stopped"
    grading = tmp_path / "regraded" / "robot" / "graded" / "g-1"
    grading.mkdir(parents=True)
    shutil.copy(tmp_path / "regraded" / "robot" / RUN_FILE, grading)
    assert latest_unfinished(tmp_path) == tmp_path / "regraded"


def test_what_came_to_nothing_is_taken_back(tmp_path: Path) -> None:
    """A prepared run that nothing has come of leaves no folder, and one that was paid for stays."""
    folder = prepare(Run("robot", "fake/any", None, 1), tmp_path / "runs" / "robot")
    discard(folder)
    assert not (tmp_path / "runs").exists()
    prepare(Run("robot", "fake/any", None, 1), folder)
    (folder / SPENT_FILE).write_text("{}\n", encoding="utf-8")
    discard(folder)
    assert (folder / RUN_FILE).exists()


def test_a_budget_can_be_changed(tmp_path: Path) -> None:
    """An amended field is in run.json, and the others are unchanged."""
    run = Run("robot", "fake/any", None, 3, max_cost=1.0)
    folder = prepare(run, tmp_path / "robot")
    amend_run(folder, max_cost=None)
    assert read_run_file(folder) == replace(run, max_cost=None)


def test_two_runs_at_once_in_one_folder(undisturbed: Undisturbed) -> None:
    """A run whose folder another process holds is not carried out a second time."""
    folder = undisturbed[0] / "robot"
    with locked(folder), pytest.raises(ProtocolError, match="is locked: process"):
        resume(folder)


@pytest.mark.parametrize(
    "name",
    [
        *(".lock", ".budget", CALLS_FILE, SPENT_FILE, f"{CALLS_FILE}.new"),
        *("logs.json", "graded", "graded/other-actions-1/.lock"),
    ],
)
def test_a_link_in_a_run_is_not_followed(bank: Path, tmp_path: Path, name: str) -> None:
    """Resuming a folder with a link asks nothing, and leaves what the link leads to as it is."""
    model = Fake(f"beside-{name}", answer)
    folder = prepare(make(bank, model, None), tmp_path / "run")
    mine = tmp_path / "mine"
    mine.write_text("my words", encoding="utf-8")
    link = folder / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(mine)
    with pytest.raises(ProtocolError, match=r"is a link, to .*mine") as caught:
        resume(folder)
    assert str(link) in str(caught.value)
    with pytest.raises(ProtocolError, match="is a link"):
        amend_run(folder, max_cost=1.0)
    assert mine.read_text(encoding="utf-8") == "my words"
    assert model.calls == []


@pytest.mark.parametrize("open_it", [JsonLines, lambda path: locked(path.parent).__enter__()])
def test_a_file_that_becomes_a_link_is_not_followed(
    tmp_path: Path, open_it: Callable[[Path], object]
) -> None:
    """Neither a ledger nor a lock is opened through a link, whenever the link was made."""
    mine = tmp_path / "mine"
    mine.write_text("my words", encoding="utf-8")
    (tmp_path / LOCK_FILE).symlink_to(mine)
    with pytest.raises((OSError, ProtocolError), match="it is a link, not a file"):
        open_it(tmp_path / LOCK_FILE)
    assert mine.read_text(encoding="utf-8") == "my words"
