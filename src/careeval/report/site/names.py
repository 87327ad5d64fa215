"""Safe names for files and anchors, from arbitrary names."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

LONGEST = 60
"""Characters of a slug without its hash."""

# reserved by Windows, with any suffix
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)$")


def slugs(names: Iterable[str], otherwise: str) -> dict[str, str]:
    """Return name → slug of lower-case letters, digits and hyphens, safe in a path and unique.

    A slug depends on other names only if two names would share a slug; then each of the two gets a
    hash of its name.

    Args:
        names: Any texts.
        otherwise: Slug for a name that has no letter or digit.
    """
    different = sorted(set(names))
    plain = {name: _slug(name) or otherwise for name in different}
    n_by_slug = Counter(plain.values())
    hashed = {name: f"{slug}-{_hash(name)}" for name, slug in plain.items() if n_by_slug[slug] > 1}
    alone = {name: slug for name, slug in plain.items() if n_by_slug[slug] == 1}
    # another name may be equal to a hashed slug
    taken = set(hashed.values())
    return {
        name: hashed.get(name) or (f"{slug}-{_hash(name)}" if slug in taken else slug)
        for name, slug in (hashed | alone).items()
    }


def _slug(name: str) -> str:
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", ascii_only).strip("-")
    if len(slug) > LONGEST:
        slug = f"{slug[:LONGEST].rstrip('-')}-{_hash(name)}"
    return f"{slug}-{_hash(name)}" if _DEVICES.match(slug) or slug == "index" else slug


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
