"""careeval.toml: the options that it sets, that override it, and that are refused in it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest
from cyclopts import App, Parameter
from cyclopts.config import Env

from careeval.cli.app import CHECK_FAILED, USAGE, run
from careeval.cli.config import apply_file, drop_overridden, read_settings
from careeval.errors import UsageError
from support.command_line import CommandLine

Asked = tuple[Any, Any, int, bool]
"""Model, responses, samples, resume."""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(text: str) -> None:
    """Put a file of settings into the current folder."""
    Path("careeval.toml").write_text(text, encoding="utf-8")


def fake_run(line: str) -> Asked:
    """Return the options with which a command like `careeval run` is called."""
    app = App(name="fake", config=[Env("CAREEVAL_"), apply_file, drop_overridden])

    @app.command(name="run")
    def command(
        *,
        model: Annotated[list[str] | None, Parameter(name=("--model", "-m"))] = None,
        responses: str | None = None,
        samples: int = 10,
        resume: bool = False,
    ) -> Asked:
        return model, responses, samples, resume

    return app(line, exit_on_error=False, result_action="return_value")


def test_nothing_is_set_without_a_file() -> None:
    """Without a file there are no settings, and each option has its default."""
    assert read_settings(Path("careeval.toml")) == {}
    assert fake_run("run") == (None, None, 10, False)


def test_file_sets_what_is_not_typed() -> None:
    """The file sets an option that is not typed, in either spelling, and a list as a list."""
    written('[run]\nmodel = ["a/b", "c/d"]\nsamples = 3\n')
    assert fake_run("run") == (["a/b", "c/d"], None, 3, False)
    assert fake_run("run --samples 5 -m e/f") == (["e/f"], None, 5, False)


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("run", (["a/b"], None, 3, False)),
        ("run --responses r.jsonl", (None, "r.jsonl", 10, False)),
        ("run --responses r.jsonl --samples 4", (None, "r.jsonl", 4, False)),
        ("run --responses r.jsonl -m c/d", (["c/d"], "r.jsonl", 10, False)),
        ("run --resume", (None, None, 10, True)),
    ],
)
def test_the_files_model_gives_way(line: str, asked: Asked) -> None:
    """A typed option drops the options of the file that it overrides, and no typed one."""
    written('[run]\nmodel = "a/b"\nsamples = 3\n')
    assert fake_run(line) == asked


def test_the_files_responses_give_way_to_a_model() -> None:
    """A typed model, or one from the environment, drops the file's recorded answers."""
    written('[run]\nresponses = "r.jsonl"\n')
    assert fake_run("run") == (None, "r.jsonl", 10, False)
    assert fake_run("run -m a/b") == (["a/b"], None, 10, False)


def test_environment_is_nearer_than_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recorded answers of the environment drop the file's model, and give way to a typed one."""
    written('[run]\nmodel = "a/b"\n')
    monkeypatch.setenv("CAREEVAL_RUN_RESPONSES", "r.jsonl")
    assert fake_run("run") == (None, "r.jsonl", 10, False)
    assert fake_run("run -m c/d") == (["c/d"], None, 10, False)


def test_a_model_and_answers_of_one_source_both_stay() -> None:
    """If the file names both a model and answers, neither is dropped: the command refuses."""
    written('[run]\nmodel = "a/b"\nresponses = "r.jsonl"\n')
    assert fake_run("run") == (["a/b"], "r.jsonl", 10, False)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('grader = "x"\n', "grader is not a known command; expected a table of one of demo,"),
        ("summary = 3\n", "summary is not a known command; expected a table"),
        ('[sumary]\nformat = "csv"\n', "sumary is not a known command"),
        ('[sumary]\nformat = "csv"\n', "did you mean 'summary'?"),
        ('[summary]\nformt = "csv"\n', 'Unknown option: "[formt]" from careeval.toml.'),
        ('[summary]\nformt = "csv"\n', "Did you mean --format?"),
        ('[summary]\nformat = "cvs"\n', "[format] from careeval.toml"),
        ('[summary]\nformat = "csv\n', "(at line 2, column"),
        ("[summary\n", "careeval.toml: is not TOML"),
        ("[summary\n", "(at line 1, column 9)"),
    ],
)
def test_names_that_nothing_reads_are_refused(
    text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name that no command reads, and broken TOML, end with status 2 and the place."""
    written(text)
    assert run(["summary", "somewhere"]) == USAGE
    printed = capsys.readouterr()
    assert "careeval.toml" in printed.err
    assert said in printed.err
    assert "Traceback" not in printed.err
    assert printed.out == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[bank.chek]\n",
            "bank.chek is not a known command; expected a table of one of check,",
        ),
        ('[bank]\nfolder = "x"\n', "bank.folder is not a known command"),
        ('[bank.check]\nfoldr = "x"\n', 'Unknown option: "[foldr]" from careeval.toml'),
        ('[bank.check]\nfolder = "/no/such/bank"\n', "/no/such/bank holds no bank"),
    ],
)
def test_settings_of_a_command_below_a_command(text: str, said: str, cli: CommandLine) -> None:
    """The settings of `careeval bank check` stand below [bank.check], and nowhere else."""
    written(text)
    assert said in cli.refused("bank", "check")


def test_a_file_that_is_not_text() -> None:
    """A file that is not UTF-8 is an error that names it."""
    Path("careeval.toml").write_bytes(b'[run]\ngrader = "\xff"\n')
    with pytest.raises(UsageError, match=r"careeval\.toml: is not UTF-8 text"):
        read_settings(Path("careeval.toml"))


def test_a_byte_order_mark_is_no_error() -> None:
    """A file that an editor began with a byte order mark is read as any other."""
    Path("careeval.toml").write_bytes(b"\xef\xbb\xbf[run]\nsamples = 3\n")
    assert read_settings(Path("careeval.toml")) == {"run": {"samples": 3}}


def test_doctor_reads_past_a_broken_file(capsys: pytest.CaptureFixture[str]) -> None:
    """`doctor` reports what is wrong with the file instead of stopping at it."""
    written("[run\n")
    assert run(["doctor"]) == CHECK_FAILED
    assert "(at line 1, column 5)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "name", "hint"),
    [
        (["summary", "x"], "CAREEVAL_SUMMARY_FORMT", "did you mean 'CAREEVAL_SUMMARY_FORMAT'?"),
        (["summary", "x"], "CAREEVAL_RNU_GRADER", "did you mean 'CAREEVAL_RUN_GRADER'?"),
        (["summary", "x"], "CAREEVAL_HELD_OUT_KY", "did you mean 'CAREEVAL_HELD_OUT_KEY'?"),
        (["summary", "x"], "CAREEVAL_GRADER", "CAREEVAL_COMMAND_OPTION, as CAREEVAL_RUN_GRADER"),
        (["bank", "check"], "CAREEVAL_BANK_CHEK_JSON", "did you mean 'CAREEVAL_BANK_CHECK_JSON'?"),
        (["bank", "check"], "CAREEVAL_BANK_CHECK_JSN", "did you mean 'CAREEVAL_BANK_CHECK_JSON'?"),
    ],
)
def test_a_variable_that_nothing_reads_is_refused(
    line: list[str],
    name: str,
    hint: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A CAREEVAL_ variable that names no command or no option ends any command with status 2."""
    monkeypatch.setenv(name, "a secret")
    assert run(line) == USAGE
    printed = capsys.readouterr()
    assert f"no option for the environment variable {name}" in printed.err
    assert hint in printed.err
    assert "a secret" not in printed.err
    assert printed.out == ""


def test_variables_that_something_reads_are_taken(
    monkeypatch: pytest.MonkeyPatch, cli: CommandLine
) -> None:
    """The variables of other commands, of this one and of none stop nothing."""
    for name in ("RUN_GRADER", "BANK_LIST_ADL", "HELD_OUT_KEY"):
        monkeypatch.setenv(f"CAREEVAL_{name}", "x")
    monkeypatch.setenv("CAREEVAL_BANK_CHECK_FOLDER", "no-such-bank")
    monkeypatch.setenv("CAREEVAL_BANK_CHECK_JSON", "true")
    assert "no-such-bank holds no bank" in cli.refused("bank", "check")
    monkeypatch.setenv("CAREEVAL_SUMMARY_FOLDERS", "no-such-runs")
    assert "no-such-runs is not a folder" in cli.refused("summary")
