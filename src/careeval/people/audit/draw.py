"""Draw the judgments of an audit's sample.

People can read few judgments, and those that matter most are rare. So judgments are drawn by the
item's points and the grader's verdict, each with a known chance, and weighted back by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from careeval import scoring
from careeval.core.rating import SEVERE_CLEARED, SEVERE_FOUND, N
from careeval.core.scenario import READ_RUBRICS, Rubric, Split
from careeval.errors import UsageError
from careeval.people.audit.sample import (
    HAS_WORDS,
    AuditSample,
    DrawnJudgment,
    Hidden,
    ItemToJudge,
    ShownResponse,
    Stratum,
    graded_totals,
    with_whole,
)
from careeval.results.entries import entries
from careeval.results.entry import Entry
from careeval.results.tables import Runs, select
from careeval.stats.estimate import FloatArray

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
