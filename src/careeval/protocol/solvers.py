"""The solvers, which obtain a response: they ask a model, or take a recorded response.

A model is asked for a whole response, or, act by act, for one act at a time, and told what comes of
each. Every solver leaves a `Response` in the sample's store.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from careeval.core.response import Response, ResponseState
from careeval.errors import ProtocolError
from careeval.modes import MODES, Mode
from careeval.modes.mode import Interaction
from careeval.modes.prompts import load_prompts
from careeval.modes.response import RESPONSE
from careeval.protocol.call_journal import response_of
from careeval.protocol.calls import call, current_calls
from careeval.protocol.grader import STORE_KEY, facts_of
from careeval.protocol.prices import ACT_TOKENS, MAX_KEPT
from careeval.protocol.recorded_responses import responses_of_system

SAMPLING_KEY = "careeval_sampling"
"""Key of the sampling fields that were sent, in a sample's store."""

N_CALLS_KEY = "careeval_n_calls"
"""Key of the number of calls of a response of acts, in a sample's store."""

NO_WORDS = "(no words)"
"""The form in which it is shown a reply without words: providers refuse an empty message."""


@solver
def ask(
    prompts: str | None = None,
    seed: int = 0,
    mode: str = RESPONSE.name,
    given: str | None = None,
) -> Solver:
    """Ask the system under test, with a different seed for every scenario and epoch.

    With one seed for all epochs, a server that honours seeds would give the same response ten
    times. The arguments are those of the task `careeval`.
    """
    texts = load_prompts(MODES[mode], Path(prompts) if prompts else None, given=given)

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        scenario, picture = str(state.sample_id), picture_in(state.input)
        state.messages = [
            ChatMessageSystem(content=texts.ask_system),
            ChatMessageUser(content=user_content(state.input_text.strip(), picture)),
        ]
        config = GenerateConfig(seed=epoch_seed(seed, scenario, state.epoch))
        if picture and (calls := current_calls()):
            await calls.check_sight(get_model(), GenerateConfig(seed=epoch_seed(seed, "sight", 0)))
        called = await call("ask", f"{scenario} {state.epoch}", get_model(), state.messages, config)
        state.output = called.output
        store_response(state, response_of(state.output, scenario, state.epoch), MODES[mode])
        state.store.set(SAMPLING_KEY, called.sampling)
        return state

    return solve


@solver
def act(prompts: str | None = None, seed: int = 0, mode: str = RESPONSE.name) -> Solver:
    """Ask the system under test for one act at a time, in each interaction of the scenario.

    An interaction is deterministic, and every call is on disk before its act is carried out: a run
    that was killed goes on in the middle of an interaction, with no call made twice.
    """
    texts = load_prompts(MODES[mode], Path(prompts) if prompts else None, step=True)
    stepping = MODES[mode].stepping
    assert stepping is not None

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        scenario, asked = str(state.sample_id), _Asked()
        interactions: Sequence[Interaction] = stepping.begin(facts_of(state.metadata))
        for interaction in interactions:
            messages: list[ChatMessage] = [
                ChatMessageSystem(content=texts.ask_system),
                ChatMessageUser(
                    content=f"{state.input_text.strip()}\n\n{interaction.observation()}"
                ),
            ]
            n = 0
            while not interaction.has_ended:
                n += 1
                name = f"{interaction.name} {n}"
                config = GenerateConfig(seed=epoch_seed(seed, scenario, state.epoch, name))
                called = await call(
                    "ask",
                    f"{scenario} {state.epoch} {name}",
                    get_model(),
                    messages,
                    config,
                    expected_tokens=ACT_TOKENS,
                )
                reply = response_of(called.output, scenario, state.epoch)
                asked.outputs.append(called.output)
                asked.replies.append(reply)
                state.store.set(SAMPLING_KEY, called.sampling)
                interaction.act(reply.text)
                messages += [
                    ChatMessageAssistant(content=reply.text[:MAX_KEPT].strip() or NO_WORDS),
                    ChatMessageUser(content=interaction.observation()),
                ]
            asked.messages += messages
        response = asked.response(stepping.text(interactions))
        state.messages, state.output = asked.messages, asked.output(response.text)
        state.store.set(N_CALLS_KEY, len(asked.outputs))
        store_response(state, response, MODES[mode])
        return state

    return solve


def user_content(text: str, picture: str | None) -> str | list[Content]:
    """Return the content of a message to a system: a text, and a picture if there is one."""
    if picture is None:
        return text
    return [ContentText(text=text), ContentImage(image=picture)]


def picture_in(given: str | Sequence[ChatMessage]) -> str | None:
    """Return the picture in what a sample is asked, as a data URI; None if there is none."""
    contents = () if isinstance(given, str) else (message.content for message in given)
    parts = (part for content in contents if not isinstance(content, str) for part in content)
    return next((part.image for part in parts if isinstance(part, ContentImage)), None)


@dataclass
class _Asked:
    """The calls of one response of acts."""

    outputs: list[ModelOutput] = field(default_factory=list)
    replies: list[Response] = field(default_factory=list)
    messages: list[ChatMessage] = field(default_factory=list)

    def response(self, text: str) -> Response:
        """Return the response with the text of the acts; without a reply in words, the first."""
        answered = [each for each in self.replies if each.state is ResponseState.answered]
        if not answered:
            return self.replies[0]
        return replace(answered[0], text=text, cut=any(each.cut for each in answered))

    def output(self, text: str) -> ModelOutput:
        """Return one output for all calls: the usage and the seconds of all of them together."""
        last = self.outputs[-1]
        contents = [each.message.content for each in self.outputs if each.choices]
        reasoning = [
            part
            for content in contents
            if not isinstance(content, str)
            for part in content
            if isinstance(part, ContentReasoning)
        ]
        output = ModelOutput.from_content(last.model, text)
        if reasoning:
            output.choices[0].message.content = [reasoning[0], ContentText(text=text)]
        seconds = [each.time for each in self.outputs]
        known = [each for each in seconds if each is not None]
        output.time = sum(known) if len(known) == len(seconds) else None
        output.usage = _sum_usage([each.usage for each in self.outputs])
        return output


def _sum_usage(usages: Sequence[ModelUsage | None]) -> ModelUsage | None:
    """Return the sum; None if a usage is unknown; with an unknown cost if one is unknown."""
    total = ModelUsage()
    for usage in usages:
        if usage is None:
            return None
        total += usage
    if any(usage is None or usage.total_cost is None for usage in usages):
        total.total_cost = None
    return total


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


def epoch_seed(seed: int, scenario: str, epoch: int, act: str = "") -> int:
    """Return the seed of one call, 0 to 2³¹ − 1, from the run's seed, the scenario and epoch.

    `act` tells the calls for the acts of one response apart.
    """
    digest = hashlib.sha256(f"{seed}:{scenario}:{epoch}{act and f':{act}'}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % 2**31
