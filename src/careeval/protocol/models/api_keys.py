"""Providers' keys: which variables hold one, and whose is missing. No key is ever shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Provider:
    """Where models are asked.

    Attributes:
        name: What Inspect calls it: the first part of a model's name.
        package: The distribution that asks it.
        keys: Environment variables, any one of which lets it in.
        clouds: Second parts of a model's name by which a cloud is asked, which has other keys.
        elsewhere: Environment variables that send every call to such a cloud.
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
"""Those that most people ask; Inspect knows more."""

AWS_SECRETS = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK")
"""Variables of Amazon's cloud that hold a secret."""

COMPATIBLE = "openai-api"
"""The provider of any server of OpenAI's kind: openai-api/SERVICE/MODEL."""


def missing_key(model: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Name the variables of which one must be set before a model can be asked.

    Empty where one is set, or where it is not known which would be needed.

    Args:
        model: Inspect's name of the model.
        environment: Variables by name.
    """
    name, *parts = model.split("/")
    keys: tuple[str, ...] = ()
    if name == COMPATIBLE and len(parts) > 1:
        keys = (f"{parts[0].upper().replace('-', '_')}_API_KEY",)
    for known in PROVIDERS:
        in_a_cloud = bool({*parts[:1]} & {*known.clouds}) or any(
            map(environment.get, known.elsewhere)
        )
        if known.name == name and not in_a_cloud:
            keys = known.keys
    return () if any(environment.get(key) for key in keys) else keys


def secrets(api: Any, model: str, environment: Mapping[str, str]) -> set[str]:
    """Collect the keys that a model is asked with, wherever its provider found them.

    Args:
        api: The provider, as Inspect made it.
        model: Inspect's name of the model.
        environment: Variables by name.
    """
    name = model.partition("/")[0]
    variables = {*getattr(api, "api_key_vars", ()), f"{name.upper().replace('-', '_')}_API_KEY"}
    variables |= {key for known in PROVIDERS if known.name == name for key in known.keys}
    if "bedrock" in model or name == "sagemaker":
        variables |= {*AWS_SECRETS}
    values = {environment.get(variable) for variable in variables}
    return {value for value in (*values, getattr(api, "api_key", None)) if value}


def missing_keys(
    models: Iterable[str | None], graders: Iterable[str | None], environment: Mapping[str, str]
) -> Iterator[str]:
    """For each model and grader whose key is missing, a sentence.

    Args:
        models: Inspect's names of models to ask; `None` for recorded answers.
        graders: Of graders; `None` where nothing is graded.
        environment: Variables by name.
    """
    asked = {f"asking {model}": model for model in models if model}
    graded = {f"grading with {grader}": grader for grader in graders if grader}
    for what, model in (asked | graded).items():
        if keys := missing_key(model, environment):
            yield f"{what} needs a key: {' or '.join(keys)} is not set"
