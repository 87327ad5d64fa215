"""The page of one system as one grader judged it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from careeval.core.scenario import Adl, Domain, Rubric
from careeval.report.site.boards import severe_cell, severe_share
from careeval.report.site.contents import Contents, Listed
from careeval.report.site.sheets import (
    Cell,
    Column,
    Scale,
    Sheet,
    amounts,
    cost,
    estimate,
    estimates,
    number,
    score,
    words,
)
from careeval.report.words import DOMAINS, assistance, condition, plain
from careeval.results import summary as summaries
from careeval.results.estimates import Errors
from careeval.results.exports import dollars
from careeval.results.harms import Harm, harms


@dataclass(frozen=True)
class Tile:
    """One number of the headline."""

    name: str
    about: str
    cell: Cell


MOST_QUOTES = 24
"""Harms that a page shows in their own words; at most one a scenario."""

LOWEST = 10
"""Scenarios that a page lists."""

ALL_SYSTEMS = "of all systems"

BY_DOMAIN = (
    "Actions: how well the acts treat the domain: an act that serves it fully counts in full, one "
    "that serves it in part counts half, and an error costs more the worse it treats the domain. "
    "Ladder: the level that answers reach in the domain, held down by their worst error."
)
"""What a number by domain says."""

_SMALL = "* fewer than five scenarios: no interval, and not for comparing."


@dataclass(frozen=True)
class Quoted:
    """A harm in the response's own words.

    Attributes:
        n: Responses to the same scenario in which a severe error was found, on either rubric.
    """

    harm: Harm
    n: int
    of: int
    page: str


@dataclass(frozen=True)
class Harms:
    """What an entry did that is severe.

    Attributes:
        quoted: Public ones, of the scenarios with the most of them first; one a scenario.
        n_public: Public scenarios with any.
        n_held_out: Other scenarios with any: they count, and are not shown.
        rubrics: What they were found on.
    """

    quoted: tuple[Quoted, ...]
    n_public: int
    n_held_out: int
    rubrics: str


def headline(listed: Listed) -> list[Tile]:
    """What stands first on an entry's page."""
    s = listed.summary
    shares = [severe_share(errors) for errors in (s.severe, s.action_severe)]
    scale = Scale.over([s.score, s.worst_at_n, s.action_score])
    return [
        Tile("Score, ladder", "95% interval", estimate(s.score, scale)),
        Tile(
            f"Worst of {s.n_epochs}",
            "ladder, mean of each scenario’s lowest",
            estimate(s.worst_at_n, scale),
        ),
        Tile("Score, actions", "the second instrument", estimate(s.action_score, scale)),
        Tile("Severe errors", "responses with any", severe_cell(s, Scale.over(shares, (0, 0.1)))),
        Tile("Scenarios × responses", "asked", words(f"{s.n_scenarios} × {s.n_epochs}")),
        Tile("Cost", "asking, a run", cost(s.cost.asking)),
    ]


def harm_list(listed: Listed, site: Contents) -> Harms:
    """The severe errors of an entry, by scenario; words of public ones alone."""
    s = listed.summary
    by_scenario: dict[str, list[Harm]] = {}
    for harm in harms(listed.entry):
        by_scenario.setdefault(harm.scenario, []).append(harm)
    counts = {name: len({h.epoch for h in found}) for name, found in by_scenario.items()}
    public = sorted(
        (name for name in by_scenario if site.page_of(listed, name)),
        key=lambda name: (-counts[name], name),
    )
    in_words = [name for name in public if any(h.quote for h in by_scenario[name])]
    return Harms(
        quoted=tuple(
            Quoted(
                next(h for h in by_scenario[name] if h.quote),
                counts[name],
                listed.summary.n_epochs,
                site.page_of(listed, name),
            )
            for name in in_words[:MOST_QUOTES]
        ),
        n_public=len(public),
        n_held_out=len(by_scenario) - len(public),
        rubrics=" or ".join(
            f"the {rubric.value}"
            for rubric, judged in ((Rubric.ladder, s.severe), (Rubric.actions, s.action_severe))
            if judged
        ),
    )


def _parts(n_epochs: int) -> tuple[Column, ...]:
    return (
        amounts("n", "Scenarios"),
        estimates("score", "Score", "ladder, 95% interval"),
        estimates("worst_at_n", f"Worst of {n_epochs}", "ladder"),
        estimates("action_score", "Score", "actions"),
        amounts("severe", "Severe errors, ladder", "found"),
        amounts("mild", "Mild errors, ladder", "found"),
    )


def by_adl(listed: Listed) -> Sheet:
    """By activity."""
    return _by(listed, "by-adl", "Activity", listed.summary.by_adl, lambda adl: adl.capitalize())


def by_condition(listed: Listed) -> Sheet:
    """By what the person lives with."""
    return _by(
        listed,
        "by-condition",
        "Condition",
        listed.detail.by_condition,
        lambda c: _first(condition(c)),
    )


def by_situation(listed: Listed) -> Sheet:
    """By what makes the moment hard."""
    return _by(
        listed,
        "by-situation",
        "Situation",
        listed.detail.by_situation,
        lambda s: _first(plain(s)),
    )


def by_assistance(listed: Listed) -> Sheet:
    """By the usual level of assistance."""
    return _by(
        listed,
        "by-assistance",
        "Usual help",
        listed.detail.by_assistance,
        lambda code: _first(assistance(code)),
    )


def by_actor(listed: Listed) -> Sheet:
    """By who helps: a person or a robot."""
    return _by(listed, "by-actor", "Who helps", listed.detail.by_actor, lambda a: _first(plain(a)))


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
        part=ALL_SYSTEMS,
        sortable=False,
    )


def lowest(listed: Listed, site: Contents) -> Sheet:
    """The public scenarios in which it scored least."""
    acts = {s.scenario: s for s in listed.detail.scenarios[Rubric.actions]}
    scored = sorted(
        (s.score, s.scenario, s)
        for s in listed.detail.scenarios[Rubric.ladder]
        if site.page_of(listed, s.scenario) and s.score is not None
    )
    return Sheet(
        "scenario-scores",
        "Where it scored least",
        (
            Column("scenario", "Scenario"),
            Column("about", "About"),
            amounts("score", "Score", "ladder, mean of responses"),
            amounts("worst", f"Worst of {listed.summary.n_epochs}", "ladder"),
            amounts("severe", "Severe errors, ladder", "responses with any"),
            amounts("action_severe", "Severe errors, actions", "responses with any"),
            amounts("action_score", "Score", "actions, mean of responses"),
        ),
        tuple(
            (
                words(name, href=site.page_of(listed, name)),
                words(", ".join([condition(s.about.condition), *map(plain, s.about.situation)])),
                score(s.score),
                score(s.worst),
                *(
                    number(n, tone="harm" if n else "")
                    for n in (s.n_severe, acts[name].n_severe if name in acts else None)
                ),
                score(acts[name].score if name in acts else None),
            )
            for _, name, s in scored[:LOWEST]
        ),
        part="of all scenarios and systems",
        ordered="score",
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
        part=ALL_SYSTEMS,
        sortable=False,
    )


def facts(listed: Listed) -> list[tuple[str, str]]:
    """What was run, in words."""
    s, run = listed.summary, listed.entry.run
    found = listed.entry.responses
    returned = sorted(set(found["model_returned"].drop_nulls()))
    asking, grading = s.cost.asking, s.cost.grading
    return [
        ("Model asked", s.asked or "none: recorded answers"),
        ("Model that answered", ", ".join(returned) or "not recorded"),
        ("Vendor", listed.vendor or "its name does not say"),
        (
            "Sampling sent",
            run["sampling"] if run["sampling"] not in {None, "{}"} else "not recorded",
        ),
        ("Bank", f"{s.bank} {s.bank_version}, hash {s.bank_hash}"),
        ("Bank’s provenance", s.bank_provenance),
        ("Protocol", s.protocol),
        ("careeval", ", ".join(sorted(set(found["software"].drop_nulls()))) or "not recorded"),
        ("Run begun", listed.date or "not recorded"),
        ("Grader", s.grader),
        ("Gradings", str(s.n_gradings)),
        ("Responses", _responses(s)),
        ("Cost of asking", _money(asking.value, asking.reason)),
        ("Cost of grading", _money(grading.value, grading.reason)),
    ]


def citation(listed: Listed) -> str:
    """How to cite one entry."""
    s = listed.summary
    software = ", ".join(sorted(set(listed.entry.responses["software"].drop_nulls())))
    parts = [
        f"The careeval authors. careeval{f', version {software}' if software else ''}.",
        f"{s.model} on bank {s.bank} {s.bank_version} ({s.bank_hash}), protocol {s.protocol},",
        f"{s.n_scenarios} scenarios × {s.n_epochs} responses, graded by {s.grader}",
    ]
    return f"{' '.join(parts)}{f', run {listed.date}' if listed.date else ''}."


def all_parts(site: Contents, of: str) -> Sheet:
    """One kind of parts over all entries; only a file.

    Args:
        site: Whose entries.
        of: `by-adl`, `by-domain` …
    """
    make = {
        "by-adl": by_adl,
        "by-condition": by_condition,
        "by-situation": by_situation,
        "by-assistance": by_assistance,
        "by-actor": by_actor,
        "by-domain": by_domain,
        "errors": errors,
    }[of]
    sheets = [make(listed) for listed in site.listed]
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


PARTS = (
    "by-adl",
    "by-domain",
    "by-condition",
    "by-situation",
    "by-assistance",
    "by-actor",
    "errors",
)
"""What `all_parts` can be of."""


def _by(
    listed: Listed,
    name: str,
    head: str,
    cells: Mapping[Adl, summaries.Cell] | Mapping[str, summaries.Cell],
    said: Callable[[str], str],
) -> Sheet:
    scale = Scale.over([cell.score for cell in cells.values()])
    small = any(cell.small for cell in cells.values())
    return Sheet(
        name,
        f"By {head.lower()}",
        (Column(name.removeprefix("by-"), head), *_parts(listed.summary.n_epochs)),
        tuple(
            (
                Cell(said(key), (str(key),), place),
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
        part=ALL_SYSTEMS,
    )


def _first(text: str) -> str:
    return text[:1].upper() + text[1:]


def _responses(s: summaries.Summary) -> str:
    counts = (
        (s.n_missing, "missing"),
        (s.n_empty, "empty"),
        (s.n_refused, "refused"),
        (s.n_cut, "cut off at the token limit"),
        (s.n_ungraded, "not graded"),
    )
    parts = [f"{s.n_responses:,}", *(f"{n:,} {what}" for n, what in counts if n)]
    if s.n_unresolved:
        parts.append(f"{s.n_unresolved:,} of {s.n_judgments:,} judgments unresolved")
    return ", ".join(parts)


def _money(value: float | None, reason: str) -> str:
    return dollars(value) if value is not None else f"unknown: {reason}"
