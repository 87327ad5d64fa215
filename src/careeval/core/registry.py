"""Tables of parts by name; a part of a slice is imported when it is first used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pkgutil import resolve_name
from typing import TypeVar

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """Parts by name; a part given as a string, `package.module:NAME`, is imported when looked up.

    So a core part can offer what a slice has without importing it. Names are listed without
    importing anything.
    """

    def __init__(self, entries: Mapping[str, T | str]) -> None:
        self.entries = dict(entries)

    def __getitem__(self, name: str) -> T:
        entry = self.entries[name]
        part: T = resolve_name(entry) if isinstance(entry, str) else entry
        return part

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)
