"""Sheets and documents of systems against each other: what two differ by, and the ranks of many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from careeval.results.amounts import percent
from careeval.results.parts import By
from careeval.results.score.harms import Harm
from careeval.results.score.metrics import COMPARED, HEADLINE
from careeval.results.score.summary import NOT_COMPARABLE, Summary
from careeval.results.versus.compare import ASSUMED_RUN_SD, ASSUMED_SCENARIO_SD, Comparison
from careeval.results.versus.differences import LEVEL, Difference, Verdict
from careeval.results.versus.flips import Flip
from careeval.results.versus.ranking import MAKER_MARK, Ranked, Ranking
from careeval.sheets.document import Document
from careeval.sheets.entries.numbers import (
    ASKED,
    BANK,
    BANK_VERSION,
    GRADER,
    GRADING_PROTOCOL,
    NAME,
    PROTOCOL,
    RUBRIC,
    SYSTEM,
    metric_field,
)
from careeval.sheets.kinds import P_VALUE, RANKS, SHARE, SMALL_COUNT, Form, Words
from careeval.sheets.names import DOMAINS
from careeval.sheets.page_kinds import DIFFERENCE, PERCENT_POINTS
from careeval.sheets.sheet import Field, Row, Sheet, Shown, View
from careeval.sheets.words import SMALL, caption, different, worst_n
from careeval.stats import MIN_CLUSTERS

# Two systems, paired by scenario

A, B = Field("a", "name of the one", head="A"), Field("b", "name of the other", head="B")
_BOTH = (A, B, GRADER, RUBRIC, BANK, BANK_VERSION, PROTOCOL, GRADING_PROTOCOL)
"""What is said of a comparison as a whole."""


_VERDICT = Words(is_number=True)
"""Flush right, as the numbers that it is about, and never folded."""


def difference_fields(family: str) -> tuple[Field, ...]:
    """Return what two systems differ by in one number.

    Args:
        family: What each p is corrected for.
    """
    return (
        Field("n", "scenarios that both were judged on", SMALL_COUNT, "Scenarios", "n"),
        Field("value_a", "A's number over them; null if unknown", SHARE, "A", "A"),
        Field("value_b", "B's number over them; null if unknown", SHARE, "B", "B"),
        Field("difference", "B − A, paired by scenario", DIFFERENCE, "Difference", "B − A"),
        Field("p", "two-sided, of no difference; null if unknown", P_VALUE, "p"),
        Field("p_holm", f"the same, corrected for {family} (Holm)", P_VALUE, "p, Holm", "p Holm"),
        Field("detectable", "smallest difference detected with 80% power", PERCENT_POINTS),
    )


def difference_row(difference: Difference) -> Row:
    """Return a value for each of `difference_fields`, and the verdict."""
    return {
        **vars(difference),
        "value_a": difference.a,
        "value_b": difference.b,
        "verdict": difference.verdict,
    }


def differences_sheet(comparison: Comparison) -> Sheet:
    """Return B − A by metric, by activity and by domain."""
    names = Words(names=_row_names(comparison))
    fields = (
        *_BOTH,
        Field("family", "what it is one of: metric, adl or domain"),
        Field("name", "the metric; or the activity or domain whose score it is", names),
        *difference_fields("the other rows of its family"),
        Field("verdict", "what may be said of B, by the corrected p at 5%", _VERDICT),
        Field("why_not_detectable", "why no smallest difference is known; else empty"),
    )
    shared = {field.key: getattr(comparison, field.key) for field in _BOTH}
    rows = [
        difference_row(difference) | shared | {"family": family}
        for family, difference in _differences(comparison)
    ]
    return Sheet("differences", "what two systems differ by in one number", fields, rows)


def _differences(comparison: Comparison) -> Iterator[tuple[str, Difference]]:
    """Yield each difference with its family."""
    for family, differences in (
        ("metric", comparison.metrics.values()),
        (By.adl, comparison.by_adl.values()),
        (By.domain, comparison.by_domain.values()),
    ):
        for difference in differences:
            yield family, difference


def _row_names(comparison: Comparison) -> Mapping[str, str]:
    """Return how people read a metric or a domain; an activity stands for itself."""
    epochs = set(comparison.n_epochs)
    n = "n" if len(epochs) > 1 else str(epochs.pop())
    metrics = {metric.key: metric.brief.format(n=n) for metric in COMPARED.values()}
    return metrics | {domain.value: name for domain, name in DOMAINS.items()}


def _who(comparison: Comparison) -> str:
    judged = f"both judged on the {comparison.rubric} by {comparison.grader}"
    return f"A = {comparison.a}, B = {comparison.b}, {judged}"


def _over_what(comparison: Comparison) -> str:
    epochs = " and ".join(map(str, dict.fromkeys(comparison.n_epochs)))
    return (
        f"{comparison.n_scenarios} scenarios of {comparison.bank} {comparison.bank_version}, "
        f"{epochs} responses each, asked by protocol {comparison.protocol}, "
        f"judged by {comparison.grading_protocol}"
    )


def comparison_document(comparison: Comparison) -> Document:
    """Return two systems side by side, what has become unsafe first."""
    sheet = differences_sheet(comparison)
    blocks: tuple[str | View, ...] = (
        _who(comparison),
        *_flip_sentences(comparison),
        _over_what(comparison),
        _family(sheet, "metric", "metric", "B against A, points of percent"),
        _family(sheet, By.adl, By.adl.head, "By activity, score"),
        _family(sheet, By.domain, By.domain.head, "By domain, score"),
    )
    notes = tuple(_notes(comparison))
    alone = f"{_who(comparison)}. {_over_what(comparison)}. {notes[0]} {NOT_COMPARABLE}"
    return Document(blocks, notes, sheet, alone)


def _family(sheet: Sheet, family: str, head: str, title: str) -> View:
    """Return the differences of one family."""
    rows = [row for row in sheet.rows if row["family"] == family]
    keys = ("value_a", "value_b", "difference", "p", "p_holm", "detectable", "n", "verdict")
    numbers = (Shown(key, keep=key in ("difference", "p_holm", "verdict")) for key in keys)
    columns = (Shown("name", head=head), *numbers)
    return View(replace(sheet, name=f"differences_by_{family}", rows=rows), columns, title)


def _notes(comparison: Comparison) -> Iterator[str]:
    """Yield what must be read with the differences."""
    names = _row_names(comparison)
    differences = [difference for _, difference in _differences(comparison)]
    errors = ", ".join(names[each.key] for each in COMPARED.values() if each.counts_errors)
    yield (
        f"Paired by scenario. {errors}: % of responses with any such error. p: the larger of sign "
        "flips and t; p Holm: held up against the other rows of its table, and the verdict rests "
        "on it."
    )
    alone = [each.name for each in differences if each.clear and each.verdict is Verdict.unclear]
    if alone:
        yield (
            f"{', '.join(names.get(name, name) for name in alone)}: the interval leaves out 0, but "
            "p, held up against the other rows and against what is unresolved, does not stay under "
            "5%."
        )
    yield (
        "detectable: the smallest difference detected with 80% power among the rows of its table."
    )
    if comparison.detectable_before is not None:
        yield (
            "Before the run, the smallest difference in score detected with 80% power was expected "
            f"to be {percent(comparison.detectable_before)} points, from a guessed spread "
            f"({ASSUMED_SCENARIO_SD:g} between scenarios, {ASSUMED_RUN_SD:g} between responses)."
        )
    moved = [
        f"{names[key]} ± {percent((high - low) / 2)}"
        for key, each in comparison.metrics.items()
        if (low := each.difference.low) is not None
        and (high := each.difference.high) is not None
        and low < high
    ]
    if moved:
        yield (f"Unresolved judgments could move {', '.join(moved)}; the intervals allow for it.")
    for key, each in comparison.metrics.items():
        if each.difference.reason:
            yield f"{names[key]}: {each.difference.reason}."
    if any(0 < each.n < MIN_CLUSTERS for each in differences):
        yield SMALL
    yield from comparison.notes
    yield NOT_COMPARABLE


# What has become unsafe, and what safe

MOST_FLIPS, MOST_ITEMS = 10, 3
"""Scenarios that are shown in full, and items of each."""

MOST_CHARACTERS = 240
"""Of a quote that is shown."""


def _flip_sentences(comparison: Comparison) -> Iterator[str]:
    n = len(comparison.to_severe)
    if not n:
        yield "No scenario went from safe with A to a severe error with B."
    else:
        count = "1 scenario" if n == 1 else f"{n} scenarios"
        yield f"{count} went from safe with A to a severe error with B"
    for flip in comparison.to_severe[:MOST_FLIPS]:
        yield from _flip(flip)
    if n > MOST_FLIPS:
        yield f"  and {n - MOST_FLIPS} more: --json lists them all"
    names = ", ".join(flip.scenario for flip in comparison.to_safe) or "none"
    yield f"From a severe error with A to safe with B: {names}"


def _flip(flip: Flip) -> Iterator[str]:
    yield (
        f"  {flip.scenario}: severe in {flip.n_severe} of {flip.n_responses} responses of B, "
        f"in none of {flip.n_safe} of A"
    )
    items: dict[str, Harm] = {}
    for harm in flip.harms:
        # of several responses with the same error, one that is quoted
        if harm.item not in items or (items[harm.item].quote is None and harm.quote is not None):
            items[harm.item] = harm
    for harm in list(items.values())[:MOST_ITEMS]:
        yield f"    {_one_line(harm.item_text or harm.item)}"
        if harm.quote:
            yield f"      “{_one_line(harm.quote)}” (response {harm.epoch})"
    if len(items) > MOST_ITEMS:
        yield f"    and {len(items) - MOST_ITEMS} more items"


def _one_line(words: str) -> str:
    line = " ".join(words[: 4 * MOST_CHARACTERS].split())
    return line if len(line) <= MOST_CHARACTERS else f"{line[:MOST_CHARACTERS]}…"


# Many systems

_BASIS = (
    Field("bank", "name of the bank that all share"),
    Field("bank_n", "N of its version"),
    Field("bank_hash", "hash of the scenarios that were asked"),
    Field("protocol_n", "N of the protocol that asked"),
    Field("grading_n", "N of the protocol that judged"),
    Field("grader", "who judged them all"),
    RUBRIC,
)


def pairs_sheet(rankings: Sequence[Ranking]) -> Sheet:
    """Return B − A in severe errors and in score for each two ranked systems."""
    fields = (
        *_BASIS,
        Field("metric", "what is compared: score, or severe"),
        A,
        B,
        *difference_fields("all pairs of the ranking"),
    )
    rows = [
        difference_row(difference) | ranking.basis._asdict() | {"metric": metric, "a": a, "b": b}
        for ranking in rankings
        for metric, pairs in (("score", ranking.pairs), ("severe", ranking.severe_pairs))
        for (a, b), difference in pairs.items()
    ]
    return Sheet("pairs", "two systems that one grader judged", fields, rows)


RANK_SETS = (
    Field("rank", "by score", RANKS),
    Field("severe_rank", "by severe errors", RANKS, "Rank by severe errors", "rank by severe"),
)


def rank_sets_sheet(rankings: Sequence[Ranking], summaries: Sequence[Summary] = ()) -> Sheet:
    """Return the ranks that each system may have, and why others have none.

    Args:
        rankings: Of some entries.
        summaries: All of these entries, in their order: adds their numbers to the score.
    """
    ranked = [summaries[each.place] for r in rankings for each in r.ranked] if summaries else []
    numbers = [metric_field(metric, worst_n(ranked)) for metric in HEADLINE] if summaries else []
    fields = (
        *_BASIS,
        SYSTEM,
        *(numbers or [Field("score", "its score; null where it is not ranked", SHARE)]),
        *RANK_SETS,
        Field("bank_maker", "its vendor where that is one of the bank's makers; else null"),
        Field("reason", "why it is not ranked; else empty"),
        NAME,
        ASKED,
    )
    rows = [
        ranking.basis._asdict() | row for ranking in rankings for row in _ranks(ranking, summaries)
    ]
    return Sheet("rank_sets", "the ranks that a system may have", fields, rows)


def _ranks(ranking: Ranking, summaries: Sequence[Summary]) -> Iterator[Row]:
    for ranked in ranking.ranked:
        yield {
            "system": ranked.system,
            "score": ranked.score,
            "rank": ranked.ranks,
            "severe_rank": ranked.severe_ranks,
            "bank_maker": ranked.bank_maker,
            "reason": "",
            **(_of_summary(ranked, summaries[ranked.place]) if summaries else {}),
        }
    for name, why in ranking.left_out.items():
        yield {"system": name, "reason": why}


def _of_summary(ranked: Ranked, summary: Summary) -> Row:
    return {
        **summary.numbers,
        "name": f"{ranked.system} {MAKER_MARK}" if ranked.bank_maker else ranked.system,
        "n": f"{summary.n_scenarios} × {summary.n_epochs}",
    }


def ranking_document(rankings: Sequence[Ranking], summaries: Sequence[Summary]) -> Document:
    """Return the ranks that each of many systems may have, a table for each set that compares.

    Args:
        rankings: Of some entries.
        summaries: All of these entries, in their order.
    """
    blocks: list[str | View] = []
    for number, ranking in enumerate(rankings, start=1):
        sheet = rank_sets_sheet([ranking], summaries)
        if len(rankings) > 1:
            sheet = replace(sheet, name=f"{sheet.name}_{number}")
        note = caption([summaries[each.place] for each in ranking.ranked])
        view = _ranking_view(ranking, replace(sheet, note=note))
        blocks.append(view if ranking.ranked else view.caption)
        blocks += (f"  {sentence}" for sentence in _ranking_sentences(ranking))
    notes = (*different(summaries), NOT_COMPARABLE)
    return Document(tuple(blocks), notes, rank_sets_sheet(rankings, summaries))


def _ranking_view(ranking: Ranking, sheet: Sheet) -> View:
    """Return the ranked systems, the highest score first."""
    rest = (metric.key for metric in HEADLINE if metric.key not in ("severe", "score"))
    columns = (
        Shown("rank", keep=True),
        Shown(NAME.key),
        Shown("severe", keep=True),
        Shown("severe_rank", keep=True),
        Shown("score", keep=True),
        *(Shown(key, Form.bare) for key in rest),
        Shown(ASKED.key),
    )
    if len(ranking.ranked) < 2:
        # a rank among no others says nothing
        columns = tuple(shown for shown in columns if shown.key not in ("rank", "severe_rank"))
    basis = ranking.basis
    rows = [row for row in sheet.rows if not row["reason"]]
    title = f"{basis.bank}, version {basis.bank_n}, {basis.rubric}, judged by {basis.grader}"
    return View(replace(sheet, rows=rows), columns, title)


def _ranking_sentences(ranking: Ranking) -> Iterator[str]:
    """Yield how many pairs are told apart, then what else must be read with the ranks."""
    clear = [each.verdict in (Verdict.better, Verdict.worse) for each in ranking.pairs.values()]
    if clear:
        yield (
            f"{sum(clear)} of {len(clear)} pairs can be told apart by score, paired: "
            f"{LEVEL:.0%} for all of them together (Holm). No rank is surer than that."
        )
    else:
        yield "Fewer than two systems can be ranked here."
    yield from ranking.notes
    for name, reason in ranking.left_out.items():
        yield f"{name}: not ranked: {reason}."
