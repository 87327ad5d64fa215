"""Limits for untrusted Parquet files, checked before any value is read.

A file of a few kilobytes can hold billions of values. The numbers of values and of unpacked bytes
are in the file's footer and before each page, in Thrift's compact protocol.
"""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from careeval.files import open_file

MAX_FILE = 2_000_000_000
"""Most bytes of a file."""

MAX_UNPACKED = 2_000_000_000
"""Most bytes of a file's unpacked pages together."""

MAX_FOOTER = 4_000_000
"""Most bytes of a file's footer; the footer of a table of 5,000,000 rows has 300,000."""

MAX_PAGES = 100_000
"""Most pages of a file."""

MAX_IN_LIST = 4
"""Most values of a column for each row that a file may have; a few columns hold lists."""

_MAGIC = b"PAR1"
_TRUE, _FALSE, _BYTE, _I64, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 6, 7, 8, 9, 10, 12

# fields of the format, by their numbers: https://github.com/apache/parquet-format
_N_ROWS, _ROW_GROUPS, _COLUMNS, _META = 3, 4, 1, 3
_N_VALUES, _PACKED, _DATA_AT, _DICTIONARY_AT = 5, 7, 9, 11
_PAGE_UNPACKED, _PAGE_PACKED, _PAGE_KINDS = 2, 3, (5, 7, 8)


def check_parquet(path: Path, max_rows: int) -> None:
    """Check that a Parquet file is within the limits.

    A cache that fails is not used, and the logs are read instead: no user sees these messages.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file exceeds a limit, is damaged, or is not a Parquet file.
    """
    with open_file(path) as file:
        length = file.seek(0, 2)
        if not 12 <= length <= MAX_FILE:
            raise ValueError(
                f"{path} has {length:,} bytes; at least 12 and at most {MAX_FILE:,} are read"
            )
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            try:
                _check(content, max_rows)
            except (LookupError, TypeError, AttributeError, RecursionError) as error:
                raise ValueError(f"{path} is a damaged Parquet file") from error


def _check(content: mmap.mmap, max_rows: int) -> None:
    n_footer = int.from_bytes(content[-8:-4], "little")
    if content[-4:] != _MAGIC:
        raise ValueError("it is not a Parquet file")
    if n_footer > MAX_FOOTER:
        raise ValueError(f"its footer has {n_footer:,} bytes, at most {MAX_FOOTER:,}")
    footer = _Thrift(content, len(content) - 8 - n_footer).struct()
    n_rows, n_unpacked, n_pages = 0, 0, 0
    n_values = Counter[int]()
    for group in footer[_ROW_GROUPS]:
        n_rows += _positive(group[_N_ROWS])
        for number, column in enumerate(group[_COLUMNS]):
            in_pages = 0
            # checked at each page, since many columns may name the same pages
            for page in _pages(content, column[_META]):
                n_pages += 1
                n_unpacked += page.n_unpacked
                in_pages += page.n_values
                _at_most("pages", n_pages, MAX_PAGES)
                _at_most("bytes unpacked", n_unpacked, MAX_UNPACKED)
            n_values[number] += max(column[_META][_N_VALUES], in_pages)
    most_values = max(n_values.values(), default=0)
    _at_most("rows", max(n_rows, footer[_N_ROWS]), max_rows)
    _at_most("values in a column", most_values, MAX_IN_LIST * max_rows)


def _at_most(what: str, n: int, most: int) -> None:
    if n > most:
        raise ValueError(f"it has {n:,} {what}, at most {most:,}")


def _positive(number: int) -> int:
    if number < 0:
        raise ValueError(f"it has a count of {number:,}, which must not be negative")
    return number


@dataclass(frozen=True, slots=True)
class _Page:
    n_values: int
    n_unpacked: int


def _pages(content: mmap.mmap, column: dict[int, Any]) -> Iterator[_Page]:
    at = column[_DATA_AT]
    if 0 < (dictionary := column.get(_DICTIONARY_AT, 0)) < at:
        at = dictionary
    end = at + column[_PACKED]
    if at < len(_MAGIC) or end > len(content):
        raise ValueError("it is damaged: a column lies outside the file")
    for _ in range(MAX_PAGES + 1):
        if at >= end:
            return
        thrift = _Thrift(content, at)
        header = thrift.struct()
        kinds = [header[kind] for kind in _PAGE_KINDS if kind in header]
        yield _Page(sum(_positive(kind[1]) for kind in kinds), _positive(header[_PAGE_UNPACKED]))
        at = thrift.at + _positive(header[_PAGE_PACKED])


class _Thrift:
    """A reader of Thrift's compact protocol, which returns a struct as field number → value."""

    def __init__(self, content: mmap.mmap, at: int) -> None:
        self._content, self.at, self._end = content, at, at + MAX_FOOTER

    def struct(self) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._number()
            kind = head & 15
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._byte()
        if _BYTE < kind <= _I64:
            return self._number()
        if kind == _DOUBLE:
            return self._skip(8)
        if kind == _BINARY:
            return self._skip(self._varint())
        if kind in (_LIST, _SET):
            head = self._byte()
            n = head >> 4 if head >> 4 < 15 else self._varint()
            return [self._value(head & 15) for _ in range(n)]
        if kind == _STRUCT:
            return self.struct()
        raise ValueError(f"it is damaged: it has a field of kind {kind}, which does not exist")

    def _byte(self) -> int:
        self._skip(1)
        return self._content[self.at - 1]

    def _skip(self, n: int) -> None:
        self.at += n
        if self.at > self._end:
            raise ValueError(f"its footer or a page header has more than {MAX_FOOTER:,} bytes")

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("it is damaged: it has a number of more than ten bytes")

    def _number(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)
