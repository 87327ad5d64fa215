"""An entry's numbers in parts: by what its scenarios are about, and by domain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from careeval.core.scenario import Adl, Domain
from careeval.report.site.contents import Contents, Listed
from careeval.report.site.sheets import (
    Cell,
    Column,
    Scale,
    Sheet,
    amounts,
    error_shares,
    errors,
    estimate,
    estimates,
    number,
    words,
)
from careeval.results import summary as summaries
from careeval.sheets.names import DOMAINS, assistance, condition, plain

_ALL_SYSTEMS = "of all systems"

BY_DOMAIN = (
    "Points of the items, weighted by how far each is about the domain: an item that serves it "
    "fully counts in full, one that serves it in part counts half, and an error costs more the "
    "worse it treats the domain."
)
"""What a number by domain says."""

_SMALL = "* fewer than five scenarios: no interval, and not for comparing."


@dataclass(frozen=True)
class Division:
    """A way to divide the scenarios of an entry.

    Attributes:
        name: Of its file.
        head: Of its column of parts.
        cells: The numbers of each part of an entry.
        said: A part in words.
    """

    name: str
    head: str
    cells: Callable[[Listed], Mapping[Adl, summaries.Cell] | Mapping[str, summaries.Cell]]
    said: Callable[[str], str]

    def sheet(self, listed: Listed) -> Sheet:
        """The numbers of an entry's parts; no rows where its scenarios do not say."""
        cells = self.cells(listed)
        scale = Scale.over([cell.score for cell in cells.values()])
        shares = Scale.over([cell.severe.share for cell in cells.values()], (0, 0.1))
        small = any(cell.small for cell in cells.values())
        rubric = listed.rubric.value
        return Sheet(
            self.name,
            f"By {self.head.lower()}, {rubric}",
            (
                Column(self.name.removeprefix("by-"), self.head),
                amounts("n", "Scenarios"),
                error_shares("severe", "Severe errors", f"{rubric}, responses with any"),
                estimates("score", "Score", f"{rubric}, 95% interval"),
            ),
            tuple(
                (
                    Cell(_capital(self.said(key)), (str(key),), place),
                    number(cell.n, mark="*" if cell.small else ""),
                    errors(cell.severe, shares, tone="harm", brief=cell.small),
                    estimate(cell.score, scale, brief=cell.small),
                )
                for place, (key, cell) in enumerate(cells.items())
            ),
            note=_SMALL if small else "",
            part=_ALL_SYSTEMS,
        )


BY_ADL = Division("by-adl", "Activity", lambda listed: listed.summary.by_adl, str)

OTHERS = (
    Division("by-condition", "Condition", lambda listed: listed.detail.by_condition, condition),
    Division("by-situation", "Situation", lambda listed: listed.detail.by_situation, plain),
    Division("by-assistance", "Usual help", lambda listed: listed.detail.by_assistance, assistance),
    Division("by-actor", "Who helps", lambda listed: listed.detail.by_actor, plain),
)
"""The divisions beside that by activity."""


def by_domain(listed: Listed) -> Sheet:
    """By domain of competence."""
    cells, rubric = listed.summary.by_domain, listed.rubric.value
    scale = Scale.over([cell.score for cell in cells.values()])
    return Sheet(
        "by-domain",
        f"By domain of competence, {rubric}",
        (
            Column("domain", "Domain"),
            amounts("n", "Scenarios"),
            estimates("score", "Score", f"{rubric}, weighted by domain"),
        ),
        tuple(
            (
                Cell(DOMAINS.get(Domain(domain), domain), (str(domain),)),
                number(cell.n),
                estimate(cell.score, scale),
            )
            for domain, cell in cells.items()
        ),
        note=BY_DOMAIN,
        part=_ALL_SYSTEMS,
        sortable=False,
    )


PARTS: Mapping[str, Callable[[Listed], Sheet]] = {
    BY_ADL.name: BY_ADL.sheet,
    "by-domain": by_domain,
    **{division.name: division.sheet for division in OTHERS},
}
"""Name of a file → the numbers of one entry that it has of all."""


def all_parts(site: Contents, of: str) -> Sheet:
    """One of `PARTS` over all entries; only a file."""
    sheets = [PARTS[of](listed) for listed in site.listed]
    names = (Column("system", "System"), Column("grader", "Grader"), Column("rubric", "Rubric"))
    each = [
        (listed, row)
        for listed, sheet in zip(site.listed, sheets, strict=True)
        for row in sheet.rows
    ]
    columns = tuple(replace(c, about="") for c in sheets[0].columns) if sheets else ()
    return Sheet(
        of,
        f"{_capital(of.replace('-', ' '))}, all systems",
        (*names, *columns),
        tuple(
            (words(e.name), words(e.summary.grader), words(e.rubric.value), *row) for e, row in each
        ),
        origins=tuple(e.provenance for e, _ in each),
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
