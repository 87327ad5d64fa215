"""What commands print: tables on stdout, messages on stderr."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from careeval.cli.app import plain
from careeval.cli.tables import console, new_table, print_table
from careeval.core.grader import Grader
from careeval.core.scenario import Adl, Domain
from careeval.report.words import DOMAINS
from careeval.results import corrected as people
from careeval.results.audit import AuditResults, told_by_people
from careeval.results.corrected import Corrected
from careeval.results.details import Detail
from careeval.results.exports import (
    By,
    breakdown,
    cost_lines,
    count_cell,
    grader_names,
    in_short,
    marked,
    percent,
    rank_cells,
    remarks,
    sentences,
    share_cell,
)
from careeval.results.ranking import Ranking
from careeval.results.summary import Cell, DomainCell, Summary

HEADLINE = ("severe % [95% CI]", "score % [95% CI]", "rank", "severe")
"""Columns of the first table that stay longest where a terminal is narrow."""

MORE = "A wider terminal, or --format md,"
"""The advice for a terminal that is too narrow for all columns."""


def print_summary(
    summaries: Sequence[Summary],
    details: Sequence[Detail] = (),
    by: Sequence[By] = (),
    rankings: Sequence[Ranking] = (),
    audits: Mapping[str, AuditResults] = {},
    corrected: Sequence[Corrected | None] = (),
    *,
    in_detail: bool = False,
) -> None:
    """Print the tables of a summary and what must be said beside them; nothing without an entry.

    Args:
        summaries: An entry each.
        details: Theirs, in the same order, where any of `by` is in them.
        by: What to break the scenarios down by, in full; an overview where nothing is named.
        rankings: Of these entries, in their order.
        audits: Grader → what people who read its judgments say of it.
        corrected: Each entry's score as people correct it, where there are `audits`.
        in_detail: Whether to print what is in `details` for each entry, too.
    """
    if not summaries:
        return
    out = console()
    for sentence in sentences(summaries):
        out.print(Text(plain(sentence)))
    columns = _EntryColumns.of(summaries)
    print_table(out, _headline(summaries, columns, rank_cells(rankings)), HEADLINE, MORE)
    for remark in told_by_people(audits, summaries, corrected):
        out.print(Text(plain(f"  {remark}")))
    if any(corrected):
        print_table(out, _corrected(summaries, columns, corrected), more=MORE)
    if in_detail:
        print_table(out, _in_detail(summaries, columns, details), more=MORE)
    if not by:
        print_table(out, _by_adl(summaries, columns), more=MORE)
        print_table(out, _by_domain(summaries, columns), more=MORE)
    for each in by:
        print_table(out, _breakdown(each, summaries, columns, details), more=MORE)
    agreement = lexical_sentences(summaries)
    told = [*remarks(summaries, details), *_unresolved(summaries), *cost_lines(summaries)]
    for remark in [*told, *agreement]:
        out.print(Text(plain(f"  {remark}"), style="dim"))


def lexical_sentences(summaries: Sequence[Summary]) -> list[str]:
    """Say how the lexical grader does on the probes of the banks that it judged.

    A bank that is not careeval's own is stood for by the default bank.
    """
    from careeval.bank.load import DEFAULT, OWN_NAME

    numbers = {
        s.bank_version.partition("-")[0] if s.bank == OWN_NAME else DEFAULT
        for s in summaries
        if Grader.parse(s.grader).is_lexical
    }
    return [lexical_sentence(number) for number in sorted(numbers)]


@cache
def lexical_sentence(number: str) -> str:
    """Say how far the lexical grader agrees with the probes of one of careeval's own banks.

    Args:
        number: The N of its version; the default bank stands for any that is not careeval's.
    """
    # a summary by any other grader needs no bank, and does not wait for it to load
    from careeval.bank import load_bank
    from careeval.bank.load import OWN_BANKS
    from careeval.protocol.probes import lexical_agreement

    bank = load_bank(OWN_BANKS.get(number))
    told = lexical_agreement(bank).sentence()
    return f"The lexical grader, on bank {bank.about.version}: {told}"


class _EntryColumns(NamedTuple):
    """The columns that tell entries apart; what all of them share stands above the table.

    Attributes:
        graders: Each grader as it is called, by the fields of an entry that tell graders apart;
            empty where there is one.
        rubric: Whether there are several rubrics.
        shared: What all have in common, in words: "on the actions, by NAME".
    """

    graders: Mapping[tuple[str, str | None], str]
    rubric: bool
    shared: str

    @classmethod
    def of(cls, summaries: Sequence[Summary]) -> _EntryColumns:
        """The columns that these entries need."""
        keys = ((s.grader, s.grading_protocol) for s in summaries)
        graders = dict(zip(keys, grader_names(summaries), strict=True))
        rubrics = {s.rubric for s in summaries}
        shared = [f"on the {s}" for s in rubrics if len(rubrics) == 1]
        called = set(graders.values())
        shared += [f"judged by {s}" for s in called if len(called) == 1]
        return cls(graders if len(called) > 1 else {}, len(rubrics) > 1, ", ".join(shared))

    @property
    def head(self) -> tuple[str, ...]:
        """Their heads."""
        return (
            "system",
            *(("grader",) if self.graders else ()),
            *(("rubric",) if self.rubric else ()),
        )

    def title(self, what: str) -> str:
        """A table's title, as markup, with what all entries share."""
        return escape(plain(f"{what}, {self.shared}" if self.shared else what))

    def cells(self, s: Summary) -> tuple[Text, ...]:
        """An entry's cells under `head`."""
        # Text, because a name that somebody chose is no markup
        return (
            Text(plain(s.system)),
            *((Text(plain(called)),) if (called := self._called(s)) else ()),
            *((Text(s.rubric),) if self.rubric else ()),
        )

    def _called(self, s: Summary) -> str:
        return self.graders.get((s.grader, s.grading_protocol), "")


def _headline(
    summaries: Sequence[Summary], columns: _EntryColumns, ranks: Mapping[int, str]
) -> Table:
    table = new_table(
        columns.title("Severe errors and score"),
        columns.head,
        (
            "severe % [95% CI]",
            "severe",
            "score % [95% CI]",
            *(("rank",) if ranks else ()),
            f"{_worst_of(summaries)} [95% CI]",
            "mild % [95% CI]",
            "asked",
        ),
    )
    for place, s in enumerate(summaries):
        table.add_row(
            *columns.cells(s),
            share_cell(s.severe),
            count_cell(s.severe).replace("at least", "≥"),
            in_short(s.score),
            *((ranks.get(place, "–"),) if ranks else ()),
            in_short(s.worst_at_n),
            share_cell(s.mild),
            f"{s.n_scenarios} × {s.n_epochs}",
            style="dim" if s.not_ranked else None,
        )
    return table


def _corrected(
    summaries: Sequence[Summary],
    columns: _EntryColumns,
    corrected: Sequence[Corrected | None],
) -> Table:
    title = columns.title("Scores, corrected by people")
    table = new_table(title, columns.head, people.HEAD)
    for s, score in zip(summaries, corrected, strict=True):
        if score:
            table.add_row(*columns.cells(s), *people.cells(score))
    return table


def _in_detail(
    summaries: Sequence[Summary], columns: _EntryColumns, details: Sequence[Detail]
) -> Table:
    n = max(s.n_epochs for s in summaries)
    table = new_table(
        columns.title("In detail, %"),
        columns.head,
        ("worst epoch", "SD of epochs [95% CI]", *(f"worst of {k}" for k in range(2, n))),
    )
    for s, detail in zip(summaries, details, strict=True):
        worst = [percent(at_k.value) for at_k in detail.worst_at_k[1 : n - 1]]
        table.add_row(
            *columns.cells(s),
            percent(detail.worst_epoch.value),
            in_short(detail.sd_epochs),
            *worst,
            *["–"] * (max(n - 2, 0) - len(worst)),
        )
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


def _by_adl(summaries: Sequence[Summary], columns: _EntryColumns) -> Table:
    present = [adl for adl in Adl if any(adl in s.by_adl for s in summaries)]
    table = new_table(columns.title("Score by activity, %"), columns.head, present)
    for s in summaries:
        table.add_row(*columns.cells(s), *(_part_cell(s.by_adl.get(adl)) for adl in present))
    return table


def _by_domain(summaries: Sequence[Summary], columns: _EntryColumns) -> Table:
    heads = [DOMAINS[d] for d in Domain]
    table = new_table(columns.title("Score by domain, %"), columns.head, heads)
    for s in summaries:
        table.add_row(*columns.cells(s), *(_part_cell(s.by_domain[d]) for d in Domain))
    return table


def _part_cell(cell: Cell | DomainCell | None) -> str:
    return "–" if cell is None else f"{percent(cell.score.value)} (n {marked(cell.n)})"


def _breakdown(
    by: By, summaries: Sequence[Summary], columns: _EntryColumns, details: Sequence[Detail]
) -> Table:
    title = columns.title(f"By {by.head}")
    table = None
    for place, s in enumerate(summaries):
        (_, *head), rows = breakdown(by, [s], details[place : place + 1], in_short)
        table = table or new_table(title, (*columns.head, head[0]), head[1:])
        for number, (_, name, *cells) in enumerate(rows):
            names = columns.cells(s) if number == 0 else ("",) * len(columns.head)
            table.add_row(*names, Text(plain(name)), *cells, end_section=number == len(rows) - 1)
    return table or new_table(title, (), ())
