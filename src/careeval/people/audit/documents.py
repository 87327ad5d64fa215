"""The documents of an audit: the sample, and the grader against people."""

from __future__ import annotations

from collections.abc import Iterator

from careeval import scoring
from careeval.core.text import counted
from careeval.people.audit.corrected_score import MIN_AUDITED
from careeval.people.audit.sample import AuditSample
from careeval.results.people_audit import PeopleAudit
from careeval.sheets import words
from careeval.sheets.agreement_fields import (
    ACCURACY,
    AGREEMENT,
    CORRECTED,
    POINTS,
    class_name,
    point_class,
)
from careeval.sheets.document import Document
from careeval.sheets.entries.entries_sheet import RUBRIC, SYSTEM
from careeval.sheets.kinds import COUNT, SHARE, FlagKind, Form
from careeval.sheets.sheet import Field, Sheet, Shown, View, row_of
from careeval.sheets.trust.audit import (
    AGAINST_PEOPLE,
    SHOWN_AGREEMENT,
    UNITS,
    against_people_sheet,
    part_view,
)

# Samples for people

_DRAWN = (
    RUBRIC,
    POINTS,
    Field(
        "present",
        "whether the grader calls the item present",
        FlagKind(yes="found it", no="called it absent"),
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
