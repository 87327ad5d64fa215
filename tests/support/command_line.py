"""The command line in tests: each line is run, and what it printed is returned."""

from __future__ import annotations

import json
from typing import Any

import pytest

from careeval.cli.app import OK, USAGE, run


class CommandLine:
    """Runs command lines; what was printed before a line is dropped."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def ok(self, *line: str) -> str:
        """Return what a line that ends well prints on stdout."""
        return self.printed(OK, *line).out

    def told(self, *line: str) -> str:
        """Return what a line that ends well prints on stderr."""
        return self.printed(OK, *line).err

    def json(self, *line: str) -> Any:
        """Return the one JSON document that a line that ends well prints on stdout."""
        return json.loads(self.ok(*line))

    def refused(self, *line: str) -> str:
        """Return what a line that is a user's mistake prints on stderr; it is no traceback."""
        printed = self.printed(USAGE, *line).err
        assert "Traceback" not in printed
        return printed

    def printed(self, status: int, *line: str) -> Any:
        """Return what a line that ends with this status prints, as `out` and `err`."""
        self._capsys.readouterr()
        assert run(list(line)) == status
        return self._capsys.readouterr()
