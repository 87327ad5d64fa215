"""Sheets of a study: what becomes of scenarios, and what raters gave them and their items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from careeval.core.rating import Scale, Subject
from careeval.errors import StatsError
from careeval.results.study.results import (
    PAPER_RATERS,
    TRUE_SHARES,
    StudyResults,
    chance_of_passing,
)
from careeval.results.study.scale_ratings import LEVELS, Judged
from careeval.results.study.scenario_decisions import OF_SCENARIO, ItemResult, ScenarioResult
from careeval.sheets.kinds import COUNT, FLAG, SHARE, SIGNED, WORD_LIST
from careeval.sheets.sheet import Field, Row, Sheet
from careeval.sheets.study.kinds import (
    DECIDED,
    DECIMALS,
    ENDORSED,
    INTEGERS,
    OF_ROLE,
    POINTS_LIST,
    ROLE,
    ROLES,
    SHARE_ALONE,
    SHARE_OF_RATERS,
    UNDECIDED,
    WHEN,
    WHY,
)
from careeval.stats.validity import Endorsement

ROUND = Field("round", "of the study, from 1", COUNT)
SCENARIO = (
    ROUND,
    Field("scenario", "id of the scenario"),
    Field("version", "of the scenario, as it was rated", COUNT),
)
SUBJECT = (
    *SCENARIO,
    Field("rubric", "ladder or actions; null where the scenario itself is meant"),
    Field(
        "item",
        "id of the item, of a held-out scenario its place: a1, r1; null where the scenario itself "
        "is meant",
    ),
)
SCALE = Field("scale", "realism, validity or, of an item, relevance")
IN_ROLE = Field("role", "in which capacity", ROLE)
_TEXT = Field("text", "what raters read; null where it is held out, or no bank has it")


def named(subject: Subject) -> Row:
    """Return what names a scenario or an item, under the fields `SUBJECT`."""
    return {
        "round": subject.round,
        "scenario": subject.scenario,
        "version": subject.version,
        "rubric": subject.rubric and subject.rubric.value,
        "item": subject.item or None,
    }


def decisions_sheet(study: StudyResults, results: Iterable[ScenarioResult]) -> Sheet:
    """Return what becomes of scenarios, in the order given."""
    fields = (
        *SCENARIO,
        Field("latest", "whether this is the scenario's newest round", FLAG),
        _TEXT,
        Field("decision", "keep, revise or drop; null where too few rated it", DECIDED),
        Field("reasons", "why it is not kept", WORD_LIST),
        Field("to_read", "what somebody must read, whatever is decided", WORD_LIST),
        Field(
            "n_lacking",
            "raters who lack a fact that would change what is right",
            COUNT,
            "Lack a fact",
        ),
        Field("n_comments", "on the scenario and its items", COUNT, "Comments"),
        *(Field(scale, "how many endorse it", ENDORSED, in_files=False) for scale in OF_SCENARIO),
        Field("why", "both", WHY, "Why, and what to read first", in_files=False),
    )
    rows = [
        {
            **named(result.subject),
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
    """Return what raters gave scenarios, and items unless left out, on each scale."""
    fields = (
        *SUBJECT,
        _TEXT,
        SCALE,
        Field("n_asked", "raters who were to rate it", COUNT),
        Field("n", "raters who did", COUNT),
        *(Field(f"n_{level}", f"of them, gave {level}", COUNT) for level in LEVELS),
        Field("k", "of them, endorse it at the declared cut", COUNT),
        Field("i_cvi", "k / n, with an exact interval (Clopper-Pearson)", SHARE_OF_RATERS, "I-CVI"),
        Field("k_other", "endorse it at the other cut", COUNT),
        Field("i_cvi_other", "k_other / n", SHARE_ALONE, "At the other cut"),
        Field(
            "i_cvi_strict", "k / n_asked: a missing rating endorses nothing", SHARE_ALONE, "Strict"
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
        Field("passes", "what the rule says; null where it says nothing", FLAG),
        Field(
            "cut_sensitive",
            "whether the other cut would decide otherwise",
            FLAG,
            "Changes at the other cut",
        ),
        Field("reason", "why nothing is decided"),
    )
    rows = [
        _validity(judged, text)
        for result in results
        for judged, text in _judged(result, items=items)
    ]
    caption = "Every number of every scenario"
    note = "Strict: of all who were asked, a missing rating taken as no endorsement."
    return Sheet("validity", "a scenario or an item on a scale", fields, rows, caption, note)


def _judged(result: ScenarioResult, *, items: bool = True) -> Iterator[tuple[Judged, str]]:
    """Yield what was judged, with its words."""
    yield from ((judged, result.text) for judged in result.judged)
    if items:
        yield from ((i.relevance, i.text) for i in result.items if i.relevance.ratings)


def _validity(judged: Judged, text: str) -> Row:
    return {
        **named(judged.subject),
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
    """Return what those of each role gave scenarios and items, a row a role."""
    fields = (
        *SUBJECT,
        SCALE,
        IN_ROLE,
        Field("k", "of them, endorse it at the declared cut", COUNT),
        Field("n", "of this role, rated it", COUNT),
        Field("ratings", "their ratings, ascending", INTEGERS),
        Field("lowest", "the lowest of them", COUNT),
        Field("passes", "of three occupational therapists or more; of others null", FLAG),
    )
    rows = [
        {
            **named(judged.subject),
            "scale": judged.scale.value,
            "role": given.role.value,
            "k": given.endorsed.k,
            "n": given.endorsed.n,
            "ratings": given.values,
            "lowest": given.lowest,
            "passes": given.passes,
        }
        for result in results
        for judged, _ in _judged(result)
        for given in judged.by_role
    ]
    return Sheet("roles", "those of one role, on the same", fields, rows)


def across_roles_sheet(study: StudyResults, scale: Scale) -> Sheet:
    """Return what each role gave each scenario on one of its scales, a column a role."""
    present = [each.role for each in study.panel if each.n_rated]
    fields = (Field(role, "of it", OF_ROLE, ROLES[role].capitalize()) for role in present)
    rows = [
        named(result.subject) | {given.role.value: given for given in judged.by_role}
        for result in study.latest
        for judged in result.judged
        if judged.scale is scale
    ]
    caption = f"{scale.capitalize()}, by role"
    return Sheet(f"{scale}_by_role", "a scenario", (*SCENARIO, *fields), rows, caption)


def rated_items_sheet(results: Iterable[ScenarioResult]) -> Sheet:
    """Return what raters say of items: relevance, points and comments in one row."""
    fields = (
        *SUBJECT,
        Field("words", "the item; its name where the words may not be shown", head="Item"),
        Field("relevance", "how many endorse it", ENDORSED, "Relevance k/n"),
        Field("aiken_v", "Aiken's V of its relevance", SHARE_ALONE, "Aiken’s V"),
        Field("proposed", "points that raters were shown", SIGNED, "Points proposed"),
        Field("n_agree", "raters who would give these", COUNT, "Agree"),
        Field("would_give", "points that others would give", POINTS_LIST),
        Field("n_unsure", "raters who are unsure", COUNT, "Unsure"),
        Field("n_comments", "comments on it", COUNT, "Comments"),
    )
    rows = [_rated_item(item) for result in results for item in result.items]
    return Sheet("rated_items", "an item", fields, rows, "Every item that was rated or spoken of")


def _rated_item(item: ItemResult) -> Row:
    n_unsure = sum(view.points is None for view in item.views)
    return {
        **named(item.subject),
        "words": item.text or item.name,
        "name": item.name if item.text else "",
        "relevance": item.relevance,
        "aiken_v": item.relevance.aiken,
        "proposed": item.views[0].proposed if item.views else None,
        "n_agree": len(item.views) - n_unsure - len(item.objections),
        "would_give": sorted(v.points for v in item.objections if v.points is not None),
        "n_unsure": n_unsure,
        "n_comments": len(item.comments),
    }


def scales_sheet(study: StudyResults) -> Sheet:
    """Return each scale over all scenarios, before and after revision."""
    fields = (
        SCALE,
        Field("when", "before: round 1; after: as last rated, without those dropped", WHEN),
        Field("n", "scenarios, or items, that somebody rated", COUNT, "n"),
        Field("n_pass", "those that the rule keeps", COUNT, "Pass"),
        Field("s_cvi_ave", "mean of their I-CVIs", DECIMALS, "S-CVI/Ave", "S-CVI/Ave"),
        Field("s_cvi_ua", "share that every rater endorses", DECIMALS, "S-CVI/UA", "S-CVI/UA"),
    )
    rows = [
        {"scale": each.scale.value, "when": when, "n": s_cvi.n, "n_pass": s_cvi.n_pass}
        | {"s_cvi_ave": s_cvi.ave, "s_cvi_ua": s_cvi.ua}
        for each in study.scales
        for when, s_cvi in (("before", each.before), ("after", each.after))
    ]
    note = (
        "After scenarios are dropped or revised for low ratings, the average is higher by that "
        "selection alone. S-CVI/UA falls as raters are added: it describes a panel, and is no "
        "threshold. For S-CVI/Ave, .90 is usual."
    )
    caption = "The scales over all scenarios"
    return Sheet("scales", "a scale, before or after revision", fields, rows, caption, note)


def power_sheet(study: StudyResults) -> Sheet:
    """Return how often a scale passes by chance, a row a size of panel."""
    fields = (
        Field("n", "raters", COUNT, "Raters"),
        Field("needed", "how many of them must endorse", SHARE_ALONE),
        *(
            Field(f"if_{share}", "chance that it passes", SHARE, f"{share:.0%} would endorse")
            for share in TRUE_SHARES
        ),
    )
    rows = [_power(study, n) for n in sorted({*study.panel_sizes, PAPER_RATERS})]
    caption = "How often one scale passes, by how many of all such raters would endorse it"
    note = "Raters taken as drawn at random, and rating on their own."
    return Sheet("power", "a size of panel", fields, rows, caption, note)


def _power(study: StudyResults, n: int) -> Row:
    rule = study.terms.rule
    try:
        needed = Endorsement(rule.least(n), n)
    except StatsError as error:
        return {"n": n, "reason": str(error)}
    chances = {f"if_{share}": chance_of_passing(n, share, rule) for share in TRUE_SHARES}
    return {"n": n, "needed": needed, **chances}
