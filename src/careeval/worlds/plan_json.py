"""A plan: steps in order, branches on what the robot knows, and what to do on stop."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_origin

from pydantic import TypeAdapter, ValidationError

from careeval.errors import did_you_mean
from careeval.worlds.acts import Act, PlanError, act_classes
from careeval.worlds.behaviour_tree import LEFT_OUT, TreeStep, WrittenPlan, trees_in

MAX_STEPS = 500
"""The most acts and branches in a plan."""

MAX_DEPTH = 24
"""The most branches inside each other."""

MAX_CHARACTERS = 500_000
"""The most characters of a response that holds a plan."""

MAX_OBJECTS = 100
"""The most opening brackets tried as the start of a plan, since a response may be hostile."""

FINISH = "finish"
"""The act by which the robot says, in an episode, that it is done."""

ANSWERS = ("yes", "no", "silence")
"""The answers on which a plan may branch."""

Subject = Literal["answer", "state", "held", "lifted", "place"]
"""What a branch is on: the last answer, the state of a thing that was checked or waited for,
whether the robot holds a thing or has lifted it, or the place of the robot."""


@dataclass(frozen=True, slots=True)
class Step:
    """One act of a plan."""

    address: str  # Its place in the plan as JSON has it: `steps[2].then[0]`
    act: Act
    quote: str = dataclasses.field(compare=False)
    """The step as the response has it, for people to find it there."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A choice between two lists of steps."""

    address: str  # As that of a step
    subject: Subject
    name: str  # The thing or place that decides; empty if the last answer does
    value: str  # The answer or state for which `then` is carried out; empty for other subjects
    then: tuple[Step | Branch, ...]
    otherwise: tuple[Step | Branch, ...]

    @property
    def condition(self) -> str:
        """The condition in words, under which `then` is carried out: `spoon is held`."""
        match self.subject:
            case "answer":
                return f"the answer is {self.value}"
            case "state":
                return f"{self.name} is {self.value}"
            case "place":
                return f"the robot is at {self.name}"
            case _:
                return f"{self.name} is {self.subject}"


@dataclass(frozen=True, slots=True)
class NoAct:
    """A reply in an episode that is not an act."""

    address: str  # As that of a step
    text: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan in its checked form."""

    steps: tuple[Step | Branch, ...]
    on_stop: tuple[Step | Branch, ...] | None
    """The steps that replace the rest of the plan once the person says stop; `None` if the plan
    does not say, and so goes on."""


def read_plan(text: str) -> Plan:
    """Read the plan in a response: JSON or a behaviour tree, alone, in a fence, or in prose.

    The same plan may be given twice, and after a plan with broken JSON or XML another one counts.
    An example of the form, with `...` in place of steps, is no plan.

    Raises:
        PlanError: The response holds no plan, two different plans, or one with a mistake; the
            message names the place.
    """
    if len(text) > MAX_CHARACTERS:
        raise PlanError(
            f"the response has {len(text):,} characters, at most {MAX_CHARACTERS:,}",
            hint=f"a plan has at most {MAX_STEPS} steps",
        )
    trees = list(trees_in(text))
    objects = list(_objects_in(text))
    trees = [t for t in trees if not any(o.start < t.start < o.end for o in objects)]
    objects = [o for o in objects if not any(t.start < o.start < t.end for t in trees)]
    written = sorted([*trees, *objects], key=lambda each: each.start)
    if not written:
        raise PlanError(f"the response is no plan: {_why_no_plan(text)}", hint=_FORM)
    if written[-1].is_broken and written[-1].mistake is not None:
        raise written[-1].mistake
    whole = [each for each in written if not each.is_broken]
    plans = [each for each in whole if not _has_dots(each.content)] or whole
    last = plans[-1]
    for other in plans[:-1]:
        if text[other.start : other.end] != text[last.start : last.end]:
            if other.mistake is None and last.mistake is None and _is_same(other, last):
                continue
            lines = [text.count("\n", 0, each.start) + 1 for each in (other, last)]
            raise PlanError(
                "the response holds two different plans, which begin in line"
                f" {lines[0]} and line {lines[1]}",
                hint="give one plan, and nothing else that has the form of a plan",
            )
    if last.mistake is not None:
        raise last.mistake
    return plan_of(last.content, strict=True, ascii_quotes=r"\u" in text)


def act_in(text: str) -> Mapping[str, Any]:
    """Return the JSON object of the one act in a reply: alone, in a fence, or in prose.

    The same act may be given twice. For `act_of`, which checks it.

    Raises:
        PlanError: The reply holds no act, or two different ones.
    """
    if len(text) > MAX_CHARACTERS:
        raise PlanError(f"the reply has {len(text):,} characters, at most {MAX_CHARACTERS:,}")
    decoder = json.JSONDecoder(parse_float=_Number, object_pairs_hook=_object_of)
    written: list[Mapping[str, Any]] = []
    start = text.find("{")
    for _ in range(MAX_OBJECTS):
        if start == -1:
            break
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            if "steps" in value:
                raise PlanError("the reply is a whole plan", hint="give one act")
            if "act" in value and value not in written:
                written.append(value)
        start = text.find("{", end)
    if not written:
        raise PlanError("the reply holds no act", hint=_STEP)
    if len(written) > 1:
        names = " and ".join(str(each["act"])[:40] for each in written[:2])
        raise PlanError(f"the reply holds more than one act: {names}", hint="give one act")
    return written[0]


def act_of(content: object) -> Act:
    """Return the act that a JSON object describes.

    Raises:
        PlanError: It describes no act.
    """
    if isinstance(content, Mapping) and "if" in content:
        raise PlanError("a branch is not an act", hint=_STEP)
    return _Reader(strict=True, ascii_quotes=False).act(content)


def _is_same(one: WrittenPlan, other: WrittenPlan) -> bool:
    try:
        return plan_of(one.content, strict=True) == plan_of(other.content, strict=True)
    except PlanError:
        return False


def _has_dots(content: object) -> bool:
    """Tell whether dots stand for a value in JSON values, as in an example of the form."""
    values = [content]
    while values:
        value = values.pop()
        if isinstance(value, Mapping):
            values += value.values()
        elif isinstance(value, list):
            values += value
        elif value in LEFT_OUT:
            return True
    return False


def plan_of(content: object, *, strict: bool = False, ascii_quotes: bool = False) -> Plan:
    """Return the plan that JSON values describe.

    Numbers and truth may be given as text, as a bank's YAML has them, unless it is `strict`.
    Quotes are found in the response if they too write letters beyond ASCII as escapes of JSON:
    `ascii_quotes`.

    Raises:
        PlanError: They describe no plan.
    """
    if isinstance(content, list):
        content = {"steps": content}
    if not isinstance(content, Mapping) or "steps" not in content:
        raise PlanError('a plan is an object with a list "steps"', hint=_FORM)
    _refuse_repeated(content, "the plan")
    if unknown := sorted(set(content) - {"steps", "on_stop"}):
        raise PlanError(f"the plan has a field {unknown[0]!r}", hint=_FORM)
    reader = _Reader(strict, ascii_quotes)
    steps = reader.steps(content["steps"], "steps", 0)
    if not steps:
        raise PlanError("steps: the list is empty", hint="give at least one step")
    on_stop = content.get("on_stop")
    return Plan(steps, None if on_stop is None else reader.steps(on_stop, "on_stop", 0))


_FORM = 'write {"steps": [...], "on_stop": [...]}'


class _Reader:
    """Reads steps, and counts them through the whole plan."""

    def __init__(self, strict: bool, ascii_quotes: bool) -> None:
        self.n_steps = 0
        self.strict = strict
        self.ascii_quotes = ascii_quotes

    def steps(self, content: object, place: str, depth: int) -> tuple[Step | Branch, ...]:
        if not isinstance(content, list):
            raise PlanError(f"{place}: expected a list of steps, found {_shown(content)}")
        if depth > MAX_DEPTH:
            raise PlanError(f"{place}: more than {MAX_DEPTH} branches inside each other")
        return tuple(
            self._step(each, f"{place}[{position}]", depth) for position, each in enumerate(content)
        )

    def act(self, content: object) -> Act:
        step = self._step(content, "the act", 0)
        assert isinstance(step, Step)
        return step.act

    def _step(self, content: object, address: str, depth: int) -> Step | Branch:
        self.n_steps += 1
        place = content.place if isinstance(content, TreeStep) else address
        if self.n_steps > MAX_STEPS:
            raise PlanError(f"{place}: the plan has more than {MAX_STEPS} steps")
        if not isinstance(content, Mapping):
            raise PlanError(f"{place}: expected a step, found {_shown(content)}", hint=_STEP)
        _refuse_repeated(content, place)
        if "if" in content:
            return self._branch(content, address, place, depth)
        name = content.get("act")
        if not isinstance(name, str) or name not in act_classes():
            problem = f"there is no act {_shown(name)}" if name else "the step has no act"
            closest = did_you_mean(str(name)[:100], act_classes())
            raise PlanError(f"{place}: {problem}", hint=closest or _STEP)
        try:
            strict = self.strict and not isinstance(content, TreeStep)
            act: Act = _acts().validate_python(_arguments(content, name), strict=strict)
        except ValidationError as error:
            raise _argument_error(error, content, f"{place}, {name}") from None
        if isinstance(content, TreeStep):
            return Step(address, act, content.quote)
        return Step(address, act, _quote(content, self.ascii_quotes))

    def _branch(self, content: Mapping[str, Any], address: str, place: str, depth: int) -> Branch:
        condition = content["if"]
        if unknown := sorted(set(content) - {"if", "then", "else"}):
            raise PlanError(f"{place}: a branch has no field {unknown[0]!r}", hint=_BRANCH)
        if not isinstance(condition, Mapping) or not all(
            isinstance(value, str) for value in condition.values()
        ):
            raise PlanError(f"{place}: its condition cannot be read", hint=_BRANCH)
        _refuse_repeated(condition, f"{place}.if")
        subject: Subject
        match dict(condition):
            case {"answer": value, **others} if not others:
                subject, name = "answer", ""
                if value not in ANSWERS:
                    hint = _TREE_BRANCH if isinstance(content, TreeStep) else _BRANCH
                    raise PlanError(f"{place}: {_shown(value)} is no answer", hint=hint)
            case {"thing": name, "state": value, **others} if not others:
                subject = "state"
            case {"held": name, **others} if not others:
                subject, value = "held", ""
            case {"lifted": name, **others} if not others:
                subject, value = "lifted", ""
            case {"place": name, **others} if not others:
                subject, value = "place", ""
            case _:
                raise PlanError(f"{place}: its condition cannot be read", hint=_BRANCH)
        then = self.steps(content.get("then", []), f"{address}.then", depth + 1)
        otherwise = self.steps(content.get("else", []), f"{address}.else", depth + 1)
        return Branch(address, subject, name, value, then, otherwise)


_STEP = 'write {"act": "say", "words": "…"}, with one of the acts'
_BRANCH = (
    'write {"if": {"answer": "yes"}, "then": [...], "else": [...]}, with yes, no or silence;'
    ' or with {"thing": "…", "state": "…"}, {"held": "…"}, {"lifted": "…"} or {"place": "…"}'
)
_TREE_BRANCH = 'write <Answer value="yes"/>, with yes, no or silence'


def _refuse_repeated(content: Mapping[str, Any], place: str) -> None:
    if isinstance(content, _Object) and content.repeated is not None:
        problem = f"the field {content.repeated!r} appears twice"
        raise PlanError(f"{place}: {problem}", hint="give each field once")


def _arguments(content: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return an act with tuples for lists; in a tree, semicolons part the values of a list."""
    arguments = dict(content)
    for key, info in act_classes()[name].model_fields.items():
        value = arguments.get(key)
        if get_origin(info.annotation) is tuple:
            if isinstance(value, list):
                arguments[key] = tuple(value)
            elif isinstance(value, str) and isinstance(content, TreeStep):
                arguments[key] = tuple(value.split(";"))
    return arguments


def _argument_error(error: ValidationError, content: Mapping[str, Any], place: str) -> PlanError:
    name = content["act"]
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    field = str(first["loc"][-1])
    fields = {k: v for k, v in act_classes()[name].model_fields.items() if k != "act"}
    needed = [key for key, value in fields.items() if value.is_required()]
    others = [key for key in fields if key not in needed]
    takes = f"{name} takes {' and '.join(needed) or 'no argument that is needed'}"
    hint = f"{takes}; it may take {', '.join(others)}" if others else takes
    match first["type"]:
        case "missing":
            problem = f"{field} is missing"
        case "extra_forbidden":
            problem = f"it has no argument {field!r}"
            hint = did_you_mean(field[:100], fields) or hint
        case _:
            expected = first["msg"].removeprefix("Input should be ")
            problem = f"{field}: found {_shown(content.get(field))}, expected {expected}"
    return PlanError(f"{place}: {problem}", hint=hint)


class _Number(float):
    """A number that remembers how it was written, so that its quote can be found again."""

    written: str

    def __new__(cls, written: str) -> _Number:
        number = super().__new__(cls, written)
        number.written = written
        return number


def _quote(step: Mapping[str, Any], is_ascii: bool) -> str:
    values = (
        value.written if isinstance(value, _Number) else json.dumps(value, ensure_ascii=is_ascii)
        for value in step.values()
    )
    pairs = (f'"{name}": {value}' for name, value in zip(step, values, strict=True))
    return "{" + ", ".join(pairs) + "}"


def _shown(content: object) -> str:
    """Return a JSON value in short; of one that holds others, only its kind."""
    if isinstance(content, Mapping):
        return "an object"
    if isinstance(content, list):
        return "a list"
    return json.dumps(content, ensure_ascii=False, default=str)[:60]


@cache
def _acts() -> TypeAdapter[Act]:
    return TypeAdapter(Act)


_PLAN_BEGINS = re.compile(r'\{\s*"(steps|on_stop)"\s*:|\[\s*\{\s*"(act|if)"\s*:')


class _Object(dict[str, Any]):
    """An object of JSON, with the first field that it has twice."""

    repeated: str | None = None


def _object_of(pairs: list[tuple[str, Any]]) -> _Object:
    value = _Object(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        value.repeated = next(name for name in value if names.count(name) > 1)
    return value


def _objects_in(text: str) -> Iterator[WrittenPlan]:
    """Yield each JSON value in a text that has the form of a plan.

    If a plan is cut off, or has a mistake in its JSON, no part of it counts as a plan.
    """
    decoder = json.JSONDecoder(parse_float=_Number, object_pairs_hook=_object_of)
    is_broken = False
    start = _next_start(text, 0)
    for _ in range(MAX_OBJECTS):
        if start == -1:
            return
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            at = error.pos if isinstance(error, json.JSONDecodeError) else start
            end = max(start + 1, at)
            if not _PLAN_BEGINS.match(text, start):
                end = start + 1
            elif not text.startswith(LEFT_OUT, at):
                is_broken = True
                problem = f"the response is no plan: {_json_mistake(error)}"
                mistake = PlanError(problem, hint=_FORM)
                yield WrittenPlan(start, end, mistake=mistake, is_broken=True)
        else:
            # after a mistake, a list may be a part of the plan with the mistake
            if _is_plan(value) and (isinstance(value, Mapping) or not is_broken):
                is_broken = False
                yield WrittenPlan(start, end, value)
        start = _next_start(text, end)


def _why_no_plan(text: str) -> str:
    decoder = json.JSONDecoder()
    start = _next_start(text, 0)
    for _ in range(MAX_OBJECTS):
        if start == -1:
            break
        try:
            decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = _next_start(text, start + 1)
        else:
            if '"episodes"' in text:
                return "it holds episodes, which 'careeval run --step' judges"
            return "no JSON object in it is a plan"
    return "it holds no complete JSON"


def _json_mistake(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}, column {error.colno}: {error.msg}"
    return str(error) if isinstance(error, ValueError) else "its JSON is nested too deeply"


def _next_start(text: str, begin: int) -> int:
    starts = [at for at in (text.find("{", begin), text.find("[", begin)) if at != -1]
    return min(starts, default=-1)


def _is_plan(value: object) -> bool:
    if isinstance(value, Mapping):
        return "steps" in value
    return isinstance(value, list) and any(
        isinstance(each, Mapping) and ("act" in each or "if" in each) for each in value
    )


UNITS = {"_n": "newtons", "_cm_s": "cm/s", "_cm": "cm", "seconds": "seconds"}
"""End of an argument's name → its unit."""

ARGUMENTS = {
    "words": "What is said or written.",
    "seconds": "How long it goes on at most.",
    "helper": "Name of a helper of the world.",
    "urgent": "True if the helper is called at once, as in an emergency.",
    "thing": "Name of a thing of the world.",
    "state": "Name of one of the thing's states.",
    "place": "Name of a place of the world.",
    "on": "True to put the brakes on, false to take them off.",
    "onto": "Name of the thing that carries it afterwards.",
    "to": "Name of the state that it is brought into.",
    "part": "Name of a part of the person.",
    "tool": "Name of the tool that is held.",
    "task": "Name of a task of the world.",
    "height_cm": "Height of the lift.",
}
"""Argument → its meaning, where its act does not describe it."""


def plan_schema(*, described: bool = False) -> dict[str, Any]:
    """Return the JSON Schema of a plan.

    It is as short as it can be, since it is part of the prompt. With `described`, each act has its
    description, and each argument its own, with unit and range.
    """
    acts = _act_schemas(_described if described else _bare)
    steps = {"type": "array", "items": {"$ref": "#/$defs/step"}}
    conditions: list[dict[str, Any]] = [
        {"answer": {"enum": list(ANSWERS)}},
        {"thing": {"type": "string"}, "state": {"type": "string"}},
        *({subject: {"type": "string"}} for subject in ("held", "lifted", "place")),
    ]
    branch = {
        "type": "object",
        "properties": {
            "if": {"oneOf": [_object(each) for each in conditions]},
            "then": steps,
            "else": steps,
        },
        "required": ["if"],
        "additionalProperties": False,
    }
    return {
        "$defs": {"step": {"oneOf": [*acts, branch]}},
        "type": "object",
        "properties": {"steps": {**steps, "minItems": 1}, "on_stop": steps},
        "required": ["steps"],
        "additionalProperties": False,
    }


def act_schema() -> dict[str, Any]:
    """Return the JSON Schema of one act of an episode, with the meaning of every argument."""
    return {"oneOf": [*_act_schemas(_described), _object({"act": {"const": FINISH}})]}


def _act_schemas(of_act: Callable[[Mapping[str, Any]], dict[str, Any]]) -> list[dict[str, Any]]:
    schema = TypeAdapter(Act).json_schema()
    return [of_act(schema["$defs"][kind.__name__]) for kind in act_classes().values()]


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _bare(act: Mapping[str, Any]) -> dict[str, Any]:
    """Return an act's schema without titles, descriptions and defaults."""
    keys = ("type", "const", "enum", "items", "minimum", "exclusiveMinimum", "maximum")
    properties = {name: _kept(form, keys) for name, form in act["properties"].items()}
    for form in properties.values():
        if "items" in form:
            form["items"] = _kept(form["items"], ("type",))
    return {**_object(properties), "required": list(act["required"])}


def _kept(form: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    # an optional number is `number or null` for pydantic; a plan leaves it out
    options = form.get("anyOf", [form])
    return {key: value for key, value in options[0].items() if key in keys}


def _described(act: Mapping[str, Any]) -> dict[str, Any]:
    """Return an act's schema with the descriptions, units and ranges of its arguments."""
    properties = {}
    for name, form in act["properties"].items():
        options = form.get("anyOf", [form])
        kept = {key: value for key, value in options[0].items() if key not in ("title", "default")}
        if name != "act":
            meaning = form.get("description") or ARGUMENTS[name]
            kept["description"] = " ".join([meaning, *_range(name, kept)])
        if "default" in form and form["default"] is not None:
            kept["default"] = form["default"]
        properties[name] = kept
    description = " ".join(act["description"].split())
    return {"description": description, **_object(properties), "required": list(act["required"])}


def _range(name: str, form: Mapping[str, Any]) -> Iterator[str]:
    unit = next((unit for end, unit in UNITS.items() if name.endswith(end)), "")
    if unit:
        least = f"from {form['minimum']:g}" if "minimum" in form else "more than 0"
        yield f"In {unit}, {least} to {form['maximum']:g}."
    elif "maxLength" in form:
        yield f"At most {form['maxLength']:,} characters."
