"""The agreement between every two graders."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from careeval.core.response import GRADED_STATES
from careeval.core.scenario import Rubric
from careeval.results.score.entries import Entry
from careeval.results.trust.class_agreement import ClassAgreement, PointClass, class_agreement

_JUDGMENT = ["scenario", "epoch", "rubric", "item"]


@dataclass(frozen=True)
class GraderPair:
    """Two graders that judged the same responses."""

    a: str  # Name of the first grader
    b: str  # Name of the second grader
    systems: tuple[str, ...]  # Names of the systems whose responses both judged
    by_points: Mapping[PointClass, ClassAgreement]  # Agreement by rubric and points of the item

    @property
    def n(self) -> int:
        """Return the number of judgments that both resolved."""
        return sum(agreement.n for agreement in self.by_points.values())


def grader_pairs(entries: Sequence[Entry]) -> list[GraderPair]:
    """Return every two graders that judged a response in common, with their agreement.

    Responses without words are left out, since no grader judged them.
    """
    by_system: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_system[entry.system].append(entry)
    common: dict[tuple[str, str], dict[str, pl.DataFrame]] = defaultdict(dict)
    for system, system_entries in by_system.items():
        by_grader: dict[str, list[pl.DataFrame]] = defaultdict(list)
        for entry in system_entries:
            by_grader[entry.grader].append(_judgments_of_words(entry))
        judgments = {grader: pl.concat(parts) for grader, parts in by_grader.items()}
        for a, b in combinations(sorted(judgments), 2):
            both = judgments[a].join(judgments[b].drop("points"), on=_JUDGMENT, suffix="_b")
            if both.height:
                common[a, b][system] = both
    return [
        _pair(a, b, tuple(sorted(systems)), pl.concat(systems.values()))
        for (a, b), systems in sorted(common.items())
    ]


def _judgments_of_words(entry: Entry) -> pl.DataFrame:
    """Return the judgments that count, of the responses with words."""
    answered = entry.responses.filter(pl.col("state").is_in(GRADED_STATES))
    first = entry.first.select(*_JUDGMENT, "points", "present")
    return first.join(answered, on=["scenario", "epoch"], how="semi")


def _pair(a: str, b: str, systems: tuple[str, ...], both: pl.DataFrame) -> GraderPair:
    classes = [
        (Rubric(rubric), points) for rubric, points in both.select("rubric", "points").iter_rows()
    ]
    verdicts = both.select(
        pl.col("present", "present_b").cast(pl.Float64).fill_null(float("nan"))
    ).to_numpy()
    return GraderPair(a, b, systems, class_agreement(classes, verdicts, both["scenario"].to_list()))
