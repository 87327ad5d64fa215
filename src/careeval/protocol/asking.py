"""The two solvers that obtain a response: one asks a model, one takes a recorded response.

Both leave a `Response` in the sample's store, where the grader and the log reader find it even if
a later step fails. A sample's metadata has all that the tables need of its scenario; Inspect's
transcript of a sample is emptied unless something went wrong.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, cast

from inspect_ai.event import Event
from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from careeval.core.response import Response, ResponseState
from careeval.core.scenario import Rubric, RubricItem, Scenario
from careeval.errors import ProtocolError
from careeval.modes import MODES, Mode
from careeval.modes.grading import readable
from careeval.modes.prompts import load_prompts
from careeval.modes.response import RESPONSE
from careeval.protocol.calls import call, current_calls
from careeval.protocol.log_fields import Grouping
from careeval.protocol.recorded_responses import responses_of_system

STORE_KEY = "careeval_response"
SAMPLING_KEY = "careeval_sampling"

MAX_CHARACTERS = 200
"""The most characters shown of the text of a refusal."""


@solver
def ask(prompts: str | None = None, seed: int = 0, mode: str = RESPONSE.name) -> Solver:
    """Ask the system under test, with a different seed for every scenario and epoch.

    With one seed for all epochs, a server that honours seeds would give the same response ten
    times.

    Args:
        prompts: Folder of prompt files; careeval's own if not given.
        seed: Seed of the run.
        mode: Mode of the bank.
    """
    texts = load_prompts(MODES[mode], Path(prompts) if prompts else None)

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        scenario = str(state.sample_id)
        state.messages = [
            ChatMessageSystem(content=texts.ask_system),
            ChatMessageUser(content=state.input_text.strip()),
        ]
        config = GenerateConfig(seed=epoch_seed(seed, scenario, state.epoch))
        called = await call("ask", f"{scenario} {state.epoch}", get_model(), state.messages, config)
        state.output = called.output
        store_response(state, response_of(state.output, scenario, state.epoch), MODES[mode])
        state.store.set(SAMPLING_KEY, called.sampling)
        return state

    return solve


@solver
def recorded(
    responses: str, system: str, mode: str = RESPONSE.name, all_required: bool = False
) -> Solver:
    """Take the responses of one system from a file; a response not in the file is missing.

    If all are required, a response not in the file fails its sample, which resuming takes up again.

    Raises:
        ProtocolError: The file cannot be read, or holds no response of that system.
    """
    of_system = responses_of_system(Path(responses), system)
    by_epoch = {(r.scenario, r.epoch): r for r in of_system}

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        key = (str(state.sample_id), state.epoch)
        if all_required and key not in by_epoch:
            raise _not_given(system, *key)
        missing = Response(*key, text="", state=ResponseState.missing, note="no recorded answer")
        response = by_epoch.get(key, missing)
        state.output = ModelOutput.from_content(system, response.text)
        store_response(state, response, MODES[mode])
        return state

    return solve


def _not_given(system: str, scenario: str, epoch: int) -> ProtocolError:
    """Return the error of a function without a response, and record it as the last failure."""
    error = f"{system}: its function has given no response to {scenario}, epoch {epoch}"
    if calls := current_calls():
        calls.last_failure = error
    return ProtocolError(error)


def store_response(state: TaskState, response: Response, mode: Mode) -> None:
    """Store a response in its sample, in the state that the mode determines."""
    if mode.interpret and response.state is ResponseState.answered:
        response = mode.interpret(response, facts_of(state.metadata))
    state.store.set(STORE_KEY, asdict(response))


def find_response(state: TaskState) -> Response | None:
    """Return the response that a solver has stored; `None` if the call failed."""
    stored: dict[str, Any] | None = state.store.get(STORE_KEY)
    if stored is None:
        return None
    # read back from a log, its state is a plain string
    return Response(**{**stored, "state": ResponseState(stored["state"])})


def epoch_seed(seed: int, scenario: str, epoch: int) -> int:
    """Return the seed of one call, 0 to 2³¹ − 1, from the run's seed, the scenario and epoch."""
    digest = hashlib.sha256(f"{seed}:{scenario}:{epoch}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % 2**31


def response_of(output: ModelOutput, scenario: str, epoch: int) -> Response:
    """Return the response in a model's output: answered, empty, refused or missing.

    Text that was cut off at the token limit counts as answered, and is marked as cut. Reasoning is
    not part of the response.
    """
    text = readable(output.completion.strip())
    stop = output.stop_reason if output.choices else "unknown"
    cut = stop in {"max_tokens", "model_length"}
    if stop == "content_filter" or _is_refusal(output):
        note = text or output.error or "content filter"
        return Response(scenario, epoch, "", ResponseState.refused, note=note)
    if text and stop == "model_length" and output.usage is None:
        # it did not fit: Inspect gives the provider's error as if the model had written it
        return Response(scenario, epoch, "", ResponseState.missing, note=text)
    if text:
        return Response(scenario, epoch, text, ResponseState.answered, cut=cut)
    if stop == "stop":
        return Response(scenario, epoch, "", ResponseState.empty)
    note = "cut off before any text" if cut else output.error or f"stopped: {stop}"
    return Response(scenario, epoch, "", ResponseState.missing, note=note)


def stop_problem(output: ModelOutput) -> str:
    """Return why an output is not a complete reply, as text; empty if it is complete."""
    response = response_of(output, "", 0)
    if response.state is ResponseState.refused:
        return f"it is a refusal: {response.note[:MAX_CHARACTERS]}"
    if response.state is ResponseState.missing:
        return f"there is none: {response.note[:MAX_CHARACTERS]}"
    return "it was cut off at the token limit" if response.cut else ""


def _is_refusal(output: ModelOutput) -> bool:
    """Tell whether the provider marks the output's content as a refusal."""
    content = output.message.content if output.choices else ""
    return not isinstance(content, str) and any(getattr(part, "refusal", None) for part in content)


# The facts of a scenario in its sample's metadata

_KEPT = ("version", "part", "status", *(each.name for each in fields(Grouping)))
"""Fields of a scenario by which results may be grouped or selected."""


def sample_metadata(scenario: Scenario, rubrics: list[Rubric]) -> dict[str, Any]:
    """Return the metadata of a scenario's sample: the kept fields, the rubrics, the facts.

    A scenario without facts has no key `facts`.
    """
    kept = scenario.model_dump(mode="json", include=set(_KEPT))
    items = {
        rubric.value: [
            item.model_dump(mode="json", exclude={"why", "sources"})
            for item in scenario.rubric(rubric)
        ]
        for rubric in rubrics
    }
    facts = scenario.facts()
    return {
        **{name: kept[name] for name in _KEPT if name in kept},
        "rubrics": items,
        **({"facts": facts} if facts else {}),
    }


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


# Inspect's transcript


def transcript_cleanup(*, graded: bool) -> Callable[[TaskState], Awaitable[None]]:
    """Return a function that removes a sample's transcript at its end if all went well.

    Outside a run of careeval, as in `inspect eval`, the transcript stays.

    Args:
        graded: Whether responses are graded.
    """

    async def clean(state: TaskState) -> None:
        if current_calls() and _went_well(state, graded=graded):
            # the list itself, which Inspect copies into the log afterwards
            cast("list[Event]", transcript().events).clear()

    return clean


def _went_well(state: TaskState, *, graded: bool) -> bool:
    """Tell whether the response is answered, and every item of it judged if it is graded."""
    response = find_response(state)
    if response is None or not response.state.has_words:
        return False
    scores = list((state.scores or {}).values())
    judgments = [
        judgment
        for score in scores
        for rubric in (score.metadata or {})["rubrics"].values()
        for judgment in rubric["judgments"]
    ]
    return bool(scores) == graded and all(each["present"] is not None for each in judgments)
