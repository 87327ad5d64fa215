"""Settings of all tests."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import HealthCheck, settings

from careeval.bank.sealed import KEY_VARIABLE
from support.fake_server import FakeServer
from support.forked_workers import WorkerSource

# A busy machine is slow, and that is no fault of what is tested.
settings.register_profile("careeval", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("careeval")

# Inspect looks through all that is installed at each run; it stays as it is while tests run.
importlib.metadata.packages_distributions = cache(importlib.metadata.packages_distributions)


LONG = ("test_bench", "test_on_ray", "test_strikes", "test_whole_audit", "test_whole_study")
"""Modules whose tests begin first, so that no processor is left with one of them at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest tests first, and leave the others in their order."""
    items.sort(key=lambda item: item.path.stem not in LONG)


@pytest.fixture(autouse=True, scope="session")
def _a_cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test reads or writes the user's cache folder."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True, scope="session")
def worker_source() -> Iterator[WorkerSource]:
    """Runs that a test begins in its own process have forked workers, which begin sooner."""
    source = WorkerSource()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("careeval.protocol.workers._process", source.fork)
        yield source
    source.close()


@pytest.fixture(autouse=True)
def _without_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the held-out split because somebody has the key set."""
    monkeypatch.delenv(KEY_VARIABLE, raising=False)


@pytest.fixture(autouse=True)
def _own_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """No test reads or writes the settings of whoever runs it."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("settings")))


@pytest.fixture(autouse=True)
def _as_wide_as_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """No table is narrower because the terminal that tests are begun in says how wide it is."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    """A server that a test, its workers and its cells reach as openai-api/fake/…."""
    with FakeServer() as running:
        monkeypatch.setenv("FAKE_BASE_URL", running.base_url)
        monkeypatch.setenv("FAKE_API_KEY", "planted")
        yield running
