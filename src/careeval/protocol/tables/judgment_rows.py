"""The table of judgments, from the graded samples of logs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl

from careeval.core.response import ResponseState
from careeval.core.scenario import Rubric
from careeval.protocol.costs.prices import in_process
from careeval.protocol.costs.token_counts import is_counted
from careeval.protocol.logs.eval_file import Log
from careeval.protocol.logs.fields import Graded, Item, Sample, Spent
from careeval.protocol.tables.response_rows import GradedResponse, Row
from careeval.results.tables import JUDGMENTS, Column, schema, table

Mark = tuple[bool | None, str | None, str | None]
"""Whether an item is present, the quote and the reason."""
_MARK_COLUMNS = ("present", "quote", "reason")
_SHARED_COLUMNS = ("system", "scenario", "epoch", "grader", "grading", "protocol", "bank_hash",
                   "prompt", "input_tokens", "output_tokens", "cost_usd", "seconds")  # fmt: skip
_ITEM_COLUMNS = {column.name for column in JUDGMENTS} - {*_MARK_COLUMNS, *_SHARED_COLUMNS}
"""Columns of judgments, by what they are the same for."""


def numbered_gradings(logs: Iterable[Log]) -> Iterator[tuple[Path, Mapping[Rubric, int]]]:
    """Yield each graded log with the number of its grading for each of its rubrics.

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


def judgment_table(graded: Iterable[GradedResponse]) -> pl.DataFrame:
    """Return the table of judgments: a row for each item of each graded response.

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
    kinds = {"shared_row": pl.Int64, "item_row": pl.Int64, **schema(_columns(_MARK_COLUMNS))}
    rows = pl.DataFrame(own, schema=kinds, orient="row")
    parts = [
        table(shared, _columns(_SHARED_COLUMNS))[rows["shared_row"]],
        table(items, _columns(_ITEM_COLUMNS))[rows["item_row"]],
        rows.select(_MARK_COLUMNS),
    ]
    return pl.concat(parts, how="horizontal").select(*schema(JUDGMENTS))


def _marks(
    sample: Sample, rubric: Rubric, grader: str | None
) -> tuple[Mapping[str, Mark], Mark, Spent]:
    """Return the judgments of a rubric, what stands for an item without one, and what they took.

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


def _true_spent(spent: Spent, grader: str | None) -> Spent:
    """Return what judging a rubric took, without a count of tokens that cannot be true."""
    if in_process(grader or "") or is_counted(spent.input_tokens, spent.output_tokens):
        return spent
    return Spent(seconds=spent.seconds)


def _item_row(rubric: Rubric, position: int, item: Item) -> Row:
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


def _shares(spent: Spent, n_items: int) -> Row:
    """Return what each of a rubric's items took of the calls that judged them: an even share."""
    return {
        name: None if total is None else total / n_items
        for name, total in vars(spent).items()
        if n_items
    }


def _columns(names: Iterable[str]) -> list[Column]:
    """Return columns of the table of judgments by their names."""
    return [column for column in JUDGMENTS if column.name in names]
