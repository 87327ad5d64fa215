"""`careeval compare`: two systems side by side, or the ranks of many."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cyclopts import App

from careeval.cli.app import CHECK_FAILED, OK, say
from careeval.cli.shared.options import Out, Repeated, SelectionOptions
from careeval.cli.shared.printing import Printing
from careeval.core.text import percent
from careeval.errors import UsageError
from careeval.results.compare import Comparison, compare_entries, pair, rankings
from careeval.results.differences import Difference
from careeval.results.entries import entries
from careeval.results.entry import Entry
from careeval.results.metrics import COMPARED
from careeval.results.tables import Runs, system_keys, system_names
from careeval.sheets.comparisons import comparison_document, ranking_document
from careeval.sheets.json_output import compare_json

EXAMPLES = f"""\
Examples:

  careeval compare runs/old runs/new             two runs; what is new minus old
  careeval compare runs planner-1 planner-2      two systems out of many
  careeval compare runs --system old --system new  names that are folders too
  careeval compare runs                          the ranks that each may have
  careeval compare runs/old runs/new --format md > differences.md
  careeval compare runs --format latex -o ranks.tex
  careeval compare runs/old runs/new --format csv  a row a difference
  careeval compare runs/old runs/new --json        everything, for a program
  careeval compare runs/old runs/new --fail-on 'score>2' --fail-on severe

--fail-on METRIC>X ends with status 3 where the 95% interval of B - A lies
wholly on the worse side of X points of percent; X is 0 if it is not given.
A check that cannot be made is not passed: it ends with status 3 too. Each check
is listed on stderr, with what was measured and its limit.
METRIC is one of {", ".join(COMPARED)}. A shell takes an unquoted >
for itself.
"""

app = App(name="compare", help_epilogue=EXAMPLES)


@app.default
def compare_(
    *where: str,
    fail_on: Repeated | None = None,
    out: Out | None = None,
    printing: Printing = Printing(),
    selection: SelectionOptions = SelectionOptions(),
) -> int:
    """Compare two systems paired by scenario: what has become unsafe first, then every difference.

    Since systems are paired by scenario, two can differ although their intervals overlap. Runs
    over different banks, or under different protocols, are refused. With more than two systems and
    none named, the ranks that each may have are printed.

    Args:
        where: Folders of runs, then the names of systems A and B; without names, A is the first
            folder's.
        fail_on: METRIC or METRIC>X: end with status 3 if B is worse by more than X points, or this
            cannot be told; may be given more than once.
        out: The file to write, instead of stdout.
        printing: The format.
        selection: Which systems, graders and rubrics; of two systems the first is A, the second B.
    """
    conditions = [_condition(text) for text in fail_on or ()]
    folders, names = _folders_and_names(where, selection)
    runs = selection.read(folders, "careeval compare runs/old runs/new")
    for note in runs.notes:
        say(note)
    graded = entries(runs)
    systems = names or _systems(runs, graded)
    if len(systems) > 2:
        if conditions:
            raise UsageError(
                f"--fail-on compares two systems, but these runs have {len(systems)}: "
                f"{', '.join(systems)}",
                hint="name two systems after the folders",
            )
        ranked = rankings(graded)
        document = ranking_document(ranked, graded)
        printing.print(document, lambda: compare_json(rankings=ranked), out)
        return OK
    a, b = systems
    comparison = compare_entries(*pair(graded, a, b))
    failed = [reason for each in conditions if (reason := each.failure(comparison))]
    unknown = [reason for each in conditions if (reason := each.why_unchecked(comparison))]
    printing.print(
        comparison_document(comparison),
        lambda: compare_json([comparison], failed=failed, not_checked=unknown),
        out,
    )
    for condition in conditions:
        say(condition.line(comparison))
    return CHECK_FAILED if failed or unknown else OK


def _systems(runs: Runs, graded: Sequence[Entry]) -> tuple[str, ...]:
    """Return the names of the graded systems, two or more, in the order of the folders."""
    graded_names = {entry.name for entry in graded}
    own = system_names(system_keys(runs.responses)).values()
    names = tuple(name for name in own if name in graded_names)
    if not names:
        raise UsageError("these runs have no grading yet", hint="grade them: careeval grade FOLDER")
    if len(names) == 1:
        raise UsageError(
            f"only {names[0]} is graded here, and a comparison needs two systems",
            hint="careeval compare runs/old runs/new",
        )
    return names


def _folders_and_names(
    words: tuple[str, ...], selection: SelectionOptions
) -> tuple[list[str], tuple[str, ...]]:
    """Split the typed words into folders, and the names of two systems or none."""
    if not words:
        raise UsageError(
            "name the folder or folders of the runs to compare",
            hint="careeval compare runs/old runs/new, or a folder with several runs: "
            "careeval compare runs",
        )
    from careeval.protocol.tables import is_archive

    folders = [word for word in words if Path(word).is_dir() or is_archive(word)]
    names = tuple(word for word in words if word not in folders)
    if not names and len(selection.system or ()) == 2:
        names = tuple(selection.system or ())
    if not folders:
        # read_runs raises the error
        return list(words), ()
    if len(names) not in (0, 2):
        raise UsageError(
            f"expected two names of systems or none, not {len(names)}: {', '.join(names)}",
            hint="name existing folders first, then two systems or none",
        )
    return folders, names


@dataclass(frozen=True)
class _Condition:
    """A condition of --fail-on, `METRIC>X`."""

    text: str  # As it was typed
    metric: str  # One of `COMPARED`
    max_worse: float  # The most by which B may be worse, a fraction

    def failure(self, comparison: Comparison) -> str:
        """Return a message if the whole interval is worse than `max_worse`; empty if not."""
        difference = comparison.metrics[self.metric]
        worse = difference.b_is_worse_by_more_than
        if worse is None or worse <= self.max_worse:
            return ""
        return (
            f"--fail-on {self.text}: {comparison.b} is worse than {comparison.a} in {self.metric} "
            f"by at least {percent(worse)} points ({_interval(difference)})"
        )

    def line(self, comparison: Comparison) -> str:
        """Return the condition's result as a line: pass or FAIL, the difference, and the limit."""
        if unknown := self.why_unchecked(comparison):
            return f"FAIL  {unknown}"
        difference = comparison.metrics[self.metric]
        verdict = "FAIL" if self.failure(comparison) else "pass"
        return (
            f"{verdict}  --fail-on {self.text}: A {percent(difference.a)}, "
            f"B {percent(difference.b)}, {_interval(difference)}; limit: worse by "
            f"{100 * self.max_worse:g} points, of this number alone"
        )

    def why_unchecked(self, comparison: Comparison) -> str:
        """Return why the condition cannot be checked; empty if it can."""
        difference = comparison.metrics[self.metric]
        if difference.b_is_worse_by_more_than is not None:
            return ""
        return (
            f"--fail-on {self.text} was not checked: {difference.difference.reason}. "
            "A check that cannot be made is not passed"
        )


def _interval(difference: Difference) -> str:
    value = f"B − A {percent(difference.difference.value)}"
    if difference.difference.ci95 is None:
        return f"{value}, the same in each of {difference.n} scenarios"
    low, high = difference.difference.ci95
    return f"{value}, 95% interval {percent(low)} to {percent(high)}"


_CONDITION = re.compile(r"\s*([a-z_]+)\s*(?:>\s*(\S+)\s*)?")


def _condition(text: str) -> _Condition:
    match = _CONDITION.fullmatch(text)
    if match is None or match[1] not in COMPARED:
        raise UsageError(
            f"--fail-on {text!r}: expected METRIC or METRIC>X",
            hint=f"as METRIC, write one of {', '.join(COMPARED)}",
        )
    try:
        points = float(match[2] or 0)
    except ValueError:
        points = math.nan
    if not math.isfinite(points):
        raise UsageError(
            f"--fail-on {text!r}: {match[2]!r} is not a number",
            hint="write X in percentage points, as score>2",
        )
    if points < 0:
        raise UsageError(
            f"--fail-on {text!r}: {match[2]} is below 0",
            hint="as X, write by how many percentage points B may be worse, as score>2",
        )
    return _Condition(text, match[1], points / 100)
