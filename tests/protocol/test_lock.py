"""One process a run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from careeval.errors import ProtocolError
from careeval.protocol.run_files import locked

HOLD = """
import sys
from pathlib import Path
from careeval.protocol.run_files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_folder_is_held_by_one_process_until_it_dies(tmp_path: Path) -> None:
    """While a process lives its folder is refused by its number; once it is killed, it is free."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        refused = pytest.raises(ProtocolError, match=f"locked: process {holder.pid}")
        with refused as caught, locked(tmp_path):
            pass
        assert caught.value.hint.endswith(f"kill {holder.pid}")
        holder.kill()
        holder.wait()
        with locked(tmp_path):
            pass


def test_a_folder_is_let_go_at_the_end(tmp_path: Path) -> None:
    """Whoever has held a folder can hold it again, also after an error."""
    with pytest.raises(ZeroDivisionError), locked(tmp_path):
        raise ZeroDivisionError
    with locked(tmp_path):
        pass
