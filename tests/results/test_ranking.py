"""Rank sets by hand; entries that are left out, with reasons; then any systems."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t

from careeval.core.scenario import Rubric
from careeval.results.compare import Basis, Ranking, rankings
from careeval.results.differences import Verdict
from careeval.results.entries import entries
from careeval.results.tables import Runs
from careeval.sheets.entries import rank_texts
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
    found = [(r.system, r.ranks) for r in ranking.ranked]
    assert found == [("top", (1, 2)), ("almost", (1, 2)), ("low", (3, 3))]
    assert [r.score for r in ranking.ranked] == pytest.approx([1, 22 / 24, 0])
    p = {frozenset(pair): d.p_holm for pair, d in ranking.pairs.items()}
    assert p[frozenset({"top", "almost"})] == 1
    assert p[frozenset({"top", "low"})] == p[frozenset({"almost", "low"})] == 3 * 2 / 256
    assert ranking.basis == Basis("authored", "1", "0000", "2", "2", "judge", Rubric.ladder)
    assert ranking.left_out == {}


def test_ranks_by_severe_errors_beside() -> None:
    """Whoever has fewer severe errors is first by them, whatever the score.

    BOLD scores 2/3 with a severe error in each of eight responses, and TIMID 1/3 without one.
    BUT-ONE has one severe error, which eight scenarios cannot tell from none: p is 1.
    """
    bold: Marks = {name: ["11101"] for name in NAMES}
    timid: Marks = {name: ["00000"] for name in NAMES}
    but_one: Marks = {**{name: ["01000"] for name in NAMES}, "dressing-0": ["11001"]}
    (ranking,) = ranked({"bold": bold, "timid": timid, "but-one": but_one})
    found = {r.system: (r.score, r.ranks, r.severe_ranks) for r in ranking.ranked}
    assert found == {
        "bold": (pytest.approx(1 / 3), (1, 2), (3, 3)),
        "but-one": (pytest.approx(1 / 3), (1, 2), (1, 2)),
        "timid": (0, (3, 3), (1, 2)),
    }
    p = {frozenset(pair): d.p_holm for pair, d in ranking.severe_pairs.items()}
    assert p[frozenset({"timid", "but-one"})] == 1
    assert p[frozenset({"bold", "timid"})] == 3 * 2 / 256
    assert {d.name for d in ranking.severe_pairs.values()} == {"severe"}
    assert {d.name for d in ranking.pairs.values()} == {"score"}


def test_no_severe_error_to_make() -> None:
    """If a rubric has no item of -2, systems rank by score alone, and the other is unknown."""
    marks: dict[str, Marks] = {"a": {n: ["11"] for n in NAMES}, "b": {n: ["00"] for n in NAMES}}
    rows = [row for name, of in marks.items() for row in responses(of, system=name)]
    judged = [row for name, of in marks.items() for row in judgments(of, (2, 1), system=name)]
    (ranking,) = rankings_of(Runs.of(rows, judged))
    assert [(r.system, r.ranks, r.severe_ranks) for r in ranking.ranked] == [
        ("a", (1, 1), None),
        ("b", (2, 2), None),
    ]
    assert ranking.severe_pairs == {}


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
        (
            {**TOP, "dressing-0": ["1100?"]},
            {},
            "1 of 8 judgments of items of −2 are unresolved, more than 2%",
        ),
        (TOP, {"model": "gguf/smollm2"}, "an embedded model"),
    ],
)
def test_who_is_left_out(marks: Marks, columns: dict[str, Any], reason: str) -> None:
    """A run that is not whole, or not serious, is left out with a reason."""
    rows = [row for name in "ab" for row in responses(TOP, system=name)]
    judged = [row for name in "ab" for row in judgments(TOP, system=name)]
    runs = Runs.of(
        [*rows, *responses(marks, system="odd", **columns)],
        [*judged, *judgments(marks, system="odd")],
    )
    (ranking,) = rankings_of(runs)
    assert [r.system for r in ranking.ranked] == ["a", "b"]
    assert set(ranking.left_out) == {"odd"}
    assert ranking.left_out["odd"].startswith(reason)


def test_what_compares_is_ranked_apart() -> None:
    """Another bank, another grader, another N: each has a ranking of its own."""
    kinds: list[tuple[str, dict[str, str], str]] = [
        ("a", {}, "judge"),
        ("b", {"bank": "imported"}, "judge"),
        ("c", {"bank_version": "2-0"}, "judge"),
        ("d", {"protocol": "1-0"}, "judge"),
        ("e", {}, "other"),
        ("f", {"bank_version": "1-B"}, "judge"),
        ("g", {"bank_hash": "1111"}, "judge"),
    ]
    runs = Runs.of(
        [row for name, columns, _ in kinds for row in responses(TOP, system=name, **columns)],
        [row for name, _, who in kinds for row in judgments(TOP, system=name, grader=who)],
    )
    found = [{r.system for r in ranking.ranked} for ranking in rankings_of(runs)]
    assert found == [{"a", "f"}, {"b"}, {"c"}, {"d"}, {"e"}, {"g"}]


def test_lexical_grades_rank_nobody() -> None:
    """Judgments by the lexical grader are in no ranked table."""
    rows = [row for name in "ab" for row in responses(TOP, system=name)]
    lexical = "careeval/lexical (all items, prompt 0)"
    judged = [row for name in "ab" for row in judgments(TOP, system=name, grader=lexical)]
    (ranking,) = rankings_of(Runs.of(rows, judged))
    assert ranking.ranked == ()
    assert set(ranking.left_out) == {"a", "b"}


def test_a_system_that_was_not_judged_on_the_rubric() -> None:
    """Each rubric has a ranking of its own, of those who were judged on it."""
    rows = [row for name in "ab" for row in responses(TOP, system=name)]
    judged = [
        *judgments(TOP, system="a"),
        *judgments(TOP, system="a", rubric="actions"),
        *judgments(LOW, system="b", rubric="actions"),
    ]
    found = {
        r.basis.rubric: [e.system for e in r.ranked] for r in rankings_of(Runs.of(rows, judged))
    }
    assert found == {Rubric.actions: ["a", "b"], Rubric.ladder: ["a"]}


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
    """If the smallest p there is, times the pairs, is not below 5%, a note says so.

    Eight scenarios: 2 / 256, times 6 pairs is 4.7%, and times 10 is 7.8%.
    """
    (ranking,) = ranked({"low": LOW, **{f"top-{k}": TOP for k in range(3)}})
    assert ranking.notes == ()
    assert ranking.ranked[-1].ranks == (4, 4)
    (ranking,) = ranked({"low": LOW, **{f"top-{k}": TOP for k in range(4)}})
    assert ranking.notes[0].startswith("8 scenarios are too few to tell any of 10 pairs apart")
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
    """Of three pairs of which two cannot be compared, the p value of the third is times three."""
    rows = [row for name in "abc" for row in responses(TOP, system=name)]
    judged = [
        *judgments(TOP, system="a"),
        *judgments(LOW, system="b"),
        *judgments(LOW, (2, 2, 0, -1, -2), system="c"),
    ]
    pairs = rankings_of(Runs.of(rows, judged))[0].pairs
    assert pairs["a", "b"].p_holm == 3 * 2 / 256
    reason = "the maximum points of a scenario differ between the two runs"
    for pair in (("a", "c"), ("b", "c")):
        assert (pairs[pair].p_holm, pairs[pair].difference.reason) == (None, reason)


def test_ranks_are_those_of_the_verdicts() -> None:
    """If flips are below 5% and t is not, p is that of t: neither verdict nor rank tells apart.

    Of nine differences 5 1 1 1 1 1 0 0 0, all six signs are alike: 2 of 64 patterns. Their mean is
    10/9 and its error 0.512, so that t with 8 degrees, 2.306, reaches below 0.
    """
    names = [f"dressing-{k}" for k in range(9)]
    before: Marks = {**{n: ["00000"] for n in names}, names[0]: ["00001"]}
    after: Marks = {**before, **{n: ["01000"] for n in names[1:6]}, names[0]: ["11000"]}
    (ranking,) = ranked({"a": before, "b": after})
    (found,) = ranking.pairs.values()
    assert found.p_holm == pytest.approx(2 * t.sf(10 / 9 / 0.51220, 8), rel=1e-3)
    assert found.difference.ci95 is not None
    assert found.difference.ci95[0] <= 0 <= found.difference.ci95[1]
    assert found.verdict is Verdict.unclear
    assert {r.ranks for r in ranking.ranked} == {(1, 2)}


def test_unknown_versions_rank_nobody() -> None:
    """Runs that do not name the version of their bank are in a group of their own, and unranked."""
    rows = [row for name in "ab" for row in responses(TOP, system=name)]
    unknown = [row for n in "cd" for row in responses(TOP, system=n, bank_version=None)]
    judged = [row for name in "abcd" for row in judgments(TOP, system=name)]
    known, other = rankings_of(Runs.of(rows + unknown, judged))
    assert ({r.system for r in known.ranked}, known.left_out) == ({"a", "b"}, {})
    assert (other.basis.bank_n, other.ranked) == ("version unknown", ())
    reason = "version unknown: it does not name the version of the bank"
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


def test_systems_of_the_banks_makers_are_marked() -> None:
    """Whoever shares a vendor with the AI that wrote the bank has a dagger, and a note says why."""
    models = {"top": "anthropic/claude-opus-4-5", "low": "openai/gpt-5.1"}
    rows = [
        row
        for name, marks in (("top", TOP), ("low", LOW))
        for row in responses(marks, system=name, model=models[name], bank_makers=["anthropic"])
    ]
    judged = [
        row for name, marks in (("top", TOP), ("low", LOW)) for row in judgments(marks, system=name)
    ]
    runs = Runs.of(rows, judged)
    (ranking,) = rankings_of(runs)
    assert {r.system: r.bank_maker for r in ranking.ranked} == {"top": "anthropic", "low": None}
    assert ranking.notes[-1].startswith("† top: AI of the same vendor (anthropic) wrote this bank")
    assert list(rank_texts([ranking]).values()) == ["1† (severe 1–2)", "2 (severe 1–2)"]
    top = next(s for s in entries(runs) if s.system == "top")
    assert top.warnings[0].startswith("AI of the same vendor (anthropic) wrote this bank")


def ranked(systems: dict[str, Marks]) -> list[Ranking]:
    """The rankings of systems on the ladder."""
    return rankings_of(runs_of(systems))


def rankings_of(runs: Runs) -> list[Ranking]:
    """The rankings of these runs."""
    found = entries(runs)
    return rankings(found)
