"""`careeval report`: one HTML page of one or more runs."""

from __future__ import annotations

from pathlib import Path

from cyclopts import App

from careeval.cli.app import OK, say
from careeval.cli.shared.options import Audits, Flag, Out, SelectionOptions
from careeval.cli.shared.people import audited_findings
from careeval.errors import UsageError
from careeval.protocol.tables import read_runs
from careeval.report.page import write_page

EXAMPLES = """\
Examples:

  careeval report runs/first                         writes report.html
  careeval report runs/first runs/second -o both.html
  careeval report runs/first --title "Our planner" -o planner.html
  careeval report runs/first --no-responses          numbers alone, to hand on
  careeval report runs/first --probes runs/audit     and the trial on probes

The page needs no network: send it as a file, or open it in any browser.
"""

app = App(name="report", help_epilogue=EXAMPLES)


@app.default
def report(
    *folders: Path,
    out: Out = Path("report.html"),
    title: str | None = None,
    no_responses: Flag = False,
    probes: Path | None = None,
    audit: Audits | None = None,
    bank: Path | None = None,
    selection: SelectionOptions = SelectionOptions(),
) -> int:
    """Write one offline HTML page: the result, its limits, and every response beside its rubric.

    Args:
        folders: Folders that `careeval run -o` wrote, one or more.
        out: The file to write.
        title: The page's title.
        no_responses: Leave out responses, quotes and reasons.
        probes: Folder that `careeval audit probes -o` wrote: the grader's agreement with labels.
        audit: File that `careeval audit new -o` wrote: people's labels of the grader's judgments.
        bank: Folder of the probes' bank; if not given, careeval's own that the runs are of.
        selection: Which systems and graders.
    """
    if not folders:
        raise UsageError(
            "name the folder of a run", hint="careeval report runs/first -o report.html"
        )
    runs = selection.select(read_runs(*folders))
    if runs.judgments.is_empty():
        raise UsageError(
            "these runs have no grading yet",
            hint="grade them: careeval grade FOLDER --grader MODEL",
        )
    results = audited_findings(runs, bank, probes, audit)
    write_page(results, out, title=title, responses=not no_responses)
    say(f"Written: {out.resolve().as_uri()}")
    return OK
