"""Making the rows of the tables of responses and judgments from the samples of logs.

Where a run was killed and resumed, the newest sample of each scenario and epoch counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import polars as pl

from careeval.core.response import ResponseState
from careeval.core.scenario import Rubric, Split
from careeval.errors import LogError
from careeval.protocol.log_fields import (
    GradingUsage,
    Grouping,
    LoggedGrading,
    LoggedItem,
    LoggedSample,
    LoggedScenario,
    LoggedUsage,
    is_cancelled,
)
from careeval.protocol.logs import ImpossibleCount, Log, UnreadableSample
from careeval.protocol.sweep_cells import sweep_of
from careeval.results.tables import (
    JUDGMENTS,
    NOT_ASKED,
    RESPONSE_KEY,
    Column,
    SystemKey,
    schema,
    table,
)

MAX_JUDGMENTS = 5_000_000
"""The most judgments of one log."""

MAX_KEPT = 1_000_000_000
"""The most characters kept of one log: responses, errors, quotes, reasons, settings, and the texts
of scenarios and items."""


ResponseKey = tuple[SystemKey, str, int]
"""The key of a response: system in its condition, scenario, epoch."""
Row = Mapping[str, Any]
"""A row: column → value; a missing column is null."""
GradedResponse = tuple[Log, Mapping[Rubric, int], LoggedSample, LoggedScenario]
"""A graded log, the number of its grading for each rubric, and one of its samples."""
_SCENARIO_COLUMNS = (*(each.name for each in fields(Grouping)), "scenario_text", "untold",
                     "picture", "picture_alt")  # fmt: skip
"""The columns with the same value for all responses to a scenario."""


@dataclass(frozen=True)
class ResponseRows:
    """The responses and gradings collected from logs, where later logs replace earlier ones."""

    responses: dict[ResponseKey, Row] = field(default_factory=dict)  # Response → its row
    graded: dict[tuple[Path, str | None, ResponseKey], GradedResponse] = field(default_factory=dict)
    """Folder, grader and response → that grading of it."""
    errors: dict[tuple[Path, ResponseKey], str | None] = field(default_factory=dict)
    """Folder and response → the error that ended its sample; `None` if no error did."""
    unreadable: dict[ResponseKey, str] = field(default_factory=dict)
    """Response → the reason why its sample cannot be read."""

    def add_log(self, log: Log, gradings: Mapping[Rubric, int] | None) -> Iterator[str]:
        """Add a log's samples; yield notes on unreadable samples and impossible counts.

        Args:
            log: The log.
            gradings: Rubric → number of its grading; `None` if the log is not graded.

        Raises:
            LogError: The log is beyond the limits.
        """
        unreadable: list[UnreadableSample] = []
        odd: list[ImpossibleCount] = []
        n_judgments = n_kept = 0
        scenarios: set[str] = set()
        run_columns = _run_columns(log)
        for entry in log.samples():
            if isinstance(entry, UnreadableSample):
                unreadable.append(entry)
                self.unreadable[_system_key(log), entry.id, entry.epoch] = entry.reason
                continue
            if isinstance(entry, ImpossibleCount):
                odd.append(entry)
                continue
            sample, scenario = entry
            if sample.stored is None and is_cancelled(sample.error):
                continue  # not asked yet
            n_judgments += sum(map(len, scenario.rubrics.values()))
            n_kept += _n_kept(sample)
            if sample.id not in scenarios:
                scenarios.add(sample.id)
                n_kept += len(scenario.text or "")
                n_kept += sum(len(i.text) for items in scenario.rubrics.values() for i in items)
            if n_judgments > MAX_JUDGMENTS or n_kept > MAX_KEPT:
                raise LogError(
                    f"{log.path}: is too large: more than {MAX_JUDGMENTS:,} judgments, "
                    f"or {MAX_KEPT:,} characters of responses, errors, quotes, reasons, settings, "
                    "scenarios and items",
                    hint="split the scenarios over several runs, or use fewer --samples",
                )
            key = _system_key(log), sample.id, sample.epoch
            lacking = {r.value for r in log.header.about.rubrics if not scenario.rubrics.get(r)}
            # an earlier grading may be of another rubric: keep what it lacks
            lacking |= set(self.responses.get(key, {}).get("lacks") or ())
            row = _response_row(sample, scenario, run_columns)
            n_kept += len(row["sampling"])
            self.responses[key] = {**row, "lacks": sorted(lacking)}
            self.errors[log.path.parent, key] = None if is_cancelled(sample.error) else sample.error
            if gradings is not None:
                self.graded[log.path.parent, log.grader, key] = log, gradings, sample, scenario
        if unreadable:
            first = unreadable[0]
            yield (
                f"{log.path}: {len(unreadable)} of its samples cannot be read; "
                f"the first, {first.id} epoch {first.epoch}: {first.reason}"
            )
        if odd:
            yield (
                f"{log.path}: {len(odd)} of its samples have an impossible count, which is taken "
                f"as unknown; the first, {odd[0].id} epoch {odd[0].epoch}: {odd[0].reason}"
            )

    def add_missing(self, logs: Sequence[Log]) -> Iterator[str]:
        """Add a row for each response that is missing; yield a note on their number.

        The scenarios and epochs of each system are those of its last log.
        """
        for system, log in {_system_key(log): log for log in logs}.items():
            expected = [
                (system, scenario, epoch)
                for scenario in log.header.scenarios
                for epoch in range(1, log.header.epochs + 1)
            ]
            siblings = {key[1]: row for key, row in self.responses.items() if key[0] == system}
            absent = [key for key in expected if key not in self.responses]
            for key in absent:
                sibling = siblings.get(key[1], {})
                unreadable = self.unreadable.get(key)
                note = f"its record cannot be read: {unreadable}" if unreadable else NOT_ASKED
                self.responses[key] = {
                    **_run_columns(log),
                    **missing_row(key[1], key[2], note),
                    **{name: sibling.get(name) for name in _SCENARIO_COLUMNS},
                }
            whole_run = all(sweep_of(each.path.parent) is None for each in logs)
            if whole_run and (n := sum(key not in self.unreadable for key in absent)):
                yield (
                    f"{system.name}: {n} of {len(expected)} responses are still missing; "
                    "'careeval run --resume' asks for them"
                )

    def failure_notes(self) -> Iterator[str]:
        """Yield a note on the failed samples of each system, with the text of the last error.

        The text is left out for a held-out run: a provider may repeat the prompt in it.
        """
        held_out = {
            key[0]
            for key, row in self.responses.items()
            if row.get("split") == Split.held_out.value
        }
        messages: dict[SystemKey, list[str]] = {}
        for (_, (system, _, _)), error in self.errors.items():
            if error is not None:
                messages.setdefault(system, []).append(
                    (error.strip() or "no reason").splitlines()[0]
                )
        for system, errors in messages.items():
            last = "" if system in held_out else f"; the last: {errors[-1][:300]}"
            yield f"{system.name}: {len(errors)} samples failed{last}"


def _system_key(log: Log) -> SystemKey:
    return SystemKey(log.system, log.header.about.given, log.header.about.step)


def _n_kept(sample: LoggedSample) -> int:
    """Return the number of characters of a sample that are kept in memory."""
    n_judged = sum(
        len(judgment.quote or "") + len(judgment.reason or "")
        for graded in sample.graded.values()
        for judgment in graded.judgments
    )
    return len(sample.response.text) + len(sample.error or "") + n_judged


def _run_columns(log: Log) -> Row:
    """Return the columns that have the same value for all responses of a log."""
    about, is_asked = log.header.about, not log.header.about.recorded
    return {
        **_system_key(log)._asdict(),
        "model": log.header.model if is_asked else None,
        "bank": about.bank,
        "bank_version": about.bank_version,
        "bank_hash": about.bank_hash,
        "bank_provenance": about.bank_provenance,
        "bank_makers": list(about.bank_makers),
        "protocol": about.protocol,
        "ask_prompt": about.prompts.ask if is_asked else None,
        "software": about.software,
        "created": log.header.created,
    }


def _response_row(sample: LoggedSample, scenario: LoggedScenario, run_columns: Row) -> Row:
    response = sample.response
    usage = sample.usage or LoggedUsage()
    return {
        **run_columns,
        "scenario": sample.id,
        "epoch": sample.epoch,
        "state": response.state.value,
        "text": response.text,
        "cut": response.cut,
        "note": response.note,
        # the log of a recorded response has the system's name as its model
        "model_returned": sample.model if run_columns["model"] else None,
        "reasoned": sample.reasoned,
        "input_tokens": usage.input_tokens,
        "cache_read_tokens": usage.input_tokens_cache_read,
        "cache_write_tokens": usage.input_tokens_cache_write,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cost_usd": usage.total_cost,
        "seconds": sample.seconds,
        "n_calls": (sample.n_calls or 1) if run_columns["model"] and sample.stored else None,
        "sampling": json.dumps(sample.sampling or {}),
        **vars(scenario.grouping),
        "scenario_text": scenario.text,
        "untold": scenario.untold,
        "picture": scenario.picture,
        "picture_alt": scenario.picture_alt,
    }


def missing_row(scenario: str, epoch: int, note: str) -> Row:
    """Return the columns of a missing response, with a note on why it is missing."""
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


# Judgments

NOT_GRADED = "not graded yet: the run is not finished"
"""Reason of a judgment that a run was stopped before."""

Mark = tuple[bool | None, str | None, str | None]
"""The columns that differ from judgment to judgment: present, quote and reason."""
_MARK_COLUMNS = ("present", "quote", "reason")
_SHARED_COLUMNS = (*RESPONSE_KEY, "grader", "grading", "protocol", "bank_hash", "prompt",
                   "input_tokens", "output_tokens", "cost_usd", "seconds")  # fmt: skip
_ITEM_COLUMNS = {column.name for column in JUDGMENTS} - {*_MARK_COLUMNS, *_SHARED_COLUMNS}
"""The columns of the table in three groups: those of one judgment alone, those that all judgments
of a rubric of a response share, and those that all judgments of an item share."""


def numbered_gradings(logs: Iterable[Log]) -> Iterator[tuple[Path, Mapping[Rubric, int]]]:
    """Yield the path of each graded log with the number of its grading for each of its rubrics.

    The gradings of a system's rubric by one grader are numbered from 1, one number per folder.
    """
    folders: dict[tuple[SystemKey, str, Rubric], list[Path]] = {}
    for log in logs:
        if (grader := log.grader) is None:
            continue
        numbers: dict[Rubric, int] = {}
        for rubric in log.header.about.rubrics:
            gradings = folders.setdefault((_system_key(log), grader, rubric), [])
            if log.path.parent not in gradings:
                gradings.append(log.path.parent)
            numbers[rubric] = 1 + gradings.index(log.path.parent)
        yield log.path, numbers


def judgment_table(graded: Iterable[GradedResponse]) -> pl.DataFrame:
    """Return the table of judgments: one row per item of each graded response.

    Each row is joined from the three groups of columns: making every row whole takes twice as long.
    """
    shared: list[Row] = []
    items: list[Row] = []
    first_item: dict[tuple[int, Rubric], int] = {}
    own: list[tuple[int, int, *Mark]] = []
    for log, gradings, sample, scenario in graded:
        if sample.response.state is ResponseState.missing:
            continue
        about = log.header.about
        for rubric in about.rubrics:
            rubric_items = scenario.rubrics.get(rubric, ())
            first = first_item.setdefault((id(scenario), rubric), len(items))
            if first == len(items):
                items += [_item_row(rubric, *placed) for placed in enumerate(rubric_items)]
            marks, default, usage = _marks(sample, rubric)
            own += [
                (len(shared), item_row, *marks.get(item.id, default))
                for item_row, item in enumerate(rubric_items, first)
            ]
            shared.append(
                {
                    **_system_key(log)._asdict(),
                    "scenario": sample.id,
                    "epoch": sample.epoch,
                    "grader": log.grader,
                    "grading": gradings[rubric],
                    "protocol": about.protocol,
                    "bank_hash": about.bank_hash,
                    "prompt": about.prompts.grade,
                    **_shares(usage, len(rubric_items)),
                }
            )
    kinds = {"shared_row": pl.Int64, "item_row": pl.Int64, **schema(_columns(_MARK_COLUMNS))}
    rows = pl.DataFrame(own, schema=kinds, orient="row")
    parts = [
        table(shared, _columns(_SHARED_COLUMNS))[rows["shared_row"]],
        table(items, _columns(_ITEM_COLUMNS))[rows["item_row"]],
        rows.select(_MARK_COLUMNS),
    ]
    return pl.concat(parts, how="horizontal").select(*schema(JUDGMENTS))


def _marks(sample: LoggedSample, rubric: Rubric) -> tuple[Mapping[str, Mark], Mark, GradingUsage]:
    """Return a rubric's marks by item, the mark of items without a judgment, and the usage.

    Where grading broke off, every item is unresolved. An empty, refused or malformed response is
    shown to no grader: every item is absent, at a cost of 0.
    """
    state = sample.response.state
    if not state.is_graded:
        nothing = GradingUsage(0, 0, 0.0, 0.0)
        return {}, (False, None, f"{state} response: nothing to grade"), nothing
    graded = sample.graded.get(rubric, LoggedGrading())
    marks = {j.item: (j.present, j.quote, j.reason) for j in graded.judgments}
    why = f"error: {(sample.error or 'the grading was not stored')[:300]}"
    return (
        marks,
        (None, None, NOT_GRADED if is_cancelled(sample.error) else why),
        graded.usage or GradingUsage(),
    )


def _item_row(rubric: Rubric, position: int, item: LoggedItem) -> Row:
    """Return the columns that all judgments of an item share."""
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


def _shares(usage: GradingUsage, n_items: int) -> Row:
    """Return the usage of one judgment: an equal share of the usage for the whole rubric."""
    return {
        name: None if total is None else total / n_items
        for name, total in vars(usage).items()
        if n_items
    }


def _columns(names: Iterable[str]) -> list[Column]:
    """Return the columns of the table of judgments with these names."""
    return [column for column in JUDGMENTS if column.name in names]
