"""The pages of public scenarios: properties, scores of systems, errors, and rubrics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from careeval import scoring
from careeval.core.scenario import Domain, Rubric
from careeval.report.page_table import BarScale, PageColumn, PageTable, Strip
from careeval.report.site.contents import RUBRICS, Contents
from careeval.report.site.tables import page_of_row, severe_count
from careeval.results.findings import ShownScenario, shown_scenario
from careeval.results.harms import Harm, harms
from careeval.sheets.kinds import SHARE, SIGNED
from careeval.sheets.parts import rubric_sheet, scenario_scores_sheet
from careeval.sheets.sheet import Field, Row
from careeval.sheets.words import DOMAINS, RUBRIC_TITLES, assistance, condition, plain

LEVELS_OF_A_RUNG = {2: "2 of 2", 1: "1 of 2", 0: "0 of 2"}
LEVELS_OF_AN_ACT = {2: "serves it fully", 1: "serves it in part", 0: "does not serve it"}
LEVELS_OF_AN_ERROR = {2: "does it no harm", 1: "treats it badly", 0: "treats it worst"}
"""Wording of an item's level in a domain."""


def score_tables(site: Contents, scenario: PublicScenario) -> Iterator[PageTable]:
    """Yield, for each rubric, a table of the systems' scores on a scenario."""
    for rubric in RUBRICS:
        entries = [
            each
            for each in site.entries_over(scenario.edition)
            if each.rubric is rubric and scenario.id in each.entry.public_scores
        ]
        if not entries:
            continue
        sheet = scenario_scores_sheet([e.entry for e in entries], [(scenario.edition, scenario.id)])
        rows = [row | {"page": each.page} for row, each in zip(sheet.rows, entries, strict=True)]
        yield PageTable(
            replace(sheet, rows=sorted(rows, key=_best_first)),
            (
                PageColumn("system_name", link=page_of_row),
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
            each.entry
            for each in site.first_entries(scenario.edition, rubric)
            if any(each.entry.presence(scenario.id, item["item"]) is not None for item in items)
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


SCALE = BarScale(-1.0, 1.0)
"""Scale of a scenario's score, from −100% to 100% of its points."""


@dataclass(frozen=True, eq=False)
class PublicScenario(ShownScenario):
    """One public scenario as pages show it, with results of the first board over its edition."""

    page: str  # Path of the page of the scenario
    picture: str  # The picture that systems were shown, as a data URI; empty if none

    @property
    def mean_text(self) -> str:
        """Mean score in percent, as text."""
        return SHARE.page_text(self.mean)

    @property
    def dots(self) -> Strip:
        """Scores of the systems as a strip of dots."""
        return Strip.of_values(self.scores, wide(self.scores))

    @property
    def severe_share(self) -> float:
        """Share of responses with a severe error, for sorting; 0 if unknown."""
        n, total = self.severe or (0, 0)
        return n / total if total else 0.0

    @property
    def text(self) -> str:
        """Text of the scenario."""
        return str(self.about["scenario_text"] or "")

    @property
    def untold(self) -> str:
        """Rules of a world that its text leaves out; empty if there are none."""
        return str(self.about["untold"] or "")

    @property
    def adl(self) -> str:
        """Activity, as text."""
        return plain(self.about["adl"])

    @property
    def condition(self) -> str:
        """Condition of the person, as text."""
        return condition(self.about["condition"])

    @property
    def situation(self) -> str:
        """Difficulties of the situation, as text."""
        return ", ".join(map(plain, self.about["situation"] or [])) or "not stated"

    @property
    def facts(self) -> list[tuple[str, str]]:
        """Properties of the scenario: name and text."""
        about = self.about
        return [
            ("Activity", self.adl),
            ("Condition", self.condition),
            ("Usual help", assistance(about["assistance"])),
            ("Situation", self.situation),
            ("Who helps", plain(about["actor"])),
        ]

    @property
    def filters(self) -> dict[str, str]:
        """Filter name → ids of the scenario's properties, separated by spaces."""
        return {
            "adl": self.about["adl"] or "",
            "condition": self.about["condition"] or "",
            "situation": " ".join(self.about["situation"] or []),
            "actor": self.about["actor"] or "",
        }


def public_scenarios(site: Contents) -> list[PublicScenario]:
    """Return every public scenario, sorted by id."""
    scenarios = []
    for (edition, name), about in site.findings.public.abouts.items():
        entries = [each.entry for each in site.first_board(edition)]
        shown = shown_scenario(edition, name, about, entries)
        page, picture = site.scenario_page(edition, name), site.findings.public.picture(about)
        scenarios.append(PublicScenario(**vars(shown), page=page, picture=picture))
    return scenarios


def options(scenarios: Sequence[PublicScenario]) -> dict[str, list[tuple[str, str]]]:
    """Return filter name → options, as pairs of id and label."""
    words = {"adl": plain, "condition": condition, "situation": plain, "actor": plain}
    ids = {
        name: sorted({id for scenario in scenarios for id in scenario.filters[name].split()})
        for name in words
    }
    return {name: [(id, words[name](id)) for id in values] for name, values in ids.items()}


def wide(values: Iterable[float]) -> BarScale:
    """Return the scale of a scenario's scores, extended to cover all values."""
    return BarScale(min([SCALE.low, *values]), max([SCALE.high, *values]))


def errors_by_scenario(site: Contents) -> Mapping[tuple[str, str], Mapping[str, list[Harm]]]:
    """Return (edition, public scenario) → system → its errors, severe ones first."""
    by_name: defaultdict[tuple[str, str], defaultdict[str, list[Harm]]]
    by_name = defaultdict(lambda: defaultdict(list))
    for severity in (scoring.SEVERE, scoring.MILD):
        for entry in site.entries:
            graded = entry.entry
            for harm in graded.shown(harms(graded, severity)):
                by_name[graded.edition, harm.scenario][graded.name].append(harm)
    return by_name
