"""The samples of an Every Eval Ever file: a line per response that was judged on one rubric."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from careeval.core.response import ResponseState
from careeval.core.scenario import Rubric
from careeval.results.entries import Entry
from careeval.results.held_out_words import WITHHELD
from careeval.sheets.every_eval_ever.form import SCHEMA_VERSION, result_name

IS_CORRECT = (
    "is_correct: every item with positive points of this rubric is present in the response, and no "
    "item with negative points is. Few responses are; score, from which nothing is cut off, says "
    "more."
)
"""careeval's rule for the yes or no that the format asks for."""


def samples_of(
    entry: Entry, identity: str, model_id: str
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Return a row for each response whose values are known, and reason → number of the others."""
    rows: list[dict[str, Any]] = []
    missing = entry.responses.filter(pl.col("state") == ResponseState.missing.value).height
    left_out = {"responses that are missing": missing, "not judged": 0, "unresolved": 0}
    asked = {(r["scenario"], r["epoch"]): r for r in entry.responses.iter_rows(named=True)}
    texts = _best_texts(entry.first)
    name = result_name("score")
    graded, scores = entry.graded, entry.graded.scores
    for row in np.flatnonzero(graded.maxima > 0).tolist():
        scenario = graded.scenarios[row]
        for epoch in range(1, entry.n_epochs + 1):
            response = asked.get((scenario, epoch))
            if response is None or response["state"] == ResponseState.missing:
                continue
            at = row, epoch - 1
            if not graded.is_judged[at]:
                left_out["not judged"] += 1
                continue
            correct = _is_correct(graded.points[row].tolist(), graded.present[at].tolist())
            low, high, score = (float(part[at]) for part in (*scores.ends, scores.value))
            if correct is None or score != score:
                left_out["unresolved"] += 1
                continue
            reference = texts.get(scenario, ())
            rows.append(
                _sample(response, entry.rubric, reference, (low, high))
                | {
                    "evaluation_id": identity,
                    "model_id": model_id,
                    "evaluation_name": name,
                    "evaluation_result_id": f"{identity}#{name}",
                    "evaluation": {"score": score, "is_correct": correct},
                }
            )
    return rows, left_out


def _is_correct(rubric: Sequence[int], present: Sequence[float]) -> bool | None:
    """Tell whether a response is correct by `IS_CORRECT`; `None` if unresolved items decide."""
    items = [
        (points > 0, mark) for points, mark in zip(rubric, present, strict=True) if points
    ]  # fmt: skip
    resolved = [is_good == bool(mark) for is_good, mark in items if mark == mark]  # not nan
    if not all(resolved):
        return False
    return True if len(resolved) == len(items) else None


def _best_texts(judgments: pl.DataFrame) -> dict[str, tuple[str, ...]]:
    """Return scenario → the texts of its items with positive points, without held-out texts."""
    items = (
        judgments.filter(pl.col("points") > 0)
        .unique(["scenario", "item"])
        .sort("scenario", "position")
    )
    texts: dict[str, tuple[str, ...]] = {}
    for scenario, text in items.select("scenario", "item_text").iter_rows():
        if text and text != WITHHELD:
            texts[scenario] = (*texts.get(scenario, ()), text)
    return texts


_ERRORS = {
    ResponseState.refused: "refused by the provider",
    ResponseState.malformed: "the words are no plan",
    ResponseState.not_executable: "the plan breaks off",
}
"""State → what went wrong with the response."""


def _sample(
    response: Mapping[str, Any],
    rubric: Rubric,
    reference: Sequence[str],
    score: tuple[float, float],
) -> dict[str, Any]:
    """Return the sample of a response on one rubric; the caller adds score and evaluation ids.

    `score` is the lowest and the highest score that unresolved judgments allow.
    """
    raw, text = response["scenario_text"] or "", response["text"] or ""
    error = _ERRORS.get(response["state"])
    hashed = hashlib.sha256((raw + "".join(reference)).encode()).hexdigest()
    about = {name: response[name] for name in ("adl", "condition", "assistance", "actor", "split")}
    return {
        "schema_version": SCHEMA_VERSION,
        "sample_id": response["scenario"],
        "sample_hash": None if raw == WITHHELD else hashed,
        "interaction_type": "single_turn",
        "input": {"raw": raw, "reference": list(reference)},
        "output": {"raw": [text]},
        "messages": None,
        # the whole response was judged, so nothing was extracted from it
        "answer_attribution": [],
        "token_usage": _tokens(response),
        "performance": None
        if response["seconds"] is None
        else {"latency_ms": response["seconds"] * 1000},
        "error": f"{error}: {response['note']}" if error else None,
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
    """Return the token counts of a response, cached input included; `None` if unknown."""
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
