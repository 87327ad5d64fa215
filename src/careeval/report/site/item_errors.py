"""Every error that was found in the responses to a scenario, item by item."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from careeval import scoring
from careeval.report.site.contents import Contents
from careeval.results.score.harms import Harm, harms
from careeval.sheets.kinds import SIGNED


@dataclass(frozen=True)
class ItemErrors:
    """One negative item of a scenario, and each response in which a grader found it.

    Attributes:
        found: By system and epoch.
    """

    found: tuple[Harm, ...]

    @property
    def text(self) -> str:
        """The item."""
        return self.found[0].item_text

    @property
    def severe(self) -> bool:
        """Whether it is a severe error."""
        return self.found[0].points == scoring.SEVERE

    @property
    def about(self) -> str:
        """Its points and its rubric."""
        return f"{SIGNED.text(self.found[0].points)}, {self.found[0].rubric.value}"


def item_errors(site: Contents) -> Mapping[tuple[str, str], list[ItemErrors]]:
    """Return the errors in each public scenario: edition and id → severe items first."""
    found: defaultdict[tuple[str, str], defaultdict[tuple[str, str], list[Harm]]]
    found = defaultdict(lambda: defaultdict(list))
    for severity in (scoring.SEVERE, scoring.MILD):
        for listed in site.listed:
            graded = listed.graded
            for harm in graded.public.shown(harms(graded.entry, severity)):
                found[graded.edition, harm.scenario][harm.rubric.value, harm.item].append(harm)
    return {
        scenario: [
            ItemErrors(tuple(sorted(each, key=lambda harm: (harm.system, harm.epoch))))
            for each in items.values()
        ]
        for scenario, items in found.items()
    }
