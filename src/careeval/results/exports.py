"""A summary as others read it: JSON for machines, rows for CSV and Markdown."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from math import floor, log10
from typing import Any, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter

from careeval.results.cost import Cost
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
    spent = {
        "known_usd": number,
        "n": {"type": "integer"},
        "n_unknown": {"type": "integer"},
        "input_tokens": {"type": ["integer", "null"]},
        "output_tokens": {"type": ["integer", "null"]},
    }
    schema["$defs"]["Cost"] = {
        "description": "Dollars and tokens; or null with the reason, and the dollars known.",
        "oneOf": [
            _object(
                {"value": number, "per_response": number, **spent},
                required=["value", "per_response", *spent],
            ),
            _object(
                {"value": {"type": "null"}, "reason": {"type": "string"}, **spent},
                required=["value", "reason", *spent],
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
    """A number without what it does not have: no empty reason, no bounds of an unknown value."""
    if isinstance(value, dict):
        if value.keys() == _COST:
            absent = "reason" if value["value"] is not None else "per_response"
            return {k: v for k, v in value.items() if k != absent}
        if value.keys() == _ESTIMATE:
            kept = {"value"} if value["value"] is None else {"value", "low", "high", "ci95"}
            return {k: v for k, v in value.items() if k in kept or (k == "reason" and v)}
        return {k: _without_unknowns(v) for k, v in value.items()}
    return [_without_unknowns(v) for v in value] if isinstance(value, list) else value


_ESTIMATE = {f.name for f in fields(Estimate)}
_COST = {f.name for f in fields(Cost)}


def percent(fraction: float | None) -> str:
    """A fraction as a percentage with one decimal; a dash where it is unknown."""
    if fraction is None:
        return "–"
    rounded = round(100 * fraction, 1) or 0.0  # never a minus before 0.0
    return f"{rounded:.1f}".replace("-", "−")


def dollars(value: float | None) -> str:
    """An amount of money, `unknown` for `None`; what is more than nothing never reads as nothing.

    Cents from a dollar up, below it two significant digits, as prices of one call need.
    """
    if value is None:
        return "unknown"
    if 0 < value < LEAST_DOLLARS:
        return f"under ${LEAST_DOLLARS}"
    decimals = 2 if value == 0 else max(2, 1 - floor(log10(value)))
    return f"${value:,.{decimals}f}"


LEAST_DOLLARS = 0.0001
"""Amounts below it are not told apart."""


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
        "\n".join(f"- {_plain(note)}" for note in [*cost_lines(summaries), *remarks(summaries)]),
    ]
    return "\n\n".join(parts) + "\n"


def csv_text(summaries: Sequence[Summary]) -> str:
    """One row an entry, numbers as fractions; an unknown number is empty beside its reason.

    The columns are the same whatever was graded, and are there without an entry too.
    """
    out = io.StringIO()
    columns = _columns(Summary)
    writer = csv.DictWriter(out, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(_flat(entry) for entry in _dumped(summaries)["models"])
    return out.getvalue()


def _columns(kind: Any, name: str = "") -> list[str]:
    """The names that `_flat` can give a value of a type, in its order."""
    below = f"{name}." if name else ""
    if name.endswith("ci95"):
        return [f"{name}.low", f"{name}.high"]
    if is_dataclass(kind):
        parts = get_type_hints(kind)
    elif get_origin(kind) is Mapping:
        keys, value = get_args(kind)
        parts = {key.value: value for key in keys}
    elif type(None) in get_args(kind):
        (known,) = (part for part in get_args(kind) if part is not type(None))
        return _columns(known, name)
    else:
        return [name]
    return [column for key, part in parts.items() for column in _columns(part, f"{below}{key}")]


def cost_lines(summaries: Sequence[Summary]) -> list[str]:
    """What each entry cost, a sentence each; the grader is named where a system has several."""
    models = [s.model for s in summaries]
    lines = []
    for s in summaries:
        asking, grading = s.cost.asking, s.cost.grading
        by = f" by {s.grader}" if models.count(s.model) > 1 else ""
        line = f"{s.model}: asking {_spent(asking)}, grading{by} {_spent(grading)}"
        if asking.per_response is not None and grading.per_response is not None:
            line += f"; {dollars(asking.per_response + grading.per_response)} a response"
        lines.append(f"{line}.")
    return lines


def _spent(cost: Cost) -> str:
    """Dollars, and in brackets why they are unknown, of how many responses, and the tokens."""
    about = [cost.reason] if cost.reason else []
    if cost.known_usd and cost.value is None:
        about.append(f"the rest {dollars(cost.known_usd)}")
    if cost.n and not cost.reason:
        about.append(f"{cost.n:,} {'response' if cost.n == 1 else 'responses'}")
    if cost.input_tokens is not None and cost.output_tokens is not None:
        about.append(f"{thousands(cost.input_tokens)} tokens in")
        about.append(f"{thousands(cost.output_tokens)} out")
    return f"{dollars(cost.value)} ({', '.join(about)})"


def thousands(n: int) -> str:
    """A number of tokens, in thousands or millions where it has as many."""
    if n < 1_000:
        return str(n)
    return f"{n / 1e3:.0f}k" if n < 999_500 else f"{n / 1e6:.1f}M"


def remarks(summaries: Sequence[Summary]) -> list[str]:
    """What a reader must be told with these numbers, each remark once."""
    found = [*different(summaries)]
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


def different(summaries: Sequence[Summary]) -> Iterator[str]:
    """Why these entries may not be compared with each other, nor ranked together."""
    banks = dict.fromkeys(f"{s.bank} {s.bank_version}" for s in summaries)
    protocols = dict.fromkeys(s.protocol for s in summaries)
    if len(banks) > 1:
        yield f"The runs are over different banks, {', '.join(banks)}: {NO_RANKING}"
    elif len({s.bank_hash for s in summaries}) > 1:
        yield f"The runs are over different scenarios of bank {', '.join(banks)}: {NO_RANKING}"
    if len(protocols) > 1:
        yield f"The runs are under different protocols, {', '.join(protocols)}: {NO_RANKING}"


NO_RANKING = "do not compare or rank them."


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
