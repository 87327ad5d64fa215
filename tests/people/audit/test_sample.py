"""A sample of judgments: what is drawn, with what chance, and what never is."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.core.scenario import Rubric
from careeval.errors import UsageError
from careeval.people.audit.sample import (
    HELD_OUT,
    UNRESOLVED,
    WORDLESS,
    AuditSample,
    GradedTotals,
    _even_shares,
    draw,
)
from careeval.results.tables import Runs
from results.authored import judgments, responses
from results.sampled import at_random, judged


def small(runs: Runs, seed: int = 0, **more: Any) -> AuditSample:
    """A sample of few judgments."""
    numbers = {"n": 60, "severe_found": 12, "severe_cleared": 20, **more}
    return draw(runs, seed=seed, **numbers)


def test_by_hand() -> None:
    """Of two responses every judgment is drawn, in its stratum, and the words are shown."""
    sample = draw(judged({"robot-a": {"eating-1": ["10001", "11000"]}}))
    strata = {(s.points, s.present): (s.n, s.of) for s in sample.hidden.strata}
    assert strata == {
        (2, True): (2, 2),
        (1, True): (1, 1),
        (1, False): (1, 1),
        (0, False): (2, 2),
        (-1, False): (2, 2),
        (-2, True): (1, 1),
        (-2, False): (1, 1),
    }
    assert [len(response.items) for response in sample.shown] == [5, 5]
    assert {response.text for response in sample.shown} == {"I wait."}
    assert {response.scenario for response in sample.shown} == {"She sits on the bed."}
    assert sample.hidden.graded == (
        GradedTotals("robot-a", "eating-1", Rubric.ladder, 5, 2, 0, maximum=3, points=3),
    )


def test_what_is_shown_tells_nothing() -> None:
    """A rater's part names no system, points, verdict or epoch, in order or in an id."""
    marks = at_random(1, 10, 4)
    sample = draw(judged({"robot-a": marks, "robot-b": marks}), show_scenario=False)
    said = repr(sample.shown)
    assert "robot" not in said
    assert "present" not in said
    assert all(response.scenario is None for response in sample.shown)
    epochs = [each.epoch for each in sample.hidden.drawn]
    assert epochs != sorted(epochs)


def test_what_is_never_drawn_is_counted() -> None:
    """Held-out words, responses without words and unresolved judgments are left out, by reason."""
    public = judged({"robot-a": {"eating-1": ["1000?", "empty", "01000"]}})
    secret = judged({"robot-b": {"bathing-1": ["11111"]}}, split="held-out")
    sample = draw(Runs.together([public, secret]))
    assert sample.hidden.left_out == {HELD_OUT: 5, WORDLESS: 5, UNRESOLVED: 1}
    assert {each.scenario for each in sample.hidden.drawn} == {"eating-1"}
    assert len(sample.hidden.drawn) == 9
    assert {row.system for row in sample.hidden.graded} == {"robot-a"}
    # the response with an open judgment is not among those judged whole; the empty one is, with 0
    (graded,) = sample.hidden.graded
    assert (graded.n_responses, graded.n_wordless, graded.points) == (2, 1, 1)
    whole = {(each.epoch, each.whole) for each in sample.hidden.drawn}
    assert whole == {(1, False), (3, True)}


def test_a_split_that_is_not_known_is_not_public() -> None:
    """A response of which nobody says that it is public is taken for held out."""
    runs = judged({"robot-a": {"eating-1": ["10000"]}})
    unsure = Runs(runs.responses.with_columns(split=pl.lit(None, pl.String)), runs.judgments)
    with pytest.raises(UsageError, match="no judgment to draw: 5 of the held-out split"):
        draw(unsure)


def test_severe_items_come_first() -> None:
    """All −2 items found are drawn up to the limit, and so many others as are asked for."""
    runs = judged({name: at_random(k, 30, 5, 0.2) for k, name in enumerate("abc")})
    sample = draw(runs, n=100, severe_found=1000, severe_cleared=30)
    totals: Counter[str] = Counter()
    for s in sample.hidden.strata:
        kind = ("found" if s.present else "cleared") if s.points == -2 else "other"
        totals[kind] += s.n
        if kind == "found":
            assert s.n == s.of
    assert (totals["cleared"], totals["other"]) == (30, 100)
    assert {s.system for s in sample.hidden.strata} == {"a", "b", "c"}


def test_every_judgment_of_a_stratum_has_the_same_chance() -> None:
    """Over 200 seeds each judgment is drawn as often as its stratum says, whatever is beside it."""
    # two items of −2: of some responses both are found, of others one
    marks = {"eating-1": ["11", "11", "10"], "eating-2": ["10", "01", "00"], "eating-3": ["11"] * 3}
    said = {"text": "I wait.", "scenario_text": "", "split": "public"}
    acts = [{**row, "item_text": "x"} for row in judgments(marks, (-2, -2), rubric="actions")]
    runs = Runs.of(responses(marks, **said), acts)
    n_draws = 200
    drawn: Counter[tuple[str, int, str]] = Counter()
    for seed in range(n_draws):
        sample = draw(runs, n=0, severe_found=4, severe_cleared=2, seed=seed)
        drawn.update((d.scenario, d.epoch, d.item) for d in sample.hidden.drawn)
        chances = {s.present: s.chance for s in sample.hidden.strata}
    assert chances == {True: 4 / 13, False: 2 / 5}
    for row in runs.judgments.iter_rows(named=True):
        chance = chances[row["present"]]
        sd = np.sqrt(chance * (1 - chance) / n_draws)
        share = drawn[row["scenario"], row["epoch"], row["item"]] / n_draws
        assert abs(share - chance) < 4 * sd


def test_strata_take_the_same_responses() -> None:
    """People read fewer responses than if each stratum chose for itself."""
    runs = judged({"robot-a": at_random(3, 40, 5)})
    sample = draw(runs, n=80, severe_found=10, severe_cleared=10)
    # 10 of about 100 a stratum and ten strata: chosen apart, nearly 80 of 200 responses
    assert len(sample.hidden.drawn) == 100
    assert len(sample.shown) < 50


def test_a_seed_draws_the_same_again() -> None:
    """Equal seeds give equal samples, and another seed another."""
    runs = judged({"robot-a": at_random(1, 10, 3)})
    assert small(runs) == small(runs)
    assert small(runs).shown != small(runs, seed=1).shown


def test_so_many_of_each_system() -> None:
    """`per_system` counts for each system, in place of n."""
    runs = judged({name: at_random(k, 20, 5) for k, name in enumerate("ab")})
    sample = small(runs, per_system=40)
    others = [s for s in sample.hidden.strata if s.points != -2]
    assert sum(s.n for s in others) == 80
    assert sum(s.n for s in others if s.system == "a") == 40


def test_a_thin_sample_says_so() -> None:
    """Few scenarios, few systems and few −2 items are each told."""
    told = list(small(judged({"robot-a": at_random(1, 10, 10)}), n=400).shortfalls())
    assert [line.split(";")[0] for line in told[:2]] == [
        "it is of 10 scenarios",
        "it is of 1 system",
    ]
    assert "12 of" in told[2]
    assert "20 of" in told[3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 3}, "--n 3: there are 8 kinds of judgment"),
        ({"severe_found": 0}, "--severe-found 0: there are 1 kinds"),
        ({"grader": "nobody"}, "no grader is named 'nobody'"),
    ],
)
def test_what_cannot_be_drawn(change: dict[str, Any], message: str) -> None:
    """A sample that would leave a kind of judgment out, or has no grader, is refused with why."""
    with pytest.raises(UsageError, match=message):
        small(judged({"robot-a": at_random(1, 10, 3)}), **change)


def test_one_grader_bank_and_protocol_at_a_time() -> None:
    """Judgments of two graders, or over two versions of a bank, are not drawn together."""
    marks = {"eating-1": ["10000"]}
    runs = judged({"robot-a": marks})
    other = runs.judgments.with_columns(grader=pl.lit("other"))
    with pytest.raises(UsageError, match="2 graders judged these responses: judge; other"):
        draw(Runs(runs.responses, pl.concat([runs.judgments, other])))
    newer = judged({"robot-b": marks})
    newer = Runs(newer.responses.with_columns(bank_version=pl.lit("2-0")), newer.judgments)
    with pytest.raises(UsageError, match="more than one version of the bank: 1-0, 2-0"):
        draw(Runs.together([runs, newer]))
    with pytest.raises(UsageError, match="nothing here has been graded"):
        draw(Runs.of([], []))


@given(st.integers(0, 60), st.lists(st.integers(1, 20), max_size=8))
def test_shares_are_even(total: int, sizes: list[int]) -> None:
    """Nobody gets more than its size, all is given out, and the shares are as even as sizes let."""
    shares = _even_shares(total, sizes)
    assert sum(shares) == min(total, sum(sizes))
    assert all(share <= size for share, size in zip(shares, sizes, strict=True))
    hungry = [share for share, size in zip(shares, sizes, strict=True) if share < size]
    if hungry:
        assert max(shares) - min(hungry) <= 1
