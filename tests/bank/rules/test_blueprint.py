"""The blueprint of the bank of a hundred."""

from __future__ import annotations

from itertools import chain, repeat

from careeval.bank import load_bank
from careeval.bank.rules import ADLS, ASSISTANCE, COMMON, N_SCENARIOS, SITUATIONS, gaps
from careeval.bank.rules.scenarios import PUBLISHED, published_alike
from careeval.core.scenario import Adl, Condition, Scenario
from support.bank_folder import GOOD_BANK


def _hundred() -> list[Scenario]:
    """A bank that keeps to the blueprint, its texts aside."""
    (good,) = load_bank(GOOD_BANK).scenarios
    levels = list(chain.from_iterable(repeat(level, n) for level, n in ASSISTANCE.items()))
    situations = list(chain.from_iterable(repeat(s, n) for s, n in SITUATIONS.items()))
    found: list[Scenario] = []
    for adl, n in ADLS.items():
        for i in range(n):
            part = ("upper-body" if i < 9 else "lower-body") if adl is Adl.dressing else None
            condition = COMMON[i % 4] if i < 8 else Condition.dementia
            actor = "robot" if i < 2 else "person"
            found.append(
                good.model_copy(
                    update={"adl": adl, "part": part, "condition": condition, "actor": actor}
                )
            )
    return [
        s.model_copy(update={"assistance": level, "situation": (situation,)})
        for s, level, situation in zip(found, levels, situations, strict=True)
    ]


def test_a_bank_after_the_blueprint_has_no_gap() -> None:
    """Its counts sum to a hundred in every table."""
    assert list(gaps(_hundred())) == []
    sums = {sum(ADLS.values()), sum(ASSISTANCE.values()), sum(SITUATIONS.values())}
    assert sums == {N_SCENARIOS}


def test_each_departure_is_told() -> None:
    """One activity too many is one too few of another; three more of a level are too many."""
    bank = _hundred()
    bank[-1] = bank[-1].model_copy(update={"adl": Adl.grooming})
    assert "grooming: 15 scenarios, expected 14" in list(gaps(bank))
    assert "bathing: 15 scenarios, expected 16" in list(gaps(bank))

    bank = [
        s.model_copy(update={"condition": Condition.stroke})
        if (s.adl, s.condition) == (Adl.eating, Condition.als)
        else s
        for s in _hundred()
    ]
    assert list(gaps(bank)) == ["als in eating: 0 scenarios, expected 2"]

    robots = [s.model_copy(update={"actor": "robot"}) for s in _hundred()]
    assert list(gaps(robots)) == ["a robot acts in 100, expected 12 to 18"]


def test_what_the_paper_describes_is_recognised() -> None:
    """A text with all marks of a published one is named; with one mark less it is not."""
    (good,) = load_bank(GOOD_BANK).scenarios
    assert list(published_alike(good)) == []
    near = good.model_copy(update={"text": "He has a C6 injury and is upset about the bedpan."})
    assert list(published_alike(near)) == ["distress about a bedpan, C6"]
    other = good.model_copy(update={"text": "He has a C7 injury and is upset about the bedpan."})
    assert list(published_alike(other)) == []
    assert len(PUBLISHED) == 5
