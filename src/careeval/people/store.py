"""The answers of a study or an audit in one file, as events that are never changed.

Only a withdrawal deletes events. The store knows no scenario and no question: an answer is a text
under a rater, a task and a field. Plans are kept here too, in order; raters have pseudonyms only.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Literal, Self

from careeval.core.rating import Rater, Role
from careeval.errors import ReviewError
from careeval.people.database import Database
from careeval.people.forms import ClosedError, FormChange, FormId, RevokedError, SaveResult

Kind = Literal["study", "audit"]

Work = Mapping[str, Mapping[str, "Answer"]]
"""One rater's answers by task and field, without those that were taken back."""

_APP = version("careeval")

_COUNT_EVENTS = "SELECT count(*) FROM events WHERE rater = ? AND task = ?"
"""A query that counts a rater's events on one task; the newest event has this number."""

_RATER_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

_WAIT_TO_ERASE = 0.1
"""Seconds to wait until others close the file: longer than a save, too short to notice."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A rater's present answer to one question."""

    value: str
    seq: int
    at: str


@dataclass(frozen=True, slots=True)
class Event:
    """One change of an answer, as the store keeps it."""

    seq: int  # Orders the events of all raters, whatever the clock said
    rater: str
    task: str
    field: str
    value: str | None  # The new answer; None if the rater removed the old one
    at: str  # The time, UTC; events are not ordered by it
    place: int | None  # The place of the task in the rater's order, from 1; None if it has none
    app: str  # The version of careeval that saved it
    typed_by: str | None  # The person who typed it for the rater; None if the rater did


@dataclass(frozen=True, slots=True)
class Link:
    """A rater's link, and whether it is switched off."""

    rater: Rater
    revoked: bool


class Store:
    """The file of a study or an audit. Its methods may be called from any thread.

    Raises:
        ReviewError: From every method but `erase`, if the file cannot be read or written. Nothing
            of the failed call is kept, and everything that was saved before is.
    """

    def __init__(self, database: Database, now: Callable[[], datetime] | None = None) -> None:
        self._database = database
        self._now = now or (lambda: datetime.now(UTC))

    @classmethod
    def create(cls, path: Path, kind: Kind, plan: str) -> Self:
        """Create the file of a study or an audit with its first plan, and open it."""
        store = cls(Database(path, create=True))
        store.add_plan(kind, plan)
        return store

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the file of a study or an audit."""
        store = cls(Database(path))
        store.erase()
        return store

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self._database.path

    def close(self) -> None:
        """Close the file."""
        with suppress(sqlite3.ProgrammingError):  # closed already
            self.erase()
        self._database.close()

    def reading(self) -> AbstractContextManager[object]:
        """Read over one connection in a block, instead of one for each query."""
        return self._database.reading()

    def back_up(self, path: Path) -> None:
        """Write a copy of the file, even while answers are saved; cp could miss the newest ones."""
        self._database.copy_to(path)

    # Plans

    def add_plan(self, kind: Kind, content: str) -> int:
        """Append a plan, as for a new round, and return its number, from 1."""
        with self._database.write() as write:
            row = write.execute(
                "INSERT INTO plans (kind, content, at) VALUES (?, ?, ?) RETURNING number",
                (kind, content, self._at()),
            ).fetchone()
        return int(row[0])

    def amend_plan(self, content: str) -> None:
        """Replace the text of the newest plan."""
        with self._database.write() as write:
            write.execute(
                "UPDATE plans SET content = ? WHERE number = (SELECT max(number) FROM plans)",
                (content,),
            )

    @property
    def kind(self) -> Kind:
        """The kind of the file: study or audit."""
        (kind,) = self._database.rows("SELECT kind FROM plans ORDER BY number LIMIT 1")[0]
        return "audit" if kind == "audit" else "study"

    def plans(self, kind: Kind) -> tuple[str, ...]:
        """Return the texts of all plans, the oldest first.

        Raises:
            ReviewError: The file is of the other kind.
        """
        rows = self._database.rows("SELECT kind, content FROM plans ORDER BY number")
        if any(other != kind for other, _ in rows):
            raise ReviewError(
                f"{self.path} is not the file of {'an' if kind == 'audit' else 'a'} {kind}",
                hint=f"use careeval {rows[0][0]} for this file",
            )
        return tuple(content for _, content in rows)

    def set_closed(self, closed: bool) -> None:
        """Close the work, so that nobody sees or changes anything through the app; or reopen it."""
        with self._database.write() as write:
            write.execute("INSERT INTO closings (closed, at) VALUES (?, ?)", (closed, self._at()))

    @property
    def closed(self) -> bool:
        """True if the work is closed."""
        rows = self._database.rows("SELECT closed FROM closings ORDER BY seq DESC LIMIT 1")
        return bool(rows and rows[0][0])

    def secret(self, name: str) -> bytes:
        """Return 32 random bytes that are drawn on first use and kept in this file."""
        with self._database.write() as write:
            write.execute(
                "INSERT OR IGNORE INTO secrets VALUES (?, ?)", (name, secrets.token_hex())
            )
            row = write.execute("SELECT value FROM secrets WHERE name = ?", (name,)).fetchone()
        return bytes.fromhex(row[0])

    # People

    def add_rater(self, rater: Rater) -> str:
        """Add a rater and return their token, which is stored nowhere.

        Raises:
            ReviewError: The id is taken, or is not 1 to 16 lower-case letters, digits and single
                hyphens.
        """
        if not _RATER_ID.fullmatch(rater.id) or len(rater.id) > 16:
            raise ReviewError(
                f"pseudonym {rater.id!r} is not 1 to 16 lower-case letters, digits and single "
                "hyphens",
                hint="use one like 'r07'",
            )
        token = secrets.token_urlsafe(32)
        try:
            with self._database.write() as write:
                write.execute(
                    "INSERT INTO raters (id, role, token, at) VALUES (?, ?, ?, ?)",
                    (rater.id, rater.role, _hash(token), self._at()),
                )
        except sqlite3.IntegrityError as error:
            raise ReviewError(
                f"rater {rater.id!r} exists already", hint="choose another pseudonym"
            ) from error
        return token

    def replace_token(self, rater: str) -> str:
        """Return a new token for a rater; the old token and every open session end.

        A link that was switched off is on again.

        Raises:
            ReviewError: There is no such rater.
        """
        token = secrets.token_urlsafe(32)
        sql = "UPDATE raters SET token = ?, revoked = 0 WHERE id = ?"
        self._change_token(sql, (_hash(token), rater), ends=True)
        return token

    def revoke(self, rater: str) -> None:
        """Switch off a rater's token and every open session; the answers are kept.

        Raises:
            ReviewError: There is no such rater.
        """
        self._change_token("UPDATE raters SET revoked = 1 WHERE id = ?", (rater,), ends=False)

    def raters(self) -> tuple[Rater, ...]:
        """Return all raters, revoked or not, who have not withdrawn."""
        rows = self._database.rows("SELECT id, role FROM raters ORDER BY id")
        return tuple(Rater(name, Role(role)) for name, role in rows)

    def opened_ids(self) -> frozenset[str]:
        """Return the ids of raters with a session: started from their link, and not yet ended."""
        return frozenset(name for (name,) in self._database.rows("SELECT rater FROM sessions"))

    def revoked_ids(self) -> frozenset[str]:
        """Return the ids of raters whose link is switched off, so that they cannot answer."""
        rows = self._database.rows("SELECT id FROM raters WHERE revoked")
        return frozenset(name for (name,) in rows)

    def link(self, token: str) -> Link | None:
        """Return the link that a token belongs to, or None. Nothing is changed."""
        return self._link("raters WHERE token = ?", token)

    def start_session(self, rater: str) -> str:
        """Start a session for a rater, and return the session's secret for the cookie."""
        secret = secrets.token_urlsafe(32)
        with self._database.write() as write:
            write.execute(
                "INSERT INTO sessions (secret, rater, at) VALUES (?, ?, ?)",
                (_hash(secret), rater, self._at()),
            )
        return secret

    def session(self, secret: str) -> Link | None:
        """Return the link that a session was opened with; None if there is no such session."""
        return self._link("sessions JOIN raters ON id = rater WHERE secret = ?", secret)

    def end_session(self, secret: str) -> None:
        """End one session."""
        with self._database.write() as write:
            write.execute("DELETE FROM sessions WHERE secret = ?", (_hash(secret),))

    def withdraw(self, rater: str) -> bool:
        """Delete a rater and all their answers; the time and the number of deleted events are kept.

        Returns:
            Whether the answers are gone from the file's log too: see `erase`.
        """
        with self._database.write() as write:
            (n,) = write.execute("SELECT count(*) FROM events WHERE rater = ?", (rater,)).fetchone()
            write.execute("DELETE FROM raters WHERE id = ?", (rater,))  # cascades
            write.execute("INSERT INTO withdrawals (at, events) VALUES (?, ?)", (self._at(), n))
        return self.erase(_WAIT_TO_ERASE)

    def erase(self, wait: float = 0.0) -> bool:
        """Remove from the file's log the answers that withdrawals deleted.

        It is tried with each save, and whenever the file is opened or closed, until it succeeds.

        Args:
            wait: The most seconds to wait until others close the file.

        Returns:
            Whether all are removed. Some can be left while another program reads the file.
        """
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
        """Return how many raters have withdrawn."""
        return int(self._database.rows("SELECT count(*) FROM withdrawals")[0][0])

    # Work

    def save(
        self,
        rater: str,
        task: str,
        values: Mapping[str, str | None],
        form: FormId,
        *,
        place: int | None = None,
        typed_by: str | None = None,
    ) -> SaveResult:
        """Save what a form changes; it is on disk when this returns.

        A field counts as changed if its value differs from what the form's page showed or last
        sent. So an old page that leaves a field alone does not undo what a newer page wrote there.
        If both pages changed a field, the later form's value is kept, and `SaveResult` says so. If
        both made the same change, each is an event, since each page now shows it.

        Args:
            rater: The rater's id.
            task: The task.
            values: By field, a text that is not empty, or None to take the answer back. Fields that
                are not named are left alone.
            form: The identity of the form.
            place: The place of the task in the rater's order.
            typed_by: The person who typed it, where that is not the rater.

        Raises:
            ReviewError: The work is closed, or the rater is revoked or has withdrawn.
        """
        (saved,) = self.save_all((FormChange(rater, task, values, form, place, typed_by),))
        return saved

    def save_all(
        self, changes: Iterable[FormChange], *, overwrite: bool = True
    ) -> tuple[SaveResult, ...]:
        """Save what several forms change, all or nothing; it is on disk when this returns.

        Args:
            changes: The changes, one after the other.
            overwrite: Whether they may replace what was saved since their pages were shown.

        Returns:
            The result of each, in the same order.

        Raises:
            ReviewError: As `save`, for any change; or `overwrite` is false, and a change would
                replace what was saved since its page was shown.
        """
        with self._database.write() as write:
            saved = tuple([self._save(write, change) for change in changes])
            if not overwrite and any(each.overwritten for each in saved):
                raise ReviewError(
                    "the same answers were changed while the file was read: nothing was saved",
                    hint="check the present answers, then import again",
                )
        self.erase()
        return saved

    def _save(self, write: sqlite3.Connection, change: FormChange) -> SaveResult:
        """Write the events of one change, in a transaction that the caller commits."""
        rater, task, form = change.rater, change.task, change.form
        digest = _digest(task, change.values, form)
        _expect_writable(write, rater)
        if _came_before(write, rater, form, digest):
            return SaveResult(_newest(write, rater, task), replayed=True)
        forms_row = (rater, form.page, form.number, digest)
        write.execute("INSERT INTO forms VALUES (?, ?, ?, ?)", forms_row)
        shown, now, others = _three_states(write, rater, task, form)
        changed = {f: v for f, v in change.values.items() if v != shown.get(f)}
        write.executemany(
            "INSERT INTO events (rater, task, field, value, at, place, app, page, number, seen,"
            " typed_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (rater, task, name, value, self._at(), change.place, _APP, form.page, form.number,
                 form.seen, change.typed_by)
                for name, value in changed.items()
            ],
        )  # fmt: skip
        return SaveResult(
            seen=_newest(write, rater, task),
            changed=tuple(changed),
            overwritten={f: now[f] for f, v in changed.items() if f in others and v != now[f]},
            kept={f: now[f] for f in others if f not in changed},
        )

    def work(self, rater: str) -> Work:
        """Return all present answers of one rater."""
        rows = self._database.rows(
            "SELECT task, field, value, seq, at FROM events WHERE seq IN "
            "(SELECT max(seq) FROM events WHERE rater = ? GROUP BY task, field) "
            "AND value IS NOT NULL ORDER BY seq",
            rater,
        )
        answers: dict[str, dict[str, Answer]] = {}
        for task, name, value, seq, at in rows:
            answers.setdefault(task, {})[name] = Answer(value, seq, at)
        return answers

    def work_by_task(self, rater: str) -> Work:
        """Return a rater's present answers like `work`, but read each task only when used."""
        return _ByTask(self, rater)

    def all_work(self) -> Mapping[str, Work]:
        """Return rater → all their present answers; raters who have withdrawn are left out."""
        return {rater.id: self.work(rater.id) for rater in self.raters()}

    def answers(self, rater: str, task: str) -> Mapping[str, Answer]:
        """Return one rater's present answers on one task, by field."""
        rows = self._database.rows(
            "SELECT field, value, max(seq), at FROM events WHERE rater = ? AND task = ? "
            "GROUP BY field",
            rater,
            task,
        )
        return {name: Answer(value, seq, at) for name, value, seq, at in rows if value is not None}

    def newest(self, rater: str, task: str) -> int:
        """Return how many events a rater has on a task; a page keeps this number when it is shown.

        Other raters' events do not count, so that pages tell nothing about other raters.
        """
        return int(self._database.rows(_COUNT_EVENTS, rater, task)[0][0])

    def events(self) -> tuple[Event, ...]:
        """Return every change by every rater, the oldest first."""
        rows = self._database.rows(
            "SELECT seq, rater, task, field, value, at, place, app, typed_by FROM events "
            "ORDER BY seq"
        )
        return tuple(Event(*row) for row in rows)

    def _at(self) -> str:
        return self._now().astimezone(UTC).isoformat(timespec="seconds")

    def _link(self, source: str, secret: str) -> Link | None:
        rows = self._database.rows(f"SELECT id, role, revoked FROM {source}", _hash(secret))
        return Link(Rater(rows[0][0], Role(rows[0][1])), bool(rows[0][2])) if rows else None

    def _change_token(self, sql: str, values: tuple[str, ...], *, ends: bool) -> None:
        """Run an SQL update of a rater's token; if `ends`, end the rater's open sessions too."""
        with self._database.write() as write:
            if not write.execute(sql, values).rowcount:
                raise ReviewError(f"{self.path} has no rater {values[-1]!r}")
            if ends:
                write.execute("DELETE FROM sessions WHERE rater = ?", (values[-1],))


class _ByTask(Mapping[str, Mapping[str, Answer]]):
    """A rater's answers by task; each task is read from the file when it is used."""

    def __init__(self, store: Store, rater: str) -> None:
        self._store, self._rater = store, rater

    def __getitem__(self, task: str) -> Mapping[str, Answer]:
        if answers := self._store.answers(self._rater, task):
            return answers
        raise KeyError(task)

    def __iter__(self) -> Iterator[str]:
        return iter(self._store.work(self._rater))

    def __len__(self) -> int:
        return len(self._store.work(self._rater))


def _hash(secret: str) -> str:
    """Return the SHA-256 of a secret; 256 random bits need no slower hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _expect_writable(write: sqlite3.Connection, rater: str) -> None:
    """Raise RevokedError if the rater may not save any more, ClosedError if the work is closed."""
    row = write.execute("SELECT revoked FROM raters WHERE id = ?", (rater,)).fetchone()
    if row is None or row[0]:
        raise RevokedError(
            f"the link of {rater} is switched off, or they have withdrawn: nothing was saved"
        )
    closed = write.execute("SELECT closed FROM closings ORDER BY seq DESC LIMIT 1").fetchone()
    if closed and closed[0]:
        raise ClosedError("the work is closed: nothing was saved")


def _digest(task: str, values: Mapping[str, str | None], form: FormId) -> str:
    """Return a hash of the form's identity and content, to recognise it when it is sent again."""
    content = [task, form.page, form.number, form.seen, sorted(values.items())]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _came_before(write: sqlite3.Connection, rater: str, form: FormId, digest: str) -> bool:
    """Tell whether this form, or a later form of its page, has been saved already.

    Forms can arrive in the wrong order; an earlier one then has older values than those saved.
    """
    sql = (
        "SELECT count(*) FROM forms WHERE rater = ? AND page = ? "
        "AND (number > ? OR (number = ? AND digest = ?))"
    )
    values = (rater, form.page, form.number, form.number, digest)
    return bool(write.execute(sql, values).fetchone()[0])


def _newest(write: sqlite3.Connection, rater: str, task: str) -> int:
    return int(write.execute(_COUNT_EVENTS, (rater, task)).fetchone()[0])


_State = dict[str, str | None]


def _three_states(
    write: sqlite3.Connection, rater: str, task: str, form: FormId
) -> tuple[_State, _State, set[str]]:
    """Return the values that the form's page shows, those stored, and fields changed elsewhere."""
    shown: _State = {}
    now: _State = {}
    others: set[str] = set()
    sql = "SELECT field, value, page FROM events WHERE rater = ? AND task = ? ORDER BY seq"
    for n, (name, value, page) in enumerate(write.execute(sql, (rater, task)), 1):
        now[name] = value
        if page == form.page or n <= form.seen:
            shown[name] = value
            others.discard(name)
        else:
            others.add(name)
    return shown, now, others
