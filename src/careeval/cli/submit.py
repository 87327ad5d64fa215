"""`careeval submit`: one archive of the runs of a system, to publish its results."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from cyclopts import App

from careeval.cli.app import CHECK_FAILED, OK, say
from careeval.cli.shared.options import Out
from careeval.core.text import counted
from careeval.errors import UsageError
from careeval.files import write_text

EXAMPLES = """\
Examples:

  careeval submit --new-card card.toml
  careeval submit runs/first -o first.zip --card card.toml
  careeval submit runs/first --probes audit -o first.zip --card card.toml

The archive is verified as soon as it is written. Status 3: it would be refused.
Of a run over the held-out split it has numbers alone, and no words.
"""

app = App(name="submit", help_epilogue=EXAMPLES)

_HINT = "careeval submit RUN -o FILE.zip --card card.toml"


@app.default
def submit(
    *folders: Path,
    out: Out | None = None,
    card: Path | None = None,
    probes: Path | None = None,
    new_card: Path | None = None,
) -> int:
    """Write an archive of the runs of one system, to publish its results, and verify it.

    Args:
        folders: Folders that `careeval run -o` wrote, one or more, all of one system.
        out: The archive to write.
        card: The file with the card of the system, filled in.
        probes: Folder that `careeval audit probes -o` wrote: the grader on labelled probes.
        new_card: The file to write a card into that is to be filled in; nothing else is done.
    """
    if new_card is not None:
        return _write_card(new_card)
    given = {"the folder of a run": folders, "--out FILE.zip": out, "--card FILE": card}
    if missing := [name for name, value in given.items() if not value]:
        raise UsageError(f"not given: {', '.join(missing)}", hint=_HINT)
    assert out is not None
    assert card is not None
    from careeval.cli.verify import print_verification
    from careeval.protocol.submission_checks import verify
    from careeval.protocol.submission_writing import write_submission

    submission = write_submission(out, folders, card, probes)
    n_files = len(submission.files)
    say(f"Written: {out}, {out.stat().st_size / 1e6:.1f} MB, {counted(n_files, 'file')}")
    for why, n in Counter(each.why for each in submission.left_out).items():
        first = next(each.what for each in submission.left_out if each.why == why)
        say(f"Left out: {first}{f' and {n - 1} more' if n > 1 else ''}: {why}")
    say(
        "The logs name folders, the addresses of your own servers and settings: look at them "
        "before you publish."
    )
    result = verify(out)
    print_verification(out, result)
    return OK if result.verified else CHECK_FAILED


def _write_card(path: Path) -> int:
    from careeval.protocol.submission import new_card

    if path.exists():
        raise UsageError(f"{path} exists already", hint="choose another name")
    write_text(path, new_card())
    say(f"Written: {path}. Fill it in, then: {_HINT}")
    return OK
