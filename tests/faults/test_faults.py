"""The fault matrix, carried out: each fault happens, and what is stored says what happened.

One run meets them all, another fault in each epoch, since a run in which everything is sound tells
less: the faults must not touch each other either.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
import socket
import subprocess
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import anyio
import polars as pl
import pytest
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from polars.testing import assert_frame_equal

from careeval.cli.app import USAGE
from careeval.cli.app import run as command
from careeval.protocol import connect
from careeval.protocol.evaluate import resume
from careeval.protocol.ledger import CALLS_FILE
from careeval.protocol.logs import read_runs
from careeval.protocol.solvers import epoch_seed
from careeval.protocol.spec import Outcome, Run, Stop, folder_name
from careeval.results.summary import summarise
from careeval.results.tables import Runs
from careeval.sheets.words import remarks
from fake_server import (
    WRONG_KEY,
    FakeServer,
    Fault,
    Request,
    Said,
    Status,
    redirect,
    too_many,
    well,
)
from fakes import SCENARIO, Fake, begin, write_bank
from faults.matrix import ANSWER, FOUND, GRADER, ROWS, SYSTEM, Asked, Judged, Row, table

KEY = "sk-planted-7f3a91c4d2"
SCENARIO_ID = "dressing-001"
ROOT = Path(__file__).parents[2]

WORDS = {item["id"]: item["text"].rstrip(".").split()[-1] for item in SCENARIO["actions"]}
"""Item → the word by which the fake's grader finds it."""


def a_run(bank: Path, epochs: int, grader: str | None = "openai-api/fake/grader") -> Run:
    """A run of a system called robot on the fake server."""
    task = {"bank": str(bank)}
    return Run("robot", "openai-api/fake/model", grader, epochs, task, max_connections=8)


@pytest.fixture(autouse=True, scope="module")
def address() -> Iterator[None]:
    """The key that is to be nowhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAKE_API_KEY", KEY)
        yield


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One scenario."""
    return write_bank(tmp_path_factory.mktemp("bank"), [SCENARIO_ID])


@contextmanager
def without_waiting() -> Iterator[list[float]]:
    """Have Inspect ask again at once; what it would have waited, in seconds, is in the list."""
    found: list[float] = []

    async def no_sleep(seconds: float) -> None:
        found.append(seconds)
        await anyio.lowlevel.checkpoint()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("inspect_ai.model._retry._sleep", no_sleep)
        for where in ("inspect_ai.model._model", "inspect_ai.log._log"):
            # drawing them takes longer than all the rest
            patch.setattr(f"{where}.format_traceback", lambda *_: ("", ""))
        yield found


# --- the run that meets every fault --------------------------------------------------------------


@dataclass
class Script:
    """Has each epoch meet a row's fault, until the faults are gone.

    Attributes:
        rows: That of epoch 1, that of epoch 2 …
        gone: Whether all is well again.
        asked: How often each row's question came.
        graded: How often each row's response came to the grader.
    """

    rows: Sequence[Row]
    gone: bool = False
    asked: Counter[str] = field(default_factory=Counter)
    graded: Counter[str] = field(default_factory=Counter)

    @cached_property
    def _by_seed(self) -> dict[int, Row]:
        return {epoch_seed(0, SCENARIO_ID, e): row for e, row in enumerate(self.rows, start=1)}

    @cached_property
    def _by_name(self) -> dict[str, Row]:
        return {row.name: row for row in self.rows}

    def __call__(self, request: Request) -> Said | Fault:
        """What the server does."""
        if request.kind == "ask":
            row = self._by_seed[request.body["seed"]]
            self.asked[row.name] += 1
            faulty, sound = isinstance(row.check, Asked), Said(answer(row))
        else:
            named = re.search(r"^\[([\w-]+)\] ", request.user, re.MULTILINE)
            if named is None:
                return well(request)
            row = self._by_name[named[1]]
            self.graded[row.name] += 1
            faulty, sound = isinstance(row.check, Judged), well(request)
        assert isinstance(row.check, Asked | Judged)
        if self.gone or not faulty:
            return sound
        reply = row.check.reply
        return (reply(request) if callable(reply) else reply) or sound


def answer(row: Row) -> str:
    """What the system says in a row's epoch when all is well; its grading is known by the name."""
    return f"[{row.name}] {ANSWER}"


@dataclass(frozen=True)
class Met:
    """A run over faults, and its resuming when they had gone."""

    folder: Path
    script: Script
    outcome: Outcome
    before: Runs
    counts: tuple[Counter[str], Counter[str]]
    resumed: Outcome
    after: Runs
    n_again: int
    """Requests that had been answered whole and came again when the run was resumed."""
    waits: list[float]
    """Seconds before each repeated attempt, had they been waited."""

    def response(self, row: Row, runs: Runs) -> dict[str, Any]:
        """The row's response."""
        return runs.responses.row(by_predicate=self._is(row), named=True)

    def judgments(self, row: Row, runs: Runs) -> pl.DataFrame:
        """Its judgments."""
        return runs.judgments.filter(self._is(row))

    def _is(self, row: Row) -> pl.Expr:
        return pl.col("epoch") == 1 + list(self.script.rows).index(row)


def meet(rows: Sequence[Row], bank: Path, folder: Path, patch: pytest.MonkeyPatch) -> Met:
    """Carry out a run over these faults, and resume it when they are gone."""
    script = Script(rows)
    with FakeServer(script) as server, without_waiting() as waits:
        patch.setenv("FAKE_BASE_URL", server.base_url)
        outcome = begin(a_run(bank, len(rows)), folder)
        before = read_runs(folder)
        counts = Counter(script.asked), Counter(script.graded)
        arrived, answered = Counter(server.arrived), Counter(server.answered)
        script.gone = True
        resumed = resume(folder)
        n_again = sum(server.arrived[key] - arrived[key] for key in answered)
    return Met(folder, script, outcome, before, counts, resumed, read_runs(folder), n_again, waits)


CASES = [row for row in ROWS if not isinstance(row.check, str)]


@pytest.fixture(scope="module")
def met_quick(bank: Path, tmp_path_factory: pytest.TempPathFactory) -> Met:
    """The faults that show themselves at once; a call is tried twice."""
    rows = [row for row in CASES if not row.check.slow]  # type: ignore[union-attr]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connect, "MAX_RETRIES", 1)
        return meet(rows, bank, tmp_path_factory.mktemp("quick") / "robot", patch)


@pytest.fixture(scope="module")
def met_slow(bank: Path, tmp_path_factory: pytest.TempPathFactory) -> Met:
    """The faults that take a timeout to notice; a call is tried once, for a second."""
    rows = [row for row in CASES if row.check.slow]  # type: ignore[union-attr]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connect, "MAX_RETRIES", 0)
        patch.setattr(connect, "ATTEMPT_TIMEOUT", 1)
        return meet(rows, bank, tmp_path_factory.mktemp("slow") / "robot", patch)


@pytest.fixture
def met(row: Row, request: pytest.FixtureRequest) -> Met:
    """The run that met the row's fault."""
    assert isinstance(row.check, Asked | Judged)
    found: Met = request.getfixturevalue("met_slow" if row.check.slow else "met_quick")
    return found


def found_in(text: str) -> dict[str, bool]:
    """What the fake's grader finds in a text."""
    return {item: word in text for item, word in WORDS.items()}


def judged(judgments: pl.DataFrame) -> dict[str, bool | None]:
    """Item → present."""
    return dict(judgments.select("item", "present").iter_rows())


def a_clear_word(words: str) -> None:
    """A person can read it: it names no line of our code, nor a type of Python's."""
    assert words.removeprefix("error:").strip()
    for unclear in ("Traceback", "NoneType", ".py", "object has no attribute"):
        assert unclear not in words


def of(rows: Sequence[Row]) -> pytest.MarkDecorator:
    """The test is of each of these rows that has a fault of the fake server."""
    cases = [row for row in rows if not isinstance(row.check, str)]
    return pytest.mark.parametrize("row", cases, ids=[row.name for row in cases])


@of(SYSTEM)
def test_the_system(row: Row, met: Met) -> None:
    """A system's fault is stored as what it is, and nothing is judged that it did not say."""
    check = row.check
    assert isinstance(check, Asked)
    response, judgments = met.response(row, met.before), met.judgments(row, met.before)
    text = answer(row) if check.text is None else check.text
    assert (response["state"], response["text"]) == (check.state, text)
    assert response["cut"] == check.cut
    assert check.note in response["note"]
    assert bool(response["note"]) == (check.state in {"missing", "refused"})
    if response["note"]:
        a_clear_word(response["note"])
    match check.state:
        case "answered":
            assert judged(judgments) == found_in(text)
        case "missing":
            assert judgments.is_empty()
        case _:
            assert judged(judgments) == dict.fromkeys(FOUND, False)


@of(SYSTEM)
def test_the_system_when_the_fault_has_gone(row: Row, met: Met) -> None:
    """On resuming, what failed is asked and judged, and what did not stays as it was, unasked."""
    check = row.check
    assert isinstance(check, Asked)
    asked_before, asked_after = met.counts[0][row.name], met.script.asked[row.name]
    # a redirect is followed twenty times
    assert asked_before <= 3 * 2 * 21
    if check.again:
        assert asked_after == asked_before + 1
        response = met.response(row, met.after)
        assert (response["state"], response["text"]) == ("answered", answer(row))
        assert response["note"] == ""
        assert judged(met.judgments(row, met.after)) == FOUND
    else:
        assert asked_after == asked_before == 1 + callable(check.reply)
        now, then = met.response(row, met.after), met.response(row, met.before)
        assert {**now, "created": None} == {**then, "created": None}
        assert_frame_equal(met.judgments(row, met.after), met.judgments(row, met.before))


@of(GRADER)
def test_the_grader(row: Row, met: Met) -> None:
    """A grader's fault costs no response, and what was not judged is unresolved with its reason."""
    check = row.check
    assert isinstance(check, Judged)
    response = met.response(row, met.before)
    assert (response["state"], response["text"]) == ("answered", answer(row))
    judgments = met.judgments(row, met.before)
    assert judgments.height == len(FOUND)
    open_ = judgments.filter(pl.col("present").is_null())
    if check.reason is None:
        assert open_.is_empty()
    else:
        n_open = 3 if check.unresolved is None else len(check.unresolved)
        assert open_.height == n_open
        for reason in open_["reason"]:
            assert check.reason in reason
            a_clear_word(reason)
    said = {
        item: is_present for item, is_present in judged(judgments).items() if is_present is not None
    }
    assert said.items() <= FOUND.items()
    if not check.again:
        assert met.counts[1][row.name] == check.n_calls


@of(GRADER)
def test_the_grader_when_the_fault_has_gone(row: Row, met: Met) -> None:
    """On resuming, a response whose grading broke off is judged, and no system is asked again."""
    check = row.check
    assert isinstance(check, Judged)
    assert met.script.asked[row.name] == 1
    if check.again:
        assert judged(met.judgments(row, met.after)) == FOUND
    else:
        assert met.script.graded[row.name] == met.counts[1][row.name]
        assert judged(met.judgments(row, met.after)) == judged(met.judgments(row, met.before))


@pytest.mark.parametrize("which", ["met_quick", "met_slow"])
def test_the_run(which: str, request: pytest.FixtureRequest) -> None:
    """The run ends with as many failures as there are rows to resume, and complete when resumed."""
    met: Met = request.getfixturevalue(which)
    failed = [row for row in met.script.rows if row.check.again]  # type: ignore[union-attr]
    assert (met.outcome.complete, met.outcome.n_failed) == (False, len(failed))
    assert (met.resumed.complete, met.resumed.n_failed) == (True, 0)
    assert met.n_again == 0
    assert not (met.folder / CALLS_FILE).exists()


def test_waiting(met_quick: Met) -> None:
    """A call that failed for the first time is tried again after two to seven seconds."""
    assert met_quick.waits
    assert all(2 <= seconds <= 7 for seconds in met_quick.waits)


# --- what is shown -------------------------------------------------------------------------------


def test_what_the_terminal_shows(met_quick: Met, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever systems and graders said, a terminal is sent no control character, no traceback."""
    for form in ("table", "md"):
        command(["summary", str(met_quick.folder), "--format", form])
    shown = "".join(capsys.readouterr())
    assert "robot" in shown
    assert {c for c in shown if not c.isprintable()} <= {"\n"}
    assert "Traceback" not in shown


def test_what_the_page_shows(met_quick: Met, tmp_path: Path) -> None:
    """Whatever systems and graders said stands on the page as text, filled in by nothing."""
    page = tmp_path / "page.html"
    command(["report", str(met_quick.folder), "-o", str(page)])
    text = page.read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert {c for c in text if ord(c) < 32} <= {"\n"}
    packed = re.search(r'<script type="application/gzip" id="data">([^<]+)</script>', text)
    assert packed
    spoken = gzip.decompress(base64.b64decode(packed[1])).decode("utf-8")
    assert "<script>alert(1)</script>" in spoken
    assert "{{ 7*7 }} {items} {response}" in spoken
    assert {c for c in spoken if ord(c) < 32} <= {"\n"}


# --- the server's word ---------------------------------------------------------------------------


def test_retry_after_is_obeyed(bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No request comes before the time that a 429 stated has passed, and one comes soon after."""
    arrivals: list[float] = []

    def script(request: Request) -> Said | Fault:
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
    """What a server asks for is waited for at each attempt, however long it has been waited."""

    def script(request: Request) -> Said | Fault:
        return too_many("40") if request.came <= 3 else well(request)

    with FakeServer(script) as server, without_waiting() as waits:
        monkeypatch.setenv("FAKE_BASE_URL", server.base_url)
        assert begin(a_run(bank, 1, grader=None), tmp_path / "robot").complete
    assert len(waits) == 3
    assert all(40 <= seconds <= 41 for seconds in waits)


def test_a_redirect_does_not_carry_the_key(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that another one points to is not sent the key."""
    sent: list[str] = []

    def elsewhere(request: Request) -> Said:
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
    """Where nobody answers, the run ends after five attempts, and resuming asks again."""
    with socket.socket() as taken:
        # bound and not listening: a connection is refused
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        monkeypatch.setenv("FAKE_BASE_URL", url)
        with without_waiting():
            outcome = begin(a_run(bank, 2), tmp_path / "robot")
    assert outcome.stopped is Stop.turned_away
    assert f" at {url}: the connection failed: nobody listens there" in outcome.why
    with FakeServer() as server:
        monkeypatch.setenv("FAKE_BASE_URL", server.base_url)
        assert resume(tmp_path / "robot").complete
    assert read_runs(tmp_path).responses["state"].to_list() == ["answered"] * 2


# --- the key -------------------------------------------------------------------------------------


def everything_below(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file below a folder with its content, and what a log's zip holds."""
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        content = path.read_bytes()
        yield str(path), content
        if path.suffix == ".eval":
            with zipfile.ZipFile(io.BytesIO(content)) as log:
                for name in log.namelist():
                    yield f"{path}:{name}", log.read(name)


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

    def script(request: Request) -> Said | Fault:
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
    assert [name for name, content in everything_below(tmp_path) if KEY.encode() in content] == []


# --- the disk ------------------------------------------------------------------------------------

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
    """A run on a full disk stops and says so, and resumed with room it asks for the rest alone."""
    from careeval.protocol.folder import prepare

    folder = prepare(a_run(bank, 20, grader=None), tmp_path / "robot")
    with FakeServer() as server:
        monkeypatch.setenv("FAKE_BASE_URL", server.base_url)
        cramped = subprocess.run(
            [sys.executable, "-c", CRAMPED, str(folder)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert cramped.stdout.splitlines()[-1] in {"False disk", "OSError File too large"}
        kept = {
            json.loads(line)["key"]
            for line in (folder / CALLS_FILE).read_text(encoding="utf-8").splitlines()
            if line.endswith("}")
        }
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
    """Where no folder can be made the command names the place, and ends before asking anything."""
    (tmp_path / "a-file").write_text("taken", encoding="utf-8")
    answers = tmp_path / "answers.jsonl"
    answers.write_text(f'{{"scenario": "{SCENARIO_ID}", "response": "I wait."}}', encoding="utf-8")
    line = ["run", "--responses", str(answers), "--grader", "careeval/lexical"]
    out = tmp_path / place
    assert command([*line, "--bank", str(bank), "-o", str(out)]) == USAGE
    said = capsys.readouterr().err
    assert str(out) in said
    assert "Traceback" not in said
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
    """Where a complete run's log is cut off, resuming brings the same responses once more."""
    folder, server = complete
    before = read_runs(folder)
    (log,) = folder.glob("*.eval")
    log.write_bytes(log.read_bytes()[:-3000])
    assert resume(folder).complete
    assert server.n_arrived("ask") == 6
    after = read_runs(folder)
    assert after.responses["text"].to_list() == before.responses["text"].to_list()
    assert judged_all(after) == judged_all(before)


def judged_all(runs: Runs) -> list[Any]:
    """Every judgment of a run, in one order."""
    columns = ("epoch", "rubric", "item", "present")
    return runs.judgments.select(columns).sort(columns).rows()


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


# --- two versions of a bank ----------------------------------------------------------------------


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
    said = "\n".join(remarks(summarise(runs)))
    assert "Bank small 1-A" in said
    assert "Bank small 2-A" in said


# --- the matrix itself ---------------------------------------------------------------------------


def test_names_are_unique() -> None:
    """No two rows have one name."""
    assert len({row.name for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_every_row_has_a_test(row: Row) -> None:
    """A row holds a fault for the fake server, or names a test that exists."""
    if not isinstance(row.check, str):
        assert row in (SYSTEM if isinstance(row.check, Asked) else GRADER)
        return
    file, _, name = row.check.partition("::")
    assert re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)


def test_table() -> None:
    """The table has a line a row below its head, of three cells each."""
    head, rule, *lines = table().splitlines()
    assert (head.count("|"), rule.count("|")) == (4, 4)
    assert len(lines) == len(ROWS)
    assert all(line.count("|") == 4 for line in lines)
    assert all(
        row.fault in line and row.does in line for row, line in zip(ROWS, lines, strict=True)
    )
