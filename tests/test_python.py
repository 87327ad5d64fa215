"""careeval from Python: what a notebook calls and shows."""

from __future__ import annotations

from pathlib import Path

import pytest

import careeval
from careeval.core.scenario import Scenario
from support.bank_folder import GOOD_BANK


def _asks(scenario: Scenario) -> str:
    """Stand in for a system."""
    return f"I stop and ask where it hurts, for {scenario.id} <b>."


def test_a_function_is_run_and_summarised(tmp_path: Path) -> None:
    """A function's words are graded as any response; frame, table and entries say the same."""
    runs = careeval.run(
        _asks, tmp_path, grader="careeval/lexical", name="planner", epochs=2, bank=GOOD_BANK
    )
    summaries = careeval.summarise(runs)
    (entry,) = summaries
    assert (entry.system, entry.n_responses) == ("planner", 2 * len(careeval.load_bank(GOOD_BANK)))
    frame = careeval.summary_frame(runs)
    assert frame["score"].to_list() == [entry.score.value]
    shown = summaries._repr_html_()
    assert "<td>" in shown
    assert repr(summaries) in shown.replace("&#x27;", "'")
    assert summaries[:1] == summaries
    with pytest.raises(careeval.CareEvalError, match="already has a run"):
        careeval.run(_asks, tmp_path, grader="careeval/lexical", name="planner", bank=GOOD_BANK)


def test_silence_is_empty(tmp_path: Path) -> None:
    """A function that returns no word has given empty responses, which score 0."""
    runs = careeval.run(
        lambda _: " ", tmp_path, grader="careeval/lexical", name="silent", epochs=1, bank=GOOD_BANK
    )
    (entry,) = careeval.summarise(runs)
    assert (entry.n_empty, entry.score.value) == (entry.n_responses, 0)


@pytest.mark.parametrize(
    ("max_cost", "model", "said"),
    [
        (None, "openai/gpt-4o", "may cost money"),
        (5.0, "vllm/own", "price of vllm/own is not known"),
    ],
)
def test_money_is_asked_for(tmp_path: Path, max_cost: float | None, model: str, said: str) -> None:
    """No call is made that may cost money unless it is said how much, and can be kept to."""
    with pytest.raises(careeval.CareEvalError, match=said):
        careeval.run(model, tmp_path, grader="careeval/lexical", max_cost=max_cost, bank=GOOD_BANK)
    assert list(tmp_path.iterdir()) == []


def test_a_bank_is_asked_for_a_scenario_by_its_id() -> None:
    """It is a collection of scenarios, and each is shown as text, with its markup as text."""
    bank = careeval.load_bank(GOOD_BANK)
    (first, *_) = bank
    assert bank[first.id] is first
    with pytest.raises(careeval.CareEvalError, match="has no scenario 'nobody-1'"):
        bank["nobody-1"]
    hostile = first.model_copy(update={"text": "<script>"})
    assert "<script>" not in hostile._repr_html_()
    assert first.actions[0].text in first._repr_html_()
    assert f"{len(bank)} scenarios" in repr(bank)
    assert bank.about.name in bank._repr_html_()
