"""What is asked of whoever invites people to rate or label, and the links that people get."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from careeval.core.rating import Role
from careeval.errors import UsageError
from careeval.review.consent import Consent

ADDRESS = "http://127.0.0.1:8700"
"""Where people reach the app, unless a proxy makes it known elsewhere."""


def consent(text: Path | None, ethics: str, contact: str) -> Consent:
    """What people agree to; raises UsageError where something of it is not said."""
    said = {
        "--consent": text.read_text(encoding="utf-8").strip() if text else "",
        "--ethics": ethics.strip(),
        "--contact": contact.strip(),
    }
    if lacking := [name for name, value in said.items() if not value]:
        raise UsageError(
            f"people agree to something, and can ask somebody: {', '.join(lacking)} says nothing",
            hint="a file with the terms; the ethics reference, or why none is needed; an address",
        )
    return Consent(text=said["--consent"], ethics=said["--ethics"], contact=said["--contact"])


def roles(people: Sequence[str]) -> list[Role]:
    """Roles with numbers, as `roboticist:3`, one role a person; raises UsageError."""
    found: list[Role] = []
    for each in people:
        name, colon, count = each.partition(":")
        if name not in Role.__members__.values():
            raise UsageError(f"role {name!r} is not known", hint=f"use {', '.join(Role)}")
        if colon and not (count.isascii() and count.isdigit() and int(count) > 0):
            raise UsageError(f"{each!r}: expected a number after the colon", hint=f"{name}:2")
        found += [Role(name)] * (int(count) if colon else 1)
    return found


def link(address: str, token: str) -> str:
    """Somebody's link."""
    return f"{address.rstrip('/')}/i/{token}"


def write_private(path: Path, text: str) -> None:
    """Write a file that is its owner's alone from the first moment."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
