"""What whoever invites people does: agree terms, give and end links, look after the file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from cyclopts import App, Parameter

from careeval.cli.app import OK, print_json, say
from careeval.cli.shared.options import Json, Yes
from careeval.core.rating import Role
from careeval.errors import UsageError
from careeval.files import read_text
from careeval.review.consent import Consent
from careeval.review.store import PORTS, Kind, Store


def local(kind: Kind) -> str:
    """Return where people reach the app, unless a proxy makes it known elsewhere."""
    return f"http://127.0.0.1:{PORTS[kind]}"


def consent(text: Path | None, ethics: str, contact: str, before: str = "") -> Consent:
    """Return what people agree to; raises UsageError where a file cannot be read or terms lack.

    Args:
        text: File with the terms.
        ethics: Reference of the approval.
        contact: Whom to ask.
        before: The terms where no file is given.
    """
    said = {
        "--consent": _read(text).strip() if text else before,
        "--ethics": ethics.strip(),
        "--contact": contact.strip(),
    }
    if lacking := [name for name, value in said.items() if not value]:
        raise UsageError(
            f"people agree to something, and can ask somebody: {', '.join(lacking)} says nothing",
            hint="a file with the terms; the ethics reference, or why none is needed; an address",
        )
    return Consent(text=said["--consent"], ethics=said["--ethics"], contact=said["--contact"])


MAX_BYTES = 1_000_000
"""A file of this size holds no terms of a consent."""


def _read(text: Path) -> str:
    try:
        return read_text(text, "utf-8-sig", MAX_BYTES)
    except UnicodeDecodeError as error:
        raise UsageError(f"{text} is not UTF-8", hint="save it as UTF-8") from error


def expect_new(out: Path, links: Path | None) -> None:
    """Raise UsageError unless both files can be written, and neither is there or is the other.

    Links are shown once, so this is asked before anything is written.
    """
    for path in (out, links):
        if path is not None and path.exists():
            raise UsageError(f"{path} is there already", hint="give another name")
        if path is not None and not path.parent.is_dir():
            raise UsageError(f"there is no folder {path.parent}", hint="make it first")
    if links is not None and links.resolve() == out.resolve():
        raise UsageError(f"--links and --out are one file, {out}", hint="give the links their own")


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


def typist(typed_by: str) -> str:
    """Who typed what somebody else answered; raises UsageError where nobody is named."""
    if not typed_by.strip():
        raise UsageError("--typed-by must say who typed", hint="a role or a pseudonym will do")
    return typed_by.strip()


def link_to(address: str, token: str) -> str:
    """Somebody's link."""
    return f"{address.rstrip('/')}/i/{token}"


def write_private(path: Path, text: str) -> None:
    """Write a file that is its owner's alone from the first moment."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)


@contextmanager
def opened(file: Path, kind: Kind, *, to_read: bool = False) -> Iterator[Store]:
    """The file of a study or an audit, open while the block runs.

    Args:
        file: The file.
        kind: Which it is to be.
        to_read: Whether the block only reads, so that the file need not be writable.

    Raises:
        UsageError: There is none.
        ReviewError: It is no file of ours, or of the other kind.
    """
    expect_file(file, kind)
    store = Store.to_read(file) if to_read else Store.open(file)
    try:
        store.plans(kind)  # before anything is done to it
        yield store
        if not store.erase():
            say(
                f"Not out of the file yet: what somebody answered who has withdrawn stands in "
                f"{file}-wal while another program reads the file. It goes with the next save "
                f"after that, or when careeval next opens the file."
            )
    finally:
        store.close()


def expect_file(file: Path, kind: Kind) -> None:
    """Raise UsageError where there is no such file."""
    if not file.is_file():
        raise UsageError(
            f"there is no {kind} {file}", hint=f"careeval {kind} new -o FILE writes one"
        )


def _nothing_to_say(_store: Store, _person: str) -> Iterable[str]:
    return ()


@dataclass(frozen=True)
class Invitation:
    """What people are invited to: the commands about them and their links, in its words.

    Attributes:
        person: What one of them is called.
        work: What they do.
        gave: What they have done, "answered".
        off: What becomes of what somebody gave whose link is switched off.
        left: What there is to say of a person who has gone.
    """

    kind: Kind
    person: str
    work: str
    gave: str
    off: str
    left: Callable[[Store, str], Iterable[str]] = _nothing_to_say

    def mount(self, app: App) -> None:
        """Give an app these commands."""
        for command in (
            self.close,
            self.reopen,
            self.link,
            self.revoke,
            self.withdraw,
            self.backup,
        ):
            app.command(self._worded(command))

    def _worded(self, command: Callable[..., int]) -> Callable[..., int]:
        """A command with the words in its help filled in."""

        @wraps(command)
        def worded(*args: Any, **options: Any) -> int:
            return command(*args, **options)

        worded.__doc__ = (command.__doc__ or "").format(**vars(self))
        worded.__annotations__ = hints = get_type_hints(command, include_extras=True)
        for name, called in {"file": self.kind, "person": self.person}.items():
            if name in hints:
                hints[name] = Annotated[hints[name], Parameter(name=called)]
        return worded

    def _expect(self, store: Store, person: str) -> None:
        if person not in {each.id for each in store.raters()}:
            raise UsageError(f"there is no {self.person} {person!r}")

    def close(self, file: Path) -> int:
        """End the {work}: links open nothing, and nothing changes until it is reopened.

        Args:
            file: The {kind}'s file.
        """
        with opened(file, self.kind) as store:
            store.close_work()
        say(f"Closed. careeval {self.kind} reopen undoes it.")
        return OK

    def reopen(self, file: Path) -> int:
        """Undo close.

        Args:
            file: The {kind}'s file.
        """
        with opened(file, self.kind) as store:
            store.reopen_work()
        say("Open.")
        return OK

    def link(
        self, file: Path, person: str, *, address: str | None = None, as_json: Json = False
    ) -> int:
        """Print a new link for a {person}; the old one, and every open session, ends.

        Args:
            file: The {kind}'s file.
            person: Pseudonym.
            address: Where people reach the app; this machine where not given.
            as_json: Print JSON.
        """
        with opened(file, self.kind) as store:
            self._expect(store, person)
            made = link_to(address or local(self.kind), store.replace_token(person))
        if as_json:
            print_json({"rater": person, "link": made})
        else:
            print(made)
        return OK

    def revoke(self, file: Path, person: str) -> int:
        """Switch a {person}'s link off; {off}.

        Args:
            file: The {kind}'s file.
            person: Pseudonym.
        """
        with opened(file, self.kind) as store:
            self._expect(store, person)
            store.revoke(person)
            told = list(self.left(store, person))
        say(f"The link of {person} opens nothing now. careeval {self.kind} link gives a new one.")
        for line in told:
            say(line)
        return OK

    def withdraw(self, file: Path, person: str, *, yes: Yes = False) -> int:
        """Delete a {person} and all that they {gave}, for good, where they ask for it.

        Args:
            file: The {kind}'s file.
            person: Pseudonym.
            yes: Without it, nothing is deleted.
        """
        with opened(file, self.kind) as store:
            self._expect(store, person)
            if not yes:
                raise UsageError(
                    f"this deletes all that {person} {self.gave}, and cannot be undone",
                    hint="--yes does",
                )
            store.withdraw(person)
            told = list(self.left(store, person))
        say(f"Deleted: {person}, and all that was {self.gave}. Delete it from your backups too.")
        for line in told:
            say(line)
        return OK

    def backup(self, file: Path, copy: Path) -> int:
        """Copy the {kind}'s file while people may be at work; a plain copy would miss the newest.

        Args:
            file: The {kind}'s file.
            copy: The file to write.
        """
        with opened(file, self.kind, to_read=True) as store:
            store.back_up(copy)
        with opened(copy, self.kind):
            pass  # says so where it does not open
        say(f"Written: {copy}, and it opens. It says what {file} says: keep it as safe.")
        return OK
