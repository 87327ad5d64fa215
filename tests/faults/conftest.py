"""Fixtures: a bank of one scenario, and an API key that must not appear anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.one_scenario import SCENARIO_ID
from faults.search import KEY
from support.fakes import write_bank


@pytest.fixture(scope="session")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bank of one scenario."""
    return write_bank(tmp_path_factory.mktemp("bank"), [SCENARIO_ID])


@pytest.fixture(scope="module")
def planted_key() -> Iterator[None]:
    """Set the key that must not appear anywhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAKE_API_KEY", KEY)
        yield
