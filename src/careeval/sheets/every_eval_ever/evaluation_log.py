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
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from careeval.core.response import Grader
from careeval.files import write_text
from careeval.results.entries import Entry
from careeval.results.findings import Findings
from careeval.results.summary import NOT_COMPARABLE, Summary
from careeval.results.vendors import vendor
from careeval.sheets.every_eval_ever.form import BENCHMARK, SCHEMA_VERSION
from careeval.sheets.every_eval_ever.metrics import ReportedMetric, metrics
from careeval.sheets.every_eval_ever.samples import IS_CORRECT, samples_of

Relationship = Literal["first_party", "third_party", "collaborative", "other"]


@dataclass(frozen=True)
class Evaluator:
    """The organisation that ran the evaluation."""

    organisation: str = "not stated"  # Name of the organisation
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
    for entry in findings.graded:
        record, samples = evaluation_log(entry.entry, entry.summary, retrieved, evaluator, prompts)
        lines = "".join(json.dumps(s, ensure_ascii=False) + "\n" for s in samples)
        samples_path = folder / record["detailed_evaluation_results"]["file_path"]
        samples_path.parent.mkdir(parents=True, exist_ok=True)
        record["detailed_evaluation_results"] |= {
            "checksum": hashlib.sha256(lines.encode()).hexdigest(),
            "total_rows": len(samples),
        }
        write_text(samples_path, lines)
        record_path = samples_path.with_name(samples_path.name.replace("_samples.jsonl", ".json"))
        text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        write_text(record_path, text)
        written += [record_path, samples_path]
    return written


def evaluation_log(
    entry: Entry,
    summary: Summary,
    retrieved: datetime,
    evaluator: Evaluator = Evaluator(),
    prompts: Mapping[str, str] = {},
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return an entry's record, for the JSON file, and its samples, for the JSON Lines file.

    `retrieved`, `evaluator` and `prompts` are as in `write_evaluation_logs`.
    """
    run = entry.run
    model = _model(entry.asked, entry.system)
    created = run["created"] or "unknown"
    identity = f"{BENCHMARK}/{model['id']}/{created}/{entry.system}/{entry.grader}/{entry.rubric}"
    all_metrics = list(metrics(entry, summary))
    known_metrics = [metric for metric in all_metrics if metric.estimate.value is not None]
    left_out = {m.id: m.estimate.reason for m in all_metrics if m not in known_metrics}
    samples, samples_left_out = samples_of(entry, identity, model["id"])
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
            _result(metric, entry, summary, identity, prompts) for metric in known_metrics
        ],
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": _samples_path(model["id"], identity),
            "hash_algorithm": "sha256",
            "additional_details": {
                "is_correct": IS_CORRECT,
                "rows": "one for each response that was judged",
                "left_out": json.dumps(samples_left_out),
            },
        },
    }, samples


def _model(asked: str | None, system: str) -> dict[str, Any]:
    """Return the model as the format has it: id `maker/model`, and maker and host if known."""
    parts = asked.split("/") if asked else ["unknown", system]
    model: dict[str, Any] = {"name": system, "id": "/".join(parts[-2:])}
    if maker := vendor(asked):
        model["developer"] = maker
    if len(parts) > 2:
        model["inference_platform"] = parts[0]
    return model | {
        "additional_details": {
            "deployment_type": "unknown",
            "model_availability": "unknown",
            "asked": asked or "recorded answers",
        }
    }


def _samples_path(model_id: str, identity: str) -> str:
    """Return the path of the file of an entry's samples, which is the same in every export."""
    maker, _, name = model_id.rpartition("/")
    names = (re.sub(r"[^\w.-]+", "-", part).strip(".-") or "unknown" for part in (maker, name))
    entry_id = uuid.UUID(bytes=hashlib.sha256(identity.encode()).digest()[:16], version=4)
    return f"data/{BENCHMARK}/{'/'.join(names)}/{entry_id}_samples.jsonl"


def _result(
    metric: ReportedMetric, entry: Entry, s: Summary, identity: str, prompts: Mapping[str, str]
) -> dict[str, Any]:
    estimate = metric.estimate
    config: dict[str, Any] = {
        "evaluation_description": metric.description,
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
    if not s.grader.is_lexical:
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
    """Return the grader and its prompt, or that the prompt is not kept, as the format has them."""
    name = Grader(grader).model
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
    """Return the sampling parameters that were sent; none if they differ between responses."""
    texts = {text for text in entry.responses["sampling"].to_list() if text}
    sampling = json.loads(texts.pop()) if len(texts) == 1 else {}
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
