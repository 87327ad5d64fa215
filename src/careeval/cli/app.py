"""The commands, loaded only when they are called, and how a command ends.

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
from careeval.cli.config import PREFIX, from_file, give_way, refuse_unread
from careeval.core.text import plain
from careeval.errors import CareEvalError, UsageError, did_you_mean

OK, SOME_FAILED, USAGE, CHECK_FAILED, BUDGET_REACHED, INTERRUPTED = 0, 1, 2, 3, 4, 130
"""Exit statuses."""

COMMANDS = {
    "demo": "Evaluate a small embedded model offline, and open the result.",
    "doctor": "What is installed, set and found here, and what is missing.",
    "run": "Ask a model, or take recorded answers, and grade them.",
    "sweep": "Ask and grade many systems, on one machine or a cluster.",
    "status": "How far runs have come, what they cost, and what to type next.",
    "grade": "Grade a run's stored responses again, beside the old judgments.",
    "rename": "Give the system of a run another name.",
    "summary": "The table: score, worst case, errors, by activity and domain.",
    "compare": "Two systems paired by scenario: what got worse, and is it chance?",
    "report": "One offline HTML page of one or more runs.",
    "site": "A static leaderboard of many runs, as a folder.",
    "export": "Results as files: tables, figures, Every Eval Ever.",
    "audit": "Is this grader any good?",
    "study": "Are the scenarios real and right? Experts rate them.",
    "bank": "The scenarios: check what authors write.",
}
"""What each command is for, in the order in which a newcomer meets them."""

GROUPS = ("audit", "bank", "study")
"""Commands that have commands of their own, each in a folder."""

_COMMANDS = "\n".join(f"  {name:<8} {text}" for name, text in COMMANDS.items())

HELP = f"""\
Usage: careeval COMMAND …

Does a language model decide like an expert caregiver when it physically helps a
person?

{_COMMANDS}

  --install-completion bash|zsh|fish   Have a shell complete what you type.
  --show-completion bash|zsh|fish      Print the script that does so.
  --version                            Print careeval's version.
  --help, -h                           Print this; after a command, its options.

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

An option is taken from the first of these that has it: the command line; the
environment, as CAREEVAL_RUN_GRADER; careeval.toml in the current folder, as
grader = "NAME" below [run]; its default.

Exit status: 0 done; 1 done, but some samples failed; 2 cannot be done as asked;
3 a check failed; 4 the budget is reached; 130 interrupted, and can be resumed.
"""
"""What a newcomer reads first, in 80 columns. cyclopts would take twice the time to draw it."""

app = App(
    name="careeval",
    help="Does a language model decide like an expert caregiver when it physically helps a person?",
    help_format="plaintext",
    version=lambda: careeval.__version__,
    config=[refuse_unread, Env(PREFIX), from_file, give_way],
    default_parameter=Parameter(show_env_var=False),
)
for _place, (_name, _help) in enumerate(COMMANDS.items()):
    _module = f"{_name}.commands" if _name in GROUPS else _name
    app.command(f"careeval.cli.{_module}:app", name=_name, help=_help, sort_key=_place)
for _name, _help in {
    "install": "Have bash, zsh or fish complete what you type.",
    "show": "Print the script that completes what you type.",
}.items():
    app.command(
        f"careeval.cli.completion:{_name}",
        name=f"--{_name}-completion",
        help=_help,
        sort_key=len(COMMANDS),
    )


def run(argv: Sequence[str]) -> int:
    """Carry out one command line; its exit status comes back."""
    as_json = "--json" in argv
    try:
        status: object = OK
        if list(argv) in ([], ["--help"], ["-h"]):
            print(HELP, end="")
        else:
            status = app(argv, exit_on_error=False, print_error=False, result_action="return_value")
        # here, where a reader that has gone can be told from a defect
        sys.stdout.flush()
    except CareEvalError as error:
        return complain(error, as_json=as_json)
    except CycloptsError as error:
        return complain(_misspelt(error), as_json=as_json)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # the reader of a pipe has gone; what it wanted, it has, and the rest goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except SystemExit as stop:
        # rich's way to say that the reader has gone
        if isinstance(stop.__context__, BrokenPipeError):
            return OK
        raise
    except OSError as error:
        if error.filename is None and error.errno not in _WHAT_TO_DO:
            raise
        if error.filename is None:
            # what cannot be printed is not to be tried again at the very end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return complain(_of_a_disk(error), as_json=as_json and error.filename is not None)
    return status if isinstance(status, int) else OK


_ROOM = "free some room, or name another disk; what was there before is there still"
_LEAVE = "give permission to read and write it, or name another place"
_WHAT_TO_DO = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EFBIG: _ROOM,
    errno.EOVERFLOW: "look whether it is the right file",
    errno.EROFS: "its disk can be read alone: name another place",
    errno.EACCES: _LEAVE,
    errno.EPERM: _LEAVE,
    errno.EIO: "the disk fails: copy what can still be read to another one",
    errno.EISDIR: "it is a folder, and should be a file: move it away, or name another",
}
"""The words and the advice for each error of a disk, by its number."""


def _of_a_disk(error: OSError) -> UsageError:
    what = error.filename or "the output"
    return UsageError(f"{what}: {error.strerror}", hint=_WHAT_TO_DO.get(error.errno or 0, ""))


def _misspelt(error: CycloptsError) -> UsageError:
    """What cyclopts could not make sense of, as an error of ours."""
    commands = " ".join(("careeval", *(error.command_chain or ())))
    if isinstance(error, UnknownCommandError) and error.unused_tokens and error.app:
        # its own message would load every command
        found, names = error.unused_tokens[0], [n for n in error.app if not n.startswith("-")]
        return UsageError(
            f"{commands} has no command {found!r}; expected one of {', '.join(names)}",
            hint=did_you_mean(found, names) or f"{commands} --help",
        )
    return UsageError(str(error).strip(), hint=f"{commands} --help")


def say(message: str) -> None:
    """A message for the person at the terminal."""
    print(plain(message), file=sys.stderr)


def print_json(document: Mapping[str, Any]) -> None:
    """A document for machines."""
    print(json.dumps(document, indent=1, ensure_ascii=False))


def complain(error: CareEvalError, *, as_json: bool = False) -> int:
    """Say on stderr what cannot be done and what to do about it; the exit status comes back.

    Args:
        error: What cannot be done.
        as_json: Print it as JSON on stdout too, for whoever waits for a document there.
    """
    print(plain(f"careeval: {error}"), file=sys.stderr)
    if error.hint:
        print(plain(f"  hint: {error.hint}"), file=sys.stderr)
    if as_json:
        said = {"kind": type(error).__name__, "message": str(error), "hint": error.hint}
        print_json({"error": said})
    return USAGE
