"""Cards and tables of entries: main and further numbers, costs, and how to cite them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import polars as pl

from careeval.core.card import Card
from careeval.core.scenario import Adl
from careeval.core.vendors import vendor
from careeval.report.page_table import BarScale, PageColumn, PageTable, Strip, shade
from careeval.report.payload import Payload
from careeval.report.texts import score_name
from careeval.results.compare import Basis, Ranked, Ranking, basis
from careeval.results.entry import Entry
from careeval.results.findings import Findings
from careeval.results.metrics import HEADLINE, IN_DETAIL, MILD, SCORE, SEVERE, SEVERE_BY_KIND
from careeval.sheets.entries import (
    at_k_sheet,
    directions_sheet,
    entries_sheet,
    further_tables,
    metric_field,
    records_sheet,
)
from careeval.sheets.kinds import COUNT, DECIMAL, ESTIMATE, RANKS, Kind
from careeval.sheets.latex import escaped
from careeval.sheets.parts import SCENARIO_SCORE, pivot, scenarios_sheet
from careeval.sheets.sheet import Row
from careeval.sheets.words import brief_grader_names, entry_names, headline_sentence


@dataclass(frozen=True, eq=False)
class Report:
    """The data that the sections of a report show."""

    findings: Findings  # The results; may be empty
    words_shown: bool  # True if the texts of responses, quotes and reasons are included
    payload: Payload  # The responses in the form of the response reader

    @property
    def entries(self) -> Sequence[Entry]:
        """Entries: each is one system as one grader judged it on one rubric."""
        return self.findings.entries

    @property
    def has_one_entry(self) -> bool:
        """Tell whether there is only one entry; tables then leave out its name."""
        return len(self.entries) == 1

    @cached_property
    def unranked(self) -> frozenset[str]:
        """Names of the entries that may not be ranked."""
        names = entry_names(self.entries)
        pairs = zip(names, self.entries, strict=True)
        return frozenset(name for name, s in pairs if s.not_ranked)

    @cached_property
    def rubrics(self) -> tuple[str, ...]:
        """Rubrics that were judged."""
        return distinct(s.rubric.value for s in self.entries)

    @property
    def score_name(self) -> str:
        """Name of the score, with the rubric if all entries have the same rubric."""
        return score_name(self.entries)

    @cached_property
    def banks(self) -> tuple[str, ...]:
        """Banks with their versions."""
        return distinct(f"{s.bank} {s.bank_version}" for s in self.entries)

    @cached_property
    def protocols(self) -> tuple[str, ...]:
        """Versions of the protocol used for asking or grading."""
        return protocols(self.entries)

    @cached_property
    def dates(self) -> tuple[str, ...]:
        """Days on which runs began, in order."""
        return days(self.findings.public.runs.responses)


def distinct(values: Iterable[str]) -> tuple[str, ...]:
    """Return each distinct value once, in order of first use."""
    return tuple(dict.fromkeys(values))


# Cards of entries, each with its two main numbers first

LOOKS = {SEVERE.key: "harm", SCORE.key: "score", MILD.key: "mild"}
"""Key of a metric → CSS class of its colour."""


@dataclass(frozen=True)
class Fact:
    """One number on the card of an entry."""

    head: str
    look: str
    text: str
    lines: tuple[str, ...]  # Small lines below the number
    rank: str = ""  # The ranks that the entry may have; empty if fewer than two entries are ranked

    @staticmethod
    def of(kind: Kind, value: object, head: str, look: str = "", rank: str = "") -> Fact:
        """Return the fact that shows a value of this kind."""
        return Fact(head, look, kind.page_text(value), kind.lines(value), rank)


@dataclass(frozen=True)
class EntryCard:
    """The card of one entry on the first screen."""

    name: str
    sentence: str  # The two main numbers as a sentence
    facts: tuple[Fact, ...]  # All headline numbers
    notes: tuple[str, ...]  # Numbers of scenarios, epochs, and missing or unresolved data
    not_ranked_reason: str  # Reason why the entry may not be ranked; empty if it may


def cards_by_ranking(findings: Findings) -> Iterator[tuple[Ranking, list[EntryCard]]]:
    """Yield each ranking, the largest first, with the cards of its entries in their order."""
    for ranking in sorted(findings.rankings, key=lambda r: -len(r.ranked) - len(r.left_out)):
        ranked = {each.place: each for each in ranking.ranked}
        several = len(ranked) > 1
        cards = []
        for place, each in enumerate(findings.entries):
            if basis(each) == ranking.basis:
                rank = ranked.get(place)
                reason = "" if rank else ranking.left_out.get(each.system, "")
                cards.append(entry_card(each, rank if several else None, reason))
        yield ranking, cards


def entry_card(s: Entry, ranked: Ranked | None, not_ranked_reason: str) -> EntryCard:
    """Return the card of an entry.

    Args:
        s: The entry.
        ranked: Its ranks; `None` if it has none to show.
        not_ranked_reason: Reason why it may not be ranked; empty if it may.
    """
    facts, notes = [*_facts(s, ranked)], [*_notes(s)]
    if (corrected := s.corrected) is not None:
        facts.append(Fact.of(ESTIMATE, corrected.corrected, "Score, corrected by people"))
        n, n_responses = COUNT.text(corrected.n_judgments), COUNT.text(corrected.n_responses)
        notes.append(f"{n} judgments read by people in {n_responses} responses")
    return EntryCard(s.name, headline_sentence(s), tuple(facts), tuple(notes), not_ranked_reason)


def _facts(s: Entry, ranked: Ranked | None) -> Iterator[Fact]:
    ranks = {SCORE.key: ranked.ranks, SEVERE.key: ranked.severe_ranks} if ranked else {}
    for metric in HEADLINE:
        field = metric_field(metric, str(s.n_epochs))
        # name the rubric, since scores on two rubrics do not compare
        head = f"{field.heading}, {s.rubric}" if metric is SCORE else field.heading
        rank = RANKS.text(ranks[metric.key]) if metric.key in ranks else ""
        yield Fact.of(field.kind, s.numbers[metric.key], head, LOOKS.get(metric.key, ""), rank)


def _notes(s: Entry) -> Iterator[str]:
    yield f"{s.n_scenarios} scenarios × {s.n_epochs} epochs"
    if s.n_missing:
        yield f"{s.n_missing} missing"
    if s.n_unresolved:
        yield f"{s.n_unresolved} of {COUNT.text(s.n_judgments)} judgments unresolved"


_DIFFERENCES = {
    "grader": "judged by {}",
    "bank": "bank {}",
    "bank_n": "version {} of the bank",
    "bank_hash": "scenarios {}",
    "protocol_n": "asked by protocol {}",
    "grading_n": "judged by protocol {}",
    "condition": "{}",
}
"""Properties besides the rubric in which rankings can differ → their wording."""


def ranking_caption(own: Basis, findings: Findings) -> str:
    """Return the rubric, and the properties in which the rankings of a report differ."""
    graders = brief_grader_names(s.grader for s in findings.entries)
    names = own._asdict() | {"grader": graders[own.grader], "condition": own.condition}
    parts = [
        words.format(names[key])
        for key, words in _DIFFERENCES.items()
        if names[key] and len({getattr(each.basis, key) for each in findings.rankings}) > 1
    ]
    return ", ".join([f"Rubric: {own.rubric.value}", *parts])


# Tables


def numbers_table(report: Report) -> PageTable:
    """Return a table of the headline numbers of all entries, with intervals."""
    sheet = entries_sheet(report.entries, report.findings.rankings)
    columns = [PageColumn("name", beneath=lambda row: row["not_ranked"])]
    for metric in HEADLINE:
        head = report.score_name if metric is SCORE else ""
        columns.append(PageColumn(metric.key, head))
        if metric is SCORE and any(row["ranks"] for row in sheet.rows):
            columns.append(PageColumn("ranks"))
    if any(s.severe_by_kind for s in report.entries):
        columns += [PageColumn(metric.key) for metric in SEVERE_BY_KIND]
    columns += [
        PageColumn("n", beneath=_missing),
        PageColumn("n_unresolved", beneath=_of_judgments),
    ]
    note = "Errors: responses with at least one. Beneath a number: its 95% interval."
    return PageTable(sheet, tuple(columns), "The numbers in full", note, look="many")


def _missing(row: Row) -> tuple[str, ...]:
    return (f"{COUNT.text(row['n_missing'])} missing",) if row["n_missing"] else ()


def _of_judgments(row: Row) -> tuple[str, ...]:
    return (f"of {COUNT.text(row['n_judgments'])} judgments",)


def at_k_table(report: Report, key: str, caption: str) -> PageTable:
    """Return a table of one number of each entry, with a column per number of responses k."""
    sheet = at_k_sheet(report.entries)
    wide, keys = pivot(sheet, "name", "k", replace(ESTIMATE, if_missing=""), key)
    unknown: dict[str, str] = {
        row["name"]: row[key].reason for row in sheet.rows if row[key].value is None
    }

    def reason(row: Row) -> str:
        return unknown.get(row["name"], "")

    columns = (
        PageColumn("name", beneath=lambda row: (reason(row),)),
        *(PageColumn(k, f"k = {n}", omitted=reason) for n, k in enumerate(keys, start=1)),
    )
    note = "Beneath a number: its 95% interval."
    return PageTable(wide, columns, caption, note, look="many")


def scenarios_table(report: Report) -> PageTable:
    """Return a table of scores by scenario: a column per entry, or one entry's responses."""
    order = {adl.value: place for place, adl in enumerate(Adl)}
    sheet = scenarios_sheet(report.entries)
    rows = sorted(sheet.rows, key=lambda r: (order.get(r["adl"], len(order)), r["scenario"]))
    sheet, caption = replace(sheet, rows=rows), "Every scenario in numbers"
    if report.has_one_entry:
        scale = BarScale.of_numbers(score for row in rows for score in row["epochs"]).wide
        columns = (
            PageColumn("scenario"),
            PageColumn(
                "score",
                report.score_name,
                beneath=lambda row: (row["reason"],),
                strip=lambda row: Strip.of_values(row["epochs"], scale),
            ),
            PageColumn("worst", "Lowest response"),
            PageColumn("n_severe", "With a severe error"),
        )
        note = "Mean score of its responses. A mark is a response, and a tick is 0."
        return PageTable(sheet, columns, caption, note, look="profile close")
    wide, keys = pivot(sheet, "scenario", "name", SCENARIO_SCORE)
    note = (
        "Mean score of its responses in %; beneath it the lowest of them, and how many have a "
        "severe error."
    )
    shaded = (PageColumn(key, look=partial(_shade, key)) for key in keys)
    return PageTable(wide, (PageColumn("scenario"), *shaded), caption, note)


def _shade(key: str, row: Row) -> str:
    return shade(row[key]["score"]) if key in row else ""


def epochs_table(report: Report) -> PageTable:
    """Return a table: how much the epochs of each entry differ, and how long its responses are."""
    columns = (
        PageColumn("name"),
        *(PageColumn(metric.key) for metric in IN_DETAIL),
        PageColumn("reliability_of_mean", beneath=_reliability),
        PageColumn("words"),
        PageColumn("per_100_words"),
    )
    return PageTable(
        entries_sheet(report.entries, in_detail=True),
        columns,
        "Epochs and length of responses",
        "Beneath a number: its 95% interval.",
    )


def _reliability(row: Row) -> Iterable[str]:
    if row["reliability_of_mean"] is None:
        return (row["reliability_reason"],)
    one, n = DECIMAL.text(row["reliability_icc"]), COUNT.text(row["reliability_n_scenarios"])
    return f"one response {one}", f"over {n} scenarios"


def directions_table(findings: Findings, entries: Sequence[Entry]) -> PageTable:
    """Return the table of `directions_sheet`, with graders' errors on the probes of twins.

    A single entry has no column for its name.
    """
    probes = {grader: card.probes for grader, card in findings.cards.items() if card.probes}
    return PageTable(
        directions_sheet(entries, probes),
        (
            *_names(entries),
            PageColumn("number", beneath=lambda row: (row["meaning"],)),
            PageColumn("n"),
            PageColumn("share", about="95% interval"),
        ),
        note="Too little and too much care are never netted: that would reward risk.",
        sortable=len(entries) > 1,
    )


def rubric_tables(entries: Sequence[Entry]) -> Iterator[tuple[PageTable, str]]:
    """Yield the tables of numbers that only entries on some rubrics have, each with its lead."""
    for table in further_tables(entries):
        columns = (*_names(entries), *map(PageColumn, table.shown))
        yield PageTable(table.sheet, columns, sortable=False), table.lead


def _names(entries: Sequence[Entry]) -> tuple[PageColumn, ...]:
    return () if len(entries) == 1 else (PageColumn("name"),)


def costs_table(report: Report) -> PageTable:
    """Return a table of what asking and grading cost."""
    keys = ("name", "cost.asking", "cost.grading", "cost.response")
    sheet = entries_sheet(report.entries)
    return PageTable(sheet, tuple(map(PageColumn, keys)), "What it cost")


def run_facts(entries: Sequence[Entry]) -> list[tuple[str, str]]:
    """Return the facts on what was run, each as name and text.

    Args:
        entries: Entries of one system.
    """
    sheet = records_sheet(entries)
    (record,) = sheet.rows
    if entries[0].asked is None:
        record = {**record, "model": "none: recorded answers"}
    counts = distinct(map(_response_counts, entries))
    return [
        *((field.heading, record[field.key]) for field in sheet.fields[1:]),
        ("Vendor", vendor(entries[0].asked) or "its name does not say"),
        ("Responses", "; ".join(counts)),
        *((("By its submitter’s card", _card_text(card)),) if (card := entries[0].card) else ()),
    ]


def _card_text(card: Card) -> str:
    parts = (
        f"{card.system} ({card.version})",
        f"run by {card.run_by} ({card.relation.replace('_', ' ')}) on {card.date}",
        f"settings: {card.settings}",
        f"contact: {card.contact}" if card.contact else "",
    )
    return "; ".join(filter(None, parts))


def _response_counts(s: Entry) -> str:
    counts = (
        (s.n_missing, "missing"),
        (s.n_empty, "empty"),
        (s.n_refused, "refused"),
        (s.n_malformed, "no plan"),
        (s.n_not_executable, "plans that break off"),
        (s.n_cut, "cut off at the token limit"),
        (s.n_ungraded, "not graded"),
    )
    parts = [f"{s.n_responses:,}", *(f"{n:,} {state}" for n, state in counts if n)]
    if s.n_unresolved:
        parts.append(f"{s.n_unresolved:,} of {s.n_judgments:,} judgments unresolved")
    return ", ".join(parts)


def citations(entries: Sequence[Entry]) -> tuple[str, str]:
    """Return the citation of these entries, as text and as BibTeX; empty without entries."""
    if not entries:
        return "", ""
    responses = pl.concat([each.responses.select("software", "created") for each in entries])
    software = ", ".join(sorted(responses["software"].drop_nulls().unique()))
    dates = days(responses)
    systems = distinct(s.name for s in entries)
    banks = distinct(f"{s.bank} {s.bank_version} ({s.bank_hash})" for s in entries)
    parts = [
        f"{f'{systems[0]} on bank' if len(systems) == 1 else 'Bank'} {', '.join(banks)}",
        f"protocol {', '.join(protocols(entries))}",
        ", ".join(distinct(f"{s.n_scenarios} scenarios × {s.n_epochs} epochs" for s in entries)),
        f"graded by {', '.join(distinct(f'{s.grader} ({s.rubric.value})' for s in entries))}",
        *([f"run on {' to '.join(distinct((dates[0], dates[-1])))}"] if dates else []),
    ]
    source = "; ".join(parts)
    return (
        f"The careeval authors. careeval{software and f', version {software}'}.\n{source}.",
        "@software{careeval,\n"
        "  author  = {{The careeval authors}},\n"
        "  title   = {careeval: an open, independent implementation of the {CareEval} benchmark},\n"
        + (f"  version = {{{software}}},\n" if software else "")
        + (f"  year    = {{{dates[-1][:4]}}},\n" if dates else "")
        + f"  note    = {{{escaped(source)}}}\n}}",
    )


def protocols(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Return the versions of the protocol used for asking or grading."""
    both = ((s.protocol, s.grading_protocol) for s in entries)
    return distinct(version for versions in both for version in versions if version)


def days(responses: pl.DataFrame) -> tuple[str, ...]:
    """Return the days on which the runs of these responses began, in order."""
    moments = responses["created"].drop_nulls()
    return distinct(sorted(moment[: len("2026-11-20")] for moment in moments))
