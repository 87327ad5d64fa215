"""careeval from Python: functions to begin a run and to read results as tables for a notebook."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any, overload

import polars as pl

from careeval.bank import bank_reference, load_bank
from careeval.core.scenario import Rubric
from careeval.core.text import counted
from careeval.errors import ProtocolError, UsageError
from careeval.protocol.allowed_addresses import remember
from careeval.protocol.estimate import priced
from careeval.protocol.prices import FREE, Price, prices_of_tables, read_prices
from careeval.protocol.providers import missing_keys
from careeval.protocol.recorded_responses import (
    AT_ONCE,
    FailedCall,
    Function,
    Question,
    ask_function,
    kept_responses,
    write_responses,
)
from careeval.protocol.run import N_EPOCHS, Outcome, Run, folder_name
from careeval.protocol.run_files import locked
from careeval.protocol.run_folder import (
    RESPONSES_FILE,
    RUN_FILE,
    amend_run,
    is_complete,
    read_run_file,
)
from careeval.protocol.run_setup import check_folder, prepare
from careeval.protocol.tables import read_runs
from careeval.protocol.workers import carry_out
from careeval.results.entries import entries
from careeval.results.entry import Entry as Summary
from careeval.results.tables import Runs
from careeval.sheets.markup import html
from careeval.sheets.sheet import Document
from careeval.sheets.summary import summary_document
from careeval.sheets.words import headline_sentences


@dataclass(frozen=True)
class Summaries(Sequence[Summary]):
    """Summaries of entries, each a system with a grading; shown as by `careeval summary`."""

    entries: tuple[Summary, ...]

    @overload
    def __getitem__(self, place: int) -> Summary: ...
    @overload
    def __getitem__(self, place: slice) -> Summaries: ...
    def __getitem__(self, place: int | slice) -> Summary | Summaries:
        """Return the summary at an index, or the summaries of a slice."""
        chosen = self.entries[place]
        return chosen if isinstance(chosen, Summary) else Summaries(chosen)

    def __iter__(self) -> Iterator[Summary]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def document(self) -> Document:
        """The document that `careeval summary` prints for these summaries."""
        return summary_document(self.entries)

    def __repr__(self) -> str:
        return "\n".join(headline_sentences(self.entries))

    def _repr_html_(self) -> str:
        return html(self.document)


def summarise(runs: Runs) -> Summaries:
    """Return a summary of each entry, a system with a grading; empty if nothing was judged."""
    return Summaries(tuple(entries(runs)))


def summary_frame(results: Runs | Iterable[Summary]) -> pl.DataFrame:
    """Return the table of `careeval summary --format csv` as a polars frame, one row per entry.

    Scores and shares are fractions. An unknown one is null; the column `…_reason` says why.

    Args:
        results: The runs, or what `summarise` returned for them.
    """
    entries = summarise(results) if isinstance(results, Runs) else results
    return Summaries(tuple(entries)).document.data.data.frame


def run(
    system: str | Function,
    out: str | Path,
    *,
    grader: str | None = None,
    name: str | None = None,
    scenarios: Iterable[str] | None = None,
    epochs: int | None = None,
    step: bool = False,
    given: str | None = None,
    bank: str | Path | None = None,
    rubric: Rubric | None = None,
    max_tokens: int | None = None,
    base_url: str | None = None,
    max_connections: int | None = None,
    prices: str | Path | Mapping[str, Mapping[str, float]] | None = None,
    max_cost: float | None = None,
    yes: bool = False,
    resume: bool = False,
) -> Runs:
    """Ask a system about scenarios, grade its responses, and return the run's tables.

    `careeval run` does the same with a display and more options.

    A function is called once for each scenario and epoch, several calls at a time, and each
    response is on disk as soon as it has come. A plain function is called in threads, so set
    `max_connections=1` for one that must not be called twice at the same time; a coroutine function
    runs in an event loop of its own. A call that raises an exception costs its response alone: the
    others are kept and graded, and resuming makes only the calls that are missing.

    Args:
        system: Inspect's name of a model, as `openai/gpt-5.1`; or a function from a scenario to the
            text of a response, which may be asynchronous.
        out: Folder for runs; this one goes into a subfolder with the system's name.
        grader: Inspect's name of the grader; the bank's default if not given.
        name: Name of the system in tables; the model's or the function's if not given.
        scenarios: Ids; all public base scenarios if not given.
        epochs: Responses to each scenario; 10 if not given, 1 with `step`.
        step: Whether to ask for one act at a time, in a bank of worlds. A response is then episodes
            for each answer of the person; a function returns their text.
        given: What is given of each world: `facts`, `told`, `reminded`, `padded` or `questions`;
            `facts` if not given.
        bank: Folder of the bank; careeval's own if not given.
        rubric: The rubric to grade; if not given, the actions, or the ladder of a bank without
            actions.
        max_tokens: The most tokens of one response of a model, reasoning included.
        base_url: Address of the model's server.
        max_connections: The most calls in flight to the system, and as many to the grader; if not
            given, 10 for a function, and as many as a model takes.
        prices: TOML file with prices of your own, or its content: Inspect's name of a model →
            dollars per million tokens of `input` and `output`.
        max_cost: Dollars that may be spent; needed if calls cost money, unless `yes`.
        yes: Whether calls may cost money without a limit.
        resume: Whether to do the rest of this run if the folder has a part of it. Only prices,
            limits and connections may then differ from those that it was begun with.

    Raises:
        UsageError: The calls would cost money, and there is neither `max_cost` nor `yes`; a key is
            missing; or there is `max_cost` and the price of a model is not known.
        BankError: The bank cannot be read, or has no scenario with one of the ids.
        ProtocolError: The run cannot be set up, the folder has another run, or the run is not
            complete; the finished part is kept, and `resume=True` does the rest.
    """
    if callable(system) and (base_url is not None or max_tokens is not None):
        raise UsageError(
            "a function has no server and no token limit of ours",
            hint="leave out base_url and max_tokens",
        )
    loaded = load_bank(bank)
    task: dict[str, Any] = {
        "scenario": [*scenarios] if scenarios is not None else [s.id for s in loaded.bases]
    }
    task |= {"bank": bank_reference(bank)} if bank is not None else {}
    task |= {"rubric": rubric.value} if rubric is not None else {}
    task |= {"step": True} if step else {}
    task |= {"given": given} if given is not None else {}
    task |= {"max_tokens": max_tokens} if max_tokens is not None else {}
    model = system if isinstance(system, str) else None
    label = name or model or str(getattr(system, "__name__", "system"))
    folder = Path(out) / folder_name(label)
    if model is None:
        file = str((folder / RESPONSES_FILE).resolve())
        task |= {"responses": file, "system": label, "all_required": True}
    mode = loaded.mode
    mode.prompts_for(step=step, given=mode.condition(given))
    epochs = epochs or (1 if step else N_EPOCHS)
    spec = Run(
        label, model, grader or mode.grader, epochs, task, base_url=base_url, protocol=mode.protocol
    )
    limit = max_cost if max_cost is not None and isfinite(max_cost) else None
    spec = replace(spec, max_connections=max_connections, max_cost=limit)
    spec = priced(spec, _own_prices(prices))
    is_begun = resume and (folder / RUN_FILE).exists()
    if is_begun:
        earlier = read_run_file(folder)
        _refuse_other(folder, earlier, spec)
        if is_complete(folder):
            return read_runs(folder)
        if max_cost is None:
            spec = replace(spec, max_cost=earlier.max_cost)
        spec = replace(spec, prices=earlier.prices | spec.prices)
    _expect_affordable(spec, agreed=yes or is_begun)
    if is_begun:
        limits = {"max_cost": spec.max_cost, "max_connections": spec.max_connections}
        amend_run(folder, prices=spec.prices, **limits)
    else:
        check_folder(folder, spec)
        if base_url is not None:
            # typed, and so agreed to when the run is resumed on the command line
            remember([base_url])
        if kept_responses(folder / RESPONSES_FILE):
            raise ProtocolError(
                f"{folder} already has a run, whose function was not asked everything",
                hint="finish it with resume=True, or give another folder or name",
            )
        prepare(spec, folder)
    questions = [(loaded.scenario(each), n + 1) for each in task["scenario"] for n in range(epochs)]
    failed = _function_asked(system, folder, questions) if callable(system) else []
    # what a function has given is kept, even if the run cannot be set up
    (outcome,) = carry_out([folder], fresh=not is_begun and not callable(system))
    if not outcome.complete:
        raise _not_complete(outcome, failed)
    return read_runs(folder)


def _function_asked(
    function: Function, folder: Path, questions: Sequence[Question]
) -> list[FailedCall]:
    """Ask a function what it has not answered yet, and return the calls that failed.

    Raises:
        ProtocolError: The function has given no response at all.
    """
    run, file = read_run_file(folder), folder / RESPONSES_FILE
    with locked(folder):
        kept = {(response.scenario, response.epoch) for response in kept_responses(file)}
        due = [(s, epoch) for s, epoch in questions if (s.id, epoch) not in kept]
        system = str(run.task["system"])
        failed = ask_function(function, due, file, system, run.max_connections or AT_ONCE)
        responses = kept_responses(file)
        if not responses:
            raise _not_complete(Outcome(folder, complete=False, n_failed=len(due)), failed)
        write_responses(file, system, responses)
        amend_run(folder, n_answers=len(responses))
    return failed


def _not_complete(outcome: Outcome, failed: Sequence[FailedCall]) -> ProtocolError:
    """Return the error of a run that is not complete."""
    why = outcome.why or outcome.stopped or f"{outcome.n_failed} samples failed"
    if failed:
        why = f"{counted(len(failed), 'call')} of the function failed; the last: {failed[-1]}"
    error = ProtocolError(
        f"{outcome.folder}: the run is not complete: {why}",
        hint="what was finished is kept; for the rest: careeval.run(…, resume=True)",
    )
    # shows the function's own traceback
    error.__cause__ = failed[-1].error if failed else None
    return error


def _own_prices(prices: str | Path | Mapping[str, Mapping[str, float]] | None) -> dict[str, Price]:
    if isinstance(prices, Mapping):
        tables = {model: {**table} for model, table in prices.items()}
        return prices_of_tables(tables, "prices")
    return read_prices(Path(prices)) if prices is not None else {}


def _refuse_other(folder: Path, earlier: Run, now: Run) -> None:
    """Raise ProtocolError if a folder has another run than the one described now."""
    asking = ("system", "model", "base_url", "model_args", "epochs")
    fields = (*asking, "grader", "grader_base_url", "grader_args")
    differing = [each for each in fields if getattr(earlier, each) != getattr(now, each)]
    # a folder that was moved has another path of its responses
    names = sorted((earlier.task.keys() | now.task.keys()) - {"responses"})
    differing += [each for each in names if earlier.task.get(each) != now.task.get(each)]
    if differing:
        raise ProtocolError(
            f"{folder} has a run that was begun with another {' and '.join(differing)}",
            hint="give what it was begun with, or another folder or name; a run that was begun on "
            f"the command line is resumed there: careeval run --resume -o {folder.parent}",
        )


def _expect_affordable(run: Run, *, agreed: bool) -> None:
    """Raise UsageError if a key or a needed price is missing, or if spending is not agreed to."""
    prices = {name: run.prices.get(name) for name in (run.model, run.grader) if name}
    unknown = [name for name, price in prices.items() if price is None]
    if run.max_cost is not None and unknown:
        raise UsageError(
            f"max_cost cannot be kept: the price of {', '.join(unknown)} is not known",
            hint="give it in dollars per million tokens, as "
            f"prices={{{unknown[0]!r}: {{'input': 1.25, 'output': 10.0}}}}",
        )
    paid = [name for name, price in prices.items() if price != FREE]
    if run.max_cost is None and paid and not agreed:
        raise UsageError(
            f"calls to {' and '.join(paid)} may cost money, and there is no max_cost",
            hint="give the dollars that may be spent, as max_cost=5; or, for no limit, yes=True",
        )
    if missing := list(missing_keys([run.model], [run.grader], os.environ)):
        raise UsageError(
            "\n".join(missing),
            hint="set the variable to the key; without a key, use grader='careeval/lexical'",
        )
