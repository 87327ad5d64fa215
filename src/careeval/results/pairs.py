"""Which two entries are meant: by the names of their systems and, where needed, of their grader."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from careeval.errors import UsageError
from careeval.results.compare import Comparison
from careeval.results.compare import compare as compare_entries
from careeval.results.entries import Entry, entries
from careeval.results.tables import Runs


def compare(runs: Runs, a: str, b: str, grader: str | None = None) -> Comparison:
    """Compare two systems, B against A, paired by scenario.

    Args:
        runs: The tables that hold both.
        a: Name of the one system.
        b: Name of the other; differences are b − a.
        grader: Who judged both, as summaries name it or without its mode; needed only where
            several did.

    Raises:
        UsageError: There is no such system or grader, both are the same, several graders judged
            both, or their numbers do not compare: another bank, another number `N` of the bank's or
            the protocol's version, or no scenario in common.
    """
    return compare_entries(*pair(list(entries(runs)), a, b, grader))


def pair(found: Sequence[Entry], a: str, b: str, grader: str | None = None) -> tuple[Entry, Entry]:
    """The entries of two systems by one grader.

    Raises:
        UsageError: There is no such system or grader, both are the same, or several graders judged
            both; it lists the names.
    """
    names = list(dict.fromkeys(entry.model for entry in found))
    for name in (a, b):
        if name not in names:
            raise UsageError(
                f"no graded system is named {name!r}",
                hint=f"there are: {', '.join(names)}" if names else "careeval grade FOLDER",
            )
    if a == b:
        raise UsageError(f"{a} would be compared with itself", hint="name two systems")
    ours, theirs = (
        {entry.grader: entry for entry in judged_by(found, grader) if entry.model == name}
        for name in (a, b)
    )
    both = [name for name in ours if name in theirs]
    if not both:
        said = (
            f"{name} by {' and by '.join(of) or 'nobody'}" for name, of in ((a, ours), (b, theirs))
        )
        raise UsageError(
            f"no grader judged both: {'; '.join(said)}",
            hint="grade one of them again: careeval grade FOLDER --grader NAME",
        )
    if len(both) > 1:
        raise UsageError(
            f"{len(both)} graders judged both {a} and {b}: {'; '.join(both)}",
            hint=f"choose one: --grader {_short(both[0])!r}",
        )
    return ours[both[0]], theirs[both[0]]


def judged_by(found: Iterable[Entry], grader: str | None) -> list[Entry]:
    """The entries by one grader, named with its mode or without; all of them for `None`.

    Raises:
        UsageError: Nobody of that name judged anything.
    """
    known = list(found)
    if grader is None:
        return known
    by = [entry for entry in known if grader in {entry.grader, _short(entry.grader)}]
    if not by:
        graders = dict.fromkeys(entry.grader for entry in known)
        raise UsageError(f"no grader is named {grader!r}", hint=f"there are: {'; '.join(graders)}")
    return by


def _short(grader: str) -> str:
    """A grader's name without its mode and the hash of its prompt."""
    return grader.partition(" (")[0]
