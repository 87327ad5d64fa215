"""Making the rows of the table of responses from the samples of logs.

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
from careeval.protocol.costs.prices import runs_in_process
from careeval.protocol.costs.token_counts import is_plausible
from careeval.protocol.logs.eval_file import ImpossibleCount, Log, UnreadableSample
from careeval.protocol.logs.fields import (
    LoggedResponse,
    LoggedSample,
    LoggedScenario,
    LoggedUsage,
    is_cancelled,
)
from careeval.protocol.logs.limits import MAX_JUDGMENTS, MAX_KEPT
from careeval.protocol.runs.sweep_cells import sweep_of
from careeval.results.tables import NOT_ASKED

ResponseKey = tuple[str, str, int]
"""The key of a response: system, scenario, epoch."""
Row = Mapping[str, Any]
"""A row: column → value; a missing column is null."""
GradedResponse = tuple[Log, Mapping[Rubric, int], LoggedSample, LoggedScenario]
"""A graded log, the number of its grading for each rubric, and one of its samples."""
_SCENARIO_COLUMNS = ("adl", "condition", "assistance", "situation", "actor", "split",
                     "group", "twin_of", "control", "scenario_text")  # fmt: skip
"""The columns with the same value for all responses to a scenario."""


@dataclass(frozen=True)
class ResponseRows:
    """The responses and gradings collected from logs, where later logs replace earlier ones.

    Attributes:
        responses: Response → its row.
        graded: Folder, grader and response → that grading of it.
        errors: Folder and response → the error that ended its sample; `None` if no error did.
        unreadable: Response → the reason why its sample cannot be read.
    """

    responses: dict[ResponseKey, Row] = field(default_factory=dict)
    graded: dict[tuple[Path, str | None, ResponseKey], GradedResponse] = field(default_factory=dict)
    errors: dict[tuple[Path, ResponseKey], str | None] = field(default_factory=dict)
    unreadable: dict[ResponseKey, str] = field(default_factory=dict)

    def add_log(self, log: Log, gradings: Mapping[Rubric, int] | None) -> Iterator[str]:
        """Add a log's samples; yield notes on unreadable samples and impossible counts.

        Args:
            log: The log.
            gradings: Rubric → number of its grading; `None` if the log is not graded.

        Raises:
            LogError: The log is beyond the limits.
        """
        unreadable: list[UnreadableSample] = []
        odd: list[ImpossibleCount] = []
        n_judgments = n_kept = 0
        scenarios: set[str] = set()
        run_columns = _run_columns(log)
        for entry in log.samples():
            if isinstance(entry, UnreadableSample):
                unreadable.append(entry)
                self.unreadable[log.system, entry.id, entry.epoch] = entry.reason
                continue
            if isinstance(entry, ImpossibleCount):
                odd.append(entry)
                continue
            sample, scenario = entry
            if sample.stored is None and is_cancelled(sample.error):
                continue  # not asked yet
            n_judgments += sum(map(len, scenario.rubrics.values()))
            n_kept += _n_kept(sample)
            if sample.id not in scenarios:
                scenarios.add(sample.id)
                n_kept += len(scenario.text or "") + _n_item_texts(scenario)
            if n_judgments > MAX_JUDGMENTS or n_kept > MAX_KEPT:
                raise LogError(
                    f"{log.path}: is too large: more than {MAX_JUDGMENTS:,} judgments, "
                    f"or {MAX_KEPT:,} characters of responses, errors, quotes, reasons, settings, "
                    "scenarios and items",
                    hint="split the scenarios over several runs, or use fewer --samples",
                )
            key = log.system, sample.id, sample.epoch
            lacking = {r.value for r in log.header.about.rubrics if not scenario.rubrics.get(r)}
            # an earlier grading may be of another rubric: keep what it lacks
            lacking |= set(self.responses.get(key, {}).get("lacks") or ())
            row = _response_row(sample, scenario, run_columns)
            n_kept += len(row["sampling"])
            self.responses[key] = {**row, "lacks": sorted(lacking)}
            self.errors[log.path.parent, key] = None if is_cancelled(sample.error) else sample.error
            if gradings is not None:
                self.graded[log.path.parent, log.grader, key] = log, gradings, sample, scenario
        if unreadable:
            first = unreadable[0]
            yield (
                f"{log.path}: {len(unreadable)} of its samples cannot be read; "
                f"the first, {first.id} epoch {first.epoch}: {first.reason}"
            )
        if odd:
            yield (
                f"{log.path}: {len(odd)} of its samples have an impossible count, which is taken "
                f"as unknown; the first, {odd[0].id} epoch {odd[0].epoch}: {odd[0].reason}"
            )

    def add_missing(self, logs: Sequence[Log]) -> Iterator[str]:
        """Add a row for each response that is missing; yield a note on their number.

        The scenarios and epochs of each system are those of its last log.
        """
        for system, log in {log.system: log for log in logs}.items():
            expected = [
                (system, scenario, epoch)
                for scenario in log.header.scenarios
                for epoch in range(1, log.header.epochs + 1)
            ]
            siblings = {key[1]: row for key, row in self.responses.items() if key[0] == system}
            absent = [key for key in expected if key not in self.responses]
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
                    f"{system}: {n} of {len(expected)} responses are still missing; "
                    "'careeval run --resume' asks for them"
                )

    def failure_notes(self) -> Iterator[str]:
        """Yield a note on the failed samples of each system, with the text of the last error.

        The text is left out for a held-out run: a provider may repeat the prompt in it.
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
        for system, errors in messages.items():
            last = "" if system in held_out else f"; the last: {errors[-1][:300]}"
            yield f"{system}: {len(errors)} samples failed{last}"


def _n_kept(sample: LoggedSample) -> int:
    """Return the number of characters of a sample that are kept in memory."""
    n_judged = sum(
        len(judgment.quote or "") + len(judgment.reason or "")
        for graded in sample.graded.values()
        for judgment in graded.judgments
    )
    return len(sample.response.text) + len(sample.error or "") + n_judged


def _n_item_texts(scenario: LoggedScenario) -> int:
    return sum(len(item.text) for items in scenario.rubrics.values() for item in items)


def _run_columns(log: Log) -> Row:
    """Return the columns that have the same value for all responses of a log."""
    about, is_asked = log.header.about, not log.header.about.recorded
    return {
        "system": log.system,
        "model": log.header.model if is_asked else None,
        "bank": about.bank,
        "bank_version": about.bank_version,
        "bank_hash": about.bank_hash,
        "bank_provenance": about.bank_provenance,
        "bank_makers": list(about.bank_makers),
        "protocol": about.protocol,
        "ask_prompt": about.prompts.ask if is_asked else None,
        "software": about.software,
        "created": log.header.created,
    }


def _response_row(sample: LoggedSample, scenario: LoggedScenario, run_columns: Row) -> Row:
    response = sample.response
    usage = _plausible_usage(sample.usage, response, run_columns["model"])
    return {
        **run_columns,
        "scenario": sample.id,
        "epoch": sample.epoch,
        "state": response.state.value,
        "text": response.text,
        "cut": response.cut,
        "note": response.note,
        # the log of a recorded response has the system's name as its model
        "model_returned": sample.model if run_columns["model"] else None,
        "reasoned": sample.reasoned,
        "input_tokens": usage.input_tokens,
        "cache_read_tokens": usage.input_tokens_cache_read,
        "cache_write_tokens": usage.input_tokens_cache_write,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cost_usd": usage.total_cost,
        "seconds": sample.seconds,
        "sampling": json.dumps(sample.sampling or {}),
        "adl": scenario.adl,
        "condition": scenario.condition,
        "assistance": scenario.assistance,
        "situation": scenario.situation,
        "actor": scenario.actor,
        "split": scenario.split,
        "group": scenario.group,
        "twin_of": scenario.twin_of,
        "control": scenario.control,
        "scenario_text": scenario.text,
    }


def _plausible_usage(
    usage: LoggedUsage | None, response: LoggedResponse, model: str | None
) -> LoggedUsage:
    """Return a response's usage; all unknown if a count is impossible, as in older logs."""
    if usage is None or runs_in_process(model or ""):
        return usage or LoggedUsage()
    read, write = usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0
    n_input = None if usage.input_tokens is None else usage.input_tokens + read + write
    parts = (usage.input_tokens, read, write, usage.reasoning_tokens)
    words = bool(response.text)
    return (
        usage if is_plausible(n_input, usage.output_tokens, *parts, words=words) else LoggedUsage()
    )


def missing_row(scenario: str, epoch: int, note: str) -> Row:
    """Return the columns of a missing response, with a note on why it is missing."""
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
