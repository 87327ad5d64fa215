"""`careeval run`: ask a system, or take recorded answers, and grade what it says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from cyclopts.validators import Number

from careeval.cli.app import OK, SOME_FAILED
from careeval.cli.options import Grading, Scenarios
from careeval.cli.show import print_summary, say, stopped
from careeval.errors import UsageError
from careeval.protocol.answers import read_answers
from careeval.protocol.logs import read_runs
from careeval.protocol.run import (
    DEFAULT_GRADER,
    Outcome,
    Run,
    begin,
    begin_recorded,
    folder_name,
    resume,
    run_folders,
)
from careeval.results.summary import summarise

EXAMPLES = """A hosted model, graded by the default grader:

``careeval run -m openai/gpt-5.1 -o runs/first``

The embedded model, offline:

``careeval run -m gguf/smollm2-135m --grader careeval/lexical --max-tokens 200 -o runs/offline``

Answers that a robot or a person gave, one JSON object a line:

``careeval run --responses answers.jsonl -o runs/robot``

What is left of a run that was stopped:

``careeval run --resume -o runs/first``
"""

app = App(name="run", help_epilogue=EXAMPLES)


@Parameter(name="*")
@dataclass(frozen=True)
class Asking:
    """How the system is asked."""

    samples: Annotated[int, Parameter(validator=Number(gte=1))] = 10
    """Responses to each scenario."""
    seed: int = 0
    """Of the answers, for providers that honour one."""
    max_tokens: Annotated[int, Parameter(validator=Number(gte=1))] = 8192
    """Of one response, reasoning included."""
    base_url: str | None = None
    """Address of the model's server."""
    max_connections: Annotated[int | None, Parameter(validator=Number(gte=1))] = None
    """Calls in flight to each of model and grader."""


@app.default
def run(
    *,
    model: Annotated[str | None, Parameter(name=("--model", "-m"))] = None,
    grader: str = DEFAULT_GRADER,
    out: Annotated[Path | None, Parameter(name=("--out", "-o"))] = None,
    name: str | None = None,
    responses: Path | None = None,
    grade: bool = True,
    resume_run: Annotated[bool, Parameter(name="--resume", negative=())] = False,
    scenarios: Scenarios = Scenarios(),
    asking: Asking = Asking(),
    grading: Grading = Grading(),
) -> int:
    """Ask a model what it would do in each scenario, and have a grader judge what it says.

    Args:
        model: Inspect's name of the model: openai/…, anthropic/…, vllm/…, gguf/FILE.gguf.
        grader: Inspect's name of the grader; careeval/lexical grades offline by comparing words.
        out: Folder of the run; runs/DATE-AND-TIME where not given.
        name: Name of the system in tables; the model's where not given.
        responses: JSON-lines file of recorded answers, instead of a model.
        grade: Whether to grade what is said; --no-grade stores the responses.
        resume_run: Do what is left of the runs in the folder.
        scenarios: Which scenarios are put.
        asking: How the system is asked.
        grading: How the grader is asked.
    """
    if resume_run:
        return _resume(out, model, responses)
    if (model is None) == (responses is None):
        raise UsageError(
            "give a model to ask, or a file of recorded answers",
            hint="-m MODEL, or --responses FILE",
        )
    root = out or Path("runs") / datetime.now().strftime("%Y-%m-%dT%H%M%S")
    task = scenarios.task() | grading.task()
    judge = grader if grade else None
    if responses is not None:
        if replace(asking, max_connections=None) != Asking():
            raise UsageError(
                "recorded answers are not asked for",
                hint="leave --samples, --seed, --max-tokens and --base-url out",
            )
        outcomes = _recorded(responses, name, root, judge, task, asking.max_connections)
    else:
        assert model is not None
        task |= {"seed": asking.seed, "max_tokens": asking.max_tokens}
        system = name or model
        one = Run(
            system, model, judge, asking.samples, task, {}, asking.base_url, asking.max_connections
        )
        outcomes = [begin(one, root / folder_name(system))]
    return _finish(root, outcomes)


def _recorded(
    file: Path,
    name: str | None,
    root: Path,
    grader: str | None,
    task: dict[str, object],
    max_connections: int | None,
) -> list[Outcome]:
    answers = read_answers(file)
    if name is not None and len(answers) > 1:
        raise UsageError(
            f"{file} holds answers of {len(answers)} systems, and --name names one",
            hint="leave --name out",
        )
    folders = {system: root / folder_name(name or system) for system in answers}
    if len(set(folders.values())) < len(folders):
        raise UsageError(
            f"two systems of {file} have names that make the same folder", hint="rename one of them"
        )
    return [
        begin_recorded(
            folders[system], name or system, given, grader, task, max_connections=max_connections
        )
        for system, given in answers.items()
    ]


def _resume(out: Path | None, model: str | None, responses: Path | None) -> int:
    if model or responses:
        raise UsageError(
            "--resume knows what to do from the folder",
            hint="leave the model and the responses out",
        )
    root = out or max(
        Path("runs").glob("*"), key=lambda path: path.stat().st_mtime, default=Path("runs")
    )
    folders = run_folders(root)
    if not folders:
        raise UsageError(f"{root} holds no run", hint="name the folder with -o")
    say("Resuming with the model, the grader and the settings that the run began with.")
    return _finish(root, [resume(folder) for folder in folders])


def _finish(root: Path, outcomes: list[Outcome]) -> int:
    """Show what has come out, and what to do next."""
    if any(outcome.interrupted for outcome in outcomes):
        return stopped(root)
    runs = read_runs(root)
    summaries = summarise(runs)
    print_summary(summaries)
    for note in runs.notes:
        say(note)
    unfinished = [outcome for outcome in outcomes if not outcome.complete]
    for outcome in unfinished:
        again = f"careeval run --resume -o {root}"
        say(f"{outcome.folder}: {outcome.n_failed} samples failed; finish with: {again}")
    if summaries:
        say(f"The page: careeval report {root} -o report.html")
    elif not unfinished:
        say(f"The responses are stored, ungraded. Grade them: careeval grade {root} --grader MODEL")
    return SOME_FAILED if unfinished else OK
