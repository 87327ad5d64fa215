"""The scenario explorer: every public scenario, how systems score on it, and what they answered."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from careeval.core.scenario import Domain, Rubric
from careeval.report.site.answers import Answer, answers
from careeval.report.site.by_scenario import ByScenario, label
from careeval.report.site.contents import Contents
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
from careeval.report.words import DOMAINS, signed
from careeval.results.details import ScenarioScore

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

    def systems(self, scene: Scene) -> Sheet:
        """How each system scores on a scenario."""
        rows = []
        for listed in self._found.entries(scene.edition):
            rungs = self._found.score(listed, Rubric.ladder, scene.id)
            acts = self._found.score(listed, Rubric.actions, scene.id)
            if rungs is None and acts is None:
                continue
            rows.append(
                (
                    words(listed.name, href=listed.page),
                    self._site.judge(listed.summary.grader),
                    *_scored(rungs),
                    _severe(acts),
                    score(acts.score if acts else None),
                )
            )
        return Sheet(
            "scenario-scores",
            "How each system scores",
            (
                Column("system", "System"),
                Column("grader", "Grader", hidden=len(self._site.boards) == 1),
                amounts("score", "Score", "ladder, mean of responses"),
                amounts("worst", "Worst", "ladder, of its responses"),
                amounts("severe", "Severe errors, ladder", "responses with any"),
                amounts("action_severe", "Severe errors, actions", "responses with any"),
                amounts("action_score", "Score", "actions, mean of responses"),
            ),
            tuple(
                sorted(rows, key=lambda row: -1e9 if row[2].sort is None else -float(row[2].sort))
            ),
            part="of all scenarios",
            classes="quiet",
            ordered="score",
            order="descending",
        )

    def rubric(self, scene: Scene, rubric: Rubric) -> Sheet | None:
        """One rubric with how often each item was found in each system's responses.

        Of each system by the grader that stands for it; `None` where nothing was judged on it.
        """
        items = self._found.items.get((scene.edition, scene.id, rubric.value))
        if not items:
            return None
        systems = [
            listed
            for listed in self._found.first_entries(scene.edition)
            if any(
                self._found.presence(listed, scene.id, rubric.value, item["item"]) is not None
                for item in items
            )
        ]
        return Sheet(
            "items",
            "The ladder: graded whole answers"
            if rubric is Rubric.ladder
            else "The actions: single acts",
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
                            self._found.presence(each, scene.id, rubric.value, item["item"]),
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
        rows = []
        origins = []
        for listed in self._site.listed:
            for of, name in self._site.scenarios:
                if of != listed.edition:
                    continue
                rungs = self._found.score(listed, Rubric.ladder, name)
                acts = self._found.score(listed, Rubric.actions, name)
                if rungs is not None or acts is not None:
                    origins.append(listed.provenance)
                    rows.append(
                        (
                            words(of),
                            words(name),
                            words(listed.name),
                            words(listed.summary.grader),
                            *_scored(rungs),
                            _severe(acts),
                            score(acts.score if acts else None),
                        )
                    )
        heads = {
            "bank": "Bank",
            "scenario": "Scenario",
            "system": "System",
            "grader": "Grader",
            "score": "Score, ladder",
            "worst": "Worst, ladder",
            "severe": "Responses with a severe error, ladder",
            "action_severe": "Responses with a severe error, actions",
            "action_score": "Score, actions",
        }
        return Sheet(
            "scenario-scores",
            "Scores by scenario",
            tuple(Column(key, head) for key, head in heads.items()),
            tuple(rows),
            origins=tuple(origins),
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
                amounts("mean_score", "Mean score of systems, ladder"),
                amounts("severe", "Responses with a severe error, ladder"),
                amounts("responses", "Responses judged, ladder"),
                amounts("action_severe", "Responses with a severe error, actions"),
                amounts("action_responses", "Responses judged, actions"),
            ),
            tuple(
                (
                    words(s.edition),
                    words(s.id),
                    *(words(s.about[key]) for key in ("adl", "condition", "assistance")),
                    words(" ".join(s.about["situation"] or [])),
                    words(s.about["actor"]),
                    words(s.text),
                    score(s.mean),
                    *(number(n) for rubric in Rubric for n in s.severe.get(rubric, (None, None))),
                )
                for s in self.scenes
            ),
        )

    def items_sheet(self) -> Sheet:
        """Every item of every public scenario, with its presence in each entry; only a file."""
        rows = []
        origins = []
        for (of, scenario, rubric), items in self._found.items.items():
            for item in items:
                for listed in self._found.entries(of):
                    found = self._found.presence(listed, scenario, rubric, item["item"])
                    if found is not None:
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
                                share(found),
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


def _scored(found: ScenarioScore | None) -> tuple[Cell, Cell, Cell]:
    """Mean with a dot for each response, worst, and responses with a severe error."""
    if found is None:
        return score(None), score(None), number(None)
    cell = score(found.score)
    known = [e for e in found.epochs if e is not None]
    return (
        Cell(cell.text, cell.data, cell.sort, dots=Dots.of(known, wide(known))),
        score(found.worst),
        _severe(found),
    )


def _severe(found: ScenarioScore | None) -> Cell:
    """Responses with a severe error."""
    n = found.n_severe if found else None
    return number(n, tone="harm" if n else "")


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
