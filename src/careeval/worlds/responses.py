"""Responses to a world, a plan or episodes: their states, and the judgments of their items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from careeval.core.response import Response, ResponseState
from careeval.modes.grading import ItemJudgment
from careeval.modes.mode import Case
from careeval.worlds.acts import PlanError
from careeval.worlds.courses import carry_out_all
from careeval.worlds.episodes import episodes_text, replayed
from careeval.worlds.judge import Facts, judged, judgments, read_facts
from careeval.worlds.plan_json import read_plan
from careeval.worlds.simulator import Trace


def judge(case: Case) -> Sequence[ItemJudgment]:
    """Judge a response; the quote of an item is the step that makes it present."""
    facts = read_facts(case.facts)
    courses = [judged(trace, facts) for trace in _traces(case.response, facts)]
    decided = judgments(courses, facts)
    items = []
    for number, (item, _) in enumerate(case.items, start=1):
        each = decided[item]
        events = each.verdict.events if each.verdict else ()
        quote = events[0].step.quote if events else ""
        items.append(
            ItemJudgment(item=number, quote=quote, reason=each.reason, present=each.present)
        )
    return items


def interpret(response: Response, facts: Mapping[str, Any]) -> Response:
    """Return a response with its state: malformed, not executable, or answered.

    The note says what is wrong, and where. The text of episodes then has what was perceived and
    changed at each act, as in those that were asked for live.
    """
    world = read_facts(facts)
    try:
        if world.step:
            response = replace(response, text=episodes_text(replayed(response.text, world)))
        for trace in _traces(response.text, world):
            if trace.course.counts_goals and trace.broken_at is not None:
                note = (
                    f"{trace.course.words.lower()}: {trace.broken_at.address} cannot be carried"
                    f" out: {trace.problem}"
                )
                return replace(response, state=ResponseState.not_executable, note=note)
    except PlanError as error:
        note = "; ".join(filter(None, (str(error), error.hint)))
        return replace(response, state=ResponseState.malformed, note=note)
    return response


def _traces(text: str, facts: Facts) -> Iterator[Trace]:
    """Yield what happens in each course of a response, those in which goals count first.

    Raises:
        PlanError: The response is no plan, or no episodes.
    """
    if facts.step:
        yield from (episode.result().course.trace for episode in replayed(text, facts))
    else:
        yield from carry_out_all(read_plan(text), facts.room, facts.robot)
