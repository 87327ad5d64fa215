"""Sheets of a study's raters: who they are, how far they agree, and what each of them gave.

They are pseudonyms with a role; what they wrote stands as they wrote it, unless it is of a held-out
scenario.
"""

from __future__ import annotations

from careeval.core.rating import Comment, PointsView, Rater
from careeval.results.study.panel import RolePanel
from careeval.results.study.rater_agreement import COEFFICIENTS, any_cut
from careeval.results.study.results import StudyResults
from careeval.results.withheld import WITHHELD
from careeval.sheets.kinds import COUNT, FLAG, SIGNED
from careeval.sheets.sheet import Field, Row, Sheet
from careeval.sheets.study.kinds import AGREEMENT, DECIMALS, YEARS
from careeval.sheets.study.scenario_results import IN_ROLE, ROUND, SCALE, SUBJECT, named
from careeval.stats import Estimate

_RATER = Field("rater", "pseudonym")


def _who(rater: Rater) -> Row:
    return {"rater": rater.id, "role": rater.role.value}


# How far they agree

CUT = "≤ −1: an interval that is cut there, and says hardly anything of agreement."
"""What the mark of an interval means."""

_COEFFICIENTS = (
    Field("identical", "share of identical pairs", AGREEMENT, "Identical pairs"),
    Field("ac1", "Gwet's AC1", AGREEMENT, "Gwet’s AC1", "AC1"),
    Field("ac2", "Gwet's AC2", AGREEMENT, "Gwet’s AC2", "AC2"),
    Field("alpha", "Krippendorff's, ordinal", AGREEMENT, "Alpha, ordinal", "alpha"),
    Field("icc", "ICC(2,k) over what everybody rated", AGREEMENT, "ICC(2,k)", "ICC(2,k)"),
)
_RATED = (
    ROUND,
    SCALE,
    Field("n_subjects", "scenarios, or items, rated", COUNT, "Rated"),
    Field("n_raters", "who rated any of them", COUNT, "Raters"),
    Field("n_complete", "rated by every one of them: what the ICC rests on", COUNT, "Rated by all"),
)


def agreement_sheet(study: StudyResults) -> Sheet:
    """Return how far raters agree, a row a round and scale."""
    fields = (*_RATED, *_COEFFICIENTS)
    rows = [{field.key: getattr(each, field.key) for field in fields} for each in study.agreement]
    caption, note = "How far raters agree", CUT if any_cut(study.agreement) else ""
    return Sheet("agreement_by_scale", "a round and a scale", fields, rows, caption, note)


def coefficients_sheet(study: StudyResults) -> Sheet:
    """Return the same, a row a coefficient."""
    fields = (
        *_RATED,
        Field("coefficient", "; ".join(f"{each.key}: {each.holds}" for each in _COEFFICIENTS)),
        Field("value", "null where it is unknown", DECIMALS),
        Field(
            "ci95_low",
            "where its 95% interval over scenarios like these begins; cut at -1: read -1 as -1 or "
            "less",
            DECIMALS,
        ),
        Field("ci95_high", "where its 95% interval ends", DECIMALS),
        Field("reason", "why the value, or its interval, is unknown"),
    )
    rows = []
    for row in agreement_sheet(study).rows:
        for name in COEFFICIENTS:
            estimate: Estimate = row[name]
            low, high = estimate.ci95 or (None, None)
            numbers = {"value": estimate.value, "ci95_low": low, "ci95_high": high}
            reason = {"reason": estimate.reason or None}
            rows.append(row | {"coefficient": name} | numbers | reason)
    return Sheet("agreement", "a coefficient", fields, rows)


# Who they are


def panel_sheet(study: StudyResults) -> Sheet:
    """Return who was asked and who rated, a row a rater and round."""
    fields = (
        ROUND,
        _RATER,
        IN_ROLE,
        Field("n_asked", "scenarios that this rater was given", COUNT),
        Field("n_rated", "of them, rated on a scale at least", COUNT),
        Field("n_typed", "answers that somebody else typed for this rater", COUNT),
        Field("agreed", "whether this rater agreed to the terms", FLAG),
    )
    rows: list[Row] = []
    for each in study.rounds:
        rated = {(rating.rater, rating.subject.scenario) for rating in each.ratings}
        rows += [
            {
                "round": each.number,
                **_who(seat.rater),
                "n_asked": len(seat.scenarios),
                "n_rated": sum(rater == seat.rater for rater, _ in rated),
                "n_typed": seat.n_typed,
                "agreed": seat.agreed,
            }
            for seat in each.seats
        ]
    return Sheet("panel", "a rater in a round", fields, rows)


PANEL_COUNTS = (
    Field("n_invited", "who has a place in the study; not who withdrew", COUNT, "Invited"),
    Field("n_rated", "of them, who rated anything", COUNT, "Rated"),
    Field("n_agreed", "of those who rated, who agreed to the terms", COUNT, "Agreed"),
    Field(
        "n_asked", "scenarios that they were given, each in each round", COUNT, "Scenarios asked"
    ),
    Field("n_ratings", "ratings that they gave", COUNT, "Ratings given"),
    Field("n_typed", "answers that somebody else typed for them", COUNT, "Typed for them"),
)
"""What is counted of those of one role."""


def panel_roles_sheet(study: StudyResults) -> Sheet:
    """Return who was invited and who rated, a row a role."""
    fields = (
        IN_ROLE,
        *PANEL_COUNTS,
        Field("n_years", "who rated and gave years of experience; null below three", COUNT),
        Field("years_mean", "their mean", YEARS, "Years of experience", "years: mean"),
        Field("years_fewest", "the fewest; null below five, whom it might tell", COUNT),
        Field("years_most", "the most", COUNT),
        Field("reason", "why the years, or their range, are not known"),
    )
    rows = [_role(each) for each in study.panel]
    note = (
        "Years of those who rated and said how many: the mean of three or more people, the range "
        "of five or more."
    )
    caption = "Who was invited, and who rated"
    return Sheet("panel-roles", "those of one role, all rounds", fields, rows, caption, note)


def _role(role: RolePanel) -> Row:
    row = {"role": role.role.value} | {f.key: getattr(role, f.key) for f in PANEL_COUNTS}
    row["reason"] = role.why_no_years or role.why_no_range or None
    if years := role.years:
        row |= {"n_years": years.n, "years_mean": years.mean}
        row |= {"years_fewest": years.low, "years_most": years.high}
    return row


# What each of them gave


def ratings_sheet(study: StudyResults) -> Sheet:
    """Return each rating."""
    rows = [
        {**named(r.subject), "scale": r.scale.value, **_who(r.rater), "value": r.value}
        for each in study.rounds
        for r in each.ratings
    ]
    fields = (*SUBJECT, SCALE, _RATER, IN_ROLE, Field("value", "1 to 5", COUNT))
    return Sheet("ratings", "a rating", fields, rows)


def points_sheet(study: StudyResults) -> Sheet:
    """Return what each rater thinks of each item's points."""
    fields = (
        *SUBJECT,
        _RATER,
        IN_ROLE,
        Field("proposed", "the points that the rater was shown", SIGNED),
        Field("points", "the points that the rater would give; null is unsure", SIGNED),
        Field("objects", "whether they differ", FLAG),
    )
    rows = [named(v.subject) | view_row(v) for each in study.rounds for v in each.views]
    return Sheet("points", "a rater's view of an item's points", fields, rows)


def view_row(view: PointsView) -> Row:
    """Return what a rater thinks of an item's points."""
    points = {"proposed": view.proposed, "points": view.points, "objects": view.objects}
    return _who(view.rater) | points


_TOPIC = Field(
    "topic",
    "missing: from the list of items; country: what differs elsewhere; null: nothing in particular",
)


def comments_sheet(study: StudyResults) -> Sheet:
    """Return each comment."""
    text = Field("text", f"as it was typed; {WITHHELD} where the scenario is")
    rows = [named(c.subject) | comment_row(c) for each in study.rounds for c in each.comments]
    return Sheet("comments", "a comment", (*SUBJECT, _RATER, IN_ROLE, _TOPIC, text), rows)


def comment_row(comment: Comment) -> Row:
    """Return what a rater wrote."""
    return _who(comment.rater) | {"topic": comment.topic or None, "text": comment.text}
