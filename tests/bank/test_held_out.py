"""careeval's own held-out split: of the whole bank where its key is, and in no clear text.

The key is read from CAREEVAL_HELD_OUT_KEY, or is that file of the maintainers' beside the checkout.
Without it these tests are skipped, and pytest says so.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from readings import Consistency, second_reading

from careeval.bank import Bank, load_bank
from careeval.bank.coverage import probe_counts
from careeval.bank.load import OWN_BANK
from careeval.bank.rules import N_SCENARIOS, check
from careeval.bank.sealed import KEY_VARIABLE, has_sealed, held_out_key, unseal
from careeval.core.scenario import Rubric, Scenario, Split

ROOT = Path(__file__).parent.parent.parent
BESIDE = ROOT.parent / "shared" / "held-out.key"
GIVEN = os.environ.get(KEY_VARIABLE) or (str(BESIDE) if BESIDE.is_file() else "")

needs_key = pytest.mark.skipif(
    not GIVEN, reason=f"the key of the held-out split is not here: set {KEY_VARIABLE}"
)


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    """The split's key."""
    monkeypatch.setenv(KEY_VARIABLE, GIVEN)
    found = held_out_key()
    assert found is not None
    return found


@pytest.fixture
def whole(key: str) -> Bank:
    """All hundred scenarios, with their twins."""
    return load_bank(OWN_BANK, key)


def held_out(bank: Bank) -> list[Scenario]:
    """The sealed ones."""
    return [scenario for scenario in bank.scenarios if scenario.split is Split.held_out]


def test_the_split_is_sealed_and_not_in_the_clear() -> None:
    """The file is there, and without its key the bank has public scenarios alone."""
    assert has_sealed(OWN_BANK)
    bank = load_bank(OWN_BANK)
    assert len(bank.bases) == 80
    assert held_out(bank) == []


def test_every_file_of_the_bank_carries_the_canary() -> None:
    """YAML in itself; the tables of second readings in the page beside them."""
    canary = load_bank(OWN_BANK).about.canary
    files = [*OWN_BANK.rglob("*.yaml"), OWN_BANK / "second-reading" / "README.md"]
    assert [path for path in files if canary not in path.read_text(encoding="utf-8")] == []


@needs_key
def test_the_whole_bank_is_clean(whole: Bank) -> None:
    """A hundred scenarios after the blueprint, none with a problem; sealed ids are opaque."""
    assert len(whole.bases) == N_SCENARIOS
    assert [str(problem) for problem in check(whole)] == []
    for scenario in held_out(whole):
        assert re.fullmatch(rf"{scenario.adl}-h\d\d(-twin)?", scenario.id)
        assert all(re.fullmatch(r"i\d+", action.id) for action in scenario.actions)


@needs_key
def test_no_sentence_of_it_is_in_the_repository(whole: Bank) -> None:
    """No tracked file holds twelve words in a row of a held-out text, item, reason or probe."""
    said = [
        text
        for s in held_out(whole)
        for text in (s.text, *(i.text for r in Rubric for i in s.rubric(r)),
                     *(a.why for a in s.actions),
                     *(p.text for p in whole.probes.get(s.id, ()) if p.trap != "generic"))
    ]  # fmt: skip
    secret = {phrase for text in said for phrase in _phrases(text)}
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout
    found = []
    for name in filter(None, tracked.split("\0")):
        path = ROOT / name
        if path.is_file() and path.suffix not in {".age", ".png", ".eval"}:
            found += [name for phrase in _phrases(path.read_text("utf-8", "replace"))
                      if phrase in secret]  # fmt: skip
    assert sorted(set(found)) == []


def _phrases(text: str) -> set[tuple[str, ...]]:
    """Every twelve words that follow each other."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    return set(zip(*(words[i:] for i in range(12)), strict=False))


@needs_key
def test_the_aims_of_the_bank_are_met(whole: Bank, key: str) -> None:
    """Labels, generic answers and the last reading of the points, over all hundred."""
    counts = probe_counts(whole)
    assert counts.labels >= 5000
    assert counts.present / counts.labels >= 0.2
    assert counts.severe_present >= 120
    assert min(counts.by_trap.values()) >= 15
    for trap, scores in counts.scores.items():
        for score in scores.values():
            if trap not in counts.by_trap:
                assert score <= 0.15
            assert trap != "expert" or score >= 0.85
            assert trap != "harmful" or score < 0
    points = second_reading(OWN_BANK, unseal(OWN_BANK, key)).points
    last = Consistency.of(points["last"] or points["first"])
    assert last.kappa is not None
    assert last.kappa >= 0.85
    if points["last"]:
        assert last.flips == ()
