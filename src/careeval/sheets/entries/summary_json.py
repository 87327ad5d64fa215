"""The JSON of a summary, and its JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from pydantic import TypeAdapter

from careeval.core.scenario import Adl, Domain, HarmKind, Rubric
from careeval.results.details import Detail, EntryNumbers, Length, care_numbers
from careeval.results.graded_rubric import Errors
from careeval.results.metrics import HEADLINE, IN_DETAIL, Metric, Numbers
from careeval.results.people_audit import CorrectedScore
from careeval.results.summary import NOT_COMPARABLE, SCHEMA, Cost, DomainScore, SubsetScore
from careeval.stats.estimate import Estimate


@dataclass(frozen=True)
class ErrorsFile:
    """Responses with errors of one severity: `careeval.results.graded_rubric.Errors`.

    Attributes:
        share: Share of the responses with at least one error.
        count: Responses with at least one error; a minimum if judgments are unresolved.
        n: Judged responses, to scenarios whose rubric has an item of this severity.
        upper_at_zero: If there was no error, the one-sided 95% upper limit of the share; else
            absent.
    """

    share: Estimate
    count: int
    n: int
    upper_at_zero: float | None = None


@dataclass(frozen=True)
class CellFile:
    """The numbers of an entry in one part of the scenarios.

    Attributes:
        n: Scenarios of the part with a judged response.
        score: Score in the part.
        n_severe: Responses with a severe error.
    """

    n: int
    score: Estimate
    n_severe: int


@dataclass(frozen=True)
class SummaryBank:
    """The bank of the scenarios that were asked."""

    name: str
    version: str
    hash: str
    provenance: str


@dataclass(frozen=True)
class ProtocolFile:
    """Versions N-X of the asking and of the grading protocol."""

    asking: str
    grading: str | None


@dataclass(frozen=True)
class CountsFile:
    """Counts of scenarios, responses and judgments: those of `Summary`, without the `n_`."""

    scenarios: int
    epochs: int
    responses: int
    missing: int
    empty: int
    refused: int
    cut: int
    ungraded: int
    judgments: int
    unresolved: int
    gradings: int
    malformed: int = 0
    not_executable: int = 0


@dataclass(frozen=True)
class CostFile:
    """Cost and tokens of calls; null if unknown.

    Attributes:
        usd: Dollars; null if the price of any response is not known.
        reason: Why `usd` is null; else empty.
        input_tokens: Tokens sent.
        output_tokens: Tokens received.
    """

    usd: float | None
    reason: str
    input_tokens: int | None
    output_tokens: int | None


@dataclass(frozen=True)
class CostsFile:
    """The costs of asking and of grading."""

    asking: CostFile
    grading: CostFile


@dataclass(frozen=True)
class ReliabilityFile:
    """The reliability of responses and their means, or nulls: see `Reliability`.

    Attributes:
        n_scenarios: Scenarios that the reliability is over; 0 if unknown.
    """

    n_scenarios: int
    icc: float | None
    design_effect: float | None
    of_mean: float | None
    reason: str


@dataclass(frozen=True)
class DetailFile:
    """The details of an entry: `careeval.results.details.Detail` without scenarios."""

    numbers: Mapping[str, ErrorsFile | Estimate]
    worst_at_k: tuple[Estimate, ...]
    severe_of_k: tuple[Estimate, ...]
    reliability: ReliabilityFile
    length: Length
    by_condition: Mapping[str, CellFile]
    by_assistance: Mapping[str, CellFile]
    by_situation: Mapping[str, CellFile]
    n_situations: int
    by_actor: Mapping[str, CellFile]
    by_adl_and_domain: Mapping[Adl, Mapping[Domain, DomainScore]]


@dataclass(frozen=True)
class DirectionFile:
    """A share, and the number `n` of responses, pairs or controls that it is over."""

    n: int
    share: Estimate


@dataclass(frozen=True)
class EntryFile:
    """One system as one grader judged it on one rubric.

    Attributes:
        model: Inspect's name of the model that was asked; null for recorded answers.
        not_ranked: Why the entry must not be ranked; empty if it may be.
        warnings: Warnings for the reader.
        directions: Numbers on care and on twins, such as `too_little` and `adapted`, by key.
            Absent if the entry has none.
        detail: Details; present only if asked for.
        corrected: The score corrected by people. Present only if asked for, and if people audited
            the grader on responses of this system.
    """

    system: str
    model: str | None
    grader: str
    rubric: Rubric
    bank: SummaryBank
    protocol: ProtocolFile
    counts: CountsFile
    numbers: Mapping[str, ErrorsFile | Estimate]
    severe_by_kind: Mapping[HarmKind, ErrorsFile]
    by_adl: Mapping[Adl, CellFile]
    by_domain: Mapping[Domain, DomainScore]
    cost: CostsFile
    not_ranked: tuple[str, ...]
    warnings: tuple[str, ...]
    directions: Mapping[str, DirectionFile] = field(default_factory=dict)
    detail: DetailFile | None = None
    corrected: CorrectedScore | None = None


@dataclass(frozen=True)
class SummaryFile:
    """The output of `careeval summary --json`."""

    schema: str
    note: str
    entries: list[EntryFile]


_FILE = TypeAdapter(SummaryFile)


def summary_json(entries: Sequence[EntryNumbers]) -> dict[str, Any]:
    """Return the numbers of entries as JSON values.

    An unknown number is `{"value": null, "reason": "…"}`. A known one has `low` and `high` only if
    unresolved judgments could move it; within `by_adl` and `by_domain` it never has them.
    """
    shortened: dict[str, Any] = _shortened(dumped(entries))
    return shortened


def dumped(entries: Sequence[EntryNumbers]) -> dict[str, Any]:
    """Return the value of `summary_json` before it is shortened: each number has all fields."""
    dump: dict[str, Any] = _FILE.dump_python(
        SummaryFile(SCHEMA, NOT_COMPARABLE, [_entry(entry) for entry in entries]), mode="json"
    )
    dump["entries"] = [_with_numbers_in_place(entry) for entry in dump["entries"]]
    return dump


def _with_numbers_in_place(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry or a detail as JSON, with each number under its own key.

    `directions`, `detail` and `corrected` are left out if empty.
    """
    placed: dict[str, Any] = {}
    for key, value in entry.items():
        if key == "numbers":
            placed |= value
        elif key == "detail" and value:
            placed[key] = _with_numbers_in_place(value)
        elif value or key not in ("directions", "detail", "corrected"):
            placed[key] = value
    return placed


def _entry(entry: EntryNumbers) -> EntryFile:
    summary = entry.summary
    return EntryFile(
        system=summary.system,
        model=summary.asked,
        grader=summary.grader,
        rubric=summary.rubric,
        bank=SummaryBank(
            summary.bank, summary.bank_version, summary.bank_hash, summary.bank_provenance
        ),
        protocol=ProtocolFile(summary.protocol, summary.grading_protocol),
        counts=CountsFile(*(getattr(summary, f"n_{f.name}") for f in fields(CountsFile))),
        numbers=_numbers(summary.numbers),
        severe_by_kind={kind: _errors(e) for kind, e in summary.severe_by_kind.items()},
        by_adl=_cells(summary.by_adl),
        by_domain=summary.by_domain,
        cost=CostsFile(_cost(summary.cost.asking), _cost(summary.cost.grading)),
        not_ranked=summary.not_ranked,
        warnings=summary.warnings,
        directions={d.key: DirectionFile(d.n, d.share) for d in care_numbers(summary)},
        detail=None if entry.detail is None else _detail(entry.detail),
        corrected=entry.corrected,
    )


def _numbers(numbers: Numbers) -> dict[str, ErrorsFile | Estimate]:
    return {
        key: _errors(number) if isinstance(number, Errors) else number
        for key, number in numbers.items()
    }


def _errors(errors: Errors) -> ErrorsFile:
    return ErrorsFile(errors.share, errors.count, errors.n, errors.upper_at_zero)


_K = TypeVar("_K")


def _cells(cells: Mapping[_K, SubsetScore]) -> dict[_K, CellFile]:
    return {name: CellFile(cell.n, cell.score, cell.severe.count) for name, cell in cells.items()}


def _cost(cost: Cost) -> CostFile:
    return CostFile(cost.value, cost.reason, cost.input_tokens, cost.output_tokens)


def _detail(detail: Detail) -> DetailFile:
    reliability = (
        ReliabilityFile(0, None, None, None, detail.why_no_reliability)
        if detail.reliability is None
        else ReliabilityFile(detail.n_reliability, *detail.reliability, reason="")
    )
    return DetailFile(
        numbers=_numbers(detail.numbers),
        worst_at_k=detail.worst_at_k,
        severe_of_k=detail.severe_of_k,
        reliability=reliability,
        length=detail.length,
        by_condition=_cells(detail.by_condition),
        by_assistance=_cells(detail.by_assistance),
        by_situation=_cells(detail.by_situation),
        n_situations=sum(cell.n for cell in detail.by_situation.values()),
        by_actor=_cells(detail.by_actor),
        by_adl_and_domain=detail.by_adl_and_domain,
    )


def summary_schema() -> dict[str, Any]:
    """Return the JSON Schema of `summary_json`.

    It is shipped as `summary.schema.json` beside this module.
    """
    schema = _FILE.json_schema()
    number = {"type": "number"}
    pair = {"type": "array", "prefixItems": [number, number], "minItems": 2, "maxItems": 2}
    schema["$defs"]["Estimate"] = {
        "description": (
            "A number with its 95% interval, or null with the reason. `low` and `high` are the "
            "lowest and highest value that unresolved judgments allow, if they could move it."
        ),
        "oneOf": [
            {
                **_object(
                    {
                        "value": number,
                        "low": number,
                        "high": number,
                        "ci95": {"anyOf": [pair, {"type": "null"}]},
                        "reason": {"type": "string"},
                    },
                    required=["value", "ci95"],
                ),
                "dependentRequired": {"low": ["high"], "high": ["low"]},
            },
            _object(
                {"value": {"type": "null"}, "reason": {"type": "string"}},
                required=["value", "reason"],
            ),
        ],
    }
    for kind, metrics in (("EntryFile", HEADLINE), ("DetailFile", IN_DETAIL)):
        _place_numbers(schema["$defs"][kind], metrics)
    entry_properties = schema["$defs"]["EntryFile"]["properties"]
    # these keys are absent rather than null
    for name, kind in (("detail", "DetailFile"), ("corrected", "CorrectedScore")):
        entry_properties[name] = {"$ref": f"#/$defs/{kind}"}
    schema["$defs"]["ErrorsFile"]["properties"]["upper_at_zero"] = number
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _place_numbers(schema: dict[str, Any], metrics: Sequence[Metric]) -> None:
    """Change the schema of an entry or a detail so that each number has its own key."""
    numbers = {
        metric.key: {"$ref": f"#/$defs/{'ErrorsFile' if metric.counts_errors else 'Estimate'}"}
        for metric in metrics
    }
    del schema["properties"]["numbers"]
    schema["properties"] |= numbers
    schema["required"].remove("numbers")
    schema["required"] += numbers


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _shortened(value: Any, *, bounds: bool = True) -> Any:
    """Return a JSON value without empty reasons, and without bounds that are equal.

    Numbers in `by_adl` and `by_domain` have no bounds here, since their intervals include them; the
    tables of `careeval export` have the bounds.
    """
    if isinstance(value, dict):
        if value.keys() != _ESTIMATE:
            return {
                k: _shortened(v, bounds=bounds and k not in _PARTS)
                for k, v in value.items()
                if (k, v) != ("upper_at_zero", None)
            }
        if value["value"] is None:
            return {k: value[k] for k in ("value", "reason")}
        kept = {"value", "ci95"}
        if bounds and value["low"] != value["high"]:
            kept |= {"low", "high"}
        return {k: v for k, v in value.items() if k in kept or (k == "reason" and v)}
    return [_shortened(v, bounds=bounds) for v in value] if isinstance(value, list) else value


_PARTS = {"by_adl", "by_domain"}


_ESTIMATE = {f.name for f in fields(Estimate)}
