"""Options from the environment and from `careeval.toml`.

An option is taken from the command line, else from the environment, else from the file, else it has
its default. An unknown name, in the file or among the CAREEVAL_ variables, is an error, since
otherwise nobody would notice the mistake; cyclopts itself only refuses an unknown option in the
file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cyclopts import App, ArgumentCollection
from cyclopts.config import Dict

from careeval.errors import UsageError, did_you_mean
from careeval.files import read_toml

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

RANK = {"cli": 0, "env": 1}
"""Source of an option → its rank, the highest 0; the file ranks last."""


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
    check_commands(settings, commands, _command_names(app, commands))
    Dict(settings, source=str(FILE))(app, commands, arguments)
    for argument in arguments:
        is_typed_only = not set(TYPED_ONLY).isdisjoint(argument.names)
        if is_typed_only and any(token.source == str(FILE) for token in argument.tokens):
            raise UsageError(
                f"{FILE}: {argument.name} must be typed", hint="remove it from the file"
            )


def read_settings(file: Path) -> dict[str, Any]:
    """Return the settings in careeval.toml, by command; empty if there is no such file.

    Raises:
        UsageError: The file cannot be read, or is not TOML.
    """
    hint = 'a setting looks like: samples = 5, or grader = "NAME"'
    return read_toml(file, UsageError, hint=hint) if file.exists() else {}


def _command_names(app: App, commands: Sequence[str]) -> list[list[str]]:
    """Return, for each word of `commands`, the names that could be typed in its place."""
    return [
        [name for name in level if not name.startswith("-")]
        for level in app.app_stack.current_frame[: len(commands)]
    ]


def check_commands(
    settings: Mapping[str, Any], commands: Sequence[str], names: Sequence[Sequence[str]]
) -> None:
    """Raise UsageError if a table of settings has a name that is no command's.

    `names` are those that could be typed in place of each of `commands`.
    """
    for place, (command, known_names) in enumerate(zip(commands, names, strict=True)):
        for name, value in settings.items():
            if name not in known_names or not isinstance(value, dict):
                path = ".".join((*commands[:place], name))
                raise UsageError(
                    f"{FILE}: {path} is not a known command; expected a table of one of "
                    f"{', '.join(known_names)}",
                    hint=did_you_mean(name, set(known_names) - {name})
                    or "write a setting below the command that it is for, as in [run]",
                )
        settings = settings.get(command, {})


def refuse_unread(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Refuse a CAREEVAL_ variable that names an unknown command, or option of this command.

    Raises:
        UsageError: A variable is refused.
    """
    if commands == ("doctor",) or not any(name.startswith(PREFIX) for name in os.environ):
        # doctor reports which variables nothing reads, so it must not stop at one
        return
    options = {name for each in arguments for name in set(each.names) - set(each.negatives)}
    check_variables(os.environ, commands, _command_names(app, commands), options)


def check_variables(
    variables: Iterable[str],
    commands: Sequence[str],
    names: Sequence[Sequence[str]],
    options: Iterable[str],
) -> None:
    """Raise UsageError if a CAREEVAL_ variable is for no command, or no option of this command.

    Options of other commands are not checked, since their modules would have to be loaded.

    Args:
        variables: Names of variables of the environment.
        commands: The words of this command.
        names: The names that could be typed in place of each of `commands`.
        options: The options of this command.
    """
    own, others = PREFIX, list[str]()
    for command, known_names in zip(commands, names, strict=True):
        others += [f"{own}{name.upper()}_" for name in known_names if name != command]
        own += f"{command.upper()}_"
    own_options = [own + name.lstrip("-").replace("-", "_").upper() for name in options]
    for name in sorted(variables):
        is_read = name in (*OTHER_VARIABLES, *own_options) or name.startswith(tuple(others))
        if name.startswith(PREFIX) and not is_read:
            option = name.removeprefix(PREFIX).partition("_")[2]
            likely = [*OTHER_VARIABLES, *own_options]
            likely += [other + option for other in others if option]
            raise UsageError(
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
