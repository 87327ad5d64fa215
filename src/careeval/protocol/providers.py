"""The providers of models: their keys, packages, list prices and servers, in one table."""

from __future__ import annotations

from dataclasses import dataclass, replace

from careeval.modes.mode import PROVIDER as PROGRAMS

ANY_ADDRESS = "INSPECT_EVAL_MODEL_BASE_URL"
"""Environment variable with the address of every server that has none of its own."""

CLOUDS = {"azure": "azure", "bedrock": "aws", "vertex": "google"}
"""Clouds that serve the models of other providers, as in `openai/azure/NAME` → their names in the
price list."""

COMPATIBLE = {"openai-api", "openai-api-completions"}
"""Providers of any server with OpenAI's API: `openai-api/SERVICE/NAME`."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider of models, or a service or a cloud that a provider calls."""

    name: str  # Inspect's name of the provider: the first part of a model's name
    package: str = ""  # PyPI name of the package that it needs; empty if none is known
    keys: tuple[str, ...] = ()
    """Environment variables that may contain the key, one of which must be set; empty if none is
    known."""
    seller: str | None = None
    """Its name in the price list. `None` for the user's own server, and for a provider that passes
    calls on to an unnamed seller: the price is unknown."""
    clouds: tuple[str, ...] = ()  # Clouds that serve its models too, with keys of their own
    cloud_variables: tuple[str, ...] = ()  # Environment variables that send all calls to a cloud
    addresses: tuple[str, ...] | None = None
    """Environment variables that may contain the address of its server, the first that is set
    counts; `None` for NAME_BASE_URL and Inspect's variable for all."""
    host_only: bool = False  # True if its address is only a host, without http:// or https://
    loads_models: bool = False
    """True if it loads a model on this machine, unless a server's address is set."""
    own_server: bool = False
    """True if the server is the user's own; it queues calls that a hosted server would refuse."""
    in_process: bool = False  # True if its models run inside the process, which costs nothing
    cloud: str | None = None  # The cloud that serves the model; `None` for the provider itself

    @property
    def address_variables(self) -> tuple[str, ...]:
        """The environment variables that may contain the address of its server."""
        if self.addresses is not None:
            return self.addresses
        return f"{variable_prefix(self.name)}_BASE_URL", ANY_ADDRESS


_TABLE = (
    Provider("openai", "openai", ("OPENAI_API_KEY",), "openai", ("azure", "bedrock")),
    Provider(
        "anthropic",
        "anthropic",
        ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
        "anthropic",
        ("azure", "bedrock", "vertex"),
    ),
    Provider(
        "google",
        "google-genai",
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        "google",
        ("vertex",),
        cloud_variables=("GOOGLE_GENAI_USE_VERTEXAI",),
    ),
    Provider("mistral", "mistralai", ("MISTRAL_API_KEY",), "mistral", ("azure",)),
    Provider(
        "grok",
        "xai-sdk",
        ("XAI_API_KEY", "GROK_API_KEY"),
        "x-ai",
        addresses=("XAI_BASE_URL", "GROK_BASE_URL", ANY_ADDRESS),
        host_only=True,
    ),
    Provider("groq", "groq", ("GROQ_API_KEY",), "groq"),
    Provider("together", "openai", ("TOGETHER_API_KEY",), "together"),
    Provider("openrouter", "openai", ("OPENROUTER_API_KEY",), "openrouter"),
    Provider("azureai", seller="azure"),
    Provider("bedrock", seller="aws"),
    Provider("cloudflare", seller="cloudflare"),
    Provider("deepseek", seller="deepseek"),
    Provider("fireworks", seller="fireworks"),
    Provider("meta", seller="meta"),
    Provider("moonshot", seller="moonshotai"),
    Provider("perplexity", seller="perplexity"),
    Provider("ollama", own_server=True),
    Provider("llama-cpp-python", loads_models=True, own_server=True),
    Provider("sglang", "sglang", loads_models=True, own_server=True),
    # these two read no other variable
    Provider("vllm", "vllm", addresses=("VLLM_BASE_URL",), loads_models=True, own_server=True),
    Provider(
        "vllm-completions", "vllm", addresses=("VLLM_BASE_URL",), loads_models=True, own_server=True
    ),
    Provider("hf", addresses=(), loads_models=True, own_server=True),
    Provider("nnterp", addresses=(), loads_models=True, own_server=True),
    Provider("transformer_lens", addresses=(), loads_models=True, own_server=True),
    Provider("gguf", addresses=(), loads_models=True, own_server=True, in_process=True),
    Provider(PROGRAMS, addresses=(), in_process=True),
)

PROVIDERS = {provider.name: provider for provider in _TABLE}
"""The providers about which something is known, by name; Inspect has more."""


def provider_of(model: str | None) -> Provider:
    """Return the provider of a model, with the service or the cloud that its name has.

    The name is PROVIDER/NAME; the provider of no model has an empty name.
    """
    name, *parts = (model or "").split("/")
    provider = PROVIDERS.get(name) or Provider(name)
    if name in COMPATIBLE and len(parts) > 1:
        prefix = variable_prefix(parts[0])
        addresses = (f"{prefix}_BASE_URL", ANY_ADDRESS)
        return replace(provider, keys=(f"{prefix}_API_KEY",), addresses=addresses)
    if parts and parts[0] in provider.clouds:
        # the provider's own address is not the cloud's
        cloud = parts[0]
        return replace(provider, cloud=cloud, seller=CLOUDS[cloud], addresses=(ANY_ADDRESS,))
    return provider


def variable_prefix(name: str) -> str:
    """Return the beginning of the environment variables of a provider or a service."""
    return name.upper().replace("-", "_")
