"""The table of providers: its names and variables are those that Inspect has."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from careeval.protocol.providers import CLOUDS, COMPATIBLE, PROVIDERS, provider_of


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
