"""Inspect's record of events: kept where something went wrong, left out where nothing did."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.model import ModelOutput

from careeval.protocol.run import Run
from support.fakes import Call, Fake, begin, keyword_grader

ANSWER = "I ask her about the blouse and wait, holding the sleeve."


def samples_of(folder: Path) -> dict[str, EvalSample]:
    """The samples of the run in a folder, by scenario."""
    (path,) = folder.glob("*.eval")
    return {str(sample.id): sample for sample in read_eval_log(str(path)).samples or ()}


def run(bank: Path, folder: Path, model: Fake, grader: Fake | None) -> dict[str, EvalSample]:
    """Run both scenarios once, and return their samples."""
    begin(Run("robot", model.model, grader and grader.model, 1, {"bank": str(bank)}), folder)
    return samples_of(folder)


@pytest.mark.parametrize("graded", [True, False])
def test_a_sample_that_went_well_has_no_transcript(
    bank: Path, tmp_path: Path, graded: bool
) -> None:
    """The words of the answer stay; the events that repeat them go."""
    grader = Fake("transcript-grader", keyword_grader) if graded else None
    samples = run(bank, tmp_path / "robot", Fake("transcript-model", lambda _: ANSWER), grader)
    assert [len(sample.events) for sample in samples.values()] == [0, 0]
    for sample in samples.values():
        assert [message.text for message in sample.messages][1] == sample.input
        assert sample.output.completion == ANSWER
        assert sample.store["careeval_sampling"].keys() == {"temperature", "seed", "max_tokens"}
        assert sample.model_usage["fake/transcript-model"].output_tokens == 5


def test_a_sample_with_an_unresolved_judgment_keeps_its_transcript(
    bank: Path, tmp_path: Path
) -> None:
    """The transcript with the grader's replies is kept; the other sample has none."""

    def half(call: Call) -> str:
        return keyword_grader(call) if ANSWER in call.request else "Yes."

    answers = iter([ANSWER, "I do nothing."])
    model, grader = Fake("half", lambda _: next(answers)), Fake("half-grader", half)
    samples = run(bank, tmp_path / "robot", model, grader)
    kept = {name: bool(sample.events) for name, sample in samples.items()}
    assert sorted(kept.values()) == [False, True]
    (name,) = (name for name in kept if kept[name])
    said = [e.output.completion for e in samples[name].events if e.event == "model"]
    assert said == ["I do nothing.", "Yes.", "Yes.", "Yes."]


def test_a_refusal_and_a_failed_call_keep_their_transcripts(bank: Path, tmp_path: Path) -> None:
    """So does a sample whose grading broke off."""

    def refuse(_: Call) -> ModelOutput:
        return ModelOutput.from_content("fake", "No.", stop_reason="content_filter")

    def fail(_: Call) -> str:
        raise RuntimeError("it fell over")

    well = Fake("transcript-well", lambda _: ANSWER)
    for name, model, grader in (
        ("refused", Fake("transcript-refuses", refuse), Fake("g", keyword_grader)),
        ("failed", Fake("transcript-fails", fail), None),
        ("ungraded", well, Fake("transcript-no-grader", fail)),
    ):
        samples = run(bank, tmp_path / name, model, grader)
        assert all(sample.events for sample in samples.values()), name


def test_inspect_eval_keeps_every_transcript(evaluate: Callable[..., EvalLog]) -> None:
    """Whoever runs the task with Inspect itself has what Inspect records."""
    log = evaluate(Fake("transcript-eval", lambda _: ANSWER), Fake("g", keyword_grader))
    assert all(sample.events for sample in log.samples or ())
