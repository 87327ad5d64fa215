"""Paths that are not regular files: a named pipe, a socket, a folder, a device."""

from __future__ import annotations

import os
import shutil
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from readings import second_reading

from careeval.bank.imported_bank import import_bank
from careeval.bank.load import load_bank
from careeval.bank.sealed import KEY_VARIABLE, held_out_key, pack
from careeval.bank.yaml_nodes import read_yaml
from careeval.cli.config import read_settings
from careeval.cli.shared.people import _read as read_consent
from careeval.errors import CareEvalError
from careeval.files import read_bytes, read_text
from careeval.modes.prompts import load_prompts
from careeval.modes.response import RESPONSE
from careeval.people.audit.documents import read_sample
from careeval.people.typed_forms import read_rows
from careeval.protocol.logs import read_log
from careeval.protocol.prices import read_prices
from careeval.protocol.recorded_responses import read_responses
from careeval.protocol.selection import read_roster
from support.fakes import write_bank


@pytest.fixture(autouse=True)
def impatient() -> Iterator[None]:
    """Interrupt a test that waits for a pipe."""

    def stop(*_: object) -> None:
        raise AssertionError("it waits")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def pipe(path: Path) -> None:
    """Make a named pipe."""
    os.mkfifo(path)


def unix_socket(path: Path) -> None:
    """Make a socket."""
    at = os.open(path.parent, os.O_RDONLY)
    try:
        # the name of a socket may not be as long as that of a folder for tests
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"/proc/self/fd/{at}/{path.name}")
    finally:
        os.close(at)


KINDS = [(pipe, "a named pipe, not a file"), (unix_socket, "a socket, not a file"),
         (Path.mkdir, "a folder, not a file"),
         (lambda path: path.symlink_to("/dev/zero"), "a device, not a file")]  # fmt: skip


def a_key(path: Path) -> object:
    """Read it as the key of a held-out split."""
    os.environ[KEY_VARIABLE] = str(path)
    try:
        return held_out_key()
    finally:
        del os.environ[KEY_VARIABLE]


def a_prompt(path: Path) -> object:
    """Read it as one of a folder of prompts."""
    folder = Path(shutil.copytree(RESPONSE.prompts, path.parent / "prompts"))
    path.replace(folder / "ask-role.md")
    return load_prompts(RESPONSE, folder)


READERS: list[Callable[[Path], object]] = [
    read_bytes,
    read_text,
    read_yaml,
    read_responses,
    read_prices,
    lambda path: read_roster(str(path)),
    read_settings,
    read_consent,
    read_sample,
    read_log,
    lambda path: read_rows(path, (), (), lambda *_: None),
    lambda path: import_bank(path.rename(path.with_suffix(".csv")), path.parent / "b", "b", {}),
]


@pytest.mark.parametrize(("make", "said"), KINDS)
@pytest.mark.parametrize("read", READERS)
def test_what_is_no_file_is_refused(
    tmp_path: Path, read: Callable[[Path], object], make: Callable[[Path], Any], said: str
) -> None:
    """It is not waited for, and the message says what it is."""
    path = tmp_path / "it"
    make(path)
    with pytest.raises((CareEvalError, OSError)) as refused:
        read(path)
    assert said in str(refused.value) or "no roster" in str(refused.value)
    assert tmp_path.name in str(refused.value) or "it" in str(refused.value)


@pytest.mark.parametrize(
    "name", ["bank.yaml", "sources.yaml", "generic-probes.yaml", "evidence.json",
             "eating/eating-009.yaml", "eating/eating-001.probes.yaml"]
)  # fmt: skip
def test_a_pipe_in_a_bank(tmp_path: Path, name: str) -> None:
    """Whichever file of a bank is a pipe, the bank does not load, and says which."""
    bank = write_bank(tmp_path)
    (bank / name).unlink(missing_ok=True)
    pipe(bank / name)
    with pytest.raises(CareEvalError, match="a named pipe, not a file") as refused:
        load_bank(bank)
    assert name in str(refused.value)


def test_a_pipe_as_a_second_reading(tmp_path: Path) -> None:
    """It is refused."""
    (tmp_path / "second-reading").mkdir()
    pipe(tmp_path / "second-reading" / "points-first.csv")
    with pytest.raises(CareEvalError, match=r"points-first\.csv: cannot be read: it is a named"):
        second_reading(tmp_path, {})


def test_a_pipe_in_a_split_to_be_sealed(tmp_path: Path) -> None:
    """It is refused."""
    (tmp_path / "eating").mkdir()
    pipe(tmp_path / "eating" / "eating-h01.yaml")
    with pytest.raises(CareEvalError, match=r"eating-h01\.yaml cannot be read: it is a named"):
        pack(tmp_path)


def test_a_pipe_as_a_key(tmp_path: Path) -> None:
    """It is refused, and what was given is not repeated."""
    pipe(tmp_path / "key")
    with pytest.raises(CareEvalError, match=f"{KEY_VARIABLE} is neither an age key nor a file"):
        a_key(tmp_path / "key")


def test_a_pipe_as_a_prompt(tmp_path: Path) -> None:
    """It is refused."""
    pipe(tmp_path / "it")
    with pytest.raises(CareEvalError, match="cannot be read: it is a named pipe"):
        a_prompt(tmp_path / "it")
