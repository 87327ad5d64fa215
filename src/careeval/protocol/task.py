"""The CareEval task, as Inspect runs it.

`inspect eval careeval/careeval --model … --model-role grader=…`

A solver obtains a response and leaves it in the sample's store, where the grader and the log reader
find it even if a later step fails. A sample's metadata has all that the tables need of its
scenario; Inspect's transcript of a sample is emptied unless something went wrong.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from importlib.metadata import version
from typing import Any, cast

from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.event import Event
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage, ChatMessageUser, GenerateConfig
from inspect_ai.solver import Solver, TaskState

from careeval.bank import Bank
from careeval.core.response import grade_mode
from careeval.core.scenario import Scenario
from careeval.errors import ProtocolError
from careeval.protocol.calls import current_calls
from careeval.protocol.grader import find_response, grader_given
from careeval.protocol.grader import grade as grade_scorer
from careeval.protocol.held_out_runs import check_held_out_allowed
from careeval.protocol.run import MAX_TOKENS, N_EPOCHS
from careeval.protocol.selection import sample_metadata, selection_hashes, selection_of
from careeval.protocol.solvers import act, ask, recorded, user_content

TEMPERATURE = 1.0
"""The paper's temperature."""


@task
def careeval(
    bank: str | None = None,
    split: str = "public",
    adl: str | list[str] | None = None,
    scenario: str | list[str] | None = None,
    limit: int | None = None,
    twins: bool = False,
    part: str | list[str] | None = None,
    rubric: str | None = None,
    grade: bool = True,
    per_item: bool = False,
    grader_context: str = "none",
    prompts: str | None = None,
    seed: int = 0,
    grade_seed: int = 0,
    responses: str | None = None,
    system: str | None = None,
    max_tokens: int = MAX_TOKENS,
    all_required: bool = False,
    step: bool = False,
    given: str | None = None,
) -> Task:
    """Ask a system what it would do in each scenario, and have a grader judge its responses.

    Args:
        bank: Folder of the bank; careeval's own if not given.
        split: `public` or `held-out`.
        adl: ADLs to take, all if not given.
        scenario: Ids of scenarios to take, all bases if not given.
        limit: The most scenarios without added twins, taken from the ADLs in turn.
        twins: Whether to add the twins and controls of the chosen bases.
        part: Ids of the selected scenarios to ask about; all if not given. The run has the hash
            of the whole selection, so that the parts of a sweep are one run.
        rubric: `actions` or `ladder`; the actions if not given, the ladder if the selected
            scenarios have no actions.
        grade: Whether to grade; otherwise the responses are only stored.
        per_item: One grader call for each item; the default is one for each rubric.
        grader_context: `none` as in the paper, or `scenario` to show the grader the scenario.
        prompts: Folder of prompt files; careeval's own if not given.
        seed: Seed of the responses, for providers that honour one.
        grade_seed: Seed of the order in which items are shown to the grader.
        responses: JSON-lines file of recorded responses, instead of asking.
        system: Name of the system under test; needed with `responses`. Where a model is asked, the
            model's name if not given.
        max_tokens: The most tokens of one response, reasoning included.
        all_required: Whether a sample fails if `responses` lacks its response.
        step: Whether the system is asked for one act at a time.
        given: What the system is given of each scenario, where the bank's mode has a choice.
    """
    check_held_out_allowed(split)
    if grader_context not in {"none", "scenario"}:
        raise ProtocolError(
            f"grader context {grader_context!r} is not known", hint="use none or scenario"
        )
    selection = selection_of({
        "bank": bank, "split": split, "adl": adl, "scenario": scenario, "limit": limit,
        "twins": twins, "part": part, "rubric": rubric, "prompts": prompts, "step": step,
        "given": given,
    })  # fmt: skip
    loaded, texts = selection.bank, selection.prompts
    mode = loaded.mode
    required: dict[str, Any] = {"all_required": True} if all_required else {}
    # the solver is told the condition only where it has prompts of its own
    options: dict[str, Any] = {"mode": mode.name}
    if selection.given in mode.prompts_given:
        options["given"] = selection.given
    solver = _solver(responses, system, prompts, seed, options, required, step=step)
    names = [selection.rubric.value]
    scorer = grade_scorer(names, per_item, grader_context, prompts, grade_seed, mode.name)
    metadata = {
        **_bank_metadata(loaded, selection.scenarios),
        "system": system,
        "given": selection.given,
        "step": step,
        "recorded": responses is not None,
        "rubrics": names,
        "grade_mode": grade_mode(per_item=per_item, with_scenario=grader_context == "scenario"),
        "prompts": {"ask": texts.ask_hash, "grade": texts.grade_hash, "own": prompts is None},
        "seed": seed,
        "grade_seed": grade_seed,
    }
    return Task(
        name="careeval",
        dataset=MemoryDataset(
            [
                Sample(
                    id=s.id,
                    input=sample_input(s),
                    metadata=sample_metadata(s, [selection.rubric], step=step),
                )
                for s in selection.asked
            ],
            name=loaded.about.name,
        ),
        solver=solver,
        setup=grader_given() if grade else None,
        scorer=scorer if grade else None,
        cleanup=transcript_cleanup(graded=grade),
        epochs=Epochs(N_EPOCHS),
        config=GenerateConfig(temperature=TEMPERATURE, max_tokens=max_tokens),
        version=int(mode.protocol.partition("-")[0]),
        metadata={"careeval": metadata},
    )


def _solver(
    responses: str | None,
    system: str | None,
    prompts: str | None,
    seed: int,
    options: dict[str, Any],
    required: dict[str, Any],
    *,
    step: bool,
) -> Solver:
    """Return the solver that takes recorded responses, or else the one that asks the system."""
    if responses is not None and system is None:
        raise ProtocolError(
            "recorded responses are given without the name of their system", hint="give system=NAME"
        )
    if responses and system:
        return recorded(responses, system, mode=options["mode"], **required)
    return act(prompts, seed, options["mode"]) if step else ask(prompts, seed, **options)


def _bank_metadata(bank: Bank, selected: Sequence[Scenario]) -> dict[str, Any]:
    return {
        "software": version("careeval"),
        "protocol": bank.mode.protocol,
        "mode": bank.mode.name,
        "bank": bank.about.name,
        "bank_version": bank.about.version,
        "bank_provenance": bank.about.provenance,
        "bank_makers": list(bank.about.makers),
        **selection_hashes(selected),
    }


# Samples


def sample_input(scenario: Scenario) -> str | list[ChatMessage]:
    """Return what a system is asked: the text, or a message with the text and a picture."""
    if scenario.picture is None:
        return scenario.text
    return [ChatMessageUser(content=user_content(scenario.text, scenario.picture.data))]


def transcript_cleanup(*, graded: bool) -> Callable[[TaskState], Awaitable[None]]:
    """Return a function that removes a sample's transcript at its end if all went well.

    Outside a run of careeval, as in `inspect eval`, the transcript stays.
    """

    async def clean(state: TaskState) -> None:
        if current_calls() and _went_well(state, graded=graded):
            # the list itself, which Inspect copies into the log afterwards
            cast("list[Event]", transcript().events).clear()

    return clean


def _went_well(state: TaskState, *, graded: bool) -> bool:
    """Tell whether the response is answered, and every item of it judged if it is graded."""
    response = find_response(state)
    if response is None or not response.state.has_words:
        return False
    scores = list((state.scores or {}).values())
    judgments = [
        judgment
        for score in scores
        for rubric in (score.metadata or {})["rubrics"].values()
        for judgment in rubric["judgments"]
    ]
    return bool(scores) == graded and all(each["present"] is not None for each in judgments)
