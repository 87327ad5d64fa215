"""Cards and tables on how far graders can be trusted, and on items that experts should read."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace

from careeval.report.page_table import PageColumn, PageTable
from careeval.results.entry import Entry
from careeval.results.findings import Findings
from careeval.results.graders import NOT_AUDITED, NOT_TRIED, Contradiction, GraderCard
from careeval.results.item_statistics import ItemStatistic
from careeval.results.probe_check import ProbeAgreement
from careeval.sheets.entries import as_graded, corrected_sheet
from careeval.sheets.graders import (
    grader_agreement_sheet,
    grader_pairs_sheet,
    grading_noise_sheet,
    items_sheet,
)
from careeval.sheets.kinds import COUNT, DASH, SHARE, Unit, number_kind
from careeval.sheets.labels import (
    against_people_sheet,
    contradictions_sheet,
    probes_by_points_sheet,
    probes_by_trap_sheet,
)
from careeval.sheets.sheet import Field, Row


def as_sentence(words: str) -> str:
    """Return a text with a capital letter first and a full stop at the end."""
    return f"{words[:1].upper()}{words[1:]}{'' if words.endswith('.') else '.'}"


_ROUGH = number_kind(unit=Unit(decimals=0))


_MAX_NAMED = 3


_UNKNOWN_VENDOR = "its vendor is not known, so this is unknown"


@dataclass(frozen=True, eq=False)
class GraderPanel:
    """A grader's card as text and tables: how far the grader's judgments can be trusted."""

    card: GraderCard
    findings: Findings

    @property
    def name(self) -> str:
        """Name of the grader's model."""
        return self.card.grader.model

    @property
    def mode(self) -> str:
        """Mode of the grader, with the hash of its prompt."""
        return self.card.grader.setting

    @property
    def sentence(self) -> str:
        """What people found of its judgments, and how it did on the probes."""
        card = self.card
        human = NOT_AUDITED if card.human is None else card.human.sentence()
        probes = NOT_TRIED if card.probes is None else card.probes.sentence()
        return f"{as_sentence(human)} {as_sentence(probes)}"

    @property
    def main_facts(self) -> list[tuple[str, str]]:
        """The main facts, each as a term and its text."""
        return list(_in_short(self.card))

    @property
    def further_facts(self) -> list[tuple[str, list[str]]]:
        """Further facts, each as a term and its lines."""
        card = self.card
        facts: list[tuple[str, list[str]]] = [
            ("Judged", [", ".join(card.systems)]),
            ("Contradictions", list(_contradictions(card))),
            ("Whole name", [card.grader]),
        ]
        if card.probes is not None:
            facts.insert(0, ("Probes in detail", [as_sentence(card.probes.sentence())]))
        return facts

    @property
    def entries(self) -> list[Entry]:
        """The entries that it graded."""
        return [each for each in self.findings.entries if each.grader == self.card.grader]

    @property
    def corrected(self) -> PageTable:
        """Its scores that an audit corrected, with their meaning; no row without an audit."""
        caption = f"Scores by {self.name}, corrected by people"
        return corrected_table(self.entries, caption, by_system=True)

    @property
    def tables(self) -> list[PageTable]:
        """Its corrected scores, and how it does against people and on the probes; none is empty."""
        tables = (
            self.corrected,
            *people_tables(self.card, self.findings),
            *probe_tables(self.card, self.findings),
        )
        return [table for table in tables if table.rows]

    @property
    def corrected_in_short(self) -> PageTable:
        """The same in three columns."""
        system = PageColumn("system_name", beneath=lambda row: (row["rubric"],))
        corrected = PageColumn("corrected", "Corrected")
        return replace(self.corrected, columns=(system, _GRADED, corrected), note="", look="")


def grader_panels(findings: Findings) -> dict[str, GraderPanel]:
    """Return grader → its card, in order of name."""
    return {grader: GraderPanel(card, findings) for grader, card in findings.cards.items()}


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
            many = len(names) > _MAX_NAMED
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


MAX_ITEMS = 100
"""Items that a page lists at most; the data file has all."""


HIDDEN = "An item of a scenario that is not public"


def _not_graded(row: Row) -> tuple[str, ...]:
    return ("no response was judged whole",) if row["graded"] is None else ()


_GRADED = PageColumn("graded", beneath=_not_graded)


_CORRECTED = (
    "People judged the same items in a random sample of the responses, without seeing the "
    "grader’s judgments. The corrected score estimates what the score would be if people had "
    "judged every response."
)

CORRECTED = (
    PageColumn("rubric"),
    _GRADED,
    PageColumn("corrected", about="95% interval"),
    PageColumn("n_responses"),
    PageColumn("n_judgments"),
    PageColumn("meaning"),
)


def corrected_table(
    entries: Sequence[Entry], caption: str = "", *, by_system: bool = False
) -> PageTable:
    """Return a table of the scores that an audit corrected; without an audit it has no row.

    Args:
        entries: The entries. A single one has no column for its name.
        caption: Text above the table; by default that of the sheet.
        by_system: Whether the first column is the system alone, since the caption has the rest.
    """
    names = () if len(entries) == 1 and not by_system else ("system_name" if by_system else "name",)
    return PageTable(
        corrected_sheet(entries),
        (*map(PageColumn, names), *CORRECTED),
        caption,
        " ".join((_CORRECTED, as_graded(entries))),
        look="telling",
    )


def people_tables(card: GraderCard, findings: Findings) -> Iterator[PageTable]:
    """Yield tables on how far the grader agrees with people, and people with each other.

    Without an audit there are none.
    """
    if card.human is None:
        return
    name = card.grader.model
    sheet = against_people_sheet(card.human)
    yield PageTable(
        sheet,
        (
            PageColumn("items"),
            PageColumn("n"),
            PageColumn("n_present"),
            PageColumn("sensitivity", "Finds", about="of what is there"),
            PageColumn("specificity", "Clears", about="of what is not"),
            PageColumn("ppv", "Right", about="of what it finds"),
        ),
        f"{name} against people",
        sortable=False,
    )
    yield PageTable(
        sheet,
        (
            PageColumn("items"),
            PageColumn("people.n", about="labelled by two or more"),
            PageColumn("people.same"),
        ),
        "People against each other: the most that can be asked of a grader",
        sortable=False,
    )
    agreement = grader_agreement_sheet(findings).where(grader=card.grader)
    for pair, between in ((f"{name} and people", "people"), ("People and people", "raters")):
        yield PageTable(
            agreement.where(between=between),
            AGREEMENT,
            f"{pair}, by points of the item",
            sortable=False,
        )


AGREEMENT = (
    PageColumn("rubric"),
    PageColumn("points"),
    PageColumn("n", about="that both made"),
    PageColumn("n_both", about="call it present"),
    PageColumn("n_either", about="calls it present"),
    PageColumn("positive_agreement", about="95% interval"),
    PageColumn("ac1", about="95% interval"),
)
"""Columns on how far readers (graders, people, labels) agree on the items of a point class."""


def _gradings(row: Row) -> tuple[str, ...]:
    return (f"up to {COUNT.text(row['n_gradings'])} gradings",)


def noise_table(findings: Findings) -> PageTable:
    """Return a table of grading noise, from responses that a grader graded several times.

    Each system, grader and rubric with such responses has a row.
    """
    shares = (
        PageColumn(f"{part}_share", about="of the variance", beneath=lambda row: (row["reason"],))
        for part in ("scenario", "response", "grading")
    )
    return PageTable(
        grading_noise_sheet(findings),
        (
            PageColumn("system_name"),
            PageColumn("grader"),
            PageColumn("rubric"),
            PageColumn("n_regraded", about="responses", beneath=_gradings),
            PageColumn("flipped"),
            *shares,
            PageColumn("worst_at_n"),
            PageColumn("corrected_worst_at_n", about="without the grader’s noise"),
        ),
    )


def pairs_table(findings: Findings) -> PageTable:
    """Return a table of the agreement of each pair of graders on the same responses, by points."""
    return PageTable(
        grader_pairs_sheet(findings),
        (PageColumn("a"), PageColumn("b"), PageColumn("systems"), *AGREEMENT),
        sortable=False,
    )


_PROBE_COLUMNS = (
    PageColumn("present"),
    PageColumn("found"),
    PageColumn("sensitivity", about="of what is there"),
    PageColumn("absent"),
    PageColumn("cleared"),
    PageColumn("specificity", about="of what is not"),
    PageColumn("unresolved"),
)


def probe_tables(card: GraderCard, findings: Findings) -> Iterator[PageTable]:
    """Yield tables of a grader's results on the probes, by points and by trap; may have no rows."""
    name = card.grader.model
    yield PageTable(
        probes_by_points_sheet(findings).where(grader=card.grader),
        (*AGREEMENT[:2], *_PROBE_COLUMNS, *AGREEMENT[-2:]),
        f"{name} on the probes, by points of the item",
        sortable=False,
    )
    yield PageTable(
        probes_by_trap_sheet(findings).where(grader=card.grader),
        (PageColumn("trap"), *_PROBE_COLUMNS),
        f"{name} on the probes, by trap",
    )


def contradictions_table(findings: Findings) -> PageTable:
    """Return a table: how often each grader's judgments contradict each other."""
    return PageTable(
        contradictions_sheet(findings),
        (
            PageColumn("grader"),
            PageColumn("kind", beneath=lambda row: (row["reason"],)),
            PageColumn("count"),
            PageColumn("opportunities"),
            PageColumn("share"),
        ),
        sortable=False,
    )


_WHY = Field("why", "why experts should read it", in_files=False)


def odd_items_table(items: Sequence[ItemStatistic], hidden: Container[str]) -> PageTable:
    """Return a table of the items that experts should read, those against the rest first.

    Args:
        items: All items.
        hidden: Scenarios whose items are shown without their texts.
    """
    odd = sorted((item for item in items if why_odd(item)), key=_lowest_first)
    shown = odd[:MAX_ITEMS]
    more = (
        {"why": why_odd(item)} | ({"text": HIDDEN} if item.scenario in hidden else {})
        for item in shown
    )
    n = COUNT.text(len(odd))
    return PageTable(
        items_sheet(shown).with_fields(_WHY, rows=more),
        (
            PageColumn("scenario"),
            PageColumn("text"),
            PageColumn("rubric"),
            PageColumn("points"),
            PageColumn(
                "presence", lines=False, beneath=lambda row: (f"of {COUNT.text(row['n'])}",)
            ),
            PageColumn("rest", about="correlation over systems"),
            PageColumn("why"),
        ),
        "Items to ask experts about",
        f"{n} of {COUNT.text(len(items))} items; none is dropped for it."
        + (f" The first {MAX_ITEMS} are shown." if len(odd) > MAX_ITEMS else ""),
    )


def _lowest_first(item: ItemStatistic) -> tuple[float, str, str]:
    rest = item.rest.value
    return 2 if rest is None else rest, item.scenario, item.item


def why_odd(item: ItemStatistic) -> str:
    """Return the reasons why experts should read an item; empty if there is none.

    An error that is never present is what one hopes for, and no reason.
    """
    reasons = {
        "always present": item.always,
        "never present": item.never and item.points > 0,
        "goes against the rest": item.rest.value is not None and item.rest.value < 0,
    }
    return ", ".join(reason for reason, holds in reasons.items() if holds)


def over_graders(
    findings: Findings, items: Sequence[ItemStatistic], hidden: Container[str]
) -> list[tuple[str, str, PageTable]]:
    """Return the tables over all graders and items that have a row, each with heading and lead.

    Args:
        findings: The results.
        items: The items to choose odd ones from.
        hidden: Scenarios whose items are shown without their texts.
    """
    evidence = (
        (
            "Contradictions",
            "Judgments that cannot both be true, a measure of the grader that needs no labels.",
            contradictions_table(findings),
        ),
        (
            "Agreement between graders",
            "Judgments of the same responses by two graders. Agreement is not correctness: two can "
            "be wrong together.",
            pairs_table(findings),
        ),
        (
            "Judging the same responses again",
            "The sources of the variance of a judged response, and the worst of n if the grader "
            "did not vary.",
            noise_table(findings),
        ),
        (
            "Items to ask experts about",
            "Items found always, never, or on which otherwise better systems do worse. Experts "
            "should read them; none is dropped for it.",
            odd_items_table(items, hidden),
        ),
    )
    return [each for each in evidence if each[2].rows]
