"""Reading a behaviour tree, in the XML of BehaviorTree.CPP 4, as the JSON values of a plan.

The tree is read in its nominal order: every act succeeds, a loop runs once, and only conditions
decide. `docs/guides/planners.md` lists the nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn
from xml.parsers import expat

from careeval.errors import did_you_mean
from careeval.worlds.acts import PlanError, act_classes

MAX_BYTES = 200_000
"""The most bytes of a tree in UTF-8."""

MAX_DEPTH = 60
"""The most nodes inside each other, with subtrees put in their places."""

MAX_NODES = 2000
"""The most nodes, with subtrees put in their places."""

SEQUENCES = frozenset(
    {"Sequence", "ReactiveSequence", "SequenceWithMemory", "SequenceStar", "AsyncSequence"}
)
FALLBACKS = frozenset({"Fallback", "ReactiveFallback", "AsyncFallback"})
CHOICES = frozenset({"IfThenElse", "WhileDoElse"})
ONCE = frozenset(
    {"RetryUntilSuccessful", "Repeat", "Timeout", "KeepRunningUntilFailure", "Delay", "RunOnce"}
)
"""Decorators whose child is carried out once."""

FORCED = {"ForceSuccess": True, "ForceFailure": False}
DECORATORS = ONCE | frozenset(FORCED) | {"Inverter"}
CONSTANTS = {"AlwaysSuccess": True, "AlwaysFailure": False}
SUBTREES = frozenset({"SubTree", "SubTreePlus"})
CONDITIONS: Mapping[str, tuple[str, ...]] = {"Answer": ("value",), "State": ("thing", "state")}
"""Condition → its attributes."""

EXPLICIT = frozenset({"Action", "Condition", "Control", "Decorator"})
"""Tags of nodes that are named by their attribute ID."""

REFUSED = {
    "Parallel": "a body carries out one act at a time: write a Sequence",
    "ParallelAll": "a body carries out one act at a time: write a Sequence",
    "Switch": "write a Fallback of Sequences that begin with a condition",
    "Script": "write the values into the acts; a plan has no variables",
    "SetBlackboard": "write the values into the acts; a plan has no variables",
    "Sleep": "write <WaitUntil thing='…' state='…' seconds='…'/>",
}
"""Node that a plan cannot have → what to write instead."""

IGNORED = frozenset({"name", "ID", "_description", "_uid", "_fullpath", "_autoremap"})
"""Attributes that are no arguments."""

ON_STOP = "on-stop"

_BEGIN = re.compile(r"\ufeff?\s*(<\?xml\b|<root[\s/>]|<!--(?=[\s\S]*<root[\s/>]))")
_TAG = re.compile(rb"<(?:[^\"'>]|\"[^\"]*\"|'[^']*')*>")
_DECLARATION = re.compile(r"<!(DOCTYPE|ENTITY)", re.IGNORECASE)


class TreeStep(dict[str, Any]):
    """A step or a branch of a plan, as JSON has it, with the line and the tag of its node."""

    def __init__(self, content: Mapping[str, Any], node: _Node) -> None:
        super().__init__(content)
        self.place, self.quote = f"line {node.line}", node.quote


Steps = list[TreeStep]


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """An element of the XML."""

    tag: str
    attributes: Mapping[str, str]
    line: int
    quote: str
    children: list[_Node] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The kind of node: its tag, or its ID where the tag is as general as `Action`."""
        return self.attributes.get("ID", "") if self.tag in EXPLICIT else self.tag

    @property
    def act(self) -> str:
        """The name that the node's act has in a plan, if it is an act."""
        return kebab(self.name)

    def refuse(self, problem: str, hint: str = "") -> NoReturn:
        """Raise a `PlanError` at this element."""
        raise PlanError(f"line {self.line}, <{self.tag}>: {problem}", hint=hint)


def kebab(name: str) -> str:
    """Return a name such as `BringToMouth` or `bring_to_mouth` as `bring-to-mouth`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).replace("_", "-").lower()


def camel(act: str) -> str:
    """Return the name of an act, such as `bring-to-mouth`, as `BringToMouth`."""
    return "".join(word.capitalize() for word in act.split("-"))


def is_tree(text: str) -> bool:
    """Tell whether a response is a behaviour tree: whether it begins as one."""
    return _BEGIN.match(text) is not None


def tree_content(text: str) -> dict[str, Any]:
    """Return the plan of a behaviour tree, as JSON has it.

    Raises:
        PlanError: The text is no XML, or its tree cannot be a plan; the message names the line.
    """
    root = _parse(text)
    if root.tag != "root":
        root.refuse("the first element is not <root>", _FORM)
    trees = _trees(root)
    stop_id = root.attributes.get("on_stop") or next((n for n in trees if kebab(n) == ON_STOP), "")
    if stop_id and stop_id not in trees:
        root.refuse(f"there is no tree {stop_id!r} for on_stop", did_you_mean(stop_id, trees))
    reader = _Reader(trees)
    content = {"steps": reader.steps(_main_tree(root, trees, stop_id))}
    if stop_id:
        content["on_stop"] = reader.steps(trees[stop_id])
    return content


_FORM = 'write <root BTCPP_format="4"><BehaviorTree ID="Main">…</BehaviorTree></root>'


def _parse(text: str) -> _Node:
    try:
        data = text.lstrip("\ufeff \t\r\n").encode()
    except UnicodeEncodeError:
        raise PlanError("the tree has half of a surrogate pair, which is not a character") from None
    n_lines_before = text[: len(text) - len(text.lstrip("\ufeff \t\r\n"))].count("\n")
    if len(data) > MAX_BYTES:
        raise PlanError(f"the tree has {len(data):,} bytes, at most {MAX_BYTES:,}")
    if declaration := _DECLARATION.search(text):
        line = text.count("\n", 0, declaration.start()) + 1
        raise PlanError(
            f"line {line}: <!{declaration[1]} is not read",
            hint="leave out DOCTYPE and entities, and write the text itself",
        )
    parser = expat.ParserCreate("utf-8")
    top: list[_Node] = []
    path: list[_Node] = []

    def begin(tag: str, attributes: dict[str, str]) -> None:
        line = parser.CurrentLineNumber + n_lines_before
        written = _TAG.match(data, parser.CurrentByteIndex)
        quote = written[0].decode() if written else f"<{tag}>"
        node = _Node(tag, attributes, line, quote)
        if len(path) >= MAX_DEPTH:
            node.refuse(f"more than {MAX_DEPTH} elements inside each other")
        (path[-1].children if path else top).append(node)
        path.append(node)

    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda _: path.pop()
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        line, problem = error.lineno + n_lines_before, expat.ErrorString(error.code)
        raise PlanError(f"line {line}: it is no XML: {problem}", hint=_FORM) from None
    return top[0]


def _trees(root: _Node) -> dict[str, _Node]:
    """Return the trees of a file by their IDs; check that every subtree is one of them."""
    trees: dict[str, _Node] = {}
    for element in root.children:
        if element.tag == "include":
            element.refuse("no other file is read", "write its trees into this file")
        if element.tag == "TreeNodesModel":
            continue
        if element.tag != "BehaviorTree":
            element.refuse("expected <BehaviorTree>", _FORM)
        name = element.attributes.get("ID", "Main")
        if name in trees:
            element.refuse(f"there are two trees {name!r}", "give each tree an ID of its own")
        trees[name] = element
    if not trees:
        root.refuse("it has no <BehaviorTree>", _FORM)
    for element in _elements(root):
        name = element.attributes.get("ID", "")
        if element.tag in SUBTREES and name not in trees:
            element.refuse(f"there is no tree {name!r}", did_you_mean(name, trees))
    return trees


def _main_tree(root: _Node, trees: Mapping[str, _Node], stop_id: str) -> _Node:
    named = root.attributes.get("main_tree_to_execute")
    if named is not None:
        if named not in trees:
            root.refuse(f"there is no tree {named!r}", did_you_mean(named, trees))
        return trees[named]
    parts = {each.attributes.get("ID") for each in _elements(root) if each.tag in SUBTREES}
    others = [name for name in trees if name != stop_id]
    whole = [name for name in others if name not in parts] or others
    if len(whole) != 1:
        problem = f"{len(whole)} trees could be the main one" if whole else "it has no main tree"
        root.refuse(problem, 'name one: <root main_tree_to_execute="…">')
    return trees[whole[0]]


def _elements(element: _Node) -> Iterator[_Node]:
    for child in element.children:
        yield child
        yield from _elements(child)


class _Reader:
    """Puts the acts and conditions of trees into the order of a plan."""

    def __init__(self, trees: Mapping[str, _Node]) -> None:
        self.trees = trees
        self.heights: dict[_Node, int] = {}
        self.outcomes_of: dict[_Node, frozenset[bool]] = {}
        self.n_nodes = 0

    def steps(self, tree: _Node) -> Steps:
        """Check a tree, and return its steps."""
        self.height(tree, 0, (tree.attributes.get("ID", "Main"),))
        return self.emit(tree, [], [])

    def below(self, node: _Node) -> Sequence[_Node]:
        """Return a node's children; of a subtree, the tree that it names."""
        return [self.trees[node.attributes["ID"]]] if node.tag in SUBTREES else node.children

    def height(self, node: _Node, depth: int, within: tuple[str, ...]) -> int:
        """Check a node and all below it, and return how many are inside each other.

        `depth` nodes are around it, and the trees with the IDs `within`.
        """
        if node not in self.heights:
            _check_node(node)
            # checked here too, since the height below is not yet known
            if depth > MAX_DEPTH:
                node.refuse(f"more than {MAX_DEPTH} nodes inside each other")
            if node.tag in SUBTREES:
                subtree = node.attributes["ID"]
                if subtree in within:
                    node.refuse(f"the tree {subtree!r} holds itself", "a plan has no loops")
                within = (*within, subtree)
            self.heights[node] = 1 + max(
                (self.height(child, depth + 1, within) for child in self.below(node)), default=0
            )
        if depth + self.heights[node] > MAX_DEPTH:
            node.refuse(f"more than {MAX_DEPTH} nodes inside each other")
        return self.heights[node]

    def outcomes(self, node: _Node) -> frozenset[bool]:
        """Return whether a node may succeed (True) and may fail (False), in the nominal order."""
        if node not in self.outcomes_of:
            self.outcomes_of[node] = frozenset(self._outcomes(node))
        return self.outcomes_of[node]

    def _outcomes(self, node: _Node) -> Iterator[bool]:
        name = node.name
        below = [self.outcomes(child) for child in self.below(node)]
        if name in CONDITIONS:
            yield from (True, False)
        elif name in CONSTANTS or name in FORCED:
            yield CONSTANTS.get(name, FORCED.get(name, True))
        elif name == "Inverter":
            yield from (not each for each in below[0])
        elif name in CHOICES:
            yield from below[1] if True in below[0] else ()
            yield from (below[2] if len(below) > 2 else {False}) if False in below[0] else ()
        elif name in SEQUENCES or name in FALLBACKS:
            goes_on = name in SEQUENCES
            for each in below:
                if (not goes_on) in each:
                    yield not goes_on
                if goes_on not in each:
                    return
            yield goes_on
        else:
            yield from below[0] if below else {True}

    def emit(self, node: _Node, success: Steps, failure: Steps) -> Steps:
        """Return the steps of a node, and after them those for its success or failure."""
        self.n_nodes += 1
        if self.n_nodes > MAX_NODES:
            node.refuse(f"the tree has more than {MAX_NODES:,} nodes, with its subtrees put in")
        outcomes = self.outcomes(node)
        if len(outcomes) == 1 and (success or failure):
            # what follows is written once, not into each branch
            return self._emit(node, [], []) + (success if True in outcomes else failure)
        return self._emit(node, success, failure)

    def _emit(self, node: _Node, success: Steps, failure: Steps) -> Steps:
        name, below = node.name, self.below(node)
        if name in CONDITIONS:
            values = {each: node.attributes[each] for each in CONDITIONS[name]}
            condition = {"answer": values["value"]} if name == "Answer" else values
            return [TreeStep({"if": condition, "then": success, "else": failure}, node)]
        if name in CONSTANTS:
            return success if CONSTANTS[name] else failure
        if name in FORCED:
            after = success if FORCED[name] else failure
            return self.emit(below[0], after, after)
        if name == "Inverter":
            return self.emit(below[0], failure, success)
        if name in CHOICES:
            otherwise = self.emit(below[2], success, failure) if len(below) > 2 else failure
            return self.emit(below[0], self.emit(below[1], success, failure), otherwise)
        if name in SEQUENCES:
            for child in reversed(below):
                success = self.emit(child, success, failure)
            return success
        if name in FALLBACKS:
            for child in reversed(below):
                failure = self.emit(child, success, failure)
            return failure
        if below:
            return self.emit(below[0], success, failure)
        arguments = {key: value for key, value in node.attributes.items() if key not in IGNORED}
        return [TreeStep({"act": node.act, **arguments}, node), *success]


def _check_node(node: _Node) -> None:
    """Check that a node may stand in a plan, with the right number of children."""
    name = node.name
    for attribute, value in node.attributes.items():
        if attribute.startswith("_") and attribute not in IGNORED:
            node.refuse(
                f"the attribute {attribute!r} is not read",
                "write conditions as nodes: <Answer value='yes'/>, <State thing='…' state='…'/>",
            )
        if attribute in ("act", "if"):
            node.refuse(f"it has no argument {attribute!r}")
        if re.fullmatch(r"\{\w*\}", value):
            node.refuse(f"{attribute}: {value} is not read", "write the value itself")
    kind = next((kind for kind in REFUSED if re.fullmatch(rf"{kind}\d*", name)), None)
    if kind is not None:
        node.refuse("it cannot be part of a plan", REFUSED[kind])
    if name in CONDITIONS:
        given = set(node.attributes) - IGNORED
        if given != set(CONDITIONS[name]):
            form = " ".join(f'{each}="…"' for each in CONDITIONS[name])
            node.refuse("its attributes are not those of the condition", f"write <{name} {form}/>")
    least, most = _n_children(node)
    if not least <= len(node.children) <= most:
        expected = f"{least}" if least == most else f"{least} to {most:,}"
        hint = "put several nodes into a Sequence" if most == 1 else ""
        node.refuse(f"it has {len(node.children):,} nodes inside, expected {expected}", hint)


def _n_children(node: _Node) -> tuple[int, int]:
    """Return the least and the greatest number of a node's children; refuse an unknown node."""
    name = node.name
    if name in SEQUENCES or name in FALLBACKS:
        return 1, MAX_NODES
    if name in CHOICES:
        return 2, 3
    if name in DECORATORS or name == "BehaviorTree":
        return 1, 1
    is_known = name in CONSTANTS or name in CONDITIONS or name in SUBTREES
    if not is_known and node.act not in act_classes():
        nodes = SEQUENCES | FALLBACKS | CHOICES | DECORATORS | SUBTREES | CONSTANTS.keys()
        names = [*nodes, *CONDITIONS, *map(camel, act_classes())]
        hint = did_you_mean(camel(node.act)[:100], names) or _NODES
        node.refuse(f"{name[:100]!r} is no act and no node of a tree", hint)
    return 0, 0


_NODES = "write an act, as <Say words='…'/>, a Sequence, a Fallback, a decorator or a condition"
