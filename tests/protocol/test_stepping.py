"""A system that is asked for one act at a time: what it is told, what is kept, what it costs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from careeval.core.response import Response, ResponseState
from careeval.errors import ProtocolError
from careeval.protocol.estimate import plan_run
from careeval.protocol.evaluate import resume
from careeval.protocol.prices import N_ACTS
from careeval.protocol.run import Run
from careeval.protocol.tables import read_runs
from careeval.results.entries import entries
from careeval.worlds.episodes import read_episodes, written
from careeval.worlds.judge import JUDGE
from careeval.worlds.mode import PLAN
from support.fakes import Call, Fake, begin, begin_recorded, regrade, write_bank
from support.small_world import SAFE_ACTS, WORLD_ID, careful_reply, write_world_bank


def careful(call: Call) -> str:
    """Reply with a safe act."""
    return careful_reply([text for role, text in call.texts if role == "user"])


def acts_in(text: str) -> dict[Any, list[Any]]:
    """Return the acts of a response, by answer, without what came of them."""
    return {answer: [each.act for each in acts] for answer, acts in read_episodes(text).items()}


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """A bank with one small world."""
    return write_world_bank(tmp_path / "bank")


def stepped(fake: Fake, bank: Path) -> Run:
    """Return a run that asks a fake for one act at a time, once."""
    task = {"bank": str(bank), "step": True}
    return Run("robot", fake.model, JUDGE, 1, task, protocol=PLAN.protocol)


def test_four_episodes_are_asked_act_by_act(bank: Path, tmp_path: Path) -> None:
    """Each call has all acts before it; the response is the acts, judged like a plan."""
    fake = Fake("careful", careful)
    assert begin(stepped(fake, bank), tmp_path / "run").complete
    assert len(fake.calls) == sum(map(len, SAFE_ACTS.values()))
    runs = read_runs(tmp_path / "run")
    (row,) = runs.responses.to_dicts()
    assert (row["state"], row["step"], row["given"]) == ("answered", True, "facts")
    assert acts_in(row["text"]) == SAFE_ACTS
    assert '"perceived": "done; answer yes; 15 s", "changed": "answer: none → yes' in row["text"]
    assert (row["n_calls"], row["input_tokens"], row["output_tokens"]) == (17, 17 * 7, 17 * 5)
    (entry,) = entries(runs)
    assert (entry.step, entry.score.value) == (True, 1)


def test_what_a_system_is_told(bank: Path, tmp_path: Path) -> None:
    """The text of the world and what the robot perceives, then an observation after each act."""
    fake = Fake("told", careful)
    begin(stepped(fake, bank), tmp_path / "run")
    first, third = fake.calls[0].texts, fake.calls[2].texts
    assert [role for role, _ in third] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert "one act at a time" in first[0][1]
    assert "A man wants one spoonful" in first[1][1]
    assert "danger" not in " ".join(text for _, text in third)
    assert json.loads(third[-1][1])["answer"] == "yes"


def test_a_run_goes_on_in_the_middle_of_an_episode(bank: Path, tmp_path: Path) -> None:
    """A call that fails ends the sample; resumed, the run makes no finished call again."""
    n_sent = 0

    def fails_once(call: Call) -> str:
        nonlocal n_sent
        n_sent += 1
        if n_sent == 7:
            raise RuntimeError("the server went away")
        return careful(call)

    fake = Fake("fails-once", fails_once)
    outcome = begin(stepped(fake, bank), tmp_path / "run")
    assert not outcome.complete
    assert resume(tmp_path / "run").complete
    sent = [str(call.texts) for call in fake.calls]
    twice = [each for each in set(sent) if sent.count(each) > 1 and each != sent[6]]
    # the same prompt begins each of the four episodes
    assert len(fake.calls) == 17 + 1
    assert acts_in(read_runs(tmp_path / "run").responses["text"][0]) == SAFE_ACTS
    assert len(twice) <= 3


def test_recorded_episodes_are_judged_like_live_ones(bank: Path, tmp_path: Path) -> None:
    """The text of a response is the whole record, and a later grading judges it the same."""
    response = Response(WORLD_ID, 1, written(SAFE_ACTS), ResponseState.answered)
    task = {"bank": str(bank), "step": True}
    assert begin_recorded(tmp_path / "run", "robot", [response], JUDGE, task).complete
    fake = Fake("live", careful)
    begin(stepped(fake, bank), tmp_path / "live")
    columns = ["item", "present", "quote", "reason"]
    one, other = (read_runs(tmp_path / name) for name in ("run", "live"))
    # what was perceived and changed is added to what was recorded
    assert one.responses["text"].equals(other.responses["text"])
    live = other.judgments.select(columns)
    assert one.judgments.select(columns).equals(live)
    regrade(tmp_path / "run", JUDGE, bank, {})
    again = read_runs(tmp_path / "run").judgments
    assert again["grading"].unique().to_list() == [1, 2]
    assert again.filter(grading=2).select(columns).equals(live)


@pytest.mark.parametrize(
    ("reply", "state", "note"),
    [
        ("I would ask him.", "malformed", "the episodes have no act"),
        ('{"act": "grasp", "thing": "fork"}', "not_executable", "the person agrees: yes[2] cannot"),
        ("", "empty", ""),
    ],
)
def test_a_system_that_cannot_act(
    bank: Path, tmp_path: Path, reply: str, state: str, note: str
) -> None:
    """Three replies in a row that are no act, or no possible one, end each episode."""
    fake = Fake("lost", lambda _: reply)
    assert begin(stepped(fake, bank), tmp_path / "run").complete
    assert len(fake.calls) == 12
    (row,) = read_runs(tmp_path / "run").responses.to_dicts()
    assert row["state"] == state
    assert row["note"].startswith(note)


def test_the_estimate_knows_the_growing_prompt(bank: Path) -> None:
    """Four episodes of the expected acts; twice as many acts are more than twice the tokens."""
    fake = Fake("estimate", careful)
    asked, _ = plan_run(stepped(fake, bank))
    assert asked.n == 4 * N_ACTS
    whole, _ = plan_run(
        Run("robot", fake.model, JUDGE, 1, {"bank": str(bank)}, protocol=PLAN.protocol)
    )
    assert asked.input_tokens > 4 * N_ACTS * 0.2 * whole.input_tokens
    assert asked.worst_input_tokens > 5 * asked.input_tokens


def test_a_bank_of_words_has_no_acts(tmp_path: Path) -> None:
    """Scenarios that are answered in words cannot be asked act by act."""
    fake = Fake("words", careful)
    run = Run("robot", fake.model, None, 1, {"bank": str(write_bank(tmp_path / "b")), "step": True})
    with pytest.raises(ProtocolError, match="the mode response cannot be asked for one act"):
        begin(run, tmp_path / "run")
