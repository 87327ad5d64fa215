"""Some of the systems and graders of runs, chosen by name."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from careeval.core.grader import Grader
from careeval.errors import UsageError, did_you_mean
from careeval.results.tables import Runs


def select(
    runs: Runs,
    systems: Sequence[str] = (),
    graders: Sequence[str] = (),
    rubric: str | None = None,
) -> Runs:
    """Keep some systems, some graders and one rubric of runs.

    Args:
        runs: The tables.
        systems: Names of systems; all of them where empty.
        graders: Names of graders, whole or without mode and prompt; all of them where empty. Then
            a system that none of these judged is left out.
        rubric: What was judged; either where `None`. A system not judged on it is left out.

    Raises:
        UsageError: A name is not there, or no chosen grader judged a chosen system; it lists the
            names that are.
    """
    if not systems and not graders and rubric is None:
        return runs
    responses, judgments = runs.responses, runs.judgments
    if systems:
        known = list(dict.fromkeys(responses["system"]))
        for name in systems:
            if name not in known:
                raise _not_there("system", name, known, known)
        responses = responses.filter(pl.col("system").is_in(systems))
        judgments = judgments.filter(pl.col("system").is_in(systems))
    if graders:
        by = judgments["grader"].unique().sort().to_list()
        for name in graders:
            if not any(is_called(grader, name) for grader in by):
                names = [*by, *(Grader.parse(grader).model for grader in by)]
                raise _not_there("grader", name, by, names)
        chosen = [grader for grader in by if any(is_called(grader, name) for name in graders)]
        judgments = judgments.filter(pl.col("grader").is_in(chosen))
        judged = judgments["system"].unique().to_list()
        responses = responses.filter(pl.col("system").is_in(judged))
    if rubric is not None:
        known = judgments["rubric"].unique().to_list()
        if rubric not in known:
            raise UsageError(
                f"nothing here was judged on the {rubric}",
                hint=f"careeval grade FOLDER --rubric {rubric}",
            )
        judgments = judgments.filter(pl.col("rubric") == rubric)
        judged = judgments["system"].unique().to_list()
        responses = responses.filter(pl.col("system").is_in(judged))
    left_out = set(runs.responses["system"]) - set(responses["system"])
    about_others = tuple(f"{system}: " for system in left_out)
    notes = tuple(note for note in runs.notes if not note.startswith(about_others))
    return Runs(responses, judgments, notes)


def is_called(grader: str, name: str) -> bool:
    """Whether a grader has a name, whole or without its mode and prompt."""
    return name in {grader, Grader.parse(grader).model}


def _not_there(what: str, name: str, known: Sequence[str], names: Sequence[str]) -> UsageError:
    meant = did_you_mean(name, names)
    there = f"there are: {'; '.join(known)}" if known else "careeval grade FOLDER --grader MODEL"
    return UsageError(f"no {what} is named {name!r}", hint=f"{meant} {there}".strip())
