"""Grading again: new judgments beside the old, and responses left alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from careeval.errors import BankError, ProtocolError
from careeval.protocol.logs import read_run, read_runs
from careeval.protocol.run import Run, begin, resume
from fakes import Call, Fake, keyword_grader, leave_out, regrade, write_bank


def answer(call: Call) -> str:
    """Words in every epoch but one, in which there are none."""
    asked = f"{call.request}{call.config.seed}"
    return "" if asked.endswith("1827206171") else "I ask her about the blouse."


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, bank: Path) -> Path:
    """A run that was graded once; a test that grades it again takes a copy."""
    root = tmp_path_factory.mktemp("run")
    model, grader = Fake("regrade-model", answer), Fake("first-grader", keyword_grader)
    assert begin(
        Run("robot", model.model, grader.model, 2, {"bank": str(bank)}), root / "robot"
    ).complete
    return root


@pytest.fixture
def copy(run: Path, tmp_path: Path) -> Path:
    """A copy of the run."""
    return Path(shutil.copytree(run, tmp_path / "runs"))


def gradings(folder: Path) -> list[tuple[str, int, int]]:
    """Grader, grading and number of judgments, in order."""
    judgments = read_runs(folder).judgments
    names = pl.col("grader").str.split(" (").list.first()
    return sorted(judgments.group_by(names, "grading").len().rows())


def test_worked_example(copy: Path, bank: Path) -> None:
    """A second grader's judgments stand beside the first's, and the responses are as they were."""
    before = read_runs(copy)
    second = Fake("second-grader", keyword_grader)
    (outcome,) = regrade(copy, second.model, bank, {})
    assert outcome.complete
    assert outcome.folder == copy / "robot" / "graded" / "fake-second-grader-1"
    after = read_runs(copy)
    assert_frame_equal(after.responses, before.responses)
    assert gradings(copy) == [("fake/first-grader", 1, 24), ("fake/second-grader", 1, 24)]
    first = pl.col("grader").str.starts_with("fake/first")
    assert_frame_equal(after.judgments.filter(first), before.judgments)
    same = ("scenario", "epoch", "rubric", "item", "present")
    assert_frame_equal(after.judgments.filter(~first).select(same), before.judgments.select(same))
    n_answered = before.responses.filter(pl.col("state") == "answered").height
    assert len(second.calls) == 2 * n_answered == 6


def test_the_same_grader_again(copy: Path, bank: Path) -> None:
    """The run's own grading is the first of its grader, and the later ones count on from it."""
    replies = iter(["blouse", "nothing"])

    for word in replies:

        def script(call: Call, word: str = word) -> str:
            return keyword_grader(call).replace("Because.", f"{word}.")

        grader = Fake("first-grader", script)
        assert regrade(copy, grader.model, bank, {})[0].complete
    assert gradings(copy) == [("fake/first-grader", n, 24) for n in (1, 2, 3)]
    folders = sorted(path.name for path in (copy / "robot" / "graded").iterdir())
    assert folders == ["fake-first-grader-1", "fake-first-grader-2"]
    judged = read_runs(copy).judgments.filter(pl.col("quote").is_null() & pl.col("present"))
    reasons = dict(judged.select("grading", "reason").unique().rows())
    assert reasons == {1: "Because.", 2: "blouse.", 3: "nothing."}


def test_another_mode_is_another_grader(copy: Path, bank: Path) -> None:
    """The same model asked item by item is a grader of its own, with a first grading of its own."""
    grader = Fake("first-grader", keyword_grader)
    assert regrade(copy, grader.model, bank, {"per_item": True, "rubric": "actions"})[0].complete
    names = sorted(read_runs(copy).judgments["grader"].unique())
    assert [name.split(", prompt")[0] for name in names] == [
        "fake/first-grader (batched",
        "fake/first-grader (per-item",
    ]
    assert [n for _, n, _ in gradings(copy)] == [1]


def test_an_unfinished_grading_is_resumed(copy: Path, bank: Path) -> None:
    """A grading that failed in part goes on where it stopped, like any run."""

    def failing(call: Call) -> str:
        raise ConnectionError("down")

    grader = Fake("late-grader", failing)
    (outcome,) = regrade(copy, grader.model, bank, {})
    assert (outcome.complete, outcome.n_failed) == (False, 3)
    grader.script = keyword_grader
    grader.calls.clear()
    assert resume(outcome.folder).complete
    assert len(grader.calls) == 6
    late = read_runs(copy).judgments.filter(pl.col("grader").str.starts_with("fake/late"))
    assert (late.height, late["present"].null_count()) == (24, 0)


def test_a_grading_can_be_read_alone(copy: Path, bank: Path) -> None:
    """A grading's own folder is a run of recorded answers with the same responses."""
    (outcome,) = regrade(copy, Fake("second-grader", keyword_grader).model, bank, {})
    alone, whole = read_runs(outcome.folder), read_run(copy / "robot")
    same = ("system", "scenario", "epoch", "state", "text", "note")
    assert_frame_equal(alone.responses.select(same), whole.responses.select(same))
    assert alone.judgments["grading"].unique().to_list() == [1]


def test_a_changed_bank_is_refused(copy: Path, tmp_path: Path) -> None:
    """A bank whose scenarios have changed since, or lacks one, is refused before a call."""
    grader = Fake("second-grader", keyword_grader)
    changed = write_bank(tmp_path / "changed", helpers="her sister")
    with pytest.raises(ProtocolError, match="was made with bank small 1-A") as caught:
        regrade(copy, grader.model, changed, {})
    assert caught.value.hint == "give the bank that it was made with: --bank DIR"
    with pytest.raises(BankError, match="has no scenario 'eating-001'"):
        regrade(copy, grader.model, write_bank(tmp_path / "less", ["dressing-001"]), {})
    assert grader.calls == []
    assert not (copy / "robot" / "graded").exists()


def test_a_log_that_was_cut_off_is_no_hindrance(copy: Path, bank: Path) -> None:
    """What a killed process left beside a complete run does not keep it from being graded."""
    (log,) = (copy / "robot").glob("*.eval")
    (copy / "robot" / f"a{log.name}").write_bytes(log.read_bytes()[:500])
    (outcome,) = regrade(copy, Fake("second-grader", keyword_grader).model, bank, {})
    assert outcome.complete


def test_an_unfinished_run_is_refused(copy: Path, bank: Path) -> None:
    """A run that has not come to all its responses is to be finished first."""
    (log,) = (copy / "robot").glob("*.eval")
    leave_out(log, "samples/eating-001_epoch_2.json")
    with pytest.raises(ProtocolError, match="1 responses are not there yet"):
        regrade(copy, "careeval/lexical", bank, {})


def test_a_folder_without_a_run(tmp_path: Path, bank: Path) -> None:
    """A folder that holds no log is refused by name."""
    with pytest.raises(ProtocolError, match="holds no run"):
        regrade(tmp_path, "careeval/lexical", bank, {})
