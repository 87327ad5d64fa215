"""The scenario explorer: every public scenario, how systems score on it, and what they answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from careeval.core.scenario import Domain, Rubric
from careeval.report.site.answers import Answer, answers
from careeval.report.site.by_scenario import ByScenario, label
from careeval.report.site.contents import RUBRICS, Contents, Listed
from careeval.report.site.scenes import Scene, options, scenes, wide
from careeval.report.site.sheets import (
    Cell,
    Column,
    Dots,
    Sheet,
    amounts,
    decimal,
    number,
    score,
    share,
    words,
)
from careeval.report.words import signed
from careeval.results.details import ScenarioScore
from careeval.sheets.names import DOMAINS

LEVELS_OF_A_RUNG = {2: "2 of 2", 1: "1 of 2", 0: "0 of 2"}
LEVELS_OF_AN_ACT = {2: "serves it fully", 1: "serves it in part", 0: "does not serve it"}
LEVELS_OF_AN_ERROR = {2: "does it no harm", 1: "treats it badly", 0: "treats it worst"}
"""What an item's level in a domain says."""


class Explorer:
    """What the pages about scenarios are made of, looked up once."""

    def __init__(self, site: Contents) -> None:
        self._site = site
        self._found = ByScenario(site)

    @cached_property
    def scenes(self) -> list[Scene]:
        """Every public scenario, in the order of ids."""
        return scenes(self._found)

    def options(self) -> dict[str, list[tuple[str, str]]]:
        """Filter → what there is to choose: ids, and how they read."""
        return options(self.scenes)

    def systems(self, scene: Scene) -> Iterator[Sheet]:
        """Yield how each system scores on a scenario, a table a rubric."""
        for rubric in RUBRICS:
            rows = [
                (
                    words(listed.name, href=listed.page),
                    self._site.judge(listed.summary.grader),
                    *self._scored(listed, scored),
                )
                for listed in self._found.entries(scene.edition)
                if listed.rubric is rubric
                and (scored := self._found.score(listed, scene.id)) is not None
            ]
            if not rows:
                continue
            yield Sheet(
                "scenario-scores",
                f"How each system scores, {rubric.value}",
                (
                    Column("system", "System"),
                    Column("grader", "Grader", hidden=len(self._site.graders) == 1),
                    amounts("n_severe", "Severe errors", f"{rubric.value}, responses with any"),
                    amounts("score", "Score", f"{rubric.value}, mean of responses"),
                    amounts("worst", "Worst", f"{rubric.value}, of its responses"),
                ),
                tuple(sorted(rows, key=_best_first)),
                part="of all scenarios",
                ordered="score",
                order="descending",
            )

    def rubric(self, scene: Scene, rubric: Rubric) -> Sheet | None:
        """One rubric with how often each item was found in each system's responses.

        Of each system by the first grader that judged it on this rubric; `None` where nothing was.
        """
        items = self._site.found.public.items.get((scene.edition, scene.id, rubric.value))
        if not items:
            return None
        systems = [
            listed
            for listed in self._site.first_entries(scene.edition, rubric)
            if any(
                self._found.presence(listed, scene.id, item["item"]) is not None for item in items
            )
        ]
        return Sheet(
            "items",
            "Ladder: graded whole answers" if rubric is Rubric.ladder else "Actions: single acts",
            (
                Column("item", "Item"),
                amounts("points", "Points"),
                *(Column(f"s{n}", each.name, upright=True) for n, each in enumerate(systems)),
            ),
            tuple(
                (
                    words(item["item_text"], asides=(_domains(item),)),
                    decimal(item["points"], f"{label(item)} {signed(item['points'])}"),
                    *(
                        share(
                            self._found.presence(each, scene.id, item["item"]),
                            tone="harm" if item["points"] < 0 else "good" if item["points"] else "",
                            heat=True,
                        )
                        for each in systems
                    ),
                )
                for item in items
            ),
            part="of all scenarios",
            sortable=False,
            classes="presence",
        )

    def answers(self, scene: Scene) -> list[Answer]:
        """The worst response of each system, the worst first."""
        return answers(self._found, scene.edition, scene.id)

    def scores_sheet(self) -> Sheet:
        """Every score of every entry on every public scenario; only a file."""
        rows = [
            (listed, name, scored)
            for listed in self._site.listed
            for of, name in self._site.scenarios
            if of == listed.edition and (scored := self._found.score(listed, name)) is not None
        ]
        heads = {
            "bank": "Bank",
            "scenario": "Scenario",
            "system": "System",
            "grader": "Grader",
            "rubric": "Rubric",
            "n_severe": "Responses with a severe error",
            "score": "Score",
            "worst": "Worst of its responses",
        }
        return Sheet(
            "scenario-scores",
            "Scores by scenario",
            tuple(Column(key, head) for key, head in heads.items()),
            tuple(
                (
                    words(listed.edition),
                    words(name),
                    words(listed.name),
                    words(listed.summary.grader),
                    words(listed.rubric.value),
                    *self._scored(listed, scored),
                )
                for listed, name, scored in rows
            ),
            origins=tuple(listed.provenance for listed, *_ in rows),
        )

    def _scored(self, listed: Listed, scored: ScenarioScore) -> tuple[Cell, Cell, Cell]:
        """Responses with a severe error, mean with a dot for each response, worst."""
        counts = self._found.severe(listed, scored.scenario)
        n = counts[0] if counts else None
        known = [e for e in scored.epochs if e is not None]
        return (
            number(n, tone="harm" if n else ""),
            replace(score(scored.score), dots=Dots.of(known, wide(known))),
            score(scored.worst),
        )

    def scenes_sheet(self) -> Sheet:
        """The explorer as data."""
        return Sheet(
            "scenarios",
            "Public scenarios",
            (
                *(
                    Column(key, key.capitalize())
                    for key in (
                        "bank",
                        "scenario",
                        "adl",
                        "condition",
                        "assistance",
                        "situation",
                        "actor",
                        "text",
                    )
                ),
                Column("rubric", "Rubric of the numbers"),
                amounts("n_severe", "Responses with a severe error"),
                amounts("n", "Responses judged"),
                amounts("mean_score", "Mean score of systems"),
            ),
            tuple(
                (
                    words(s.edition),
                    words(s.id),
                    *(words(s.about[key]) for key in ("adl", "condition", "assistance")),
                    words(" ".join(s.about["situation"] or [])),
                    words(s.about["actor"]),
                    words(s.text),
                    words(s.rubric and s.rubric.value),
                    *(number(n) for n in s.severe or (None, None)),
                    score(s.mean),
                )
                for s in self.scenes
            ),
        )

    def items_sheet(self) -> Sheet:
        """Every item of every public scenario, with its presence in each entry; only a file."""
        rows = []
        origins = []
        for (of, scenario, rubric), items in self._site.found.public.items.items():
            for item in items:
                for listed in self._found.entries(of):
                    if listed.rubric != rubric:
                        continue
                    present = self._found.presence(listed, scenario, item["item"])
                    if present is not None:
                        origins.append(listed.provenance)
                        rows.append(
                            (
                                words(of),
                                words(scenario),
                                words(rubric),
                                words(item["item"]),
                                number(item["points"]),
                                words(listed.name),
                                words(listed.summary.grader),
                                share(present),
                            )
                        )
        heads = ("bank", "scenario", "rubric", "item", "points", "system", "grader", "presence")
        return Sheet(
            "items",
            "Share of responses in which an item was found",
            tuple(Column(key, key.capitalize()) for key in heads),
            tuple(rows),
            origins=tuple(origins),
        )


def _best_first(row: tuple[Cell, ...]) -> float:
    """Order rows of `Explorer.systems` by score, unknown ones last."""
    sort = row[3].sort
    return float("inf") if sort is None else -sort


def _domains(item: Mapping[str, Any]) -> str:
    """The domains that an item is about, and how well it treats each.

    A level means another thing for a rung, which is a whole answer, for an act, and for an error.
    """
    said = (
        LEVELS_OF_A_RUNG
        if item["rubric"] == Rubric.ladder.value
        else LEVELS_OF_AN_ERROR
        if item["points"] < 0
        else LEVELS_OF_AN_ACT
    )
    rated = [
        f"{DOMAINS[d].lower()}: {said.get(item[d.value], item[d.value])}"
        for d in Domain
        if item[d.value] is not None
    ]
    return " · ".join(rated)
