"""`careeval --install-completion` and `--show-completion`: the shell completes what is typed.

The script holds every command and option, the activities, and the ids of careeval's own public
scenarios, so that completing starts no Python. It is made anew by asking for it again, after
careeval has been upgraded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Argument, Parameter
from cyclopts.completion import ShellDetectionError, detect_shell

from careeval.cli.app import OK, app, say
from careeval.core.scenario import Adl
from careeval.errors import UsageError

Shell = Literal["bash", "zsh", "fish"]


def show(shell: Shell | None = None, /) -> int:
    """Print the script that completes what you type: `source <(careeval --show-completion bash)`.

    Args:
        shell: Whose; that of this terminal where not given.
    """
    with _with_ids():
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
    with _with_ids():
        written = app.install_completion(shell=shell, output=out, add_to_startup=out is None)
    say(f"Written: {written}")
    if out is None and shell != "fish":
        say(f"~/.{shell}rc loads it: start a new {shell}.")
    return OK


@contextmanager
def _with_ids() -> Iterator[None]:
    """Have a script that is made inside the block hold activities and ids of scenarios.

    They are no choices of the options themselves: a bank of one's own has other ids, and of a
    misspelt one the nearest is told.
    """
    from careeval.bank import OWN_BANK

    files = sorted(OWN_BANK.glob("*/*-*.yaml"))
    known = {
        "--adl": tuple(adl.value for adl in Adl),
        "--scenario": tuple(each.stem for each in files if not each.stem.endswith(".probes")),
    }
    choices = Argument.get_choices

    def with_ids(self: Argument, force: bool = False) -> tuple[str, ...] | None:
        its_own = choices(self, force)
        ids = (known[name] for name in self.names if name in known)
        return its_own or next(ids, None)

    Argument.get_choices = with_ids  # type: ignore[method-assign]
    try:
        yield
    finally:
        Argument.get_choices = choices  # type: ignore[method-assign]


def _this_shell() -> Shell:
    try:
        found = detect_shell()
    except ShellDetectionError:
        found = None
    if found in ("bash", "zsh", "fish"):
        return found
    raise UsageError("which shell this is cannot be told", hint="name it: bash, zsh or fish")
