"""The sample of an audit: the entries, responses and items that people label, and their labels.

The part that raters see is kept apart from the part that would influence them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from careeval import scoring
from careeval.core.rating import SEVERE_CLEARED, SEVERE_FOUND, Label, Reading
from careeval.core.response import ResponseState
from careeval.core.scenario import Rubric, Split
from careeval.errors import ReviewError
from careeval.results.entry import Entry
from careeval.results.people_audit import Waiting

SCHEMA = "careeval.audit-sample/1"

MIN_SCENARIOS, MIN_SYSTEMS = 60, 3
"""Fewest scenarios and systems that a sample should be spread over."""


@dataclass(frozen=True, slots=True)
class ItemToJudge:
    """One judgment to make: is this item in the response?"""

    judgment: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownResponse:
    """The part of one response that a rater sees; the ids reveal nothing."""

    id: str
    scenario: str | None  # Text of the scenario; `None` if raters do not see it
    text: str  # Text of the response, which is a model's and must be escaped
    items: tuple[ItemToJudge, ...]


@dataclass(frozen=True, slots=True)
class Stratum:
    """One kind of judgments, of which some were drawn, each with the same chance."""

    rubric: Rubric  # Rubric of the item
    points: int  # Points of the item
    present: bool  # The grader's verdict
    system: str  # The system
    n: int  # Judgments drawn
    of: int  # Judgments in the stratum

    @property
    def chance(self) -> float:
        """Return the chance of each judgment to be drawn, above 0 and at most 1."""
        return self.n / self.of

    @property
    def kind(self) -> tuple[Rubric, int, bool]:
        """Return the stratum's rubric, points and verdict, without the system."""
        return self.rubric, self.points, self.present


@dataclass(frozen=True, slots=True)
class DrawnJudgment:
    """One judgment that was drawn."""

    judgment: str  # Id of the judgment that raters see
    response: str  # Id of the response that raters see
    stratum: int  # Index of its stratum in the sample
    scenario: str
    epoch: int
    item: str
    whole: bool  # True if every item of this rubric was judged and resolved in its response


@dataclass(frozen=True, slots=True)
class GradedTotals:
    """The grader's totals over one system's responses to one scenario, those judged completely."""

    system: str
    scenario: str
    rubric: Rubric
    n_items: int  # Items of the rubric
    n_responses: int  # Responses judged completely, including those without words
    n_wordless: int  # Responses without words: 0 points, and nothing for people to read
    maximum: int  # Maximum points of one response
    points: int  # Points of all responses together


@dataclass(frozen=True)
class Hidden:
    """The part of a sample that the analysis needs and raters must not see."""

    bank: str
    bank_version: str
    bank_hashes: tuple[str, ...]
    """The different `bank_hash`es of the runs: one hash for all base scenarios that a run
    selected."""
    protocol: str
    grader: str
    seed: int
    strata: tuple[Stratum, ...]  # The strata
    drawn: tuple[DrawnJudgment, ...]  # The judgments, in the order in which raters see them
    graded: tuple[GradedTotals, ...]  # The grader's totals by scenario, for the corrected scores
    left_out: Mapping[str, int]  # Reason why judgments could not be drawn → how many


@dataclass(frozen=True)
class AuditSample:
    """Judgments for people to make again."""

    shown: tuple[ShownResponse, ...]  # The part that raters see, in random order
    hidden: Hidden  # The part that raters do not see

    @property
    def grader(self) -> str:
        """Return the grader's name, with its mode and the hash of its prompt."""
        return self.hidden.grader

    def shortfalls(self) -> Iterator[str]:
        """Yield, as text, each way in which the sample is smaller than it should be."""
        drawn, strata = self.hidden.drawn, self.hidden.strata
        n_scenarios = len({each.scenario for each in drawn})
        n_systems = len({strata[each.stratum].system for each in drawn})
        if n_scenarios < MIN_SCENARIOS:
            yield f"it is of {n_scenarios} scenarios; {MIN_SCENARIOS} or more say more"
        if n_systems < MIN_SYSTEMS:
            what = "1 system" if n_systems == 1 else f"{n_systems} systems"
            yield f"it is of {what}; a grader may treat others otherwise"
        for present, wanted in ((True, SEVERE_FOUND), (False, SEVERE_CLEARED)):
            chosen = [s for s in strata if s.points == scoring.SEVERE and s.present is present]
            n, n_all = sum(s.n for s in chosen), sum(s.of for s in chosen)
            if n < min(wanted, n_all):
                what = "found" if present else "called absent"
                yield f"{n} of {n_all:,} −2 items that the grader {what} are in it, not {wanted}"


OTHER_ANSWERS = "people read another run’s answers of this system"
OTHER_JUDGMENTS = "what people read was drawn from other judgments than these"
"""Reasons why a sample does not apply to an entry."""

HAS_WORDS = (
    (pl.col("state") == ResponseState.answered.value) & (pl.col("text").str.strip_chars() != "")
).fill_null(value=False)
"""True for responses with words that people can read."""


def with_whole(first: pl.DataFrame) -> pl.DataFrame:
    """Return judgments with a column `whole`: every item of the rubric was judged and resolved."""
    n_items = pl.len().over("scenario", "epoch", "rubric")
    n_unresolved = pl.col("present").is_null().sum().over("scenario", "epoch", "rubric")
    return first.with_columns(
        n_items.alias("n_items"), (n_unresolved == 0).alias("resolved")
    ).with_columns(
        (
            pl.col("resolved")
            & (pl.col("n_items") == pl.col("n_items").max().over("scenario", "rubric"))
        ).alias("whole")
    )


def graded_totals(entry: Entry) -> Iterator[GradedTotals]:
    """Yield, for each scenario, the grader's totals over its public responses."""
    public = entry.responses.filter(pl.col("split") == Split.public.value)
    judged = (
        with_whole(entry.first)
        .filter(pl.col("whole"))
        .join(
            public.select("scenario", "epoch", (~HAS_WORDS).alias("wordless")),
            on=["scenario", "epoch"],
        )
    )
    points = pl.col("points")
    by_response = judged.group_by("scenario", "epoch").agg(
        pl.col("wordless").first(),
        pl.len().alias("n_items"),
        points.filter(pl.col("present")).sum().alias("points"),
        points.filter(points > 0).sum().alias("maximum"),
    )
    by_scenario = by_response.group_by("scenario").agg(
        pl.col("n_items").first(),
        pl.len().alias("n_responses"),
        pl.col("wordless").sum().alias("n_wordless"),
        pl.col("maximum").first(),
        pl.col("points").sum(),
    )
    for row in by_scenario.sort("scenario").iter_rows(named=True):
        yield GradedTotals(system=entry.system, rubric=entry.rubric, **row)


def why_not_drawn_from(sample: AuditSample, entry: Entry) -> str:
    """Return the reason why a sample was not drawn from an entry's judgments; empty if it was.

    The name of a system proves nothing, since two runs may use it for different responses. So the
    texts that people read must be the entry's, and the grader's totals must be the same.
    """
    strata, hidden = sample.hidden.strata, sample.hidden
    shown = {response.id: response.text for response in sample.shown}
    texts = {(scenario, epoch): text for scenario, epoch, text in _columns(entry.responses, "text")}
    judged = {tuple(key): verdict for *key, verdict in _columns(entry.first, "item", "present")}
    same = True
    for drawn in hidden.drawn:
        stratum = strata[drawn.stratum]
        if (stratum.system, stratum.rubric) != (entry.system, entry.rubric):
            continue
        if shown.get(drawn.response) != texts.get((drawn.scenario, drawn.epoch)):
            return OTHER_ANSWERS
        key = (drawn.scenario, drawn.epoch, drawn.item)
        same = same and judged.get(key) is stratum.present
    own = entry.system, entry.rubric
    drawn_from = {row for row in hidden.graded if (row.system, row.rubric) == own}
    return "" if same and drawn_from == set(graded_totals(entry)) else OTHER_JUDGMENTS


def _columns(frame: pl.DataFrame, *more: str) -> Iterator[tuple[Any, ...]]:
    return frame.select("scenario", "epoch", *more).iter_rows()


@dataclass(frozen=True, slots=True)
class Truth:
    """The truth about one item, and how it was settled."""

    present: bool | None  # True or false; `None` if it has none
    how: str
    """`adjudicated`; `majority` of the raters who are sure; `single` if one rater is sure; if there
    is no truth, `tied` or `unsure`."""


def by_judgment(sample: AuditSample, labels: Iterable[Label]) -> dict[str, list[Label]]:
    """Return judgment → its labels, in the order given.

    Raises:
        ReviewError: A label is for a judgment outside the sample, or a rater labelled a judgment
            twice, or it was adjudicated twice.
    """
    in_sample = {each.judgment for each in sample.hidden.drawn}
    labelled: dict[str, list[Label]] = {}
    seen: set[tuple[str, str]] = set()
    for label in labels:
        if label.judgment not in in_sample:
            raise ReviewError(
                f"{label.rater} labels {label.judgment!r}, which is not in this sample",
                hint="give the labels together with the sample that they were made for",
            )
        author = "" if label.adjudicated else label.rater
        if (author, label.judgment) in seen:
            raise ReviewError(
                f"{label.judgment} was adjudicated twice"
                if label.adjudicated
                else f"{label.rater} labels {label.judgment} twice",
                hint="keep one of the two",
            )
        seen.add((author, label.judgment))
        labelled.setdefault(label.judgment, []).append(label)
    return labelled


def truth_of(labels: Sequence[Label]) -> Truth:
    """Return the adjudicated truth of a judgment, else that of most raters who are sure."""
    for label in labels:
        if label.adjudicated:
            if label.says is Reading.unsure:
                return Truth(None, "unsure")
            return Truth(label.says is Reading.present, "adjudicated")
    present, absent = (
        sum(label.says is reading for label in labels)
        for reading in (Reading.present, Reading.absent)
    )
    if present == absent:
        return Truth(None, "tied" if present else "unsure")
    return Truth(present > absent, "single" if present + absent == 1 else "majority")


def waiting(labels: Mapping[str, Sequence[Label]], truths: Mapping[str, Truth]) -> Waiting:
    """Return the numbers of judgments that wait for adjudication.

    Args:
        labels: Judgment → its labels.
        truths: Judgment → its truth.
    """
    open_ = [
        truths[judgment].how
        for judgment, own in labels.items()
        if not any(label.adjudicated for label in own)
        and (len(readings := {label.says for label in own}) > 1 or Reading.unsure in readings)
    ]
    return Waiting(*(open_.count(how) for how in ("tied", "unsure", "single", "majority")))
