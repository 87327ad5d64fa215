"""How far a run has come is told to people, and to nobody else."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from careeval.protocol.run import Run, begin
from fakes import Fake, keyword_grader


class Terminal(io.StringIO):
    """A terminal's stderr."""

    def isatty(self) -> bool:
        """Yes."""
        return True


@pytest.mark.parametrize(("stderr", "is_told"), [(Terminal(), True), (io.StringIO(), False)])
def test_progress(
    bank: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stderr: io.StringIO,
    is_told: bool,
) -> None:
    """A terminal is shown the system and how many of its samples are done, a pipe nothing."""
    monkeypatch.setattr("sys.stderr", stderr)
    monkeypatch.setenv("TERM", "xterm")
    model = Fake("watched", lambda _: "I wait.").model
    grader = Fake("watched-grader", keyword_grader).model
    for n in range(2):  # a second run in one process counts from the beginning
        begin(Run("robot", model, grader, 2, {"bank": str(bank)}), tmp_path / str(n))
    shown = stderr.getvalue()
    assert ("robot" in shown) is is_told
    assert ("4/4" in shown) is is_told
    if not is_told:
        assert shown == ""
