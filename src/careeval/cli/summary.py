"""`careeval summary`: the numbers of runs as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from careeval.cli.app import CHECK_FAILED, OK, say
from careeval.cli.shared.options import Audits, Flag, Out, Repeated, SelectionOptions
from careeval.cli.shared.printing import Printing
from careeval.core.text import plain
from careeval.errors import UsageError
from careeval.files import write_text
from careeval.results.compare import rankings
from careeval.results.entries import entries
from careeval.results.entry import Entry
from careeval.results.grader_accuracy import PeopleAudit
from careeval.results.metrics import Check, Limit, Outcome
from careeval.results.parts import Breakdown
from careeval.sheets.summary import summary_document
from careeval.sheets.words import entry_names

EXAMPLES = """\
Examples:

  careeval summary runs/first                      a table for people
  careeval summary runs/first runs/second          several runs in one table
  careeval summary runs --by situation             a row a part of the scenarios
  careeval summary runs --sort severe              fewest severe errors first
  careeval summary runs --format md > table.md     for a page or an issue
  careeval summary runs --format latex -o table.tex
  careeval summary runs/first --format csv         a row a system and grader
  careeval summary runs --by actor --format csv    a row a part of the scenarios
  careeval summary runs --format parquet -o summary.parquet
  careeval summary runs/first --json               everything, for a program
  careeval summary runs --detail                   and the worst of k
  careeval summary runs --rubric ladder            the paper's rubric alone
  careeval summary runs --system NAME --grader NAME   a part of them
  careeval summary runs --audit audit.db           and corrected by people
  careeval summary runs/first --require 'severe<5'   status 3 if it may be more
  careeval summary runs/first --fail-on 'severe>5' --junit checks.xml

In CSV, Parquet and JSON a score is a fraction; an unknown one is empty or null,
with its reason beside it. Parts of fewer than five scenarios are marked.

--fail-on 'severe>5' ends with status 3 if the 95% interval lies wholly above 5
percent: too many for sure. --require 'severe<5' ends with status 3 unless the
interval lies wholly below 5: few enough for sure. An unknown interval fails
both. Every system shown is checked, and each check is listed on stderr.
"""

app = App(name="summary", help_epilogue=EXAMPLES)

PartName = Literal["adl", "activity", "domain", "condition", "assistance", "situation", "actor"]
Order = Literal["name", "score", "worst", "severe"]


@app.default
def summary(
    *folders: Path,
    by: Annotated[tuple[PartName, ...], Parameter(negative=(), show_default=False)] = (),
    sort: Order = "name",
    detail: Flag = False,
    audit: Audits | None = None,
    fail_on: Repeated | None = None,
    require: Repeated | None = None,
    junit: Path | None = None,
    out: Out | None = None,
    printing: Printing = Printing(),
    selection: SelectionOptions = SelectionOptions(),
) -> int:
    """Show severe errors and score of runs, with intervals; then worst case, activity, domain.

    Args:
        folders: Folders that `careeval run -o` wrote, or archives of submissions, one or more.
        by: Break the scenarios down by these, a table each; adl and activity mean the same. CSV and
            Parquet have them in one table, and JSON has every part.
        sort: By name; or the best first by score, by the worst of n, by severe errors.
        detail: Add the worst epoch, the spread of epochs, reliability, length and the worst of k;
            in JSON also every part of the scenarios.
        audit: File that `careeval audit new -o` wrote: adds the scores as people correct them.
        fail_on: METRIC>X or METRIC<X: end with status 3 if the interval of a system lies wholly on
            that bad side of X percent, or is unknown; may be given more than once.
        require: METRIC<X or METRIC>X: end with status 3 unless the interval of each system lies
            wholly on that good side of X percent; may be given more than once.
        junit: The file to write these checks to, as JUnit XML for CI.
        out: The file to write, instead of stdout.
        printing: The format.
        selection: Which systems, graders and rubrics.
    """
    limits = [
        *(Limit.parse("--fail-on", text) for text in fail_on or ()),
        *(Limit.parse("--require", text) for text in require or ()),
    ]
    if junit and not limits:
        raise UsageError(
            "--junit has no check to write", hint="add --fail-on 'severe>5' or --require 'severe<5'"
        )
    # what tables call an activity, banks call an ADL
    named = [Breakdown.adl if each == "activity" else Breakdown(each) for each in by]
    parts = tuple(dict.fromkeys(named))
    runs = selection.read(folders, "careeval summary runs/first")
    people: dict[str, PeopleAudit] = {}
    if audit:
        from careeval.cli.shared.people import read_audits
        from careeval.people.audit.grader_agreement import people_audits

        people = people_audits(runs, read_audits(audit))
    graded = sorted(entries(runs), key=lambda entry: _place(sort, entry))
    if people:
        graded = [
            replace(each, corrected=people[each.grader].score_of(each.system, each.rubric))
            if each.grader in people
            else each
            for each in graded
        ]
    for note in runs.notes:
        say(note)
    document = summary_document(
        graded,
        parts,
        rankings(graded) if len(graded) > 1 else [],
        people,
        in_detail=detail,
        more=_lexical_sentences(graded),
    )
    in_detail = detail or any(each.in_detail for each in parts)
    printing.print(document, lambda: _json(graded, in_detail=in_detail), out)
    if not graded:
        say("These runs have no grading yet. Grade them: careeval grade FOLDER --grader MODEL")
    checks = _checks(limits, graded)
    for check in checks:
        say(check.line)
    if junit:
        _write_junit(junit, "careeval.summary", checks)
    return OK if all(check.outcome is Outcome.passed for check in checks) else CHECK_FAILED


def _lexical_sentences(graded: Sequence[Entry]) -> list[str]:
    if not any(entry.grader.is_lexical for entry in graded):
        return []
    # loads the bank, which no other summary needs
    from careeval.protocol.regrade import lexical_sentences

    return lexical_sentences(graded)


def _checks(limits: Sequence[Limit], graded: Sequence[Entry]) -> list[Check]:
    names = entry_names(graded)
    if not names:
        return [
            Check(f"{limit.option} {limit.text}", "no system", "nothing is graded", Outcome.unknown)
            for limit in limits
        ]
    return [
        limit.check(s.numbers, name)
        for limit in limits
        for s, name in zip(graded, names, strict=True)
    ]


def _json(graded: Sequence[Entry], *, in_detail: bool) -> dict[str, Any]:
    from careeval.sheets.json_output import summary_json

    return summary_json(graded, in_detail=in_detail)


def _write_junit(path: Path, suite: str, checks: Sequence[Check]) -> None:
    """Write checks as JUnit XML: a test case each; one that could not be made is a failure."""
    from xml.etree import ElementTree

    failures = [check for check in checks if check.outcome is not Outcome.passed]
    counts = {"tests": str(len(checks)), "failures": str(len(failures)), "errors": "0"}
    root = ElementTree.Element("testsuites", counts)
    cases = ElementTree.SubElement(root, "testsuite", {"name": suite, **counts, "skipped": "0"})
    for check in checks:
        name = {"classname": f"{suite}.{plain(check.entry)}", "name": plain(check.limit)}
        case = ElementTree.SubElement(cases, "testcase", name)
        about = plain(check.about)
        if check.outcome is not Outcome.passed:
            failure = {"message": about, "type": check.outcome.name}
            ElementTree.SubElement(case, "failure", failure).text = about
        else:
            ElementTree.SubElement(case, "system-out").text = about
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    write_text(path, f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n')


def _place(order: Order, s: Entry) -> tuple[bool, float, str, str]:
    """Return an entry's sorting key: best first, unknown numbers last, ties by name."""
    number = {
        "name": 0.0,
        "score": s.score.value,
        "worst": s.worst_at_n.value,
        "severe": s.severe.share.value,
    }[order]
    best_first = -1 if order in ("score", "worst") else 1
    return number is None, best_first * (number or 0.0), s.name, s.grader
