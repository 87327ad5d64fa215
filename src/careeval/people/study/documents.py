"""The documents, files and JSON of a study."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from careeval.people.study.decisions import Decision, ItemResult, ScaleRatings, ScenarioResult
from careeval.people.study.rater_sheets import (
    PANEL_COUNTS,
    agreement_sheet,
    coefficients_sheet,
    comment_row,
    comments_sheet,
    pace_notes,
    panel_roles_sheet,
    panel_sheet,
    points_sheet,
    ratings_sheet,
    view_row,
)
from careeval.people.study.results import (
    COEFFICIENTS,
    DESCRIBES,
    RaterAgreement,
    RolePanel,
    StudyResults,
)
from careeval.people.study.round_ratings import FASTEST_READER
from careeval.people.study.sheets import (
    UNDECIDED,
    decisions_sheet,
    roles_sheet,
    scales_sheet,
    validity_sheet,
)
from careeval.sheets.document import Document
from careeval.sheets.formats.data_files import conventions, write_tables
from careeval.sheets.json_output import estimate_json
from careeval.sheets.kinds import Form
from careeval.sheets.sheet import DataTable, Row, Shown, View
from careeval.stats.estimate import Estimate
from careeval.stats.validity import AikenV, Endorsement

SCHEMA = "careeval.study/1"


def study_json(study: StudyResults) -> Row:
    """Return the output of `careeval study results --json`."""
    return {
        "schema": SCHEMA,
        **_named(study, "title", "bank", "bank_version"),
        "terms": asdict(study.terms),
        "decisions": {(d or UNDECIDED): len(study.with_decision(d)) for d in (*Decision, None)},
        **_named(study, "n_withdrawn", "n_invited", "n_rated"),
        "too_fast": {
            "words_a_minute": FASTEST_READER,
            "n_scenarios": study.n_too_fast,
            "n_untimed": study.n_untimed,
            "left_out": study.without_fast,
        },
        "panel": list(panel_sheet(study).rows),
        "panel_by_role": [role_json(role) for role in study.panel],
        "notes": [rated.note for rated in study.rounds if rated.note],
        "scales": [asdict(scale) for scale in study.scales],
        "agreement": [_agreement(agreement) for agreement in study.agreement],
        "scenarios": [_scenario(result) for result in study.latest],
        "earlier": [_scenario(result) for result in study.earlier],
    }


def _named(record: object, *names: str) -> Row:
    """Return attribute name → value of a record, for JSON."""
    return {name: getattr(record, name) for name in names}


def role_json(role: RolePanel) -> Row:
    """Return the counts of a role's raters and their years of experience, or why these are null."""
    years: Row = {"value": None, "reason": role.why_no_years}
    if role.years:
        years = {"value": role.years.mean, **_named(role.years, "low", "high", "n")}
        if role.why_no_range:
            years["reason"] = role.why_no_range
    return _named(role, "role", *(field.key for field in PANEL_COUNTS)) | {"years": years}


def _agreement(agreement: RaterAgreement) -> Row:
    numbers = {name: estimate_json(getattr(agreement, name)) for name in COEFFICIENTS}
    return asdict(agreement) | numbers


def _scenario(result: ScenarioResult) -> Row:
    return {
        **_named(result.subject, "scenario", "version", "round"),
        "text": result.text or None,
        **_named(result, "decision", "reasons", "to_read", "n_lacking"),
        "realism": _judged(result.realism),
        "validity": _judged(result.validity),
        "comments": [comment_row(each) for each in result.comments],
        "items": [_item(each) for each in result.items],
    }


def _item(item: ItemResult) -> Row:
    return {
        **_named(item.subject, "rubric", "item"),
        "text": item.text or None,
        "to_read": item.to_read,
        "relevance": _judged(item.relevance),
        "points": [view_row(each) for each in item.views],
        "comments": [comment_row(each) for each in item.comments],
    }


def _judged(judged: ScaleRatings) -> Row:
    return {
        **_named(judged, "n_asked", "counts"),
        "i_cvi": _share(judged.at_cut),
        "i_cvi_other": _share(judged.at_other),
        "i_cvi_strict": _share(judged.strict),
        "modified_kappa": judged.kappa,
        "aiken_v": _share(judged.aiken),
        **_named(judged, "passes", "cut_sensitive", "reason"),
        "by_role": [
            {"role": ratings.role, "ratings": ratings.values, "lowest": ratings.lowest}
            | {"i_cvi": _share(ratings.endorsed), "passes": ratings.passes}
            for ratings in judged.by_role
        ],
    }


def _share(share: Endorsement | AikenV | None) -> Row | None:
    """Return a share with its interval and, for an endorsement, its counts; `None` for `None`."""
    if share is None:
        return None
    count = _named(share, "k", "n") if isinstance(share, Endorsement) else {}
    return {"value": share.value, **count, "ci95": share.interval}


def study_tables(study: StudyResults) -> Iterator[DataTable]:
    """Yield the data tables: results, then agreement, panel, and single answers."""
    results = (*study.latest, *study.earlier)
    yield decisions_sheet(study, results).data
    yield validity_sheet(results).data
    yield roles_sheet(results).data
    yield scales_sheet(study).data
    yield coefficients_sheet(study).data
    yield panel_sheet(study).data
    yield panel_roles_sheet(study).data
    yield ratings_sheet(study).data
    yield points_sheet(study).data
    yield comments_sheet(study).data


def write_study(study: StudyResults, folder: Path) -> list[Path]:
    """Write every table as CSV and Parquet, with descriptions of the columns; return the paths.

    Args:
        study: The results of the study.
        folder: Created if it does not exist, readable only by the owner; files of the same names
            are replaced.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # it has the comments of raters
    terms = study.terms
    about = (
        f"Ratings of the bank {study.bank} {study.bank_version} by people. Decided by the rule "
        f"`{terms.rule}` at the cut {terms.cut}; the other cut is {terms.other_cut}."
    )
    about = " ".join([about, *pace_notes(study)])
    tables = study_tables(study)
    return write_tables(tables, folder, ("csv", "parquet"), about, conventions("95%"))


def study_document(study: StudyResults) -> Document:
    """Return the document of a study.

    Its data are the results of the ratings: a row for each scenario or item, by round and scale.
    """
    counts = [f"{d} {len(study.with_decision(d))}" for d in Decision]
    if undecided := study.with_decision(None):
        counts.append(f"{UNDECIDED} {len(undecided)}")
    rule = f"by the rule '{study.terms.rule}', counting {study.terms.endorsing}"
    blocks: tuple[str | View, ...] = (
        f"{study.title} · bank {study.bank} {study.bank_version}",
        f"{' · '.join(counts)}, {rule}",
        *(view for view in _views(study) if view.sheet.rows),
    )
    data = validity_sheet((*study.latest, *study.earlier))
    about = f"Ratings of bank {study.bank} {study.bank_version} by {study.n_rated} people, {rule}"
    return Document(blocks, tuple(_notes(study)), data, f"{about}.")


def _views(study: StudyResults) -> Iterator[View]:
    yield View(
        decisions_sheet(study, study.worst_first),
        (
            *map(Shown, ("scenario", "version", "decision", "why")),
            Shown("realism", keep=True),
            Shown("validity", keep=True),
            Shown("n_comments"),
        ),
    )
    scales = ("scale", "when", "n", "n_pass", "s_cvi_ave", "s_cvi_ua")
    yield View(scales_sheet(study), tuple(map(Shown, scales)), groups=1)
    years = ("years_mean", "years_fewest", "years_most", "n_years")
    counts = ("role", "n_invited", "n_rated", "n_asked", "n_ratings", "n_typed", "n_too_fast")
    yield View(panel_roles_sheet(study), tuple(map(Shown, (*counts, *years))))
    rated = ("round", "scale", "n_raters", "n_subjects", "n_complete")
    identical, *others = COEFFICIENTS
    columns = (*map(Shown, rated), Shown(identical, Form.bare), *map(Shown, others))
    yield View(agreement_sheet(study), columns)


def _notes(study: StudyResults) -> Iterator[str]:
    yield "* the other cut would decide otherwise. V: Aiken's V, which needs no cut."
    yield (
        f"k/n: k of the n raters gave {study.terms.endorsing}. Panels are small: 7 of 8 is "
        "compatible with 47% to 100% of all such raters."
    )
    if any(not judged.aiken for each in study.latest for judged in each.judged):
        yield "– in place of a number of a scenario: fewer than three have rated it."
    if not study.scales:
        yield "Nobody has rated anything yet, so there are no scales and no agreement."
    yield "ICC(2,k) is over the scenarios, or items, that every rater rated."
    if any(role.years is None or role.years.low is None for role in study.panel):
        yield panel_roles_sheet(study).note
    agreement = agreement_sheet(study)
    if agreement.note:
        yield agreement.note
    for row in agreement.rows:
        for name in COEFFICIENTS:
            estimate: Estimate = row[name]
            coefficient = agreement.by_key[name].brief or agreement.by_key[name].heading.lower()
            number = f"{row['scale']}, round {row['round']}: {coefficient}"
            if estimate.value is None:
                yield f"{number} is unknown: {estimate.reason}"
            elif estimate.ci95 is None and estimate.reason != DESCRIBES:
                yield f"{number} has no interval: {estimate.reason}"
    yield from pace_notes(study)
    if n := study.n_withdrawn:
        yield f"{n} rater{' has' if n == 1 else 's have'} withdrawn; their answers are left out."
