"""What people answered, kept in one file: every change an event, none ever changed.

The store knows no scenario and no question. An answer is a text under a rater, a task and a field;
what tasks and fields there are, a plan says. Plans are kept here too, in the order that they were
added, so that one file holds a whole study or audit. Who a rater is stands nowhere in it.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Self

from careeval.core.rating import Rater, Role
from careeval.errors import ReviewError
from careeval.review.changes import COUNT_EVENTS, Change, Form, Saved, save_change
from careeval.review.database import Database

Kind = Literal["study", "audit"]

PORTS: Mapping[Kind, int] = {"study": 8700, "audit": 8701}
"""Where each is served, so that both can be at once."""

Work = Mapping[str, Mapping[str, "Answer"]]
"""All that one rater answered: by task, then by field. What was taken back is not in it."""

_RATER_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

_WAIT_TO_ERASE = 0.1
"""Seconds for others to let the file go: longer than a save, shorter than anybody notices."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What stands in a field now."""

    value: str
    seq: int
    at: str


@dataclass(frozen=True, slots=True)
class Event:
    """One change. `value` is null where an answer was taken back; `at` is UTC, and orders nothing.

    Attributes:
        seq: Orders the events of all raters, whatever the clock said.
        place: Of the task in the rater's order, from 1; null where it has none.
        typed_by: Who typed it for the rater; null where the rater did.
    """

    seq: int
    rater: str
    task: str
    field: str
    value: str | None
    at: str
    place: int | None
    app: str
    typed_by: str | None


@dataclass(frozen=True, slots=True)
class Link:
    """Somebody's link, and whether it is switched off."""

    rater: Rater
    revoked: bool


class Store:
    """A study's or an audit's file. Its methods may be called from any thread.

    Raises:
        ReviewError: From every method, where the file cannot be read or written: what was saved
            before stands, and nothing of the failed call does.
    """

    def __init__(self, database: Database, now: Callable[[], datetime] | None = None) -> None:
        self._database = database
        self._now = now or (lambda: datetime.now(UTC))

    @classmethod
    def create(cls, path: Path, kind: Kind, plan: str) -> Self:
        """A new file with its first plan."""
        store = cls(Database(path, create=True))
        store.add_plan(kind, plan)
        return store

    @classmethod
    def open(cls, path: Path) -> Self:
        """The file of a study or an audit, brought up to date."""
        store = cls(Database(path))
        store.erase()
        return store

    @classmethod
    def to_read(cls, path: Path) -> Self:
        """The file of a study or an audit, which is only read, and need not be writable."""
        store = cls(Database.to_read(path))
        store.erase()
        return store

    @property
    def path(self) -> Path:
        """Where it is."""
        return self._database.path

    def close(self) -> None:
        """Let the file go."""
        with suppress(sqlite3.ProgrammingError):  # it has been let go already
            self.erase()
        self._database.close()

    def back_up(self, path: Path) -> None:
        """Write a copy, also while people are saving; plain copying would miss the newest part."""
        self._database.copy_to(path)

    # Plans

    def add_plan(self, kind: Kind, content: str) -> int:
        """Keep a further plan beside those before; its number, from 1."""
        with self._database.write() as write:
            row = write.execute(
                "INSERT INTO plans (kind, content, at) VALUES (?, ?, ?) RETURNING number",
                (kind, content, self._at()),
            ).fetchone()
        return int(row[0])

    def amend_plan(self, content: str) -> None:
        """Put a plan in the place of the newest."""
        with self._database.write() as write:
            write.execute(
                "UPDATE plans SET content = ? WHERE number = (SELECT max(number) FROM plans)",
                (content,),
            )

    @property
    def kind(self) -> Kind:
        """Whether it is a study's or an audit's."""
        (found,) = self._database.rows("SELECT kind FROM plans ORDER BY number LIMIT 1")[0]
        return "audit" if found == "audit" else "study"

    def plans(self, kind: Kind) -> tuple[str, ...]:
        """Every plan in its order.

        Raises:
            ReviewError: The file is of the other kind.
        """
        rows = self._database.rows("SELECT kind, content FROM plans ORDER BY number")
        if any(found != kind for found, _ in rows):
            raise ReviewError(f"{self.path} is no {kind}", hint=f"it is of kind {rows[0][0]!r}")
        return tuple(content for _, content in rows)

    def close_work(self) -> None:
        """From now on nobody sees or changes anything through the app."""
        self._set_closed(True)

    def reopen_work(self) -> None:
        """Undo `close_work`."""
        self._set_closed(False)

    @property
    def closed(self) -> bool:
        """Whether the work is closed."""
        rows = self._database.rows("SELECT closed FROM closings ORDER BY seq DESC LIMIT 1")
        return bool(rows and rows[0][0])

    def secret(self, name: str) -> bytes:
        """32 random bytes that stand in this file alone, drawn when they are first needed."""
        with self._database.write() as write:
            write.execute(
                "INSERT OR IGNORE INTO secrets VALUES (?, ?)", (name, secrets.token_hex())
            )
            row = write.execute("SELECT value FROM secrets WHERE name = ?", (name,)).fetchone()
        return bytes.fromhex(row[0])

    # People

    def add_rater(self, rater: Rater) -> str:
        """Let somebody in; their token, which is stored nowhere.

        Raises:
            ReviewError: The id is taken, or might be a name or an address: it is lower-case
                letters, digits and single hyphens, at most 16.
        """
        if not _RATER_ID.fullmatch(rater.id) or len(rater.id) > 16:
            raise ReviewError(f"{rater.id!r} is no pseudonym", hint="an id looks like 'r07'")
        token = secrets.token_urlsafe(32)
        try:
            with self._database.write() as write:
                write.execute(
                    "INSERT INTO raters (id, role, token, at) VALUES (?, ?, ?, ?)",
                    (rater.id, rater.role, _hash(token), self._at()),
                )
        except sqlite3.IntegrityError as error:
            raise ReviewError(f"rater {rater.id!r} is there already") from error
        return token

    def replace_token(self, rater: str) -> str:
        """A new token; the old one and every open session end."""
        token = secrets.token_urlsafe(32)
        sql = "UPDATE raters SET token = ?, revoked = 0 WHERE id = ?"
        self._let(sql, (_hash(token), rater), ends=True)
        return token

    def revoke(self, rater: str) -> None:
        """Let the token and every open session open nothing more; what was answered stands."""
        self._let("UPDATE raters SET revoked = 1 WHERE id = ?", (rater,), ends=False)

    def raters(self) -> tuple[Rater, ...]:
        """Everybody who is in, revoked or not; who has withdrawn is not."""
        rows = self._database.rows("SELECT id, role FROM raters ORDER BY id")
        return tuple(Rater(name, Role(role)) for name, role in rows)

    def opened(self) -> frozenset[str]:
        """Return the ids of those who have opened their link since it was made."""
        return frozenset(name for (name,) in self._database.rows("SELECT rater FROM sessions"))

    def revoked(self) -> frozenset[str]:
        """Who is in, but with a link that is switched off: nothing more comes from them."""
        rows = self._database.rows("SELECT id FROM raters WHERE revoked")
        return frozenset(name for (name,) in rows)

    def link(self, token: str) -> Link | None:
        """Whose token that is; None where it is nobody's. It changes nothing."""
        rows = self._database.rows(
            "SELECT id, role, revoked FROM raters WHERE token = ?", _hash(token)
        )
        return Link(Rater(rows[0][0], Role(rows[0][1])), bool(rows[0][2])) if rows else None

    def start_session(self, rater: str) -> str:
        """The secret of a new session."""
        secret = secrets.token_urlsafe(32)
        with self._database.write() as write:
            write.execute(
                "INSERT INTO sessions (secret, rater, at) VALUES (?, ?, ?)",
                (_hash(secret), rater, self._at()),
            )
        return secret

    def session(self, secret: str) -> Link | None:
        """Whose session that is; None where it is nobody's or has ended."""
        rows = self._database.rows(
            "SELECT id, role, revoked FROM sessions JOIN raters ON id = rater WHERE secret = ?",
            _hash(secret),
        )
        return Link(Rater(rows[0][0], Role(rows[0][1])), bool(rows[0][2])) if rows else None

    def end_session(self, secret: str) -> None:
        """End one session."""
        with self._database.write() as write:
            write.execute("DELETE FROM sessions WHERE secret = ?", (_hash(secret),))

    def withdraw(self, rater: str) -> bool:
        """Delete somebody and all that they answered; that it happened, and when, is kept.

        Returns:
            Whether it is out of the file too, as `erase`.
        """
        with self._database.write() as write:
            (n,) = write.execute("SELECT count(*) FROM events WHERE rater = ?", (rater,)).fetchone()
            write.execute("DELETE FROM raters WHERE id = ?", (rater,))  # cascades
            write.execute("INSERT INTO withdrawals (at, events) VALUES (?, ?)", (self._at(), n))
        return self.erase(_WAIT_TO_ERASE)

    def erase(self, wait: float = 0.0) -> bool:
        """Take what withdrawals deleted out of the file's log.

        It is tried with each save, and whenever the file is opened or let go, until it succeeds.

        Args:
            wait: Seconds, at most, for others to let go.

        Returns:
            Whether nothing is left that this could take out; something is while another program
            reads the file.
        """
        if self._database.is_copy:
            return True
        try:
            left = self._database.rows("SELECT max(rowid) FROM withdrawals WHERE NOT erased")[0][0]
            if left is None:
                return True
            if not self._database.empty_log(wait):
                return False
            with self._database.write() as write:
                write.execute("UPDATE withdrawals SET erased = 1 WHERE rowid <= ?", (left,))
        except ReviewError:
            return False
        return True

    def withdrawals(self) -> int:
        """How many have withdrawn."""
        return int(self._database.rows("SELECT count(*) FROM withdrawals")[0][0])

    # Work

    def save(
        self,
        rater: str,
        task: str,
        values: Mapping[str, str | None],
        form: Form,
        *,
        place: int | None = None,
        typed_by: str | None = None,
    ) -> Saved:
        """Keep what a form changes; on disk when this returns.

        A field counts as changed where it differs from what its page showed or last sent, so that
        an old page which leaves a field alone does not undo what a newer one wrote there. A field
        that both changed takes the later form's value, and `Saved` says so. A change is an event
        even where another page has made the same: it is what this page now shows.

        Args:
            rater: Whose.
            task: On what.
            values: The form's fields; null, or a text that is not empty. A field that is not named
                is left alone.
            form: Which form it is.
            place: Of the task in the rater's order.
            typed_by: Who typed it, where that is not the rater.

        Raises:
            ReviewError: The work is closed, or the rater is revoked or has withdrawn.
        """
        (saved,) = self.save_all((Change(rater, task, values, form, place, typed_by),))
        return saved

    def save_all(self, changes: Iterable[Change], *, overwrite: bool = True) -> tuple[Saved, ...]:
        """Keep what several forms change, all of it or nothing; on disk when this returns.

        Args:
            changes: One after the other.
            overwrite: Whether they may replace what was saved since their pages were shown.

        Returns:
            What became of each, in the same order.

        Raises:
            ReviewError: As `save`, for any of them; or one would replace what it may not.
        """
        with self._database.write() as write:
            saved = tuple([save_change(write, change, self._at) for change in changes])
            if not overwrite and any(each.overwritten for each in saved):
                raise ReviewError(
                    "somebody has changed the same in the meantime: nothing was saved",
                    hint="look at what stands there now, and try again",
                )
        self.erase()
        return saved

    def work(self, rater: str) -> Work:
        """All that one rater answered, as it stands."""
        rows = self._database.rows(
            "SELECT task, field, value, seq, at FROM events WHERE seq IN "
            "(SELECT max(seq) FROM events WHERE rater = ? GROUP BY task, field) "
            "AND value IS NOT NULL ORDER BY seq",
            rater,
        )
        found: dict[str, dict[str, Answer]] = {}
        for task, name, value, seq, at in rows:
            found.setdefault(task, {})[name] = Answer(value, seq, at)
        return found

    def work_by_task(self, rater: str) -> Work:
        """Return what `work` does, each task read when it is asked for: for who asks for few."""
        return _ByTask(self, rater)

    def everybody(self) -> Mapping[str, Work]:
        """All that everybody answered, by rater, as it stands; who has withdrawn is no key."""
        return {rater.id: self.work(rater.id) for rater in self.raters()}

    def answers(self, rater: str, task: str) -> Mapping[str, Answer]:
        """What one rater answered on one task, by field, as it stands."""
        rows = self._database.rows(
            "SELECT field, value, max(seq), at FROM events WHERE rater = ? AND task = ? "
            "GROUP BY field",
            rater,
            task,
        )
        return {name: Answer(value, seq, at) for name, value, seq, at in rows if value is not None}

    def newest(self, rater: str, task: str) -> int:
        """The newest event of a task, 0 where there is none: what a page shown now knows.

        It is counted among the rater's own of that task, so that pages tell nothing of others.
        """
        return int(self._database.rows(COUNT_EVENTS, rater, task)[0][0])

    def events(self) -> tuple[Event, ...]:
        """Every change of everybody, in order."""
        rows = self._database.rows(
            "SELECT seq, rater, task, field, value, at, place, app, typed_by FROM events "
            "ORDER BY seq"
        )
        return tuple(Event(*row) for row in rows)

    def _at(self) -> str:
        return self._now().astimezone(UTC).isoformat(timespec="seconds")

    def _set_closed(self, closed: bool) -> None:
        with self._database.write() as write:
            write.execute("INSERT INTO closings (closed, at) VALUES (?, ?)", (closed, self._at()))

    def _let(self, sql: str, values: tuple[str, ...], *, ends: bool) -> None:
        """Change what a rater's token opens; where it ends, open sessions go with it."""
        with self._database.write() as write:
            if not write.execute(sql, values).rowcount:
                raise ReviewError(f"there is no rater {values[-1]!r}")
            if ends:
                write.execute("DELETE FROM sessions WHERE rater = ?", (values[-1],))


class _ByTask(Mapping[str, Mapping[str, Answer]]):
    """What a rater answered, each task read when it is asked for."""

    def __init__(self, store: Store, rater: str) -> None:
        self._store, self._rater = store, rater

    def __getitem__(self, task: str) -> Mapping[str, Answer]:
        if found := self._store.answers(self._rater, task):
            return found
        raise KeyError(task)

    def __iter__(self) -> Iterator[str]:
        return iter(self._store.work(self._rater))

    def __len__(self) -> int:
        return len(self._store.work(self._rater))


def _hash(secret: str) -> str:
    """Of 256 random bits a plain hash is enough: there is nothing to guess."""
    return hashlib.sha256(secret.encode()).hexdigest()
