"""The archive in which the results of one system are submitted for publication.

```text
FILE.zip
├── submission.json            what the archive has, and the numbers that it claims: `Submission`
├── card.toml                  the card of the system, as the submitter filled it in: `Card`
├── runs/RUN/run.json, *.eval  a run over the public split, and its later gradings in `graded/`
└── probes/CHECK/…             a probe check of a grader, likewise
```

Of a run over the held-out split the archive has numbers alone. An archive may come from anybody:
it is read within limits, and unpacked into a temporary folder that is removed afterwards.
`careeval.protocol.submission_writing` writes it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, get_args

from careeval.core.card import Card
from careeval.core.text import plain
from careeval.errors import CareEvalError, LogError, ProtocolError
from careeval.files import open_file
from careeval.protocol.log_fields import error_text
from careeval.protocol.logs import open_log, read_member
from careeval.protocol.prices import Price
from careeval.protocol.run import from_fields
from careeval.protocol.run_files import parse_json
from careeval.protocol.run_folder import GRADED, RUN_FILE
from careeval.sheets.every_eval_ever import Relationship

SCHEMA = "careeval.submission/1"
SUBMISSION_FILE, CARD_FILE = "submission.json", "card.toml"
RUNS, PROBES = "runs", "probes"
"""Names of the archive's folders."""

STATEMENT = (
    "As far as we know, the system was not trained on this bank, and its texts and these logs are "
    "not used to train or tune a system.",
    "The logs are those of every call for these runs: no response or judgment was chosen, repeated "
    "for a better one, or changed.",
    "The archive may be published and kept, under CC BY 4.0, also after it is superseded.",
    "The numbers are not presented as proof that a system is safe, or as medical advice.",
)
"""The statement that a submitter agrees to."""

RELATIONS: tuple[str, ...] = get_args(Relationship)
"""Relations of the submitter to the maker of the system."""

MAX_CARD = 20_000
"""The most bytes of a card."""

MAX_MEMBERS = 1_000
"""The most files of an archive."""

MAX_UNPACKED = 4_000_000_000
"""The most bytes of an archive's files together, unpacked once."""

MAX_RATIO = 100
"""The most times that a file of an archive may be larger than it is packed."""

MAX_LOG_RATIO = 200
"""The most times that a log of a submission may be larger unpacked, beyond `LOG_SLACK`."""

LOG_SLACK = 200_000_000
"""Bytes that the log of a submission may have unpacked, however well it is packed."""

_LOG_MEMBERS = ("header.json", "summaries.json", "reductions.json", "_journal/", "samples/")
"""Beginnings of the names of a log's members, as Inspect writes them."""

_NAME = r"[A-Za-z0-9_][A-Za-z0-9._+@-]{0,149}"
_MEMBER = re.compile(
    rf"(?:{RUNS}|{PROBES})/{_NAME}(?:/{GRADED}/{_NAME})?/(?:{re.escape(RUN_FILE)}|{_NAME}\.eval)"
)
CHUNK = 1_000_000
"""Bytes of a file that are copied at a time."""

_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)


_ASKED = {
    "system": "name of the system, as it is listed",
    "version": "its version, as exact as its maker gives it",
    "date": "when it was run: YYYY-MM-DD",
    "run_by": "who ran it",
    "relation": f"of who ran it to its maker: {', '.join(RELATIONS)}",
    "settings": 'thinking, tools, prompts of its own, a temperature; "defaults" if nothing',
    "contact": "an address for questions; may stay empty",
    "rank": "true to be ranked; false to be listed apart, as a reference",
    "agree": "true if you agree to all of this:",
}
"""Field of a card → what to fill in."""


@dataclass(frozen=True)
class LeftOut:
    """Files of the runs that are not in the archive."""

    what: str
    why: str


@dataclass(frozen=True)
class Submission:
    """The content of `submission.json`."""

    schema: str
    software: str  # Version of careeval
    card: Card
    statement: tuple[str, ...]
    files: dict[str, str]  # Path of every other file in the archive → its SHA-256
    prices: dict[str, dict[str, Price]]  # Name of a run → prices of its models
    left_out: tuple[LeftOut, ...]
    numbers: list[dict[str, Any]]
    """The entries of the public runs, as `careeval summary --json --detail` has them."""
    held_out: list[dict[str, Any]]  # Those of runs over the held-out split


# The card


def new_card() -> str:
    """Return the text of a card whose fields are to be filled in."""
    lines = ["# Fill this in, then: careeval submit RUN -o FILE.zip --card THIS_FILE"]
    for name, asked in _ASKED.items():
        lines += ["", f"# {asked}"]
        if name == "agree":
            lines += [f"# - {sentence}" for sentence in STATEMENT]
        empty = "true" if name == "rank" else "false" if name == "agree" else '""'
        lines.append(f"{name} = {empty}")
    return "\n".join(lines) + "\n"


def parse_card(text: str, place: str) -> Card:
    """Return the card in a TOML text.

    Raises:
        ProtocolError: It is not TOML, or fields are missing, unknown or faulty; all are named. Or
            the submitter does not agree to the statement.
    """
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"{place}: is not TOML: {error}", hint=_CARD_HINT) from error
    problems = [*_card_problems(table)]
    if problems:
        listed = "".join(f"\n  {problem}" for problem in problems)
        raise ProtocolError(f"{place}: the card is not filled in:{listed}", hint=_CARD_HINT)
    # TOML has dates of its own
    return Card(**{**table, "date": str(table["date"])})


_CARD_HINT = "careeval submit --new-card FILE writes a card that says what belongs in each field"


def _card_problems(table: Mapping[str, Any]) -> Iterator[str]:
    for name in table.keys() - _ASKED.keys():
        yield f"{name!r} is not a field of a card"
    for name, asked in _ASKED.items():
        value = table.get(name)
        if name in ("rank", "agree"):
            if not isinstance(value, bool):
                yield f"{name} is missing: true or false"
            elif name == "agree" and not value:
                yield "agree is false: without agreement to the statement nothing is submitted"
        elif name == "date":
            if not _is_date(value):
                yield f"{name} is missing: {asked}"
        elif not isinstance(value, str) or (not value.strip() and name != "contact"):
            yield f"{name} is missing: {asked}"
        elif not value.isprintable() or len(value) > 1_000:
            yield f"{name} has control characters, several lines, or more than 1,000 characters"
        elif name == "relation" and value not in RELATIONS:
            yield f"{name} is not one of {', '.join(RELATIONS)}"


def _is_date(value: object) -> bool:
    try:
        date.fromisoformat(str(value))
    except ValueError:
        return False
    return True


# Reading


@contextmanager
def unpacked(path: Path) -> Iterator[tuple[Submission, Path]]:
    """Unpack an archive for the block; yield its description, and a temporary folder with it.

    Raises:
        OSError: There is no such file, or the disk is full.
        LogError: It is not an archive of `write_submission`, is beyond the limits, or a file is
            missing, added or changed.
    """
    with open_file(path) as file, tempfile.TemporaryDirectory(prefix="careeval-") as name:
        folder = Path(name)
        try:
            with zipfile.ZipFile(file) as archive:
                submission = _unpack(archive, folder)
        except CareEvalError:
            raise
        except Exception as error:  # a damaged zip fails in many ways
            if isinstance(error, OSError) and error.errno in _DISK_ERRORS:
                raise
            raise LogError(f"it cannot be read as an archive: {error_text(error)}") from error
        yield submission, folder


def _unpack(archive: zipfile.ZipFile, folder: Path) -> Submission:
    members = archive.infolist()
    if problems := [*_member_problems(archive, members)]:
        raise LogError("\n".join(problems[:10]))
    try:
        submission = from_fields(Submission, parse_json(read_member(archive, SUBMISSION_FILE)))
        card_text = read_member(archive, CARD_FILE, MAX_CARD).decode()
    except (KeyError, ValueError) as error:
        raise LogError(f"its description cannot be read: {error_text(error)}") from error
    if submission.schema != SCHEMA:
        raise LogError(f"its schema is {plain(submission.schema)[:80]!r}, expected {SCHEMA!r}")
    hashes = {CARD_FILE: hashlib.sha256(card_text.encode()).hexdigest()}
    for place, member in enumerate(members, start=1):
        if member.filename not in (SUBMISSION_FILE, CARD_FILE):
            hashes[member.filename] = _extract(archive, member, folder, place)
    listed = submission.files
    problems = [
        *(f"{name} is missing" for name in sorted(listed.keys() - hashes.keys())),
        *(f"{name} is not listed" for name in sorted(hashes.keys() - listed.keys())),
        *(
            f"{name} was changed: its hash is not the one listed"
            for name in sorted(hashes.keys() & listed.keys())
            if hashes[name] != listed[name]
        ),
    ]
    if problems:
        raise LogError("\n".join(problems[:10]))
    for name in sorted(listed):
        if name.endswith(".eval"):
            _check_log(folder / name, name)
    if parse_card(card_text, CARD_FILE) != submission.card:
        raise LogError(f"the card in {SUBMISSION_FILE} is not that in {CARD_FILE}")
    if submission.statement != STATEMENT:
        raise LogError("its submitter agreed to another statement than this careeval's")
    return submission


def _check_log(path: Path, name: str) -> None:
    """Check that a log has a log's members alone, each once, and that it is not too large.

    Raises:
        LogError: It is otherwise.
    """
    try:
        with open_log(path) as archive:
            names = archive.namelist()
            n_bytes = sum(member.file_size for member in archive.infolist())
    except LogError as error:
        raise LogError(str(error).replace(str(path), name)) from error
    except Exception as error:  # a damaged zip fails in many ways
        raise LogError(f"{name}: cannot be read as a log: it may be cut off") from error
    if n_bytes > MAX_LOG_RATIO * path.stat().st_size + LOG_SLACK:
        raise LogError(f"{name}: unpacks to {n_bytes:,} bytes, too many for its size")
    if len({*names}) < len(names):
        raise LogError(f"{name}: has two members of one name")
    if other := [each for each in names if not each.startswith(_LOG_MEMBERS)]:
        raise LogError(f"{name}: {other[0][:200]!a} is not a member of a log")


def _member_problems(archive: zipfile.ZipFile, members: Sequence[zipfile.ZipInfo]) -> Iterator[str]:
    """Yield why an archive may not be unpacked."""
    if len(members) > MAX_MEMBERS:
        yield f"it has {len(members):,} files, at most {MAX_MEMBERS:,}"
        return
    if (n_bytes := sum(member.file_size for member in members)) > MAX_UNPACKED:
        yield f"it is too large: {n_bytes:,} bytes unpacked, at most {MAX_UNPACKED:,}"
    if archive.comment or any(member.comment for member in members):
        yield "it has a comment, which is no part of a submission"
    names: set[str] = set()
    for member in members:
        # as ASCII: a name may have control characters, or turn the direction of a line
        shown = ascii(member.filename[:200])
        mode = stat.S_IFMT(member.external_attr >> 16)
        if mode not in (0, stat.S_IFREG):
            yield f"{shown} is a link, or another thing that is no file"
        elif member.filename not in (SUBMISSION_FILE, CARD_FILE) and not _MEMBER.fullmatch(
            member.filename
        ):
            yield f"{shown} is not a file of a submission"
        elif member.filename.casefold() in names:
            yield f"{shown} appears twice"
        elif member.flag_bits & 1:
            yield f"{shown} is encrypted"
        elif member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            yield f"{shown} is packed in a way that is not read: {member.compress_type}"
        elif member.file_size > MAX_RATIO * member.compress_size + CHUNK // 10:
            yield (
                f"{shown} unpacks {member.compress_size:,} bytes to {member.file_size:,}, "
                f"at most {MAX_RATIO} times as many"
            )
        names.add(member.filename.casefold())


def _extract(archive: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path, place: int) -> str:
    """Unpack one file; return its SHA-256."""
    target = folder / member.filename
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with archive.open(member) as source, target.open("xb") as file:
        while content := source.read(CHUNK):
            digest.update(content)
            file.write(content)
    # of logs begun in the same second, the one written last counts
    os.utime(target, (place, place))
    return digest.hexdigest()
