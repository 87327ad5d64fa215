"""The `careeval` command line: its commands, each loaded when it is called, and exit statuses.

Data goes to stdout, messages to stderr. Exit status: 0 done, 1 done with some samples failed, 2 the
command cannot be carried out as asked, 3 a check failed, 4 the budget is reached, 130 interrupted.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from cyclopts import App, CycloptsError, Parameter, UnknownCommandError
from cyclopts.config import Env

import careeval
from careeval.cli.config import PREFIX, apply_file, drop_overridden, refuse_unread
from careeval.core.text import plain
from careeval.errors import CareEvalError, UsageError, did_you_mean

OK, SOME_FAILED, USAGE, CHECK_FAILED, BUDGET_REACHED, INTERRUPTED = 0, 1, 2, 3, 4, 130
"""Exit statuses."""

COMMANDS = {
    "demo": "Evaluate a small embedded model offline, and open the result.",
    "doctor": "Check what is installed and set here, and what is missing.",
    "run": "Ask a model, or take recorded answers, and grade them.",
    "sweep": "Ask and grade many systems, on one machine or a cluster.",
    "status": "Show how far runs are, and what to type next; rename a system.",
    "grade": "Grade a run's stored responses again, beside the old judgments.",
    "summary": "The table: score, worst case, errors, by activity and domain.",
    "compare": "Two systems paired by scenario: what got worse, beyond chance.",
    "report": "One offline HTML page of one or more runs.",
    "site": "A static leaderboard of many runs, as a folder.",
    "export": "Results as files: tables, figures, Every Eval Ever.",
    "submit": "One archive of a system's runs, to publish its results.",
    "verify": "Compute every number of such an archive again, from its logs.",
    "audit": "Check a grader against labelled probes and against people.",
    "study": "Have experts rate how realistic and valid the scenarios are.",
    "bank": "Read, write, check, import and seal the scenarios.",
    "plan": "Check a robot's plan, step by step, in a simulated room.",
}
"""Command → its purpose in one line, in the order in which a newcomer needs them."""

GROUPS = ("audit", "bank", "plan", "study")
"""Commands that have commands of their own, each in a folder."""

_COMMANDS = "\n".join(f"  {name:<8} {text}" for name, text in COMMANDS.items())

HELP = f"""\
Usage: careeval COMMAND …

Does a language model decide like an expert caregiver when it physically helps a
person?

{_COMMANDS}

  --install-completion   Have your shell complete what you type.
  --version              Print careeval's version.
  --help, -h             Print this; after a command, its options.

In the order in which you may need them:

  careeval demo                                       everything once, offline
  careeval doctor                                     what is installed and set
  careeval run -m openai/gpt-5.1 --limit 6 --dry-run  what a run would ask
  careeval run -m openai/gpt-5.1 -o runs/first        ask a model, and grade it
  careeval status runs/first                          how far a run has come
  careeval run --resume -o runs/first                 go on after a stop
  careeval summary runs/first                         the result as a table
  careeval compare runs/first runs/second             which of two is better
  careeval report runs/first -o report.html           the result as a page
  careeval site runs/* -o site                        a leaderboard of all runs
  careeval export runs --to csv -o results            every table, as a file
  careeval submit runs -o our.zip --card card.toml    an archive to publish

An option is taken from the first of these that has it: the command line; the
environment, as CAREEVAL_RUN_GRADER; careeval.toml in the current folder, as
grader = "NAME" below [run]; its default.

Exit status: 0 done; 1 done, but some samples failed; 2 cannot be done as asked;
3 a check failed; 4 the budget is reached; 130 interrupted, and can be resumed.
"""
"""The page of `careeval --help`, in 80 columns; cyclopts would take twice as long."""

app = App(
    name="careeval",
    help="Does a language model decide like an expert caregiver when it physically helps a person?",
    help_format="plaintext",
    version=lambda: careeval.__version__,
    config=[refuse_unread, Env(PREFIX), apply_file, drop_overridden],
    default_parameter=Parameter(show_env_var=False),
)
for _place, (_name, _help) in enumerate(COMMANDS.items()):
    _module = f"{_name}.commands" if _name in GROUPS else _name
    app.command(f"careeval.cli.{_module}:app", name=_name, help=_help, sort_key=_place)


def run(argv: Sequence[str]) -> int:
    """Carry out one command line and return its exit status."""
    as_json = "--json" in argv
    try:
        status: object = OK
        if list(argv) in ([], ["--help"], ["-h"]):
            print(HELP, end="")
        else:
            if argv[0] == "--install-completion" and argv[0] not in app:
                # only now, since this loads the scripts of all shells
                app.register_install_completion_command()
            status = app(argv, exit_on_error=False, print_error=False, result_action="return_value")
        # flushed here, so that a closed pipe is caught below
        sys.stdout.flush()
    except CareEvalError as error:
        return report_error(error, as_json=as_json)
    except CycloptsError as error:
        return report_error(_command_line_error(error), as_json=as_json)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # the reader has closed the pipe: the rest of the output is not wanted
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except SystemExit as stop:
        # rich turns a closed pipe into this
        if isinstance(stop.__context__, BrokenPipeError):
            return OK
        raise
    except OSError as error:
        if error.filename is None and error.errno not in _DISK_HINTS:
            raise
        if error.filename is None:
            # or Python would try to print the rest again when it exits
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        problem = f"{error.filename or 'the output'}: {error.strerror}"
        disk_error = UsageError(problem, hint=_DISK_HINTS.get(error.errno or 0, ""))
        return report_error(disk_error, as_json=as_json and error.filename is not None)
    return status if isinstance(status, int) else OK


_FREE_SPACE = "free some space, or use another disk; files from before are kept"
_PERMISSION = "give yourself permission to read and write there, or name another path"
_DISK_HINTS = {
    errno.ENOSPC: _FREE_SPACE,
    errno.EDQUOT: _FREE_SPACE,
    errno.EFBIG: _FREE_SPACE,
    errno.EOVERFLOW: "check that this is the right file: a number in it, or its size, is too large",
    errno.EROFS: "name a path on another disk: this disk is read-only",
    errno.EACCES: _PERMISSION,
    errno.EPERM: _PERMISSION,
    errno.EIO: "the disk is failing: copy what can still be read to another disk",
    errno.EISDIR: "move the folder away, or name another path: a file is expected here",
}
"""Number of a disk error → the hint that is printed with it."""


def _command_line_error(error: CycloptsError) -> UsageError:
    commands = " ".join(("careeval", *(error.command_chain or ())))
    if isinstance(error, UnknownCommandError) and error.unused_tokens and error.app:
        # its own message would load every command
        typed, names = error.unused_tokens[0], [n for n in error.app if not n.startswith("-")]
        return UsageError(
            f"{typed!r} is not a command of {commands}; expected one of {', '.join(names)}",
            hint=did_you_mean(typed, names) or f"{commands} --help",
        )
    return UsageError(str(error).strip(), hint=f"{commands} --help")


def say(message: str) -> None:
    """Print a message for the person at the terminal, on stderr."""
    print(plain(message), file=sys.stderr)


def print_json(document: Mapping[str, Any]) -> None:
    """Print a JSON document on stdout."""
    print(json.dumps(document, indent=1, ensure_ascii=False))


def report_error(error: CareEvalError, *, as_json: bool = False) -> int:
    """Print an error and its hint on stderr, as JSON on stdout too; return the exit status."""
    print(plain(f"careeval: {error}"), file=sys.stderr)
    if error.hint:
        print(plain(f"  hint: {error.hint}"), file=sys.stderr)
    if as_json:
        fields = {"kind": type(error).__name__, "message": str(error), "hint": error.hint}
        print_json({"error": fields})
    return USAGE
