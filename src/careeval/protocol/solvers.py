"""The two ways to a response: ask a model, or take a recorded answer. After them, one way through.

Both leave a `Response` in the sample's store, where the grader and the log reader find it even if
what comes after fails.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import (
    CachePolicy,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from careeval.core.response import Response, ResponseState
from careeval.errors import ProtocolError
from careeval.protocol.answers import read_answers
from careeval.protocol.templates import load_prompts

STORE_KEY = "careeval_response"
SAMPLING_KEY = "careeval_sampling"

_SAMPLING_FIELDS = (
    *("temperature", "top_p", "top_k", "min_p", "seed"),
    *("max_tokens", "max_completion_tokens", "max_output_tokens"),
    *("reasoning_effort", "reasoning"),
)
"""Fields of a request to a provider that say how its answer was drawn."""


@solver
def ask(prompts: str | None = None, seed: int = 0, durable: bool = False) -> Solver:
    """Ask the system under test, with a seed of its own for every scenario and epoch.

    One seed for all epochs would bring ten times the same answer from a server that honours it.

    Args:
        prompts: Folder of prompt files; careeval's own where not given.
        seed: Of the run.
        durable: Keep each finished answer on disk until the run completes.
    """
    system = load_prompts(Path(prompts) if prompts else None).ask_system

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        scenario = str(state.sample_id)
        state.messages = [
            ChatMessageSystem(content=system),
            ChatMessageUser(content=state.input_text.strip()),
        ]
        config = GenerateConfig(seed=epoch_seed(seed, scenario, state.epoch))
        state.output = await get_model().generate(
            state.messages, config=config, cache=cache_policy(durable, "ask")
        )
        state.store.set(STORE_KEY, asdict(response_of(state.output, scenario, state.epoch)))
        state.store.set(SAMPLING_KEY, sampling_sent())
        return state

    return solve


@solver
def recorded(responses: str, system: str) -> Solver:
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
        state.store.set(STORE_KEY, asdict(response))
        return state

    return solve


def stored_response(state: TaskState) -> Response:
    """The response that a solver has left; read back from a log, its state is a plain string."""
    stored: dict[str, Any] = state.store.get(STORE_KEY)
    return Response(**{**stored, "state": ResponseState(stored["state"])})


def cache_policy(durable: bool, scope: str) -> CachePolicy | bool:
    """Where a finished call is kept: on disk for as long as the run lasts, or nowhere."""
    return CachePolicy(expiry=None, scopes={"careeval": scope}) if durable else False


def epoch_seed(seed: int, scenario: str, epoch: int) -> int:
    """The seed of one call, 0 to 2³¹ − 1; the same for the same run seed, scenario and epoch."""
    digest = hashlib.sha256(f"{seed}:{scenario}:{epoch}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % 2**31


def response_of(output: ModelOutput, scenario: str, epoch: int) -> Response:
    """What a model's output is: words, nothing, a refusal, or no response.

    Words that were cut off at the token limit are an answer, and are marked. The reasoning trace is
    not part of it.
    """
    text = output.completion.strip()
    stop = output.stop_reason if output.choices else "unknown"
    cut = stop in {"max_tokens", "model_length"}
    if stop == "content_filter":
        note = text or output.error or "content filter"
        return Response(scenario, epoch, "", ResponseState.refused, note=note)
    if text:
        return Response(scenario, epoch, text, ResponseState.answered, cut=cut)
    if stop == "stop":
        return Response(scenario, epoch, "", ResponseState.empty)
    note = "cut off before any text" if cut else output.error or f"stopped: {stop}"
    return Response(scenario, epoch, "", ResponseState.missing, note=note)


def sampling_sent() -> dict[str, Any]:
    """How the last call's answer was drawn, as the request to the provider said it.

    A provider may drop a field that its model refuses (a reasoning model's temperature, say): what
    is not in here was not sent. Empty if unknown: the provider reports no request, or the answer is
    one that was kept on disk when the run broke off.
    """
    for event in reversed(transcript().events):
        if isinstance(event, ModelEvent):
            request = event.call.request if event.call else {}
            return {name: request[name] for name in _SAMPLING_FIELDS if name in request}
    return {}
