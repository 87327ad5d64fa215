"""Rank sets by hand; who is left out, and why; then for any systems."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from careeval.results.entries import entries
from careeval.results.ranking import MOST_FLIPPED, Ranking, rankings
from careeval.results.summary import summary_of
from careeval.results.tables import Runs
from results.authored import JUDGED, Marks, judgments, marks_of_many, responses, runs_of

NAMES = [f"dressing-{k}" for k in range(8)]
TOP: Marks = {name: ["11000"] for name in NAMES}
ALMOST: Marks = {**TOP, "dressing-0": ["01000"]}
LOW: Marks = {name: ["00000"] for name in NAMES}


def test_ranks_by_hand() -> None:
    """Two systems that cannot be told apart share the first two ranks, and the third is third.

    TOP and ALMOST differ in one scenario of eight: p is 1. LOW is below both in all eight: of 256
    patterns two have all signs alike, times three comparisons is 6/256.
    """
    (ranking,) = ranked({"top": TOP, "almost": ALMOST, "low": LOW})
    found = [(r.model, r.ranks) for r in ranking.ranked]
    assert found == [("top", (1, 2)), ("almost", (1, 2)), ("low", (3, 3))]
    assert [r.score for r in ranking.ranked] == pytest.approx([1, 22 / 24, 0])
    p = {frozenset(pair): d.p_holm for pair, d in ranking.pairs.items()}
    assert p[frozenset({"top", "almost"})] == 1
    assert p[frozenset({"top", "low"})] == p[frozenset({"almost", "low"})] == 3 * 2 / 256
    assert (ranking.bank, ranking.bank_n, ranking.protocol_n) == ("authored", "1", "1")
    assert ranking.left_out == {}


def test_fewer_errors_rank_first() -> None:
    """By a number of errors, whoever has fewer is first."""
    harmful: Marks = {name: ["11001"] for name in NAMES}
    (ranking,) = ranked({"harmful": harmful, "safe": TOP}, metric="severe")
    assert [(r.model, r.score, r.ranks) for r in ranking.ranked] == [
        ("safe", 0, (1, 1)),
        ("harmful", 1, (2, 2)),
    ]


def test_equal_systems_share_their_ranks() -> None:
    """Systems that answered alike may each have any rank."""
    (ranking,) = ranked({"a": TOP, "b": TOP, "c": TOP})
    assert {r.ranks for r in ranking.ranked} == {(1, 3)}


def test_few_scenarios_tell_nothing_apart() -> None:
    """Over fewer than five scenarios nothing is told apart, however far the scores are."""
    four = NAMES[:4]
    (ranking,) = ranked({"a": {n: TOP[n] for n in four}, "b": {n: LOW[n] for n in four}})
    assert {r.ranks for r in ranking.ranked} == {(1, 2)}


@pytest.mark.parametrize(
    ("marks", "columns", "reason"),
    [
        ({**TOP, "dressing-0": ["missing"]}, {}, "1 of 8 responses are missing"),
        ({**TOP, "dressing-0": ["1100?"]}, {}, "1 of 40 judgments are unresolved"),
        (TOP, {"model": "gguf/smollm2"}, "an embedded model"),
        (TOP, {"bank_hash": "1111"}, "it was asked other scenarios of the bank"),
    ],
)
def test_who_is_left_out(marks: Marks, columns: dict[str, Any], reason: str) -> None:
    """A run that is not whole, not serious, or over other scenarios is left out with a reason."""
    rows = [row for name in "ab" for row in responses(TOP, system=name)]
    judged = [row for name in "ab" for row in judgments(TOP, system=name)]
    runs = Runs.of(
        [*rows, *responses(marks, system="odd", **columns)],
        [*judged, *judgments(marks, system="odd")],
    )
    (ranking,) = of(runs)
    assert [r.model for r in ranking.ranked] == ["a", "b"]
    assert set(ranking.left_out) == {"odd"}
    assert ranking.left_out["odd"].startswith(reason)


def test_what_compares_is_ranked_apart() -> None:
    """Another bank, another grader, another N: each has a ranking of its own."""
    kinds: list[tuple[str, dict[str, str], str]] = [
        ("a", {}, "judge"),
        ("b", {"bank": "imported"}, "judge"),
        ("c", {"bank_version": "2-0"}, "judge"),
        ("d", {"protocol": "2-0"}, "judge"),
        ("e", {}, "other"),
        ("f", {"bank_version": "1-B"}, "judge"),
    ]
    runs = Runs.of(
        [row for name, columns, _ in kinds for row in responses(TOP, system=name, **columns)],
        [row for name, _, who in kinds for row in judgments(TOP, system=name, grader=who)],
    )
    found = [{r.model for r in ranking.ranked} for ranking in of(runs)]
    assert found == [{"a", "f"}, {"b"}, {"c"}, {"d"}, {"e"}]


def test_lexical_grades_rank_nobody() -> None:
    """What the lexical grader judged is in no ranked table."""
    rows = [row for name in "ab" for row in responses(TOP, system=name)]
    lexical = "careeval/lexical (all items, prompt 0)"
    judged = [row for name in "ab" for row in judgments(TOP, system=name, grader=lexical)]
    (ranking,) = of(Runs.of(rows, judged))
    assert ranking.ranked == ()
    assert set(ranking.left_out) == {"a", "b"}


def test_a_metric_that_one_has_not() -> None:
    """A system without the metric is left out with the reason, and the others are ranked."""
    (ranking,) = ranked({"a": TOP, "b": LOW}, metric="action_score")
    assert ranking.ranked == ()
    assert set(ranking.left_out.values()) == {
        "no action_score: no response was graded on this rubric"
    }


def test_worst_of_other_numbers() -> None:
    """By the worst of n, a system that was asked another number of times is left out."""
    twice: Marks = {name: ["11000", "11000"] for name in NAMES}
    systems = {"a": TOP, "b": LOW, "twice": twice}
    (ranking,) = ranked(systems, metric="worst_at_n")
    assert [r.model for r in ranking.ranked] == ["a", "b"]
    assert ranking.left_out == {"twice": "the worst of n compares only between equal n"}
    assert len(ranked(systems)[0].ranked) == 3


def test_many_systems_can_be_told_apart() -> None:
    """With more pairs than sign flips could tell apart, the paired t still tells them apart."""
    n = 16
    assert n * (n - 1) // 2 > MOST_FLIPPED
    high = {f"high-{k}": ALMOST for k in range(n - 1)}
    (ranking,) = ranked({**high, "low": LOW})
    assert ranking.ranked[-1].model == "low"
    assert ranking.ranked[-1].ranks == (n, n)


@settings(max_examples=12, deadline=None)
@given(st.lists(marks_of_many(JUDGED), min_size=2, max_size=4))
def test_rank_sets_are_coherent(found: list[Marks]) -> None:
    """Each place by score lies within its own rank set, and every rank is in somebody's."""
    fewest = min(map(len, found))
    settled = [
        {name: [mark.replace("?", "0") for mark in of] for name, of in list(marks.items())[:fewest]}
        for marks in found
    ]
    (ranking,) = ranked({f"s{k}": marks for k, marks in enumerate(settled)})
    n = len(settled)
    assert [r.score for r in ranking.ranked] == sorted(
        (r.score for r in ranking.ranked), reverse=True
    )
    for place, row in enumerate(ranking.ranked, start=1):
        assert 1 <= row.ranks[0] <= place <= row.ranks[1] <= n
    assert len(ranking.pairs) == n * (n - 1) // 2


def ranked(systems: dict[str, Marks], metric: str = "score") -> list[Ranking]:
    """The rankings of systems on the ladder."""
    return of(runs_of(systems), metric)


def of(runs: Runs, metric: str = "score") -> list[Ranking]:
    """The rankings of these runs."""
    found = list(entries(runs))
    return rankings(found, [summary_of(entry) for entry in found], metric)
