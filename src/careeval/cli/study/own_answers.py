"""`careeval study answer`: a file of the answers that experts wrote, for a run to grade."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from careeval.bank import load_with_key
from careeval.cli.app import OK, print_json, say
from careeval.cli.shared.options import BankFolder, Json, Out
from careeval.cli.shared.people import open_store
from careeval.core.scenario import Split
from careeval.core.text import counted
from careeval.errors import UsageError
from careeval.files import write_text
from careeval.protocol.recorded_responses import ResponseLine

if TYPE_CHECKING:
    from careeval.people.study.rounds import ExpertAnswer, ExpertAnswers

SYSTEM = "experts"
"""The name in summaries of the people who answered."""

Grouping = Literal["all", "role"]


def answer(
    study: Path,
    *,
    out: Out,
    by: Grouping = "all",
    bank: BankFolder = None,
    as_json: Json = False,
) -> int:
    """Write the answers that experts wrote before they saw a rubric, for run --responses.

    Only answers that were handed in are written, of raters who have not withdrawn, and to the
    bank's present version of a scenario. The answers to a scenario are numbered in a random order,
    and no pseudonym is in the file.

    Args:
        study: The study's file.
        out: The file to write, JSON lines; an existing one is not overwritten.
        by: All as one system, experts, or a system for each role.
        bank: Folder of the bank; careeval's own if not given.
        as_json: Print what was written, and what is missing, as JSON.
    """
    from careeval.people.study.rounds import read_expert_answers

    if out.exists():
        raise UsageError(f"{out} exists already", hint="choose another name")
    if not out.parent.is_dir():
        raise UsageError(f"folder {out.parent} does not exist", hint="create the folder first")
    loaded = load_with_key(bank, probes=False)
    with open_store(study, "study") as store:
        handed_in = read_expert_answers(store, loaded)
    if not handed_in.answers:
        hint = "nobody has handed in an answer; to ask for answers: careeval study new --answers N"
        reasons = "; ".join(_left_out(handed_in))
        raise UsageError("this study has no answers to write", hint=reasons or hint)
    lines = _lines(handed_in.answers, by)
    names = {answer.scenario for answer in handed_in.answers}
    held_out = any(loaded.scenario(name).split is Split.held_out for name in names)
    text = "".join(line.model_dump_json(include=_FIELDS) + "\n" for line in lines)
    write_text(out, text, mode=0o600 if held_out else 0o666)
    systems = _counts(lines)
    if as_json:
        print_json(_json(handed_in, systems))
    _say_counts(handed_in, systems)
    alone = [role for role, people in sorted(handed_in.people.items()) if people == 1]
    if alone and by == "role":
        say(
            f"Only one person has the role {' or '.join(alone)}, so readers may guess who it is. "
            "Consider this before you share the file."
        )
    if held_out:
        say("The file has answers to held-out scenarios, not encrypted: keep it private.")
    options = (f" --bank {bank}" if bank else "") + (" --split held-out" if held_out else "")
    say(f"Written: {out}. Next: careeval run --responses {out}{options}")
    return OK


_FIELDS = {"scenario", "epoch", "response", "system"}


def _lines(answers: tuple[ExpertAnswer, ...], by: Grouping) -> list[ResponseLine]:
    """Return a line for each answer, by system; a system's k-th answer to a scenario is epoch k."""
    epochs: Counter[tuple[str, str]] = Counter()
    lines = []
    for answer in answers:
        system = SYSTEM if by == "all" else f"{SYSTEM}-{answer.role}"
        epochs[system, answer.scenario] += 1
        epoch = epochs[system, answer.scenario]
        lines.append(
            ResponseLine(scenario=answer.scenario, epoch=epoch, response=answer.text, system=system)
        )
    return sorted(lines, key=lambda line: line.system or "")


def _counts(lines: list[ResponseLine]) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for line in lines:
        counts[line.system or ""][line.scenario] += 1
    return dict(counts)


def _n_missing(answers: Counter[str]) -> int:
    """Return the number of missing responses: a run expects as many to each scenario as to any."""
    return max(answers.values()) * len(answers) - answers.total()


def _say_counts(handed_in: ExpertAnswers, systems: dict[str, Counter[str]]) -> None:
    for system, answers in systems.items():
        min_answers, max_answers = min(answers.values()), max(answers.values())
        at_least = f"{min_answers} to " if min_answers < max_answers else ""
        totals = f"{counted(answers.total(), 'answer')} to {counted(len(answers), 'scenario')}"
        say(f"{system}: {totals}, {at_least}{max_answers} per scenario.")
        if n_missing := _n_missing(answers):
            are = counted(n_missing, "response is", "responses are")
            say(
                f"  {are} missing for {max_answers} per scenario. The run counts them as "
                "missing, takes means over the others, and leaves out the worst of n."
            )
    if handed_in.unanswered:
        say(f"Not in the file, since nobody answered them: {', '.join(handed_in.unanswered)}")
    for line in _left_out(handed_in):
        say(line)


def _left_out(handed_in: ExpertAnswers) -> list[str]:
    lines = []
    if handed_in.n_waiting:
        raters = counted(handed_in.n_waiting, "rater was", "raters were")
        have = "has" if handed_in.n_waiting == 1 else "have"
        lines.append(f"{raters} asked for answers and {have} not handed in")
    if handed_in.n_other:
        lines.append(
            f"{counted(handed_in.n_other, 'answer is', 'answers are')} to another version than "
            "this bank has, so left out"
        )
    if handed_in.n_late:
        lines.append(
            f"{counted(handed_in.n_late, 'answer was', 'answers were')} handed in after the "
            "writer's ratings had been typed from paper, so left out"
        )
    return lines


def _json(handed_in: ExpertAnswers, systems: dict[str, Counter[str]]) -> dict[str, Any]:
    return {
        "systems": [
            {
                "system": system,
                "n_answers": answers.total(),
                "n_scenarios": len(answers),
                "n_epochs": max(answers.values()),
                "n_missing": _n_missing(answers),
            }
            for system, answers in systems.items()
        ],
        "people": {role.value: n for role, n in sorted(handed_in.people.items())},
        "unanswered": list(handed_in.unanswered),
        "n_other_version": handed_in.n_other,
        "n_late": handed_in.n_late,
        "n_waiting": handed_in.n_waiting,
    }
