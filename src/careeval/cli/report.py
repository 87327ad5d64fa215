"""`careeval report`: one HTML page of one or more runs."""

from __future__ import annotations

from pathlib import Path

from cyclopts import App

from careeval.cli.app import OK, say
from careeval.cli.shared.options import Flag, Out, SelectionOptions
from careeval.cli.shared.people import AuditOptions
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
    audits: AuditOptions = AuditOptions(),
    selection: SelectionOptions = SelectionOptions(),
) -> int:
    """Write one offline HTML page: the result, its limits, and every response beside its rubric.

    Args:
        folders: Folders that `careeval run -o` wrote, or archives of submissions, one or more.
        out: The file to write.
        title: The page's title.
        no_responses: Leave out responses, quotes and reasons.
        audits: What is known of the graders.
        selection: Which systems and graders.
    """
    runs = selection.read(folders, "careeval report runs/first -o report.html", graded=True)
    write_page(audits.findings(runs), out, title=title, responses=not no_responses)
    say(f"Written: {out.resolve().as_uri()}")
    return OK
