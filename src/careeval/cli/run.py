"""`careeval run`: ask a system, or take its recorded answers, and grade them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from careeval.cli.app import OK, SOME_FAILED, USAGE, say
from careeval.cli.shared.options import Count, Flag, GradingOptions, Out, ScenarioOptions
from careeval.cli.shared.run_costs import SpendingOptions
from careeval.cli.shared.run_execution import is_readable, print_summary, report_unfinished, work
from careeval.core.response import Response
from careeval.core.scenario import Rubric
from careeval.core.text import counted
from careeval.errors import UsageError
from careeval.protocol.allowed_addresses import check_addresses
from careeval.protocol.held_out_runs import folder_of_run, make_private_folder, refuse_taken_name
from careeval.protocol.ledger import CALLS_FILE
from careeval.protocol.logs import logged_samples
from careeval.protocol.recorded_responses import read_responses
from careeval.protocol.retirements import retirement_notes
from careeval.protocol.run import N_EPOCHS, Outcome, Run, folder_name
from careeval.protocol.run_folder import (
    GRADED,
    amend_run,
    bank_of,
    is_complete,
    is_probe_check,
    kept_samples,
    latest_unfinished,
    n_lost_calls,
    orphaned_folders,
    read_run_file,
    refuse_links,
    run_folders,
)
from careeval.protocol.run_setup import (
    check_folder,
    discard,
    finish_setup,
    prepare_together,
    store_responses,
    unfinished_setups,
)
from careeval.protocol.selection import PAPER, read_roster
from careeval.protocol.sweep_cells import refuse_sweep
from careeval.protocol.workers import early_workers

RUNS = Path("runs")
"""The folder of runs whose own folder is not named."""

AMENDED = ("prices", "max_cost", "grader", "grader_base_url", "grader_args", "task")
"""The fields of a run that may change when it is resumed."""

EXAMPLES = """\
Examples:

A hosted model, graded by the default grader:

  careeval run -m openai/gpt-5.1 -o runs/first

What it would send and cost, and nothing sent:

  careeval run -m openai/gpt-5.1 --dry-run

In words and in acts, the scenarios and the worlds:

  careeval run -m openai/gpt-5.1 --bank 4 plans --max-cost 40

Two models side by side, for 20 dollars together:

  careeval run -m openai/gpt-5.1 -m google/gemini-3-pro --max-cost 20

The nine models of the paper, or those of a file of yours:

  careeval run --roster paper --dry-run

A server of your own:

  careeval run -m vllm/my-model --base-url http://localhost:8000/v1

A grader on a server of your own:

  careeval run -m openai/gpt-5.1 --grader vllm/m --grader-base-url http://gpu/v1

The embedded model, offline:

  careeval run -m gguf/smollm2-135m --grader careeval/lexical -o runs/offline

Answers that a robot or a person gave, one JSON object a line:

  careeval run --responses answers.jsonl -o runs/robot

A robot in a loop, one act at a time:

  careeval run -m openai/gpt-5.1 --bank plans --step --limit 6

What is left of a run that was stopped:

  careeval run --resume -o runs/first
"""

app = App(name="run", help_epilogue=EXAMPLES)


@Parameter(name="*")
@dataclass(frozen=True)
class AskingOptions:
    """Options for asking the system."""

    samples: Count | None = None
    """Responses to each scenario; 10 if not given, 1 with --step."""
    step: Flag = False
    """Ask for one act at a time, and tell what comes of each: worlds alone, --bank plans.

    A response is then four episodes, one for each answer of the person."""
    given: str | None = None
    """Give facts of each world (the default), told (with every rule), reminded, padded; seen (with
    a picture) or described; or ask closed questions: questions, or sight about the picture."""
    seed: int = 0
    """Seed of the answers, for providers that use one."""
    max_tokens: Count = 8192
    """At most this many tokens for one response, reasoning included."""
    base_url: str | None = None
    """Address of the model's server."""
    max_connections: Count | None = None
    """Calls in flight to the model, and to the grader."""


@app.default
def run(
    *,
    model: Annotated[list[str] | None, Parameter(name=("--model", "-m"), negative=())] = None,
    roster: str | None = None,
    grader: str | None = None,
    out: Out | None = None,
    name: str | None = None,
    responses: Path | None = None,
    grade: bool = True,
    resume_run: Annotated[bool, Parameter(name="--resume", negative=())] = False,
    scenarios: ScenarioOptions = ScenarioOptions(),
    asking: AskingOptions = AskingOptions(),
    grading: GradingOptions = GradingOptions(),
    spending: SpendingOptions = SpendingOptions(),
) -> int:
    """Ask models what they would do in each scenario, and have a grader judge what they say.

    Args:
        model: Inspect's name of a model: openai/…, anthropic/…, vllm/…, gguf/FILE.gguf; more than
            one are run side by side.
        roster: A list of models: `paper`, or a file with one name per line. `paper` is graded on
            the ladder unless --rubric says otherwise.
        grader: Inspect's name of the grader, openai/gpt-4o-2024-08-06 if not given;
            careeval/lexical grades offline by comparing words. With --resume, another one for a run
            of which nothing is graded yet.
        out: Folder of the run; runs/DATE-AND-TIME if not given.
        name: Name of the system in tables; the model's if not given.
        responses: JSON-lines file of recorded answers, instead of a model.
        grade: Whether to grade the responses; --no-grade only stores them.
        resume_run: Do what is left of the runs in the folder of -o; without -o, of the unfinished
            run below runs/ that was worked on last.
        scenarios: Which scenarios are used.
        asking: How the systems are asked.
        grading: How the grader is asked.
        spending: What may be sent and spent.
    """
    models = [*(model or []), *(read_roster(roster) if roster else [])]
    banks: list[Path | None] = [*scenarios.bank] if scenarios.bank else [None]
    if resume_run:
        other_grading = replace(grading, grader_base_url=None)
        typed = (name, grade, responses, replace(scenarios, bank=None), asking, other_grading)
        defaults = (None, True, None, ScenarioOptions(), AskingOptions(), GradingOptions())
        is_other = bool(models) or typed != defaults or len(banks) > 1
        address = grading.grader_base_url
        return _resume(out, is_other, banks[0], grader, address, spending)
    _refuse_none_or_both("-m" if model else "--roster" if models else "", responses)
    # a name of its own, so that nobody takes it for the system's run over the public split
    suffix = " (held-out)" if scenarios.split == "held-out" and name is None else ""
    root = out or RUNS / datetime.now().strftime("%Y-%m-%dT%H%M%S")
    refuse_sweep(root)
    if roster == PAPER and grading.rubric is None and any(map(_has_ladder, banks)):
        # the paper's printed rubric is a ladder
        grading = replace(grading, rubric=Rubric.ladder.value)
    if roster and spending.dry_run:  # else they are said before anything is sent
        for note in retirement_notes(models):
            say(note)
    _refuse_several(banks, responses, scenarios)
    placed: dict[Path, list[Run]] = {}
    answers: dict[str, list[Response]] = {}
    for bank in banks:
        options = _template(bank, grader, grade, scenarios, asking, grading, alone=len(banks) == 1)
        if responses is not None:
            runs, answers = _runs_of_answers(options, responses, name, asking, suffix)
        else:
            runs = _runs_of_models(options, models, name, asking, suffix)
        _refuse_shared_folders(runs)
        # one system has a run in each bank
        folder = root if bank is None or len(banks) == 1 else root / folder_name(bank.name)
        if folder in placed:
            raise UsageError(
                f"two banks would share the folder {folder.name!r}",
                hint="run one of them by itself, with another -o",
            )
        for each in runs:
            check_folder(folder_of_run(folder, each), each)
            refuse_taken_name(folder, each)
        placed[folder] = runs
    every = [each for runs in placed.values() for each in runs]
    check_addresses(every)
    with early_workers(0 if spending.dry_run else len(every)) as early:
        priced = {f: [spending.with_prices(each) for each in runs] for f, runs in placed.items()}
        every = [each for runs in priced.values() for each in runs]
        addresses = [each for each in (asking.base_url, grading.grader_base_url) if each]
        if (status := spending.confirm(every, typed=addresses)) is not None:
            return status
        outcomes = work(_prepare(root, priced, answers), fresh=True, early=early)
    return _finish(root, outcomes)


def _has_ladder(bank: Path | None) -> bool:
    from careeval.bank import bank_mode

    return Rubric.ladder in bank_mode(bank).rubrics


def _refuse_several(
    banks: Sequence[Path | None], responses: Path | None, scenarios: ScenarioOptions
) -> None:
    if len(banks) > len(set(banks)):
        raise UsageError("a bank is named twice", hint="name each once")
    if len(banks) > 1 and (responses is not None or scenarios.scenario):
        what = "--responses" if responses is not None else "--scenario"
        raise UsageError(f"{what} belongs to one bank", hint="name one --bank")


def _template(
    bank: Path | None,
    grader: str | None,
    grade: bool,
    scenarios: ScenarioOptions,
    asking: AskingOptions,
    grading: GradingOptions,
    *,
    alone: bool,
) -> Run:
    """Return a run over a bank, without a system.

    Beside other banks (not `alone`) it leaves out the options that its mode does not have.
    """
    from careeval.bank import bank_mode

    mode = bank_mode(bank)
    step = asking.step and (alone or mode.stepping is not None)
    given = mode.condition(asking.given if alone or mode.given else None)
    mode.prompts_for(step=step, given=given)
    if not alone and grading.rubric not in mode.rubrics:
        grading = replace(grading, rubric=None)
    if not alone and not mode.models_grade:
        grader = None
    return Run(
        "", None, (grader or mode.grader) if grade else None,
        asking.samples or (1 if step else N_EPOCHS),
        scenarios.task(bank) | grading.task() | {"step": step, "given": given},
        base_url=asking.base_url,
        grader_base_url=grading.grader_base_url, max_connections=asking.max_connections,
        protocol=mode.protocol,
    )  # fmt: skip


def _refuse_none_or_both(models: str, responses: Path | None) -> None:
    if models and responses is not None:
        raise UsageError(
            f"{models} and --responses exclude each other: "
            "answers come either from a model or from a file",
            hint="leave one of them out; to name the system of the recorded answers, use --name",
        )
    if not models and responses is None:
        raise UsageError(
            "give a model to ask, or a file of recorded answers",
            hint="add -m MODEL, --roster paper, or --responses FILE",
        )


def _runs_of_models(
    template: Run, models: Sequence[str], name: str | None, asking: AskingOptions, suffix: str
) -> list[Run]:
    if name is not None and len(models) > 1:
        raise _one_name(f"{len(models)} models are given")
    task = template.task | {"seed": asking.seed, "max_tokens": asking.max_tokens}
    return [
        replace(template, system=(name or model) + suffix, model=model, task=task)
        for model in models
    ]


def _runs_of_answers(
    template: Run, responses: Path, name: str | None, asking: AskingOptions, suffix: str
) -> tuple[list[Run], dict[str, list[Response]]]:
    if replace(asking, max_connections=None, step=False, given=None) != AskingOptions():
        raise UsageError(
            "recorded answers are only graded, no model is asked",
            hint="leave out --samples, --seed, --max-tokens and --base-url",
        )
    answers = read_responses(responses)
    if name is not None and len(answers) > 1:
        raise _one_name(f"{responses} has answers of {len(answers)}")
    task = template.task | {"responses": str(responses)}
    runs = [
        replace(template, system=(name or system) + suffix, task=task | {"system": system})
        for system in answers
    ]
    return runs, {(name or system) + suffix: own for system, own in answers.items()}


def _one_name(problem: str) -> UsageError:
    return UsageError(f"--name can name only one system, but {problem}", hint="leave out --name")


def _refuse_shared_folders(runs: Sequence[Run]) -> None:
    systems: dict[str, str] = {}
    for run in runs:
        folder = folder_name(run.system)
        if folder in systems:
            raise UsageError(
                f"{systems[folder]!r} and {run.system!r} would share the folder {folder!r}",
                hint="give each system once, or run one of the two with another --name",
            )
        systems[folder] = run.system


def _prepare(
    root: Path, placed: Mapping[Path, Sequence[Run]], answers: Mapping[str, list[Response]]
) -> list[Path]:
    """Set up the folders of all runs, or of none if one fails, and return them."""
    by_folder = {folder_of_run(place, run): run for place, runs in placed.items() for run in runs}
    try:
        for place, runs in placed.items():
            for run in runs:
                make_private_folder(place, run)
        for folder, run in by_folder.items():
            if run.model is None:
                by_folder[folder] = store_responses(folder, answers[run.system], run)
    except Exception:
        for folder in by_folder:
            discard(folder)
        raise
    return prepare_together(root, by_folder)


def _resume(
    out: Path | None,
    has_other_options: bool,
    bank: Path | None,
    grader: str | None,
    address: str | None,
    spending: SpendingOptions,
) -> int:
    if has_other_options:
        raise UsageError(
            "--resume takes all other options from the folder of the run",
            hint="give only -o, --grader, --grader-base-url, --bank, --max-cost, --prices and "
            "--allow-address",
        )
    if address and not grader:
        raise UsageError(
            "--grader-base-url is the address of another grader's server, and none is given",
            hint="add --grader MODEL, or leave --grader-base-url out",
        )
    refuse_sweep(out or RUNS)
    for each in unfinished_setups(out or RUNS):
        if is_readable(each, finish_setup):
            say(f"{each}: the run's set-up had been interrupted; it is now complete.")
    root = out or latest_unfinished(RUNS) or RUNS
    all_folders = [*run_folders(root), *orphaned_folders(root)]
    folders = [
        folder
        for folder in all_folders
        if is_readable(folder, refuse_links) and is_readable(folder, read_run_file)
    ]
    if all_folders and not folders:
        return USAGE
    damaged = len(all_folders) > len(folders)
    if not folders:
        raise UsageError(f"{root} has no run", hint="name a folder of runs with -o")
    if out is None:
        folders = [folder for folder in folders if not is_probe_check(folder)]
        if root == RUNS:
            say(f"Nothing is left to do: {RUNS} has no unfinished run of a system.")
            return OK
    unfinished_folders = [folder for folder in folders if not is_complete(folder)]
    if not unfinished_folders:
        say(f"{root}: nothing {'else ' if damaged else ''}is left to do.")
        return _finish(root, []) or (SOME_FAILED if damaged else OK)
    runs = {
        folder: spending.with_changes(
            _with_bank(bank, folder, _with_grader(grader, address, folder, spending))
        )
        for folder in unfinished_folders
        if is_readable(folder, n_lost_calls)
    }
    if not runs:
        return USAGE
    damaged |= len(runs) < len(unfinished_folders)
    for folder in runs:
        if n := n_lost_calls(folder):
            say(
                f"{folder}: {counted(n, 'paid call')} lost from {CALLS_FILE}: results that no log "
                "has are asked and paid for again."
            )
    check_addresses(runs.values())
    done = [(len(asked), len(graded)) for asked, graded in map(kept_samples, runs)]
    typed = [address] if address else []
    if (status := spending.confirm([*runs.values()], done, agreed=True, typed=typed)) is not None:
        return status
    for folder, amended in runs.items():
        if amended != read_run_file(folder):
            amend_run(folder, **{field: getattr(amended, field) for field in AMENDED})
    kept = "the models and the settings" if grader else "the models, the grader and the settings"
    say(f"Resuming {root} with {kept} it was started with.")
    return _finish(root, work(list(runs))) or (SOME_FAILED if damaged else OK)


def _with_bank(bank: Path | None, folder: Path, run: Run) -> Run:
    if run.asks_function and run.n_answers is None:
        raise UsageError(
            f"{folder} was stopped while its function was asked, which only Python can go on with",
            hint="repeat the careeval.run(…) that began it, with resume=True",
        )
    if bank is None:
        bank_of(folder)  # raises if the bank is not where it was
        return run
    from careeval.bank import bank_reference

    return replace(run, task=run.task | {"bank": bank_reference(bank)})


def _with_grader(
    grader: str | None, address: str | None, folder: Path, spending: SpendingOptions
) -> Run:
    """Return the run of a folder, with the grader replaced by the one typed, if any."""
    run = read_run_file(folder)
    old = run.grader, run.grader_base_url
    if grader is None or (grader, address or run.grader_base_url) == old:
        return run
    why, graded_run = "", folder
    if run.grader is None:
        why = "it was started without grading"
    elif folder.parent.name == GRADED:
        why, graded_run = f"it is a grading by {run.grader}", folder.parent.parent
    elif kept_samples(folder)[1] or logged_samples(folder)[0]:
        why = f"{run.grader} has begun to grade it"
    if why:
        raise UsageError(
            f"{folder} cannot be resumed with another grader: {why}",
            hint=f"resume without --grader, then: careeval grade {graded_run} --grader {grader}",
        )
    changed = replace(run, grader=grader, grader_base_url=address, grader_args={})
    return replace(changed, prices=run.prices | spending.with_prices(changed).prices)


def _finish(root: Path, outcomes: list[Outcome]) -> int:
    is_complete = all(outcome.complete for outcome in outcomes)
    status = OK if is_complete else report_unfinished(outcomes, root)
    if any(outcome.stopped for outcome in outcomes):
        return status
    # `work` has loaded this while the run went on
    from careeval.protocol.tables import read_runs

    runs = read_runs(root)
    is_graded = print_summary(runs)
    for note in runs.notes:
        say(note)
    if is_graded:
        say(f"For a page with all results: careeval report {root} -o report.html")
    elif status == OK:
        say(f"The responses are stored, ungraded. Grade them: careeval grade {root} --grader MODEL")
    return status
