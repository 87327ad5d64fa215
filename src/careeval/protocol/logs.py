"""From logs to tables, without Inspect.

A sample's metadata carries all that the tables need, so no bank is needed to read a run. Where a
run was killed and resumed, several logs lie in one folder, and the newest sample of each scenario
and epoch counts. Each log is read once, sample by sample, and only rows are kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from careeval.core.response import Response, ResponseState
from careeval.core.scenario import Rubric, Split
from careeval.errors import CareEvalError, LogError
from careeval.files import write_text
from careeval.protocol.cells import (
    ASK,
    SWEEP_FILE,
    latest_leases,
    stage_of,
    sweep_of,
    sweep_of_system,
    system_folder,
)
from careeval.protocol.eval_log import (
    Asked,
    Graded,
    Item,
    Log,
    Odd,
    Sample,
    Spent,
    Stored,
    Unreadable,
    Usage,
    read_log,
)
from careeval.protocol.folder import is_audit, is_grading, system_of
from careeval.protocol.folder_limits import read_json
from careeval.protocol.log_limits import MAX_JUDGMENTS, MAX_KEPT, MAX_RESPONSES
from careeval.protocol.prices import in_process
from careeval.protocol.usage import is_counted
from careeval.results.parquet_limits import check_parquet
from careeval.results.tables import (
    JUDGMENTS,
    NOT_ASKED,
    RESPONSES,
    Column,
    Runs,
    files_in,
    schema,
    table,
)
from careeval.results.withheld import withhold

CACHE = ".tables"
READ_AS = 2
"""Goes up when logs are read otherwise than before, so that tables read then are made anew."""
HELD_OUT = Split.held_out.value

AUDIT = "it is the audit of a grader on the labelled probes, and no system's run"
AUDIT_HINT = "careeval report RUNS --probes FOLDER shows it beside what the grader judged"

ResponseKey = tuple[str, str, int]
"""System, scenario, epoch."""
Row = Mapping[str, Any]
"""Column → value; a column that is not there is null."""
Mark = tuple[bool | None, str | None, str | None]
"""Whether an item is present, the quote and the reason."""
GradedResponse = tuple[Log, Mapping[Rubric, int], Sample, Asked]
"""A response of a graded log, with the number of its grading for each rubric."""
_RUN_COLUMNS = ("system", "model", "bank", "bank_version", "bank_hash", "bank_provenance",
                "bank_makers", "protocol", "ask_prompt", "software", "created")  # fmt: skip
"""Columns that every response of a log shares."""
SCENARIO_COLUMNS = ("adl", "condition", "assistance", "situation", "actor", "split",
                    "group", "twin_of", "control", "scenario_text")  # fmt: skip
"""Columns of a response that are the same for all responses to its scenario."""


def read_runs(*folders: Path | str) -> Runs:
    """The runs in these folders, as tables, without a word of a held-out split.

    An audit of a grader on the probes is no run, and is left out with a note.

    Args:
        folders: Each a run's folder, or one that holds runs at any depth.

    Raises:
        LogError: A folder holds no log of careeval, or two runs are of one system.
    """
    parts: list[Runs] = []
    places: dict[Path, Path] = {}
    refused: list[LogError] = []
    for folder in map(Path, folders):
        if not folder.is_dir():
            raise LogError(
                f"{folder} is not a folder", hint="name the folder that 'careeval run -o' wrote to"
            )
        roots = run_roots(folder)
        if not roots:
            raise LogError(
                f"{folder} holds no log of careeval",
                hint="name the folder that 'careeval run -o' wrote to",
            )
        for root in roots:
            if root.resolve() in places:
                continue
            if is_audit(root):
                refused.append(LogError(f"{root} is left out: {AUDIT}", hint=AUDIT_HINT))
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
    """Of runs some of which were graded, a note on each that was not."""
    graded = set(runs.judgments["system"])
    for system in sorted(set(runs.responses["system"]) - graded) if graded else ():
        yield f"{system}: nobody has graded its responses, so it is not among the results"


def read_run(folder: Path) -> Runs:
    """Return one run with its gradings, word for word, a held-out one too.

    From its cached tables where its logs have not changed since. The folder may be that of a system
    of a sweep: its slices are one run.
    """
    if (sweep := sweep_of_system(folder)) is not None:
        return _read_slices(folder, sweep)
    logs = _logs_below(folder)
    name = system_of(folder)
    key = _key(folder, logs, name)
    cache = folder / CACHE
    try:
        known = read_json(cache / "key.json")
        for path, most in zip(files_in(cache), (MAX_RESPONSES, MAX_JUDGMENTS), strict=True):
            check_parquet(path, most)
        if known["key"] == key and known["sum"] == _sum(cache, key, known["notes"]):
            return Runs.read(cache, known["notes"])
    except (OSError, ValueError, KeyError, TypeError, CareEvalError):
        pass  # no cache that can be used: the logs are the truth
    runs = _tables(folder, logs, name)
    if not _may_write(cache):
        return runs
    try:
        runs.write(cache)
        content = {"key": key, "notes": runs.notes, "sum": _sum(cache, key, runs.notes)}
        write_text(cache / "key.json", json.dumps(content))
    except OSError:
        pass  # a folder that cannot be written can still be read
    return runs


def _read_slices(folder: Path, sweep: Path) -> Runs:
    """The slices of one system of a sweep as one run, each as its highest lease left it.

    Raises:
        LogError: Nothing of it can be read, or a slice is of another selection than the others.
    """
    by_stage: dict[str, list[Runs]] = {}
    notes: list[str] = []
    for lease in latest_leases(folder):
        try:
            by_stage.setdefault(stage_of(lease), []).append(read_run(lease))
        except LogError as error:
            # one that is at work may not have written anything
            notes += [f"left out: {error}"] if _logs_below(lease) else []
    if not (asked := by_stage.pop(ASK, [])):
        raise LogError("\n".join(notes) or f"{folder}: none of its slices is asked yet")
    responses = pl.concat([runs.responses for runs in asked])
    judgments = pl.concat([asked[0].judgments.clear(), *_numbered(by_stage)])
    if responses["bank_hash"].n_unique() > 1:
        raise LogError(
            f"{folder}: its slices are of several selections of scenarios",
            hint="the bank has changed meanwhile: begin the sweep anew in another folder",
        )
    whole, missing = _with_missing(responses, sweep)
    if missing:
        notes.append(
            f"{responses['system'][0]}: {missing} of {whole.height} responses are not there yet; "
            "'careeval sweep' asks for them"
        )
    return Runs.sorted(whole, judgments, notes)


def _numbered(by_stage: Mapping[str, Iterable[Runs]]) -> Iterator[pl.DataFrame]:
    """Yield the judgments of each stage, a grader's first on a rubric being grading 1."""
    stages: dict[tuple[str, str], list[str]] = {}
    for stage, parts in by_stage.items():
        for judgments in (runs.judgments for runs in parts if runs.judgments.height):
            of_grader = stages.setdefault(judgments.select("grader", "rubric").row(0), [])
            if stage not in of_grader:
                of_grader.append(stage)
            number = pl.lit(of_grader.index(stage) + 1, judgments.schema["grading"])
            yield judgments.with_columns(number.alias("grading"))


def _with_missing(responses: pl.DataFrame, sweep: Path) -> tuple[pl.DataFrame, int]:
    """Responses, with one that is missing for each that no slice has come to, and their number."""
    families = read_json(sweep / SWEEP_FILE)["families"]
    first = responses.row(0, named=True)
    there = set(responses.select("scenario", "epoch").iter_rows())
    n_epochs = _n_epochs(sweep, first["system"])
    absent = [
        (scenario, epoch)
        for family in families
        for scenario in family
        for epoch in range(1, n_epochs + 1)
        if (scenario, epoch) not in there
    ]
    of_run = {name: first[name] for name in _RUN_COLUMNS}
    rows = [{**of_run, **_missing(*key, NOT_ASKED)} for key in absent]
    return pl.concat([responses, table(rows, RESPONSES)]), len(absent)


def _n_epochs(sweep: Path, system: str) -> int:
    systems = read_json(sweep / SWEEP_FILE)["systems"]
    return next(int(each["run"]["epochs"]) for each in systems if each["run"]["system"] == system)


def _missing(scenario: str, epoch: int, note: str) -> Row:
    """The columns of a response that is not there."""
    return {
        "scenario": scenario,
        "epoch": epoch,
        "state": ResponseState.missing.value,
        "text": "",
        "cut": False,
        "note": note,
        "reasoned": False,
        "sampling": "{}",
    }


def _may_write(cache: Path) -> bool:
    """Whether writing a cache replaces a cache alone: a link may lead anywhere, a pipe waits."""
    files = [*files_in(cache), cache / "key.json"]
    return not any(path.is_symlink() for path in (cache, *files)) and all(
        path.is_file() or not path.exists() for path in files
    )


def responses_of(runs: Runs) -> list[Response]:
    """The responses of a table, as values."""
    columns = ("scenario", "epoch", "text", "state", "cut", "note")
    return [
        Response(**{**row, "state": ResponseState(row["state"])})
        for row in runs.responses.select(columns).iter_rows(named=True)
    ]


def run_roots(folder: Path) -> list[Path]:
    """The folders of runs below a folder: those that hold logs, not its later gradings."""
    holders = {path.parent for path in _logs_below(folder)}
    roots = {
        system_folder(path) if sweep_of(path) else path.parent.parent if is_grading(path) else path
        for path in holders
    }
    return sorted(root if root.is_relative_to(folder) else folder for root in roots)


def _logs_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.eval") if path.is_file())


def _key(folder: Path, logs: Iterable[Path], name: str | None) -> str:
    """What cached tables stand for: logs' names, sizes and times, columns, name, how it is read."""
    stats = [
        (str(path.relative_to(folder)), path.stat().st_size, path.stat().st_mtime_ns)
        for path in logs
    ]
    columns = {name: str(kind) for name, kind in (schema(RESPONSES) | schema(JUDGMENTS)).items()}
    return hashlib.sha256(json.dumps([stats, columns, name, READ_AS]).encode()).hexdigest()


def _sum(cache: Path, key: str, notes: Sequence[str]) -> str:
    """A checksum of cached tables: a flipped bit in one of them may read as another number."""
    whole = hashlib.sha256(json.dumps([key, list(notes)]).encode())
    for path in files_in(cache):
        with path.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()


def _tables(folder: Path, paths: Iterable[Path], name: str | None) -> Runs:
    logs, notes = _usable(paths)
    logs = [replace(log, name=name) for log in logs]
    own = [log for log in logs if log.path.parent == folder]
    later = [log for log in logs if log.path.parent != folder]
    gradings = dict(_gradings([*own, *sorted(later, key=_number)]))
    rows = _Rows()
    # what comes later wins: the newer over the older, the run's own over what was taken from it
    for log in (*later, *own):
        notes += rows.take(log, gradings.get(log.path))
    notes += _complete([*later, *own], rows)
    notes += _failures(rows)
    responses = table(rows.responses.values(), RESPONSES)
    return Runs.sorted(responses, _judgments(rows.graded.values()), notes)


def _usable(paths: Iterable[Path]) -> tuple[list[Log], list[str]]:
    """The logs that can be read, the oldest first, and a note on each that cannot.

    Raises:
        LogError: None can.
    """
    logs: list[Log] = []
    notes: list[str] = []
    for path in paths:
        try:
            logs.append(read_log(path))
        except LogError as error:
            notes.append(f"left out: {error}")
    if not logs:
        raise LogError("\n".join(notes) or "no logs")
    return sorted(logs, key=_began), notes


def _began(log: Log) -> tuple[str, int]:
    """Return when a log was begun, and last written: the first is known to the second only."""
    return log.header.created, log.path.stat().st_mtime_ns


def _number(log: Log) -> int:
    """The n of a later grading's folder, `<grader>-<rubric>-<n>`; 0 for one that has none."""
    number = log.path.parent.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else 0


def _gradings(logs: Iterable[Log]) -> Iterator[tuple[Path, Mapping[Rubric, int]]]:
    """Each graded log with the number of its grading for each of its rubrics.

    A grader's first folder for a system and a rubric is 1.
    """
    folders: dict[tuple[str, str, Rubric], list[Path]] = {}
    for log in logs:
        if (grader := log.grader) is None:
            continue
        numbers: dict[Rubric, int] = {}
        for rubric in log.header.about.rubrics:
            seen = folders.setdefault((log.system, grader, rubric), [])
            if log.path.parent not in seen:
                seen.append(log.path.parent)
            numbers[rubric] = 1 + seen.index(log.path.parent)
        yield log.path, numbers


@dataclass(frozen=True)
class _Rows:
    """Rows of the two tables, as one log after the other adds to them and replaces them.

    Attributes:
        responses: A row each.
        graded: Folder, grader and response → what that grading found.
        errors: Folder and response → why its sample ended in an error; `None` where it did not.
        unreadable: Responses whose record cannot be read, and why.
    """

    responses: dict[ResponseKey, Row] = field(default_factory=dict)
    graded: dict[tuple[Path, str | None, ResponseKey], GradedResponse] = field(default_factory=dict)
    errors: dict[tuple[Path, ResponseKey], str | None] = field(default_factory=dict)
    unreadable: dict[ResponseKey, str] = field(default_factory=dict)

    def take(self, log: Log, gradings: Mapping[Rubric, int] | None) -> Iterator[str]:
        """Take a log's samples, with its gradings if it is graded, and note what is unreadable.

        Raises:
            LogError: It holds more than a log may.
        """
        unreadable: list[Unreadable] = []
        odd: list[Odd] = []
        n_judgments = n_kept = 0
        scenarios: set[str] = set()
        of_run = _run_columns(log)
        for found in log.samples():
            if isinstance(found, Unreadable):
                unreadable.append(found)
                self.unreadable[log.system, found.id, found.epoch] = found.reason
                continue
            if isinstance(found, Odd):
                odd.append(found)
                continue
            sample, asked = found
            n_judgments += sum(map(len, asked.rubrics.values()))
            n_kept += _n_kept(sample)
            if sample.id not in scenarios:
                scenarios.add(sample.id)
                n_kept += len(asked.text or "") + _n_item_texts(asked)
            if n_judgments > MAX_JUDGMENTS or n_kept > MAX_KEPT:
                raise LogError(
                    f"{log.path}: is too long: at most {MAX_JUDGMENTS:,} judgments, "
                    f"and {MAX_KEPT:,} characters of responses, quotes and reasons"
                )
            key = log.system, sample.id, sample.epoch
            lacking = {r.value for r in log.header.about.rubrics if not asked.rubrics.get(r)}
            # a later grading is of another rubric, and does not say what an earlier one lacked
            lacking |= set(self.responses.get(key, {}).get("lacks") or ())
            row = _response_row(sample, asked, of_run)
            n_kept += len(row["sampling"])
            self.responses[key] = {**row, "lacks": sorted(lacking)}
            self.errors[log.path.parent, key] = sample.error
            if gradings is not None:
                self.graded[log.path.parent, log.grader, key] = log, gradings, sample, asked
        if unreadable:
            first = unreadable[0]
            yield (
                f"{log.path}: {len(unreadable)} of its samples cannot be read; "
                f"the first, {first.id} epoch {first.epoch}: {first.reason}"
            )
        if odd:
            yield (
                f"{log.path}: {len(odd)} of its samples count what cannot be, which is taken as "
                f"unknown; the first, {odd[0].id} epoch {odd[0].epoch}: {odd[0].reason}"
            )


def _n_kept(sample: Sample) -> int:
    """Characters of a sample that are kept."""
    judged = sum(
        len(judgment.quote or "") + len(judgment.reason or "")
        for graded in sample.graded.values()
        for judgment in graded.judgments
    )
    return len(sample.response.text) + len(sample.error or "") + judged


def _n_item_texts(asked: Asked) -> int:
    return sum(len(item.text) for items in asked.rubrics.values() for item in items)


def _run_columns(log: Log) -> Row:
    """The columns that every response of a log shares."""
    about, asked = log.header.about, not log.header.about.recorded
    return {
        "system": log.system,
        "model": log.header.model if asked else None,
        "bank": about.bank,
        "bank_version": about.bank_version,
        "bank_hash": about.bank_hash,
        "bank_provenance": about.bank_provenance,
        "bank_makers": list(about.bank_makers),
        "protocol": about.protocol,
        "ask_prompt": about.prompts.ask if asked else None,
        "software": about.software,
        "created": log.header.created,
    }


def _response_row(sample: Sample, asked: Asked, of_run: Row) -> Row:
    response = sample.response
    usage = _true_usage(sample.usage, response, of_run["model"])
    return {
        **of_run,
        "scenario": sample.id,
        "epoch": sample.epoch,
        "state": response.state.value,
        "text": response.text,
        "cut": response.cut,
        "note": response.note,
        # a recorded answer stands in the log as if a model of the system's name had given it
        "model_returned": sample.model if of_run["model"] else None,
        "reasoned": sample.reasoned,
        "input_tokens": usage.input_tokens,
        "cache_read_tokens": usage.input_tokens_cache_read,
        "cache_write_tokens": usage.input_tokens_cache_write,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cost_usd": usage.total_cost,
        "seconds": sample.seconds,
        "sampling": json.dumps(sample.sampling or {}),
        "adl": asked.adl,
        "condition": asked.condition,
        "assistance": asked.assistance,
        "situation": asked.situation,
        "actor": asked.actor,
        "split": asked.split,
        "group": asked.group,
        "twin_of": asked.twin_of,
        "control": asked.control,
        "scenario_text": asked.text,
    }


def _complete(logs: Sequence[Log], rows: _Rows) -> Iterator[str]:
    """Add a missing response for what the last log of each system has not come to, and say so."""
    for system, log in {log.system: log for log in logs}.items():
        asked = [
            (system, scenario, epoch)
            for scenario in log.header.scenarios
            for epoch in range(1, log.header.epochs + 1)
        ]
        siblings = {key[1]: row for key, row in rows.responses.items() if key[0] == system}
        absent = [key for key in asked if key not in rows.responses]
        for key in absent:
            sibling = siblings.get(key[1], {})
            unreadable = rows.unreadable.get(key)
            note = f"its record cannot be read: {unreadable}" if unreadable else NOT_ASKED
            rows.responses[key] = {
                **_run_columns(log),
                **_missing(key[1], key[2], note),
                **{name: sibling.get(name) for name in SCENARIO_COLUMNS},
            }
        whole_run = all(sweep_of(each.path.parent) is None for each in logs)
        if whole_run and (n := sum(key not in rows.unreadable for key in absent)):
            yield (
                f"{system}: {n} of {len(asked)} responses are not there yet; "
                "'careeval run --resume' asks for them"
            )


def _failures(rows: _Rows) -> Iterator[str]:
    """For each system with samples that ended in an error: how many, and the last one's words.

    A provider may repeat what it was asked, so that a held-out run's words stay untold.
    """
    held_out = {key[0] for key, row in rows.responses.items() if row.get("split") == HELD_OUT}
    messages: dict[str, list[str]] = {}
    for (_, (system, _, _)), error in rows.errors.items():
        if error is not None:
            messages.setdefault(system, []).append((error.strip() or "no reason").splitlines()[0])
    for system, of_system in messages.items():
        last = "" if system in held_out else f"; the last: {of_system[-1][:300]}"
        yield f"{system}: {len(of_system)} samples failed{last}"


def _judgments(graded: Iterable[GradedResponse]) -> pl.DataFrame:
    """The table of judgments: a row for each item of each graded response.

    A row is put together from three: what all judgments of its rubric in its response share, what
    all judgments of its item share, and its own. With every row made whole, reading takes twice as
    long.
    """
    shared: list[Row] = []
    items: list[Row] = []
    first_item: dict[tuple[int, Rubric], int] = {}
    own: list[tuple[int, int, *Mark]] = []
    for log, gradings, sample, asked in graded:
        if sample.response.state is ResponseState.missing:
            continue
        about = log.header.about
        for rubric in about.rubrics:
            of_rubric = asked.rubrics.get(rubric, ())
            first = first_item.setdefault((id(asked), rubric), len(items))
            if first == len(items):
                items += [_item_row(rubric, *placed) for placed in enumerate(of_rubric)]
            marks, other, spent = _marks(sample, rubric, log.header.grader)
            own += [
                (len(shared), place, *marks.get(item.id, other))
                for place, item in enumerate(of_rubric, first)
            ]
            shared.append(
                {
                    "system": log.system,
                    "scenario": sample.id,
                    "epoch": sample.epoch,
                    "grader": log.grader,
                    "grading": gradings[rubric],
                    "protocol": about.protocol,
                    "bank_hash": about.bank_hash,
                    "prompt": about.prompts.grade,
                    **_shares(spent, len(of_rubric)),
                }
            )
    kinds = {"shared_row": pl.Int64, "item_row": pl.Int64, **schema(_columns(MARK_COLUMNS))}
    rows = pl.DataFrame(own, schema=kinds, orient="row")
    parts = [
        table(shared, _columns(SHARED_COLUMNS))[rows["shared_row"]],
        table(items, _columns(ITEM_COLUMNS))[rows["item_row"]],
        rows.select(MARK_COLUMNS),
    ]
    return pl.concat(parts, how="horizontal").select(*schema(JUDGMENTS))


def _marks(
    sample: Sample, rubric: Rubric, grader: str | None
) -> tuple[Mapping[str, Mark], Mark, Spent]:
    """The judgments of a rubric, what stands for an item without one, and what they took.

    Where grading broke off, every item is unresolved. A response without words contains nothing,
    and no grader was asked: every item is absent, and cost nothing.
    """
    state = sample.response.state
    if state is not ResponseState.answered:
        nothing = Spent(0, 0, 0.0, 0.0)
        return {}, (False, None, f"{state} response: nothing to grade"), nothing
    graded = sample.graded.get(rubric, Graded())
    marks = {j.item: (j.present, j.quote, j.reason) for j in graded.judgments}
    why = (sample.error or "the grading was not stored")[:300]
    return marks, (None, None, f"error: {why}"), _true_spent(graded.usage or Spent(), grader)


def _true_usage(usage: Usage | None, response: Stored, model: str | None) -> Usage:
    """What a response took, without a count of tokens that cannot be true: older logs have such."""
    if usage is None or in_process(model or ""):
        return usage or Usage()
    read, write = usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0
    went_in = None if usage.input_tokens is None else usage.input_tokens + read + write
    parts = (usage.input_tokens, read, write, usage.reasoning_tokens)
    words = bool(response.text)
    return usage if is_counted(went_in, usage.output_tokens, *parts, words=words) else Usage()


def _true_spent(spent: Spent, grader: str | None) -> Spent:
    """The same for the calls that judged a rubric."""
    if in_process(grader or "") or is_counted(spent.input_tokens, spent.output_tokens):
        return spent
    return Spent(seconds=spent.seconds)


def _item_row(rubric: Rubric, position: int, item: Item) -> Row:
    """The columns that all judgments of an item share."""
    return {
        "rubric": rubric.value,
        "position": position,
        "item": item.id,
        "points": item.points,
        "item_text": item.text,
        "of": item.of,
        "excludes": item.excludes,
        "harm": item.harm,
        "kind": item.kind,
        "core": item.core,
        "error": item.error,
        **{domain.value: level for domain, level in item.domains.items()},
    }


def _shares(spent: Spent, n_items: int) -> Row:
    """What each of a rubric's items took of the calls that judged them: an even share."""
    return {
        name: None if total is None else total / n_items
        for name, total in vars(spent).items()
        if n_items
    }


def _columns(names: Iterable[str]) -> list[Column]:
    """Columns of the table of judgments."""
    return [column for column in JUDGMENTS if column.name in names]


MARK_COLUMNS = ("present", "quote", "reason")
SHARED_COLUMNS = ("system", "scenario", "epoch", "grader", "grading", "protocol", "bank_hash",
                  "prompt", "input_tokens", "output_tokens", "cost_usd", "seconds")  # fmt: skip
ITEM_COLUMNS = {column.name for column in JUDGMENTS} - {*MARK_COLUMNS, *SHARED_COLUMNS}
"""Columns of judgments, by what they are the same for."""
