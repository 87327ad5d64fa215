"""A summary in words and rows for people: what a table, a page and Markdown share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from math import floor, log10
from typing import Any

from careeval.results.cost import Cost
from careeval.results.details import Detail
from careeval.results.estimates import Errors
from careeval.results.summary import NOT_COMPARABLE, Cell, Summary
from careeval.stats import MIN_CLUSTERS, Estimate


def percent(fraction: float | None) -> str:
    """A fraction as a percentage with one decimal; a dash where it is unknown."""
    if fraction is None:
        return "–"
    rounded = round(100 * fraction, 1) or 0.0  # never a minus before 0.0
    return f"{rounded:.1f}".replace("-", "−")


def dollars(value: float | None) -> str:
    """An amount of money, `unknown` for `None`; what is more than nothing never reads as nothing.

    Cents from a dollar up, below it two significant digits, as prices of one call need.
    """
    if value is None:
        return "unknown"
    if 0 < value < LEAST_DOLLARS:
        return f"under ${LEAST_DOLLARS}"
    decimals = 2 if value == 0 else max(2, 1 - floor(log10(value)))
    return f"${value:,.{decimals}f}"


LEAST_DOLLARS = 0.0001
"""Amounts below it are not told apart."""


def with_interval(estimate: Estimate) -> str:
    """A percentage with its 95% interval, and its bounds where judgments are unresolved."""
    text = percent(estimate.value)
    if _is_open(estimate):
        text += f" ({percent(estimate.low)} to {percent(estimate.high)} by the unresolved)"
    if estimate.ci95 is not None:
        text += f" [{percent(estimate.ci95[0])}, {percent(estimate.ci95[1])}]"
    return text


def in_short(estimate: Estimate) -> str:
    """The same where there is little room: the interval takes in the bounds, and stands alone."""
    if estimate.ci95 is not None:
        low, high = map(percent, estimate.ci95)
        return f"{percent(estimate.value)} [{low}, {high}]"
    return with_bounds(estimate)


def with_bounds(estimate: Estimate) -> str:
    """A percentage without its interval, with its bounds where judgments are unresolved."""
    if _is_open(estimate):
        return f"{percent(estimate.value)} ({percent(estimate.low)} to {percent(estimate.high)})"
    return percent(estimate.value)


def _is_open(estimate: Estimate) -> bool:
    """Whether what is unresolved moves it by anything that is printed."""
    return estimate.low is not None and percent(estimate.low) != percent(estimate.high)


def _count(errors: Errors | None) -> str:
    return "–" if errors is None else f"{errors.count} of {errors.opportunities}"


HEADLINE = ("model", "grader", "score % [95% CI]", "worst of n % [95% CI]", "worst run % [95% CI]",
            "SD of runs [95% CI]", "actions % [95% CI]", "severe", "mild", "n")  # fmt: skip
"""Column heads of the first table."""


def headline_row(s: Summary) -> tuple[str, ...]:
    """One entry under `HEADLINE`."""
    return (
        s.model,
        s.grader,
        with_interval(s.score),
        with_interval(s.worst_at_n),
        with_interval(s.worst_run),
        with_interval(s.sd_runs),
        with_interval(s.action_score),
        _count(s.severe),
        _count(s.mild),
        f"{s.n_scenarios} × {s.n_epochs}",
    )


Number = Callable[[Estimate], str]
"""How a number is written: `with_interval`, or `in_short`."""


class By(StrEnum):
    """What a table may break the scenarios down by."""

    adl = "adl"
    domain = "domain"
    condition = "condition"
    assistance = "assistance"
    situation = "situation"
    actor = "actor"

    @property
    def head(self) -> str:
        """As a column is headed."""
        return "activity" if self is By.adl else self.value

    @property
    def in_detail(self) -> bool:
        """Whether a summary lacks it, and a `Detail` has it."""
        return self not in OVERVIEW


OVERVIEW = (By.adl, By.domain)
"""What is shown where nothing is asked for."""

BY_ADL = ("model", "activity", "n", "score % [95% CI]", "worst of n % [95% CI]",
          "actions % [95% CI]", "severe", "mild")  # fmt: skip
BY_DOMAIN = ("model", "domain", "actions % [95% CI]", "n", "ladder level % [95% CI]", "n")
"""Column heads of the tables by activity and by domain."""


def names(summaries: Sequence[Summary]) -> list[str]:
    """What each entry is called: its system, with the grader where that has several.

    A table by parts has no room for a column of graders.
    """
    models = [s.model for s in summaries]
    return [f"{s.model} ({s.grader})" if models.count(s.model) > 1 else s.model for s in summaries]


def domain_rows(s: Summary, number: Number = with_interval) -> list[tuple[str, ...]]:
    """One entry by domain; a number over fewer than five scenarios is marked with an asterisk."""
    return [
        (s.model, domain.replace("_", " "), number(cell.action_score), marked(cell.n),
         number(cell.ladder_level), marked(cell.n_ladder))
        for domain, cell in s.by_domain.items()
    ]  # fmt: skip


def _cell_rows(
    s: Summary, cells: Mapping[Any, Cell], number: Number = with_interval
) -> list[tuple[str, ...]]:
    return [
        (
            s.model, str(name), marked(cell.n), number(cell.score),
            number(cell.worst_at_n), number(cell.action_score),
            *("–" if count is None else str(count) for count in (cell.severe, cell.mild)),
        )
        for name, cell in cells.items()
    ]  # fmt: skip


def marked(n: int) -> str:
    """A number of scenarios, with an asterisk where they are too few for an interval."""
    return f"{n}*" if 0 < n < MIN_CLUSTERS else str(n)


def breakdown(
    by: By,
    summaries: Sequence[Summary],
    details: Sequence[Detail] = (),
    number: Number = with_interval,
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Column heads, and a row an entry and cell.

    Args:
        by: What the scenarios are broken down by.
        summaries: An entry each.
        details: Theirs, in the same order, where `by` is in them.
        number: How a number with its interval is written.
    """
    head: tuple[str, ...]
    if by is By.domain:
        head, of_entries = BY_DOMAIN, [domain_rows(s, number) for s in summaries]
    else:
        head = (BY_ADL[0], by.head, *BY_ADL[2:])
        cells = cells_by(by, summaries, details)
        of_entries = [_cell_rows(s, of, number) for s, of in zip(summaries, cells, strict=True)]
    called = zip(names(summaries), of_entries, strict=True)
    return head, [(name, *row[1:]) for name, rows in called for row in rows]


def cells_by(
    by: By, summaries: Sequence[Summary], details: Sequence[Detail] = ()
) -> list[Mapping[Any, Cell]]:
    """Of each entry, its cells by anything but domain.

    Raises:
        ValueError: They are not of this kind.
    """
    match by:
        case By.adl:
            return [s.by_adl for s in summaries]
        case By.condition:
            return [detail.by_condition for detail in details]
        case By.assistance:
            return [detail.by_assistance for detail in details]
        case By.situation:
            return [detail.by_situation for detail in details]
        case By.actor:
            return [detail.by_actor for detail in details]
        case _:
            raise ValueError(f"a cell of {by} is of another kind")


ORDERS = ("name", "score", "worst", "severe")
"""What entries may be sorted by: the best first, what is unknown last."""


def in_order(order: str, summaries: Sequence[Summary]) -> list[int]:
    """The places of the entries, sorted by one of `ORDERS`; a tie is broken by name."""

    def number(s: Summary) -> float | None:
        if order == "score":
            return None if s.score.value is None else -s.score.value
        if order == "worst":
            return None if s.worst_at_n.value is None else -s.worst_at_n.value
        if order == "severe":
            return None if s.severe is None else s.severe.per_response.value
        return 0.0

    def place(at: int) -> tuple[bool, float, str, str]:
        found = number(summaries[at])
        return found is None, found or 0.0, summaries[at].model, summaries[at].grader

    return sorted(range(len(summaries)), key=place)


def markdown(
    summaries: Sequence[Summary],
    details: Sequence[Detail] = (),
    by: Sequence[By] = OVERVIEW,
    *,
    more: Sequence[tuple[Sequence[str], Sequence[Sequence[str]]]] = (),
    notes: Sequence[str] = (),
) -> str:
    """Summaries as Markdown tables, with what must be said beside them.

    Args:
        summaries: An entry each.
        details: Theirs, in the same order, where any of `by` is in them.
        by: What to break the scenarios down by, a table each.
        more: Tables that stand behind the headline: heads, and rows.
        notes: What must be said first.
    """
    told = [*notes, *cost_lines(summaries), *remarks(summaries, details)]
    parts = [
        _markdown_table(HEADLINE, [headline_row(s) for s in summaries]),
        *(_markdown_table(head, rows) for head, rows in more),
        *(_markdown_table(*breakdown(each, summaries, details)) for each in by),
        "\n".join(f"- {_plain(note)}" for note in told),
    ]
    return "\n\n".join(parts) + "\n"


def cost_lines(summaries: Sequence[Summary]) -> list[str]:
    """What each entry cost, a sentence each; the grader is named where a system has several."""
    models = [s.model for s in summaries]
    lines = []
    for s in summaries:
        asking, grading = s.cost.asking, s.cost.grading
        by = f" by {s.grader}" if models.count(s.model) > 1 else ""
        line = f"{s.model}: asking {_spent(asking)}, grading{by} {_spent(grading)}"
        if asking.per_response is not None and grading.per_response is not None:
            line += f"; {dollars(asking.per_response + grading.per_response)} a response"
        lines.append(f"{line}.")
    return lines


def _spent(cost: Cost) -> str:
    """Dollars, and in brackets why they are unknown, of how many responses, and the tokens."""
    about = [cost.reason] if cost.reason else []
    if cost.known_usd and cost.value is None:
        about.append(f"the rest {dollars(cost.known_usd)}")
    if cost.n and not cost.reason:
        about.append(f"{cost.n:,} {'response' if cost.n == 1 else 'responses'}")
    if cost.input_tokens is not None and cost.output_tokens is not None:
        about.append(f"{thousands(cost.input_tokens)} tokens in")
        about.append(f"{thousands(cost.output_tokens)} out")
    return f"{dollars(cost.value)} ({', '.join(about)})"


def thousands(n: int) -> str:
    """A number of tokens, in thousands or millions where it has as many."""
    if n < 1_000:
        return str(n)
    return f"{n / 1e3:.0f}k" if n < 999_500 else f"{n / 1e6:.1f}M"


def remarks(summaries: Sequence[Summary], details: Sequence[Detail] = ()) -> list[str]:
    """What a reader must be told with these numbers, each remark once.

    Args:
        summaries: An entry each.
        details: Those that are shown too.
    """
    found = [*different(summaries)]
    reasons = dict.fromkeys(reason for s in summaries for reason in s.not_ranked)
    for reason in reasons:
        called = zip(names(summaries), summaries, strict=True)
        entries = dict.fromkeys(name for name, s in called if reason in s.not_ranked)
        found.append(f"{', '.join(entries)}: not for ranking: {reason}.")
    for s in summaries:
        found += [f"{s.model}: {warning}." for warning in s.warnings]
        for count, what in ((s.n_empty, "empty"), (s.n_refused, "refused")):
            if count:
                of = f"{count} of {s.n_responses} responses"
                found.append(f"{s.model}: {of} are {what}: 0 points each.")
    found += [f"Bank {s.bank} {s.bank_version}: {s.bank_provenance}" for s in summaries]
    if len({s.n_epochs for s in summaries}) > 1:
        found.append("The worst of n compares only between equal n.")
    if _has_small(summaries, details):
        found.append("* fewer than five scenarios: no interval, and not for comparing.")
    return [*dict.fromkeys(found), NOT_COMPARABLE] if summaries else []


def _has_small(summaries: Sequence[Summary], details: Sequence[Detail]) -> bool:
    domains = [cell for s in summaries for cell in s.by_domain.values()]
    of_domains = [n for cell in domains for n in (cell.n, cell.n_ladder)]
    cells = [cell for by in By for of in _known_cells(by, summaries, details) for cell in of]
    return any(0 < n < MIN_CLUSTERS for n in of_domains) or any(cell.small for cell in cells)


def _known_cells(
    by: By, summaries: Sequence[Summary], details: Sequence[Detail]
) -> Iterator[Iterable[Cell]]:
    if by is not By.domain:
        yield from (cells.values() for cells in cells_by(by, summaries, details))


def different(summaries: Sequence[Summary]) -> Iterator[str]:
    """Why these entries may not be compared with each other, nor ranked together."""
    banks = dict.fromkeys(f"{s.bank} {s.bank_version}" for s in summaries)
    protocols = dict.fromkeys(s.protocol for s in summaries)
    if len(banks) > 1:
        yield f"The runs are over different banks, {', '.join(banks)}: {NO_RANKING}"
    elif len({s.bank_hash for s in summaries}) > 1:
        yield f"The runs are over different scenarios of bank {', '.join(banks)}: {NO_RANKING}"
    if len(protocols) > 1:
        yield f"The runs are under different protocols, {', '.join(protocols)}: {NO_RANKING}"


NO_RANKING = "do not compare or rank them."


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *(map(_plain, row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _plain(text: str) -> str:
    """Text that Markdown shows as it is, on one line: names come from people and providers.

    What cannot be printed is left out: a terminal would obey it.
    """
    shown = "".join(c for c in " ".join(text.split()) if c.isprintable())
    return re.sub(r"[\\`*<>|]|\](?=\()", r"\\\g<0>", shown)
