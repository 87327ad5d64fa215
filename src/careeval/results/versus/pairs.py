"""The two entries to compare, found by the names of their systems and of their grader."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from careeval.core.response import Grader
from careeval.core.scenario import Rubric
from careeval.errors import UsageError
from careeval.results.score.entries import Entry, entries
from careeval.results.selection import is_called
from careeval.results.tables import Runs
from careeval.results.versus.compare import Comparison
from careeval.results.versus.compare import compare as compare_entries


def compare(
    runs: Runs, a: str, b: str, grader: str | None = None, rubric: Rubric | None = None
) -> Comparison:
    """Compare two systems, B against A, paired by scenario.

    Args:
        runs: The tables that hold both.
        a: Name of the first system.
        b: Name of the second system; differences are b − a.
        grader: Name of the grader of both, as in summaries or without its mode; needed only if
            several graders judged both.
        rubric: The rubric; by default the actions if both were judged on both rubrics.

    Raises:
        UsageError: There is no such system or grader, both are the same, several graders judged
            both, or their numbers do not compare.
    """
    return compare_entries(*pair(list(entries(runs)), a, b, grader, rubric))


def pair(
    all_entries: Sequence[Entry],
    a: str,
    b: str,
    grader: str | None = None,
    rubric: Rubric | None = None,
) -> tuple[Entry, Entry]:
    """Return the entries of two systems by one grader on one rubric.

    Raises:
        UsageError: There is no such system or grader, both are the same, they were judged on no
            rubric in common, or several graders judged both; the message or its hint lists the
            names.
    """
    names = list(dict.fromkeys(entry.system for entry in all_entries))
    for name in (a, b):
        if name not in names:
            raise UsageError(
                f"no graded system is named {name!r}",
                hint=f"there are: {', '.join(names)}" if names else "careeval grade FOLDER",
            )
    if a == b:
        raise UsageError(f"{a} would be compared with itself", hint="name two systems")
    ours, theirs = (
        {
            (entry.rubric, entry.grader): entry
            for entry in judged_by(all_entries, grader)
            if entry.system == name and rubric in {None, entry.rubric}
        }
        for name in (a, b)
    )
    both = [key for key in ours if key in theirs]
    if not both:
        judged = (
            f"{name} by {' and by '.join(f'{who} on {on}' for on, who in keys) or 'nobody'}"
            for name, keys in ((a, ours), (b, theirs))
        )
        raise UsageError(
            f"no grader judged both on one rubric: {'; '.join(judged)}",
            hint="grade one of them again: careeval grade FOLDER --grader NAME --rubric RUBRIC",
        )
    first = min(key[0] for key in both)  # actions before ladder
    graders = [name for on, name in both if on is first]
    if len(graders) > 1:
        raise UsageError(
            f"{len(graders)} graders judged both {a} and {b}: {'; '.join(graders)}",
            hint=f"choose one: --grader {Grader.parse(graders[0]).model!r}",
        )
    return ours[first, graders[0]], theirs[first, graders[0]]


def judged_by(entries: Iterable[Entry], grader: str | None) -> list[Entry]:
    """Return the entries by one grader, named with its mode or without; all of them for `None`.

    Raises:
        UsageError: No grader of that name judged anything.
    """
    all_entries = list(entries)
    if grader is None:
        return all_entries
    chosen = [entry for entry in all_entries if is_called(entry.grader, grader)]
    if not chosen:
        graders = dict.fromkeys(entry.grader for entry in all_entries)
        raise UsageError(f"no grader is named {grader!r}", hint=f"there are: {'; '.join(graders)}")
    return chosen
