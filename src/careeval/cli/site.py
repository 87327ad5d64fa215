"""`careeval site`: a static leaderboard of many runs."""

from __future__ import annotations

from pathlib import Path

from cyclopts import App

from careeval.bank import load_bank
from careeval.cli.app import OK, say
from careeval.cli.shared.options import Out, SelectionOptions
from careeval.cli.shared.people import AuditOptions
from careeval.errors import UsageError
from careeval.protocol.run_setup import refuse_runs_folder
from careeval.report.site import write_site

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
    out: Out,
    title: str | None = None,
    audits: AuditOptions = AuditOptions(),
    repository: str | None = None,
    selection: SelectionOptions = SelectionOptions(),
) -> int:
    """Write a static leaderboard: ranks, a page for each system, scenarios, evidence, data.

    Args:
        folders: Folders that `careeval run -o` wrote, or archives of submissions, one or more.
        out: The folder to write.
        title: The site's title.
        audits: What is known of the graders.
        repository: Web address of the repository that takes runs by pull request; without one the
            site asks for no runs.
        selection: Which systems and graders.
    """
    if repository is not None and not repository.startswith(("https://", "http://")):
        raise UsageError(
            f"--repository {repository!r} is not a web address",
            hint="write it as in --repository https://example.org/our-lab/leaderboard",
        )
    refuse_runs_folder(out)
    runs = selection.read(folders, "careeval site runs/* -o site")
    loaded = load_bank(audits.bank)
    results = audits.findings(runs)
    is_of_bank = loaded.about.name in set(runs.responses["bank"])
    canary = loaded.about.canary if is_of_bank else None
    size = write_site(results, out, title=title, canary=canary, repository=repository)
    for note in runs.notes:
        say(note)
    if not results.entries:
        say("These runs have no grading yet. Grade them: careeval grade FOLDER --grader MODEL")
    say(f"Written, {size / 1e6:.1f} MB: {(out / 'index.html').resolve().as_uri()}")
    return OK
