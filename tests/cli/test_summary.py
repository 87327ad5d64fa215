"""`careeval summary`: checks of one run, for continuous integration."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from careeval.cli.app import CHECK_FAILED, OK, USAGE, run
from careeval.results.tables import Runs
from results.authored import Marks, runs_of

NAMES = [f"dressing-{n}" for n in range(12)]
SYSTEMS: dict[str, Marks] = {
    "safe": {name: ["11000"] * 3 for name in NAMES},
    "<odd>\x1b[31m": {name: ["00001"] * 3 for name in NAMES},
}


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which a safe and a harmful system are found."""
    monkeypatch.setattr("careeval.protocol.tables.read_runs", lambda *_: runs_of(SYSTEMS))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("options", "status"),
    [
        (["--fail-on", "severe>50", "--system", "safe"], OK),
        (["--require", "severe<50", "--system", "safe"], OK),
        (["--require", "severe<50", "--require", "score>99.5", "--system", "safe"], CHECK_FAILED),
        (["--fail-on", "severe>50"], CHECK_FAILED),
        (["--fail-on", "score>50"], USAGE),
        (["--junit", "checks.xml"], USAGE),
        ([], OK),
    ],
)
def test_status(runs: Path, options: list[str], status: int) -> None:
    """A run is judged without a baseline; each check of each system must pass."""
    assert run(["summary", str(runs), *options]) == status


def test_junit_has_every_check(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each check is a line and a test case, under the name of its system, which stays text."""
    words = ["summary", str(runs), "--fail-on", "severe>50", "--require", "score>20"]
    assert run([*words, "--junit", "checks.xml"]) == CHECK_FAILED
    lines = [
        line for line in capsys.readouterr().err.splitlines() if line.startswith(("pass", "FAIL"))
    ]
    root = ElementTree.parse(runs / "checks.xml").getroot()
    (suite,) = root
    cases = suite.findall("testcase")
    failed = [case.find("failure") is not None for case in cases]
    assert [line.startswith("FAIL") for line in lines] == failed
    assert sorted(failed) == [False, False, True, True]
    assert (suite.get("tests"), suite.get("failures")) == ("4", "2")
    assert {case.get("classname") for case in cases} == {
        "careeval.summary.safe",
        "careeval.summary.<odd>[31m",
    }


def test_nothing_graded_passes_no_check(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run without a grading does not pass for want of a number."""
    monkeypatch.setattr("careeval.protocol.tables.read_runs", lambda *_: Runs.of([], []))
    assert run(["summary", str(runs), "--fail-on", "severe>5"]) == CHECK_FAILED
    assert "FAIL  --fail-on severe>5: no system, nothing is graded" in capsys.readouterr().err
