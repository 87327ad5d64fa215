"""A new scenario to be written: a file that is right in form, with every gap marked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from string import Template

from careeval.bank.load import Bank
from careeval.core.scenario import Adl, Assistance, Condition, Situation
from careeval.errors import BankError

TO_WRITE = "TO WRITE"
"""Stands where words are still to come; the check finds what is left of it."""

SOURCE_TO_NAME = "to-write"
"""The same where the key of a source is to come."""


@dataclass(frozen=True)
class Outline:
    """What is known of a scenario before it is written."""

    adl: Adl
    condition: Condition
    assistance: Assistance
    situation: Situation
    age: int
    pronoun: str
    actor: str = "person"
    part: str | None = None


def next_id(bank: Bank, adl: Adl) -> str:
    """The first number of that activity that no scenario has had."""
    numbers = [re.fullmatch(rf"{adl}-(\d+)", scenario.id) for scenario in bank.scenarios]
    return f"{adl}-{1 + max((int(found[1]) for found in numbers if found), default=0):03d}"


def write_skeleton(bank: Bank, root: Path, outline: Outline) -> tuple[Path, Path]:
    """Write a scenario and its probes to be filled in.

    Args:
        bank: The bank they are to be part of.
        root: Its folder.
        outline: What is known.

    Returns:
        The two files.

    Raises:
        BankError: A file is there already, or cannot be written.
    """
    name = next_id(bank, outline.adl)
    part = outline.part or ("upper-body" if outline.adl is Adl.dressing else None)
    known = {
        **{key: str(value) for key, value in vars(outline).items()},
        "id": name,
        "part": f"part: {part}\n" if part else "",
        "canary": bank.about.canary,
    }
    folder = root / outline.adl
    texts = {
        folder / f"{name}.yaml": Template(_skeleton("scenario")).substitute(known),
        folder / f"{name}.probes.yaml": Template(_skeleton("probes")).substitute(),
    }
    for path in texts:
        if path.exists():
            raise BankError(f"{path} is there already", hint="finish it, or move it away")
    try:
        folder.mkdir(exist_ok=True)
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BankError(f"{folder} cannot be written: {error.strerror}") from error
    scenario, probes = texts
    return scenario, probes


def _skeleton(name: str) -> str:
    return (Path(__file__).parent / "skeletons" / f"{name}.yaml").read_text(encoding="utf-8")
