"""How `careeval compare` prints: what has become unsafe, then the tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from careeval.core.text import plain
from careeval.results.amounts import percent
from careeval.results.compare import ASSUMED_RUN_SD, ASSUMED_SCENARIO_SD, Comparison
from careeval.results.differences import LEVEL, Difference, Verdict
from careeval.results.flips import Flip
from careeval.results.harms import Harm
from careeval.results.ranking import MAKER_MARK, Ranking
from careeval.results.summary import NOT_COMPARABLE, Summary
from careeval.sheets.kinds import ERROR_SHARE, MEASURE, RANKS, Form
from careeval.sheets.terminal import console, new_table, print_table
from careeval.sheets.words import different
from careeval.stats import MIN_CLUSTERS, Estimate

SEVERE, SCORE = "severe % [95% CI]", "score % [95% CI]"
FIRST_RANKS = (SEVERE, SCORE, "rank by severe")
"""Columns of a ranking that stay longest where a terminal is narrow."""

MOST_FLIPS, MOST_ITEMS = 10, 3
"""Scenarios that are shown in full, and items of each."""

FIRST = ("B − A [95% CI]", "verdict", "p Holm")
"""Columns that stay longest where a terminal is narrow."""

MORE = "A wider terminal, or --json,"
"""The advice for a terminal that is too narrow for all columns."""

MOST_WORDS = 240
"""Characters of a quote that are shown."""


def print_comparison(found: Comparison) -> None:
    """Two systems side by side, what has become unsafe first."""
    out = console()
    judged = f"both judged on the {found.rubric} by {found.grader}"
    out.print(Text(plain(f"A = {found.a}, B = {found.b}, {judged}")))
    for line in _flips(found):
        out.print(line)
    epochs = " and ".join(str(n) for n in dict.fromkeys(found.n_epochs))
    out.print(
        Text(
            plain(
                f"{found.n_scenarios} scenarios of {found.bank} {found.bank_version}, "
                f"{epochs} responses each, asked by protocol {found.protocol}, "
                f"judged by {found.grading_protocol}"
            )
        )
    )
    for title, what, family in (
        ("B against A, points of percent", "metric", found.metrics.items()),
        ("By activity, score", "activity", found.by_adl.items()),
        ("By domain, score", "domain", found.by_domain.items()),
    ):
        print_table(out, _table(title, what, family), FIRST, MORE)
    for note in _notes(found):
        out.print(Text(plain(f"  {note}"), style="dim"))


def print_rankings(ranked: Sequence[Ranking], summaries: Sequence[Summary]) -> None:
    """The ranks that each of many systems may have, a table for each set that compares."""
    out = console()
    for ranking in ranked:
        print_table(out, _ranks(ranking, summaries), FIRST_RANKS, MORE)
        told = {Verdict.better, Verdict.worse}
        apart = sum(1 for d in ranking.pairs.values() if d.verdict in told)
        lines = [
            f"{apart} of {len(ranking.pairs)} pairs can be told apart by score, paired: "
            f"{LEVEL:.0%} for all of them together (Holm). No rank is surer than that."
            if ranking.pairs
            else "Fewer than two systems can be ranked here.",
            *ranking.notes,
            *(f"{name}: not ranked: {reason}." for name, reason in ranking.left_out.items()),
        ]
        for line in lines:
            out.print(Text(plain(f"  {line}"), style="dim"))
    for line in [*different(summaries), NOT_COMPARABLE]:
        out.print(Text(plain(f"  {line}"), style="dim"))


def _ranks(ranking: Ranking, summaries: Sequence[Summary]) -> Table:
    shared = ranking.basis
    table = new_table(
        # a title is read as markup
        escape(
            plain(
                f"{shared.bank}, version {shared.bank_n}, {shared.rubric}, "
                f"judged by {shared.grader}"
            )
        ),
        ("rank", "system"),
        (SEVERE, "rank by severe", SCORE, "worst of n", "asked"),
    )
    for row in ranking.ranked:
        summary = summaries[row.place]
        alone = len(ranking.ranked) < 2  # a rank among no others says nothing
        table.add_row(
            RANKS.text(None if alone else row.ranks),
            Text(plain(f"{row.system}{' ' + MAKER_MARK if row.bank_maker else ''}")),
            ERROR_SHARE.text(summary.severe),
            RANKS.text(None if alone else row.severe_ranks),
            MEASURE.text(summary.score),
            percent(summary.worst_at_n.value),
            f"{summary.n_scenarios} × {summary.n_epochs}",
        )
    return table


def _flips(found: Comparison) -> Iterable[Text]:
    """What has become unsafe, and what safe."""
    n = len(found.to_severe)
    if not n:
        yield Text("No scenario went from safe with A to a severe error with B.", style="bold")
    else:
        what = "1 scenario" if n == 1 else f"{n} scenarios"
        yield Text(f"{what} went from safe with A to a severe error with B", style="bold")
    for flip in found.to_severe[:MOST_FLIPS]:
        yield from _flip(flip)
    if n > MOST_FLIPS:
        yield Text(f"  and {n - MOST_FLIPS} more: --json lists them all")
    names = ", ".join(flip.scenario for flip in found.to_safe) or "none"
    yield Text(plain(f"From a severe error with A to safe with B: {names}"))
    yield Text("")


def _flip(flip: Flip) -> Iterable[Text]:
    yield Text(
        plain(
            f"  {flip.scenario}: severe in {flip.n_severe} of {flip.n_responses} responses of B, "
            f"in none of {flip.n_safe} of A"
        )
    )
    items: dict[str, Harm] = {}
    for harm in flip.harms:
        # of several responses with the same error, one that is quoted
        if harm.item not in items or (items[harm.item].quote is None and harm.quote is not None):
            items[harm.item] = harm
    for harm in list(items.values())[:MOST_ITEMS]:
        yield Text(plain(f"    {_one_line(harm.item_text or harm.item)}"), style="dim")
        if harm.quote:
            yield Text(plain(f"      “{_one_line(harm.quote)}” (response {harm.epoch})"))
    if len(items) > MOST_ITEMS:
        yield Text(f"    and {len(items) - MOST_ITEMS} more items", style="dim")


def _one_line(words: str) -> str:
    line = " ".join(words[: 4 * MOST_WORDS].split())
    return line if len(line) <= MOST_WORDS else f"{line[:MOST_WORDS]}…"


def _table(title: str, what: str, family: Iterable[tuple[str, Difference]]) -> Table:
    table = new_table(
        title,
        (what,),
        ("A", "B", "B − A [95% CI]", "p", "p Holm", "detectable", "n", "verdict"),
    )
    for name, found in family:
        table.add_row(
            str(name).replace("_", " ") if what == "domain" else str(name),
            percent(found.a),
            percent(found.b),
            _difference(found.difference),
            _p(found.p),
            _p(found.p_holm),
            percent(found.detectable),
            f"{found.n}*" if found.n < MIN_CLUSTERS else str(found.n),
            found.verdict.value,
        )
    return table


def _difference(estimate: Estimate) -> str:
    """With its interval, which holds the bounds too; without one, with the bounds."""
    if estimate.value is None or estimate.ci95 is None:
        return MEASURE.text(estimate, Form.whole)
    low, high = estimate.ci95
    return f"{percent(estimate.value)} [{percent(low)}, {percent(high)}]"


def _p(p: float | None) -> str:
    if p is None:
        return "–"
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _notes(found: Comparison) -> Iterable[str]:
    families = (found.metrics, found.by_adl, found.by_domain)
    everything = [d for family in families for d in family.values()]
    yield (
        "Paired by scenario. severe, mild: % of responses with any such error. "
        "p: the larger of sign flips and t; p Holm: held up against the other rows of its table, "
        "and the verdict rests on it."
    )
    alone = [d.name for d in everything if d.clear and d.verdict is Verdict.unclear]
    if alone:
        yield (
            f"{', '.join(alone)}: the interval leaves out 0, but p, held up against the other rows "
            "and against what is unresolved, does not stay under 5%."
        )
    yield (
        "detectable: the smallest difference detected with 80% power among the rows of its table."
    )
    if found.detectable_before is not None:
        yield (
            "Before the run, the smallest difference in score detected with 80% power was expected "
            f"to be {percent(found.detectable_before)} points, from a guessed spread "
            f"({ASSUMED_SCENARIO_SD:g} between scenarios, {ASSUMED_RUN_SD:g} between responses)."
        )
    moved = [
        f"{d.name} ± {percent((e.high - e.low) / 2)}"
        for d in found.metrics.values()
        if (e := d.difference).low is not None and e.high is not None and e.low < e.high
    ]
    if moved:
        differences = ", ".join(moved)
        yield f"Unresolved judgments could move {differences}; the intervals allow for it."
    for d in found.metrics.values():
        if d.difference.reason:
            yield f"{d.name}: {d.difference.reason}."
    if any(d.n < MIN_CLUSTERS for d in everything):
        yield "* fewer than five scenarios: no interval, and not for comparing."
    yield from found.notes
    yield NOT_COMPARABLE
