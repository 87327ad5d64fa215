"""Answers that experts write themselves, before they see anything of a rubric. No I/O.

Seeing one rubric teaches what all rubrics want. So a study asks for these answers first, opens
nothing else until they are handed in, and lets nobody change them afterwards. An answer belongs to
the version of the scenario that its writer saw, in whatever round.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from random import Random

from careeval.people.deck import SKIPPED, Question
from careeval.people.store import Answer, Work

HANDED_IN = "answers-handed-in"
"""The task under which the store keeps that answers are handed in, with a field for each round."""

TASKS = "answer/"
"""The beginning of the name of every task on which somebody writes an answer."""

_WRITTEN = "answer"

MINUTES = 8.0
"""Expected minutes to think of 150 words and write them: a guess."""


def answer_question(told: str) -> Question:
    """Return the one question of the page, with the instructions for answering."""
    return Question(_WRITTEN, "comment", "Your answer", "your answer", hint=told)


def answer_task(scenario: str, version: int) -> str:
    """Return the name that the store gives to the answer to one version of a scenario."""
    return f"{TASKS}{scenario}@{version}"


def written_answer(answers: Mapping[str, Answer]) -> str | None:
    """Return the text that a rater wrote; None if they wrote nothing or declined.

    An answer that was typed before its writer declined does not count.
    """
    return answers[_WRITTEN].value if _WRITTEN in answers and SKIPPED not in answers else None


def has_handed_in(answers: Mapping[str, Answer]) -> bool:
    """Tell from the answers on `HANDED_IN` whether a rater has handed in, in any round."""
    return bool(answers)


def count_written(work: Work) -> int:
    """Return how many answers a rater has written in all rounds, declined ones left out."""
    return sum(
        name.startswith(TASKS) and written_answer(answers) is not None
        for name, answers in work.items()
    )


def draw_scenarios(
    seats: Mapping[str, Sequence[str]], each: int, *, seed: int
) -> dict[str, tuple[str, ...]]:
    """Draw the scenarios that raters answer: the same number for each rater, spread evenly.

    The sum, over scenarios, of the squared number of answers is the smallest that these seats
    allow.

    Args:
        seats: Rater → their scenarios, in their order; each has at least `each`.
        each: Answers per rater, at least 1.
        seed: The seed of everything random here.

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
    while (swaps := _evening_swaps(seats, chosen, count)) is not None:
        for rater, leaves, takes in swaps:
            chosen[rater] = chosen[rater] - {leaves} | {takes}
            count[leaves] -= 1
            count[takes] += 1
    return {rater: tuple(n for n in seats[rater] if n in chosen[rater]) for rater in seats}


_Swap = tuple[str, str, str]
"""A rater, the scenario that they no longer answer, and the one that they answer instead."""


def _evening_swaps(
    seats: Mapping[str, Sequence[str]], chosen: Mapping[str, set[str]], count: Mapping[str, int]
) -> list[_Swap] | None:
    """Return swaps that move an answer from a scenario to one with at least two fewer; else None.

    If no such swaps exist, the draw is as even as possible.
    """
    least = min(count.values(), default=0)
    for start in sorted(count, key=count.__getitem__, reverse=True):
        if count[start] < least + 2:
            return None
        swaps: dict[str, list[_Swap]] = {start: []}
        queue = deque([start])
        while queue:
            here = queue.popleft()
            if count[here] < count[start] - 1:
                return swaps[here]
            for rater in sorted(chosen):
                if here in chosen[rater]:
                    for other in seats[rater]:
                        if other not in chosen[rater] and other not in swaps:
                            swaps[other] = [*swaps[here], (rater, here, other)]
                            queue.append(other)
    return None
