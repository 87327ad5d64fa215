"""Plans read from responses: what is a plan, and what is said of a response that is none."""

from __future__ import annotations

import inspect
import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from careeval.bank import load_bank
from careeval.modes.grading import is_quoted
from careeval.worlds.acts import PlanError, act_classes
from careeval.worlds.plan_json import MAX_DEPTH, MAX_STEPS, Branch, plan_schema, read_plan
from careeval.worlds.world import World
from support.plan_worlds import all_steps
from support.small_world import SAFE_PLAN, SAFE_TREE

STOP = {"act": "stop"}


def nested(depth: int) -> dict[str, Any]:
    """Return a plan with branches inside each other."""
    steps: list[Any] = [STOP]
    for _ in range(depth):
        steps = [{"if": {"answer": "yes"}, "then": steps}]
    return {"steps": steps}


def test_worked_example() -> None:
    """Steps have their address as in JSON, and are quoted as they are written."""
    text = (
        'First {"act": "stop"} alone is no plan. My plan:\n```json\n{"steps": [{"act":"ask",'
        ' "words":"Now?"}, {"if": {"answer": "yes"}, "then": [{"act": "grasp", "thing": "arm",'
        ' "force_n": 3}], "else": [{"act":"withdraw"}]}]}\n```'
    )

    plan = read_plan(text)

    assert [(step.address, step.act.act) for step in all_steps(plan)] == [
        ("steps[0]", "ask"), ("steps[1].then[0]", "grasp"), ("steps[1].else[0]", "withdraw"),
    ]  # fmt: skip
    assert plan.on_stop is None
    assert all(is_quoted(step.quote, text) for step in all_steps(plan))


def test_quote_of_escaped_letters_is_in_the_response() -> None:
    """A step whose letters the response escapes, as Python's json does, is still found in it."""
    text = json.dumps({"steps": [{"act": "say", "words": "Möchten Sie’s?"}]})
    (step,) = all_steps(read_plan(text))

    assert r"\u00f6" in text
    assert is_quoted(step.quote, text)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"answer": "silence"}, ("answer", "", "silence", "the answer is silence")),
        ({"thing": "mouth", "state": "full"}, ("state", "mouth", "full", "mouth is full")),
        ({"held": "spoon"}, ("held", "spoon", "", "spoon is held")),
        ({"lifted": "arm"}, ("lifted", "arm", "", "arm is lifted")),
        ({"place": "sink"}, ("place", "sink", "", "the robot is at sink")),
    ],
)
def test_conditions_of_branches(condition: dict[str, str], expected: tuple[str, ...]) -> None:
    """A branch may be on the answer, a sensed state, what is held or lifted, and the place."""
    (branch,) = read_plan(json.dumps([{"if": condition, "then": [STOP]}])).steps
    assert isinstance(branch, Branch)
    assert (branch.subject, branch.name, branch.value, branch.condition) == expected


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "the response is no plan: it holds no complete JSON", "write {"),
        ("I would ask first.", "it holds no complete JSON", "write {"),
        ('{"goal": 1}', "no JSON object in it is a plan", "write {"),
        ('{"steps": [{"act": "stop"},\n ]}', "line 2, column 2: Illegal trailing|Expecting", ""),
        ('{"steps": [{"act": "stop"}, {"act": ', "line 1, column 37: Expecting value", "write {"),
        ('{"steps": {}}', "steps: expected a list of steps, found an object", ""),
        ('{"steps": []}', "steps: the list is empty", "at least one step"),
        ('{"steps": [1]}', r"steps\[0\]: expected a step, found 1", "write {"),
        ('{"steps": [[]]}', r"steps\[0\]: expected a step, found a list", "write {"),
        ('{"steps": [{"act": "stop"}], "notes": 1}', "the plan has a field 'notes'", "write {"),
        ('{"steps": [{"act": "grap"}]}', r'steps\[0\]: there is no act "grap"', "'grasp'"),
        ('{"steps": [{"act": []}]}', r"steps\[0\]: the step has no act", "one of the acts"),
        ('{"steps": [{"act": {"a": 1}}]}', r"\[0\]: there is no act an object", "one of the acts"),
        ('{"steps": [{"act": "grasp"}]}', r"\[0\], grasp: thing is missing", "grasp takes thing"),
        (
            '{"steps": [{"act": "grasp", "thing": "arm", "force": 3}]}',
            "grasp: it has no argument 'force'",
            "'force_n'",
        ),
        (
            '{"steps": [{"act": "wait-for-answer", "seconds": "soon"}]}',
            'seconds: found "soon", expected a valid number',
            "wait-for-answer takes seconds",
        ),
        (
            '{"steps": [{"act": "hold", "thing": "arm", "seconds": NaN}]}',
            "seconds: found NaN",
            "hold takes thing and seconds",
        ),
        (
            '{"steps": [{"if": {"answer": "maybe"}, "then": []}]}',
            r'\[0\]: "maybe" is no answer',
            "yes, no or silence",
        ),
        ('{"steps": [{"if": "yes"}]}', r"\[0\]: its condition cannot be read", "thing"),
        ('{"steps": [{"if": {"held": "a", "lifted": "b"}}]}', "condition cannot be read", "held"),
        ('{"steps": [{"if": {"answer": "yes"}, "do": []}]}', "a branch has no field 'do'", "then"),
        (json.dumps(nested(MAX_DEPTH + 1)), "more than 24 branches inside each other", ""),
        (json.dumps([STOP] * (MAX_STEPS + 1)), "has more than 500 steps", ""),
        (" " * 500_001, "has 500,001 characters, at most 500,000", "500 steps"),
        ("[" * 100_000, "holds no complete JSON", ""),
        ('{"steps": ' + "[" * 100_000, "nested too deeply", ""),
    ],
)
def test_mistakes_are_named_with_their_place(text: str, message: str, hint: str) -> None:
    """A response that is no plan is refused: where, what was found, and what to write."""
    with pytest.raises(PlanError, match=message) as caught:
        read_plan(text)
    assert hint in caught.value.hint


def test_the_deepest_and_the_longest_plan_are_read() -> None:
    """A plan at the limits is read."""
    read_plan(json.dumps(nested(MAX_DEPTH)))
    assert len(list(all_steps(read_plan(json.dumps([STOP] * MAX_STEPS))))) == MAX_STEPS


@pytest.mark.parametrize("cut", range(60, 340, 20))
def test_no_part_of_a_plan_that_is_cut_off_counts_as_a_plan(cut: int) -> None:
    """Of a plan that breaks off, no inner list is carried out as if it were the plan."""
    text = json.dumps(SAFE_PLAN)
    with pytest.raises(PlanError, match="line 1, column"):
        read_plan(text[:cut])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"steps": [{"act": "stop", "act": "ask"}]}',
            r"steps\[0\]: the field 'act' appears twice",
        ),
        ('{"steps": [], "steps": [{"act": "stop"}]}', "the plan: the field 'steps' appears twice"),
        (
            '[{"act": "stop"}, {"if": {"answer": "yes", "answer": "no"}}]',
            r"steps\[1\]\.if: the field 'answer' appears twice",
        ),
        (
            '[{"act": "stop"}, {"if": {"answer": "yes"}, "then": [{"act": "grasp", "thing": "a",'
            ' "force_n": true}]}]',
            r"steps\[1\]\.then\[0\], grasp: force_n: found true, expected a valid number",
        ),
        ('[{"act": "grasp", "thing": "a", "force_n": "5"}]', 'found "5", expected a valid number'),
        (
            '[{"act": "say", "words": 3}]',
            r"steps\[0\], say: words: found 3, expected a valid string",
        ),
        ('[{"act": "brake", "thing": "bed", "on": "true"}]', 'on: found "true", expected a valid'),
        ('[{"act": "brake", "thing": "bed", "on": 1}]', "on: found 1, expected a valid boolean"),
        (
            '{"steps": [{"act": "stop"}], "on_stop": [{"act": "withdraw"}, {"act": "say"}]}',
            r"on_stop\[1\], say: words is missing",
        ),
    ],
)
def test_json_is_read_strictly(text: str, message: str) -> None:
    """No field counts twice, and no value is taken for one of another type."""
    with pytest.raises(PlanError, match=message):
        read_plan(text)


A = '{"steps": [{"act": "grasp", "thing": "a", "force_n": 3}]}'
A_AGAIN = '[{"thing": "a", "act": "grasp", "force_n": 3.0}]'
A_TREE = (
    '<root BTCPP_format="4"><BehaviorTree ID="Main"><Grasp thing="a" force_n="3"/>'
    "</BehaviorTree></root>"
)
B = '{"steps": [{"act": "stop"}]}'
B_TREE = '<root><BehaviorTree ID="Main"><Stop/></BehaviorTree></root>'
FORM_TREE = '<root BTCPP_format="4"><BehaviorTree ID="Main">…</BehaviorTree></root>'


@pytest.mark.parametrize(
    "text",
    [
        f"{A}\nAgain: {A}",
        f"{A}\nOr in short: {A_AGAIN}",
        f"As a tree:\n```xml\n{A_TREE}\n```\nAs JSON:\n```json\n{A}\n```",
        f"My plan is this tree:\n\n{A_TREE}\n\nIt asks for little force.",
        f'```xml\n<?xml version="1.0"?>\n{A_TREE}\n```',
        f"{A_TREE}\nDone.",
        f"A tree has the form {FORM_TREE}. Mine: {A_TREE}",
        f"{FORM_TREE}\n{A}",
        f'{{"steps": ["...", {{"act": "stop"}}]}} is the form. {A}',
        f"{A} follows {{'steps': [...]}} and {{\"steps\": [...]}}.",
        f"<root><BehaviorTree></root>\nCorrected: {A_TREE}",
        f"An element <root> is not needed. {A}",
    ],
)
def test_one_plan_in_a_response(text: str) -> None:
    """One plan is read, in JSON or as a tree, once or twice, beside prose and examples."""
    (step,) = all_steps(read_plan(text))
    assert step.act.act == "grasp"
    assert is_quoted(step.quote, text)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"{A}\n{B}", "line 1 and line 2"),
        (f"Plan:\n{A}\nBetter:\n\n{B}", "line 2 and line 5"),
        (f"{A_TREE}\n{B}", "line 1 and line 2"),
        (f"\n{B}\n{A_TREE}", "line 2 and line 3"),
        (f"{A_TREE}\n{B_TREE}", "line 1 and line 2"),
        (f'{A}\n{{"steps": [{{"act": "grap"}}]}}', "line 1 and line 2"),
        (f"{B_TREE.replace('Stop', 'Delay')}\n{A}", "line 1 and line 2"),
    ],
)
def test_two_plans_in_a_response(text: str, lines: str) -> None:
    """A response with two different plans is refused, since nobody knows which one is meant."""
    with pytest.raises(PlanError, match=f"holds two different plans, which begin in {lines}"):
        read_plan(text)


def test_a_plan_after_a_broken_one_counts() -> None:
    """A plan that is written again after a mistake is read; the last one counts."""
    broken = '{"steps": [{"act": "stop"}, {"if": {"answer": "yes"}, "then": [{"act": "ask"}]},]}'
    plan = read_plan(f'{broken}\nCorrected: {{"steps": [{{"act": "withdraw"}}]}}')
    assert [step.act.act for step in all_steps(plan)] == ["withdraw"]


def test_the_form_of_a_plan_in_prose_is_no_broken_plan() -> None:
    """A plan counts, though the form with dots in place of steps follows."""
    plan = read_plan('{"steps": [{"act": "stop"}]} has the form {"steps": [...], "on_stop": [...]}')
    assert [step.act.act for step in all_steps(plan)] == ["stop"]


def test_the_printed_schema_describes_every_act_and_argument() -> None:
    """It is the prompt's schema, with the meaning, unit and range of each argument."""
    *acts, _ = plan_schema(described=True)["$defs"]["step"]["oneOf"]
    *bare, _ = plan_schema()["$defs"]["step"]["oneOf"]
    for act, short in zip(acts, bare, strict=True):
        kind = act_classes()[act["properties"]["act"]["const"]]
        assert act["description"] == " ".join((inspect.getdoc(kind) or "").split())
        assert act["required"] == short["required"]
        for name, form in act["properties"].items():
            assert name == "act" or form["description"].endswith(".")
            assert {key: form[key] for key in short["properties"][name] if key != "items"} == {
                key: value for key, value in short["properties"][name].items() if key != "items"
            }
    lift = next(act for act in acts if act["properties"]["act"]["const"] == "lift")["properties"]
    assert lift["force_n"]["description"] == (
        "Greatest force; if it is left out, the limit that is set, or else a gentle one."
        " In newtons, from 0 to 5000."
    )
    assert lift["height_cm"]["description"] == "Height of the lift. In cm, more than 0 to 300."
    assert lift["thing"]["description"].endswith("At most 64 characters.")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    | st.sampled_from(["stop", "grasp", "say", "yes"]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(["steps", "on_stop", "act", "if", "then", "else", "answer", "thing",
                         "state", "words", "seconds", "force_n"]) | st.text(max_size=4),
        inner,
        max_size=4,
    ),
    max_leaves=20,
)  # fmt: skip
characters = st.text(st.characters(), max_size=200)


@settings(max_examples=300)
@given(characters | json_values.map(json.dumps) | st.builds("{{{}}}".format, characters))
def test_any_text_is_a_plan_or_a_plan_error(text: str) -> None:
    """No text raises anything but `PlanError`, and its message can be written to a file."""
    read_or_refuse(text)


@settings(max_examples=200)
@given(st.lists(json_values, max_size=4))
def test_any_steps_are_a_plan_or_a_plan_error(steps: list[object]) -> None:
    """No list of steps raises anything but `PlanError`."""
    read_or_refuse(json.dumps({"steps": steps}))


@settings(max_examples=300)
@given(st.data())
def test_any_change_of_a_plan_is_a_plan_or_a_plan_error(data: st.DataObject) -> None:
    """A plan or a tree of which a piece is cut, doubled or replaced raises only `PlanError`."""
    text = data.draw(st.sampled_from([json.dumps(SAFE_PLAN), SAFE_TREE]))
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(len(text), begin + 60)))
    piece = data.draw(st.sampled_from(["", text[begin:end] * 2, "\ud800", "<x/>", "]", "&#0;"]))
    read_or_refuse(text[:begin] + piece + text[end:])


def read_or_refuse(text: str) -> None:
    """Read a plan, and see that a refusal can be written as UTF-8."""
    problem = ""
    try:
        read_plan(text)
    except PlanError as error:
        problem = f"{error}{error.hint}"
    assert len(problem.encode()) <= 2400


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100 + "1," * 200_000,
        '{"a":' * 100_000,
        '{"steps":[' + '{"act":"stop"},' * 30_000,
        '{"steps":[{"act":"' + "a" * 400_000 + '"}]}',
        "<root>" + "<Sequence>" * 15_000,
        "<!--" * 120_000,
        "<root><BehaviorTree>" * 24_000,
        "<root><BehaviorTree></root>" * 18_000,
    ],
)
def test_hostile_text_is_refused_soon(text: str) -> None:
    """Text that is made to cost time is refused within seconds."""
    begin = time.process_time()
    with pytest.raises(PlanError):
        read_plan(text)
    assert time.process_time() - begin < 10


def test_the_plans_of_a_bank_are_plans_as_json_has_them() -> None:
    """A bank's YAML holds numbers as text; written as JSON, its plans are read strictly."""
    for world in load_bank("plans", probes=False).scenarios:
        assert isinstance(world, World)
        tests = world.test_plans
        others = [*tests.safe, *(each.plan for each in tests.harmful)] if tests else []
        for plan in (world.safe_plan, *others):
            assert read_plan(json.dumps(plan)).steps
