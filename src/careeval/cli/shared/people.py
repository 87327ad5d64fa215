"""The parts and commands that studies and audits share: terms, people, links, and the file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import App, Parameter

from careeval.cli.app import OK, print_json, say
from careeval.cli.shared.options import Audits, Flag, Json
from careeval.core.rating import Rater, Role
from careeval.errors import UsageError
from careeval.files import read_text
from careeval.people.plan import PORTS, Consent
from careeval.people.store import Kind, Store

if TYPE_CHECKING:
    from careeval.bank import Bank
    from careeval.core.rating import Label
    from careeval.people.audit.sample import AuditSample
    from careeval.results.findings import Findings
    from careeval.results.tables import Runs


def local_address(kind: Kind) -> str:
    """Return the address of the app of a study or an audit on this machine."""
    return f"http://127.0.0.1:{PORTS[kind]}"


def consent(text: Path | None, ethics: str, contact: str, before: str = "") -> Consent:
    """Return the terms that people agree to, from options; `before` are those if no file is given.

    Raises:
        UsageError: The file is not UTF-8 text, or terms, reference or contact are empty.
    """
    fields = {
        "--consent": _read(text).strip() if text else before,
        "--ethics": ethics.strip(),
        "--contact": contact.strip(),
    }
    if empty := [name for name, value in fields.items() if not value]:
        raise UsageError(
            "people can be invited only with terms, an ethics reference and a contact; "
            f"missing or empty: {', '.join(empty)}",
            hint="give --consent a file with the terms, --ethics a reference or why none is, "
            "--contact an address",
        )
    return Consent(text=fields["--consent"], ethics=fields["--ethics"], contact=fields["--contact"])


MAX_BYTES = 1_000_000
"""The most bytes of a file of terms."""


def _read(text: Path) -> str:
    try:
        return read_text(text, "utf-8-sig", MAX_BYTES)
    except UnicodeDecodeError as error:
        raise UsageError(f"{text} is not UTF-8 text", hint="save it as UTF-8") from error


def expect_new(out: Path, links: Path | None) -> None:
    """Raise UsageError unless both files are new, in existing folders, and different.

    Links are shown only once, so this is checked before anything is written.
    """
    for path in (out, links):
        if path is not None and path.exists():
            raise UsageError(f"{path} exists already", hint="choose another name")
        if path is not None and not path.parent.is_dir():
            raise UsageError(f"folder {path.parent} does not exist", hint="create the folder first")
    if links is not None and links.resolve() == out.resolve():
        raise UsageError(
            f"--links and --out name the same file, {out}", hint="give --links another file"
        )


def roles(people: Sequence[str]) -> list[Role]:
    """Return a role for each person, from words such as `roboticist:3`.

    Raises:
        UsageError: A role is not known, or its number is not a whole number above 0.
    """
    roles: list[Role] = []
    for word in people:
        name, colon, count = word.partition(":")
        if name not in Role.__members__.values():
            raise UsageError(f"unknown role {name!r}", hint=f"use one of {', '.join(Role)}")
        if colon and not (count.isascii() and count.isdigit() and int(count) > 0):
            raise UsageError(
                f"{word!r}: expected a whole number above 0 after the colon",
                hint=f"write it as in {name}:2",
            )
        roles += [Role(name)] * (int(count) if colon else 1)
    return roles


def expect_typist(typed_by: str) -> str:
    """Return the name of the person who typed for others; raise UsageError if it is empty."""
    if not typed_by.strip():
        raise UsageError(
            "--typed-by is empty, but must say who typed", hint="give a role or a pseudonym"
        )
    return typed_by.strip()


def link_address(address: str, token: str) -> str:
    """Return the link with a person's token."""
    return f"{address.rstrip('/')}/i/{token}"


def create_file(
    out: Path, kind: Kind, plan: str, people: Iterable[Rater], address: str
) -> dict[str, str]:
    """Write the file of a study or an audit; return pseudonym → link of each person."""
    store = Store.create(out, kind, plan)
    try:
        return {each.id: link_address(address, store.add_rater(each)) for each in people}
    finally:
        store.close()


def hand_out(
    links: Mapping[str, str],
    lines: str,
    path: Path | None,
    plan_json: Callable[[Mapping[str, str]], Any],
    *,
    as_json: bool,
) -> None:
    """Print new links once, or write them to a new file that only its owner can ever read.

    Args:
        links: Pseudonym → link.
        lines: The links as they are printed or written.
        path: The file; if not given, the links are printed.
        plan_json: Returns what was planned as JSON, with the links that it is given.
        as_json: Whether to print JSON.
    """
    if path is not None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(os.open(path, flags, 0o600), "w") as file:
            file.write(lines)
    if as_json:
        print_json(plan_json({} if path else links))
    elif path is None:
        print(lines, end="")
        say("These links are shown only once: pass each on to one person, and keep no copy.")


@contextmanager
def open_store(file: Path, kind: Kind) -> Iterator[Store]:
    """Open the file of a study or an audit for the block.

    Raises:
        UsageError: There is no such file.
        ReviewError: The file is not careeval's, or is of the other kind.
    """
    expect_file(file, kind)
    store = Store.open(file)
    try:
        store.plans(kind)  # raises if the file is of the other kind
        yield store
        if not store.erase():
            say(
                "The answers of a person who withdrew are not fully erased yet: "
                f"{file}-wal still has them, because another program has {file} open. Close that "
                "program; the next save, or the next careeval command on this file, erases them."
            )
    finally:
        store.close()


def expect_file(file: Path, kind: Kind) -> None:
    """Raise UsageError if there is no such file."""
    if not file.is_file():
        raise UsageError(
            f"there is no {kind} file {file}",
            hint=f"check the path, or write a new one: careeval {kind} new -o FILE",
        )


def expect_person(store: Store, person: str) -> None:
    """Raise UsageError unless somebody in a file has this pseudonym."""
    if person not in {each.id for each in store.raters()}:
        raise UsageError(
            f"this {store.kind} has nobody called {person!r}, or they have withdrawn",
            hint=f"for the pseudonyms: careeval {store.kind} status {store.path}",
        )


def serve_app(
    file: Path, kind: Kind, bank: Bank | None, host: str, port: int, behind_proxy: str | None
) -> int:
    """Run the app of a study or an audit until Ctrl-C."""
    from careeval.people.web.app import serve

    with open_store(file, kind):
        pass  # raises if the file is not of this kind
    people = "Raters" if kind == "study" else "Labellers"
    ready = f"{people} can open their links now. Ctrl-C stops it."
    serve(
        file,
        bank,
        host=host,
        port=port,
        behind_proxy=behind_proxy,
        ready=lambda address: say(f"The app runs at {address}. {ready}"),
    )
    return OK


def say_written(out: Path, links: Path | None, next_command: str) -> None:
    """Say which files were written, and which command comes next."""
    say(f"Written: {out}{f' and {links}' if links else ''}. Next: {next_command}")


@dataclass(frozen=True)
class PeopleCommands:
    """The commands about people, their links and their file, for studies or for audits."""

    kind: Kind
    left: Callable[[Store, str], Iterable[str]] = lambda _store, _person: ()
    """Returns notes on what a person who has left leaves undone."""

    def mount(self, app: App) -> None:
        """Add these commands to an app."""
        people = self.link, self.revoke, self.withdraw
        for command in (self.close, self.reopen, *people, self.backup):
            app.command(command)

    def close(self, file: Path) -> int:
        """End the work: no link works, and nothing can be changed, until it is reopened.

        Args:
            file: The file of the study or the audit.
        """
        with open_store(file, self.kind) as store:
            store.set_closed(True)
        say(f"The {self.kind} is closed. To reopen it: careeval {self.kind} reopen")
        return OK

    def reopen(self, file: Path) -> int:
        """Undo a close: links work again, and answers can be changed.

        Args:
            file: The file of the study or the audit.
        """
        with open_store(file, self.kind) as store:
            store.set_closed(False)
        say(f"The {self.kind} is open again.")
        return OK

    def link(
        self, file: Path, person: str, *, address: str | None = None, as_json: Json = False
    ) -> int:
        """Print a new link for a person; the old link and every open session end.

        Args:
            file: The file of the study or the audit.
            person: Pseudonym.
            address: Where people reach the app; this machine if not given.
            as_json: Print JSON.
        """
        with open_store(file, self.kind) as store:
            expect_person(store, person)
            link = link_address(address or local_address(self.kind), store.replace_token(person))
        if as_json:
            print_json({"rater": person, "link": link})
        else:
            print(link)
        return OK

    def revoke(self, file: Path, person: str) -> int:
        """Switch a person's link off; what they gave stands, and nobody waits for them any more.

        Args:
            file: The file of the study or the audit.
            person: Pseudonym.
        """
        with open_store(file, self.kind) as store:
            expect_person(store, person)
            store.revoke(person)
            notes = list(self.left(store, person))
        say(f"The link of {person} is off now. For a new link: careeval {self.kind} link")
        for note in notes:
            say(note)
        return OK

    def withdraw(self, file: Path, person: str, *, yes: Flag = False) -> int:
        """Delete a person and all that they gave, for good, because they ask for it.

        Args:
            file: The file of the study or the audit.
            person: Pseudonym.
            yes: Without it, nothing is deleted.
        """
        with open_store(file, self.kind) as store:
            expect_person(store, person)
            if not yes:
                raise UsageError(
                    f"this deletes all that {person} gave, and cannot be undone",
                    hint="to delete all of it, add --yes",
                )
            store.withdraw(person)
            notes = list(self.left(store, person))
        say(f"Deleted: {person}, and all that they gave. Delete it from your backups too.")
        for note in notes:
            say(note)
        return OK

    def backup(self, file: Path, copy: Path) -> int:
        """Copy the file, even while people work; a plain copy could miss new answers.

        Args:
            file: The file of the study or the audit.
            copy: The file to write.
        """
        with open_store(file, self.kind) as store:
            store.back_up(copy)
        with open_store(copy, self.kind):
            pass  # raises if the copy does not open
        say(f"Written: {copy}. The copy opens; it is as private as {file}, so keep it as safe.")
        return OK


# Labels that people gave, for other commands


def read_audit_labels(audit: Path) -> tuple[AuditSample, list[Label]]:
    """Return an audit's sample and all labels so far; say on stderr who has not handed in."""
    from careeval.people.audit.labels import read_audit

    with open_store(audit, "audit") as store:
        plan, labelled = read_audit(store)
    for note in labelled.unfinished_notes():
        say(note)
    return plan.sample, labelled.labels


def read_audits(audits: Iterable[Path]) -> list[tuple[Path, AuditSample, list[Label]]]:
    """Return the file, the sample and the labels of each audit."""
    return [(path, *read_audit_labels(path)) for path in audits]


@Parameter(name="*")
@dataclass(frozen=True)
class AuditOptions:
    """Options for what is known of the graders."""

    probes: Path | None = None
    """Folder that `careeval audit probes -o` wrote: each grader's agreement with labels."""
    audit: Audits | None = None
    """File that `careeval audit new -o` wrote: people's labels of the grader's judgments."""
    bank: Path | None = None
    """Folder of the probes' bank; if not given, careeval's own that the runs are of."""

    def findings(self, runs: Runs) -> Findings:
        """Return all findings on runs, with the agreement of their graders with these audits."""
        from careeval.bank import load_bank
        from careeval.people.audit.grader_agreement import people_audits, probe_agreement
        from careeval.results.findings import findings

        agreement = probe_agreement(runs, load_bank(self.bank) if self.bank else None, self.probes)
        return findings(runs, agreement, audits=people_audits(runs, read_audits(self.audit or ())))
