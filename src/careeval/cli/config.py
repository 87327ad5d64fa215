"""Options that are not typed: `careeval.toml`, and which option gives way to which.

An option comes from the command line, else from the environment, else from the file, else it has
its default. A name that nothing reads, in the file or among the CAREEVAL_ variables, is a mistake
that would go unseen, so it is refused.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from cyclopts import App, ArgumentCollection
from cyclopts.config import Dict

from careeval.errors import UsageError, did_you_mean
from careeval.files import read_bytes

FILE = Path("careeval.toml")
"""In the current folder."""

PREFIX = "CAREEVAL_"
"""Begins the name of each variable that careeval reads."""

ELSEWHERE = ("CAREEVAL_HELD_OUT_KEY",)
"""Variables that careeval reads and that are no command's option."""

GIVE_WAY = {
    "--resume": (
        *("--model", "--roster", "--responses", "--grader", "--grade", "--name"),
        *("--samples", "--seed", "--max-tokens", "--base-url", "--max-connections"),
        *("--bank", "--adl", "--scenario", "--split", "--limit"),
        *("--rubric", "--per-item", "--grader-context", "--prompts", "--grade-seed"),
    ),
    "--responses": (
        *("--model", "--roster"),
        *("--samples", "--seed", "--max-tokens", "--base-url"),
    ),
    "--model": ("--roster", "--responses"),
    "--roster": ("--model", "--responses"),
}
"""An option → those that it leaves no room for, where they come from further away than it does."""

MAX_BYTES = 1_000_000
"""A file of this size holds no settings."""

DISTANCE = {"cli": 0, "env": 1}
"""Of where an option comes from; the file is the furthest."""


def read_settings(file: Path) -> dict[str, Any]:
    """The file's tables, by command; empty where there is no such file.

    Raises:
        UsageError: It is no TOML; the message names the line.
    """
    try:
        return tomllib.loads(read_bytes(file, MAX_BYTES).decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UsageError(f"{file}:{line}: is not UTF-8", hint="save the file as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        said, _, where = str(error).partition(" (at line ")
        place = ":" + where.rstrip(")").replace(", column ", ":") if where else ""
        hint = 'a setting looks like: samples = 5, or grader = "NAME"'
        raise UsageError(f"{file}{place}: {said}", hint=hint) from error


def from_file(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Give the arguments what the file sets for this command and nothing has set so far.

    Raises:
        UsageError: The file has a name that is no command, or no option of this one.
    """
    if commands == ("doctor",):
        # it says what is wrong with the file, so it must not stop at it
        return
    settings = read_settings(FILE)
    refuse_unknown(settings, app.app_stack.current_frame, commands, arguments)
    Dict(settings, source=str(FILE))(app, commands, arguments)


def refuse_unknown(
    settings: dict[str, Any],
    apps: Iterable[App],
    commands: tuple[str, ...],
    arguments: ArgumentCollection,
) -> None:
    """Return if every name on the way to the command's own table, and in it, means something.

    Args:
        settings: The file's tables.
        apps: From the whole command line down to the command.
        commands: The names of those below the first.
        arguments: The command's.

    Raises:
        UsageError: One does not, or a setting stands outside a command.
    """
    table = settings
    way: tuple[str, ...] = ()
    for app, command in zip(apps, commands, strict=False):
        known = [name for name in app if not name.startswith("-")]
        for name, value in table.items():
            path = ".".join((*way, name))
            if name not in known and isinstance(value, dict):
                raise _unknown(path, name, "command", known)
            if not isinstance(value, dict):
                below = ".".join((*way, command))
                raise UsageError(
                    f"{FILE}: {path} stands outside the settings of a command",
                    hint=f"write it below the command that it is for, as in [{below}]",
                )
        way = (*way, command)
        table = table.get(command, {})
    options = (set(argument.names) - set(argument.negatives) for argument in arguments)
    known = [
        name.removeprefix("--").replace("-", "_")
        for names in options
        for name in sorted(names)
        if name.startswith("--")
    ]
    for name in table:
        if name.replace("-", "_") not in known:
            path = ".".join((*way, name))
            raise _unknown(path, name, f"option of 'careeval {' '.join(way)}'", known)


def refuse_unread(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Return if careeval reads every CAREEVAL_ variable that is set.

    The options of another command are that command's to check: to know them, it would be loaded.

    Raises:
        UsageError: A variable names no command, or no option of this one.
    """
    names = sorted(name for name in os.environ if name.startswith(PREFIX))
    if not names or commands == ("doctor",):
        # it says which variables nothing reads, so it must not stop at one
        return
    levels = [
        [name for name in each if not name.startswith("-")]
        for each in app.app_stack.current_frame[: len(commands)]
    ]
    options = (set(argument.names) - set(argument.negatives) for argument in arguments)
    known = [_upper(name) for names in options for name in names]
    for name in names:
        if name not in ELSEWHERE:
            _refuse_unread(name, commands, levels, known)


def _refuse_unread(
    name: str, commands: tuple[str, ...], levels: Sequence[Sequence[str]], options: Sequence[str]
) -> None:
    """Return if a variable is an option of this command, or may be one of another.

    Args:
        name: The variable's.
        commands: From the first word of the command line to the last.
        levels: For each of these, the commands that may stand in its place.
        options: Of the command, as variables write them.
    """
    start, rest = PREFIX, name.removeprefix(PREFIX)
    for command, there in zip(commands, levels, strict=True):
        word, _, below = rest.partition("_")
        if word.lower() not in there:
            likely = [*ELSEWHERE, *(f"{start}{each.upper()}_{below}" for each in there if below)]
            raise _unread(name, likely)
        if word.lower() != command:
            return
        start, rest = f"{start}{word}_", below
    if rest not in options:
        raise _unread(name, [start + option for option in options])


def _unread(name: str, likely: Iterable[str]) -> UsageError:
    return UsageError(
        f"nothing reads the variable {name}",
        hint=did_you_mean(name, likely, cutoff=0.85)
        or f"an option is {PREFIX}COMMAND_OPTION, as {PREFIX}RUN_GRADER",
    )


def _upper(option: str) -> str:
    return option.lstrip("-").replace("-", "_").upper()


def give_way(_app: App, _commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Drop what a nearer choice leaves no room for: a typed --responses, the file's model."""
    given = {
        name: (argument, min(DISTANCE.get(token.source, 2) for token in argument.tokens))
        for argument in arguments
        if argument.tokens
        for name in argument.names
    }
    for chosen, others in GIVE_WAY.items():
        for other in others:
            if chosen in given and other in given and given[chosen][1] < given[other][1]:
                given[other][0].tokens.clear()


def _unknown(path: str, name: str, kind: str, known: Sequence[str]) -> UsageError:
    return UsageError(
        f"{FILE}: {path} is no {kind}; expected one of {', '.join(known)}",
        hint=did_you_mean(name.replace("-", "_"), known) or "take it out",
    )
