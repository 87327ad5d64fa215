"""The questions that a further round asks again, and the changes that it shows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from careeval.bank import Bank
from careeval.core.rating import Scale
from careeval.core.scenario import Scenario, Split
from careeval.people.store import Answer, Work
from careeval.people.study.plan import StudyPlan, next_round
from careeval.people.study.questions import LACKING, ScenarioQuestions
from careeval.people.study.rounds import parse_ratings

NAME = "dressing-001"
RATER = "r01"


def _next(bank: Bank, plan: StudyPlan, **changes: Any) -> tuple[StudyPlan, Scenario]:
    """Return a second round over one revised scenario, and the scenario."""
    revised = bank.scenario(NAME).model_copy(update={"version": 2, **changes})
    scenarios = tuple(revised if s.id == NAME else s for s in bank.scenarios)
    raters = [seat.rater for seat in plan.seats]
    second = next_round([plan], replace(bank, scenarios=scenarios), [NAME], raters)
    return StudyPlan.read(second.json_text()), revised


def _rated(plan: StudyPlan, scenario: Scenario) -> Work:
    """Return what a rater stored who gave 4 to all, agreed, and wrote a comment."""
    given = {
        q.field: "agree" if q.kind == "points" else "4" if q.options else "Well."
        for q in ScenarioQuestions(plan, scenario, RATER).asked
    } | {"information": LACKING}
    return {plan.task(NAME): {name: Answer(v, n, "") for n, (name, v) in enumerate(given.items())}}


def _with_rung(scenario: Scenario, item: str, **changes: Any) -> dict[str, Any]:
    rungs = (r.model_copy(update=changes) if r.id == item else r for r in scenario.ladder)
    return {"ladder": tuple(rungs)}


def test_a_changed_item_alone_is_asked_again(bank: Bank, plan: StudyPlan) -> None:
    """With it validity, since the items are part of the test; all else stands, and is told."""
    first = bank.scenario(NAME)
    second, revised = _next(bank, plan, **_with_rung(first, "+1", text="Asks first, and waits."))
    work = _rated(plan, first)
    asking = ScenarioQuestions(second, revised, RATER, work)
    asked = asking.asked
    assert {q.field for q in asked if q.options} == {
        "validity", "ladder/+1/relevance", "ladder/+1/points"
    }  # fmt: skip
    assert {q.field for q in asked if not q.options} == {
        "comment", "ladder/+1/comment", "missing", "country"
    }  # fmt: skip
    shown = asking.revision_shown
    assert len(shown["stands"]) == 2 + 3 + 4  # type: ignore[arg-type]
    words = asking.earlier_words
    assert words["validity"] == "“4, valid: tests what matters”"
    change = asking.revision
    assert change is not None
    assert (change.text, change.added, change.removed) == ((), frozenset(), ())
    assert list(change.items) == ["ladder/+1"]


def test_what_stands_counts_for_who_rates_again(bank: Bank, plan: StudyPlan) -> None:
    """Answers of round 1 that were not asked for again are ratings of round 2, comments are not.

    Who opened nothing of round 2 has rated nothing there.
    """
    first = bank.scenario(NAME)
    second, revised = _next(bank, plan, **_with_rung(first, "+1", text="Asks first, and waits."))
    work, scenarios = dict(_rated(plan, first)), {NAME: revised}
    nothing = parse_ratings(second, scenarios, {RATER: work})
    assert (nothing.ratings, nothing.views, nothing.comments) == ((), (), ())
    work[second.task(NAME)] = {
        name: Answer(value, n, "")
        for n, (name, value) in enumerate({"validity": "2", "ladder/+1/relevance": "5"}.items())
    }
    again = parse_ratings(second, scenarios, {RATER: work})
    values = {(r.scale, r.subject.item): r.value for r in again.ratings}
    assert values == {
        (Scale.realism, ""): 4,
        (Scale.validity, ""): 2,
        (Scale.relevance, "+1"): 5,
        **{(Scale.relevance, item): 4 for item in ("+2", "-1", "-2")},
    }
    assert {v.subject.item for v in again.views} == {"+2", "0", "-1", "-2"}
    assert [each.enough for each in again.sufficiency] == [False]
    assert again.comments == ()
    assert {r.subject.round for r in again.ratings} == {2}


def test_another_text_is_asked_again_whole(bank: Bank, plan: StudyPlan) -> None:
    """A fact of the text may change what is right: nothing stands, and the words are marked."""
    first = bank.scenario(NAME)
    second, revised = _next(bank, plan, text=f"{first.text} She is tired today.")
    asking = ScenarioQuestions(second, revised, RATER, _rated(plan, first))
    assert asking.asked == ScenarioQuestions(second, revised, RATER).asked
    change = asking.revision
    assert change is not None
    assert [part.text for part in change.text if part.change == "added"] == ["She is tired today."]
    assert asking.earlier_words["information"].startswith("“No:")


def test_earlier_words_are_those_chosen_then(bank: Bank, plan: StudyPlan) -> None:
    """Earlier answers are shown in the words of then, as −1 where now −2 is proposed."""
    first = bank.scenario(NAME)
    second, revised = _next(bank, plan, **_with_rung(first, "-1", points=1))
    asking = ScenarioQuestions(second, revised, RATER, _rated(plan, first))
    words = asking.earlier_words
    assert words["ladder/-1/points"] == "“−1 is right”"
    assert words["ladder/-1/relevance"].startswith("“4, discomfort")
    assert "ladder/-1/points" in {q.field for q in asking.asked}


def test_new_and_removed_items(bank: Bank, plan: StudyPlan) -> None:
    """A new item is asked about, one that is gone is named."""
    first = bank.scenario(NAME)
    gone, *rest = first.ladder
    new = gone.model_copy(update={"id": "new", "text": "Waits."})
    second, revised = _next(bank, plan, ladder=(*rest, new))
    asking = ScenarioQuestions(second, revised, RATER, _rated(plan, first))
    asked = {q.field for q in asking.asked if q.options}
    assert asked == {"validity", "ladder/new/relevance", "ladder/new/points"}
    change = asking.revision
    assert change is not None
    assert (change.added, change.removed) == ({"ladder/new"}, (gone.text,))


def test_what_was_left_out_is_asked(bank: Bank, plan: StudyPlan) -> None:
    """A question without an earlier answer is asked again; a new rater is asked all."""
    first = bank.scenario(NAME)
    second, revised = _next(bank, plan, **_with_rung(first, "+1", text="Asks first, and waits."))
    ((task, answers),) = _rated(plan, first).items()
    partly = {task: {name: a for name, a in answers.items() if name != "ladder/-2/points"}}
    asking = ScenarioQuestions(second, revised, RATER, partly)
    assert "ladder/-2/points" in {q.field for q in asking.asked}
    assert ScenarioQuestions(second, revised, RATER).earlier == {}


def test_a_third_round_knows_both(bank: Bank, plan: StudyPlan) -> None:
    """An answer of round 1 stands in round 3 too; the newest of two is shown."""
    first = bank.scenario(NAME)
    second, revised = _next(bank, plan, **_with_rung(first, "+1", text="Asks first, and waits."))
    work = dict(_rated(plan, first)) | {second.task(NAME): {"validity": Answer("2", 1, "")}}
    third_version = revised.model_copy(
        update={"version": 3, **_with_rung(revised, "+1", text="Asks, and waits.")}
    )
    scenarios = tuple(third_version if s.id == NAME else s for s in bank.scenarios)
    raters = [seat.rater for seat in plan.seats]
    third = next_round([plan, second], replace(bank, scenarios=scenarios), [NAME], raters)
    asking = ScenarioQuestions(third, third_version, RATER, work)
    assert asking.earlier["validity"].value == "2"
    asked = {q.field for q in asking.asked if q.options}
    assert asked == {"validity", "ladder/+1/relevance", "ladder/+1/points"}


def test_only_what_was_read_can_stand(bank: Bank, plan: StudyPlan) -> None:
    """A rater who passed over a round or an item has no answer that could hold."""
    first = bank.scenario(NAME)
    second, revised = _next(bank, plan, **_with_rung(first, "+1", text="Asks first, and waits."))
    same = revised.model_copy(update={"version": 3, **_with_rung(revised, "-1", text="Goes on.")})
    scenarios = tuple(same if s.id == NAME else s for s in bank.scenarios)
    raters = [seat.rater for seat in plan.seats]
    third = next_round([plan, second], replace(bank, scenarios=scenarios), [NAME], raters)
    passed_over = _rated(plan, first)
    left_out = dict(passed_over) | {second.task(NAME): {"validity": Answer("2", 1, "")}}
    for work, changed in ((passed_over, {"ladder/+1", "ladder/-1"}), (left_out, {"ladder/-1"})):
        asking = ScenarioQuestions(third, same, RATER, work)
        asked = {q.field for q in asking.asked if q.options}
        assert {"ladder/+1/relevance", "ladder/-1/relevance", "validity"} <= asked
        assert len(asked) == 1 + 2 * 2
        change = asking.revision
        assert change is not None
        assert set(change.items) == changed


@pytest.mark.parametrize("lost", ["held out", "planned earlier"])
def test_where_the_earlier_text_is_not_kept_all_is_asked(
    bank: Bank, plan: StudyPlan, lost: str
) -> None:
    """A held-out text is in no plan, nor is any in plans of before; earlier answers are shown."""
    rated = tuple(r.model_copy(update={"shown": None}) for r in plan.scenarios)
    if lost == "held out":
        sealed = bank.scenario(NAME).model_copy(update={"split": Split.held_out})
        scenarios = tuple(sealed if s.id == NAME else s for s in bank.scenarios)
        bank = replace(bank, scenarios=scenarios)
        further, _ = _next(bank, plan, text="Other words. What do you do?")
        assert "Other words" not in further.json_text()
    earlier = plan.model_copy(update={"scenarios": rated})
    first = bank.scenario(NAME)
    second, revised = _next(bank, earlier, **_with_rung(first, "+1", text="Asks first."))
    asking = ScenarioQuestions(second, revised, RATER, _rated(earlier, first))
    assert asking.revision is None
    assert asking.asked == ScenarioQuestions(second, revised, RATER).asked
    assert asking.earlier_words["realism"].startswith("“4, realistic")
