"""careeval from Python: functions to begin a run and to read results as tables for a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import polars as pl

from careeval.bank import load_bank
from careeval.core.response import Response, ResponseState
from careeval.core.scenario import Rubric, Scenario
from careeval.errors import ProtocolError, UsageError
from careeval.protocol.costs.prices import FREE, as_json
from careeval.protocol.plan import priced
from careeval.protocol.runs.folder import prepare, prepare_recorded
from careeval.protocol.runs.spec import Run, folder_name
from careeval.protocol.tables.run_tables import read_runs
from careeval.protocol.work.workers import carry_out
from careeval.results.entry_numbers import EntryNumbers
from careeval.results.score.summary import Summary
from careeval.results.score.summary import summarise as summaries_of
from careeval.results.tables import Runs
from careeval.sheets.document import Document
from careeval.sheets.entries.summary_document import summary_document
from careeval.sheets.formats.html import html
from careeval.sheets.words import headline_sentences

FREE_IN_RUNS = as_json({"": FREE})[""]
"""The price of a model that costs nothing, as a run stores it."""


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
        return summary_document([EntryNumbers(each) for each in self.entries])

    def __repr__(self) -> str:
        return "\n".join(headline_sentences(self.entries))

    def _repr_html_(self) -> str:
        return html(self.document)


def summarise(runs: Runs) -> Summaries:
    """Return a summary of each entry, a system with a grading; empty if nothing was judged."""
    return Summaries(tuple(summaries_of(runs)))


def summary_frame(runs: Runs) -> pl.DataFrame:
    """Return the table of `careeval summary --format csv` as a polars frame, one row per entry.

    Scores and shares are fractions. An unknown one is null; the column `…_reason` says why.
    """
    return summarise(runs).document.data.data.frame


def run(
    system: str | Callable[[Scenario], str],
    out: str | Path,
    *,
    grader: str | None = None,
    name: str | None = None,
    scenarios: Iterable[str] | None = None,
    epochs: int = 10,
    bank: str | Path | None = None,
    rubric: Rubric | None = None,
    max_tokens: int | None = None,
    max_cost: float | None = None,
) -> Runs:
    """Ask a system about scenarios, grade its responses, and return the run's tables.

    `careeval run` does the same with a display and more options, and can resume a run that was
    begun here.

    Args:
        system: Inspect's name of a model, as `openai/gpt-5.1`; or a function from a scenario to the
            text of a response, which is called once per epoch.
        out: Folder for runs; this one goes into a subfolder with the system's name.
        grader: Inspect's name of the grader; the bank's default if not given.
        name: Name of the system in tables; the model's or the function's if not given.
        scenarios: Ids; all public base scenarios if not given.
        epochs: Responses to each scenario.
        bank: Folder of the bank; careeval's own if not given.
        rubric: The rubric to grade; if not given, the actions, or the ladder of a bank without
            actions.
        max_tokens: The most tokens of one response of a model, reasoning included.
        max_cost: Dollars that may be spent; needed if calls cost money.

    Raises:
        UsageError: The calls would cost money, and there is no `max_cost`; or the price of a model
            is not known.
        BankError: The bank cannot be read, or has no scenario with one of the ids.
        ProtocolError: The run cannot be set up or is not complete; the finished part is kept, and
            `careeval run --resume -o OUT` does the rest.
    """
    loaded = load_bank(bank)
    ids = [*scenarios] if scenarios is not None else [s.id for s in loaded.bases]
    task: dict[str, Any] = {"scenario": ids}
    task |= {"bank": str(bank)} if bank is not None else {}
    task |= {"rubric": rubric.value} if rubric is not None else {}
    task |= {"max_tokens": max_tokens} if max_tokens is not None else {}
    model = system if isinstance(system, str) else None
    label = name or model or str(getattr(system, "__name__", "system"))
    spec = Run(label, model, grader or loaded.mode.grader, epochs, task, max_cost=max_cost)
    spec = priced(spec)
    _expect_affordable(spec)
    folder = Path(out) / folder_name(label)
    if callable(system):
        questions = [(loaded.scenario(each), n + 1) for each in ids for n in range(epochs)]
        responses = [_response(scenario, epoch, system(scenario)) for scenario, epoch in questions]
        prepare_recorded(folder, responses, spec)
    else:
        prepare(spec, folder)
    (outcome,) = carry_out([folder], fresh=True)
    if not outcome.complete:
        raise ProtocolError(
            f"{folder}: the run is not complete: "
            f"{outcome.why or outcome.stopped or f'{outcome.n_failed} samples failed'}",
            hint=f"the finished part is kept; for the rest: careeval run --resume -o {out}",
        )
    return read_runs(folder)


def _expect_affordable(run: Run) -> None:
    """Raise UsageError if a price is unknown, or if calls cost money and there is no `max_cost`."""
    prices = {name: run.prices.get(name) for name in (run.model, run.grader) if name}
    unknown = [name for name, price in prices.items() if price is None]
    if run.max_cost is not None and unknown:
        raise UsageError(
            f"max_cost cannot be kept: the price of {', '.join(unknown)} is not known",
            hint="give the prices on the command line: careeval run --prices FILE",
        )
    paid = [name for name, price in prices.items() if price != FREE_IN_RUNS]
    if run.max_cost is None and paid:
        raise UsageError(
            f"calls to {' and '.join(paid)} may cost money, and there is no max_cost",
            hint="give the dollars that may be spent, as max_cost=5",
        )


def _response(scenario: Scenario, epoch: int, text: str) -> Response:
    state = ResponseState.answered if text.strip() else ResponseState.empty
    return Response(scenario.id, epoch, text if text.strip() else "", state)
