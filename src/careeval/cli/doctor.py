"""`careeval doctor`: a check of what is installed and set here, and what is missing."""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from cyclopts import App

from careeval.cli.app import CHECK_FAILED, COMMANDS, OK, print_json
from careeval.cli.config import FILE, OTHER_VARIABLES, PREFIX, read_settings
from careeval.cli.shared.options import Json
from careeval.core.text import plain
from careeval.errors import CareEvalError
from careeval.protocol.doctor import Finding, State, examine

EXAMPLES = """\
Examples:

  careeval doctor          is everything there?
  careeval doctor --json   the same for a script or a bug report

Exit status 3 where careeval cannot work at all. No key is ever shown.
"""

app = App(name="doctor", help_epilogue=EXAMPLES)


@app.default
def doctor(*, as_json: Json = False) -> int:
    """Check what is installed and set here, and what is missing; nothing is sent anywhere.

    Args:
        as_json: Print JSON.
    """
    all_findings = [*examine(Path(), os.environ), settings(FILE), variables(os.environ)]
    if as_json:
        rows = [asdict(finding) for finding in all_findings]
        print_json({"findings": rows})
    else:
        width = min(100, shutil.get_terminal_size().columns)
        print("\n".join(plain(line) for line in lines(all_findings, width)))
    return CHECK_FAILED if any(f.state is State.PROBLEM for f in all_findings) else OK


def settings(file: Path) -> Finding:
    """Return a finding on careeval.toml: whether it exists, can be read, and names commands."""
    try:
        tables = read_settings(file)
    except CareEvalError as error:
        return Finding(file.name, State.PROBLEM, str(error), error.hint)
    except OSError as error:
        return Finding(file.name, State.PROBLEM, f"cannot be read: {error.strerror}")
    if not file.exists():
        return Finding(file.name, State.OK, "none here: every option has its default")
    if unknown := [name for name in tables if name not in COMMANDS]:
        hint = "write a setting below the command that it is for, as in [run]"
        text = f"no command is called {', '.join(unknown)}"
        return Finding(file.name, State.PROBLEM, text, hint)
    sets = ", ".join(f"[{name}]" for name in tables) or "nothing"
    return Finding(file.name, State.OK, f"found here; it sets {sets}")


def variables(environment: Iterable[str]) -> Finding:
    """Return a finding on the CAREEVAL_ variables, not on their values, which may be secret."""
    names = sorted(name for name in environment if name.startswith(PREFIX))
    if not names:
        return Finding(f"{PREFIX}*", State.OK, "none set")
    prefixes = tuple(f"{PREFIX}{command.upper()}_" for command in COMMANDS)
    unread = [
        name for name in names if name not in OTHER_VARIABLES and not name.startswith(prefixes)
    ]
    if unread:
        hint = f"an option is {PREFIX}COMMAND_OPTION, as {PREFIX}RUN_GRADER"
        text = f"{', '.join(names)}; nothing reads {', '.join(unread)}"
        return Finding(f"{PREFIX}*", State.PROBLEM, text, hint)
    return Finding(f"{PREFIX}*", State.OK, f"set: {', '.join(names)}")


def lines(findings: Sequence[Finding], width: int) -> list[str]:
    """Return lines with state, name and text of each finding, folded at `width`; hints below."""
    left = max(len(f.name) for f in findings)
    margin = len("problem") + 2 + left + 2
    folded = []
    for f in findings:
        head = f"{f.state:<7}  {f.name:<{left}}  "
        for text, start in ((f.text, head), (f.hint and f"hint: {f.hint}", " " * margin)):
            folded += textwrap.wrap(
                text, max(width, margin + 20), initial_indent=start, subsequent_indent=" " * margin,
                break_long_words=False, break_on_hyphens=False,
            )  # fmt: skip
    return folded
