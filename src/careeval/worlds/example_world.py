"""A new bank, world and body of the mode `plan`: a whole example, to be changed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from string import Template

from careeval.bank.load import Bank, load_bank
from careeval.bank.skeleton import begin_bank, write_new
from careeval.core.scenario import Adl
from careeval.errors import BankError
from careeval.worlds.mode import BODIES, TEST_PLANS

EXAMPLE = Path(__file__).parent / "example"

FIRST_BODY = "my-arm"
"""Name of the body of a new bank, if none is given."""


def write_example(root: Path, adl: Adl | None, body: str | None) -> tuple[Path, ...]:
    """Write an example world, a new body, or both; in a new folder, with a bank around them.

    Args:
        root: Folder of a bank of the mode `plan`, or a folder that is new or empty.
        adl: Activity of the world.
        body: Name of a body to write; in a bank, a world is written beside it only if `adl` is
            given. Without it, the world has the bank's first body.

    Returns:
        The files written.

    Raises:
        BankError: The body's name is none; the bank has problems, or no body for the world; the
            folder is neither a bank's nor empty; or a file exists already or cannot be written.
    """
    is_new = not (root / "bank.yaml").exists()
    files: list[Path] = []
    if body is not None:
        _check_name(body)
    if is_new:
        body = body or FIRST_BODY
        files += begin_bank(root, EXAMPLE)
    if body is not None:
        files += write_new({root / BODIES / f"{body}.yaml": _filled("body", name=body)})
    if is_new or body is None or adl is not None:
        files += _write_world(load_bank(root), root, adl or Adl.grooming, body)
    return tuple(files)


def _write_world(bank: Bank, root: Path, adl: Adl, body: str | None) -> tuple[Path, ...]:
    """Write the example world, with the next free number, and its test plans."""
    bodies = (name.removeprefix(BODIES) for name in bank.documents if name.startswith(BODIES))
    body = body or min(bodies, default=None)
    if body is None:
        raise BankError(f"{root} has no body for a world", hint="write one with --body NAME")
    matches = [re.fullmatch(rf"{adl}-p(\d+)", world.id) for world in bank.scenarios]
    number = 1 + max((int(match[1]) for match in matches if match), default=0)
    name = f"{adl}-p{number:02d}"
    values = {
        "id": name,
        "adl": adl.value,
        "body": body,
        # quoted as in JSON, which YAML reads too, since it may have ': ' or '#'
        "canary": json.dumps(bank.about.canary, ensure_ascii=False),
    }
    return write_new(
        {
            root / adl / f"{name}.yaml": _filled("world", **values),
            root / adl / f"{name}{TEST_PLANS}.yaml": _filled("plans", **values),
        }
    )


def _check_name(body: str) -> None:
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", body) or len(body) > 64:
        raise BankError(
            f"{body!r} cannot be the name of a body",
            hint="use lower case, digits and single hyphens, at most 64 characters",
        )


def _filled(example: str, **values: str) -> str:
    text = (EXAMPLE / f"{example}.yaml").read_text(encoding="utf-8")
    return Template(text).substitute(values)
