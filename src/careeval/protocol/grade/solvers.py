"""The two ways to a response: ask a model, or take a recorded answer. After them, one way through.

Both leave a `Response` in the sample's store, where the grader and the log reader find it even if
what comes after fails.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from careeval.core.response import Response, ResponseState
from careeval.errors import ProtocolError
from careeval.modes import MODES, Mode
from careeval.modes.grading import readable
from careeval.modes.prompts import load_prompts
from careeval.modes.response import RESPONSE
from careeval.modes.version import PROTOCOL_VERSION
from careeval.protocol.calls.run_calls import call
from careeval.protocol.grade.sample import facts_of
from careeval.protocol.runs.recorded_responses import read_answers

STORE_KEY = "careeval_response"
SAMPLING_KEY = "careeval_sampling"

MAX_CHARACTERS = 200
"""Characters of a refusal that are passed on."""


@solver
def ask(
    prompts: str | None = None,
    seed: int = 0,
    protocol: str = PROTOCOL_VERSION,
    mode: str = RESPONSE.name,
) -> Solver:
    """Ask the system under test, with a seed of its own for every scenario and epoch.

    One seed for all epochs would bring ten times the same answer from a server that honours it.

    Args:
        prompts: Folder of prompt files; careeval's own where not given.
        seed: Of the run.
        protocol: Whose prompts are careeval's own.
        mode: Of the bank.
    """
    system = load_prompts(MODES[mode], Path(prompts) if prompts else None, protocol).ask_system

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        scenario = str(state.sample_id)
        state.messages = [
            ChatMessageSystem(content=system),
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
def recorded(responses: str, system: str, mode: str = RESPONSE.name) -> Solver:
    """Take the answers of one system from a file; one that is not there is a missing response.

    Raises:
        ProtocolError: The file cannot be read, or holds no answer of that system.
    """
    given = read_answers(Path(responses))
    if system not in given:
        named = ", ".join(map(repr, given))
        raise ProtocolError(
            f"{responses}: holds no answers of {system!r}", hint=f"it holds {named}"
        )
    answers = {(r.scenario, r.epoch): r for r in given[system]}

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        key = (str(state.sample_id), state.epoch)
        missing = Response(*key, text="", state=ResponseState.missing, note="no recorded answer")
        response = answers.get(key, missing)
        state.output = ModelOutput.from_content(system, response.text)
        store_response(state, response, MODES[mode])
        return state

    return solve


def store_response(state: TaskState, response: Response, mode: Mode) -> None:
    """Keep a response in its sample, as what its mode takes it for."""
    if mode.received and response.state is ResponseState.answered:
        response = mode.received(response, facts_of(state.metadata))
    state.store.set(STORE_KEY, asdict(response))


def response_given(state: TaskState) -> Response | None:
    """Return the response that a solver has left; `None` where its call failed.

    Read back from a log, its state is a plain string.
    """
    stored: dict[str, Any] | None = state.store.get(STORE_KEY)
    if stored is None:
        return None
    return Response(**{**stored, "state": ResponseState(stored["state"])})


def stored_response(state: TaskState) -> Response:
    """Return the response that a solver has left; there is one."""
    response = response_given(state)
    assert response is not None
    return response


def epoch_seed(seed: int, scenario: str, epoch: int) -> int:
    """The seed of one call, 0 to 2³¹ − 1; the same for the same run seed, scenario and epoch."""
    digest = hashlib.sha256(f"{seed}:{scenario}:{epoch}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % 2**31


def response_of(output: ModelOutput, scenario: str, epoch: int) -> Response:
    """What a model's output is: words, nothing, a refusal, or no response.

    Words that were cut off at the token limit are an answer, and are marked. The reasoning trace is
    not part of it.
    """
    text = readable(output.completion.strip())
    stop = output.stop_reason if output.choices else "unknown"
    cut = stop in {"max_tokens", "model_length"}
    if stop == "content_filter" or _refused(output):
        note = text or output.error or "content filter"
        return Response(scenario, epoch, "", ResponseState.refused, note=note)
    if text and stop == "model_length" and output.usage is None:
        # it did not fit: Inspect hands on the provider's error as if the model had said it
        return Response(scenario, epoch, "", ResponseState.missing, note=text)
    if text:
        return Response(scenario, epoch, text, ResponseState.answered, cut=cut)
    if stop == "stop":
        return Response(scenario, epoch, "", ResponseState.empty)
    note = "cut off before any text" if cut else output.error or f"stopped: {stop}"
    return Response(scenario, epoch, "", ResponseState.missing, note=note)


def ended(output: ModelOutput) -> str:
    """Why an output did not end by itself, in words for whoever asked; empty if it did."""
    found = response_of(output, "", 0)
    if found.state is ResponseState.refused:
        return f"it is a refusal: {found.note[:MAX_CHARACTERS]}"
    if found.state is ResponseState.missing:
        return f"there is none: {found.note[:MAX_CHARACTERS]}"
    return "it was cut off at the token limit" if found.cut else ""


def _refused(output: ModelOutput) -> bool:
    """Whether the provider marks what was said as a refusal."""
    content = output.message.content if output.choices else ""
    return not isinstance(content, str) and any(getattr(part, "refusal", None) for part in content)
