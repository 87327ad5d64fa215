"""Options from the environment and from `careeval.toml`.

An option is taken from the command line, else from the environment, else from the file, else it has
its default. An unknown name, in the file or among the CAREEVAL_ variables, is an error, since
otherwise nobody would notice the mistake.
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
"""The file of settings, in the current folder."""

PREFIX = "CAREEVAL_"
"""The start of the name of each variable that careeval reads."""

OTHER_VARIABLES = ("CAREEVAL_HELD_OUT_KEY",)
"""Variables that careeval reads and that are not an option of a command."""

OVERRIDES = {
    "--resume": (
        *("--model", "--roster", "--responses", "--grader", "--grade", "--name"),
        *("--samples", "--seed", "--max-tokens", "--base-url", "--max-connections"),
        *("--bank", "--adl", "--scenario", "--split", "--limit"),
        *("--rubric", "--per-item", "--grader-context", "--prompts", "--grade-seed"),
        "--grader-base-url",
    ),
    "--responses": (
        *("--model", "--roster"),
        *("--samples", "--seed", "--max-tokens", "--base-url"),
    ),
    "--model": ("--roster", "--responses"),
    "--roster": ("--model", "--responses"),
}
"""Option → the options that it overrides if their source has a lower rank."""

TYPED_ONLY = ("--allow-address",)
"""Options that the file may not set, since it may come from elsewhere with its folder."""

MAX_BYTES = 1_000_000
"""The most bytes of a file of settings."""

RANK = {"cli": 0, "env": 1}
"""Source of an option → its rank, the highest 0; the file ranks last."""


def read_settings(file: Path) -> dict[str, Any]:
    """Return the settings in careeval.toml, by command; empty if there is no such file.

    Raises:
        UsageError: The file is not valid TOML; the message names the line.
    """
    try:
        return tomllib.loads(read_bytes(file, MAX_BYTES).decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UsageError(f"{file}:{line}: not UTF-8", hint="save the file as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        message, _, position = str(error).partition(" (at line ")
        place = ":" + position.rstrip(")").replace(", column ", ":") if position else ""
        hint = 'a setting looks like: samples = 5, or grader = "NAME"'
        raise UsageError(f"{file}{place}: {message}", hint=hint) from error


def apply_file(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Set the arguments that careeval.toml has and that nothing of higher rank has set.

    Raises:
        UsageError: The file has a name that is no command, or an option that must be typed.
        CycloptsError: It has an option that this command has not, or a value of another kind.
    """
    if commands == ("doctor",):
        # doctor reports what is wrong with the file, so it must not stop at it
        return
    settings = read_settings(FILE)
    _check_commands(settings, app.app_stack.current_frame, commands)
    Dict(settings, source=str(FILE))(app, commands, arguments)
    for argument in arguments:
        is_typed_only = not set(TYPED_ONLY).isdisjoint(argument.names)
        if is_typed_only and any(token.source == str(FILE) for token in argument.tokens):
            raise UsageError(
                f"{FILE}: {argument.name} must be typed", hint="remove it from the file"
            )


def _check_commands(
    settings: dict[str, Any], apps: Iterable[App], commands: tuple[str, ...]
) -> None:
    """Raise UsageError if a name where a command's table is expected is not a command's.

    cyclopts itself refuses an unknown option, but not an unknown command.
    """
    table = settings
    for place, (app, command) in enumerate(zip(apps, commands, strict=False)):
        command_names = [name for name in app if not name.startswith("-")]
        for name, value in table.items():
            path = ".".join((*commands[:place], name))
            if not isinstance(value, dict):
                below = ".".join(commands[: place + 1])
                raise UsageError(
                    f"{FILE}: {path} must be below the name of a command",
                    hint=f"move the setting below its command, as below [{below}]",
                )
            if name not in command_names:
                expected = ", ".join(command_names)
                raise UsageError(
                    f"{FILE}: {path} is not a known command; expected one of {expected}",
                    hint=did_you_mean(name, command_names) or "remove it from the file",
                )
        table = table.get(command, {})


def refuse_unread(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Refuse a CAREEVAL_ variable that names an unknown command, or option of this command.

    Only the command that an option belongs to checks it, since others would have to load that.

    Raises:
        UsageError: A variable is refused.
    """
    names = sorted(name for name in os.environ if name.startswith(PREFIX))
    if not names or commands == ("doctor",):
        # doctor reports which variables nothing reads, so it must not stop at one
        return
    levels = [
        [name for name in level if not name.startswith("-")]
        for level in app.app_stack.current_frame[: len(commands)]
    ]
    options = (set(argument.names) - set(argument.negatives) for argument in arguments)
    own_options = [
        name.lstrip("-").replace("-", "_").upper() for names in options for name in names
    ]
    for name in names:
        if name not in OTHER_VARIABLES:
            _refuse_unread(name, commands, levels, own_options)


def _refuse_unread(
    name: str, commands: tuple[str, ...], levels: Sequence[Sequence[str]], options: Sequence[str]
) -> None:
    """Refuse a variable; `levels` has, for each word of `commands`, what could be typed there."""
    start, rest = PREFIX, name.removeprefix(PREFIX)
    for command, names in zip(commands, levels, strict=True):
        word, _, below = rest.partition("_")
        if word.lower() not in names:
            likely = [
                *OTHER_VARIABLES,
                *(f"{start}{each.upper()}_{below}" for each in names if below),
            ]
            raise _unread(name, likely)
        if word.lower() != command:
            return
        start, rest = f"{start}{word}_", below
    if rest not in options:
        raise _unread(name, [start + option for option in options])


def _unread(name: str, likely: Iterable[str]) -> UsageError:
    return UsageError(
        f"careeval has no option for the environment variable {name}",
        hint=did_you_mean(name, likely, cutoff=0.85)
        or f"unset the variable, or name it {PREFIX}COMMAND_OPTION, as {PREFIX}RUN_GRADER",
    )


def drop_overridden(_app: App, _commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Drop what an option of higher rank overrides: a typed --responses drops the file's model."""
    ranked = {
        name: (argument, min(RANK.get(token.source, 2) for token in argument.tokens))
        for argument in arguments
        if argument.tokens
        for name in argument.names
    }
    for option, others in OVERRIDES.items():
        for other in others:
            if option in ranked and other in ranked and ranked[option][1] < ranked[other][1]:
                ranked[other][0].tokens.clear()
