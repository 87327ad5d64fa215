"""`careeval verify`: check submissions, and compute every number of them again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import App

from careeval.cli.app import CHECK_FAILED, OK, print_json
from careeval.cli.shared.options import Json
from careeval.core.text import counted, plain
from careeval.errors import UsageError

if TYPE_CHECKING:
    from careeval.protocol.submission_checks import CheckedEntry, Verification

EXAMPLES = """\
Examples:

  careeval verify planner.zip            one submission
  careeval verify results/*.zip --json   for a program

Status 0: every number is as claimed, and nothing is wrong. 3: one is refused.
Nothing of an archive is kept.
"""

app = App(name="verify", help_epilogue=EXAMPLES)

SCHEMA = "careeval.verification/1"

MAX_SHOWN = 20
"""The most problems of an archive that are printed."""


@app.default
def verify(*files: Path, as_json: Json = False) -> int:
    """Compute every number of submissions again from their logs, and say what cannot be known.

    Args:
        files: Archives that `careeval submit -o` wrote, one or more.
        as_json: Print JSON.
    """
    if not files:
        raise UsageError("name the archive of a submission", hint="careeval verify FILE.zip")
    from careeval.protocol.submission_checks import verify

    results = {file: verify(file) for file in files}
    if as_json:
        archives = [{"file": str(file), **_json(each)} for file, each in results.items()]
        print_json({"schema": SCHEMA, "archives": archives})
    else:
        for file, result in results.items():
            print_verification(file, result)
    return OK if all(each.verified for each in results.values()) else CHECK_FAILED


def print_verification(file: Path, result: Verification) -> None:
    """Print the result of checking one archive."""
    for line in _lines(file, result):
        # a name in an archive may try to look like a line of ours
        print(plain(line.replace("\n", " ").replace("\t", " ")))


def _lines(file: Path, result: Verification) -> Iterator[str]:
    from careeval.sheets.words import headline_sentence

    yield f"{file}: {'verified' if result.verified else 'REFUSED'}"
    if submission := result.submission:
        card = submission.card
        listed = "to be ranked" if card.rank else "to be listed apart, as a reference"
        yield (
            f"  card: {card.system} ({card.version}), run by {card.run_by} ({card.relation}) on "
            f"{card.date}, {listed}"
        )
    can = "could" if submission and not submission.card.rank else "can"
    for each in result.entries:
        yield f"  {_name(each)}"
        yield f"    {headline_sentence(each.entry)}"
        yield f"    computed again: {_numbers(each)}"
        if each.not_ranked:
            yield from (f"    cannot be ranked: {reason}" for reason in each.not_ranked)
        else:
            n = each.entry.n_scenarios
            among = f", beside runs over the same {n} scenarios" if n < each.n_public else ""
            yield f"    {can} be ranked{among}"
    for problem in result.problems[:MAX_SHOWN]:
        yield f"  problem: {problem}"
    if (more := len(result.problems) - MAX_SHOWN) > 0:
        yield f"  and {counted(more, 'more problem')}"
    for unknown in result.unknown:
        yield f"  not known: {unknown}"


def _name(each: CheckedEntry) -> str:
    entry = each.entry
    asked = f"{entry.n_scenarios} of {each.n_public} public scenarios"
    return (
        f"{entry.name} · {entry.rubric}, judged by {entry.grader}, {asked}, "
        f"{counted(entry.n_epochs, 'response')} to each"
    )


def _numbers(each: CheckedEntry) -> str:
    n = len(each.differences)
    found = f"{counted(n, 'value')} not as claimed" if n else "all as claimed"
    return f"{counted(each.n_numbers, 'number')}, {found}"


def _json(result: Verification) -> Mapping[str, Any]:
    submission = result.submission
    return {
        "verified": result.verified,
        "card": submission and vars(submission.card),
        "entries": [
            {
                "system": each.entry.system,
                "given": each.entry.given,
                "step": each.entry.step,
                "grader": each.entry.grader,
                "rubric": each.entry.rubric,
                "n_scenarios": each.entry.n_scenarios,
                "n_public": each.n_public,
                "n_numbers": each.n_numbers,
                "differences": list(each.differences),
                "ranked": not each.not_ranked,
                "not_ranked": list(each.not_ranked),
            }
            for each in result.entries
        ],
        "held_out": {"n_entries": len(submission.held_out), "verified": False}
        if submission
        else None,
        "problems": list(result.problems),
        "not_known": list(result.unknown),
    }
