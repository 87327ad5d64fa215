"""Making the table of judgments from the graded samples of logs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl

from careeval.core.response import ResponseState
from careeval.core.scenario import Rubric
from careeval.protocol.costs.prices import runs_in_process
from careeval.protocol.costs.token_counts import is_plausible
from careeval.protocol.logs.eval_file import Log
from careeval.protocol.logs.fields import (
    LoggedGrading,
    LoggedGradingUsage,
    LoggedItem,
    LoggedSample,
    is_cancelled,
)
from careeval.protocol.tables.response_rows import GradedResponse, Row
from careeval.results.tables import JUDGMENTS, Column, schema, table

NOT_GRADED = "not graded yet: the run is not finished"
"""Reason of a judgment that a run was stopped before."""

Mark = tuple[bool | None, str | None, str | None]
"""The columns that differ from judgment to judgment: present, quote and reason."""
_MARK_COLUMNS = ("present", "quote", "reason")
_SHARED_COLUMNS = ("system", "scenario", "epoch", "grader", "grading", "protocol", "bank_hash",
                   "prompt", "input_tokens", "output_tokens", "cost_usd", "seconds")  # fmt: skip
_ITEM_COLUMNS = {column.name for column in JUDGMENTS} - {*_MARK_COLUMNS, *_SHARED_COLUMNS}
"""The columns of the table in three groups: those of one judgment alone, those that all judgments
of a rubric of a response share, and those that all judgments of an item share."""


def numbered_gradings(logs: Iterable[Log]) -> Iterator[tuple[Path, Mapping[Rubric, int]]]:
    """Yield the path of each graded log with the number of its grading for each of its rubrics.

    The gradings of a system's rubric by one grader are numbered from 1, one number per folder.
    """
    folders: dict[tuple[str, str, Rubric], list[Path]] = {}
    for log in logs:
        if (grader := log.grader) is None:
            continue
        numbers: dict[Rubric, int] = {}
        for rubric in log.header.about.rubrics:
            gradings = folders.setdefault((log.system, grader, rubric), [])
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
            marks, default, usage = _marks(sample, rubric, log.header.grader)
            own += [
                (len(shared), item_row, *marks.get(item.id, default))
                for item_row, item in enumerate(rubric_items, first)
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


def _marks(
    sample: LoggedSample, rubric: Rubric, grader: str | None
) -> tuple[Mapping[str, Mark], Mark, LoggedGradingUsage]:
    """Return a rubric's marks by item, the mark of items without a judgment, and the usage.

    Where grading broke off, every item is unresolved. An empty, refused or malformed response is
    shown to no grader: every item is absent, at a cost of 0.
    """
    state = sample.response.state
    if not state.is_graded:
        nothing = LoggedGradingUsage(0, 0, 0.0, 0.0)
        return {}, (False, None, f"{state} response: nothing to grade"), nothing
    graded = sample.graded.get(rubric, LoggedGrading())
    marks = {j.item: (j.present, j.quote, j.reason) for j in graded.judgments}
    why = f"error: {(sample.error or 'the grading was not stored')[:300]}"
    return (
        marks,
        (None, None, NOT_GRADED if is_cancelled(sample.error) else why),
        _plausible_grading_usage(graded.usage or LoggedGradingUsage(), grader),
    )


def _plausible_grading_usage(usage: LoggedGradingUsage, grader: str | None) -> LoggedGradingUsage:
    """Return a grading's usage; only its seconds, if its token counts are impossible."""
    if runs_in_process(grader or "") or is_plausible(usage.input_tokens, usage.output_tokens):
        return usage
    return LoggedGradingUsage(seconds=usage.seconds)


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


def _shares(usage: LoggedGradingUsage, n_items: int) -> Row:
    """Return the usage of one judgment: an equal share of the usage for the whole rubric."""
    return {
        name: None if total is None else total / n_items
        for name, total in vars(usage).items()
        if n_items
    }


def _columns(names: Iterable[str]) -> list[Column]:
    """Return the columns of the table of judgments with these names."""
    return [column for column in JUDGMENTS if column.name in names]
