"""The tables of a summary as LaTeX, for a paper: `booktabs` is all they need."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from careeval.results import corrected as people
from careeval.results.corrected import Corrected
from careeval.results.details import Detail
from careeval.results.exports import (
    OVERVIEW,
    By,
    breakdown,
    different,
    errors_cell,
    in_short,
    names,
)
from careeval.results.summary import NOT_COMPARABLE, Summary

HEADLINE = ("system", "severe", "score", "rank", "worst of n")
"""Column heads of the first table."""

MOST_ROWS = 36
"""What fits on a page."""


class _Block(NamedTuple):
    """Rows that stay together: one entry's."""

    name: str
    rows: Sequence[Sequence[str]]


def latex(
    summaries: Sequence[Summary],
    details: Sequence[Detail] = (),
    by: Sequence[By] = OVERVIEW,
    corrected: Sequence[Corrected | None] = (),
    *,
    ranks: Mapping[int, str] = {},
) -> str:
    r"""Summaries as LaTeX tables, to be taken into an article with `\input`.

    Each caption says what a number needs beside it: the bank, the protocol, the grader, the number
    of scenarios and responses, and the kind of the intervals. One that a page cannot hold is cut
    between entries.

    Args:
        summaries: An entry each.
        details: Theirs, in the same order, where any of `by` is in them.
        by: What to break the scenarios down by, a table each.
        ranks: Place of an entry → its rank set, as `careeval.results.exports.rank_cells` has it.
        corrected: Of each entry, its scores as people correct them, where anybody was audited.
    """
    if not summaries:
        return "% nothing was graded\n"
    about = _about(summaries)
    called = _names(summaries)
    tables = [*_tables(
        "headline", f"Scores in percent. {_SEVERE} {about}", HEADLINE,
        [
            _Block(name, [_row(s, ranks.get(place, "–"))])
            for place, (name, s) in enumerate(zip(called, summaries, strict=True))
        ],
    )]  # fmt: skip
    if any(corrected):
        heads = ("system", "as graded", "corrected", "responses", "judgments")
        tables += _tables(
            "corrected", f"Scores in percent. {people.MEANING} {about}", heads,
            [
                _Block(name, [people.cells(score)])
                for name, score in zip(called, corrected, strict=True)
                if score
            ],
        )  # fmt: skip
    for each in by:
        blocks = []
        for place, (name, s) in enumerate(zip(called, summaries, strict=True)):
            head, cells = breakdown(each, [s], details[place : place + 1], in_short)
            blocks.append(_Block(name, [row[1:] for row in cells]))
        caption = f"By {each.head}, in percent. *: {_FEW} {about}"
        plain = [cell.replace(" % [95% CI]", "").removesuffix(" %") for cell in head[1:]]
        tables += _tables(f"by-{each}", caption, ("system", *plain), blocks)
    return "\n".join([r"% needs \usepackage{booktabs}", *tables])


_SEVERE = "Severe: share of the responses that hold a severe error, and of how many."
_FEW = "fewer than five scenarios, no interval, and not for comparing."


def _row(s: Summary, rank: str) -> tuple[str, ...]:
    return errors_cell(s.severe), in_short(s.score), rank, in_short(s.worst_at_n)


def _names(summaries: Sequence[Summary]) -> list[str]:
    """What each entry is called; where its system has several, with its rubric and grader."""
    graders = list(dict.fromkeys(s.grader for s in summaries))
    numbered = [replace(s, grader=f"{graders.index(s.grader) + 1}") for s in summaries]
    return names(numbered)


def _about(summaries: Sequence[Summary]) -> str:
    """What every caption says."""
    graders = list(dict.fromkeys(s.grader for s in summaries))
    numbered = [f"({place}) {name}" for place, name in enumerate(graders, start=1)]
    parts = [
        _either("Bank", (f"{s.bank} {s.bank_version}" for s in summaries)),
        _either("protocol", (str(s.grading_protocol) for s in summaries)),
        _either("rubric", (s.rubric.value for s in summaries)),
        _either("grader", numbered if len(graders) > 1 else graders),
        _either("n", (f"{s.n_scenarios} × {s.n_epochs}" for s in summaries)),
    ]
    provenance = " ".join(dict.fromkeys(s.bank_provenance for s in summaries))
    intervals = (
        "n is scenarios × responses to each. In brackets: 95% intervals, clustered by scenario, "
        "which take in what unresolved judgments could make of a number."
    )
    unlike = " ".join(different(summaries))
    said = (f"{'; '.join(parts)}.", provenance, intervals, unlike, NOT_COMPARABLE)
    return " ".join(part for part in said if part)


def _either(what: str, names: Iterable[str]) -> str:
    return f"{what} {', '.join(dict.fromkeys(names))}"


def _tables(
    label: str, caption: str, head: Sequence[str], blocks: Sequence[_Block]
) -> Iterator[str]:
    """One table, or as many as it takes."""
    pages: list[list[_Block]] = [[]]
    for block in blocks:
        if pages[-1] and sum(len(b.rows) for b in (*pages[-1], block)) > MOST_ROWS:
            pages.append([])
        pages[-1].append(block)
    for number, page in enumerate(pages, start=1):
        part = f" ({number} of {len(pages)})" if len(pages) > 1 else ""
        yield _table(f"{label}-{number}" if part else label, f"{caption}{part}", head, page)


def _table(label: str, caption: str, head: Sequence[str], blocks: Sequence[_Block]) -> str:
    # names on the left, numbers on the right
    n_names = 2 if label.startswith("by-") else 1
    columns = "l" * n_names + "r" * (len(head) - n_names)
    lines = [
        r"\begin{table}",
        r"\centering",
        r"\footnotesize",
        r"\setlength{\tabcolsep}{4pt}",
        rf"\caption{{{escaped(caption)}}}",
        rf"\label{{tab:careeval-{label}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _line(head),
        r"\midrule",
        *_lines(blocks),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _lines(blocks: Sequence[_Block]) -> Iterator[str]:
    for place, (name, rows) in enumerate(blocks):
        if place and len(rows) > 1:
            yield r"\addlinespace"
        for number, row in enumerate(rows):
            yield _line(("" if number else name, *row))


def _line(cells: Iterable[str]) -> str:
    line = " & ".join(map(escaped, cells)) + r" \\"
    # what follows the end of a row may be an argument of it
    return f"{{}}{line}" if line.startswith(("[", "*")) else line


_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    "`": r"\textasciigrave{}",
    "−": "$-$",
    "–": r"\textendash{}",
    "×": r"$\times$",
    "÷": r"$\div$",
}


_NOT_DRAWN = "ÐÞðþ"
"""Latin letters that are not in the encoding OT1, which is LaTeX's unless told otherwise."""


def escaped(text: str) -> str:
    """Text that LaTeX prints as it is, on one line: names come from people and providers.

    A character that the usual engine has no glyph for, and would stop at, is printed as its code
    point: what is not Latin, and the letters that the usual font lacks.
    """
    found = "".join(c for c in re.sub(r"\s+", " ", text) if c.isprintable())
    # two marks in a row would be drawn as another one
    return re.sub(r"([-'])(?=\1)", r"\1{}", "".join(map(_character, found)))


def _character(c: str) -> str:
    if c in _SPECIAL:
        return _SPECIAL[c]
    drawn = c.isascii() or ("À" <= c <= "ÿ" and c not in _NOT_DRAWN)
    return c if drawn else rf"\texttt{{U+{ord(c):04X}}}"
