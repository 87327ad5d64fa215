"""Twins: read with their base, held to the rules of short scenarios, and no base themselves."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from careeval.bank import BankProblems, content_hash, load_bank
from careeval.bank.rules import check
from careeval.bank.rules.scenarios import words_changed
from careeval.cli.app import OK, USAGE
from careeval.cli.app import run as command
from careeval.core.scenario import CareError, Control, HarmKind, Split
from careeval.protocol.evaluate import resume
from careeval.protocol.run import Run
from careeval.protocol.run_setup import prepare
from careeval.protocol.selection import select_scenarios, selection_hashes
from careeval.protocol.tables import read_runs
from careeval.results.entries import entries
from support.fake_server import asked_of_grader, judgments
from support.fakes import Call, Fake, leave_out
from support.review_study import made_plan

DATA = Path(__file__).parent / "data" / "twins"
BASE, TWIN = "eating/eating-101.yaml", "eating/eating-101-twin.yaml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of a bank of one base, its twin and a control."""
    return Path(shutil.copytree(DATA, tmp_path / "bank"))


def plant(folder: Path, file: str, old: str, new: str) -> None:
    """Replace words that stand exactly once in a file."""
    text = (folder / file).read_text(encoding="utf-8")
    assert text.count(old) == 1, old
    (folder / file).write_text(text.replace(old, new), encoding="utf-8")


def codes(folder: Path) -> set[str]:
    """The codes of every problem of a bank, by its loader or its rules."""
    try:
        return {problem.code for problem in check(load_bank(folder))}
    except BankProblems as error:
        return {problem.code for problem in error.problems}


def test_a_twin_is_its_base_with_other_points(folder: Path) -> None:
    """Words and points are its own; the items' texts and the rest are its base's."""
    bank = load_bank(folder)
    base, twin = bank.scenario("eating-101"), bank.scenario("eating-101-twin")
    assert (twin.twin_of, twin.family, base.family) == ("eating-101", "eating-101", "eating-101")
    assert [a.points for a in base.actions] == [2, 1, 1, -1, -1, -2]
    assert [a.points for a in twin.actions] == [-2, 0, 0, 2, -1, -2]
    assert [a.text for a in twin.actions] == [a.text for a in base.actions]
    assert (twin.condition, twin.person, twin.group) == (base.condition, base.person, base.group)
    assert twin.actions[0].harm is HarmKind.injury
    assert twin.actions[0].error is CareError.too_little
    assert base.actions[0].harm is None
    assert twin.ladder == ()
    assert base.ladder


def test_a_control_has_the_points_of_its_base(folder: Path) -> None:
    """Only its words differ."""
    bank = load_bank(folder)
    base, control = bank.scenario("eating-101"), bank.scenario("eating-101-paraphrase")
    assert control.control is Control.paraphrase
    assert control.actions == base.actions
    assert control.text != base.text


def test_bases(folder: Path) -> None:
    """Twins and controls are scenarios of the bank, and no bases."""
    bank = load_bank(folder)
    assert len(bank) == 3
    assert [scenario.id for scenario in bank.bases] == ["eating-101"]


def test_the_good_bank_keeps_the_rules(folder: Path) -> None:
    """Nothing is found in it."""
    assert not codes(folder)


@pytest.mark.parametrize(
    ("file", "old", "new", "code"),
    [
        (TWIN, "twin_of: eating-101", "twin_of: eating-102", "CE129"),
        (TWIN, "id: stays-and-watches", "id: stays", "CE129"),
        (TWIN, "id: eating-101-twin", "id: eating-102-twin", "CE106"),
        (TWIN, "then no sound comes", "then the whole long story changes and it no longer ends "
         "as it did before and nobody can say", "CE135"),
        (TWIN, "points: 2\n", "points: 1\n", "CE135"),
        (BASE, "    kind: judgment\n    origin: source\n    core: true", "    core: true", "CE132"),
        (BASE, "    core: true\n", "", "CE133"),
        (BASE, "    error: too-little\n    harm: injury", "    error: too-little", "CE132"),
        (BASE, "He coughs hard", "He coughs " + "very " * 60 + "hard", "CE130"),
        (BASE, "of: [leaves-it-to-him, stays-and-watches]", "of: [leaves-it-to-him]", "CE136"),
        ("eating/eating-101-twin.probes.yaml", "trap: expert", "trap: generic", ""),
    ],
)  # fmt: skip
def test_a_planted_fault_is_found(folder: Path, file: str, old: str, new: str, code: str) -> None:
    """Each fault has its code."""
    plant(folder, file, old, new)
    assert code in codes(folder) if code else not codes(folder)


def test_words_changed() -> None:
    """By hand: one replaced, two added, none."""
    assert words_changed("he says it clearly now", "he says it softly now") == 1
    assert words_changed("he says it", "he then says it twice") == 2
    assert words_changed("he says it", "he says it") == 0


def test_the_hash_of_a_twin_is_its_own(folder: Path) -> None:
    """A changed point of a twin changes its hash, and not its base's."""
    before = {s.id: content_hash([s]) for s in load_bank(folder).scenarios}
    plant(folder, TWIN, "points: 2\n", "points: 1\n")
    after = {s.id: content_hash([s]) for s in load_bank(folder).scenarios}
    assert {name for name in before if before[name] != after[name]} == {"eating-101-twin"}


def test_a_twin_is_of_the_split_of_its_base(folder: Path) -> None:
    """A twin of a held-out base may not be public, nor the other way round."""
    plant(folder, TWIN, "split: public", "split: held-out")
    assert codes(folder) == {"CE129"}


def test_a_twin_alone_counts_as_a_base(folder: Path) -> None:
    """A choice with another base's twin has another hash than one without it."""
    bank = load_bank(folder)
    base, twin = bank.scenario("eating-101"), bank.scenario("eating-101-twin")
    other = base.model_copy(update={"id": "eating-102"})
    hashes = [selection_hashes(chosen)["bank_hash"] for chosen in ([other], [other, twin])]
    assert hashes[0] != hashes[1]


def test_a_new_twin(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A twin is begun with its base's words and points; the check says what is left to write."""
    for file in folder.glob("eating/*-twin*.yaml"):
        file.unlink()
    assert command(["bank", "new", str(folder), "--twin-of", "eating-101"]) == OK
    new = load_bank(folder).scenario("eating-101-twin")
    base = load_bank(folder).scenario("eating-101")
    assert new.text == base.text
    assert [a.points for a in new.actions] == [a.points for a in base.actions]
    assert {"CE122", "CE123", "CE135"} <= codes(folder)
    capsys.readouterr()
    assert command(["bank", "new", str(folder), "--twin-of", "eating-101"]) == USAGE
    assert "exists already" in capsys.readouterr().err
    assert command(["bank", "new", str(folder), "--twin-of", "eating-101-twin"]) == USAGE
    assert "is a twin itself" in capsys.readouterr().err


def test_a_new_control(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A control is begun with its base's words alone."""
    line = ["bank", "new", str(folder), "--control", "irrelevant"]
    assert command(line) == USAGE
    assert "--twin-of ID" in capsys.readouterr().err
    assert command([*line, "--twin-of", "eating-101"]) == OK
    assert codes(folder) == {"CE135"}


def test_a_twin_is_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The base of the twin, and the direction of each act's error."""
    line = ["bank", "show", "eating-101-twin", "--bank", str(folder), "--points"]
    assert command(line) == OK
    shown = capsys.readouterr().out
    assert "twin of eating-101" in shown
    assert "too-little, injury" in shown
    assert command(["bank", "stats", "--bank", str(folder)]) == OK
    stats = capsys.readouterr().out
    assert "1 scenario, the public split, 1 twin, 1 control" in stats
    assert "Bad acts of too much care: 2 of 3 (67%)" in stats


def test_twins_are_chosen_by_name_or_with_their_base(folder: Path) -> None:
    """A run asks bases; twins come when they are asked for, and do not change the bank's hash."""
    bank = load_bank(folder)
    ids = [s.id for s in select_scenarios(bank, Split.public)]
    assert ids == ["eating-101"]
    both = select_scenarios(bank, Split.public, limit=1, twins=True)
    assert [s.id for s in both] == ["eating-101", "eating-101-paraphrase", "eating-101-twin"]
    assert [s.id for s in select_scenarios(bank, Split.public, ids=["eating-101-twin"])] == [
        "eating-101-twin"
    ]
    alone, with_twins = (selection_hashes(s) for s in ([bank.scenario("eating-101")], both))
    assert with_twins["bank_hash"] == alone["bank_hash"]
    assert "twins_hash" in with_twins
    assert "twins_hash" not in alone


def test_a_run_with_twins(folder: Path, tmp_path: Path) -> None:
    """Asked and graded from end to end: the headline is over the base, the twins stand beside."""
    Fake("twin-system", lambda call: "I strike his back" if "no sound" in str(call) else "I leave")
    Fake("twin-grader", lambda call: judgments(_found(call)))
    task = {"bank": str(folder), "twins": True}
    run = Run("robot", "fake/twin-system", "fake/twin-grader", 2, task)
    assert resume(prepare(run, tmp_path / "run")).complete
    (summary,) = entries(read_runs(tmp_path / "run"))
    assert (summary.n_scenarios, summary.severe.n) == (1, 2)
    assert summary.twins is not None
    assert summary.twins.adapted.value == 1
    assert summary.twins.changed.value == 0
    assert summary.directions["too_much"].share.value == 0


def test_a_twin_whose_epoch_never_began(folder: Path, tmp_path: Path) -> None:
    """A lost answer to a twin is no lost answer to a base: the headline stays whole."""
    Fake("lost-system", lambda call: "I strike his back" if "no sound" in str(call) else "I leave")
    Fake("lost-grader", lambda call: judgments(_found(call)))
    task = {"bank": str(folder), "twins": True}
    run = Run("robot", "fake/lost-system", "fake/lost-grader", 2, task)
    assert resume(prepare(run, tmp_path / "run")).complete
    (log,) = (tmp_path / "run").glob("*.eval")
    leave_out(log, "samples/eating-101-twin_epoch_2.json")
    (summary,) = entries(read_runs(tmp_path / "run"))
    assert (summary.n_scenarios, summary.n_missing) == (1, 0)
    assert "1 of 4 responses to twins and controls are missing or not graded" in summary.warnings


def _found(call: Call) -> list[bool]:
    """The acts in an answer."""
    response, items = asked_of_grader(call.request)
    words = {"I leave": "Leaves going on", "I strike his back": "Gives blows"}
    return [item.startswith(words[response]) for item in items]


def test_a_study_rates_twins_and_no_controls(folder: Path) -> None:
    """A twin has points of its own to rate; a control has its base's."""
    plan = made_plan(load_bank(folder))
    asked = {scenario for seat in plan.seats for scenario in seat.scenarios}
    assert asked == {"eating-101", "eating-101-twin"}
