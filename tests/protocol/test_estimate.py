"""The plan: what will be sent, counted from the real prompts, and what it costs at most."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai.log import EvalLog

from careeval.core.response import Response, ResponseState
from careeval.errors import ProtocolError
from careeval.modes.grading import MAX_ATTEMPTS
from careeval.protocol import estimate as module
from careeval.protocol.estimate import (
    ANSWER_TOKENS,
    BYTES_PER_TOKEN,
    ITEM_TOKENS,
    SCHEMA,
    WORST_BYTES_PER_TOKEN,
    Plan,
    PlanLine,
    merged_lines,
    plan_json,
    plan_run,
)
from careeval.protocol.prices import FREE, Price
from careeval.protocol.recorded_responses import write_responses
from careeval.protocol.run import GRADER_TOKENS, Run
from support.fakes import IDS, Fake, item, keyword_grader, write_bank

MODEL, GRADER = "acme/asked", "acme/grader"


def price(usd_in: float, usd_out: float) -> Price:
    """A price that a test makes up."""
    return Price(
        input=usd_in, output=usd_out, cache_read=usd_in, cache_write=usd_in, source="a test"
    )


PRICES = {MODEL: price(1, 10), GRADER: price(2, 8)}


def run_of(bank: Path, model: str | None = MODEL, grader: str | None = GRADER, **task: Any) -> Run:
    """A run of ten epochs over a bank."""
    return Run("asked", model, grader, 10, {"bank": str(bank), **task})


def lines_of(run: Run, prices: Mapping[str, Price] = PRICES, **rest: int) -> tuple[PlanLine, ...]:
    """The lines of a run with these prices."""
    return plan_run(replace(run, prices=dict(prices)), **rest)


def planned(
    run: Run, prices: Mapping[str, Price] = PRICES, **rest: int
) -> tuple[PlanLine, PlanLine]:
    """The two lines of a run that asks and grades."""
    ask, grade = lines_of(run, prices, **rest)
    return ask, grade


def test_worked_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two scenarios, ten epochs, prompts of 120 bytes: every number of the plan by hand."""
    bank = write_bank(
        tmp_path / "bank",
        text="s" * 80,
        actions=[item("asks", 2, "a" * 17), item("pulls", -2, "p" * 16)],
        ladder=[],
    )
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    for name, text in {
        "ask-role.md": "r" * 18,
        "ask-format.md": "f" * 20,
        "grade-system.md": "g" * 40,
        # two items, "1. aaa…" of 20 bytes and "2. ppp…" of 19, and the end of a line
        "grade-request.md": "{response}{items}",
        "grade-request-scenario.md": "{response}{items}",
        "grade-repair.md": "m" * 12,
    }.items():
        (prompts / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(module, "SCHEMA", "x" * 40)
    ask, grade = planned(
        run_of(bank, prompts=str(prompts), max_tokens=1000, rubric="actions"), grader_tokens=500
    )
    # asked: 18 + 2 + 20 + 80 = 120 bytes, which are 30 tokens, and 40 at worst
    assert ask == PlanLine(
        role="ask",
        model=MODEL,
        n=20,
        n_kept=0,
        input_tokens=20 * 30,
        output_tokens=20 * 220,
        worst_input_tokens=20 * 40,
        worst_output_tokens=20 * 1000,
        expected_usd=(600 * 1 + 4400 * 10) / 1e6,
        worst_usd=(800 * 1 + 20_000 * 10) / 1e6,
    )
    # graded: 40 + 40 + 40 bytes and the answer; at worst three times, and twice after a reply of
    # 500 tokens and a repair of 12 bytes
    assert grade == PlanLine(
        role="grade",
        model=GRADER,
        n=20,
        n_kept=0,
        input_tokens=20 * (30 + 220),
        output_tokens=20 * 2 * 60,
        worst_input_tokens=20 * (3 * (40 + 1000) + 2 * (500 + 4)),
        worst_output_tokens=20 * 3 * 500,
        expected_usd=(5000 * 2 + 2400 * 8) / 1e6,
        worst_usd=(82_560 * 2 + 30_000 * 8) / 1e6,
    )


def sent(fake: Fake) -> int:
    """Bytes of all messages that a model was sent."""
    return sum(len(text.encode()) for call in fake.calls for _, text in call.texts)


@pytest.mark.parametrize("per_item", [False, True])
@pytest.mark.parametrize("context", ["none", "scenario"])
def test_the_plan_counts_what_is_sent(
    per_item: bool, context: str, bank: Path, evaluate: Callable[..., EvalLog]
) -> None:
    """The prompts of a plan are, byte for byte, those that the two models are sent."""
    # as long as the plan expects an answer to be
    answer = "w" * int(ANSWER_TOKENS * BYTES_PER_TOKEN)
    model, grader = Fake("planned", lambda _: answer), Fake("planner", keyword_grader)
    task = {"per_item": per_item, "grader_context": context}
    evaluate(model, grader, epochs=2, **task)
    run = Run("s", model.model, grader.model, 2, {"bank": str(bank), **task})
    ask, grade = planned(run, {})
    assert ask.n == len(model.calls)
    assert ask.input_tokens == round(sent(model) / BYTES_PER_TOKEN)
    assert grade.n == len(grader.calls)
    schemas = len(grader.calls) * len(SCHEMA.encode())
    assert grade.input_tokens == round((sent(grader) + schemas) / BYTES_PER_TOKEN)


def test_no_grading_sends_more_than_the_worst(bank: Path, evaluate: Callable[..., EvalLog]) -> None:
    """A model and a grader that fill their limits with nonsense stay just below the worst."""
    limit = 400
    n_bytes = int(limit * WORST_BYTES_PER_TOKEN)
    model = Fake("longest", lambda _: "w" * n_bytes)
    # JSON that judges nothing, as long as a reply may be
    grader = Fake("hopeless", lambda _: '{"judgments": []}'.ljust(n_bytes))
    evaluate(model, grader, max_tokens=limit)
    run = Run("s", model.model, grader.model, 1, {"bank": str(bank), "max_tokens": limit})
    _, grade = planned(run, {}, grader_tokens=limit)
    assert len(grader.calls) == MAX_ATTEMPTS * grade.n
    assert grade.worst_output_tokens == len(grader.calls) * limit
    schemas = len(grader.calls) * len(SCHEMA.encode())
    really = (sent(grader) + schemas) / WORST_BYTES_PER_TOKEN
    assert 0.99 * grade.worst_input_tokens < really <= grade.worst_input_tokens + 1


def test_what_is_chosen_is_counted(bank: Path) -> None:
    """Activity, id and limit lower the number of responses; one call an item raises gradings."""
    tasks: dict[str, dict[str, Any]] = {
        "all": {},
        "adl": {"adl": ["eating"]},
        "scenario": {"scenario": ["dressing-001"]},
        "limit": {"limit": 1},
        "ladder": {"rubric": "ladder"},
        "per item": {"per_item": True},
    }
    n = {
        name: tuple(line.n for line in lines_of(run_of(bank, **task)))
        for name, task in tasks.items()
    }
    assert n == {
        "all": (20, 20),
        "adl": (10, 10),
        "scenario": (10, 10),
        "limit": (10, 10),
        "ladder": (20, 20),
        # three actions
        "per item": (20, 60),
    }


def test_a_run_has_a_line_for_each_model(bank: Path) -> None:
    """A run that is not graded has one line, and a bank's whole plan two."""
    assert [line.role for line in lines_of(run_of(bank, grader=None))] == ["ask"]
    assert [line.role for line in lines_of(run_of(bank))] == ["ask", "grade"]


def test_an_answer_is_expected_within_its_limit(bank: Path) -> None:
    """A limit below the length that the prompt asks for is the expected length."""
    ask, grade = planned(run_of(bank, max_tokens=50))
    assert ask.output_tokens == ask.n * 50 == ask.worst_output_tokens
    longer = planned(run_of(bank))[1]
    assert grade.input_tokens == longer.input_tokens - grade.n * (ANSWER_TOKENS - 50)


def test_a_thinking_grader_is_only_in_the_worst(bank: Path) -> None:
    """A grader's expected tokens depend on its items, the worst on its limit."""
    _, grade = planned(run_of(bank))
    assert grade.output_tokens == grade.n * 3 * ITEM_TOKENS
    assert grade.worst_output_tokens == grade.n * MAX_ATTEMPTS * GRADER_TOKENS


def test_a_script_of_more_bytes_counts_as_more(tmp_path: Path) -> None:
    """A scenario of eighty three-byte characters is as long as one of 240 letters."""
    (tall, _), (wide, _) = (
        lines_of(run_of(write_bank(tmp_path / name, text=text)))
        for name, text in (("tall", "手" * 80), ("wide", "s" * 240))
    )
    assert tall == wide


# what is on disk


def test_what_is_on_disk_is_not_planned(bank: Path) -> None:
    """With half of the answers and a quarter of the gradings on disk, the rest is left."""
    whole = planned(run_of(bank))
    ask, grade = planned(run_of(bank), n_asked=10, n_graded=5)
    assert (ask.n, ask.n_kept, grade.n, grade.n_kept) == (10, 10, 15, 5)
    assert ask.input_tokens == pytest.approx(whole[0].input_tokens / 2, abs=1)
    assert grade.worst_input_tokens == pytest.approx(whole[1].worst_input_tokens * 0.75, abs=1)


def test_a_finished_run_costs_nothing(bank: Path) -> None:
    """A run whose calls are all on disk costs 0, even where no price is known."""
    for line in planned(run_of(bank), {}, n_asked=20, n_graded=20):
        assert (line.n, line.input_tokens, line.worst_usd) == (0, 0, 0)


@settings(max_examples=25)
@given(st.integers(0, 30), st.integers(0, 30))
def test_kept_and_left_are_the_whole(bank: Path, n_asked: int, n_graded: int) -> None:
    """Whatever is on disk, what is kept and what is left add up, and nothing is negative."""
    whole = planned(run_of(bank))
    for line, all_of_it in zip(
        planned(run_of(bank), n_asked=n_asked, n_graded=n_graded), whole, strict=True
    ):
        assert line.n + line.n_kept == all_of_it.n
        assert 0 <= line.input_tokens <= all_of_it.input_tokens
        assert line.expected_usd is not None
        assert line.worst_usd is not None
        assert line.expected_usd <= line.worst_usd


# recorded answers


def recorded(folder: Path, bank: Path, responses: list[Response], epochs: int, **task: Any) -> Run:
    """A run over recorded answers."""
    file = folder / "answers.jsonl"
    write_responses(file, "robot", responses)
    arguments = {"bank": str(bank), "responses": str(file), **task}
    return Run("robot", None, GRADER, epochs, arguments)


def said(scenario: str, epoch: int, text: str, state: str = "answered") -> Response:
    """A recorded answer."""
    return Response(scenario, epoch, text, ResponseState(state))


def test_recorded_answers_have_their_own_length(tmp_path: Path, bank: Path) -> None:
    """A recorded answer of 400 bytes adds 100 tokens to its grading, and no asking."""
    [short], [long] = (
        lines_of(recorded(tmp_path, bank, [said(IDS[0], 1, "w" * n)], 1)) for n in (4, 404)
    )
    assert (short.role, short.n, long.n) == ("grade", 1, 1)
    assert long.input_tokens - short.input_tokens == 100
    # at worst 400 bytes are 133 and a third, in each of three attempts
    assert long.worst_input_tokens - short.worst_input_tokens == pytest.approx(400, abs=1)


def test_only_what_was_answered_is_graded(tmp_path: Path, bank: Path) -> None:
    """Refused, empty and missing answers, and epochs that are not run, make no call."""
    responses = [
        said(IDS[0], 1, "I ask her."),
        said(IDS[0], 2, "", "refused"),
        said(IDS[0], 3, "", "empty"),
        said(IDS[0], 4, "", "missing"),
        said(IDS[0], 5, "I wait."),
        said(IDS[1], 1, "I wait."),
    ]
    assert [line.n for line in lines_of(recorded(tmp_path, bank, responses, 5))] == [3]
    assert [line.n for line in lines_of(recorded(tmp_path, bank, responses, 4))] == [2]
    named = recorded(tmp_path, bank, responses, 5, scenario=[IDS[1]])
    assert [line.n for line in lines_of(named)] == [1]


def test_a_limit_is_of_the_scenarios_that_are_answered(tmp_path: Path, bank: Path) -> None:
    """Answers to the second scenario alone are planned where one scenario is to be graded."""
    run = recorded(tmp_path, bank, [said(IDS[1], 1, "I wait.")], 1, limit=1)
    assert [line.n for line in lines_of(run)] == [1]


def test_nothing_answered_costs_nothing(tmp_path: Path, bank: Path) -> None:
    """Answers that are all empty are planned as no grading at all."""
    [line] = lines_of(recorded(tmp_path, bank, [said(IDS[0], 1, "", "empty")], 1), {})
    assert (line.n, line.worst_usd) == (0, 0)


def test_a_system_that_is_not_in_the_file_is_refused(tmp_path: Path, bank: Path) -> None:
    """A plan for answers that the file does not hold names those that it does."""
    run = recorded(tmp_path, bank, [said(IDS[0], 1, "I ask.")], 1, system="other")
    with pytest.raises(ProtocolError, match="no responses of system 'other'") as refused:
        lines_of(run)
    assert "'robot'" in refused.value.hint


# several runs, and prices that nobody knows


def test_rows_add_up_the_grader_of_several_systems(bank: Path) -> None:
    """Two systems and one grader are three rows, the grader's last and twice as long."""
    first = lines_of(run_of(bank))
    second = lines_of(run_of(bank, model="acme/other"))
    ask, other, grade = merged_lines(Plan(first + second))
    assert (ask, other) == (first[0], second[0])
    assert (grade.model, grade.n, grade.n_kept) == (GRADER, 2 * first[1].n, 0)
    assert grade.worst_input_tokens == 2 * first[1].worst_input_tokens


def test_an_unknown_price_is_not_zero(bank: Path) -> None:
    """A model without a price has unknown costs, is named once, and is left out of the totals."""
    lines = lines_of(run_of(bank), {GRADER: PRICES[GRADER]})
    both = Plan(lines + lines)
    assert (lines[0].expected_usd, lines[0].worst_usd) == (None, None)
    assert both.unknown == (MODEL,)
    assert both.worst_usd == pytest.approx(2 * (lines[1].worst_usd or 0))
    nobody = Plan(lines_of(run_of(bank), {}))
    assert (nobody.expected_usd, nobody.worst_usd) == (None, None)
    assert nobody.unknown == (MODEL, GRADER)


def test_what_costs_nothing_is_known_to(bank: Path) -> None:
    """Models that run in the process are planned at zero, and none of them is unknown."""
    free = Plan(lines_of(run_of(bank), {MODEL: FREE, GRADER: FREE}))
    assert (free.expected_usd, free.worst_usd, free.unknown) == (0, 0, ())
    assert (Plan(()).worst_usd, Plan(()).unknown) == (0, ())


USD = st.none() | st.floats(0, 1e6)
COUNT = st.integers(0, 10**9)
LINES = st.lists(
    st.builds(
        PlanLine,
        role=st.sampled_from(["ask", "grade"]),
        model=st.sampled_from([MODEL, GRADER, "acme/other"]),
        n=COUNT,
        n_kept=COUNT,
        input_tokens=COUNT,
        output_tokens=COUNT,
        worst_input_tokens=COUNT,
        worst_output_tokens=COUNT,
        expected_usd=USD,
        worst_usd=USD,
    )
)


@given(LINES)
def test_rows_lose_nothing(lines: list[PlanLine]) -> None:
    """Each role and model is one row, asking first, and what is counted adds up as before."""
    merged = merged_lines(Plan(tuple(lines)))
    assert [row.role for row in merged] == sorted(row.role for row in merged)
    assert len({(row.role, row.model) for row in merged}) == len(merged)
    for name in ("n", "n_kept", "input_tokens", "worst_output_tokens"):
        assert sum(asdict(row)[name] for row in merged) == sum(asdict(line)[name] for line in lines)
    for row in merged:
        parts = [o.worst_usd for o in lines if (o.role, o.model) == (row.role, row.model)]
        assert (row.worst_usd is None) == (None in parts)


@given(LINES)
def test_a_plan_is_json(lines: list[PlanLine]) -> None:
    """A plan as plain data says the rows, the totals and the unknown, and nothing is lost in it."""
    whole = Plan(tuple(lines))
    data = json.loads(json.dumps(plan_json(whole)))
    assert data == plan_json(whole)
    assert data["lines"] == [asdict(row) for row in merged_lines(whole)]
    assert data["total"] == {"expected_usd": whole.expected_usd, "worst_usd": whole.worst_usd}
    assert set(data["unknown"]) == {line.model for line in lines if line.worst_usd is None}


def test_a_plan_needs_no_inspect() -> None:
    """Planning imports neither Inspect nor the price list, so that it is shown at once."""
    code = (
        "import sys, careeval.protocol.estimate\n"
        "sys.exit(any(name in sys.modules for name in ('inspect_ai', 'genai_prices')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
