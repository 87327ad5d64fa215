"""Text on how far each grader can be trusted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from careeval.report.page_table import PageTable
from careeval.report.sections.grader import corrected_by
from careeval.report.sections.section import Report
from careeval.results.graders import NOT_AUDITED, NOT_TRIED, Contradiction, GraderCard
from careeval.results.probe_check import ProbeAgreement
from careeval.sheets.kinds import COUNT, DASH, SHARE, NumberKind, Unit

_ROUGH = NumberKind(unit=Unit(decimals=0))
_MOST_NAMED = 3
_UNKNOWN_VENDOR = "its vendor is not known, so this is unknown"


@dataclass(frozen=True)
class GraderSummary:
    """A grader's card as text: how far the grader's judgments can be trusted."""

    name: str  # Name of the grader's model
    mode: str  # Mode of the grader, and the hash of its prompt
    short: tuple[tuple[str, str], ...]  # The main facts, each as a term and its text
    facts: tuple[tuple[str, tuple[str, ...]], ...]  # Further facts, each as a term and its lines
    corrected: PageTable  # Scores by the grader that an audit corrected; no row without an audit


def grader_summaries(report: Report) -> Iterator[GraderSummary]:
    """Yield the summary of each grader of a report."""
    for card in report.findings.cards.values():
        grader = card.grader
        facts = [("Contradictions", tuple(_contradictions(card))), ("Whole name", (card.grader,))]
        if card.probes is not None:
            facts.insert(0, ("On labelled probes", (as_sentence(card.probes.sentence()),)))
        yield GraderSummary(
            grader.model,
            grader.setting,
            tuple(_in_short(card)),
            tuple(facts),
            corrected_by(card.grader, report.findings),
        )


def _in_short(card: GraderCard) -> Iterator[tuple[str, str]]:
    yield "Vendor", card.vendor or "unknown: its name does not say"
    probes = NOT_TRIED if card.probes is None else _on_probes(card.probes)
    yield "On labelled probes", as_sentence(probes)
    yield "By people", as_sentence(NOT_AUDITED if card.human is None else card.human.sentence())
    if off := _off(card):
        yield "Its scores, by people", as_sentence(off)
    own = "none of these systems is its vendor’s" if card.vendor else _UNKNOWN_VENDOR
    if card.own_vendor:
        own = f"it judges its own vendor’s {', '.join(card.own_vendor)}"
    yield "Own vendor", as_sentence(own)
    n, n_judgments = COUNT.text(card.n_unresolved), COUNT.text(card.n_judgments)
    unresolved = f"{n} of {n_judgments} judgments"
    if card.n_judgments:
        unresolved += f", {SHARE.page_text(card.n_unresolved / card.n_judgments)}"
    yield "Unresolved", as_sentence(unresolved)


def trust_line(card: GraderCard) -> str:
    """Return the main facts of a grader's card as one line, for a board."""
    probes = NOT_TRIED
    if card.probes is not None:
        probes = f"on the labelled probes it {_finds(card.probes, ' and')}"
        probes += ", and fails them" if card.failed else ""
    human = NOT_AUDITED if card.human is None else "audited by people"
    own = f"its own vendor’s: {', '.join(card.own_vendor)}" if card.own_vendor else ""
    return as_sentence("; ".join(part for part in (f"its grader: {probes}", human, own) if part))


def _on_probes(probes: ProbeAgreement) -> str:
    verdict = "fails them" if probes.failed else "does not fail them"
    return f"{verdict}: {_finds(probes, ',')}"


def _finds(probes: ProbeAgreement, joined: str) -> str:
    finds, clears = (
        DASH if share is None else _ROUGH.page_text(share)
        for share in (probes.overall.sensitivity, probes.overall.specificity)
    )
    return f"finds {finds} of what is there{joined} clears {clears} of what is not"


_OFF = {
    "less": "too high for {}",
    "more": "too low for {}",
    "as much": "not shown to be off for {}",
    "": "not known to be right or wrong for {}",
}


def _off(card: GraderCard) -> str:
    """Return which scores an audit finds too high, too low or neither; empty without an audit."""
    by_verdict: dict[str, list[str]] = {}
    for (system, rubric), score in card.corrected.items():
        by_verdict.setdefault(score.people_give, []).append(f"{system} ({rubric.value})")
    parts = []
    for verdict, words in _OFF.items():
        if names := by_verdict.get(verdict):
            many = len(names) > _MOST_NAMED
            parts.append(words.format(f"{len(names)} scores" if many else ", ".join(names)))
    return "; ".join(parts)


_CONTRADICTIONS = {
    Contradiction.top_without_next: "of the +2 without their +1",
    Contradiction.rung_without_act: "of the rungs without their acts",
    Contradiction.acts_without_rung: "of whole sets of acts without their rung",
    Contradiction.excluded_pair: "of excluding pairs both present",
}


def _contradictions(card: GraderCard) -> Iterator[str]:
    """Yield the known rate of each kind of contradiction, then the unknown kinds with reasons."""
    counts = card.contradictions
    with_opportunities = {kind: count for kind, count in counts.items() if count.opportunities}
    for kind, count in with_opportunities.items():
        of_n = f"{COUNT.text(count.count)} of {COUNT.text(count.opportunities)}"
        yield f"{SHARE.page_text(count.share)} {_CONTRADICTIONS[kind]} ({of_n})"
    if not with_opportunities:
        yield "No judgments that could contradict each other."
    for reason in dict.fromkeys(count.reason for count in counts.values() if count.reason):
        kinds = (_CONTRADICTIONS[kind] for kind, count in counts.items() if count.reason == reason)
        yield f"Unknown {' and '.join(kinds)}: {reason}."


def as_sentence(words: str) -> str:
    """Return a text with a capital letter first and a full stop at the end."""
    return f"{words[:1].upper()}{words[1:]}{'' if words.endswith('.') else '.'}"
