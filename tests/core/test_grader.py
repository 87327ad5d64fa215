"""Parsing and writing of the name of a grader."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.core.response import LEXICAL, Grader, grade_mode

TEXTS = st.text("ab/ (),+\n", max_size=12) | st.sampled_from(["prompt ", ", prompt ", " (", ")"])


@pytest.mark.parametrize(
    ("text", "parts", "setting", "short"),
    [
        (
            "openai/gpt-5 (batched, prompt 2f0c)",
            ("openai/gpt-5", "batched", "2f0c"),
            "batched, prompt 2f0c",
            "openai/gpt-5",
        ),
        (
            "a/b (per-item+scenario, prompt 2f0c)",
            ("a/b", "per-item+scenario", "2f0c"),
            "per-item+scenario, prompt 2f0c",
            "a/b (per-item+scenario)",
        ),
        ("a/b (per-item)", ("a/b", "per-item", ""), "per-item", "a/b (per-item)"),
        ("a/b", ("a/b", "", ""), "", "a/b"),
        ("a/b ()", ("a/b ()", "", ""), "", "a/b ()"),
        ("", ("", "", ""), "", ""),
    ],
)
def test_a_name_taken_apart(
    text: str, parts: tuple[str, str, str], setting: str, short: str
) -> None:
    """A name has a model, a mode and a prompt, and a name of another form is a model's."""
    grader = Grader(text)
    assert (grader.model, grader.mode, grader.prompt) == parts
    assert (Grader.named(*parts), grader.setting, grader.short) == (text, setting, short)


@given(st.lists(TEXTS).map("".join))
def test_a_name_stays_as_it_is_on_disk(text: str) -> None:
    """Any text, taken apart, is the same."""
    grader = Grader(text)
    assert grader == text == Grader.named(grader.model, grader.mode, grader.prompt)


@pytest.mark.parametrize("per_item", [True, False])
@pytest.mark.parametrize("with_scenario", [True, False])
def test_a_mode_is_read_as_it_was_written(per_item: bool, with_scenario: bool) -> None:
    """The mode tells whether a grader saw the scenario, per item and batched."""
    mode = grade_mode(per_item=per_item, with_scenario=with_scenario)
    assert Grader.named("a/b", mode, "2f0c").with_scenario is with_scenario
    assert (mode == "batched") is (not per_item and not with_scenario)


def test_the_lexical_grader() -> None:
    """The grader that compares words is known by its model, in any mode."""
    assert Grader(f"{LEXICAL} (batched, prompt 2f0c)").is_lexical
    assert not Grader("openai/gpt-5 (batched)").is_lexical
