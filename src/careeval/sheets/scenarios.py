"""Tables (`Sheet`) by scenario: entries' scores, the items, and the texts of public scenarios."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from careeval.results.entries import Entry, ScenarioScore
from careeval.results.findings import ShownScenario
from careeval.results.graded_rubric import NOT_FILLED
from careeval.sheets.entries.entries_sheet import ENTRY, GRADER_NAME, NAME, RUBRIC, with_names
from careeval.sheets.kinds import COUNT, NUMBER_LIST, ROUND_SHARE, SHARE, SIGNED, WORD_LIST, WORDS
from careeval.sheets.names import condition, plain
from careeval.sheets.sheet import Field, Row, Sheet
from careeval.sheets.trust.graders import with_brief_names

_BANK = Field("bank", "name of the bank, with the N of its version")
_SCENARIO = Field("scenario", "id of the scenario")


def shown_scenarios_sheet(scenarios: Iterable[ShownScenario]) -> Sheet:
    """Return a sheet of public scenarios: properties, text and mean score."""
    fields = (
        _BANK,
        _SCENARIO,
        Field("adl", "activity; null if not known"),
        Field("condition", "what the person lives with"),
        Field("assistance", "usual level of assistance, a Section GG code"),
        Field("situation", "what makes the moment hard, separated by blanks"),
        Field("actor", "who acts: person or robot"),
        Field("text", "the text that systems are asked"),
        Field("rubric", "rubric of the numbers; null if there are none"),
        Field("n_severe", "responses with a severe error; null if none was judged", COUNT),
        Field("n", "judged responses, if the rubric has an item of −2", COUNT),
        Field("mean_score", "mean score of the systems; null if unknown", SHARE),
    )
    rows = [_shown_scenario_row(scenario) for scenario in scenarios]
    caption = "Public scenarios"
    return Sheet("shown_scenarios", "a scenario that may be shown", fields, rows, caption)


def _shown_scenario_row(scenario: ShownScenario) -> Row:
    n_severe, n = scenario.severe or (None, None)
    return {
        "bank": scenario.edition,
        "scenario": scenario.id,
        **{key: scenario.about[key] for key in ("adl", "condition", "assistance", "actor")},
        "situation": " ".join(scenario.about["situation"] or ()),
        "text": scenario.about["scenario_text"],
        "rubric": scenario.rubric and scenario.rubric.value,
        "n_severe": n_severe,
        "n": n,
        "mean_score": scenario.mean,
    }


def scenario_scores_sheet(
    entries: Sequence[Entry], scenarios: Sequence[tuple[str, str]], n: str = ""
) -> Sheet:
    """Return a sheet of scores on public scenarios: a row per entry and scenario.

    Args:
        entries: The entries.
        scenarios: Edition of the bank and id of each scenario.
        n: Number of responses per scenario, for the column head of the worst of n.
    """
    fields = (
        _BANK,
        _SCENARIO,
        ENTRY[0],
        with_brief_names(ENTRY[1], (each.grader for each in entries)),
        ENTRY[2],
        Field(
            "n_severe",
            "responses with a severe error; null if the rubric has no item of −2",
            COUNT,
            "Severe errors",
        ),
        Field("score", "mean score of the responses; null if unknown", SHARE),
        Field(
            "worst",
            "lowest score of the responses; null if one is missing",
            SHARE,
            f"Worst of {n}" if n else "",
        ),
        Field("about", "condition and situation, in words", in_files=False),
    )
    rows = [
        {"bank": edition, "scenario": scenario, **names, **_score_row(entry, scenario)}
        for names, entry in with_names(entries)
        for edition, scenario in scenarios
        if edition == entry.edition and scenario in entry.public_scores
    ]
    holds = "an entry's score on a scenario that may be shown"
    return Sheet("scenario_scores", holds, fields, rows, "Scores by scenario")


def _score_row(entry: Entry, scenario: str) -> Row:
    score = entry.public_scores[scenario]
    about = score.about
    return {
        "n_severe": entry.public_severe[scenario][0] if scenario in entry.public_severe else None,
        "score": score.score,
        "worst": score.worst,
        "epochs": [epoch for epoch in score.epochs if epoch is not None],
        "about": ", ".join([condition(about.condition), *map(plain, about.situation)]),
    }


def presence_sheet(
    entries: Sequence[Entry],
    items: Mapping[tuple[str, str, str], Sequence[Mapping[str, Any]]],
) -> Sheet:
    """Return a sheet of the share of responses in which an item is present, by item and entry.

    Args:
        entries: The entries.
        items: (edition of the bank, scenario, rubric) → the items.
    """
    fields = (
        _BANK,
        _SCENARIO,
        RUBRIC,
        Field("item", "id of the item"),
        Field("points", "-2 to 2", SIGNED),
        *ENTRY[:2],
        Field("presence", "share of the responses that have the item", ROUND_SHARE),
    )
    named_entries = list(with_names(entries))
    rows = [
        {
            "bank": edition,
            "scenario": scenario,
            **names,
            "item": item["item"],
            "points": item["points"],
            "presence": presence,
        }
        for (edition, scenario, rubric), rubric_items in items.items()
        for item in rubric_items
        for names, entry in named_entries
        if entry.edition == edition
        and entry.rubric == rubric
        and (presence := entry.presence(scenario, item["item"])) is not None
    ]
    caption = "Share of responses in which an item was found"
    return Sheet("presence", "an item and an entry", fields, rows, caption)


def rubric_sheet(
    items: Iterable[Mapping[str, Any]], entries: Sequence[Entry], scenario: str
) -> Sheet:
    """Return the items of one rubric of a scenario, with a column for each entry.

    Args:
        items: The items of the rubric, in order.
        entries: Entries on the same rubric, at most one per system.
        scenario: Id of the scenario.
    """
    columns = {f"s{place}": entry for place, entry in enumerate(entries)}
    fields = (
        Field("item_text", "text of the item", WORDS, "Item"),
        Field("points", "-2 to 2", SIGNED),
        *(
            Field(key, "share of its responses with the item", ROUND_SHARE, entry.system)
            for key, entry in columns.items()
        ),
    )
    rows = [
        {**item, **{k: e.presence(scenario, item["item"]) for k, e in columns.items()}}
        for item in items
    ]
    return Sheet("rubric", "an item", fields, rows)


# All scenarios, held-out ones too


def scenarios_sheet(entries: Sequence[Entry]) -> Sheet:
    """Return a sheet of scores on all scenarios: a row per entry and scenario."""
    fields = (
        *ENTRY,
        Field("scenario", "id of the scenario"),
        Field("adl", "activity; null if not known"),
        Field("condition", "what the person lives with"),
        Field("assistance", "usual level of assistance, a Section GG code"),
        Field("situation", "what makes the moment hard, the primary first", WORD_LIST),
        Field("actor", "who acts: person or robot"),
        Field("score", "mean score of the responses; null if unknown", SHARE),
        Field("score_low", "lowest score that the unresolved items allow", SHARE),
        Field("score_high", "highest score that the unresolved items allow", SHARE),
        Field("worst", "lowest score of the responses; null if one is missing", SHARE),
        Field("epochs", "score of each response; null if missing", NUMBER_LIST),
        Field("n_severe", "responses with a severe error", COUNT),
        Field("reason", "why score or worst is unknown; else empty"),
        NAME,
        GRADER_NAME,
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
        for names, entry in with_names(entries)
        for score in entry.scenarios
    ]
    return Sheet("scenarios", "an entry's score on a scenario", fields, rows)


def _why_unknown(score: ScenarioScore) -> str:
    """Return the reason why a scenario's score or worst score is unknown; empty if known."""
    if score.low is None:
        return "no response was judged"
    if score.score is None:
        return NOT_FILLED
    return "a response is missing or not judged" if score.worst is None else ""
