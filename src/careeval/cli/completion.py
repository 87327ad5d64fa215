"""`careeval --install-completion` and `--show-completion`: completion in bash, zsh and fish.

The script holds every command and option, so that completing starts no Python. After an upgrade of
careeval, ask for it again.
"""

from __future__ import annotations

from typing import Literal

from cyclopts.completion import ShellDetectionError, detect_shell

from careeval.cli.app import OK, app, say
from careeval.cli.shared.options import Out
from careeval.errors import UsageError

Shell = Literal["bash", "zsh", "fish"]


def show(shell: Shell | None = None, /) -> int:
    """Print the script that completes what you type: `source <(careeval --show-completion bash)`.

    Args:
        shell: The shell; that of this terminal if not given.
    """
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
    written = app.install_completion(shell=shell, output=out, add_to_startup=out is None)
    say(f"Written: {written}")
    if out is None and shell != "fish":
        say(f"~/.{shell}rc now loads this script: start a new {shell}.")
    return OK


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
