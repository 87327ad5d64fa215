"""An entry's numbers in parts: by what its scenarios are about, by domain, by kind of error."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from careeval.core.scenario import Adl, Domain
from careeval.report.site.contents import Contents, Listed
from careeval.report.site.sheets import (
    Cell,
    Column,
    Scale,
    Sheet,
    amounts,
    estimate,
    estimates,
    number,
    words,
)
from careeval.report.words import DOMAINS, assistance, condition, plain
from careeval.results import summary as summaries
from careeval.results.estimates import Errors

_ALL_SYSTEMS = "of all systems"

BY_DOMAIN = (
    "Actions: how well the acts treat the domain: an act that serves it fully counts in full, one "
    "that serves it in part counts half, and an error costs more the worse it treats the domain. "
    "Ladder: the level that answers reach in the domain, held down by their worst error."
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
        small = any(cell.small for cell in cells.values())
        return Sheet(
            self.name,
            f"By {self.head.lower()}",
            (Column(self.name.removeprefix("by-"), self.head), *_columns(listed.summary.n_epochs)),
            tuple(
                (
                    Cell(_capital(self.said(key)), (str(key),), place),
                    number(cell.n, mark="*" if cell.small else ""),
                    estimate(cell.score, scale, brief=cell.small),
                    estimate(cell.worst_at_n, brief=cell.small),
                    estimate(cell.action_score, brief=cell.small),
                    number(cell.severe, tone="harm" if cell.severe else ""),
                    number(cell.mild),
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
    """By domain of competence, as each rubric sees it."""
    cells = listed.summary.by_domain
    scale = Scale.over([e for c in cells.values() for e in (c.action_score, c.ladder_level)])
    return Sheet(
        "by-domain",
        "By domain of competence",
        (
            Column("domain", "Domain"),
            estimates("action_score", "Actions", "how well the acts treat it"),
            amounts("n", "Scenarios", "actions"),
            estimates("ladder_level", "Ladder", "level reached"),
            amounts("n_ladder", "Scenarios", "ladder"),
        ),
        tuple(
            (
                words(DOMAINS.get(Domain(domain), domain)),
                estimate(cell.action_score, scale),
                number(cell.n),
                estimate(cell.ladder_level, scale),
                number(cell.n_ladder),
            )
            for domain, cell in cells.items()
        ),
        note=BY_DOMAIN,
        part=_ALL_SYSTEMS,
        sortable=False,
    )


def errors(listed: Listed) -> Sheet:
    """Severe and mild errors on both rubrics, with three denominators."""
    s = listed.summary
    kinds: Sequence[tuple[str, str, Errors | None]] = (
        ("Severe errors, ladder", "harm", s.severe),
        ("Severe errors, actions", "harm", s.action_severe),
        ("Mild errors, ladder", "", s.mild),
        ("Mild errors, actions", "", s.action_mild),
    )
    known = [(kind, tone, found) for kind, tone, found in kinds if found]
    scale = Scale.over(
        [e for *_, f in known for e in (f.per_opportunity, f.per_response, f.per_scenario)],
        (0, 0.1),
    )
    return Sheet(
        "errors",
        "Errors",
        (
            Column("kind", "Error"),
            amounts("count", "Found"),
            amounts("opportunities", "Items judged"),
            estimates("per_opportunity", "Of items"),
            estimates("per_response", "Of responses", "with any"),
            estimates("per_scenario", "Of scenarios", f"with any in {s.n_epochs}"),
        ),
        tuple(
            (
                words(kind),
                number(found.count),
                number(found.opportunities),
                estimate(found.per_opportunity, scale, tone=tone),
                estimate(found.per_response, scale, tone=tone),
                estimate(found.per_scenario, scale, tone=tone),
            )
            for kind, tone, found in known
        ),
        part=_ALL_SYSTEMS,
        sortable=False,
    )


PARTS: Mapping[str, Callable[[Listed], Sheet]] = {
    BY_ADL.name: BY_ADL.sheet,
    "by-domain": by_domain,
    **{division.name: division.sheet for division in OTHERS},
    "errors": errors,
}
"""Name of a file → the numbers of one entry that it has of all."""


def all_parts(site: Contents, of: str) -> Sheet:
    """One of `PARTS` over all entries; only a file."""
    sheets = [PARTS[of](listed) for listed in site.listed]
    names = (Column("system", "System"), Column("grader", "Grader"))
    each = [
        (listed, row)
        for listed, sheet in zip(site.listed, sheets, strict=True)
        for row in sheet.rows
    ]
    columns = sheets[0].columns if sheets else ()
    caption = sheets[0].caption if sheets else "Nothing has been graded"
    return Sheet(
        of,
        f"{caption}, all systems",
        (*names, *columns),
        tuple((words(by.name), words(by.summary.grader), *row) for by, row in each),
        origins=tuple(by.provenance for by, _ in each),
    )


def _columns(n_epochs: int) -> tuple[Column, ...]:
    return (
        amounts("n", "Scenarios"),
        estimates("score", "Score", "ladder, 95% interval"),
        estimates("worst_at_n", f"Worst of {n_epochs}", "ladder"),
        estimates("action_score", "Score", "actions"),
        amounts("severe", "Severe errors, ladder", "found"),
        amounts("mild", "Mild errors, ladder", "found"),
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
