"""Tests of reading, merging and resolving a grader's replies."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.core.scenario import Domain, Rung
from careeval.modes.grading import (
    ItemJudgment,
    Reply,
    RubricJudgments,
    grader_items,
    is_quoted,
    merge,
    read_reply,
    resolve,
    shown_order,
)
from careeval.modes.prompts import load_prompts
from careeval.modes.response import RESPONSE
from support.fake_server import judgments

INSTRUCTIONS = load_prompts(RESPONSE).texts["grade-system.md"]
CLEAN = json.dumps(
    {
        "judgments": [
            {"item": 1, "quote": "I ask her", "reason": "It asks.", "present": True},
            {"item": 2, "quote": "", "reason": "Nothing on it.", "present": False},
        ]
    }
)


def entry(item: Any = 1, present: Any = True, quote: Any = "", reason: Any = "R.") -> Any:
    """One entry of a reply."""
    return {"item": item, "quote": quote, "reason": reason, "present": present}


def reply(*entries: Any) -> str:
    """A reply of these entries."""
    return json.dumps({"judgments": entries})


def rung(name: str, text: str = "Asks her.", points: int = 1, **levels: int) -> Rung:
    """A rubric's item."""
    return Rung(
        id=name, points=points, text=text, domains={Domain(k): v for k, v in levels.items()}
    )


# --- reading a reply ---------------------------------------------------------------------------


def test_worked_example() -> None:
    """A clean reply about two items judges both, with the words that decide, and has no problem."""
    assert read_reply(CLEAN, 2) == Reply(
        {
            1: ItemJudgment(item=1, quote="I ask her", reason="It asks.", present=True),
            2: ItemJudgment(item=2, quote="", reason="Nothing on it.", present=False),
        }
    )


@pytest.mark.parametrize(
    "wrapped",
    [
        f"```json\n{CLEAN}\n```",
        f"Let me look {{closely}}.\n\n{CLEAN}\n\nI hope that helps {{:-)}}",
        f'{{"result": {CLEAN}}}',
        f'{{"thought": "no list here"}} {CLEAN}',
        f"\ufeff  {CLEAN}\n",
    ],
    ids=["fence", "prose", "nested", "another object first", "space"],
)
def test_what_stands_around_the_json_changes_nothing(wrapped: str) -> None:
    """JSON in a fence, in prose, or within another object is read as JSON alone."""
    assert read_reply(wrapped, 2) == read_reply(CLEAN, 2)


@pytest.mark.parametrize("first", [reply(entry(1, False)), INSTRUCTIONS])
def test_the_last_list_counts(first: str) -> None:
    """The last list of a grader that drafts or repeats its instructions first counts."""
    assert read_reply(f"{first}\n\n{CLEAN}", 2) == read_reply(CLEAN, 2)


FAKE = reply(entry(1, False), entry(2, False))
"""Judgments of both items, one of them not what `CLEAN` says."""


@pytest.mark.parametrize(
    "both",
    [
        f"{CLEAN}\n\n{FAKE}",
        f"The answer says {FAKE}\n\nBut: {CLEAN}",
        f"{FAKE} {CLEAN} {CLEAN}",
        f'{{"judgments": {json.dumps(json.loads(FAKE)["judgments"])}, {CLEAN[1:]}',
        f'{{"draft": {FAKE}, {CLEAN[1:]}',
    ],
    ids=["last", "first", "outvoted", "one object", "one in the other"],
)
def test_two_whole_lists_that_differ_settle_nothing(both: str) -> None:
    """An item that they judge differently is not judged; those on which they agree are."""
    result = read_reply(both, 2)
    assert {item: judged.present for item, judged in result.judgments.items()} == {2: False}
    assert result.problem == "its lists differ on item 1"


def test_two_whole_lists_that_agree_are_one() -> None:
    """A grader that says the same twice, in other words, is taken at its word."""
    draft = CLEAN.replace("It asks.", "Yes.")
    assert read_reply(f"{draft}\n\n{CLEAN}", 2) == read_reply(CLEAN, 2)


def test_an_echo_of_the_example_judges_nothing() -> None:
    """The example that the prompt shows is no judgment when it is sent back, not of any item."""
    result = read_reply(INSTRUCTIONS, 1)
    assert not result.judgments
    assert result.problem == "an entry repeats the example; it does not judge item 1"


def test_partial() -> None:
    """A reply that leaves items out keeps what it judged and names what is absent."""
    result = read_reply(reply(entry(2)), 3)
    assert set(result.judgments) == {2}
    assert result.problem == "it does not judge items 1, 3"


def test_twice_is_not_once() -> None:
    """An item that is judged twice counts as not judged, even where both entries agree."""
    result = read_reply(reply(entry(1), entry(1), entry(2)), 2)
    assert set(result.judgments) == {2}
    assert result.problem == "it judges item 1 more than once"


@pytest.mark.parametrize("item", [0, -1, 3, 10**30])
def test_items_that_are_not_on_the_list(item: int) -> None:
    """An entry about an item that was not shown is a problem, and the others stand."""
    result = read_reply(reply(entry(1), entry(2), entry(item)), 2)
    assert set(result.judgments) == {1, 2}
    assert result.problem == f"item {item} is not on the list"


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        (entry(present="yes"), "present"),
        (entry(present="true"), "present"),
        (entry(present=1), "present"),
        (entry(present=None), "present"),
        (entry(item="1"), "item"),
        (entry(item=True), "item"),
        (entry(item=1.0), "item"),
        (entry(quote=None), "quote"),
        (entry(reason=["R."]), "reason"),
        ({"item": 1, "present": True, "quote": ""}, "reason"),
        ("1: yes", "form"),
        (None, "form"),
    ],
)
def test_a_wrong_type_is_no_judgment(bad: Any, field: str) -> None:
    """A value of another type than asked for is never taken for what it might mean."""
    result = read_reply(reply(bad), 1)
    assert not result.judgments
    assert result.problem == f"an entry's {field} is not as asked; it does not judge item 1"


def test_a_field_more_does_no_harm() -> None:
    """A field that was not asked for is passed over."""
    assert read_reply(reply({**entry(), "confidence": 0.9}), 1) == read_reply(reply(entry()), 1)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it is empty"),
        (" \n", "it is empty"),
        ("Both are present.", "it holds no complete JSON object"),
        (CLEAN[:-3], 'it has no list "judgments"'),  # the first entry is whole, the list is not
        ('{"judgments": ', "it holds no complete JSON object"),
        (json.dumps([entry()]), 'it has no list "judgments"'),
        ("[]", "it holds no complete JSON object"),
        ('{"judgments": {"1": true}}', 'it has no list "judgments"'),
    ],
)
def test_no_list_at_all(text: str, problem: str) -> None:
    """A reply without a whole list of judgments judges nothing, and says what it lacks."""
    assert read_reply(text, 1) == Reply(problem=problem)


def test_a_reply_that_did_not_end_by_itself() -> None:
    """The problem of an incomplete reply is the reason why it ended; a complete one has none."""
    assert read_reply(CLEAN[:-3], 2, "it was cut off").problem == "it was cut off"
    assert read_reply(reply(entry(2)), 2, "it was cut off").judgments.keys() == {2}
    assert read_reply(CLEAN, 2, "it was cut off") == read_reply(CLEAN, 2)


@pytest.mark.parametrize(
    "hostile",
    [
        '{"judgments":' * 200_000,
        '{"judgments":' + "[" * 500_000,
        "{" * 1_000_000,
        '{"a":1}' * 200_000,
        '{"' + "\\" * 1_000_000,
        '{"judgments": [{"item": ' + "9" * 100_000 + "}]}",
    ],
    ids=["objects", "lists", "braces", "many", "string", "digits"],
)
def test_hostile_text_takes_bounded_time(hostile: str) -> None:
    """Text made to exhaust a parser takes under two seconds of the processor and judges nothing."""
    begun = time.process_time()
    result = read_reply(hostile, 2)
    assert time.process_time() - begun < 2
    assert not result.judgments
    assert result.problem


@given(st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    """No text is an exception, and one that judges nothing says why."""
    result = read_reply(text, 2)
    assert result.judgments or result.problem


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.randoms())
def test_the_order_of_entries_does_not_matter(present: list[bool], random: Any) -> None:
    """A whole reply means the same in any order of its entries."""
    entries = json.loads(judgments(present))["judgments"]
    random.shuffle(entries)
    result = read_reply(reply(*entries), len(present))
    assert not result.problem
    assert [result.judgments[i].present for i in range(1, len(present) + 1)] == present


# --- several attempts --------------------------------------------------------------------------


def test_the_first_that_judges_an_item_counts() -> None:
    """A repair adds what was absent and changes nothing that was judged."""
    first = read_reply(reply(entry(1, True)), 2)
    second = read_reply(reply(entry(1, False), entry(2, False)), 2)
    merged = merge([first, second])
    assert {number: judged.present for number, judged in merged.items()} == {1: True, 2: False}


ITEMS = [rung("+2"), rung("+1"), rung("-2")]
SHOWN = [ITEMS[2], ITEMS[0], ITEMS[1]]


def test_resolve_worked_example() -> None:
    """Numbers refer to the order shown, and judgments come back in the rubric's own."""
    text = reply(
        entry(1, False, "", "No pull."),
        entry(2, True, "ask her!", "Asks."),
        entry(3, True, "sings"),
    )
    graded = resolve(ITEMS, SHOWN, [read_reply(text, 3)], "First I ask her.")
    assert [(j.item, j.present, j.quote) for j in graded.judgments] == [
        ("+2", True, "ask her!"),  # number 2
        ("+1", True, None),  # number 3: its quote is not in the response
        ("-2", False, None),  # number 1
    ]
    assert [j.reason for j in graded.judgments] == ["Asks.", "R.", "No pull."]
    assert (graded.n_calls, graded.n_quotes_dropped) == (1, 1)


def test_half_a_character_is_replaced() -> None:
    """Half of a surrogate pair in a reason or a quote becomes the sign for the unreadable."""
    text = reply(entry(1, quote="I \ud83d wait", reason="So \udc00."))
    graded = resolve(ITEMS[:1], ITEMS[:1], [read_reply(text, 1)], "I \ufffd wait.")
    assert (graded.judgments[0].quote, graded.judgments[0].reason) == (
        "I \ufffd wait",
        "So \ufffd.",
    )


def test_what_is_not_judged_is_unresolved() -> None:
    """An item that no attempt judged is neither present nor absent, and says the last problem."""
    attempts = [read_reply("…", 3), read_reply("", 3), read_reply(reply(entry(2, True)), 3)]
    graded = resolve(ITEMS, SHOWN, attempts, "Yes.")
    assert [j.present for j in graded.judgments] == [True, None, None]
    why = "not judged in 3 attempts: it does not judge items 1, 3"
    assert [j.reason for j in graded.judgments] == ["R.", why, why]
    assert graded == RubricJudgments(graded.judgments, n_calls=3, n_quotes_dropped=0)


# --- quotes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "quote",
    [
        "I'd ask her first",
        "i’d ASK   her\nfirst…",
        '"ask her first,"',
        "first; then I",
        "I really wait",
    ],
)
def test_a_quote_is_found_whatever_its_dress(quote: str) -> None:
    """Case, space, punctuation and emphasis may differ."""
    assert is_quoted(quote, "I’d ask her first. Then I _really_ wait.")


@pytest.mark.parametrize("quote", ["", "…", "ask her now", "her ask", "ask first", "sk her", "fir"])
def test_a_quote_that_is_not_there(quote: str) -> None:
    """Other words, another order, words left out, or a piece of a word are not a quote."""
    assert not is_quoted(quote, "I'd ask her first.")


@given(st.text(), st.text(), st.text())
def test_what_stands_in_the_response_is_found(before: str, quote: str, after: str) -> None:
    """Any words between two spaces of the response are found in it."""
    has_words = re.search(r"[^\W_]", quote.casefold()) is not None
    assert is_quoted(quote, f"{before} {quote} {after}") is has_words


# --- what is shown -----------------------------------------------------------------------------


@given(st.integers(1, 12), st.integers(1, 20), st.integers(0, 5))
def test_the_order_shown_is_a_permutation(n_items: int, epoch: int, seed: int) -> None:
    """Every item is shown once, in an order that depends on scenario, epoch and seed alone."""
    items = [rung(f"a{i}") for i in range(n_items)]
    shown = shown_order(items, "eating-001", epoch, seed)
    assert sorted(item.id for item in shown) == sorted(item.id for item in items)
    assert shown == shown_order(items, "eating-001", epoch, seed)


def test_the_order_differs() -> None:
    """Another epoch, scenario or seed brings another order; one of them is pinned for good."""
    items = [rung(f"a{i}") for i in range(8)]
    orders = {
        tuple(item.id for item in shown_order(items, *where))
        for where in [
            ("eating-001", 1, 0),
            ("eating-001", 2, 0),
            ("eating-002", 1, 0),
            ("eating-001", 1, 1),
        ]
    }
    assert len(orders) == 4
    shown = [item.id for item in shown_order(items, "eating-001", 1, 0)]
    assert shown == ["a6", "a7", "a0", "a3", "a2", "a1", "a4", "a5"]


# --- the property that the whole protocol rests on ---------------------------------------------

TEXTS = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1).filter(str.strip),
    min_size=1,
    max_size=9,
)


@st.composite
def worths(draw: st.DrawFn, n: int) -> list[tuple[int, dict[Domain, int]]]:
    """Points and domains of n items."""
    levels = st.dictionaries(st.sampled_from(Domain), st.integers(0, 2))
    return draw(st.lists(st.tuples(st.integers(-2, 2), levels), min_size=n, max_size=n))


@given(st.data(), TEXTS, st.text(), st.integers(1, 10), st.booleans())
def test_the_prompt_does_not_change_when_the_points_do(
    data: st.DataObject, texts: list[str], response: str, epoch: int, with_scenario: bool
) -> None:
    """Two rubrics of the same texts make the same request, whatever their points and domains."""

    def request() -> str:
        items = [
            Rung(id=f"a{i}", points=points, text=text, domains=domains)
            for i, (text, (points, domains)) in enumerate(
                zip(texts, data.draw(worths(len(texts))), strict=True)
            )
        ]
        listed = grader_items(shown_order(items, "eating-001", epoch, 0))
        scenario = "She sits." if with_scenario else None
        return load_prompts(RESPONSE).grade_request(response, listed, scenario)

    assert request() == request()
