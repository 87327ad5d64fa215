"""The providers of models: their packages, price lists, servers' addresses and keys.

No key is ever shown.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import urlsplit

from careeval.errors import ProtocolError
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


# The addresses of servers

EXAMPLE = "such as http://localhost:8000/v1"


Role = Literal["ask", "grade"]
"""The purpose of a call: to ask a system, or to grade its response."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model that a run calls, and the server that the run gives for it."""

    role: Role
    model: str
    base_url: str | None
    args: Mapping[str, Any]  # Arguments of the provider

    @property
    def provider(self) -> Provider:
        """The provider of the model."""
        return provider_of(self.model)

    @property
    def address(self) -> str | None:
        """The address of the server that the run gives, or else the environment's.

        `None` if neither is set: the provider then has an address of its own, loads the model on
        this machine, or cannot be asked.
        """
        given = (self.base_url, *map(os.environ.get, self.provider.address_variables))
        return next(filter(None, given), None)


def check_address(model: str | None, url: str, where: str) -> None:
    """Check that a text is the address of a model's server, and has no secret in it.

    Addresses are written to run.json, logs and messages, and keys must not be. An address that is
    only a host, as its provider wants it, is not checked.

    Raises:
        ProtocolError: It is not an address, or may have a secret in it, which is not shown: the
            message names `where` the text is from.
    """
    if provider_of(model).host_only:
        return
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.username is not None or parts.password is not None or "@" in url.partition("?")[0]:
        raise ProtocolError(
            f"{where} has a user name or a password before an @, which logs would keep",
            hint="leave both out, and set the provider's environment variable, NAME_API_KEY",
        )
    if parts.query or parts.fragment or "?" in url or "#" in url:
        raise ProtocolError(
            f"{where} has text after a ? or a #, which may be a key, and logs would keep it",
            hint="give the address without that text, and set the provider's environment "
            "variable, NAME_API_KEY",
        )
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0:
        raise address_error(f"{where}, {url!r},")


def address_error(what: str) -> ProtocolError:
    """Return the error for a text that is not the address of a server."""
    return ProtocolError(
        f"{what} is not the address of a server",
        hint=f"give an address that begins with http:// or https:// and names a host, {EXAMPLE}",
    )


def redacted(url: str) -> str:
    """Return an address without the parts that may be secret."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an address that cannot be read"
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}".rstrip("/") if parts.scheme else parts.path


# The keys of providers

AWS_SECRETS = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK")
"""Environment variables of Amazon's cloud that contain a secret."""


def missing_key(model: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the variables of which one must be set before a model can be called.

    Empty if one is set, or if it is unknown which variable is needed.
    """
    provider = provider_of(model)
    if provider.cloud or any(map(environment.get, provider.cloud_variables)):
        return ()
    return () if any(map(environment.get, provider.keys)) else provider.keys


def secrets(api: Any, model: str, environment: Mapping[str, str]) -> set[str]:
    """Return the keys with which a model is called, from Inspect's `api` or the environment."""
    provider = provider_of(model)
    variables = {*getattr(api, "api_key_vars", ()), *provider.keys}
    variables.add(f"{variable_prefix(provider.name)}_API_KEY")
    if "bedrock" in model or provider.name == "sagemaker":
        variables |= {*AWS_SECRETS}
    values = {environment.get(variable) for variable in variables}
    return {value for value in (*values, getattr(api, "api_key", None)) if value}


def missing_keys(
    models: Iterable[str | None], graders: Iterable[str | None], environment: Mapping[str, str]
) -> Iterator[str]:
    """Yield a sentence for each model to ask and each grader whose key is missing."""
    asking = {f"asking {model}": model for model in models if model}
    grading = {f"grading with {grader}": grader for grader in graders if grader}
    for purpose, model in (asking | grading).items():
        if keys := missing_key(model, environment):
            yield f"{purpose} needs a key: {' or '.join(keys)} is not set"
