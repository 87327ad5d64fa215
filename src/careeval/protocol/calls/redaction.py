"""Secrets are blotted out of what servers say, however they write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel

BLOT = "(the key)"

SHORTEST = 8
"""Characters of a key that is blotted out of answers too; what is shorter, "EMPTY" say, is a word
that an answer may hold by itself."""


class Blot:
    r"""Blots keys out, as they stand and escaped: `\u0073k-…` in JSON, `%73k-…`, `&#115;k-…`."""

    def __init__(self, keys: Iterable[str]) -> None:
        """Take the keys; empty ones are none."""
        keys = [key for key in keys if key]
        self._any = _pattern(keys)
        self._long = _pattern([key for key in keys if len(key) >= SHORTEST])
        self._raw = re.compile(self._any.pattern.encode()) if self._any else None
        self._raw_long = re.compile(self._long.pattern.encode()) if self._long else None

    def text(self, text: str) -> str:
        """A message without the keys."""
        return self._any.sub(BLOT, text) if self._any else text

    def body(self, raw: bytes, *, is_error: bool) -> bytes:
        """The body of a reply without the keys."""
        pattern = self._raw if is_error else self._raw_long
        return pattern.sub(BLOT.encode(), raw) if pattern else raw

    def header(self, value: str) -> str:
        """The value of a reply's header without the keys."""
        return self._long.sub(BLOT, value) if self._long else value

    def error(self, error: BaseException) -> None:
        """Take the keys out of what an exception, and those that led to it, say."""
        seen = set[int]()
        left: list[BaseException | None] = [error]
        while left:
            each = left.pop()
            if each is None or id(each) in seen:
                continue
            seen.add(id(each))
            left += [each.__cause__, each.__context__]
            each.args = tuple(self._value(value) for value in each.args)
            for name, value in list(getattr(each, "__dict__", {}).items()):
                if (blotted := self._value(value)) is not value:
                    setattr(each, name, blotted)

    def inside(self, value: Any, *, is_error: bool) -> Any:
        """Take the keys out of every text in lists, mappings and pydantic models.

        Models are changed where they stand, since Inspect's log may hold them already.
        """
        if isinstance(value, str):
            blotted = self.text(value) if is_error else self.header(value)
            return value if blotted == value else blotted
        if isinstance(value, Mapping):
            return {each: self.inside(value[each], is_error=is_error) for each in value}
        if isinstance(value, list | tuple):
            clean = [self.inside(each, is_error=is_error) for each in value]
            return clean if isinstance(value, list) else tuple(clean)
        if isinstance(value, BaseModel):
            for name, field in value.__dict__.items():
                value.__dict__[name] = self.inside(field, is_error=is_error)
        return value

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            blotted: Any = self.text(value)
        elif isinstance(value, bytes):
            blotted = self.body(value, is_error=True)
        else:
            return value
        return value if blotted == value else blotted


def _pattern(keys: Iterable[str]) -> re.Pattern[str] | None:
    alternatives = ["".join(map(_character, key)) for key in keys]
    return re.compile("|".join(alternatives)) if alternatives else None


def _character(character: str) -> str:
    """A pattern of a character as it stands, and as JSON, URLs and HTML escape it."""
    code = ord(character)
    # more backslashes than one where JSON stands in JSON
    escaped = rf"\\+u{code:04x}|\\+x{code:02x}|%{code:02x}|&#0*{code};|&#x0*{code:x};"
    plain = re.escape(character)
    return rf"(?:{plain}|\\+{plain}|(?i:{escaped}))"
