"""`careeval compare`: what it prints first, what it refuses, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from careeval.cli.app import CHECK_FAILED, OK, USAGE, run
from careeval.results.tables import Runs
from results.authored import Marks, both_rubrics, judgments, responses
from support.command_line import CommandLine
from support.eval_files import COMPLETE, ERRORED, renamed

NAMES = [f"dressing-{k}" for k in range(11)] + ["eating-1"]
SAFE: Marks = {name: ["11000", "01000"] for name in NAMES}
HARMFUL: Marks = {**{name: ["00001", "10001"] for name in NAMES}, "eating-1": ["11000", "01000"]}
QUOTE = "I \x1b[31mpull\x1b[0m her [bold]arm[/bold]"


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders named runs, old and new in the current folder."""
    for name in ("runs", "old", "new"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def put_runs(folders: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that puts systems with their marks into the folders."""

    def hold(systems: dict[str, Marks], *graders: str, **columns: Any) -> None:
        said = {"item_text": "Pulls the arm.", "quote": QUOTE}
        found = Runs.together(
            Runs.of(
                responses(marks, system=name),
                [
                    row
                    for grader in graders or ("judge",)
                    for row in judgments(marks, system=name, grader=grader, **said, **columns)
                ],
            )
            for name, marks in systems.items()
        )
        # in the order of the folders, as they are read
        monkeypatch.setattr("careeval.protocol.tables.read_runs", lambda *_: found)

    return hold


def test_words_of_a_model_are_data(put_runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """A quote is shown without its escape sequences, and what looks like markup as it stands."""
    put_runs({"before": SAFE, "after": HARMFUL})
    run(["compare", "runs", "before", "after"])
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "“I [31mpull[0m her [bold]arm[/bold]” (response 1)" in out


@pytest.mark.parametrize(
    ("form", "begins"),
    [
        ("md", "A = before, B = after"),
        ("latex", "% needs"),
        ("csv", '"a","b","given"'),
        ("json", "{"),
    ],
)
def test_formats(
    form: str,
    begins: str,
    put_runs: Any,
    cli: CommandLine,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """Each format is printed, or written to the file that is named, and checks are made too."""
    put_runs({"before": SAFE, "after": HARMFUL})
    line = ["compare", "runs", "before", "after", "--format", form]
    text = cli.ok(*line)
    assert text.startswith(begins)
    out = tmp_path / "out.txt"
    assert run([*line, "-o", str(out), "--fail-on", "severe"]) == CHECK_FAILED
    if form != "json":  # which has what the checks came to
        assert out.read_text(encoding="utf-8") == text
    assert f"Written: {out}" in capsys.readouterr().err


def test_parquet(put_runs: Any, tmp_path: Path) -> None:
    """Parquet has a row a difference of two systems, and of many a row a system."""
    put_runs({"before": SAFE, "after": HARMFUL, "third": SAFE})
    out = tmp_path / "out.parquet"
    line = ["--format", "parquet", "-o", str(out)]
    assert run(["compare", "runs", "before", "after", *line]) == OK
    assert pl.read_parquet(out)["family"].unique().sort().to_list() == ["adl", "domain", "metric"]
    assert run(["compare", "runs", *line]) == OK
    assert pl.read_parquet(out)["system"].to_list() == ["before", "third", "after"]


def test_systems_of_two_folders(put_runs: Any, cli: CommandLine) -> None:
    """Two folders of one system each need no names: A is of the first."""
    put_runs({"z-first": SAFE, "a-second": HARMFUL})
    (found,) = cli.json("compare", "old", "new", "--json")["comparisons"]
    assert (found["a"], found["b"]) == ("z-first", "a-second")


def test_a_name_that_is_a_folder_too(put_runs: Any, cli: CommandLine) -> None:
    """Two of --system are A and B, in this order, whatever folders there are."""
    put_runs({"old": SAFE, "new": HARMFUL, "third": SAFE})
    (found,) = cli.json("compare", "runs", "--system", "new", "--system", "old", "--json")[
        "comparisons"
    ]
    assert (found["a"], found["b"]) == ("new", "old")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["runs", "planner-1"], "two names of systems or none, not 1: planner-1"),
        (["runs", "x", "y", "z"], "two names of systems or none, not 3: x, y, z"),
        (["runs", "x", "--grader", "z"], "two names of systems or none"),
        (["runs", "first", "other"], "there are: first, second"),
        (["runs", "first", "second", "--grader", "z"], "no grader is named 'z'"),
        (["runs", "--fail-on", "scor"], "as METRIC, write one of severe, score"),
        (["runs", "--fail-on", "action_score"], "as METRIC, write one of severe"),
        (["runs", "--fail-on", "score>x"], "'x' is not a number"),
        (["runs", "--fail-on", "score>inf"], "'inf' is not a number"),
        (["runs", "--fail-on", "score>-2"], "-2 is below 0"),
        (["runs", "first", "first"], "first would be compared with itself"),
        (["runs", "--fail-on", "score<2"], "expected METRIC or METRIC>X"),
        ([], "name the folder or folders of the runs to compare"),
    ],
)
def test_what_cannot_be_compared(
    line: list[str], said: str, put_runs: Any, cli: CommandLine
) -> None:
    """A command that does not name two systems is refused with those to choose from."""
    put_runs({"first": SAFE, "second": SAFE})
    assert said in cli.refused("compare", *line)


def test_folders_that_are_not_there(folders: Path, cli: CommandLine) -> None:
    """If no word is a folder, the first is named as a folder that does not exist."""
    assert "runs/x is not a folder" in cli.refused("compare", "runs/x", "runs/y")


def test_one_system_alone(put_runs: Any, cli: CommandLine) -> None:
    """One system is compared with nothing."""
    put_runs({"before": SAFE})
    assert "only before is graded here" in cli.refused("compare", "runs")


def test_several_graders(put_runs: Any, cli: CommandLine) -> None:
    """If two graders judged both systems, one must be chosen; its short name is enough."""
    graders = "x/judge (batched, prompt 0)", "y/judge (batched, prompt 0)"
    put_runs({"before": SAFE, "after": HARMFUL}, *graders)
    assert "--grader 'x/judge'" in cli.refused("compare", "runs", "before", "after")
    (found,) = cli.json("compare", "runs", "before", "after", "--grader", "y/judge", "--json")[
        "comparisons"
    ]
    assert found["grader"] == graders[1]


@pytest.mark.parametrize(
    ("conditions", "status"),
    [
        (["score"], CHECK_FAILED),
        (["severe"], CHECK_FAILED),
        (["score>200"], OK),
        (["severe > 2"], CHECK_FAILED),
        (["mild"], OK),
        (["mild", "severe"], CHECK_FAILED),
    ],
)
def test_fail_on(
    conditions: list[str], status: int, put_runs: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Status 3 where the whole interval is on the worse side, or it cannot be told.

    Nobody has a mild error: a difference of 0 in every scenario is no loss.
    """
    put_runs({"before": SAFE, "after": HARMFUL})
    options = [word for condition in conditions for word in ("--fail-on", condition)]
    assert run(["compare", "runs", "before", "after", *options, "--json"]) == status
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert (status == CHECK_FAILED) == bool(document["failed"])
    assert not document["not_checked"]


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        ("score", "the same in each of 12 scenarios"),
        ("worst_at_n", "the same in each of 12 scenarios"),
        # t with 11 degrees is 2.20, and one family of 12 may be without
        ("severe", "95% interval 81.7 to 100.0"),
    ],
)
def test_fail_on_the_same_loss_everywhere(
    metric: str, reason: str, put_runs: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """A loss that is the same in all scenarios fails by what it is, or that less one family."""
    harmed: Marks = {name: ["11001", "01001"] for name in NAMES}
    put_runs({"before": SAFE, "after": harmed})
    assert run(["compare", "runs", "before", "after", "--fail-on", metric]) == CHECK_FAILED
    said = capsys.readouterr().err
    assert reason in said
    assert ("100.0" if metric == "severe" else "66.7") in said
    line = ["compare", "runs", "before", "after", "--fail-on", f"{metric}>100"]
    assert run(line) == OK


def test_fail_on_what_is_missing(put_runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """A new system that lost responses does not pass a check on its worst, nor one on four."""
    put_runs({"before": SAFE, "after": {**SAFE, "dressing-0": ["11000", "missing"]}})
    line = ["compare", "runs", "before", "after", "--fail-on"]
    assert run([*line, "worst_at_n"]) == CHECK_FAILED
    assert "1 of 24 responses are missing or not graded" in capsys.readouterr().err
    put_runs({name: {n: SAFE[n] for n in NAMES[:4]} for name in ("before", "after")})
    assert run([*line, "score"]) == CHECK_FAILED
    assert "fewer than five scenarios" in capsys.readouterr().err


def test_many_systems_are_ranked(put_runs: Any, cli: CommandLine) -> None:
    """With more than two systems and none named, each has the ranks that it may have."""
    put_runs({"before": SAFE, "after": HARMFUL, "third": SAFE})
    lines = [line.split() for line in cli.ok("compare", "runs").splitlines()]
    assert [line[:2] for line in lines if line and line[0] in {"1–2", "3"}] == [
        ["1–2", "before"],
        ["1–2", "third"],
        ["3", "after"],
    ]
    document = cli.json("compare", "runs", "--json")
    (ranking,) = document["rankings"]
    assert [row["ranks"] for row in ranking["ranked"]] == [[1, 2], [1, 2], [3, 3]]
    assert len(ranking["pairs"]) == 3
    assert run(["compare", "runs", "--fail-on", "score"]) == USAGE


def test_json(put_runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The document names its schema; an unknown difference is null with its reason, never 0."""
    put_runs({"before": SAFE, "after": HARMFUL})
    run(["compare", "runs", "before", "after", "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "careeval.compare/2"
    (found,) = document["comparisons"]
    metrics = found["metrics"]
    assert list(metrics) == ["severe", "score", "worst_at_n", "mild"]
    assert (found["rubric"], found["grader"]) == ("ladder", "judge")
    # nothing is unresolved, so that there are no bounds
    assert metrics["score"]["difference"].keys() == {"value", "ci95"}
    communication = found["by_domain"]["communication_intent"]
    assert communication["difference"]["value"] is None
    assert communication["difference"]["reason"]
    assert found["by_adl"]["eating"]["difference"]["ci95"] is None
    assert found["by_adl"]["eating"]["difference"]["reason"] == "fewer than five scenarios"
    assert len(found["to_severe"]) == 11
    assert found["to_severe"][0]["harms"][0]["quote"] == QUOTE


def test_both_rubrics(put_runs: Any, monkeypatch: pytest.MonkeyPatch, cli: CommandLine) -> None:
    """Two systems judged on both rubrics are compared on the actions, or on the one named."""
    acts = {name: ["1000", "1100"] for name in NAMES}
    runs = both_rubrics({"before": (SAFE, acts), "after": (HARMFUL, acts)})
    monkeypatch.setattr("careeval.protocol.tables.read_runs", lambda *_: runs)
    (found,) = cli.json("compare", "runs", "before", "after", "--json")["comparisons"]
    assert found["rubric"] == "actions"
    assert found["metrics"]["score"]["difference"]["value"] == 0
    assert found["by_domain"]["user_function"]["n"] == len(NAMES)
    assert found["by_domain"]["user_agency"]["difference"]["value"] is None
    (found,) = cli.json("compare", "runs", "before", "after", "--rubric", "ladder", "--json")[
        "comparisons"
    ]
    assert found["rubric"] == "ladder"
    assert found["metrics"]["score"]["difference"]["value"] < 0


def test_real_logs(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two runs read from their logs, one of them not whole, are compared with their notes."""
    renamed(COMPLETE, folders / "old" / "1.eval", "first")
    renamed(ERRORED, folders / "new" / "1.eval", "second")
    status = run(["compare", "old", "new"])
    printed = capsys.readouterr()
    assert status == OK, printed.err
    assert "No scenario went from safe with A to a severe error with B." in printed.out
    assert "fewer than five scenarios in common" in printed.out.lower()
    assert "not for ranking: 2 of 4 responses are missing." in printed.out
    assert "2 samples failed" in printed.err


def test_each_check_is_listed(put_runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Each condition has a line, in the order given: what was measured, the limit, pass or FAIL."""
    put_runs({"before": SAFE, "after": HARMFUL})
    checks = ["mild", "score>200", "severe > 2"]
    options = [word for check in checks for word in ("--fail-on", check)]
    assert run(["compare", "runs", "before", "after", *options]) == CHECK_FAILED
    mild, score, severe = capsys.readouterr().err.splitlines()
    assert mild == (
        "pass  --fail-on mild: A 0.0, B 0.0, B − A 0.0, 95% interval −18.3 to 18.3; "
        "limit: worse by 0 points, of this number alone"
    )
    assert score.startswith(
        "pass  --fail-on score>200: A 66.7, B −25.0, B − A −91.7, 95% interval −"
    )
    assert score.endswith("; limit: worse by 200 points, of this number alone")
    assert severe.startswith("FAIL  --fail-on severe > 2: A 0.0, B 91.7, B − A 91.7, 95% interval ")
    assert severe.endswith("; limit: worse by 2 points, of this number alone")


def test_checks_that_pass_are_listed_too(put_runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Checks that all pass are still listed, with JSON too."""
    put_runs({"before": SAFE, "after": HARMFUL})
    for form in ([], ["--json"]):
        line = ["compare", "runs", "after", "before", "--fail-on", "score", "--fail-on", "severe"]
        assert run([*line, *form]) == OK
        listed = capsys.readouterr().err.splitlines()
        assert [each.split()[:3] for each in listed] == [
            ["pass", "--fail-on", "score:"],
            ["pass", "--fail-on", "severe:"],
        ]
