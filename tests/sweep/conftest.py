"""A small bank, and a fake server that cells reach."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.fakes import write_bank
from support.sweep_files import IDS


@pytest.fixture(autouse=True)
def _graders_are_checked_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep that a test begins in its own process checks its graders there, Inspect being loaded.

    Those that are typed into a process of their own start another one for it.
    """
    monkeypatch.setattr(
        "careeval.sweep.engines.ProcessPoolExecutor", lambda n, _: ThreadPoolExecutor(n)
    )


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """Four scenarios of four activities."""
    return write_bank(tmp_path / "bank", IDS)
