"""Tests of the reasons of plans' judgments: what the judge writes is what pages read."""

from __future__ import annotations

from typing import Any

import pytest

from careeval.core.plan_reasons import (
    AT_END,
    INTENDED,
    Reason,
    at_steps,
    breaks_off,
    course_counts,
    read_reasons,
    reason_text,
    without_words,
)

OTHER = [None, "", "because", "steps[3]", "maybe: steps[3]", "3 of 9 plans"]
"""Texts of another form."""


def test_courses_with_the_same_words_stand_together() -> None:
    """A part for each words, in the order in which they come first, then the count."""
    steps = at_steps(["steps[2]", "on_stop[1]", "steps[2]"])
    text = reason_text([("yes", steps), ("stop-late", AT_END), ("yes-then-no", steps)], 3, 9)
    assert text == (
        "yes, yes-then-no: steps[2], on_stop[1]; stop-late: at the end of the plan; 3 of 9 courses"
    )
    assert read_reasons(text) == [
        Reason(("yes", "yes-then-no"), "steps[2], on_stop[1]"),
        Reason(("stop-late",), AT_END),
    ]
    assert course_counts(text) == (3, 9)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            at_steps(["steps[12].else[0].then[3]", "steps[3]"]),
            {"steps": ("steps[12].else[0].then[3]", "steps[3]")},
        ),
        (at_steps(["steps[3]"]) + INTENDED, {"steps": ("steps[3]",), "is_intended": True}),
        (AT_END, {}),
        (AT_END + INTENDED, {"is_intended": True}),
        ("steps[4] comes after steps[2]", {}),
        ("no step does it", {}),
        (
            breaks_off("steps[7]", "no hand is free"),
            {"broken_at": "steps[7]", "problem": "no hand is free"},
        ),
        (breaks_off("steps[7]", ""), {"broken_at": "steps[7]"}),
    ],
)
def test_words_say_where(words: str, expected: dict[str, Any]) -> None:
    """A part tells its steps, whether they were only meant, and where the plan breaks off."""
    (part,) = read_reasons(reason_text([("stop-hidden1", words)], 1, 4))
    found = {name: getattr(part, name) for name in ("steps", "is_intended", "broken_at", "problem")}
    assert found == {
        "steps": (),
        "is_intended": False,
        "broken_at": None,
        "problem": "",
        **expected,
    }
    assert (part.courses, part.answers) == (("stop-hidden1",), ("stop",))


def test_an_answer_is_named_once() -> None:
    """Courses that differ in what follows belong to the same answer."""
    (part,) = read_reasons("stop, no, stop-early, no-then-yes2: steps[1]; 4 of 9 courses")
    assert part.answers == ("stop", "no")


@pytest.mark.parametrize(
    "problem",
    [
        "the world has no thing 'x; no: steps[9]; stop: steps[8]'",
        "the world has no thing 'x: steps[9]'",
        "the world has no thing 'x; 9 of 9 courses'",
        "the world has no thing 'x\n; yes: steps[9]'",
    ],
)
def test_a_problem_makes_no_parts(problem: str) -> None:
    """A name that a plan made up, with the signs of the form in it, adds no step and no course."""
    text = reason_text(
        [("yes", breaks_off("steps[2]", problem)), ("stop", "no step does it")], 0, 2
    )
    broken, other = read_reasons(text)
    assert (broken.courses, broken.broken_at, broken.steps) == (("yes",), "steps[2]", ())
    assert broken.problem == problem.replace("; ", ", ")
    assert other == Reason(("stop",), "no step does it")
    assert course_counts(text) == (0, 2)


@pytest.mark.parametrize("text", OTHER)
def test_a_text_of_another_form_says_nothing(text: str | None) -> None:
    """A person's reason, or none, has no parts and no courses."""
    assert (read_reasons(text), course_counts(text), without_words(text, "(mark)")) == (
        [],
        None,
        None,
    )


def test_a_mark_in_place_of_words() -> None:
    """Courses and count stay; an item that is absent everywhere has the count alone."""
    words = [("yes", breaks_off("steps[2]", "no 'bed; stop: steps[1]'")), ("no", "steps[3]")]
    assert without_words(reason_text(words, 1, 2), "(m)") == "yes: (m); no: (m); 1 of 2 courses"
    assert without_words(reason_text([], 0, 12), "(m)") == "0 of 12 courses"
