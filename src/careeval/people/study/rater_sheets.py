"""Sheets of a study's raters: the panel, its agreement, and the single ratings and comments.

Raters appear with a pseudonym and a role. Comments are unchanged; comments on held-out scenarios
are withheld.
"""

from __future__ import annotations

from collections.abc import Iterator

from careeval.core.rating import Comment, PointsView, Rater
from careeval.core.text import counted
from careeval.people.study.results import COEFFICIENTS, RolePanel, StudyResults, any_cut
from careeval.people.study.round_ratings import FASTEST_READER
from careeval.people.study.sheets import (
    AGREEMENT,
    DECIMALS,
    IN_ROLE,
    ROUND,
    SCALE,
    SUBJECT,
    YEARS,
    subject_row,
)
from careeval.results.held_out_words import WITHHELD
from careeval.sheets.kinds import COUNT, FLAG, SIGNED
from careeval.sheets.sheet import Field, Row, Sheet
from careeval.stats.estimate import Estimate

_RATER = Field("rater", "pseudonym of the rater")

TOO_FAST = f"faster than {FASTEST_READER} words a minute"
"""The pace of ratings that were given too fast to have read what is rated."""


def _rater_row(rater: Rater) -> Row:
    return {"rater": rater.id, "role": rater.role.value}


# Agreement

CUT_OFF_NOTE = "≤ −1: the interval is cut off at −1, and says hardly anything about agreement."
"""Note on "≤ −1" in an interval."""

_COEFFICIENTS = (
    Field("identical", "share of identical pairs", AGREEMENT, "Identical pairs"),
    Field("ac1", "Gwet's AC1", AGREEMENT, "Gwet’s AC1", "AC1"),
    Field("ac2", "Gwet's AC2", AGREEMENT, "Gwet’s AC2", "AC2"),
    Field("alpha", "Krippendorff's, ordinal", AGREEMENT, "Alpha, ordinal", "alpha"),
    Field("icc", "ICC(2,k) over the n_complete", AGREEMENT, "ICC(2,k)", "ICC(2,k)"),
)
_RATED = (
    ROUND,
    SCALE,
    Field("n_subjects", "scenarios, or items, rated", COUNT, "Rated"),
    Field("n_raters", "raters who rated any of them", COUNT, "Raters"),
    Field("n_complete", "scenarios, or items, that all of them rated", COUNT, "Rated by all"),
)


def agreement_sheet(study: StudyResults) -> Sheet:
    """Return a sheet of how far raters agree, by round and scale."""
    fields = (*_RATED, *_COEFFICIENTS)
    rows = [{field.key: getattr(each, field.key) for field in fields} for each in study.agreement]
    caption, note = "How far raters agree", CUT_OFF_NOTE if any_cut(study.agreement) else ""
    return Sheet("agreement_by_scale", "a round and a scale", fields, rows, caption, note)


def coefficients_sheet(study: StudyResults) -> Sheet:
    """Return `agreement_sheet` in long form: a row for each round, scale and coefficient."""
    fields = (
        *_RATED,
        Field("coefficient", "; ".join(f"{each.key}: {each.holds}" for each in _COEFFICIENTS)),
        Field("value", "the coefficient; null if unknown", DECIMALS),
        Field(
            "ci95_low",
            "lower end of its 95% interval over scenarios like these; -1 means -1 or less",
            DECIMALS,
        ),
        Field("ci95_high", "upper end of its 95% interval", DECIMALS),
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


# The panel


def panel_sheet(study: StudyResults) -> Sheet:
    """Return a sheet of raters by round: how many scenarios each was asked and has rated."""
    fields = (
        ROUND,
        _RATER,
        IN_ROLE,
        Field("n_asked", "scenarios that this rater was given", COUNT),
        Field("n_rated", "of n_asked, those rated on at least one scale", COUNT),
        Field("n_typed", "answers that somebody else typed for this rater", COUNT),
        Field("n_too_fast", f"scenarios that this rater rated {TOO_FAST}", COUNT),
        Field("n_untimed", "scenarios that this rater rated in an unknown time", COUNT),
        Field("agreed", "whether this rater agreed to the terms", FLAG),
    )
    rows: list[Row] = []
    for each in study.rounds:
        rated = {(rating.rater, rating.subject.scenario) for rating in each.ratings}
        rows += [
            {
                "round": each.number,
                **_rater_row(seat.rater),
                "n_asked": len(seat.scenarios),
                "n_rated": sum(rater == seat.rater for rater, _ in rated),
                "n_typed": seat.n_typed,
                "n_too_fast": len(seat.too_fast),
                "n_untimed": len(seat.untimed),
                "agreed": seat.agreed,
            }
            for seat in each.seats
        ]
    return Sheet("panel", "a rater in a round", fields, rows)


PANEL_COUNTS = (
    Field("n_invited", "raters in the study, without those who withdrew", COUNT, "Invited"),
    Field("n_rated", "of n_invited, those who rated anything", COUNT, "Rated"),
    Field("n_agreed", "of n_rated, those who agreed to the terms", COUNT, "Agreed"),
    Field("n_asked", "scenarios given to them, counted in each round", COUNT, "Scenarios asked"),
    Field("n_ratings", "ratings that they gave", COUNT, "Ratings given"),
    Field("n_typed", "answers that somebody else typed for them", COUNT, "Typed for them"),
    Field("n_too_fast", f"scenarios that they rated {TOO_FAST}", COUNT, "Too fast"),
    Field("n_untimed", "scenarios that they rated in an unknown time", COUNT, "Time unknown"),
)
"""The counts of the raters of one role."""


def pace_notes(study: StudyResults) -> Iterator[str]:
    """Yield who rated too fast and whether it counts, then how often the time is unknown."""
    fast = [
        f"{seat.rater.id} {len(seat.too_fast)} of {len(seat.scenarios)}"
        f"{f' in round {each.number}' if len(study.rounds) > 1 else ''}"
        for each in study.rounds
        for seat in each.seats
        if seat.too_fast
    ]
    if fast:
        scenarios = counted(study.n_too_fast, "scenario was", "scenarios were")
        counts = "these ratings are left out" if study.without_fast else "these ratings count"
        yield f"{scenarios} rated {TOO_FAST} ({', '.join(fast)}): {counts}."
    if study.n_untimed:
        n = counted(study.n_untimed, "scenario was", "scenarios were")
        yield f"{n} rated in an unknown time; these ratings count."


def panel_roles_sheet(study: StudyResults) -> Sheet:
    """Return a sheet with a row for each role: counts of raters and ratings, and experience."""
    fields = (
        IN_ROLE,
        *PANEL_COUNTS,
        Field("n_years", "of n_rated, those who gave years of experience; null below 3", COUNT),
        Field("years_mean", "mean of the years", YEARS, "Years of experience", "years: mean"),
        Field("years_fewest", "fewest years; null below 5 raters, to protect them", COUNT),
        Field("years_most", "most years; null below 5 raters", COUNT),
        Field("reason", "why the years, or their range, are not given"),
    )
    rows = [_role_row(role) for role in study.panel]
    note = (
        "Years of those who rated and said how many: the mean of three or more people, the range "
        "of five or more."
    )
    caption = "Who was invited, and who rated"
    return Sheet("panel-roles", "those of one role, all rounds", fields, rows, caption, note)


def _role_row(role: RolePanel) -> Row:
    row = {"role": role.role.value} | {f.key: getattr(role, f.key) for f in PANEL_COUNTS}
    row["reason"] = role.why_no_years or role.why_no_range or None
    if years := role.years:
        row |= {"n_years": years.n, "years_mean": years.mean}
        row |= {"years_fewest": years.low, "years_most": years.high}
    return row


# Ratings and comments


def ratings_sheet(study: StudyResults) -> Sheet:
    """Return a sheet of single ratings, a row each."""
    rows = [
        {
            **subject_row(r.subject),
            "scale": r.scale.value,
            **_rater_row(r.rater),
            "value": r.value,
            "too_fast": each.is_too_fast(r.rater, r.subject.scenario),
        }
        for each in study.rounds
        for r in each.ratings
    ]
    value = Field("value", "1 to 5", COUNT)
    fast = Field("too_fast", f"whether it was given {TOO_FAST}; null if the time is unknown", FLAG)
    fields = (*SUBJECT, SCALE, _RATER, IN_ROLE, value, fast)
    return Sheet("ratings", "a rating", fields, rows)


def points_sheet(study: StudyResults) -> Sheet:
    """Return a sheet of what raters think of the points of items."""
    fields = (
        *SUBJECT,
        _RATER,
        IN_ROLE,
        Field("proposed", "the points that the rater was shown", SIGNED),
        Field("points", "the points that the rater would give; null if unsure", SIGNED),
        Field("objects", "whether these differ", FLAG),
    )
    rows = [subject_row(v.subject) | view_row(v) for each in study.rounds for v in each.views]
    return Sheet("points", "a rater's view of an item's points", fields, rows)


def view_row(view: PointsView) -> Row:
    """Return a row of what one rater thinks of the points of an item."""
    points = {"proposed": view.proposed, "points": view.points, "objects": view.objects}
    return _rater_row(view.rater) | points


_TOPIC = Field(
    "topic",
    "missing: an item is missing; country: something differs in another country; null: no topic",
)


def comments_sheet(study: StudyResults) -> Sheet:
    """Return a sheet of comments, a row each."""
    text = Field("text", f"as it was typed; {WITHHELD} if the scenario is withheld")
    rows = [subject_row(c.subject) | comment_row(c) for each in study.rounds for c in each.comments]
    return Sheet("comments", "a comment", (*SUBJECT, _RATER, IN_ROLE, _TOPIC, text), rows)


def comment_row(comment: Comment) -> Row:
    """Return a rater's comment, as a row."""
    return _rater_row(comment.rater) | {"topic": comment.topic or None, "text": comment.text}
