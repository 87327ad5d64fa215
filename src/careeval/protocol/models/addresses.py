"""A check, before anything is sent, that every model of a run has the address of a server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec

from careeval.errors import ProtocolError
from careeval.protocol.address import COMPATIBLE, address_variable, server_address
from careeval.protocol.runs.spec import Run, provider

STARTED = {"vllm", "sglang"}
"""Providers that start a server with the package of their name, if they have no address."""


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
            hint="give the address at which the server listens, such as http://localhost:8000/v1",
        )


def _missing(run: Run) -> Iterator[str]:
    """Yield a line for each missing address of a run: that of its model, and of its grader."""
    for purpose, name, base_url, option, args in (
        ("asking", run.model, run.base_url, "--base-url", run.model_args),
        ("grading with", run.grader, run.grader_base_url, "--grader-base-url", run.grader_args),
    ):
        if name is None or server_address(name, base_url) or "port" in args:
            continue
        ways = f"neither {option} nor the variable {address_variable(name)} is set"
        if provider(name) == COMPATIBLE:
            yield f"{purpose} {name} needs the address of its server: {ways}"
        elif (package := provider(name)) in STARTED and find_spec(package) is None:
            yield (
                f"{purpose} {name} needs the address of its server: {ways}, "
                f"and the package {package}, which would start one, is not installed"
            )
