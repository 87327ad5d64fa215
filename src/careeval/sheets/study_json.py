"""A study's results as JSON. Shares are fractions; an unknown number is null, with its reason."""

from __future__ import annotations

from dataclasses import asdict

from careeval.results.decided import Decision, ItemResult, ScenarioResult
from careeval.results.judged import Judged
from careeval.results.panel import RolePanel
from careeval.results.rater_agreement import COEFFICIENTS, Agreement
from careeval.results.study import StudyResults
from careeval.sheets.compare_json import estimate_json
from careeval.sheets.sheet import Row
from careeval.sheets.study_kinds import UNDECIDED
from careeval.sheets.study_raters import PANEL_COUNTS, comment_row, panel_sheet, view_row
from careeval.stats.validity import AikenV, Endorsement

SCHEMA = "careeval.study/1"


def study_json(study: StudyResults) -> Row:
    """Return what `careeval study results --json` prints."""
    return {
        "schema": SCHEMA,
        "title": study.title,
        "bank": study.bank,
        "bank_version": study.bank_version,
        "terms": asdict(study.terms),
        "decisions": {(d or UNDECIDED): len(study.decided(d)) for d in (*Decision, None)},
        "n_withdrawn": study.n_withdrawn,
        "n_invited": study.n_invited,
        "n_rated": study.n_rated,
        "panel": list(panel_sheet(study).rows),
        "panel_by_role": [role_json(each) for each in study.panel],
        "notes": [each.note for each in study.rounds if each.note],
        "scales": [asdict(each) for each in study.scales],
        "agreement": [_agreement(each) for each in study.agreement],
        "scenarios": [_scenario(each) for each in study.latest],
        "earlier": [_scenario(each) for each in study.earlier],
    }


def role_json(role: RolePanel) -> Row:
    """Return a role; of its years mean and range, or why there are none, or no range."""
    years: Row = {"value": None, "reason": role.why_no_years}
    if role.years:
        mean, low, high, n = role.years.mean, role.years.low, role.years.high, role.years.n
        years = {"value": mean, "low": low, "high": high, "n": n}
        if role.why_no_range:
            years["reason"] = role.why_no_range
    counts = {field.key: getattr(role, field.key) for field in PANEL_COUNTS}
    return {"role": role.role.value, **counts, "years": years}


def _agreement(agreement: Agreement) -> Row:
    numbers = {name: estimate_json(getattr(agreement, name)) for name in COEFFICIENTS}
    return asdict(agreement) | numbers


def _scenario(result: ScenarioResult) -> Row:
    return {
        "scenario": result.subject.scenario,
        "version": result.subject.version,
        "round": result.subject.round,
        "text": result.text or None,
        "decision": result.decision,
        "reasons": result.reasons,
        "to_read": result.to_read,
        "realism": _judged(result.realism),
        "validity": _judged(result.validity),
        "comments": [comment_row(each) for each in result.comments],
        "items": [_item(each) for each in result.items],
    }


def _item(item: ItemResult) -> Row:
    return {
        "rubric": item.subject.rubric,
        "item": item.subject.item,
        "text": item.text or None,
        "to_read": item.to_read,
        "relevance": _judged(item.relevance),
        "points": [view_row(each) for each in item.views],
        "comments": [comment_row(each) for each in item.comments],
    }


def _judged(judged: Judged) -> Row:
    return {
        "n_asked": judged.n_asked,
        "counts": judged.counts,
        "i_cvi": _share(judged.at_cut),
        "i_cvi_other": _share(judged.at_other),
        "i_cvi_strict": _share(judged.strict),
        "modified_kappa": judged.kappa,
        "aiken_v": _interval(judged.aiken),
        "passes": judged.passes,
        "cut_sensitive": judged.cut_sensitive,
        "reason": judged.reason,
        "by_role": [
            {
                "role": given.role,
                "ratings": given.values,
                "lowest": given.lowest,
                "i_cvi": _share(given.endorsed),
                "passes": given.passes,
            }
            for given in judged.by_role
        ],
    }


def _share(share: Endorsement | None) -> Row | None:
    if share is None:
        return None
    return {"value": share.value, "k": share.k, "n": share.n, "ci95": share.interval}


def _interval(v: AikenV | None) -> Row | None:
    return None if v is None else {"value": v.value, "ci95": v.interval}
