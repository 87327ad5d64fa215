"""Revised scenarios: the questions that are asked again, and the changes that are shown. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from careeval.people.deck import Question
from careeval.people.store import Work
from careeval.people.study.plan import RatedScenario, ScenarioWording, ShownItem


@dataclass(frozen=True, slots=True)
class EarlierAnswer:
    """An answer that was given in an earlier round."""

    value: str
    shown: ScenarioWording | None  # The words that the rater read then; None if they were not kept

    def holds(self, question: Question, now: ScenarioWording | None) -> bool:
        """Tell whether the answer still holds: nothing has changed that could change it.

        If the scenario's text changes, every answer may change; if an item changes, the answers
        about it may. Validity is asked again after any change, since the items are part of what
        tests a carer. Where the wording then or now is not known, no answer holds.
        """
        if self.shown is None or now is None or self.shown.text != now.text:
            return False
        if question.about is None:
            return question.field != "validity" or self.shown == now
        return self.shown.items.get(item_of(question)) == now.items[item_of(question)]


EarlierAnswers = Mapping[str, EarlierAnswer]
"""The newest answer that a rater gave in earlier rounds, by field; comments are left out."""


@dataclass(frozen=True, slots=True)
class ChangedWords:
    """A run of words of a revised text that stayed, were added, or were removed."""

    change: Literal["same", "added", "removed"]
    text: str


@dataclass(frozen=True, slots=True)
class Revision:
    """The differences between a scenario and the version that a rater answered about before."""

    text: tuple[ChangedWords, ...]
    """The scenario's text with additions and removals; empty if it is the same."""
    items: Mapping[str, ShownItem]
    """By rubric and id, the former version of each item that was changed."""
    added: frozenset[str]  # Items that are new, by rubric and id
    removed: tuple[str, ...]  # The texts of items that are gone


def item_of(question: Question) -> str:
    """Return rubric and id of the item that a question is about; empty if it is about none."""
    about = question.about
    return f"{about.rubric}/{about.item.id}" if about else ""


def earlier_answers(rated: RatedScenario, work: Work) -> EarlierAnswers:
    """Return, by field, a rater's newest answers about a scenario from earlier rounds.

    Args:
        rated: The scenario's version in a round, with the former ones.
        work: All that the rater answered, in every round.
    """
    answers: dict[str, EarlierAnswer] = {}
    for former in reversed(rated.former):
        stored = work.get(former.task, {})
        answers |= {
            name: EarlierAnswer(answer.value, former.shown) for name, answer in stored.items()
        }
    return {name: answer for name, answer in answers.items() if not name.endswith("comment")}


def scenario_revision(rated: RatedScenario, work: Work) -> Revision | None:
    """Return how a scenario differs from the version that a rater last answered about.

    Args:
        rated: The scenario's version in a round, with the former ones.
        work: All that the rater answered, in every round.

    Returns:
        None if they answered in no earlier round, or if one of the texts was not kept.
    """
    before = next((former.shown for former in rated.former if work.get(former.task)), None)
    now = rated.shown
    if before is None or now is None:
        return None
    both = before.items.keys() & now.items.keys()
    return Revision(
        _words(before.text, now.text) if before.text != now.text else (),
        {name: before.items[name] for name in both if before.items[name] != now.items[name]},
        frozenset(now.items.keys() - both),
        tuple(item.text for name, item in before.items.items() if name not in both),
    )


def _words(before: str, now: str) -> tuple[ChangedWords, ...]:
    old, new = before.split(), now.split()
    words = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            words.append(ChangedWords("same", " ".join(new[c:d])))
            continue
        if old[a:b]:
            words.append(ChangedWords("removed", " ".join(old[a:b])))
        if new[c:d]:
            words.append(ChangedWords("added", " ".join(new[c:d])))
    return tuple(words)
