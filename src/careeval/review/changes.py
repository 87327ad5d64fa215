"""How a change that a form sends is kept: it counts once, and never silently undoes another."""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version

from careeval.errors import ReviewError

_APP = version("careeval")

COUNT_EVENTS = "SELECT count(*) FROM events WHERE rater = ? AND task = ?"
"""Counts the events of one rater on one task: the newest's number, 0 where there is none."""


class RevokedError(ReviewError):
    """The rater's link is revoked, or they have withdrawn: nothing more is saved of theirs."""


class ClosedError(ReviewError):
    """The work is closed: nothing more is saved of anybody's."""


@dataclass(frozen=True, slots=True)
class Form:
    """Which form on which page sent a change, so that it counts once and never silently undoes.

    Attributes:
        page: Random, of one showing of a page.
        number: Of the form among those that this page sends.
        seen: The newest event when the page was shown, as of `Store.newest`; it stays, whatever
            the page sends.
    """

    page: str
    number: int
    seen: int

    @classmethod
    def new(cls, seen: int = 0) -> Form:
        """The first of a page that is shown now."""
        return cls(secrets.token_urlsafe(12), 0, seen)


@dataclass(frozen=True, slots=True)
class Change:
    """What one form says of one task of a rater's: as of `Store.save`."""

    rater: str
    task: str
    values: Mapping[str, str | None]
    form: Form
    place: int | None = None
    typed_by: str | None = None


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of a form.

    Attributes:
        seen: The newest event of this task, as of `Store.newest`.
        changed: Fields that the page had otherwise before.
        replayed: The form, or a later one of its page, had come before; it has changed nothing.
        overwritten: What another page had saved since, and this form replaced, by field.
        kept: What another page has saved since, and this form leaves, by field.
    """

    seen: int
    changed: tuple[str, ...] = ()
    replayed: bool = False
    overwritten: Mapping[str, str | None] = field(default_factory=dict)
    kept: Mapping[str, str | None] = field(default_factory=dict)


def save_change(write: sqlite3.Connection, change: Change, at: Callable[[], str]) -> Saved:
    """Write the events of one change, in a transaction that the caller commits.

    Args:
        write: The connection that writes.
        change: What a form says.
        at: The time now, for each event.

    Raises:
        ReviewError: The work is closed, or the rater is revoked or has withdrawn.
    """
    rater, task, form = change.rater, change.task, change.form
    digest = _digest(task, change.values, form)
    _expect_writable(write, rater)
    if _came_before(write, rater, form, digest):
        return Saved(_newest(write, rater, task), replayed=True)
    write.execute("INSERT INTO forms VALUES (?, ?, ?, ?)", (rater, form.page, form.number, digest))
    known, now, others = _three_states(write, rater, task, form)
    changed = {f: v for f, v in change.values.items() if v != known.get(f)}
    write.executemany(
        "INSERT INTO events (rater, task, field, value, at, place, app, page, number, seen,"
        " typed_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (rater, task, name, value, at(), change.place, _APP, form.page, form.number,
             form.seen, change.typed_by)
            for name, value in changed.items()
        ],
    )  # fmt: skip
    return Saved(
        seen=_newest(write, rater, task),
        changed=tuple(changed),
        overwritten={f: now[f] for f, v in changed.items() if f in others and v != now[f]},
        kept={f: now[f] for f in others if f not in changed},
    )


def _expect_writable(write: sqlite3.Connection, rater: str) -> None:
    """Raise RevokedError where the rater's link is off, ClosedError where the work is closed."""
    row = write.execute("SELECT revoked FROM raters WHERE id = ?", (rater,)).fetchone()
    if row is None or row[0]:
        raise RevokedError("this link has been revoked")
    closed = write.execute("SELECT closed FROM closings ORDER BY seq DESC LIMIT 1").fetchone()
    if closed and closed[0]:
        raise ClosedError("the work is closed")


def _digest(task: str, values: Mapping[str, str | None], form: Form) -> str:
    """The same for a form sent twice, another where its page or anything in it differs."""
    content = [task, form.page, form.number, form.seen, sorted(values.items())]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _came_before(write: sqlite3.Connection, rater: str, form: Form, digest: str) -> bool:
    """Whether the form, or a later one of its page, has been here.

    One that a later one has overtaken on its way says less than is known already.
    """
    sql = (
        "SELECT count(*) FROM forms WHERE rater = ? AND page = ? "
        "AND (number > ? OR (number = ? AND digest = ?))"
    )
    values = (rater, form.page, form.number, form.number, digest)
    return bool(write.execute(sql, values).fetchone()[0])


def _newest(write: sqlite3.Connection, rater: str, task: str) -> int:
    return int(write.execute(COUNT_EVENTS, (rater, task)).fetchone()[0])


_State = dict[str, str | None]


def _three_states(
    write: sqlite3.Connection, rater: str, task: str, form: Form
) -> tuple[_State, _State, set[str]]:
    """What the form's page knows of each field, what stands, and which fields others changed."""
    known: _State = {}
    now: _State = {}
    others: set[str] = set()
    sql = "SELECT field, value, page FROM events WHERE rater = ? AND task = ? ORDER BY seq"
    for n, (name, value, page) in enumerate(write.execute(sql, (rater, task)), 1):
        now[name] = value
        if page == form.page or n <= form.seen:
            known[name] = value
            others.discard(name)
        else:
            others.add(name)
    return known, now, others
