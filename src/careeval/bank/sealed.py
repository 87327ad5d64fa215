"""The sealed held-out split: an encrypted file beside the public ones, and a hash of its content.

```text
bank/
├── bank.yaml, sources.yaml, <adl>/…      public
├── held-out.age                          the same kinds of files, packed and encrypted
└── held-out.sha256                       hash of the packed text, to identify the split
```

The files are packed as a JSON object of names and texts in canonical form, so that equal content
has an equal hash. They are encrypted by age with an X25519 key, so any age tool can read and write
them with the key. Only `bank open` writes the plain text to disk.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from careeval.bank.evidence import FILE as EVIDENCE
from careeval.bank.yaml_nodes import parse_yaml
from careeval.core.scenario import Adl, Split
from careeval.errors import BankError
from careeval.files import read_bytes, read_text, write_text

SEALED = "held-out.age"
HASH = "held-out.sha256"

KEY_VARIABLE = "CAREEVAL_HELD_OUT_KEY"
"""Environment variable with the key or the path of a file with the key."""

MAX_KEY = 100_000
"""The most bytes of a file with a key or a hash."""

MAX_SEALED = 200_000_000
"""The most bytes of a sealed split; a thousand scenarios with their probes take ten million."""

KEPT = (
    "sources.yaml", *(f"{adl}/*.yaml" for adl in Adl), EVIDENCE, "second-reading/*.csv", "pilot.csv"
)  # fmt: skip
"""Patterns of the files that are sealed: all that a held-out split can have."""


def held_out_key() -> str | None:
    """Return the key of the held-out split from the environment; `None` if no key is set.

    Raises:
        BankError: The variable has neither a key nor the path of a file with a key.
    """
    value = os.environ.get(KEY_VARIABLE, "").strip()
    if not value or value.startswith("AGE-SECRET-KEY-"):
        return value or None
    try:
        key = read_text(Path(value), max_bytes=MAX_KEY)
        _identity(key)
        return key
    except (OSError, UnicodeDecodeError) as error:
        # the value may be half a key, so the message does not repeat it
        raise BankError(
            f"{KEY_VARIABLE} is neither an age key nor a file of text ({type(error).__name__})",
            hint="set it to the key, AGE-SECRET-KEY-…, or to the path of its file",
        ) from None


def key_for_bank(bank: Path) -> str | None:
    """Return `held_out_key()` if a bank has a sealed split, else `None`."""
    return held_out_key() if has_sealed(bank) else None


def key_for_split(split: str | None) -> str | None:
    """Return `held_out_key()` if the split is the held-out one, else `None`."""
    return held_out_key() if split == Split.held_out else None


def pack(folder: Path) -> str:
    """Return the files of a held-out split as one text.

    Raises:
        BankError: A file cannot be read, a scenario is not marked as held out, or no file exists.
    """
    texts = {}
    for path in sorted({path for pattern in KEPT for path in folder.glob(pattern)}):
        try:
            text = texts[path.relative_to(folder).as_posix()] = read_text(path)
        except UnicodeDecodeError as error:
            raise BankError(f"{path} cannot be read: {error}") from error
        except OSError as error:
            raise BankError(f"{path} cannot be read: {error.strerror}") from error
        if path.parent == folder or path.suffixes != [".yaml"]:
            continue  # not a scenario
        content = parse_yaml(text, str(path)).content
        if not (isinstance(content, dict) and content.get("split") == Split.held_out):
            raise BankError(
                f"{path} is not marked as held out", hint="write 'split: held-out' in it"
            )
    if not texts:
        raise BankError(
            f"{folder} holds nothing to seal",
            hint="name the folder that has the scenarios, as <adl>/<id>.yaml",
        )
    return json.dumps(texts, sort_keys=True, ensure_ascii=False, indent=0) + "\n"


def seal(packed: str, bank: Path, key: str) -> str:
    """Encrypt a packed split, write it into a bank with its SHA-256, and return that as hex digits.

    Both files are written before either replaces the old one. If the machine stops between the two
    replacements, `unseal` notices that they do not match.

    Raises:
        BankError: The key is not valid, or the files cannot be written.
    """
    import pyrage

    digest = hashlib.sha256(packed.encode()).hexdigest()
    secret = pyrage.encrypt(packed.encode(), [_identity(key).to_public()])
    new = {SEALED: secret, HASH: f"{digest}  {SEALED} (plain text)\n".encode()}
    paths = [bank / f"{name}.new" for name in new]
    try:
        for path, content in zip(paths, new.values(), strict=True):
            path.write_bytes(content)
        for path in paths:
            path.replace(path.with_suffix(""))
    except OSError as error:
        raise BankError(f"{bank} cannot be written: {error.strerror}") from error
    finally:
        for path in paths:
            path.unlink(missing_ok=True)
    return digest


def unseal(bank: Path, key: str) -> Mapping[str, str]:
    """Return file name → text of a bank's held-out split.

    Raises:
        BankError: The split or its hash cannot be read, the key is wrong, the hash does not match,
            or what is encrypted is not a split.
    """
    import pyrage

    try:
        secret = read_bytes(bank / SEALED, MAX_SEALED)
        published = read_text(bank / HASH, max_bytes=MAX_KEY).split()[0]
    except (OSError, UnicodeDecodeError, IndexError) as error:
        why = f" ({error.filename}: {error.strerror})" if isinstance(error, OSError) else ""
        raise BankError(
            f"{bank} has no held-out split that can be read: {SEALED} or {HASH} is missing or "
            f"cannot be read{why}",
            hint="take both files from the bank's release",
        ) from error
    try:
        packed = pyrage.decrypt(secret, [_identity(key)])
    except pyrage.DecryptError as error:
        raise BankError(
            f"{bank / SEALED} does not open with this key",
            hint=f"is {KEY_VARIABLE} the key of this bank's held-out split?",
        ) from error
    if hashlib.sha256(packed).hexdigest() != published:
        raise BankError(
            f"the content of {bank / SEALED} does not have the hash in {HASH}",
            hint="take both files from the same release of the bank",
        )
    try:
        texts = json.loads(packed)
    except (ValueError, RecursionError):
        texts = None
    # no `from error`, which would show held-out text
    if not (isinstance(texts, dict) and all(isinstance(text, str) for text in texts.values())):
        raise BankError(
            f"{bank / SEALED} opens with this key, but 'careeval bank seal' did not make it",
            hint="take the file from the bank's release, or seal the split again",
        )
    files: Mapping[str, str] = texts
    return files


def write_open(texts: Mapping[str, str], folder: Path) -> None:
    """Write a split's files in clear text into a folder that only its owner can read.

    Raises:
        BankError: The folder is neither new nor empty, cannot be written, or lies in a git
            repository, where one careless commit would publish what is held out; or a file would
            lie outside the folder.
    """
    # a link may lead into a repository
    folder = folder.resolve()
    if odd := [name for name in texts if ".." in Path(name).parts or Path(name).is_absolute()]:
        raise BankError(
            f"the sealed split has the file {odd[0]!r}, which would be written outside {folder}",
            hint="take the split from the bank's release",
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BankError(
            f"{folder} exists and is not an empty folder", hint="name a folder that is new or empty"
        )
    folders = (folder, *folder.parents)
    if repository := next((parent for parent in folders if (parent / ".git").exists()), None):
        raise BankError(
            f"{folder} lies in the git repository {repository}",
            hint="open it outside: what is committed once is held out no more",
        )
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        for name, text in texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, text)
    except OSError as error:
        raise BankError(f"{folder} cannot be written: {error.strerror}") from error


def has_sealed(bank: Path) -> bool:
    """Tell whether a bank has a sealed held-out split, readable or not."""
    return os.path.lexists(bank / SEALED)


def _identity(key: str) -> Any:
    """Return the key as a pyrage identity, without the comments that `age-keygen` writes."""
    import pyrage

    lines = [line.strip() for line in key.splitlines()]
    try:
        return pyrage.x25519.Identity.from_str(
            next((line for line in lines if line and not line.startswith("#")), "")
        )
    except pyrage.IdentityError:
        raise BankError(
            "the key of the held-out split is not an age key",
            hint="an age key is one line that begins with AGE-SECRET-KEY-1",
        ) from None
