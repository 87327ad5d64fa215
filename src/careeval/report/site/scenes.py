"""The public scenarios: what each is about, and how systems do on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

import polars as pl

from careeval.core.scenario import Rubric
from careeval.report.site.by_scenario import ByScenario
from careeval.report.site.contents import public_rows
from careeval.report.site.sheets import Dots, Scale, score
from careeval.report.words import assistance, condition, plain

SCALE = Scale(-1.0, 1.0)
"""Of a scenario's score: from the ladder's −3 points to all of its 3."""


@dataclass(frozen=True, eq=False)
class Scene:
    """One public scenario.

    Attributes:
        edition: Of the bank that it is of.
        mean: Over the systems of the first board of that edition.
        severe: On each rubric that was judged, the responses of these systems with a severe error
            and all that were judged.
    """

    edition: str
    id: str
    page: str
    about: Mapping[str, Any]
    mean: float | None
    dots: Dots
    severe: Mapping[Rubric, tuple[int, int]]

    @property
    def said(self) -> str:
        """The mean as it reads."""
        return score(self.mean).text

    @property
    def severe_share(self) -> float:
        """Of the responses, on the ladder; 0 where none was judged, to be put in order by."""
        n, of = self.severe.get(Rubric.ladder, (0, 0))
        return n / of if of else 0.0

    @property
    def text(self) -> str:
        """What was asked."""
        return str(self.about["scenario_text"] or "")

    @property
    def adl(self) -> str:
        """Its activity, in words."""
        return plain(self.about["adl"])

    @property
    def condition(self) -> str:
        """What the person lives with, in words."""
        return condition(self.about["condition"])

    @property
    def situation(self) -> str:
        """What makes the moment hard, in words."""
        return ", ".join(map(plain, self.about["situation"] or [])) or "not stated"

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What it is about, in words."""
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
        """What the explorer filters by: name → ids, with spaces between."""
        return {
            "adl": self.about["adl"] or "",
            "condition": self.about["condition"] or "",
            "situation": " ".join(self.about["situation"] or []),
            "actor": self.about["actor"] or "",
        }


def scenes(found: ByScenario) -> list[Scene]:
    """Every public scenario, in the order of ids."""
    columns = ("adl", "condition", "assistance", "situation", "actor", "scenario_text")
    asked = (
        public_rows(found.site.found.runs.responses)
        .group_by("edition", "scenario")
        .agg(pl.col(name).drop_nulls().first() for name in columns)
    )
    about = {(row["edition"], row["scenario"]): row for row in asked.iter_rows(named=True)}
    return [_scene(found, *key, about[key]) for key in found.site.scenarios]


def _scene(found: ByScenario, edition: str, name: str, about: Mapping[str, Any]) -> Scene:
    of_rubric = {
        rubric: [
            s
            for each in found.first_board(edition)
            if (s := found.score(each, rubric, name)) is not None
        ]
        for rubric in Rubric
    }
    known = [s.score for s in of_rubric[Rubric.ladder] if s.score is not None]
    return Scene(
        edition=edition,
        id=name,
        page=found.site.scenario_page(edition, name),
        about=about,
        mean=mean(known) if known else None,
        dots=Dots.of(known, wide(known)),
        severe={
            rubric: (
                sum(s.n_severe for s in scored),
                sum(e is not None for s in scored for e in s.epochs),
            )
            for rubric, scored in of_rubric.items()
            if scored
        },
    )


def options(of: Sequence[Scene]) -> dict[str, list[tuple[str, str]]]:
    """Filter → what there is to choose among scenarios: ids, and how they read."""
    said = {"adl": plain, "condition": condition, "situation": plain, "actor": plain}
    found = {
        name: sorted({one for scene in of for one in scene.filters[name].split()}) for name in said
    }
    return {name: [(one, said[name](one)) for one in ids] for name, ids in found.items()}


def wide(values: Iterable[float]) -> Scale:
    """The scale of a scenario's scores, wider where one of these lies outside it."""
    return Scale(min([SCALE.low, *values]), max([SCALE.high, *values]))
