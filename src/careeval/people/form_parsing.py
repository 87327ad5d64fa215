"""Parsing of the forms that a browser sends, with a limit on their size."""

from __future__ import annotations

import re
from collections.abc import AsyncIterable, Mapping
from urllib.parse import parse_qsl

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


async def read_form(content_type: str, body: AsyncIterable[bytes]) -> Mapping[str, str]:
    """Return the fields of a form.

    Args:
        content_type: The type that the browser states.
        body: The bytes of the form as they come in; at most `MAX_BODY` are taken.

    Raises:
        FormError: The body is too large, not a form or not UTF-8, has too many fields, or names a
            field twice.
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
    try:
        pairs = parse_qsl(
            read.decode("ascii"),
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
