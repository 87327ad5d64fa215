"""The public scenarios: what each is about, and how systems do on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from careeval.core.scenario import Rubric
from careeval.report.site.by_scenario import ByScenario
from careeval.report.site.sheets import Dots, Scale, score
from careeval.sheets.names import assistance, condition, plain

SCALE = Scale(-1.0, 1.0)
"""Of a scenario's score: from losing as many points as there are to win, to all of them."""


@dataclass(frozen=True, eq=False)
class Scene:
    """One public scenario.

    Attributes:
        edition: Of the bank that it is of.
        rubric: That the numbers are on: of the first board over that edition; `None` without one.
        mean: Mean score of the board's systems.
        severe: Their responses with a severe error, and all judged; `None` where the rubric has no
            such item, or nothing was judged.
    """

    edition: str
    id: str
    page: str
    about: Mapping[str, Any]
    rubric: Rubric | None
    mean: float | None
    dots: Dots
    severe: tuple[int, int] | None

    @property
    def mean_words(self) -> str:
        """The mean as it reads."""
        return score(self.mean).text

    @property
    def severe_share(self) -> float:
        """Share of the responses with a severe error; 0 where unknown, to be put in order by."""
        n, of = self.severe or (0, 0)
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
    public = found.site.found.public
    return [_scene(found, *key, public.abouts[key]) for key in public.scenarios]


def _scene(found: ByScenario, edition: str, name: str, about: Mapping[str, Any]) -> Scene:
    board = found.first_board(edition)
    scores = [score for each in board if (score := found.score(each, name)) is not None]
    known = [score.score for score in scores if score.score is not None]
    severe = [counts for each in board if (counts := found.severe(each, name)) is not None]
    return Scene(
        edition=edition,
        id=name,
        page=found.site.scenario_page(edition, name),
        about=about,
        rubric=board[0].rubric if board else None,
        mean=mean(known) if known else None,
        dots=Dots.of(known, wide(known)),
        severe=(sum(n for n, _ in severe), sum(n for _, n in severe)) if severe else None,
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
