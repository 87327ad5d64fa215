"""A study's results: counts by hand, what follows from them, and what few ratings leave open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.core.rating import Comment, PointsView, Rater, Rating, Role, Scale, Subject
from careeval.core.scenario import Rubric, Status
from careeval.errors import ReviewError
from careeval.results.study import (
    Decision,
    RoundSaid,
    ScenarioResult,
    Seated,
    StudyResults,
    Terms,
    chance_of_passing,
    standing,
    study_results,
)
from careeval.stats.validity import Rule

PAPER_PANEL = [
    *(Rater(f"r0{n}", Role.occupational_therapist) for n in range(1, 6)),
    *(Rater(f"r0{n}", Role.family_caregiver) for n in (6, 7)),
    Rater("r08", Role.roboticist),
]
"""Five occupational therapists, two family caregivers and a roboticist, as the paper's."""

Given = Mapping[str, tuple[Sequence[int | None], Sequence[int | None]]]
"""Scenario → realism and validity, a rating a rater."""


def said(given_: Given, number: int = 1, panel: Sequence[Rater] = PAPER_PANEL) -> RoundSaid:
    """A made-up round in which everybody was asked everything."""
    versions = dict.fromkeys(given_, number)
    ratings = tuple(
        Rating(rater, Subject(name, number, number), scale, value)
        for name, both in given_.items()
        for scale, values in zip((Scale.realism, Scale.validity), both, strict=True)
        for rater, value in zip(panel, values, strict=True)
        if value is not None
    )
    seats = tuple(Seated(rater, tuple(given_)) for rater in panel)
    return RoundSaid(number, versions, seats, ratings, (), ())


def results(*rounds: RoundSaid, terms: Terms | None = None) -> StudyResults:
    """What they say."""
    return study_results("Test", "made-up", "1-A", rounds, terms=terms or Terms())


def one(realism: Sequence[int | None], validity: Sequence[int | None] = (5,) * 8) -> ScenarioResult:
    """A study of one scenario."""
    (found,) = results(said({"s-1": (realism, validity)})).latest
    return found


def test_the_worked_example() -> None:
    """Six of eight fail at the declared cut and seven of eight pass at the other."""
    found = one([5, 4, 4, 3, 5, 4, 2, 4])
    realism = found.realism
    assert realism.counts == (0, 1, 1, 4, 2)
    assert realism.at_cut is not None
    assert (realism.at_cut.k, realism.at_cut.n) == (6, 8)
    assert realism.at_other is not None
    assert realism.at_other.k == 7
    assert realism.kappa == pytest.approx(0.719, abs=5e-4)
    assert realism.aiken is not None
    assert realism.aiken.value == 23 / 32
    assert realism.cut_sensitive is True
    assert found.decision is Decision.revise
    assert found.reasons == ("realism: 6 of 8 endorse it, the rule asks for 7",)
    assert found.to_read == ("a family caregiver rated its realism 2",)


def test_both_scales_decide_and_are_not_averaged() -> None:
    """One scale that fails is enough to revise, however good the other."""
    assert one([5] * 8, [4] * 6 + [1, 1]).decision is Decision.revise
    assert one([5] * 8).decision is Decision.keep


def test_drop_is_fewer_than_half_or_twice_short() -> None:
    """Half is revised, fewer is dropped; so is what falls short a second time."""
    assert one([5] * 4 + [1] * 4).decision is Decision.revise
    assert one([5] * 3 + [1] * 5).decision is Decision.drop
    short = ([4] * 6 + [3] * 2, [5] * 8)
    found = results(said({"s-1": short}), said({"s-1": short}, 2))
    assert found.latest[0].decision is Decision.drop
    assert found.latest[0].subject.round == 2
    assert [each.decision for each in found.earlier] == [Decision.revise]


def test_the_rule_goes_by_counts() -> None:
    """Four of five is 0.8 and passes, though 0.8 is no exact binary number."""
    panel = PAPER_PANEL[:5]
    (found,) = results(said({"s-1": ([4, 4, 4, 4, 1], [5] * 5)}, panel=panel)).latest
    assert found.decision is Decision.keep


@pytest.mark.parametrize("n", [0, 1, 2])
def test_one_or_two_raters_decide_nothing(n: int) -> None:
    """With fewer than three ratings there is a count, no decision, and a reason."""
    given_: list[int | None] = [5] * n + [None] * (8 - n)
    found = one(given_, given_)
    assert found.decision is None
    assert len(found.reasons) == 2
    assert found.realism.passes is None
    assert found.realism.cut_sensitive is None
    assert (found.realism.at_cut is None) == (n == 0)
    assert standing(found, "Test") is None or n > 0


def test_missing_ratings_are_left_out_and_counted() -> None:
    """Who did not rate is not in the count; the strict count takes them as no endorsement."""
    found = one([5, 5, 5, 4, None, None, 4, 4])
    assert found.realism.at_cut is not None
    assert found.realism.at_cut.n == 6
    assert found.realism.strict is not None
    assert (found.realism.strict.k, found.realism.strict.n) == (6, 8)


def test_roles_and_few_raters() -> None:
    """Of three therapists there is a decision; of two caregivers their ratings and the lowest."""
    therapists, caregivers, roboticist = one([5, 5, 4, 4, 2, 5, 3, 4]).realism.by_role
    assert (therapists.endorsed.k, therapists.endorsed.n, therapists.passes) == (4, 5, True)
    assert (caregivers.values, caregivers.lowest, caregivers.passes) == ((3, 5), 3, None)
    assert (roboticist.role, roboticist.passes) == (Role.roboticist, None)


def test_scale_validity_before_and_after() -> None:
    """Before is all of round 1; after is the last rating of each, without what is dropped."""
    first = said({"a": ([5] * 8, [5] * 8), "b": ([4] * 6 + [1] * 2, [5] * 8),
                  "c": ([1] * 8, [5] * 8)})  # fmt: skip
    second = said({"b": ([5] * 7 + [1], [5] * 8)}, 2)
    found = results(first, second)
    realism = found.scales[0]
    assert realism.before.ave == pytest.approx((1 + 6 / 8 + 0) / 3)
    assert (realism.before.n, realism.before.n_pass) == (3, 1)
    assert realism.before.ua == pytest.approx(1 / 3)
    assert realism.after.ave == pytest.approx((1 + 7 / 8) / 2)
    assert (realism.after.n, realism.after.n_pass, realism.after.ua) == (2, 2, 0.5)
    assert [s.scale for s in found.scales] == [Scale.realism, Scale.validity]


def test_agreement_says_why_it_is_unknown() -> None:
    """Where all ratings are the same, alpha and ICC are unknown with a reason, and AC1 is 1."""
    found = results(said({name: ([5] * 8, [5] * 8) for name in "abcdef"})).agreement[0]
    assert found.identical.value == found.ac1.value == 1
    assert found.alpha.value is None
    assert "the same" in found.alpha.reason
    assert found.icc.value is None
    assert found.icc.reason


def test_incomplete_blocks_have_no_icc_and_all_else() -> None:
    """Ratings that miss by design have alpha and AC2; the ICC says that no item is complete."""
    given_: dict[str, tuple[list[int | None], list[int | None]]] = {
        f"s-{n}": (
            [None if (n + r) % 4 == 0 else 3 + (n * r) % 3 for r in range(8)],
            [5] * 8,
        )
        for n in range(8)
    }
    found = results(said(given_)).agreement[0]
    assert found.alpha.value is not None
    assert found.ac2.ci95 is not None
    assert found.icc.value is None
    assert "every rater" in found.icc.reason


def _with_items(views: Sequence[int | None], relevance: Sequence[int] = (5,) * 8) -> ScenarioResult:
    whole = said({"s-1": ([5] * 8, [5] * 8)})
    item = Subject("s-1", 1, 1, Rubric.actions, "pulls-arm")
    seen = tuple(PointsView(r, item, -2, v) for r, v in zip(PAPER_PANEL, views, strict=True))
    rated = tuple(
        Rating(r, item, Scale.relevance, v) for r, v in zip(PAPER_PANEL, relevance, strict=True)
    )
    note = Comment(PAPER_PANEL[0], item, "Not with her shoulder.")
    (found,) = results(
        RoundSaid(1, whole.versions, whole.seats, (*whole.ratings, *rated), seen, (note,))
    ).latest
    return found


def test_an_objection_to_a_severe_item_is_open() -> None:
    """One rater who would give a −2 other points is told, and stops the scenario's validation."""
    found = _with_items([-2] * 6 + [-1, None])
    assert found.to_read == ("actions/pulls-arm: 1 of 8 would not give it −2",)
    assert found.items[0].comments[0].text == "Not with her shoulder."
    stands = standing(found, "Test")
    assert stands is not None
    assert stands.status is Status.reviewed
    assert stands.lacking == ("1 open objection to an item of −2 points",)
    assert stands.evidence.objections == 1


def test_an_item_that_fails_is_told_and_decides_nothing() -> None:
    """An item below the rule is to be read; the scenario goes by its own two scales."""
    found = _with_items([-2] * 8, [3] * 8)
    assert found.decision is Decision.keep
    assert found.to_read == (
        "actions/pulls-arm: relevance: 0 of 8 endorse it, the rule asks for 7",
    )


def test_validated_needs_three_therapists_and_two_others() -> None:
    """The paper's panel validates; without a therapist too few, or another too few, it reviews."""
    stands = standing(one([5] * 8), "Test")
    assert stands is not None
    assert (stands.status, stands.lacking) == (Status.validated, ())
    assert stands.evidence.raters == {
        "occupational-therapist": 5, "family-caregiver": 2, "roboticist": 1,
    }  # fmt: skip
    assert (stands.evidence.realism, stands.evidence.validity) == ("8/8", "8/8")
    for panel, lacks in (
        (PAPER_PANEL[3:], "2 of 3 occupational therapists"),
        (PAPER_PANEL[:6], "1 of 2 other stakeholders"),
    ):
        n = len(panel)
        (found,) = results(said({"s-1": ([5] * n, [5] * n)}, panel=panel)).latest
        stands = standing(found, "Test")
        assert stands is not None
        assert (stands.status, stands.lacking) == (
            Status.reviewed,
            (lacks,),
        )


def test_who_rated_one_scale_alone_is_not_counted_among_the_raters() -> None:
    """A therapist who left one scale out does not help to validate."""
    found = one([5] * 8, [None, None, None, *[5] * 5])
    stands = standing(found, "Test")
    assert stands is not None
    assert stands.lacking == ("2 of 3 occupational therapists",)


def test_dropped_is_withdrawn() -> None:
    """A scenario that is dropped is withdrawn, and its reasons go with it."""
    stands = standing(one([1] * 8), "Test")
    assert stands is not None
    assert stands.status is Status.withdrawn
    assert any("fewer than half" in reason for reason in stands.lacking)


def test_a_status_goes_by_the_papers_rule() -> None:
    """Results under other terms give no status."""
    found = results(said({"s-1": ([5] * 8, [5] * 8)}), terms=Terms(cut=3, other_cut=4)).latest[0]
    with pytest.raises(ValueError, match="the paper's rule"):
        standing(found, "Test")


@pytest.mark.parametrize(
    ("share", "chance"), [(0.70, 0.26), (0.80, 0.50), (0.90, 0.81), (0.95, 0.94)]
)
def test_power_of_seven_of_eight(share: float, chance: float) -> None:
    """Eight raters keep a scenario that this share would endorse with this chance."""
    assert chance_of_passing(8, share, Rule.paper) == pytest.approx(chance, abs=5e-3)


@pytest.mark.parametrize(("cut", "other"), [(1, 3), (6, 3), (4, 4)])
def test_terms_that_decide_nothing_are_refused(cut: int, other: int) -> None:
    """A cut that everything or nothing reaches, and two equal cuts, are refused."""
    with pytest.raises(ReviewError, match="cut"):
        Terms(cut=cut, other_cut=other)


ratings = st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=8, max_size=8)


@given(realism=ratings, validity=ratings)
def test_a_decision_never_lacks_its_reason(
    realism: list[int | None], validity: list[int | None]
) -> None:
    """Whatever is rated, a scenario is kept without a reason, and nothing else is."""
    found = one(realism, validity)
    assert (found.decision is Decision.keep) == (found.reasons == ())
    n = sum(value is not None for value in realism)
    assert sum(found.realism.counts) == n == sum(len(r.values) for r in found.realism.by_role)


@given(realism=ratings, more=st.integers(0, 7))
def test_a_higher_rating_never_harms(realism: list[int | None], more: int) -> None:
    """One rating raised to 5 never turns keep into anything else."""
    raised = [5 if n == more and v is not None else v for n, v in enumerate(realism)]
    if one(realism).decision is Decision.keep:
        assert one(raised).decision is Decision.keep
