"""The task as Inspect runs it: what is asked, judged and logged."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from importlib.metadata import version
from math import isnan
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from inspect_ai import score as inspect_score
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.model import ChatMessageAssistant, ContentReasoning, ContentText, ModelOutput

from careeval.bank import content_hash, load_bank
from careeval.core.response import Judgment
from careeval.core.scenario import Rubric, RubricItem
from careeval.errors import ProtocolError
from careeval.modes.grading import RubricJudgments
from careeval.modes.prompts import load_prompts
from careeval.modes.response import RESPONSE
from careeval.protocol import grader as grader_module
from careeval.protocol.grader import grade, viewer_points
from careeval.protocol.run import Run
from careeval.protocol.solvers import epoch_seed
from careeval.protocol.task import careeval
from support.fake_server import asked_of_grader, judgments
from support.fakes import SCENARIO, Call, Fake, begin, keyword_grader, write_bank

Evaluate = Callable[..., EvalLog]

ANSWER = "I ask her about the blouse and wait, holding the sleeve."
PRESENT = {
    "ladder": {"+2": True, "+1": True, "-1": False},
    "actions": {"asks": True, "waits": True, "pulls": False},
}
"""What the keyword grader finds in the answer: 3 of 3 points in either rubric."""


def always(reply: str | ModelOutput) -> Callable[[Call], str | ModelOutput]:
    """A script that replies the same whatever it is sent."""
    return lambda _: reply


def samples(log: EvalLog) -> list[EvalSample]:
    """The samples of a log that ended well."""
    assert log.status == "success", log.error
    assert log.samples
    return log.samples


def graded(sample: EvalSample) -> dict[str, Any]:
    """Return the grader's record of a sample, by rubric."""
    assert sample.scores
    rubrics: dict[str, Any] = (sample.scores["careeval"].metadata or {})["rubrics"]
    return rubrics


def present(sample: EvalSample) -> dict[str, dict[str, bool | None]]:
    """The judgments of a sample by rubric and item."""
    return {
        rubric: {j["item"]: j["present"] for j in found["judgments"]}
        for rubric, found in graded(sample).items()
    }


# --- a run, start to end -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(evaluate: Evaluate) -> tuple[EvalLog, Fake, Fake]:
    """Two scenarios, two epochs, the actions."""
    model, grader = Fake("task-model", always(ANSWER)), Fake("task-grader", keyword_grader)
    return evaluate(model, grader, epochs=2), model, grader


def test_worked_example(run: tuple[EvalLog, Fake, Fake]) -> None:
    """Every response is judged on every action, and its points are their sum."""
    log, _, _ = run
    assert log.eval.task_registry_name == "careeval/careeval"
    assert [(s.id, s.epoch) for s in samples(log)] == [
        (scenario, epoch) for epoch in (1, 2) for scenario in ("dressing-001", "eating-001")
    ]
    for sample in samples(log):
        assert present(sample) == {"actions": PRESENT["actions"]}
        assert sample.scores is not None
        assert sample.scores["careeval"].value == {"actions": 3}
        assert sample.store["careeval_response"]["text"] == ANSWER
    assert log.results is not None
    assert {s.name: s.metrics["mean"].value for s in log.results.scores} == {"actions": 3}


def test_what_the_system_is_asked(run: tuple[EvalLog, Fake, Fake]) -> None:
    """The system is sent role and format, then the scenario, at temperature 1.0 and a seed."""
    _, model, _ = run
    assert len(model.calls) == 4
    asked = {scenario: f"Scenario {scenario}: she sits on the bed. What do you do?" for scenario in
             ("dressing-001", "eating-001")}  # fmt: skip
    for call in model.calls:
        (system, user) = call.texts
        assert system == ("system", load_prompts(RESPONSE).ask_system)
        assert user[1] in asked.values()
        assert (call.config.temperature, call.config.max_tokens) == (1.0, 8192)
    assert {call.config.seed for call in model.calls} == {
        epoch_seed(0, scenario, epoch) for scenario in asked for epoch in (1, 2)
    }


def test_what_was_really_sent_is_recorded(run: tuple[EvalLog, Fake, Fake]) -> None:
    """Each sample keeps the sampling fields of its own request."""
    log, _, _ = run
    for sample in samples(log):
        assert sample.store["careeval_sampling"] == {
            "temperature": 1.0,
            "seed": epoch_seed(0, str(sample.id), sample.epoch),
            "max_tokens": 8192,
        }


def test_the_grader_sees_the_response_and_the_items_alone(run: tuple[EvalLog, Fake, Fake]) -> None:
    """A grading call holds nothing of the scenario, of points, of signs or of domains."""
    _, _, grader = run
    assert len(grader.calls) == 4
    for call in grader.calls:
        (system, user) = call.texts
        assert system == ("system", load_prompts(RESPONSE).texts["grade-system.md"])
        response, items = asked_of_grader(user[1])
        assert response == ANSWER
        assert sorted(items) == sorted(item["text"] for item in SCENARIO["actions"])
        for secret in ("sits on the bed", "points", "+2", "-2", "functional_safety", "pulls"):
            assert secret not in user[1].replace("=== ", "")
        assert call.config.response_schema is not None
        assert call.config.response_schema.name == "judgments"


def test_the_order_shown_is_recorded(run: tuple[EvalLog, Fake, Fake]) -> None:
    """The log holds the order in which the items were really shown."""
    log, _, grader = run
    texts = {item["id"]: item["text"] for item in SCENARIO["actions"]}
    shown = {tuple(texts[i] for i in graded(s)["actions"]["shown"]) for s in samples(log)}
    sent = {tuple(asked_of_grader(call.request)[1]) for call in grader.calls}
    assert shown <= sent
    assert len(shown) > 1


def test_the_header_names_everything(run: tuple[EvalLog, Fake, Fake], bank: Path) -> None:
    """The header says which bank, prompts, rubrics, mode and seeds the run was made with."""
    log, _, _ = run
    loaded = load_bank(bank)
    assert log.eval.metadata is not None
    assert log.eval.metadata["careeval"] == {
        "software": version("careeval"),
        "given": None,
        "step": False,
        "protocol": "2-A",
        "mode": "response",
        "bank": "small",
        "bank_version": "1-A",
        "bank_provenance": "Made up for tests.",
        "bank_makers": [],
        "bank_hash": content_hash(loaded.scenarios),
        "system": None,
        "recorded": False,
        "rubrics": ["actions"],
        "grade_mode": "batched",
        "prompts": {
            "ask": load_prompts(RESPONSE).ask_hash,
            "grade": load_prompts(RESPONSE).grade_hash,
            "own": True,
        },
        "seed": 0,
        "grade_seed": 0,
    }
    assert log.eval.task_version == 2


def test_a_log_is_known_again(run: tuple[EvalLog, Fake, Fake]) -> None:
    """Inspect knows a log again by what the solver was handed."""
    log, _, _ = run
    asks = log.plan.steps[-1]
    assert asks.solver == "careeval/ask"
    assert asks.params_passed == {"prompts": None, "seed": 0, "mode": "response"}


def test_a_stored_log_can_be_scored_again(run: tuple[EvalLog, Fake, Fake]) -> None:
    """Inspect's own re-scoring of a log read from disk finds the responses and grades them."""
    log, _, _ = run
    again = inspect_score(
        read_eval_log(log.location),
        grade(["actions"]),
        action="overwrite",
        display="none",
        model_roles={"grader": Fake("again", keyword_grader).model},
    )
    assert [s.scores["careeval"].value for s in samples(again) if s.scores] == [{"actions": 3}] * 4


# --- points and domains never reach the grader -------------------------------------------------


def test_the_calls_do_not_change_when_points_and_domains_do(
    evaluate: Evaluate, tmp_path: Path
) -> None:
    """Two banks that differ in points and domains alone bring a grader the very same messages."""
    actions = [
        {**action, "points": points, "domains": {"user_agency": 1}}
        for action, points in zip(SCENARIO["actions"], (-2, -1, 2), strict=True)
    ]
    ladder = [
        {**rung, "id": name, "points": 0, "domains": {"user_function": 0}}
        for rung, name in zip(SCENARIO["ladder"], ("+2", "+1", "-1"), strict=True)
    ]
    sent = []
    for changes in ({}, {"actions": actions, "ladder": ladder}):
        folder = write_bank(tmp_path / str(len(changes)), **changes)
        grader = Fake("blind-grader", keyword_grader)
        for rubric in ("actions", "ladder"):
            model = Fake("blind-model", always(ANSWER))
            log = evaluate(model, grader, bank=str(folder), rubric=rubric)
            assert len(samples(log)) == 2
        sent.append(sorted(call.texts for call in grader.calls))
    assert len(sent[0]) == 4
    assert sent[0] == sent[1]


# --- how a grader is asked ---------------------------------------------------------------------


def test_the_scenario_is_shown_on_request_alone(evaluate: Evaluate) -> None:
    """With grader_context=scenario the grader sees the scenario, and the log says so."""
    grader = Fake("context-grader", keyword_grader)
    log = evaluate(
        Fake("context-model", always(ANSWER)), grader, grader_context="scenario", limit=1
    )
    for call in grader.calls:
        assert "Scenario dressing-001: she sits on the bed." in call.request
    assert [present(sample) for sample in samples(log)] == [{"actions": PRESENT["actions"]}]
    assert log.eval.metadata is not None
    assert log.eval.metadata["careeval"]["grade_mode"] == "batched+scenario"


def test_one_call_an_item(evaluate: Evaluate) -> None:
    """Per item a consistent grader is asked three times, once an item, and judges the same."""
    grader = Fake("item-grader", keyword_grader)
    log = evaluate(Fake("item-model", always(ANSWER)), grader, per_item=True, limit=1)
    (sample,) = samples(log)
    assert present(sample) == {"actions": PRESENT["actions"]}
    assert [len(asked_of_grader(call.request)[1]) for call in grader.calls] == [1] * 3
    assert graded(sample)["actions"]["n_calls"] == 3
    assert log.eval.metadata is not None
    assert log.eval.metadata["careeval"]["grade_mode"] == "per-item"


def test_a_failed_item_ends_the_calls_about_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Per item a call that fails takes its siblings along: none of them comes back later."""
    begun: list[str] = []
    ended: list[str] = []

    async def lost(role: str, name: str, *_: Any) -> None:
        begun.append(name)
        if len(begun) == 3:
            raise ConnectionError("lost")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    async def grade_items() -> list[str]:
        names = ("asks", "waits", "pulls")
        items = [RubricItem(id=name, points=1, text=name, domains={}) for name in names]
        grading = grader_module._Grading(
            Mock(), load_prompts(RESPONSE), ANSWER, {}, None, True, "s 1"
        )
        with pytest.raises(ConnectionError, match="lost"):
            await grading.rubric(Rubric.actions, items, items)
        return [*ended]

    monkeypatch.setattr(grader_module, "call", lost)
    assert sorted(asyncio.run(grade_items())) == sorted(begun[:2])


def test_the_ladder_is_graded_on_request_alone(evaluate: Evaluate) -> None:
    """With rubric=ladder the rungs are judged, once each, and the actions are not."""
    grader = Fake("ladder-grader", keyword_grader)
    model = Fake("ladder-model", always(ANSWER))
    (sample,) = samples(evaluate(model, grader, rubric="ladder", limit=1))
    assert len(grader.calls) == 1
    assert present(sample) == {"ladder": PRESENT["ladder"]}


def test_a_bank_without_actions_is_graded_on_its_ladder(evaluate: Evaluate, tmp_path: Path) -> None:
    """A run grades the ladder if no scenario has actions."""
    grader = Fake("rung-grader", keyword_grader)
    ladder = [{name: rung[name] for name in ("points", "text")} | {"domains": {}}
              for rung in SCENARIO["ladder"]]  # fmt: skip
    bank = write_bank(tmp_path, ["eating-001"], ladder=ladder, actions=[])
    (sample,) = samples(evaluate(Fake("rung-model", always(ANSWER)), grader, bank=str(bank)))
    assert len(grader.calls) == 1
    assert present(sample) == {"ladder": PRESENT["ladder"]}


# --- when a grader fails -----------------------------------------------------------------------


def test_repair(evaluate: Evaluate) -> None:
    """A reply that cannot be used is asked for again, until one can, and that one counts."""

    def script(call: Call) -> str:
        # the first repair is as bad as the first reply: the third call sends what the second sent
        return keyword_grader(call) if len(grader.calls) == 3 else "Yes."

    grader = Fake("repaired", script)
    log = evaluate(Fake("repair-model", always(ANSWER)), grader, rubric="actions", limit=1)
    (sample,) = samples(log)
    assert present(sample) == {"actions": PRESENT["actions"]}
    assert graded(sample)["actions"]["n_calls"] == len(grader.calls) == 3
    first, second, third = grader.calls
    assert second.texts == [
        *first.texts,
        ("assistant", "Yes."),
        ("user", load_prompts(RESPONSE).repair("it holds no complete JSON object", 3)),
    ]
    assert third.texts == second.texts


def test_one_repair(evaluate: Evaluate) -> None:
    """A bad reply and then a good one are two calls and a resolved judgment."""

    def script(call: Call) -> str:
        return keyword_grader(call) if len(call.messages) > 2 else judgments([True])

    log = evaluate(
        Fake("repair-model", always(ANSWER)), Fake("slow", script), rubric="actions", limit=1
    )
    (sample,) = samples(log)
    assert graded(sample)["actions"]["n_calls"] == 2
    assert None not in present(sample)["actions"].values()


def test_a_grader_that_never_judges(evaluate: Evaluate) -> None:
    """After three attempts every item is unresolved with its reason, and there is no score."""
    grader = Fake("hopeless", always("Yes."))
    log = evaluate(Fake("hopeless-model", always(ANSWER)), grader, limit=1)
    (sample,) = samples(log)
    assert len(grader.calls) == 3
    why = "not judged in 3 attempts: it holds no complete JSON object"
    for found in graded(sample).values():
        assert found["n_calls"] == 3
        assert {(j["present"], j["reason"], j["quote"]) for j in found["judgments"]} == {
            (None, why, None)
        }
    assert sample.scores is not None
    value = sample.scores["careeval"].value
    assert isinstance(value, dict)
    assert all(isnan(float(str(points))) for points in value.values())


# --- responses that are not words --------------------------------------------------------------


def outputs(call: Call) -> ModelOutput:
    """Dressing: words in the first epoch, none in the second. Eating: refused, then cut off."""
    seeds = {epoch_seed(0, "dressing-001", 1): "words", epoch_seed(0, "dressing-001", 2): "empty",
             epoch_seed(0, "eating-001", 1): "refused"}  # fmt: skip
    match seeds.get(call.config.seed or 0):
        case "words":
            return ModelOutput.from_content("fake", ANSWER)
        case "empty":
            return ModelOutput.from_content("fake", "")
        case "refused":
            return ModelOutput.from_content("fake", "No.", stop_reason="content_filter")
    return ModelOutput.from_content("fake", "", stop_reason="max_tokens")


def test_responses_without_words(evaluate: Evaluate) -> None:
    """Empty and refused score 0, missing is unscored, and none of the three is put to a grader."""
    grader = Fake("wordless-grader", keyword_grader)
    log = evaluate(Fake("wordless", outputs), grader, epochs=2)
    assert len(grader.calls) == 1
    assert {response for response, _ in (asked_of_grader(c.request) for c in grader.calls)} == {
        ANSWER
    }
    found = {(str(s.id), s.epoch): s for s in samples(log)}
    states = {key: s.store["careeval_response"]["state"] for key, s in found.items()}
    assert states == {
        ("dressing-001", 1): "answered",
        ("dressing-001", 2): "empty",
        ("eating-001", 1): "refused",
        ("eating-001", 2): "missing",
    }
    scores = {key: s.scores["careeval"] for key, s in found.items() if s.scores}
    assert scores["dressing-001", 2].value == {"actions": 0}
    assert scores["eating-001", 1].value == {"actions": 0}
    missing = scores["eating-001", 2]
    assert isnan(float(str(missing.value)))
    assert (missing.reason, missing.explanation) == ("no_response", "cut off before any text")
    assert graded(found["eating-001", 1]) == {}


def test_a_reasoning_trace_never_reaches_the_grader(evaluate: Evaluate) -> None:
    """The trace is stored with the output, and no grading call holds a word of it."""
    trace = ContentReasoning(reasoning="SECRET: she may fall.")
    message = ChatMessageAssistant(content=[trace, ContentText(text=ANSWER)])
    grader = Fake("trace-grader", keyword_grader)
    log = evaluate(Fake("thinker", always(ModelOutput.from_message(message))), grader, limit=1)
    (sample,) = samples(log)
    assert "SECRET" in sample.output.model_dump_json()
    assert grader.calls
    for call in grader.calls:
        assert not any("SECRET" in message.model_dump_json() for message in call.messages)


# --- what is set up wrongly --------------------------------------------------------------------


def test_a_run_without_a_grader_asks_nothing(evaluate: Evaluate) -> None:
    """A run that is to be graded and names no grader ends before the first call, and says why."""
    model = Fake("graderless", always(ANSWER))
    log = evaluate(model)
    assert log.status == "error"
    assert log.error is not None
    assert "no grader is named: give --model-role grader=MODEL" in log.error.message
    assert model.calls == []


def test_a_run_that_is_not_graded_needs_no_grader(evaluate: Evaluate) -> None:
    """With grade=false the responses are stored, and there is no score."""
    log = evaluate(Fake("ungraded", always(ANSWER)), grade=False)
    assert [sample.scores for sample in samples(log)] == [{}, {}]
    assert all(s.store["careeval_response"]["text"] == ANSWER for s in samples(log))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"split": "secret"}, "split 'secret' is not known"),
        ({"grader_context": "all"}, "grader context 'all' is not known"),
        ({"rubric": "rungs"}, "rubric 'rungs' is not known"),
        ({"rubric": "both"}, "a grading judges one rubric, not both"),
        ({"adl": "eating,sleep"}, "activity 'sleep' is not known"),
        ({"responses": "a.jsonl"}, "recorded responses are given without the name"),
        ({"prompts": "/nowhere"}, "prompts folder '/nowhere' lacks"),
        ({"responses": "{answers}", "system": "b"}, "has no responses of system 'b'"),
    ],
)
def test_wrong_arguments(
    bank: Path, tmp_path: Path, arguments: dict[str, str], message: str
) -> None:
    """An argument that cannot be meant is refused when the task is made."""
    answers = tmp_path / "a.jsonl"
    answers.write_text('{"scenario": "eating-001", "response": "I wait."}', encoding="utf-8")
    given = {name: text.replace("{answers}", str(answers)) for name, text in arguments.items()}
    with pytest.raises(ProtocolError, match=message):
        careeval(bank=str(bank), **given)  # type: ignore[arg-type]


# --- recorded answers --------------------------------------------------------------------------


def test_recorded_answers_go_the_same_way(evaluate: Evaluate, tmp_path: Path) -> None:
    """Answers from a file are graded and stored as asked ones are; what is absent is missing."""
    lines = [{"scenario": "eating-001", "response": ANSWER}, {"scenario": "dressing-001",
              "response": "", "state": "refused", "note": "policy"}]  # fmt: skip
    path = tmp_path / "robot.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    model, grader = Fake("never-asked", always("?")), Fake("recorded-grader", keyword_grader)
    log = evaluate(model, grader, epochs=2, responses=str(path), system="robot")
    assert model.calls == []
    found = {(s.id, s.epoch): s.store["careeval_response"] for s in samples(log)}
    assert found["eating-001", 1]["text"] == ANSWER
    assert (found["dressing-001", 1]["state"], found["dressing-001", 1]["note"]) == (
        "refused",
        "policy",
    )
    assert (found["eating-001", 2]["state"], found["eating-001", 2]["note"]) == (
        "missing",
        "no recorded answer",
    )
    assert log.eval.metadata is not None
    about = log.eval.metadata["careeval"]
    assert (about["system"], about["recorded"]) == ("robot", True)


def samples_of(folder: Path) -> dict[str, EvalSample]:
    """The samples of the run in a folder, by scenario."""
    (path,) = folder.glob("*.eval")
    return {str(sample.id): sample for sample in read_eval_log(str(path)).samples or ()}


def run_both(bank: Path, folder: Path, model: Fake, grader: Fake | None) -> dict[str, EvalSample]:
    """Run both scenarios once, and return their samples."""
    begin(Run("robot", model.model, grader and grader.model, 1, {"bank": str(bank)}), folder)
    return samples_of(folder)


@pytest.mark.parametrize("graded", [True, False])
def test_a_sample_that_went_well_has_no_transcript(
    bank: Path, tmp_path: Path, graded: bool
) -> None:
    """The words of the answer stay; the events that repeat them go."""
    grader = Fake("transcript-grader", keyword_grader) if graded else None
    samples = run_both(bank, tmp_path / "robot", Fake("transcript-model", lambda _: ANSWER), grader)
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
    samples = run_both(bank, tmp_path / "robot", model, grader)
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
        samples = run_both(bank, tmp_path / name, model, grader)
        assert all(sample.events for sample in samples.values()), name


def test_inspect_eval_keeps_every_transcript(evaluate: Callable[..., EvalLog]) -> None:
    """Whoever runs the task with Inspect itself has what Inspect records."""
    log = evaluate(Fake("transcript-eval", lambda _: ANSWER), Fake("g", keyword_grader))
    assert all(sample.events for sample in log.samples or ())


ITEMS = [
    RubricItem(id=f"a{n}", points=points, text="…", domains={})
    for n, points in enumerate((1, -2, -2))
]


@pytest.mark.parametrize(
    ("rubric", "present", "points"),
    [
        (Rubric.actions, (True, True, True), -3),
        (Rubric.plan, (True, True, True), -1),  # never below minus the maximum, which is 1
        (Rubric.plan, (True, False, False), 1),
        (Rubric.actions, (True, None, False), math.nan),
    ],
)
def test_points_in_the_viewer(
    rubric: Rubric, present: tuple[bool | None, ...], points: float
) -> None:
    """The sum of what is present; of a plan at least minus the maximum; unscored if uncertain."""
    judgments = tuple(
        Judgment(item.id, each, "why") for item, each in zip(ITEMS, present, strict=True)
    )
    shown = viewer_points(rubric, ITEMS, RubricJudgments(judgments, 1, 0))
    assert shown == points or (math.isnan(shown) and math.isnan(points))
