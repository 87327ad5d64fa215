"""Responses to a world, a plan or episodes: their states, and the judgments of their items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from careeval.core.response import Response, ResponseState
from careeval.modes.grading import ItemJudgment
from careeval.modes.mode import Case
from careeval.worlds.acts import PlanError
from careeval.worlds.courses import carry_out_all
from careeval.worlds.episode import Episode
from careeval.worlds.episodes import episodes_text, replayed
from careeval.worlds.judge import judged_courses, judgments, read_facts
from careeval.worlds.plan_json import read_plan
from careeval.worlds.questions import LETTERS, answer_judgments, read_answers, sight_judgments
from careeval.worlds.simulator import Trace


def judge(case: Case) -> Sequence[ItemJudgment]:
    """Judge a response; the quote of an item is the step that makes it present."""
    if letters := case.facts.get("letters"):
        answers = read_answers(case.response, len(letters), LETTERS)
        return sight_judgments(answers, letters, [item for item, _ in case.items])
    if ids := case.facts.get("questions"):
        points = case.facts["points"]
        answers = read_answers(case.response, len(ids))
        return answer_judgments(answers, ids, [(item, points[item]) for item, _ in case.items])
    facts = read_facts(case.facts)
    if facts.step:
        courses = [episode.result().course for episode in replayed(case.response, facts)]
    else:
        courses = judged_courses(read_plan(case.response), facts)
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
    try:
        if letters := facts.get("letters"):
            read_answers(response.text, len(letters), LETTERS)
            return response
        if ids := facts.get("questions"):
            read_answers(response.text, len(ids))
            return response
        world = read_facts(facts)
        if world.step:
            episodes = replayed(response.text, world)
            response = replace(response, text=episodes_text(episodes))
            traces = _traces_of(episodes)
        else:
            traces = carry_out_all(read_plan(response.text), world.room, world.robot)
        for trace in takewhile(lambda trace: trace.course.counts_goals, traces):
            if trace.broken_at is not None:
                note = (
                    f"{trace.course.words.lower()}: {trace.broken_at.address} cannot be carried"
                    f" out: {trace.problem}"
                )
                return replace(response, state=ResponseState.not_executable, note=note)
    except PlanError as error:
        note = "; ".join(filter(None, (str(error), error.hint)))
        return replace(response, state=ResponseState.malformed, note=note)
    return response


def _traces_of(episodes: Iterable[Episode]) -> Iterator[Trace]:
    return (episode.result().course.trace for episode in episodes)
