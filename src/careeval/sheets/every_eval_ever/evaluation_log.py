"""Results in the form of Every Eval Ever 0.3.0, a shared store of evaluation results.

One JSON file for each (system, grader), with its metrics and their intervals; beside it a JSON line
for each response and rubric. What is unknown is left out, and why stands in `source_metadata`: the
form has no place for an unknown number.

Source of the form: the package `every-eval-ever` 0.3.0; its schemas are in `schemas/` here.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from careeval.core.grader import Grader
from careeval.files import write_text
from careeval.results.findings import Findings
from careeval.results.score.entries import Entry
from careeval.results.score.summary import NOT_COMPARABLE, Summary
from careeval.results.vendors import vendor
from careeval.sheets.every_eval_ever.form import BENCHMARK, SCHEMA_VERSION
from careeval.sheets.every_eval_ever.metrics import Metric, metrics
from careeval.sheets.every_eval_ever.samples import IS_CORRECT, samples_of

Relationship = Literal["first_party", "third_party", "collaborative", "other"]


@dataclass(frozen=True)
class Evaluator:
    """Who ran the evaluation, as the form asks.

    Attributes:
        organisation: Its name.
        relationship: To those who made the model.
    """

    organisation: str = "not stated"
    relationship: Relationship = "other"


def write_eee(
    findings: Findings,
    folder: Path,
    *,
    retrieved: datetime,
    evaluator: Evaluator = Evaluator(),
    prompts: Mapping[str, str] = {},
) -> list[Path]:
    """Write each entry's two files below `folder/data/`, where the store has them.

    Args:
        findings: What to write.
        folder: Made where it is not there; files of the same entries are replaced.
        retrieved: When this is done.
        evaluator: Who ran the evaluation.
        prompts: Name of a grader → what it is told, as far as that is known.

    Returns:
        What was written.
    """
    written = []
    for each in findings.graded:
        record, samples = eee(each.entry, each.summary, retrieved, evaluator, prompts)
        lines = "".join(json.dumps(s, ensure_ascii=False) + "\n" for s in samples)
        place = folder / record["detailed_evaluation_results"]["file_path"]
        place.parent.mkdir(parents=True, exist_ok=True)
        record["detailed_evaluation_results"] |= {
            "checksum": hashlib.sha256(lines.encode()).hexdigest(),
            "total_rows": len(samples),
        }
        write_text(place, lines)
        aggregate = place.with_name(place.name.replace("_samples.jsonl", ".json"))
        text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        write_text(aggregate, text)
        written += [aggregate, place]
    return written


def eee(
    entry: Entry,
    summary: Summary,
    retrieved: datetime,
    evaluator: Evaluator = Evaluator(),
    prompts: Mapping[str, str] = {},
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The record of one entry, and its samples; the arguments are those of `write_eee`."""
    run = entry.run
    model = _model(entry.asked, entry.system)
    created = run["created"] or "unknown"
    identity = f"{BENCHMARK}/{model['id']}/{created}/{entry.system}/{entry.grader}/{entry.rubric}"
    every = list(metrics(entry, summary))
    known = [metric for metric in every if metric.estimate.value is not None]
    left_out = {m.id: m.estimate.reason for m in every if m not in known}
    samples, why_not = samples_of(entry, identity, model["id"])
    place = _place(model["id"], identity)
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": identity,
        "evaluation_timestamp": created,
        "retrieved_timestamp": str(int(retrieved.timestamp())),
        "source_metadata": {
            "source_name": f"careeval, bank {summary.bank} {summary.bank_version}",
            "source_type": "evaluation_run",
            "source_organization_name": evaluator.organisation,
            "evaluator_relationship": evaluator.relationship,
            "additional_details": {
                "note": NOT_COMPARABLE,
                "bank_provenance": summary.bank_provenance,
                "not_ranked": "; ".join(summary.not_ranked),
                "warnings": "; ".join(summary.warnings),
                "left_out": json.dumps(left_out, ensure_ascii=False),
            },
        },
        "eval_library": {
            "name": "careeval",
            "version": run["software"] or "unknown",
            "additional_details": {
                "runs_on": "inspect_ai",
                "protocol": summary.protocol,
                "grading_protocol": summary.grading_protocol or "unknown",
                "rubric": summary.rubric.value,
                "ask_prompt": run["ask_prompt"] or "none: recorded answers",
            },
        },
        "model_info": model,
        "evaluation_results": [
            _result(metric, entry, summary, identity, prompts) for metric in known
        ],
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": place,
            "hash_algorithm": "sha256",
            "additional_details": {
                "is_correct": IS_CORRECT,
                "rows": "one for each response that was judged",
                "left_out": json.dumps(why_not),
            },
        },
    }, samples


def _model(asked: str | None, system: str) -> dict[str, Any]:
    """The model as the form names it: `maker/model`, and who ran it where the name says so."""
    parts = asked.split("/") if asked else ["unknown", system]
    found: dict[str, Any] = {"name": system, "id": "/".join(parts[-2:])}
    if maker := vendor(asked):
        found["developer"] = maker
    if len(parts) > 2:
        found["inference_platform"] = parts[0]
    return found | {
        "additional_details": {
            "deployment_type": "unknown",
            "model_availability": "unknown",
            "asked": asked or "recorded answers",
        }
    }


def _place(model_id: str, identity: str) -> str:
    """Where the samples lie; equal entries have equal places."""
    maker, _, name = model_id.rpartition("/")
    names = (re.sub(r"[^\w.-]+", "-", part).strip(".-") or "unknown" for part in (maker, name))
    made = uuid.UUID(bytes=hashlib.sha256(identity.encode()).digest()[:16], version=4)
    return f"data/{BENCHMARK}/{'/'.join(names)}/{made}_samples.jsonl"


def _result(
    metric: Metric, entry: Entry, s: Summary, identity: str, prompts: Mapping[str, str]
) -> dict[str, Any]:
    estimate = metric.estimate
    config: dict[str, Any] = {
        "evaluation_description": metric.says,
        "metric_id": metric.id,
        "metric_name": metric.name,
        "metric_kind": "error_rate" if metric.lower_is_better else "rubric_score",
        "metric_unit": "proportion",
        "metric_parameters": {"n": s.n_epochs},
        "lower_is_better": metric.lower_is_better,
        "score_type": "continuous",
        "min_score": metric.lowest,
        "max_score": 1.0,
        "additional_details": {"rubric": s.rubric.value},
    }
    if not Grader.parse(s.grader).is_lexical:
        config["llm_scoring"] = _llm_scoring(s.grader, prompts)
    uncertainty: dict[str, Any] = {"num_samples": metric.n}
    if estimate.ci95 is not None:
        low, high = estimate.ci95
        uncertainty["confidence_interval"] = {
            "lower": low, "upper": high, "confidence_level": 0.95, "method": metric.method,
        }  # fmt: skip
    return {
        "evaluation_result_id": f"{identity}#{metric.id}",
        "evaluation_name": metric.id,
        "source_data": {
            "dataset_name": f"{s.bank} {s.bank_version}",
            "source_type": "other",
            "additional_details": {
                "bank_hash": s.bank_hash,
                "n_scenarios": str(s.n_scenarios),
                "provenance": s.bank_provenance,
            },
        },
        "metric_config": config,
        "score_details": {
            "score": estimate.value,
            "details": {
                "low": str(estimate.low),
                "high": str(estimate.high),
                "low_and_high": "what the unresolved judgments could make of the score",
                "why_no_interval": estimate.reason,
            },
            "uncertainty": uncertainty,
        },
        "generation_config": _generation(entry),
    }


def _llm_scoring(grader: str, prompts: Mapping[str, str]) -> dict[str, Any]:
    """The grader, and what it is told."""
    name = Grader.parse(grader).model
    return {
        "judges": [{"model_info": _model(name, name)}],
        "input_prompt": prompts.get(grader, f"not kept with the results: {grader}"),
        "additional_details": {
            "grader": grader,
            "judges_what": "each rubric item of a response as present or absent; points are summed "
            "by careeval, and the grader does not see them",
        },
    }


def _generation(entry: Entry) -> dict[str, Any]:
    """The sampling fields that were sent, where all responses had the same."""
    sent = {text for text in entry.responses["sampling"].to_list() if text}
    sampling = json.loads(sent.pop()) if len(sent) == 1 else {}
    named = {
        name: value
        for name in ("temperature", "top_p", "top_k", "max_tokens")
        if isinstance(value := sampling.get(name), int | float)
    }
    return {
        "generation_args": named,
        "additional_details": {
            "epochs": str(entry.n_epochs),
            **{k: json.dumps(v) for k, v in sampling.items() if k not in named},
        },
    }
