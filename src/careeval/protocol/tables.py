"""Reading the logs of runs into tables, without Inspect.

A sample's metadata has all that the tables need, so that no bank is needed to read a run. If a run
was killed and resumed, several logs lie in its folder, and the newest sample of each scenario and
epoch counts. Each log is read once, sample by sample, and only rows are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from careeval.core.response import Response, ResponseState
from careeval.errors import LogError
from careeval.protocol.json_lines import read_json
from careeval.protocol.log_rows import ResponseRows, judgment_table, missing_row, numbered_gradings
from careeval.protocol.logs import Log, read_log
from careeval.protocol.run_folder import is_grading, is_probe_check, system_of
from careeval.protocol.sweep_cells import (
    ASK,
    SWEEP_FILE,
    latest_leases,
    stage_of,
    sweep_of,
    sweep_of_system,
)
from careeval.protocol.table_cache import cache_tables, cached_tables, table_key
from careeval.results.held_out_words import withhold
from careeval.results.tables import NOT_ASKED, RESPONSES, Runs, table


def read_runs(*folders: Path | str) -> Runs:
    """Read the runs in these folders into tables, without the texts of a held-out split.

    The runs may lie at any depth. A run that cannot be read is left out with a note, and so is a
    probe check of a grader.

    Raises:
        LogError: A folder has no careeval log, no run can be read, or two runs are of the same
            system.
    """
    parts: list[Runs] = []
    places: dict[Path, Path] = {}
    refused: list[LogError] = []
    for folder in map(Path, folders):
        roots = run_roots(folder)
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
                parts.append(read_run(root))
                places[root.resolve()] = root
            except LogError as error:
                refused.append(error)
    if not parts and refused:
        raise refused[0]
    runs = withhold(Runs.together(parts, [str(root) for root in places.values()]))
    return replace(runs, notes=(*runs.notes, *_ungraded(runs), *map(str, refused)))


def _ungraded(runs: Runs) -> Iterator[str]:
    """Yield a note on each system that is not graded; no notes if none is graded."""
    graded = set(runs.judgments["system"])
    for system in sorted(set(runs.responses["system"]) - graded) if graded else ():
        yield f"{system}: its responses are not graded, so the system is not in the results"


def read_run(folder: Path) -> Runs:
    """Return one run with its gradings and all its texts, even if it is a held-out run.

    Cached tables are used if the logs have not changed since. The folder may be that of a
    system in a sweep, whose slices are read as one run.

    Raises:
        LogError: None of its logs can be read.
    """
    if (sweep := sweep_of_system(folder)) is not None:
        return _read_slices(folder, sweep)
    logs = _logs_below(folder)
    name = system_of(folder)
    key = table_key(folder, logs, name)
    if (cached := cached_tables(folder, key)) is not None:
        return cached
    runs = _tables(folder, logs, name)
    cache_tables(folder, key, runs)
    return runs


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

_RUN_COLUMNS = ("system", "model", "bank", "bank_version", "bank_hash", "bank_provenance",
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
        notes = [
            *notes,
            f"{responses['system'][0]}: {n_missing} of {whole.height} responses are still missing; "
            "'careeval sweep' asks for them",
        ]
    return Runs.sorted(whole, judgments, notes)


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
