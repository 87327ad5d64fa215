"""Every file of a run, damaged in every way: commands end with a message, or with what is right.

No model is asked: the answers are recorded, and a scripted grader judges them in this process.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from careeval.cli.app import OK
from careeval.cli.app import run as command
from careeval.core.response import Response, ResponseState
from careeval.protocol.evaluate import resume
from careeval.protocol.ledger import CALLS_FILE, SPENT_FILE, TotalCost, read_paid_calls
from careeval.protocol.run import Outcome, Run
from careeval.protocol.run_files import LOCK_FILE
from careeval.protocol.run_folder import RESPONSES_FILE, RUN_FILE, is_complete
from careeval.protocol.run_setup import prepare_recorded
from careeval.protocol.tables import read_run
from support.fakes import IDS, Call, Fake, keyword_grader, write_bank

GRADER = "damage-grader"
N_EPOCHS = 2
OLD = b"an old page"

FILES = (*(RUN_FILE, CALLS_FILE, SPENT_FILE, RESPONSES_FILE, "log", LOCK_FILE),)


def _directory(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _random(file: Path) -> None:
    file.write_bytes(random.Random(7).randbytes(max(64, file.stat().st_size)))


def _wrong_types(file: Path) -> None:
    """Each line is still JSON, of another type."""
    rows = ("[]", "7", "null", '"words"', "{}", '{"key": 3, "output": []}', '{"role": {}}')
    file.write_text("\n".join(rows) + "\n" if "jsonl" in file.name else '{"key": [], "system": 5}')


def _odd_values(file: Path) -> None:
    """Each value of an object gets another type; without an object, lists are deeply nested."""
    try:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        changed = [json.dumps({key: [[1]] for key in row}) for row in rows]
        file.write_text("".join(f"{row}\n" for row in changed), encoding="utf-8")
    except (ValueError, TypeError):
        file.write_text("[" * 100_000, encoding="utf-8")


DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "empty": lambda file: file.write_bytes(b""),
    "halved": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "zeroed": lambda file: file.write_bytes(bytes(file.stat().st_size)),
    "random": _random,
    "wrong types": _wrong_types,
    "odd values": _odd_values,
    "directory": _directory,
}


def answers(bank_ids: tuple[str, ...] = IDS) -> list[Response]:
    """Two answers to each of two scenarios."""
    words = ("I ask about the blouse.", "I wait and pull at the cuff.")
    return [
        Response(scenario, epoch, text, ResponseState.answered)
        for scenario in bank_ids
        for epoch, text in enumerate(words, 1)
    ]


def in_this_process(folders: list[Path], **_: object) -> list[Outcome]:
    """Carry out runs like workers, but in this process."""
    return [resume(folder) for folder in folders]


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two scenarios."""
    return write_bank(tmp_path_factory.mktemp("bank"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, bank: Path) -> Path:
    """A folder with a run that is complete."""
    Fake(GRADER, keyword_grader)
    root = tmp_path_factory.mktemp("whole")
    run = Run("robot", None, f"fake/{GRADER}", 1, {"bank": str(bank)})
    assert resume(prepare_recorded(root / "robot", answers(), run)).complete
    read_run(root / "robot")
    return root


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory, bank: Path) -> Path:
    """A folder with a run of which one response in four could not be graded."""

    def failing(call: Call) -> str:
        if len(fake.calls) > 3:
            raise ConnectionError("gone")
        return keyword_grader(call)

    fake = Fake(GRADER, failing)
    root = tmp_path_factory.mktemp("half")
    run = Run("robot", None, f"fake/{GRADER}", 1, {"bank": str(bank)}, max_connections=1)
    assert resume(prepare_recorded(root / "robot", answers(), run)).n_failed == 1
    assert (root / "robot" / CALLS_FILE).exists()
    read_run(root / "robot")
    return root


@pytest.fixture
def at_work(monkeypatch: pytest.MonkeyPatch) -> Fake:
    """The grader, and no process but this one."""
    monkeypatch.setattr("careeval.cli.run.work", in_this_process)
    return Fake(GRADER, keyword_grader)


def judged(root: Path) -> pl.DataFrame:
    """Return the judgments of a run without the columns of time."""
    return read_run(root / "robot").judgments.drop("seconds", "cost_usd")


def path_of(root: Path, name: str) -> Path:
    """The file in a run's folder."""
    if name == "log":
        (log,) = (root / "robot").glob("*.eval")
        return log
    return root / "robot" / name


def _last_line(file: Path) -> None:
    """The last line is gone, as if it had never been written."""
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-1]))


DAMAGES["a line less"] = _last_line


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("state", ["whole", "half"])
def test_a_damaged_file(
    state: str,
    file: str,
    damage: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    at_work: Fake,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A command names what it cannot read and fails, or its result is that of the whole files."""
    root, good = tmp_path / "runs", request.getfixturevalue("whole")
    shutil.copytree(request.getfixturevalue(state), root, copy_function=shutil.copy2)
    if not path_of(root, file).exists():
        pytest.skip("such a run has no such file")
    before = judged(root)
    DAMAGES[damage](path_of(root, file))

    command(["status", str(root)])
    report = tmp_path / "page.html"
    report.write_bytes(OLD)
    if command(["summary", str(root), "--json"]) == OK:
        assert_frame_equal(judged(root), before)
    if state == "half" and command(["report", str(root), "-o", str(report)]) != OK:
        assert report.read_bytes() == OLD
    capsys.readouterr()

    status = command(["run", "--resume", "-o", str(root)])
    said = capsys.readouterr().err
    if status == OK:
        assert is_complete(root / "robot")
        columns = ["scenario", "epoch", "item", "present"]
        assert_frame_equal(judged(root).select(columns), judged(good).select(columns))
    else:
        assert "robot" in said
        assert "hint:" in said or "To resume" in said
    assert "Traceback" not in said


def damaged(half: Path, tmp_path: Path) -> Path:
    """A copy of the half run's folder."""
    return shutil.copytree(half, tmp_path / "runs", copy_function=shutil.copy2) / "robot"


def test_a_line_that_cannot_be_used_is_asked_again(
    half: Path, tmp_path: Path, at_work: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of three calls that were kept, the one whose reply is no reply is made again, no other."""
    folder = damaged(half, tmp_path)
    (folder / CALLS_FILE).write_text(
        "".join(
            json.dumps({**json.loads(text), **({"output": {"choices": 7}} if n == 1 else {})})
            + "\n"
            for n, text in enumerate((folder / CALLS_FILE).read_text().splitlines())
        )
    )
    (log,) = folder.glob("*.eval")
    log.unlink()
    assert command(["run", "--resume", "-o", str(folder.parent)]) == OK
    assert len(at_work.calls) == 2  # that one, and the one that had failed
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("damage", ["missing", "empty", "zeroed", "random"])
def test_lost_calls_are_noticed(
    damage: str, half: Path, tmp_path: Path, at_work: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    """The number of lost calls is shown, and the run is not complete."""
    folder = damaged(half, tmp_path)
    DAMAGES[damage](folder / CALLS_FILE)
    assert not is_complete(folder)
    assert command(["run", "--resume", "-o", str(folder.parent)]) == OK
    said = capsys.readouterr().err
    assert f"{folder}: 3 paid calls lost from {CALLS_FILE}" in said
    assert "are asked and paid for again" in said
    assert at_work.calls


def test_a_damaged_ledger_is_an_unknown_cost(half: Path, tmp_path: Path) -> None:
    """A damaged line of the cost log counts as a call of unknown cost, and not as 0."""
    folder = damaged(half, tmp_path)
    with (folder / SPENT_FILE).open("a", encoding="utf-8") as file:
        file.write('[1]\n{"role": "ask"}\n')
    calls = read_paid_calls(folder)
    assert len(calls) == 5
    assert TotalCost.of(calls[3:]).n_unknown == 2
