"""Sheets of the numbers of entries by part of the scenarios, and by scenario."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from careeval.results.entry import Entry
from careeval.results.findings import ShownScenario
from careeval.results.graded_rubric import NOT_FILLED
from careeval.results.metrics import SEVERE
from careeval.results.parts import Breakdown, Part, ScenarioScore
from careeval.sheets.entries import (
    ENTRY,
    GIVEN,
    GRADER,
    GRADER_NAME,
    NAME,
    RUBRIC,
    STEP,
    SYSTEM,
    metric_field,
    with_names,
)
from careeval.sheets.graders import entry_fields
from careeval.sheets.kinds import (
    COUNT,
    DASH,
    ERROR_SHARE,
    ESTIMATE,
    NUMBER_LIST,
    ROUND_SHARE,
    SHARE,
    SIGNED,
    SMALL_COUNT,
    WORD_LIST,
    WORDS,
    Form,
    Kind,
    part_name_kind,
    text_kind,
)
from careeval.sheets.sheet import Field, Row, Sheet
from careeval.sheets.words import (
    DOMAINS,
    actor,
    assistance,
    condition,
    plain,
)
from careeval.stats.intervals import MIN_SCENARIOS

# Parts of the scenarios

PARTS: Mapping[Breakdown, Field] = {
    Breakdown.adl: Field("adl", "activity of daily living", part_name_kind(), "Activity"),
    Breakdown.domain: Field(
        "domain",
        "domain of caregiving competence",
        text_kind(names={d.value: name for d, name in DOMAINS.items()}),
        head="Domain",
    ),
    Breakdown.condition: Field(
        "condition", "what the person lives with", part_name_kind(shown_name=condition)
    ),
    Breakdown.assistance: Field(
        "assistance",
        "usual level of assistance, a Section GG code",
        part_name_kind(shown_name=assistance),
        "Usual assistance",
    ),
    Breakdown.situation: Field(
        "situation",
        "what makes the moment hard; a scenario with several counts in each",
        part_name_kind(shown_name=plain),
    ),
    Breakdown.actor: Field(
        "actor", "who acts: person or robot", part_name_kind(shown_name=actor), "Who helps"
    ),
}


def _small(holds: str) -> Field:
    return Field("n", f"{holds}; below five, not for comparing", SMALL_COUNT, "Scenarios", "n")


_PART = (
    _small("scenarios of the part with a judged response"),
    Field("score", "score in the part", ESTIMATE),
    replace(metric_field(SEVERE), holds="share of the responses in which an item of −2 is present"),
)
_DOMAIN_PART = (
    _small("scenarios with an item rated in the domain"),
    Field("score", "score with each item weighted by its rating in the domain", ESTIMATE),
)


_SEVERAL = (
    Field("n_scenarios", "scenarios with a judged response, each counted once", COUNT),
    Field(
        "n_counted",
        "sum of n over the parts: a scenario with several situations counts in each",
        COUNT,
    ),
)
"""The fields of parts that a scenario may have several of."""


def parts_sheet(by: Breakdown, entries: Sequence[Entry]) -> Sheet:
    """Return a sheet of numbers: a row for each entry and part of the scenarios.

    Args:
        by: The breakdown of the scenarios.
        entries: The entries.
    """
    several = by is Breakdown.situation
    rows = [
        {**names, by.value: str(part), **_part_row(cell), **(_counts(entry) if several else {})}
        for names, entry in with_names(entries)
        for part, cell in entry.by(by).items()
    ]
    fields = (
        *ENTRY,
        PARTS[by],
        *(_DOMAIN_PART if by is Breakdown.domain else _PART),
        *(_SEVERAL if several else ()),
        NAME,
        GRADER_NAME,
    )
    holds = f"an entry and a part of the scenarios, by {by.head}"
    note = " ".join(several_notes(rows)) if several else ""
    return Sheet(f"by_{by}", holds, fields, rows, f"By {by.head}", note)


def _counts(entry: Entry) -> Row:
    """Return the values of `_SEVERAL`; every scenario has one activity."""
    return {
        "n_scenarios": sum(cell.n for cell in entry.by_adl.values()),
        "n_counted": sum(cell.n for cell in entry.by(Breakdown.situation).values()),
    }


def several_notes(rows: Iterable[Row]) -> Iterator[str]:
    """Yield a note on rows by situation, with the counts of each entry if they differ.

    If every scenario has one situation, there is no note.
    """
    counts = {row["name"]: (row["n_scenarios"], row["n_counted"]) for row in rows}
    if all(scenarios == counted for scenarios, counted in counts.values()):
        return
    differ = len(set(counts.values())) > 1
    parts = (
        f"{scenarios} scenarios{f' of {name}' if differ else ''} count {counted} times"
        for name, (scenarios, counted) in (counts.items() if differ else list(counts.items())[:1])
    )
    yield f"A scenario with several situations counts in each: {'; '.join(parts)}."


def _part_row(cell: Part) -> Row:
    severe = {SEVERE.key: cell.severe} if cell.severe else {}
    return {"n": cell.n, "score": cell.score, **severe}


def adl_and_domain_sheet(entries: Sequence[Entry]) -> Sheet:
    """Return a sheet of domain-weighted scores: a row per entry, activity and domain."""
    rows = [
        {**names, "adl": adl.value, "domain": domain.value, "n": cell.n, "score": cell.score}
        for names, entry in with_names(entries)
        for adl, domains in entry.by_adl_and_domain.items()
        for domain, cell in domains.items()
    ]
    fields = (
        *ENTRY,
        PARTS[Breakdown.adl],
        PARTS[Breakdown.domain],
        *_DOMAIN_PART,
        NAME,
        GRADER_NAME,
    )
    return Sheet("by_adl_and_domain", "an entry, an activity and a domain", fields, rows)


def stacked_parts_sheet(sheets: Sequence[Sheet]) -> Sheet:
    """Return the rows of several sheets of parts as one sheet, with the fields `by` and `part`.

    A single sheet is returned unchanged.
    """
    if len(sheets) == 1:
        return sheets[0]
    fields = (
        *ENTRY,
        Field("by", "what the scenarios are broken down by"),
        Field("part", "the part, as the bank names it"),
        *_PART,
        *(_SEVERAL if any("n_counted" in sheet.by_key for sheet in sheets) else ()),
    )
    rows = [
        row | {"by": by, "part": row[by]}
        for sheet in sheets
        for by in (sheet.name.removeprefix("by_"),)
        for row in sheet.rows
    ]
    return Sheet("parts", "an entry and a part of the scenarios", fields, rows)


def pivot(
    sheet: Sheet, down: str, along: str, kind: Kind, value: str = ""
) -> tuple[Sheet, tuple[str, ...]]:
    """Return a sheet with a row per value of one field, and a field per value of another field.

    Args:
        sheet: The sheet; no two rows may have the same pair of values.
        down: Key of the field whose values become rows.
        along: Key of the field whose values become fields.
        kind: Kind of the added fields.
        value: Key of the field whose value a cell has; if empty, a cell has the whole row.

    Returns:
        The sheet, and the keys of the added fields.
    """
    names = list(dict.fromkeys(row[along] for row in sheet.rows))
    keys = {name: f"{along}-{place}" for place, name in enumerate(names)}
    rows: dict[Any, Row] = {}
    for row in sheet.rows:
        rows.setdefault(row[down], dict(row))[keys[row[along]]] = row[value] if value else row
    say = sheet.by_key[along].kind.text
    added = (Field(keys[name], f"of {say(name)}", kind, say(name)) for name in names)
    fields = (*sheet.fields, *added)
    wide = replace(sheet, name=f"across_{along}", fields=fields, rows=[*rows.values()])
    return wide, tuple(keys.values())


def is_small(row: Row) -> bool:
    """Tell whether a part has scenarios, but too few for an interval."""
    n: int = row["n"]
    return 0 < n < MIN_SCENARIOS


def part_score_kind(*, interval: bool = True, n: bool = False) -> Kind:
    """Return the kind of the score in a part, from a row with `score`, `n`, and `severe` if known.

    Args:
        interval: Whether a page shows the interval.
        n: Whether a page shows the number of scenarios. If not, an asterisk marks scores over too
            few scenarios for an interval.
    """

    def write(row: Row, _: Form) -> str:
        return f"{ESTIMATE.text(row['score'], Form.bare)} (n {SMALL_COUNT.text(row['n'])})"

    def on_page(row: Row, _: Form) -> str:
        mark = "*" if is_small(row) and not n else ""
        return f"{ESTIMATE.text(row['score'], Form.bare)}{mark}"

    def lines(row: Row) -> tuple[str, ...]:
        """Return the interval and the number of scenarios, if shown, and the severe errors."""
        number = (f"n {SMALL_COUNT.text(row['n'])}",) if n else ()
        errors = row.get(SEVERE.key)
        severe = (f"{SEVERE.brief} {ERROR_SHARE.page_text(errors)}",) if errors else ()
        return (*(ESTIMATE.lines(row["score"]) if interval else ()), *number, *severe)

    return Kind(
        write=write,
        order=lambda row: ESTIMATE.sort_key(row["score"]),
        write_on_page=on_page,
        lines=lines,
        if_missing=DASH,
    )


def _scenario_lines(row: Row) -> tuple[str, ...]:
    """Return the lowest score and number of responses with a severe error, or why unknown."""
    if row["score"] is None:
        return (row["reason"],)
    lowest = [] if row["worst"] is None else [f"lowest {SHARE.text(row['worst'])}"]
    severe = [f"severe in {row['n_severe']}"] if row["n_severe"] else []
    return (*lowest, *severe)


SCENARIO_SCORE = Kind(
    write=lambda row, _: SHARE.text(row["score"]),
    order=lambda row: SHARE.sort_key(row["score"]),
    lines=_scenario_lines,
    if_missing=DASH,
)
"""The score on a scenario, from a row of `scenarios_sheet`."""

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
        *entry_fields(each.grader for each in entries),
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
        SYSTEM,
        GIVEN,
        STEP,
        GRADER,
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
            Field(key, "share of its responses with the item", ROUND_SHARE, entry.name)
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
