"""Write a submission: the runs of one system, packed with its card and its numbers."""

from __future__ import annotations

import hashlib
import json
import re
import stat
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from careeval.core.scenario import Split
from careeval.errors import LogError, ProtocolError
from careeval.files import atomic_write, open_file, read_given_text
from careeval.protocol.prices import Price
from careeval.protocol.run import as_fields
from careeval.protocol.run_folder import (
    GRADED,
    RUN_FILE,
    is_complete,
    is_probe_check,
    read_run_file,
    refuse_links,
    run_folders,
)
from careeval.protocol.submission import (
    CARD_FILE,
    CHUNK,
    MAX_CARD,
    MAX_MEMBERS,
    PROBES,
    RUNS,
    SCHEMA,
    STATEMENT,
    SUBMISSION_FILE,
    LeftOut,
    Submission,
    parse_card,
)
from careeval.protocol.sweep_cells import refuse_sweep
from careeval.protocol.tables import read_run, run_roots
from careeval.results.entries import entries
from careeval.results.entry import Entry
from careeval.results.held_out_words import withhold
from careeval.results.tables import Runs
from careeval.sheets.json_output import summary_json


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
                while content := source.read(CHUNK):
                    target.write(content)
    return submission


def has_held_out(runs: Runs) -> bool:
    """Tell whether a run has responses to held-out scenarios."""
    return bool((runs.responses["split"] == Split.held_out.value).any())


def numbers_of(own_entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return every number of entries, as they are read back from JSON."""
    document = summary_json(own_entries, in_detail=True)["entries"]
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
    checks = [each for each in run_folders(folder) if is_probe_check(each) and is_complete(each)]
    if not checks:
        raise ProtocolError(
            f"{folder} has no finished audit of a grader",
            hint=f"careeval audit probes --grader NAME -o {folder}",
        )
    for check in checks:
        refuse_links(check)
        if has_held_out(read_run(check)):
            raise LogError(
                f"{check} has probes of held-out scenarios, whose words must not be published",
                hint="check the grader on the public split, without the key: careeval audit probes",
            )
    return checks


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
