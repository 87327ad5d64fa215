"""`careeval report`: one HTML page of one or more runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from careeval.bank import load_bank
from careeval.cli.app import OK, say
from careeval.cli.audit.grader_agreement import people_audits, probe_agreement
from careeval.cli.shared.options import SelectionOptions
from careeval.errors import UsageError
from careeval.protocol.tables import read_runs
from careeval.report.page import write_page
from careeval.results.findings import findings

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
    out: Annotated[Path, Parameter(name=("--out", "-o"))] = Path("report.html"),
    title: str | None = None,
    no_responses: Annotated[bool, Parameter(negative=())] = False,
    probes: Path | None = None,
    audit: Annotated[list[Path] | None, Parameter(negative=())] = None,
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
    results = findings(
        runs,
        probe_agreement(runs, load_bank(bank) if bank else None, probes),
        audits=people_audits(runs, audit or ()),
    )
    write_page(results, out, title=title, responses=not no_responses)
    say(f"Written: {out.resolve().as_uri()}")
    return OK
