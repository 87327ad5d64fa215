"""The fault matrix, carried out: each fault happens, and what is stored says what happened.

One run meets them all, another fault in each epoch, since a run in which everything is sound tells
less: the faults must not touch each other either.
"""

from __future__ import annotations

import base64
import gzip
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import UnionType
from typing import Any

import polars as pl
import pytest
from inspect_ai.model import Model
from polars.testing import assert_frame_equal

from careeval.cli.app import run as command
from careeval.protocol import connect, evaluate
from careeval.protocol.connect import ReplyQueue
from careeval.protocol.evaluate import resume
from careeval.protocol.ledger import CALLS_FILE
from careeval.protocol.providers import Endpoint, Role
from careeval.protocol.run import Outcome, Run
from careeval.protocol.solvers import epoch_seed
from careeval.protocol.tables import read_runs
from careeval.results.tables import Runs
from faults.matrix import GRADER, ROWS, SYSTEM, table
from faults.one_scenario import SCENARIO_ID, a_run, judged, without_waiting
from faults.outcome import flaws, outcome_of
from faults.rows import ANSWER, PRESENT, Asked, Judged, Row
from support.fake_server import Completion, FakeServer, Fault, Request, well
from support.fakes import SCENARIO, begin

ROOT = Path(__file__).parents[2]

WORDS = {item["id"]: item["text"].rstrip(".").split()[-1] for item in SCENARIO["actions"]}
"""Item → the word by which the fake's grader finds it."""

pytestmark = pytest.mark.usefixtures("planted_key")


@dataclass
class Script:
    """Has each epoch meet a row's fault, until the faults are gone."""

    rows: Sequence[Row]  # that of epoch 1, that of epoch 2 …
    gone: bool = False  # whether all is well again
    asked: Counter[str] = field(default_factory=Counter)  # how often each row's question came
    # How often each row's response came to the grader
    graded: Counter[str] = field(default_factory=Counter)

    @cached_property
    def _by_seed(self) -> dict[int, Row]:
        return {epoch_seed(0, SCENARIO_ID, e): row for e, row in enumerate(self.rows, start=1)}

    @cached_property
    def _by_name(self) -> dict[str, Row]:
        return {row.name: row for row in self.rows}

    def __call__(self, request: Request) -> Completion | Fault:
        """Return what the server does."""
        if request.kind == "ask":
            row = self._by_seed[request.body["seed"]]
            self.asked[row.name] += 1
            faulty, sound = isinstance(row.check, Asked), Completion(answer(row))
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
    """Return what is said in a row's epoch when all is well; its grading is known by the name."""
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
        """Return the row's response."""
        return runs.responses.row(by_predicate=self._is(row), named=True)

    def judgments(self, row: Row, runs: Runs) -> pl.DataFrame:
        """Return its judgments."""
        return runs.judgments.filter(self._is(row))

    def _is(self, row: Row) -> pl.Expr:
        return pl.col("epoch") == 1 + list(self.script.rows).index(row)


def meet(
    rows: Sequence[Row], bank: Path, folder: Path, n_retries: int, hurried: Role | None = None
) -> Met:
    """Carry out a run over these faults, and resume it when they are gone.

    An attempt at a call of the role `hurried` lasts a second at most while the faults last: every
    such call has a fault, so that a busy machine can cut off no other.
    """
    script = Script(rows)

    def connect_hurried(run: Run, endpoint: Endpoint, reply_queue: ReplyQueue) -> Model:
        with pytest.MonkeyPatch.context() as patch:
            if endpoint.role == hurried:
                patch.setattr(connect, "ATTEMPT_TIMEOUT", 1)
            return connect.connect(run, endpoint, reply_queue)

    with (
        FakeServer(script) as server,
        without_waiting() as waits,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("FAKE_BASE_URL", server.base_url)
        with pytest.MonkeyPatch.context() as faulty:
            faulty.setattr(connect, "MAX_RETRIES", n_retries)
            faulty.setattr(evaluate, "connect", connect_hurried)
            outcome = begin(a_run(bank, len(rows)), folder)
        before = read_runs(folder)
        counts = Counter(script.asked), Counter(script.graded)
        arrived, answered = Counter(server.arrived), Counter(server.answered)
        script.gone = True
        resumed = resume(folder)
        n_again = sum(server.arrived[key] - arrived[key] for key in answered)
    return Met(folder, script, outcome, before, counts, resumed, read_runs(folder), n_again, waits)


CASES = [row for row in ROWS if not isinstance(row.check, str)]


def cases(kind: type[Asked | Judged] | UnionType, *, slow: bool) -> list[Row]:
    """Return the rows whose fault takes a timeout to notice, or those whose fault does not."""
    return [row for row in CASES if isinstance(row.check, kind) and row.check.slow is slow]


@pytest.fixture(scope="module")
def met_quick(bank: Path, tmp_path_factory: pytest.TempPathFactory) -> Met:
    """The faults that show themselves at once; a call is tried twice."""
    rows = cases(Asked | Judged, slow=False)
    return meet(rows, bank, tmp_path_factory.mktemp("quick") / "robot", 1)


@pytest.fixture(scope="module")
def met_slow_system(bank: Path, tmp_path_factory: pytest.TempPathFactory) -> Met:
    """The system's faults that take a timeout to notice; a call is tried once, for a second."""
    rows = cases(Asked, slow=True)
    return meet(rows, bank, tmp_path_factory.mktemp("slow") / "robot", 0, "ask")


@pytest.fixture(scope="module")
def met_slow_grader(bank: Path, tmp_path_factory: pytest.TempPathFactory) -> Met:
    """The same of the grader's faults."""
    rows = cases(Judged, slow=True)
    return meet(rows, bank, tmp_path_factory.mktemp("slow") / "robot", 0, "grade")


@pytest.fixture
def met(row: Row, request: pytest.FixtureRequest) -> Met:
    """The run that met the row's fault."""
    assert isinstance(row.check, Asked | Judged)
    slow = "met_slow_system" if isinstance(row.check, Asked) else "met_slow_grader"
    run: Met = request.getfixturevalue(slow if row.check.slow else "met_quick")
    return run


def present_in(text: str) -> dict[str, bool]:
    """Return what the fake's grader finds in a text."""
    return {item: word in text for item, word in WORDS.items()}


def assert_clear(words: str) -> None:
    """Check that a person can read it: it names no line of our code, nor a type of Python's."""
    assert words.removeprefix("error:").strip()
    for unclear in ("Traceback", "NoneType", ".py", "object has no attribute"):
        assert unclear not in words


def each(rows: Sequence[Row]) -> pytest.MarkDecorator:
    """Carry out a test for each of these rows that has a fault of the fake server."""
    cases = [row for row in rows if not isinstance(row.check, str)]
    return pytest.mark.parametrize("row", cases, ids=[row.name for row in cases])


@each(SYSTEM)
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
        assert_clear(response["note"])
    match check.state:
        case "answered":
            assert judged(judgments) == present_in(text)
        case "missing":
            assert judgments.is_empty()
        case _:
            assert judged(judgments) == dict.fromkeys(PRESENT, False)


@each(SYSTEM)
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
        assert judged(met.judgments(row, met.after)) == PRESENT
    else:
        assert asked_after == asked_before == 1 + callable(check.reply)
        now, then = met.response(row, met.after), met.response(row, met.before)
        assert {**now, "created": None} == {**then, "created": None}
        assert_frame_equal(met.judgments(row, met.after), met.judgments(row, met.before))


@each(GRADER)
def test_the_grader(row: Row, met: Met) -> None:
    """A grader's fault costs no response, and what was not judged is unresolved with its reason."""
    check = row.check
    assert isinstance(check, Judged)
    response = met.response(row, met.before)
    assert (response["state"], response["text"]) == ("answered", answer(row))
    judgments = met.judgments(row, met.before)
    assert judgments.height == len(PRESENT)
    unresolved = judgments.filter(pl.col("present").is_null())
    assert unresolved.height == (0 if check.reason is None else check.n_unresolved)
    for reason in unresolved["reason"]:
        assert str(check.reason) in reason
        assert_clear(reason)
    resolved = judgments.filter(pl.col("present").is_not_null())
    assert judged(resolved).items() <= PRESENT.items()
    if not check.again:
        assert met.counts[1][row.name] == check.n_calls


@each(GRADER)
def test_the_grader_when_the_fault_has_gone(row: Row, met: Met) -> None:
    """On resuming, a response whose grading broke off is judged, and no system is asked again."""
    check = row.check
    assert isinstance(check, Judged)
    assert met.script.asked[row.name] == 1
    if check.again:
        assert judged(met.judgments(row, met.after)) == PRESENT
    else:
        assert met.script.graded[row.name] == met.counts[1][row.name]
        assert judged(met.judgments(row, met.after)) == judged(met.judgments(row, met.before))


@pytest.mark.parametrize("which", ["met_quick", "met_slow_system", "met_slow_grader"])
def test_the_run(which: str, request: pytest.FixtureRequest) -> None:
    """The run ends with as many failures as there are rows to resume, and complete when resumed."""
    met: Met = request.getfixturevalue(which)
    failed = [row for row in met.script.rows if row.check.again]  # type: ignore[union-attr]
    assert (met.outcome.complete, met.outcome.n_failed) == (False, len(failed))
    assert (met.resumed.complete, met.resumed.n_failed) == (True, 0)
    assert met.n_again == 0
    assert not (met.folder / CALLS_FILE).exists()
    assert flaws(outcome_of(met.folder)) == []


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
