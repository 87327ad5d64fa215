"""Tests of the reasons of verdicts: written by the judge, read back by pages."""

from __future__ import annotations

import pytest

from careeval.worlds.judge import AT_END, Reason, at_steps, read_reason


@pytest.mark.parametrize(
    ("reason", "text", "steps"),
    [
        (Reason(at_steps([3])), "step 3", (3,)),
        (Reason(at_steps([3, 12])), "step 3, 12", (3, 12)),
        (Reason(AT_END), "at the end of the plan", ()),
        (Reason("no step does it"), "no step does it", ()),
        (
            Reason("", 5, "no hand is free; it holds the spoon"),
            "the plan breaks off at step 5: no hand is free; it holds the spoon",
            (),
        ),
        (
            Reason(at_steps([2]), 5, "no hand is free"),
            "step 2; the plan breaks off at step 5: no hand is free",
            (2,),
        ),
    ],
)
def test_a_reason_is_read_back(reason: Reason, text: str, steps: tuple[int, ...]) -> None:
    """What the judge writes has the fixed form, and the same parts when it is read."""
    assert str(reason) == text
    assert read_reason(text) == reason
    assert reason.steps == steps


@pytest.mark.parametrize("text", ["", "step 4 comes after step 2", "step x", "because"])
def test_other_words_name_no_step(text: str) -> None:
    """A reason of any other form is all words."""
    assert read_reason(text) == Reason(text)
    assert read_reason(text).steps == ()


def test_a_name_cannot_move_the_break() -> None:
    """The first place counts, since a problem may repeat a name that the response made up."""
    problem = "no thing 'a; the plan breaks off at step 9: b'"
    assert read_reason(f"step 1; the plan breaks off at step 2: {problem}") == Reason(
        "step 1", 2, problem
    )
