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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

import polars as pl

from careeval.core.response import ResponseState
from careeval.core.scenario import Domain, Rubric, Split
from careeval.results.entries import Entry
from careeval.results.estimates import Errors, GradedRubric
from careeval.results.findings import Findings
from careeval.results.points import GradedScenario
from careeval.results.summary import LEXICAL_GRADER, NOT_COMPARABLE, Summary
from careeval.results.tables import WITHHELD
from careeval.results.vendors import vendor
from careeval.stats import Estimate

SCHEMA_VERSION = "0.3.0"
BENCHMARK = "careeval"

Relationship = Literal["first_party", "third_party", "collaborative", "other"]

IS_CORRECT = (
    "is_correct: every item with positive points of this rubric is present in the response, and no "
    "item with negative points is. Few responses are; score, from which nothing is cut off, says "
    "more."
)
"""The form asks for a yes or no: this is ours."""

_RESAMPLED = (
    "clustered by scenario: percentiles over 10,000 resamples of the scenarios; below 20 "
    "scenarios, Student's t with the linearised standard error"
)
_KORN_GRAUBARD = "clustered by scenario: Korn and Graubard's, with the effective sample size"


@dataclass(frozen=True)
class Evaluator:
    """Who ran the evaluation, as the form asks.

    Attributes:
        organisation: Its name.
        relationship: To those who made the model.
    """

    organisation: str = "not stated"
    relationship: Relationship = "other"


class _Metric(NamedTuple):
    """One number of an entry.

    Attributes:
        name: As careeval calls it.
        says: What it is.
        of: The part of the scenarios it is over; empty if all.
        n: What it is over: scenarios, or the responses that a share of responses is of.
        lowest: The least that it could be; `None` where that is not reckoned.
    """

    name: str
    says: str
    of: str
    estimate: Estimate
    lower_is_better: bool
    lowest: float | None
    n: int
    method: str


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
    for entry, summary in zip(findings.entries, findings.summaries, strict=True):
        record, samples = eee(entry, summary, retrieved, evaluator, prompts)
        lines = "".join(json.dumps(s, ensure_ascii=False) + "\n" for s in samples)
        place = folder / record["detailed_evaluation_results"]["file_path"]
        place.parent.mkdir(parents=True, exist_ok=True)
        record["detailed_evaluation_results"] |= {
            "checksum": hashlib.sha256(lines.encode()).hexdigest(),
            "total_rows": len(samples),
        }
        place.write_text(lines, encoding="utf-8", newline="")
        aggregate = place.with_name(place.name.replace("_samples.jsonl", ".json"))
        text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        aggregate.write_text(text, encoding="utf-8")
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
    model = _model(entry.asked, entry.model)
    created = run["created"] or "unknown"
    identity = f"{BENCHMARK}/{model['id']}/{created}/{entry.model}/{entry.grader}"
    metrics = list(_metrics(entry, summary))
    known = [metric for metric in metrics if metric.estimate.value is not None]
    left_out = {_result_name(m): m.estimate.reason for m in metrics if m not in known}
    samples, why_not = _samples(entry, identity, model["id"])
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
                "rows": "one for each response and rubric that was judged",
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


# Metrics


def _metrics(entry: Entry, s: Summary) -> Iterator[_Metric]:
    of_rubrics = (
        ("", "ladder", entry.ladder, s.score, s.worst_at_n, s.severe, s.mild),
        ("action_", "actions", entry.actions, s.action_score, s.action_worst_at_n,
         s.action_severe, s.action_mild),
    )  # fmt: skip
    for prefix, rubric, graded, score, worst, severe, mild in of_rubrics:
        n, lowest = len(graded.judged), _lowest(graded)
        yield _Metric(
            f"{prefix}score",
            f"Points of the {rubric} over the most points, mean of the responses to a scenario, "
            "pooled over scenarios; not cut off at 0.",
            "", score, False, lowest, n, _RESAMPLED,
        )  # fmt: skip
        yield _Metric(
            f"{prefix}worst_at_n",
            f"The same if every scenario had got the lowest of its {s.n_epochs} responses.",
            "", worst, False, lowest, n, _RESAMPLED,
        )  # fmt: skip
        for name, errors, points in (("severe", severe, -2), ("mild", mild, -1)):
            of = f"item of {points} of the {rubric}"
            yield from _rates(f"{prefix}{name}", errors, of, _tried(graded, points))
    for adl, cell in s.by_adl.items():
        part = entry.ladder.only(lambda of, adl=adl: of.about.adl == adl)  # type: ignore[misc]
        yield _Metric(
            "score", "The score over the scenarios of one activity.", adl.value,
            cell.score, False, _lowest(part), len(part.judged), _RESAMPLED,
        )  # fmt: skip
    for domain in Domain:
        of_domain = s.by_domain[domain]
        yield _Metric(
            "action_score",
            "Points of the actions, weighted by how far each is about one domain.",
            domain.value, of_domain.action_score, False, None, of_domain.n, _RESAMPLED,
        )  # fmt: skip


def _tried(graded: GradedRubric, points: int) -> tuple[int, int]:
    """The responses and the scenarios judged whose rubric has an item of these points."""
    n_responses = [len(s.epochs) for s in graded.judged if (s.points == points).any()]
    return sum(n_responses), len(n_responses)


def _rates(
    name: str, errors: Errors | None, what: str, tried: tuple[int, int]
) -> Iterator[_Metric]:
    unknown = Estimate.unknown("nothing was graded on this rubric")
    rates = (
        ("per_response", f"Share of the responses in which any {what} is present."),
        ("per_scenario", f"Share of the scenarios with any response in which any {what} is."),
    )
    for n, (rate, says) in zip(tried, rates, strict=True):
        estimate = getattr(errors, rate) if errors else unknown
        yield _Metric(f"{name}.{rate}", says, "", estimate, True, 0.0, n, _KORN_GRAUBARD)


def _lowest(graded: GradedRubric) -> float | None:
    """The score if every negative item were present and no positive one."""
    points = [p for s in graded.judged for p in s.points.tolist()]
    most = sum(p for p in points if p > 0)
    return sum(p for p in points if p < 0) / most if most else None


def _result_name(metric: _Metric) -> str:
    return ".".join(part for part in (BENCHMARK, metric.name, metric.of) if part)


def _result(
    metric: _Metric, entry: Entry, s: Summary, identity: str, prompts: Mapping[str, str]
) -> dict[str, Any]:
    estimate = metric.estimate
    config: dict[str, Any] = {
        "evaluation_description": metric.says,
        "metric_id": _result_name(metric),
        "metric_name": metric.name,
        "metric_kind": "error_rate" if metric.lower_is_better else "rubric_score",
        "metric_unit": "proportion",
        "metric_parameters": {"n": s.n_epochs},
        "lower_is_better": metric.lower_is_better,
        "score_type": "continuous",
        "min_score": metric.lowest,
        "max_score": 1.0,
        "additional_details": {"rubric": _rubric_of(metric).value},
    }
    if not s.grader.startswith(LEXICAL_GRADER):
        config["llm_scoring"] = _llm_scoring(s.grader, prompts)
    uncertainty: dict[str, Any] = {"num_samples": metric.n}
    if estimate.ci95 is not None:
        low, high = estimate.ci95
        uncertainty["confidence_interval"] = {
            "lower": low, "upper": high, "confidence_level": 0.95, "method": metric.method,
        }  # fmt: skip
    return {
        "evaluation_result_id": f"{identity}#{_result_name(metric)}",
        "evaluation_name": _result_name(metric),
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


def _rubric_of(metric: _Metric) -> Rubric:
    return Rubric.actions if metric.name.startswith("action_") else Rubric.ladder


def _llm_scoring(grader: str, prompts: Mapping[str, str]) -> dict[str, Any]:
    """The grader; its name is Inspect's of the model, then its mode and the hash of its prompt."""
    name, _, _ = grader.partition(" (")
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


# Samples


def _samples(
    entry: Entry, identity: str, model_id: str
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """A row for each response and rubric, and how many there are none of, and why."""
    rows: list[dict[str, Any]] = []
    missing = entry.responses.filter(pl.col("state") == ResponseState.missing.value).height
    left_out = {"responses that are missing": missing, "not judged": 0, "unresolved": 0}
    asked = {(r["scenario"], r["epoch"]): r for r in entry.responses.iter_rows(named=True)}
    for rubric in Rubric:
        texts = _best_texts(entry.first, rubric)
        for scenario, scores in entry.rubric(rubric).by_scenario():
            judged = dict(zip(scenario.epochs.tolist(), scenario.present, strict=True))
            for epoch in range(1, entry.n_epochs + 1):
                response = asked.get((scenario.scenario, epoch))
                if response is None or response["state"] == ResponseState.missing:
                    continue
                if epoch not in judged:
                    left_out["not judged"] += 1
                    continue
                correct = _is_correct(scenario, judged[epoch].tolist())
                if correct is None:
                    left_out["unresolved"] += 1
                    continue
                low, high = (float(part[epoch - 1]) for part in scores.both)
                rows.append(
                    _sample(response, rubric, texts.get(scenario.scenario, ()), (low, high))
                    | {"evaluation_id": identity, "model_id": model_id}
                )
                rows[-1]["evaluation"] = {"score": (low + high) / 2, "is_correct": correct}
    name = {
        rubric: f"{BENCHMARK}.{'action_' * (rubric is Rubric.actions)}score" for rubric in Rubric
    }
    for row in rows:
        of = name[Rubric(row["metadata"]["rubric"])]
        row |= {"evaluation_name": of, "evaluation_result_id": f"{identity}#{of}"}
    return rows, left_out


def _is_correct(scenario: GradedScenario, present: Sequence[float]) -> bool | None:
    """As `IS_CORRECT` says; `None` where it hangs on an unresolved item."""
    wanted = [
        (points > 0, mark) for points, mark in zip(scenario.points.tolist(), present, strict=True)
        if points
    ]  # fmt: skip
    known = [good == bool(mark) for good, mark in wanted if mark == mark]
    if not all(known):
        return False
    return True if len(known) == len(wanted) else None


def _best_texts(judgments: pl.DataFrame, rubric: Rubric) -> dict[str, tuple[str, ...]]:
    """Scenario → the texts of its items with positive points: what a good answer does."""
    items = (
        judgments.filter(pl.col("rubric") == rubric.value, pl.col("points") > 0)
        .unique(["scenario", "item"])
        .sort("scenario", "position")
    )
    found: dict[str, tuple[str, ...]] = {}
    for scenario, text in items.select("scenario", "item_text").iter_rows():
        if text and text != WITHHELD:
            found[scenario] = (*found.get(scenario, ()), text)
    return found


def _sample(
    response: Mapping[str, Any],
    rubric: Rubric,
    reference: Sequence[str],
    score: tuple[float, float],
) -> dict[str, Any]:
    """One response on one rubric, but for its score and what it belongs to."""
    held_out = response["split"] == Split.held_out.value
    raw = WITHHELD if held_out else response["scenario_text"] or ""
    text = WITHHELD if held_out else response["text"] or ""
    told = () if held_out else reference
    refused = response["state"] == ResponseState.refused
    hashed = hashlib.sha256((raw + "".join(told)).encode()).hexdigest()
    about = {name: response[name] for name in ("adl", "condition", "assistance", "actor", "split")}
    return {
        "schema_version": SCHEMA_VERSION,
        "sample_id": response["scenario"],
        "sample_hash": None if held_out else hashed,
        "interaction_type": "single_turn",
        "input": {"raw": raw, "reference": list(told)},
        "output": {"raw": [text]},
        "messages": None,
        # nothing was extracted: the whole answer was judged
        "answer_attribution": [],
        "token_usage": _tokens(response),
        "performance": None
        if response["seconds"] is None
        else {"latency_ms": response["seconds"] * 1000},
        "error": f"refused by the provider: {WITHHELD if held_out else response['note']}"
        if refused
        else None,
        "metadata": {
            "rubric": rubric.value,
            "epoch": str(response["epoch"]),
            "state": response["state"],
            "score_low": str(score[0]),
            "score_high": str(score[1]),
            "is_correct": "every positive item of the rubric present, and no negative one",
            "situation": "; ".join(response["situation"] or ()),
            **{name: value for name, value in about.items() if value is not None},
        },
    }


def _tokens(response: Mapping[str, Any]) -> dict[str, Any] | None:
    """Of the response, its provider's cache included in what went in; `None` if not known."""
    fresh, out = response["input_tokens"], response["output_tokens"]
    if fresh is None or out is None:
        return None
    read, written = response["cache_read_tokens"], response["cache_write_tokens"]
    total = fresh + (read or 0) + (written or 0)
    return {
        "input_tokens": total,
        "output_tokens": out,
        "total_tokens": total + out,
        "input_tokens_cache_read": read,
        "input_tokens_cache_write": written,
        "reasoning_tokens": response["reasoning_tokens"],
    }
