"""Addresses of model servers: where they come from, whose is missing, and which models are here."""

from __future__ import annotations

import pytest

from careeval.errors import ProtocolError
from careeval.protocol.allowed_addresses import check_addresses
from careeval.protocol.providers import ANY_ADDRESS, Endpoint
from careeval.protocol.run import Run

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
        (Run("s", None, "openai/gpt-5.1", 1), False),
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
