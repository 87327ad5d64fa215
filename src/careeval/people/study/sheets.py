"""Sheets of a study: decisions on scenarios, ratings of scenarios and items; kinds of values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import polars as pl

from careeval.core.rating import Role, Scale, Subject
from careeval.core.text import signed
from careeval.errors import StatsError
from careeval.people.study.decisions import (
    LEVELS,
    OF_SCENARIO,
    Decision,
    ItemResult,
    RoleRatings,
    ScaleRatings,
    ScenarioResult,
)
from careeval.people.study.results import (
    DESCRIBES,
    PAPER_RATERS,
    TRUE_SHARES,
    StudyResults,
    chance_of_passing,
)
from careeval.sheets.kinds import (
    COUNT,
    DASH,
    FLAG,
    SHARE,
    SIGNED,
    TWO_DECIMALS,
    WORD_LIST,
    Form,
    Kind,
    StoredColumn,
    Unit,
    estimate_kind,
    list_kind,
    number_kind,
    text_kind,
)
from careeval.sheets.sheet import Field, Row, Sheet
from careeval.stats.agreement import LOWEST_END
from careeval.stats.estimate import Estimate
from careeval.stats.validity import MIN_RATERS, AikenV, Endorsement

UNDECIDED = "undecided"
"""Stands for no decision, because too few have rated; files have null."""

DECISIONS: Mapping[str, str] = {
    Decision.keep: "Keep",
    Decision.revise: "Revise",
    Decision.drop: "Drop",
    UNDECIDED: "Undecided",
}

ROLES: Mapping[str, str] = {
    Role.occupational_therapist: "occupational therapist",
    Role.family_caregiver: "family caregiver",
    Role.person_with_disability: "person with a disability",
    Role.nurse: "nurse",
    Role.roboticist: "roboticist",
    Role.other: "other",
}

ROLE = text_kind(ROLES)
WHEN = text_kind({"before": "round 1, all", "after": "last, not dropped"})
INTEGERS = list_kind(pl.Int64)
DECIMALS = number_kind(TWO_DECIMALS)
YEARS = number_kind(Unit(1, "", 1))
DECIDED = replace(
    text_kind(DECISIONS),
    store=lambda value: (None if value == UNDECIDED else str(value),),
)


def _why(result: ScenarioResult, _: Form) -> str:
    """Return the reasons, then two of the things to read and the number of further ones."""
    more = len(result.to_read) - 2
    last = [f"and {more} more to read"] if more > 0 else []
    return "; ".join([*result.reasons, *result.to_read[:2], *last])


WHY = Kind(write=_why, is_number=False, is_long=True)
POINTS_LIST = Kind(
    write=lambda points, _: ", ".join(map(signed, points)) or "none", is_number=False
)


# Counts of raters


def _ends(interval: tuple[float, float], between: str = " to ") -> str:
    """Return both ends of an interval as text; a lower end of −1, a cut-off, as "≤ −1"."""
    low, high = interval
    first = "≤ −1" if low <= LOWEST_END else TWO_DECIMALS.text(low)
    return f"{first}{between}{TWO_DECIMALS.text(high)}"


def _rater_share(value: Endorsement | AikenV, form: Form) -> str:
    if form is Form.of_many and isinstance(value, Endorsement):
        return f"{value.k}/{value.n}"
    share = TWO_DECIMALS.text(value.value)
    return share if form is Form.bare else f"{share} [{_ends(value.interval, ', ')}]"


SHARE_OF_RATERS = Kind(
    (
        StoredColumn("", pl.Float64),
        StoredColumn("_ci95_low", pl.Float64, "lower end of its 95% interval"),
        StoredColumn("_ci95_high", pl.Float64, "upper end of its 95% interval"),
    ),
    _rater_share,
    lambda value: (value.value, *value.interval),
    order=lambda value: value.value,
    lines=lambda value: (_ends(value.interval),),
)
"""The share of raters who endorse, also as a count, or Aiken's V; with its interval."""
SHARE_ALONE = replace(
    SHARE_OF_RATERS, stored=SHARE_OF_RATERS.stored[:1], store=lambda value: (value.value,)
)


def _endorsed(value: ScaleRatings, form: Form) -> str:
    """Return the number who endorse, with an asterisk if the other cut decides otherwise.

    Unless the form is `bare`, the number at the other cut and Aiken's V follow.
    """
    if value.at_cut is None or value.at_other is None:
        return DASH
    count, other = (SHARE_ALONE.text(e, Form.of_many) for e in (value.at_cut, value.at_other))
    count += "*" if value.cut_sensitive else ""
    v = TWO_DECIMALS.text(value.aiken.value if value.aiken else None)
    return count if form is Form.bare else f"{count} ({other}) {v}"


def _role_lines(value: RoleRatings) -> tuple[str, ...]:
    """Return the ratings of fewer than three raters; of more raters, the interval."""
    if value.endorsed.n < MIN_RATERS:
        return f"gave {', '.join(map(str, value.values))}", f"lowest {value.lowest}"
    alone = {True: ("passes alone",), False: ("does not pass alone",), None: ()}
    return _ends(value.endorsed.interval), *alone[value.passes]


def _coefficient_lines(value: Estimate) -> tuple[str, ...]:
    if value.ci95 is not None:
        return (_ends(value.ci95),)
    if value.value is None:
        return (value.reason,)
    return () if value.reason == DESCRIBES else (f"no interval: {value.reason}",)


ENDORSED = Kind(
    write=_endorsed,
    order=lambda value: value.at_cut.value if value.at_cut else None,
    lines=lambda value: () if value.at_cut else (value.reason,),
    unit=lambda form: "" if form is Form.bare else " k/n (other cut) V",
)
OF_ROLE = Kind(
    write=lambda value, _: SHARE_ALONE.text(value.endorsed, Form.of_many),
    order=lambda value: value.endorsed.value,
    lines=_role_lines,
    if_missing="not rated",
)
AGREEMENT = replace(
    estimate_kind(TWO_DECIMALS, ends=lambda interval: _ends(interval, ", ")),
    lines=_coefficient_lines,
)
"""A coefficient of agreement; a lower end cut off at −1 is written "≤ −1"."""


ROUND = Field("round", "of the study, from 1", COUNT)
SCENARIO = (
    ROUND,
    Field("scenario", "id of the scenario"),
    Field("version", "version of the scenario that was rated", COUNT),
)
SUBJECT = (
    *SCENARIO,
    Field("rubric", "rubric of an item, ladder or actions; null for a scenario"),
    Field(
        "item",
        "id of an item, or its position if the scenario is held out, such as a1 or r1; null for a "
        "scenario",
    ),
)
SCALE = Field("scale", "realism or validity of a scenario, or relevance of an item")
IN_ROLE = Field("role", "role of the rater", ROLE)
_TEXT = Field("text", "text that raters read; null if it is held out, or no bank has it")


def subject_row(subject: Subject) -> Row:
    """Return a row of the fields `SUBJECT`: round and id of a scenario or an item."""
    return {
        "round": subject.round,
        "scenario": subject.scenario,
        "version": subject.version,
        "rubric": subject.rubric and subject.rubric.value,
        "item": subject.item or None,
    }


def decisions_sheet(study: StudyResults, results: Iterable[ScenarioResult]) -> Sheet:
    """Return a sheet of the decisions on scenarios, in the order given."""
    fields = (
        *SCENARIO,
        Field("latest", "whether this is the scenario's newest round", FLAG),
        _TEXT,
        Field("decision", "keep, revise or drop; null if too few rated it", DECIDED),
        Field("reasons", "why it is not kept", WORD_LIST),
        Field("to_read", "low ratings and objections to read, whatever the decision", WORD_LIST),
        Field(
            "n_lacking",
            "raters who lack a fact that would change what is right; null if none said",
            COUNT,
            "Lack a fact",
        ),
        Field("n_comments", "comments on the scenario and its items", COUNT, "Comments"),
        *(Field(scale, "raters who endorse it", ENDORSED, in_files=False) for scale in OF_SCENARIO),
        Field(
            "why", "reasons and what to read", WHY, "Why, and what to read first", in_files=False
        ),
    )
    rows = [
        {
            **subject_row(result.subject),
            "latest": result in study.latest,
            "text": result.text or None,
            "decision": result.decision or UNDECIDED,
            "reasons": result.reasons,
            "to_read": result.to_read,
            "n_lacking": result.n_lacking,
            "n_comments": result.n_comments,
            **{judged.scale.value: judged for judged in result.judged},
            "why": result,
        }
        for result in results
    ]
    return Sheet("decisions", "a scenario in a round", fields, rows, "Scenarios")


def validity_sheet(results: Iterable[ScenarioResult], *, items: bool = True) -> Sheet:
    """Return a sheet of ratings by scale: of scenarios and, unless left out, of items."""
    fields = (
        *SUBJECT,
        _TEXT,
        SCALE,
        Field("n_asked", "raters who were asked to rate it", COUNT),
        Field("n", "raters who rated it", COUNT),
        *(Field(f"n_{level}", f"raters who gave {level}", COUNT) for level in LEVELS),
        Field("k", "raters who endorse it at the declared cut", COUNT),
        Field("i_cvi", "k / n, with an exact interval (Clopper-Pearson)", SHARE_OF_RATERS, "I-CVI"),
        Field("k_other", "raters who endorse it at the other cut", COUNT),
        Field("i_cvi_other", "k_other / n", SHARE_ALONE, "At the other cut"),
        Field(
            "i_cvi_strict",
            "k / n_asked: a missing rating counts as no endorsement",
            SHARE_ALONE,
            "Strict",
        ),
        Field(
            "modified_kappa",
            "the I-CVI less chance (Polit, Beck and Owen 2007); null below three raters",
            DECIMALS,
        ),
        Field(
            "aiken_v",
            "Aiken's V, which needs no cut, with its interval (Penfield and Giacobbi 2004); null "
            "below three raters",
            SHARE_OF_RATERS,
            "Aiken’s V",
        ),
        Field("passes", "whether it passes the rule; null if the rule does not decide", FLAG),
        Field(
            "cut_sensitive",
            "whether the other cut would decide otherwise",
            FLAG,
            "Changes at the other cut",
        ),
        Field("reason", "why passes is null, and so are numbers that need as many raters"),
    )
    rows = [
        _validity_row(judged, text)
        for result in results
        for judged, text in _judged(result, items=items)
    ]
    caption = "Every number of every scenario"
    note = "Strict: the share of all raters asked; a missing rating counts as no endorsement."
    return Sheet("validity", "a scenario or an item on a scale", fields, rows, caption, note)


def _judged(result: ScenarioResult, *, items: bool = True) -> Iterator[tuple[ScaleRatings, str]]:
    """Yield the ratings of a scenario and of its items on each scale, with the text rated."""
    yield from ((judged, result.text) for judged in result.judged)
    if items:
        yield from ((i.relevance, i.text) for i in result.items if i.relevance.ratings)


def _validity_row(judged: ScaleRatings, text: str) -> Row:
    return {
        **subject_row(judged.subject),
        "text": text or None,
        "scale": judged.scale.value,
        "n_asked": judged.n_asked,
        "n": len(judged.ratings),
        **{f"n_{level}": n for level, n in zip(LEVELS, judged.counts, strict=True)},
        "k": judged.at_cut and judged.at_cut.k,
        "i_cvi": judged.at_cut,
        "k_other": judged.at_other and judged.at_other.k,
        "i_cvi_other": judged.at_other,
        "i_cvi_strict": judged.strict,
        "modified_kappa": judged.kappa,
        "aiken_v": judged.aiken,
        "passes": judged.passes,
        "cut_sensitive": judged.cut_sensitive,
        "reason": judged.reason or None,
    }


def roles_sheet(results: Iterable[ScenarioResult]) -> Sheet:
    """Return a sheet of ratings by role: a row for each scenario or item, scale and role."""
    fields = (
        *SUBJECT,
        SCALE,
        IN_ROLE,
        Field("k", "of n, raters who endorse it at the declared cut", COUNT),
        Field("n", "raters of this role who rated it", COUNT),
        Field("ratings", "their ratings, ascending", INTEGERS),
        Field("lowest", "lowest of the ratings", COUNT),
        Field(
            "passes",
            "whether it passes the rule by three or more occupational therapists; for others null",
            FLAG,
        ),
    )
    rows = [
        {
            **subject_row(judged.subject),
            "scale": judged.scale.value,
            "role": ratings.role.value,
            "k": ratings.endorsed.k,
            "n": ratings.endorsed.n,
            "ratings": ratings.values,
            "lowest": ratings.lowest,
            "passes": ratings.passes,
        }
        for result in results
        for judged, _ in _judged(result)
        for ratings in judged.by_role
    ]
    return Sheet("roles", "a scenario or an item on a scale, rated by one role", fields, rows)


def across_roles_sheet(study: StudyResults, scale: Scale) -> Sheet:
    """Return a sheet of the ratings of each scenario on one scale, with a column per role."""
    roles = [panel.role for panel in study.panel if panel.n_rated]
    fields = (
        Field(role, "ratings by this role", OF_ROLE, ROLES[role].capitalize()) for role in roles
    )
    rows = [
        subject_row(result.subject) | {ratings.role.value: ratings for ratings in judged.by_role}
        for result in study.latest
        for judged in result.judged
        if judged.scale is scale
    ]
    caption = f"{scale.capitalize()}, by role"
    return Sheet(f"{scale}_by_role", "a scenario", (*SCENARIO, *fields), rows, caption)


def rated_items_sheet(results: Iterable[ScenarioResult]) -> Sheet:
    """Return a sheet with a row for each item: relevance, views on its points, and comments."""
    fields = (
        *SUBJECT,
        Field("words", "text of the item; its name if the text is held out", head="Item"),
        Field("relevance", "raters who endorse it", ENDORSED, "Relevance k/n"),
        Field("aiken_v", "Aiken's V of its relevance", SHARE_ALONE, "Aiken’s V"),
        Field("proposed", "points that raters were shown", SIGNED, "Points proposed"),
        Field("n_agree", "raters who would give these points", COUNT, "Agree"),
        Field("would_give", "points that others would give", POINTS_LIST),
        Field("n_unsure", "raters who are unsure", COUNT, "Unsure"),
        Field("n_comments", "comments on it", COUNT, "Comments"),
    )
    rows = [_rated_item(item) for result in results for item in result.items]
    return Sheet("rated_items", "an item", fields, rows, "Every item with a rating or a comment")


def _rated_item(item: ItemResult) -> Row:
    n_unsure = sum(view.points is None for view in item.views)
    others = sorted(v.points for v in item.objections if v.points is not None)
    return {
        **subject_row(item.subject),
        "words": item.text or item.name,
        "name": item.name if item.text else "",
        "relevance": item.relevance,
        "aiken_v": item.relevance.aiken,
        "reason": item.relevance.reason,
        "proposed": item.views[0].proposed if item.views else None,
        "n_agree": len(item.views) - n_unsure - len(item.objections) if item.views else None,
        "would_give": others if item.views else None,
        "n_unsure": n_unsure if item.views else None,
        "n_comments": len(item.comments),
    }


def scales_sheet(study: StudyResults) -> Sheet:
    """Return a sheet of scales: content validity over all scenarios, before and after revision."""
    fields = (
        SCALE,
        Field("when", "before: round 1; after: as last rated, without those dropped", WHEN),
        Field("n", "scenarios, or items, that somebody rated", COUNT, "n"),
        Field("n_pass", "of n, those that pass the rule", COUNT, "Pass"),
        Field("s_cvi_ave", "mean of their I-CVIs", DECIMALS, "S-CVI/Ave", "S-CVI/Ave"),
        Field("s_cvi_ua", "share that every rater endorses", DECIMALS, "S-CVI/UA", "S-CVI/UA"),
    )
    rows = [
        {"scale": scale.scale.value, "when": when, "n": s_cvi.n, "n_pass": s_cvi.n_pass}
        | {"s_cvi_ave": s_cvi.ave, "s_cvi_ua": s_cvi.ua}
        for scale in study.scales
        for when, s_cvi in (("before", scale.before), ("after", scale.after))
    ]
    note = (
        "After scenarios with low ratings are dropped or revised, the average is higher by that "
        "selection alone. S-CVI/UA falls as raters are added, so it describes a panel and is no "
        "threshold. For S-CVI/Ave, the usual threshold is .90."
    )
    caption = "The scales over all scenarios"
    return Sheet("scales", "a scale, before or after revision", fields, rows, caption, note)


def power_sheet(study: StudyResults) -> Sheet:
    """Return a sheet: for each panel size, the chance that a scale passes the rule."""
    fields = (
        Field("n", "number of raters", COUNT, "Raters"),
        Field("needed", "number of raters who must endorse", SHARE_ALONE),
        *(
            Field(f"if_{share}", "chance that it passes", SHARE, f"{share:.0%} would endorse")
            for share in TRUE_SHARES
        ),
    )
    rows = [_power_row(study, n) for n in sorted({*study.panel_sizes, PAPER_RATERS})]
    caption = "Chance that a scale passes, by the share of all such raters who would endorse it"
    note = "If raters are drawn at random and rate independently."
    return Sheet("power", "a size of panel", fields, rows, caption, note)


def _power_row(study: StudyResults, n: int) -> Row:
    rule = study.terms.rule
    try:
        needed = Endorsement(rule.min_endorsements(n), n)
    except StatsError as error:
        return {"n": n, "reason": str(error)}
    chances = {f"if_{share}": chance_of_passing(n, share, rule) for share in TRUE_SHARES}
    return {"n": n, "needed": needed, **chances}
