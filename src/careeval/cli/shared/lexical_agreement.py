"""A sentence on the lexical grader's agreement with the labelled probes of a bank."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from careeval.core.grader import Grader
from careeval.results.score.summary import Summary


def lexical_sentences(summaries: Sequence[Summary]) -> list[str]:
    """Return a sentence on the lexical grader for each bank that it judged.

    For a bank that is not careeval's own, the agreement on the default bank is given.
    """
    from careeval.bank.load import DEFAULT, OWN_NAME

    numbers = {
        s.bank_version.partition("-")[0] if s.bank == OWN_NAME else DEFAULT
        for s in summaries
        if Grader.parse(s.grader).is_lexical
    }
    return [lexical_sentence(number) for number in sorted(numbers)]


@cache
def lexical_sentence(number: str) -> str:
    """Return a sentence on the lexical grader's agreement with the probes of one of our own banks.

    Args:
        number: The bank's number, which begins its version.
    """
    # imported here, since a summary by any other grader needs no bank
    from careeval.bank import load_bank
    from careeval.bank.load import OWN_BANKS
    from careeval.protocol.probe_check import lexical_agreement

    bank = load_bank(OWN_BANKS.get(number))
    agreement = lexical_agreement(bank).sentence()
    return f"The lexical grader, on bank {bank.about.version}: {agreement}"
