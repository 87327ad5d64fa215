"""A study's results: counts by hand, what follows from them, and what few ratings leave open."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.bank.evidence_changes import ProposedStatus
from careeval.core.rating import Comment, PointsView, Rater, Rating, Role, Scale, Subject
from careeval.core.scenario import Rubric, Scenario, Split, Status
from careeval.errors import ReviewError
from careeval.people.study.decisions import Decision, DecisionTerms, ScenarioResult
from careeval.people.study.documents import pace_notes, ratings_sheet, role_json, study_json
from careeval.people.study.results import (
    StudyResults,
    Years,
    chance_of_passing,
    status_changes,
    study_results,
)
from careeval.people.study.rounds import (
    ProposedItem,
    RoundAnswers,
    RoundRater,
    without_held_out_words,
    words_shown,
)
from careeval.results.held_out_words import WITHHELD
from careeval.stats.validity import Endorsement, EndorsementRule
from support.strategies import scenarios

PAPER_PANEL = [
    *(Rater(f"r0{n}", Role.occupational_therapist) for n in range(1, 6)),
    *(Rater(f"r0{n}", Role.family_caregiver) for n in (6, 7)),
    Rater("r08", Role.roboticist),
]
"""Five occupational therapists, two family caregivers and a roboticist, as the paper's."""

Given = Mapping[str, tuple[Sequence[int | None], Sequence[int | None]]]
"""Scenario → realism and validity, a rating a rater."""


def said(given_: Given, number: int = 1, panel: Sequence[Rater] = PAPER_PANEL) -> RoundAnswers:
    """A made-up round in which everybody was asked everything; no scenario has an item of −2."""
    versions = dict.fromkeys(given_, number)
    ratings = tuple(
        Rating(rater, Subject(name, number, number), scale, value)
        for name, both in given_.items()
        for scale, values in zip((Scale.realism, Scale.validity), both, strict=True)
        for rater, value in zip(panel, values, strict=True)
        if value is not None
    )
    seats = tuple(RoundRater(rater, tuple(given_)) for rater in panel)
    return RoundAnswers(
        number,
        versions,
        seats,
        ratings,
        (),
        (),
        hashes={name: f"hash of {name}" for name in given_},
        items={name: {} for name in given_},
    )


def results(*rounds: RoundAnswers, terms: DecisionTerms | None = None) -> StudyResults:
    """Return the results of these rounds."""
    return study_results("Test", "aaaa", "made-up", "1-A", rounds, terms=terms or DecisionTerms())


def status_of(found: StudyResults) -> ProposedStatus:
    """Return the status that a study of one scenario gives it."""
    (stands,) = status_changes(found)
    return stands


def one(realism: Sequence[int | None], validity: Sequence[int | None] = (5,) * 8) -> ScenarioResult:
    """The one scenario of a study."""
    (found,) = study_of_one(realism, validity).latest
    return found


def study_of_one(
    realism: Sequence[int | None],
    validity: Sequence[int | None] = (5,) * 8,
    panel: Sequence[Rater] = PAPER_PANEL,
) -> StudyResults:
    """A study of one scenario."""
    return results(said({"s-1": (realism, validity)}, panel=panel))


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
    assert found.reasons == ("realism: 6 of 8 gave 4 or 5, where 7 were needed",)
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
    study = study_of_one(given_, given_)
    (found,) = study.latest
    assert found.decision is None
    assert len(found.reasons) == 2
    assert found.realism.passes is None
    assert found.realism.cut_sensitive is None
    assert (found.realism.at_cut is None) == (n == 0)
    assert len(status_changes(study)) == (n > 0)


def test_three_raters_have_kappa_and_v() -> None:
    """The third rating brings modified kappa, .47 where two of three endorse, and Aiken's V."""
    found = one([5, 4, 1, *[None] * 5]).realism
    assert found.kappa == pytest.approx((2 / 3 - 3 / 8) / (5 / 8))
    assert found.aiken is not None
    assert found.aiken.value == 7 / 12


def test_missing_ratings_are_left_out_and_counted() -> None:
    """Raters who did not rate are left out; the strict count takes them as no endorsement."""
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
    """If all ratings are the same, alpha and ICC are unknown with a reason, and AC1 is 1."""
    found = results(said({name: ([5] * 8, [5] * 8) for name in "abcdef"})).agreement[0]
    assert found.identical.value == found.ac1.value == 1
    assert found.ac1.ci95 is None
    assert "no variation" in found.ac1.reason
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
    assert found.n_complete == 0


def test_the_icc_says_what_it_rests_on() -> None:
    """One rater who rated four of six scenarios leaves it unknown, five leave it over five."""
    for n_rated in (4, 5):
        given_: dict[str, tuple[list[int | None], list[int | None]]] = {}
        for n in range(6):
            last = 4 if n < n_rated else None
            given_[f"s-{n}"] = ([*(2 + (n + r // 3) % 4 for r in range(7)), last], [5] * 8)
        found = results(said(given_)).agreement[0]
        assert (found.n_subjects, found.n_complete) == (6, n_rated)
        assert (found.icc.value is None) == (n_rated < 5)
        assert n_rated == 5 or found.icc.reason == (
            "only 4 scenarios have anything that every rater rated; at least 5 are needed"
        )


# Who was invited, and who rated


def test_who_was_invited_is_not_who_rated() -> None:
    """Of eight seats with one who rated, one rated; a second round makes nobody twice."""
    alone = ([5, *[None] * 7], [5, *[None] * 7])
    found = results(said({"s-1": alone}), said({"s-1": alone}, 2))
    assert (found.n_invited, found.n_rated) == (8, 1)
    therapists, caregivers, roboticist = found.panel
    assert (therapists.n_invited, therapists.n_rated, therapists.n_ratings) == (5, 1, 4)
    assert (caregivers.n_invited, caregivers.n_rated) == (2, 0)
    assert roboticist.role is Role.roboticist


def test_years_are_of_three_who_rated_and_said() -> None:
    """Of three therapists who rated and said there is a mean alone, of two caregivers nothing."""
    whole = said({"s-1": ([5, 5, 5, 5, None, 5, 5, 5], [5, 5, 5, 5, None, 5, 5, 5])})
    years = [2, 10, 30, None, 50, 3, 4, 5]
    seats = tuple(
        replace(s, years=y, agreed=y != 2) for s, y in zip(whole.seats, years, strict=True)
    )
    therapists, caregivers, roboticist = results(replace(whole, seats=seats)).panel
    assert therapists.years == Years(3, 14)
    assert (therapists.n_rated, therapists.n_agreed) == (4, 3)
    for few in (caregivers, roboticist):
        assert few.years is None
        assert "fewer than three" in few.why_no_years


@pytest.mark.parametrize("n", range(1, 9))
def test_a_range_of_years_needs_five(n: int) -> None:
    """The fewest and the most years are told of five people or more, the mean of three."""
    panel = [Rater(f"r0{k}", Role.other) for k in range(n)]
    whole = said({"s-1": ([5] * n, [5] * n)}, panel=panel)
    seats = tuple(replace(seat, years=k) for k, seat in enumerate(whole.seats))
    found = results(replace(whole, seats=seats))
    years = found.panel[0].years
    assert (years is not None) == (n >= 3)
    assert (years is not None and years.low is not None) == (n >= 5)
    row = role_json(found.panel[0])["years"]
    assert (row.get("low"), row.get("high")) == ((0, n - 1) if n >= 5 else (None, None))
    assert ("reason" in row) == (n < 5)


# Words


def test_words_stand_with_what_was_said_of_them() -> None:
    """A scenario and an item carry the text that raters read; without it they carry none."""
    whole = said({"s-1": ([5] * 8, [5] * 8)})
    item = Subject("s-1", 1, 1, Rubric.actions, "pulls-arm")
    words = {item: "Pulls her arm through.", Subject("s-1", 1, 1): "She is tired."}
    note = Comment(PAPER_PANEL[0], item, "Which arm?")
    for given_, texts in ((words, ("She is tired.", "Pulls her arm through.")), ({}, ("", ""))):
        (found,) = results(replace(whole, comments=(note,), words=given_)).latest
        assert (found.text, found.items[0].text) == texts


@given(scenario=scenarios())
def test_a_held_out_scenario_keeps_its_words(scenario: Scenario) -> None:
    """Of a public scenario the text and every item can be shown; of a held-out one nothing."""
    public = scenario.model_copy(update={"split": Split.public})
    words = words_shown(public, 2)
    assert words[Subject(public.id, public.version, 2)] == public.text
    assert len(words) == 1 + len(public.ladder or ()) + len(public.actions or ())
    assert words_shown(public.model_copy(update={"split": Split.held_out}), 2) == {}


@given(scenarios())
def test_held_out_items_are_called_by_their_places(scenario: Scenario) -> None:
    """No comment on a held-out scenario and no id of an item is left, and no number changes."""
    secret = scenario.model_copy(update={"split": Split.held_out})
    whole = said({secret.id: ([5] * 8, [5] * 8)})
    items = [Subject(secret.id, 1, 1, r, i.id) for r in Rubric for i in secret.rubric(r)]
    rater = PAPER_PANEL[0]
    views = tuple(PointsView(rater, item, 1, 0) for item in items)
    comments = (Comment(rater, whole.subject(secret.id), "tells"),
                *(Comment(rater, item, "tells") for item in items))  # fmt: skip
    proposed = {secret.id: dict.fromkeys(items[:2], ProposedItem(-2))}
    whole = replace(whole, views=views, comments=comments, items=proposed)
    found = without_held_out_words(whole, {secret.id: secret}, {secret.id})
    assert found.held_out == {secret.id}
    assert found.ratings == whole.ratings
    assert {c.text for c in found.comments} == {WITHHELD}
    assert all(re.fullmatch(r"[ar][1-9][0-9]*|[+-]?[0-9]", v.subject.item) for v in found.views)
    called = [v.subject for v in found.views]
    assert len(set(called)) == len(items)
    assert [c.subject for c in found.comments[1:]] == called
    assert [*found.items[secret.id]] == called[:2]
    public = scenario.model_copy(update={"split": Split.public})
    assert without_held_out_words(whole, {secret.id: public}, ()) == whole


def test_a_lost_text_is_public_only_where_a_bank_says_so() -> None:
    """Comments on a scenario in no bank are withheld; one whose id is public keeps them."""
    whole = said({"s-1": ([5] * 8, [5] * 8)})
    comment = Comment(PAPER_PANEL[0], whole.subject("s-1"), "tells")
    whole = replace(whole, comments=(comment,))
    assert without_held_out_words(whole, {"s-1": None}, {"s-1"}) == whole
    found = without_held_out_words(whole, {"s-1": None}, ())
    assert [c.text for c in found.comments] == [WITHHELD]


@pytest.mark.parametrize(
    ("cut", "says"), [(5, "5"), (4, "4 or 5"), (3, "3, 4 or 5"), (2, "2, 3, 4 or 5")]
)
def test_the_ratings_that_endorse_in_words(cut: int, says: str) -> None:
    """A cut is told as the numbers from it to 5."""
    assert DecisionTerms(cut=cut, other_cut=3 if cut != 3 else 4).endorsing == says


SEVERE = Subject("s-1", 1, 1, Rubric.actions, "pulls-arm")


def _with_items(
    views: Sequence[int | None],
    relevance: Sequence[int] = (5,) * 8,
    items: Sequence[Subject] | None = (SEVERE,),
    panel: Sequence[Rater] = PAPER_PANEL,
    *,
    rated_by: Sequence[Rater] = PAPER_PANEL,
    proposed: Mapping[str, Mapping[Subject, ProposedItem]] | None = None,
    realism: Sequence[int | None] = (5,) * 8,
) -> StudyResults:
    """A study of one scenario, with what raters think of the points of its item of −2."""
    whole = said({"s-1": (realism, [5] * 8)})
    seen = tuple(PointsView(r, SEVERE, -2, v) for r, v in zip(panel, views, strict=True))
    rated = tuple(
        Rating(r, SEVERE, Scale.relevance, v) for r, v in zip(rated_by, relevance, strict=True)
    )
    note = Comment(PAPER_PANEL[0], SEVERE, "Not with her shoulder.")
    return results(
        replace(
            whole,
            ratings=(*whole.ratings, *rated),
            views=seen,
            comments=(note,),
            items=proposed
            or ({} if items is None else {"s-1": dict.fromkeys(items, ProposedItem(-2))}),
        )
    )


def test_an_objection_to_a_severe_item_is_open() -> None:
    """One rater who would give a −2 other points is told, and stops the scenario's validation."""
    study = _with_items([-2] * 6 + [-1, None])
    (found,) = study.latest
    assert found.to_read == ("actions/pulls-arm: 1 of 8 would not give it −2",)
    assert found.items[0].comments[0].text == "Not with her shoulder."
    stands = status_of(study)
    assert stands.status is Status.reviewed
    assert stands.lacking == ("1 open objection to an item of −2 points",)
    assert stands.evidence.objections == 1


UNASKED = "too few gave a view of the points of its −2 items"


@pytest.mark.parametrize(
    "study",
    [
        # the points of one item of −2, or of none, were asked
        _with_items([-2] * 8, items=None),
        # they were, and nobody said, or one therapist less or one other less than validation needs
        _with_items([], panel=[]),
        _with_items([-2] * 5, panel=PAPER_PANEL[3:]),
        _with_items([-2] * 6, panel=PAPER_PANEL[:6]),
        # of one item they said, of the other not
        _with_items([-2] * 8, items=[SEVERE, replace(SEVERE, item="shouts")]),
    ],
    ids=["unasked", "unsaid", "two therapists", "one other", "one item"],
)
def test_objections_that_nobody_was_asked_for_are_unknown(study: StudyResults) -> None:
    """Without enough who said what each −2 deserves, objections are null and nothing validates."""
    stands = status_of(study)
    assert stands.evidence.objections is None
    assert stands.status is Status.reviewed
    lacking = stands.lacking[0]
    assert lacking.startswith(UNASKED)
    assert "--points --rubric both" in lacking


RIGHTS = {"s-1": {SEVERE: ProposedItem(-2, rights=True)}}
RECEIVES = Rater("r09", Role.person_with_disability)


@pytest.mark.parametrize(
    ("relevance", "rejections"),
    [
        # eight: .78 asks for seven (.88), since 6/8 = .75
        ([5, 5, 4, 4, 4, 4, 4, 1], ()),
        ([5, 5, 4, 4, 4, 4, 3, 1], ("relevance: 6 of 8, where 7 were needed",)),
        # five: 4/5 less chance is .76, 3/5 is .42
        ([5, 5, 4, 4, 1], ()),
        ([5, 5, 4, 3, 1], ("relevance: 3 of 5, a modified kappa of 0.42, under 0.74",)),
        # three: all must
        ([5, 5, 4], ()),
        ([5, 5, 3], ("relevance: 2 of 3, a modified kappa of 0.47, under 0.74",)),
        # fewer than three decide nothing
        ([1, 1], ()),
    ],
)
def test_an_item_that_is_not_relevant_is_rejected(
    relevance: Sequence[int], rejections: tuple[str, ...]
) -> None:
    """An item is held to .78 where six or more rated it, and to a modified kappa of .74 below."""
    panel = PAPER_PANEL[: len(relevance)]
    (found,) = _with_items([-2] * 8, relevance, rated_by=panel).latest
    assert found.items[0].rejections == rejections


def test_an_item_whose_sign_most_would_turn_is_rejected() -> None:
    """Five of eight who would give a −2 good points reject it; four are not most."""
    (found,) = _with_items([1, 1, 2, 2, 1, -2, None, -2]).latest
    assert found.items[0].rejections == ("5 of 8 would turn its sign",)
    (found,) = _with_items([1, 1, 2, 2, 0, -1, None, -2]).latest
    assert found.items[0].rejections == ()


def test_those_who_receive_care_have_a_say_on_their_rights() -> None:
    """An item against their rights that most of them reject is rejected, whatever others find."""
    panel = [*PAPER_PANEL[:7], RECEIVES]
    study = _with_items([-2] * 7 + [0], panel=panel, rated_by=panel, proposed=RIGHTS)
    assert study.latest[0].items[0].rejections == ("1 of 1 who receive care reject it",)
    assert status_of(study).evidence.rejected == ("actions/pulls-arm",)
    assert "raters reject 1 item: actions/pulls-arm" in status_of(study).lacking
    injury = _with_items([-2] * 7 + [0], panel=panel, rated_by=panel)
    assert injury.latest[0].items[0].rejections == ()


def test_items_that_too_few_rated_are_unknown() -> None:
    """With an item that two rated, rejected items are null, and nothing is validated."""
    stands = status_of(_with_items([-2] * 8, (5, 5), rated_by=PAPER_PANEL[:2]))
    assert (stands.status, stands.evidence.rejected) == (Status.reviewed, None)
    assert "fewer than three rated the relevance of some item" in stands.lacking[0]


def test_who_left_out_a_scale_still_judges_items() -> None:
    """A rater without a rating of realism is no rater of both scales, and counts for the −2."""
    study = _with_items([-2] * 8, realism=[5, 5, 5, 5, None, 5, 5, 5])
    least = status_of(study)
    assert least.evidence.objections == 0


def test_the_least_panel_that_said_is_enough() -> None:
    """Three therapists and two others who leave a −2 as it is validate; the others need not say."""
    least = [*PAPER_PANEL[:3], *PAPER_PANEL[5:7]]
    stands = status_of(_with_items([-2, -2, None, -2, -2], panel=least))
    assert (stands.status, stands.evidence.objections) == (Status.validated, 0)


def test_an_objection_of_a_panel_too_small_is_not_lost() -> None:
    """If too few were asked, what one of them objects to is among the reasons."""
    stands = status_of(_with_items([-1], panel=PAPER_PANEL[:1]))
    assert stands.evidence.objections is None
    assert stands.lacking[1] == "1 of those who were asked object to an item of −2 points"


def test_an_item_that_fails_is_told_and_decides_nothing() -> None:
    """An item below the rule is to be read; the scenario goes by its own two scales."""
    (found,) = _with_items([-2] * 8, [3] * 8).latest
    assert found.decision is Decision.keep
    assert found.to_read == (
        "actions/pulls-arm: relevance: 0 of 8 gave 4 or 5, where 7 were needed",
    )


def test_validated_needs_three_therapists_and_two_others() -> None:
    """The paper's panel validates; without a therapist too few, or another too few, it reviews."""
    stands = status_of(study_of_one([5] * 8))
    assert (stands.status, stands.lacking) == (Status.validated, ())
    assert (stands.hash, stands.evidence.objections) == ("hash of s-1", 0)
    assert stands.evidence.raters == {
        "occupational-therapist": 5, "family-caregiver": 2, "roboticist": 1,
    }  # fmt: skip
    assert (stands.evidence.realism, stands.evidence.validity) == ("8/8", "8/8")
    for panel, lacks in (
        (PAPER_PANEL[3:], "2 of 3 occupational therapists"),
        (PAPER_PANEL[:6], "1 of 2 other stakeholders"),
    ):
        n = len(panel)
        stands = status_of(study_of_one([5] * n, [5] * n, panel))
        assert (stands.status, stands.lacking[0]) == (Status.reviewed, lacks)


def test_evidence_says_which_study_it_is_of() -> None:
    """Two studies of one title give evidence that differs in the study's id alone."""
    of_both = [
        status_of(study_results("Test", name, "b", "1-A", [said({"s-1": ([5] * 8, [5] * 8)})]))
        for name in ("aaaa", "bbbb")
    ]
    first, second = (each.evidence for each in of_both)
    assert (first.study_id, second.study_id) == ("aaaa", "bbbb")
    assert first.model_copy(update={"study_id": "bbbb"}) == second


def test_who_rated_one_scale_alone_is_not_counted_among_the_raters() -> None:
    """A therapist who left one scale out does not help to validate."""
    stands = status_of(study_of_one([5] * 8, [None, None, None, *[5] * 5]))
    assert stands.lacking == ("2 of 3 occupational therapists",)


def test_dropped_is_withdrawn() -> None:
    """A scenario that is dropped is withdrawn, and its reasons go with it."""
    stands = status_of(study_of_one([1] * 8))
    assert stands.status is Status.withdrawn
    assert any("fewer than half" in reason for reason in stands.lacking)


@pytest.mark.parametrize(
    ("panel", "lacks"),
    [
        (PAPER_PANEL[5:], "0 of 3 occupational therapists"),
        (PAPER_PANEL[:6], "1 of 2 other stakeholders"),
    ],
)
def test_nobody_is_withdrawn_by_a_panel_that_could_not_validate(
    panel: Sequence[Rater], lacks: str
) -> None:
    """A scenario dropped by too small a panel is `reviewed`, with the reason."""
    n = len(panel)
    study = study_of_one([1] * n, [5] * n, panel)
    assert study.latest[0].decision is Decision.drop
    stands = status_of(study)
    assert stands.status is Status.reviewed
    assert any("fewer than half" in reason for reason in stands.lacking)
    assert stands.lacking[-1] == f"too few to withdraw it: {lacks}"


def test_a_status_goes_by_the_papers_rule() -> None:
    """Results under other terms give no status."""
    found = results(said({"s-1": ([5] * 8, [5] * 8)}), terms=DecisionTerms(cut=3, other_cut=4))
    with pytest.raises(ValueError, match="the paper's rule"):
        status_changes(found)


@pytest.mark.parametrize(
    ("share", "chance"), [(0.70, 0.26), (0.80, 0.50), (0.90, 0.81), (0.95, 0.94)]
)
def test_power_of_seven_of_eight(share: float, chance: float) -> None:
    """Eight raters pass a scale that this share would endorse with this chance."""
    assert chance_of_passing(8, share, EndorsementRule.paper) == pytest.approx(chance, abs=5e-3)


@pytest.mark.parametrize(("cut", "other"), [(1, 3), (6, 3), (4, 4)])
def test_terms_that_decide_nothing_are_refused(cut: int, other: int) -> None:
    """A cut that everything or nothing reaches, and two equal cuts, are refused."""
    with pytest.raises(ReviewError, match="cut"):
        DecisionTerms(cut=cut, other_cut=other)


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


def test_ratings_too_fast_to_read_can_be_left_out() -> None:
    """Without r01's three fast ratings of 5, realism falls short; comments and slow ones stay."""
    round_ = said({"bathing-001": ([5, 5, 5, 5, 5, 5, 2, 2], [5] * 8)})
    comment = Comment(PAPER_PANEL[0], Subject("bathing-001", 1, 1), "Well.")
    seats = tuple(
        replace(
            seat,
            too_fast=frozenset(["bathing-001"] if seat.rater.id in ("r01", "r02", "r03") else []),
            untimed=frozenset(["bathing-001"] if seat.rater.id == "r04" else []),
        )
        for seat in round_.seats
    )
    round_ = replace(round_, seats=seats, comments=(comment,))
    terms = DecisionTerms(EndorsementRule.lynn)
    whole = study_results("", "aaaa", "made-up", "1-A", [round_], terms=terms)
    without = study_results("", "aaaa", "made-up", "1-A", [round_], terms=terms, without_fast=True)
    endorsed = [study.latest[0].realism.at_cut for study in (whole, without)]
    assert endorsed == [Endorsement(6, 8), Endorsement(3, 5)]
    assert without.latest[0].realism.strict == Endorsement(3, 8)
    assert without.latest[0].comments == (comment,)
    assert (without.n_too_fast, without.n_untimed, without.n_rated) == (3, 1, 5)
    too_fast = {row["rater"]: row["too_fast"] for row in ratings_sheet(whole).rows}
    assert (too_fast["r01"], too_fast["r04"], too_fast["r05"]) == (True, None, False)
    fast = (
        "3 scenarios were rated faster than 500 words a minute (r01 1 of 1, r02 1 of 1, r03 1 of 1)"
    )
    unknown = "1 scenario was rated in an unknown time; these ratings count."
    assert [*pace_notes(whole)] == [f"{fast}: these ratings count.", unknown]
    assert [*pace_notes(without)] == [f"{fast}: these ratings are left out.", unknown]
    assert study_json(without)["too_fast"]["left_out"]
