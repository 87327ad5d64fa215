"""`careeval doctor` as it is typed: its lines, its JSON, its status, and no secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from careeval.cli.app import CHECK_FAILED, OK, run
from careeval.cli.doctor import Finding, State, lines, settings, variables
from support.command_line import CommandLine

SECRET = "sk-0123456789abcdef"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, and a key in each kind of variable."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("CAREEVAL_HELD_OUT_KEY", SECRET)
    monkeypatch.setenv("CAREEVAL_RUN_BASE_URL", f"http://user:{SECRET}@localhost")
    return tmp_path


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_names_of_keys_and_no_key(form: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Variables are listed by name, and no value is printed."""
    assert run(["doctor", *form]) == OK
    printed = capsys.readouterr()
    assert "OPENAI_API_KEY set" in " ".join(printed.out.split())
    assert "CAREEVAL_HELD_OUT_KEY" in printed.out
    assert SECRET not in printed.out + printed.err
    assert "user:" not in printed.out + printed.err


def test_json_is_a_list_of_findings(cli: CommandLine) -> None:
    """`--json` prints one document whose findings have the four fields and known states."""
    findings = cli.json("doctor", "--json")["findings"]
    assert {frozenset(finding) for finding in findings} == {
        frozenset({"name", "state", "text", "hint"})
    }
    assert {finding["state"] for finding in findings} <= {"ok", "note", "problem"}
    assert {"python", "packages", "bank", "careeval.toml"} <= {f["name"] for f in findings}


def test_a_problem_ends_in_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A problem among the findings makes the status 3, and stands in its line with its hint."""
    old = Finding("python", State.PROBLEM, "3.10.1, too old", "install Python 3.11 or newer")
    monkeypatch.setattr("careeval.cli.doctor.examine", lambda *_: [old])
    assert run(["doctor"]) == CHECK_FAILED
    printed = capsys.readouterr().out
    assert "problem  python" in printed
    assert "hint: install Python 3.11" in printed


def test_lines_fold_in_their_column() -> None:
    """A long text goes on below its beginning, and no line is wider than asked."""
    findings = [Finding("bank", State.OK, "word " * 30), Finding("a name", State.NOTE, "x", "do y")]
    folded = lines(findings, 60)
    assert max(map(len, folded)) <= 60
    assert folded[0].startswith("ok       bank    word word")
    assert folded[1].startswith(" " * 17 + "word")
    assert folded[-2:] == ["note     a name  x", " " * 17 + "hint: do y"]


@pytest.mark.parametrize(
    ("text", "state", "said"),
    [
        (None, State.OK, "none here"),
        ('[run]\ngrader = "x"\n[summary]\n', State.OK, "it sets [run], [summary]"),
        ('[rnu]\ngrader = "x"\n', State.PROBLEM, "rnu"),
        ("[run", State.PROBLEM, "careeval.toml:"),
    ],
)
def test_settings_are_looked_at(text: str | None, state: State, said: str) -> None:
    """A file of settings is listed with what it sets, and is a problem if it stops commands."""
    file = Path("careeval.toml")
    if text is not None:
        file.write_text(text, encoding="utf-8")
    found = settings(file)
    assert found.state is state
    assert said in found.text


@pytest.mark.parametrize(
    ("names", "state", "said"),
    [
        (["HOME"], State.OK, "none set"),
        (["CAREEVAL_RUN_GRADER", "CAREEVAL_HELD_OUT_KEY"], State.OK, "set: CAREEVAL_HELD_OUT_KEY"),
        (
            ["CAREEVAL_GRADER"],
            State.PROBLEM,
            "no option for the environment",
        ),
        (["CAREEVAL_RNU_GRADER"], State.PROBLEM, "variable CAREEVAL_RNU_GRADER"),
    ],
)
def test_variables_that_nothing_reads_are_told(names: list[str], state: State, said: str) -> None:
    """A CAREEVAL_ variable that names no command is reported as one that nothing reads."""
    found = variables(names)
    assert found.state is state
    assert said in found.text
