"""A small bank, and a fake server that cells reach."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.fake_server import FakeServer
from support.fakes import write_bank
from support.sweep_files import IDS


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    """A server that cells reach as openai-api/fake/…."""
    with FakeServer() as running:
        monkeypatch.setenv("FAKE_BASE_URL", running.base_url)
        monkeypatch.setenv("FAKE_API_KEY", "planted")
        yield running


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
