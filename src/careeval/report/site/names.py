"""Names of files and anchors, from names that anybody may have chosen."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

LONGEST = 60

# Windows keeps these for itself, whatever follows them
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)$")


def slugs(names: Iterable[str], otherwise: str) -> dict[str, str]:
    """Name → lower-case letters, digits and hyphens: safe in a path, and no two the same.

    A name's slug hangs on the other names only where two would share one: then each of them carries
    a hash of its name.

    Args:
        names: Any text.
        otherwise: Stands for a name without a letter or digit.
    """
    different = sorted(set(names))
    plain = {name: _slug(name) or otherwise for name in different}
    n_of = Counter(plain.values())
    found = {name: f"{slug}-{_hash(name)}" for name, slug in plain.items() if n_of[slug] > 1}
    alone = {name: slug for name, slug in plain.items() if n_of[slug] == 1}
    # somebody may have chosen the name that another's hash makes
    taken = set(found.values())
    return {
        name: found.get(name) or (f"{slug}-{_hash(name)}" if slug in taken else slug)
        for name, slug in (found | alone).items()
    }


def _slug(name: str) -> str:
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", ascii_only).strip("-")
    if len(slug) > LONGEST:
        slug = f"{slug[:LONGEST].rstrip('-')}-{_hash(name)}"
    return f"{slug}-{_hash(name)}" if _DEVICES.match(slug) or slug == "index" else slug


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
