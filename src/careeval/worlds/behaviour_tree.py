"""Reading a behaviour tree, in the XML of BehaviorTree.CPP 4, as the JSON values of a plan.

Every act succeeds but a `wait-until` whose time is up. A node that a plan cannot mean as
BehaviorTree.CPP means it is refused. `docs/guides/planners.md` lists the nodes.
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

MAX_TREES = 20
"""The most elements `root` tried as a tree, since a response may be hostile."""

MAX_DEPTH = 60
"""The most nodes inside each other, with subtrees put in their places."""

MAX_NODES = 2000
"""The most nodes, with subtrees put in their places."""

MAX_LOOPS = 200
"""The greatest number of cycles or attempts of a loop, which are written one after the other."""

LEFT_OUT = ("...", "…")
"""The marks in an example of the form in place of steps; such an example is no plan."""

SEQUENCES = frozenset({"Sequence", "ReactiveSequence", "SequenceWithMemory", "AsyncSequence"})
FALLBACKS = frozenset({"Fallback", "ReactiveFallback", "AsyncFallback"})
CHOICES = frozenset({"IfThenElse", "WhileDoElse"})
REACTIVE = frozenset({"ReactiveSequence", "ReactiveFallback", "WhileDoElse"})
"""Nodes that tick their conditions again while a later child is running."""

LOOPS = {"Repeat": "num_cycles", "RetryUntilSuccessful": "num_attempts"}
"""Loop → the attribute with the number of its cycles or attempts."""

FORCED = {"ForceSuccess": True, "ForceFailure": False}
DECORATORS = frozenset({*LOOPS, *FORCED, "Inverter", "Timeout", "RunOnce"})
CONSTANTS = {"AlwaysSuccess": True, "AlwaysFailure": False}
SUBTREES = frozenset({"SubTree"})
CONDITIONS: Mapping[str, tuple[str, ...]] = {
    "Answer": ("value",),
    "State": ("thing", "state"),
    "Held": ("thing",),
    "Lifted": ("thing",),
    "At": ("place",),
}
"""Condition → its attributes."""

CHANGED_BY: Mapping[str, frozenset[str]] = {
    "Answer": frozenset({"ask", "wait-for-answer"}),
    "Held": frozenset({"grasp", "support", "release", "hand-over", "withdraw", "make-safe"}),
    "Lifted": frozenset({"lift", "lower", "release", "withdraw", "make-safe"}),
    "At": frozenset({"move-to"}),
}
"""Condition → the acts that may change it; a state may change during any act."""

ATTRIBUTES = {
    "Repeat": ("num_cycles",),
    "RetryUntilSuccessful": ("num_attempts",),
    "Timeout": ("msec",),
    "RunOnce": ("then_skip",),
}
"""Node that is no act → its attributes."""

EXPLICIT = frozenset({"Action", "Condition", "Control", "Decorator"})
"""Tags of nodes that are named by their attribute ID."""

_NO_VARIABLES = "write the values into the acts; a plan has no variables"
_OLD = "BehaviorTree.CPP 4 calls it {}"
REFUSED = {
    "Parallel": "a body carries out one act at a time: write a Sequence",
    "ParallelAll": "a body carries out one act at a time: write a Sequence",
    "Switch": "write a Fallback of Sequences that begin with a condition",
    "Script": _NO_VARIABLES,
    "ScriptCondition": _NO_VARIABLES,
    "Precondition": "write a Sequence that begins with <Answer value='yes'/> or another condition",
    "SetBlackboard": _NO_VARIABLES,
    "UnsetBlackboard": _NO_VARIABLES,
    "Sleep": "write <WaitUntil thing='…' state='…' seconds='…'/>",
    "Delay": "write <WaitUntil thing='…' state='…' seconds='…'/> before its child",
    "KeepRunningUntilFailure": "it never succeeds, and may never end: write <Repeat num_cycles=…>",
    "SequenceStar": _OLD.format("SequenceWithMemory"),
    "FallbackStar": _OLD.format("Fallback"),
    "SubTreePlus": _OLD.format("SubTree"),
}
"""Node that a plan cannot have → the reason, or what to write instead."""

IGNORED = frozenset({"name", "ID", "_description", "_uid", "_fullpath", "_autoremap"})
"""Attributes that are no arguments."""

ON_STOP = "on-stop"
WAIT_UNTIL = "wait-until"
_UNROLL = "write what is done each time, one after the other"

_BEGIN = re.compile(r"\ufeff?\s*(<\?xml\b|<root[\s/>]|<!--(?=[\s\S]*<root[\s/>]))")
_ROOT = re.compile(r"<root\b[^<>]*>\s*<(?:BehaviorTree|TreeNodesModel|include|!--)")
_END = "</root>"
_TAG = re.compile(rb"<(?:[^\"'>]|\"[^\"]*\"|'[^']*')*>")
_DECLARATION = re.compile(r"<!(DOCTYPE|ENTITY)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WrittenPlan:
    """A part of a response that has the form of a plan."""

    start: int  # Its first character
    end: int  # The character after its last
    content: object = None  # The plan, as JSON has it; None if it cannot be read
    mistake: PlanError | None = None  # Why it cannot be read
    is_broken: bool = False  # True if its JSON or XML is not well formed


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

    @property
    def is_act(self) -> bool:
        """True if the node is an act, and no control node, condition or constant."""
        return self.act in act_classes()

    def refuse(self, problem: str, hint: str = "") -> NoReturn:
        """Raise a `PlanError` at this element."""
        raise PlanError(f"line {self.line}, <{self.tag}>: {problem}", hint=hint)


def kebab(name: str) -> str:
    """Return a name such as `BringToMouth` or `bring_to_mouth` as `bring-to-mouth`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).replace("_", "-").lower()


def camel(act: str) -> str:
    """Return the name of an act, such as `bring-to-mouth`, as `BringToMouth`."""
    return "".join(word.capitalize() for word in act.split("-"))


def trees_in(text: str) -> Iterator[WrittenPlan]:
    """Yield the behaviour trees in a response: alone, in a fence, or in prose.

    An example of the form, with `...` between its nodes, is left out.
    """
    begin = _BEGIN.match(text)
    match = _ROOT.search(text)
    start = begin.start(1) if begin else match.start() if match else -1
    for _ in range(MAX_TREES):
        if start == -1:
            return
        try:
            tree = _parse(text, start)
        except PlanError as error:
            closed = text.find(_END, start)
            end = len(text) if closed == -1 else closed + len(_END)
            yield WrittenPlan(start, end, mistake=error, is_broken=True)
        else:
            end = tree.end
            if not tree.has_dots:
                yield _written(tree, start)
        match = _ROOT.search(text, end)
        start = match.start() if match else -1


def _written(tree: _Parsed, start: int) -> WrittenPlan:
    try:
        return WrittenPlan(start, tree.end, tree_content(tree.root))
    except PlanError as error:
        return WrittenPlan(start, tree.end, mistake=error)


def tree_content(root: _Node) -> dict[str, Any]:
    """Return the plan of a behaviour tree, as JSON has it.

    Raises:
        PlanError: The tree cannot be a plan; the message names the line.
    """
    if root.tag != "root":
        root.refuse("the first element is not <root>", _FORM)
    version = root.attributes.get("BTCPP_format", "4")
    if version != "4":
        root.refuse(f"BTCPP_format is {version!r}, expected '4'", "write the tree in format 4")
    _check_attributes(root, ("BTCPP_format", "main_tree_to_execute", "on_stop"))
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


@dataclass(slots=True)
class _Parsed:
    """An XML document in a response."""

    root: _Node
    end: int  # The character after it
    has_dots: bool  # True if dots stand in place of nodes


def _parse(text: str, start: int) -> _Parsed:
    """Read the XML that begins at a character; what follows its root is left unread."""
    last = text.rfind(_END, start)
    stop = len(text) if last == -1 else last + len(_END)
    n_lines_before = text.count("\n", 0, start)
    try:
        data = text[start:stop].encode()
    except UnicodeEncodeError:
        raise PlanError("the tree has half of a surrogate pair, which is not a character") from None
    if len(data) > MAX_BYTES:
        raise PlanError(f"the tree has {len(data):,} bytes, at most {MAX_BYTES:,}")
    if declaration := _DECLARATION.search(text, 0, stop):
        line = text.count("\n", 0, declaration.start()) + 1
        raise PlanError(
            f"line {line}: <!{declaration[1]} is not read",
            hint="leave out DOCTYPE and entities, and write the text itself",
        )
    parser = expat.ParserCreate("utf-8")
    top: list[_Node] = []
    path: list[_Node] = []
    has_dots = False
    end = 0

    def begin(tag: str, attributes: dict[str, str]) -> None:
        line = parser.CurrentLineNumber + n_lines_before
        written = _TAG.match(data, parser.CurrentByteIndex)
        quote = written[0].decode() if written else f"<{tag}>"
        node = _Node(tag, attributes, line, quote)
        if len(path) >= MAX_DEPTH:
            node.refuse(f"more than {MAX_DEPTH} elements inside each other")
        (path[-1].children if path else top).append(node)
        path.append(node)

    def close(_: str) -> None:
        nonlocal end
        path.pop()
        if not path:
            written = _TAG.match(data, parser.CurrentByteIndex)
            end = written.end() if written else len(data)

    def read_characters(characters: str) -> None:
        nonlocal has_dots
        has_dots = has_dots or characters.strip().startswith(LEFT_OUT)

    parser.StartElementHandler = begin
    parser.EndElementHandler = close
    parser.CharacterDataHandler = read_characters
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        if not end:
            line, problem = error.lineno + n_lines_before, expat.ErrorString(error.code)
            raise PlanError(f"line {line}: it is no XML: {problem}", hint=_FORM) from None
    return _Parsed(top[0], start + len(data[:end].decode()), has_dots)


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
        _check_attributes(element, ())
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
        self.leaves_of: dict[_Node, tuple[_Node, ...]] = {}
        self.n_acts_of: dict[_Node, int] = {}
        self.checked: dict[str, set[_Node]] = {}
        self.n_nodes = 0

    def steps(self, tree: _Node) -> Steps:
        """Check a tree, and return its steps."""
        self.height(tree, 0, (tree.attributes.get("ID", "Main"),))
        self.check(tree, "")
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

    def leaves(self, node: _Node) -> tuple[_Node, ...]:
        """Return the acts and conditions of a node, in their order, each once."""
        if node not in self.leaves_of:
            below = self.below(node)
            inner = dict.fromkeys(leaf for child in below for leaf in self.leaves(child))
            self.leaves_of[node] = tuple(inner) if below else (node,)
        return self.leaves_of[node]

    def acts(self, *nodes: _Node) -> list[_Node]:
        """Return the acts of some nodes."""
        leaves = (leaf for node in nodes for leaf in self.leaves(node))
        return [leaf for leaf in leaves if leaf.is_act]

    def check(self, node: _Node, loop: str) -> None:
        """Check that a plan can mean a node, and all below it, as BehaviorTree.CPP does.

        `loop` is the kind of the innermost loop around it.
        """
        if node in self.checked.get(loop, ()):
            return
        self.checked.setdefault(loop, set()).add(node)
        name, below = node.name, self.below(node)
        if name in LOOPS:
            _whole(node, LOOPS[name])
        if loop and name == "RunOnce":
            node.refuse(f"inside {loop} it leaves its child out the second time", _UNROLL)
        if loop and name == "SequenceWithMemory":
            node.refuse(f"inside {loop} it goes on where it failed before", "write a Sequence")
        if name == "Timeout":
            self._check_timeout(node)
        if name in REACTIVE:
            self._check_reactive(node)
        for child in below:
            self.check(child, name if name in LOOPS else loop)

    def _check_timeout(self, node: _Node) -> None:
        limit_s = _whole(node, "msec") / 1000
        waits_s = 0.0
        for act in self.acts(node):
            if act.act not in ("wait-for-answer", "wait-until"):
                problem = f"a plan does not know how long {act.act} takes"
                node.refuse(problem, "put a Timeout only round waits, or leave it out")
            try:
                waits_s += float(act.attributes.get("seconds", "0"))
            except ValueError:
                return  # refused with the act
        if waits_s >= limit_s:
            problem = f"it ends after {limit_s:g} s, and the waits inside take {waits_s:g} s"
            node.refuse(problem, "write the seconds into the wait, and leave Timeout out")

    def _check_reactive(self, node: _Node) -> None:
        *first, last = node.children
        bodies = [last]
        if node.name == "WhileDoElse":
            first, bodies = node.children[:1], node.children[1:]
        if again := self.acts(*first):
            node.refuse(
                f"it ticks {again[0].act} (line {again[0].line}) again while a later child runs",
                "put into it conditions, and one child with acts as the last; or write a Sequence",
            )
        if all(self.n_acts(body) < 2 for body in bodies):
            return
        acts = self.acts(*bodies)
        for leaf in (leaf for child in first for leaf in self.leaves(child)):
            changes = CHANGED_BY.get(leaf.name)
            if leaf.name in CONDITIONS and any(changes is None or a.act in changes for a in acts):
                node.refuse(
                    f"it ticks {leaf.name} (line {leaf.line}) again while its acts run, which may"
                    " change it",
                    "write a Sequence, with the condition before each act that needs it",
                )

    def n_acts(self, node: _Node) -> int:
        """Return the number of acts of a node, those in loops counted twice; at most 2."""
        if node not in self.n_acts_of:
            n_acts = int(node.is_act) + sum(map(self.n_acts, self.below(node)))
            self.n_acts_of[node] = min(n_acts * (2 if node.name in LOOPS else 1), 2)
        return self.n_acts_of[node]

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
        elif not below:
            yield from (True, False) if node.act == WAIT_UNTIL else (True,)
        else:
            yield from below[0]

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
            match name:
                case "Answer":
                    condition = {"answer": values["value"]}
                case "Held" | "Lifted":
                    condition = {name.lower(): values["thing"]}
                case _:
                    condition = values
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
        if name in LOOPS and self.acts(node):
            return self._loop(node, success, failure)
        if below:
            return self.emit(below[0], success, failure)
        arguments = {key: value for key, value in node.attributes.items() if key not in IGNORED}
        act = TreeStep({"act": node.act, **arguments}, node)
        if node.act != WAIT_UNTIL or success is failure or not (success or failure):
            return [act, *success]
        state = {key: arguments.get(key, "") for key in CONDITIONS["State"]}
        return [act, TreeStep({"if": state, "then": success, "else": failure}, node)]

    def _loop(self, node: _Node, success: Steps, failure: Steps) -> Steps:
        child, steps = node.children[0], None
        goes_on = node.name == "Repeat"
        outcomes = self.outcomes(child)
        n_cycles = _whole(node, LOOPS[node.name])
        if goes_on not in outcomes:
            n_cycles = 1
        for _ in range(n_cycles):
            if goes_on:
                steps = self.emit(child, success if steps is None else steps, failure)
            else:
                steps = self.emit(child, success, failure if steps is None else steps)
        return steps or []


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
    if name not in CONDITIONS and not node.is_act:
        _check_attributes(node, ATTRIBUTES.get(name, ()))


def _check_attributes(node: _Node, known: Sequence[str]) -> None:
    unknown = [each for each in node.attributes if each not in IGNORED and each not in known]
    if unknown:
        closest = did_you_mean(unknown[0][:100], known)
        node.refuse(f"the attribute {unknown[0]!r} is not read", closest or "leave it out")


def _whole(node: _Node, attribute: str) -> int:
    """Return the whole number in an attribute of a loop or a Timeout."""
    value = node.attributes.get(attribute)
    if value is None:
        node.refuse(f"{attribute} is missing", f'write <{node.name} {attribute}="3">')
    if value == "-1":
        node.refuse(f"{attribute} is -1, which never ends", "a plan has no endless loops")
    if not re.fullmatch(r"[1-9]\d{0,8}", value):
        node.refuse(f"{attribute}: found {value!r}, expected a whole number from 1")
    number = int(value)
    if node.name in LOOPS and number > MAX_LOOPS:
        node.refuse(f"{attribute} is {number:,}, at most {MAX_LOOPS}", "a plan has few steps")
    return number


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
    if not is_known and not node.is_act:
        nodes = SEQUENCES | FALLBACKS | CHOICES | DECORATORS | SUBTREES | CONSTANTS.keys()
        names = [*nodes, *CONDITIONS, *map(camel, act_classes())]
        hint = did_you_mean(camel(node.act)[:100], names) or _NODES
        node.refuse(f"{name[:100]!r} is no act and no node of a tree", hint)
    return 0, 0


_NODES = "write an act, as <Say words='…'/>, a Sequence, a Fallback, a decorator or a condition"
