"""A sample of a grader's judgments, for people to make again.

People can read few judgments, and those that matter most are rare: so they are drawn by what the
item is worth and what the grader said of it, each with a known chance, and weighted back by it. A
sample keeps what a rater may see apart from what would sway the rater.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from careeval import scoring
from careeval.core.label import SEVERE_CLEARED, SEVERE_FOUND, N
from careeval.core.response import ResponseState
from careeval.core.scenario import Rubric, Split
from careeval.errors import UsageError
from careeval.results.entries import Entry, entries
from careeval.results.pairs import judged_by
from careeval.results.points import FloatArray
from careeval.results.tables import Runs

SCHEMA = "careeval.audit-sample/1"

MIN_SCENARIOS, MIN_SYSTEMS = 60, 3
"""A sample that is spread over fewer says less than it seems to."""

HELD_OUT = "of the held-out split, whose words never leave"
WORDLESS = "of responses without words"
UNRESOLVED = "not made by the grader"
"""Why judgments are not drawn."""

OTHER_ANSWERS = "people read another run’s answers of this system"
OTHER_JUDGMENTS = "what people read was drawn from other judgments than these"
"""Why what people say of a sample says nothing of a run."""


@dataclass(frozen=True, slots=True)
class ShownItem:
    """One judgment to make: is this in the response?"""

    judgment: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownResponse:
    """All that a rater sees of one response; the ids tell nothing.

    Attributes:
        scenario: Its text; `None` where raters are not shown it.
        text: Of the response: a model's words, to be escaped.
    """

    id: str
    scenario: str | None
    text: str
    items: tuple[ShownItem, ...]


@dataclass(frozen=True, slots=True)
class Stratum:
    """Judgments of one kind, of which some were drawn, each with the same chance.

    Attributes:
        rubric: Of the item.
        points: Of the item.
        present: What the grader says.
        system: Whose response.
        n: Drawn.
        of: All that could be.
    """

    rubric: Rubric
    points: int
    present: bool
    system: str
    n: int
    of: int

    @property
    def chance(self) -> float:
        """Of each of them to be drawn, above 0 to 1."""
        return self.n / self.of

    @property
    def kind(self) -> tuple[Rubric, int, bool]:
        """The same of any system."""
        return self.rubric, self.points, self.present


@dataclass(frozen=True, slots=True)
class Drawn:
    """One judgment that was drawn.

    Attributes:
        judgment: As raters see it named.
        response: Likewise.
        stratum: Its place among the sample's strata.
        whole: Whether every item of this rubric was judged in its response.
    """

    judgment: str
    response: str
    stratum: int
    scenario: str
    epoch: int
    item: str
    whole: bool


@dataclass(frozen=True, slots=True)
class Graded:
    """What the grader made of a scenario's responses by one system, those judged whole.

    Attributes:
        n_items: Of the rubric.
        n_responses: Judged whole; those without words among them.
        n_wordless: Without words: 0 points, and nothing for people to read.
        maximum: Of one response, in points.
        points: Of all of them.
    """

    system: str
    scenario: str
    rubric: Rubric
    n_items: int
    n_responses: int
    n_wordless: int
    maximum: int
    points: int


@dataclass(frozen=True)
class Hidden:
    """What the analysis needs and a rater must not see.

    Attributes:
        bank_hashes: Of the scenarios that the runs took.
        strata: What was drawn from.
        drawn: The judgments, in the order of the shown.
        graded: By the same grader, for the score that is corrected.
        left_out: Why judgments were not to be drawn → how many.
    """

    bank: str
    bank_version: str
    bank_hashes: tuple[str, ...]
    protocol: str
    grader: str
    seed: int
    strata: tuple[Stratum, ...]
    drawn: tuple[Drawn, ...]
    graded: tuple[Graded, ...]
    left_out: Mapping[str, int]


@dataclass(frozen=True)
class Sample:
    """Judgments for people to make again.

    Attributes:
        shown: What raters see, in the order in which it was shuffled.
        hidden: The rest.
    """

    shown: tuple[ShownResponse, ...]
    hidden: Hidden

    @property
    def grader(self) -> str:
        """Whose judgments they are: its name, with its mode and the hash of its prompt."""
        return self.hidden.grader

    def thin(self) -> Iterator[str]:
        """In what the sample is thinner than it should be."""
        drawn, strata = self.hidden.drawn, self.hidden.strata
        n_scenarios = len({each.scenario for each in drawn})
        n_systems = len({strata[each.stratum].system for each in drawn})
        if n_scenarios < MIN_SCENARIOS:
            yield f"it is of {n_scenarios} scenarios; {MIN_SCENARIOS} or more say more"
        if n_systems < MIN_SYSTEMS:
            what = "1 system" if n_systems == 1 else f"{n_systems} systems"
            yield f"it is of {what}; a grader may treat others otherwise"
        for present, wanted in ((True, SEVERE_FOUND), (False, SEVERE_CLEARED)):
            of = [s for s in strata if s.points == scoring.SEVERE and s.present is present]
            n, there = sum(s.n for s in of), sum(s.of for s in of)
            if n < min(wanted, there):
                what = "found" if present else "called absent"
                yield f"{n} of {there:,} −2 items that the grader {what} are in it, not {wanted}"


def draw(
    runs: Runs,
    *,
    grader: str | None = None,
    rubrics: Iterable[Rubric] = tuple(Rubric),
    n: int = N,
    per_system: int | None = None,
    severe_found: int = SEVERE_FOUND,
    severe_cleared: int = SEVERE_CLEARED,
    show_scenario: bool = True,
    seed: int = 0,
) -> Sample:
    """Draw judgments for people to read.

    Judgments are put into strata: rubric, points, the grader's verdict, system. Each kind's numbers
    are spread evenly over its strata, a small one being taken whole. Within a stratum every
    judgment has the same chance: each response has one number drawn at random, and a stratum takes
    the judgments of the lowest. So strata take the same responses where they can, and people have
    fewer to read.

    Args:
        runs: What the grader judged; its first gradings count.
        grader: As summaries name it, or without its mode; needed where several judged.
        rubrics: Which to draw from.
        n: Judgments of items that are no severe errors.
        per_system: The same for each system, in place of `n`.
        severe_found: Judgments of −2 items that the grader found.
        severe_cleared: Judgments of −2 items that it called absent.
        show_scenario: Whether raters read the scenario too.
        seed: Of the drawing and of the order in which raters see it.

    Raises:
        UsageError: Nobody judged anything, several did and none is named, the runs are not of one
            bank and one protocol, there is nothing to draw, or too little is asked for to take one
            judgment of each stratum.
    """
    found = _of_one_grader(runs, grader)
    judged, left_out = _drawable(found, set(rubrics))
    keys = ["rubric", "points", "present", "system"]
    groups = {
        (Rubric(rubric), points, present, system): part["row"].to_numpy()
        for (rubric, points, present, system), part in sorted(
            judged.with_row_index("row").partition_by(keys, as_dict=True).items()
        )
    }
    severe = scoring.SEVERE
    kinds: tuple[tuple[str, int, Callable[[int, bool], bool]], ...] = (
        ("--severe-found", severe_found, lambda points, present: points == severe and present),
        (
            "--severe-cleared",
            severe_cleared,
            lambda points, present: points == severe and not present,
        ),
        (
            "--n",
            n if per_system is None else per_system * len({entry.system for entry in found}),
            lambda points, _: points != severe,
        ),
    )
    rng = np.random.default_rng(seed)
    chances = _response_numbers(judged, rng)
    strata: list[Stratum] = []
    taken: list[tuple[int, int]] = []  # stratum, row of `judged`
    for option, total, belongs in kinds:
        of_kind = [key for key in groups if belongs(key[1], key[2])]
        if total < len(of_kind):
            raise UsageError(
                f"{option} {total}: there are {len(of_kind)} kinds of judgment, by rubric, points, "
                "verdict and system, and one at least of each must be read",
                hint=f"{option} {len(of_kind)} or more",
            )
        for key, size in zip(
            of_kind, _shared_out(total, [len(groups[k]) for k in of_kind]), strict=True
        ):
            rows = groups[key]
            lowest = rows[np.argsort(chances[rows], kind="stable")[:size]]
            taken += [(len(strata), int(row)) for row in lowest]
            strata.append(Stratum(*key, n=size, of=len(rows)))
    shown, drawn = _shuffled(judged, taken, rng, show_scenario=show_scenario)
    about = found[0].run
    return Sample(
        shown,
        Hidden(
            bank=about["bank"],
            bank_version=about["bank_version"],
            bank_hashes=tuple(sorted({entry.run["bank_hash"] for entry in found})),
            protocol=about["protocol"],
            grader=found[0].grader,
            seed=seed,
            strata=tuple(strata),
            drawn=drawn,
            graded=tuple(row for entry in found for row in graded(entry)),
            left_out=left_out,
        ),
    )


def other_than(sample: Sample, entry: Entry) -> str:
    """Return why a sample is not drawn from an entry's judgments; empty where it is.

    The name of a system is no proof: two runs may give it to different answers. So the words that
    people read must be the entry's, and all that the grader made of its public responses the same.
    """
    strata, hidden = sample.hidden.strata, sample.hidden
    read = {each.id: each.text for each in sample.shown}
    said = {(s, epoch): text for s, epoch, text in _columns(entry.responses, "text")}
    judged = {tuple(of): verdict for *of, verdict in _columns(entry.first, "item", "present")}
    same = True
    for each in hidden.drawn:
        stratum = strata[each.stratum]
        if (stratum.system, stratum.rubric) != (entry.system, entry.rubric):
            continue
        if read.get(each.response) != said.get((each.scenario, each.epoch)):
            return OTHER_ANSWERS
        of = (each.scenario, each.epoch, each.item)
        same = same and judged.get(of) is stratum.present
    own = entry.system, entry.rubric
    drawn_from = {row for row in hidden.graded if (row.system, row.rubric) == own}
    return "" if same and drawn_from == set(graded(entry)) else OTHER_JUDGMENTS


def _columns(frame: pl.DataFrame, *more: str) -> Iterator[tuple[Any, ...]]:
    return frame.select("scenario", "epoch", *more).iter_rows()


def _of_one_grader(runs: Runs, grader: str | None) -> list[Entry]:
    found = judged_by(entries(runs), grader)
    if not found:
        raise UsageError("nothing here has been graded yet", hint="careeval grade FOLDER")
    names = list(dict.fromkeys(entry.grader for entry in found))
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
        of = sorted({name for entry in found for name in entry.responses[column].drop_nulls()})
        if len(of) > 1:
            raise UsageError(f"these runs are of more than one {what}: {', '.join(of)}")
    return found


_RESPONSE = ["system", "scenario", "epoch"]


def _drawable(found: Sequence[Entry], rubrics: set[Rubric]) -> tuple[pl.DataFrame, dict[str, int]]:
    """The judgments that may be drawn, and how many may not, by the first reason of each."""
    parts = []
    for entry in found:
        said = entry.responses.select(
            "scenario", "epoch", "state", "text", "split", "scenario_text"
        )
        parts.append(_with_whole(entry.first).join(said, on=["scenario", "epoch"]))
    judged = pl.concat(parts).filter(pl.col("rubric").is_in([rubric.value for rubric in rubrics]))
    has_words = (pl.col("state") == ResponseState.answered.value) & (
        pl.col("text").str.strip_chars() != ""
    )
    left_out: dict[str, int] = {}
    for reason, keep in (
        (HELD_OUT, pl.col("split") == Split.public.value),
        (WORDLESS, has_words),
        (UNRESOLVED, pl.col("present").is_not_null()),
    ):
        kept = judged.filter(keep.fill_null(value=False))
        left_out[reason], judged = judged.height - kept.height, kept
    if judged.is_empty():
        why = "; ".join(f"{count:,} {reason}" for reason, count in left_out.items() if count)
        raise UsageError(f"there is no judgment to draw{': ' if why else ''}{why}")
    return judged.sort(*_RESPONSE, "rubric", "position"), left_out


def _with_whole(first: pl.DataFrame) -> pl.DataFrame:
    """Judgments with `whole`: whether all of its rubric was judged in the response."""
    of_response = pl.len().over("scenario", "epoch", "rubric")
    open_ = pl.col("present").is_null().sum().over("scenario", "epoch", "rubric")
    return first.with_columns(
        of_response.alias("n_items"), (open_ == 0).alias("made")
    ).with_columns(
        (
            pl.col("made")
            & (pl.col("n_items") == pl.col("n_items").max().over("scenario", "rubric"))
        ).alias("whole")
    )


def _response_numbers(judged: pl.DataFrame, rng: np.random.Generator) -> FloatArray:
    """A number from 0 to 1 for each judgment, by which strata choose; shape (n_judgments,).

    It is its response's, so that strata choose alike. Where a stratum holds several judgments of
    one response each has another, for in a stratum they must be drawn independently of each other.
    """
    stratum = ["rubric", "points", "present"]
    place = judged.select(
        pl.struct(_RESPONSE).rank("dense").alias("response") - 1,
        (pl.int_range(pl.len()).over(*_RESPONSE, *stratum)).alias("nth"),
    )
    responses, nth = (place[name].to_numpy().astype(np.int64) for name in ("response", "nth"))
    numbers = rng.random((int(responses.max()) + 1, int(nth.max()) + 1))
    return np.asarray(numbers[responses, nth])


def _shared_out(total: int, sizes: Sequence[int]) -> list[int]:
    """`total` shared out evenly, nobody getting more than its size; the rest to the largest."""
    shares = [0] * len(sizes)
    left = min(total, sum(sizes))
    while left:
        hungry = [place for place, size in enumerate(sizes) if shares[place] < size]
        each = left // len(hungry)
        if not each:
            for place in sorted(hungry, key=lambda at: -sizes[at])[:left]:
                shares[place] += 1
            break
        for place in hungry:
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
) -> tuple[tuple[ShownResponse, ...], tuple[Drawn, ...]]:
    """What was taken, by response, in an order and under names that tell nothing."""
    by_response: dict[tuple[str, str, int], list[tuple[int, dict[str, Any]]]] = {}
    for stratum, row in taken:
        of = judged.row(row, named=True)
        by_response.setdefault((of["system"], of["scenario"], of["epoch"]), []).append(
            (stratum, of)
        )
    keys = sorted(by_response)
    shown: list[ShownResponse] = []
    drawn: list[Drawn] = []
    for nth, at in enumerate(rng.permutation(len(keys)), start=1):
        of_response = by_response[keys[at]]
        items = []
        for place in rng.permutation(len(of_response)):
            stratum, of = of_response[place]
            name = f"j{len(drawn) + 1:05}"
            items.append(ShownItem(name, str(of["item_text"])))
            _, scenario, epoch = keys[at]
            drawn.append(
                Drawn(
                    judgment=name,
                    response=f"r{nth:05}",
                    stratum=stratum,
                    scenario=scenario,
                    epoch=epoch,
                    item=str(of["item"]),
                    whole=bool(of["whole"]),
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


def graded(entry: Entry) -> Iterator[Graded]:
    """What the grader made of an entry's public responses."""
    said = entry.responses.filter(pl.col("split") == Split.public.value)
    there = pl.col("state") == ResponseState.answered.value
    wordless = ~(there & (pl.col("text").str.strip_chars() != "")).fill_null(value=False)
    judged = (
        _with_whole(entry.first)
        .filter(pl.col("whole"))
        .join(
            said.select("scenario", "epoch", wordless.alias("wordless")), on=["scenario", "epoch"]
        )
    )
    worth = pl.col("points")
    by_response = judged.group_by("scenario", "epoch").agg(
        pl.col("wordless").first(),
        pl.len().alias("n_items"),
        worth.filter(pl.col("present")).sum().alias("points"),
        worth.filter(worth > 0).sum().alias("maximum"),
    )
    by_scenario = by_response.group_by("scenario").agg(
        pl.col("n_items").first(),
        pl.len().alias("n_responses"),
        pl.col("wordless").sum().alias("n_wordless"),
        pl.col("maximum").first(),
        pl.col("points").sum(),
    )
    for row in by_scenario.sort("scenario").iter_rows(named=True):
        yield Graded(system=entry.system, rubric=entry.rubric, **row)
