"""The CareEval task, as Inspect runs it.

`inspect eval careeval/careeval --model … --model-role grader=…`
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.solver import Solver

from careeval.bank import Bank, load_bank
from careeval.bank.sealed import key_for_split
from careeval.core.response import grade_mode
from careeval.core.scenario import Rubric, Scenario, Split
from careeval.errors import ProtocolError
from careeval.modes.prompts import load_prompts
from careeval.modes.version import PROTOCOL_VERSION
from careeval.protocol.asking import ask, recorded, sample_metadata, transcript_cleanup
from careeval.protocol.grader import grade as grade_scorer
from careeval.protocol.grader import grader_given
from careeval.protocol.held_out_runs import check_held_out_allowed
from careeval.protocol.run import MAX_TOKENS
from careeval.protocol.selection import (
    rubrics_graded,
    scenarios_of_slice,
    select_scenarios,
    selection_hashes,
)

N_EPOCHS = 10
TEMPERATURE = 1.0
"""The paper's number of responses per scenario: ten, at temperature 1.0."""


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
) -> Task:
    """Ask a system what it would do in each scenario, and have a grader judge its responses.

    Args:
        bank: Folder of the bank; careeval's own where not given.
        split: `public` or `held-out`.
        adl: ADLs to take, all where not given.
        scenario: Ids of scenarios to take, all bases where not given.
        limit: The most scenarios without added twins, taken from the ADLs in turn.
        twins: Whether to add the twins and controls of the chosen bases.
        part: Ids of the selected scenarios to ask about; all where not given. The run has the hash
            of the whole selection, so that the parts of a sweep are one run.
        rubric: `actions` or `ladder`; the actions where not given, the ladder where the selected
            scenarios have no actions.
        grade: Whether to grade; otherwise the responses are only stored.
        per_item: One grader call for each item, where the default is one for each rubric.
        grader_context: `none` as in the paper, or `scenario` to show the grader the scenario.
        prompts: Folder of prompt files; careeval's own where not given.
        seed: Seed of the responses, for providers that honour one.
        grade_seed: Seed of the order in which items are shown to the grader.
        responses: JSON-lines file of recorded responses, instead of asking.
        system: Name of the system under test; needed with `responses`. Where a model is asked, the
            model's name if not given.
        max_tokens: The most tokens of one response, reasoning included.
        all_required: Whether a sample fails if `responses` lacks its response.
    """
    check_held_out_allowed(split)
    loaded = load_bank(bank, key_for_split(split), probes=False)
    mode = loaded.mode
    texts = load_prompts(mode, Path(prompts) if prompts else None)
    _check_values(grader_context, split)
    selected = select_scenarios(
        loaded, Split(split), _listed(adl), _listed(scenario), limit, twins=twins
    )
    asked = scenarios_of_slice(selected, _listed(part))
    rubrics = rubrics_graded(rubric, selected, mode)
    names = [r.value for r in rubrics]
    required: dict[str, Any] = {"all_required": True} if all_required else {}
    solver = _solver(responses, system, prompts, seed, mode.name, required)
    scorer = grade_scorer(names, per_item, grader_context, prompts, grade_seed, mode.name)
    metadata = {
        **_bank_metadata(loaded, selected),
        "system": system,
        "recorded": responses is not None,
        "rubrics": names,
        "grade_mode": grade_mode(per_item=per_item, with_scenario=grader_context == "scenario"),
        "prompts": {"ask": texts.ask_hash, "grade": texts.grade_hash, "own": prompts is None},
        "seed": seed,
        "grade_seed": grade_seed,
    }
    return Task(
        name="careeval",
        dataset=MemoryDataset([_sample(s, rubrics) for s in asked], name=loaded.about.name),
        solver=solver,
        setup=grader_given() if grade else None,
        scorer=scorer if grade else None,
        cleanup=transcript_cleanup(graded=grade),
        epochs=Epochs(N_EPOCHS),
        config=GenerateConfig(temperature=TEMPERATURE, max_tokens=max_tokens),
        version=int(PROTOCOL_VERSION.partition("-")[0]),
        metadata={"careeval": metadata},
    )


def _check_values(grader_context: str, split: str) -> None:
    """Check the two arguments that accept only a few values: grader context and split.

    Raises:
        ProtocolError: One of the two has another value.
    """
    if grader_context not in {"none", "scenario"}:
        raise ProtocolError(
            f"grader context {grader_context!r} is not known", hint="use none or scenario"
        )
    if split not in Split.__members__.values():
        raise ProtocolError(f"split {split!r} is not known", hint=f"use {' or '.join(Split)}")


def _solver(
    responses: str | None,
    system: str | None,
    prompts: str | None,
    seed: int,
    mode: str,
    required: dict[str, Any],
) -> Solver:
    """Return the solver that takes recorded responses, or the solver that asks the system.

    Raises:
        ProtocolError: Recorded responses are given without the name of their system.
    """
    if responses is not None and system is None:
        raise ProtocolError(
            "recorded responses are given without the name of their system", hint="give system=NAME"
        )
    if responses and system:
        return recorded(responses, system, mode=mode, **required)
    return ask(prompts, seed, mode)


def _bank_metadata(bank: Bank, selected: Sequence[Scenario]) -> dict[str, Any]:
    """Return a log's metadata about the software, the bank and the selected scenarios."""
    return {
        "software": version("careeval"),
        "protocol": PROTOCOL_VERSION,
        "mode": bank.mode.name,
        "bank": bank.about.name,
        "bank_version": bank.about.version,
        "bank_provenance": bank.about.provenance,
        "bank_makers": list(bank.about.makers),
        **selection_hashes(selected),
    }


def _sample(scenario: Scenario, rubrics: list[Rubric]) -> Sample:
    return Sample(id=scenario.id, input=scenario.text, metadata=sample_metadata(scenario, rubrics))


def _listed(value: str | list[str] | None) -> list[str]:
    """Return the names in a task argument: one name, names with commas, or a list."""
    if value is None:
        return []
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else list(value)
