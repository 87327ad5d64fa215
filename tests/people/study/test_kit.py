"""The kit for a first study: which scenarios it draws, and what its texts say."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from careeval.bank import load_bank
from careeval.core.rating import Role
from careeval.core.scenario import Adl, Rubric, Split
from careeval.people.study.kit import (
    chances_to_pass,
    draw_for_kit,
    gaps_left,
    kit_consent,
    kit_texts,
    whole_percent,
)
from careeval.people.study.plan import new_plan, planned_scenarios


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """The texts of a kit for twelve raters."""
    bank = load_bank()
    plan = new_plan(
        bank,
        [Role.nurse] * 12,
        study_id="s",
        title="t",
        consent=kit_consent(),
        seed=0,
        scenarios=draw_for_kit(bank, 0),
        rubrics=[Rubric.actions],
        points=False,
    )
    return kit_texts(plan, planned_scenarios(plan, bank), bank)


def test_twelve_raters(texts: dict[str, str]) -> None:
    """Ten of twelve must endorse; 1 − 0.9¹² is 72%, 1 − 0.95¹² 46%, 1 − 0.05^(1/12) 22%.

    Of nine in ten, at least ten endorse with 66 × .9¹⁰ × .01 + 12 × .9¹¹ × .1 + .9¹² = 89%.
    """
    numbers = texts["numbers.md"]
    assert "**10 of 12**" in numbers
    assert "| 12 | 10 | 25% | 56% | 89% | 98% |" in numbers
    assert "a probability of 72%; if one in twenty would, 46%" in numbers
    assert "up to 22% of such people" in numbers
    # 2 × 1/2⁶ = .031 is below .05, and 2 × 1/2⁵ is not
    assert "at least 6 raters endorse the one" in numbers


def test_two_scenarios_of_each_activity() -> None:
    """A draw has two public bases of each activity; a seed decides which."""
    bank = load_bank()
    drawn = [bank.scenario(name) for name in draw_for_kit(bank, 0)]
    assert Counter(s.adl for s in drawn) == dict.fromkeys(Adl, 2)
    assert all(s.split is Split.public and s.twin_of is None for s in drawn)
    assert draw_for_kit(bank, 0) == [s.id for s in drawn] != draw_for_kit(bank, 1)


def test_texts_are_filled_in(texts: dict[str, str]) -> None:
    """No placeholder of the program is left; only sheets to adapt have gaps."""
    assert not re.search(r"\$\w", "".join(texts.values()))
    gaps = {name for name, text in texts.items() if re.search(r"\[[^\]]+\](?!\()", text)}
    assert gaps == {"information.md", "consent.md"}


def test_gaps() -> None:
    """Each gap of the terms is named until it is filled in."""
    terms = kit_consent(ethics="12/2026")
    assert gaps_left(terms) == [
        "[institution]",
        "[date]",
        "[Names of those who run the study]",
        "[name and e-mail address of the person to ask]",
    ]
    filled = terms.model_copy(
        update={"text": re.sub(r"\[[^\]]+\]", "X", terms.text), "contact": "a@example.org"}
    )
    assert gaps_left(filled) == []


def test_table_of_chances() -> None:
    """With three raters all must endorse: .7³ is 34%, .95³ 86%; and no chance rounds to 100%."""
    assert chances_to_pass((3,)).splitlines()[-1] == "| 3 | 3 | 34% | 51% | 73% | 86% |"
    assert [whole_percent(x) for x in (0, 0.001, 0.5, 0.999, 1)] == [
        "0%",
        "<1%",
        "50%",
        ">99%",
        "100%",
    ]
