"""`careeval study answer`: what experts would do themselves, as answers that a run grades."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from careeval.bank import Bank
from careeval.cli.app import OK, print_json, say
from careeval.cli.shared.invitations import opened
from careeval.cli.shared.options import Json
from careeval.cli.study.rated_bank import BankFolder, rated_bank
from careeval.core.rating import Role
from careeval.core.scenario import Split
from careeval.core.text import counted
from careeval.errors import UsageError
from careeval.files import write_text
from careeval.protocol.runs.recorded_responses import ResponseLine

if TYPE_CHECKING:
    from careeval.review.study.expert_answers import ExpertAnswer, ExpertAnswers

SYSTEM = "experts"
"""What summaries call those who answered."""

By = Literal["all", "role"]


def answer(
    study: Path,
    *,
    out: Annotated[Path, Parameter(name=("--out", "-o"))],
    by: By = "all",
    bank: BankFolder = None,
    as_json: Json = False,
) -> int:
    """Write the answers that experts wrote before they saw a rubric, for run --responses.

    Only what was handed in, by raters who are still in, to the scenarios as the bank has them. The
    answers to a scenario are numbered in a drawn order, and no pseudonym is in the file.

    Args:
        study: The study's file.
        out: The file, JSON lines; one that is there is left alone.
        by: All as one system, experts, or a system for each role.
        bank: Folder of the bank; careeval's own where not given.
        as_json: Print what was written, and what is missing, as JSON.
    """
    from careeval.review.study.expert_answers import read_expert_answers

    if out.exists():
        raise UsageError(f"{out} is there already", hint="give another name")
    if not out.parent.is_dir():
        raise UsageError(f"there is no folder {out.parent}", hint="make it first")
    loaded = rated_bank(bank)
    with opened(study, "study", to_read=True) as store:
        found = read_expert_answers(store, loaded)
    if not found.answers:
        raise UsageError("there is no answer to write", hint=_why(found))
    lines = _lines(found.answers, by)
    held_out = _any_held_out(found.answers, loaded)
    text = "".join(line.model_dump_json(include=_FIELDS) + "\n" for line in lines)
    write_text(out, text, mode=0o600 if held_out else 0o666)
    systems = _counts(lines)
    if as_json:
        print_json(_json(found, systems))
    _tell(found, systems)
    if any(people == 1 for people in found.people.values()) and by == "role":
        say("A role of one person may tell who it was: think before you pass the file on.")
    if held_out:
        say("Answers to held-out scenarios stand in clear text there: keep the file private.")
    say(f"Written: {out}. Next: careeval run --responses {out}{_more(held_out, bank)}")
    return OK


_FIELDS = {"scenario", "epoch", "response", "system"}


def _lines(answers: tuple[ExpertAnswer, ...], by: By) -> list[ResponseLine]:
    """By system, scenario and epoch: the k-th answer of a system to a scenario is epoch k."""
    n: Counter[tuple[str, str]] = Counter()
    lines = []
    for each in answers:
        system = SYSTEM if by == "all" else system_of(each.role)
        n[system, each.scenario] += 1
        epoch = n[system, each.scenario]
        lines.append(
            ResponseLine(scenario=each.scenario, epoch=epoch, response=each.text, system=system)
        )
    return sorted(lines, key=lambda line: line.system or "")


def system_of(role: Role) -> str:
    """What the answers of one role are called where each role is a system."""
    return f"{SYSTEM}-{role}"


def _counts(lines: list[ResponseLine]) -> dict[str, Counter[str]]:
    """System → scenario → answers."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for line in lines:
        found[line.system or ""][line.scenario] += 1
    return dict(found)


def _n_lacking(answers: Counter[str]) -> int:
    """How many responses a run will count as missing: scenarios have as many as the fullest."""
    return max(answers.values()) * len(answers) - answers.total()


def _tell(found: ExpertAnswers, systems: dict[str, Counter[str]]) -> None:
    for system, answers in systems.items():
        fewest, most = min(answers.values()), max(answers.values())
        each = f"{fewest} to {most}" if fewest < most else str(most)
        to = f"{counted(answers.total(), 'answer')} to {counted(len(answers), 'scenario')}"
        say(f"{system}: {to}, {each} a scenario.")
        if lacking := _n_lacking(answers):
            are = counted(lacking, "is", "are")
            say(
                f"  {are} lacking for {most} each: a run calls them missing, takes means over what "
                "is there, and gives no worst of n."
            )
    if found.unanswered:
        say(f"Without an answer, and not in the file: {', '.join(found.unanswered)}")
    for line in _left_out(found):
        say(line)


def _left_out(found: ExpertAnswers) -> list[str]:
    lines = []
    if found.n_waiting:
        raters = counted(found.n_waiting, "rater was", "raters were")
        have = "has" if found.n_waiting == 1 else "have"
        lines.append(f"{raters} asked for answers and {have} not handed in")
    if found.n_other:
        lines.append(
            f"{counted(found.n_other, 'answer is', 'answers are')} to another version than this "
            "bank has, and left out"
        )
    if found.n_late:
        lines.append(
            f"{counted(found.n_late, 'answer was', 'answers were')} handed in after the writer's "
            "ratings had been typed from paper, and left out"
        )
    return lines


def _why(found: ExpertAnswers) -> str:
    return "; ".join(_left_out(found)) or (
        "nobody handed one in; careeval study new --answers N asks for them"
    )


def _any_held_out(answers: tuple[ExpertAnswer, ...], loaded: Bank) -> bool:
    asked = {each.scenario for each in answers}
    return any(loaded.scenario(name).split is Split.held_out for name in asked)


def _more(held_out: bool, bank: Path | None) -> str:
    """What a run needs to be told besides, to grade these."""
    return (f" --bank {bank}" if bank else "") + (" --split held-out" if held_out else "")


def _json(found: ExpertAnswers, systems: dict[str, Counter[str]]) -> dict[str, Any]:
    return {
        "systems": [
            {
                "system": system,
                "n_answers": answers.total(),
                "n_scenarios": len(answers),
                "n_epochs": max(answers.values()),
                "n_missing": _n_lacking(answers),
            }
            for system, answers in systems.items()
        ],
        "people": {role.value: n for role, n in sorted(found.people.items())},
        "unanswered": list(found.unanswered),
        "n_other_version": found.n_other,
        "n_late": found.n_late,
        "n_waiting": found.n_waiting,
    }
