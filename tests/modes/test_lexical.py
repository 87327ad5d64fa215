"""The lexical grader: its arithmetic by hand, and its limits as it states them."""

from __future__ import annotations

import json
import subprocess
import sys
from math import log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.modes.grading import is_quoted, read_reply
from careeval.modes.mode import Case
from careeval.modes.response.lexical import (
    THRESHOLD,
    coverage,
    lexical,
    nearest_sentence,
    word_stems,
)


def judgments(response: str, items: list[str]) -> list[dict[str, Any]]:
    """Return the lexical grader's judgments of a response on the texts of some items."""
    case = Case(response, [(f"item-{n}", text) for n, text in enumerate(items, 1)], {})
    return [judgment.model_dump() for judgment in lexical(case)]


def test_worked_example() -> None:
    """Coverage is the share of an item's words that are spoken, the rarer word weighing more."""
    items = ["Locks the wheelchair.", "Pushes the wheelchair away."]
    # stems: {lock, wheelchair} and {push, wheelchair, away}; of the 2 items, 2 hold wheelchair, 1
    # each of the others: wheelchair weighs log(3/2), the others log(3/1)
    shared, own = log(3 / 2), log(3)
    assert coverage("I lock it.", items) == pytest.approx([own / (own + shared), 0])
    assert coverage("Her wheelchair!", items) == pytest.approx(
        [shared / (own + shared), shared / (2 * own + shared)]  # 0.27 and 0.16
    )
    present = [judgment["present"] for judgment in judgments("Her wheelchair!", items)]
    assert present == [True, False]  # the threshold is 0.25


def test_a_whole_judgment() -> None:
    """A judgment names the item, quotes the sentence nearest to it, and says how near."""
    said = "I greet her. I lock the wheelchair first! Then we go."
    assert judgments(said, ["Locks the wheelchair.", "Sings."]) == [
        {
            "item": 1,
            "quote": "I lock the wheelchair first!",
            "reason": "100% of the item's weighted words are in the answer",
            "present": True,
        },
        {
            "item": 2,
            "quote": "",
            "reason": "0% of the item's weighted words are in the answer",
            "present": False,
        },
    ]


def test_words() -> None:
    """Words are stems in lower case; stop words, digits and punctuation are none."""
    assert word_stems("She doesn’t PULL, pulls or pulled 2 cuffs.") == [
        *word_stems("doesn't"), "pull", "pull", "pull", "cuff",
    ]  # fmt: skip


def test_an_item_without_words_is_absent() -> None:
    """An item of stop words alone has coverage 0, not an error."""
    assert coverage("So do I.", ["So do I."]) == [0.0]
    assert coverage("I wait.", []) == []


def test_the_first_of_equal_sentences() -> None:
    """Of sentences that share as much the first is quoted; of no sentence, nothing."""
    assert nearest_sentence("I wait.\nI wait here.", "Waits.") == "I wait."
    assert nearest_sentence("", "Waits.") == ""


def test_it_knows_no_negation() -> None:
    """A documented limit: an act that the answer rules out is taken for present."""
    (judged,) = judgments("I would never pull her weak arm.", ["Pulls her weak arm."])
    assert judged["present"]


def test_it_knows_no_side() -> None:
    """A documented limit: the wrong side differs by one word and is taken for present."""
    (judged,) = judgments("I dress her right arm first.", ["Dresses her left arm first."])
    assert judged["present"]


SENTENCES = st.text(st.sampled_from("abc .!?\n"), max_size=60)


@given(SENTENCES, st.lists(SENTENCES, max_size=6))
def test_shares_are_shares(response: str, items: list[str]) -> None:
    """Coverage is from 0 to 1, and an item that is the response itself is covered whole."""
    assert all(0 <= share <= 1 for share in coverage(response, items))
    if word_stems(response):
        assert coverage(response, [response, *items])[0] == 1


@given(SENTENCES, st.lists(SENTENCES, min_size=1, max_size=6), st.randoms())
def test_the_order_shown_does_not_matter(response: str, items: list[str], random: object) -> None:
    """Each item is judged the same wherever it stands on the list."""
    shuffled = list(enumerate(items))
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    shares = coverage(response, [item for _, item in shuffled])
    assert [share for _, share in sorted(zip((i for i, _ in shuffled), shares, strict=True))] == (
        coverage(response, items)
    )


@given(SENTENCES, st.lists(SENTENCES, min_size=1, max_size=6))
def test_its_reply_is_one_that_is_taken_whole(response: str, items: list[str]) -> None:
    """Its reply is read without a problem, and every quote is the response's own."""
    reply = read_reply(json.dumps({"judgments": judgments(response, items)}), len(items))
    assert not reply.problem
    for judged in reply.judgments.values():
        assert is_quoted(judged.quote, response) is (
            judged.present and bool(word_stems(judged.quote))
        )


def test_it_is_the_same_in_every_process() -> None:
    """Shares are equal to the last bit whatever seed a process hashes its strings with."""
    code = """
from careeval.modes.response.lexical import coverage
items = [
    "Asks her to hold on to the rail with her strong hand while she stands up slowly.",
    "Holds the rail and slowly counts to three.",
    "Stands behind her strong side, one hand on the belt.",
]
print([share.hex() for share in coverage("She holds on, slowly, hand on the belt.", items)])
"""
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(4)
    }
    assert len(printed) == 1


def test_the_threshold_is_pinned() -> None:
    """The threshold moves grades, so that a change to it is a change of the protocol."""
    assert THRESHOLD == 0.25
