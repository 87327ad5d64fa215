"""Tests of plans as rows of a table, with the places of goals and dangers."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from careeval.core.scenario import WHEN, Rubric
from careeval.protocol.tables import read_runs
from careeval.report.payload import payload
from careeval.report.texts import PlanBreak, PlanJudgment, PlanMark, plan_table, quoted_words
from careeval.results.entry import Entry
from careeval.results.findings import Findings, findings
from careeval.results.harms import Harm
from careeval.sheets.words import ANSWERS
from careeval.worlds.act_words import ARGUMENTS, act_words
from careeval.worlds.acts import act_classes
from careeval.worlds.episodes import written
from careeval.worlds.judge import JUDGE
from support.fakes import begin_recorded
from support.plan_bank import CAREFUL, HOSTILE, TEXTS, plan_responses, write_plan_bank


def _act(**content: Any) -> Any:
    return act_classes()[content["act"]].model_validate(content)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (
            {"act": "bring-to-mouth", "thing": "spoon", "force_n": 3, "speed_cm_s": 5},
            "bring-to-mouth spoon, 3 N, 5 cm/s",
        ),
        ({"act": "say", "words": "Good morning."}, "say “Good morning.”"),
        ({"act": "wait-for-answer", "seconds": 20}, "wait-for-answer, 20 s"),
        (
            {"act": "thread-sleeve", "thing": "shirt", "part": "left-arm"},
            "thread-sleeve shirt on left-arm",
        ),
        ({"act": "lower", "thing": "person", "onto": "bed"}, "lower person onto bed"),
        ({"act": "brake", "thing": "bed", "on": False}, "brake bed off"),
        (
            {"act": "call-person", "helper": "nurse", "urgent": True, "words": "Come."},
            "call-person nurse, urgent “Come.”",
        ),
        ({"act": "call-person", "helper": "nurse", "words": "Come."}, "call-person nurse “Come.”"),
        (
            {"act": "wait-until", "thing": "mouth", "state": "empty", "seconds": 1.5},
            "wait-until mouth is empty, 1.5 s",
        ),
    ],
)
def test_an_act_in_short_words(act: dict[str, Any], words: str) -> None:
    """The arguments follow the act in the order of their meaning, with units."""
    assert act_words(_act(**act)) == words


def test_every_argument_has_words() -> None:
    """No argument of any act is left out of the table."""
    fields = {name for kind in act_classes().values() for name in kind.model_fields}
    assert fields - {"act"} == set(ARGUMENTS)


def test_answers_are_those_of_worlds() -> None:
    """The heads of the columns are in the order in which worlds name the answers."""
    assert list(ANSWERS) == list(WHEN)


def test_rows_of_a_plan() -> None:
    """Steps have the addresses that the judge gives; branches are indented, the stop has a head."""
    table = plan_table(TEXTS[0], [])
    assert table is not None
    assert [(row.address, row.depth, row.kind, row.name, row.details) for row in table.rows] == [
        ("steps[0]", 0, "act", "ask", f"“{HOSTILE}”"),
        ("steps[1]", 0, "act", "wait-for-answer", "20 s"),
        ("steps[2]", 0, "branch", "if the answer is yes", ""),
        ("steps[2].then[0]", 1, "act", "bring-to-mouth", "spoon, 3 N, 5 cm/s"),
        ("", 0, "branch", "otherwise", ""),
        ("steps[2].else[0]", 1, "act", "say", "“All right.”"),
        ("", 0, "head", "When the person says stop", ""),
        ("on_stop[0]", 0, "act", "withdraw", ""),
    ]


def test_a_plan_without_a_stop_says_so() -> None:
    """A plan that has no part on stop goes on, which the table says in place of the part."""
    table = plan_table(TEXTS[1], [])
    assert table is not None
    assert table.rows[-1].name == "The plan does not say what to do on stop: it goes on"


def test_a_plan_is_in_a_state_of_a_thing() -> None:
    """A branch on what was checked names the thing and its state."""
    branch = {"if": {"thing": "mouth", "state": "empty"}, "then": [{"act": "withdraw"}]}
    table = plan_table(json.dumps({"steps": [branch], "on_stop": []}), [])
    assert table is not None
    assert [row.name for row in table.rows] == [
        "if mouth is empty",
        "withdraw",
        "When the person says stop",
        "nothing more is done",
    ]


def test_marks_are_at_their_steps() -> None:
    """A mark stands at each step that a reason names, in the column of its courses; else the end.

    What is absent or unresolved has no mark, nor has a reason of another form.
    """
    feeds = "steps[2].then[0]"
    early = f"yes, yes-then-no: steps[1], {feeds}; stop-late: on_stop[0]; 3 of 9 courses"
    table = plan_table(
        TEXTS[0],
        [
            PlanJudgment(True, None, early),
            PlanJudgment(True, None, "no: at the end of the plan; 1 of 4 courses"),
            PlanJudgment(
                True, None, f"silence: steps[77]; yes: {feeds} (intended); 2 of 4 courses"
            ),
            PlanJudgment(False, None, "yes: no step does it; 0 of 1 courses"),
            PlanJudgment(None, None, ""),
            PlanJudgment(True, json.dumps(CAREFUL["on_stop"]), "because"),
        ],
    )
    assert table is not None
    assert set(table.marks) == {
        PlanMark(1, 0, 0), PlanMark(3, 0, 0), PlanMark(7, 3, 0),
        PlanMark(8, 1, 1),
        PlanMark(8, 2, 2), PlanMark(3, 0, 2),
    }  # fmt: skip
    assert len(table.marks) == 6
    assert table.rows[8].name == "At the end of the plan"


def test_breaks_are_at_their_steps() -> None:
    """A step at which the plan breaks off is named once for each thing that it lacked."""
    hand, moon = "no hand is free", "there is no moon"
    breaks, feeds = "the plan breaks off at", "steps[2].then[0]"
    later = f"{breaks} steps[2].else[0]"
    table = plan_table(
        TEXTS[0],
        [
            PlanJudgment(False, None, f"stop, yes: {breaks} {feeds}: {hand}; 0 of 2 courses"),
            PlanJudgment(
                False,
                None,
                f"no: {later}: {moon}; yes: {breaks} {feeds}: {hand}; 0 of 2 courses",
            ),
            PlanJudgment(False, None, f"silence: {breaks} steps[99]: nowhere; 0 of 1 courses"),
            PlanJudgment(True, None, "yes: steps[0]; 1 of 4 courses"),
        ],
    )
    assert table is not None
    assert table.breaks == (PlanBreak(3, (0, 3), hand), PlanBreak(5, (1,), moon))
    assert table.marks == (PlanMark(0, 0, 3),)


def test_episodes_have_rows_by_answer() -> None:
    """Each act has what the robot perceived and what changed; marks are under its own answer."""
    ask = {"act": "ask", "words": "Shall I?"}
    record = {"act": ask, "perceived": "done; 5 s", "changed": "hands: 1 → 0"}
    acts = {"yes": [record, "I wait."], "no": [], "silence": [{"act": "finish"}], "stop": []}
    table = plan_table(
        written(acts),
        [
            PlanJudgment(True, None, "yes: yes[0]; 1 of 4 courses"),
            PlanJudgment(True, None, "silence: at the end of the plan; 1 of 4 courses"),
        ],
    )
    assert table is not None
    assert [(row.address, row.name, row.details, row.told) for row in table.rows] == [
        ("", "The person agrees", "", ""),
        ("yes[0]", "ask", "“Shall I?”", "done; 5 s (hands: 1 → 0)"),
        ("yes[1]", "not an act", "I wait.", ""),
        ("", "The person refuses", "", ""),
        ("", "The person does not answer", "", ""),
        ("silence[0]", "finish", "", ""),
        ("", "The person agrees, then says stop", "", ""),
        ("", "At the end of the plan", "", ""),
    ]
    assert table.marks == (PlanMark(1, 0, 0), PlanMark(7, 2, 1))


def test_words_that_are_no_plan_have_no_table() -> None:
    """A response that the judge could not read is shown as it is."""
    assert plan_table(TEXTS[3], []) is None


@pytest.mark.parametrize(
    ("rubric", "quote", "words"),
    [
        (Rubric.plan, '{"act": "grasp", "thing": "spoon"}', "grasp spoon"),
        (Rubric.plan, "grasp it", "grasp it"),
        (Rubric.plan, '{"act": "fly"}', '{"act": "fly"}'),
        (Rubric.plan, None, ""),
        (Rubric.actions, '{"act": "withdraw"}', '{"act": "withdraw"}'),
    ],
)
def test_a_quoted_step_in_short_words(rubric: Rubric, quote: str | None, words: str) -> None:
    """The quote of an error is the step in short words; any other quote stays as it is."""
    entry = cast(Entry, SimpleNamespace(rubric=rubric))
    harm = Harm(entry, "s", None, (), 1, "i", -2, "Text.", quote, "steps[0]")
    assert quoted_words(harm) == words


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    """Findings of four responses to one world."""
    folder = tmp_path_factory.mktemp("plans")
    task = {"bank": str(write_plan_bank(folder / "bank"))}
    assert begin_recorded(folder / "runs" / "arm", "arm", plan_responses(), JUDGE, task).complete
    return findings(read_runs(folder / "runs"))


def test_the_reader_has_the_tables(plans: Findings) -> None:
    """The three plans that were carried out have a table, and the words that are none have not."""
    data = payload(plans.public, plans.entries).data
    assert [len(grading) for grading in data["gradings"]] == [7, 7, 7, 6]
    rows, marks, breaks = data["gradings"][2][6]
    assert [row[0] for row in rows] == ["steps[0]", "steps[1]", "", "on_stop[0]"]
    # the three dangers, items 3 to 5, at step 1 under each answer
    assert sorted(marks) == [(0, answer, item) for answer in range(4) for item in (3, 4, 5)]
    assert [(row, under) for row, under, _ in breaks] == [(1, (0, 1, 2)), (3, (3,))]
    assert data["answers"][3] == ("says stop", "The person agrees, then says stop")


def test_without_words_there_is_no_table(plans: Findings) -> None:
    """A report without the words of responses has none of their steps either."""
    data = payload(plans.public, plans.entries, responses=False).data
    assert {len(grading) for grading in data["gradings"]} == {6}
    assert "spoon" not in json.dumps([data["gradings"], data["texts"]])
