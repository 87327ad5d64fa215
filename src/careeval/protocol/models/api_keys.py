"""The API keys of providers: their environment variables, and checks for missing ones.

No key is ever shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from careeval.protocol.address import COMPATIBLE


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider of models.

    Attributes:
        name: Inspect's name of the provider: the first part of a model's name.
        package: PyPI name of the provider's client.
        keys: Environment variables that may contain the key; one of them must be set.
        clouds: Clouds that serve its models, as in openai/azure/gpt-5; they need keys of their own.
        elsewhere: Environment variables; if one is set, all calls go to a cloud.
    """

    name: str
    package: str
    keys: tuple[str, ...]
    clouds: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


PROVIDERS = (
    Provider("openai", "openai", ("OPENAI_API_KEY",), ("azure", "bedrock")),
    Provider(
        "anthropic",
        "anthropic",
        ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
        ("azure", "bedrock", "vertex"),
    ),
    Provider(
        "google",
        "google-genai",
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        ("vertex",),
        ("GOOGLE_GENAI_USE_VERTEXAI",),
    ),
    Provider("mistral", "mistralai", ("MISTRAL_API_KEY",), ("azure",)),
    Provider("grok", "xai-sdk", ("XAI_API_KEY", "GROK_API_KEY")),
    Provider("groq", "groq", ("GROQ_API_KEY",)),
    Provider("together", "openai", ("TOGETHER_API_KEY",)),
    Provider("openrouter", "openai", ("OPENROUTER_API_KEY",)),
)
"""The most used providers; Inspect has more."""

AWS_SECRETS = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK")
"""Environment variables of Amazon's cloud that contain a secret."""


def missing_key(model: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the variables of which one must be set before a model can be called.

    Empty if one is set, or if it is unknown which variable is needed.

    Args:
        model: Inspect's name of the model.
        environment: Environment variables by name.
    """
    name, *parts = model.split("/")
    keys: tuple[str, ...] = ()
    if name == COMPATIBLE and len(parts) > 1:
        keys = (f"{parts[0].upper().replace('-', '_')}_API_KEY",)
    for provider in PROVIDERS:
        is_cloud = bool({*parts[:1]} & {*provider.clouds}) or any(
            map(environment.get, provider.elsewhere)
        )
        if provider.name == name and not is_cloud:
            keys = provider.keys
    return () if any(environment.get(key) for key in keys) else keys


def secrets(api: Any, model: str, environment: Mapping[str, str]) -> set[str]:
    """Return the keys with which a model is called, from the provider or the environment.

    Args:
        api: The provider's object, as Inspect made it.
        model: Inspect's name of the model.
        environment: Environment variables by name.
    """
    name = model.partition("/")[0]
    variables = {*getattr(api, "api_key_vars", ()), f"{name.upper().replace('-', '_')}_API_KEY"}
    variables |= {key for provider in PROVIDERS if provider.name == name for key in provider.keys}
    if "bedrock" in model or name == "sagemaker":
        variables |= {*AWS_SECRETS}
    values = {environment.get(variable) for variable in variables}
    return {value for value in (*values, getattr(api, "api_key", None)) if value}


def missing_keys(
    models: Iterable[str | None], graders: Iterable[str | None], environment: Mapping[str, str]
) -> Iterator[str]:
    """Yield a sentence for each model and grader whose key is missing.

    Args:
        models: Inspect's names of the models to ask; `None` for recorded responses.
        graders: Inspect's names of the graders; `None` if nothing is graded.
        environment: Environment variables by name.
    """
    asking = {f"asking {model}": model for model in models if model}
    grading = {f"grading with {grader}": grader for grader in graders if grader}
    for purpose, model in (asking | grading).items():
        if keys := missing_key(model, environment):
            yield f"{purpose} needs a key: {' or '.join(keys)} is not set"
