"""`careeval summary`: the table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from careeval.cli.app import OK, say
from careeval.cli.options import Json, Selection
from careeval.cli.show import print_summary
from careeval.errors import UsageError
from careeval.files import write_bytes, write_text
from careeval.protocol.logs import read_runs
from careeval.results.audit import AuditResults, corrected_by, told_by_people
from careeval.results.corrected import HEAD, Corrected, cells
from careeval.results.details import Detail, detail_of
from careeval.results.entries import entries
from careeval.results.exports import OVERVIEW, By, in_order, markdown, names, rank_cells
from careeval.results.ranking import Ranking, rankings
from careeval.results.summary import Summary, summary_of

EXAMPLES = """\
Examples:

  careeval summary runs/first                      a table for people
  careeval summary runs/first runs/second          several runs in one table
  careeval summary runs --by situation             a row a part of the scenarios
  careeval summary runs --sort severe              fewest severe errors first
  careeval summary runs --format md > table.md     for a page or an issue
  careeval summary runs --format latex -o table.tex
  careeval summary runs/first --format csv         a row a system and grader
  careeval summary runs --by actor --format csv    a row a part of the scenarios
  careeval summary runs --format parquet -o summary.parquet
  careeval summary runs/first --json               everything, for a program
  careeval summary runs --detail                   and the worst of k
  careeval summary runs --rubric ladder            the paper's rubric alone
  careeval summary runs --system NAME --grader NAME   a part of them
  careeval summary runs --audit audit.db           and corrected by people

In CSV, Parquet and JSON a score is a fraction; an unknown one is empty or null,
with its reason beside it. Parts of fewer than five scenarios are marked.
"""

app = App(name="summary", help_epilogue=EXAMPLES)

Form = Literal["table", "md", "latex", "csv", "parquet", "json"]
Part = Literal["adl", "domain", "condition", "assistance", "situation", "actor"]
Order = Literal["name", "score", "worst", "severe"]


@app.default
def summary(
    *folders: Path,
    format: Form = "table",
    by: Annotated[tuple[Part, ...], Parameter(negative=(), show_default=False)] = (),
    sort: Order = "name",
    detail: Annotated[bool, Parameter(negative=())] = False,
    audit: Annotated[list[Path] | None, Parameter(negative=())] = None,
    out: Annotated[Path | None, Parameter(name=("--out", "-o"))] = None,
    as_json: Json = False,
    selection: Selection = Selection(),
) -> int:
    """Severe errors and score of runs, each with its interval; then worst case, activity, domain.

    Args:
        folders: What `careeval run -o` wrote to, one or more.
        format: A table for people, Markdown, LaTeX, CSV, Parquet or JSON.
        by: Break the scenarios down by these, a table each; in CSV and Parquet by one. Not in JSON.
        sort: By name; or the best first by score, by the worst of n, by severe errors.
        detail: Add the worst epoch, the spread of epochs and the worst of k; in JSON also
            reliability, length and every part of the scenarios.
        audit: What `careeval audit new -o` wrote to: the scores as people correct them.
        out: The file to write, and not stdout.
        as_json: The same as --format json.
        selection: Which systems, graders and rubrics.
    """
    form: Form = "json" if as_json else format
    parts = tuple(By(each) for each in by)
    if not folders:
        raise UsageError("name the folder of a run", hint="careeval summary runs/first")
    if detail and form in {"md", "latex"}:
        raise UsageError(
            f"--detail is not in {form}",
            hint="careeval summary DIR --detail; or with --format csv, parquet or json",
        )
    if form == "json" and parts:
        raise UsageError(
            "--by is of tables: JSON has every part",
            hint="careeval summary DIR --json has activity and domain, with --detail the others",
        )
    if form == "parquet" and out is None:
        raise UsageError("Parquet is no text for a terminal", hint="name a file: -o FILE.parquet")
    if form in {"csv", "parquet"} and len(parts) > 1:
        raise UsageError(
            f"{form} holds one table, and --by names {len(parts)}",
            hint="careeval export DIR --to csv parquet writes a file each",
        )
    if audit and form in {"csv", "parquet"} and parts:
        raise UsageError(
            f"{form} holds one table, and people correct whole scores",
            hint="leave out --by, or --audit",
        )
    runs = selection.select(read_runs(*folders))
    people: dict[str, AuditResults] = {}
    if audit:
        # what tries graders is not loaded where nobody asks for it
        from careeval.cli.graders import people_say

        people = people_say(runs, audit)
    found = list(entries(runs))
    unsorted = [summary_of(entry) for entry in found]
    order = in_order(sort, unsorted)
    found, summaries = [found[i] for i in order], [unsorted[i] for i in order]
    corrected = corrected_by(people, found)
    in_detail = detail or (form != "json" and any(each.in_detail for each in parts))
    details = [detail_of(entry) for entry in found] if in_detail else []
    ranked = rankings(found, summaries) if len(summaries) > 1 else []
    for note in runs.notes:
        say(note)
    if form == "table" and out is None:
        print_summary(summaries, details, parts, ranked, people, corrected, in_detail=detail)
    elif form in {"csv", "parquet"}:
        from careeval.results.export_tables import by_table, entries_table
        from careeval.results.table_files import csv_text, parquet_bytes

        table = (
            by_table(parts[0], summaries, details)
            if parts
            else entries_table(summaries, details, corrected if people else None)
        )
        if form == "parquet" and out is not None:
            write_bytes(out, parquet_bytes(table.frame))
        elif out is not None:
            write_text(out, csv_text(table.frame))
        else:
            print(csv_text(table.frame), end="")
    else:
        text = _text(form, summaries, details, parts, ranked, people, corrected)
        if out is None:
            print(text, end="")
        else:
            write_text(out, text)
    if out is not None:
        say(f"Written: {out}")
    if not summaries:
        say("Nothing here has been graded yet: careeval grade FOLDER --grader MODEL")
    return OK


def _text(
    form: Form,
    summaries: Sequence[Summary],
    details: Sequence[Detail],
    parts: tuple[By, ...],
    ranked: Sequence[Ranking],
    people: Mapping[str, AuditResults],
    corrected: Sequence[Corrected | None],
) -> str:
    match form:
        case "json":
            from careeval.results.summary_json import summary_json

            told = summary_json(summaries, details or None, corrected)
            return json.dumps(told, indent=1, ensure_ascii=False) + "\n"
        case "latex":
            from careeval.results.latex import latex

            ranks = rank_cells(ranked)
            return latex(summaries, details, parts or OVERVIEW, corrected, ranks=ranks)
        case _:
            # a table for people in a file is Markdown
            rows = [
                (name, *cells(score))
                for name, score in zip(names(summaries), corrected, strict=True)
                if score
            ]
            return markdown(
                summaries,
                details,
                parts or OVERVIEW,
                ranks=rank_cells(ranked),
                more=[(("system", *HEAD), rows)] if rows else [],
                notes=told_by_people(people, summaries, corrected),
            )
