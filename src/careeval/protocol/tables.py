"""Reading the logs of runs into tables, without Inspect, and keeping the tables in a cache.

A sample's metadata has all that the tables need, so that no bank is needed to read a run. If a run
was killed and resumed, several logs lie in its folder, and the newest sample of each scenario and
epoch counts. Each log is read once, sample by sample, and only rows are kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import polars as pl

from careeval.core.response import Response, ResponseState
from careeval.core.scenario import Split
from careeval.core.text import counted
from careeval.errors import CareEvalError, LogError
from careeval.files import open_file, write_text
from careeval.protocol.log_rows import ResponseRows, judgment_table, missing_row, numbered_gradings
from careeval.protocol.logs import Log, read_log
from careeval.protocol.pictures import read_pictures
from careeval.protocol.run_files import read_json
from careeval.protocol.run_folder import is_grading, is_probe_check, system_of
from careeval.protocol.sweep_cells import (
    ASK,
    SWEEP_FILE,
    latest_leases,
    stage_of,
    sweep_of,
    sweep_of_system,
)
from careeval.results.held_out_words import withhold
from careeval.results.tables import (
    JUDGMENTS,
    NOT_ASKED,
    RESPONSES,
    SYSTEM_KEY,
    Runs,
    files_in,
    schema,
    system_keys,
    table,
)


def read_runs(*folders: Path | str) -> Runs:
    """Read the runs in these folders into tables, without the texts of a held-out split.

    The runs may lie at any depth. Instead of a folder, the archive of a submission may be given,
    `FILE.zip`. A run or archive that cannot be read is left out with a note, and so is a probe
    check of a grader.

    Raises:
        LogError: A folder has no careeval log, no run can be read, or two runs are of the same
            system in the same condition.
    """
    parts: list[Runs] = []
    places: dict[Path, Path] = {}
    refused: list[LogError] = []
    for folder in map(Path, folders):
        roots = [folder] if is_archive(folder) else run_roots(folder)
        if not roots:
            problem = "has no careeval log" if folder.is_dir() else "is not a folder"
            raise LogError(
                f"{folder} {problem}", hint="give the folder that 'careeval run -o' wrote to"
            )
        for root in roots:
            if root.resolve() in places:
                continue
            if is_probe_check(root):
                refused.append(
                    LogError(
                        f"{root} is left out: it is a probe check of a grader, not a run of a "
                        "system",
                        hint="to show it beside the results: careeval report RUNS --probes FOLDER",
                    )
                )
                continue
            try:
                parts.append(_read_submission(root) if is_archive(root) else read_run(root))
                places[root.resolve()] = root
            except LogError as error:
                refused.append(error)
    if not parts and refused:
        raise refused[0]
    runs = withhold(Runs.together(parts, [str(root) for root in places.values()]))
    return replace(runs, notes=(*runs.notes, *_ungraded(runs), *map(str, refused)))


def _read_submission(archive: Path) -> Runs:
    """Read the runs of a submission with its card; a note says what is held out.

    Raises:
        LogError: The archive or a run cannot be read, or it has no run over the public split.
    """
    from careeval.protocol.submission import RUNS, unpacked  # for archives alone

    hint, temporary = f"careeval verify {archive}", ""
    try:
        with unpacked(archive) as (submission, folder):
            temporary = f"{folder}/"
            roots = run_roots(folder / RUNS)
            runs = Runs.together([read_run(root, cached=False) for root in roots])
    except CareEvalError as error:
        problem = str(error).replace(temporary, "") if temporary else str(error)
        raise LogError(f"{archive}: {problem}", hint=hint) from error
    if not roots:
        raise LogError(f"{archive} has no run over the public split, only numbers", hint=hint)
    notes = [note.replace(temporary, f"{archive}: ") for note in runs.notes]
    if n := len(submission.held_out):
        held_out = counted(n, "entry", "entries")
        notes.append(f"{archive}: its numbers of {held_out} over the held-out split are left out")
    cards = dict.fromkeys(system_keys(runs.responses), submission.card)
    return replace(runs, cards=cards, notes=tuple(notes))


def is_archive(path: Path | str) -> bool:
    """Tell whether a path is the archive of a submission, by its name."""
    return Path(path).suffix == ".zip" and Path(path).is_file()


def _ungraded(runs: Runs) -> Iterator[str]:
    """Yield a note on each system that is not graded; no notes if none is graded."""
    graded = {*system_keys(runs.judgments)}
    ungraded = {*system_keys(runs.responses)} - graded if graded else ()
    for name in sorted(key.name for key in ungraded):
        yield f"{name}: its responses are not graded, so the system is not in the results"


def read_run(folder: Path, *, cached: bool = True) -> Runs:
    """Return one run with its gradings and all its texts, even if it is a held-out run.

    Cached tables are used if the logs have not changed since, unless `cached` is false: then the
    cache is neither read nor written. The folder may be that of a system in a sweep, whose slices
    are read as one run.

    Raises:
        LogError: None of its logs can be read.
    """
    if (sweep := sweep_of_system(folder)) is not None:
        return _read_slices(folder, sweep)
    logs = _logs_below(folder)
    name = system_of(folder)
    key = table_key(folder, logs, name) if cached else None
    if (runs := cached_tables(folder, key)) is None:
        runs = _tables(folder, logs, name)
        cache_tables(folder, key, runs)
    return replace(runs, pictures=read_pictures(folder))


def _read_slices(folder: Path, sweep: Path) -> Runs:
    """Return the slices of one system in a sweep as one run, each from its newest lease."""
    by_stage: dict[str, list[Runs]] = {}
    notes: list[str] = []
    for lease in latest_leases(folder):
        try:
            by_stage.setdefault(stage_of(lease), []).append(read_run(lease))
        except LogError as error:
            # a lease in progress may not have written a log yet
            notes += [f"left out: {error}"] if _logs_below(lease) else []
    if not (asked := by_stage.pop(ASK, [])):
        raise LogError(
            "\n".join(notes) or f"{folder}: no slice of this system has responses yet",
            hint="" if notes else f"see how far the sweep is: careeval sweep status {sweep}",
        )
    return join_slices(folder, sweep, asked, by_stage, notes)


def responses_of(runs: Runs) -> list[Response]:
    """Return the responses of a run's table as `Response` values."""
    columns = ("scenario", "epoch", "text", "state", "cut", "note")
    return [
        Response(**{**row, "state": ResponseState(row["state"])})
        for row in runs.responses.select(columns).iter_rows(named=True)
    ]


def run_roots(folder: Path) -> list[Path]:
    """Return the folders at or below `folder` that have a run with logs, without later gradings."""
    log_folders = {path.parent for path in _logs_below(folder)}
    roots = {
        path.parent.parent if sweep_of(path) or is_grading(path) else path for path in log_folders
    }
    return sorted(root if root.is_relative_to(folder) else folder for root in roots)


def _logs_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.eval") if path.is_file())


def _tables(folder: Path, paths: Iterable[Path], name: str | None) -> Runs:
    logs, notes = _usable(folder, paths)
    logs = [replace(log, name=name) for log in logs]
    own = [log for log in logs if log.path.parent == folder]
    later = [log for log in logs if log.path.parent != folder]
    gradings = dict(numbered_gradings([*own, *sorted(later, key=_number)]))
    rows = ResponseRows()
    # later rows replace earlier ones: newer logs older ones, the run's own logs those of gradings
    for log in (*later, *own):
        notes += rows.add_log(log, gradings.get(log.path))
    notes += rows.add_missing([*later, *own])
    notes += rows.failure_notes()
    responses = table(rows.responses.values(), RESPONSES)
    return Runs.sorted(responses, judgment_table(rows.graded.values()), notes)


def _usable(folder: Path, paths: Iterable[Path]) -> tuple[list[Log], list[str]]:
    """Return a run's readable logs, the oldest first, and a note on each unreadable log."""
    logs: list[Log] = []
    notes: list[str] = []
    for path in paths:
        try:
            logs.append(read_log(path))
        except LogError as error:
            notes.append(f"left out: {error}")
    if not logs:
        raise LogError("\n".join(notes) or f"{folder} has no log")
    return sorted(logs, key=_began), notes


def _began(log: Log) -> tuple[str, int]:
    """Return when a log was begun, in whole seconds, and when it was last written."""
    return log.header.created, log.path.stat().st_mtime_ns


def _number(log: Log) -> int:
    """Return the n of a later grading's folder, `<grader>-<rubric>-<n>`; 0 if it is missing."""
    number = log.path.parent.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else 0


# The slices of a sweep

_RUN_COLUMNS = (*SYSTEM_KEY, "model", "bank", "bank_version", "bank_hash", "bank_provenance",
                "bank_makers", "protocol", "ask_prompt", "software", "created")  # fmt: skip
"""The columns with the same value for all responses of a system."""


def join_slices(
    folder: Path,
    sweep: Path,
    asked: Sequence[Runs],
    graded: Mapping[str, Iterable[Runs]],
    notes: Sequence[str],
) -> Runs:
    """Return the slices of a system as one run, with a row for each response that is missing.

    At least one slice is `asked`. `graded` maps a stage to the slices that it has graded; `notes`
    are on slices that could not be read.

    Raises:
        LogError: The slices are from different selections of scenarios.
    """
    responses = pl.concat([runs.responses for runs in asked])
    judgments = pl.concat([asked[0].judgments.clear(), *_numbered(graded)])
    if responses["bank_hash"].n_unique() > 1:
        raise LogError(
            f"{folder}: its slices are from different selections of scenarios",
            hint="start the sweep again in another folder: the bank has changed since it began",
        )
    whole, n_missing = _with_missing(responses, sweep)
    if n_missing:
        name = system_keys(responses)[0].name
        notes = [
            *notes,
            f"{name}: {n_missing} of {whole.height} responses are still missing; "
            "'careeval sweep' asks for them",
        ]
    pictures = {hash: data for runs in asked for hash, data in runs.pictures.items()}
    return replace(Runs.sorted(whole, judgments, notes), pictures=pictures)


def _numbered(by_stage: Mapping[str, Iterable[Runs]]) -> Iterator[pl.DataFrame]:
    """Yield each stage's judgments; gradings of a rubric by one grader are numbered from 1."""
    stages: dict[tuple[str, str], list[str]] = {}
    for stage, parts in by_stage.items():
        for judgments in (runs.judgments for runs in parts if runs.judgments.height):
            gradings = stages.setdefault(judgments.select("grader", "rubric").row(0), [])
            if stage not in gradings:
                gradings.append(stage)
            number = pl.lit(gradings.index(stage) + 1, judgments.schema["grading"])
            yield judgments.with_columns(number.alias("grading"))


def _with_missing(responses: pl.DataFrame, sweep: Path) -> tuple[pl.DataFrame, int]:
    """Return the responses with a row added for each missing one, and the number of rows added."""
    plan = read_json(sweep / SWEEP_FILE)
    first = responses.row(0, named=True)
    present = set(responses.select("scenario", "epoch").iter_rows())
    runs = (each["run"] for each in plan["systems"])
    n_epochs = next(int(run["epochs"]) for run in runs if run["system"] == first["system"])
    absent = [
        (scenario, epoch)
        for family in plan["families"]
        for scenario in family
        for epoch in range(1, n_epochs + 1)
        if (scenario, epoch) not in present
    ]
    run_columns = {name: first[name] for name in _RUN_COLUMNS}
    rows = [{**run_columns, **missing_row(*key, NOT_ASKED)} for key in absent]
    return pl.concat([responses, table(rows, RESPONSES)]), len(absent)


# The cache of tables: by a hash of the logs' content, so that tables are of these logs, whoever
# sent the folder and whatever else lies in it

KIND = "tables"
READ_AS = 3
"""Version of the way in which logs are read; raising it makes older entries invalid."""

MAX_HASHED = 10_000_000_000
"""The most bytes of a run's logs that are hashed; the logs of a larger run are read each time."""


def cached_tables(folder: Path, key: str | None) -> Runs | None:
    """Return the kept tables of a run; `None` if there are none, or they cannot be used."""
    if key is None or (entry := cache_entry(KIND, key)) is None:
        return None
    with suppress(OSError, ValueError, KeyError, TypeError, CareEvalError):
        kept = read_json(entry / "notes.json")
        notes, place = kept["notes"], kept["place"]
        if place in (None, str(folder)) and kept["sum"] == _checksum(entry, notes, place):
            mark_used(entry)
            return Runs.read(entry, notes)
    return None


def cache_tables(folder: Path, key: str | None, runs: Runs) -> None:
    """Keep the tables of a run; do nothing if they hold held-out text or cannot be written."""
    if key is None or (entry := cache_entry(KIND, key)) is None:
        return
    if (runs.responses["split"] == Split.held_out.value).any():
        return
    place = str(folder) if any(str(folder) in note for note in runs.notes) else None
    # if they cannot be written, the logs are read each time
    with suppress(OSError):
        make_entry(entry)
        runs.write(entry)
        checksum = _checksum(entry, runs.notes, place)
        content = {"notes": runs.notes, "place": place, "sum": checksum}
        write_text(entry / "notes.json", json.dumps(content))
        prune(entry)


def table_key(folder: Path, logs: Iterable[Path], name: str | None) -> str | None:
    """Return the key of a run's tables, which changes when they have to be made anew.

    `None` if the logs have more than `MAX_HASHED` bytes together.

    The key is a hash of all that the tables are made of: the names of the logs in the order in
    which they were written, their content, the system's name, the tables' columns, and the version
    of reading.
    """
    logs = list(logs)
    if sum(path.stat().st_size for path in logs) > MAX_HASHED:
        return None
    in_order = sorted(logs, key=lambda path: (path.stat().st_mtime_ns, path))
    contents = [(str(path.relative_to(folder)), _hash(path)) for path in in_order]
    columns = {name: str(kind) for name, kind in (schema(RESPONSES) | schema(JUDGMENTS)).items()}
    return hashlib.sha256(json.dumps([contents, columns, name, READ_AS]).encode()).hexdigest()


def _checksum(entry: Path, notes: Sequence[str], place: str | None) -> str:
    """Return a checksum of kept tables, since a flipped bit may read as another number."""
    hashes = [_hash(path) for path in files_in(entry)]
    return hashlib.sha256(json.dumps([list(notes), place, hashes]).encode()).hexdigest()


def _hash(path: Path) -> str:
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# The user's cache folder

MAX_CACHE_BYTES = 2_000_000_000
"""The most bytes that the entries of one kind take; the longest unused go first."""


def cache_entry(kind: str, key: str) -> Path | None:
    """Return the folder of an entry, which need not exist; `None` if the user has no cache folder.

    The key is a hash of all that the entry's content depends on.
    """
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        # a relative path is to be ignored: https://specifications.freedesktop.org/basedir-spec
        root = given if given.is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        return None
    return root / "careeval" / kind / key


def make_entry(entry: Path) -> None:
    """Make the folder of an entry, which nobody else may read."""
    entry.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    entry.mkdir(mode=0o700, exist_ok=True)


def mark_used(entry: Path) -> None:
    """Record that an entry was used just now."""
    with suppress(OSError):
        os.utime(entry)


def prune(entry: Path, max_bytes: int = MAX_CACHE_BYTES) -> None:
    """Remove entries of the kind of this one, the longest unused first, until they fit.

    This entry itself stays.
    """
    others = sorted(
        ((_used(each), each) for each in entry.parent.iterdir() if each != entry), reverse=True
    )
    n_bytes = _size(entry)
    for _, each in others:
        n_bytes += _size(each)
        if n_bytes > max_bytes:
            shutil.rmtree(each, ignore_errors=True)


def _used(entry: Path) -> int:
    # another process may have just removed it
    with suppress(OSError):
        return entry.stat().st_mtime_ns
    return 0


def _size(entry: Path) -> int:
    with suppress(OSError):
        return sum(file.stat().st_size for file in entry.iterdir())
    return 0
