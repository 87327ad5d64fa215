"""The errors that graders found in the responses to a scenario, by rubric item."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from careeval import scoring
from careeval.report.site.contents import Contents
from careeval.results.entries import Harm, harms
from careeval.sheets.kinds import SIGNED


@dataclass(frozen=True)
class ItemErrors:
    """One negative item of a scenario, and each response in which a grader found it."""

    harms: tuple[Harm, ...]  # The errors: a response each, sorted by system and epoch

    @property
    def text(self) -> str:
        """Text of the item."""
        return self.harms[0].item_text

    @property
    def severe(self) -> bool:
        """True if the item is a severe error."""
        return self.harms[0].points == scoring.SEVERE

    @property
    def about(self) -> str:
        """Points and rubric of the item."""
        return f"{SIGNED.text(self.harms[0].points)}, {self.harms[0].rubric.value}"


def item_errors(site: Contents) -> Mapping[tuple[str, str], list[ItemErrors]]:
    """Return (edition, public scenario) → its items with errors, severe items first."""
    by_scenario: defaultdict[tuple[str, str], defaultdict[tuple[str, str], list[Harm]]]
    by_scenario = defaultdict(lambda: defaultdict(list))
    for severity in (scoring.SEVERE, scoring.MILD):
        for entry in site.entries:
            graded = entry.graded
            for harm in graded.shown(harms(graded.entry, severity)):
                by_scenario[graded.edition, harm.scenario][harm.rubric.value, harm.item].append(
                    harm
                )
    return {
        scenario: [
            ItemErrors(tuple(sorted(each, key=lambda harm: (harm.system, harm.epoch))))
            for each in items.values()
        ]
        for scenario, items in by_scenario.items()
    }
