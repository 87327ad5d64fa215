"""Grading again: of a run's responses, and of a bank's probes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from careeval.bank import Bank, load_bank
from careeval.bank.load import DEFAULT, OWN_BANKS
from careeval.core.response import LEXICAL, Response, ResponseState
from careeval.core.scenario import READ_RUBRICS
from careeval.errors import BankError, CareEvalError, LogError, ProtocolError
from careeval.protocol import regrade as module
from careeval.protocol.estimate import plan_run
from careeval.protocol.evaluate import resume
from careeval.protocol.regrade import (
    RegradePart,
    lexical_agreement,
    lexical_sentence,
    prepare_probes,
    prepare_regrading,
    read_agreement,
    read_trial,
    unfinished_probe_check,
)
from careeval.protocol.run import Outcome, Run
from careeval.protocol.run_folder import amend_run, read_run_file
from careeval.protocol.tables import read_run, read_runs
from careeval.results.entries import entries
from careeval.results.grader_accuracy import LabelCounts
from careeval.results.probe_check import ProbeAgreement
from support.fakes import Call, Fake, begin, keyword_grader, leave_out, regrade, write_bank


def answer(call: Call) -> str:
    """Words in every epoch but one, in which there are none."""
    asked = f"{call.request}{call.config.seed}"
    return "" if asked.endswith("1827206171") else "I ask her about the blouse."


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, bank: Path) -> Path:
    """A run that was graded once; a test that grades it again takes a copy."""
    root = tmp_path_factory.mktemp("run")
    model, grader = Fake("regrade-model", answer), Fake("first-grader", keyword_grader)
    assert begin(
        Run("robot", model.model, grader.model, 2, {"bank": str(bank)}), root / "robot"
    ).complete
    return root


@pytest.fixture
def copy(run: Path, tmp_path: Path) -> Path:
    """A copy of the run."""
    return Path(shutil.copytree(run, tmp_path / "runs"))


def gradings(folder: Path) -> list[tuple[str, int, int]]:
    """Grader, grading and number of judgments, in order."""
    judgments = read_runs(folder).judgments
    names = pl.col("grader").str.split(" (").list.first()
    return sorted(judgments.group_by(names, "grading").len().rows())


def test_worked_example(copy: Path, bank: Path) -> None:
    """A second grader's judgments stand beside the first's, and the responses are as they were."""
    before = read_runs(copy)
    second = Fake("second-grader", keyword_grader)
    (outcome,) = regrade(copy, second.model, bank, {})
    assert outcome.complete
    assert outcome.folder == copy / "robot" / "graded" / "fake-second-grader-actions-1"
    after = read_runs(copy)
    assert_frame_equal(after.responses, before.responses)
    assert gradings(copy) == [("fake/first-grader", 1, 12), ("fake/second-grader", 1, 12)]
    first = pl.col("grader").str.starts_with("fake/first")
    assert_frame_equal(after.judgments.filter(first), before.judgments)
    same = ("scenario", "epoch", "rubric", "item", "present")
    assert_frame_equal(after.judgments.filter(~first).select(same), before.judgments.select(same))
    n_answered = before.responses.filter(pl.col("state") == "answered").height
    assert len(second.calls) == n_answered == 3


def test_the_same_grader_again(copy: Path, bank: Path) -> None:
    """The run's own grading is the first of its grader, and the later ones count on from it."""
    replies = iter(["blouse", "nothing"])

    for word in replies:

        def script(call: Call, word: str = word) -> str:
            return keyword_grader(call).replace("Because.", f"{word}.")

        grader = Fake("first-grader", script)
        assert regrade(copy, grader.model, bank, {})[0].complete
    assert gradings(copy) == [("fake/first-grader", n, 12) for n in (1, 2, 3)]
    folders = sorted(path.name for path in (copy / "robot" / "graded").iterdir())
    assert folders == ["fake-first-grader-actions-1", "fake-first-grader-actions-2"]
    judged = read_runs(copy).judgments.filter(pl.col("quote").is_null() & pl.col("present"))
    reasons = dict(judged.select("grading", "reason").unique().rows())
    assert reasons == {1: "Because.", 2: "blouse.", 3: "nothing."}


def test_the_other_rubric_beside_the_first(copy: Path, bank: Path) -> None:
    """The ladder graded later stands beside the actions, each rubric with gradings of its own."""
    grader = Fake("first-grader", keyword_grader)
    for task in ({"rubric": "ladder"}, {"rubric": "ladder"}, {}):
        assert regrade(copy, grader.model, bank, task)[0].complete
    assert sorted(path.name for path in (copy / "robot" / "graded").iterdir()) == [
        "fake-first-grader-actions-1",
        "fake-first-grader-ladder-1",
        "fake-first-grader-ladder-2",
    ]
    judgments = read_runs(copy).judgments
    assert sorted(judgments.group_by("rubric", "grading").len().rows()) == [
        ("actions", 1, 12),
        ("actions", 2, 12),
        ("ladder", 1, 12),
        ("ladder", 2, 12),
    ]


def test_a_run_graded_on_its_ladder_is_graded_on_it_again(bank: Path, tmp_path: Path) -> None:
    """Without a named rubric, the one that the run was graded on is graded again."""
    model, grader = Fake("rung-model", answer), Fake("rung-grader", keyword_grader)
    task = {"bank": str(bank), "rubric": "ladder"}
    assert begin(Run("robot", model.model, grader.model, 2, task), tmp_path / "robot").complete
    (outcome,) = regrade(tmp_path, grader.model, bank, {})
    assert outcome.folder.name == "fake-rung-grader-ladder-1"
    assert gradings(tmp_path) == [("fake/rung-grader", 1, 12), ("fake/rung-grader", 2, 12)]


def test_a_rubric_that_a_bank_lacks_is_refused(tmp_path: Path) -> None:
    """A ladder that no scenario has is refused before a folder is made."""
    bank = write_bank(tmp_path / "bank", ["eating-001"], ladder=[])
    model = Fake("act-model", answer)
    run = Run("robot", model.model, None, 2, {"bank": str(bank)})
    assert begin(run, tmp_path / "runs" / "robot").complete
    with pytest.raises(ProtocolError, match="has the rubric ladder"):
        regrade(tmp_path / "runs", "careeval/lexical", bank, {"rubric": "ladder"})
    assert not (tmp_path / "runs" / "robot" / "graded").exists()


def test_another_mode_is_another_grader(copy: Path, bank: Path) -> None:
    """The same model asked item by item is a grader of its own, with a first grading of its own."""
    grader = Fake("first-grader", keyword_grader)
    assert regrade(copy, grader.model, bank, {"per_item": True})[0].complete
    names = sorted(read_runs(copy).judgments["grader"].unique())
    assert [name.split(", prompt")[0] for name in names] == [
        "fake/first-grader (batched",
        "fake/first-grader (per-item",
    ]
    assert [n for _, n, _ in gradings(copy)] == [1]


def test_an_unfinished_grading_is_resumed(copy: Path, bank: Path) -> None:
    """A grading that failed in part goes on where it stopped, like any run."""

    def failing(call: Call) -> str:
        raise ConnectionError("down")

    grader = Fake("late-grader", failing)
    (outcome,) = regrade(copy, grader.model, bank, {})
    assert (outcome.complete, outcome.n_failed) == (False, 3)
    grader.script = keyword_grader
    grader.calls.clear()
    assert resume(outcome.folder).complete
    assert len(grader.calls) == 3
    late = read_runs(copy).judgments.filter(pl.col("grader").str.starts_with("fake/late"))
    assert (late.height, late["present"].null_count()) == (12, 0)


def test_a_grading_can_be_read_alone(copy: Path, bank: Path) -> None:
    """A grading's own folder is a run of recorded answers with the same responses."""
    (outcome,) = regrade(copy, Fake("second-grader", keyword_grader).model, bank, {})
    alone, whole = read_runs(outcome.folder), read_run(copy / "robot")
    same = ("system", "scenario", "epoch", "state", "text", "note")
    assert_frame_equal(alone.responses.select(same), whole.responses.select(same))
    assert alone.judgments["grading"].unique().to_list() == [1]


def test_a_changed_bank_is_refused(copy: Path, tmp_path: Path) -> None:
    """A bank whose scenarios have changed since, or lacks one, is refused before a call."""
    grader = Fake("second-grader", keyword_grader)
    changed = write_bank(tmp_path / "changed", helpers="her sister")
    with pytest.raises(ProtocolError, match="was asked with bank small 1-A") as caught:
        regrade(copy, grader.model, changed, {})
    assert caught.value.hint == "give the bank that the run was asked with: --bank DIR"
    with pytest.raises(BankError, match="has no scenario 'eating-001'"):
        regrade(copy, grader.model, write_bank(tmp_path / "less", ["dressing-001"]), {})
    assert grader.calls == []
    assert not (copy / "robot" / "graded").exists()


def test_the_bank_is_where_the_run_had_it(copy: Path, bank: Path, tmp_path: Path) -> None:
    """Without a bank, the run's own is taken; if it has moved, the error asks for its new place."""
    like = Run("", None, "careeval/lexical", 1, {})
    (grading,) = prepare_regrading(copy, None, like)
    assert read_run_file(grading).task["bank"] == str(bank)
    amend_run(copy / "robot", task={"bank": str(tmp_path / "before")})
    with pytest.raises(
        ProtocolError, match=r"asked with the bank in .*/before, where no"
    ) as raised:
        prepare_regrading(copy, None, like)
    assert "--bank DIR" in raised.value.hint
    (grading,) = prepare_regrading(copy, bank, like)
    assert resume(grading).complete


def test_a_run_is_resumed_with_a_bank_that_moved(tmp_path: Path) -> None:
    """What was asked before its bank moved is not asked again; another bank is refused."""
    refused = True

    def fails_once(call: Call) -> str:
        if refused and "eating" in call.request:
            raise ValueError("no")
        return "I ask her about the blouse."

    model, grader = Fake("moving", fails_once), Fake("moving-grader", keyword_grader)
    bank, folder = write_bank(tmp_path / "bank"), tmp_path / "robot"
    assert not begin(
        Run("robot", model.model, grader.model, 1, {"bank": str(bank)}), folder
    ).complete
    refused, n_before = False, len(model.calls)
    amend_run(folder, task={"bank": str(write_bank(tmp_path / "other", text="Another one?"))})
    with pytest.raises(ProtocolError, match="scenarios that have changed since"):
        resume(folder)
    amend_run(folder, task={"bank": str(bank.rename(tmp_path / "moved"))})
    assert resume(folder).complete
    assert len(model.calls) == n_before + 1
    assert read_runs(folder).responses["state"].to_list() == ["answered"] * 2


def test_a_log_that_was_cut_off_is_no_hindrance(copy: Path, bank: Path) -> None:
    """A complete run is graded despite the files that a killed process left beside it."""
    (log,) = (copy / "robot").glob("*.eval")
    (copy / "robot" / f"a{log.name}").write_bytes(log.read_bytes()[:500])
    (outcome,) = regrade(copy, Fake("second-grader", keyword_grader).model, bank, {})
    assert outcome.complete


def test_an_unfinished_run_is_refused(copy: Path, bank: Path) -> None:
    """A run that has not come to all its responses is to be finished first."""
    (log,) = (copy / "robot").glob("*.eval")
    leave_out(log, "samples/eating-001_epoch_2.json")
    with pytest.raises(ProtocolError, match="1 responses are still missing"):
        regrade(copy, "careeval/lexical", bank, {})


def test_a_folder_without_a_run(tmp_path: Path, bank: Path) -> None:
    """A folder that holds no log is refused by name."""
    with pytest.raises(ProtocolError, match="has no run"):
        regrade(tmp_path, "careeval/lexical", bank, {})


def responses(n_epochs: int, states: dict[int, ResponseState] | None = None) -> list[Response]:
    """Responses to two scenarios, answered unless another state is given for an epoch."""
    found = []
    for scenario in ("dressing-001", "eating-001"):
        for epoch in range(1, n_epochs + 1):
            state = (states or {}).get(epoch, ResponseState.answered)
            text = "I wait." if state is ResponseState.answered else ""
            found.append(Response(scenario, epoch, text, state))
    return found


def epochs(drawn: list[Response]) -> dict[str, list[int]]:
    """Scenario → epochs."""
    return {s: [r.epoch for r in drawn if r.scenario == s] for s in {r.scenario for r in drawn}}


def test_a_fifth_of_ten_epochs_is_two_of_each_scenario() -> None:
    """Each scenario has its own draw, the same every time, and another with another seed."""
    given = responses(10)
    drawn = RegradePart(0.2).draw(given)
    assert [len(of_scenario) for of_scenario in epochs(drawn).values()] == [2, 2]
    assert RegradePart(0.2).draw(given) == drawn
    draws = [epochs(RegradePart(0.2, seed=seed).draw(given)) for seed in range(10)]
    assert any(draw != draws[0] for draw in draws)
    assert any(draw["dressing-001"] != draw["eating-001"] for draw in draws)


@given(st.floats(0.01, 0.99), st.integers(1, 12), st.integers(0, 5))
def test_of_any_part(share: float, n_epochs: int, seed: int) -> None:
    """Every scenario gets the rounded share of its epochs, and at least one."""
    drawn = epochs(RegradePart(share, seed=seed).draw(responses(n_epochs)))
    n = max(1, round(share * n_epochs))
    assert [len(set(of_scenario)) for of_scenario in drawn.values()] == [n, n]


def test_only_words_are_drawn() -> None:
    """A response without words is put to no grader, so that it takes no place in the part."""
    states = {1: ResponseState.empty, 2: ResponseState.refused, 3: ResponseState.missing}
    given = responses(5, states)
    assert epochs(RegradePart(0.6).draw(given)) == {"dressing-001": [4, 5], "eating-001": [4, 5]}
    assert RegradePart(0.5).draw(responses(3, states)) == []
    assert RegradePart(1.0).draw(given) == given


@pytest.mark.parametrize(("share", "times"), [(0, 1), (-0.2, 1), (1.2, 1), (20, 1), (0.2, 0)])
def test_what_is_no_part(share: float, times: int) -> None:
    """A share that is no fraction, and no grading at all, are refused."""
    with pytest.raises(ProtocolError):
        RegradePart(share, times)


def regrade_part(copy: Path, grader: str, bank: Path, part: RegradePart) -> list[Outcome]:
    """Grade a part of the run again, in this process."""
    like = Run("", None, grader, 1, {})
    return [resume(folder) for folder in prepare_regrading(copy, bank, like, part)]


def test_half_of_the_responses_twice(copy: Path, bank: Path) -> None:
    """One response to each scenario is graded twice more, and nothing else changes or is lost."""
    before = read_runs(copy)
    (summary_before,) = entries(before)
    grader = Fake("first-grader", keyword_grader)
    outcomes = regrade_part(copy, grader.model, bank, RegradePart(0.5, times=2))
    assert [outcome.complete for outcome in outcomes] == [True, True]
    assert [outcome.folder.name for outcome in outcomes] == [
        "fake-first-grader-actions-1",
        "fake-first-grader-actions-2",
    ]
    # two responses, twice
    assert len(grader.calls) == 4
    after = read_runs(copy)
    assert_frame_equal(after.responses, before.responses)
    assert after.notes == before.notes
    assert gradings(copy) == [("fake/first-grader", n, 12 if n == 1 else 6) for n in (1, 2, 3)]
    (summary,) = entries(after)
    assert summary.n_gradings == 3
    assert (summary.n_missing, summary.n_ungraded) == (0, 0)
    assert summary.score == summary_before.score
    assert summary.not_ranked == summary_before.not_ranked


def test_a_grader_that_began_with_a_part(copy: Path, bank: Path) -> None:
    """Responses that a new grader came to only later are graded, and no longer hold it back."""
    grader = Fake("late-grader", keyword_grader)
    regrade_part(copy, grader.model, bank, RegradePart(0.5))
    late = [s for s in entries(read_runs(copy)) if s.grader.startswith(grader.model)]
    n_there = 4 - late[0].n_missing
    assert [s.n_ungraded for s in late] == [n_there - 2]
    regrade_part(copy, grader.model, bank, RegradePart())
    (first, whole) = entries(read_runs(copy))
    assert (whole.n_gradings, whole.n_ungraded) == (2, 0)
    assert whole.score == first.score


def test_a_plan_counts_only_what_is_drawn(copy: Path, bank: Path) -> None:
    """Of one response to each of two scenarios there are two gradings to pay for, and no more."""
    like = Run("", None, "fake/first-grader", 1, {})
    folders = prepare_regrading(copy, bank, like, RegradePart(0.5, times=2))
    lines = [plan_run(read_run_file(folder)) for folder in folders]
    assert [(line.role, line.n) for of_run in lines for line in of_run] == [("grade", 2)] * 2


def test_a_part_that_was_not_finished_is_resumed(copy: Path, bank: Path) -> None:
    """Resuming grades the rest of a drawn part, and no other response."""

    def failing(call: Call) -> str:
        raise ConnectionError("down")

    grader = Fake("first-grader", failing)
    (outcome,) = regrade_part(copy, grader.model, bank, RegradePart(0.5))
    assert (outcome.complete, outcome.n_failed) == (False, 2)
    grader.script = keyword_grader
    grader.calls.clear()
    assert resume(outcome.folder).complete
    assert len(grader.calls) == 2
    assert gradings(copy) == [("fake/first-grader", 1, 12), ("fake/first-grader", 2, 6)]
    again = read_runs(copy).judgments.filter(pl.col("grading") == 2)
    assert again["present"].null_count() == 0


def test_a_second_grader_sees_the_items_as_the_first_did(copy: Path, bank: Path) -> None:
    """Two graders are held against each other on the same order, one grader against others."""
    like = Run("", None, "fake/other", 1, {"grade_seed": 5})
    seeds = [
        read_run_file(folder).task["grade_seed"]
        for grader in ("fake/other", "fake/first-grader")
        for folder in prepare_regrading(
            copy, bank, Run("", None, grader, 1, like.task), RegradePart(0.5, times=2)
        )
    ]
    assert seeds == [5, 6, 6, 7]


def test_a_run_without_words_has_no_part(tmp_path: Path, bank: Path) -> None:
    """A run without a response that has text is refused, and no folder is made."""
    model = Fake("silent-model", lambda _: "")
    assert begin(Run("robot", model.model, None, 2, {"bank": str(bank)}), tmp_path / "a").complete
    with pytest.raises(ProtocolError, match="nothing to grade"):
        regrade_part(tmp_path, "careeval/lexical", bank, RegradePart(0.5))
    assert not (tmp_path / "a" / "graded").exists()


def audit_probes(bank: Bank, grader: str, root: Path, task: dict[str, object]) -> ProbeAgreement:
    """Put the probes to a grader in this process."""
    folder = prepare_probes(bank, root, Run("", None, grader, 1, task))
    resume(folder)
    return read_agreement(bank, folder)


def test_a_probe_check(bank: Path, tmp_path: Path) -> None:
    """A grader that looks for an item's last word is right on every label of the small bank."""
    # 2 scenarios × 2 probes × 3 actions = 12 labels. Present: "asks" in the one probe, "pulls" in
    # the other: 2 a scenario.
    grader = Fake("examined", keyword_grader)
    found = audit_probes(load_bank(bank), grader.model, tmp_path, {"bank": str(bank)})
    assert found.overall == LabelCounts(found=4, missed=0, invented=0, cleared=8, unresolved=0)
    assert found.by_trap["harmful"].found == 2
    assert len(grader.calls) == 4


def test_the_lexical_grader_is_the_same_by_both_ways(bank: Path, tmp_path: Path) -> None:
    """Put through Inspect or computed at once, the lexical grader agrees with as many labels."""
    loaded = load_bank(bank)
    tasks = [{"bank": str(bank), "rubric": rubric.value} for rubric in READ_RUBRICS]
    audits = [audit_probes(loaded, LEXICAL, tmp_path, task) for task in tasks]
    by_log = ProbeAgreement.of([judged for audit in audits for judged in audit.judgments])
    at_once = lexical_agreement(loaded)
    assert (by_log.by_points, by_log.by_trap) == (at_once.by_points, at_once.by_trap)
    assert {j.scenario for j in by_log.judgments} == {j.scenario for j in at_once.judgments}
    assert by_log.overall.n == 24
    assert by_log.overall.unresolved == 0


def test_a_trial_tells_what_it_took(bank: Path, tmp_path: Path) -> None:
    """A grader without a price cost an unknown amount, never 0; its calls took what they took."""
    loaded = load_bank(bank)
    model = Fake("priceless", keyword_grader).model
    folder = prepare_probes(loaded, tmp_path, Run("", None, model, 1, {"bank": str(bank)}))
    resume(folder)
    found = read_trial(loaded, folder)
    assert found.grader.startswith("fake/priceless (batched")
    assert (found.cost.value, found.cost.n, found.cost.n_unknown) == (None, 4, 4)
    assert found.seconds is not None
    assert found.seconds > 0
    assert found.agreement.overall.n == 12


def test_a_trial_without_a_judgment(bank: Path, tmp_path: Path) -> None:
    """A folder in which nothing has been judged yet is no trial."""
    loaded = load_bank(bank)
    folder = prepare_probes(loaded, tmp_path, Run("", None, LEXICAL, 1, {"bank": str(bank)}))
    with pytest.raises(CareEvalError):
        read_trial(loaded, folder)


def test_each_audit_has_a_folder_of_its_own(bank: Path, tmp_path: Path) -> None:
    """A second audit by the same grader lies beside the first."""
    for _ in range(2):
        audit_probes(load_bank(bank), LEXICAL, tmp_path, {"bank": str(bank), "rubric": "ladder"})
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "careeval-lexical-ladder-1",
        "careeval-lexical-ladder-2",
    ]


def test_an_audit_of_protocol_1_is_not_gone_on_with(bank: Path, tmp_path: Path) -> None:
    """An audit that is not complete is gone on with by its like, which is of the same protocol."""
    run = Run("", None, LEXICAL, 1, {"bank": str(bank), "rubric": "actions"})
    folder = prepare_probes(load_bank(bank), tmp_path, run)
    assert unfinished_probe_check(tmp_path, run) == folder
    assert (
        unfinished_probe_check(tmp_path, replace(run, task={**run.task, "rubric": "ladder"}))
        is None
    )
    amend_run(folder, protocol="1-A")
    assert unfinished_probe_check(tmp_path, run) is None


def test_an_audit_that_breaks_off(bank: Path, tmp_path: Path) -> None:
    """Probes that a grader failed on are unresolved, not absent, until the audit is resumed."""
    down = True

    def failing(call: Call) -> str:
        if down and "cuff" in call.request.partition("The items:")[0]:
            raise ConnectionError("down")
        return keyword_grader(call)

    loaded = load_bank(bank)
    model = Fake("breaks-off", failing).model
    folder = prepare_probes(loaded, tmp_path, Run("", None, model, 1, {"bank": str(bank)}))
    assert resume(folder).n_failed == 2
    assert read_agreement(loaded, folder).overall.unresolved == 6
    down = False
    assert resume(folder).complete
    assert read_agreement(loaded, folder).overall.unresolved == 0


def test_a_bank_without_probes(tmp_path: Path) -> None:
    """A bank that has no probes cannot examine anybody."""
    folder = write_bank(tmp_path / "bank", ["eating-001"])
    (folder / "eating" / "eating-001.probes.yaml").write_text(
        json.dumps({"probes": []}), encoding="utf-8"
    )
    with pytest.raises(ProtocolError, match="bank 'small' has no probes"):
        audit_probes(load_bank(folder), LEXICAL, tmp_path, {"bank": str(folder)})


def test_an_audit_is_no_run(bank: Path, tmp_path: Path) -> None:
    """An audit on the probes is not read as the run of a system called probes."""
    audit_probes(load_bank(bank), LEXICAL, tmp_path / "audit", {"bank": str(bank)})
    with pytest.raises(LogError, match="probe check of a grader"):
        read_runs(tmp_path)


@pytest.fixture
def computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """The banks whose probes were judged, with an empty cache folder of the user."""
    banks: list[Path] = []

    def compute(bank: Path) -> str:
        banks.append(bank)
        return f"finds what is in {bank.name}"

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "_computed_sentence", compute)
    yield banks
    lexical_sentence.cache_clear()


def fresh_sentence(number: str) -> str:
    """The sentence, as the next command gets it."""
    lexical_sentence.cache_clear()
    return lexical_sentence(number)


def test_probes_are_judged_once(computed: list[Path]) -> None:
    """The next command takes the sentence from the user's cache folder, each bank's its own."""
    for name in ("plans", DEFAULT, "plans", DEFAULT):
        assert fresh_sentence(name) == f"finds what is in {OWN_BANKS[name].name}"
    assert computed == [OWN_BANKS["plans"], OWN_BANKS[DEFAULT]]


@pytest.mark.parametrize("changed", ["package/lexical.py", "bank/eating/eating-001.yaml"])
def test_probes_are_judged_again_after_a_change(
    computed: list[Path], changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change to careeval's code or to the bank makes the sentence anew."""
    for name in ("package/lexical.py", "bank/eating/eating-001.yaml"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("before", encoding="utf-8")
    monkeypatch.setattr(module, "PACKAGE", tmp_path / "package")
    monkeypatch.setitem(OWN_BANKS, DEFAULT, tmp_path / "bank")
    fresh_sentence(DEFAULT)
    (tmp_path / changed).write_text("after", encoding="utf-8")
    fresh_sentence(DEFAULT)
    assert len(computed) == 2


def test_a_sentence_without_a_cache(computed: list[Path], tmp_path: Path) -> None:
    """Where nothing can be kept, the probes are judged each time."""
    (tmp_path / "cache").write_text("in the way", encoding="utf-8")
    assert fresh_sentence(DEFAULT) == fresh_sentence(DEFAULT)
    assert len(computed) == 2
