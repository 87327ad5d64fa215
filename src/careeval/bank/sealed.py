"""The held-out split: one encrypted file beside the clear ones, and the hash of what is in it.

```text
bank/
├── bank.yaml, sources.yaml, <adl>/…      clear
├── held-out.age                          the same kinds of files, packed and encrypted
└── held-out.sha256                       of the packed text: says which split a score is of
```

Packed is a JSON object of file names and texts in canonical form, so that equal content has an
equal hash. Encrypted is age, with an X25519 key: whoever has the key reads and writes it with any
age tool. Its plain text is written nowhere but by `bank open`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from careeval.bank.evidence import FILE as EVIDENCE
from careeval.bank.yaml_nodes import Plain, parse_yaml
from careeval.core.scenario import Adl, Split
from careeval.errors import BankError
from careeval.files import read_bytes, read_text, write_text

SEALED = "held-out.age"
HASH = "held-out.sha256"

KEY_VARIABLE = "CAREEVAL_HELD_OUT_KEY"
"""Holds the key, or names a file that does."""

MAX_KEY = 100_000
"""Bytes of a key's file, or of a hash's."""

MAX_SEALED = 200_000_000
"""Bytes of a sealed split; a thousand scenarios with their probes have ten million."""

KEPT = (
    "sources.yaml", *(f"{adl}/*.yaml" for adl in Adl), EVIDENCE, "second-reading/*.csv", "pilot.csv"
)  # fmt: skip
"""What of a folder is sealed: the files that a bank has."""


def held_out_key() -> str | None:
    """The key from the environment; `None` where there is none.

    Raises:
        BankError: What is there is neither a key nor a file that can be read.
    """
    given = os.environ.get(KEY_VARIABLE, "").strip()
    if not given or given.startswith("AGE-SECRET-KEY-"):
        return given or None
    try:
        key = read_text(Path(given), most=MAX_KEY)
        _identity(key)
        return key
    except (OSError, UnicodeDecodeError) as error:
        # what was given may be half a key: it is not repeated
        raise BankError(
            f"{KEY_VARIABLE} is neither an age key nor a file of text ({type(error).__name__})",
            hint="set it to the key, AGE-SECRET-KEY-…, or to the path of its file",
        ) from None


def key_for(bank: Path) -> str | None:
    """The key from the environment where a bank has use for it; `None` where it has not.

    Raises:
        BankError: As `held_out_key`.
    """
    return held_out_key() if has_sealed(bank) else None


def split_key(split: str | None) -> str | None:
    """The key from the environment where that split needs it, and `None` where it does not."""
    return held_out_key() if split == Split.held_out else None


def pack(folder: Path) -> str:
    """The files of a held-out split as one text.

    Raises:
        BankError: A file cannot be read, a scenario is not marked as held out, or there is none.
    """
    texts = {}
    for path in sorted({path for pattern in KEPT for path in folder.glob(pattern)}):
        try:
            text = texts[path.relative_to(folder).as_posix()] = read_text(path)
        except UnicodeDecodeError as error:
            raise BankError(f"{path} cannot be read: {error}") from error
        except OSError as error:
            raise BankError(f"{path} cannot be read: {error.strerror}") from error
        is_scenario = path.parent != folder and path.suffixes == [".yaml"]
        if is_scenario and not _marked(parse_yaml(text, str(path)).content):
            raise BankError(f"{path} is not marked as held out", hint="write 'split: held-out'")
    if not texts:
        raise BankError(
            f"{folder} holds nothing to seal", hint="it has scenarios as <adl>/<id>.yaml"
        )
    return json.dumps(texts, sort_keys=True, ensure_ascii=False, indent=0) + "\n"


def _marked(scenario: Plain) -> bool:
    return isinstance(scenario, dict) and scenario.get("split") == Split.held_out


def seal(packed: str, bank: Path, key: str) -> str:
    """Write a packed split into a bank, encrypted, with its hash.

    Both are written whole before either takes its place. Should the machine stop between the two
    moves, `unseal` finds that they do not belong together.

    Returns:
        The hash: SHA-256 of the packed text, 64 hex digits.

    Raises:
        BankError: The key is none, or the files cannot be written.
    """
    import pyrage

    digest = hashlib.sha256(packed.encode()).hexdigest()
    secret = pyrage.encrypt(packed.encode(), [_identity(key).to_public()])
    new = {SEALED: secret, HASH: f"{digest}  {SEALED} (plain text)\n".encode()}
    made = [bank / f"{name}.new" for name in new]
    try:
        for path, content in zip(made, new.values(), strict=True):
            path.write_bytes(content)
        for path in made:
            path.replace(path.with_suffix(""))
    except OSError as error:
        raise BankError(f"{bank} cannot be written: {error.strerror}") from error
    finally:
        for path in made:
            path.unlink(missing_ok=True)
    return digest


def unseal(bank: Path, key: str) -> Mapping[str, str]:
    """The texts of a bank's held-out split, by file name.

    Raises:
        BankError: There is none, the key is not its key, or it is not what its hash says.
    """
    import pyrage

    try:
        secret = read_bytes(bank / SEALED, MAX_SEALED)
        published = read_text(bank / HASH, most=MAX_KEY).split()[0]
    except (OSError, UnicodeDecodeError, IndexError) as error:
        why = f" ({error.filename}: {error.strerror})" if isinstance(error, OSError) else ""
        raise BankError(
            f"{bank} has no held-out split that can be read: {SEALED} and {HASH} belong together"
            + why,
            hint="take both from the bank's release",
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
            f"{bank / SEALED} holds another text than {HASH} says",
            hint="take both from the same release",
        )
    try:
        texts = json.loads(packed)
    except (ValueError, RecursionError):
        texts = None
    # its error would repeat what is held out
    if not _are_files(texts):
        raise BankError(
            f"{bank / SEALED} opens with this key, and is no split that 'careeval bank seal' made",
            hint="take it from the bank's release, or seal the split again",
        )
    files: Mapping[str, str] = texts
    return files


def _are_files(texts: Any) -> bool:
    return isinstance(texts, dict) and all(isinstance(text, str) for text in texts.values())


def write_open(texts: Mapping[str, str], folder: Path) -> None:
    """Write a split's files in clear text into a folder that only its owner can read.

    Raises:
        BankError: The folder is there already, cannot be written, or lies in a git repository,
            where one careless commit would publish what is held out.
    """
    # where it really is: a link may lead into a repository
    folder = folder.resolve()
    if odd := [name for name in texts if ".." in Path(name).parts or Path(name).is_absolute()]:
        raise BankError(f"the sealed split has a file {odd[0]!r}, which is none of a bank's")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BankError(f"{folder} is there already", hint="name a folder that is new")
    places = (folder, *folder.parents)
    if repository := next((place for place in places if (place / ".git").exists()), None):
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
    """Return true if a bank has a sealed held-out split, or a file of that name."""
    return os.path.lexists(bank / SEALED)


def _identity(key: str) -> Any:
    """The key as pyrage has it; comments, as in a file of `age-keygen`, are passed over."""
    import pyrage

    lines = [line.strip() for line in key.splitlines()]
    try:
        return pyrage.x25519.Identity.from_str(
            next((line for line in lines if line and not line.startswith("#")), "")
        )
    except pyrage.IdentityError:
        raise BankError(
            "the key of the held-out split is not an age key",
            hint="it is one line that begins with AGE-SECRET-KEY-1",
        ) from None
