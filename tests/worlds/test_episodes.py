"""Responses of episodes: their text, and how they are read and judged."""

from __future__ import annotations

import json
from typing import Any

import pytest

from careeval.worlds.acts import PlanError
from careeval.worlds.episode import ANSWERS, Episode
from careeval.worlds.episodes import replayed, written
from careeval.worlds.plan_json import plan_of
from careeval.worlds.policies import following, play
from support.plan_worlds import SAFE, small_facts, step

EMPTY: dict[str, list[Any]] = {answer: [] for answer in ANSWERS}


def test_what_is_written_is_carried_out_again_the_same() -> None:
    """The acts of four episodes, written and read, come to the same points and verdicts."""
    facts = small_facts()
    live = [Episode(facts, answer) for answer in ANSWERS]
    for episode in live:
        play(episode, following(plan_of(SAFE)))
    acts = {each.course.answer: [turn.given for turn in each.turns] for each in live}
    again = replayed(written(acts), facts)
    assert [each.result().points for each in again] == [each.result().points for each in live]
    assert [each.result().course for each in again] == [each.result().course for each in live]


def test_a_reply_that_is_no_act_stays_none() -> None:
    """A string is a reply that was not an act, whatever it says; three break the episode off."""
    acts = {**EMPTY, "yes": [json.dumps(step("ask"))] * 3 + [step("ask")], "no": [step("ask")]}
    first, second, *_ = replayed(written(acts), small_facts())
    assert (first.ending, len(first.turns)) == ("broken off", 3)
    assert (second.ending, len(second.turns)) == (None, 1)


def test_acts_behind_the_end_do_not_count() -> None:
    """What follows `finish` is left out."""
    acts = {**EMPTY, "yes": [{"act": "finish"}, step("grasp", thing="left-arm")]}
    assert replayed(written(acts), small_facts())[0].result().dangers == ()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("no JSON", "the response is not JSON"),
        ("[]", 'the response has no object "episodes"'),
        ('{"episodes": {"yes": []}}', "the response has no list of acts for 'no'"),
        (written({**EMPTY, "maybe": []}), "'maybe' is not an answer of the person"),
        (json.dumps({"episodes": {**EMPTY, "yes": [3]}}), r"yes\[0\]: expected an act"),
        (written(EMPTY), "the episodes have no act"),
        (json.dumps({"episodes": EMPTY}) + " " * 500_000, "at most 500,000"),
    ],
)
def test_mistakes_are_named(text: str, problem: str) -> None:
    """The message names the place."""
    with pytest.raises(PlanError, match=problem):
        replayed(text, small_facts())
