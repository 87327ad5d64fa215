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
"""

from __future__ import annotations

import errno
import hashlib
import json
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
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

from careeval.core.scenario import Split
from careeval.core.text import plain
from careeval.errors import CareEvalError, LogError, ProtocolError
from careeval.files import atomic_write, open_file, read_given_text
from careeval.protocol.log_fields import error_text
from careeval.protocol.logs import read_member
from careeval.protocol.prices import Price
from careeval.protocol.run import as_fields, from_fields
from careeval.protocol.run_files import parse_json
from careeval.protocol.run_folder import (
    GRADED,
    RUN_FILE,
    is_complete,
    is_probe_check,
    read_run_file,
    refuse_links,
    run_folders,
)
from careeval.protocol.sweep_cells import refuse_sweep
from careeval.protocol.tables import read_run, run_roots
from careeval.results.entries import entries
from careeval.results.entry import Entry
from careeval.results.held_out_words import withhold
from careeval.results.tables import Runs
from careeval.sheets.every_eval_ever import Relationship
from careeval.sheets.json_output import summary_json

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

_NAME = r"[A-Za-z0-9_][A-Za-z0-9._+@-]{0,149}"
_MEMBER = re.compile(
    rf"(?:{RUNS}|{PROBES})/{_NAME}(?:/{GRADED}/{_NAME})?/(?:{re.escape(RUN_FILE)}|{_NAME}\.eval)"
)
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
_CHUNK = 1_000_000


@dataclass(frozen=True)
class Card:
    """A submitter's description of a system and of itself."""

    system: str  # Name of the system, as it is listed
    version: str
    date: str  # When it was run, YYYY-MM-DD
    run_by: str
    relation: str  # One of `RELATIONS`: that of `run_by` to the maker of the system
    settings: str
    contact: str  # May be empty
    rank: bool  # False to be listed apart, as a reference
    agree: bool  # Whether the submitter agrees to `STATEMENT`


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


# Writing


def write_submission(
    out: Path, folders: Sequence[Path], card: Path, probes: Path | None = None
) -> Submission:
    """Write the archive of the runs of one system; return what it says of itself.

    Args:
        out: The archive to write.
        folders: Folders of the runs, or above them.
        card: File of the card, filled in.
        probes: Folder that `careeval audit probes -o` wrote.

    Raises:
        ProtocolError: The card is not filled in, there is no run, the runs are of several systems
            or in a sweep, or a folder has a link.
        LogError: A run cannot be read, two are of the same system in the same condition, or a probe
            check is over held-out scenarios.
    """
    card_text = read_given_text(card, ProtocolError, encoding="utf-8-sig", max_bytes=MAX_CARD)
    filled_in = parse_card(card_text, str(card))
    roots = [root for folder in folders for root in _roots(folder)]
    if not roots:
        raise ProtocolError(
            f"{', '.join(map(str, folders))}: no run with a log",
            hint="give the folder that 'careeval run -o' wrote to",
        )
    tables = {root: read_run(root) for root in dict.fromkeys(roots)}
    systems = sorted({name for runs in tables.values() for name in runs.responses["system"]})
    if len(systems) > 1:
        raise ProtocolError(
            f"these runs are of {len(systems)} systems: {', '.join(systems)}",
            hint="write one archive for each system, with a card of its own",
        )
    secret = [root for root, runs in tables.items() if has_held_out(runs)]
    public = [root for root in tables if root not in secret]
    members: dict[str, Path] = {}
    left_out: list[LeftOut] = []
    prices: dict[str, dict[str, Price]] = {}
    for root in tables:
        name = _free_name(root.name, prices)
        prices[name] = read_run_file(root).prices
        packed = {} if root in secret else _members(root, f"{RUNS}/{name}")
        members |= packed
        left_out += _left_out(root, set(packed.values()), is_secret=root in secret)
    checks: set[str] = set()
    for check in _probe_checks(probes):
        name = _free_name(check.name, checks)
        checks.add(name)
        members |= _members(check, f"{PROBES}/{name}")
    submission = Submission(
        schema=SCHEMA,
        software=version("careeval"),
        card=filled_in,
        statement=STATEMENT,
        files={
            CARD_FILE: hashlib.sha256(card_text.encode()).hexdigest(),
            **{name: _hash(path) for name, path in members.items()},
        },
        prices=prices,
        left_out=tuple(left_out),
        numbers=numbers_of(entries(_together(public, tables))),
        held_out=numbers_of(entries(withhold(_together(secret, tables)))),
    )
    text = json.dumps(as_fields(submission), indent=1, ensure_ascii=False) + "\n"
    with atomic_write(out) as beside, zipfile.ZipFile(beside, "w") as archive:
        archive.writestr(_info(SUBMISSION_FILE), text, zipfile.ZIP_DEFLATED)
        archive.writestr(_info(CARD_FILE), card_text, zipfile.ZIP_DEFLATED)
        for name, path in members.items():
            # a log is packed already
            with open_file(path) as source, archive.open(_info(name), "w") as target:
                while content := source.read(_CHUNK):
                    target.write(content)
    return submission


def has_held_out(runs: Runs) -> bool:
    """Tell whether a run has responses to held-out scenarios."""
    return bool((runs.responses["split"] == Split.held_out.value).any())


def numbers_of(found: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return every number of entries, as they are read back from JSON."""
    document = summary_json(found, in_detail=True)["entries"]
    numbers: list[dict[str, Any]] = json.loads(json.dumps(document))
    return numbers


def _together(roots: Sequence[Path], tables: Mapping[Path, Runs]) -> Runs:
    return Runs.together([tables[root] for root in roots], [str(root) for root in roots])


def _roots(folder: Path) -> list[Path]:
    refuse_sweep(folder)
    roots = [root for root in run_roots(folder) if not is_probe_check(root)]
    for root in roots:
        refuse_links(root)
    return roots


def _probe_checks(folder: Path | None) -> list[Path]:
    """Return the folders of the finished probe checks at or below a folder."""
    if folder is None:
        return []
    found = [each for each in run_folders(folder) if is_probe_check(each) and is_complete(each)]
    if not found:
        raise ProtocolError(
            f"{folder} has no finished audit of a grader",
            hint=f"careeval audit probes --grader NAME -o {folder}",
        )
    for check in found:
        refuse_links(check)
        if has_held_out(read_run(check)):
            raise LogError(
                f"{check} has probes of held-out scenarios, whose words must not be published",
                hint="check the grader on the public split, without the key: careeval audit probes",
            )
    return found


def _free_name(name: str, taken: Mapping[str, object] | set[str]) -> str:
    """Return a name for a folder of the archive, which is not taken."""
    # the end stays: gradings are numbered there
    safe = re.sub(r"[^A-Za-z0-9._+@-]+", "-", name)[-100:].strip("-.+@") or "run"
    names = (safe, *(f"{safe}-{n}" for n in range(2, MAX_MEMBERS)))
    return next(each for each in names if each not in taken)


def _members(root: Path, place: str) -> dict[str, Path]:
    """Return the files of a run that are packed, by their path in the archive.

    They are in the order in which they were written, which decides between samples.
    """
    packed = {f"{place}/{RUN_FILE}": root / RUN_FILE} if (root / RUN_FILE).exists() else {}
    logs = sorted(root.glob("*.eval"), key=lambda log: (log.stat().st_mtime_ns, log))
    packed |= {f"{place}/{_safe_log(log)}": log for log in logs}
    taken: set[str] = set()
    for grading in sorted(root.glob(f"{GRADED}/*/")):
        name = _free_name(grading.name, taken)
        taken.add(name)
        packed |= _members(grading, f"{place}/{GRADED}/{name}")
    return packed


def _safe_log(log: Path) -> str:
    return f"{_free_name(log.stem, set())}.eval"


_SUPERFLUOUS = {
    "calls.jsonl": "finished calls, which the logs have",
    "spent.jsonl": "what each call cost, which the logs have",
    "responses.jsonl": "recorded responses, which the logs have",
}
"""File of a run → why it is not packed."""


def _left_out(root: Path, packed: set[Path], *, is_secret: bool) -> Iterator[LeftOut]:
    """Yield what of a run is not packed."""
    if is_secret:
        why = "a run over the held-out split, whose words must stay unread: numbers only"
        yield LeftOut(f"{root.name}/", why)
        return
    for path in sorted(path for path in root.rglob("*") if path.is_file() and path not in packed):
        why = _SUPERFLUOUS.get(path.name, "no part of a run's results")
        yield LeftOut(f"{root.name}/{path.relative_to(root).as_posix()}", why)


def _info(name: str) -> zipfile.ZipInfo:
    """Return a member's description, without a date: equal runs make equal archives."""
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFREG | 0o644) << 16
    return info


def _hash(path: Path) -> str:
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
    found = {CARD_FILE: hashlib.sha256(card_text.encode()).hexdigest()}
    for place, member in enumerate(members, start=1):
        if member.filename not in (SUBMISSION_FILE, CARD_FILE):
            found[member.filename] = _extract(archive, member, folder, place)
    listed = submission.files
    problems = [
        *(f"{name} is missing" for name in sorted(listed.keys() - found.keys())),
        *(f"{name} is not listed" for name in sorted(found.keys() - listed.keys())),
        *(
            f"{name} was changed: its hash is not the one listed"
            for name in sorted(found.keys() & listed.keys())
            if found[name] != listed[name]
        ),
    ]
    if problems:
        raise LogError("\n".join(problems[:10]))
    if parse_card(card_text, CARD_FILE) != submission.card:
        raise LogError(f"the card in {SUBMISSION_FILE} is not that in {CARD_FILE}")
    if submission.statement != STATEMENT:
        raise LogError("its submitter agreed to another statement than this careeval's")
    return submission


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
        elif member.file_size > MAX_RATIO * member.compress_size + _CHUNK // 10:
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
        while content := source.read(_CHUNK):
            digest.update(content)
            file.write(content)
    # of logs begun in the same second, the one written last counts
    os.utime(target, (place, place))
    return digest.hexdigest()
