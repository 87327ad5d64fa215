"""What runs will send and cost, reckoned from the prompts and scenarios before anything is sent.

Two reckonings stand side by side. *Expected*: answers as long as the prompt asks for, every grading
usable at once, no reasoning. *Worst*: every reply reaches its token limit, reasoning included, and
every grading is asked as often as it may be.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from careeval.bank import load_bank
from careeval.bank.sealed import split_key
from careeval.core.response import ResponseState
from careeval.core.scenario import Rubric, Scenario, Split
from careeval.errors import ProtocolError
from careeval.modes.grading import MAX_ATTEMPTS, Judgments, grader_items, read_reply
from careeval.modes.prompts import Prompts, load_prompts
from careeval.protocol.costs.call_estimate import (
    ANSWER_TOKENS,
    BYTES_PER_TOKEN,
    ITEM_TOKENS,
    WORST_BYTES_PER_TOKEN,
)
from careeval.protocol.costs.prices import FREE, Price, cost_of, price_of
from careeval.protocol.costs.prices import as_json as prices_as_json
from careeval.protocol.logs.limits import check_size
from careeval.protocol.runs.recorded_responses import read_answers
from careeval.protocol.runs.spec import GRADER_TOKENS, MAX_TOKENS, Run, provider
from careeval.protocol.select import rubrics_graded, select_scenarios

SCHEMA = json.dumps(Judgments.model_json_schema())
"""The form of a grader's reply, which providers add to the prompt."""

Tokens = npt.NDArray[np.float64]
"""Expected input and output, worst input and output: shape (4,)."""


def priced(run: Run, own: Mapping[str, Price] = {}) -> Run:
    """Return a run with the prices of its models that are known.

    Args:
        run: To be begun.
        own: The user's own prices, by Inspect's name of a model; they come first.
    """
    known: dict[str, Price | None] = {}
    for model, base_url in ((run.model, run.base_url), (run.grader, None)):
        if model:
            # a list price is that of the provider's own server
            elsewhere = base_url or os.environ.get(_address_variable(model))
            price = own.get(model) if elsewhere else price_of(model, own)
            known[model] = price if known.get(model, price) == price else None
    prices = {model: price for model, price in known.items() if price}
    return replace(run, prices=prices_as_json(prices))


def _address_variable(model: str) -> str:
    """Return the variable in which Inspect looks for another address of a model's provider."""
    return f"{provider(model).upper().replace('-', '_')}_BASE_URL"


@dataclass(frozen=True, slots=True)
class Line:
    """What one model is sent in one role.

    Attributes:
        role: `ask` for responses, `grade` for judgments.
        model: Inspect's name.
        n: Responses, or gradings: one call for each response and rubric, or for each item.
        n_kept: Responses or gradings that are on disk and are not asked for again; not in `n`.
        input_tokens: Of all prompts, expected.
        output_tokens: Of all replies, expected; without reasoning.
        worst_input_tokens: Of all prompts, at worst.
        worst_output_tokens: Of all replies, at worst; with reasoning.
        expected_usd: For the expected tokens; `None` where the model's price is not known.
        worst_usd: For the worst; `None` where the model's price is not known.
    """

    role: Literal["ask", "grade"]
    model: str
    n: int
    n_kept: int
    input_tokens: int
    output_tokens: int
    worst_input_tokens: int
    worst_output_tokens: int
    expected_usd: float | None
    worst_usd: float | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What several runs will send, a line for each model and role of each run."""

    lines: tuple[Line, ...]

    @property
    def expected_usd(self) -> float | None:
        """Of the lines with a known price; `None` where there are lines and none has one."""
        return _sum_known([line.expected_usd for line in self.lines])

    @property
    def worst_usd(self) -> float | None:
        """Of the lines with a known price; `None` where there are lines and none has one."""
        return _sum_known([line.worst_usd for line in self.lines])

    @property
    def unknown(self) -> tuple[str, ...]:
        """The models that are to be sent something and have no known price, each once."""
        return tuple(dict.fromkeys(line.model for line in self.lines if line.worst_usd is None))


def plan(
    run: Run,
    prices: Mapping[str, Price],
    *,
    n_asked: int = 0,
    n_graded: int = 0,
    grader_tokens: int = GRADER_TOKENS,
) -> tuple[Line, ...]:
    """A line for asking where the run has a model, then one for grading where it has a grader.

    What a resumed run has on disk counts as an average part of the whole.

    Args:
        run: What is to be run. Recorded answers are read from the file that its task names, those
            of the system that the task names, or else the run.
        prices: By Inspect's name of the model; one that is not in there has no known price.
        n_asked: Responses on disk.
        n_graded: Responses on disk that are graded, in all rubrics.
        grader_tokens: Limit of one reply of the grader.

    Raises:
        ProtocolError: The task's arguments, the prompts or the recorded answers cannot be used, or
            the grader cannot judge what the bank's mode asks for.
        BankError: The bank cannot be.
    """
    task = run.task
    bank = load_bank(task.get("bank"), split_key(task.get("split")), probes=False)
    own = Path(task["prompts"]) if task.get("prompts") else None
    prompts = load_prompts(bank.mode, own, run.protocol)
    recorded = _recorded(run) if run.model is None else {}
    scenarios = select_scenarios(
        bank,
        Split(task.get("split", Split.public)),
        task.get("adl") or (),
        task.get("scenario") or tuple(recorded),
        task.get("limit"),
        twins=bool(task.get("twins")),
    )
    check_size(len(scenarios), run.epochs)
    limit = task.get("max_tokens", MAX_TOKENS)
    lines = []
    if run.model is not None:
        tokens = run.epochs * np.sum([_asking(prompts, s, limit) for s in scenarios], axis=0)
        n = run.epochs * len(scenarios)
        lines.append(_line("ask", run.model, n, n_asked, tokens, prices))
    if run.grader is not None:
        expected = [_Length(min(ANSWER_TOKENS, limit), limit)] * run.epochs
        n_calls, n_responses, tokens = 0, 0, np.zeros(4)
        bank.mode.check_grader(run.grader)
        rubrics = rubrics_graded(task.get("rubric"), scenarios, bank.mode, run.protocol)
        graded_by = prompts if bank.mode.models_grade else None
        for scenario in scenarios:
            calls = _calls(graded_by, scenario, rubrics, task)
            answers = expected if run.model is not None else recorded.get(scenario.id, [])
            n_calls += len(calls) * len(answers)
            n_responses += len(answers)
            for call in calls:
                tokens += sum(call.tokens(answer, grader_tokens) for answer in answers)
        n_kept = round(n_calls * n_graded / n_responses) if n_responses else 0
        lines.append(_line("grade", run.grader, n_calls, n_kept, tokens, prices))
    return tuple(lines)


def rows(plan: Plan) -> tuple[Line, ...]:
    """The plan with the lines of one role and model added up; those for asking come first."""
    merged: dict[tuple[str, str], Line] = {}
    for line in sorted(plan.lines, key=lambda line: ("ask", "grade").index(line.role)):
        key = (line.role, line.model)
        merged[key] = _added(merged[key], line) if key in merged else line
    return tuple(merged.values())


def as_json(plan: Plan) -> dict[str, Any]:
    """The plan's rows as plain data, the totals over known prices, and what was assumed."""
    return {
        "schema": "careeval.plan/1",
        "lines": [asdict(line) for line in rows(plan)],
        "total": {"expected_usd": plan.expected_usd, "worst_usd": plan.worst_usd},
        "unknown": list(plan.unknown),
        "assumed": {
            "bytes_per_token": BYTES_PER_TOKEN,
            "worst_bytes_per_token": WORST_BYTES_PER_TOKEN,
            "answer_tokens": ANSWER_TOKENS,
            "item_tokens": ITEM_TOKENS,
            "reasoning": "counted at worst, not in what is expected",
            "worst_attempts": MAX_ATTEMPTS,
        },
    }


@dataclass(frozen=True, slots=True)
class _Length:
    """Tokens of a text, expected and at worst."""

    expected: float
    worst: float

    @classmethod
    def of(cls, *texts: str) -> _Length:
        n_bytes = sum(len(text.encode()) for text in texts)
        return cls(n_bytes / BYTES_PER_TOKEN, n_bytes / WORST_BYTES_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class _Call:
    """What a grader is asked about any one response to a scenario.

    Attributes:
        told: All of the prompt but the response.
        repair: What it is told when its reply cannot be used.
        n_items: Items to judge.
    """

    told: _Length
    repair: _Length
    n_items: int

    def tokens(self, answer: _Length, limit: int) -> Tokens:
        """For the call about a response of that length, replies being at most `limit` long."""
        # each repair comes after the prompt and the reply that it is about
        worst_input = MAX_ATTEMPTS * (self.told.worst + answer.worst)
        worst_input += (MAX_ATTEMPTS - 1) * (limit + self.repair.worst)
        reply = min(ITEM_TOKENS * self.n_items, limit)
        expected_input = self.told.expected + answer.expected
        return np.array([expected_input, reply, worst_input, MAX_ATTEMPTS * limit])


def _asking(prompts: Prompts, scenario: Scenario, limit: int) -> Tokens:
    """For one response to a scenario."""
    told = _Length.of(prompts.ask_system, scenario.text)
    return np.array([told.expected, min(ANSWER_TOKENS, limit), told.worst, limit])


def _calls(
    prompts: Prompts | None, scenario: Scenario, rubrics: Sequence[Rubric], task: Mapping[str, Any]
) -> list[_Call]:
    """The calls about one response to a scenario; a rubric without items makes none.

    Without prompts a program grades, which is told nothing.
    """
    seen = scenario.text if task.get("grader_context") == "scenario" else None
    calls = []
    for rubric in rubrics:
        items = scenario.rubric(rubric)
        if task.get("per_item"):
            lists = [[item] for item in items]
        else:
            lists = [list(items)] if items else []
        for listed in lists:
            if prompts is None:
                calls.append(_Call(_Length(0, 0), _Length(0, 0), len(listed)))
                continue
            request = prompts.grade_request("", grader_items(listed), seen)
            told = _Length.of(prompts.texts["grade-system.md"], request, SCHEMA)
            # the longest problem of a reply that can be read: that it judges nothing
            problem = read_reply('{"judgments": []}', len(listed)).problem
            repair = _Length.of(prompts.repair(problem, len(listed)))
            calls.append(_Call(told, repair, len(listed)))
    return calls


def _recorded(run: Run) -> dict[str, list[_Length]]:
    """The recorded answers that there is something to grade in, by scenario.

    A scenario whose answers are all empty or refused is a key.
    """
    file, system = Path(run.task["responses"]), run.task.get("system") or run.system
    given = read_answers(file)
    if system not in given:
        raise ProtocolError(
            f"{file}: holds no answers of {system!r}",
            hint=f"it holds {', '.join(map(repr, given))}",
        )
    lengths: dict[str, list[_Length]] = {}
    for response in given[system]:
        answered = lengths.setdefault(response.scenario, [])
        if response.state is ResponseState.answered and response.epoch <= run.epochs:
            answered.append(_Length.of(response.text))
    return lengths


def _line(
    role: Literal["ask", "grade"],
    model: str,
    n: int,
    n_kept: int,
    tokens: Tokens,
    prices: Mapping[str, Price],
) -> Line:
    """A line for what is left of `n` calls that take so many tokens."""
    n_kept = min(n_kept, n)
    left = tokens * ((n - n_kept) / n if n else 0)
    expected_in, expected_out, worst_in, worst_out = (round(float(each)) for each in left)
    # what is not sent costs nothing, whatever its price
    price = prices.get(model) if n > n_kept else FREE
    return Line(
        role,
        model,
        n - n_kept,
        n_kept,
        expected_in,
        expected_out,
        worst_in,
        worst_out,
        None if price is None else cost_of(price, expected_in, expected_out),
        None if price is None else cost_of(price, worst_in, worst_out),
    )


def _added(a: Line, b: Line) -> Line:
    """Two lines of one role and model as one; what is unknown of either is unknown of both."""
    return Line(
        a.role,
        a.model,
        a.n + b.n,
        a.n_kept + b.n_kept,
        a.input_tokens + b.input_tokens,
        a.output_tokens + b.output_tokens,
        a.worst_input_tokens + b.worst_input_tokens,
        a.worst_output_tokens + b.worst_output_tokens,
        _sum_whole(a.expected_usd, b.expected_usd),
        _sum_whole(a.worst_usd, b.worst_usd),
    )


def _sum_whole(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a + b


def _sum_known(amounts: Sequence[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return None if amounts and not known else sum(known)
