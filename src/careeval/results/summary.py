"""What a run comes to: its score, its worst case, its errors, each with its uncertainty.

One entry for each (system, grader). Every number is computed from the two tables by the pure
functions of `careeval.scoring` and `careeval.stats`; nothing is taken from what Inspect computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from careeval import scoring
from careeval.core.response import ResponseState
from careeval.core.scenario import Adl, Domain
from careeval.results.cost import RunCost, asking_cost, grading_cost
from careeval.results.entries import Entry, entries
from careeval.results.estimates import Errors, GradedRubric
from careeval.results.points import About
from careeval.results.tables import Runs
from careeval.stats import MIN_CLUSTERS, Estimate

__all__ = ["Cell", "DomainCell", "Errors", "Summary", "summarise"]

SCHEMA = "careeval.summary/1"

UNRESOLVED_LIMIT = 0.02
"""Share of unresolved judgments above which a run is not ranked."""

EMBEDDED_MODEL = "gguf/"
LEXICAL_GRADER = "careeval/lexical"
"""What is for seeing everything work, and never enters a ranking."""

NOT_COMPARABLE = (
    "Scores on this bank do not compare with those of the CareEval paper, "
    "which are over other scenarios."
)


@dataclass(frozen=True)
class Cell:
    """A part of the scenarios: those of one activity, of one condition.

    Attributes:
        n: Scenarios of it with a response judged on either rubric.
        small: Fewer than five: no interval, and not for comparing.
    """

    n: int
    small: bool
    score: Estimate
    worst_at_n: Estimate
    action_score: Estimate
    severe: int | None
    mild: int | None


@dataclass(frozen=True)
class DomainCell:
    """One domain of caregiving competence.

    Attributes:
        n: Scenarios with an action rated in it.
        action_score: Points of the actions, weighted by how far each is about the domain (D1).
        n_ladder: Scenarios with a rung rated in it that can raise the level.
        ladder_level: Mean level that answers reach on the ladder, capped by their worst error (D2).
    """

    n: int
    action_score: Estimate
    n_ladder: int
    ladder_level: Estimate


@dataclass(frozen=True)
class Summary:
    """One system as one grader judged it.

    `score`, `worst_at_n`, `worst_run`, `sd_runs`, `severe` and `mild` are of the ladder, the
    paper's instrument; those that begin with `action_` are of the actions. Scores are fractions of
    the maximum: 1 is expert practice, and they can be negative.

    Attributes:
        model: Name of the system.
        asked: Inspect's name of the model that was asked; `None` for recorded answers.
        grader: Name of the grader, with its mode and the hash of its prompt.
        n_gradings: How often this grader judged these responses; the first time counts.
        n_scenarios: Scenarios asked.
        n_epochs: Responses asked for a scenario.
        n_responses: Responses asked for, missing ones included.
        n_missing: Responses that there are none of: no score, never 0.
        n_empty: Responses without a word, 0 points.
        n_refused: Responses that the provider refused, 0 points.
        n_cut: Answers cut off at the token limit, graded as they are.
        n_ungraded: Responses that are there and that this grader has not judged, or not whole.
        n_judgments: Items × responses, on both rubrics; those without words included.
        n_unresolved: Judgments that the grader could not be brought to make.
        cost: What its responses and their judgments cost.
        not_ranked: Why this entry may not stand in a ranking; empty if it may.
        warnings: What a reader must know.
    """

    model: str
    asked: str | None
    grader: str
    n_gradings: int
    bank: str
    bank_version: str
    bank_hash: str
    bank_provenance: str
    protocol: str
    n_scenarios: int
    n_epochs: int
    n_responses: int
    n_missing: int
    n_empty: int
    n_refused: int
    n_cut: int
    n_ungraded: int
    n_judgments: int
    n_unresolved: int
    score: Estimate
    worst_at_n: Estimate
    worst_run: Estimate
    sd_runs: Estimate
    action_score: Estimate
    action_worst_at_n: Estimate
    severe: Errors | None
    mild: Errors | None
    action_severe: Errors | None
    action_mild: Errors | None
    by_adl: Mapping[Adl, Cell]
    by_domain: Mapping[Domain, DomainCell]
    cost: RunCost
    not_ranked: tuple[str, ...]
    warnings: tuple[str, ...]


def summarise(runs: Runs) -> list[Summary]:
    """A summary for each (system, grader), in the order of their names; empty without judgments."""
    return [summary_of(entry) for entry in entries(runs)]


class _Counts(NamedTuple):
    """The counts that decide whether a run is whole."""

    n_responses: int
    n_missing: int
    n_ungraded: int
    n_judgments: int
    n_unresolved: int


def summary_of(entry: Entry) -> Summary:
    """What one entry comes to."""
    responses, ladder, actions = entry.responses, entry.ladder, entry.actions
    first, n_epochs, run = entry.first, entry.n_epochs, entry.run
    gradings = [part["grading"].n_unique() for part in entry.judgments.partition_by("rubric")]
    n_scenarios = responses["scenario"].n_unique()
    states = responses["state"].to_list()
    counts = _counts(entry)
    score = ladder.score()
    return Summary(
        model=entry.model,
        asked=entry.asked,
        grader=entry.grader,
        n_gradings=max(gradings),
        bank=run["bank"],
        bank_version=run["bank_version"],
        bank_hash=run["bank_hash"],
        bank_provenance=run["bank_provenance"],
        protocol=run["protocol"],
        n_scenarios=n_scenarios,
        n_epochs=n_epochs,
        **counts._asdict(),
        n_empty=states.count(ResponseState.empty),
        n_refused=states.count(ResponseState.refused),
        n_cut=sum(_cut(responses)),
        score=score,
        worst_at_n=ladder.worst_at_n(),
        worst_run=ladder.worst_run(),
        sd_runs=ladder.sd_runs(),
        action_score=actions.score(),
        action_worst_at_n=actions.worst_at_n(),
        severe=ladder.errors(scoring.SEVERE),
        mild=ladder.errors(scoring.MILD),
        action_severe=actions.errors(scoring.SEVERE),
        action_mild=actions.errors(scoring.MILD),
        by_adl={
            adl: cell(entry, lambda about, adl=adl: about.adl == adl)  # type: ignore[misc]
            for adl in Adl
            if adl in set(responses["adl"])
        },
        by_domain={domain: domain_cell(domain, ladder, actions) for domain in Domain},
        cost=RunCost(asking_cost(responses), grading_cost(first)),
        not_ranked=why_not_ranked(entry, counts, score),
        warnings=tuple(_warnings(responses)),
    )


def why_not_ranked(
    entry: Entry, counts: _Counts | None = None, score: Estimate | None = None
) -> tuple[str, ...]:
    """Why an entry may not stand in a ranking; empty if it may.

    Args:
        entry: Which.
        counts: Its own, where they are known already.
        score: Its own, where it is known already.
    """
    return (
        *_not_serious(entry.asked, entry.grader),
        *_mixed(entry),
        *_not_whole(counts or _counts(entry)),
        *_no_score(score or entry.ladder.score()),
    )


def _counts(entry: Entry) -> _Counts:
    n_there = entry.responses.filter(pl.col("state") != ResponseState.missing).height
    n_responses = entry.responses["scenario"].n_unique() * entry.n_epochs
    return _Counts(
        n_responses=n_responses,
        n_missing=n_responses - n_there,
        n_ungraded=n_there - _n_graded(entry.ladder, entry.actions),
        n_judgments=entry.first.height,
        n_unresolved=entry.first["present"].null_count(),
    )


def _n_graded(*rubrics: GradedRubric) -> int:
    """Responses judged on each rubric that their scenario was judged on."""
    epochs: dict[str, set[int]] = {}
    for scenario in (s for rubric in rubrics for s in rubric.scenarios):
        found = set(scenario.epochs.tolist())
        epochs[scenario.scenario] = epochs.get(scenario.scenario, found) & found
    return sum(map(len, epochs.values()))


def _cut(responses: pl.DataFrame) -> list[bool]:
    """Of each answer, whether it was cut off at the token limit."""
    answered = responses.filter(pl.col("state") == ResponseState.answered)
    return answered["cut"].fill_null(False).to_list()


def cell(entry: Entry, keep: Callable[[About], bool]) -> Cell:
    """What an entry comes to over the scenarios that are kept."""
    rungs, acts = (rubric.only(lambda s: keep(s.about)) for rubric in (entry.ladder, entry.actions))
    n = len({s.scenario for s in (*rungs.judged, *acts.judged)})
    return Cell(
        n=n,
        small=n < MIN_CLUSTERS,
        score=rungs.score(),
        worst_at_n=rungs.worst_at_n(),
        action_score=acts.score(),
        severe=rungs.error_count(scoring.SEVERE),
        mild=rungs.error_count(scoring.MILD),
    )


def domain_cell(domain: Domain, ladder: GradedRubric, actions: GradedRubric) -> DomainCell:
    """What one domain comes to on both rubrics."""
    n, action_score = actions.domain_score(domain)
    n_ladder, level = ladder.domain_level(domain)
    return DomainCell(n=n, action_score=action_score, n_ladder=n_ladder, ladder_level=level)


def _not_serious(asked: str | None, grader: str) -> Iterator[str]:
    """Why a run is for seeing everything work."""
    if (asked or "").startswith(EMBEDDED_MODEL):
        yield "an embedded model: for seeing everything work"
    if grader.startswith(LEXICAL_GRADER):
        yield "the lexical grader compares words: for seeing everything work"
    if grader.startswith(EMBEDDED_MODEL):
        yield "graded by an embedded model: for seeing everything work"


def _mixed(entry: Entry) -> Iterator[str]:
    """What one run must have one of, and has several of."""
    for what, names in entry.mixed.items():
        yield f"its responses are of {len(names)} {what}: {', '.join(names)}"


def _not_whole(n: _Counts) -> Iterator[str]:
    """What a run lacks."""
    if n.n_missing:
        yield f"{n.n_missing} of {n.n_responses} responses are missing"
    if n.n_ungraded:
        yield f"{n.n_ungraded} of {n.n_responses} responses are not graded"
    if n.n_unresolved and n.n_unresolved / n.n_judgments > UNRESOLVED_LIMIT:
        limit = f"more than {UNRESOLVED_LIMIT:.0%}"
        yield f"{n.n_unresolved} of {n.n_judgments} judgments are unresolved, {limit}"


def _no_score(score: Estimate) -> Iterator[str]:
    if score.value is None:
        yield f"no ladder score: {score.reason}"


def _warnings(responses: pl.DataFrame) -> Iterator[str]:
    # a sample that was cancelled or failed may still name the model that was asked
    there = responses.filter(pl.col("state") != ResponseState.missing)
    names = sorted(set(there["model_returned"].drop_nulls()))
    if len(names) > 1:
        yield f"the provider answered with {len(names)} models: {', '.join(names)}"
    if any(cut := _cut(responses)):
        n = f"{sum(cut)} of {len(cut)} answers"
        yield f"{n} were cut off at the token limit, and graded as they are"
