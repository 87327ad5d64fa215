"""One SQLite file: opened, brought up to date, and its faults said in words.

Write-ahead log with `synchronous=FULL`: what a commit has acknowledged survives the process and the
power. `secure_delete` overwrites what a withdrawal deletes; the log has it until that is emptied.
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
"""Marks a SQLite file as ours."""

BUSY_SECONDS = 2.0
"""How long to wait for somebody else's lock before saying so."""

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
        seen INTEGER NOT NULL,            -- the newest event that the page knew
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
    CREATE TABLE withdrawals (at TEXT NOT NULL, events INTEGER NOT NULL) STRICT;
    CREATE TABLE closings (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, closed INTEGER NOT NULL, at TEXT NOT NULL
    ) STRICT;
    CREATE TRIGGER events_stand BEFORE UPDATE ON events
    BEGIN SELECT raise(ABORT, 'events are never changed'); END;
    """,
    """
    ALTER TABLE withdrawals ADD COLUMN erased INTEGER NOT NULL DEFAULT 0;  -- from the log too
    -- from here on events.seen counts the rater's own events of the task that the page knew
    """,
    """
    CREATE TABLE secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
    """,
)
"""The n-th brings a file from version n-1 to n. Never edited once released; only added to."""

_WORDS = {
    sqlite3.SQLITE_FULL: (
        "the disk is full",
        "free some space; what was saved before still stands",
    ),
    sqlite3.SQLITE_IOERR: (
        "the disk cannot be written or read",
        "look at the disk; then try again",
    ),
    sqlite3.SQLITE_BUSY: ("another program holds it locked", "close that program, or wait for it"),
    sqlite3.SQLITE_LOCKED: (
        "another program holds it locked",
        "close that program, or wait for it",
    ),
    sqlite3.SQLITE_READONLY: (
        "it may not be written",
        "give write permission to it and its folder",
    ),
    sqlite3.SQLITE_PERM: ("it may not be opened", "give read and write permission to it"),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", "name the file of a study or an audit"),
    sqlite3.SQLITE_CORRUPT: ("it is damaged", "keep it, and go on from the last backup"),
    sqlite3.SQLITE_NOTADB: ("it is no store of careeval", "name the file of a study or an audit"),
}


class Database:
    """A connection that threads take turns to write with, and others to read beside it.

    Nobody waits longer than `BUSY_SECONDS` for their turn and for another program's lock together,
    and whoever reads waits for no writer.

    Raises:
        ReviewError: The file is missing, there already, foreign, newer than this careeval, damaged,
            locked, or cannot be written. It is left as it was.
    """

    def __init__(
        self,
        path: Path,
        *,
        create: bool = False,
        migrations: Sequence[str] = MIGRATIONS,
        copy: TemporaryDirectory[str] | None = None,
    ) -> None:
        """Open a file.

        Args:
            path: The file.
            create: Whether to make it, where nothing may be.
            migrations: What brings it up to date.
            copy: The folder of a copy that is read in its place, and goes when it is let go.
        """
        self.path = path
        self._copy = copy
        self._file = path if copy is None else Path(copy.name, path.name)
        self._turn = threading.Lock()
        self._readers: list[sqlite3.Connection] = []  # those that nobody uses now
        self._closed = False
        if create == path.exists():
            there = "is there already" if create else "is not there"
            raise ReviewError(f"{path} {there}", hint="choose another name" if create else "")
        if create:
            _touch_private(path)
        with self._said():
            self._connection = self._connect()
        try:
            with self._said():
                self._prepare(new=create, migrations=migrations)
        except BaseException:
            self._connection.close()
            if create:
                path.unlink()
            raise

    @classmethod
    def to_read(cls, path: Path) -> Self:
        """Open a file whose rows are only read; where it cannot be written, a private copy of it.

        Raises:
            ReviewError: As the class; or there is no room for the copy.
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
        """Whether a copy is read, so that nothing that is written comes to the file."""
        return self._copy is not None

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(
            f"{self._file.resolve().as_uri()}?mode=rw",
            uri=True,
            isolation_level=None,  # transactions begin where `write` says
            check_same_thread=False,  # one at a time, by `_turn` or as taken from `_readers`
            timeout=BUSY_SECONDS,
        )

    def _prepare(self, *, new: bool, migrations: Sequence[str]) -> None:
        connection = self._connection
        if not new:
            if _pragma(connection, "application_id") != APPLICATION:
                raise ReviewError(f"{self.path}: it is no store of careeval")
            if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise _in_words(self.path, sqlite3.SQLITE_CORRUPT)
        version = _pragma(connection, "user_version")
        if version > len(migrations):
            raise ReviewError(
                f"{self.path} was written by a newer careeval (version {version} of the store; "
                f"this one knows {len(migrations)})",
                hint="upgrade careeval",
            )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
        for number, script in enumerate(migrations[version:], version + 1):
            # one script, one transaction: a crash leaves the version before, whole
            connection.executescript(
                f"BEGIN IMMEDIATE; {script}; PRAGMA application_id = {APPLICATION}; "
                f"PRAGMA user_version = {number}; COMMIT;"
            )

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """What a query finds."""
        with self._said(), self._reader() as reader:
            return reader.execute(sql, values).fetchall()

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        try:
            reader = self._readers.pop()
        except IndexError:
            if self._closed:
                raise sqlite3.ProgrammingError("it has been let go") from None
            reader = self._connect()
            reader.execute("PRAGMA query_only = ON")
        try:
            yield reader
        finally:
            self._readers.append(reader)
            if self._closed:
                self._let_readers_go()

    def _let_readers_go(self) -> None:
        with suppress(IndexError):  # another thread may have taken the last
            while True:
                self._readers.pop().close()

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A transaction: on disk when the block has ended, undone when it raises."""
        until = monotonic() + BUSY_SECONDS
        with self._said(), self._in_turn(BUSY_SECONDS):
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
        """Empty the write-ahead log, so that what was deleted is in no file.

        Args:
            wait: Seconds, at most, for others to let go.

        Returns:
            Whether it is empty; it is not while somebody else reads the file, or the disk fails.
        """
        try:
            with self._in_turn(BUSY_SECONDS):
                self._wait_for_others(wait)
                (busy, *_) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                return not busy
        except (sqlite3.DatabaseError, ReviewError):
            return False

    @contextmanager
    def _in_turn(self, seconds: float) -> Iterator[None]:
        if not self._turn.acquire(timeout=seconds):
            raise _in_words(self.path, sqlite3.SQLITE_BUSY)
        try:
            yield
        finally:
            self._turn.release()

    def _wait_for_others(self, seconds: float) -> None:
        self._connection.execute(f"PRAGMA busy_timeout = {round(1000 * seconds)}")

    def copy_to(self, path: Path) -> None:
        """A copy of the whole at this moment, while others write, in a new file.

        Raises:
            ReviewError: The copy is there already, or cannot be written: no part of it is left.
        """
        if path.exists():
            raise ReviewError(f"{path} is there already", hint="choose another name")
        _touch_private(path)
        try:
            with self._turn, _said(path):
                copy = sqlite3.connect(path)
                try:
                    self._connection.backup(copy)
                finally:
                    copy.close()
        except BaseException:
            path.unlink()
            raise

    def close(self) -> None:
        """Let the file go."""
        with self._turn:
            self._closed = True
            self._let_readers_go()
            self._connection.close()
            if self._copy is not None:
                self._copy.cleanup()

    def _said(self) -> AbstractContextManager[None]:
        return _said(self.path)


@contextmanager
def _said(path: Path) -> Iterator[None]:
    """Say in words what is wrong with a file."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        # extended codes carry the primary one in their low byte
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF
        if code not in _WORDS:
            raise
        raise _in_words(path, code) from error


_UNWRITABLE = {
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
}
"""Errors of a file that may still be read: SQLite writes a file beside it even for reading."""


def _is_unwritable(error: BaseException | None) -> bool:
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF in _UNWRITABLE


def _copied(path: Path) -> TemporaryDirectory[str]:
    """A folder with a copy of a file and of its log, which has the newest rows."""
    try:
        copy = TemporaryDirectory(prefix="careeval-", ignore_cleanup_errors=True)
    except OSError as error:
        raise _not_copied(path, error) from error
    parts = {Path(f"{path.resolve()}{end}"): f"{path.name}{end}" for end in ("", "-wal")}
    try:
        for _ in range(_COPIES):
            before = _stands(parts)
            for part, name in parts.items():
                Path(copy.name, name).unlink(missing_ok=True)  # of the last try
                with (
                    suppress(FileNotFoundError),
                    open_file(part) as file,
                    Path(copy.name, name).open("xb") as target,
                ):
                    shutil.copyfileobj(file, target)
            # one who may write it could have moved rows from its log into it in between
            if _stands(parts) == before:
                return copy
    except OSError as error:
        copy.cleanup()
        raise _not_copied(path, error) from error
    copy.cleanup()
    raise ReviewError(
        f"{path}: somebody writes it, and its disk cannot be written from here",
        hint="try again in a while",
    )


_COPIES = 5
"""Times that a file is copied while somebody writes it."""


def _stands(parts: Iterable[Path]) -> list[tuple[int, int] | None]:
    """Return size and time of each file; None where there is none."""
    found: list[tuple[int, int] | None] = []
    for part in parts:
        try:
            stat = part.stat()
        except FileNotFoundError:
            found.append(None)
        else:
            found.append((stat.st_size, stat.st_mtime_ns))
    return found


def _not_copied(path: Path, error: OSError) -> ReviewError:
    return ReviewError(
        f"{path}: its disk cannot be written, and it cannot be copied to read it: {error.strerror}",
        hint="set TMPDIR to a folder with room for a copy of it",
    )


def _in_words(path: Path, code: int) -> ReviewError:
    message, hint = _WORDS[code]
    return ReviewError(f"{path}: {message}", hint=hint)


def _touch_private(path: Path) -> None:
    """An empty file that its owner alone can read."""
    try:
        path.touch(mode=0o600, exist_ok=False)
    except OSError as error:
        raise ReviewError(f"{path} cannot be written: {error.strerror}") from error


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
