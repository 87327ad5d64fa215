"""The sample of an audit: judgments drawn with known chances, for people to label.

People can read few judgments, and those that matter most are rare. So judgments are drawn by the
item's points and the grader's verdict, each with a known chance, and weighted back by it. The part
that raters see is kept apart from the part that would influence them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from careeval import scoring
from careeval.core.rating import SEVERE_CLEARED, SEVERE_FOUND, Label, N, Reading
from careeval.core.response import ResponseState
from careeval.core.scenario import READ_RUBRICS, Rubric, Split
from careeval.errors import ReviewError, UsageError
from careeval.results.entries import entries
from careeval.results.entry import Entry
from careeval.results.grader_accuracy import Waiting
from careeval.results.tables import Runs, select
from careeval.stats.estimate import FloatArray

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


HELD_OUT = "of the held-out split, whose words never leave"
WORDLESS = "of responses without words"
UNRESOLVED = "not made by the grader"
"""Reasons why judgments are not drawn."""


def draw(
    runs: Runs,
    *,
    grader: str | None = None,
    rubrics: Iterable[Rubric] = READ_RUBRICS,
    n: int = N,
    per_system: int | None = None,
    severe_found: int = SEVERE_FOUND,
    severe_cleared: int = SEVERE_CLEARED,
    show_scenario: bool = True,
    seed: int = 0,
) -> AuditSample:
    """Draw judgments for people to read.

    The strata are rubric, points, the grader's verdict and system. Each quota is spread evenly over
    its strata; a stratum smaller than its share is taken completely. Within a stratum every
    judgment has the same chance: each response has one random number, and a stratum takes the
    judgments with the lowest. So strata share responses where they can, and people have fewer to
    read.

    Args:
        runs: Runs that the grader judged; its first gradings count.
        grader: Name of the grader as in summaries, or without its mode; needed if several judged.
        rubrics: Rubrics to draw from.
        n: Judgments to draw of items that are not of −2 points.
        per_system: The same for each system, instead of `n`.
        severe_found: Judgments to draw of −2 items that the grader found.
        severe_cleared: Judgments to draw of −2 items that it called absent.
        show_scenario: True if raters read the scenario too.
        seed: Seed of the drawing and of the order in which raters see the sample.

    Raises:
        UsageError: Nothing was judged, several graders judged and none is named, the runs are not
            of one bank and one protocol, there is nothing to draw, or a quota is too small to take
            one judgment of each stratum.
    """
    chosen = _of_one_audit(runs, grader)
    judged, left_out = _drawable(chosen, set(rubrics))
    n_other = n if per_system is None else per_system * len({entry.system for entry in chosen})
    quotas = (
        _Quota("--severe-found", severe_found, severe=True, present=True),
        _Quota("--severe-cleared", severe_cleared, severe=True, present=False),
        _Quota("--n", n_other, severe=False),
    )
    rng = np.random.default_rng(seed)
    strata, taken = _stratified(judged, quotas, rng)
    shown, drawn = _shuffled(judged, taken, rng, show_scenario=show_scenario)
    first = chosen[0]
    return AuditSample(
        shown,
        Hidden(
            bank=first.bank,
            bank_version=first.bank_version,
            bank_hashes=tuple(sorted({entry.bank_hash for entry in chosen})),
            protocol=first.protocol,
            grader=first.grader,
            seed=seed,
            strata=tuple(strata),
            drawn=drawn,
            graded=tuple(row for entry in chosen for row in graded_totals(entry)),
            left_out=left_out,
        ),
    )


class _Quota(NamedTuple):
    """A number of judgments to draw, and the kind of judgments.

    Attributes:
        option: The command's option for the number.
        n: The number.
        severe: True for −2 items, false for all others.
        present: The grader's verdict, present or absent; `None` for both.
    """

    option: str
    n: int
    severe: bool
    present: bool | None = None

    def covers(self, key: _Key) -> bool:
        """Tell whether the quota includes a stratum."""
        _, points, present, _ = key
        return (points == scoring.SEVERE) is self.severe and self.present in {None, present}


_Key = tuple[Rubric, int, bool, str]
"""A stratum: rubric, points, the grader's verdict, system."""


def _stratified(
    judged: pl.DataFrame, quotas: Iterable[_Quota], rng: np.random.Generator
) -> tuple[list[Stratum], list[tuple[int, int]]]:
    """Return the strata, and for each judgment drawn its stratum's index and row of `judged`."""
    columns = ["rubric", "points", "present", "system"]
    groups: dict[_Key, NDArray[np.uint32]] = {
        (Rubric(rubric), points, present, system): part["row"].to_numpy()
        for (rubric, points, present, system), part in sorted(
            judged.with_row_index("row").partition_by(columns, as_dict=True).items()
        )
    }
    numbers = _response_numbers(judged, rng)
    strata: list[Stratum] = []
    taken: list[tuple[int, int]] = []
    for quota in quotas:
        keys = [key for key in groups if quota.covers(key)]
        if quota.n < len(keys):
            raise UsageError(
                f"{quota.option} {quota.n}: there are {len(keys)} kinds of judgment, by rubric, "
                "points, verdict and system, and one at least of each must be read",
                hint=f"{quota.option} {len(keys)} or more",
            )
        sizes = _even_shares(quota.n, [len(groups[key]) for key in keys])
        for key, size in zip(keys, sizes, strict=True):
            rows = groups[key]
            lowest = rows[np.argsort(numbers[rows], kind="stable")[:size]]
            taken += [(len(strata), int(row)) for row in lowest]
            strata.append(Stratum(*key, n=size, of=len(rows)))
    return strata, taken


def _of_one_audit(runs: Runs, grader: str | None) -> list[Entry]:
    """Return the entries by one grader, which must be of one bank and one protocol."""
    chosen = entries(select(runs, graders=[grader] if grader else []))
    if not chosen:
        raise UsageError("nothing here has been graded yet", hint="careeval grade FOLDER")
    names = list(dict.fromkeys(entry.grader for entry in chosen))
    if len(names) > 1:
        raise UsageError(
            f"{len(names)} graders judged these responses: {'; '.join(names)}",
            hint=f"one is audited at a time: --grader {names[0]!r}",
        )
    for column, what in (
        ("bank", "bank"),
        ("bank_version", "version of the bank"),
        ("protocol", "version of the protocol"),
    ):
        values = sorted({x for entry in chosen for x in entry.responses[column].drop_nulls()})
        if len(values) > 1:
            raise UsageError(
                f"these runs are of more than one {what}: {', '.join(values)}",
                hint=f"give only runs of one {what}",
            )
    return chosen


_RESPONSE = ["system", "scenario", "epoch"]


def _drawable(chosen: Sequence[Entry], rubrics: set[Rubric]) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return the judgments that may be drawn, and the numbers left out by reason."""
    parts = []
    for entry in chosen:
        responses = entry.responses.select(
            "scenario", "epoch", "state", "text", "split", "scenario_text"
        )
        parts.append(with_whole(entry.first).join(responses, on=["scenario", "epoch"]))
    judged = pl.concat(parts).filter(pl.col("rubric").is_in([rubric.value for rubric in rubrics]))
    left_out: dict[str, int] = {}
    for reason, keep in (
        (HELD_OUT, pl.col("split") == Split.public.value),
        (WORDLESS, HAS_WORDS),
        (UNRESOLVED, pl.col("present").is_not_null()),
    ):
        kept = judged.filter(keep.fill_null(value=False))
        left_out[reason], judged = judged.height - kept.height, kept
    if judged.is_empty():
        why = "; ".join(f"{count:,} {reason}" for reason, count in left_out.items() if count)
        raise UsageError(
            f"there is no judgment to draw{': ' if why else ''}{why}",
            hint="grade answers to public scenarios on these rubrics",
        )
    return judged.sort(*_RESPONSE, "rubric", "position"), left_out


def _response_numbers(judged: pl.DataFrame, rng: np.random.Generator) -> FloatArray:
    """Return a random number from 0 to 1 for each judgment, by which strata draw.

    Judgments of one response have the same number in all strata, so that strata draw the same
    responses. Where a stratum holds several of them, these differ, since they must be drawn
    independently: its first has the number of the first in other strata, its second that of the
    second. Shape (n_judgments,).
    """
    stratum = ["rubric", "points", "present"]
    place = judged.select(
        pl.struct(_RESPONSE).rank("dense").alias("response") - 1,
        (pl.int_range(pl.len()).over(*_RESPONSE, *stratum)).alias("nth"),
    )
    responses, nth = (place[name].to_numpy().astype(np.int64) for name in ("response", "nth"))
    numbers = rng.random((int(responses.max()) + 1, int(nth.max()) + 1))
    return np.asarray(numbers[responses, nth])


def _even_shares(total: int, sizes: Sequence[int]) -> list[int]:
    """Return `total` split evenly over the strata, none getting more than its size.

    The remainder goes to the largest.
    """
    shares = [0] * len(sizes)
    left = min(total, sum(sizes))
    while left:
        unfilled = [place for place, size in enumerate(sizes) if shares[place] < size]
        each = left // len(unfilled)
        if not each:
            for place in sorted(unfilled, key=lambda at: -sizes[at])[:left]:
                shares[place] += 1
            break
        for place in unfilled:
            more = min(each, sizes[place] - shares[place])
            shares[place] += more
            left -= more
    return shares


def _shuffled(
    judged: pl.DataFrame,
    taken: Sequence[tuple[int, int]],
    rng: np.random.Generator,
    *,
    show_scenario: bool,
) -> tuple[tuple[ShownResponse, ...], tuple[DrawnJudgment, ...]]:
    """Return the drawn judgments by response, in random order and under neutral names."""
    by_response: dict[tuple[str, str, int], list[tuple[int, dict[str, Any]]]] = {}
    for stratum, row in taken:
        judgment = judged.row(row, named=True)
        by_response.setdefault(
            (judgment["system"], judgment["scenario"], judgment["epoch"]), []
        ).append((stratum, judgment))
    keys = sorted(by_response)
    shown: list[ShownResponse] = []
    drawn: list[DrawnJudgment] = []
    for nth, at in enumerate(rng.permutation(len(keys)), start=1):
        of_response = by_response[keys[at]]
        items = []
        for place in rng.permutation(len(of_response)):
            stratum, judgment = of_response[place]
            name = f"j{len(drawn) + 1:05}"
            items.append(ItemToJudge(name, str(judgment["item_text"])))
            _, scenario, epoch = keys[at]
            drawn.append(
                DrawnJudgment(
                    judgment=name,
                    response=f"r{nth:05}",
                    stratum=stratum,
                    scenario=scenario,
                    epoch=epoch,
                    item=str(judgment["item"]),
                    whole=bool(judgment["whole"]),
                )
            )
        first = of_response[0][1]
        shown.append(
            ShownResponse(
                id=f"r{nth:05}",
                scenario=str(first["scenario_text"]) if show_scenario else None,
                text=str(first["text"]),
                items=tuple(items),
            )
        )
    return tuple(shown), tuple(drawn)
