"""The addresses of model servers that this user has agreed to.

The folder of a run may come from anybody, and its `run.json` says where calls are sent, with the
user's key. A provider's own address and the one in the user's environment need no agreement. Any
other needs it once: an address is agreed to when it is typed, and kept in the user's settings.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from careeval.errors import ProtocolError
from careeval.files import read_text
from careeval.protocol.providers import COMPATIBLE, EXAMPLE, check_address
from careeval.protocol.run import Run

HARMLESS_ARGS = frozenset(
    (
        *("api_key", "background", "betas", "cache_ttl", "client_timeout", "device", "do_sample"),
        *("emulate_tools", "enable_thinking", "min_p", "reasoning_enabled", "responses_api"),
        *("prompt_cache_key", "prompt_cache_retention", "responses_phase", "responses_store"),
        *("safety_identifier", "seconds", "service_tier", "stream", "streaming", "timeout"),
    )
)
"""Arguments of Inspect's providers that change neither where calls go nor what is loaded here.
With `api_key` the run's own key is sent instead of the user's."""

DEFAULT_PORTS = {"http": 80, "https": 443}

MAX_BYTES = 1_000_000
"""The most bytes of the file of addresses."""


@dataclass(frozen=True, slots=True)
class Destination:
    """One thing in a run's description that decides where, or with what, a model is called."""

    system: str
    model: str
    text: str  # The address, or an argument of the provider as `NAME=VALUE`
    is_address: bool

    def __str__(self) -> str:
        if self.is_address:
            return f"{self.system}: calls to {self.model} would go to {self.text}, with your key"
        return f"{self.system}: {self.model} would be called with {self.text}"


def settings_file() -> Path:
    """Return the file of agreed addresses, one a line, in the user's folder of settings.

    The folder is that of https://specifications.freedesktop.org/basedir-spec.

    Raises:
        RuntimeError: The user has no home.
    """
    folder = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    # the specification ignores a relative path
    root = folder if folder.is_absolute() else Path.home() / ".config"
    return root / "careeval" / "allowed-addresses"


def not_agreed(runs: Iterable[Run], typed: Iterable[str] = ()) -> list[Destination]:
    """Return what the runs' descriptions say that this user has not agreed to, each text once.

    What the user has `typed` now is agreed to: addresses, and arguments as `NAME=VALUE`.

    Raises:
        ProtocolError: An address is not valid, or may have a secret in it.
    """
    agreed = {normalised(text) for text in (*typed, *_kept())}
    wanted = {each.text: each for run in runs for each in _destinations(run)}
    return [each for text, each in wanted.items() if text not in agreed]


def remember(texts: Iterable[str]) -> bool:
    """Keep addresses and arguments in the user's settings; return whether that was possible."""
    if new := dict.fromkeys(map(normalised, texts)).keys() - _kept():
        try:
            file = settings_file()
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with file.open("a", encoding="utf-8") as lines:
                lines.write("".join(f"{text}\n" for text in sorted(new)))
        except (OSError, RuntimeError):
            return False
    return True


def normalised(text: str) -> str:
    """Return an address in the form in which addresses are compared; other text as it is.

    Scheme and host are in small letters; a default port and slashes at the end are left out.
    """
    text = text.strip()
    if not text.isprintable():
        text = json.dumps(text, ensure_ascii=False)[1:-1]  # the file has one text a line
    with suppress(ValueError):
        parts = urlsplit(text)
        if parts.scheme in DEFAULT_PORTS and parts.hostname:
            port = parts.port
            shown = "" if port in (None, DEFAULT_PORTS[parts.scheme]) else f":{port}"
            host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
            rest = parts._replace(scheme="", netloc="").geturl().rstrip("/")
            return f"{parts.scheme}://{host}{shown}{rest}"
    return text


def _destinations(run: Run) -> Iterator[Destination]:
    for each in run.endpoints:
        if each.base_url is not None:
            check_address(each.model, each.base_url, f"the address of {each.model}")
            address = normalised(each.base_url)
            in_environment = map(os.environ.get, each.provider.address_variables)
            if address not in [normalised(value) for value in in_environment if value]:
                yield Destination(run.system, each.model, address, is_address=True)
        for argument, value in each.args.items():
            if argument not in HARMLESS_ARGS:
                shown = value if isinstance(value, str) else json.dumps(value)
                text = normalised(f"{argument}={shown}")
                yield Destination(run.system, each.model, text, is_address=False)


def _kept() -> set[str]:
    with suppress(OSError, UnicodeDecodeError, RuntimeError):
        return {
            line for line in read_text(settings_file(), max_bytes=MAX_BYTES).split("\n") if line
        }
    return set()


# Addresses that are missing


def check_addresses(runs: Iterable[Run]) -> None:
    """Check that the models and graders of runs have the address of a server, if they need one.

    Raises:
        ProtocolError: An address is missing; the message names the model or the grader, and the
            option and the variable that may give it.
    """
    missing = dict.fromkeys(line for run in runs for line in _missing(run))
    if missing:
        raise ProtocolError(
            "\n".join(missing),
            hint=f"give the address at which the server listens, {EXAMPLE}",
        )


def _missing(run: Run) -> Iterator[str]:
    """Yield a line for each missing address: of a run's model, and of its grader."""
    for each in run.endpoints:
        if each.address or "port" in each.args:
            continue
        provider = each.provider
        starts = provider.package if provider.loads_models else ""
        if provider.name in COMPATIBLE:
            why = ""
        elif starts and find_spec(starts) is None:
            why = f", and the package {starts}, which would start one, is not installed"
        else:
            continue
        purpose, option = (
            ("asking", "--base-url")
            if each.role == "ask"
            else ("grading with", "--grader-base-url")
        )
        variable = provider.address_variables[0]
        yield (
            f"{purpose} {each.model} needs the address of its server: "
            f"neither {option} nor the variable {variable} is set{why}"
        )
