"""A summary as others read it: JSON for machines, rows for CSV and Markdown."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from pydantic import TypeAdapter

from careeval.results.estimates import Errors
from careeval.results.summary import NOT_COMPARABLE, SCHEMA, Summary
from careeval.stats import Estimate


@dataclass(frozen=True)
class SummaryFile:
    """What `careeval summary --json` prints: the contract with machines."""

    schema: str
    note: str
    models: list[Summary]


_FILE = TypeAdapter(SummaryFile)


def summary_json(summaries: Sequence[Summary]) -> dict[str, Any]:
    """Summaries as JSON values; an unknown number is `{"value": null, "reason": "…"}`."""
    known: dict[str, Any] = _without_unknowns(_dumped(summaries))
    return known


def summary_schema() -> dict[str, Any]:
    """The JSON Schema of `summary_json`; shipped as `summary.schema.json` beside this module."""
    schema = _FILE.json_schema()
    number = {"type": "number"}
    pair = {"type": "array", "prefixItems": [number, number], "minItems": 2, "maxItems": 2}
    known = {
        "value": number,
        "low": number,
        "high": number,
        "ci95": {"anyOf": [pair, {"type": "null"}]},
    }
    schema["$defs"]["Estimate"] = {
        "description": "A number with its bounds and its 95% interval, or null with the reason.",
        "oneOf": [
            _object({**known, "reason": {"type": "string"}}, required=[*known]),
            _object(
                {"value": {"type": "null"}, "reason": {"type": "string"}},
                required=["value", "reason"],
            ),
        ],
    }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _dumped(summaries: Sequence[Summary]) -> dict[str, Any]:
    file = SummaryFile(schema=SCHEMA, note=NOT_COMPARABLE, models=list(summaries))
    dumped: dict[str, Any] = _FILE.dump_python(file, mode="json")
    return dumped


def _without_unknowns(value: Any) -> Any:
    """An estimate without what it does not have: no empty reason, no bounds of an unknown value."""
    if isinstance(value, dict):
        if value.keys() == _ESTIMATE:
            kept = {"value"} if value["value"] is None else {"value", "low", "high", "ci95"}
            return {k: v for k, v in value.items() if k in kept or (k == "reason" and v)}
        return {k: _without_unknowns(v) for k, v in value.items()}
    return [_without_unknowns(v) for v in value] if isinstance(value, list) else value


_ESTIMATE = {f.name for f in fields(Estimate)}


def percent(fraction: float | None) -> str:
    """A fraction as a percentage with one decimal; a dash where it is unknown."""
    if fraction is None:
        return "–"
    rounded = round(100 * fraction, 1) or 0.0  # never a minus before 0.0
    return f"{rounded:.1f}".replace("-", "−")


def with_interval(estimate: Estimate) -> str:
    """A percentage with its 95% interval, and its bounds where judgments are unresolved."""
    text = percent(estimate.value)
    if estimate.low is not None and estimate.low != estimate.high:
        text += f" ({percent(estimate.low)} to {percent(estimate.high)} by the unresolved)"
    if estimate.ci95 is not None:
        text += f" [{percent(estimate.ci95[0])}, {percent(estimate.ci95[1])}]"
    return text


def _count(errors: Errors | None) -> str:
    return "–" if errors is None else f"{errors.count} of {errors.opportunities}"


HEADLINE = ("model", "grader", "score % [95% CI]", "worst of n %", "worst run %", "SD of runs",
            "actions % [95% CI]", "severe", "mild", "n")  # fmt: skip
"""Column heads of the first table."""


def headline_row(s: Summary) -> tuple[str, ...]:
    """One entry under `HEADLINE`."""
    return (
        s.model,
        s.grader,
        with_interval(s.score),
        percent(s.worst_at_n.value),
        percent(s.worst_run.value),
        percent(s.sd_runs.value),
        with_interval(s.action_score),
        _count(s.severe),
        _count(s.mild),
        f"{s.n_scenarios} × {s.n_epochs}",
    )


BY_ADL = ("model", "activity", "n", "score %", "worst of n %", "actions %", "severe", "mild")
BY_DOMAIN = ("model", "domain", "actions % [95% CI]", "n", "ladder level % [95% CI]", "n")
"""Column heads of the tables by activity and by domain."""


def adl_rows(s: Summary) -> list[tuple[str, ...]]:
    """One entry by activity; a cell of fewer than five scenarios is marked with an asterisk."""
    return [
        (
            s.model, adl.value, f"{cell.n}{'*' if cell.small else ''}", with_interval(cell.score),
            percent(cell.worst_at_n.value), percent(cell.action_score.value),
            *("–" if count is None else str(count) for count in (cell.severe, cell.mild)),
        )
        for adl, cell in s.by_adl.items()
    ]  # fmt: skip


def domain_rows(s: Summary) -> list[tuple[str, ...]]:
    """One entry by domain."""
    return [
        (s.model, domain.replace("_", " "), with_interval(cell.action_score), str(cell.n),
         with_interval(cell.ladder_level), str(cell.n_ladder))
        for domain, cell in s.by_domain.items()
    ]  # fmt: skip


def markdown(summaries: Sequence[Summary]) -> str:
    """Summaries as Markdown tables, with what must be said beside them."""
    parts = [
        _markdown_table(HEADLINE, [headline_row(s) for s in summaries]),
        _markdown_table(BY_ADL, [row for s in summaries for row in adl_rows(s)]),
        _markdown_table(BY_DOMAIN, [row for s in summaries for row in domain_rows(s)]),
        "\n".join(f"- {_plain(note)}" for note in remarks(summaries)),
    ]
    return "\n\n".join(parts) + "\n"


def csv_text(summaries: Sequence[Summary]) -> str:
    """One row an entry, numbers as fractions; an unknown number is empty beside its reason."""
    rows = [_flat(entry) for entry in _dumped(summaries)["models"]]
    names = list(dict.fromkeys(name for row in rows for name in row))
    # what is whole and unknown in one entry, such as `severe`, may be several columns in another
    columns = [name for name in names if not any(other.startswith(f"{name}.") for other in names)]
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def remarks(summaries: Sequence[Summary]) -> list[str]:
    """What a reader must be told with these numbers, each remark once."""
    found = []
    reasons = dict.fromkeys(reason for s in summaries for reason in s.not_ranked)
    for reason in reasons:
        models = dict.fromkeys(s.model for s in summaries if reason in s.not_ranked)
        found.append(f"{', '.join(models)}: not for ranking: {reason}.")
    for s in summaries:
        found += [f"{s.model}: {warning}." for warning in s.warnings]
        for count, what in ((s.n_empty, "empty"), (s.n_refused, "refused")):
            if count:
                of = f"{count} of {s.n_responses} responses"
                found.append(f"{s.model}: {of} are {what}: 0 points each.")
    found += [f"Bank {s.bank} {s.bank_version}: {s.bank_provenance}" for s in summaries]
    if len({s.n_epochs for s in summaries}) > 1:
        found.append("The worst of n compares only between equal n.")
    if any(cell.small for s in summaries for cell in s.by_adl.values()):
        found.append("* fewer than five scenarios: no interval, and not for comparing.")
    return [*dict.fromkeys(found), NOT_COMPARABLE] if summaries else []


def _flat(value: Any, name: str = "") -> dict[str, Any]:
    """Nested values as columns: `score.value`, `by_adl.dressing.n`."""
    if name.endswith("ci95"):
        low, high = value or (None, None)
        return {f"{name}.low": low, f"{name}.high": high}
    if isinstance(value, dict):
        parts = (_flat(part, f"{name}.{key}" if name else key) for key, part in value.items())
        return {column: cell for part in parts for column, cell in part.items()}
    return {name: "; ".join(value) if isinstance(value, list) else value}


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *(map(_plain, row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _plain(text: str) -> str:
    """Text that Markdown shows as it is, on one line: names come from people and providers."""
    return re.sub(r"[\\`*<>|]|\](?=\()", r"\\\g<0>", " ".join(text.split()))
