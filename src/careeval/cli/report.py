"""`careeval report`: one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from careeval.cli.app import OK
from careeval.cli.show import grader_agreement, say
from careeval.errors import UsageError
from careeval.protocol.logs import read_runs
from careeval.report.page import write_page
from careeval.results.summary import summarise

EXAMPLES = """\
Examples:

  careeval report runs/first                         writes report.html
  careeval report runs/first runs/second -o both.html
  careeval report runs/first --title "Our planner" -o planner.html

The page needs no network: send it as a file, or open it in any browser.
"""

app = App(name="report", help_epilogue=EXAMPLES)


@app.default
def report(
    *folders: Path,
    out: Annotated[Path, Parameter(name=("--out", "-o"))] = Path("report.html"),
    title: str | None = None,
) -> int:
    """Write one offline HTML page: the result, its limits, and every response beside its rubric.

    Args:
        folders: What `careeval run -o` wrote to, one or more.
        out: The file to write.
        title: The page's title.
    """
    if not folders:
        raise UsageError(
            "name the folder of a run", hint="careeval report runs/first -o report.html"
        )
    runs = read_runs(*folders)
    summaries = summarise(runs)
    if not summaries:
        raise UsageError(
            "nothing here has been graded yet", hint="careeval grade FOLDER --grader MODEL"
        )
    write_page(runs, summaries, out, title=title, grader_agreement=grader_agreement(summaries))
    say(f"Written: {out.resolve().as_uri()}")
    return OK
