"""`careeval rename`: another name for the system of a run."""

from __future__ import annotations

from pathlib import Path

from cyclopts import App

from careeval.cli.app import OK, say
from careeval.protocol.run_setup import rename_system, single_run

EXAMPLES = """\
Examples:

  careeval rename runs/second "gpt-5.1, new prompt"
  careeval rename runs/both/openai-gpt-5.1 planner-2

No log is rewritten and the folder stays; an unfinished run resumes.
"""

app = App(name="rename", help_epilogue=EXAMPLES)


@app.default
def rename_(folder: Path, name: str, /) -> int:
    """Give the system of a run another name, in every table, page and later grading.

    Two runs with the same name cannot be in one table: rename one of them.

    Args:
        folder: The folder of one run, or one that holds one run.
        name: The new name; no run beside this one may have it.
    """
    run = single_run(folder)
    before = rename_system(run, name)
    say(f"{run}: {before!r} is now called {name!r}.")
    return OK
