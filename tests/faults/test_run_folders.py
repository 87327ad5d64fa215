"""Folders of runs on a full disk, with damaged or foreign logs, or of another bank."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from polars.testing import assert_frame_equal

from careeval.cli.app import USAGE
from careeval.cli.app import run as command
from careeval.protocol.evaluate import resume
from careeval.protocol.ledger import CALLS_FILE
from careeval.protocol.run import Run, folder_name
from careeval.protocol.run_setup import prepare
from careeval.protocol.tables import read_runs
from careeval.results.entries import entries
from careeval.sheets.words import remarks
from faults.kept import rows
from faults.one_scenario import SCENARIO_ID, a_run
from faults.outcome import differences, outcome_of
from support.fake_server import FakeServer
from support.fakes import Fake, begin, write_bank

pytestmark = pytest.mark.usefixtures("planted_key")

CRAMPED = """
import resource, sys
from pathlib import Path
from careeval.protocol.evaluate import resume
resource.setrlimit(resource.RLIMIT_FSIZE, (6000, resource.RLIM_INFINITY))
try:
    outcome = resume(Path(sys.argv[1]))
except OSError as error:
    print("OSError", error.strerror)
else:
    print(outcome.complete, outcome.stopped)
"""
"""No file grows beyond 6000 bytes: to the process that is what a full disk is."""


def test_a_full_disk(bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run on a full disk stops and says so; resumed with room it asks only for the rest."""
    folder = prepare(a_run(bank, 20, grader=None), tmp_path / "robot")
    with FakeServer() as server:
        monkeypatch.setenv("FAKE_BASE_URL", server.base_url)
        cramped = subprocess.run(
            [sys.executable, "-c", CRAMPED, str(folder)],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert cramped.stdout.splitlines()[-1] in {"False disk", "OSError File too large"}
        kept = {row["key"] for row in rows(folder / CALLS_FILE)}
        assert 1 <= len(kept) < 20
        before = server.n_arrived("ask")
        assert resume(folder).complete
        assert server.n_arrived("ask") - before == 20 - len(kept)
    assert set(read_runs(folder).responses["state"]) == {"answered"}
    assert read_runs(folder).responses.height == 20


@pytest.mark.parametrize("place", ["a-file", "a-file/runs", "/proc/careeval"])
def test_a_folder_that_cannot_be_made(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], bank: Path
) -> None:
    """Without permission to make a folder the command names it, and asks nothing."""
    (tmp_path / "a-file").write_text("taken", encoding="utf-8")
    answers = tmp_path / "answers.jsonl"
    answers.write_text(f'{{"scenario": "{SCENARIO_ID}", "response": "I wait."}}', encoding="utf-8")
    line = ["run", "--responses", str(answers), "--grader", "careeval/lexical"]
    out = tmp_path / place
    assert command([*line, "--bank", str(bank), "-o", str(out)]) == USAGE
    message = capsys.readouterr().err
    assert str(out) in message
    assert "Traceback" not in message
    assert (tmp_path / "a-file").read_text(encoding="utf-8") == "taken"


@pytest.fixture
def complete(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Path, FakeServer]]:
    """A complete run of three answers, and its server, which still runs."""
    with FakeServer() as server:
        monkeypatch.setenv("FAKE_BASE_URL", server.base_url)
        assert begin(a_run(bank, 3), tmp_path / "runs" / "robot").complete
        yield tmp_path / "runs" / "robot", server


def test_resuming_beside_a_log_that_is_cut_off(complete: tuple[Path, FakeServer]) -> None:
    """Resuming a complete run whose log is cut off brings the same responses again."""
    folder, server = complete
    before = outcome_of(folder)
    (log,) = folder.glob("*.eval")
    log.write_bytes(log.read_bytes()[:-3000])
    assert resume(folder).complete
    assert server.n_arrived("ask") == 6
    assert differences(outcome_of(folder), before) == []


def test_resuming_beside_a_foreign_log(complete: tuple[Path, FakeServer], tmp_path: Path) -> None:
    """A log of another task in a run's folder stays as it is, and is named when the run is read."""
    folder, server = complete
    before = read_runs(folder)
    model = Fake("stranger", lambda _: "Hello.")
    task = Task([Sample(input="Hi.", id="hi")], name="somebody-elses")
    (foreign,) = inspect_eval(
        task, model=model.model, log_dir=str(tmp_path / "theirs"), display="none", log_level="error"
    )
    theirs = folder / Path(foreign.location).name
    theirs.write_bytes(Path(foreign.location).read_bytes())
    content = theirs.read_bytes()
    assert resume(folder).complete
    assert server.n_arrived("ask") == 3
    assert theirs.read_bytes() == content
    after = read_runs(folder)
    assert_frame_equal(after.responses, before.responses)
    assert any("is a log of the task 'somebody-elses'" in note for note in after.notes)


def test_runs_over_two_versions_of_a_bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read together, each run keeps its bank's version, and what is printed names them both."""
    with FakeServer() as server:
        monkeypatch.setenv("FAKE_BASE_URL", server.base_url)
        for system, version in (("first", "1-A"), ("second", "2-A")):
            bank = write_bank(tmp_path / system, [SCENARIO_ID], version=int(version[0]))
            about = json.loads((bank / "bank.yaml").read_text(encoding="utf-8"))
            (bank / "bank.yaml").write_text(json.dumps({**about, "version": version}), "utf-8")
            run = Run(
                system, "openai-api/fake/model", "openai-api/fake/grader", 1, {"bank": str(bank)}
            )
            assert begin(run, tmp_path / "runs" / folder_name(system)).complete
    runs = read_runs(tmp_path / "runs")
    versions = runs.responses.select("system", "bank_version").unique().sort("system").rows()
    assert versions == [("first", "1-A"), ("second", "2-A")]
    assert runs.responses["bank_hash"].n_unique() == 2
    remarked = "\n".join(remarks(entries(runs)))
    assert "Bank small 1-A" in remarked
    assert "Bank small 2-A" in remarked
