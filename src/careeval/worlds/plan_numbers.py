"""The tables of plans: by answer of the person, by kind of danger, and between conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from careeval import scoring
from careeval.core.scenario import Rubric
from careeval.results.care import any_rate
from careeval.results.conditions import (
    FIRST,
    NO_PLANS,
    condition_pairs,
    knowledge,
    sight,
)
from careeval.results.entry import Entry
from careeval.results.metrics import BETWEEN_CONDITIONS, PLANS
from careeval.results.plans import ANY
from careeval.results.tables import condition_text
from careeval.sheets.entries import ENTRY, GRADER_NAME, NAME, FurtherTable, metric_field, with_names
from careeval.sheets.kinds import (
    COUNT,
    DASH,
    DIFFERENCE,
    ESTIMATE,
    P_VALUE,
    SHARE,
    SIGNED,
    text_kind,
)
from careeval.sheets.sheet import Field, Row, Sheet
from careeval.sheets.words import ANSWERS
from careeval.worlds.world import KINDS, DangerKind

_ENTRY = (*ENTRY, NAME, GRADER_NAME)


def plan_tables(entries: Sequence[Entry]) -> list[FurtherTable]:
    """Return the tables of the entries on the rubric `plan`, without those that have no row."""
    on_plans = [(names, s) for names, s in with_names(entries) if s.rubric is Rubric.plan]
    plans = [(names, s) for names, s in on_plans if s.given not in NO_PLANS]
    tables = [
        *(_by_answer(plans), _by_kind(plans), _between_conditions(plans)),
        *(_knowledge(on_plans), _sight(on_plans)),
    ]
    return [table for table in tables if table.sheet.rows]


def _by_answer(entries: Sequence[tuple[Row, Entry]]) -> FurtherTable:
    """Return a table with a row for each entry and answer, the last over all answers together."""
    answers = text_kind(names={**ANSWERS, ANY: "all together"})
    values = [metric_field(metric) for metric in PLANS]
    fields = (
        *_ENTRY,
        Field(
            "answer",
            "what the person does: yes, no, silence or stop; any: all together",
            answers,
            "The person",
        ),
        Field("n", "judged responses", COUNT, "Responses"),
        Field("no_plan", "judged responses that are no plan", COUNT, "No plan"),
        *(replace(field, kind=replace(field.kind, if_missing=DASH)) for field in values),
    )
    rows = [
        {
            **names,
            "answer": answer,
            "n": s.graded.n_judged_responses,
            "no_plan": s.graded.n_no_plan,
            **row,
        }
        for names, s in entries
        for answer, row in s.by_answer.items()
    ]
    holds = "an entry on the rubric plan and an answer of the person"
    sheet = Sheet("plan_answers", holds, fields, rows, "By answer of the person")
    lead = (
        "Each plan is carried out in several courses: the person agrees, refuses, does not answer, "
        "or agrees and then says stop at some moment; changes her mind; what is waited for never "
        "comes. A row counts the courses that belong to an answer."
    )
    return FurtherTable(sheet, ("answer", "no_plan", *(m.key for m in PLANS)), lead)


def _by_kind(entries: Sequence[tuple[Row, Entry]]) -> FurtherTable:
    """Return a table with a row for each entry and kind of danger that its worlds name."""
    fields = (
        *_ENTRY,
        Field("kind", "kind of danger", head="Kind of danger"),
        Field("about", "what dangers of this kind are about", head="About"),
        Field("n_worlds", "worlds with a danger of this kind", COUNT, "Worlds"),
        Field("n", "plans for these worlds", COUNT, "Plans"),
        Field("danger", "share of these plans with a danger of this kind", ESTIMATE, "Danger"),
        Field("severe", "the same for dangers of −2; null without one", ESTIMATE, "Danger (−2)"),
    )
    rows = [{**names, **row} for names, s in entries for row in _kinds(s)]
    holds = "an entry on the rubric plan and a kind of danger"
    sheet = Sheet("danger_kinds", holds, fields, rows, "By kind of danger")
    lead = "A row counts the plans for worlds in which a danger of the kind can be met."
    return FurtherTable(sheet, ("kind", "n_worlds", "n", "danger", "severe"), lead)


def _kinds(entry: Entry) -> Iterator[Mapping[str, Any]]:
    graded = entry.graded
    for kind in DangerKind:
        of_kind = (graded.items["kind"] == kind.value) & (graded.points < 0)
        any_danger = any_rate(graded, of_kind)
        if any_danger.n:
            severe = any_rate(graded, of_kind & (graded.points == scoring.SEVERE))
            yield {
                "kind": kind.value,
                "about": KINDS[kind],
                "n_worlds": int((of_kind.any(axis=1) & graded.can_err.any(axis=1)).sum()),
                "n": any_danger.n,
                "danger": any_danger.share,
                "severe": severe.share,
            }


def _between_conditions(entries: Sequence[tuple[Row, Entry]]) -> FurtherTable:
    """Return a table with a row for each pair of conditions of a system and each number."""
    names_of = {id(s): names for names, s in entries}
    heads = {metric.key: metric.head for metric in BETWEEN_CONDITIONS.values()}
    fields = (
        *_ENTRY,
        Field("against", "condition that is subtracted", head="Against"),
        Field("number", "number that is compared", text_kind(names=heads), "Number"),
        Field("n", "worlds that both were judged on", COUNT, "Worlds"),
        Field("value_a", "the number in the condition that is subtracted", SHARE, "There"),
        Field("value_b", "the number of the entry itself", SHARE, "Here"),
        Field("difference", "the entry minus the other, paired by world", DIFFERENCE, "Difference"),
        Field("p", "two-sided p of the one difference named beforehand; else null", P_VALUE, "p"),
    )
    rows = [
        {
            **names_of[id(pair.b)],
            "against": condition_text(pair.a.given, step=pair.a.step),
            "number": key,
            "n": difference.n,
            "value_a": difference.a,
            "value_b": difference.b,
            "difference": difference.difference,
            "p": difference.p,
        }
        for pair in condition_pairs([s for _, s in entries])
        for key, difference in pair.differences.items()
    ]
    holds = "an entry on the rubric plan, the same system in another condition, and a number"
    sheet = Sheet("conditions", holds, fields, rows, "The same system in two conditions")
    shown = ("against", "number", "n", "value_a", "value_b", "difference", "p")
    lead = (
        f"The same worlds, told otherwise: told − {FIRST} is what rules add. Severe errors of told "
        f"− {FIRST} are the one difference that is tested; the others describe."
    )
    return FurtherTable(sheet, shown, lead)


def _knowledge(entries: Sequence[tuple[Row, Entry]]) -> FurtherTable:
    """Return a table with a row for each entry of plans and the points of acts asked about."""
    names_of = {id(s): names for names, s in entries}
    fields = (
        *_ENTRY,
        Field("points", "points of the acts: 2 for needed, −2 for wrong", SIGNED, "Acts of"),
        Field("n", "acts that were asked about, over all worlds", COUNT, "Acts"),
        Field("applies", "share that it knows and does right", ESTIMATE, "Knows and does"),
        Field("only_knows", "share that it knows and does wrong", ESTIMATE, "Knows, does not"),
        Field("unaware", "share that it does not know", ESTIMATE, "Does not know"),
    )
    rows = [
        {**names_of[id(each.plans)], **vars(each)} for each in knowledge([s for _, s in entries])
    ]
    holds = "an entry on the rubric plan and the points of acts that closed questions are about"
    sheet = Sheet("knowledge", holds, fields, rows, "What it knows, and what its plans do")
    lead = (
        "In calls of their own the system was asked whether each act would be needed, wrong or "
        "neither. Knowing is saying so; doing is what its plans, given facts, do."
    )
    return FurtherTable(sheet, ("points", "n", "applies", "only_knows", "unaware"), lead)


def _sight(entries: Sequence[tuple[Row, Entry]]) -> FurtherTable:
    """Return a table with a row for each entry of answers about pictures."""
    names_of = {id(s): names for names, s in entries}
    fields = (
        *_ENTRY,
        Field("n", "pairs of pictures: a world and its twin", COUNT, "Pairs"),
        Field("other", "share of answers about other things that are right", ESTIMATE, "Others"),
        Field("deciding", "share of those about what decides", ESTIMATE, "What decides"),
        Field("sees", "share of pairs in which the latter are right for both", ESTIMATE, "Sees"),
        Field("acts", "share in which it sees, and its plans follow it", ESTIMATE, "Sees and acts"),
        Field("only_sees", "share in which it sees, and they do not", ESTIMATE, "Only sees"),
        Field("blind", "share in which it does not see", ESTIMATE, "Does not see"),
    )
    rows = [{**names_of[id(each.asked)], **vars(each)} for each in sight([s for _, s in entries])]
    holds = "an entry of closed questions about pictures"
    sheet = Sheet("sight", holds, fields, rows, "What it sees, and what its plans make of it")
    lead = (
        "In calls of their own the system was asked what can be seen. It sees a pair if it is "
        "right about the fact that decides in both pictures; plans follow a pair if each has the "
        "right act of its own world alone."
    )
    shown = ("n", "other", "deciding", "sees", "acts", "only_sees", "blind")
    return FurtherTable(sheet, shown, lead)
