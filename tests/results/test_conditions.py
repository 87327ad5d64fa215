"""One system in several conditions: entries apart, with names, never ranked or compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from careeval.errors import LogError, UsageError
from careeval.report.panels.entries import run_facts
from careeval.report.payload import payload
from careeval.results.compare import compare, compare_entries, rankings
from careeval.results.entries import entries
from careeval.results.findings import findings
from careeval.results.tables import Runs, SystemKey, select, system_keys, system_names
from careeval.sheets.comparisons import comparison_document, rank_sets_sheet
from careeval.sheets.entries import entries_sheet, records_sheet
from careeval.sheets.graders import harms_sheet, items_sheet
from careeval.sheets.words import comparison_warnings, entry_names
from results.authored import RUNGS, Marks, judgments, responses

CAREFUL: Marks = {"dressing-1": ["11000", "11000"], "eating-1": ["11000", "01000"]}

PLAN, STEP, FACTS = (
    SystemKey("robot-a", given, step)
    for given, step in (("told", False), ("told", True), ("facts", False))
)
OTHER = SystemKey("robot-b", "told", step=True)


def runs_in(conditions: Mapping[SystemKey, Marks]) -> Runs:
    """A run for each system in a condition, read together."""
    return Runs.together(
        Runs.of(
            responses(marks, **key._asdict(), split="public"),
            judgments(marks, **key._asdict(), item_text="An item."),
            [f"{key.name}: 2 samples failed"],
        )
        for key, marks in conditions.items()
    )


TWO = runs_in({STEP: CAREFUL, PLAN: RUNGS})


def test_two_conditions_by_hand() -> None:
    """Each condition has its own numbers: 3 − 1 + 0 + 1 and 3 + 3 + 3 + 1 of 4 × 3 points."""
    plan, step = entries(TWO)
    assert [(s.system, s.given, s.step) for s in (plan, step)] == [PLAN, STEP]
    assert (plan.score.value, step.score.value) == (pytest.approx(3 / 12), pytest.approx(10 / 12))
    assert (plan.severe.count, plan.severe.n) == (1, 4)
    assert (step.severe.count, step.severe.n) == (0, 4)
    assert (plan.n_responses, plan.n_judgments) == (step.n_responses, step.n_judgments) == (4, 20)


def test_rows_of_two_conditions_in_turn() -> None:
    """The order of the rows changes no number."""
    by = ["scenario", "epoch", "step"]
    mixed = Runs(TWO.responses.sort(by), TWO.judgments.sort([*by, "position"]))
    assert [s.score for s in entries(mixed)] == [s.score for s in entries(TWO)]


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        ([PLAN], ["robot-a"]),
        ([PLAN, STEP], ["robot-a", "robot-a, step"]),
        ([STEP, OTHER], ["robot-a, step", "robot-b, step"]),
        ([FACTS, PLAN], ["robot-a, facts", "robot-a, told"]),
        ([FACTS, PLAN, STEP], ["robot-a, facts", "robot-a, told", "robot-a, told, step"]),
        ([FACTS, OTHER], ["robot-a, facts", "robot-b, told, step"]),
        ([SystemKey("robot-a"), SystemKey("robot-b")], ["robot-a", "robot-b"]),
    ],
)
def test_names(keys: list[SystemKey], names: list[str]) -> None:
    """What a system is given is in its name only where it differs; the step is always there."""
    assert list(system_names(keys).values()) == names
    graded = entries(runs_in(dict.fromkeys(keys, RUNGS)))
    assert entry_names(graded) == names


def test_ranked_apart() -> None:
    """A ranking holds one condition, and readers are told that two do not compare."""
    eight: Marks = {f"dressing-{k}": ["11000"] for k in range(8)}
    graded = entries(runs_in(dict.fromkeys([PLAN, STEP, OTHER], eight)))
    plan, step = rankings(graded)
    assert (plan.basis.given, plan.basis.step) == ("told", False)
    assert [ranked.system for ranked in plan.ranked] == ["robot-a"]
    assert (step.basis.given, step.basis.step) == ("told", True)
    assert [ranked.system for ranked in step.ranked] == ["robot-a", "robot-b"]
    rows = rank_sets_sheet([plan, step], graded).rows
    assert [(row["system"], row["step"], row["name"]) for row in rows] == [
        ("robot-a", False, "robot-a"),
        ("robot-a", True, "robot-a, step"),
        ("robot-b", True, "robot-b, step"),
    ]
    (warning,) = comparison_warnings(graded)
    assert warning.startswith("The runs were asked in different conditions, told; told, step: do")


def test_two_conditions_are_not_compared() -> None:
    """A comparison across conditions is refused with the reason; within one it names it."""
    with pytest.raises(UsageError) as error:
        compare(TWO, "robot-a", "robot-a, step")
    assert str(error.value) == (
        "robot-a and robot-a, step cannot be compared: the condition differs, 'told' and "
        "'told, step'"
    )
    comparison = compare_entries(*entries(runs_in({STEP: CAREFUL, OTHER: RUNGS})))
    assert (comparison.a, comparison.b, comparison.given, comparison.step) == (
        "robot-a", "robot-b", "told", True
    )  # fmt: skip
    first = comparison_document(comparison).blocks[0]
    assert first == "A = robot-a, B = robot-b (told, step), both judged on the ladder by judge"


def test_selected_by_name() -> None:
    """The name of a system chooses all its conditions, its name with a condition that one alone."""
    runs = runs_in({PLAN: RUNGS, STEP: CAREFUL, OTHER: RUNGS})
    assert system_keys(select(runs, ["robot-a"]).responses) == [PLAN, STEP]
    chosen = select(runs, ["robot-a, step"])
    assert system_keys(chosen.responses) == system_keys(chosen.judgments) == [STEP]
    assert chosen.notes == ("robot-a, told, step: 2 samples failed",)
    ungraded = replace(runs, judgments=runs.judgments.filter("step"))
    assert system_keys(select(ungraded, rubric="ladder").responses) == [STEP, OTHER]


def test_one_condition_twice() -> None:
    """Two runs of a system in one condition are not put together."""
    with pytest.raises(LogError, match="two runs are of the system 'robot-a, told, step'"):
        Runs.together([runs_in({STEP: RUNGS}), TWO])


def test_in_files_and_facts() -> None:
    """Files have the condition in columns of its own; the facts of an entry say it in words."""
    found = findings(TWO)
    for sheet in (entries_sheet(found.entries), harms_sheet(found), items_sheet(found.items)):
        frame = sheet.data.frame
        assert set(frame["given"]) == {"told"}
        assert set(frame["step"]) == {False, True} if sheet.name != "harms" else {False}
    plan, step = records_sheet(found.entries).rows
    assert (plan["system"], plan["given"], plan["step"]) == ("robot-a", "told", "no")
    assert (step["system"], step["given"], step["step"]) == ("robot-a, step", "told", "yes")
    words = entries(runs_in({SystemKey("robot-a"): RUNGS}))
    assert "step" not in [field.key for field in records_sheet(words).fields]


def test_on_a_page() -> None:
    """A page holds both conditions, and each response and error is of its own."""
    found = findings(TWO)
    plan, step = found.entries
    assert len(found.public.harms(plan, -2).shown) == 1
    assert found.public.harms(step, -2).shown == ()
    data = payload(found.public, found.entries).data
    assert data["systems"] == ["robot-a", "robot-a, step"]
    marks = {
        (data["systems"][system], data["scenarios"][scenario][0], epoch): row[3]
        for row in data["gradings"]
        for scenario, system, epoch, *_ in [data["responses"][row[0]]]
    }
    assert marks == {
        (name, scenario, epoch): mark
        for name, run in (("robot-a", RUNGS), ("robot-a, step", CAREFUL))
        for scenario, of_epochs in run.items()
        for epoch, mark in enumerate(of_epochs, start=1)
    }
    records = dict(run_facts([step]))
    assert (records["Given"], records["One act at a time"]) == ("told", "yes")
