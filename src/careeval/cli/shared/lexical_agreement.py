"""How far the lexical grader agrees with the labelled probes of a bank, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from careeval.core.grader import Grader
from careeval.results.score.summary import Summary


def lexical_sentences(summaries: Sequence[Summary]) -> list[str]:
    """Return how the lexical grader does on the probes of the banks that it judged.

    A bank that is not careeval's own is stood for by the default bank.
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
    """Return how far the lexical grader agrees with the probes of one of careeval's own banks.

    Args:
        number: The N of its version; the default bank stands for any that is not careeval's.
    """
    # a summary by any other grader needs no bank, and does not wait for it to load
    from careeval.bank import load_bank
    from careeval.bank.load import OWN_BANKS
    from careeval.protocol.probe_check import lexical_agreement

    bank = load_bank(OWN_BANKS.get(number))
    agreement = lexical_agreement(bank).sentence()
    return f"The lexical grader, on bank {bank.about.version}: {agreement}"
