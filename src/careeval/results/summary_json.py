"""A summary as machines read it: JSON, and the JSON Schema that it is held to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from pydantic import TypeAdapter

from careeval.core.scenario import Adl, Domain, Rubric
from careeval.results.corrected import Corrected, Scores
from careeval.results.cost import Cost
from careeval.results.details import Detail, Instrument, Length
from careeval.results.summary import NOT_COMPARABLE, SCHEMA, Cell, DomainCell, Summary
from careeval.stats import Estimate


@dataclass(frozen=True)
class ReliabilityFile:
    """`careeval.stats.Reliability`; all three are null where the reason says why.

    Attributes:
        n_scenarios: Scenarios that it is over; 0 where it is unknown.
    """

    n_scenarios: int
    icc: float | None
    design_effect: float | None
    of_mean: float | None
    reason: str


@dataclass(frozen=True)
class InstrumentFile:
    """`careeval.results.details.Instrument`, but for what the summary has already."""

    scenario_mean: Estimate
    best_rung: Estimate
    worst_at_k: tuple[Estimate, ...]
    severe_of_k: tuple[Estimate, ...]
    severe_beta_binomial: Estimate
    reliability: ReliabilityFile


@dataclass(frozen=True)
class DetailFile:
    """`careeval.results.details.Detail`, but for the scenarios one by one."""

    instruments: Mapping[Rubric, InstrumentFile]
    rubric_correlation: Estimate
    length: Length
    by_condition: Mapping[str, Cell]
    by_assistance: Mapping[str, Cell]
    by_situation: Mapping[str, Cell]
    by_actor: Mapping[str, Cell]
    by_adl_and_domain: Mapping[Adl, Mapping[Domain, DomainCell]]


@dataclass(frozen=True)
class ModelFile(Summary):
    """A summary, and what is not there for all.

    Attributes:
        detail: Only where it was asked for.
        corrected: By rubric, the score as people correct it; only where its grader was audited by
            people on answers of this system, and that was asked for.
    """

    detail: DetailFile | None = None
    corrected: Mapping[Rubric, Corrected] | None = None


@dataclass(frozen=True)
class SummaryFile:
    """What `careeval summary --json` prints: the contract with machines."""

    schema: str
    note: str
    models: list[ModelFile]


_FILE = TypeAdapter(SummaryFile)


def summary_json(
    summaries: Sequence[Summary],
    details: Sequence[Detail] | None = None,
    corrected: Sequence[Scores] = (),
) -> dict[str, Any]:
    """Summaries as JSON values; an unknown number is `{"value": null, "reason": "…"}`.

    Args:
        summaries: An entry each.
        details: Theirs, in the same order; without them no entry has a `detail`.
        corrected: Theirs, likewise, where anybody was audited.
    """
    known: dict[str, Any] = _without_unknowns(dumped(summaries, details, corrected))
    return known


def dumped(
    summaries: Sequence[Summary],
    details: Sequence[Detail] | None = None,
    corrected: Sequence[Scores] = (),
) -> dict[str, Any]:
    """The same, an unknown number with all its fields, each null but the reason."""
    told: Sequence[Detail | None] = [None] * len(summaries) if details is None else details
    models = [
        ModelFile(
            **{f.name: getattr(summary, f.name) for f in fields(Summary)},
            detail=None if detail is None else _detail(detail),
            corrected=scores or None,
        )
        for summary, detail, scores in zip(
            summaries, told, corrected or [{}] * len(summaries), strict=True
        )
    ]
    found: dict[str, Any] = _FILE.dump_python(
        SummaryFile(schema=SCHEMA, note=NOT_COMPARABLE, models=models), mode="json"
    )
    for model in found["models"]:
        for name in ("detail", "corrected"):
            if model[name] is None:
                del model[name]
    return found


def _detail(detail: Detail) -> DetailFile:
    return DetailFile(
        instruments={rubric: _instrument(of) for rubric, of in detail.instruments.items()},
        **{f.name: getattr(detail, f.name) for f in fields(DetailFile) if f.name != "instruments"},
    )


def _instrument(instrument: Instrument) -> InstrumentFile:
    reliability = instrument.reliability
    return InstrumentFile(
        scenario_mean=instrument.scenario_mean,
        best_rung=instrument.best_rung,
        worst_at_k=instrument.worst_at_k,
        severe_of_k=instrument.severe_of_k,
        severe_beta_binomial=instrument.severe_beta_binomial,
        reliability=ReliabilityFile(0, None, None, None, instrument.why_no_reliability)
        if reliability is None
        else ReliabilityFile(instrument.n_reliability, *reliability, reason=""),
    )


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
    of_model = schema["$defs"]["ModelFile"]["properties"]
    of_model["detail"] = {"$ref": "#/$defs/DetailFile"}
    # it is there, or it is not: never null
    (of_model["corrected"],) = (
        each for each in of_model["corrected"]["anyOf"] if each.get("type") != "null"
    )
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


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
