"""The numbers of an entry's plans, in all courses or in those of one answer of the person."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from careeval import scoring
from careeval.core.plan_reasons import course_counts, read_reasons
from careeval.core.response import ResponseState
from careeval.results.graded_rubric import NOT_GRADED, BoolArray, Errors, GradedRubric
from careeval.stats.estimate import Bounded, Estimate, FloatArray, rate
from careeval.stats.intervals import rate_interval

ANY = "any"
"""Stands for all answers together, in place of one."""


@dataclass(frozen=True, eq=False)
class PlanCourses:
    """The plans of an entry in the courses that belong to one answer of the person, or in all.

    A number of whole plans is known only in all courses, and else `None`.
    """

    answer: str  # The answer; `ANY` for all courses
    graded: GradedRubric  # The judgments over all courses
    responses: pl.DataFrame
    judgments: pl.DataFrame  # The judgments that count, over all courses

    def severe(self) -> Errors:
        """Return the plans with a danger of −2 in one of these courses."""
        return self._courses.errors(scoring.SEVERE)

    def severe_if_executable(self) -> Errors:
        """Return the same, over the plans that run to their end."""
        return self._courses.only(self._executable).errors(scoring.SEVERE)

    def severe_courses(self) -> Estimate | None:
        """Return the mean over the plans of the share of their courses with a danger of −2."""
        return _severe_courses(self.graded, self.judgments) if self.answer == ANY else None

    def goals(self) -> Estimate | None:
        """Return the points of the goals that are reached, over the points of all goals."""
        if self.answer != ANY:
            return None
        return replace(self.graded, points=np.maximum(self.graded.points, 0)).score()

    def executable(self) -> Estimate | None:
        """Return the share of the judged responses that are plans that run to their end."""
        if self.answer != ANY:
            return None
        return _share(self._executable.sum(axis=1), self.graded.is_judged)

    @cached_property
    def _courses(self) -> GradedRubric:
        """The judgments with an item present only if it is in one of these courses."""
        if self.answer == ANY:
            return self.graded
        is_met = pl.col("reason").map_elements(
            lambda reason: any(self.answer in part.answers for part in read_reasons(reason)),
            return_dtype=pl.Boolean,
        )
        met = self.judgments.filter(pl.col("present"), is_met).select("scenario", "epoch", "item")
        present = self.graded.present
        return self.graded.with_present(np.where(present == 1, self.graded.are_in(met), present))

    @cached_property
    def _executable(self) -> BoolArray:
        """The responses that are plans and run to their end, shape (n_scenarios, n_epochs)."""
        is_answered = self.responses["state"] == ResponseState.answered.value
        rows = self.responses.filter(is_answered).select("scenario", "epoch", executable=1.0)
        return np.asarray(~np.isnan(self.graded.placed(rows)) & self.graded.is_judged)


def _severe_courses(graded: GradedRubric, judgments: pl.DataFrame) -> Estimate:
    met: dict[tuple[str, int], set[str]] = {}
    n_courses: dict[tuple[str, int], int] = {}
    columns = ("scenario", "epoch", "points", "present", "reason")
    for scenario, epoch, points, present, reason in judgments.select(columns).iter_rows():
        if points != scoring.SEVERE or (count := course_counts(reason)) is None:
            continue
        n_courses[scenario, epoch] = count.n
        labels = met.setdefault((scenario, epoch), set())
        if present:
            labels.update(label for part in read_reasons(reason) for label in part.courses)
    shares = [(*key, len(met[key]) / n) for key, n in n_courses.items()]
    if not shares:
        return Estimate.unknown("no reason of a judgment says in which courses it holds")
    rows = pl.DataFrame(shares, schema=("scenario", "epoch", "share"), orient="row")
    placed = graded.placed(rows)
    known = ~np.isnan(placed) & graded.can_err
    return _share(np.where(known, placed, 0.0).sum(axis=1), known)


def _share(part: FloatArray, whole: BoolArray) -> Estimate:
    """Return the share of some responses among all, by scenario; `part` is summed over epochs."""
    n_whole = whole.sum(axis=1).astype(np.float64)
    judged = n_whole > 0
    if not judged.any():
        return Estimate.unknown(NOT_GRADED)
    counts = Bounded.exact(part.astype(np.float64)[judged])
    return rate(counts, n_whole[judged], rate_interval)
