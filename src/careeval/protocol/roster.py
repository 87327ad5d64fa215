"""Rosters: lists of models to run. Each line has one Inspect model name; `#` begins a comment."""

from __future__ import annotations

from pathlib import Path

from careeval.errors import ProtocolError, did_you_mean
from careeval.files import read_given_text

PAPER = "paper"
"""The roster of the paper's nine models."""

ROSTERS = Path(__file__).parent / "rosters"
"""The rosters that ship with careeval, each `<name>.txt`."""


def rosters() -> list[str]:
    """Return the names of the rosters that ship with careeval, in order."""
    return sorted(path.stem for path in ROSTERS.glob("*.txt"))


MAX_BYTES = 1_000_000
"""The most bytes of a roster file; a larger file is refused."""


def read_roster(name_or_path: str) -> list[str]:
    """Return the models of a roster, in its order; at least one, without duplicates.

    One of `rosters()` comes before the path of a file.

    Raises:
        ProtocolError: The roster does not exist, cannot be read or names no model, or a line is not
            a model name or is a duplicate; every faulty line is listed.
    """
    if name_or_path in rosters():
        path = ROSTERS / f"{name_or_path}.txt"
    else:
        path = Path(name_or_path)
        if not path.exists() or path.is_dir():
            raise _unknown(name_or_path)
    text = read_given_text(path, ProtocolError, encoding="utf-8-sig", max_bytes=MAX_BYTES)
    first: dict[str, int] = {}
    problems: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        model = line.partition("#")[0].strip()
        if not model:
            continue
        if not _is_name(model):
            problems.append(
                f"{path}:{number}: {model!r} is not a model name of the form PROVIDER/MODEL"
            )
        elif model in first:
            problems.append(f"{path}:{number}: {model!r} is a duplicate of line {first[model]}")
        else:
            first[model] = number
    hint = "write one Inspect model name per line, such as openai/gpt-5.1; # begins a comment"
    if problems:
        raise ProtocolError("\n".join(problems), hint=hint)
    if not first:
        raise ProtocolError(f"{path}: names no model", hint=hint)
    return list(first)


def _is_name(model: str) -> bool:
    provider, _, name = model.partition("/")
    return bool(provider and name) and model.isprintable() and " " not in model


def _unknown(name: str) -> ProtocolError:
    near = did_you_mean(name, rosters())
    return ProtocolError(
        f"no roster or file is named {name!r}",
        hint=f"{near}{' ' * bool(near)}rosters: {', '.join(rosters())}. Or give the path of a file",
    )
