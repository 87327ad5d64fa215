"""The public scenarios: what each is about, and how systems do on it, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from careeval.report.page_table import Scale, Strip
from careeval.report.site.contents import Contents
from careeval.results.public_scenarios import ShownScenario, shown_scenario
from careeval.sheets.kinds import SHARE
from careeval.sheets.names import assistance, condition, plain

SCALE = Scale(-1.0, 1.0)
"""Of a scenario's score: from losing as many points as there are to win, to all of them."""


@dataclass(frozen=True, eq=False)
class Scene:
    """One public scenario as pages show it.

    Attributes:
        shown: The scenario, with how the systems of the first board over its edition do on it.
        page: Path of its page.
    """

    shown: ShownScenario
    page: str

    @property
    def edition(self) -> str:
        """Of the bank that it is of."""
        return self.shown.edition

    @property
    def id(self) -> str:
        """Its id."""
        return self.shown.id

    @property
    def about(self) -> Mapping[str, Any]:
        """What is known of it."""
        return self.shown.about

    @property
    def mean(self) -> str:
        """The mean score as it reads."""
        return SHARE.on_page(self.shown.mean)

    @property
    def dots(self) -> Strip:
        """The scores, drawn."""
        return Strip.of_values(self.shown.scores, wide(self.shown.scores))

    @property
    def severe_share(self) -> float:
        """Share of the responses with a severe error; 0 where unknown, to be put in order by."""
        n, of = self.shown.severe or (0, 0)
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


def scenes(site: Contents) -> list[Scene]:
    """Return every public scenario, in the order of ids."""
    public = site.findings.public
    return [
        Scene(
            shown_scenario(
                edition,
                name,
                public.abouts[edition, name],
                [each.graded for each in site.first_board(edition)],
            ),
            site.scenario_page(edition, name),
        )
        for edition, name in public.scenarios
    ]


def options(of: Sequence[Scene]) -> dict[str, list[tuple[str, str]]]:
    """Return, for each filter, what there is to choose among scenarios: ids, and how they read."""
    words = {"adl": plain, "condition": condition, "situation": plain, "actor": plain}
    ids = {
        name: sorted({one for scene in of for one in scene.filters[name].split()}) for name in words
    }
    return {name: [(one, words[name](one)) for one in known] for name, known in ids.items()}


def wide(values: Iterable[float]) -> Scale:
    """Return the scale of a scenario's scores, wider where one of these lies outside it."""
    return Scale(min([SCALE.low, *values]), max([SCALE.high, *values]))
