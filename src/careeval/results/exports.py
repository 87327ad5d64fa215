"""A summary in words and rows for people: what a table, a page and Markdown share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from careeval.core.grader import Grader
from careeval.core.scenario import HarmKind
from careeval.results.amounts import dollars, thousands
from careeval.results.cost import Cost
from careeval.results.details import Detail
from careeval.results.directions import directions
from careeval.results.estimates import Errors
from careeval.results.ranking import MAKER_MARK, Ranking
from careeval.results.summary import NOT_COMPARABLE, Cell, Summary
from careeval.stats import MIN_CLUSTERS, Estimate


def percent(fraction: float | None, digits: int = 1) -> str:
    """A fraction as a percentage with one decimal; a dash where it is unknown."""
    if fraction is None:
        return "–"
    rounded = round(100 * fraction, digits) or 0.0  # never a minus before 0.0
    return f"{rounded:.{digits}f}".replace("-", "−")


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


Number = Callable[[Estimate], str]
"""How a number is written: `with_interval`, or `in_short`."""


def errors_cell(errors: Errors, number: Number = in_short) -> str:
    """The share of responses with an error, its interval, and of how many; a dash if unknown.

    Where there is none, the most that the data still allow.
    """
    if errors.share.value is None:
        return "–"
    return f"{share_cell(errors, number)}, {count_cell(errors)}"


def share_cell(errors: Errors, number: Number = in_short) -> str:
    """The share of responses with an error and its interval; where none, the most there may be."""
    if errors.upper_at_zero is not None:
        return f"0.0 (up to {percent(errors.upper_at_zero)})"
    return number(errors.share)


def count_cell(errors: Errors) -> str:
    """How many responses hold an error, of how many: "at least" where judgments are unresolved."""
    share = errors.share
    if share.value is None:
        return "–"
    least = "at least " if share.low != share.high else ""
    return f"{least}{errors.count:,} of {errors.n:,}"


def sentences(summaries: Sequence[Summary]) -> list[str]:
    """`sentence` of each entry; the grader is named where a system's rubric has several."""
    judged = [(s.system, s.rubric) for s in summaries]
    return [
        f"{sentence(s).removesuffix('.')}, judged by {called}."
        if judged.count((s.system, s.rubric)) > 1
        else sentence(s)
        for s, called in zip(summaries, grader_names(summaries), strict=True)
    ]


def grader_names(summaries: Sequence[Summary]) -> list[str]:
    """Each entry's grader in short, with its protocol where entries would else be called alike."""
    keys = [(s.system, s.rubric, Grader.parse(s.grader).short) for s in summaries]
    return [
        f"{key[-1]}, protocol {s.grading_protocol}" if keys.count(key) > 1 else key[-1]
        for s, key in zip(summaries, keys, strict=True)
    ]


def sentence(s: Summary) -> str:
    """The two numbers that stand first, in words."""
    severe, score = s.severe, s.score
    if severe.share.value is None:
        first = (
            f"Whether {s.system}'s responses hold a severe error is unknown: {severe.share.reason}"
        )
    elif severe.upper_at_zero is not None:
        first = (
            f"None of {s.system}'s {severe.n:,} responses holds a severe error; up to "
            f"{percent(severe.upper_at_zero)}% may, for all that these data tell"
        )
    else:
        first = (
            f"{percent(severe.share.value)}%{_in_brackets(severe.share, 1)} of {s.system}'s "
            "responses hold a severe error"
        )
    if score.value is None:
        return f"{first}; its score is unknown: {score.reason}."
    in_brackets = _in_brackets(score, 0)
    return f"{first}; it scores {percent(score.value, 0)}%{in_brackets} on the {s.rubric}."


def _in_brackets(estimate: Estimate, digits: int) -> str:
    if estimate.ci95 is None:
        return ""
    low, high = (percent(end, digits) for end in estimate.ci95)
    return f" ({low} to {high})" if estimate.ci95[0] < 0 else f" ({low}–{high})"


HEADLINE = ("system", "grader", "rubric", "severe % [95% CI]", "score % [95% CI]", "rank",
            "worst of n % [95% CI]", "mild % [95% CI]", "n")  # fmt: skip
"""Column heads of the first table."""


def headline_row(s: Summary, rank: str = "") -> tuple[str, ...]:
    """One entry under `HEADLINE`."""
    return (
        s.system,
        s.grader,
        s.rubric,
        errors_cell(s.severe, with_interval),
        with_interval(s.score),
        rank,
        with_interval(s.worst_at_n),
        errors_cell(s.mild, with_interval),
        f"{s.n_scenarios} × {s.n_epochs}",
    )


def rank_cells(rankings: Iterable[Ranking]) -> dict[int, str]:
    """Place of an entry → its rank set by score, and by severe errors; only where several rank."""
    return {
        ranked.place: f"{rank_set(ranked.ranks)}{MAKER_MARK if ranked.bank_maker else ''} "
        f"(severe {rank_set(ranked.severe_ranks)})"
        for ranking in rankings
        if len(ranking.ranked) > 1
        for ranked in ranking.ranked
    }


def rank_set(ranks: tuple[int, int] | None) -> str:
    """The best and the worst rank that an entry may have: "1–3", "2", or a dash if unknown."""
    if ranks is None:
        return "–"
    best, worst = ranks
    return str(best) if best == worst else f"{best}–{worst}"


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

BY_PART = ("system", "part", "n", "score % [95% CI]", "severe errors")
BY_DOMAIN = ("system", "domain", "n", "score % [95% CI]")
"""Column heads of the tables by a part of the scenarios, and by domain."""


def names(summaries: Sequence[Summary]) -> list[str]:
    """What each entry is called: its system, with what tells it from the others.

    A table by parts has no room for columns of them.
    """
    several_rubrics = len({s.rubric for s in summaries}) > 1
    return [
        _name(s, [other for other in summaries if other.system == s.system], several_rubrics)
        for s in summaries
    ]


def _name(s: Summary, alike: Sequence[Summary], several_rubrics: bool) -> str:
    more = [s.rubric.value] if several_rubrics else []
    if len({other.grader for other in alike}) > 1:
        more.append(s.grader)
    if len({(other.grader, other.rubric) for other in alike}) < len(alike):
        more.append(f"protocol {s.grading_protocol}")
    return f"{s.system} ({', '.join(more)})" if more else s.system


def domain_rows(s: Summary, number: Number = with_interval) -> list[tuple[str, ...]]:
    """One entry by domain; a number over fewer than five scenarios is marked with an asterisk."""
    return [
        (s.system, domain.replace("_", " "), marked(cell.n), number(cell.score))
        for domain, cell in s.by_domain.items()
    ]


def _cell_rows(
    s: Summary, cells: Mapping[Any, Cell], number: Number = with_interval
) -> list[tuple[str, ...]]:
    return [
        (s.system, str(name), marked(cell.n), number(cell.score), count_cell(cell.severe))
        for name, cell in cells.items()
    ]


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
        head = (BY_PART[0], by.head, *BY_PART[2:])
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


def in_order(order: str, summaries: Sequence[Summary]) -> list[int]:
    """The places of the entries, sorted by `name`, `score`, `worst` or `severe`.

    The best come first, what is unknown last; a tie is broken by name.
    """

    def number(s: Summary) -> float | None:
        if order == "score":
            return None if s.score.value is None else -s.score.value
        if order == "worst":
            return None if s.worst_at_n.value is None else -s.worst_at_n.value
        if order == "severe":
            return s.severe.share.value
        return 0.0

    def place(at: int) -> tuple[bool, float, str, str]:
        found = number(summaries[at])
        return found is None, found or 0.0, summaries[at].system, summaries[at].grader

    return sorted(range(len(summaries)), key=place)


def markdown(
    summaries: Sequence[Summary],
    details: Sequence[Detail] = (),
    by: Sequence[By] = OVERVIEW,
    *,
    ranks: Mapping[int, str] = {},
    more: Sequence[tuple[Sequence[str], Sequence[Sequence[str]]]] = (),
    notes: Sequence[str] = (),
) -> str:
    """Summaries as Markdown tables, with what must be said beside them.

    Args:
        summaries: An entry each.
        details: Theirs, in the same order, where any of `by` is in them.
        by: What to break the scenarios down by, a table each.
        ranks: Place of an entry → its rank set, as `rank_cells` has them.
        more: Tables that stand behind the headline: heads, and rows.
        notes: What must be said first.
    """
    told = [*notes, *cost_lines(summaries), *remarks(summaries, details)]
    parts = [
        "\n".join(map(_plain, sentences(summaries))),
        _markdown_table(
            HEADLINE, [headline_row(s, ranks.get(k, "")) for k, s in enumerate(summaries)]
        ),
        *(_markdown_table(head, rows) for head, rows in more),
        *(_markdown_table(*breakdown(each, summaries, details)) for each in by),
        "\n".join(f"- {_plain(note)}" for note in told),
    ]
    return "\n\n".join(parts) + "\n"


def cost_lines(summaries: Sequence[Summary]) -> list[str]:
    """What each system cost, a sentence each: asking it, then each grading of its responses."""
    by_system: dict[str, list[Summary]] = {}
    for s in summaries:
        by_system.setdefault(s.system, []).append(s)
    lines = []
    for system, entries in by_system.items():
        asking = entries[0].cost.asking
        gradings = [
            f"grading the {s.rubric}{f' by {s.grader}' if len(entries) > 1 else ''} "
            f"{_spent(s.cost.grading)}"
            for s in entries
        ]
        line = "; ".join([f"{system}: asking {_spent(asking)}", *gradings])
        grading = entries[0].cost.grading
        both = asking.per_response, grading.per_response
        if len(entries) == 1 and None not in both:
            line += f"; {dollars(sum(filter(None, both)))} a response"
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
        found += [f"{s.system}: {warning}." for warning in s.warnings]
        if s.severe_by_kind:
            kinds = (f"{KINDS[k]} {errors_cell(e)}" for k, e in s.severe_by_kind.items())
            found.append(f"{s.system}, % of responses with a severe error: {'; '.join(kinds)}.")
        found += _direction_remarks(s)
        for count, what in ((s.n_empty, "empty"), (s.n_refused, "refused")):
            if count:
                of = f"{count} of {s.n_responses} responses"
                found.append(f"{s.system}: {of} are {what}: 0 points each.")
    found += [f"Bank {s.bank} {s.bank_version}: {s.bank_provenance}" for s in summaries]
    if len({s.n_epochs for s in summaries}) > 1:
        found.append("The worst of n compares only between equal n.")
    if _has_small(summaries, details):
        found.append("* fewer than five scenarios: no interval, and not for comparing.")
    return [*dict.fromkeys(found), NOT_COMPARABLE] if summaries else []


def _direction_remarks(s: Summary) -> Iterator[str]:
    """Yield a line on too little and too much care, and on twins, where the bank has such."""
    shown = {d.key: f"{d.head.lower()} {with_interval(d.share)}" for d in directions(s)}
    for keys, what in (
        (("too_little", "too_much", "unspecific"), "% of responses"),
        (("core", "other"), "% of points earned"),
        (("lenient",), "% on the ladder, from strict to lenient"),
        (("adapted", "stuck", "neither"), "% of pairs of answers to a base and its twin"),
        (("changed", "same_text"), "% of pairs of answers to a base and its control"),
    ):
        if parts := [shown[key] for key in keys if key in shown]:
            yield f"{s.system}, {what}: {'; '.join(parts)}."


def _has_small(summaries: Sequence[Summary], details: Sequence[Detail]) -> bool:
    of_domains = [cell.n for s in summaries for cell in s.by_domain.values()]
    cells = [cell for by in By for of in _known_cells(by, summaries, details) for cell in of]
    return any(0 < n < MIN_CLUSTERS for n in of_domains) or any(cell.small for cell in cells)


def _known_cells(
    by: By, summaries: Sequence[Summary], details: Sequence[Detail]
) -> Iterator[Iterable[Cell]]:
    if by is not By.domain:
        yield from (cells.values() for cells in cells_by(by, summaries, details))


KINDS = {HarmKind.injury: "that may injure", HarmKind.rights: "against the person's rights"}
"""What a severe error does, in words."""


def different(summaries: Sequence[Summary]) -> Iterator[str]:
    """Why these entries may not be compared with each other, nor ranked together."""
    banks = dict.fromkeys(f"{s.bank} {s.bank_version}" for s in summaries)
    if len(banks) > 1:
        yield f"The runs are over different banks, {', '.join(banks)}: {NO_RANKING}"
    elif len({s.bank_hash for s in summaries}) > 1:
        yield f"The runs are over different scenarios of bank {', '.join(banks)}: {NO_RANKING}"
    for what, versions in (
        ("asked", dict.fromkeys(s.protocol for s in summaries)),
        ("judged", dict.fromkeys(str(s.grading_protocol) for s in summaries)),
    ):
        if len(versions) > 1:
            named = ", ".join(versions)
            yield f"The runs were {what} by different protocols, {named}: {NO_RANKING}"
    if len({s.rubric for s in summaries}) > 1:
        yield f"Scores on the actions and on the ladder are two scales: {NO_RANKING}"


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
