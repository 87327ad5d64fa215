"""`careeval --install-completion` and `--show-completion`: completion in bash, zsh and fish.

The script holds every command and option, the activities, and the ids of careeval's own public
scenarios, so that completing starts no Python. After an upgrade of careeval, ask for it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from cyclopts import Argument
from cyclopts.completion import ShellDetectionError, detect_shell

from careeval.cli.app import OK, app, say
from careeval.cli.shared.options import Out
from careeval.core.scenario import Adl
from careeval.errors import UsageError

Shell = Literal["bash", "zsh", "fish"]


def show(shell: Shell | None = None, /) -> int:
    """Print the script that completes what you type: `source <(careeval --show-completion bash)`.

    Args:
        shell: The shell; that of this terminal if not given.
    """
    with _with_ids():
        print(app.generate_completion(shell=shell or _this_shell()), end="")
    return OK


def install(
    shell: Shell | None = None,
    /,
    *,
    out: Out | None = None,
) -> int:
    """Have a shell complete what you type, from its next start.

    Args:
        shell: The shell; that of this terminal if not given.
        out: The only file to write; if not given, the script goes to the shell's own place for
            such files, and for bash and zsh a line in the start-up file loads it.
    """
    shell = shell or _this_shell()
    with _with_ids():
        written = app.install_completion(shell=shell, output=out, add_to_startup=out is None)
    say(f"Written: {written}")
    if out is None and shell != "fish":
        say(f"~/.{shell}rc now loads this script: start a new {shell}.")
    return OK


@contextmanager
def _with_ids() -> Iterator[None]:
    """Make a script that is written inside the block complete activities and scenario ids too."""
    from careeval.bank import OWN_BANK

    # no choices of the options themselves, since a user's bank has other ids
    files = sorted(OWN_BANK.glob("*/*-*.yaml"))
    values = {
        "--adl": tuple(adl.value for adl in Adl),
        "--scenario": tuple(each.stem for each in files if not each.stem.endswith(".probes")),
    }
    choices = Argument.get_choices

    def with_ids(self: Argument, force: bool = False) -> tuple[str, ...] | None:
        own_choices = choices(self, force)
        added = (values[name] for name in self.names if name in values)
        return own_choices or next(added, None)

    Argument.get_choices = with_ids  # type: ignore[method-assign]
    try:
        yield
    finally:
        Argument.get_choices = choices  # type: ignore[method-assign]


def _this_shell() -> Shell:
    try:
        shell = detect_shell()
    except ShellDetectionError:
        shell = None
    if shell in ("bash", "zsh", "fish"):
        return shell
    raise UsageError(
        "the shell of this terminal could not be found out",
        hint="name the shell: bash, zsh or fish",
    )
