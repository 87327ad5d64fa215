"""`careeval summary`: the table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from cyclopts import App

from careeval.cli.app import OK
from careeval.cli.options import Json
from careeval.cli.show import print_summary, say
from careeval.errors import UsageError
from careeval.protocol.logs import read_runs
from careeval.results.exports import csv_text, markdown, summary_json
from careeval.results.summary import summarise

EXAMPLES = """\
Examples:

  careeval summary runs/first                      a table for people
  careeval summary runs/first runs/second          several runs in one table
  careeval summary runs/* --format md > table.md   for a page or an issue
  careeval summary runs/first --format csv         a row a system and grader
  careeval summary runs/first --json               everything, for a program

In CSV and JSON a score is a fraction; an unknown one is empty or null, with its
reason beside it.
"""

app = App(name="summary", help_epilogue=EXAMPLES)


@app.default
def summary(
    *folders: Path, format: Literal["table", "md", "csv", "json"] = "table", as_json: Json = False
) -> int:
    """What runs come to: score with its interval, worst case, errors, by activity and domain.

    Args:
        folders: What `careeval run -o` wrote to, one or more.
        format: A table for people, Markdown, CSV or JSON.
        as_json: The same as --format json.
    """
    if not folders:
        raise UsageError("name the folder of a run", hint="careeval summary runs/first")
    runs = read_runs(*folders)
    summaries = summarise(runs)
    for note in runs.notes:
        say(note)
    match "json" if as_json else format:
        case "json":
            print(json.dumps(summary_json(summaries), indent=1, ensure_ascii=False))
        case "md":
            print(markdown(summaries), end="")
        case "csv":
            print(csv_text(summaries), end="")
        case _:
            print_summary(summaries)
    if not summaries:
        say("Nothing here has been graded yet: careeval grade FOLDER --grader MODEL")
    return OK
