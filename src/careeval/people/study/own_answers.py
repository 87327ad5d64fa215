"""Answers that experts wrote before they saw a rubric, and their file for a run to grade."""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import starmap
from typing import Any, Literal

from careeval.bank import Bank
from careeval.core.rating import Rater, Role
from careeval.core.text import counted
from careeval.people.store import Store
from careeval.people.study.plan import StudyPlan
from careeval.people.study.questions import HANDED_IN, written_answer
from careeval.people.study.rounds import present_seats, scenario_as_shown
from careeval.protocol.recorded_responses import ResponseLine

_RaterAnswer = tuple[Rater, str]
"""A rater and the text of their answer."""


@dataclass(frozen=True, slots=True)
class ExpertAnswer:
    """One answer that an expert wrote before seeing a rubric."""

    role: Role  # The role of its writer
    scenario: str  # Its id
    text: str  # As it was typed; never empty


@dataclass(frozen=True, slots=True)
class ExpertAnswers:
    """All answers of a study's raters who have not withdrawn."""

    answers: tuple[ExpertAnswer, ...]
    """Sorted by scenario, and within a scenario in an order that a secret of the study's file
    decides. The order is the same each time, and does not tell who wrote what."""
    people: Mapping[Role, int]  # The number of writers of each role
    unanswered: tuple[str, ...]
    """Scenarios that raters were asked to answer, but without an answer here."""
    n_other: int  # Answers left out because the bank now has another version of the scenario
    n_late: int
    """Answers left out because their writer had rated on paper, and so seen rubrics, before they
    handed in."""
    n_waiting: int  # Raters who are asked for answers in the newest round, and have handed in none

    @property
    def left_out(self) -> list[str]:
        """A line for each reason why answers are missing here."""
        lines = []
        if self.n_waiting:
            raters = counted(self.n_waiting, "rater was", "raters were")
            have = "has" if self.n_waiting == 1 else "have"
            lines.append(f"{raters} asked for answers and {have} not handed in")
        if self.n_other:
            lines.append(
                f"{counted(self.n_other, 'answer is', 'answers are')} to another version than "
                "this bank has, so left out"
            )
        if self.n_late:
            lines.append(
                f"{counted(self.n_late, 'answer was', 'answers were')} handed in after the "
                "writer's ratings had been typed from paper, so left out"
            )
        return lines

    @property
    def lone_roles(self) -> list[Role]:
        """The roles of which one person alone wrote, so that readers may guess who it is."""
        return [role for role, people in sorted(self.people.items()) if people == 1]


def raters_who_handed_in(store: Store) -> frozenset[str]:
    """Return the ids of raters who have handed in answers; they may have seen rubrics since."""
    works = store.all_work()
    return frozenset(name for name, work in works.items() if HANDED_IN in work)


def read_expert_answers(store: Store, bank: Bank) -> ExpertAnswers:
    """Return the handed-in answers of all rounds that a run can grade; count those left out.

    Args:
        store: The study's.
        bank: The bank with the versions that a run would put to a system.

    Raises:
        ReviewError: The file is not a study's, or cannot be read.
    """
    plans = [StudyPlan.read(text) for text in store.plans("study")]
    works = store.all_work()
    on_paper = _first_typed(store)
    by_scenario: dict[str, list[_RaterAnswer]] = {}
    n_other = n_late = 0
    for plan in plans:
        for seat in present_seats(store, plan):
            work = works[seat.id]
            commit = work.get(HANDED_IN, {}).get(str(plan.round))
            late = commit is not None and on_paper.get(seat.id, commit.seq) < commit.seq
            for name in seat.answers:
                answers = by_scenario.setdefault(name, [])
                text = written_answer(work.get(plan.answer_task(name), {})) if commit else None
                if text is None:
                    continue
                if late:
                    n_late += 1
                elif scenario_as_shown(plan, plan.rated(name), [bank]) is None:
                    n_other += 1
                else:
                    answers.append((seat.rater, text))
    secret = store.secret("answers")
    by_scenario = {name: _in_order(answers, secret, name) for name, answers in by_scenario.items()}
    people = {rater for answers in by_scenario.values() for rater, _ in answers}
    waiting = [
        seat
        for seat in present_seats(store, plans[-1])
        if seat.answers and HANDED_IN not in works[seat.id]
    ]
    return ExpertAnswers(
        answers=tuple(
            ExpertAnswer(rater.role, name, text)
            for name in sorted(by_scenario)
            for rater, text in by_scenario[name]
        ),
        people=Counter(rater.role for rater in people),
        unanswered=tuple(name for name in sorted(by_scenario) if not by_scenario[name]),
        n_other=n_other,
        n_late=n_late,
        n_waiting=len(waiting),
    )


def _in_order(answers: list[_RaterAnswer], secret: bytes, scenario: str) -> list[_RaterAnswer]:
    """Sort answers to a scenario by a keyed hash of their text, so that the order hides writers."""

    def place(answer: _RaterAnswer) -> tuple[bytes, Role]:
        words = f"{scenario}\0{answer[1]}".encode()
        return hmac.digest(secret, words, hashlib.sha256), answer[0].role

    return sorted(answers, key=place)


def _first_typed(store: Store) -> Mapping[str, int]:
    """Return rater → the first event that another person typed for them, for raters with one."""
    return {e.rater: e.seq for e in reversed(store.events()) if e.typed_by}


# The file of a run


SYSTEM = "experts"
"""The name in summaries of the people who answered."""

Grouping = Literal["all", "role"]


@dataclass(frozen=True, slots=True)
class SystemAnswers:
    """The answers of one system of a file: of all experts, or of those of one role."""

    system: str
    n_by_scenario: Counter[str]  # Scenario → number of answers

    @property
    def n_epochs(self) -> int:
        """The most answers that any scenario has."""
        return max(self.n_by_scenario.values())

    @property
    def n_missing(self) -> int:
        """The number of missing responses: a run expects as many to each scenario as to any."""
        return self.n_epochs * len(self.n_by_scenario) - self.n_by_scenario.total()

    def in_words(self) -> Iterator[str]:
        """Yield a line on the number of answers, and one on those that are missing."""
        n, n_epochs = self.n_by_scenario, self.n_epochs
        at_least = f"{min(n.values())} to " if min(n.values()) < n_epochs else ""
        totals = f"{counted(n.total(), 'answer')} to {counted(len(n), 'scenario')}"
        yield f"{self.system}: {totals}, {at_least}{n_epochs} per scenario."
        if self.n_missing:
            are = counted(self.n_missing, "response is", "responses are")
            yield (
                f"  {are} missing for {n_epochs} per scenario. The run counts them as "
                "missing, takes means over the others, and leaves out the worst of n."
            )

    def as_json(self) -> dict[str, Any]:
        """Return the numbers as JSON."""
        return {
            "system": self.system,
            "n_answers": self.n_by_scenario.total(),
            "n_scenarios": len(self.n_by_scenario),
            "n_epochs": self.n_epochs,
            "n_missing": self.n_missing,
        }


def response_lines(answers: Iterable[ExpertAnswer], by: Grouping) -> list[ResponseLine]:
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


def answers_by_system(lines: Iterable[ResponseLine]) -> list[SystemAnswers]:
    """Return how many answers each system has, in the order of the lines."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for line in lines:
        counts[line.system or ""][line.scenario] += 1
    return list(starmap(SystemAnswers, counts.items()))


def answers_json(handed_in: ExpertAnswers, systems: Iterable[SystemAnswers]) -> dict[str, Any]:
    """Return the output of `careeval study answer --json`."""
    return {
        "systems": [each.as_json() for each in systems],
        "people": {role.value: n for role, n in sorted(handed_in.people.items())},
        "unanswered": list(handed_in.unanswered),
        "n_other_version": handed_in.n_other,
        "n_late": handed_in.n_late,
        "n_waiting": handed_in.n_waiting,
    }
