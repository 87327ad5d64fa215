"""Addresses that a user has agreed to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from careeval.errors import ProtocolError
from careeval.protocol.allowed_addresses import (
    normalised,
    not_agreed,
    remember,
    settings_file,
)
from careeval.protocol.run import Run

ELSEWHERE = "http://elsewhere.example:8000/v1"


def a_run(model: str = "openai/gpt-5.1", **more: Any) -> Run:
    """A run whose description came from somebody."""
    return Run("robot", model, None, 1, **more)


def asked(run: Run, *typed: str) -> list[str]:
    """What of a run the user has still to agree to."""
    return [each.text for each in not_agreed([run], typed)]


def test_a_providers_own_address_needs_no_agreement() -> None:
    """A run that names no address and no argument has nothing to agree to."""
    assert asked(a_run()) == []
    assert asked(Run("answers", None, "openai/gpt-5.1", 1)) == []


def test_an_address_is_agreed_to_by_typing_it_and_then_kept() -> None:
    """An address is asked about until it is typed, and never again once it is remembered."""
    run = a_run(base_url=ELSEWHERE)
    assert asked(run) == [ELSEWHERE]
    assert asked(run, "HTTP://Elsewhere.example:8000/v1/") == []
    assert asked(run) == [ELSEWHERE]
    assert remember([f"{ELSEWHERE}/"])
    assert asked(run) == []
    assert asked(a_run(base_url="http://elsewhere.example:8001/v1")) != []
    remember([ELSEWHERE])
    assert settings_file().read_text(encoding="utf-8") == f"{ELSEWHERE}\n"


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai/gpt-5.1", "OPENAI_BASE_URL"),
        ("llama-cpp-python/x", "LLAMA_CPP_PYTHON_BASE_URL"),
        ("openai-api/my-lab/x", "MY_LAB_BASE_URL"),
    ],
)
def test_an_address_of_the_environment_is_agreed_to(
    model: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's own variable for a provider agrees to its address, and to no other."""
    monkeypatch.setenv(variable, ELSEWHERE)
    assert asked(a_run(model, base_url=ELSEWHERE)) == []
    assert asked(a_run("anthropic/claude", base_url=ELSEWHERE)) == [ELSEWHERE]


@pytest.mark.parametrize(
    "args",
    [
        *({name: ELSEWHERE} for name in ("http_client", "api_base", "azure_endpoint", "proxy")),
        {"default_headers": {"Host": "elsewhere"}},
        {"extra_body": {}},
        {"trust_remote_code": True},
        {"something_new": 1},
    ],
)
def test_an_argument_that_may_redirect_needs_agreement(args: dict[str, Any]) -> None:
    """Every argument of a provider but the known harmless ones is shown with its value."""
    run = a_run(model_args={"streaming": True, "service_tier": "flex"} | args)
    (text,) = asked(run)
    assert text.startswith(f"{next(iter(args))}=")
    assert asked(run, text) == []
    remember([text])
    assert asked(run) == []


def test_harmless_arguments_need_no_agreement() -> None:
    """A run's own key is not the user's, and a tier moves no call."""
    assert asked(a_run(model_args={"api_key": "theirs", "service_tier": "flex"})) == []


def test_an_address_with_a_secret_is_refused_unseen() -> None:
    """A password in an address is not shown when it is asked about."""
    with pytest.raises(ProtocolError, match="a user name or a password") as caught:
        asked(a_run(base_url="http://me:s3cret@elsewhere.example"))
    assert "s3cret" not in f"{caught.value}{caught.value.hint}"


def test_one_text_is_one_line() -> None:
    """A line break in a foreign text agrees to no second address."""
    remember([f"x=1\n{ELSEWHERE}"])
    assert asked(a_run(base_url=ELSEWHERE)) == [ELSEWHERE]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://Host.example:443/v1//", "https://host.example/v1"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("http://a/B?c=D", "http://a/B?c=D"),
        ("api.x.ai", "api.x.ai"),
        ("http://a:port", "http://a:port"),
    ],
)
def test_addresses_are_compared_in_one_form(text: str, expected: str) -> None:
    """Letters of the host, a default port and slashes at the end make no difference."""
    assert normalised(text) == expected


def test_settings_that_cannot_be_written_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a folder of settings an address is not remembered, and that is told."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    assert not remember([ELSEWHERE])
    assert asked(a_run(base_url=ELSEWHERE)) == [ELSEWHERE]
    monkeypatch.setenv("XDG_CONFIG_HOME", "settings")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert settings_file() == tmp_path / ".config" / "careeval" / "allowed-addresses"
