"""Keys: whose is missing is known before anything is sent."""

from __future__ import annotations

import pytest

from careeval.protocol.providers import missing_key, secrets


@pytest.mark.parametrize(
    ("model", "environment", "missing"),
    [
        ("openai/gpt-5.1", {}, ("OPENAI_API_KEY",)),
        ("openai/gpt-5.1", {"OPENAI_API_KEY": ""}, ("OPENAI_API_KEY",)),
        ("openai/gpt-5.1", {"OPENAI_API_KEY": "k"}, ()),
        ("anthropic/claude", {"ANTHROPIC_AUTH_TOKEN": "k"}, ()),
        ("google/gemini-3-pro", {"GEMINI_API_KEY": "k"}, ()),
        ("google/gemini-3-pro", {}, ("GOOGLE_API_KEY", "GEMINI_API_KEY")),
        ("openrouter/openai/gpt-5.1", {}, ("OPENROUTER_API_KEY",)),
        ("openai-api/my-lab/planner", {}, ("MY_LAB_API_KEY",)),
        ("openai-api/my-lab/planner", {"MY_LAB_API_KEY": "none"}, ()),
        # the key of a cloud is not the provider's own
        ("openai/azure/gpt-5.1", {}, ()),
        ("google/gemini-3-pro", {"GOOGLE_GENAI_USE_VERTEXAI": "true"}, ()),
        ("gguf/smollm2-135m", {}, ()),
        ("vllm/my-model", {}, ()),
        ("careeval/lexical", {}, ()),
        ("a-provider-nobody-knows/x", {}, ()),
    ],
)
def test_what_lets_a_model_in(
    model: str, environment: dict[str, str], missing: tuple[str, ...]
) -> None:
    """A key is missing where none of its variables is set; of unknown providers nothing is said."""
    assert missing_key(model, environment) == missing


@pytest.mark.parametrize(
    ("model", "environment", "held"),
    [
        ("google/gemini-3-pro", {"GEMINI_API_KEY": "k", "OPENAI_API_KEY": "other"}, {"k", "own"}),
        ("bedrock/a.b", {"AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "eu"}, {"s", "own"}),
        (
            "a-provider/x",
            {"A_PROVIDER_API_KEY": "k", "VARIABLE": "v", "OTHER": ""},
            {"k", "v", "own"},
        ),
    ],
)
def test_secrets(model: str, environment: dict[str, str], held: set[str]) -> None:
    """The keys of a model are those of its provider, from wherever it takes them."""

    class Api:
        api_key = "own"
        api_key_vars = ("VARIABLE", "OTHER")

    assert secrets(Api(), model, environment) == held
