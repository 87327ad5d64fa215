"""The sentence on how far the lexical grader agrees with the probes of a bank."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from careeval.bank.load import DEFAULT, OWN_BANKS
from careeval.protocol import regrade
from careeval.protocol.regrade import lexical_sentence


@pytest.fixture
def computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """The banks whose probes were judged, with an empty cache folder of the user."""
    banks: list[Path] = []

    def compute(bank: Path) -> str:
        banks.append(bank)
        return f"finds what is in {bank.name}"

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(regrade, "_computed_sentence", compute)
    yield banks
    lexical_sentence.cache_clear()


def fresh_sentence(number: str) -> str:
    """The sentence, as the next command gets it."""
    lexical_sentence.cache_clear()
    return lexical_sentence(number)


def test_probes_are_judged_once(computed: list[Path]) -> None:
    """The next command takes the sentence from the user's cache folder, each bank's its own."""
    for name in ("plans", DEFAULT, "plans", DEFAULT):
        assert fresh_sentence(name) == f"finds what is in {OWN_BANKS[name].name}"
    assert computed == [OWN_BANKS["plans"], OWN_BANKS[DEFAULT]]


@pytest.mark.parametrize("changed", ["package/lexical.py", "bank/eating/eating-001.yaml"])
def test_probes_are_judged_again_after_a_change(
    computed: list[Path], changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change to careeval's code or to the bank makes the sentence anew."""
    for name in ("package/lexical.py", "bank/eating/eating-001.yaml"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("before", encoding="utf-8")
    monkeypatch.setattr(regrade, "PACKAGE", tmp_path / "package")
    monkeypatch.setitem(OWN_BANKS, DEFAULT, tmp_path / "bank")
    fresh_sentence(DEFAULT)
    (tmp_path / changed).write_text("after", encoding="utf-8")
    fresh_sentence(DEFAULT)
    assert len(computed) == 2


def test_a_sentence_without_a_cache(computed: list[Path], tmp_path: Path) -> None:
    """Where nothing can be kept, the probes are judged each time."""
    (tmp_path / "cache").write_text("in the way", encoding="utf-8")
    assert fresh_sentence(DEFAULT) == fresh_sentence(DEFAULT)
    assert len(computed) == 2
