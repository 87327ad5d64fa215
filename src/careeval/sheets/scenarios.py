"""Sheets of scenarios: each entry's scores; and of those that may be shown, what each is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from careeval.results.findings import Graded
from careeval.results.public_scenarios import ShownScenario
from careeval.results.score.entry_details import ScenarioScore
from careeval.results.score.graded_rubric import NOT_TOLD
from careeval.sheets.entries.numbers import ENTRY, JUDGE, NAME, RUBRIC, named
from careeval.sheets.kinds import COUNT, NUMBER_LIST, SHARE, SIGNED, WORD_LIST, WORDS
from careeval.sheets.names import condition, plain
from careeval.sheets.page_kinds import ROUND_SHARE
from careeval.sheets.sheet import Field, Row, Sheet
from careeval.sheets.trust.graders import told_apart

_BANK = Field("bank", "the bank, and the N of its version")
_SCENARIO = Field("scenario", "id of the scenario")


def shown_scenarios_sheet(scenarios: Iterable[ShownScenario]) -> Sheet:
    """Return what each scenario is about, with its text and the mean of its scores."""
    fields = (
        _BANK,
        _SCENARIO,
        Field("adl", "activity; null if not known"),
        Field("condition", "what the person lives with"),
        Field("assistance", "Section GG code"),
        Field("situation", "what makes the moment hard, with blanks between"),
        Field("actor", "person or robot"),
        Field("text", "what is asked"),
        Field("rubric", "of the numbers; null where there is none"),
        Field("n_severe", "responses with a severe error; null where not judged", COUNT),
        Field("n", "responses judged, where the rubric has such an item", COUNT),
        Field("mean_score", "mean score of the systems; null if unknown", SHARE),
    )
    rows = [_about(each) for each in scenarios]
    caption = "Public scenarios"
    return Sheet("shown_scenarios", "a scenario that may be shown", fields, rows, caption)


def _about(each: ShownScenario) -> Row:
    n_severe, n = each.severe or (None, None)
    return {
        "bank": each.edition,
        "scenario": each.id,
        **{key: each.about[key] for key in ("adl", "condition", "assistance", "actor")},
        "situation": " ".join(each.about["situation"] or ()),
        "text": each.about["scenario_text"],
        "rubric": each.rubric and each.rubric.value,
        "n_severe": n_severe,
        "n": n,
        "mean_score": each.mean,
    }


def scenario_scores_sheet(
    entries: Sequence[Graded], scenarios: Sequence[tuple[str, str]], n: str = ""
) -> Sheet:
    """Return the score of each entry on each scenario that may be shown.

    Args:
        entries: Which.
        scenarios: Edition of the bank and id of each.
        n: Number of responses to a scenario, for the head of the worst of them.
    """
    fields = (
        _BANK,
        _SCENARIO,
        ENTRY[0],
        told_apart(ENTRY[1], (each.summary.grader for each in entries)),
        ENTRY[2],
        Field(
            "n_severe",
            "responses with a severe error; null where the rubric has no such item",
            COUNT,
            "Severe errors",
        ),
        Field("score", "mean of its responses; null if unknown", SHARE),
        Field(
            "worst",
            "the lowest of its responses; null where one is missing",
            SHARE,
            f"Worst of {n}" if n else "",
        ),
        Field("about", "what it is about, in words", in_files=False),
    )
    rows = [
        {"bank": edition, "scenario": name, **naming, **_score(each, name)}
        for naming, each in named(entries)
        for edition, name in scenarios
        if edition == each.edition and name in each.scores
    ]
    holds = "an entry's score on a scenario that may be shown"
    return Sheet("scenario_scores", holds, fields, rows, "Scores by scenario")


def _score(entry: Graded, name: str) -> Row:
    score = entry.scores[name]
    about = score.about
    return {
        "n_severe": entry.severe[name][0] if name in entry.severe else None,
        "score": score.score,
        "worst": score.worst,
        "epochs": [epoch for epoch in score.epochs if epoch is not None],
        "about": ", ".join([condition(about.condition), *map(plain, about.situation)]),
    }


def presence_sheet(
    entries: Sequence[Graded], items: Mapping[tuple[str, str, str], Sequence[Mapping[str, Any]]]
) -> Sheet:
    """Return in how many responses of each entry each item was found.

    Args:
        entries: Which.
        items: Edition of the bank, scenario and rubric → its items.
    """
    fields = (
        _BANK,
        _SCENARIO,
        RUBRIC,
        Field("item", "id of the item"),
        Field("points", "-2 to 2", SIGNED),
        *ENTRY[:2],
        Field("presence", "share of its responses in which the item was found", ROUND_SHARE),
    )
    known = list(named(entries))
    rows = [
        {
            "bank": edition,
            "scenario": scenario,
            **naming,
            "item": item["item"],
            "points": item["points"],
            "presence": presence,
        }
        for (edition, scenario, rubric), of_rubric in items.items()
        for item in of_rubric
        for naming, each in known
        if each.edition == edition
        and each.summary.rubric == rubric
        and (presence := each.public.presence(scenario, item["item"])) is not None
    ]
    caption = "Share of responses in which an item was found"
    return Sheet("presence", "an item and an entry", fields, rows, caption)


def rubric_sheet(
    items: Iterable[Mapping[str, Any]], entries: Sequence[Graded], scenario: str
) -> Sheet:
    """Return the items of one rubric of a scenario, with a column for each entry.

    Args:
        items: Of the rubric, in order.
        entries: On that rubric, each of another system.
        scenario: Id of the scenario.
    """
    columns = {f"s{place}": each for place, each in enumerate(entries)}
    fields = (
        Field("item_text", "the item", WORDS, "Item"),
        Field("points", "-2 to 2", SIGNED),
        *(
            Field(key, "share of its responses with the item", ROUND_SHARE, each.summary.system)
            for key, each in columns.items()
        ),
    )
    rows = [
        {**item, **{k: each.public.presence(scenario, item["item"]) for k, each in columns.items()}}
        for item in items
    ]
    return Sheet("rubric", "an item", fields, rows)


# Every scenario, shown or not


def scenarios_sheet(entries: Sequence[Graded]) -> Sheet:
    """Return an entry's score in each scenario."""
    fields = (
        *ENTRY,
        Field("scenario", "id of the scenario"),
        Field("adl", "activity; null if not known"),
        Field("condition", "what the person lives with"),
        Field("assistance", "Section GG code"),
        Field("situation", "what makes the moment hard, the primary first", WORD_LIST),
        Field("actor", "person or robot"),
        Field("score", "mean of its responses; null if unknown", SHARE),
        Field("score_low", "the least that the unresolved items could make of it", SHARE),
        Field("score_high", "the most that the unresolved items could make of it", SHARE),
        Field("worst", "the lowest of its responses; null where one is missing", SHARE),
        Field("epochs", "score of each response; null where missing", NUMBER_LIST),
        Field("n_severe", "responses with a severe error present", COUNT),
        Field("reason", "why score or worst is unknown; else empty"),
        NAME,
        JUDGE,
    )
    rows = [
        {
            **names,
            "scenario": score.scenario,
            **score.about._asdict(),
            "score": score.score,
            "score_low": score.low,
            "score_high": score.high,
            "worst": score.worst,
            "epochs": score.epochs,
            "n_severe": score.n_severe,
            "reason": _why_unknown(score),
        }
        for names, each in named(entries)
        for score in each.detail.scenarios
    ]
    return Sheet("scenarios", "an entry's score in a scenario", fields, rows)


def _why_unknown(score: ScenarioScore) -> str:
    """Return why a scenario's score or worst is unknown; empty where both are known."""
    if score.low is None:
        return "no response was judged"
    if score.score is None:
        return NOT_TOLD
    return "a response is missing or not judged" if score.worst is None else ""
