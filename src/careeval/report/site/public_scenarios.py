"""The public scenarios, with their properties as text and the scores of systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from careeval.report.page_table import BarScale, Strip
from careeval.report.site.contents import Contents
from careeval.results.findings import ShownScenario, shown_scenario
from careeval.sheets.kinds import SHARE
from careeval.sheets.names import assistance, condition, plain

SCALE = BarScale(-1.0, 1.0)
"""Scale of a scenario's score, from −100% to 100% of its points."""


@dataclass(frozen=True, eq=False)
class PublicScenario:
    """One public scenario as pages show it."""

    shown: ShownScenario
    """The scenario, with scores from the first board over the same edition of the bank."""
    page: str  # Path of the page of the scenario

    @property
    def edition(self) -> str:
        """Edition of the bank that the scenario is from."""
        return self.shown.edition

    @property
    def id(self) -> str:
        """Id of the scenario."""
        return self.shown.id

    @property
    def about(self) -> Mapping[str, Any]:
        """Fields of the scenario, without scores."""
        return self.shown.about

    @property
    def mean(self) -> str:
        """Mean score in percent, as text."""
        return SHARE.page_text(self.shown.mean)

    @property
    def dots(self) -> Strip:
        """Scores of the systems as a strip of dots."""
        return Strip.of_values(self.shown.scores, wide(self.shown.scores))

    @property
    def severe_share(self) -> float:
        """Share of responses with a severe error, for sorting; 0 if unknown."""
        n, total = self.shown.severe or (0, 0)
        return n / total if total else 0.0

    @property
    def text(self) -> str:
        """Text of the scenario."""
        return str(self.about["scenario_text"] or "")

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
    public = site.findings.public
    return [
        PublicScenario(
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
