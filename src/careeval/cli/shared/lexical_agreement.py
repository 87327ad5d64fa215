"""A sentence on the lexical grader's agreement with the labelled probes of a bank."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from careeval.files import read_text, write_text
from careeval.protocol.tables import cache_entry, make_entry, prune
from careeval.results.summary import Summary

PACKAGE = Path(__file__).parents[2]
"""Folder of careeval's code."""


def lexical_sentences(summaries: Sequence[Summary]) -> list[str]:
    """Return a sentence on the lexical grader for each bank that it judged.

    For a bank that is not careeval's own, the agreement on the default bank is given.
    """
    from careeval.bank.load import DEFAULT, OWN_NAME

    numbers = {
        s.bank_version.partition("-")[0] if s.bank == OWN_NAME else DEFAULT
        for s in summaries
        if s.grader.is_lexical
    }
    return [lexical_sentence(number) for number in sorted(numbers)]


@cache
def lexical_sentence(number: str) -> str:
    """Return a sentence on the lexical grader's agreement with the probes of one of our own banks.

    The bank is named by the number that begins its version. The sentence is kept in the user's
    cache folder until the bank or careeval changes: to judge all probes takes longer than the rest
    of a summary.
    """
    from careeval.bank.load import OWN_BANK, OWN_BANKS

    folder = OWN_BANKS.get(number, OWN_BANK)
    kept = cache_entry("agreement", _hash(PACKAGE, folder))
    with suppress(OSError, ValueError):
        if kept is not None:
            return read_text(kept / "sentence.txt")
    sentence = _computed_sentence(folder)
    with suppress(OSError):
        if kept is not None:
            make_entry(kept)
            write_text(kept / "sentence.txt", sentence)
            prune(kept, max_bytes=10_000)
    return sentence


def _computed_sentence(folder: Path) -> str:
    from careeval.bank import load_bank
    from careeval.protocol.regrade import lexical_agreement

    bank = load_bank(folder)
    agreement = lexical_agreement(bank).sentence()
    return f"The lexical grader, on bank {bank.about.version}: {agreement}"


def _hash(package: Path, bank: Path) -> str:
    digest = hashlib.sha256()
    for path in (*sorted(package.rglob("*.py")), *sorted(bank.rglob("*.yaml"))):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
