"""Results in the format of Every Eval Ever 0.3.0, a shared store of evaluation results.

Each entry has a JSON file with metrics and intervals, and a JSON Lines file with a line for each
response. The format has no place for an unknown number, so unknown numbers are left out, and
`source_metadata` has the reasons.

Source of the format: the package `every-eval-ever` 0.3.0.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

import polars as pl

from careeval.core.response import ResponseState
from careeval.core.vendors import vendor
from careeval.files import write_text
from careeval.results.entry import NOT_COMPARABLE, Entry
from careeval.results.findings import Findings
from careeval.results.graded_rubric import GradedRubric
from careeval.results.held_out_words import WITHHELD
from careeval.results.metrics import (
    DIRECTIONS,
    HEADLINE,
    IN_DETAIL,
    PLANS,
    SCORE,
    SEVERE_BY_KIND,
    Metric,
    Number,
    Numbers,
    share_of,
)
from careeval.stats.estimate import Estimate

SCHEMA_VERSION = "0.3.0"

IS_CORRECT = (
    "is_correct: every item with positive points of this rubric is present in the response, and no "
    "item with negative points is. Few responses are; score, from which nothing is cut off, says "
    "more."
)
"""careeval's rule for the yes or no that the format asks for."""

_METHOD = "clustered by scenario: Korn and Graubard's, with the effective sample size"
_JUDGED = (
    "each rubric item of a response as present or absent; points are summed by careeval, and the "
    "grader does not see them"
)
_ABOUT = ("adl", "condition", "assistance", "actor", "split")
_SENT = ("temperature", "top_p", "top_k", "max_tokens")
_ERRORS = {
    ResponseState.refused: "refused by the provider",
    ResponseState.malformed: "the words are no plan",
    ResponseState.not_executable: "the plan breaks off",
}

Relationship = Literal["first_party", "third_party", "collaborative", "other"]
Record = dict[str, Any]


@dataclass(frozen=True)
class Evaluator:
    """The organisation that ran the evaluation."""

    organisation: str = "not stated"
    relationship: Relationship = "other"  # Its relationship to the maker of the model


def write_evaluation_logs(
    findings: Findings,
    folder: Path,
    *,
    retrieved: datetime,
    evaluator: Evaluator = Evaluator(),
    prompts: Mapping[str, str] = {},
) -> list[Path]:
    """Write two files per entry below `folder/data/`, at the paths that the store expects.

    Args:
        findings: The results.
        folder: Created if it does not exist; files of the same entries are replaced.
        retrieved: The time of the export.
        evaluator: The organisation that ran the evaluation.
        prompts: Name of a grader → its prompt, for the graders whose prompts are known.

    Returns:
        The paths of the written files.
    """
    written = []
    for entry in findings.entries:
        record, samples = evaluation_log(entry, retrieved, evaluator, prompts)
        lines = "".join(json.dumps(sample, ensure_ascii=False) + "\n" for sample in samples)
        details = record["detailed_evaluation_results"]
        checksum = hashlib.sha256(lines.encode()).hexdigest()
        details |= {"checksum": checksum, "total_rows": len(samples)}
        samples_path = folder / details["file_path"]
        record_path = samples_path.with_name(samples_path.name.replace("_samples.jsonl", ".json"))
        samples_path.parent.mkdir(parents=True, exist_ok=True)
        write_text(samples_path, lines)
        text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
        write_text(record_path, text + "\n")
        written += [record_path, samples_path]
    return written


# fmt: off
def evaluation_log(
    s: Entry,
    retrieved: datetime,
    evaluator: Evaluator = Evaluator(),
    prompts: Mapping[str, str] = {},
) -> tuple[Record, list[Record]]:
    """Return an entry's record, for the JSON file, and its samples, for the JSON Lines file."""
    model, created = _model(s.asked, s.system), s.run["created"] or "unknown"
    identity = f"careeval/{model['id']}/{created}/{s.system}/{s.grader}/{s.rubric}"
    # the same in every export
    entry_id = uuid.UUID(bytes=hashlib.sha256(identity.encode()).digest()[:16], version=4)
    names = (re.sub(r"[^\w.-]+", "-", part).strip(".-") or "unknown"
             for part in model["id"].rpartition("/")[::2])
    numbers = list(reported_numbers(s))
    unknown = {each.id: each.estimate.reason for each in numbers if each.estimate.value is None}
    samples, samples_left_out = samples_of(s, identity, model["id"])
    bank = f"{s.bank} {s.bank_version}"
    config: Record = {"metric_parameters": {"n": s.n_epochs}}
    if not s.grader.is_lexical:
        config["llm_scoring"] = {
            "judges": [{"model_info": _model(s.grader.model, s.grader.model)}],
            "input_prompt": prompts.get(s.grader, f"not kept with the results: {s.grader}"),
            "additional_details": {"grader": s.grader, "judges_what": _JUDGED},
        }
    source = {"dataset_name": bank, "source_type": "other", "additional_details": {
        "bank_hash": s.bank_hash, "n_scenarios": str(s.n_scenarios),
        "provenance": s.bank_provenance,
    }}
    common = {"source_data": source, "generation_config": _generation(s)}
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": identity,
        "evaluation_timestamp": created,
        "retrieved_timestamp": str(int(retrieved.timestamp())),
        "source_metadata": {
            "source_name": f"careeval, bank {bank}",
            "source_type": "evaluation_run",
            "source_organization_name": evaluator.organisation,
            "evaluator_relationship": evaluator.relationship,
            "additional_details": {
                "note": NOT_COMPARABLE,
                "bank_provenance": s.bank_provenance,
                "not_ranked": "; ".join(s.not_ranked),
                "warnings": "; ".join(s.warnings),
                "left_out": json.dumps(unknown, ensure_ascii=False),
            },
        },
        "eval_library": {"name": "careeval", "version": s.run["software"] or "unknown",
                         "additional_details": {
            "runs_on": "inspect_ai",
            "protocol": s.protocol,
            "grading_protocol": s.grading_protocol or "unknown",
            "rubric": s.rubric.value,
            "ask_prompt": s.run["ask_prompt"] or "none: recorded answers",
        }},
        "model_info": model,
        "evaluation_results": [
            {"evaluation_result_id": f"{identity}#{each.id}", **common, **each.result(config, s)}
            for each in numbers if each.id not in unknown
        ],
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": f"data/careeval/{'/'.join(names)}/{entry_id}_samples.jsonl",
            "hash_algorithm": "sha256",
            "additional_details": {
                "is_correct": IS_CORRECT,
                "rows": "one for each response that was judged",
                "left_out": json.dumps(samples_left_out),
            },
        },
    }, samples


class ReportedNumber(NamedTuple):
    """One number of an entry as the record has it."""

    id: str  # Its name in the format
    holds: str
    estimate: Estimate
    n: int  # Number of scenarios; for a share, of what it is a share of
    lowest: float | None  # Its lowest possible value; `None` if it is not computed
    kind: str = "rubric_score"  # Or error_rate, or rate
    fewer_is_better: bool = False

    def result(self, config: Record, s: Entry) -> Record:
        """Return what only this number has in the record."""
        uncertainty: Record = {"num_samples": self.n}
        if self.estimate.ci95 is not None:
            is_score = self.kind == "rubric_score"
            uncertainty["confidence_interval"] = {
                "lower": self.estimate.ci95[0], "upper": self.estimate.ci95[1],
                "confidence_level": 0.95,
                "method": _METHOD + is_score * ", on the range of the score taken as 0 to 1",
            }
        return {
            "evaluation_name": self.id,
            "metric_config": {
                "evaluation_description": self.holds,
                "metric_id": self.id, "metric_name": self.id.split(".")[1],
                "metric_kind": self.kind, "metric_unit": "proportion",
                "lower_is_better": self.fewer_is_better,
                "score_type": "continuous", "min_score": self.lowest, "max_score": 1.0,
                "additional_details": {"rubric": s.rubric.value},
                **config,
            },
            "score_details": {
                "score": self.estimate.value,
                "details": {
                    "low": str(self.estimate.low), "high": str(self.estimate.high),
                    "low_and_high": "what the unresolved judgments could make of the score",
                    "why_no_interval": self.estimate.reason,
                },
                "uncertainty": uncertainty,
            },
        }
# fmt: on


def reported_numbers(s: Entry) -> Iterator[ReportedNumber]:
    """Yield the numbers of an entry, all of the registry, and its score by activity and domain."""
    tables: list[tuple[Sequence[Metric[Any, Number]], Numbers, str]] = [
        (HEADLINE, s.numbers, ""),
        (SEVERE_BY_KIND, s.severe_by_kind, ""),
        (IN_DETAIL, s.numbers_in_detail, ""),
        (DIRECTIONS, s.directions, ""),
        *((PLANS, numbers, f".{answer}") for answer, numbers in s.by_answer.items()),
    ]
    n, lowest = _n_and_lowest(s.graded)
    for metrics, numbers, ending in tables:
        for m in metrics:
            if (number := numbers.get(m.key)) is None:
                continue
            kind = "rubric_score" if m.is_score else "error_rate" if m.counts_errors else "rate"
            yield ReportedNumber(
                f"careeval.{m.key}{ending}",
                m.holds,
                share_of(number),
                n if isinstance(number, Estimate) else number.n,
                lowest if m.is_score else 0.0,
                kind,
                m.fewer_is_better,
            )
    for adl, part in s.by_adl.items():
        graded = s.graded.only(s.graded.has("adl", adl))
        holds = "the score over the scenarios of one activity"
        name = f"careeval.{SCORE.key}.{adl}"
        yield ReportedNumber(name, holds, part.score, *_n_and_lowest(graded))
    for domain, part in s.by_domain.items():
        holds = "points of the items, weighted by the rating of each in one domain"
        yield ReportedNumber(f"careeval.{SCORE.key}.{domain}", holds, part.score, part.n, None)


def _n_and_lowest(graded: GradedRubric) -> tuple[int, float | None]:
    """Return the number of judged scenarios, and the score with every bad and no good item."""
    judged = graded.judged
    maxima, minima = graded.maxima[judged].sum(), graded.minima[judged].sum()
    return int(judged.sum()), float(minima / maxima) if maxima else None


def _model(asked: str | None, system: str) -> Record:
    """Return the model as the format has it: id `maker/model`, and maker and host if known."""
    parts = asked.split("/") if asked else ["unknown", system]
    maker, host = vendor(asked), parts[0] if len(parts) > 2 else None
    details = {"deployment_type": "unknown", "model_availability": "unknown"}
    return {
        "name": system,
        "id": "/".join(parts[-2:]),
        **({"developer": maker} if maker else {}),
        **({"inference_platform": host} if host else {}),
        "additional_details": details | {"asked": asked or "recorded answers"},
    }


def _generation(entry: Entry) -> Record:
    """Return the sampling parameters that were sent; none if they differ between responses."""
    texts = {text for text in entry.responses["sampling"].to_list() if text}
    sampling = json.loads(texts.pop()) if len(texts) == 1 else {}
    sent = {name: sampling.pop(name) for name in _SENT
            if isinstance(sampling.get(name), int | float)}  # fmt: skip
    others = {name: json.dumps(value) for name, value in sampling.items()}
    details = {"epochs": str(entry.n_epochs), **others}
    return {"generation_args": sent, "additional_details": details}


# fmt: off
def samples_of(s: Entry, identity: str, model_id: str) -> tuple[list[Record], dict[str, int]]:
    """Return a row for each response whose values are known, and reason → number of the others."""
    rows: list[Record] = []
    is_missing = pl.col("state") == ResponseState.missing.value
    left_out = {"responses that are missing": s.responses.filter(is_missing).height,
                "not judged": 0, "unresolved": 0}
    best = s.first.filter(pl.col("points") > 0, ~pl.col("item_text").is_in(["", WITHHELD]))
    texts = best.unique(["scenario", "item"]).sort("scenario", "position").group_by("scenario")
    references = dict(texts.agg("item_text").iter_rows())
    places = {scenario: row for row, scenario in enumerate(s.graded.scenarios)}
    parts = (*s.graded.scores.ends, s.graded.scores.value)
    for response in s.responses.filter(~is_missing).sort("scenario", "epoch").iter_rows(named=True):
        row, at = places[response["scenario"]], response["epoch"] - 1
        if s.graded.maxima[row] <= 0:
            continue
        if not s.graded.is_judged[row, at]:
            left_out["not judged"] += 1
            continue
        # present where its points are positive, absent where negative; None if unresolved
        marks = zip(s.graded.points[row], s.graded.present[row, at], strict=True)
        items = [((points > 0) == mark) if mark == mark else None
                 for points, mark in marks if points]
        low, high, score = (float(part[row, at]) for part in parts)
        if score != score or (False not in items and None in items):
            left_out["unresolved"] += 1
            continue
        raw, reference = response["scenario_text"] or "", references.get(response["scenario"], [])
        error, seconds = _ERRORS.get(response["state"]), response["seconds"]
        hashed = hashlib.sha256((raw + "".join(reference)).encode()).hexdigest()
        rows.append({
            "schema_version": SCHEMA_VERSION,
            "sample_id": response["scenario"],
            "sample_hash": None if raw == WITHHELD else hashed,
            "interaction_type": "single_turn",
            "input": {"raw": raw, "reference": reference},
            "output": {"raw": [response["text"] or ""]},
            "messages": None,
            # the whole response was judged, so nothing was extracted from it
            "answer_attribution": [],
            "token_usage": _tokens(response),
            "performance": None if seconds is None else {"latency_ms": seconds * 1000},
            "error": f"{error}: {response['note']}" if error else None,
            "metadata": {
                "epoch": str(response["epoch"]), "state": response["state"],
                "situation": "; ".join(response["situation"] or ()),
                **{name: response[name] for name in _ABOUT if response[name] is not None},
                "rubric": s.rubric.value, "score_low": str(low), "score_high": str(high),
            },
            "evaluation_id": identity,
            "model_id": model_id,
            "evaluation_name": f"careeval.{SCORE.key}",
            "evaluation_result_id": f"{identity}#careeval.{SCORE.key}",
            "evaluation": {"score": score, "is_correct": False not in items},
        })
    return rows, left_out


def _tokens(response: Mapping[str, Any]) -> Record | None:
    """Return the token counts of a response, cached input included; `None` if unknown."""
    fresh, out = response["input_tokens"], response["output_tokens"]
    if fresh is None or out is None:
        return None
    read, written = response["cache_read_tokens"], response["cache_write_tokens"]
    total = fresh + (read or 0) + (written or 0)
    return {
        "input_tokens": total, "output_tokens": out, "total_tokens": total + out,
        "input_tokens_cache_read": read, "input_tokens_cache_write": written,
        "reasoning_tokens": response["reasoning_tokens"],
    }
# fmt: on
