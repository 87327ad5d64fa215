"""Help: it is quick, it fits a terminal, and what it shows can be typed."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from careeval.cli.app import COMMANDS, HELP, OK, app, run

HEAVY = ["inspect_ai", "openai", "polars", "numpy", "scipy", "pydantic", "yaml", "jinja2", "rich"]

BANK = ("check", "list", "show", "stats", "new", "import", "seal", "open")
TYPED = [
    *COMMANDS,
    *(
        f"audit {name}"
        for name in ("probes", "sample", "results", "new", "serve", "status", "link")
    ),
    *(f"audit {name}" for name in ("import", "revoke", "backup")),
    *(f"bank {name}" for name in BANK),
    *(f"plan {name}" for name in ("check", "schema", "worlds", "world")),
]
"""Every command that has help."""


def help_text(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what `careeval COMMAND --help` prints."""
    assert run([*command.split(), "--help"]) == OK
    return capsys.readouterr().out


@pytest.mark.parametrize("line", [[], ["--help"], ["-h"]])
def test_first_help_loads_nothing_heavy(line: list[str]) -> None:
    """`careeval --help` prints its page with nothing loaded but the parser of command lines."""
    code = (
        f"import sys; from careeval.cli.app import run; assert run({line}) == 0;"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{HELP}[]\n"


def test_help_names_every_command() -> None:
    """Each command stands in the first help with what it is for."""
    for name, text in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(text)}$", HELP, re.MULTILINE)
    assert {name for name in app if not name.startswith("-")} == set(COMMANDS)


def test_first_help_fits_80_columns() -> None:
    """No line of the first help is wider than 80 columns."""
    assert [line for line in HELP.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("command", TYPED)
def test_help_has_examples_in_80_columns(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Help in a pipe has examples, no colour, and no line wider than 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    text = help_text(command, capsys)
    assert f"careeval {command}" in text[text.index("Examples:") :]
    assert "\x1b" not in text
    assert [line for line in text.splitlines() if len(line) > 80] == []


def epilogues() -> list[str]:
    """Return the examples and notes that end each command's help."""
    found = []
    for command in TYPED:
        sub = app
        for name in command.split():
            sub = sub[name]
        found.append(sub.help_epilogue or "")
    return found


def test_no_example_is_wrapped() -> None:
    """No line that a help ends with is wider than 80 columns before it is printed."""
    assert [line for text in epilogues() for line in text.splitlines() if len(line) > 80] == []


def examples() -> list[str]:
    """Each line of help that a reader may type."""
    found = []
    for text in [HELP, *epilogues()]:
        shown = re.findall(
            r"^ +(careeval (?:[a-z]+|--).*?)(?:  +\S.*| > \S+.*)?$", text, re.MULTILINE
        )
        found += [line for line in shown if "COMMAND" not in line]
    return sorted(set(found))


@pytest.mark.parametrize("line", examples())
def test_example_is_understood(line: str) -> None:
    """Each example of a help page has only names and options that careeval has."""
    _, command, *rest = shlex.split(line)
    found, *_ = app.parse_args([command, *rest], exit_on_error=False, print_error=False)
    assert found.__module__.startswith((f"careeval.cli.{command}", "careeval.cli.shared.people"))


@pytest.mark.parametrize("line", [["--help"], ["doctor"], ["doctor", "--help"]])
def test_a_closed_pipe_is_no_error(line: list[str], tmp_path: Path) -> None:
    """Printing into a pipe that nobody reads ends with status 0 and nothing on stderr."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as stdout:
        done = subprocess.run(
            [sys.executable, "-m", "careeval", *line],
            cwd=tmp_path,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (OK, "")
