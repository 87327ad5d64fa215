"""Sheets and documents of comparisons and rankings, and of the ranked systems on one board."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from careeval.core.text import counted, percent
from careeval.results.compare import (
    ASSUMED_RUN_SD,
    ASSUMED_SCENARIO_SD,
    MAKER_MARK,
    RANKED_BY,
    Comparison,
    Flip,
    Ranked,
    Ranking,
)
from careeval.results.differences import LEVEL, Difference, Verdict
from careeval.results.entry import NOT_COMPARABLE, Entry
from careeval.results.harms import Harm
from careeval.results.metrics import COMPARED, HEADLINE, SCORE, SEVERE, SEVERE_BY_KIND
from careeval.results.parts import Breakdown
from careeval.results.tables import condition_text
from careeval.sheets.entries import (
    ASKED,
    BANK,
    BANK_VERSION,
    CORRECTED_SCORE,
    ENTRY,
    GIVEN,
    GRADER,
    GRADING_PROTOCOL,
    NAME,
    PROTOCOL,
    RUBRIC,
    STEP,
    SYSTEM,
    entries_sheet,
    metric_field,
)
from careeval.sheets.kinds import (
    DIFFERENCE,
    P_VALUE,
    PERCENT_POINTS,
    PLAIN_DOLLARS,
    RANKS,
    SHARE,
    SMALL_COUNT,
    Form,
    difference_kind,
    text_kind,
)
from careeval.sheets.sheet import Document, Field, Row, Sheet, Shown, View
from careeval.sheets.words import DOMAINS, SMALL, comparison_warnings, entries_caption, worst_n
from careeval.stats.intervals import MIN_SCENARIOS

# Two systems, paired by scenario

A = Field("a", "name of system A", head="A")
B = Field("b", "name of system B", head="B")
_BOTH = (A, B, GIVEN, STEP, GRADER, RUBRIC, BANK, BANK_VERSION, PROTOCOL, GRADING_PROTOCOL)
"""The fields with the same values in all rows of a comparison."""


_VERDICT = text_kind(is_number=True)
"""Aligned right like the numbers beside it, and never folded."""


def _difference_fields(family: str) -> tuple[Field, ...]:
    """Return the fields of a difference between two systems.

    Args:
        family: Description of the comparisons that p is corrected for.
    """
    return (
        Field("n", "scenarios that both were judged on", SMALL_COUNT, "Scenarios", "n"),
        Field("value_a", "A's number over these scenarios; null if unknown", SHARE, "A", "A"),
        Field("value_b", "B's number over these scenarios; null if unknown", SHARE, "B", "B"),
        Field("difference", "B − A, paired by scenario", DIFFERENCE, "Difference", "B − A"),
        Field("p", "two-sided p of no difference; null if unknown", P_VALUE, "p"),
        Field("p_holm", f"p corrected for {family} (Holm)", P_VALUE, "p, Holm", "p Holm"),
        Field(
            "detectable",
            "smallest difference detected with 80% power, allowing for the same tests as p_holm",
            PERCENT_POINTS,
        ),
        Field("p_holm_family", "the tests that p is corrected for; null if there is no p"),
    )


def _all_pairs(n: int) -> str:
    """Return the pairs of a ranking that a p is corrected for, as text."""
    return f"over all {n:,} pairs" if n > 1 else "over the one pair"


def _difference_row(difference: Difference, family: str) -> Row:
    """Return a row of `_difference_fields` and the verdict.

    Args:
        difference: The difference.
        family: The tests that its p is corrected for, as text.
    """
    return {
        **vars(difference),
        "p_holm_family": None if difference.p_holm is None else family,
        "value_a": difference.a,
        "value_b": difference.b,
        "verdict": difference.verdict,
    }


def differences_sheet(comparison: Comparison) -> Sheet:
    """Return a sheet of the differences B − A by metric, by activity and by domain."""
    names = text_kind(names=_row_names(comparison))
    fields = (
        *_BOTH,
        Field("family", "family of comparisons: metric, adl or domain"),
        Field("name", "name of the metric, or of the activity or domain of a score", names),
        *_difference_fields("the other rows of its family"),
        Field("verdict", "verdict on B, by the corrected p at 5%", _VERDICT),
        Field("why_not_detectable", "why the smallest difference is unknown; else empty"),
    )
    shared = {field.key: getattr(comparison, field.key) for field in _BOTH}
    rows = [
        _difference_row(difference, f"over {counted(difference.n_family, *_NOUNS[family])}")
        | shared
        | {"family": family}
        for family, difference in _differences(comparison)
    ]
    return Sheet("differences", "what two systems differ by in one number", fields, rows)


_NOUNS = {
    "metric": ("metric", "metrics"),
    Breakdown.adl: ("activity", "activities"),
    Breakdown.domain: ("domain", "domains"),
}
"""Family of a comparison → what one of its tests, and what several of them are of."""


def _differences(comparison: Comparison) -> Iterator[tuple[str, Difference]]:
    """Yield each difference with its family."""
    yield from (("metric", difference) for difference in comparison.metrics.values())
    yield from ((Breakdown.adl, difference) for difference in comparison.by_adl.values())
    yield from ((Breakdown.domain, difference) for difference in comparison.by_domain.values())


def _row_names(comparison: Comparison) -> Mapping[str, str]:
    """Return key of a metric or a domain → readable name."""
    epochs = set(comparison.n_epochs)
    n = "n" if len(epochs) > 1 else str(epochs.pop())
    metrics = {metric.key: metric.brief.format(n=n) for metric in COMPARED.values()}
    return metrics | {domain.value: name for domain, name in DOMAINS.items()}


def _systems_line(comparison: Comparison) -> str:
    judged = f"both judged on the {comparison.rubric} by {comparison.grader}"
    condition = condition_text(comparison.given, step=comparison.step)
    return f"A = {comparison.a}, B = {comparison.b}{condition and f' ({condition})'}, {judged}"


def _data_line(comparison: Comparison) -> str:
    epochs = " and ".join(map(str, dict.fromkeys(comparison.n_epochs)))
    return (
        f"{comparison.n_scenarios} scenarios of {comparison.bank} {comparison.bank_version}, "
        f"{epochs} responses each, asked by protocol {comparison.protocol}, "
        f"judged by {comparison.grading_protocol}"
    )


def comparison_document(comparison: Comparison) -> Document:
    """Return the document of two systems; scenarios with severe errors by B alone come first."""
    sheet = differences_sheet(comparison)
    blocks: tuple[str | View, ...] = (
        _systems_line(comparison),
        *_flip_sentences(comparison),
        _data_line(comparison),
        _family(sheet, "metric", "metric", "B against A, points of percent"),
        _family(sheet, Breakdown.adl, Breakdown.adl.head, "By activity, score"),
        _family(sheet, Breakdown.domain, Breakdown.domain.head, "By domain, score"),
    )
    notes = tuple(_notes(comparison))
    caption = f"{_systems_line(comparison)}. {_data_line(comparison)}. {notes[0]} {NOT_COMPARABLE}"
    return Document(blocks, notes, sheet, caption)


def _family(sheet: Sheet, family: str, head: str, title: str) -> View:
    """Return a view of the differences of one family: by metric, by activity or by domain."""
    rows = [row for row in sheet.rows if row["family"] == family]
    keys = ("value_a", "value_b", "difference", "p", "p_holm", "detectable", "n", "verdict")
    families = {row["p_holm_family"] for row in rows if row["p_holm_family"]}
    heads = {"p_holm": f"p Holm {families.pop()}"} if families else {}
    numbers = (
        Shown(key, head=heads.get(key, ""), keep=key in ("difference", "p_holm", "verdict"))
        for key in keys
    )
    columns = (Shown("name", head=head), *numbers)
    return View(replace(sheet, name=f"differences_by_{family}", rows=rows), columns, title)


def _notes(comparison: Comparison) -> Iterator[str]:
    """Yield notes on the differences: the tests, limits of the tests, and warnings."""
    names = _row_names(comparison)
    differences = [difference for _, difference in _differences(comparison)]
    errors = ", ".join(names[metric.key] for metric in COMPARED.values() if metric.counts_errors)
    yield (
        f"Paired by scenario. {errors}: % of responses with any such error. p: the larger p of a "
        "sign-flip test and a t test. p Holm: p corrected for the tests of its table; the verdict "
        "rests on it. A site's pages also correct severe errors and score over all pairs of a "
        "ranking, and print both."
    )
    uncorrected = [d.name for d in differences if d.clear and d.verdict is Verdict.unclear]
    if uncorrected:
        yield (
            f"{', '.join(names.get(name, name) for name in uncorrected)}: the interval excludes 0, "
            "but p is not under 5% once it is corrected for the other rows and for unresolved "
            "judgments."
        )
    yield (
        "detectable: the smallest difference detected with 80% power, allowing for the same tests "
        "as p Holm."
    )
    if comparison.detectable_before is not None:
        yield (
            "Before the run, the smallest difference in score detected with 80% power was expected "
            f"to be {percent(comparison.detectable_before)} points, from a guessed spread "
            f"({ASSUMED_SCENARIO_SD:g} between scenarios, {ASSUMED_RUN_SD:g} between responses)."
        )
    margins = [
        f"{names[key]} ± {percent((high - low) / 2)}"
        for key, metric in comparison.metrics.items()
        if (low := metric.difference.low) is not None
        and (high := metric.difference.high) is not None
        and low < high
    ]
    if margins:
        yield f"Unresolved judgments could move {', '.join(margins)}; the intervals allow for it."
    for key, metric in comparison.metrics.items():
        if metric.difference.reason:
            yield f"{names[key]}: {metric.difference.reason}."
    if any(0 < difference.n < MIN_SCENARIOS for difference in differences):
        yield SMALL
    yield from comparison.notes
    yield NOT_COMPARABLE


# Scenarios that became unsafe or safe

MAX_FLIPS, MAX_ITEMS = 10, 3
"""Largest number of scenarios shown in full, and of items of each."""

MAX_CHARACTERS = 240
"""Largest number of characters shown of a quote."""


def _flip_sentences(comparison: Comparison) -> Iterator[str]:
    n = len(comparison.to_severe)
    if not n:
        yield "No scenario went from safe with A to a severe error with B."
    else:
        yield f"{counted(n, 'scenario')} went from safe with A to a severe error with B"
    for flip in comparison.to_severe[:MAX_FLIPS]:
        yield from _flip(flip)
    if n > MAX_FLIPS:
        yield f"  and {n - MAX_FLIPS} more: --json lists them all"
    names = ", ".join(flip.scenario for flip in comparison.to_safe) or "none"
    yield f"From a severe error with A to safe with B: {names}"


def _flip(flip: Flip) -> Iterator[str]:
    yield (
        f"  {flip.scenario}: severe in {flip.n_severe} of {flip.n_responses} responses of B, "
        f"in none of {flip.n_safe} of A"
    )
    items: dict[str, Harm] = {}
    for harm in flip.harms:
        # prefer a response that is quoted
        if harm.item not in items or (items[harm.item].quote is None and harm.quote is not None):
            items[harm.item] = harm
    for harm in list(items.values())[:MAX_ITEMS]:
        yield f"    {_one_line(harm.item_text or harm.item)}"
        if harm.quote:
            yield f"      “{_one_line(harm.quote)}” (response {harm.epoch})"
    if len(items) > MAX_ITEMS:
        yield f"    and {len(items) - MAX_ITEMS} more items"


def _one_line(text: str) -> str:
    line = " ".join(text[: 4 * MAX_CHARACTERS].split())
    return line if len(line) <= MAX_CHARACTERS else f"{line[:MAX_CHARACTERS]}…"


# Many systems

_BASIS = (
    Field("bank", "name of the bank, the same for all systems"),
    Field("bank_n", "N of the bank's version"),
    Field("bank_hash", "hash of the scenarios that were asked"),
    Field("protocol_n", "N of the asking protocol's version"),
    Field("grading_n", "N of the grading protocol's version"),
    Field("grader", "name of the grader, the same for all systems"),
    RUBRIC,
    GIVEN,
    STEP,
)


def pairs_sheet(rankings: Sequence[Ranking]) -> Sheet:
    """Return a sheet of differences B − A in severe errors and score, by pair of ranked systems."""
    fields = (
        *_BASIS,
        Field("metric", "the compared metric: score or severe"),
        A,
        B,
        *_difference_fields("all pairs of the ranking"),
    )
    rows = [
        _difference_row(difference, _all_pairs(len(pairs)))
        | ranking.basis._asdict()
        | {"metric": metric, "a": a, "b": b}
        for ranking in rankings
        for metric, pairs in ((SCORE.key, ranking.pairs), (SEVERE.key, ranking.severe_pairs))
        for (a, b), difference in pairs.items()
    ]
    return Sheet("pairs", "two systems that one grader judged", fields, rows)


RANK_SETS = (
    Field("rank", "by score", RANKS),
    Field("severe_rank", "by severe errors", RANKS, "Rank by severe errors", "rank by severe"),
)


def rank_sets_sheet(rankings: Sequence[Ranking], entries: Sequence[Entry] = ()) -> Sheet:
    """Return a sheet of the ranks that each system may have, or why a system is not ranked.

    Args:
        rankings: Rankings of entries; a `Ranked.place` is a position in `entries`.
        entries: The entries. If given, the sheet has all headline numbers, not only the score.
    """
    ranked = [entries[entry.place] for r in rankings for entry in r.ranked] if entries else []
    numbers = [metric_field(metric, worst_n(ranked)) for metric in HEADLINE] if entries else []
    fields = (
        *_BASIS,
        SYSTEM,
        *(numbers or [Field("score", "its score; null if it is not ranked", SHARE)]),
        *RANK_SETS,
        Field("bank_maker", "its vendor if that is one of the bank's makers; else null"),
        Field("reason", "why it is not ranked; else empty"),
        NAME,
        ASKED,
    )
    rows = [
        ranking.basis._asdict() | row
        for ranking in rankings
        for row in _rank_rows(ranking, entries)
    ]
    return Sheet("rank_sets", "the ranks that a system may have", fields, rows)


def _rank_rows(ranking: Ranking, entries: Sequence[Entry]) -> Iterator[Row]:
    for ranked in ranking.ranked:
        yield {
            "system": ranked.system,
            "score": ranked.score,
            "rank": ranked.ranks,
            "severe_rank": ranked.severe_ranks,
            "bank_maker": ranked.bank_maker,
            "reason": "",
            **(_entry_row(ranked, entries[ranked.place]) if entries else {}),
        }
    for name, reason in ranking.left_out.items():
        yield {"system": name, "reason": reason}


def _entry_row(ranked: Ranked, s: Entry) -> Row:
    name = f"{s.name} {MAKER_MARK}" if ranked.bank_maker else s.name
    return {**s.numbers, "name": name, "n": f"{s.n_scenarios} × {s.n_epochs}"}


def ranking_document(rankings: Sequence[Ranking], entries: Sequence[Entry]) -> Document:
    """Return the document of rankings, with a table for each.

    Args:
        rankings: Rankings of entries; a `Ranked.place` is a position in `entries`.
        entries: The entries.
    """
    blocks: list[str | View] = []
    for number, ranking in enumerate(rankings, start=1):
        sheet = rank_sets_sheet([ranking], entries)
        if len(rankings) > 1:
            sheet = replace(sheet, name=f"{sheet.name}_{number}")
        note = entries_caption([entries[entry.place] for entry in ranking.ranked])
        view = _ranking_view(ranking, replace(sheet, note=note))
        blocks.append(view if ranking.ranked else view.caption)
        blocks += (f"  {sentence}" for sentence in _ranking_sentences(ranking))
    notes = (*comparison_warnings(entries), NOT_COMPARABLE)
    return Document(tuple(blocks), notes, rank_sets_sheet(rankings, entries))


def _ranking_view(ranking: Ranking, sheet: Sheet) -> View:
    """Return a view of the ranked systems, the highest score first."""
    rest = (metric.key for metric in HEADLINE if metric not in (SEVERE, SCORE))
    columns = (
        Shown("rank", keep=True),
        Shown(NAME.key),
        Shown(SEVERE.key, keep=True),
        Shown("severe_rank", keep=True),
        Shown(SCORE.key, keep=True),
        *(Shown(key, Form.bare) for key in rest),
        Shown(ASKED.key),
    )
    if len(ranking.ranked) < 2:
        # one system alone has no rank
        columns = tuple(shown for shown in columns if shown.key not in ("rank", "severe_rank"))
    basis = ranking.basis
    rows = [row for row in sheet.rows if not row["reason"]]
    condition = basis.condition and f", {basis.condition}"
    title = (
        f"{basis.bank}, version {basis.bank_n}, {basis.rubric}{condition}, judged by {basis.grader}"
    )
    return View(replace(sheet, rows=rows), columns, title)


def _ranking_sentences(ranking: Ranking) -> Iterator[str]:
    """Yield sentences: how many pairs can be told apart, the notes, and what is not ranked."""
    clear = [pair.verdict in (Verdict.better, Verdict.worse) for pair in ranking.pairs.values()]
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


BOARD_FIELDS = (
    *RANK_SETS,
    Field("system_vendor", "maker of the system; null if its name does not say", head="Vendor"),
    Field("date", "day on which its run began, ISO 8601; null if not recorded", head="Run"),
    Field("grader_card", "path of the grader's card"),
    Field("not_ranked", "why the entry must not be ranked; null if it may be"),
)
"""The fields of a leaderboard besides the numbers of an entry."""

_NUMBERS = (
    *(field.key for field in ENTRY),
    *("bank", "bank_version", "bank_hash", "protocol", "grading_protocol"),
    *("n_scenarios", "n_epochs"),
    *(metric.key for metric in HEADLINE),
    *(metric.key for metric in SEVERE_BY_KIND),
    "n",
)
_COST = Field("cost_usd", "for asking, a run", PLAIN_DOLLARS, "Cost")
_CORRECTED = replace(CORRECTED_SCORE, head="Corrected score", in_files=False)


def board_sheet(
    name: str, graded: Sequence[Entry], board_rows: Iterable[Row], caption: str
) -> Sheet:
    """Return the sheet of a leaderboard.

    Args:
        name: Name of the sheet.
        graded: The entries, in the order of the leaderboard.
        board_rows: For each entry, the values of `BOARD_FIELDS` and of fields that a page adds.
        caption: Text above the table.
    """
    sheet = entries_sheet(graded)
    fields = (*(sheet.by_key[key] for key in _NUMBERS), _COST, *BOARD_FIELDS, _CORRECTED)
    rows = [
        row | board_row | {"cost_usd": row["cost.asking"]}
        for row, board_row in zip(sheet.rows, board_rows, strict=True)
    ]
    return Sheet(name, sheet.holds, fields, rows, caption)


VERDICTS = {
    Verdict.better: "second is better",
    Verdict.worse: "first is better",
    Verdict.unclear: "no clear difference",
    Verdict.unknown: "unknown",
}
_ASKED = (BANK, BANK_VERSION, PROTOCOL, GRADING_PROTOCOL, GRADER, RUBRIC, GIVEN)
"""The fields of asking and grading. Versions N-X compare if N is equal; X may differ in a row."""


def ranked_pairs_sheet(ranked: Iterable[Entry], ranking: Ranking, caption: str) -> Sheet:
    """Return a sheet of differences: a row for each pair of systems and metric of `RANKED_BY`.

    System A of a pair is the one that comes first in `ranked`.
    """
    heads = {key: metric.head.format(n="n") for key, metric in COMPARED.items()}
    fields = (
        A,
        B,
        Field("metric", "the compared metric", text_kind(names=heads)),
        *_difference_fields("its family"),
        Field("verdict", "verdict on the second system against the first, by the corrected p"),
        *_ASKED,
        STEP,
    )
    rows = [
        {
            "metric": key,
            **_difference_row(difference, _all_pairs(len(ranking.pairs))),
            "a": a.system,
            "b": b.system,
            "verdict": VERDICTS[difference.verdict],
            **{field.key: _distinct(getattr(s, field.key) for s in (a, b)) for field in _ASKED},
            "step": a.step,
            "provenance": _distinct((a.bank_provenance, b.bank_provenance), " "),
        }
        for a, b in combinations(ranked, 2)
        for key in RANKED_BY
        for difference in (ranking.difference(key, a.system, b.system),)
    ]
    holds = "a number of two systems that one grader judged on one rubric"
    return Sheet("ranked_pairs", holds, fields, rows, caption)


def _distinct(values: Iterable[object], between: str = "; ") -> str:
    return between.join(dict.fromkeys(map(str, values)))


# The matrix of all pairs


def matrix_sheet(ranking: Ranking, key: str, names: Sequence[str]) -> Sheet:
    """Return a matrix of differences, the row's system minus the column's, with each pair once.

    Args:
        ranking: Ranking of the systems.
        key: A metric of `RANKED_BY`.
        names: Names of the systems, best first: `b2` is the column of the second.
    """
    kind = difference_kind(if_missing="")
    fields = (
        Field("a", "name of the row's system", head="Row minus column"),
        *(
            Field(f"b{n}", f"the row's system minus {name}", kind, name)
            for n, name in enumerate(names[1:], start=2)
        ),
    )
    rows = [
        {"a": a}
        | {
            f"b{n}": ranking.difference(key, b, a).difference
            for n, b in enumerate(names[at:], start=at + 1)
        }
        for at, a in enumerate(names[:-1], start=1)
    ]
    return Sheet(f"matrix_{key}", "a system", fields, rows)
