"""Tables of parts by name, in which a part of a slice is named, and imported on first use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pkgutil import resolve_name
from typing import TypeVar

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """Parts by name; one given as a string, `package.module:NAME`, is imported when looked up.

    So a core part can offer what a slice has, and neither import it nor load it for those who do
    not use it. Names are listed without importing anything.
    """

    def __init__(self, entries: Mapping[str, T | str]) -> None:
        self.entries = dict(entries)

    def __getitem__(self, name: str) -> T:
        """Return the part of that name."""
        entry = self.entries[name]
        part: T = resolve_name(entry) if isinstance(entry, str) else entry
        return part

    def __contains__(self, name: object) -> bool:
        """Tell whether there is a part of that name."""
        return name in self.entries

    def __iter__(self) -> Iterator[str]:
        """Return the names, in the order given."""
        return iter(self.entries)

    def __len__(self) -> int:
        """Return the number of parts."""
        return len(self.entries)
