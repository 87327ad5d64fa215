"""Retry-After, redirects, servers that do not answer, and the API key."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from careeval.cli.app import run as command
from careeval.protocol.evaluate import resume
from careeval.protocol.run import Stop
from careeval.protocol.solvers import epoch_seed
from careeval.protocol.tables import read_runs
from faults.one_scenario import SCENARIO_ID, a_run, without_waiting
from faults.search import KEY, files_that_hold
from support.fake_server import (
    WRONG_KEY,
    Completion,
    FakeServer,
    Fault,
    Request,
    Status,
    redirect,
    too_many,
    well,
)
from support.fakes import begin
from support.strange_servers import nobody

pytestmark = pytest.mark.usefixtures("planted_key")


def test_retry_after_is_obeyed(bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No request comes before the time that a 429 stated has passed, and one comes soon after."""
    arrivals: list[float] = []

    def script(request: Request) -> Completion | Fault:
        arrivals.append(time.monotonic())
        return too_many("2") if len(arrivals) == 1 else well(request)

    with FakeServer(script) as server:
        monkeypatch.setenv("FAKE_BASE_URL", server.base_url)
        assert begin(a_run(bank, 1, grader=None), tmp_path / "robot").complete
    first, second = arrivals
    assert second - first >= 2


def test_a_long_retry_after_is_obeyed(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long Retry-After is obeyed at each attempt."""

    def script(request: Request) -> Completion | Fault:
        return too_many("40") if request.came <= 3 else well(request)

    with FakeServer(script) as server, without_waiting() as waits:
        monkeypatch.setenv("FAKE_BASE_URL", server.base_url)
        assert begin(a_run(bank, 1, grader=None), tmp_path / "robot").complete
    assert len(waits) == 3
    assert all(40 <= seconds <= 41 for seconds in waits)


@pytest.mark.parametrize("provider", ["vllm", "sglang", "ollama", "openrouter", "together"])
@pytest.mark.parametrize(
    ("asked", "expected"),
    [("15", [(15, 16)] * 3), (None, [(3, 6), (6, 9), (12, 15)])],
    ids=["asked", "not asked"],
)
def test_waits_of_a_provider(
    provider: str,
    asked: str | None,
    expected: list[tuple[float, float]],
    bank: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Providers with a wait of their own wait as asked too, else 3 seconds, doubled each time."""

    def script(request: Request) -> Completion | Fault:
        return too_many(asked) if request.came <= 3 else well(request)

    monkeypatch.setenv(f"{provider.upper()}_API_KEY", KEY)
    run = replace(a_run(bank, 1, grader=None), model=f"{provider}/m")
    with FakeServer(script) as server, without_waiting() as waits:
        monkeypatch.setenv(f"{provider.upper()}_BASE_URL", server.base_url)
        assert begin(run, tmp_path / "robot").complete
    assert len(waits) == 3
    for seconds, (least, most) in zip(waits, expected, strict=True):
        assert least <= seconds <= most


def test_a_redirect_does_not_carry_the_key(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that another one points to is not sent the key."""
    sent: list[str] = []

    def elsewhere(request: Request) -> Completion:
        sent.append(request.authorization)
        return well(request)

    with FakeServer(elsewhere) as other, FakeServer() as server:
        server.script = lambda _: redirect(f"{other.base_url}/chat/completions")
        monkeypatch.setenv("FAKE_BASE_URL", server.base_url)
        begin(a_run(bank, 1, grader=None), tmp_path / "robot")
        assert server.n_arrived("ask") >= 1
    assert not any(KEY in header for header in sent)


def test_a_server_that_is_not_there(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a server the run ends after five attempts, and resuming asks again."""
    with nobody() as url, without_waiting():
        monkeypatch.setenv("FAKE_BASE_URL", url)
        outcome = begin(a_run(bank, 2), tmp_path / "robot")
    assert outcome.stopped is Stop.turned_away
    assert (
        f" at {url}: the connection failed: refused, no server listens at this address"
        in outcome.why
    )
    with FakeServer() as server:
        monkeypatch.setenv("FAKE_BASE_URL", server.base_url)
        assert resume(tmp_path / "robot").complete
    assert read_runs(tmp_path).responses["state"].to_list() == ["answered"] * 2


@pytest.mark.parametrize("repeated", [False, True], ids=["kept", "repeated by the server"])
def test_the_key_is_nowhere(
    repeated: bool,
    bank: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The key is in no file of a run, no table, no page and no message, though a call failed."""
    seed = epoch_seed(0, SCENARIO_ID, 1)
    refused = (
        Status(401, json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}))
        if repeated
        else WRONG_KEY
    )
    keys: set[str] = set()

    def script(request: Request) -> Completion | Fault:
        keys.add(request.authorization)
        return refused if request.body.get("seed") == seed else well(request)

    with FakeServer(script) as server:
        monkeypatch.setenv("FAKE_BASE_URL", server.base_url)
        begin(a_run(bank, 2), tmp_path / "runs" / "robot")
    assert keys == {f"Bearer {KEY}"}
    runs = read_runs(tmp_path / "runs")
    assert "Incorrect API key provided" in runs.responses["note"][0]
    command(["summary", str(tmp_path / "runs")])
    command(["report", str(tmp_path / "runs"), "-o", str(tmp_path / "page.html")])
    assert KEY not in "".join(capsys.readouterr())
    assert KEY not in str(runs.notes)
    assert KEY not in runs.responses.write_json() + runs.judgments.write_json()
    assert files_that_hold(tmp_path, KEY) == []
