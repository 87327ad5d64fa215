"""`careeval --install-completion` and `--show-completion`: the shell completes what is typed.

The script holds every command and option, so that completing starts no Python. It is made anew by
asking for it again, after careeval has been upgraded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.completion import ShellDetectionError, detect_shell

from careeval.cli.app import OK, app, say
from careeval.errors import UsageError

Shell = Literal["bash", "zsh", "fish"]


def show(shell: Shell | None = None, /) -> int:
    """Print the script that completes what you type: `source <(careeval --show-completion bash)`.

    Args:
        shell: Whose; that of this terminal where not given.
    """
    print(app.generate_completion(shell=shell or _this_shell()), end="")
    return OK


def install(
    shell: Shell | None = None,
    /,
    *,
    out: Annotated[Path | None, Parameter(name=("--out", "-o"))] = None,
) -> int:
    """Have a shell complete what you type, from its next start.

    Args:
        shell: Whose; that of this terminal where not given.
        out: File to write, and nothing else; where not given, the shell's own place for such
            files, and for bash and zsh the line of the start-up file that makes them look there.
    """
    shell = shell or _this_shell()
    written = app.install_completion(shell=shell, output=out, add_to_startup=out is None)
    say(f"Written: {written}")
    if out is None and shell != "fish":
        say(f"~/.{shell}rc loads it: start a new {shell}.")
    return OK


def _this_shell() -> Shell:
    try:
        found = detect_shell()
    except ShellDetectionError:
        found = None
    if found in ("bash", "zsh", "fish"):
        return found
    raise UsageError("which shell this is cannot be told", hint="name it: bash, zsh or fish")
