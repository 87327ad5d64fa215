"""What commands print: tables on stdout, messages on stderr."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from rich.table import Table
from rich.text import Text

from careeval.cli.app import plain
from careeval.cli.tables import console, new_table
from careeval.core.scenario import Adl, Domain
from careeval.report.words import DOMAINS
from careeval.results.audit import AuditResults, told_by_people
from careeval.results.corrected import HEAD, Scores, rows
from careeval.results.details import Detail
from careeval.results.exports import (
    By,
    breakdown,
    cost_lines,
    in_short,
    percent,
    remarks,
)
from careeval.results.summary import LEXICAL_GRADER, Cell, DomainCell, Errors, Summary
from careeval.stats import MIN_CLUSTERS, Estimate


def print_summary(
    summaries: Sequence[Summary],
    details: Sequence[Detail] = (),
    by: Sequence[By] = (),
    correlations: Sequence[Estimate] = (),
    people: Mapping[str, AuditResults] = {},
    corrected: Sequence[Scores] = (),
) -> None:
    """The tables of a summary and what must be said beside them; nothing without an entry.

    Args:
        summaries: An entry each.
        details: Theirs, in the same order, where any of `by` is in them.
        by: What to break the scenarios down by, in full; an overview where nothing is named.
        correlations: Of each entry's two rubrics, for a table of both.
        people: Grader → what people who read its judgments say of it.
        corrected: Each entry's scores as people correct them, where there are `people`.
    """
    if not summaries:
        return
    out = console()
    out.print(_headline(summaries))
    if correlations:
        out.print(_rubrics(summaries, correlations))
    for remark in told_by_people(people, summaries, corrected):
        out.print(Text(plain(f"  {remark}")))
    if any(corrected):
        out.print(_corrected(summaries, corrected))
    if not by:
        out.print(_by_adl(summaries))
        out.print(_by_domain(summaries))
    for each in by:
        out.print(_breakdown(each, summaries, details))
    agreement = sorted(set(grader_agreement(summaries).values()))
    told = [*remarks(summaries, details), *_unresolved(summaries), *cost_lines(summaries)]
    for remark in [*told, *agreement]:
        out.print(Text(plain(f"  {remark}"), style="dim"))


def grader_agreement(summaries: Sequence[Summary]) -> dict[str, str]:
    """For each grader whose agreement with the probes can be computed on the spot, a sentence."""
    return {s.grader: _lexical_sentence() for s in summaries if s.grader.startswith(LEXICAL_GRADER)}


@cache
def _lexical_sentence() -> str:
    # a summary by any other grader needs no bank, and does not wait for it to load
    from careeval.bank import load_bank
    from careeval.protocol.probes import lexical_agreement

    return f"The lexical grader: {lexical_agreement(load_bank()).sentence()}"


def _names(s: Summary) -> tuple[Text, Text]:
    """The system and its grader, with the mode where that is not the usual one."""
    grader, _, mode = s.grader.rstrip(")").partition(" (")
    mode = mode.partition(",")[0]
    # Text, because a name that somebody chose is no markup
    return Text(plain(s.model)), Text(plain(grader if mode == "batched" else f"{grader} ({mode})"))


def _headline(summaries: Sequence[Summary]) -> Table:
    table = new_table(
        "Ladder, % of what an expert answer scores",
        ("model", "grader"),
        (
            "score [95% CI]",
            f"{_worst_of(summaries)} [95% CI]",
            "worst run",
            "SD of runs",
            "severe errors",
            "mild errors",
            "actions [95% CI]",
            "asked",
        ),
    )
    for s in summaries:
        table.add_row(
            *_names(s),
            in_short(s.score),
            in_short(s.worst_at_n),
            *(percent(e.value) for e in (s.worst_run, s.sd_runs)),
            *(_errors(errors) for errors in (s.severe, s.mild)),
            in_short(s.action_score),
            f"{s.n_scenarios} × {s.n_epochs}",
        )
    return table


def _corrected(summaries: Sequence[Summary], corrected: Sequence[Scores]) -> Table:
    table = new_table("Scores, corrected by people", ("model", "grader", HEAD[1]), HEAD[2:])
    for s, scores in zip(summaries, corrected, strict=True):
        for _, *cells in rows([s.model], [scores]):
            table.add_row(*_names(s), *cells)
    return table


def _worst_of(summaries: Sequence[Summary]) -> str:
    """The worst case with its n; where that differs, n."""
    epochs = {s.n_epochs for s in summaries}
    return f"worst of {epochs.pop() if len(epochs) == 1 else 'n'}"


def _unresolved(summaries: Sequence[Summary]) -> Iterator[str]:
    n, of = (sum(getattr(s, f) for s in summaries) for f in ("n_unresolved", "n_judgments"))
    if n:
        yield (
            f"{n:,} of {of:,} judgments are unresolved; intervals take in either way they fall, "
            "and --format md prints the bounds."
        )


def _rubrics(summaries: Sequence[Summary], correlations: Sequence[Estimate]) -> Table:
    table = new_table(
        "Both rubrics, and the correlation of their scenarios' scores",
        ("model", "grader"),
        (
            "ladder %",
            "actions %",
            "r [95% CI]",
            f"actions: {_worst_of(summaries)}",
            "severe errors, actions",
            "mild errors, actions",
        ),
    )
    for s, r in zip(summaries, correlations, strict=True):
        table.add_row(
            *_names(s),
            *(percent(e.value) for e in (s.score, s.action_score)),
            _correlation(r),
            in_short(s.action_worst_at_n),
            *(_errors(errors) for errors in (s.action_severe, s.action_mild)),
        )
    return table


def _correlation(r: Estimate) -> str:
    if r.value is None:
        return "–"
    interval = "" if r.ci95 is None else f" [{r.ci95[0]:.2f}, {r.ci95[1]:.2f}]"
    return f"{r.value:.2f}{interval}".replace("-", "−")


def _errors(errors: Errors | None) -> str:
    return "–" if errors is None else f"{errors.count} of {errors.opportunities}"


def _by_adl(summaries: Sequence[Summary]) -> Table:
    present = [adl for adl in Adl if any(adl in s.by_adl for s in summaries)]
    table = new_table("By activity, score %", ("model", "grader"), present)
    for s in summaries:
        table.add_row(*_names(s), *(_adl_cell(s.by_adl.get(adl)) for adl in present))
    return table


def _adl_cell(cell: Cell | None) -> str:
    return (
        "–"
        if cell is None
        else f"{percent(cell.score.value)}{'*' if cell.small else ''} (n {cell.n})"
    )


def _by_domain(summaries: Sequence[Summary]) -> Table:
    table = new_table("By domain, actions %", ("model", "grader"), [DOMAINS[d] for d in Domain])
    for s in summaries:
        table.add_row(*_names(s), *(_domain_cell(s.by_domain[d]) for d in Domain))
    return table


def _domain_cell(cell: DomainCell) -> str:
    return f"{in_short(cell.action_score)}{'*' * (0 < cell.n < MIN_CLUSTERS)}"


def _breakdown(by: By, summaries: Sequence[Summary], details: Sequence[Detail]) -> Table:
    title = f"By {by.head}"
    table = None
    for place, s in enumerate(summaries):
        (_, *head), rows = breakdown(by, [s], details[place : place + 1], in_short)
        table = table or new_table(title, ("model", "grader", head[0]), head[1:])
        for number, (_, name, *cells) in enumerate(rows):
            names = _names(s) if number == 0 else ("", "")
            table.add_row(*names, Text(plain(name)), *cells, end_section=number == len(rows) - 1)
    return table or new_table(title, (), ())
