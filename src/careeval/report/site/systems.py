"""The page of one system as one grader judged it."""

from __future__ import annotations

from dataclasses import dataclass

from careeval.core.scenario import Rubric
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
    number,
    score,
    words,
)
from careeval.report.words import condition, plain
from careeval.results import summary as summaries
from careeval.results.corrected import Scores
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


def headline(listed: Listed, corrected: Scores) -> list[Tile]:
    """What stands first on an entry's page.

    Args:
        listed: The entry.
        corrected: Its scores as people correct them, where they read its answers.
    """
    s = listed.summary
    shares = [severe_share(errors) for errors in (s.severe, s.action_severe)]
    by_people = [of.corrected for rubric, of in corrected.items() if rubric is Rubric.ladder]
    scale = Scale.over([s.score, s.worst_at_n, s.action_score, *by_people])
    return [
        Tile("Score, ladder", "95% interval", estimate(s.score, scale)),
        *(Tile("Corrected", "ladder, by people", estimate(e, scale)) for e in by_people),
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
