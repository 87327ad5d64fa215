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
from careeval.protocol.eval_log import (
    Asked,
    Graded,
    Item,
    Log,
    Sample,
    Spent,
    Unreadable,
    Usage,
    read_log,
)
from careeval.protocol.run import GRADED, is_audit
from careeval.results.tables import (
    JUDGMENTS,
    NOT_ASKED,
    RESPONSES,
    Column,
    Runs,
    schema,
    table,
)

CACHE = ".tables"
HELD_OUT = Split.held_out.value

AUDIT = "it is the audit of a grader on the labelled probes, and no system's run"
AUDIT_HINT = "careeval report RUNS --probes FOLDER shows it beside what the grader judged"

ResponseKey = tuple[str, str, int]
"""System, scenario, epoch."""
Row = Mapping[str, Any]
"""Column → value; a column that is not there is null."""
Mark = tuple[bool | None, str | None, str | None]
"""Whether an item is present, the quote and the reason."""
GradedResponse = tuple[Log, int, Sample, Asked]
"""A response in the k-th grading by the log's grader."""
SCENARIO_COLUMNS = ("adl", "condition", "assistance", "situation", "actor", "split",
                    "scenario_text")  # fmt: skip
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
            if is_audit(root):
                refused.append(LogError(f"{root} is left out: {AUDIT}", hint=AUDIT_HINT))
                continue
            try:
                parts.append(read_run(root))
            except LogError as error:
                refused.append(error)
    if not parts and refused:
        raise refused[0]
    runs = Runs.together(parts)
    runs = runs.without_held_out_texts()
    return replace(runs, notes=(*runs.notes, *_ungraded(runs), *map(str, refused)))


def _ungraded(runs: Runs) -> Iterator[str]:
    """Of runs some of which were graded, a note on each that was not."""
    graded = set(runs.judgments["system"])
    for system in sorted(set(runs.responses["system"]) - graded) if graded else ():
        yield f"{system}: nobody has graded its responses, so it is not among the results"


def read_run(folder: Path) -> Runs:
    """One run with its gradings, word for word, a held-out one too.

    From its cached tables where its logs have not changed since.
    """
    logs = _logs_below(folder)
    key = _key(folder, logs)
    cache = folder / CACHE
    try:
        known = json.loads((cache / "key.json").read_text(encoding="utf-8"))
        if known["key"] == key:
            return Runs.read(cache, known["notes"])
    except (OSError, ValueError, KeyError, TypeError, CareEvalError):
        pass  # no cache that can be used: the logs are the truth
    runs = _tables(folder, logs)
    try:
        runs.write(cache)
        (cache / "key.json").write_text(
            json.dumps({"key": key, "notes": runs.notes}), encoding="utf-8"
        )
    except OSError:
        pass  # a folder that cannot be written can still be read
    return runs


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
    roots = {path.parent.parent if path.parent.name == GRADED else path for path in holders}
    return sorted(root if root.is_relative_to(folder) else folder for root in roots)


def _logs_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.eval") if path.is_file())


def _key(folder: Path, logs: Iterable[Path]) -> str:
    """What the cached tables stand for: logs' names, sizes and times, and the tables' columns."""
    stats = [
        (str(path.relative_to(folder)), path.stat().st_size, path.stat().st_mtime_ns)
        for path in logs
    ]
    columns = {name: str(kind) for name, kind in (schema(RESPONSES) | schema(JUDGMENTS)).items()}
    return hashlib.sha256(json.dumps([stats, columns]).encode()).hexdigest()


def _tables(folder: Path, paths: Iterable[Path]) -> Runs:
    logs, notes = _usable(paths)
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
    return sorted(logs, key=lambda log: log.header.created), notes


def _number(log: Log) -> int:
    """The n of a later grading's folder, `<grader>-<n>`; 0 for a folder that has none."""
    number = log.path.parent.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else 0


def _gradings(logs: Iterable[Log]) -> Iterator[tuple[Path, int]]:
    """Each graded log with its grading: a grader's first folder for a system is 1."""
    folders: dict[tuple[str, str], list[Path]] = {}
    for log in logs:
        if (grader := log.grader) is not None:
            seen = folders.setdefault((log.system, grader), [])
            if log.path.parent not in seen:
                seen.append(log.path.parent)
            yield log.path, 1 + seen.index(log.path.parent)


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

    def take(self, log: Log, grading: int | None) -> Iterator[str]:
        """Take a log's samples, the k-th grading if it is one, and note what cannot be read."""
        unreadable = []
        of_run = _run_columns(log)
        for found in log.samples():
            if isinstance(found, Unreadable):
                unreadable.append(found)
                self.unreadable[log.system, found.id, found.epoch] = found.reason
                continue
            sample, asked = found
            key = log.system, sample.id, sample.epoch
            self.responses[key] = _response_row(sample, asked, of_run)
            self.errors[log.path.parent, key] = sample.error
            if grading is not None:
                self.graded[log.path.parent, log.grader, key] = log, grading, sample, asked
        if unreadable:
            first = unreadable[0]
            yield (
                f"{log.path}: {len(unreadable)} of its samples cannot be read; "
                f"the first, {first.id} epoch {first.epoch}: {first.reason}"
            )


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
        "protocol": about.protocol,
        "ask_prompt": about.prompts.ask if asked else None,
        "software": about.software,
        "created": log.header.created,
    }


def _response_row(sample: Sample, asked: Asked, of_run: Row) -> Row:
    response = sample.response
    usage = sample.usage or Usage()
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
        "scenario_text": asked.text if isinstance(asked.text, str) else None,
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
            rows.responses[key] = {
                **_run_columns(log),
                "scenario": key[1],
                "epoch": key[2],
                "state": ResponseState.missing.value,
                "text": "",
                "cut": False,
                "note": f"its record cannot be read: {unreadable}" if unreadable else NOT_ASKED,
                "reasoned": False,
                "sampling": "{}",
                **{name: sibling.get(name) for name in SCENARIO_COLUMNS},
            }
        if n := sum(key not in rows.unreadable for key in absent):
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
    for log, grading, sample, asked in graded:
        if sample.response.state is ResponseState.missing:
            continue
        for rubric in log.header.about.rubrics:
            of_rubric = asked.rubrics.get(rubric, ())
            first = first_item.setdefault((id(asked), rubric), len(items))
            if first == len(items):
                items += [_item_row(rubric, *placed) for placed in enumerate(of_rubric)]
            marks, other, spent = _marks(sample, rubric)
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
                    "grading": grading,
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


def _marks(sample: Sample, rubric: Rubric) -> tuple[Mapping[str, Mark], Mark, Spent]:
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
    return marks, (None, None, f"error: {why}"), graded.usage or Spent()


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
SHARED_COLUMNS = ("system", "scenario", "epoch", "grader", "grading", "input_tokens",
                  "output_tokens", "cost_usd", "seconds")  # fmt: skip
ITEM_COLUMNS = {column.name for column in JUDGMENTS} - {*MARK_COLUMNS, *SHARED_COLUMNS}
"""Columns of judgments, by what they are the same for."""
