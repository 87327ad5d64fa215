"""Estimating the calls, tokens and cost of runs from the prompts, before anything is sent.

There are two estimates. *Expected*: responses are as long as the prompt asks for, every grading
succeeds at once, and there is no reasoning. *Worst*: every reply reaches its token limit, reasoning
included, and every grading takes the highest number of attempts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from careeval.core.scenario import Rubric, Scenario
from careeval.modes.grading import MAX_ATTEMPTS, Judgments, grader_items, read_reply
from careeval.modes.mode import Stepping
from careeval.modes.prompts import Prompts
from careeval.protocol.logs import check_size
from careeval.protocol.prices import (
    ACT_TOKENS,
    ANSWER_TOKENS,
    BYTES_PER_TOKEN,
    FREE,
    ITEM_TOKENS,
    MAX_KEPT,
    N_ACTS,
    OBSERVATION_TOKENS,
    WORST_BYTES_PER_TOKEN,
    Price,
    cost_of,
    picture_tokens,
    price_of,
)
from careeval.protocol.recorded_responses import responses_of_system
from careeval.protocol.run import GRADER_TOKENS, MAX_TOKENS, Run
from careeval.protocol.selection import selection_of

SCHEMA = json.dumps(Judgments.model_json_schema())
"""The JSON schema of a grader's reply, which providers add to the prompt."""

Tokens = npt.NDArray[np.float64]
"""Token counts, shape (4,): expected input, expected output, worst input, worst output."""


def priced(run: Run, own: Mapping[str, Price] = {}) -> Run:
    """Return a run with the known prices of its models filled in.

    The user's `own` prices, by Inspect's name of a model, override list prices.
    """
    known: dict[str, Price | None] = {}
    for endpoint in run.endpoints:
        model = endpoint.model
        # a list price is that of the provider's own server
        price = own.get(model) if endpoint.address else price_of(model, own)
        known[model] = price if known.get(model, price) == price else None
    return replace(run, prices={model: price for model, price in known.items() if price})


@dataclass(frozen=True, slots=True)
class PlanLine:
    """The calls to one model in one role."""

    role: Literal["ask", "grade"]
    model: str
    n: int
    """Calls to make, without repairs: one for each response to ask for, or for each expected act;
    to grade it, one call, or one for each item."""
    n_kept: int  # Calls whose results are on disk, and which are not made again; not in `n`
    input_tokens: int  # Tokens of all prompts, expected
    output_tokens: int  # Tokens of all replies, expected; without reasoning
    worst_input_tokens: int  # Tokens of all prompts, at worst
    worst_output_tokens: int  # Tokens of all replies, at worst; with reasoning
    expected_usd: float | None  # Cost of the expected tokens; `None` if the price is not known
    worst_usd: float | None  # Cost of the worst tokens; `None` if the price is not known
    of_acts: bool = field(default=False, kw_only=True)
    """True if each call asks for one act of an episode."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The calls of several runs, with a line for each model and role of each run."""

    lines: tuple[PlanLine, ...]

    @property
    def expected_usd(self) -> float | None:
        """Expected cost of the lines with a known price; `None` if no price is known."""
        return _sum_known([line.expected_usd for line in self.lines])

    @property
    def worst_usd(self) -> float | None:
        """Worst cost of the lines with a known price; `None` if no price is known."""
        return _sum_known([line.worst_usd for line in self.lines])

    @property
    def unknown(self) -> tuple[str, ...]:
        """The models with calls to make and no known price, each once."""
        return tuple(dict.fromkeys(line.model for line in self.lines if line.worst_usd is None))


def plan_run(
    run: Run, *, n_asked: int = 0, n_graded: int = 0, grader_tokens: int = GRADER_TOKENS
) -> tuple[PlanLine, ...]:
    """Return the plan of one run: a line for its model and one for its grader, if it has them.

    Of a resumed run, `n_asked` responses are on disk and `n_graded` of them are graded, in all
    rubrics; their calls are assumed to be of average length. Recorded responses are read from the
    file that the task names: those of the system that the task names, or else of the run's system.
    A reply of the grader has at most `grader_tokens`.

    Raises:
        ProtocolError: The task's arguments, the prompts or the recorded responses cannot be used,
            or the grader cannot judge what the bank's mode asks for.
        BankError: The bank cannot be used.
    """
    task = run.task
    recorded = _recorded(run) if run.model is None else {}
    selection = selection_of(task | {"scenario": task.get("scenario") or tuple(recorded)})
    prompts, scenarios, mode = selection.prompts, selection.asked, selection.bank.mode
    check_size(len(scenarios), run.epochs)
    limit = task.get("max_tokens", MAX_TOKENS)
    lines = []
    if run.model is not None:
        stepping = mode.stepping if task.get("step") else None
        of_each = [_asking(prompts, s, limit, stepping) for s in scenarios]
        n_pictures = run.epochs * sum(s.picture is not None for s in scenarios)
        tokens = run.epochs * np.sum(of_each, axis=0)
        of_picture = picture_tokens(run.model)
        tokens[0] += n_pictures * (of_picture.expected or 0)
        tokens[2] += n_pictures * of_picture.worst
        n = run.epochs * len(scenarios)
        if stepping is not None:
            per_response = min(N_ACTS, stepping.max_acts) * stepping.n_interactions
            n, n_asked = n * per_response, n_asked * per_response
        line = _line("ask", run.model, n, n_asked, tokens, run.prices)
        if n_pictures and of_picture.expected is None and line.expected_usd:
            line = replace(line, expected_usd=None)
        lines.append(replace(line, of_acts=stepping is not None))
    if run.grader is not None:
        expected = [_Length(min(ANSWER_TOKENS, limit), limit)] * run.epochs
        n_calls, n_responses, tokens = 0, 0, np.zeros(4)
        mode.check_grader(run.grader)
        graded_by = prompts if mode.models_grade else None
        for scenario in scenarios:
            calls = _calls(graded_by, scenario, selection.rubric, task)
            responses = expected if run.model is not None else recorded.get(scenario.id, [])
            n_calls += len(calls) * len(responses)
            n_responses += len(responses)
            for call in calls:
                tokens += sum(call.tokens(response, grader_tokens) for response in responses)
        n_kept = round(n_calls * n_graded / n_responses) if n_responses else 0
        lines.append(_line("grade", run.grader, n_calls, n_kept, tokens, run.prices))
    return tuple(lines)


def merged_lines(plan: Plan) -> tuple[PlanLine, ...]:
    """Return the plan's lines, added up by role and model; lines for asking come first."""
    merged: dict[tuple[str, str], PlanLine] = {}
    for line in sorted(plan.lines, key=lambda line: ("ask", "grade").index(line.role)):
        key = (line.role, line.model)
        merged[key] = _sum_lines(merged[key], line) if key in merged else line
    return tuple(merged.values())


def plan_json(plan: Plan) -> dict[str, Any]:
    """Return the plan as JSON values: its lines, the totals of known costs, the assumptions."""
    return {
        "schema": "careeval.plan/1",
        "lines": [asdict(line) for line in merged_lines(plan)],
        "total": {"expected_usd": plan.expected_usd, "worst_usd": plan.worst_usd},
        "unknown": list(plan.unknown),
        "assumed": {
            "bytes_per_token": BYTES_PER_TOKEN,
            "worst_bytes_per_token": WORST_BYTES_PER_TOKEN,
            "answer_tokens": ANSWER_TOKENS,
            "item_tokens": ITEM_TOKENS,
            "act_tokens": ACT_TOKENS,
            "acts_per_episode": N_ACTS,
            "reasoning": "counted at worst, not in what is expected",
            "worst_attempts": MAX_ATTEMPTS,
        },
    }


@dataclass(frozen=True, slots=True)
class _Length:
    """The length of a text in tokens, expected and at worst."""

    expected: float
    worst: float

    @classmethod
    def of(cls, *texts: str) -> _Length:
        n_bytes = sum(len(text.encode()) for text in texts)
        return cls(n_bytes / BYTES_PER_TOKEN, n_bytes / WORST_BYTES_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class _Call:
    """A grader's call about one response."""

    prompt: _Length  # The prompt without the response
    repair: _Length  # The message after a reply that cannot be used
    n_items: int  # Items to judge

    def tokens(self, response: _Length, limit: int) -> Tokens:
        """Return the tokens for judging a response: those of one call, at worst of all attempts."""
        # each repair message follows the prompt and the reply that cannot be used
        worst_input = MAX_ATTEMPTS * (self.prompt.worst + response.worst)
        worst_input += (MAX_ATTEMPTS - 1) * (limit + self.repair.worst)
        reply = min(ITEM_TOKENS * self.n_items, limit)
        expected_input = self.prompt.expected + response.expected
        return np.array([expected_input, reply, worst_input, MAX_ATTEMPTS * limit])


def _asking(prompts: Prompts, scenario: Scenario, limit: int, stepping: Stepping | None) -> Tokens:
    """Return the tokens for one response: those of one call, or of a call for each act.

    The prompt of an act has all acts before it, with what the system was told of each.
    """
    prompt = _Length.of(prompts.ask_system, scenario.text)
    if stepping is not None:
        n, n_worst = min(N_ACTS, stepping.max_acts), stepping.max_acts
        reply, kept = min(ACT_TOKENS, limit), min(MAX_KEPT / WORST_BYTES_PER_TOKEN, limit)
        told = OBSERVATION_TOKENS
        expected = n * (prompt.expected + told) + (reply + told) * n * (n - 1) / 2
        worst = n_worst * (prompt.worst + told) + (kept + told) * n_worst * (n_worst - 1) / 2
        one = np.array([expected, n * reply, worst, n_worst * limit])
        return stepping.n_interactions * one
    return np.array([prompt.expected, min(ANSWER_TOKENS, limit), prompt.worst, limit])


def _calls(
    prompts: Prompts | None, scenario: Scenario, rubric: Rubric, task: Mapping[str, Any]
) -> list[_Call]:
    """Return the grader's calls about one response; a program's, without prompts, send nothing."""
    context = scenario.text if task.get("grader_context") == "scenario" else None
    items = scenario.rubric(rubric)
    groups = [[item] for item in items] if task.get("per_item") else [list(items)]
    calls = []
    for call_items in filter(None, groups):
        if prompts is None:
            calls.append(_Call(_Length(0, 0), _Length(0, 0), len(call_items)))
            continue
        request = prompts.grade_request("", grader_items(call_items), context)
        prompt = _Length.of(prompts.texts["grade-system.md"], request, SCHEMA)
        # a reply without judgments has the longest problem of those that can be parsed
        problem = read_reply('{"judgments": []}', len(call_items)).problem
        repair = _Length.of(prompts.repair(problem, len(call_items)))
        calls.append(_Call(prompt, repair, len(call_items)))
    return calls


def _recorded(run: Run) -> dict[str, list[_Length]]:
    """Return scenario → the lengths of its recorded responses that can be graded."""
    file, system = Path(run.task["responses"]), run.task.get("system") or run.system
    lengths: dict[str, list[_Length]] = {}
    for response in responses_of_system(file, system):
        answered = lengths.setdefault(response.scenario, [])
        if response.state.is_graded and response.epoch <= run.epochs:
            answered.append(_Length.of(response.text))
    return lengths


def _line(
    role: Literal["ask", "grade"],
    model: str,
    n: int,
    n_kept: int,
    tokens: Tokens,
    prices: Mapping[str, Price],
) -> PlanLine:
    """Return the line for the calls that are left of `n`; all `n` calls need `tokens`."""
    n_kept = min(n_kept, n)
    left = tokens * ((n - n_kept) / n if n else 0)
    counts = [round(float(each)) for each in left]
    # nothing is sent, so that the cost is known even if the price is not
    price = prices.get(model) if n > n_kept else FREE
    usd = [price and cost_of(price, *pair) for pair in (counts[:2], counts[2:])]
    return PlanLine(role, model, n - n_kept, n_kept, *counts, *usd)


def _sum_lines(one: PlanLine, other: PlanLine) -> PlanLine:
    """Return the sum of two lines of one role and model; an unknown cost makes the sum unknown."""
    names = [each.name for each in fields(one) if each.name not in ("role", "model", "of_acts")]
    pairs = {name: (getattr(one, name), getattr(other, name)) for name in names}
    sums: dict[str, Any] = {n: None if None in pair else sum(pair) for n, pair in pairs.items()}
    return replace(one, **sums)


def _sum_known(amounts: Sequence[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return None if amounts and not known else sum(known)
