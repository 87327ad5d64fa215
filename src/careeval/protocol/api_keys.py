"""The API keys of providers: their variables, checks for missing ones, and removal from texts.

No key is ever shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from careeval.protocol.providers import provider_of, variable_prefix

AWS_SECRETS = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK")
"""Environment variables of Amazon's cloud that contain a secret."""


def missing_key(model: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the variables of which one must be set before a model can be called.

    Empty if one is set, or if it is unknown which variable is needed.

    Args:
        model: Inspect's name of the model.
        environment: Environment variables by name.
    """
    provider = provider_of(model)
    if provider.cloud or any(map(environment.get, provider.cloud_variables)):
        return ()
    return () if any(map(environment.get, provider.keys)) else provider.keys


def secrets(api: Any, model: str, environment: Mapping[str, str]) -> set[str]:
    """Return the keys with which a model is called, from the provider or the environment.

    Args:
        api: The provider's object, as Inspect made it.
        model: Inspect's name of the model.
        environment: Environment variables by name.
    """
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


# Keys in texts

REDACTED = "(the key)"

SHORTEST = 8
"""The fewest characters of a key that is redacted in answers too, not in errors alone. A shorter
key, such as "EMPTY", may be a word of the answer."""


class Redactor:
    """Redacts keys in what a provider returns: in errors all of them, elsewhere the long ones.

    A key that JSON escapes is plain again once the provider's client has read the reply.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        """Take the keys; empty keys are ignored."""
        # a key may begin with another
        self._keys = sorted(filter(None, keys), key=len, reverse=True)
        self._long = [key for key in self._keys if len(key) >= SHORTEST]

    def text(self, text: str, *, is_error: bool) -> str:
        """Return a text with its keys redacted."""
        for key in self._keys if is_error else self._long:
            text = text.replace(key, REDACTED)
        return text

    def body(self, raw: bytes, *, is_error: bool) -> bytes:
        """Return the body of a reply with its keys redacted."""
        for key in self._keys if is_error else self._long:
            raw = raw.replace(key.encode(), REDACTED.encode())
        return raw

    def error(self, error: BaseException) -> None:
        """Redact the keys in an exception and in its chain of causes, in place."""
        seen = set[int]()
        left: list[BaseException | None] = [error]
        while left:
            current = left.pop()
            if current is None or id(current) in seen:
                continue
            seen.add(id(current))
            left += [current.__cause__, current.__context__]
            current.args = tuple(self._value(value) for value in current.args)
            for name, value in list(getattr(current, "__dict__", {}).items()):
                if (redacted := self._value(value)) is not value:
                    setattr(current, name, redacted)

    def inside(self, value: Any, *, is_error: bool) -> Any:
        """Return a value with its keys redacted, in lists, mappings and pydantic models too.

        Models are changed in place, since Inspect's log may hold them already.
        """
        if isinstance(value, str):
            redacted = self.text(value, is_error=is_error)
            return value if redacted == value else redacted
        if isinstance(value, Mapping):
            return {each: self.inside(value[each], is_error=is_error) for each in value}
        if isinstance(value, list | tuple):
            clean = [self.inside(each, is_error=is_error) for each in value]
            return clean if isinstance(value, list) else tuple(clean)
        if isinstance(value, BaseModel):
            for name, field in value.__dict__.items():
                value.__dict__[name] = self.inside(field, is_error=is_error)
        return value

    def _value(self, value: Any) -> Any:
        if not isinstance(value, str | bytes):
            return value
        redact: Any = self.text if isinstance(value, str) else self.body
        redacted = redact(value, is_error=True)
        return value if redacted == value else redacted
