"""Parts that the commands of studies and audits share: terms, links, and the file.

`Invitation` has the commands that are the same in both.
"""

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


def local_address(kind: Kind) -> str:
    """Return the app's address on this machine."""
    return f"http://127.0.0.1:{PORTS[kind]}"


def consent(text: Path | None, ethics: str, contact: str, before: str = "") -> Consent:
    """Return the terms that people agree to, with the ethics reference and the contact.

    Args:
        text: File with the terms.
        ethics: Reference of the approval.
        contact: Whom to ask.
        before: The terms where no file is given.

    Raises:
        UsageError: The file cannot be read, or one of the three is empty.
    """
    fields = {
        "--consent": _read(text).strip() if text else before,
        "--ethics": ethics.strip(),
        "--contact": contact.strip(),
    }
    if empty := [name for name, value in fields.items() if not value]:
        raise UsageError(
            f"nobody is invited without terms and somebody to ask: {', '.join(empty)} is empty",
            hint="a file with the terms; the ethics reference, or why none is needed; an address",
        )
    return Consent(text=fields["--consent"], ethics=fields["--ethics"], contact=fields["--contact"])


MAX_BYTES = 1_000_000
"""The largest file of terms that is read."""


def _read(text: Path) -> str:
    try:
        return read_text(text, "utf-8-sig", MAX_BYTES)
    except UnicodeDecodeError as error:
        raise UsageError(f"{text} is not UTF-8", hint="save it as UTF-8") from error


def expect_new(out: Path, links: Path | None) -> None:
    """Raise UsageError unless both files are new, can be written, and are not the same.

    Links are shown only once, so this is checked before anything is written.
    """
    for path in (out, links):
        if path is not None and path.exists():
            raise UsageError(f"{path} is there already", hint="give another name")
        if path is not None and not path.parent.is_dir():
            raise UsageError(f"there is no folder {path.parent}", hint="make it first")
    if links is not None and links.resolve() == out.resolve():
        raise UsageError(f"--links and --out are one file, {out}", hint="give the links their own")


def roles(people: Sequence[str]) -> list[Role]:
    """Return one role a person, from words such as `roboticist:3`.

    Raises:
        UsageError: A role is not known, or its number is no number above 0.
    """
    roles: list[Role] = []
    for word in people:
        name, colon, count = word.partition(":")
        if name not in Role.__members__.values():
            raise UsageError(f"role {name!r} is not known", hint=f"use {', '.join(Role)}")
        if colon and not (count.isascii() and count.isdigit() and int(count) > 0):
            raise UsageError(f"{word!r}: expected a number after the colon", hint=f"{name}:2")
        roles += [Role(name)] * (int(count) if colon else 1)
    return roles


def expect_typist(typed_by: str) -> str:
    """Return the name of the person who typed for others; raise UsageError if it is empty."""
    if not typed_by.strip():
        raise UsageError("--typed-by must say who typed", hint="a role or a pseudonym will do")
    return typed_by.strip()


def link_address(address: str, token: str) -> str:
    """Return the link that has this token."""
    return f"{address.rstrip('/')}/i/{token}"


def write_private(path: Path, text: str) -> None:
    """Write a new file that only its owner can read, from the first moment on."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)


@contextmanager
def open_store(file: Path, kind: Kind, *, to_read: bool = False) -> Iterator[Store]:
    """Open the file of a study or an audit while the block runs.

    Args:
        file: The file.
        kind: The kind of file that is expected.
        to_read: Whether the block only reads, so that the file need not be writable.

    Raises:
        UsageError: There is no such file.
        ReviewError: It is not a file of careeval's, or is of the other kind.
    """
    expect_file(file, kind)
    store = Store.to_read(file) if to_read else Store.open(file)
    try:
        store.plans(kind)  # raises if the file is of the other kind
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
    """Raise UsageError if there is no such file."""
    if not file.is_file():
        raise UsageError(
            f"there is no {kind} {file}", hint=f"careeval {kind} new -o FILE writes one"
        )


def _no_notes(_store: Store, _person: str) -> Iterable[str]:
    return ()


@dataclass(frozen=True)
class Invitation:
    """The commands about people and their links, worded for a study or an audit.

    Attributes:
        kind: Study or audit.
        person: The noun for a person, "rater".
        work: The noun for their work, "rating".
        gave: The verb for what they did, "answered".
        off: A clause on what becomes of the answers of somebody whose link is switched off.
        left: A function that returns notes about a person who has left.
    """

    kind: Kind
    person: str
    work: str
    gave: str
    off: str
    left: Callable[[Store, str], Iterable[str]] = _no_notes

    def mount(self, app: App) -> None:
        """Add these commands to an app."""
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
        """Return a command with the words in its help and its arguments filled in."""

        @wraps(command)
        def worded(*args: Any, **options: Any) -> int:
            return command(*args, **options)

        worded.__doc__ = (command.__doc__ or "").format(**vars(self))
        worded.__annotations__ = hints = get_type_hints(command, include_extras=True)
        for name, noun in {"file": self.kind, "person": self.person}.items():
            if name in hints:
                hints[name] = Annotated[hints[name], Parameter(name=noun)]
        return worded

    def _expect(self, store: Store, person: str) -> None:
        if person not in {each.id for each in store.raters()}:
            raise UsageError(f"there is no {self.person} {person!r}")

    def close(self, file: Path) -> int:
        """End the {work}: no link works, and nothing can be changed, until it is reopened.

        Args:
            file: The {kind}'s file.
        """
        with open_store(file, self.kind) as store:
            store.close_work()
        say(f"Closed. careeval {self.kind} reopen undoes it.")
        return OK

    def reopen(self, file: Path) -> int:
        """Undo close.

        Args:
            file: The {kind}'s file.
        """
        with open_store(file, self.kind) as store:
            store.reopen_work()
        say("Open.")
        return OK

    def link(
        self, file: Path, person: str, *, address: str | None = None, as_json: Json = False
    ) -> int:
        """Print a new link for a {person}; the old link and every open session end.

        Args:
            file: The {kind}'s file.
            person: Pseudonym.
            address: Where people reach the app; this machine where not given.
            as_json: Print JSON.
        """
        with open_store(file, self.kind) as store:
            self._expect(store, person)
            link = link_address(address or local_address(self.kind), store.replace_token(person))
        if as_json:
            print_json({"rater": person, "link": link})
        else:
            print(link)
        return OK

    def revoke(self, file: Path, person: str) -> int:
        """Switch a {person}'s link off; {off}.

        Args:
            file: The {kind}'s file.
            person: Pseudonym.
        """
        with open_store(file, self.kind) as store:
            self._expect(store, person)
            store.revoke(person)
            notes = list(self.left(store, person))
        say(f"The link of {person} is off now. careeval {self.kind} link gives a new one.")
        for note in notes:
            say(note)
        return OK

    def withdraw(self, file: Path, person: str, *, yes: Yes = False) -> int:
        """Delete a {person} and all that they {gave}, for good, because they ask for it.

        Args:
            file: The {kind}'s file.
            person: Pseudonym.
            yes: Without it, nothing is deleted.
        """
        with open_store(file, self.kind) as store:
            self._expect(store, person)
            if not yes:
                raise UsageError(
                    f"this deletes all that {person} {self.gave}, and cannot be undone",
                    hint="to delete it, add --yes",
                )
            store.withdraw(person)
            notes = list(self.left(store, person))
        say(f"Deleted: {person}, and all that was {self.gave}. Delete it from your backups too.")
        for note in notes:
            say(note)
        return OK

    def backup(self, file: Path, copy: Path) -> int:
        """Copy the {kind}'s file, even while people work; a plain copy could miss new answers.

        Args:
            file: The {kind}'s file.
            copy: The file to write.
        """
        with open_store(file, self.kind, to_read=True) as store:
            store.back_up(copy)
        with open_store(copy, self.kind):
            pass  # raises if the copy does not open
        say(f"Written: {copy}, and it opens. It holds the same as {file}: keep it as safe.")
        return OK
