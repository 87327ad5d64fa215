"""The JSON of a study. Shares are fractions; an unknown number is null, with its reason."""

from __future__ import annotations

from dataclasses import asdict

from careeval.people.study.kinds import UNDECIDED
from careeval.people.study.panel import RolePanel
from careeval.people.study.rater_agreement import COEFFICIENTS, RaterAgreement
from careeval.people.study.rater_sheets import PANEL_COUNTS, comment_row, panel_sheet, view_row
from careeval.people.study.results import StudyResults
from careeval.people.study.round_ratings import FASTEST_READER
from careeval.people.study.scale_ratings import ScaleRatings
from careeval.people.study.scenario_decisions import Decision, ItemResult, ScenarioResult
from careeval.sheets.sheet import Row
from careeval.sheets.versus.compare_json import estimate_json
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
