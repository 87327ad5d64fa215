"""How far the numbers can be trusted: the bank, the graders, the instruments, the items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from careeval.core.scenario import Rubric
from careeval.report.site.boards import worst_of
from careeval.report.site.contents import Contents, mode, short
from careeval.report.site.sheets import (
    Cell,
    Column,
    Scale,
    Sheet,
    amounts,
    decimal,
    estimate,
    estimates,
    number,
    share,
    words,
)
from careeval.report.words import plain, signed
from careeval.results.audit import AuditResults
from careeval.results.details import Instrument
from careeval.results.grader_card import NOT_AUDITED, NOT_TRIED, GraderCard
from careeval.results.items import ItemStatistic
from careeval.results.ladder_check import Contradiction
from careeval.results.probes import Agreement

MOST_ITEMS = 40
"""Items that the page lists; its file has all."""

LOW_REST = 0.0
"""Correlation with the rest below which an item is sent to experts."""

_AGREEMENT = (
    amounts("present", "Present"),
    amounts("found", "Found"),
    amounts("sensitivity", "Finds", "of what is there"),
    amounts("absent", "Absent"),
    amounts("cleared", "Cleared"),
    amounts("specificity", "Clears", "of what is not"),
    amounts("unresolved", "Unresolved"),
)

_CONTRADICTIONS = {
    Contradiction.top_without_next: "+2 without the +1 that is a part of it",
    Contradiction.rung_without_act: "a rung without an act that it is made of",
    Contradiction.acts_without_rung: "all acts of a rung, and not the rung",
    Contradiction.excluded_pair: "two acts that exclude each other",
}


@dataclass(frozen=True)
class Card:
    """A grader's card as the page shows it.

    Attributes:
        whole: Its name with its mode and the hash of its prompt.
        facts: What is known of it, in words.
        own_vendor: Systems that share its vendor; a reader must see them.
    """

    anchor: str
    whole: str
    name: str
    mode: str
    tried: str
    audited: str
    facts: tuple[tuple[str, str], ...]
    own_vendor: str
    sheets: tuple[Sheet, ...]


def cards(site: Contents) -> list[Card]:
    """A card for each grader, in the order of their names."""
    return [_card(card, site) for card in site.found.cards.values()]


def by_points(site: Contents) -> Sheet:
    """All graders' agreement with the probes by points of the item; only a file."""
    rows = [
        (
            words(card.grader),
            words(rubric.value),
            decimal(points, signed(points)),
            *_agreement(part),
        )
        for card in site.found.cards.values()
        if card.probes
        for (rubric, points), part in card.probes.by_points.items()
    ]
    names = (Column("grader", "Grader"), Column("rubric", "Rubric"), amounts("points", "Points"))
    return Sheet(
        "probes-by-points",
        "Agreement with the probes, by points",
        (*names, *_AGREEMENT),
        tuple(rows),
    )


def by_trap(site: Contents) -> Sheet:
    """All graders' agreement with the probes by trap; only a file."""
    rows = [
        (words(card.grader), words(trap), *_agreement(part))
        for card in site.found.cards.values()
        if card.probes
        for trap, part in card.probes.by_trap.items()
    ]
    names = (Column("grader", "Grader"), Column("trap", "Trap"))
    return Sheet(
        "probes-by-trap", "Agreement with the probes, by trap", (*names, *_AGREEMENT), tuple(rows)
    )


def contradictions(site: Contents) -> Sheet:
    """How often each grader's judgments contradict each other."""
    rows = [
        (
            site.judge(card.grader),
            words(_CONTRADICTIONS[kind]),
            number(found.count),
            number(found.opportunities),
            share(found.share),
        )
        for card in site.found.cards.values()
        for kind, found in card.contradictions.items()
    ]
    return Sheet(
        "contradictions",
        "Judgments that contradict each other",
        (
            Column("grader", "Grader"),
            Column("kind", "What cannot both be true"),
            amounts("count", "Found"),
            amounts("opportunities", "Opportunities"),
            amounts("share", "Share"),
        ),
        tuple(rows),
        sortable=False,
    )


def noise(site: Contents) -> Sheet:
    """What judging the same responses again shows."""
    found = [
        (card.grader, system, noise)
        for card in site.found.cards.values()
        for (system, _), noise in card.noise.items()
    ]
    rows = [
        (
            words(system),
            site.judge(grader),
            words(n.rubric.value),
            Cell(f"{n.n_regraded:,}", (n.n_regraded,), n.n_regraded, (n.reason,)),
            estimate(n.flipped),
            share(n.scenario_share),
            share(n.response_share),
            share(n.grading_share),
            estimate(n.corrected_worst_at_n),
            words(n.reason or "–", tone="weak"),
        )
        for grader, system, n in found
    ]
    return Sheet(
        "grading-noise",
        "Where the spread of scores comes from",
        (
            Column("system", "System"),
            Column("grader", "Grader"),
            Column("rubric", "Rubric"),
            amounts("n_regraded", "Judged again", "responses"),
            estimates("flipped", "Judgments changed"),
            amounts("scenario_share", "Scenario", "of the variance"),
            amounts("response_share", "Response", "of the variance"),
            amounts("grading_share", "Grading", "of the variance"),
            estimates("corrected_worst_at_n", worst_of(site.listed), "without the grader’s noise"),
            Column("reason", "Why not split", hidden=True),
        ),
        tuple(rows),
    )


def grader_pairs(site: Contents) -> Sheet:
    """Graders that judged the same responses, two by two."""
    rows = []
    for pair in site.found.grader_pairs:
        parts = "; ".join(
            f"{signed(p)}: {agree:.0%} of {n:,}" for p, (agree, n) in pair.by_points.items()
        )
        rows.append(
            (
                site.judge(pair.a),
                site.judge(pair.b),
                words(", ".join(pair.systems)),
                number(pair.n),
                estimate(pair.agree),
                _kappa(pair.kappa.value, pair.kappa.ci95, pair.kappa.reason),
                words(parts),
            )
        )
    return Sheet(
        "grader-pairs",
        "Graders two by two",
        (
            Column("a", "One"),
            Column("b", "Other"),
            Column("systems", "Systems"),
            amounts("n", "Judgments"),
            estimates("agree", "The same"),
            amounts("kappa", "Cohen’s kappa", parts=("", "low", "high", "unknown")),
            Column("by_points", "By points of the item"),
        ),
        tuple(rows),
        sortable=False,
    )


def own_vendor(site: Contents) -> Sheet:
    """Scores without graders of the system's own vendor."""
    found = site.found.own_vendor_out
    scale = Scale.over([e for o in found for e in (o.score, o.action_score)])
    return Sheet(
        "own-vendor-out",
        "Scores without graders of a system’s own vendor",
        (
            Column("system", "System"),
            Column("left_out", "Left out"),
            Column("kept", "Kept"),
            Column("vendor_unknown", "Vendor not known"),
            estimates("score", "Score", "ladder"),
            estimates("action_score", "Score", "actions"),
        ),
        tuple(
            (
                words(o.model),
                _names(o.left_out),
                _names(o.kept),
                _names(o.unknown),
                estimate(o.score, scale),
                estimate(o.action_score, scale),
            )
            for o in found
        ),
        sortable=False,
    )


def instruments(site: Contents) -> Sheet:
    """The two rubrics as measures."""
    rows = []
    origins = []
    for listed in site.listed:
        d = listed.detail
        rows.append(
            (
                words(listed.name, href=listed.page),
                site.judge(listed.summary.grader),
                *(_reliability(d.instruments[rubric]) for rubric in Rubric),
                _correlation(d.rubric_correlation.value, d.rubric_correlation.ci95),
                estimate(d.instruments[Rubric.ladder].best_rung, brief=True),
                Cell(*_words_of(d.length.words.value)),
                estimate(d.length.per_100_words, unit="", brief=True),
            )
        )
        origins.append(listed.provenance)
    return Sheet(
        "instruments",
        "The two rubrics as measures",
        (
            Column("system", "System"),
            Column("grader", "Grader"),
            amounts(
                "ladder_reliability",
                "Ladder",
                "reliability of a scenario’s mean",
                parts=("", "icc"),
            ),
            amounts(
                "action_reliability",
                "Actions",
                "reliability of a scenario’s mean",
                parts=("", "icc"),
            ),
            amounts(
                "correlation",
                "Correlation",
                "of the two, over scenarios",
                parts=("", "low", "high"),
            ),
            estimates("best_rung", "Best rung only", "score, if the ladder were not nested"),
            amounts("words", "Words", "in an answer"),
            estimates("per_100_words", "100 more words", "points, within scenarios"),
        ),
        tuple(rows),
        origins=tuple(origins),
    )


def suspects(site: Contents) -> Sheet:
    """Public items that experts should look at first."""
    public = [item for item in site.found.items if _page(item, site)]
    odd = [item for item in public if _why(item)]
    odd.sort(key=lambda i: (i.rest.value if i.rest.value is not None else 2, i.scenario, i.item))
    return Sheet(
        "item-statistics",
        "Items to send to experts",
        (Column("scenario", "Scenario"), Column("item", "Item"), *_ITEM, Column("why", "Why")),
        tuple(
            (
                words(i.scenario, href=_page(i, site)),
                words(i.text),
                *_item(i),
                words(_why(i)),
            )
            for i in odd[:MOST_ITEMS]
        ),
        note=f"{len(odd):,} of {len(public):,} items; none is dropped for it."
        + (f" The first {MOST_ITEMS} are shown." if len(odd) > MOST_ITEMS else ""),
        part="of all public items",
    )


def items(site: Contents) -> Sheet:
    """Every public item as it behaves over systems; only a file."""
    return Sheet(
        "item-statistics",
        "Items over systems",
        (
            Column("scenario", "Scenario"),
            Column("item", "Item"),
            Column("text", "Text"),
            Column("grader", "Grader"),
            *_ITEM,
            Column("always", "Always"),
            Column("never", "Never"),
        ),
        tuple(
            (
                words(i.scenario),
                words(i.item),
                words(i.text),
                words(i.grader),
                *_item(i),
                Cell("", (i.always,)),
                Cell("", (i.never,)),
            )
            for i in site.found.items
            if _page(i, site)
        ),
    )


_ITEM = (
    Column("rubric", "Rubric"),
    amounts("points", "Points"),
    amounts("n_systems", "Systems"),
    amounts("presence", "Present", "of responses"),
    amounts("rest", "With the rest", "correlation over systems", parts=("", "low", "high")),
)


def _page(item: ItemStatistic, site: Contents) -> str:
    """Its scenario's page; empty where any log holds that out, of whichever edition or bank."""
    if item.scenario in site.private:
        return ""
    editions = dict.fromkeys(e.edition for e in site.listed if e.summary.bank == item.bank)
    pages = [site.scenario_page(of, item.scenario) for of in editions]
    return next(filter(None, pages), "") if all(pages) else ""


def _item(i: ItemStatistic) -> tuple[Cell, ...]:
    return (
        words(i.rubric.value),
        decimal(i.points, signed(i.points)),
        number(i.n_systems),
        share(i.presence.value),
        _correlation(i.rest.value, i.rest.ci95),
    )


def _why(item: ItemStatistic) -> str:
    reasons: list[str] = []
    if item.always:
        reasons.append("always present")
    if item.never and item.points > 0:
        reasons.append("never present")
    if item.rest.value is not None and item.rest.value < LOW_REST:
        reasons.append("goes another way than the rest")
    return ", ".join(reasons)


def _card(card: GraderCard, site: Contents) -> Card:
    n = card.n_judgments
    open_ = f"{card.n_unresolved:,} of {n:,} ({card.n_unresolved / n:.1%})" if n else "none made"
    return Card(
        anchor=site.graders[card.grader],
        whole=card.grader,
        name=short(card.grader),
        mode=mode(card.grader),
        tried=card.probes.sentence() if card.probes else f"{_capital(NOT_TRIED)}.",
        audited=_human(card.human),
        facts=(
            ("Vendor", card.vendor or "its name does not say"),
            ("Judged", ", ".join(card.systems)),
            ("Judgments it could not make", open_),
            ("Contradictions", _contradicted(card)),
        ),
        own_vendor=", ".join(card.own_vendor),
        sheets=tuple(_probe_sheets(card)),
    )


def _contradicted(card: GraderCard) -> str:
    found = [c for c in card.contradictions.values() if c.opportunities]
    if not found:
        return "there was none to find"
    count, chances = sum(c.count for c in found), sum(c.opportunities for c in found)
    return f"{count:,} of {chances:,} opportunities ({count / chances:.1%})"


def _probe_sheets(card: GraderCard) -> Iterator[Sheet]:
    if card.probes is None:
        return
    yield Sheet(
        "probes-by-points",
        f"{short(card.grader)} on the probes, by points of the item",
        (Column("rubric", "Rubric"), amounts("points", "Points"), *_AGREEMENT),
        tuple(
            (words(rubric.value), decimal(points, signed(points)), *_agreement(part))
            for (rubric, points), part in card.probes.by_points.items()
        ),
        part="of all graders",
        sortable=False,
    )
    yield Sheet(
        "probes-by-trap",
        f"{short(card.grader)} on the probes, by trap",
        (Column("trap", "Trap"), *_AGREEMENT),
        tuple(
            (words(plain(trap)), *_agreement(part)) for trap, part in card.probes.by_trap.items()
        ),
        part="of all graders",
    )


def _agreement(part: Agreement) -> tuple[Cell, ...]:
    present, absent = part.found + part.missed, part.cleared + part.invented
    return (
        number(present),
        number(part.found),
        share(part.sensitivity),
        number(absent),
        number(part.cleared),
        share(part.specificity),
        number(part.unresolved),
    )


def _human(human: AuditResults | None) -> str:
    return f"{_capital(NOT_AUDITED)}." if human is None else human.sentence()


def _reliability(instrument: Instrument) -> Cell:
    found = instrument.reliability
    if found is None:
        why = (instrument.why_no_reliability,)
        return Cell("unknown", (None, None), asides=why, tone="weak")
    data = found.of_mean, found.icc
    return Cell(f"{found.of_mean:.2f}", data, found.of_mean, (f"ICC {found.icc:.2f}",))


def _correlation(value: float | None, ci95: tuple[float, float] | None) -> Cell:
    if value is None:
        return Cell("unknown", (None, None, None), tone="weak")
    low, high = ci95 or (None, None)
    asides = () if ci95 is None else (f"{ci95[0]:.2f} to {ci95[1]:.2f}".replace("-", "−"),)
    return Cell(f"{value:.2f}".replace("-", "−"), (value, low, high), value, asides)


def _kappa(value: float | None, ci95: tuple[float, float] | None, reason: str) -> Cell:
    cell = _correlation(value, ci95)
    return Cell(cell.text, (*cell.data, reason or None), cell.sort, cell.asides, tone=cell.tone)


def _words_of(value: float | None) -> tuple[str, tuple[float | None], float | None]:
    return ("unknown" if value is None else f"{value:.0f}"), (value,), value


def _names(graders: tuple[str, ...]) -> Cell:
    return Cell(", ".join(map(short, graders)) or "none", ("; ".join(graders) or None,))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
