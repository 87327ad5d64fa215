"""Providers, as Inspect has them: their keys, and the addresses of their servers."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from careeval.errors import ProtocolError
from careeval.protocol.allowed_addresses import check_addresses
from careeval.protocol.providers import (
    ANY_ADDRESS,
    CLOUDS,
    COMPATIBLE,
    PROVIDERS,
    Endpoint,
    missing_key,
    provider_of,
    secrets,
)
from careeval.protocol.run import Run


def inspect_providers() -> Path:
    """The folder of Inspect's providers."""
    spec = importlib.util.find_spec("inspect_ai")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "model" / "_providers"


def test_every_provider_is_one_of_inspects() -> None:
    """Inspect or careeval knows each provider by this name."""
    registered = (inspect_providers() / "providers.py").read_text("utf-8")
    own = {"careeval", "gguf"}
    names = {*PROVIDERS, *COMPATIBLE} - own
    assert own <= {*PROVIDERS}
    assert [name for name in names if f'@modelapi(name="{name}")' not in registered] == []


def test_variables_and_clouds_are_inspects() -> None:
    """Inspect reads keys and addresses from these variables, and calls these clouds."""
    files = {path.stem: path.read_text("utf-8") for path in inspect_providers().glob("*.py")}
    source = "".join(files.values())
    for provider in PROVIDERS.values():
        addresses = provider.addresses or ()
        variables = (*provider.keys, *provider.cloud_variables, *addresses[:-1])
        assert [name for name in variables if f'"{name}"' not in source] == []
        assert [
            cloud for cloud in provider.clouds if f'"{cloud}"' not in files[provider.name]
        ] == []
        assert {*provider.clouds} <= {*CLOUDS}


def test_the_provider_of_a_model() -> None:
    """A service has variables of its own; a cloud has its own seller; others are as named."""
    assert provider_of("openai/gpt-5.1") == PROVIDERS["openai"]
    assert provider_of("openai-api/my-lab/planner").keys == ("MY_LAB_API_KEY",)
    azure = provider_of("openai/azure/gpt-5.1")
    assert (azure.name, azure.cloud, azure.seller) == ("openai", "azure", "azure")
    assert provider_of("openrouter/openai/gpt-5.1").seller == "openrouter"
    assert provider_of("groq/azure/x") == PROVIDERS["groq"]
    assert provider_of("nobody/x").seller is None
    assert provider_of(None).name == ""


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


HERE = "http://127.0.0.1:8000/v1"


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("vllm/org/small", "VLLM_BASE_URL"),
        ("llama-cpp-python/small", "LLAMA_CPP_PYTHON_BASE_URL"),
        ("openai/gpt-5.1", "OPENAI_BASE_URL"),
        ("openai-api/my-lab/org/small", "MY_LAB_BASE_URL"),
        ("openai-api-completions/my-lab/small", "MY_LAB_BASE_URL"),
        ("vllm-completions/org/small", "VLLM_BASE_URL"),
        ("grok/grok-4", "XAI_BASE_URL"),
        ("grok/grok-4", "GROK_BASE_URL"),
        ("a-provider/small", "A_PROVIDER_BASE_URL"),
        ("a-provider/small", ANY_ADDRESS),
        ("openai/azure/gpt-5.1", ANY_ADDRESS),
    ],
)
def test_variables(model: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider has a variable, and each service of OpenAI's API has one of its own."""
    assert Endpoint("ask", model, None, {}).address is None
    monkeypatch.setenv(variable, HERE)
    assert Endpoint("ask", model, None, {}).address == HERE
    assert Endpoint("ask", model, "http://elsewhere/v1", {}).address == "http://elsewhere/v1"


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai-api/my-lab/small", "OPENAI_API_BASE_URL"),
        ("openai/azure/gpt-5.1", "OPENAI_BASE_URL"),
        ("vllm/small", ANY_ADDRESS),
        ("hf/small", "HF_BASE_URL"),
        ("gguf/small", ANY_ADDRESS),
    ],
)
def test_variables_of_others(model: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that Inspect does not read for a model gives it no address."""
    monkeypatch.setenv(variable, HERE)
    assert Endpoint("ask", model, None, {}).address is None


@pytest.mark.parametrize(
    ("run", "local"),
    [
        (Run("s", "vllm/small", None, 1), True),
        (Run("s", "vllm/small", None, 1, base_url=HERE), False),
        (Run("s", "openai-api/lab/small", "vllm/judge", 1), True),
        (Run("s", "openai-api/lab/small", "vllm/judge", 1, grader_base_url=HERE), False),
        (Run("s", "gguf/small", "vllm/judge", 1, grader_base_url=HERE), True),
        (Run("s", "gguf/small", "careeval/lexical", 1), True),
        (Run("s", None, "gguf/small", 1), True),
        (Run("s", None, "openai/gpt-5.1", 1), False),
        (Run("s", None, None, 1), False),
    ],
)
def test_a_model_that_is_loaded_here(
    run: Run, local: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model is loaded on this machine unless its server has an address."""
    monkeypatch.delenv("VLLM_BASE_URL", raising=False)
    assert run.local is local


@pytest.mark.parametrize("provider", ["vllm", "vllm-completions"])
def test_an_address_of_the_environment(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server whose address the environment gives loads no model here."""
    run = Run("s", f"{provider}/small", f"{provider}/judge", 1)
    monkeypatch.delenv("VLLM_BASE_URL", raising=False)
    assert run.local
    monkeypatch.setenv("VLLM_BASE_URL", HERE)
    assert not run.local
    check_addresses([run])


def test_missing_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each model without an address is named once, with what may give it one."""
    monkeypatch.delenv("LAB_BASE_URL", raising=False)
    monkeypatch.delenv("SGLANG_BASE_URL", raising=False)
    run = Run("s", "openai-api/lab/small", "sglang/judge", 1)
    with pytest.raises(ProtocolError) as raised:
        check_addresses([run, run])
    assert str(raised.value).splitlines() == [
        "asking openai-api/lab/small needs the address of its server: neither --base-url nor the "
        "variable LAB_BASE_URL is set",
        "grading with sglang/judge needs the address of its server: neither --grader-base-url nor "
        "the variable SGLANG_BASE_URL is set, and the package sglang, which would start one, is "
        "not installed",
    ]
    check_addresses([Run("s", "openai/gpt-5.1", "careeval/lexical", 1)])
