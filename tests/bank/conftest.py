"""Fixtures for the bank's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.bank_folder import BankFolder


@pytest.fixture
def folder(tmp_path: Path) -> BankFolder:
    """A good bank on disk, to plant a fault in."""
    return BankFolder.good(tmp_path / "bank")
