"""Forms that come in: their fields, and forms that meet a change made meanwhile."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import sqlite3
from collections.abc import AsyncIterable, Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from urllib.parse import parse_qsl

from careeval.errors import ReviewError

ANSWER = "q."
"""The prefix of fields that hold answers to questions, and of no others."""

MAX_BODY = 4 * 2**20
"""The most bytes of a form: more than is kept, so that too long a text can be shown again."""

_MAX_FIELDS = 500

# C0 and C1 controls except tab and newline, and marks that change the direction of text
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class FormError(Exception):
    """A form that cannot be read, so that nothing of it is kept.

    Attributes:
        status: The HTTP status of the refusal.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


async def read_body(content_type: str, body: AsyncIterable[bytes]) -> bytes:
    """Return the bytes of a form.

    Args:
        content_type: The type that the browser states.
        body: The bytes as they come in; at most `MAX_BODY` are taken.

    Raises:
        FormError: The body is too large, or not a form.
    """
    if content_type.partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise FormError(
            415,
            "What was sent did not come from a form of this page; nothing was saved. Go back "
            "and try again.",
        )
    read = bytearray()
    async for part in body:
        read += part
        if len(read) > MAX_BODY:
            raise FormError(
                413,
                "That was too much text at once; nothing was saved. Shorten it and send it again.",
            )
    return bytes(read)


def parse_form(body: bytes) -> Mapping[str, str]:
    """Return the fields of a form.

    Raises:
        FormError: The form is not UTF-8, has too many fields, or names a field twice.
    """
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_MAX_FIELDS,
        )
    except ValueError as error:
        raise FormError(
            400, "The form could not be read; nothing was saved. Go back and try again."
        ) from error
    if len({name for name, _ in pairs}) < len(pairs):
        raise FormError(
            400, "The form answers a question twice; nothing was saved. Go back and try again."
        )
    return {name: clean(value) for name, value in pairs}


def clean(text: str) -> str:
    """Return a text with uniform newlines and a visible mark in place of control characters."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n").replace("\r", "\n"))


_APP = version("careeval")

COUNT_EVENTS = "SELECT count(*) FROM events WHERE rater = ? AND task = ?"
"""A query that counts a rater's events on one task; the newest event has this number."""


class RevokedError(ReviewError):
    """The rater's link is switched off or they have withdrawn; nothing was saved."""


class ClosedError(ReviewError):
    """The study or audit is closed; nothing was saved."""


@dataclass(frozen=True, slots=True)
class FormId:
    """The identity of a form: the page that sent it, its number there, and what the page showed."""

    page: str  # A random name for one showing of a page
    number: int  # The number of the form among those that this page sends
    seen: int
    """The number of the newest event (`Store.newest`) when the page was shown. It stays the same,
    whatever the page sends."""

    @classmethod
    def new(cls, seen: int = 0) -> FormId:
        """Return the identity of the first form that a page shown now will send."""
        return cls(secrets.token_urlsafe(12), 0, seen)


@dataclass(frozen=True, slots=True)
class FormChange:
    """The fields that one form sends for one task of a rater: see `Store.save`."""

    rater: str
    task: str
    values: Mapping[str, str | None]
    form: FormId
    place: int | None = None
    typed_by: str | None = None


@dataclass(frozen=True, slots=True)
class SaveResult:
    """The changes that a saved form made, and the answers that it conflicted with."""

    seen: int  # The number of the task's newest event now (`Store.newest`)
    changed: tuple[str, ...] = ()  # Fields with another value than the page had before
    replayed: bool = False
    """True if this form, or a later one of its page, was saved before, so that nothing is changed
    now."""
    overwritten: Mapping[str, str | None] = field(default_factory=dict)
    """By field, values that another page saved after this page was shown, and that this form
    replaced."""
    kept: Mapping[str, str | None] = field(default_factory=dict)
    """By field, values that another page saved after this page was shown, and that this form
    leaves."""


def save_change(write: sqlite3.Connection, change: FormChange, at: Callable[[], str]) -> SaveResult:
    """Write the events of one change, in a transaction that the caller commits.

    Args:
        write: The connection that writes.
        change: The change.
        at: Returns the time now, for each event.

    Raises:
        ReviewError: The work is closed, or the rater is revoked or has withdrawn.
    """
    rater, task, form = change.rater, change.task, change.form
    digest = _digest(task, change.values, form)
    _expect_writable(write, rater)
    if _came_before(write, rater, form, digest):
        return SaveResult(_newest(write, rater, task), replayed=True)
    write.execute("INSERT INTO forms VALUES (?, ?, ?, ?)", (rater, form.page, form.number, digest))
    shown, now, others = _three_states(write, rater, task, form)
    changed = {f: v for f, v in change.values.items() if v != shown.get(f)}
    write.executemany(
        "INSERT INTO events (rater, task, field, value, at, place, app, page, number, seen,"
        " typed_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (rater, task, name, value, at(), change.place, _APP, form.page, form.number,
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
    return int(write.execute(COUNT_EVENTS, (rater, task)).fetchone()[0])


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
