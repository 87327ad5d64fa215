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

import numpy as np
import polars as pl

from careeval.core.response import Grader, ResponseState
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
    for each in findings.entries:
        record, samples = evaluation_log(each, retrieved, evaluator, prompts)
        lines = "".join(json.dumps(sample, ensure_ascii=False) + "\n" for sample in samples)
        samples_path = folder / record["detailed_evaluation_results"]["file_path"]
        samples_path.parent.mkdir(parents=True, exist_ok=True)
        checksum = hashlib.sha256(lines.encode()).hexdigest()
        record["detailed_evaluation_results"] |= {"checksum": checksum, "total_rows": len(samples)}
        write_text(samples_path, lines)
        record_path = samples_path.with_name(samples_path.name.replace("_samples.jsonl", ".json"))
        text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
        write_text(record_path, text + "\n")
        written += [record_path, samples_path]
    return written


def evaluation_log(
    entry: Entry,
    retrieved: datetime,
    evaluator: Evaluator = Evaluator(),
    prompts: Mapping[str, str] = {},
) -> tuple[Record, list[Record]]:
    """Return an entry's record, for the JSON file, and its samples, for the JSON Lines file."""
    run, s = entry.run, entry
    model, created = _model(entry.asked, entry.system), run["created"] or "unknown"
    identity = f"careeval/{model['id']}/{created}/{entry.system}/{entry.grader}/{entry.rubric}"
    numbers = list(reported_numbers(entry))
    unknown = {each.id: each.estimate.reason for each in numbers if each.estimate.value is None}
    samples, samples_left_out = samples_of(entry, identity, model["id"])
    config: Record = {"metric_parameters": {"n": s.n_epochs}}
    if not s.grader.is_lexical:
        config["llm_scoring"] = _llm_scoring(s.grader, prompts)
    about_bank = {"bank_hash": s.bank_hash, "n_scenarios": str(s.n_scenarios)}
    common = {
        "source_data": {
            "dataset_name": f"{s.bank} {s.bank_version}",
            "source_type": "other",
            "additional_details": about_bank | {"provenance": s.bank_provenance},
        },
        "generation_config": _generation(entry),
    }
    names = (re.sub(r"[^\w.-]+", "-", part).strip(".-") or "unknown"
             for part in model["id"].rpartition("/")[::2])  # fmt: skip
    # the same in every export
    entry_id = uuid.UUID(bytes=hashlib.sha256(identity.encode()).digest()[:16], version=4)
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": identity,
        "evaluation_timestamp": created,
        "retrieved_timestamp": str(int(retrieved.timestamp())),
        "source_metadata": {
            "source_name": f"careeval, bank {s.bank} {s.bank_version}",
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
        "eval_library": {
            "name": "careeval",
            "version": run["software"] or "unknown",
            "additional_details": {
                "runs_on": "inspect_ai",
                "protocol": s.protocol,
                "grading_protocol": s.grading_protocol or "unknown",
                "rubric": s.rubric.value,
                "ask_prompt": run["ask_prompt"] or "none: recorded answers",
            },
        },
        "model_info": model,
        "evaluation_results": [
            {"evaluation_result_id": f"{identity}#{each.id}", **common, **each.result(config, s)}
            for each in numbers
            if each.id not in unknown
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
    kind: str  # rubric_score, error_rate or rate
    fewer_is_better: bool
    lowest: float | None  # Its lowest possible value; `None` if it is not computed
    n: int  # Number of scenarios; for a share, of what it is a share of

    def result(self, config: Record, summary: Entry) -> Record:
        """Return what only this number has in the record."""
        uncertainty: Record = {"num_samples": self.n}
        if self.estimate.ci95 is not None:
            low, high = self.estimate.ci95
            is_score = self.kind == "rubric_score"
            on_range = ", on the range of the score taken as 0 to 1" if is_score else ""
            uncertainty["confidence_interval"] = {
                "lower": low, "upper": high, "confidence_level": 0.95,
                "method": _METHOD + on_range,
            }  # fmt: skip
        return {
            "evaluation_name": self.id,
            "metric_config": {
                "evaluation_description": self.holds,
                "metric_id": self.id,
                "metric_name": self.id.split(".")[1],
                "metric_kind": self.kind,
                "metric_unit": "proportion",
                "lower_is_better": self.fewer_is_better,
                "score_type": "continuous",
                "min_score": self.lowest,
                "max_score": 1.0,
                "additional_details": {"rubric": summary.rubric.value},
                **config,
            },
            "score_details": {
                "score": self.estimate.value,
                "details": {
                    "low": str(self.estimate.low),
                    "high": str(self.estimate.high),
                    "low_and_high": "what the unresolved judgments could make of the score",
                    "why_no_interval": self.estimate.reason,
                },
                "uncertainty": uncertainty,
            },
        }


def reported_numbers(s: Entry) -> Iterator[ReportedNumber]:
    """Yield the numbers of an entry, all of the registry, and its score by activity and domain."""
    yield from _reported(HEADLINE, s.numbers, s)
    yield from _reported(SEVERE_BY_KIND, s.severe_by_kind, s)
    yield from _reported(IN_DETAIL, s.numbers_in_detail, s)
    yield from _reported(DIRECTIONS, s.directions, s)
    for answer, numbers in s.by_answer.items():
        yield from _reported(PLANS, numbers, s, f".{answer}")
    for adl, cell in s.by_adl.items():
        part = s.graded.only(s.graded.has("adl", adl))
        holds, n = "the score over the scenarios of one activity", int(part.judged.sum())
        name = f"careeval.{SCORE.key}.{adl}"
        yield ReportedNumber(name, holds, cell.score, "rubric_score", False, _lowest(part), n)
    for domain, of_domain in s.by_domain.items():
        holds = "points of the items, weighted by the rating of each in one domain"
        name, score = f"careeval.{SCORE.key}.{domain}", of_domain.score
        yield ReportedNumber(name, holds, score, "rubric_score", False, None, of_domain.n)


def _reported(
    metrics: Sequence[Metric[Any, Number]], numbers: Numbers, s: Entry, ending: str = ""
) -> Iterator[ReportedNumber]:
    for metric in metrics:
        if (number := numbers.get(metric.key)) is None:
            continue
        yield ReportedNumber(
            f"careeval.{metric.key}{ending}",
            metric.holds,
            share_of(number),
            "rubric_score" if metric.is_score else "error_rate" if metric.counts_errors else "rate",
            metric.fewer_is_better,
            _lowest(s.graded) if metric.is_score else 0.0,
            int(s.graded.judged.sum()) if isinstance(number, Estimate) else number.n,
        )


def _lowest(graded: GradedRubric) -> float | None:
    """Return the score with every negative and no positive item; `None` without positive items."""
    maxima, minima = graded.maxima[graded.judged].sum(), graded.minima[graded.judged].sum()
    return float(minima / maxima) if maxima else None


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


def _llm_scoring(grader: Grader, prompts: Mapping[str, str]) -> Record:
    """Return the grader and its prompt, or that the prompt is not kept, as the format has them."""
    return {
        "judges": [{"model_info": _model(grader.model, grader.model)}],
        "input_prompt": prompts.get(grader, f"not kept with the results: {grader}"),
        "additional_details": {
            "grader": grader,
            "judges_what": "each rubric item of a response as present or absent; points are summed "
            "by careeval, and the grader does not see them",
        },
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


def samples_of(entry: Entry, identity: str, model_id: str) -> tuple[list[Record], dict[str, int]]:
    """Return a row for each response whose values are known, and reason → number of the others."""
    rows: list[Record] = []
    missing = entry.responses.filter(pl.col("state") == ResponseState.missing.value).height
    left_out = {"responses that are missing": missing, "not judged": 0, "unresolved": 0}
    asked = {(r["scenario"], r["epoch"]): r for r in entry.responses.iter_rows(named=True)}
    references = _best_texts(entry.first)
    graded, scores = entry.graded, entry.graded.scores
    for row in np.flatnonzero(graded.maxima > 0).tolist():
        scenario = graded.scenarios[row]
        for epoch in range(1, entry.n_epochs + 1):
            response, at = asked.get((scenario, epoch)), (row, epoch - 1)
            if response is None or response["state"] == ResponseState.missing:
                continue
            if not graded.is_judged[at]:
                left_out["not judged"] += 1
                continue
            # present where its points are positive, absent where negative; NaN if unresolved
            items = [
                ((points > 0) == mark) if mark == mark else None
                for points, mark in zip(graded.points[row], graded.present[at], strict=True)
                if points
            ]
            low, high, score = (float(part[at]) for part in (*scores.ends, scores.value))
            if score != score or (False not in items and None in items):
                left_out["unresolved"] += 1
                continue
            reference = references.get(scenario, ())
            rows.append(
                {
                    **_sample(response, reference),
                    "evaluation_id": identity,
                    "model_id": model_id,
                    "evaluation_name": "careeval.score",
                    "evaluation_result_id": f"{identity}#careeval.score",
                    "evaluation": {"score": score, "is_correct": False not in items},
                }
            )
            rows[-1]["metadata"] |= {
                "rubric": entry.rubric.value, "score_low": str(low), "score_high": str(high)
            }  # fmt: skip
    return rows, left_out


def _best_texts(judgments: pl.DataFrame) -> dict[str, tuple[str, ...]]:
    """Return scenario → the texts of its items with positive points, without held-out texts."""
    good = judgments.filter(pl.col("points") > 0).unique(["scenario", "item"])
    texts: dict[str, tuple[str, ...]] = {}
    rows = good.sort("scenario", "position").select("scenario", "item_text")
    for scenario, text in rows.iter_rows():
        if text and text != WITHHELD:
            texts[scenario] = (*texts.get(scenario, ()), text)
    return texts


def _sample(response: Mapping[str, Any], reference: tuple[str, ...]) -> Record:
    """Return what the sample of a response has on any rubric."""
    raw, error = response["scenario_text"] or "", _ERRORS.get(response["state"])
    seconds = response["seconds"]
    hashed = hashlib.sha256((raw + "".join(reference)).encode()).hexdigest()
    return {
        "schema_version": SCHEMA_VERSION,
        "sample_id": response["scenario"],
        "sample_hash": None if raw == WITHHELD else hashed,
        "interaction_type": "single_turn",
        "input": {"raw": raw, "reference": list(reference)},
        "output": {"raw": [response["text"] or ""]},
        "messages": None,
        # the whole response was judged, so nothing was extracted from it
        "answer_attribution": [],
        "token_usage": _tokens(response),
        "performance": None if seconds is None else {"latency_ms": seconds * 1000},
        "error": f"{error}: {response['note']}" if error else None,
        "metadata": {
            "epoch": str(response["epoch"]),
            "state": response["state"],
            "situation": "; ".join(response["situation"] or ()),
            **{name: response[name] for name in _ABOUT if response[name] is not None},
        },
    }


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
    }  # fmt: skip
