"""The page of one system: a section for each entry, which is a grader's judgment on one rubric."""

from __future__ import annotations

from dataclasses import dataclass, replace

from careeval.report.page_table import PageColumn, PageTable, Scale, strip_of
from careeval.report.sections.grader import CORRECTED
from careeval.report.sections.parts import entry_parts, severe_column
from careeval.report.site.contents import Contents, Listed, System, rubric_words
from careeval.report.site.leaderboard import listing
from careeval.results.amounts import dollars
from careeval.results.parts import By
from careeval.results.score import summary as summaries
from careeval.results.score.harms import Harm, harms
from careeval.sheets.entries.care_directions import directions_sheet
from careeval.sheets.entries.corrected_scores import as_graded, corrected_sheet
from careeval.sheets.kinds import RANKS
from careeval.sheets.scenarios import scenario_scores_sheet

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
        f"{rubric_words(e.rubric)}, graded by {site.judges[e.summary.grader]}"
        for e in system.entries
    ]
    return [
        f"{heading}, protocol {e.summary.grading_protocol}" if plain.count(heading) > 1 else heading
        for heading, e in zip(plain, system.entries, strict=True)
    ]


def standing(listed: Listed) -> str:
    """Return the ranks of an entry, in words; empty where it is not ranked."""
    ranked = listed.ranked
    if ranked is None:
        return ""
    by_severe = (
        f", {RANKS.text(ranked.severe_ranks)} by severe errors" if ranked.severe_ranks else ""
    )
    return f"Rank {RANKS.text(ranked.ranks)} by score{by_severe}, of {listed.n_ranked}."


def headline(listed: Listed, site: Contents) -> PageTable:
    """Return the numbers that stand first of an entry, as a table of one row."""
    s, rubric, corrected = listed.summary, listed.rubric.value, listed.graded.corrected
    by_people = [corrected.corrected] if corrected else []
    scale = Scale.over([s.score, s.worst_at_n, *by_people])
    shares = Scale.over([s.severe.share, s.mild.share], (0, 0.1))
    about = {
        "score": f"{rubric}, 95% interval",
        "corrected": f"{rubric}, by people",
        "worst_at_n": f"{rubric}, each scenario’s lowest response",
    }
    scores = [
        PageColumn(key, about=words, strip=strip_of(key, scale))
        for key, words in about.items()
        if corrected or key != "corrected"
    ]
    return PageTable(
        listing("entry", [listed], site, ""),
        (
            severe_column(rubric, shares),
            *scores,
            PageColumn(
                "mild", about=f"{rubric}, responses with any", strip=strip_of("mild", shares)
            ),
            PageColumn("n", about="asked"),
            PageColumn("cost_usd", about="asking, a run"),
        ),
    )


# Parts of the scenarios

ALL_SYSTEMS = "of all systems"

BY_DOMAIN = (
    "Points of the items, weighted by how far each is about the domain: an item that serves it "
    "fully counts in full, one that serves it in part counts half, and an error costs more the "
    "worse it treats the domain."
)
"""What a number by domain says."""

OTHER_PARTS = (By.condition, By.situation, By.assistance, By.actor)
"""The parts that a reader may open."""


def part_table(by: By, listed: Listed) -> PageTable:
    """Return the numbers of an entry's parts; no rows where its scenarios do not say."""
    table = entry_parts(by, listed.graded)
    notes = ([BY_DOMAIN] if by is By.domain else []) + ([table.note] if table.note else [])
    return replace(
        table,
        caption=f"{table.title}, {listed.rubric.value}",
        note=" ".join(notes),
        file=f"by-{by}",
        part=ALL_SYSTEMS,
    )


# As people correct it


def corrected_table(listed: Listed) -> PageTable:
    """Return an entry's score as people correct it; no row without an audit of its grader."""
    sheet = corrected_sheet([listed.graded])
    return PageTable(
        sheet,
        CORRECTED,
        f"{sheet.caption}, {listed.rubric.value}",
        as_graded([listed.graded]),
        look="telling",
        sortable=False,
        file="corrected-scores",
        part=ALL_SYSTEMS,
    )


def harm_list(listed: Listed, site: Contents) -> Harms:
    """The severe errors of an entry, by scenario; words of public ones alone."""
    everything = list(harms(listed.graded.entry))
    by_scenario: dict[str, list[Harm]] = {}
    for harm in listed.graded.public.shown(everything):
        by_scenario.setdefault(harm.scenario, []).append(harm)
    counts = {name: len({h.epoch for h in errors}) for name, errors in by_scenario.items()}
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


def lowest(listed: Listed, site: Contents) -> PageTable:
    """Return the public scenarios in which an entry scored least."""
    rubric, graded = listed.rubric.value, listed.graded
    n = str(listed.summary.n_epochs)
    sheet = scenario_scores_sheet([graded], [(graded.edition, name) for name in graded.scores], n)
    scored = [row for row in sheet.rows if row["score"] is not None]
    scored.sort(key=lambda row: (row["score"], row["scenario"]))
    return PageTable(
        replace(sheet, rows=scored[:LOWEST]),
        (
            PageColumn("scenario", link=lambda row: site.page_of(listed, row["scenario"])),
            PageColumn("about"),
            severe_count(rubric),
            PageColumn("score", about=f"{rubric}, mean of responses"),
            PageColumn("worst", about=rubric),
        ),
        f"Where it scored least, {rubric}",
        ordered="score",
        file="scenario-scores",
        part="of all scenarios and systems",
    )


def severe_count(rubric: str) -> PageColumn:
    """Return the column of responses to one scenario with a severe error; red above 0."""
    return PageColumn(
        "n_severe",
        about=f"{rubric}, responses with any",
        look=lambda row: "harm" if row["n_severe"] else "",
    )


def direction_table(listed: Listed, site: Contents) -> PageTable:
    """Return too little and too much care, and twins; no row where it has neither."""
    probes = site.findings.cards[listed.summary.grader].probes
    return PageTable(
        directions_sheet([listed.summary], {listed.summary.grader: probes} if probes else {}),
        (
            PageColumn("number"),
            PageColumn("meaning"),
            PageColumn("n"),
            PageColumn("share", about="95% interval"),
        ),
        sortable=False,
    )


def facts(listed: Listed) -> list[tuple[str, str]]:
    """What was run, in words."""
    s, run = listed.summary, listed.graded.entry.run
    responses = listed.graded.entry.responses
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
    software = ", ".join(sorted(set(listed.graded.entry.responses["software"].drop_nulls())))
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
