"""One SQLite file: opening, transactions, and SQLite's errors in plain words.

It uses a write-ahead log with `synchronous=FULL`, so that a commit survives a crash of the process
or a loss of power. `secure_delete` overwrites what a withdrawal deletes; the log still has it until
the log is emptied.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from careeval.errors import ReviewError

APPLICATION = int.from_bytes(b"care")
"""The application id that marks a SQLite file as ours."""

BUSY_SECONDS = 2.0
"""Seconds to wait for somebody else's lock before giving up."""

VERSION = 1
"""The version of the form of the file."""

_SCHEMA = """
CREATE TABLE plans (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    content TEXT NOT NULL,
    at TEXT NOT NULL
) STRICT;
CREATE TABLE raters (
    id TEXT PRIMARY KEY,
    role TEXT NOT NULL,
    token TEXT NOT NULL UNIQUE,       -- SHA-256 of the link's token
    revoked INTEGER NOT NULL DEFAULT 0,
    at TEXT NOT NULL
) STRICT;
CREATE TABLE sessions (
    secret TEXT PRIMARY KEY,          -- SHA-256 of the cookie
    rater TEXT NOT NULL REFERENCES raters ON DELETE CASCADE,
    at TEXT NOT NULL
) STRICT;
CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    rater TEXT NOT NULL REFERENCES raters ON DELETE CASCADE,
    task TEXT NOT NULL,
    field TEXT NOT NULL,
    value TEXT,                       -- null: taken back
    at TEXT NOT NULL,
    place INTEGER,                    -- of the task in the rater's order
    app TEXT NOT NULL,
    page TEXT NOT NULL,               -- the page it was typed on
    number INTEGER NOT NULL,          -- the form's, on that page
    seen INTEGER NOT NULL,            -- how many of the rater's events of the task it knew
    typed_by TEXT                     -- null: the rater
) STRICT;
CREATE INDEX events_by_field ON events (rater, task, field, seq);
CREATE TABLE forms (
    rater TEXT NOT NULL REFERENCES raters ON DELETE CASCADE,
    page TEXT NOT NULL,
    number INTEGER NOT NULL,
    digest TEXT NOT NULL,             -- of all that the form says
    PRIMARY KEY (rater, page, number, digest)
) STRICT, WITHOUT ROWID;
CREATE TABLE withdrawals (
    at TEXT NOT NULL,
    events INTEGER NOT NULL,
    erased INTEGER NOT NULL DEFAULT 0 -- from the log too
) STRICT;
CREATE TABLE secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE closings (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, closed INTEGER NOT NULL, at TEXT NOT NULL
) STRICT;
CREATE TRIGGER events_stand BEFORE UPDATE ON events
BEGIN SELECT raise(ABORT, 'events are never changed'); END;
"""

_LOCKED = ("another program holds it locked", "close that program, or wait for it")
_EXPLANATIONS = {
    sqlite3.SQLITE_FULL: (
        "the disk is full",
        "free some space; what was saved before is kept",
    ),
    sqlite3.SQLITE_IOERR: (
        "the disk cannot be written or read",
        "check the disk; then try again",
    ),
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_READONLY: (
        "it is read-only",
        "give write permission to it and its folder, or copy it to where you may write",
    ),
    sqlite3.SQLITE_PERM: (
        "there is no permission to open it",
        "give read and write permission to it",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "it cannot be opened",
        "name the file of a study or an audit; if its disk is read-only, copy it and open the copy",
    ),
    sqlite3.SQLITE_CORRUPT: ("it is damaged", "keep it, and go on from the last backup"),
    sqlite3.SQLITE_NOTADB: (
        "it is not a careeval study or audit file",
        "name the file of a study or an audit",
    ),
}


class Database:
    """A file that threads write in turn, over one connection, and read at the same time.

    A transaction waits at most `BUSY_SECONDS` for its turn and for another program's lock together;
    readers do not wait for writers. A query has a connection of its own, or that of `reading`.

    Raises:
        ReviewError: The file is missing, exists already, is not careeval's, is newer than this
            careeval, damaged or locked, or cannot be written. It is left as it was.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """Open a database file; with `create`, a new one, which must not exist yet."""
        self.path = path
        self._write_lock = threading.Lock()
        self._thread = threading.local()
        if create == path.exists():
            problem = "exists already" if create else "does not exist"
            hint = "choose another name" if create else "name the file of a study or an audit"
            raise ReviewError(f"{path} {problem}", hint=hint)
        if create:
            _touch_private(path)
        with self._explained_errors():
            self._connection = self._connect()
        try:
            with self._explained_errors():
                self._prepare(new=create)
        except BaseException:
            self._connection.close()
            if create:
                path.unlink()
            raise

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(
            f"{self.path.resolve().as_uri()}?mode=rw",
            uri=True,
            isolation_level=None,  # transactions begin where `write` says
            check_same_thread=False,  # one thread at a time uses a connection
            timeout=BUSY_SECONDS,
        )

    def _prepare(self, *, new: bool) -> None:
        connection = self._connection
        if not new:
            if _pragma(connection, "application_id") != APPLICATION:
                raise ReviewError(
                    f"{self.path} is not a careeval study or audit file",
                    hint="name the file of a study or an audit",
                )
            if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise _explained(self.path, sqlite3.SQLITE_CORRUPT)
            if (version := _pragma(connection, "user_version")) != VERSION:
                raise ReviewError(
                    f"{self.path} was written by a newer careeval (file version {version}; "
                    f"this careeval reads version {VERSION})",
                    hint="upgrade careeval",
                )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
        if new:
            connection.executescript(
                f"BEGIN IMMEDIATE; {_SCHEMA}; PRAGMA application_id = {APPLICATION}; "
                f"PRAGMA user_version = {VERSION}; COMMIT;"
            )

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give all queries of this thread in the block one connection; they see each commit."""
        if (reader := getattr(self._thread, "reader", None)) is not None:
            yield reader
            return
        with self._explained_errors():
            reader = self._connect()
        with closing(reader):
            self._thread.reader = reader
            try:
                yield reader
            finally:
                self._thread.reader = None

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self.reading() as reader, self._explained_errors():
            reader.execute("PRAGMA query_only = ON")
            return reader.execute(sql, values).fetchall()

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection for one transaction: committed after the block, undone if that fails.

        Raises:
            ReviewError: The wait was too long, or SQLite fails.
        """
        until = monotonic() + BUSY_SECONDS
        with self._explained_errors(), self._write_locked(BUSY_SECONDS):
            self._wait_for_others(max(0.0, until - monotonic()))
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def empty_log(self, wait: float = 0.0) -> bool:
        """Empty the write-ahead log, so that deleted rows are in no file any more.

        Args:
            wait: The most seconds to wait until others close the file.

        Returns:
            Whether the log is empty now; it is not if another program reads the file, or the
            disk fails.
        """
        try:
            with self._write_locked(BUSY_SECONDS):
                self._wait_for_others(wait)
                (busy, *_) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                return not busy
        except (sqlite3.DatabaseError, ReviewError):
            return False

    @contextmanager
    def _write_locked(self, seconds: float) -> Iterator[None]:
        if not self._write_lock.acquire(timeout=seconds):
            raise _explained(self.path, sqlite3.SQLITE_BUSY)
        try:
            yield
        finally:
            self._write_lock.release()

    def _wait_for_others(self, seconds: float) -> None:
        self._connection.execute(f"PRAGMA busy_timeout = {round(1000 * seconds)}")

    def copy_to(self, path: Path) -> None:
        """Copy the whole file, as it is at this moment, to a new file; other programs may write.

        Raises:
            ReviewError: There is a file at `path` already; or the copy cannot be written, and no
                part of it is left.
        """
        if path.exists():
            raise ReviewError(f"{path} exists already", hint="choose another name")
        _touch_private(path)
        try:
            with self._write_lock, _explained_errors(path):
                copy = sqlite3.connect(path)
                try:
                    self._connection.backup(copy)
                finally:
                    copy.close()
        except BaseException:
            path.unlink()
            raise

    def close(self) -> None:
        """Close the file."""
        with self._write_lock:
            self._connection.close()

    def _explained_errors(self) -> AbstractContextManager[None]:
        return _explained_errors(self.path)


@contextmanager
def _explained_errors(path: Path) -> Iterator[None]:
    """Raise the SQLite errors of `_EXPLANATIONS` as ReviewErrors in plain words; others pass."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        # extended codes carry the primary one in their low byte
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF
        if code not in _EXPLANATIONS:
            raise
        raise _explained(path, code) from error


def _explained(path: Path, code: int) -> ReviewError:
    message, hint = _EXPLANATIONS[code]
    return ReviewError(f"{path}: {message}", hint=hint)


def _touch_private(path: Path) -> None:
    """Create an empty file that only its owner can read and write."""
    try:
        path.touch(mode=0o600, exist_ok=False)
    except OSError as error:
        raise ReviewError(f"{path} cannot be written: {error.strerror}") from error


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
