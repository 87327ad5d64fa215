"""The scenario pages: the scores of systems on each public scenario, and its rubrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from careeval.core.scenario import Domain, Rubric
from careeval.report.page_table import PageColumn, PageTable, Strip
from careeval.report.site.contents import RUBRICS, Contents
from careeval.report.site.leaderboard import page_of_row
from careeval.report.site.public_scenarios import PublicScenario, wide
from careeval.report.site.systems import severe_count
from careeval.sheets.kinds import SIGNED
from careeval.sheets.names import DOMAINS, RUBRIC_TITLES
from careeval.sheets.scenarios import presence_sheet, rubric_sheet, scenario_scores_sheet
from careeval.sheets.sheet import Field, Row, Sheet

LEVELS_OF_A_RUNG = {2: "2 of 2", 1: "1 of 2", 0: "0 of 2"}
LEVELS_OF_AN_ACT = {2: "serves it fully", 1: "serves it in part", 0: "does not serve it"}
LEVELS_OF_AN_ERROR = {2: "does it no harm", 1: "treats it badly", 0: "treats it worst"}
"""Wording of an item's level in a domain."""


def scores(site: Contents) -> Sheet:
    """Return a sheet of the score of every entry on every public scenario, for a data file."""
    return scenario_scores_sheet([each.graded for each in site.entries], [*site.scenarios])


def presences(site: Contents) -> Sheet:
    """Return a sheet of how often each item of public scenarios is present, for a data file."""
    return presence_sheet([each.graded for each in site.entries], site.findings.public.items)


def score_tables(site: Contents, scenario: PublicScenario) -> Iterator[PageTable]:
    """Yield, for each rubric, a table of the systems' scores on a scenario."""
    for rubric in RUBRICS:
        entries = [
            each
            for each in site.entries_over(scenario.edition)
            if each.rubric is rubric and scenario.id in each.graded.scores
        ]
        if not entries:
            continue
        sheet = scenario_scores_sheet(
            [e.graded for e in entries], [(scenario.edition, scenario.id)]
        )
        rows = [row | {"page": each.page} for row, each in zip(sheet.rows, entries, strict=True)]
        yield PageTable(
            replace(sheet, rows=sorted(rows, key=_best_first)),
            (
                PageColumn("system", link=page_of_row),
                *([PageColumn("grader")] if len(site.graders) > 1 else []),
                severe_count(rubric.value),
                PageColumn("score", about=f"{rubric.value}, mean of responses", strip=_dots),
                PageColumn("worst", about=f"{rubric.value}, of its responses"),
            ),
            f"How each system scores, {rubric.value}",
            ordered="score",
            descending=True,
            file="scenario-scores",
            part="of all scenarios",
        )


def _best_first(row: Row) -> float:
    return float("inf") if row["score"] is None else -row["score"]


def _dots(row: Row) -> Strip:
    return Strip.of_values(row["epochs"], wide(row["epochs"]))


def rubric_tables(site: Contents, scenario: PublicScenario) -> Iterator[PageTable]:
    """Yield, for each rubric, a table of its items, with the share of responses that have them.

    Each system has a column, from its first entry on that rubric, unless it has no judgment there.
    """
    for rubric in RUBRICS:
        items = site.findings.public.items.get((scenario.edition, scenario.id, rubric.value))
        if not items:
            continue
        systems = [
            each.graded
            for each in site.first_entries(scenario.edition, rubric)
            if any(each.graded.presence(scenario.id, item["item"]) is not None for item in items)
        ]
        labels = ({"label": f"{label(i)} {SIGNED.text(i['points'])}"} for i in items)
        yield PageTable(
            rubric_sheet(items, systems, scenario.id).with_fields(_LABEL, rows=labels),
            (
                PageColumn("item_text", beneath=lambda row: [_domains(row)]),
                PageColumn("label"),
                *(_presence(f"s{place}") for place in range(len(systems))),
            ),
            RUBRIC_TITLES[rubric],
            look="presence",
            sortable=False,
            file="items",
            part="of all scenarios",
        )


_LABEL = Field("label", "as pages name it, with its points", head="Points", in_files=False)


def _presence(key: str) -> PageColumn:
    """Return the column of one system, shaded by the share of its responses that have the item."""

    def look(row: Row) -> str:
        tone = "harm" if row["points"] < 0 else "good" if row["points"] else ""
        shade = "" if row[key] is None else f"heat h{round(10 * row[key])}"
        return " ".join(filter(None, (tone, shade)))

    return PageColumn(key, look=look, upright=True)


def _domains(item: Mapping[str, Any]) -> str:
    """Return the domains that an item is about, each with the level of the item as text.

    The text of a level differs for rungs of the ladder, acts and errors.
    """
    levels = (
        LEVELS_OF_A_RUNG
        if item["rubric"] == Rubric.ladder.value
        else LEVELS_OF_AN_ERROR
        if item["points"] < 0
        else LEVELS_OF_AN_ACT
    )
    rated = [
        f"{DOMAINS[d].lower()}: {levels.get(item[d.value], item[d.value])}"
        for d in Domain
        if item[d.value] is not None
    ]
    return " · ".join(rated)


def label(row: Mapping[str, Any]) -> str:
    """Return the label of an item: a letter for a rung, a number for any other."""
    position = int(row["position"])
    if row["rubric"] == Rubric.ladder.value:
        return chr(ord("A") + position % 26)
    return str(position + 1)
