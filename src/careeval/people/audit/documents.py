"""The documents and files of audits: the sample, and the grader against people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import TypeAdapter, ValidationError

from careeval import scoring
from careeval.core.rating import Label, Reading
from careeval.core.text import counted
from careeval.errors import ReviewError
from careeval.files import read_text
from careeval.people.audit.labels import LabelledAudit, LabellerProgress
from careeval.people.audit.results import MIN_AUDITED
from careeval.people.audit.sample import SCHEMA, AuditSample, Hidden, ShownResponse
from careeval.people.typed_forms import read_rows
from careeval.results.grader_accuracy import PeopleAudit
from careeval.sheets import words
from careeval.sheets.data_files import csv_text
from careeval.sheets.entries import CORRECTED, RUBRIC, SYSTEM
from careeval.sheets.graders import ACCURACY, AGREEMENT, PEOPLE, POINTS, class_name, point_class
from careeval.sheets.json_output import AUDIT_SCHEMA, numbers_json
from careeval.sheets.kinds import COUNT, FLAG, SHARE, Form, flag_kind
from careeval.sheets.labels import (
    AGAINST_PEOPLE,
    SHOWN_AGREEMENT,
    UNITS,
    against_people_sheet,
    part_view,
)
from careeval.sheets.sheet import Document, Field, Sheet, Shown, View, row_of

KEEP_APART = "What stands below `hidden` would sway a rater: an app that shows it is no audit."

_NEEDED = ("rater", "judgment", "label")
_YES, _NO = {"yes", "true", "1"}, {"", "no", "false", "0"}


@dataclass(frozen=True)
class _SampleFile:
    schema: str
    note: str
    shown: tuple[ShownResponse, ...]
    hidden: Hidden


_FILE = TypeAdapter(_SampleFile)


def sample_text(sample: AuditSample) -> str:
    """Return a sample as JSON, `careeval.audit-sample/1`; raters may see only `shown`."""
    file = _SampleFile(SCHEMA, KEEP_APART, sample.shown, sample.hidden)
    return json.dumps(_FILE.dump_python(file, mode="json"), indent=1, ensure_ascii=False) + "\n"


def read_sample(path: Path) -> AuditSample:
    """Return the audit sample that a JSON file contains.

    Raises:
        ReviewError: The file is not a sample, or `shown` and `hidden` do not match.
    """
    try:
        data = json.loads(read_text(path, max_bytes=MAX_BYTES))
    except (ValueError, RecursionError) as error:
        raise ReviewError(f"{path} is not JSON: {error}", hint=_MAKE_ONE) from error
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        raise ReviewError(
            f"{path} is not a valid sample: schema must be {SCHEMA!r}, not {schema!r}",
            hint=_MAKE_ONE,
        )
    try:
        file = _FILE.validate_python(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ReviewError(
            f"{path} is not a valid sample: {where}: {first['msg']}", hint=_MAKE_ONE
        ) from error
    if problem := _problem(file):
        raise ReviewError(f"{path} is not a valid sample: {problem}", hint=_MAKE_ONE)
    return AuditSample(file.shown, file.hidden)


MAX_BYTES = 50_000_000
"""Largest file that is read; a sample that people can read is a hundred times smaller."""

_MAKE_ONE = "write a new sample with careeval audit sample FOLDER -o FILE"


def _problem(file: _SampleFile) -> str:
    """Return the reason why the parts of a sample do not match; empty if they do."""
    shown = [(item.judgment, response.id) for response in file.shown for item in response.items]
    drawn = [(each.judgment, each.response) for each in file.hidden.drawn]
    strata = file.hidden.strata
    if shown != drawn or len(dict(shown)) != len(shown):
        return "`shown` and `hidden` must list the same judgments in the same order, each once"
    counts = [0] * len(strata)
    for each in file.hidden.drawn:
        if not 0 <= each.stratum < len(strata):
            return f"{each.judgment} has stratum {each.stratum}; it must be below {len(strata)}"
        counts[each.stratum] += 1
    for stratum, count in zip(strata, counts, strict=True):
        if not 0 < count == stratum.n <= stratum.of:
            return (
                f"a stratum says {stratum.n} of {stratum.of} judgments were drawn, and {count} are "
                "listed; the first number must equal the last, and be from 1 to the second"
            )
    return ""


def sheet_text(sample: AuditSample) -> str:
    """Return a CSV sheet to fill in: a row per judgment, with empty `rater`, `label` and `note`."""
    rows = [
        {
            "rater": None,
            "judgment": item.judgment,
            "label": None,
            "note": None,
            "item": item.text,
            "response": response.text,
            "scenario": response.scenario,
        }
        for response in sample.shown
        for item in response.items
    ]
    names = ("rater", "judgment", "label", "note", "item", "response", "scenario")
    return csv_text(pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String)))


def read_labels(path: Path, sample: AuditSample) -> list[Label]:
    """Return the labels in a CSV file, separated by commas or semicolons.

    The file must have the columns `rater`, `judgment` and `label` (present, absent, unsure), and
    may have `note`, `at` (ISO 8601) and `adjudicated` (yes or no). Other columns are ignored. A row
    without a label is a judgment not made yet, and is skipped.

    Raises:
        ReviewError: A column is missing, a value is not allowed, or a judgment is not in the
            sample, is labelled twice by one rater, or is adjudicated twice. The message has the
            line of each problem.
    """
    judgments = {each.judgment for each in sample.hidden.drawn}
    labels: list[Label] = []
    lines: dict[tuple[str, str], int] = {}

    def take(line: int, row: Mapping[str, str]) -> None:
        label = _label(row, judgments)
        if label is None:
            return
        key = ("" if label.adjudicated else label.rater, label.judgment)
        if key in lines:
            action = "is adjudicated" if label.adjudicated else f"is labelled by {label.rater}"
            raise ValueError(f"{label.judgment} {action} in line {lines[key]} too; delete one row")
        lines[key] = line
        labels.append(label)

    read_rows(path, _NEEDED, (*_NEEDED, "note", "at", "adjudicated"), take)
    return labels


def _label(row: Mapping[str, str], judgments: set[str]) -> Label | None:
    """Return the label in a row; `None` if the label is empty.

    Raises:
        ValueError: A value is missing or not allowed.
    """
    adjudicated = row["adjudicated"].lower()
    if not row["label"]:
        return None
    if row["label"].lower() not in set(Reading):
        raise ValueError(f"label must be one of {', '.join(Reading)}, not {row['label']!r}")
    if row["judgment"] not in judgments:
        raise ValueError(f"judgment {row['judgment']!r} is not in the sample")
    if not row["rater"]:
        raise ValueError("rater is empty; give a pseudonym")
    if adjudicated not in _YES | _NO:
        raise ValueError(f"adjudicated must be yes or no, not {adjudicated!r}")
    try:
        at = datetime.fromisoformat(row["at"]) if row["at"] else None
    except ValueError as error:
        raise ValueError(
            f"at must be a time such as 2026-03-01T14:30, not {row['at']!r}"
        ) from error
    return Label(
        rater=row["rater"],
        judgment=row["judgment"],
        says=Reading(row["label"].lower()),
        note=row["note"],
        at=at,
        adjudicated=adjudicated in _YES,
    )


# Samples for people

_DRAWN = (
    RUBRIC,
    POINTS,
    Field(
        "present",
        "whether the grader calls the item present",
        flag_kind(yes="found it", no="called it absent"),
        "The grader",
    ),
    SYSTEM,
    Field("n", "judgments drawn", COUNT, "Drawn"),
    Field("of", "judgments that they were drawn from", COUNT),
    Field("chance", "chance of each judgment to be drawn", SHARE),
    Field("systems", "number of systems", COUNT, in_files=False),
)


def sample_document(sample: AuditSample) -> Document:
    """Return the document of a sample for people to read.

    Data files have a row per system and kind of judgment.
    """
    hidden = sample.hidden
    rows = [row_of(stratum, _DRAWN[:-1]) for stratum in hidden.strata]
    data = Sheet("drawn", "judgments of one kind by one system", _DRAWN, rows)
    kinds = sorted({s.kind for s in hidden.strata}, key=lambda k: (k[1], k[0], not k[2]))
    shown = [
        point_class((rubric, points))
        | {"present": present, "systems": len(strata)}
        | {count: sum(getattr(s, count) for s in strata) for count in ("n", "of")}
        for rubric, points, present in kinds
        for strata in ([s for s in hidden.strata if s.kind == (rubric, points, present)],)
    ]
    columns = map(Shown, ("points", "rubric", "present", "n", "of", "systems"))
    left_out = "; ".join(f"{n:,} {reason}" for reason, n in hidden.left_out.items() if n)
    scenarios = {each.scenario for each in hidden.drawn}
    notes = (
        f"{counted(len(hidden.drawn), 'judgment')} of {hidden.grader}, in "
        f"{counted(len(sample.shown), 'response')} to {counted(len(scenarios), 'scenario')}.",
        *([f"Excluded from the draw: {left_out}."] if left_out else []),
        *(f"Thin: {warning}." for warning in sample.shortfalls()),
    )
    return Document((part_view(data, "drawn", shown, "Drawn", *columns),), notes, data)


def results_document(audit: PeopleAudit) -> Document:
    """Return the document of a grader against people: warnings, a summary, and the tables."""
    grader = {"grader": audit.grader}
    rows = [*against_people_sheet(audit).rows]
    rows += [
        {**grader, "items": class_name(key), **point_class(key), **row_of(measured, ACCURACY)}
        | row_of(audit.agreement_by_points[key], AGREEMENT, "agreement")
        | row_of(audit.people_by_points[key], AGREEMENT, "people")
        for key, measured in sorted(audit.by_points.items(), key=lambda each: each[0][1])
    ]
    systems = [(grader | {"system": name}, system) for name, system in audit.by_system.items()]
    severe = [
        name | {"points": scoring.SEVERE} | row_of(system.severe, ACCURACY)
        for name, system in systems
    ]
    overall = [name | row_of(system.overall, ACCURACY) for name, system in systems]
    scores = [
        name | {"rubric": rubric.value} | row_of(score, CORRECTED)
        for name, system in systems
        for rubric, score in system.scores.items()
    ]
    holds = "judgments of the grader, all or of a system or point class; or a system's score"
    data = Sheet("audit", holds, AGAINST_PEOPLE, [*rows, *severe, *overall, *scores])
    blocks: tuple[str | View, ...] = (
        *_warnings(audit),
        f"{audit.grader}: {audit.sentence()}",
        part_view(data, "against_people", rows, "The grader against people",
              *map(Shown, ("items", "n", "n_present", "sensitivity")),
              Shown("miss_rate", Form.bare),
              *map(Shown, ("specificity", "ppv", "macro_f1")), *SHOWN_AGREEMENT),
        part_view(data, "people_with_each_other", rows,
              "People against each other: the most that can be asked of a grader",
              *map(Shown, ("items", "people.n", "people.same", "people.macro_f1")),
              *map(Shown, ("people.positive_agreement", "people.ac1"))),
        part_view(data, "systems", severe, "−2 items, by system",
              *map(Shown, ("system", "n", "n_present", "sensitivity", "specificity"))),
        part_view(data, "corrected_scores", scores, "Scores, corrected by people",
              *(Shown(field.key) for field in (SYSTEM, RUBRIC, *CORRECTED))),
    )  # fmt: skip
    notes = (*_label_notes(audit), *dict.fromkeys(_reasons(audit)), words.CORRECTED, UNITS)
    caption = f"Bank {audit.bank} {audit.bank_version}; grader {audit.grader}."
    return Document(blocks, notes, data, caption)


def _warnings(audit: PeopleAudit) -> Iterator[str]:
    """Yield the reasons why the results of an audit are less reliable than they seem."""
    waiting = audit.waiting
    if not audit.n_labelled:
        yield "Nobody has labelled anything yet."
    if waiting.n:
        wait = counted(waiting.n, "judgment waits", "judgments wait")
        bias = (
            " Until then the grader is compared on the clear cases alone, and looks better than it "
            "is."
        )
        yield (
            f"{wait} for somebody to adjudicate: {waiting.kinds()}."
            f"{bias if waiting.left_out else ''}"
        )
    if audit.n_alone:
        have = "has" if audit.n_alone == 1 else "have"
        yield (
            f"{audit.n_alone:,} of {audit.n_settled:,} settled judgments {have} only one rater: "
            "let a second person label the same judgments."
        )
    if audit.people.n and audit.people.n_left_out:
        yield (
            f"People’s agreement leaves out {counted(audit.people.n_left_out, 'judgment')} of "
            "kinds (points and verdict) that no two raters labelled."
        )


def _label_notes(audit: PeopleAudit) -> Iterator[str]:
    adjudicated = f"; adjudicated by {', '.join(audit.adjudicators)}" if audit.adjudicators else ""
    if audit.raters:
        yield f"Labelled by {', '.join(audit.raters)}{adjudicated}."
    yield (
        f"Of {counted(audit.n_drawn, 'judgment')}: {audit.n_labelled:,} labelled; "
        f"{audit.n_settled:,} with a true label, {audit.n_adjudicated:,} by adjudication; "
        f"left out: {audit.n_tied:,} tied, {audit.n_unsure:,} unsure."
    )
    if audit.n_unsure or audit.waiting.one_sure or audit.waiting.outvoted:
        yield (
            "Labels of unsure are not counted: sure labels decide. Settled judgments with the same "
            "points and verdict represent the judgments left out."
        )
    yield (
        "Weighted to all judgments by the chance of each to be drawn. A corrected score is the "
        "grader's mean, changed by as much as people differ from it on the responses that they "
        f"read; it needs {MIN_AUDITED} such responses of the system."
    )


def _reasons(audit: PeopleAudit) -> Iterator[str]:
    """Yield the reasons why some results of an audit are unknown or have no interval."""
    for items, measured in (("−2 items", audit.severe), ("all items", audit.overall)):
        if measured.sensitivity.reason:
            yield f"{items}: {measured.sensitivity.reason}."
    for pair, classes in (
        ("", audit.agreement_by_points),
        ("people with each other, ", audit.people_by_points),
    ):
        for key, agreement in classes.items():
            if agreement.positive_agreement.value is None:
                yield f"{pair}{class_name(key)}: {agreement.positive_agreement.reason}."
    for name, system in audit.by_system.items():
        for rubric, score in system.scores.items():
            if score.corrected.reason:
                yield f"{name}, {rubric} not corrected: {score.corrected.reason}."


# Progress of labellers

_PROGRESS = (
    Field("id", "pseudonym", head="Labeller"),
    Field("role", "in which they were asked"),
    Field("state", "whether they have handed in", head="Handed in", in_files=False),
    Field("n_judgments", "to be labelled", COUNT, "Judgments"),
    Field("n_done", "labelled", COUNT, "Done"),
    Field("n_skipped", "put off for later", COUNT, "Skipped"),
    Field("n_left", "neither labelled nor put off", COUNT, "Left", in_files=False),
    Field("handed_in", "whether they have", FLAG),
    Field("revoked", "whether their link is off", FLAG),
    Field("withdrawn", "whether they have left", FLAG),
)


def progress_document(title: str, audit: LabelledAudit, *, closed: bool) -> Document:
    """Return a table of labellers with their progress, and notes on the settling."""
    rows = [
        _labeller_json(each)
        | {"state": _hand_in_state(each), "n_left": each.n - each.done - each.skipped}
        for each in audit.labellers
    ]
    sheet = Sheet("labellers", "a labeller", _PROGRESS, rows)
    shown = tuple(Shown(field.key) for field in _PROGRESS[:7])
    caption = f"{title}{' · closed' if closed else ''}"
    return Document((View(sheet, shown, caption),), tuple(audit.settling_notes()), sheet)


def progress_json(
    title: str, audit: LabelledAudit, *, closed: bool, n_withdrawn: int
) -> dict[str, Any]:
    """Return the output of `careeval audit status --json`."""
    is_open = audit.is_settling_open
    return {
        "title": title,
        "closed": closed,
        "n_withdrawn": n_withdrawn,
        "labellers": [_labeller_json(each) for each in audit.labellers],
        "waits_for": list(audit.awaited),
        "settles": audit.can_be_settled,
        "n_disputed": len(audit.disputed) if is_open else None,
        "n_settled": audit.n_settled if is_open else None,
    }


def _hand_in_state(labeller: LabellerProgress) -> str:
    if labeller.withdrawn:
        return "withdrawn"
    if labeller.handed_in:
        return "yes"
    return "no, link off" if labeller.revoked else "no"


def _labeller_json(labeller: LabellerProgress) -> dict[str, Any]:
    return {
        "id": labeller.rater,
        "role": labeller.role,
        "n_judgments": labeller.n,
        "n_done": labeller.done,
        "n_skipped": labeller.skipped,
        "handed_in": labeller.handed_in,
        "revoked": labeller.revoked,
        "withdrawn": labeller.withdrawn,
    }


def sample_json(sample: AuditSample) -> dict[str, Any]:
    """Return the output of `careeval audit sample --json`, which has no texts."""
    hidden = sample.hidden
    return {
        "schema": AUDIT_SCHEMA,
        "grader": hidden.grader,
        "bank": hidden.bank,
        "bank_version": hidden.bank_version,
        "bank_hashes": list(hidden.bank_hashes),
        "protocol": hidden.protocol,
        "seed": hidden.seed,
        "n": len(hidden.drawn),
        "n_responses": len(sample.shown),
        "n_scenarios": len({each.scenario for each in hidden.drawn}),
        "strata": [{**asdict(s), "chance": s.chance} for s in hidden.strata],
        "left_out": dict(hidden.left_out),
        "thin": list(sample.shortfalls()),
    }


def results_json(audit: PeopleAudit) -> dict[str, Any]:
    """Return the output of `careeval audit results --json`."""
    counts = ("n_drawn", "n_labelled", "n_settled", "n_adjudicated", "n_single", "n_tied")
    return {
        "schema": AUDIT_SCHEMA,
        "grader": audit.grader,
        "raters": list(audit.raters),
        "adjudicators": list(audit.adjudicators),
        **{name: getattr(audit, name) for name in (*counts, "n_unsure")},
        "waiting": {"n": audit.waiting.n, **asdict(audit.waiting)},
        "as_drawn": asdict(audit.counts),
        "people": {
            "severe": numbers_json(audit.people_severe, PEOPLE),
            "overall": numbers_json(audit.people, PEOPLE),
        },
        "severe": numbers_json(audit.severe, ACCURACY),
        "overall": numbers_json(audit.overall, ACCURACY),
        "by_points": [
            {
                **point_class(key),
                **numbers_json(measured, ACCURACY),
                "agreement": numbers_json(audit.agreement_by_points[key], AGREEMENT),
                "people": numbers_json(audit.people_by_points[key], AGREEMENT),
            }
            for key, measured in audit.by_points.items()
        ],
        "by_system": [
            {
                "system": name,
                "severe": numbers_json(system.severe, ACCURACY),
                "overall": numbers_json(system.overall, ACCURACY),
                "scores": {
                    rubric.value: numbers_json(score, CORRECTED)
                    for rubric, score in system.scores.items()
                },
            }
            for name, system in audit.by_system.items()
        ],
    }
