"""`careeval site`: a static leaderboard."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from careeval.bank import load_bank
from careeval.cli.app import OK, say
from careeval.cli.audit.grader_agreement import people_say, probe_agreement
from careeval.cli.shared.options import Selection
from careeval.errors import UsageError
from careeval.protocol.runs.folder import refuse_runs_folder
from careeval.protocol.tables.run_tables import read_runs
from careeval.report.site import write_site
from careeval.results.findings import findings

EXAMPLES = """\
Examples:

  careeval site runs/* -o site                     a leaderboard of all runs
  careeval site runs/* -o site --title "Our lab"
  careeval site runs/* -o site --probes runs/audit

The folder deploys as it is, to any host of static files, and opens from a disk:
site/index.html. What may not be ranked stands apart, with the reason.
"""

app = App(name="site", help_epilogue=EXAMPLES)


@app.default
def site(
    *folders: Path,
    out: Annotated[Path, Parameter(name=("--out", "-o"))],
    title: str | None = None,
    probes: Path | None = None,
    audit: Annotated[list[Path] | None, Parameter(negative=())] = None,
    bank: Path | None = None,
    repository: str | None = None,
    selection: Selection = Selection(),
) -> int:
    """Write a static leaderboard: ranked tables, a page a system, pairs, scenarios, evidence, data.

    Args:
        folders: What `careeval run -o` wrote to, one or more.
        out: The folder to write.
        title: The site's title.
        probes: What `careeval audit probes -o` wrote to: how far each grader agrees with labels.
        audit: What `careeval audit new -o` wrote to: what people say of the grader.
        bank: Folder of the runs' bank; careeval's own where not given.
        repository: Web address that takes runs by pull request; without one the site asks for none.
        selection: Which systems and graders.
    """
    if not folders:
        raise UsageError("name the folder of a run", hint="careeval site runs/* -o site")
    if repository is not None and not repository.startswith(("https://", "http://")):
        raise UsageError(
            f"--repository {repository!r} is no web address",
            hint="--repository https://example.org/our-lab/leaderboard",
        )
    refuse_runs_folder(out)
    runs = selection.select(read_runs(*folders))
    asked = load_bank(bank)
    found = findings(
        runs, probe_agreement(runs, asked, probes), audits=people_say(runs, audit or ())
    )
    of_bank = asked.about.name in set(runs.responses["bank"])
    canary = asked.about.canary if of_bank else None
    size = write_site(found, out, title=title, canary=canary, repository=repository)
    for note in runs.notes:
        say(note)
    if not found.summaries:
        say("Nothing here has been graded yet: careeval grade FOLDER --grader MODEL")
    say(f"Written, {size / 1e6:.1f} MB: {(out / 'index.html').resolve().as_uri()}")
    return OK
