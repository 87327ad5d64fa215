"""The page: one offline HTML file of one or more runs.

It draws what is found and computes no result. What is measured comes first, how far it can be
trusted beside it, and every response last: packed, with a reader that needs no network.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from careeval import scoring
from careeval.core.grader import Grader
from careeval.core.scenario import Adl, Domain
from careeval.files import write_text
from careeval.report import charts, tables, trust_tables, words
from careeval.report.documents import Drawn, document, drawn
from careeval.report.payload import Payload, payload
from careeval.results.amounts import percent
from careeval.results.comparable import Basis, basis
from careeval.results.corrected import Corrected
from careeval.results.findings import Findings
from careeval.results.grader_card import NOT_AUDITED, NOT_TRIED, GraderCard
from careeval.results.harms import Harm
from careeval.results.ladder_check import Contradiction
from careeval.results.parts import By
from careeval.results.probes import ProbeAgreement
from careeval.results.ranking import Ranking
from careeval.results.summary import Summary
from careeval.sheets.entries import rank_texts
from careeval.sheets.kinds import RANKS
from careeval.sheets.names import DOMAINS
from careeval.sheets.words import brief_grader_names, entry_names, remarks, sentence
from careeval.stats import MIN_CLUSTERS

SIMULATED = "SIMULATED"
"""How the provenance of a bank begins whose models do not exist."""

_OF_THE_BANK = "Of the bank itself: "
"""What leads from there to how the bank was made; the banner has said the rest."""

_NO_WORDS = "This page was written without responses, quotes and reasons."

MOST_CHARACTERS = 24_000_000
"""Of the page: beyond that browsers open it slowly, and mail does not carry it."""

LEAST_ROOM = 2_000_000
"""Characters of packed responses that a page has, however large the rest of it is."""

MOST_WITHOUT_SCRIPTS = 50
"""Errors of the ledger that stand in the page for whoever runs no scripts."""


def write_page(
    findings: Findings, path: Path, *, title: str | None = None, responses: bool = True
) -> None:
    """Write `render_page` to a file, whose folder is made where it is not there.

    Raises:
        OSError: The file cannot be written.
    """
    page = render_page(findings, title=title, responses=responses)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, page)


def render_page(findings: Findings, *, title: str | None = None, responses: bool = True) -> str:
    """The page as HTML: the same for the same arguments.

    Args:
        findings: All that is found; may be of nothing.
        title: The page's title; a question after the systems where not given.
        responses: Whether the words of responses, quotes and reasons are in it.
    """
    summaries, runs = findings.summaries, findings.public.runs
    ledger = _ledger(findings, responses)
    first_harms = _by_passage(ledger.first, _asked(findings) if responses else {})
    dates = sorted({moment[:10] for moment in runs.responses["created"].drop_nulls()})
    values = {
        "title": title or _question([s.system for s in summaries]),
        "simulated": _simulated(summaries),
        "summaries": summaries,
        "boards": _boards(findings),
        "rubrics": {s.rubric.value for s in summaries},
        "score_name": words.score_name(summaries),
        "judges": [_judge(card) for card in findings.cards.values()],
        "audits": [
            make(card.grader, card.human)
            for card in findings.cards.values()
            if card.human
            for make in (trust_tables.against_people, trust_tables.agreement_with_people)
        ],
        "limits": [*_limits(summaries), *runs.notes, *([] if responses else [_NO_WORDS])],
        "figures": _figures(findings),
        "tables": _tables(findings),
        "maps": _maps(findings),
        **_map_sizes(findings),
        "first_harms": first_harms,
        "n_passages": sum(len(each.passages) for each in first_harms),
        "n_errors": ledger,
        "words_shown": responses,
        "banks": _distinct(f"{s.bank} {s.bank_version}" for s in summaries),
        "protocols": _protocols(summaries),
        "dates": dates,
        "cite": _cite(findings, dates),
    }
    values["nav"] = _nav(values)
    room = MOST_CHARACTERS
    while True:
        read = payload(findings.public, findings.entries, responses=responses, most=room)
        page = document("page.html", values | _reader(read, responses))
        # what is beside the data grows with the systems; where it alone is too much, a few remain
        if len(page) <= MOST_CHARACTERS or room == LEAST_ROOM:
            return page
        room = max(LEAST_ROOM, MOST_CHARACTERS - (len(page) - len(read.packed())))


def _reader(read: Payload, responses: bool) -> dict[str, Any]:
    """What the reader of the responses is filled with."""
    return {
        "n_shown": read.n_shown,
        "n_public": read.n_public,
        "n_severe": read.n_severe,
        "n_severe_shown": read.n_severe_shown,
        "n_held_out": read.n_held_out,
        "n_unknown": read.n_unknown,
        "choice": _choice(read, responses),
        "has_beside": responses and read.n_shown > 0 and len(read.data["systems"]) > 1,
        "data": Markup(read.packed()) if read.n_shown else "",
    }


# The answer


@dataclass(frozen=True)
class Card:
    """One entry on the first screen.

    Attributes:
        said: Its two first numbers, in words.
        ranks: Its rank set by score; empty where fewer than two rank.
        severe_ranks: The same by severe errors.
        why_not: Why it may not be ranked; empty where it may.
        corrected: Its score as people correct it; `None` without an audit.
    """

    name: str
    s: Summary
    said: str
    ranks: str
    severe_ranks: str
    why_not: str
    corrected: Corrected | None


@dataclass(frozen=True)
class Board:
    """Entries that compare with each other, best first, then those that may not be ranked.

    Attributes:
        caption: The rubric, and what else tells it from other boards.
        trust: What is known of its grader, in a line.
    """

    caption: str
    trust: str
    cards: tuple[Card, ...]


def _boards(findings: Findings) -> list[Board]:
    """A board for each ranking, the longest first."""
    longest = sorted(findings.rankings, key=lambda r: -len(r.ranked) - len(r.left_out))
    return [_board(ranking, findings) for ranking in longest]


def _board(ranking: Ranking, findings: Findings) -> Board:
    ranked = {each.place: each for each in ranking.ranked}
    left = [
        place
        for place, entry in enumerate(findings.entries)
        if place not in ranked and basis(entry) == ranking.basis
    ]
    several = len(ranked) > 1
    cards = []
    for place in (*ranked, *left):
        s, standing = findings.summaries[place], ranked.get(place)
        why_not = "; ".join(s.not_ranked) or ranking.left_out.get(s.system, "")
        cards.append(
            Card(
                name=s.system,
                s=s,
                said=sentence(s),
                ranks=RANKS.text(standing.ranks) if standing and several else "",
                severe_ranks=RANKS.text(standing.severe_ranks) if standing and several else "",
                why_not="" if standing else why_not,
                corrected=findings.cards[s.grader].corrected.get((s.system, s.rubric)),
            )
        )
    trust = _trust(findings.cards[ranking.basis.grader])
    return Board(_caption(ranking.basis, findings), trust, tuple(cards))


_BOARD = {
    "grader": "judged by {}",
    "bank": "bank {}",
    "bank_n": "version {} of the bank",
    "bank_hash": "scenarios {}",
    "protocol_n": "asked by protocol {}",
    "grading_n": "judged by protocol {}",
}
"""What boards may differ in besides the rubric, and how it is said."""


def _caption(own: Basis, findings: Findings) -> str:
    """The rubric, and whatever differs between the boards of this page."""
    others = [ranking.basis._asdict() for ranking in findings.rankings]
    graders = brief_grader_names(s.grader for s in findings.summaries)
    told = own._asdict() | {"grader": graders[own.grader]}
    parts = [
        said.format(told[name])
        for name, said in _BOARD.items()
        if len({other[name] for other in others}) > 1
    ]
    return ", ".join([f"Rubric: {own.rubric.value}", *parts])


def _trust(card: GraderCard) -> str:
    """A grader's card in a line; the whole of it stands beside."""
    probes = NOT_TRIED
    if card.probes is not None:
        tried = card.probes.overall
        probes = (
            f"on the labelled probes it finds {_share(tried.sensitivity)} of what is there and "
            f"clears {_share(tried.specificity)} of what is not"
            f"{', and fails them' if card.failed else ''}"
        )
    human = NOT_AUDITED if card.human is None else "audited by people"
    own = f"its own vendor’s: {', '.join(card.own_vendor)}" if card.own_vendor else ""
    return _sentence("; ".join(part for part in ("its grader: " + probes, human, own) if part))


@dataclass(frozen=True)
class Judge:
    """A grader's card in words.

    Attributes:
        whole: Its name with its mode and the hash of its prompt.
        short: What matters first: a term, and what is said of it.
        facts: The rest, said in lines.
        corrected: The scores that it gave, as people correct them; no row without an audit.
    """

    name: str
    mode: str
    whole: str
    short: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, tuple[str, ...]], ...]
    corrected: tables.Table


def _judge(card: GraderCard) -> Judge:
    grader = Grader.parse(card.grader)
    share = card.n_unresolved / card.n_judgments if card.n_judgments else None
    own = "none of these systems is its vendor’s" if card.vendor else UNKNOWN_VENDOR
    if card.own_vendor:
        own = f"it judges its own vendor’s {', '.join(card.own_vendor)}"
    unresolved = f"{card.n_unresolved:,} of {card.n_judgments:,} judgments" + (
        f", {percent(share)}%" if share is not None else ""
    )
    short = (
        ("Vendor", card.vendor or "unknown: its name does not say"),
        ("On labelled probes", NOT_TRIED if card.probes is None else _on_probes(card.probes)),
        ("By people", NOT_AUDITED if card.human is None else card.human.sentence()),
        *((("Its scores, by people", off),) if (off := _off(card)) else ()),
        ("Own vendor", own),
        ("Unresolved", unresolved),
    )
    facts = [("Contradictions", _contradictions(card)), ("Whole name", (card.grader,))]
    if card.probes is not None:
        facts.insert(0, ("On labelled probes", (_sentence(card.probes.sentence()),)))
    return Judge(
        grader.model,
        grader.setting,
        card.grader,
        tuple((term, said if term == "Vendor" else _sentence(said)) for term, said in short),
        tuple(facts),
        trust_tables.corrected_in_short(card),
    )


_OFF = {
    "less": "too high for {}",
    "more": "too low for {}",
    "as much": "not shown to be off for {}",
    "": "not known to be right or wrong for {}",
}
_MOST_NAMED = 3


def _off(card: GraderCard) -> str:
    """For whom its scores are off, as people correct them; empty without an audit."""
    by_verdict: dict[str, list[str]] = {}
    for (system, rubric), score in card.corrected.items():
        by_verdict.setdefault(score.people_give, []).append(f"{system} ({rubric.value})")
    said = []
    for verdict, how in _OFF.items():
        if found := by_verdict.get(verdict):
            many = len(found) > _MOST_NAMED
            said.append(how.format(f"{len(found)} scores" if many else ", ".join(found)))
    return "; ".join(said)


UNKNOWN_VENDOR = "its vendor is not known, so this is unknown"


def _on_probes(probes: ProbeAgreement) -> str:
    """Its agreement in a line."""
    found = probes.overall
    verdict = "fails them" if probes.failed else "does not fail them"
    return (
        f"{verdict}: finds {_share(found.sensitivity)} of what is there, clears "
        f"{_share(found.specificity)} of what is not"
    )


def _share(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"


_CONTRADICTIONS = {
    Contradiction.top_without_next: "of the +2 without their +1",
    Contradiction.rung_without_act: "of the rungs without their acts",
    Contradiction.acts_without_rung: "of whole sets of acts without their rung",
    Contradiction.excluded_pair: "of excluding pairs both present",
}


def _contradictions(card: GraderCard) -> tuple[str, ...]:
    known = tuple(
        f"{percent(count.share)}% {_CONTRADICTIONS[kind]} ({count.count:,} of "
        f"{count.opportunities:,})"
        for kind, count in card.contradictions.items()
        if count.opportunities
    )
    unknown: dict[str, list[str]] = {}
    for kind, count in card.contradictions.items():
        if count.reason:
            unknown.setdefault(count.reason, []).append(_CONTRADICTIONS[kind])
    return (
        *(known or ("No judgments that could contradict each other.",)),
        *(f"Unknown {' and '.join(kinds)}: {reason}." for reason, kinds in unknown.items()),
    )


def _sentence(said: str) -> str:
    return f"{said[:1].upper()}{said[1:]}{'' if said.endswith('.') else '.'}"


def _question(systems: Sequence[str]) -> str:
    different = _distinct(systems)
    if not different:
        return "Nothing has been graded yet"
    if len(different) == 1:
        return f"Does {different[0]} decide like an expert caregiver?"
    return f"Do these {len(different)} systems decide like an expert caregiver?"


def _simulated(summaries: Sequence[Summary]) -> str:
    """What a bank says of itself where nobody answered; empty where somebody did."""
    for s in summaries:
        if s.bank_provenance.startswith(SIMULATED):
            said = s.bank_provenance.removeprefix(SIMULATED).lstrip(": ")
            return _sentence(said.partition(_OF_THE_BANK)[0].strip())
    return ""


def _limits(summaries: Sequence[Summary]) -> list[str]:
    """What must be read with the numbers. What an asterisk means is said under its table."""
    return [
        re.sub(rf"{SIMULATED}: .*{_OF_THE_BANK}", "", remark)
        for remark in remarks(summaries)
        if not remark.startswith("*")
    ]


# Figures and tables


def _figures(findings: Findings) -> dict[str, Drawn]:
    summaries, details = findings.summaries, findings.details
    if not summaries:
        return {}
    made: dict[str, tuple[str, Callable[[int], charts.Figure]]] = {
        "overview": (
            "Errors, and scores overall and by activity",
            lambda width: charts.overview(summaries, width),
        ),
        "domains": ("Domains of competence", lambda width: charts.domains(summaries, width)),
        "worst_at_k": (
            "The lowest of k responses",
            lambda width: charts.worst_at_k(summaries, details, width),
        ),
        "distribution": (
            "Scores of the scenarios",
            lambda width: (
                charts.distribution(details[0], summaries[0], width)
                if len(summaries) == 1
                else charts.distributions(summaries, details, width)
            ),
        ),
    }
    return {
        name: drawn(draw(charts.WIDE), draw(charts.NARROW), name, title)
        for name, (title, draw) in made.items()
    }


def _tables(findings: Findings) -> dict[str, tables.Table]:
    summaries, details = findings.summaries, findings.details
    return {
        "numbers": tables.numbers(summaries, rank_texts(findings.rankings)),
        **{by.value: tables.parts(by, summaries, details) for by in By if by is not By.domain},
        "domains": tables.domains(summaries),
        "worst_at_k": tables.worst_at_k(summaries, details),
        "severe_of_k": tables.severe_of_k(summaries, details),
        "scenarios": tables.scenarios(summaries, details),
        "epochs": tables.epochs(summaries, details),
        "directions": tables.direction_table(summaries, findings.cards),
        "corrected": trust_tables.corrected(findings),
        "noise": trust_tables.noise(findings),
        "pairs": trust_tables.pairs(findings.grader_pairs),
        "odd_items": trust_tables.odd_items(findings.items, findings.public.hidden),
        "costs": tables.costs(summaries),
        "records": tables.records(findings.public, summaries),
    }


def _maps(findings: Findings) -> list[tables.Table]:
    names = entry_names(findings.summaries)
    in_full = len(names) == 1
    return [
        tables.activities_by_domains(name, s, detail, in_full=in_full)
        for name, s, detail in zip(names, findings.summaries, findings.details, strict=True)
        if s.score.value is not None
    ]


def _map_sizes(findings: Findings) -> dict[str, Any]:
    """How many scenarios the cells of the maps are over, in words, and whether any is small."""
    fewest, most = tables.cell_sizes(findings.details) or (0, 0)
    said = str(fewest) if fewest == most else f"{fewest} to {most}"
    return {"map_sizes": said, "any_few": fewest < MIN_CLUSTERS}


# The ledger and the reader


@dataclass(frozen=True)
class Ledger:
    """Errors as the page counts them, and the first of them.

    Attributes:
        severe: In public responses, over all entries.
        mild: The same.
        held_out: Of both, in responses that are held out.
        unknown: Of both, in responses whose split is not known.
        first: The first of the severe ones, or else of the mild ones, as the ledger orders them.
    """

    severe: int
    mild: int
    held_out: int
    unknown: int
    first: tuple[Harm, ...]


def _ledger(findings: Findings, responses: bool) -> Ledger:
    order = {adl.value: place for place, adl in enumerate(Adl)}
    found: dict[int, list[Harm]] = {}
    held_out = unknown = 0
    for severity in (scoring.SEVERE, scoring.MILD):
        public = [findings.public.harms(entry, severity) for entry in findings.entries]
        held_out += sum(part.n_held_out for part in public)
        unknown += sum(part.n_unknown for part in public)
        found[severity] = sorted(
            (harm for part in public for harm in part.shown),
            key=lambda h: (order.get(h.adl or "", len(order)), h.adl or "", h.scenario),
        )
    severe, mild = found[scoring.SEVERE], found[scoring.MILD]
    first = islice(severe or mild, MOST_WITHOUT_SCRIPTS)
    return Ledger(
        len(severe),
        len(mild),
        held_out,
        unknown,
        tuple(first if responses else (_without_words(harm) for harm in first)),
    )


def _without_words(harm: Harm) -> Harm:
    return replace(harm, quote=None, reason="")


@dataclass(frozen=True)
class ScenarioErrors:
    """Errors of one scenario in the page itself.

    Attributes:
        text: What was asked; empty where words are left out.
        passages: The errors that one grader found in the same words of the same response.
    """

    scenario: str
    text: str
    passages: tuple[tuple[Harm, ...], ...]


def _by_passage(
    found: Sequence[Harm], asked: Mapping[tuple[str, str], str]
) -> list[ScenarioErrors]:
    by_scenario: dict[tuple[str, str], dict[tuple[Any, ...], list[Harm]]] = {}
    for h in found:
        of = (h.scenario, asked.get((h.system, h.scenario), ""))
        passages = by_scenario.setdefault(of, {})
        passages.setdefault((h.system, h.epoch, h.grader, h.quote), []).append(h)
    return [
        ScenarioErrors(scenario, text, tuple(map(tuple, passages.values())))
        for (scenario, text), passages in by_scenario.items()
    ]


def _asked(findings: Findings) -> dict[tuple[str, str], str]:
    """(System, scenario) → what was asked, for public responses."""
    public = findings.public.responses
    rows = public.select("system", "scenario", "scenario_text").unique().sort(pl.all()).rows()
    return {(system, scenario): words.visible(text or "") for system, scenario, text in rows}


Options = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Choice:
    """What may be chosen among the responses: value and what it is called.

    Attributes:
        words: Whether there are words to be searched.
        first_two: Systems that stand side by side at first.
    """

    adls: Options
    conditions: Options
    situations: Options
    actors: Options
    scenarios: Options
    systems: Options
    graders: Options
    epochs: Options
    points: Options
    domains: Options
    words: bool
    first_two: tuple[str, ...]


def _choice(read: Payload, responses: bool) -> Choice:
    data = read.data

    def options(values: Iterable[str | None]) -> Options:
        return [(value, value) for value in dict.fromkeys(values) if value]

    scenarios = data["scenarios"]
    return Choice(
        adls=options(each[1] for each in scenarios),
        conditions=sorted(options(each[2] for each in scenarios)),
        situations=sorted(options(name for each in scenarios for name in each[4])),
        actors=sorted(options(each[5] for each in scenarios)),
        scenarios=options(each[0] for each in scenarios),
        systems=options(data["systems"]),
        graders=[(name, short) for name, short, _ in data["graders"]],
        epochs=options(str(n) for n in sorted({row[2] for row in data["responses"]})),
        points=[
            (str(n), words.signed(n)) for n in sorted({item[0] for item in data["items"]})[::-1]
        ],
        domains=[
            (str(place), DOMAINS[domain])
            for place, domain in enumerate(Domain)
            if any(item[2] >> place & 1 for item in data["items"])
        ],
        words=responses,
        first_two=tuple(data["systems"][:2]),
    )


# The rest


_NAV = (
    ("answer", "Answer"),
    ("overview", "Activities"),
    ("domains", "Domains"),
    ("harms", "Harms"),
    ("situations", "Situations"),
    ("more", "More"),
    ("grader", "Grader"),
    ("responses", "Responses"),
    ("methods", "Methods"),
)
_WITH_NUMBERS = frozenset({"overview", "domains", "harms", "situations", "more"})
_GRADER_TABLES = ("corrected", "noise", "pairs", "odd_items")


def _nav(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Sections that are there."""
    absent = set() if values["words_shown"] else {"responses"}
    if not values["summaries"]:
        absent |= _WITH_NUMBERS
    if not any(values["tables"][name].rows for name in _GRADER_TABLES):
        absent.add("grader")
    return [(id, name) for id, name in _NAV if id not in absent]


@dataclass(frozen=True)
class Citation:
    """How the page is cited: for readers, and for programs."""

    text: str
    bibtex: str


def _cite(findings: Findings, dates: Sequence[str]) -> Citation:
    summaries = findings.summaries
    software = sorted(findings.public.runs.responses["software"].drop_nulls().unique())
    version = f", version {', '.join(software)}" if software else ""
    banks = ", ".join(_distinct(f"{s.bank} {s.bank_version}" for s in summaries))
    protocols = ", ".join(_protocols(summaries))
    graders = ", ".join(_distinct(f"{s.grader} ({s.rubric.value})" for s in summaries))
    run = f"; run on {' to '.join(dict.fromkeys((dates[0], dates[-1])))}" if dates else ""
    year = dates[-1][:4] if dates else ""
    said = f"Bank {banks}; protocol {protocols}; graded by {graders}{run}"
    return Citation(
        f"The careeval authors. careeval{version}.\n{said}.",
        "@software{careeval,\n"
        "  author  = {{The careeval authors}},\n"
        "  title   = {careeval: an open, independent implementation of the {CareEval} benchmark},\n"
        + (f"  version = {{{', '.join(software)}}},\n" if software else "")
        + (f"  year    = {{{year}}},\n" if year else "")
        + f"  note    = {{{_tex(said)}}}\n}}",
    )


def _protocols(summaries: Iterable[Summary]) -> list[str]:
    """Every version that asked or judged."""
    both = ((s.protocol, s.grading_protocol) for s in summaries)
    return _distinct(version for versions in both for version in versions if version)


def _tex(said: str) -> str:
    """What a name may hold and BibTeX would read as its own."""
    for character in "\\{}":
        said = said.replace(character, "")
    for character in "&%$#_":
        said = said.replace(character, f"\\{character}")
    return said


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))
