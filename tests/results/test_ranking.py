"""Rank sets by hand; who is left out, and why; then for any systems."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from careeval.results.differences import Verdict
from careeval.results.entries import entries
from careeval.results.ranking import Ranking, rankings
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


def test_one_more_system_changes_no_rank() -> None:
    """With one more system than 105 pairs come from, a loss in every scenario is told as before."""
    names = [f"dressing-{k}" for k in range(30)]
    marks: dict[str, Marks] = {
        f"{kind}-{k}": {name: [mark] for name in names}
        for kind, mark in (("high", "11000"), ("low", "11001"))
        for k in range(8)
    }
    (sixteen,) = ranked(marks)
    (fifteen,) = ranked({name: of for name, of in marks.items() if name != "low-7"})
    assert [r.ranks for r in sixteen.ranked] == [(1, 8)] * 8 + [(9, 16)] * 8
    assert [r.ranks for r in fifteen.ranked] == [(1, 8)] * 8 + [(9, 15)] * 7
    assert sixteen.notes == fifteen.notes == ()


def test_too_few_scenarios_for_so_many() -> None:
    """Where the smallest p there is, times the pairs, is not below 5%, a note says so.

    Eight scenarios: 2 / 256, times 6 pairs is 4.7%, and times 10 is 7.8%.
    """
    (ranking,) = ranked({"low": LOW, **{f"top-{k}": TOP for k in range(3)}})
    assert ranking.notes == ()
    assert ranking.ranked[-1].ranks == (4, 4)
    (ranking,) = ranked({"low": LOW, **{f"top-{k}": TOP for k in range(4)}})
    assert ranking.notes[0].startswith("8 scenarios cannot tell any of 10 pairs apart")
    assert {r.ranks for r in ranking.ranked} == {(1, 5)}
    assert {d.detectable for d in ranking.pairs.values()} == {None}


def test_no_test_is_no_p() -> None:
    """A pair that was not tested has no p, corrected or not, and its verdict is unknown."""
    three = NAMES[:3]
    (ranking,) = ranked({"a": {n: TOP[n] for n in three}, "b": {n: LOW[n] for n in three}})
    (found,) = ranking.pairs.values()
    assert (found.p, found.p_holm, found.verdict) == (None, None, Verdict.unknown)
    assert ranking.notes == ("Fewer than five scenarios in common: nothing is tested.",)


def test_untested_pairs_count_for_holm() -> None:
    """Of three pairs of which one has no scenario in common, the other p values are times three."""
    points = dict.fromkeys(NAMES, (2, 1, 0, -1, -2))
    other = dict.fromkeys(NAMES, (2, 1, -1, 0, -2))
    half = {**dict(list(points.items())[:2]), **dict(list(other.items())[2:])}
    rows = [row for name in "abc" for row in responses(TOP, system=name)]
    judged = [
        *judgments(TOP, points, system="a"),
        *judgments(LOW, points, system="b"),
        *judgments(LOW, half, system="c"),
    ]
    pairs = of(Runs.of(rows, judged))[0].pairs
    assert pairs["a", "b"].p_holm == 3 * 2 / 256
    assert [(pairs[pair].n, pairs[pair].p_holm) for pair in (("a", "c"), ("b", "c"))] == [
        (2, None),
        (2, None),
    ]


def test_ranks_are_those_of_the_verdicts() -> None:
    """Where p alone is below 5% and the interval holds 0, neither verdict nor rank tells apart.

    Of nine differences 5 1 1 1 1 1 0 0 0, all six signs are alike: 2 of 64 patterns. Their mean is
    10/9 and its error 0.512, so that t with 8 degrees, 2.306, reaches below 0.
    """
    names = [f"dressing-{k}" for k in range(9)]
    before: Marks = {**{n: ["00000"] for n in names}, names[0]: ["00001"]}
    after: Marks = {**before, **{n: ["01000"] for n in names[1:6]}, names[0]: ["11000"]}
    (ranking,) = ranked({"a": before, "b": after})
    (found,) = ranking.pairs.values()
    assert found.p_holm is not None
    assert found.p_holm < 0.05
    assert found.difference.ci95 is not None
    assert found.difference.ci95[0] <= 0 <= found.difference.ci95[1]
    assert found.verdict is Verdict.unclear
    assert {r.ranks for r in ranking.ranked} == {(1, 2)}


def test_unknown_versions_rank_nobody() -> None:
    """Runs that do not name the version of their bank are in a group of their own, and unranked."""
    rows = [row for name in "ab" for row in responses(TOP, system=name)]
    unknown = [row for n in "cd" for row in responses(TOP, system=n, bank_version=None)]
    judged = [row for name in "abcd" for row in judgments(TOP, system=name)]
    known, other = of(Runs.of(rows + unknown, judged))
    assert ({r.model for r in known.ranked}, known.left_out) == ({"a", "b"}, {})
    assert (other.bank_n, other.ranked) == ("version unknown", ())
    reason = "version unknown: its responses do not name the version of the bank"
    assert other.left_out == {"c": reason, "d": reason}


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
