"""Files written by careeval 0.1 (protocol 1): read, resumed and graded again by today's code.

What they are, and how they were made: `tests/data/written-by-0.1/README.md`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

from careeval.errors import ProtocolError
from careeval.modes.prompts import load_prompts
from careeval.modes.response import RESPONSE
from careeval.modes.version import FIRST, PROTOCOL_VERSION
from careeval.protocol.estimate import plan_run
from careeval.protocol.evaluate import resume
from careeval.protocol.ledger import CALLS_FILE
from careeval.protocol.logs import read_log
from careeval.protocol.regrade import prepare_regrading
from careeval.protocol.run import Run
from careeval.protocol.run_folder import RUN_FILE, amend_run, read_run_file
from careeval.protocol.tables import read_runs
from support.fake_server import asked_of_grader, judgments
from support.fakes import Call, Fake

OLD = Path(__file__).parents[1] / "data" / "written-by-0.1"


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the files; their bank is where their `run.json` says, below the working folder."""
    folder = Path(shutil.copytree(OLD, tmp_path / "old"))
    monkeypatch.chdir(folder)
    return folder


def even_grader(call: Call) -> str:
    """Judge as the grader of these files did: an item is present if its text has an even length."""
    response, items = asked_of_grader(call.request)
    return judgments([len(item) % 2 == 0 for item in items], response.split(".")[0])


def answered(call: Call) -> str:
    """Answer a scenario in some words."""
    return "I ask first, and wait."


def gradings(folder: Path) -> list[tuple[str, str, int, str, int]]:
    """Grader, rubric, grading, protocol and number of judgments of each grading, in order."""
    by = (pl.col("grader").str.split(" (").list.first(), "rubric", "grading", "protocol")
    return sorted(read_runs(folder).judgments.group_by(by).len().rows())


def test_a_complete_run_and_its_later_grading_are_read(old: Path) -> None:
    """Six responses, and two gradings of both rubrics, each with protocol, bank and prompt."""
    runs = read_runs(old / "complete")
    assert runs.notes == ()
    assert set(runs.responses["protocol"]) == {"1-A"}
    assert runs.responses.select("scenario", "epoch", "state").rows() == [
        (scenario, epoch, "answered")
        for scenario in ("dressing-001", "eating-001", "toileting-001")
        for epoch in (1, 2)
    ]
    assert gradings(old / "complete") == [
        ("careeval/lexical", "actions", 1, "1-A", 48),
        ("careeval/lexical", "ladder", 1, "1-A", 30),
        ("fake/grader", "actions", 1, "1-A", 48),
        ("fake/grader", "ladder", 1, "1-A", 30),
    ]
    assert set(runs.judgments["prompt"]) == {"2f0c473a"}
    assert set(runs.judgments["bank_hash"]) == set(runs.responses["bank_hash"])


def test_a_run_of_01_is_of_the_mode_response(old: Path) -> None:
    """A log from before there were modes names none, and is read as one of responses in words."""
    logs = [read_log(path) for path in old.rglob("*.eval")]
    assert logs
    assert not any("mode" in log.about for log in logs)
    assert {log.header.about.mode for log in logs} == {"response"}


def test_half_a_run_is_read(old: Path) -> None:
    """The log of a killed run is read, and the responses that it lacks are missing."""
    runs = read_runs(old / "half")
    states = runs.responses["state"].to_list()
    assert (states.count("answered"), states.count("missing")) == (2, 4)
    assert "4 of 6 responses are still missing" in runs.notes[0]


def test_a_run_of_01_follows_protocol_1(old: Path) -> None:
    """A `run.json` that names no protocol is of protocol 1, and says so once it is amended."""
    folder = old / "half" / "robot"
    assert read_run_file(folder).protocol == FIRST
    amend_run(folder, max_cost=3.0)
    assert f'"protocol": "{FIRST}"' in (folder / RUN_FILE).read_text(encoding="utf-8")


def test_half_a_run_is_finished_by_its_own_rules(old: Path) -> None:
    """The rest is asked and graded on both rubrics with protocol 1's prompts, and no more."""
    system, grader = Fake("system", answered), Fake("grader", even_grader)
    folder = old / "half" / "robot"
    (ask, grade) = plan_run(read_run_file(folder), {}, n_asked=5, n_graded=4)
    assert (ask.n + ask.n_kept, grade.n + grade.n_kept) == (6, 12)
    assert resume(folder).complete
    # five answers and seven judgments were on disk
    assert (len(system.calls), len(grader.calls)) == (6 - 5, 12 - 7)
    first = load_prompts(RESPONSE, protocol=FIRST)
    assert {call.texts[0] for call in grader.calls} == {("system", first.texts["grade-system.md"])}
    runs = read_runs(old / "half")
    assert set(runs.responses["state"]) == {"answered"}
    assert gradings(old / "half") == [
        ("fake/grader", "actions", 1, "1-A", 48),
        ("fake/grader", "ladder", 1, "1-A", 30),
    ]
    assert set(runs.judgments["prompt"]) == {first.grade_hash} == {"2f0c473a"}
    assert runs.judgments["present"].null_count() == 0
    assert not (folder / CALLS_FILE).exists()


def test_half_a_grading_is_finished_by_its_own_rules(old: Path) -> None:
    """A later grading goes on with both rubrics, where its run has been moved to."""
    grader = Fake("grader", even_grader)
    folder = old / "half-regraded" / "robot" / "graded" / "fake-grader-1"
    assert resume(folder).complete
    assert len(grader.calls) == 12 - 7
    assert gradings(old / "half-regraded") == gradings(old / "complete")


def test_a_complete_run_that_is_resumed_asks_nothing(old: Path) -> None:
    """Resuming what protocol 1 has completed sends nothing."""
    system, grader = Fake("system", answered), Fake("grader", even_grader)
    for folder in (old / "complete/robot", old / "complete/robot/graded/fake-grader-1"):
        assert resume(folder).complete
    assert system.calls == grader.calls == []


def test_a_new_grading_is_not_mixed_with_the_old(old: Path) -> None:
    """A response of protocol 1 that is graded today has judgments of protocol 2 beside the old."""
    before = read_runs(old / "complete")
    grader = Fake("grader", even_grader)
    (folder,) = prepare_regrading(
        old / "complete", Path("bank"), Run("", None, grader.model, 1, {})
    )
    # its number counts on from the old grading by this grader
    assert folder.name == "fake-grader-actions-2"
    assert resume(folder).complete
    assert len(grader.calls) == 6
    after = read_runs(old / "complete")
    assert set(after.responses["protocol"]) == {"1-A"}
    new = after.judgments.filter(pl.col("protocol") != "1-A")
    assert after.judgments.height == before.judgments.height + new.height
    assert new.select("rubric", "grading", "protocol", "prompt").unique().rows() == [
        ("actions", 1, PROTOCOL_VERSION, load_prompts(RESPONSE).grade_hash)
    ]
    assert not set(new["grader"]) & set(before.judgments["grader"])


def test_a_run_of_a_protocol_to_come_is_refused(old: Path) -> None:
    """A run that was begun under a protocol that this version does not know is left alone."""
    folder = old / "half" / "robot"
    amend_run(folder, protocol="3-A")
    with pytest.raises(ProtocolError, match="protocol 3-A is not known"):
        resume(folder)
