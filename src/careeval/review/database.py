"""One SQLite file: opening, migration, transactions, and SQLite's errors in plain words.

It uses a write-ahead log with `synchronous=FULL`, so that a commit survives a crash of the process
or a loss of power. `secure_delete` overwrites what a withdrawal deletes; the log still has it until
the log is emptied.
"""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, Self

from careeval.errors import ReviewError
from careeval.files import open_file

APPLICATION = int.from_bytes(b"care")
"""The application id that marks a SQLite file as ours."""

BUSY_SECONDS = 2.0
"""Seconds to wait for somebody else's lock before giving up."""

MIGRATIONS: tuple[str, ...] = (
    """
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
    """,
)
"""The n-th script brings a file from version n-1 to n. A released script is never edited."""

_EXPLANATIONS = {
    sqlite3.SQLITE_FULL: (
        "the disk is full",
        "free some space; what was saved before is kept",
    ),
    sqlite3.SQLITE_IOERR: (
        "the disk cannot be written or read",
        "check the disk; then try again",
    ),
    sqlite3.SQLITE_BUSY: ("another program holds it locked", "close that program, or wait for it"),
    sqlite3.SQLITE_LOCKED: (
        "another program holds it locked",
        "close that program, or wait for it",
    ),
    sqlite3.SQLITE_READONLY: (
        "it is read-only",
        "give write permission to it and its folder",
    ),
    sqlite3.SQLITE_PERM: (
        "there is no permission to open it",
        "give read and write permission to it",
    ),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", "name the file of a study or an audit"),
    sqlite3.SQLITE_CORRUPT: ("it is damaged", "keep it, and go on from the last backup"),
    sqlite3.SQLITE_NOTADB: (
        "it is not a careeval study or audit file",
        "name the file of a study or an audit",
    ),
}


class Database:
    """A connection to one file: threads write in turn, and read at the same time.

    A transaction waits at most `BUSY_SECONDS` for its turn and for another program's lock together;
    readers do not wait for writers.

    Raises:
        ReviewError: The file is missing, exists already, is not careeval's, is newer than this
            careeval, damaged or locked, or cannot be written. It is left as it was.
    """

    def __init__(
        self,
        path: Path,
        *,
        create: bool = False,
        migrations: Sequence[str] = MIGRATIONS,
        copy: TemporaryDirectory[str] | None = None,
    ) -> None:
        """Open a database file, and bring it up to date.

        Args:
            path: The file.
            create: Whether to create it; it must not exist then.
            migrations: The scripts that bring it up to date.
            copy: A temporary folder with a copy of the file, which is read instead and deleted on
                close.
        """
        self.path = path
        self._copy = copy
        self._file = path if copy is None else Path(copy.name, path.name)
        self._write_lock = threading.Lock()
        self._readers: list[sqlite3.Connection] = []  # free ones
        self._closed = False
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
                self._prepare(new=create, migrations=migrations)
        except BaseException:
            self._connection.close()
            if create:
                path.unlink()
            raise

    @classmethod
    def to_read(cls, path: Path) -> Self:
        """Open a file to read it; if it cannot be written, open a private copy instead.

        A file that can be written is brought up to date.

        Raises:
            ReviewError: As the class; or the file cannot be copied.
        """
        try:
            return cls(path)
        except ReviewError as error:
            if not _is_unwritable(error.__cause__):
                raise
        copy = _copied(path)
        try:
            return cls(path, copy=copy)
        except BaseException:
            copy.cleanup()
            raise

    @property
    def is_copy(self) -> bool:
        """True if this is a copy, so that nothing written here reaches the file itself."""
        return self._copy is not None

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(
            f"{self._file.resolve().as_uri()}?mode=rw",
            uri=True,
            isolation_level=None,  # transactions begin where `write` says
            check_same_thread=False,  # one thread at a time uses a connection
            timeout=BUSY_SECONDS,
        )

    def _prepare(self, *, new: bool, migrations: Sequence[str]) -> None:
        connection = self._connection
        if not new:
            if _pragma(connection, "application_id") != APPLICATION:
                raise ReviewError(
                    f"{self.path} is not a careeval study or audit file",
                    hint="name the file of a study or an audit",
                )
            if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise _explained(self.path, sqlite3.SQLITE_CORRUPT)
        version = _pragma(connection, "user_version")
        if version > len(migrations):
            raise ReviewError(
                f"{self.path} was written by a newer careeval (file version {version}; "
                f"this careeval reads up to {len(migrations)})",
                hint="upgrade careeval",
            )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
        for number, script in enumerate(migrations[version:], version + 1):
            # one transaction each: a crash leaves the whole file in the version before
            connection.executescript(
                f"BEGIN IMMEDIATE; {script}; PRAGMA application_id = {APPLICATION}; "
                f"PRAGMA user_version = {number}; COMMIT;"
            )

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self._explained_errors(), self._reader() as reader:
            return reader.execute(sql, values).fetchall()

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        try:
            reader = self._readers.pop()
        except IndexError:
            if self._closed:
                raise sqlite3.ProgrammingError("the database is closed") from None
            reader = self._connect()
            reader.execute("PRAGMA query_only = ON")
        try:
            yield reader
        finally:
            self._readers.append(reader)
            if self._closed:
                self._close_readers()

    def _close_readers(self) -> None:
        with suppress(IndexError):  # another thread may have taken the last
            while True:
                self._readers.pop().close()

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
        """Close every connection to the file."""
        with self._write_lock:
            self._closed = True
            self._close_readers()
            self._connection.close()
            if self._copy is not None:
                self._copy.cleanup()

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


_UNWRITABLE = {
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
}
"""SQLite's errors with a file that a copy may help to read: to read, SQLite writes files too."""


def _is_unwritable(error: BaseException | None) -> bool:
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF in _UNWRITABLE


def _copied(path: Path) -> TemporaryDirectory[str]:
    """Return a temporary folder with a file and its write-ahead log, which has the newest rows.

    Raises:
        ReviewError: There is no room, or another program keeps changing the file.
    """
    try:
        copy = TemporaryDirectory(prefix="careeval-", ignore_cleanup_errors=True)
    except OSError as error:
        raise _not_copied(path, error) from error
    parts = {Path(f"{path.resolve()}{end}"): f"{path.name}{end}" for end in ("", "-wal")}
    try:
        for _ in range(_COPIES):
            before = _file_states(parts)
            for part, name in parts.items():
                Path(copy.name, name).unlink(missing_ok=True)  # left by the last try
                with (
                    suppress(FileNotFoundError),
                    open_file(part) as file,
                    Path(copy.name, name).open("xb") as target,
                ):
                    shutil.copyfileobj(file, target)
            # another program may have moved rows from the log into the file in between
            if _file_states(parts) == before:
                return copy
    except OSError as error:
        copy.cleanup()
        raise _not_copied(path, error) from error
    copy.cleanup()
    raise ReviewError(
        f"{path}: another program keeps changing the file, so that it could not be copied for "
        "reading",
        hint="try again later",
    )


_COPIES = 5
"""The number of times that copying is tried while somebody writes the file."""


def _file_states(parts: Iterable[Path]) -> list[tuple[int, int] | None]:
    """Return size and time of change of each file; None if there is no such file."""
    states: list[tuple[int, int] | None] = []
    for part in parts:
        try:
            stat = part.stat()
        except FileNotFoundError:
            states.append(None)
        else:
            states.append((stat.st_size, stat.st_mtime_ns))
    return states


def _not_copied(path: Path, error: OSError) -> ReviewError:
    return ReviewError(
        f"{path} can be neither written nor copied for reading: {error.strerror}",
        hint="set TMPDIR to a folder with room for a copy of it",
    )


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
