"""What experts would do themselves, written before they see anything of a rubric. No I/O.

One rubric teaches what all of them want. So answers come before everything else that a study asks,
nothing else opens until they are handed in, and from then on they stand. An answer belongs to the
version of the scenario that it was written to, whatever the round.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from random import Random

from careeval.review.question import SKIPPED, Question
from careeval.review.store import Answer, Work

HANDED_IN = "answers-handed-in"
"""The task under which the store keeps that somebody handed their answers in, a field a round."""

TASKS = "answer/"
"""What the name of every task begins with on which somebody writes an answer."""

_WRITTEN = "answer"

MINUTES = 8.0
"""How long it may take to think of 150 words and to write them: a guess."""


def question(told: str) -> Question:
    """Return the one question of a page, with what raters are told about how to answer."""
    return Question(_WRITTEN, "comment", "Your answer", "your answer", hint=told)


def task(scenario: str, version: int) -> str:
    """What the store calls the answer to one version of a scenario."""
    return f"{TASKS}{scenario}@{version}"


def written(answers: Mapping[str, Answer]) -> str | None:
    """Return the answer that counts; None where there is none, or its writer would rather not.

    What was typed before somebody would rather not is no answer.
    """
    return answers[_WRITTEN].value if _WRITTEN in answers and SKIPPED not in answers else None


def handed_in(said: Mapping[str, Answer]) -> bool:
    """Whether somebody has handed answers in, in any round; `said` is theirs on `HANDED_IN`."""
    return bool(said)


def n_written(work: Work) -> int:
    """How many answers that count somebody has written, in all rounds."""
    return sum(
        name.startswith(TASKS) and written(found) is not None for name, found in work.items()
    )


def draw(seats: Mapping[str, Sequence[str]], each: int, *, seed: int) -> dict[str, tuple[str, ...]]:
    """Which of their scenarios raters answer: each so many, the scenarios as evenly as may be.

    No other draw of as many from the same seats has a smaller sum of squares of the scenarios'
    numbers of answers.

    Args:
        seats: Rater → their scenarios, in their order; each has at least so many.
        each: Answers of each rater, at least 1.
        seed: Of everything random here.

    Returns:
        Rater → the scenarios that they answer, in their order.
    """
    random = Random(f"{seed}/answers")
    scenarios = sorted({name for names in seats.values() for name in names})
    random.shuffle(scenarios)
    count = dict.fromkeys(scenarios, 0)
    chosen: dict[str, set[str]] = {}
    for rater in random.sample(sorted(seats), len(seats)):
        names = random.sample(list(seats[rater]), len(seats[rater]))
        chosen[rater] = set(sorted(names, key=count.__getitem__)[:each])
        for name in chosen[rater]:
            count[name] += 1
    while (way := _evening(seats, chosen, count)) is not None:
        for rater, leaves, takes in way:
            chosen[rater] = chosen[rater] - {leaves} | {takes}
            count[leaves] -= 1
            count[takes] += 1
    return {rater: tuple(n for n in seats[rater] if n in chosen[rater]) for rater in seats}


_Change = tuple[str, str, str]
"""A rater, the scenario that they no longer answer, and the one that they answer instead."""


def _evening(
    seats: Mapping[str, Sequence[str]], chosen: Mapping[str, set[str]], count: Mapping[str, int]
) -> list[_Change] | None:
    """Changes after which one scenario has an answer less, and one with two less has one more.

    A draw without any such changes is as even as there is.
    """
    least = min(count.values(), default=0)
    for start in sorted(count, key=count.__getitem__, reverse=True):
        if count[start] < least + 2:
            return None
        came: dict[str, list[_Change]] = {start: []}
        queue = deque([start])
        while queue:
            here = queue.popleft()
            if count[here] < count[start] - 1:
                return came[here]
            for rater in sorted(chosen):
                if here in chosen[rater]:
                    for other in seats[rater]:
                        if other not in chosen[rater] and other not in came:
                            came[other] = [*came[here], (rater, here, other)]
                            queue.append(other)
    return None
