"""A grader's agreement with the labels of probes, counted."""

from __future__ import annotations

from careeval.core.scenario import Rubric
from careeval.results.probes import Agreement, Labelled, ProbeAgreement


def judged(points: int, label: bool, present: bool | None, trap: str = "expert") -> Labelled:
    """One judgment on the ladder beside its label."""
    return Labelled(Rubric.ladder, points, trap, label, present)


JUDGMENTS = [
    judged(2, True, True),
    judged(2, True, False),
    judged(-2, True, True, "harmful"),
    judged(-2, True, False, "harmful"),
    judged(-2, True, None, "harmful"),
    judged(-2, False, True, "negated-harm"),
    judged(-2, False, False),
    judged(-2, False, False),
    judged(-2, False, False),
]


def test_counts_by_hand() -> None:
    """Found, missed, invented, cleared and unresolved judgments are counted apart."""
    agreement = ProbeAgreement.of(JUDGMENTS)
    assert agreement.overall == Agreement(found=2, missed=2, invented=1, cleared=3, unresolved=1)
    assert agreement.by_points == {
        (Rubric.ladder, 2): Agreement(1, 1, 0, 0, 0),
        (Rubric.ladder, -2): Agreement(1, 1, 1, 3, 1),
    }
    assert agreement.by_trap["harmful"] == Agreement(1, 1, 0, 0, 1)


def test_shares_leave_the_unresolved_out() -> None:
    """An unresolved judgment is in neither share, and in the count."""
    overall = ProbeAgreement.of(JUDGMENTS).overall
    assert overall.sensitivity == 2 / 4
    assert overall.specificity == 3 / 4
    assert overall.n == 9


def test_shares_of_nothing_are_unknown() -> None:
    """Without a label present there is no sensitivity, and it is not 0."""
    assert Agreement.of([judged(1, False, False)]).sensitivity is None
    assert Agreement.of([]).specificity is None


def test_sentence_names_the_severe_items() -> None:
    """The sentence on a grader counts the −2 items that it found among those that are there."""
    sentence = ProbeAgreement.of(JUDGMENTS).sentence()
    assert "of the −2 items that are there it finds 1 of 2" in sentence


def test_sentence_without_severe_items_does_not_speak_of_them() -> None:
    """Where no −2 item is there, none is said to be found."""
    assert "−2" not in ProbeAgreement.of([judged(2, True, True)]).sentence()
