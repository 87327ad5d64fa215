"""Behaviour trees read as plans."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import pytest

from careeval.bank import load_bank
from careeval.worlds.acts import PlanError
from careeval.worlds.plan_json import Branch, Plan, Step, plan_of, read_plan
from careeval.worlds.walkthrough import walk_through
from careeval.worlds.world import World
from support.plan_worlds import all_steps
from support.small_world import SAFE_PLAN, SAFE_TREE, small_world

YES = '<Answer value="yes"/>'
NO = '<Answer value="no"/>'
FULL = '<State thing="mouth" state="full"/>'

WAIT = '<WaitUntil thing="mouth" state="full" seconds="9"/>'


def tree(content: str, *others: str) -> str:
    """Return a file whose main tree has this content."""
    return f'<root><BehaviorTree ID="Main">{content}</BehaviorTree>{"".join(others)}</root>'


def say(word: str) -> str:
    """Return a node that says a word."""
    return f'<Say words="{word}"/>'


Shown = str | tuple[str, list["Shown"], list["Shown"]]


def shown(steps: Sequence[Step | Branch]) -> list[Shown]:
    """Return the words of each act, and of each branch its value and both lists."""
    return [
        step.act.arguments.get("words", step.act.act)
        if isinstance(step, Step)
        else (step.value, shown(step.then), shown(step.otherwise))
        for step in steps
    ]


def acts_of(plan: Plan) -> list[object]:
    """Return the address and the act of every step."""
    return [(step.address, step.act) for step in all_steps(plan)]


def test_a_tree_is_judged_as_the_same_plan_in_json(tmp_path: Path) -> None:
    """Acts, addresses and every verdict are those of the plan in JSON; quotes are the tags."""
    world = small_world(tmp_path / "bank")
    from_tree, from_json = read_plan(SAFE_TREE), read_plan(json.dumps(SAFE_PLAN))

    assert acts_of(from_tree) == acts_of(from_json)
    reasons = [
        [judgment.reason for judgment in walk_through(plan, world).judgments.values()]
        for plan in (from_tree, from_json)
    ]
    assert reasons[0] == reasons[1]
    quotes = [step.quote for step in all_steps(from_tree)]
    assert quotes[1] == '<Action ID="wait_for_answer" seconds="10"/>'
    assert all(quote in SAFE_TREE for quote in quotes)


@pytest.mark.parametrize("name", ["BringToMouth", "bring_to_mouth", "bring-to-mouth"])
@pytest.mark.parametrize("form", ['<{} thing="spoon" force_n="3"/>', '<Action ID="{}" {}/>'])
def test_names_of_acts(name: str, form: str) -> None:
    """An act may be written in three ways, as a tag or as an ID; numbers are read from text."""
    plan = read_plan(tree(form.format(name, 'thing="spoon" force_n="3"')))
    same = plan_of([{"act": "bring-to-mouth", "thing": "spoon", "force_n": 3}])
    assert acts_of(plan) == acts_of(same)


def test_truth_from_text() -> None:
    """`true` and `false` are read from text, and a number as a word stays a word."""
    plan = read_plan(tree('<Brake thing="bed" on="true"/>'))
    assert acts_of(plan) == acts_of(plan_of([{"act": "brake", "thing": "bed", "on": True}]))
    assert shown(read_plan(tree(say("3"))).steps) == ["3"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        # sequences, and decorators around an act
        (f"<Sequence>{say('a')}{say('b')}</Sequence>", ["a", "b"]),
        (f"<SequenceWithMemory>{say('a')}{say('b')}</SequenceWithMemory>", ["a", "b"]),
        (f"<RunOnce>{say('a')}</RunOnce>", ["a"]),
        # a loop is written out: as often as its child succeeds, or until it succeeds
        (f'<Repeat num_cycles="3">{say("a")}</Repeat>', ["a", "a", "a"]),
        (
            f'<Repeat num_cycles="2"><Sequence>{YES}{say("a")}</Sequence></Repeat>',
            [("yes", ["a", ("yes", ["a"], [])], [])],
        ),
        (
            f'<Fallback><Repeat num_cycles="9"><ForceFailure>{say("a")}</ForceFailure></Repeat>'
            f"{say('b')}</Fallback>",
            ["a", "b"],
        ),
        (f'<RetryUntilSuccessful num_attempts="3">{say("a")}</RetryUntilSuccessful>', ["a"]),
        (
            f'<RetryUntilSuccessful num_attempts="2"><Sequence>{say("a")}{YES}</Sequence>'
            "</RetryUntilSuccessful>",
            ["a", ("yes", [], ["a", ("yes", [], [])])],
        ),
        (
            f'<Sequence><RetryUntilSuccessful num_attempts="9">{YES}</RetryUntilSuccessful>'
            f"{say('a')}</Sequence>",
            [("yes", ["a"], [])],
        ),
        # a wait whose time is up fails
        (WAIT, ["wait-until"]),
        (f"<Sequence>{WAIT}{say('a')}</Sequence>", ["wait-until", ("full", ["a"], [])]),
        (f"<Fallback>{WAIT}{say('a')}</Fallback>", ["wait-until", ("full", [], ["a"])]),
        (
            f"<Sequence><Fallback>{WAIT}{say('a')}</Fallback>{say('b')}</Sequence>",
            ["wait-until", ("full", [], ["a"]), "b"],
        ),
        (
            f"<Sequence><ForceSuccess>{WAIT}</ForceSuccess>{say('a')}</Sequence>",
            ["wait-until", "a"],
        ),
        (
            f"<Fallback><Inverter>{WAIT}</Inverter>{say('a')}</Fallback>",
            ["wait-until", ("full", ["a"], [])],
        ),
        (f'<Decorator ID="Timeout" msec="9001">{WAIT}</Decorator>', ["wait-until"]),
        # conditions that are ticked again, where that changes nothing
        (f"<ReactiveSequence>{YES}{say('a')}</ReactiveSequence>", [("yes", ["a"], [])]),
        (
            f"<ReactiveSequence>{YES}<Sequence>{say('a')}{say('b')}</Sequence></ReactiveSequence>",
            [("yes", ["a", "b"], [])],
        ),
        (f"<ReactiveFallback>{FULL}{say('a')}</ReactiveFallback>", [("full", [], ["a"])]),
        (f"<WhileDoElse>{YES}{say('a')}{say('b')}</WhileDoElse>", [("yes", ["a"], ["b"])]),
        # an act succeeds, so that later children of a fallback are never tried
        (f"<Fallback>{say('a')}{say('b')}</Fallback>", ["a"]),
        (f"<Fallback><AlwaysFailure/>{say('b')}</Fallback>", ["b"]),
        (f"<Fallback><Inverter>{say('a')}</Inverter>{say('b')}</Fallback>", ["a", "b"]),
        # a condition decides what comes after it, and no more than that
        (f"<Sequence>{YES}{say('a')}</Sequence>", [("yes", ["a"], [])]),
        (f"<Sequence>{say('a')}{FULL}{say('b')}</Sequence>", ["a", ("full", ["b"], [])]),
        (f"<Fallback>{YES}{say('a')}</Fallback>", [("yes", [], ["a"])]),
        (
            f"<Sequence><Inverter>{YES}</Inverter>{say('a')}</Sequence>",
            [("yes", [], ["a"])],
        ),
        (
            f"<Sequence><ForceSuccess>{YES}</ForceSuccess>{say('a')}</Sequence>",
            [("yes", [], []), "a"],
        ),
        (
            f"<IfThenElse>{YES}{say('a')}{say('b')}</IfThenElse>",
            [("yes", ["a"], ["b"])],
        ),
        # what follows a fallback that cannot fail is written once
        (
            f"<Sequence><Fallback><Sequence>{YES}{say('a')}</Sequence>{say('b')}</Fallback>"
            f"{say('c')}</Sequence>",
            [("yes", ["a"], ["b"]), "c"],
        ),
        # either of two conditions leads to the act
        (
            f"<Sequence><Fallback>{YES}{FULL}</Fallback>{say('a')}</Sequence>",
            [("yes", ["a"], [("full", ["a"], [])])],
        ),
        # the first child has acted before its condition fails
        (
            f"<Fallback><Sequence>{say('a')}{NO}{say('b')}</Sequence>{say('c')}</Fallback>",
            ["a", ("no", ["b"], ["c"])],
        ),
    ],
)
def test_nominal_order(content: str, expected: list[Shown]) -> None:
    """Each node, worked by hand, gives these acts and branches."""
    assert shown(read_plan(tree(content)).steps) == expected


@pytest.mark.parametrize(
    ("node", "condition"),
    [
        (YES, {"answer": "yes"}),
        (FULL, {"thing": "mouth", "state": "full"}),
        ('<Held thing="spoon"/>', {"held": "spoon"}),
        ('<Condition ID="Lifted" thing="left-leg"/>', {"lifted": "left-leg"}),
        ('<At place="sink" name="at the sink"/>', {"place": "sink"}),
    ],
)
def test_conditions(node: str, condition: Mapping[str, str]) -> None:
    """Each condition is read as the branch of JSON with the same meaning."""
    same = plan_of([{"if": condition, "then": [{"act": "say", "words": "a"}]}])
    assert read_plan(tree(f"<Sequence>{node}{say('a')}</Sequence>")) == same


def test_lines_are_those_of_the_response() -> None:
    """The line of a mistake is counted from the beginning of the response."""
    with pytest.raises(PlanError, match="line 4, grasp: thing is missing"):
        read_plan("My plan:\n```xml\n" + tree("\n<Grasp/>") + "\n```")


def test_stop_and_subtrees() -> None:
    """A tree may be used twice, and the tree for a stop is found by its ID or an attribute."""
    part = f'<BehaviorTree ID="Part">{say("a")}</BehaviorTree>'
    twice = '<Sequence><SubTree ID="Part"/><SubTree ID="Part"/></Sequence>'
    stop = '<BehaviorTree ID="{}"><Stop/></BehaviorTree>'

    plan = read_plan(tree(twice, part, stop.format("on_stop")))
    assert (shown(plan.steps), shown(plan.on_stop or ())) == (["a", "a"], ["stop"])
    assert [step.address for step in all_steps(plan)] == ["steps[0]", "steps[1]", "on_stop[0]"]

    named = tree(twice, part, stop.format("Halt")).replace("<root", '<root on_stop="Halt"')
    assert shown(read_plan(named).on_stop or ()) == ["stop"]
    assert read_plan(tree(twice, part)).on_stop is None


@pytest.mark.parametrize("before", ["\ufeff", "\n\n", "<!-- by our planner -->\n"])
def test_what_may_come_before_the_tree(before: str) -> None:
    """A byte order mark, space, and a comment may come before the first element."""
    assert shown(read_plan(before + tree(say("a"))).steps) == ["a"]


def test_words_keep_their_characters() -> None:
    """Entities of XML itself are read, and the quote is what is written."""
    (step,) = all_steps(read_plan(tree(say("Tea &amp; &quot;milk&quot; > juice?"))))
    assert step.act.arguments["words"] == 'Tea & "milk" > juice?'
    assert step.quote == '<Say words="Tea &amp; &quot;milk&quot; > juice?"/>'


def repeat_node(n_cycles: str, content: str) -> str:
    """Return a node that repeats another."""
    return f'<Repeat num_cycles="{n_cycles}">{content}</Repeat>'


def repeat(n_cycles: str, content: str) -> str:
    """Return a file whose main tree repeats a node."""
    return tree(repeat_node(n_cycles, content))


PART = '<BehaviorTree ID="B"><Stop/></BehaviorTree>'
LOOP = '<BehaviorTree ID="B"><Sequence><SubTree ID="Main"/></Sequence></BehaviorTree>'


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("<root>\n<BehaviorTree>", "line 2: it is no XML: no element found", "<root"),
        ("<root/>", "line 1, <root>: it has no <BehaviorTree>", "<root"),
        ("<root><Stop/></root>", "line 1, <Stop>: expected <BehaviorTree>", "<root"),
        ('<root><include path="/etc/passwd"/></root>', "no other file is read", "this file"),
        (tree("", ""), "<BehaviorTree>: it has 0 nodes inside, expected 1", ""),
        (tree(YES + NO), "<BehaviorTree>: it has 2 nodes inside, expected 1", "Sequence"),
        (tree("<Sequence/>"), "<Sequence>: it has 0 nodes inside, expected 1 to 2,000", ""),
        (tree("\n<BringToMoth/>"), "line 2, <BringToMoth>: 'BringToMoth' is no act", "'BringToM"),
        (tree("<Foo/>"), "<Foo>: 'Foo' is no act and no node of a tree", "write an act"),
        (tree(f"<Parallel>{say('a')}</Parallel>"), "<Parallel>: it cannot be", "a Sequence"),
        (tree(f"<Switch2>{say('a')}</Switch2>"), "<Switch2>: it cannot be", "Fallback"),
        (tree('<Script code="a:=1"/>'), "<Script>: it cannot be", "no variables"),
        (tree("<Held/>"), "its attributes are not those", '<Held thing="…"/>'),
        (tree('<At name="sink"/>'), "its attributes are not those", '<At place="…"/>'),
        (tree(f'<Sequence thing="a">{YES}</Sequence>'), "attribute 'thing' is not read", "leave"),
        (tree('<SubTree ID="B" thing="a"/>', PART), "the attribute 'thing' is not read", "leave"),
        (
            tree(f'\n<Repeat num_cycle="2">{YES}</Repeat>'),
            "line 2, <Repeat>: the attribute 'num_cycle' is not read",
            "'num_cycles'",
        ),
        (tree(f"<Repeat>{say('a')}</Repeat>"), "<Repeat>: num_cycles is missing", "num_cycles="),
        (repeat("-1", say("a")), "num_cycles is -1, which never ends", "no endless loops"),
        (repeat("0", say("a")), "num_cycles: found '0', expected a whole number from 1", ""),
        (repeat("500", say("a")), "<Repeat>: num_cycles is 500, at most 200", "few steps"),
        (repeat("101", f"<Sequence>{say('a') * 5}</Sequence>"), "more than 500 steps", ""),
        (
            repeat("99", repeat_node("99", f"<Sequence>{YES}{say('a')}</Sequence>")),
            "more than 2,000 nodes",
            "",
        ),
        (
            repeat("2", f"<RunOnce>{say('a')}</RunOnce>"),
            "<RunOnce>: inside Repeat it leaves",
            "one",
        ),
        (
            repeat("2", f"<SequenceWithMemory>{YES}</SequenceWithMemory>"),
            "<SequenceWithMemory>: inside Repeat it goes on where it failed",
            "a Sequence",
        ),
        (
            tree(f'<Timeout msec="9000">{WAIT}</Timeout>'),
            "<Timeout>: it ends after 9 s, and the waits inside take 9 s",
            "the seconds into the wait",
        ),
        (
            tree(f'<Timeout msec="9000">{say("a")}</Timeout>'),
            "<Timeout>: a plan does not know how long say takes",
            "only round waits",
        ),
        (
            tree(f'<Delay delay_msec="9">{say("a")}</Delay>'),
            "<Delay>: it cannot be part of a plan",
            "WaitUntil",
        ),
        (
            tree(f"<KeepRunningUntilFailure>{say('a')}</KeepRunningUntilFailure>"),
            "<KeepRunningUntilFailure>: it cannot be part of a plan",
            "never succeeds",
        ),
        (tree(f"<SequenceStar>{YES}</SequenceStar>"), "it cannot be", "SequenceWithMemory"),
        (
            tree(f"<ReactiveSequence>{say('a')}{say('b')}</ReactiveSequence>"),
            r"<ReactiveSequence>: it ticks say \(line 1\) again while a later child runs",
            "write a Sequence",
        ),
        (
            tree(
                f"<ReactiveSequence>{YES}<Sequence>{say('a')}<Ask words='b'/></Sequence>"
                "</ReactiveSequence>"
            ),
            r"it ticks Answer \(line 1\) again while its acts run, which may change it",
            "the condition before each act",
        ),
        (
            tree(
                f"<ReactiveFallback>{FULL}<Sequence>{say('a')}{say('b')}</Sequence>"
                "</ReactiveFallback>"
            ),
            r"it ticks State \(line 1\) again while its acts run",
            "the condition before each act",
        ),
        (tree("<Stop/>").replace("<root", '<root BTCPP_format="3"'), "BTCPP_format is '3'", "4"),
        (tree("\n\n<Grasp/>"), "line 3, grasp: thing is missing", "grasp takes thing"),
        (tree('<Grasp thing="a" force="1"/>'), "it has no argument 'force'", "'force_n'"),
        (tree('<WaitForAnswer seconds="x"/>'), 'seconds: found "x", expected', "takes seconds"),
        (tree('<Grasp thing="{part}"/>'), "thing: {part} is not read", "the value itself"),
        (tree('<Stop act="ask"/>'), "<Stop>: it has no argument 'act'", ""),
        (tree('<Stop _skipIf="a"/>'), "the attribute '_skipIf' is not read", "<Answer"),
        (tree('<Answer value="maybe"/>'), 'line 1: "maybe" is no answer', "<Answer value="),
        (tree("<Answer/>"), "its attributes are not those", '<Answer value="…"/>'),
        (tree('<State thing="mouth"/>'), "its attributes are not those", 'state="…"/>'),
        (tree('<SubTree ID="Fed"/>', '<BehaviorTree ID="Feed"/>'), "no tree 'Fed'", "'Feed'"),
        (tree('<SubTree ID="Main"/>'), "the tree 'Main' holds itself", "no loops"),
        (
            tree('<SubTree ID="B"/>', LOOP).replace("<root", '<root main_tree_to_execute="Main"'),
            "the tree 'Main' holds itself",
            "no loops",
        ),
        (tree(say("a"), f'<BehaviorTree ID="B">{say("b")}</BehaviorTree>'), "2 trees", "main_tree"),
        (tree(say("a"), f'<BehaviorTree ID="Main">{say("b")}</BehaviorTree>'), "two trees", "ID"),
        (tree(say("a")).replace("<root", '<root main_tree_to_execute="M"'), "no tree 'M'", ""),
        (tree(say("a")).replace("<root", '<root on_stop="X"'), "no tree 'X' for on_stop", ""),
        ('<?xml version="1.0"?><plan/>', "<plan>: the first element is not <root>", "<root"),
        (
            '<?xml version="1.0"?>\n<!DOCTYPE root [<!ENTITY a "b">]>' + tree(say("&a;")),
            "line 2: <!DOCTYPE is not read",
            "leave out DOCTYPE",
        ),
        (tree(say("&a;")), "line 1: it is no XML: undefined entity", ""),
        (tree(say("a" * 200_000)), r"the tree has 200,\d+ bytes, at most 200,000", ""),
        ("<root>" + "<Sequence>" * 100, "more than 60 elements inside each other", ""),
        (tree("<Sequence>" + "<Stop/>" * 2100 + "</Sequence>"), "expected 1 to 2,000", ""),
        (tree("<Sequence>" + "<Stop/>" * 501 + "</Sequence>"), "more than 500 steps", ""),
        ("<root>\ud800</root>", "half of a surrogate pair", ""),
    ],
)
def test_mistakes_are_named_with_their_line(text: str, message: str, hint: str) -> None:
    """A tree that cannot be a plan is refused: the line, what was found, and what to write."""
    with pytest.raises(PlanError, match=message) as caught:
        read_plan(text)
    assert hint in caught.value.hint


def test_trees_that_multiply_are_refused() -> None:
    """Subtrees that hold each other ten times end at the limit of nodes, or of depth."""
    for n_levels, message in ((8, "more than 2,000 nodes"), (40, "more than 60 nodes inside")):
        trees = [
            f'<BehaviorTree ID="T{i}"><Sequence>{f"""<SubTree ID="T{i + 1}"/>""" * 10}</Sequence>'
            "</BehaviorTree>"
            for i in range(n_levels)
        ]
        last = f'<BehaviorTree ID="T{n_levels}"><Stop/></BehaviorTree>'
        with pytest.raises(PlanError, match=message):
            read_plan(f"<root>{''.join(trees)}{last}</root>")


def as_tree(plan: Mapping[str, Any], choice: str) -> str:
    """Write a plan in JSON as a behaviour tree.

    Args:
        plan: The plan.
        choice: A branch: its condition, its steps, and its steps otherwise.
    """

    def node(step: Mapping[str, Any]) -> str:
        if "if" in step:
            subject = next(iter(step["if"]))
            names = {"answer": "Answer", "held": "Held", "lifted": "Lifted", "place": "At"}
            name = names.get(subject, "State")
            attributes = {
                {"answer": "value", "held": "thing", "lifted": "thing"}.get(key, key): value
                for key, value in step["if"].items()
            }
            then, otherwise = (nodes(step.get(each, ())) for each in ("then", "else"))
            return choice.format(tag(name, attributes), then, otherwise)
        act = tag(step["act"], {key: value for key, value in step.items() if key != "act"})
        # in JSON what follows a wait is carried out even if its time is up
        return f"<ForceSuccess>{act}</ForceSuccess>" if step["act"] == "wait-until" else act

    def tag(name: str, attributes: Mapping[str, Any]) -> str:
        pairs = (
            f"{key}={quoteattr(text(value))}"
            for key, value in attributes.items()
            if value is not None
        )
        return f"<{' '.join([name, *pairs])}/>"

    def text(value: object) -> str:
        if isinstance(value, list | tuple):
            return ";".join(value)
        return value if isinstance(value, str) else json.dumps(value)

    def nodes(steps: Sequence[Mapping[str, Any]]) -> str:
        return f"<Sequence>{''.join(map(node, steps))}</Sequence>" if steps else "<AlwaysSuccess/>"

    stop = f'<BehaviorTree ID="OnStop">{nodes(plan["on_stop"])}</BehaviorTree>'
    return tree(nodes(plan["steps"]), stop if plan.get("on_stop") else "")


def outline(steps: Sequence[Step | Branch]) -> list[object]:
    """Return every address, act and condition of steps, and of what is inside them."""
    return [
        (step.address, step.act)
        if isinstance(step, Step)
        else (step.address, step.condition, outline(step.then), outline(step.otherwise))
        for step in steps
    ]


@pytest.mark.parametrize(
    "choice",
    [
        "<IfThenElse>{}{}{}</IfThenElse>",
        "<Fallback><Sequence>{}{}</Sequence>{}</Fallback>",
        "<Inverter><Sequence><Inverter><Sequence>{}{}</Sequence></Inverter><Inverter>{}</Inverter>"
        "</Sequence></Inverter>",
    ],
)
def test_every_plan_can_be_written_as_a_tree(choice: str) -> None:
    """Each world's plan, written as a tree in three ways, is read as the plan that it was."""
    for world in load_bank("plans", probes=False):
        assert isinstance(world, World)
        plans = [world.safe_plan, *(world.test_plans.safe if world.test_plans else ())]
        for plan in plans:
            expected, found = plan_of(plan), read_plan(as_tree(plan, choice))
            assert outline(found.steps) == outline(expected.steps)
            assert outline(found.on_stop or ()) == outline(expected.on_stop or ())
