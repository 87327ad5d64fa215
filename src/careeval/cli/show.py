"""What commands print: tables on stdout, messages on stderr."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache

from rich.table import Table
from rich.text import Text

from careeval.bank import load_bank
from careeval.cli.app import plain
from careeval.cli.tables import console, new_table
from careeval.core.scenario import Adl, Domain
from careeval.protocol.lexical import LEXICAL
from careeval.protocol.probes import lexical_agreement
from careeval.results.exports import cost_lines, percent, remarks, with_interval
from careeval.results.probes import Agreement, ProbeAgreement
from careeval.results.summary import Cell, Errors, Summary


def say(message: str) -> None:
    """A message for the person at the terminal."""
    print(plain(message), file=sys.stderr)


def print_summary(summaries: Sequence[Summary]) -> None:
    """The tables of a summary and what must be said beside them; nothing without an entry."""
    if not summaries:
        return
    out = console()
    out.print(_headline(summaries))
    out.print(_by_adl(summaries))
    out.print(_by_domain(summaries))
    agreement = sorted(set(grader_agreement(summaries).values()))
    for remark in [*remarks(summaries), *cost_lines(summaries), *agreement]:
        out.print(Text(plain(f"  {remark}"), style="dim"))


def print_agreement(agreement: ProbeAgreement, grader: str) -> None:
    """A grader's agreement with the probes, by point class and by trap."""
    out = console()
    by_points = new_table(
        f"{grader} on the probes, by rubric and points", ("rubric", "points"), _AGREEMENT
    )
    for (rubric, points), part in agreement.by_points.items():
        by_points.add_row(
            rubric.value, f"{points:+d}".replace("-", "−").replace("+0", "0"), *_agreement_row(part)
        )
    by_points.add_row("all", "", *_agreement_row(agreement.overall))
    by_trap = new_table("by trap", ("trap",), _AGREEMENT)
    for trap, part in agreement.by_trap.items():
        by_trap.add_row(trap, *_agreement_row(part))
    out.print(by_points)
    out.print(by_trap)


def grader_agreement(summaries: Sequence[Summary]) -> dict[str, str]:
    """For each grader whose agreement with the probes can be computed on the spot, a sentence."""
    return {s.grader: _lexical_sentence() for s in summaries if s.grader.startswith(LEXICAL)}


@cache
def _lexical_sentence() -> str:
    return f"The lexical grader: {lexical_agreement(load_bank()).sentence()}"


def _names(s: Summary) -> tuple[Text, Text]:
    """The system and its grader, with the mode where that is not the usual one."""
    grader, _, mode = s.grader.rstrip(")").partition(" (")
    mode = mode.partition(",")[0]
    # Text, because a name that somebody chose is no markup
    return Text(plain(s.model)), Text(plain(grader if mode == "batched" else f"{grader} ({mode})"))


def _headline(summaries: Sequence[Summary]) -> Table:
    epochs = {s.n_epochs for s in summaries}
    n = epochs.pop() if len(epochs) == 1 else "n"
    table = new_table(
        "Ladder, % of what an expert answer scores",
        ("model", "grader"),
        (
            "score [95% CI]",
            f"worst of {n}",
            "worst run",
            "SD runs",
            "severe",
            "mild",
            "actions [95% CI]",
            "n",
        ),
    )
    for s in summaries:
        table.add_row(
            *_names(s),
            with_interval(s.score),
            *(percent(e.value) for e in (s.worst_at_n, s.worst_run, s.sd_runs)),
            *(_errors(errors) for errors in (s.severe, s.mild)),
            with_interval(s.action_score),
            f"{s.n_scenarios} × {s.n_epochs}",
        )
    return table


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
    table = new_table(
        "By domain, actions %", ("model", "grader"), [d.replace("_", " ") for d in Domain]
    )
    for s in summaries:
        table.add_row(*_names(s), *(with_interval(s.by_domain[d].action_score) for d in Domain))
    return table


_AGREEMENT = (
    "present",
    "found",
    "missed",
    "absent",
    "cleared",
    "invented",
    "unresolved",
    "finds",
    "clears",
)


def _agreement_row(part: Agreement) -> tuple[str, ...]:
    present, absent = part.found + part.missed, part.cleared + part.invented
    shares = (
        "–" if share is None else f"{share:.0%}" for share in (part.sensitivity, part.specificity)
    )
    counts = (
        present,
        part.found,
        part.missed,
        absent,
        part.cleared,
        part.invented,
        part.unresolved,
    )
    return (*map(str, counts), *shares)
