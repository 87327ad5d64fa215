"""A study's results as JSON. Shares are fractions; an unknown number is null, with its reason."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from careeval.core.rating import Comment, PointsView
from careeval.results.decided import Decision, ItemResult, ScenarioResult
from careeval.results.judged import Judged
from careeval.results.panel import RolePanel
from careeval.results.rater_agreement import COEFFICIENTS, Agreement
from careeval.results.study import StudyResults
from careeval.sheets.compare_json import estimate_json
from careeval.stats.validity import AikenV, Endorsement

SCHEMA = "careeval.study/1"

Row = dict[str, Any]


def study_json(found: StudyResults) -> Row:
    """What `careeval study results --json` prints; an unknown number has its reason beside it."""
    return {
        "schema": SCHEMA,
        "title": found.title,
        "bank": found.bank,
        "bank_version": found.bank_version,
        "terms": asdict(found.terms),
        "decisions": {d.value: len(found.decided(d)) for d in Decision}
        | {"undecided": len(found.decided(None))},
        "n_withdrawn": found.n_withdrawn,
        "n_invited": found.n_invited,
        "n_rated": found.n_rated,
        "panel": panel_rows(found),
        "panel_by_role": [role_json(each) for each in found.panel],
        "notes": [said.note for said in found.rounds if said.note],
        "scales": [
            {"scale": s.scale.value, "before": asdict(s.before), "after": asdict(s.after)}
            for s in found.scales
        ],
        "agreement": [_agreement_json(each) for each in found.agreement],
        "scenarios": [_scenario_json(each) for each in found.latest],
        "earlier": [_scenario_json(each) for each in found.earlier],
    }


def role_json(of: RolePanel) -> Row:
    """Those of a role; of their years mean and range, or why there are none, or no range."""
    years: Row = {"value": None, "reason": of.why_no_years}
    if of.years:
        mean, low, high, n = of.years.mean, of.years.low, of.years.high, of.years.n
        years = {"value": mean, "low": low, "high": high, "n": n}
        if of.why_no_range:
            years["reason"] = of.why_no_range
    return {
        "role": of.role.value,
        "n_invited": of.n_invited,
        "n_rated": of.n_rated,
        "n_agreed": of.n_agreed,
        "n_asked": of.n_asked,
        "n_ratings": of.n_ratings,
        "n_typed": of.n_typed,
        "years": years,
    }


def _agreement_json(of: Agreement) -> Row:
    return {
        "round": of.round,
        "scale": of.scale.value,
        "n_subjects": of.n_subjects,
        "n_raters": of.n_raters,
        "n_complete": of.n_complete,
        **{name: estimate_json(getattr(of, name)) for name in COEFFICIENTS},
    }


def _scenario_json(of: ScenarioResult) -> Row:
    return {
        "scenario": of.subject.scenario,
        "version": of.subject.version,
        "round": of.subject.round,
        "text": of.text or None,
        "decision": of.decision and of.decision.value,
        "reasons": list(of.reasons),
        "to_read": list(of.to_read),
        "realism": _judged_json(of.realism),
        "validity": _judged_json(of.validity),
        "comments": [comment_json(each) for each in of.comments],
        "items": [_item_json(each) for each in of.items],
    }


def _item_json(of: ItemResult) -> Row:
    return {
        "rubric": of.subject.rubric and of.subject.rubric.value,
        "item": of.subject.item,
        "text": of.text or None,
        "to_read": list(of.to_read),
        "relevance": _judged_json(of.relevance),
        "points": [view_json(each) for each in of.views],
        "comments": [comment_json(each) for each in of.comments],
    }


def _judged_json(of: Judged) -> Row:
    return {
        "n_asked": of.n_asked,
        "counts": list(of.counts),
        "i_cvi": _share(of.at_cut),
        "i_cvi_other": _share(of.at_other),
        "i_cvi_strict": _share(of.strict),
        "modified_kappa": of.kappa,
        "aiken_v": _aiken(of.aiken),
        "passes": of.passes,
        "cut_sensitive": of.cut_sensitive,
        "reason": of.reason or of.too_few,
        "by_role": [
            {
                "role": role.role.value,
                "ratings": list(role.values),
                "lowest": role.lowest,
                "i_cvi": _share(role.endorsed),
                "passes": role.passes,
            }
            for role in of.by_role
        ],
    }


def _share(of: Endorsement | None) -> Row | None:
    if of is None:
        return None
    return {"value": of.value, "k": of.k, "n": of.n, "ci95": list(of.interval)}


def _aiken(of: AikenV | None) -> Row | None:
    return None if of is None else {"value": of.value, "ci95": list(of.interval)}


def comment_json(of: Comment) -> Row:
    """A comment, as it was typed."""
    return {"rater": of.rater.id, "role": of.rater.role.value, "text": of.text}


def view_json(of: PointsView) -> Row:
    """What a rater thinks of an item's points."""
    return {
        "rater": of.rater.id,
        "role": of.rater.role.value,
        "proposed": of.proposed,
        "points": of.points,
        "objects": of.objects,
    }


def panel_rows(found: StudyResults) -> list[Row]:
    """A row a rater in a round."""
    rows = []
    for said in found.rounds:
        rated: dict[str, set[str]] = {}
        for rating in said.ratings:
            rated.setdefault(rating.rater.id, set()).add(rating.subject.scenario)
        rows += [
            {
                "round": said.number, "rater": seat.rater.id, "role": seat.rater.role.value,
                "n_asked": len(seat.scenarios), "n_rated": len(rated.get(seat.rater.id, ())),
                "n_typed": seat.n_typed, "agreed": seat.agreed,
            }
            for seat in said.seats
        ]  # fmt: skip
    return rows
