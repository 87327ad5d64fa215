"""From logs to tables, without Inspect: an `.eval` file is a zip of JSON.

A sample's metadata carries all that the tables need, so no bank is needed to read a run. Where a
run was killed and resumed, several logs lie in one folder, and the newest sample of each scenario
and epoch counts.
"""

from __future__ import annotations

import hashlib
import json
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from careeval.core.response import Response, ResponseState
from careeval.core.scenario import Rubric
from careeval.errors import CareEvalError, LogError
from careeval.protocol.sample import rubric_of
from careeval.results.tables import JUDGMENTS, RESPONSE_KEY, RESPONSES, Runs, schema

if sys.version_info < (3, 14):
    # teaches zipfile the compression that Inspect writes
    import zipfile_zstd  # type: ignore[import-untyped]  # noqa: F401

CACHE = ".tables"
NOT_ASKED = "not asked yet: the run is not finished"
"""Note of a response that a run has not come to."""
GRADED = "graded"
"""Folder of later gradings within a run's."""

ResponseKey = tuple[str, str, int]
"""System, scenario, epoch."""
SCENARIO_COLUMNS = ("adl", "condition", "assistance", "situation", "actor", "split")
"""Columns of a response that come from its sample's metadata."""


@dataclass(frozen=True)
class Log:
    """One `.eval` file.

    Attributes:
        path: Where it is.
        eval: Its header's account of the run.
        samples: Its finished samples.
    """

    path: Path
    eval: Mapping[str, Any]
    samples: Sequence[Mapping[str, Any]] = field(repr=False)

    @property
    def about(self) -> Mapping[str, Any]:
        """What careeval wrote about the run into the header."""
        found: Mapping[str, Any] = self.eval["metadata"]["careeval"]
        return found

    @property
    def system(self) -> str:
        """Name of the system; the model's where the run gave no other."""
        return str(self.about["system"] or self.eval["model"])

    @property
    def grader(self) -> str | None:
        """The grader with its mode and prompt, as tables name it; `None` if nothing was graded."""
        role = (self.eval.get("model_roles") or {}).get("grader")
        if role is None or not self.eval.get("scorers"):
            return None
        model = role[0]["model"] if isinstance(role, list) else role["model"]
        return f"{model} ({self.about['grade_mode']}, prompt {self.about['prompts']['grade']})"


def read_runs(*folders: Path | str) -> Runs:
    """The runs in these folders, as tables.

    Args:
        folders: Each a run's folder, or one that holds runs at any depth.

    Raises:
        LogError: A folder holds no log of careeval, or two runs are of one system.
    """
    parts = []
    for folder in map(Path, folders):
        if not folder.is_dir():
            raise LogError(
                f"{folder} is not a folder", hint="name the folder that 'careeval run -o' wrote to"
            )
        runs = [read_run(path) for path in run_roots(folder)]
        if not runs:
            raise LogError(
                f"{folder} holds no log of careeval",
                hint="name the folder that 'careeval run -o' wrote to",
            )
        parts += runs
    return Runs.together(parts)


def read_run(folder: Path) -> Runs:
    """One run with its gradings, from its cached tables where its logs have not changed since."""
    logs = sorted(folder.rglob("*.eval"))
    key = _key(folder, logs)
    cache = folder / CACHE
    try:
        known = json.loads((cache / "key.json").read_text(encoding="utf-8"))
        if known["key"] == key:
            return Runs.read(cache, known["notes"])
    except (OSError, ValueError, KeyError, TypeError, CareEvalError):
        pass  # no cache that can be used: the logs are the truth
    runs = _tables(folder, logs)
    try:
        runs.write(cache)
        (cache / "key.json").write_text(
            json.dumps({"key": key, "notes": runs.notes}), encoding="utf-8"
        )
    except OSError:
        pass  # a folder that cannot be written can still be read
    return runs


def read_log(path: Path) -> Log:
    """One log.

    Raises:
        LogError: It is cut off, is not a log, or is not of careeval.
    """
    try:
        with zipfile.ZipFile(path) as file:
            names = set(file.namelist())
            header = json.loads(
                file.read("header.json" if "header.json" in names else "_journal/start.json")
            )
            samples = [
                json.loads(file.read(name)) for name in sorted(names) if name.startswith("samples/")
            ]
        eval_ = header["eval"]
        ours = "careeval" in (eval_.get("metadata") or {})
    except Exception as error:  # a damaged zip fails in many ways, its compressor's among them
        raise LogError(
            f"{path}: cannot be read as a log: {error}", hint="it may have been cut off"
        ) from error
    if not ours:
        raise LogError(f"{path}: is a log of the task {eval_.get('task')!r}, not of careeval")
    return Log(path, eval_, samples)


def responses_of(runs: Runs) -> list[Response]:
    """The responses of a table, as values."""
    columns = ("scenario", "epoch", "text", "state", "cut", "note")
    return [
        Response(**{**row, "state": ResponseState(row["state"])})
        for row in runs.responses.select(columns).iter_rows(named=True)
    ]


def run_roots(folder: Path) -> list[Path]:
    """The folders of runs below a folder: those that hold logs, not its later gradings."""
    holders = {path.parent for path in folder.rglob("*.eval")}
    roots = {path.parent.parent if path.parent.name == GRADED else path for path in holders}
    return sorted(root if root.is_relative_to(folder) else folder for root in roots)


def _key(folder: Path, logs: Iterable[Path]) -> str:
    """What the cached tables stand for: logs' names, sizes and times, and the tables' columns."""
    stats = [
        (str(path.relative_to(folder)), path.stat().st_size, path.stat().st_mtime_ns)
        for path in logs
    ]
    columns = {name: str(kind) for name, kind in (schema(RESPONSES) | schema(JUDGMENTS)).items()}
    return hashlib.sha256(json.dumps([stats, columns]).encode()).hexdigest()


def _tables(folder: Path, paths: Sequence[Path]) -> Runs:
    logs: list[Log] = []
    notes: list[str] = []
    for path in paths:
        try:
            logs.append(read_log(path))
        except LogError as error:
            notes.append(f"left out: {error}")
    if not logs:
        raise LogError("\n".join(notes) or "no logs")
    logs.sort(key=lambda log: str(log.eval["created"]))
    own = [log for log in logs if log.path.parent == folder]
    later = [log for log in logs if log.path.parent != folder]
    responses: dict[ResponseKey, dict[str, Any]] = {}
    # what comes later wins: the newer over the older, the run's own over what was taken from it
    for log in (*later, *own):
        for sample in log.samples:
            responses[log.system, sample["id"], sample["epoch"]] = _response_row(log, sample)
    notes += _complete([*later, *own], responses)
    notes += _failures([*later, *own])
    graded: dict[tuple[Path, str | None, ResponseKey], tuple[Log, int, Mapping[str, Any]]] = {}
    for log, grading in _gradings([*own, *sorted(later, key=_number)]):
        for sample in log.samples:
            key = log.path.parent, log.grader, (log.system, sample["id"], sample["epoch"])
            graded[key] = log, grading, sample
    judgments = (row for found in graded.values() for row in _judgment_rows(*found))
    return Runs.of(responses.values(), judgments, notes)


def _number(log: Log) -> int:
    """The n of a later grading's folder, `<grader>-<n>`; 0 for a folder that has none."""
    number = log.path.parent.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else 0


def _response_row(log: Log, sample: Mapping[str, Any]) -> dict[str, Any]:
    stored = sample.get("store", {}).get("careeval_response")
    output = sample.get("output") or {}
    usage = output.get("usage") or {}
    about, metadata = log.about, sample.get("metadata") or {}
    message = (output.get("choices") or [{}])[0].get("message", {})
    content = message.get("content")
    if stored is None:
        error = (sample.get("error") or {}).get("message", "no response was stored")
        stored = {
            "text": "",
            "state": "missing",
            "cut": False,
            "note": f"error: {error.strip()[:500]}",
        }
    return {
        "system": log.system,
        "scenario": sample["id"],
        "epoch": sample["epoch"],
        **{name: stored[name] for name in ("state", "text", "cut", "note")},
        "model": None if about["recorded"] else log.eval["model"],
        "model_returned": None if about["recorded"] else output.get("model"),
        "reasoned": isinstance(content, list)
        and any(part.get("type") == "reasoning" for part in content),
        "input_tokens": usage.get("input_tokens"),
        "output_tokens": usage.get("output_tokens"),
        "cost_usd": usage.get("total_cost"),
        "seconds": output.get("time"),
        "sampling": json.dumps(sample.get("store", {}).get("careeval_sampling") or {}),
        **_run_columns(log),
        **{name: metadata.get(name) for name in SCENARIO_COLUMNS},
        "scenario_text": sample["input"] if isinstance(sample["input"], str) else None,
    }


def _run_columns(log: Log) -> dict[str, Any]:
    """The columns that every response of a log shares."""
    about = log.about
    names = ("bank", "bank_version", "bank_hash", "bank_provenance", "protocol", "software")
    return {
        **{name: about[name] for name in names},
        "ask_prompt": None if about["recorded"] else about["prompts"]["ask"],
        "created": log.eval["created"],
    }


def _complete(logs: Sequence[Log], responses: dict[ResponseKey, dict[str, Any]]) -> Iterator[str]:
    """Add a missing response for what the last log of each system has not come to, and say so."""
    newest = {log.system: log for log in logs}
    for system, log in newest.items():
        asked = [
            (system, scenario, epoch)
            for scenario in log.eval["dataset"]["sample_ids"]
            for epoch in range(1, log.eval["config"]["epochs"] + 1)
        ]
        known = {key[1]: row for key, row in responses.items() if key[0] == system}
        absent = [key for key in asked if key not in responses]
        for key in absent:
            sibling = known.get(key[1], {})
            responses[key] = {
                **dict(zip(RESPONSE_KEY, key, strict=True)),
                "state": ResponseState.missing.value,
                "text": "",
                "cut": False,
                "note": NOT_ASKED,
                "model": None if log.about["recorded"] else log.eval["model"],
                "reasoned": False,
                "sampling": "{}",
                **_run_columns(log),
                **{name: sibling.get(name) for name in (*SCENARIO_COLUMNS, "scenario_text")},
            }
        if absent:
            yield (
                f"{system}: {len(absent)} of {len(asked)} responses are not there yet; "
                "'careeval run --resume' asks for them"
            )


def _failures(logs: Sequence[Log]) -> Iterator[str]:
    """For each system with samples that ended in an error: how many, and the last one's words."""
    newest = {
        (log.path.parent, log.system, sample["id"], sample["epoch"]): (log.system, sample)
        for log in logs
        for sample in log.samples
    }
    errors: dict[str, list[str]] = {}
    for system, sample in newest.values():
        if error := sample.get("error"):
            errors.setdefault(system, []).append(error["message"].strip().splitlines()[0])
    for system, messages in errors.items():
        yield f"{system}: {len(messages)} samples failed; the last: {messages[-1][:300]}"


def _gradings(logs: Sequence[Log]) -> Iterator[tuple[Log, int]]:
    """Each graded log with its grading: a grader's first folder for a system is 1."""
    folders: dict[tuple[str, str], list[Path]] = {}
    for log in logs:
        if (grader := log.grader) is not None:
            seen = folders.setdefault((log.system, grader), [])
            if log.path.parent not in seen:
                seen.append(log.path.parent)
            yield log, 1 + seen.index(log.path.parent)


def _judgment_rows(log: Log, grading: int, sample: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One row an item.

    Where grading broke off, every item is unresolved. A response without words contains nothing,
    and no grader is asked: every item is absent. A missing response has no rows.
    """
    stored = sample.get("store", {}).get("careeval_response")
    if stored is None or stored["state"] == ResponseState.missing:
        return
    score = (sample.get("scores") or {}).get("careeval") or {}
    graded = (score.get("metadata") or {}).get("rubrics") or {}
    error = (sample.get("error") or {}).get("message", "the grading was not stored")
    without: dict[str, Any] = (
        {"present": None, "quote": None, "reason": f"error: {error[:300]}"}
        if stored["state"] == ResponseState.answered
        else {
            "present": False,
            "quote": None,
            "reason": f"{stored['state']} response: nothing to grade",
        }
    )
    for name in log.about["rubrics"]:
        judgments = {row["item"]: row for row in graded.get(name, {}).get("judgments", ())}
        for position, item in enumerate(rubric_of(sample["metadata"], Rubric(name))):
            judged = judgments.get(item.id) or without
            yield {
                "system": log.system,
                "scenario": sample["id"],
                "epoch": sample["epoch"],
                "grader": log.grader,
                "grading": grading,
                "rubric": name,
                "position": position,
                "item": item.id,
                "points": item.points,
                **{key: judged[key] for key in ("present", "quote", "reason")},
                "item_text": item.text,
                "of": list(getattr(item, "of", ())),
                "excludes": list(getattr(item, "excludes", ())),
                **{domain.value: level for domain, level in item.domains.items()},
            }
