"""The page: one offline HTML file of one or more runs.

It draws what is found and computes no result. What is measured comes first, how far it can be
trusted beside it, and every response last: packed, with a reader that needs no network.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from careeval import scoring
from careeval.core.scenario import Adl, Domain, Rubric, Split
from careeval.report import charts, tables, trust_tables, words
from careeval.report.documents import Drawn, document, drawn
from careeval.report.payload import Payload, payload
from careeval.results.corrected import Scores
from careeval.results.estimates import Errors
from careeval.results.exports import percent, remarks
from careeval.results.findings import Findings
from careeval.results.grader_card import NOT_AUDITED, NOT_TRIED, GraderCard
from careeval.results.harms import Harm, harms
from careeval.results.ladder_check import Contradiction
from careeval.results.probes import ProbeAgreement
from careeval.results.ranking import Ranking
from careeval.results.summary import Summary
from careeval.stats import MIN_CLUSTERS, Estimate

SIMULATED = "SIMULATED"
"""How the provenance of a bank begins whose models do not exist."""

_OF_THE_BANK = "Of the bank itself: "
"""What leads from there to how the bank was made; the banner has said the rest."""

_NO_WORDS = "This page was written without responses, quotes and reasons."

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
    path.write_text(page, encoding="utf-8", newline="\n")


def render_page(findings: Findings, *, title: str | None = None, responses: bool = True) -> str:
    """The page as HTML: the same for the same arguments.

    Args:
        findings: All that is found; may be of nothing.
        title: The page's title; a question after the systems where not given.
        responses: Whether the words of responses, quotes and reasons are in it.
    """
    summaries, runs = findings.summaries, findings.runs
    read = payload(runs, findings.entries, responses=responses)
    boards = _boards(findings)
    ledger = _ledger(findings, responses)
    first_harms = _by_passage(ledger.first, _asked(findings) if responses else {})
    dates = sorted({moment[:10] for moment in runs.responses["created"].drop_nulls()})
    values = {
        "title": title or _question([s.model for s in summaries]),
        "simulated": _simulated(summaries),
        "summaries": summaries,
        "names": words.entry_names(summaries),
        "boards": boards,
        "worst_of": words.worst_of(summaries),
        "judges": [_judge(card) for card in findings.cards.values()],
        "corrected": [_corrected(findings, s) for s in summaries],
        "audits": [
            trust_tables.against_people(card.grader, card.human)
            for card in findings.cards.values()
            if card.human
        ],
        "limits": [*_limits(summaries), *runs.notes, *([] if responses else [_NO_WORDS])],
        "figures": _figures(findings),
        "tables": _tables(findings),
        "maps": _maps(findings),
        **_map_sizes(findings),
        "kinds": [
            tables.parts(kind, summaries, findings.details) for kind in tables.KINDS.values()
        ],
        "noise_said": [
            (name, words.spread(s.sd_runs))
            for name, s in zip(words.entry_names(summaries), summaries, strict=True)
        ],
        "first_harms": first_harms,
        "n_passages": sum(len(each.passages) for each in first_harms),
        "n_errors": ledger,
        "words_shown": responses,
        "n_shown": read.n_shown,
        "n_held_out": read.n_held_out,
        "n_unknown": read.n_unknown,
        "choice": _choice(read, responses),
        "has_beside": responses and read.n_shown > 0 and len(read.data["systems"]) > 1,
        "banks": _distinct(f"{s.bank} {s.bank_version}" for s in summaries),
        "protocols": _distinct(s.protocol for s in summaries),
        "dates": dates,
        "cite": _cite(findings, dates),
        "data": Markup(read.packed()) if read.n_shown else "",
    }
    return document("page.html", values | {"nav": _nav(values)})


# The answer


@dataclass(frozen=True)
class BoardRow:
    """One entry in a table of ranks.

    Attributes:
        rank: The set of its ranks; a dash where it may not be ranked.
        key: What the column of ranks is sorted by.
        why_not: Why it may not be ranked; empty where it may.
        strip: Its score, interval and worst case, drawn.
    """

    rank: str
    key: float
    name: str
    why_not: str
    strip: Markup
    score: tables.Cell
    worst: tables.Cell
    severe: tables.Cell
    action_severe: tables.Cell


@dataclass(frozen=True)
class Board:
    """A table of ranks: entries that compare with each other, and those left out of it.

    Attributes:
        trust: What is known of its grader, in a line.
        n: Responses asked for a scenario, or `n` where that differs.
        ranked: Best first.
        left: Those that may not be ranked; they stand in a table of their own.
    """

    caption: str
    trust: str
    n: str
    ranked: tuple[BoardRow, ...]
    left: tuple[BoardRow, ...]


def _boards(findings: Findings) -> list[Board]:
    """A table for each ranking, the longest first; none for a single entry."""
    if len(findings.summaries) < 2:
        return []
    longest = sorted(findings.rankings, key=lambda r: -len(r.ranked) - len(r.left_out))
    ends = _ends(findings.summaries)
    return [_board(ranking, findings, ends, alone=len(longest) == 1) for ranking in longest]


def _board(
    ranking: Ranking, findings: Findings, ends: tuple[float, float], *, alone: bool
) -> Board:
    ranked = [(each.place, each.ranks, "") for each in ranking.ranked]
    known = {place for place, _, _ in ranked}
    left = [
        (place, None, ranking.left_out[entry.model])
        for place, entry in enumerate(findings.entries)
        if entry.grader == ranking.grader
        and entry.model in ranking.left_out
        and place not in known
        and entry.run["bank"] == ranking.bank
    ]
    places = [*ranked, *left]
    summaries = [findings.summaries[place] for place, _, _ in places]
    rows = tuple(
        _board_row(s, ranks, why_not, ends, _corrected(findings, s))
        for s, (_, ranks, why_not) in zip(summaries, places, strict=True)
    )
    epochs = {s.n_epochs for s in summaries}
    judge = words.grader_names(s.grader for s in findings.summaries)[ranking.grader]
    caption = "Score on the ladder" if alone else f"Score on the ladder, as judged by {judge}"
    n = str(epochs.pop()) if len(epochs) == 1 else "n"
    trust = _trust(findings.cards[ranking.grader])
    return Board(caption, trust, n, rows[: len(ranked)], rows[len(ranked) :])


def _trust(card: GraderCard) -> str:
    """A grader's card in a line; the whole of it stands below the table."""
    probes = NOT_TRIED
    if card.probes is not None:
        found = card.probes.overall
        probes = (
            f"on the labelled probes it finds {_share(found.sensitivity)} of what is there and "
            f"clears {_share(found.specificity)} of what is not"
            f"{', and fails them' if card.failed else ''}"
        )
    human = NOT_AUDITED if card.human is None else "audited by people"
    own = f"its own vendor’s: {', '.join(card.own_vendor)}" if card.own_vendor else ""
    return _sentence("; ".join(part for part in ("its grader: " + probes, human, own) if part))


def _board_row(
    s: Summary,
    ranks: tuple[int, int] | None,
    why_not: str,
    ends: tuple[float, float],
    corrected: Scores,
) -> BoardRow:
    return BoardRow(
        rank="–" if ranks is None else "–".join(str(n) for n in dict.fromkeys(ranks)),
        key=float(ranks[0] * 1000 + ranks[1]) if ranks else 1e9,
        name=s.model,
        why_not=why_not,
        strip=_strip(s, ends),
        score=_with_interval(s.score, *_by_people(corrected)),
        worst=_with_interval(s.worst_at_n),
        severe=_with_any(s.severe),
        action_severe=_with_any(s.action_severe),
    )


def _with_any(errors: Errors | None) -> tables.Cell:
    """The share of responses with any of these errors."""
    return NOT_JUDGED if errors is None else _with_interval(errors.per_response)


NOT_JUDGED = tables.Cell("not judged", (), -math.inf)


def _by_people(corrected: Scores) -> tuple[str, ...]:
    """The score on the ladder as people correct it, and its interval; none where unknown."""
    of = corrected.get(Rubric.ladder)
    if of is None or of.corrected.value is None:
        return ()
    interval = of.corrected.ci95
    lines = (f"{percent(interval[0])} to {percent(interval[1])}",) if interval else ()
    return (f"people {percent(of.corrected.value)}%", *lines)


def _with_interval(estimate: Estimate, *asides: str) -> tables.Cell:
    """A value and its interval, and nothing else: the rest is in the table behind."""
    interval = ""
    if estimate.ci95 is not None:
        interval = f"{percent(estimate.ci95[0])} to {percent(estimate.ci95[1])}"
    return tables.brief(estimate, interval, *asides)


def _ends(summaries: Sequence[Summary]) -> tuple[float, float]:
    """The lowest and the highest number that the strips have, 0 and 1 included."""
    found = [0.0, 1.0]
    for s in summaries:
        found += [e.value for e in (s.score, s.worst_at_n) if e.value is not None]
        found += s.score.ci95 or ()
    return min(found), max(found)


_STRIP_WIDTH, _STRIP_EDGE = 200.0, 6.0


def _strip(s: Summary, ends: tuple[float, float]) -> Markup:
    """Score, interval and worst of n on one line; the numbers stand beside it."""

    def x(number: float) -> str:
        share = (number - ends[0]) / (ends[1] - ends[0])
        return f"{_STRIP_EDGE + share * (_STRIP_WIDTH - 2 * _STRIP_EDGE):.1f}"

    drawn = [
        f'<line class="{name}" x1="{x(at)}" x2="{x(at)}" y1="0" y2="24"/>'
        for name, at in (("zero", 0.0), ("hundred", 1.0))
    ]
    if s.score.ci95 is not None:
        low, high = s.score.ci95
        drawn.append(f'<line class="span" x1="{x(low)}" x2="{x(high)}" y1="12" y2="12"/>')
    if s.worst_at_n.value is not None:
        at = float(x(s.worst_at_n.value))
        drawn.append(f'<path d="M{at - 5:.1f} 8H{at + 5:.1f}L{at:.1f} 17Z"/>')
    if s.score.value is not None:
        drawn.append(f'<circle cx="{x(s.score.value)}" cy="12" r="5"/>')
    return Markup(
        f'<svg class="strip" viewBox="0 0 200 24" aria-hidden="true">{"".join(drawn)}</svg>'
    )


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


def _corrected(findings: Findings, s: Summary) -> Scores:
    """An entry's scores as people correct them; empty without an audit."""
    return findings.cards[s.grader].scores_of(s.model)


def _judge(card: GraderCard) -> Judge:
    name, _, mode = card.grader.rstrip(")").partition(" (")
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
        *((("Its scores on the ladder, by people", off),) if (off := _off(card)) else ()),
        ("Own vendor", own),
        ("Unresolved", unresolved),
    )
    facts = [("Contradictions", _contradictions(card)), ("Whole name", (card.grader,))]
    if card.probes is not None:
        facts.insert(0, ("On labelled probes", (_sentence(card.probes.sentence()),)))
    return Judge(
        name,
        mode,
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
    """For whom its scores on the ladder are off, as people correct them; empty without an audit."""
    by_verdict: dict[str, list[str]] = {}
    for (system, rubric), of in card.corrected.items():
        if rubric is Rubric.ladder:
            by_verdict.setdefault(of.people_give, []).append(system)
    said = []
    for verdict, how in _OFF.items():
        if found := by_verdict.get(verdict):
            many = len(found) > _MOST_NAMED
            said.append(how.format(f"{len(found)} systems" if many else ", ".join(found)))
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
    found = tuple(
        f"{percent(count.share)}% {_CONTRADICTIONS[kind]} ({count.count:,} of "
        f"{count.opportunities:,})"
        for kind, count in card.contradictions.items()
        if count.opportunities
    )
    return found or ("No judgments that could contradict each other.",)


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


def _figures(findings: Findings) -> dict[str, Drawn | None]:
    summaries, details = findings.summaries, findings.details
    if not summaries:
        return {}
    made: dict[str, tuple[str, Callable[[int], charts.Figure]]] = {
        "overview": (
            "Scores overall and by activity, with the errors",
            lambda width: charts.overview(summaries, details, width),
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
    if details[0].rubric_correlation.value is not None:
        made["correlation"] = (
            "The two instruments, scenario by scenario",
            lambda width: charts.correlation(details[0], width),
        )
    found: dict[str, Drawn | None] = {
        name: drawn(draw(charts.WIDE), draw(charts.NARROW), name, title)
        for name, (title, draw) in made.items()
    }
    return {"correlation": None} | found


def _tables(findings: Findings) -> dict[str, tables.Table]:
    summaries, details = findings.summaries, findings.details
    return {
        "numbers": tables.numbers(summaries),
        "activities": tables.activities(summaries),
        "errors": tables.errors(summaries),
        "domains": tables.domains(summaries),
        "worst_at_k": tables.worst_at_k(summaries, details),
        "severe_of_k": tables.severe_of_k(summaries, details),
        "scenarios": tables.scenarios(summaries, details),
        "instruments": trust_tables.instruments(summaries, details),
        "lengths": trust_tables.lengths(summaries, details),
        "corrected": trust_tables.corrected(findings),
        "noise": trust_tables.noise(findings),
        "pairs": trust_tables.pairs(findings.grader_pairs),
        "own_vendor_out": trust_tables.own_vendor_out(findings.own_vendor_out),
        "odd_items": trust_tables.odd_items(findings.items, _public_scenarios(findings)),
        "costs": tables.costs(summaries),
        "records": tables.records(findings.runs, summaries),
    }


def _maps(findings: Findings) -> list[tables.Table]:
    names = words.entry_names(findings.summaries)
    in_full = len(names) == 1
    return [
        tables.activities_by_domains(name, s, detail, in_full=in_full)
        for name, s, detail in zip(names, findings.summaries, findings.details, strict=True)
        if s.action_score.value is not None
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
        severe: In public responses, on both rubrics.
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
    splits = _splits(findings)
    order = {adl.value: place for place, adl in enumerate(Adl)}
    found: dict[int, list[Harm]] = {}
    held_out = unknown = 0
    for severity in (scoring.SEVERE, scoring.MILD):
        everything = [harm for entry in findings.entries for harm in harms(entry, severity)]
        of = [splits.get((harm.model, harm.scenario, harm.epoch)) for harm in everything]
        kept = [h for h, split in zip(everything, of, strict=True) if split == Split.public.value]
        held_out += of.count(Split.held_out.value)
        unknown += len(everything) - len(kept) - of.count(Split.held_out.value)
        found[severity] = sorted(
            kept, key=lambda h: (order.get(h.adl or "", len(order)), h.adl or "", h.scenario)
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


def _splits(findings: Findings) -> dict[tuple[str, str, int], str | None]:
    """Which split each response is of, by its own row: another system may have its scenario's id.

    `None` where that is not known, or where rows say different things.
    """
    found: dict[tuple[str, str, int], str | None] = {}
    columns = ("system", "scenario", "epoch", "split")
    for *key, split in findings.runs.responses.select(columns).iter_rows():
        at = (key[0], key[1], key[2])
        found[at] = split if found.get(at, split) == split else None
    return found


def _public_scenarios(findings: Findings) -> set[tuple[str, str]]:
    """The (bank, scenario) of which every response is public."""
    rows = findings.runs.responses.select("bank", "scenario", "split").unique().rows()
    hidden = {(bank, name) for bank, name, split in rows if split != Split.public.value}
    return {(bank, name) for bank, name, _ in rows} - hidden


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
        of = (h.scenario, asked.get((h.model, h.scenario), ""))
        passages = by_scenario.setdefault(of, {})
        passages.setdefault((h.model, h.epoch, h.grader, h.quote), []).append(h)
    return [
        ScenarioErrors(scenario, text, tuple(map(tuple, passages.values())))
        for (scenario, text), passages in by_scenario.items()
    ]


def _asked(findings: Findings) -> dict[tuple[str, str], str]:
    """(System, scenario) → what was asked, for public responses."""
    public = findings.runs.responses.filter(pl.col("split") == Split.public.value)
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
        graders=[(name, short) for name, short in data["graders"]],
        epochs=options(str(n) for n in sorted({row[2] for row in data["responses"]})),
        points=[
            (str(n), words.signed(n)) for n in sorted({item[1] for item in data["items"]})[::-1]
        ],
        domains=[
            (str(place), words.DOMAINS[domain])
            for place, domain in enumerate(Domain)
            if any(item[3] >> place & 1 for item in data["items"])
        ],
        words=responses,
        first_two=tuple(data["systems"][:2]),
    )


# The rest


_NAV = (
    ("answer", "Answer"),
    ("overview", "Activities"),
    ("domains", "Domains"),
    ("worst", "Worst case"),
    ("harms", "Harms"),
    ("situations", "Situations"),
    ("instruments", "Instruments"),
    ("grader", "Grader"),
    ("responses", "Responses"),
    ("methods", "Methods"),
)
_WITH_NUMBERS = frozenset({"overview", "domains", "worst", "harms", "situations", "instruments"})
_GRADER_TABLES = ("corrected", "noise", "pairs", "own_vendor_out", "odd_items")


def _nav(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Sections that are there."""
    without = set() if values["words_shown"] else {"responses"}
    absent = without | set() if values["summaries"] else set(_WITH_NUMBERS)
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
    software = sorted(findings.runs.responses["software"].drop_nulls().unique())
    version = f", version {', '.join(software)}" if software else ""
    banks = ", ".join(_distinct(f"{s.bank} {s.bank_version}" for s in summaries))
    protocols = ", ".join(_distinct(s.protocol for s in summaries))
    graders = ", ".join(_distinct(s.grader for s in summaries))
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


def _tex(said: str) -> str:
    """What a name may hold and BibTeX would read as its own."""
    for character in "\\{}":
        said = said.replace(character, "")
    for character in "&%$#_":
        said = said.replace(character, f"\\{character}")
    return said


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))
