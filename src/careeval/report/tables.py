"""The tables of the page: the same numbers as the figures, for every reader, and more.

A table is its caption, its heads and its rows; the first cell of a row is its name. A cell is what
it says, an aside to it, and what it is sorted by. With one entry, the column of its name is left
out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from careeval.core.scenario import Adl, Domain
from careeval.report import words
from careeval.report.words import score_name
from careeval.results.amounts import dollars, percent, thousands
from careeval.results.cost import Cost, RunCost
from careeval.results.details import Detail, ScenarioScore
from careeval.results.directions import directions, grader_slips
from careeval.results.estimates import Errors
from careeval.results.grader_card import GraderCard
from careeval.results.parts import By, cells_by
from careeval.results.public import Public
from careeval.results.summary import Cell as Part
from careeval.results.summary import DomainCell, Summary
from careeval.sheets import names
from careeval.sheets.kinds import ERROR_SHARE, UNKNOWN, Form, marked
from careeval.sheets.names import DOMAINS
from careeval.sheets.words import entry_names
from careeval.stats import MIN_CLUSTERS, Estimate

SMALL = "fewer than five scenarios: no interval, and not for comparing"


@dataclass(frozen=True)
class Cell:
    """One cell.

    Attributes:
        says: What it says.
        asides: What is said of it in smaller letters, a line each.
        key: What its column is sorted by, a number; `None` for the text itself. A cell that is
            unknown comes last.
        look: Classes that say how it looks, next to what it says.
    """

    says: str
    asides: tuple[str, ...] = ()
    key: float | None = None
    look: str = ""


@dataclass(frozen=True)
class Head:
    """A column's head; numbers stand flush right."""

    says: str
    number: bool = False


Row = tuple[Cell, ...]


@dataclass(frozen=True)
class Table:
    """What a table says, without how it looks.

    Attributes:
        look: Classes of the whole.
        note: What its marks mean.
    """

    caption: str
    heads: tuple[Head, ...]
    rows: Sequence[Row]
    note: str = ""
    look: str = ""


LAST = -math.inf
"""What an unknown number is sorted by."""


def text(says: str, *asides: str, look: str = "") -> Cell:
    """A cell of words."""
    return Cell(says, tuple(aside for aside in asides if aside), look=look)


def count(n: int | None, *asides: str) -> Cell:
    """A cell of a whole number."""
    if n is None:
        return Cell(UNKNOWN, key=LAST)
    return Cell(f"{n:,}", tuple(aside for aside in asides if aside), float(n))


def estimated(
    estimate: Estimate,
    *asides: str,
    unit: str = "%",
    scale: float = 100,
    with_bounds: bool = True,
) -> Cell:
    """A value; below it its interval, what unresolved items leave open, or why it is unknown."""
    lines = []
    open_ = with_bounds and estimate.low != estimate.high
    if estimate.ci95 is not None:
        lines.append(_range(*estimate.ci95, scale))
    if open_ and estimate.low is not None and estimate.high is not None:
        lines.append(f"unresolved: {_range(estimate.low, estimate.high, scale)}")
    if estimate.reason:
        lines.append(estimate.reason)
    return Cell(
        UNKNOWN if estimate.value is None else f"{written(estimate.value, scale)}{unit}",
        (*lines, *(aside for aside in asides if aside)),
        LAST if estimate.value is None else estimate.value,
    )


def brief(estimate: Estimate, *asides: str, look: str = "") -> Cell:
    """A value alone; a dash where it is unknown."""
    known = estimate.value is not None
    return Cell(
        f"{percent(estimate.value)}%" if known else "–",
        tuple(aside for aside in asides if aside),
        estimate.value if estimate.value is not None else LAST,
        look,
    )


def shade(fraction: float | None, *, harm: bool = False) -> str:
    """The class of a fraction's shade: ten steps from 0 to 1, one of its own below 0.

    Args:
        fraction: What the cell says.
        harm: Whether more is worse; a tenth then has the darkest shade.
    """
    if fraction is None:
        return ""
    if harm:
        return f"harm-{min(9, round(fraction * 90))}"
    return "heat-below" if round(fraction, 3) < 0 else f"heat-{min(9, int(fraction * 10))}"


# The answer


def errors(found: Errors) -> Cell:
    """The share of responses with an error, its interval, and of how many; 0 with its limit."""
    counted = f"{ERROR_SHARE.text(found, Form.of_many)} responses"
    if found.upper_at_zero is not None:
        return Cell("0.0%", (f"at most {percent(found.upper_at_zero)}", counted), 0.0)
    if found.share.value is None:
        return estimated(found.share)
    return estimated(found.share, counted, with_bounds=False)


def numbers(summaries: Sequence[Summary], ranks: Mapping[int, str] = {}) -> Table:
    """The headline's numbers of all entries, in full.

    Args:
        summaries: An entry each.
        ranks: Place of an entry → its rank sets, as `rank_cells` has them.
    """
    rows = [
        (
            text(name, *s.not_ranked),
            errors(s.severe),
            estimated(s.score),
            text(ranks.get(place, "–")),
            estimated(s.worst_at_n),
            errors(s.mild),
            Cell(
                f"{s.n_scenarios} × {s.n_epochs}",
                (f"{s.n_missing} missing",) if s.n_missing else (),
                float(s.n_scenarios * s.n_epochs),
            ),
            count(s.n_unresolved, f"of {s.n_judgments:,} judgments"),
        )
        for place, (name, s) in enumerate(zip(entry_names(summaries), summaries, strict=True))
    ]
    heads = (
        Head("System"), Head("Severe errors", True), Head(score_name(summaries), True),
        Head("Rank"), Head(words.worst_of(summaries), True), Head("Mild errors", True),
        Head("Scenarios × epochs", True), Head("Unresolved", True),
    )  # fmt: skip
    note = "Errors: responses with at least one. Beneath a number: its 95% interval."
    return Table("The numbers in full", heads, rows, note, "many")


# Domains


def domains(summaries: Sequence[Summary]) -> Table:
    """The four domains; of several entries with a column of their names."""
    several = len(summaries) > 1
    rows = [
        (
            text(DOMAINS.get(Domain(domain), domain)),
            *((text(name),) if several else ()),
            estimated(cell.score),
            count(cell.n),
        )
        for name, s in zip(entry_names(summaries), summaries, strict=True)
        for domain, cell in s.by_domain.items()
    ]
    heads = (
        Head("Domain"),
        *((Head("System"),) if several else ()),
        Head(score_name(summaries), True),
        Head("Scenarios", True),
    )
    return Table("Domains in numbers", heads, rows, "Beneath a number: its 95% interval.")


SHORT = {
    Domain.user_function: "Function",
    Domain.user_agency: "Agency",
    Domain.communication_intent: "Intent",
    Domain.functional_safety: "Safety",
}
"""Domains where many tables stand beside each other."""


def activities_by_domains(name: str, s: Summary, detail: Detail, *, in_full: bool) -> Table:
    """Activities down, domains across: the domain-weighted score.

    Args:
        name: Of the entry.
        s: Its summary, for the margins.
        detail: Its parts.
        in_full: Whether a cell has its interval and its n; a small one always has its n.
    """
    rows = [
        (
            text(adl.capitalize()),
            *(_heat(cell, in_full) for cell in by_domain.values()),
            _whole(s.by_adl[adl].score, s.by_adl[adl].n, s.by_adl[adl].small, in_full),
        )
        for adl, by_domain in detail.by_adl_and_domain.items()
    ]
    total = (
        *(_whole(c.score, c.n, False, in_full) for c in s.by_domain.values()),
        _whole(s.score, s.n_scenarios, False, in_full),
    )
    heads = (
        Head("Activity"),
        *(Head(DOMAINS[domain] if in_full else SHORT[domain], True) for domain in Domain),
        Head("All domains" if in_full else "All", True),
    )
    return Table(
        name, heads, [*rows, (text("All activities" if in_full else "All"), *total)], look="heat"
    )


def _heat(cell: DomainCell, in_full: bool) -> Cell:
    estimate, small = cell.score, cell.n < MIN_CLUSTERS
    if estimate.value is None:
        return Cell("–", ("no item is rated in it",) if in_full else (), LAST, "none")
    look = f"{shade(estimate.value)}{' few' if small else ''}"
    return Cell(
        percent(estimate.value),
        _heat_asides(estimate, cell.n, small, in_full),
        estimate.value,
        look,
    )


def _whole(estimate: Estimate, n: int, small: bool, in_full: bool) -> Cell:
    """A margin: it has no shade, so that it is not taken for one of the cells."""
    return Cell(
        percent(estimate.value),
        _heat_asides(estimate, n, small, in_full),
        LAST if estimate.value is None else estimate.value,
        "whole",
    )


def _heat_asides(estimate: Estimate, n: int, small: bool, in_full: bool) -> tuple[str, ...]:
    if not in_full:
        return (f"n {n}*",) if small else ()
    interval = _range(*estimate.ci95) if estimate.ci95 and not small else ""
    return tuple(line for line in (interval, f"n {n}{'*' if small else ''}") if line)


def cell_sizes(details: Sequence[Detail]) -> tuple[int, int] | None:
    """The fewest and the most scenarios of any cell of an activity and a domain."""
    found = [
        cell.n
        for detail in details
        for by_domain in detail.by_adl_and_domain.values()
        for cell in by_domain.values()
        if cell.n
    ]
    return (min(found), max(found)) if found else None


# Epochs, and scenario by scenario


def epochs(summaries: Sequence[Summary], details: Sequence[Detail]) -> Table:
    """How much the epochs of one system differ, and how long its answers are."""
    rows = [
        (
            text(name),
            estimated(d.worst_epoch),
            estimated(d.sd_epochs, unit=" points"),
            _reliability(d),
            estimated(d.length.words, unit="", scale=1),
            estimated(d.length.per_100_words, unit=" points"),
        )
        for name, d in zip(entry_names(summaries), details, strict=True)
    ]
    heads = (
        Head("System"), Head("Worst epoch", True), Head("SD of epochs", True),
        Head("Reliability", True), Head("Words of an answer", True),
        Head("Score with 100 more words, same scenario", True),
    )  # fmt: skip
    return Table("Epochs and length of answers", heads, rows, "Beneath a number: its 95% interval.")


def direction_table(summaries: Sequence[Summary], cards: Mapping[str, GraderCard]) -> Table:
    """Make the table of too little and too much care, and of twins; empty where none has such.

    Beside the numbers of twins stand the slips of their grader on the probes of twins.
    """
    rows = [
        (
            text(name),
            text(d.head, d.meaning),
            count(d.n),
            estimated(d.share),
        )
        for name, s in zip(entry_names(summaries), summaries, strict=True)
        for d in (*directions(s), *grader_slips(s, cards[s.grader].probes))
    ]
    heads = (Head("System"), Head("Number"), Head("Over", True), Head("Share", True))
    note = "Too little and too much care are never netted: that would reward risk."
    return Table("Too little and too much care, and twins", heads, rows, note)


def _reliability(detail: Detail) -> Cell:
    if detail.reliability is None:
        return Cell(UNKNOWN, (detail.why_no_reliability,), LAST)
    of_mean = detail.reliability.of_mean
    asides = (
        f"one response {detail.reliability.icc:.2f}",
        f"over {detail.n_reliability} scenarios",
    )
    return Cell(f"{of_mean:.2f}", asides, of_mean)


def worst_at_k(summaries: Sequence[Summary], details: Sequence[Detail]) -> Table:
    """The score of the lowest of k responses, for each k."""
    return _at_k("The lowest of k responses, score", summaries, [d.worst_at_k for d in details])


def severe_of_k(summaries: Sequence[Summary], details: Sequence[Detail]) -> Table:
    """The share of scenarios with a severe error in any of k responses, for each k."""
    caption = "Scenarios with a severe error in any of k responses"
    return _at_k(caption, summaries, [d.severe_of_k for d in details])


def _at_k(
    caption: str, summaries: Sequence[Summary], curves: Sequence[tuple[Estimate, ...]]
) -> Table:
    most = max((len(curve) for curve in curves), default=0)
    rows = [
        (
            text(name, *{e.reason for e in curve if e.value is None}),
            *(_curve_cell(e) for e in curve),
            *(Cell("", key=LAST) for _ in range(most - len(curve))),
        )
        for name, curve in zip(entry_names(summaries), curves, strict=True)
    ]
    heads = (Head("System"), *(Head(f"k = {k}", True) for k in range(1, most + 1)))
    return Table(caption, heads, rows, "In %. Beneath a number: its 95% interval.", "many")


def _curve_cell(estimate: Estimate) -> Cell:
    interval = _range(*estimate.ci95) if estimate.ci95 else ""
    return Cell(
        percent(estimate.value),
        (interval,) if interval else (),
        LAST if estimate.value is None else estimate.value,
    )


def scenarios(summaries: Sequence[Summary], details: Sequence[Detail]) -> Table:
    """Each scenario's score, with the worst of its responses, a column an entry."""
    found = [{s.scenario: s for s in detail.scenarios} for detail in details]
    names = sorted({name for scores in found for name in scores}, key=_adl_then_id(found))
    rows = [(text(name), *(_scenario_cell(scores.get(name)) for scores in found)) for name in names]
    heads = (Head("Scenario"), *(Head(name, True) for name in _columns(summaries)))
    note = (
        "Mean score of its responses in %; beneath it the lowest of them, and how many have a "
        "severe error."
    )
    return Table("Every scenario in numbers", heads, rows, note)


def _adl_then_id(
    found: Sequence[Mapping[str, ScenarioScore]],
) -> Callable[[str], tuple[int, str]]:
    order = {adl.value: place for place, adl in enumerate(Adl)}
    adls = {name: score.about.adl for scores in found for name, score in scores.items()}
    return lambda name: (order.get(adls[name] or "", len(order)), name)


def _scenario_cell(score: ScenarioScore | None) -> Cell:
    if score is None or score.score is None:
        return Cell("–", key=LAST)
    worst = f"lowest {percent(score.worst)}" if score.worst is not None else ""
    severe = f"severe in {score.n_severe}" if score.n_severe else ""
    return Cell(
        percent(score.score),
        tuple(line for line in (worst, severe) if line),
        score.score,
        shade(score.score),
    )


# Parts of the scenarios


_SAID: Mapping[By, tuple[str, Callable[[str | None], str]]] = {
    By.adl: ("Activity", names.plain),
    By.situation: ("Situation", names.plain),
    By.condition: ("Condition", names.condition),
    By.assistance: ("Usual assistance", names.assistance),
    By.actor: ("Who helps", names.actor),
}
"""A way to part the scenarios → its name, and how a part is called."""


def parts(by: By, summaries: Sequence[Summary], details: Sequence[Detail]) -> Table:
    """Severe errors and score by one way to part the scenarios.

    With one entry a column each; with several a column an entry.
    """
    kind, say = _SAID[by]
    cells = [cells_by(by, s, detail) for s, detail in zip(summaries, details, strict=True)]
    names = list(dict.fromkeys(name for of_entry in cells for name in of_entry))
    small = any(cell.small for of_entry in cells for cell in of_entry.values())
    mark = f" * {SMALL}." if small else ""
    heads: tuple[Head, ...]
    if len(summaries) == 1:
        rows = [(text(_capital(say(name))), *_part_cells(cell)) for name, cell in cells[0].items()]
        heads = (Head(kind), Head("Scenarios", True), Head("Severe errors", True),
                 Head(score_name(summaries), True))  # fmt: skip
        note = f"Beneath a number: its 95% interval.{mark}"
        return Table(f"By {kind.lower()}", heads, rows, note)
    rows = [
        (
            text(_capital(say(name)), f"n {_n_of(name, cells)}"),
            *(_part_of_many(of_entry.get(name)) for of_entry in cells),
        )
        for name in names
    ]
    heads = (Head(kind), *(Head(name, True) for name in entry_names(summaries)))
    note = (
        f"{score_name(summaries)}, in %; beneath it its 95% interval, and the share of responses "
        f"with a severe error.{mark}"
    )
    return Table(f"By {kind.lower()}", heads, rows, note, "heat many")


def _part_cells(cell: Part) -> Row:
    share = cell.severe.share.value
    look = "small" if cell.small else shade(share, harm=True)
    return (
        Cell(marked(cell.n), (), float(cell.n)),
        replace(_marked(errors(cell.severe), cell.small), look=look),
        _marked(estimated(cell.score), cell.small),
    )


def _marked(cell: Cell, small: bool) -> Cell:
    """A small part says once, with an asterisk at its n, why it has no interval."""
    return Cell(cell.says, (), cell.key, "small") if small else cell


def _part_of_many(cell: Part | None) -> Cell:
    if cell is None or cell.score.value is None:
        return Cell("–", key=LAST, look="none")
    share, ci95 = cell.severe.share.value, cell.score.ci95
    lines = (
        _range(*ci95) if ci95 and not cell.small else "",
        f"severe {percent(share)}%" if share is not None else "",
    )
    return Cell(
        f"{percent(cell.score.value)}{'*' if cell.small else ''}",
        tuple(line for line in lines if line),
        cell.score.value,
        f"{shade(cell.score.value)}{' few' if cell.small else ''}",
    )


def _n_of(name: str, cells: Sequence[Mapping[str, Part]]) -> str:
    sizes = sorted({of_entry[name].n for of_entry in cells if name in of_entry})
    return "–".join(str(n) for n in dict.fromkeys((sizes[0], sizes[-1])))


def _capital(said: str) -> str:
    return said[:1].upper() + said[1:]


# What was run


def costs(summaries: Sequence[Summary]) -> Table:
    """What asking and grading cost."""
    rows = [
        (
            text(name),
            _cost(s.cost.asking),
            _tokens(s.cost.asking),
            _cost(s.cost.grading),
            _tokens(s.cost.grading),
            _per_response(s.cost),
        )
        for name, s in zip(entry_names(summaries), summaries, strict=True)
    ]
    heads = (
        Head("System"), Head("Asking", True), Head("Asking: tokens in, out", True),
        Head("Grading", True), Head("Grading: tokens in, out", True),
        Head("A response, asked and graded", True),
    )  # fmt: skip
    return Table("What it cost", heads, rows)


def _cost(cost: Cost) -> Cell:
    asides = [cost.reason] if cost.reason else [f"{cost.n:,} responses"]
    if cost.value is None and cost.known_usd:
        asides.append(f"the rest {dollars(cost.known_usd)}")
    return Cell(dollars(cost.value), tuple(asides), LAST if cost.value is None else cost.value)


def _tokens(cost: Cost) -> Cell:
    if cost.input_tokens is None or cost.output_tokens is None:
        return Cell(UNKNOWN, key=LAST)
    said = f"{thousands(cost.input_tokens)}, {thousands(cost.output_tokens)}"
    return Cell(said, (), float(cost.input_tokens + cost.output_tokens))


def _per_response(cost: RunCost) -> Cell:
    asking, grading = cost.asking.per_response, cost.grading.per_response
    if asking is None or grading is None:
        return Cell(UNKNOWN, key=LAST)
    return Cell(dollars(asking + grading), (), asking + grading)


RECORD = (
    ("Bank", ("bank", "bank_version")),
    ("Bank’s hash", ("bank_hash",)),
    ("Protocol that asked", ("protocol",)),
    ("Model asked", ("model",)),
    ("Model that answered", ("model_returned",)),
    ("Sampling sent", ("sampling",)),
    ("Hash of the question’s prompts", ("ask_prompt",)),
    ("careeval", ("software",)),
    ("Run begun", ("created",)),
)
"""Columns of the table of records → the columns of `responses` that they show."""


def records(public: Public, summaries: Sequence[Summary]) -> Table:
    """What each run was, from the responses' own record; of many systems a row a system."""
    responses = public.runs.responses
    systems = list(dict.fromkeys(s.system for s in summaries)) or sorted(
        responses["system"].unique()
    )
    found = {name: responses.filter(pl.col("system") == name) for name in systems}
    lines = [
        (head, *(_recorded(found[name], columns) for name in systems)) for head, columns in RECORD
    ]
    judged = {name: [_judged(s) for s in summaries if s.system == name] for name in systems}
    lines.append(("Judged", *("; ".join(judged[name]) for name in systems)))
    if len(systems) > 3:
        lines = [tuple(column) for column in zip(("System", *systems), *lines, strict=True)]
        heads, lines = lines[0], lines[1:]
        # what is the same for all is said once
        return _records_of_many(heads, lines)
    rows = [tuple(text(cell) for cell in line) for line in lines]
    return Table("What was run", tuple(map(Head, ("", *systems))), rows, look="records")


def _judged(s: Summary) -> str:
    times = "once" if s.n_gradings == 1 else f"{s.n_gradings} times"
    return f"{s.rubric.value} {times} by {s.grader}, protocol {s.grading_protocol or UNKNOWN}"


def _records_of_many(heads: tuple[str, ...], lines: Sequence[tuple[str, ...]]) -> Table:
    same = [n for n in range(1, len(heads)) if len({line[n] for line in lines}) == 1]
    kept = [n for n in range(len(heads)) if n not in same]
    rows = [tuple(text(line[n]) for n in kept) for line in lines]
    if same:
        shared = "; ".join(f"{heads[n].lower()} {lines[0][n]}" for n in same)
        return Table(
            "What was run", tuple(Head(heads[n]) for n in kept), rows,
            f"The same for all: {shared}.", "records",
        )  # fmt: skip
    return Table("What was run", tuple(Head(heads[n]) for n in kept), rows, look="records")


def _recorded(responses: pl.DataFrame, columns: tuple[str, ...]) -> str:
    """All values that stand there, the first ten characters of a time: its date."""
    values = responses.select(columns).unique(maintain_order=True).drop_nulls().sort(columns).rows()
    said = dict.fromkeys(" ".join(str(v) for v in row) for row in values)
    if columns == ("created",):
        said = dict.fromkeys(moment[:10] for moment in said)
    return "; ".join(text for text in said if text != "{}") or "not recorded"


# Pieces


def _columns(summaries: Sequence[Summary]) -> list[str]:
    return entry_names(summaries) if len(summaries) > 1 else [score_name(summaries)]


def written(number: float, scale: float) -> str:
    """A number as cells have it: in percent, or to two decimals, or whole from ten up."""
    if scale == 100:
        return percent(number)
    decimals = 0 if abs(number) >= 10 else 2
    return f"{number:.{decimals}f}".replace("-", "−")


def _range(low: float, high: float, scale: float = 100) -> str:
    return f"{written(low, scale)} to {written(high, scale)}"
