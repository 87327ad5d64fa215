"""The documents of `careeval audit`: probe checks of graders, samples, graders against people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from careeval import scoring
from careeval.core.scenario import Rubric
from careeval.core.text import counted
from careeval.results.probe_check import LIMITS, ProbeTrial
from careeval.results.trust.audit.corrected_score import MIN_AUDITED
from careeval.results.trust.audit.results import AuditResults
from careeval.results.trust.audit.sample import AuditSample
from careeval.sheets import words
from careeval.sheets.agreement_fields import (
    ACCURACY,
    AGREEMENT,
    CLEARS,
    CORRECTED,
    FINDS,
    MACRO_F1,
    PEOPLE,
    POINTS,
    class_name,
    point_class,
)
from careeval.sheets.document import Document
from careeval.sheets.entries.entries_sheet import GRADER, GRADER_NAME, RUBRIC, SYSTEM
from careeval.sheets.estimate_kinds import ESTIMATE
from careeval.sheets.kinds import COUNT, DOLLARS, SECONDS, SHARE, FlagKind, Form
from careeval.sheets.sheet import Field, Row, Sheet, Shown, View, row_of

_UNITS = (
    "finds: % of the present items that the grader judges present; clears: % of the absent items "
    "that it judges absent. Positive agreement: of the items that one calls present, the % that "
    "the other calls present too. In brackets 95% intervals, over scenarios like these."
)
_ITEMS = Field("items", "the items: all, or those of a point class", in_files=False)
_WITH_TRUTH = tuple(field.within("agreement") for field in AGREEMENT)


def _view(sheet: Sheet, name: str, rows: Iterable[Row], caption: str, *columns: Shown) -> View:
    """Return a view of some rows of a sheet, under a new sheet name."""
    return View(replace(sheet, name=name, rows=[*rows]), columns, caption)


# Graders on the labelled probes

_ON_SEVERE = tuple(
    replace(field, brief=f"{field.brief} of −2", in_files=False).within("severe")
    for field in (FINDS, CLEARS)
)
_PROBES = (
    GRADER,
    RUBRIC,
    POINTS,
    Field("trap", "the trap of the probes; null for all"),
    *ACCURACY,
    *_WITH_TRUTH,
    Field("cost", "of all judgments", DOLLARS),
    Field(
        "seconds", "duration in seconds of the calls for all judgments", SECONDS, "Time of calls"
    ),
    Field("passed", "whether it passes the probes", FlagKind(yes="passed", no="failed"), "Probes"),
    *_ON_SEVERE,
    GRADER_NAME,
)
_SHOWN_ACCURACY = (*map(Shown, ("n", "n_present", "sensitivity", "specificity", "macro_f1")),)
_SHOWN_AGREEMENT = (Shown("agreement.positive_agreement"), Shown("agreement.ac1"))


def probes_document(bank: str, bank_version: str, trials: Sequence[ProbeTrial]) -> Document:
    """Return the document of how graders did on the labelled probes of a bank.

    Args:
        bank: Name of the bank.
        bank_version: Version N-X of the bank.
        trials: The probe check of each grader.
    """
    names = words.grader_names(trial.grader for trial in trials)
    overall, severe, classes, traps = list[Row](), list[Row](), list[Row](), list[Row]()
    for trial in trials:
        agreement, name = trial.agreement, {"grader": trial.grader, "judge": names[trial.grader]}
        overall.append(
            {**name, **row_of(agreement.accuracy, ACCURACY)}
            | row_of(agreement.severe_accuracy, (FINDS, CLEARS), "severe")
            | {"cost": trial.cost, "seconds": trial.seconds, "passed": not agreement.failed}
        )
        severe.append(
            {**name, "points": scoring.SEVERE, **row_of(agreement.severe_accuracy, ACCURACY)}
        )
        classes += [
            {**name, **point_class(key), **row_of(measured, ACCURACY)}
            | row_of(agreement.agreement_by_points[key], AGREEMENT, "agreement")
            for key, measured in agreement.accuracy_by_points.items()
        ]
        traps += [
            {**name, "trap": trap, **row_of(measured, ACCURACY)}
            for trap, measured in agreement.accuracy_by_trap.items()
        ]
    # sorting is stable, so graders keep their order in each group
    rubrics = [rubric.value for rubric in Rubric]
    classes.sort(key=lambda row: (row["points"], rubrics.index(row["rubric"])))
    traps.sort(key=lambda row: str(row["trap"]))
    holds = "a grader and a group of the probes' judgments: all, or of one point class or trap"
    data = Sheet("probes", holds, _PROBES, [*overall, *severe, *classes, *traps])
    views = (
        _view(data, "probes", overall, "On the bank's labelled probes", Shown("judge"),
              *(Shown(field.key) for field in (*_ON_SEVERE, FINDS, CLEARS, MACRO_F1)),
              *map(Shown, ("n", "n_unresolved", "cost", "seconds", "passed"))),
        _view(data, "probes_by_points", classes, "By points of the item",
              *map(Shown, ("points", "rubric", "judge")), *_SHOWN_ACCURACY, *_SHOWN_AGREEMENT),
        _view(data, "probes_by_trap", traps, "By trap",
              *map(Shown, ("trap", "judge")), *_SHOWN_ACCURACY),
    )  # fmt: skip
    notes = (*_verdicts(trials), *_pairs(trials), _pass_rule(), _UNITS)
    return Document(views, notes, data, f"Probes of bank {bank} {bank_version}.")


def _verdicts(trials: Iterable[ProbeTrial]) -> Iterator[str]:
    for trial in trials:
        if trial.agreement.failed:
            yield f"{trial.grader} fails the probes: {'; '.join(trial.agreement.failed)}."
        else:
            yield f"{trial.grader} does not fail the probes."


def _pairs(trials: Iterable[ProbeTrial]) -> Iterator[str]:
    for trial in trials:
        if pairs := trial.agreement.pairs:
            yield (
                f"{trial.grader}, {pairs.n} probes of twins: mistaken "
                f"{ESTIMATE.text(pairs.mistaken, Form.whole)}%, one right act taken for the other "
                f"{ESTIMATE.text(pairs.swapped, Form.whole)}%."
            )


def _pass_rule() -> str:
    limits = ", ".join(f"{limit.what} {limit.least:g}" for limit in LIMITS)
    return (
        f"A grader fails if it is below any of these on either rubric: {limits}. Items that the "
        "grader did not judge count as wrong. The rule is careeval's own."
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
    return Document((_view(data, "drawn", shown, "Drawn", *columns),), notes, data)


# Graders against people

_WITH_EACH_OTHER = tuple(
    field.within("people", "people against each other: {}")
    for field in dict.fromkeys((*AGREEMENT, *PEOPLE))
)
_RESULTS = (
    GRADER, SYSTEM, RUBRIC, POINTS,
    *ACCURACY, *_WITH_TRUTH, *_WITH_EACH_OTHER, *CORRECTED, _ITEMS,
)  # fmt: skip


def against_people_sheet(audit: AuditResults) -> Sheet:
    """Return a sheet of how far the grader agrees with people, and people with each other.

    It has a row for −2 items and a row for all items.
    """
    rows = [
        {"grader": audit.grader, "items": name, "points": points, **row_of(measured, ACCURACY)}
        | row_of(people, PEOPLE, "people")
        for name, points, measured, people in (
            ("−2 items", scoring.SEVERE, audit.severe, audit.people_severe),
            ("all items", None, audit.overall, audit.people),
        )
    ]
    return Sheet("against_people", "judgments of the grader, all or of −2 items", _RESULTS, rows)


def results_document(audit: AuditResults) -> Document:
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
    data = Sheet("audit", holds, _RESULTS, [*rows, *severe, *overall, *scores])
    blocks: tuple[str | View, ...] = (
        *_warnings(audit),
        f"{audit.grader}: {audit.sentence()}",
        _view(data, "against_people", rows, "The grader against people",
              *map(Shown, ("items", "n", "n_present", "sensitivity")),
              Shown("miss_rate", Form.bare),
              *map(Shown, ("specificity", "ppv", "macro_f1")), *_SHOWN_AGREEMENT),
        _view(data, "people_with_each_other", rows,
              "People against each other: the most that can be asked of a grader",
              *map(Shown, ("items", "people.n", "people.same", "people.macro_f1")),
              *map(Shown, ("people.positive_agreement", "people.ac1"))),
        _view(data, "systems", severe, "−2 items, by system",
              *map(Shown, ("system", "n", "n_present", "sensitivity", "specificity"))),
        _view(data, "corrected_scores", scores, "Scores, corrected by people",
              *(Shown(field.key) for field in (SYSTEM, RUBRIC, *CORRECTED))),
    )  # fmt: skip
    notes = (*_label_notes(audit), *dict.fromkeys(_reasons(audit)), words.CORRECTED, _UNITS)
    hidden = audit.sample.hidden
    caption = f"Bank {hidden.bank} {hidden.bank_version}; grader {audit.grader}."
    return Document(blocks, notes, data, caption)


def _warnings(audit: AuditResults) -> Iterator[str]:
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


def _label_notes(audit: AuditResults) -> Iterator[str]:
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


def _reasons(audit: AuditResults) -> Iterator[str]:
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
