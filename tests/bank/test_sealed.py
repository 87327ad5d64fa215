"""The held-out split: sealed, opened, and refused."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pyrage
import pytest

from careeval.bank import load_bank
from careeval.bank.rules import check
from careeval.bank.sealed import (
    HASH,
    KEY_VARIABLE,
    SEALED,
    held_out_key,
    key_for_bank,
    pack,
    seal,
    unseal,
    write_open,
)
from careeval.core.scenario import Split
from careeval.errors import BankError
from support.bank_folder import PROBES, SCENARIO, SECRET, BankFolder, write_held_out


@pytest.fixture
def key() -> str:
    """A key that nobody else has."""
    return str(pyrage.x25519.Identity.generate())


@pytest.fixture
def apart(tmp_path: Path) -> Path:
    """A held-out scenario with its probes and a source of its own, outside any bank."""
    return write_held_out(tmp_path / "held-out")


def test_sealed_scenarios_are_there_with_the_key_and_not_without(
    folder: BankFolder, apart: Path, key: str
) -> None:
    """One public scenario, and one more for whoever has the key; its probes come with it."""
    digest = seal(pack(apart), folder.root, key)

    assert [s.split for s in load_bank(folder.root).scenarios] == [Split.public]
    bank = load_bank(folder.root, key)
    assert [s.id for s in bank.scenarios] == ["dressing-001", "dressing-h01"]
    assert len(bank.probes["dressing-h01"]) == len(bank.probes["dressing-001"])
    assert "own-source" in bank.sources
    assert check(bank) == []
    assert (folder.root / HASH).read_text(encoding="utf-8").split()[0] == digest
    assert digest == hashlib.sha256(pack(apart).encode()).hexdigest()


def test_no_word_of_it_stands_in_the_bank(folder: BankFolder, apart: Path, key: str) -> None:
    """Neither the text nor an id of the sealed scenario is in any file of the bank."""
    for file in (SCENARIO, PROBES):
        (folder.root / file).unlink()
    seal(pack(apart), folder.root, key)

    for path in folder.root.rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes()
            assert b"h01" not in path.read_bytes()


def test_what_is_opened_is_what_was_sealed(folder: BankFolder, apart: Path, key: str) -> None:
    """Word for word, and without what is no part of a bank."""
    seal(pack(apart), folder.root, key)

    texts = unseal(folder.root, key)

    assert set(texts) == {
        "sources.yaml", "dressing/dressing-h01.yaml", "dressing/dressing-h01.probes.yaml",
    }  # fmt: skip
    for name, text in texts.items():
        assert text == (apart / name).read_text(encoding="utf-8")


def test_a_key_file_of_age_keygen_is_a_key(folder: BankFolder, apart: Path, key: str) -> None:
    """Its comments are passed over."""
    seal(pack(apart), folder.root, f"# created: today\n# public key: age1…\n{key}\n")
    assert len(load_bank(folder.root, key)) == 2


def _other_key(folder: BankFolder, _key: str) -> str:
    return str(pyrage.x25519.Identity.generate())


def _half_a_key(folder: BankFolder, key: str) -> str:
    return key[:40]


def _tampered(folder: BankFolder, key: str) -> str:
    (folder.root / HASH).write_text("0" * 64, encoding="utf-8")
    return key


def _truncated(folder: BankFolder, key: str) -> str:
    secret = (folder.root / SEALED).read_bytes()
    (folder.root / SEALED).write_bytes(secret[: len(secret) // 2])
    return key


def _without_hash(folder: BankFolder, key: str) -> str:
    (folder.root / HASH).unlink()
    return key


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_other_key, "does not open with this key"),
        (_half_a_key, "is not an age key"),
        (_tampered, "does not have the hash"),
        (_truncated, "does not open"),
        (_without_hash, "is missing or cannot be read"),
    ],
)
def test_what_does_not_open_says_why(
    folder: BankFolder,
    apart: Path,
    key: str,
    spoil: Callable[[BankFolder, str], str],
    message: str,
) -> None:
    """A wrong key or a spoilt file is an error, which does not repeat the key."""
    seal(pack(apart), folder.root, key)

    with pytest.raises(BankError, match=message) as caught:
        load_bank(folder.root, spoil(folder, key))

    assert key[:40] not in str(caught.value) + caught.value.hint


def test_a_bad_key_seals_nothing(folder: BankFolder, apart: Path) -> None:
    """All or nothing: no file is left, and none that was there is changed."""
    (folder.root / SEALED).write_bytes(b"the old one")
    with pytest.raises(BankError, match="not an age key"):
        seal(pack(apart), folder.root, "no key")
    assert (folder.root / SEALED).read_bytes() == b"the old one"
    assert {path.name for path in folder.root.glob("held-out*")} == {SEALED}


def test_nothing_to_seal_is_an_error(tmp_path: Path) -> None:
    """A folder without scenarios is not sealed as an empty split."""
    with pytest.raises(BankError, match="nothing to seal"):
        pack(tmp_path)


def test_where_the_key_comes_from(
    tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable holds the key or names its file; what is neither is not repeated."""
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    assert held_out_key() is None
    monkeypatch.setenv(KEY_VARIABLE, key)
    assert held_out_key() == key
    (tmp_path / "k").write_text(key, encoding="utf-8")
    monkeypatch.setenv(KEY_VARIABLE, str(tmp_path / "k"))
    assert held_out_key() == key
    (tmp_path / "k").write_text("", encoding="utf-8")
    with pytest.raises(BankError, match="is not an age key"):
        held_out_key()
    monkeypatch.setenv(KEY_VARIABLE, key[20:])
    with pytest.raises(BankError, match="neither an age key nor a file") as caught:
        held_out_key()
    assert key[20:] not in str(caught.value)


def test_a_public_scenario_is_not_sealed(folder: BankFolder, apart: Path, key: str) -> None:
    """It is refused as it is packed; CE121 finds one that lies in a sealed split all the same."""
    packed = pack(apart)
    path = apart / "dressing" / "dressing-h01.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("split: held-out", "split: public"))
    with pytest.raises(BankError, match="is not marked as held out"):
        pack(apart)

    seal(packed.replace("split: held-out", "split: public"), folder.root, key)

    (problem,) = check(load_bank(folder.root, key))

    assert problem.code == "CE121"
    assert SEALED in Path(problem.place.path).parts


def test_a_bank_with_nothing_sealed_needs_no_key(
    folder: BankFolder, apart: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable that names no file stands in the way only where the key is of use."""
    monkeypatch.setenv(KEY_VARIABLE, "/no/such/key")
    assert key_for_bank(folder.root) is None
    seal(pack(apart), folder.root, key)
    with pytest.raises(BankError, match="neither an age key nor a file"):
        key_for_bank(folder.root)


def test_where_a_split_may_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`..` is followed, a link into a repository too; a file of the split may not climb out."""
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    write_open({"eating/a.yaml": "text"}, Path("../open"))
    assert (tmp_path / "open" / "eating" / "a.yaml").read_text(encoding="utf-8") == "text"
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    (tmp_path / "repository" / "sub").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "repository" / "sub")
    for place in ("link", "link/inner", "repository"):
        with pytest.raises(BankError, match=r"git repository|is not an empty folder"):
            write_open({"a.yaml": "text"}, tmp_path / place)
    with pytest.raises(BankError, match="written outside"):
        write_open({"a.yaml": "text", "../b.yaml": "text"}, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "packed", ["hello", "[1, 2]", '{"a": 1}', "[" * 100_000, "", "\x00"], ids=range(6)
)
def test_a_secret_that_is_no_split(folder: BankFolder, key: str, packed: str) -> None:
    """Another file that somebody encrypted for the same key is refused, and not repeated."""
    seal(packed, folder.root, key)
    with pytest.raises(BankError, match="opens with this key, but") as refused:
        load_bank(folder.root, key)
    assert packed not in str(refused.value) or not packed


def a_folder(path: Path) -> None:
    """Make a folder."""
    path.mkdir()


def an_image(path: Path) -> None:
    """Write the beginning of a picture."""
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(500))


def plain_text(path: Path) -> None:
    """Write what nobody encrypted."""
    path.write_text("hello", encoding="utf-8")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (a_folder, "it is a folder, not a file"),
        (os.mkfifo, "it is a named pipe, not a file"),
        (an_image, "does not open with this key"),
        (Path.touch, "does not open with this key"),
        (plain_text, "does not open with this key"),
    ],
)
def test_a_sealed_file_of_another_kind(
    folder: BankFolder, apart: Path, key: str, make: Callable[[Path], object], said: str
) -> None:
    """A file with the name of the sealed split that is not one is refused, not ignored."""
    seal(pack(apart), folder.root, key)
    (folder.root / SEALED).unlink()
    make(folder.root / SEALED)
    with pytest.raises(BankError, match=said):
        load_bank(folder.root, key)
