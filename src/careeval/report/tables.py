"""The tables of the page: the same numbers as the figures, for every reader, and more.

A table is its caption, its column heads and its rows; the first cell of a row is its name. What
follows a newline in a cell is an aside to it. With one entry, the column of its name is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from careeval.core.scenario import Domain
from careeval.report.words import DOMAINS, UNKNOWN, entry_names, value
from careeval.results.exports import percent
from careeval.results.summary import Errors, Summary
from careeval.results.tables import Runs
from careeval.stats import Estimate

Row = tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """What a table says, without how it looks."""

    caption: str
    heads: Row
    rows: Sequence[Row]
    note: str = ""


def activities(summaries: Sequence[Summary]) -> Table:
    """Score, worst of n and errors by activity."""
    small = any(cell.small for s in summaries for cell in s.by_adl.values())
    rows = [
        (
            adl.capitalize(),
            name,
            f"{cell.n}{'*' if cell.small else ''}",
            _estimate(cell.score),
            value(cell.worst_at_n),
            _estimate(cell.action_score),
            _count(cell.severe),
            _count(cell.mild),
        )
        for name, s in zip(entry_names(summaries), summaries, strict=True)
        for adl, cell in s.by_adl.items()
    ]
    return _table(
        "Activities in numbers",
        (
            "Activity",
            "System",
            "Scenarios",
            "Score, ladder",
            "Worst of n",
            "Score, actions",
            "Severe errors, ladder",
            "Mild errors, ladder",
        ),
        rows,
        summaries,
        "* fewer than five scenarios: no interval, and not for comparing." if small else "",
    )


def errors(summaries: Sequence[Summary]) -> Table:
    """Severe and mild errors on both rubrics."""
    rows: list[Row] = []
    for name, s in zip(entry_names(summaries), summaries, strict=True):
        for kind, found in (
            ("Severe, ladder", s.severe),
            ("Severe, actions", s.action_severe),
            ("Mild, ladder", s.mild),
            ("Mild, actions", s.action_mild),
        ):
            rows.append((kind, name, *_error_cells(found)))
    return _table(
        "Errors in numbers",
        (
            "Error",
            "System",
            "Found",
            "Opportunities",
            "Share of opportunities",
            "Responses with any",
            "Scenarios with any",
        ),
        rows,
        summaries,
    )


def domains(summaries: Sequence[Summary]) -> Table:
    """The four domains, as each rubric sees them."""
    rows = [
        (
            DOMAINS.get(Domain(domain), domain),
            name,
            _estimate(cell.action_score),
            str(cell.n),
            _estimate(cell.ladder_level),
            str(cell.n_ladder),
        )
        for name, s in zip(entry_names(summaries), summaries, strict=True)
        for domain, cell in s.by_domain.items()
    ]
    return _table(
        "Domains in numbers",
        ("Domain", "System", "Actions", "Scenarios", "Ladder level", "Scenarios"),
        rows,
        summaries,
    )


RECORD = (
    ("Bank", ("bank", "bank_version")),
    ("Bank’s hash", ("bank_hash",)),
    ("Protocol", ("protocol",)),
    ("Model asked", ("model",)),
    ("Model that answered", ("model_returned",)),
    ("Sampling sent", ("sampling",)),
    ("Hash of the question’s prompts", ("ask_prompt",)),
    ("careeval", ("software",)),
    ("Run begun", ("created",)),
)
"""Rows of the table of records → the columns of `responses` that they show."""


def records(runs: Runs, summaries: Sequence[Summary]) -> Table:
    """What each run was, a column a system, from the responses' own record."""
    systems = list(dict.fromkeys(s.model for s in summaries)) or sorted(
        runs.responses["system"].unique()
    )
    found = {name: runs.responses.filter(pl.col("system") == name) for name in systems}
    rows = [
        (head, *(_recorded(found[name], columns) for name in systems)) for head, columns in RECORD
    ]
    for head, field in (("Grader", "grader"), ("Gradings", "n_gradings")):
        by_system = (
            "; ".join(str(getattr(s, field)) for s in summaries if s.model == name)
            for name in systems
        )
        rows.append((head, *by_system))
    return Table("What was run", ("", *systems), rows)


def _recorded(responses: pl.DataFrame, columns: tuple[str, ...]) -> str:
    """All values that stand there, the first ten characters of a time: its date."""
    values = responses.select(columns).unique(maintain_order=True).drop_nulls().sort(columns).rows()
    said = dict.fromkeys(" ".join(str(v) for v in row) for row in values)
    if columns == ("created",):
        said = dict.fromkeys(moment[:10] for moment in said)
    return "; ".join(text for text in said if text != "{}") or "not recorded"


def _table(
    caption: str, heads: Row, rows: Sequence[Row], summaries: Sequence[Summary], note: str = ""
) -> Table:
    if len(summaries) == 1:
        heads, rows = _without_second(heads), [_without_second(row) for row in rows]
    return Table(caption, heads, rows, note)


def _without_second(cells: tuple[str, ...]) -> tuple[str, ...]:
    return (cells[0], *cells[2:])


def _estimate(estimate: Estimate) -> str:
    """A value; below it its interval, what unresolved items leave open, or why it is unknown."""
    lines = [value(estimate)]
    if estimate.ci95 is not None:
        lines.append(f"95%: {percent(estimate.ci95[0])} to {percent(estimate.ci95[1])}")
    if estimate.low != estimate.high:
        lines.append(f"unresolved: {percent(estimate.low)} to {percent(estimate.high)}")
    return "\n".join([*lines, *([estimate.reason] if estimate.reason else [])])


def _error_cells(found: Errors | None) -> tuple[str, ...]:
    if found is None:
        return (UNKNOWN, UNKNOWN, *["not judged on this rubric"] * 3)
    shares = (found.per_opportunity, found.per_response, found.per_scenario)
    return (str(found.count), str(found.opportunities), *(_estimate(share) for share in shares))


def _count(count: int | None) -> str:
    return UNKNOWN if count is None else str(count)
