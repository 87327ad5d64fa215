"""Selection of some systems, some graders and one rubric of runs, by their names."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from careeval.core.response import Grader
from careeval.errors import UsageError, did_you_mean
from careeval.results.tables import Runs


def select(
    runs: Runs,
    systems: Sequence[str] = (),
    graders: Sequence[str] = (),
    rubric: str | None = None,
) -> Runs:
    """Return runs with only some systems, some graders and one rubric.

    Args:
        runs: The tables.
        systems: Names of systems; empty for all.
        graders: Names of graders, full or without mode and prompt; empty for all. Systems that none
            of the named graders judged are left out.
        rubric: The rubric; `None` for both. Systems that were not judged on it are left out.

    Raises:
        UsageError: A system does not exist, or a grader judged no chosen system; the hint lists the
            names. Or no chosen grader judged a chosen system on the rubric.
    """
    if not systems and not graders and rubric is None:
        return runs
    responses, judgments = runs.responses, runs.judgments
    if systems:
        own = list(dict.fromkeys(responses["system"]))
        for name in systems:
            if name not in own:
                raise _unknown_name("system", name, own, own)
        responses = responses.filter(pl.col("system").is_in(systems))
        judgments = judgments.filter(pl.col("system").is_in(systems))
    if graders:
        own = judgments["grader"].unique().sort().to_list()
        for name in graders:
            if not any(is_called(grader, name) for grader in own):
                names = [*own, *(Grader.parse(grader).model for grader in own)]
                raise _unknown_name("grader", name, own, names)
        chosen = [grader for grader in own if any(is_called(grader, name) for name in graders)]
        judgments = judgments.filter(pl.col("grader").is_in(chosen))
        judged = judgments["system"].unique().to_list()
        responses = responses.filter(pl.col("system").is_in(judged))
    if rubric is not None:
        if rubric not in judgments["rubric"].unique().to_list():
            raise UsageError(
                f"no chosen system was judged on the {rubric} by a chosen grader",
                hint=f"careeval grade FOLDER --rubric {rubric}",
            )
        judgments = judgments.filter(pl.col("rubric") == rubric)
        judged = judgments["system"].unique().to_list()
        responses = responses.filter(pl.col("system").is_in(judged))
    left_out = set(runs.responses["system"]) - set(responses["system"])
    prefixes = tuple(f"{system}: " for system in left_out)
    notes = tuple(note for note in runs.notes if not note.startswith(prefixes))
    return Runs(responses, judgments, notes)


def is_called(grader: str, name: str) -> bool:
    """Tell whether `name` names this grader, in full or without its mode and prompt."""
    return name in {grader, Grader.parse(grader).model}


def _unknown_name(what: str, name: str, own: Sequence[str], names: Sequence[str]) -> UsageError:
    guess = did_you_mean(name, names)
    others = f"there are: {'; '.join(own)}" if own else "careeval grade FOLDER --grader MODEL"
    return UsageError(f"no {what} is named {name!r}", hint=f"{guess} {others}".strip())
