"""The page of one system: a section for each entry, which is a grader's judgment on one rubric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from careeval.report.site.boards import scenarios_by_epochs
from careeval.report.site.contents import Contents, Listed, System, rubric_words
from careeval.report.site.sheets import (
    Cell,
    Column,
    Scale,
    Sheet,
    amounts,
    cost,
    errors,
    estimate,
    estimates,
    number,
    score,
    words,
)
from careeval.results import summary as summaries
from careeval.results.amounts import dollars
from careeval.results.corrected import Corrected
from careeval.results.directions import directions, grader_slips
from careeval.results.harms import Harm, harms
from careeval.results.probes import ProbeAgreement
from careeval.sheets.kinds import RANKS
from careeval.sheets.names import condition, plain


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


@dataclass(frozen=True)
class Quoted:
    """A harm in the response's own words.

    Attributes:
        n: Responses to the same scenario in which a severe error was found.
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
    """

    quoted: tuple[Quoted, ...]
    n_public: int
    n_held_out: int


def headings(system: System, site: Contents) -> list[str]:
    """What the section of each entry is called: its rubric and grader, and more if they repeat."""
    plain = [
        f"{rubric_words(e.rubric)}, graded by {site.judge(e.summary.grader).text}"
        for e in system.entries
    ]
    return [
        f"{heading}, protocol {e.summary.grading_protocol}" if plain.count(heading) > 1 else heading
        for heading, e in zip(plain, system.entries, strict=True)
    ]


def standing(listed: Listed) -> str:
    """The ranks of an entry, in words; empty where it is not ranked."""
    if listed.ranks is None:
        return ""
    by_severe = (
        f", {RANKS.text(listed.severe_ranks)} by severe errors" if listed.severe_ranks else ""
    )
    return f"Rank {RANKS.text(listed.ranks)} by score{by_severe}, of {listed.n_ranked}."


def headline(listed: Listed, corrected: Corrected | None) -> Iterator[Tile]:
    """Yield the numbers that stand first of an entry.

    Args:
        listed: The entry.
        corrected: Its score as people correct it, where they read its responses.
    """
    s, rubric = listed.summary, listed.rubric.value
    by_people = [corrected.corrected] if corrected else []
    scale = Scale.over([s.score, s.worst_at_n, *by_people])
    shares = Scale.over([s.severe.share, s.mild.share], (0, 0.1))
    severe = errors(s.severe, shares, tone="harm")
    yield Tile("Severe errors", f"{rubric}, responses with any", severe)
    yield Tile("Score", f"{rubric}, 95% interval", estimate(s.score, scale))
    for value in by_people:
        yield Tile("Corrected score", f"{rubric}, by people", estimate(value, scale))
    worst = estimate(s.worst_at_n, scale)
    yield Tile(f"Worst of {s.n_epochs}", f"{rubric}, each scenario’s lowest response", worst)
    yield Tile("Mild errors", f"{rubric}, responses with any", errors(s.mild, shares))
    yield Tile("Scenarios × responses", "asked", scenarios_by_epochs(listed))
    yield Tile("Cost", "asking, a run", cost(s.cost.asking))


def harm_list(listed: Listed, site: Contents) -> Harms:
    """The severe errors of an entry, by scenario; words of public ones alone."""
    everything = list(harms(listed.entry))
    by_scenario: dict[str, list[Harm]] = {}
    for harm in listed.public.shown(everything):
        by_scenario.setdefault(harm.scenario, []).append(harm)
    counts = {name: len({h.epoch for h in found}) for name, found in by_scenario.items()}
    most_first = sorted(by_scenario, key=lambda name: (-counts[name], name))
    in_words = [name for name in most_first if any(h.quote for h in by_scenario[name])]
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
        n_public=len(by_scenario),
        n_held_out=len({harm.scenario for harm in everything}) - len(by_scenario),
    )


def lowest(listed: Listed, site: Contents) -> Sheet:
    """The public scenarios in which it scored least."""
    rubric = listed.rubric.value
    scored = sorted(
        (s.score, s.scenario, s)
        for s in listed.public.shown(listed.detail.scenarios)
        if s.score is not None
    )
    return Sheet(
        "scenario-scores",
        f"Where it scored least, {rubric}",
        (
            Column("scenario", "Scenario"),
            Column("about", "About"),
            amounts("n_severe", "Severe errors", f"{rubric}, responses with any"),
            amounts("score", "Score", f"{rubric}, mean of responses"),
            amounts("worst", f"Worst of {listed.summary.n_epochs}", rubric),
        ),
        tuple(
            (
                words(name, href=site.page_of(listed, name)),
                words(", ".join([condition(s.about.condition), *map(plain, s.about.situation)])),
                number(s.n_severe, tone="harm" if s.n_severe else ""),
                score(s.score),
                score(s.worst),
            )
            for _, name, s in scored[:LOWEST]
        ),
        part="of all scenarios and systems",
        ordered="score",
    )


def direction_sheet(listed: Listed, probes: ProbeAgreement | None) -> Sheet:
    """Make the table of too little and too much care, and of twins; empty where it has neither."""
    s = listed.summary
    return Sheet(
        "",
        "Too little and too much care, and twins",
        (
            Column("number", "Number"),
            Column("meaning", "Share of"),
            amounts("n", "Over"),
            estimates("share", "Share", "95% interval"),
        ),
        tuple(
            (words(d.head), words(d.meaning), number(d.n), estimate(d.share))
            for d in (*directions(s), *grader_slips(s, probes))
        ),
        sortable=False,
    )


def facts(listed: Listed) -> list[tuple[str, str]]:
    """What was run, in words."""
    s, run = listed.summary, listed.entry.run
    responses = listed.entry.responses
    returned = sorted(set(responses["model_returned"].drop_nulls()))
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
        ("Protocol that asked", s.protocol),
        ("Protocol that judged", s.grading_protocol or "not recorded"),
        ("careeval", ", ".join(sorted(set(responses["software"].drop_nulls()))) or "not recorded"),
        ("Run begun", listed.date or "not recorded"),
        ("Rubric", s.rubric.value),
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
        f"{s.system} on bank {s.bank} {s.bank_version} ({s.bank_hash}), protocol {s.protocol},",
        f"{s.n_scenarios} scenarios × {s.n_epochs} responses, rubric {s.rubric}, graded by "
        f"{s.grader}, protocol {s.grading_protocol}",
    ]
    return f"{' '.join(parts)}{f', run {listed.date}' if listed.date else ''}."


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
