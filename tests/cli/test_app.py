"""Errors of commands, as printed for a person and for a program."""

from __future__ import annotations

import json

import pytest

from careeval.cli.app import USAGE, run
from support.command_line import CommandLine


@pytest.mark.parametrize(
    ("line", "kind", "said"),
    [
        (["summary", "/no/such/folder"], "LogError", "is not a folder"),
        (["summary"], "UsageError", "name the folder"),
        (["summary", "--formt", "md"], "UsageError", "--formt"),
        (["sumary"], "UsageError", "expected one of demo, doctor"),
        (["bank", "check", "/no/such/bank"], "BankError", "holds no bank"),
    ],
)
def test_an_error_as_json(
    line: list[str], kind: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --json an error is one JSON document on stdout, beside the message on stderr."""
    assert run([*line, "--json"]) == USAGE
    printed = capsys.readouterr()
    error = json.loads(printed.out)["error"]
    assert set(error) == {"kind", "message", "hint"}
    assert error["kind"] == kind
    assert said in error["message"]
    assert error["message"] in printed.err
    assert error["hint"] in printed.err
    assert run(line) == USAGE
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        (["sumary"], "did you mean 'summary'?"),
        (["bank", "chek"], "did you mean 'check'?"),
        (["xyz"], "careeval --help"),
        (["summary", "--format", "x"], "careeval summary --help"),
    ],
)
def test_a_misspelt_line_gets_a_hint(line: list[str], hint: str, cli: CommandLine) -> None:
    """An unknown word gets a hint: the nearest known one, or the help."""
    assert f"hint: {hint}" in cli.refused(*line)
