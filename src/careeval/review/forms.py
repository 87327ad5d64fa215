"""What a browser sends: read whole, within limits, as clean text."""

from __future__ import annotations

import re
from collections.abc import AsyncIterable, Mapping
from urllib.parse import parse_qsl

ANSWER = "q."
"""Before the name of a field that somebody answers, and of no other."""

MAX_BODY = 4 * 2**20
"""Bytes of a form: room enough to send back to its writer a text far too long to be kept."""

_MAX_FIELDS = 500

# C0 and C1 controls but tab and newline, and what turns the direction of the text around it
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class FormError(Exception):
    """A form that cannot be read: nothing of it was kept.

    Attributes:
        status: Of the answer to it.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


async def read_form(content_type: str, body: AsyncIterable[bytes]) -> Mapping[str, str]:
    """The fields of a form.

    Args:
        content_type: As the browser states it.
        body: The form's bytes as they come in; no more than `MAX_BODY` are taken.

    Raises:
        FormError: It is too large, no form, not UTF-8, or names a field twice.
    """
    if content_type.partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise FormError(415, "That was not sent by a form of this page.")
    read = bytearray()
    async for part in body:
        read += part
        if len(read) > MAX_BODY:
            raise FormError(413, "That was too much text at once; nothing of it was saved.")
    try:
        pairs = parse_qsl(
            read.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_MAX_FIELDS,
        )
    except ValueError as error:
        raise FormError(400, "That form could not be read; nothing of it was saved.") from error
    if len({name for name, _ in pairs}) < len(pairs):
        raise FormError(400, "That form answers a question twice; nothing of it was saved.")
    return {name: clean(value) for name, value in pairs}


def clean(text: str) -> str:
    """The text with newlines as newlines, and a visible mark for what is not text."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n").replace("\r", "\n"))
