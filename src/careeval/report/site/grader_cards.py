"""The graders' cards, and how far each agrees with the labelled probes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from careeval.core.grader import Grader
from careeval.report.site.agreements import (
    AGREEMENT,
    AGREEMENT_NOTE,
    POINT_CLASS,
    agreement,
    point_class,
)
from careeval.report.site.audited import against_people, corrected_by
from careeval.report.site.contents import Contents
from careeval.report.site.sheets import (
    Cell,
    Column,
    Sheet,
    amounts,
    number,
    share,
    words,
)
from careeval.results.audit import AuditResults
from careeval.results.class_agreement import ClassAgreement
from careeval.results.grader_card import NOT_AUDITED, NOT_TRIED, GraderCard
from careeval.results.probes import Agreement
from careeval.sheets.names import plain

_AGREEMENT = (
    amounts("present", "Present"),
    amounts("found", "Found"),
    amounts("sensitivity", "Finds", "of what is there"),
    amounts("absent", "Absent"),
    amounts("cleared", "Cleared"),
    amounts("specificity", "Clears", "of what is not"),
    amounts("unresolved", "Unresolved"),
)


_BEYOND = AGREEMENT[-2:]


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


def _card(card: GraderCard, site: Contents) -> Card:
    grader = Grader.parse(card.grader)
    n = card.n_judgments
    open_ = f"{card.n_unresolved:,} of {n:,} ({card.n_unresolved / n:.1%})" if n else "none made"
    return Card(
        anchor=site.graders[card.grader],
        whole=card.grader,
        name=grader.model,
        mode=grader.setting,
        tried=card.probes.sentence() if card.probes else f"{_capital(NOT_TRIED)}.",
        audited=_human(card.human),
        facts=(
            ("Vendor", card.vendor or "its name does not say"),
            ("Judged", ", ".join(card.systems)),
            ("Judgments it could not make", open_),
            ("Contradictions", _contradicted(card)),
        ),
        own_vendor=", ".join(card.own_vendor),
        sheets=(*corrected_by(card, site), *against_people(card), *_probe_sheets(card)),
    )


def _contradicted(card: GraderCard) -> str:
    known = [
        (c.count, c.opportunities)
        for c in card.contradictions.values()
        if c.count is not None and c.opportunities
    ]
    if not known:
        reasons = dict.fromkeys(c.reason for c in card.contradictions.values() if c.reason)
        return f"unknown: {'; '.join(reasons)}" if reasons else "there was none to find"
    count, chances = (sum(part) for part in zip(*known, strict=True))
    return f"{count:,} of {chances:,} opportunities ({count / chances:.1%})"


def by_points(site: Contents) -> Sheet:
    """All graders' agreement with the probes by points of the item; only a file."""
    rows = [
        (
            words(card.grader),
            *point_class(key),
            *_agreement(part),
            *_beyond(card.probes.agreement_by_points[key]),
        )
        for card in site.found.cards.values()
        if card.probes
        for key, part in card.probes.by_points.items()
    ]
    names = (Column("grader", "Grader"), *POINT_CLASS)
    return Sheet(
        "probes-by-points",
        "Agreement with the probes, by points",
        (*names, *_AGREEMENT, *_BEYOND),
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


def _probe_sheets(card: GraderCard) -> Iterator[Sheet]:
    if card.probes is None:
        return
    yield Sheet(
        "probes-by-points",
        f"{Grader.parse(card.grader).model} on the probes, by points of the item",
        (*POINT_CLASS, *_AGREEMENT, *_BEYOND),
        tuple(
            (
                *point_class(key),
                *_agreement(part),
                *_beyond(card.probes.agreement_by_points[key]),
            )
            for key, part in card.probes.by_points.items()
        ),
        note=AGREEMENT_NOTE,
        part="of all graders",
        sortable=False,
    )
    yield Sheet(
        "probes-by-trap",
        f"{Grader.parse(card.grader).model} on the probes, by trap",
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


def _beyond(by_class: ClassAgreement) -> tuple[Cell, ...]:
    return agreement(by_class)[-2:]


def _human(human: AuditResults | None) -> str:
    return f"{_capital(NOT_AUDITED)}." if human is None else human.sentence()


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
