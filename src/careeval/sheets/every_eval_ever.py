"""Results in the format of Every Eval Ever 0.3.0, a shared store of evaluation results.

Each entry has a JSON file with metrics and intervals, and a JSON Lines file with a line for each
response. The format has no place for an unknown number: it is left out, and `source_metadata` has
the reason. Source of the format: the package `every-eval-ever` 0.3.0.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from careeval.core.vendors import vendor
from careeval.files import write_text
from careeval.results import metrics
from careeval.results.entry import NOT_COMPARABLE, Entry
from careeval.results.held_out_words import WITHHELD
from careeval.results.tables import SystemKey
from careeval.stats.estimate import Estimate

SCHEMA_VERSION = "0.3.0"

IS_CORRECT = "every item with positive points is present and none with negative; few responses are"
"""careeval's rule for the yes or no that the format asks for."""

_METHOD = "clustered by scenario: Korn and Graubard's; of a score, on its range taken as 0 to 1"
_SCORE = "careeval.score"
_ABOUT = ("state", "adl", "condition", "assistance", "actor", "split")

Relationship = Literal["first_party", "third_party", "collaborative", "other"]
Record = dict[str, Any]


# fmt: off
def write_evaluation_log(
    s: Entry, folder: Path, organisation: str, relationship: Relationship, prompt: str = "",
) -> list[Path]:
    """Write the two files of an entry below `folder/data/`, at the paths that the store expects.

    `organisation` ran the evaluation and has the relationship to the model's maker; `prompt` is
    the grader's, empty if unknown.
    """
    model, began = _model(s.asked, s.system), s.run["created"] or "unknown"
    system = SystemKey(s.system, s.given, s.step).name
    identity = f"careeval/{model['id']}/{began}/{system}/{s.grader}/{s.rubric}"
    # the same in every export
    file = uuid.UUID(bytes=hashlib.sha256(identity.encode()).digest()[:16], version=4)
    maker, _, name = (re.sub(r"[^\w.-]+", "-", part).strip(".-") or "unknown"
                      for part in model["id"].rpartition("/"))
    samples_path = folder / "data" / "careeval" / maker / name / f"{file}_samples.jsonl"
    about = {"evaluation_id": identity, "model_id": model["id"],
             "evaluation_name": _SCORE, "evaluation_result_id": f"{identity}#{_SCORE}"}
    samples = [json.dumps(about | sample, ensure_ascii=False) + "\n" for sample in samples_of(s)]
    results = list(reported_numbers(s))
    unknown = {x["evaluation_name"]: x["score_details"]["details"]["reason"] for x in results
               if x["score_details"]["score"] is None}
    judge = {} if s.grader.is_lexical else {"llm_scoring": {
        "judges": [{"model_info": _model(s.grader.model, s.grader)}],
        "input_prompt": prompt or "not kept with the results"}}
    bank, sampling = f"{s.bank} {s.bank_version}", s.responses["sampling"].drop_nulls().unique()
    shared = {
        "source_data": {"dataset_name": bank, "source_type": "other", "additional_details": {
            "bank_hash": s.bank_hash, "provenance": s.bank_provenance}},
        "generation_config": {"additional_details": {
            "epochs": str(s.n_epochs), "sampling": " or ".join(sampling.sort()[:3]),
            "given": s.given or "the words of a scenario", "step": "yes" if s.step else "no"}},
    }
    record = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": identity,
        "evaluation_timestamp": began,
        "retrieved_timestamp": str(int(datetime.now(UTC).timestamp())),
        "source_metadata": {
            "source_name": f"careeval, bank {bank}", "source_type": "evaluation_run",
            "source_organization_name": organisation, "evaluator_relationship": relationship,
            "additional_details": {
                "note": NOT_COMPARABLE,
                "not_ranked": "; ".join(s.not_ranked), "warnings": "; ".join(s.warnings),
                "left_out": json.dumps(unknown, ensure_ascii=False),
            },
        },
        "model_info": model,
        "eval_library": {
            "name": "careeval", "version": s.run["software"] or "unknown",
            "additional_details": {
                "protocol": s.protocol, "grading_protocol": s.grading_protocol or "unknown",
                "ask_prompt": s.run["ask_prompt"] or "none: recorded answers", "rubric": s.rubric,
            },
        },
        "evaluation_results": [
            {**x, **shared, "metric_config": x["metric_config"] | judge,
             "evaluation_result_id": f"{identity}#{x['evaluation_name']}"}
            for x in results if x["evaluation_name"] not in unknown
        ],
        "detailed_evaluation_results": {
            "format": "jsonl", "file_path": samples_path.relative_to(folder).as_posix(),
            "checksum": hashlib.sha256("".join(samples).encode()).hexdigest(),
            "hash_algorithm": "sha256", "total_rows": len(samples),
            "additional_details": {
                "is_correct": IS_CORRECT,
                "left_out": f"{s.n_responses - len(samples)} responses without a known score",
            },
        },
    }
    record_path = samples_path.with_name(f"{file}.json")
    record_path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
    write_text(record_path, text + "\n")
    write_text(samples_path, "".join(samples))
    return [record_path, samples_path]


def reported_numbers(s: Entry) -> Iterator[Record]:
    """Yield what the record has of each number; its `score` is `None` if it is unknown."""
    judged = s.graded.judged
    maximum, minimum = s.graded.maxima[judged].sum(), s.graded.minima[judged].sum()
    lowest = float(minimum / maximum) if maximum else None
    tables: list[tuple[Sequence[metrics.Metric[Any, metrics.Number]], metrics.Numbers, str]] = [
        (metrics.HEADLINE, s.numbers, ""), (metrics.SEVERE_BY_KIND, s.severe_by_kind, ""),
        (metrics.IN_DETAIL, s.numbers_in_detail, ""), (metrics.DIRECTIONS, s.directions, ""),
        *((metrics.PLANS, numbers, f".{answer}") for answer, numbers in s.by_answer.items()),
    ]
    for declared, numbers, ending in tables:
        for m in declared:
            if (number := numbers.get(m.key)) is not None:
                n = int(judged.sum()) if isinstance(number, Estimate) else number.n
                yield _result(m.key + ending, m.holds, metrics.share_of(number), n,
                              lowest if m.is_score else 0, m.fewer_is_better)
    for name, part in (*s.by_adl.items(), *s.by_domain.items()):
        holds = f"score in {name}; of a domain, each item weighted by its rating in it"
        yield _result(f"score.{name}", holds, part.score, part.n)


def _result(name: str, holds: str, x: Estimate, n: int, lowest: float | None = None,
            fewer_is_better: bool = False) -> Record:
    interval = {"confidence_interval": {
        "lower": x.ci95[0], "upper": x.ci95[1], "confidence_level": 0.95, "method": _METHOD,
    }} if x.ci95 else {}
    return {
        "evaluation_name": f"careeval.{name}",
        "metric_config": {
            "evaluation_description": holds, "lower_is_better": fewer_is_better,
            "score_type": "continuous", "min_score": lowest, "max_score": 1,
        },
        "score_details": {
            "score": x.value,
            "details": {"low_by_unresolved": str(x.low), "high_by_unresolved": str(x.high),
                        "reason": x.reason},
            "uncertainty": {"num_samples": n, **interval},
        },
    }


def samples_of(s: Entry) -> Iterator[Record]:
    """Yield a row for each judged response whose score and correctness are known."""
    good = s.first.filter(pl.col("points") > 0, ~pl.col("item_text").is_in(["", WITHHELD]))
    texts = good.unique(["scenario", "item"]).sort("scenario", "position").group_by("scenario")
    references = dict(texts.agg("item_text").iter_rows())
    places = {scenario: place for place, scenario in enumerate(s.graded.scenarios)}
    points, present, scores = s.graded.points[:, np.newaxis], s.graded.present, s.graded.scores
    is_wrong = ((points > 0) & (present == 0) | (points < 0) & (present == 1)).any(axis=2)
    is_open = ((points != 0) & np.isnan(present)).any(axis=2) & ~is_wrong
    is_known = s.graded.is_judged & ~is_open & ~np.isnan(scores.value)
    for row in s.responses.sort("scenario", "epoch").iter_rows(named=True):
        if not is_known[at := (places[row["scenario"]], row["epoch"] - 1)]:
            continue
        yield {
            "schema_version": SCHEMA_VERSION, "sample_id": row["scenario"],
            "interaction_type": "single_turn",
            "input": {"raw": row["scenario_text"] or "",
                      "reference": references.get(row["scenario"], [])},
            "output": {"raw": [row["text"] or ""]},
            "answer_attribution": [],  # the whole response was judged, none of it extracted
            "evaluation": {"score": float(scores.value[at]), "is_correct": not is_wrong[at]},
            "error": row["note"] or None,
            "metadata": {
                "epoch": str(row["epoch"]), "situation": "; ".join(row["situation"] or ()),
                **{name: row[name] for name in _ABOUT if row[name] is not None},
                "score_low": str(scores.low[at]), "score_high": str(scores.high[at]),
            },
        }


def _model(asked: str | None, name: str) -> Record:
    """Return the model as the format has it: id `maker/model`, and maker and host if known."""
    parts = asked.split("/") if asked else ["unknown", name]
    known = {"developer": vendor(asked), "inference_platform": parts[0] if parts[2:] else None}
    details = {"deployment_type": "unknown", "model_availability": "unknown"}
    return {
        "name": name, "id": "/".join(parts[-2:]),
        "additional_details": details | {"asked": asked or "recorded answers"},
        **{key: value for key, value in known.items() if value},
    }
# fmt: on
