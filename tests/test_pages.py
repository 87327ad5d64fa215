"""Every command of the documentation, run as it is printed.

`python tests/test_pages.py [PAGE …]` writes what the commands print into the pages.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from careeval.cli.app import app, run
from support import given
from support.pages import (
    PAGES,
    ROOT,
    Code,
    Command,
    File,
    Given,
    abridged,
    agrees,
    steps,
    tidy,
    unused_marks,
)

COLUMNS = "140"
"""Width of the terminal in the documentation."""


def _run(command: Command) -> tuple[int, str]:
    """Run a command in this process and return its exit status and its output."""
    program, *words = command.words
    if program == "export":
        name, _, value = words[0].partition("=")
        os.environ[name] = value
        return 0, ""
    assert program == "careeval", f"mark it as not run: {command.typed}"
    with _printed() as printed:
        status = run(words)
    return status, tidy(printed.getvalue())


@contextlib.contextmanager
def _printed() -> Iterator[io.StringIO]:
    """Capture output and errors together, as in a terminal."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        yield printed


def _follow(page: str, kept: Path) -> Iterator[tuple[Command | Code, str]]:
    """Run the steps of a page in the current folder, and yield each step with its output."""
    for step in steps(page):
        match step:
            case File():
                Path(step.name).write_text(step.text, encoding="utf-8")
            case Given():
                given.make(step.name, kept)
            case Command(not_run=""):
                status, output = _run(step)
                assert status == step.status, f"{step.typed}\n{output}"
                yield step, output
            case Code(not_run=""):
                # a page's reader does not see what Inspect's data frames warn of
                with _printed() as printed, warnings.catch_warnings(action="ignore"):
                    exec(compile(step.source, page, "exec"), {})
                yield step, tidy(printed.getvalue())


@contextlib.contextmanager
def _readers_environment() -> Iterator[None]:
    """Set the environment of a reader: a terminal of `COLUMNS`, and no keys or settings.

    Variables that a page exports are removed afterwards.
    """
    with patch.dict(os.environ, COLUMNS=COLUMNS):
        for name in [*os.environ]:
            if name.endswith("_API_KEY") or name.startswith("CAREEVAL_"):
                del os.environ[name]
        yield


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder for inputs that several pages share."""
    return tmp_path_factory.mktemp("given")


@pytest.mark.parametrize("page", [page for page in PAGES if steps(page)])
def test_page_runs_as_printed(
    page: str, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commands of a page run, in their order, and print what the page shows."""
    monkeypatch.chdir(tmp_path)
    with _readers_environment():
        for step, output in _follow(page, kept):
            is_as_printed = not step.shown or agrees(step.shown, output)
            assert is_as_printed, f"run: python tests/test_pages.py {page}\n{output}"


def _not_run() -> list[tuple[str, Command]]:
    """Return the commands that are marked as not run, with their page."""
    return [
        (page, step)
        for page in PAGES
        for step in steps(page)
        if isinstance(step, Command) and step.not_run
    ]


@pytest.mark.parametrize(
    ("page", "command"), [pytest.param(*each, id=each[1].typed[:60]) for each in _not_run()]
)
def test_command_that_is_not_run_is_understood(page: str, command: Command) -> None:
    """A command that no test runs has only names and options of its program."""
    program, *words = command.words
    match program, words:
        case "careeval", _:
            understood, *_ = app.parse_args(words, exit_on_error=False, print_error=False)
            # a group of many commands has them in several modules, named after it
            assert understood.__module__.startswith("careeval.cli."), page
        case "inspect", ["eval", *options]:
            from inspect_ai._cli.eval import eval_command

            eval_command.make_context("eval", options)
        case "make", [target]:
            assert f"\n{target}: " in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_every_mark_is_of_a_command(page: str) -> None:
    """Every mark of a page names words of a command in its block."""
    assert unused_marks(page) == []


def test_ellipsis_matches_anything() -> None:
    """An ellipsis stands for anything, in a line and between lines, and for nothing else."""
    assert agrees("one\n…\nthree …\n", "one\ntwo\nthree 3 times\n")
    assert agrees("one\n…\n", "one\n")
    assert not agrees("one\nthree\n", "one\ntwo\nthree\n")
    assert not agrees("one\n…\nfour\n", "one\ntwo\n")
    assert not agrees("a.b\n", "axb\n")


def test_left_out_output_stays_left_out() -> None:
    """A rewritten block shows the same parts of the new output."""
    now = "score 2\nby a\nby b\nfirst remark\nlast remark\n"
    assert abridged("score 1\n…\nlast remark\n", now) == "score 2\n…\nlast remark\n"
    assert abridged("score 1\n…\n", now) == "score 2\n…\n"
    assert abridged("old\n", now) == now
    assert agrees(abridged("score 1\n…\nfirst rem\n…\n", now), now)


def write(names: list[str]) -> None:
    """Write the output of the commands of these pages into the pages."""
    with tempfile.TemporaryDirectory() as kept:
        for page in names or [page for page in PAGES if steps(page)]:
            folder = tempfile.TemporaryDirectory()
            with _readers_environment(), folder as here, contextlib.chdir(here):
                printed = list(_follow(page, Path(kept)))
            text = (ROOT / page).read_text(encoding="utf-8")
            for step, output in reversed(printed):
                if step.shown and not agrees(step.shown, output):
                    start, end = step.span
                    text = text[:start] + abridged(step.shown, output) + text[end:]
            (ROOT / page).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write(sys.argv[1:])
