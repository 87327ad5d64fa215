"""Rows of the table of responses, from the samples of logs.

Where a run was killed and resumed, the newest sample of each scenario and epoch counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from careeval.core.response import ResponseState
from careeval.core.scenario import Rubric, Split
from careeval.errors import LogError
from careeval.protocol.costs.prices import in_process
from careeval.protocol.costs.token_counts import is_counted
from careeval.protocol.logs.eval_file import Log, Odd, Unreadable
from careeval.protocol.logs.fields import Asked, Sample, Stored, Usage
from careeval.protocol.logs.limits import MAX_JUDGMENTS, MAX_KEPT
from careeval.protocol.runs.sweep_cells import sweep_of
from careeval.results.tables import NOT_ASKED

ResponseKey = tuple[str, str, int]
"""System, scenario, epoch."""
Row = Mapping[str, Any]
"""Column → value; a column that is not there is null."""
GradedResponse = tuple[Log, Mapping[Rubric, int], Sample, Asked]
"""A response of a graded log, with the number of its grading for each rubric."""
_SCENARIO_COLUMNS = ("adl", "condition", "assistance", "situation", "actor", "split",
                     "group", "twin_of", "control", "scenario_text")  # fmt: skip
"""Columns of a response that are the same for all responses to its scenario."""


@dataclass(frozen=True)
class ResponseRows:
    """Responses and their gradings, as one log after the other adds to them and replaces them.

    Attributes:
        responses: A row each.
        graded: Folder, grader and response → what that grading is made from.
        errors: Folder and response → why its sample ended in an error; `None` where it did not.
        unreadable: Responses whose record cannot be read, and why.
    """

    responses: dict[ResponseKey, Row] = field(default_factory=dict)
    graded: dict[tuple[Path, str | None, ResponseKey], GradedResponse] = field(default_factory=dict)
    errors: dict[tuple[Path, ResponseKey], str | None] = field(default_factory=dict)
    unreadable: dict[ResponseKey, str] = field(default_factory=dict)

    def take(self, log: Log, gradings: Mapping[Rubric, int] | None) -> Iterator[str]:
        """Take a log's samples, with its gradings if it is graded, and note what is unreadable.

        Raises:
            LogError: It holds more than a log may.
        """
        unreadable: list[Unreadable] = []
        odd: list[Odd] = []
        n_judgments = n_kept = 0
        scenarios: set[str] = set()
        of_run = _run_columns(log)
        for each in log.samples():
            if isinstance(each, Unreadable):
                unreadable.append(each)
                self.unreadable[log.system, each.id, each.epoch] = each.reason
                continue
            if isinstance(each, Odd):
                odd.append(each)
                continue
            sample, asked = each
            n_judgments += sum(map(len, asked.rubrics.values()))
            n_kept += _n_kept(sample)
            if sample.id not in scenarios:
                scenarios.add(sample.id)
                n_kept += len(asked.text or "") + _n_item_texts(asked)
            if n_judgments > MAX_JUDGMENTS or n_kept > MAX_KEPT:
                raise LogError(
                    f"{log.path}: is too long: at most {MAX_JUDGMENTS:,} judgments, "
                    f"and {MAX_KEPT:,} characters of responses, quotes and reasons"
                )
            key = log.system, sample.id, sample.epoch
            lacking = {r.value for r in log.header.about.rubrics if not asked.rubrics.get(r)}
            # a later grading is of another rubric, and does not say what an earlier one lacked
            lacking |= set(self.responses.get(key, {}).get("lacks") or ())
            row = _response_row(sample, asked, of_run)
            n_kept += len(row["sampling"])
            self.responses[key] = {**row, "lacks": sorted(lacking)}
            self.errors[log.path.parent, key] = sample.error
            if gradings is not None:
                self.graded[log.path.parent, log.grader, key] = log, gradings, sample, asked
        if unreadable:
            first = unreadable[0]
            yield (
                f"{log.path}: {len(unreadable)} of its samples cannot be read; "
                f"the first, {first.id} epoch {first.epoch}: {first.reason}"
            )
        if odd:
            yield (
                f"{log.path}: {len(odd)} of its samples count what cannot be, which is taken as "
                f"unknown; the first, {odd[0].id} epoch {odd[0].epoch}: {odd[0].reason}"
            )

    def complete(self, logs: Sequence[Log]) -> Iterator[str]:
        """Add a missing response for what each system's last log has not come to, and note it."""
        for system, log in {log.system: log for log in logs}.items():
            asked = [
                (system, scenario, epoch)
                for scenario in log.header.scenarios
                for epoch in range(1, log.header.epochs + 1)
            ]
            siblings = {key[1]: row for key, row in self.responses.items() if key[0] == system}
            absent = [key for key in asked if key not in self.responses]
            for key in absent:
                sibling = siblings.get(key[1], {})
                unreadable = self.unreadable.get(key)
                note = f"its record cannot be read: {unreadable}" if unreadable else NOT_ASKED
                self.responses[key] = {
                    **_run_columns(log),
                    **missing_row(key[1], key[2], note),
                    **{name: sibling.get(name) for name in _SCENARIO_COLUMNS},
                }
            whole_run = all(sweep_of(each.path.parent) is None for each in logs)
            if whole_run and (n := sum(key not in self.unreadable for key in absent)):
                yield (
                    f"{system}: {n} of {len(asked)} responses are not there yet; "
                    "'careeval run --resume' asks for them"
                )

    def failures(self) -> Iterator[str]:
        """Note how many samples of each system ended in an error, and the last one's words.

        A provider may repeat what it was asked, so that a held-out run's words stay untold.
        """
        held_out = {
            key[0]
            for key, row in self.responses.items()
            if row.get("split") == Split.held_out.value
        }
        messages: dict[str, list[str]] = {}
        for (_, (system, _, _)), error in self.errors.items():
            if error is not None:
                messages.setdefault(system, []).append(
                    (error.strip() or "no reason").splitlines()[0]
                )
        for system, of_system in messages.items():
            last = "" if system in held_out else f"; the last: {of_system[-1][:300]}"
            yield f"{system}: {len(of_system)} samples failed{last}"


def _n_kept(sample: Sample) -> int:
    """Return how many characters of a sample are kept."""
    judged = sum(
        len(judgment.quote or "") + len(judgment.reason or "")
        for graded in sample.graded.values()
        for judgment in graded.judgments
    )
    return len(sample.response.text) + len(sample.error or "") + judged


def _n_item_texts(asked: Asked) -> int:
    return sum(len(item.text) for items in asked.rubrics.values() for item in items)


def _run_columns(log: Log) -> Row:
    """Return the columns that every response of a log shares."""
    about, asked = log.header.about, not log.header.about.recorded
    return {
        "system": log.system,
        "model": log.header.model if asked else None,
        "bank": about.bank,
        "bank_version": about.bank_version,
        "bank_hash": about.bank_hash,
        "bank_provenance": about.bank_provenance,
        "bank_makers": list(about.bank_makers),
        "protocol": about.protocol,
        "ask_prompt": about.prompts.ask if asked else None,
        "software": about.software,
        "created": log.header.created,
    }


def _response_row(sample: Sample, asked: Asked, of_run: Row) -> Row:
    response = sample.response
    usage = _true_usage(sample.usage, response, of_run["model"])
    return {
        **of_run,
        "scenario": sample.id,
        "epoch": sample.epoch,
        "state": response.state.value,
        "text": response.text,
        "cut": response.cut,
        "note": response.note,
        # a recorded answer stands in the log as if a model of the system's name had given it
        "model_returned": sample.model if of_run["model"] else None,
        "reasoned": sample.reasoned,
        "input_tokens": usage.input_tokens,
        "cache_read_tokens": usage.input_tokens_cache_read,
        "cache_write_tokens": usage.input_tokens_cache_write,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cost_usd": usage.total_cost,
        "seconds": sample.seconds,
        "sampling": json.dumps(sample.sampling or {}),
        "adl": asked.adl,
        "condition": asked.condition,
        "assistance": asked.assistance,
        "situation": asked.situation,
        "actor": asked.actor,
        "split": asked.split,
        "group": asked.group,
        "twin_of": asked.twin_of,
        "control": asked.control,
        "scenario_text": asked.text,
    }


def _true_usage(usage: Usage | None, response: Stored, model: str | None) -> Usage:
    """Return what a response took, without a count that cannot be true: older logs have such."""
    if usage is None or in_process(model or ""):
        return usage or Usage()
    read, write = usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0
    went_in = None if usage.input_tokens is None else usage.input_tokens + read + write
    parts = (usage.input_tokens, read, write, usage.reasoning_tokens)
    words = bool(response.text)
    return usage if is_counted(went_in, usage.output_tokens, *parts, words=words) else Usage()


def missing_row(scenario: str, epoch: int, note: str) -> Row:
    """Return the columns of a response that is not there."""
    return {
        "scenario": scenario,
        "epoch": epoch,
        "state": ResponseState.missing.value,
        "text": "",
        "cut": False,
        "note": note,
        "reasoned": False,
        "sampling": "{}",
    }
