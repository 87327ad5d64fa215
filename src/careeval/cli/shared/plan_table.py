"""The table that is printed before money is spent: calls, tokens and cost of each model."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from careeval.core.text import counted, dollars, plain, thousands
from careeval.modes.grading import MAX_ATTEMPTS
from careeval.protocol.estimate import Plan, PlanLine, merged_lines
from careeval.protocol.machine import max_parallel_runs
from careeval.protocol.prices import ACT_TOKENS, ANSWER_TOKENS, ITEM_TOKENS, N_ACTS
from careeval.protocol.providers import provider_of
from careeval.sheets.terminal import PIPE_WIDTH


def print_plan(plan: Plan, *, to_stderr: bool = False) -> None:
    """Print the plan of all runs of a command as a table with notes."""
    file = sys.stderr if to_stderr else sys.stdout
    console = Console(file=file, highlight=False)
    if not console.is_terminal:
        console = Console(file=file, highlight=False, width=PIPE_WIDTH)
    lines = merged_lines(plan)
    console.print(_table(plan, lines))
    for note in _notes(lines):
        console.print(Text(f"  {plain(note)}", style="dim"))


def _table(plan: Plan, lines: tuple[PlanLine, ...]) -> Table:
    table = Table(
        title=Text(_title(lines)),
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
        show_footer=True,
    )
    total = "total (known)" if plan.unknown else "total"
    table.add_column("model", footer=total, overflow="fold")
    table.add_column("calls", justify="right")
    table.add_column("tokens in / out (est.)", justify="right")
    table.add_column("expected", footer=dollars(plan.expected_usd), justify="right")
    table.add_column("worst case*", footer=dollars(plan.worst_usd), justify="right")
    table.add_column("")
    for line in lines:
        free = provider_of(line.model).in_process
        table.add_row(
            # Text, so that brackets in a name are not read as markup
            Text(plain(line.model) + (" (grader)" if line.role == "grade" else "")),
            f"{line.n:,}",
            "–" if free else f"{thousands(line.input_tokens)} / {thousands(line.output_tokens)}",
            "nothing" if free else dollars(line.expected_usd),
            "nothing" if free else dollars(line.worst_usd),
            "no price: --prices FILE" if line.worst_usd is None else "",
        )
    return table


def _title(lines: tuple[PlanLine, ...]) -> str:
    asked = [line for line in lines if line.role == "ask"]
    graded = [line for line in lines if line.role == "grade"]
    parts = []
    if asked:
        models = asked[0].model if len(asked) == 1 else f"{len(asked)} models"
        n = counted(sum(line.n for line in asked), _asked_noun(asked))
        parts.append(f"{n} of {plain(models)}")
    if graded:
        parts.append(counted(sum(line.n for line in graded), "grading"))
    return f"Plan: {', then '.join(parts) or 'nothing to do'}"


def _asked_noun(lines: Sequence[PlanLine]) -> str:
    return "act" if any(line.of_acts for line in lines) else "response"


def _notes(lines: tuple[PlanLine, ...]) -> list[str]:
    notes = []
    for role, noun in (("ask", _asked_noun(lines)), ("grade", "grading")):
        if n_kept := sum(line.n_kept for line in lines if line.role == role):
            notes.append(f"On disk, and not asked for again: {counted(n_kept, noun)}.")
    n_runs, at_once = sum(line.role == "ask" for line in lines), max_parallel_runs()
    if n_runs > at_once:
        notes.append(
            f"{at_once} of the {n_runs} runs go on at once, by this machine's processors and free "
            "memory; the others wait."
        )
    if any(not provider_of(line.model).in_process for line in lines):
        of_acts = _asked_noun(lines) == "act"
        asked = (
            f"{N_ACTS} acts an episode, {ACT_TOKENS} tokens for each"
            if of_acts
            else (f"answers of {ANSWER_TOKENS} tokens")
        )
        notes.append(
            f"Expected: {asked}, {ITEM_TOKENS} for each item graded. "
            "Reasoning is not in it: a model that thinks costs more, up to the worst case."
        )
        notes.append(
            "* every reply reaches its token limit, reasoning included, "
            f"and every grading is asked {MAX_ATTEMPTS} times"
        )
    return notes
