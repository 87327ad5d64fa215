"""The grader: shows a rubric and a response to a model and records its judgments.

The model sees neither points nor domains.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    ResponseSchema,
    get_model,
    model_roles,
)
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import json_schema

from careeval.core.response import Response, ResponseState
from careeval.core.scenario import Rubric, RubricItem
from careeval.errors import ProtocolError
from careeval.modes import MODES
from careeval.modes.grading import (
    MAX_ATTEMPTS,
    Judgments,
    Reply,
    RubricJudgments,
    grader_items,
    read_reply,
    resolve,
    shown_order,
)
from careeval.modes.mode import Case
from careeval.modes.prompts import Prompts, load_prompts
from careeval.modes.response import RESPONSE
from careeval.protocol.call_journal import stop_problem, usage_numbers
from careeval.protocol.calls import call, current_calls
from careeval.protocol.log_fields import GradingUsage
from careeval.protocol.prices import ITEM_TOKENS
from careeval.scoring import maximum, scenario_points

GRADER_ROLE = "grader"

STORE_KEY = "careeval_response"
"""Key of the response in a sample's store."""

CONFIG = GenerateConfig(
    temperature=0.0,
    response_schema=ResponseSchema(
        name="judgments", json_schema=json_schema(Judgments), strict=True
    ),
)
"""The settings of every call to a grader; built once, since building the schema takes 1 ms."""


@scorer(metrics={"*": [mean()]}, name="careeval")
def grade(
    rubrics: list[str],
    per_item: bool = False,
    grader_context: str = "none",
    prompts: str | None = None,
    seed: int = 0,
    mode: str = RESPONSE.name,
) -> Scorer:
    """Grade a response against its rubric and record every judgment in the score's metadata.

    The arguments are those of the task `careeval`. The score's value is the points of the rubric,
    for Inspect's viewer alone: every number that careeval publishes is computed from the judgments.
    """
    texts = load_prompts(MODES[mode], Path(prompts) if prompts else None)

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        response = find_response(state)
        assert response is not None
        recorded: dict[str, Any] = {}
        metadata = {
            "epoch": state.epoch,
            "response_state": response.state.value,
            "rubrics": recorded,
        }
        if response.state is ResponseState.missing:
            return Score.unscored(
                reason="no_response", explanation=response.note, metadata=metadata
            )
        if not response.state.is_graded:
            no_points = dict.fromkeys(rubrics, 0)
            state_name = response.state.value
            return Score(value=no_points, answer="", explanation=state_name, metadata=metadata)
        grading = _Grading(
            get_model(role=GRADER_ROLE, required=True),
            texts if MODES[mode].models_grade else None,
            response.text,
            facts_of(state.metadata),
            state.input_text if grader_context == "scenario" else None,
            per_item,
            f"{state.sample_id} {state.epoch}",
        )
        value: dict[str, float] = {}
        for rubric in map(Rubric, rubrics):
            items = rubric_of(state.metadata, rubric)
            shown = shown_order(items, str(state.sample_id), state.epoch, seed)
            graded, usage = await grading.rubric(rubric, items, shown)
            recorded[rubric.value] = {
                "judgments": [asdict(judgment) for judgment in graded.judgments],
                "shown": [item.id for item in shown],
                "n_calls": graded.n_calls,
                "n_quotes_dropped": graded.n_quotes_dropped,
                "usage": asdict(usage),
            }
            value[rubric.value] = viewer_points(rubric, items, graded)
        return Score(value=value, answer=response.text, metadata=metadata)

    return score


def find_response(state: TaskState) -> Response | None:
    """Return the response that a solver has stored; `None` if the call failed."""
    stored: dict[str, Any] | None = state.store.get(STORE_KEY)
    if stored is None:
        return None
    # read back from a log, its state is a plain string
    return Response(**{**stored, "state": ResponseState(stored["state"])})


def rubric_of(metadata: Mapping[str, Any], rubric: Rubric) -> list[RubricItem]:
    """Return the items of one rubric from a sample's metadata, in the rubric's order."""
    return [
        RubricItem.model_validate({n: item[n] for n in RubricItem.model_fields if n in item})
        for item in metadata["rubrics"][rubric.value]
    ]


def facts_of(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the facts of a scenario from its sample's metadata; empty if it has none."""
    facts: Mapping[str, Any] = metadata.get("facts", {})
    return facts


@solver
def grader_given() -> Solver:
    """Stop a graded run without a grader, before its first call."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        if GRADER_ROLE not in model_roles():
            raise ProtocolError(
                "no grader is named: give --model-role grader=MODEL, "
                "or store the responses ungraded with -T grade=false"
            )
        return state

    return solve


def viewer_points(rubric: Rubric, items: Sequence[RubricItem], graded: RubricJudgments) -> float:
    """Return the points of a graded rubric; NaN, Inspect's "unscored", if they are uncertain.

    Points are uncertain if an unresolved item could change them. A plan has never fewer than minus
    the maximum.
    """
    present = np.array(
        [[np.nan if j.present is None else float(j.present) for j in graded.judgments]]
    )
    points = np.array([item.points for item in items])
    bounds = scenario_points(points, present)
    if bounds.low[0] != bounds.high[0]:
        return float("nan")
    earned = float(bounds.low[0])
    return max(earned, -float(maximum(points))) if rubric is Rubric.plan else earned


def _usage_of(outputs: Sequence[ModelOutput]) -> GradingUsage:
    """Return the usage summed over calls; 0 for no calls."""
    columns = zip(*(usage_numbers(output) for output in outputs), strict=True)
    sums = [None if None in column else sum(column) for column in columns]
    return GradingUsage(*sums) if sums else GradingUsage(0, 0, 0.0, 0.0)


@dataclass(frozen=True)
class _Grading:
    """The grading of one response: the parts that all its calls share."""

    grader: Model
    prompts: Prompts | None  # Prompts for a model; `None` if only programs grade
    response: str
    facts: Mapping[str, Any]  # Facts of the scenario, for a program
    scenario: str | None  # Its text; `None` if the grader must not see it
    per_item: bool
    name: str  # Scenario and epoch

    async def rubric(
        self, rubric: Rubric, items: Sequence[RubricItem], shown: Sequence[RubricItem]
    ) -> tuple[RubricJudgments, GradingUsage]:
        """Grade one rubric in one call, or in one call per item."""
        if not items:
            return RubricJudgments((), 0, 0), _usage_of([])
        if not self.per_item:
            replies, outputs = await self._ask(shown, rubric)
            return resolve(items, shown, replies, self.response), _usage_of(outputs)
        try:
            async with asyncio.TaskGroup() as group:
                asked = [
                    group.create_task(self._ask([item], f"{rubric} {item.id}")) for item in shown
                ]
        except ExceptionGroup as errors:
            # the group has ended every other call; Inspect knows the error of one
            raise errors.exceptions[0] from None
        results = [task.result() for task in asked]
        graded_items = [
            resolve([item], [item], replies, self.response)
            for item, (replies, _) in zip(shown, results, strict=True)
        ]
        by_id = {graded.judgments[0].item: graded.judgments[0] for graded in graded_items}
        whole = RubricJudgments(
            tuple(by_id[item.id] for item in items),
            sum(graded.n_calls for graded in graded_items),
            sum(graded.n_quotes_dropped for graded in graded_items),
        )
        return whole, _usage_of([output for _, outputs in results for output in outputs])

    async def _ask(
        self, shown: Sequence[RubricItem], scope: str
    ) -> tuple[list[Reply], list[ModelOutput]]:
        """Have items judged in one call, and ask again while the reply is incomplete."""
        request = self._request(shown)
        messages = request
        replies: list[Reply] = []
        outputs: list[ModelOutput] = []
        while len(replies) < MAX_ATTEMPTS:
            # each attempt has a name: else a repair may get the stored reply that it is to repair
            name = f"{self.name} {scope} {len(replies) + 1}"
            expected = ITEM_TOKENS * len(shown)
            output = (await call("grade", name, self.grader, messages, CONFIG, expected)).output
            outputs.append(output)
            reply = read_reply(output.completion, len(shown), stop_problem(output))
            replies.append(reply)
            if not reply.problem or self.prompts is None:
                break
            repair = self.prompts.repair(reply.problem, len(shown))
            messages = [
                *request,
                ChatMessageAssistant(content=output.completion or "(nothing)"),
                ChatMessageUser(content=repair, metadata=request[-1].metadata),
            ]
        if calls := current_calls():
            n_judged = sum(len(each.judgments) for each in replies)
            calls.record_grading(self.name, n_judged, replies[-1].problem, outputs[-1].completion)
        return replies, outputs

    def _request(self, shown: Sequence[RubricItem]) -> list[ChatMessage]:
        """Return the first messages to the grader: prompts for a model, the case for a program."""
        case = Case(self.response, [(item.id, item.text) for item in shown], self.facts)
        # providers do not send metadata
        metadata = asdict(case)
        if self.prompts is None:
            return [ChatMessageUser(content=self.response, metadata=metadata)]
        request = self.prompts.grade_request(self.response, grader_items(shown), self.scenario)
        return [
            ChatMessageSystem(content=self.prompts.texts["grade-system.md"]),
            ChatMessageUser(content=request, metadata=metadata),
        ]
