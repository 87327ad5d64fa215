"""What labellers said in an audit, and what they disagree on. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from random import Random

from careeval.core.label import Label, Reading
from careeval.review.audit.plan import AuditPlan, Blind
from careeval.review.question import Progress, Question, progress
from careeval.review.store import Answer, Work

FINISHED = "finish"
"""The task in which somebody says to have finished."""

HANDED_IN = "handed-in"
"""Its field: from then on nothing of a labeller's changes."""

MOST_PASSAGES = 20
"""Taken as evidence for one judgment."""

Works = Mapping[str, Work]
"""What everybody answered, by id; one who has withdrawn is not a key."""


@dataclass(frozen=True, slots=True)
class Evidence(Question):
    """The question for the words that show an item, which must stand in the response."""

    response: str = ""

    def read(self, text: str) -> str | None:
        """Return the passages as the store keeps them, one a line; as of `Question.read`."""
        words = Question.read(self, text)
        lines = passages(words or "")
        if len(lines) > MOST_PASSAGES:
            raise ValueError(
                f"These are {len(lines)} lines; at most {MOST_PASSAGES} passages can be kept: "
                "this is not saved yet."
            )
        for passage in lines:
            if not any(_find(passage, self.response)):
                raise ValueError(
                    f"“{passage}” does not stand in the response. Copy the words just as they "
                    "are there, one passage a line: this is not saved yet."
                )
        return words


SAYS = Question(
    "says",
    "reading",
    "Is this in the response?",
    "your answer",
    options=tuple((reading.value, reading.capitalize()) for reading in Reading),
    keys={reading.value: reading[0] for reading in Reading},
)
_NOTE = Question("note", "comment", "Note", "the note", required=False)
_REASON = Question(
    "reason",
    "comment",
    "Why? In a sentence or two",
    "the reason",
    hint="It is kept beside what the others said. Please name nobody.",
)


def label_questions(response: str) -> tuple[Question, ...]:
    """Return what a labeller is asked about a judgment on a response."""
    evidence = Evidence(
        "evidence",
        "comment",
        "The words that show it",
        "the words that show it",
        hint="If you like. Copied from the response, one passage a line.",
        required=False,
        response=response,
    )
    return SAYS, evidence, _NOTE


SETTLE_QUESTIONS = (SAYS, _REASON)
"""What the adjudicator is asked about a judgment."""


def label_task(judgment: str) -> str:
    """What the store calls the labelling of a judgment."""
    return f"label/{judgment}"


def settle_task(judgment: str) -> str:
    """What the store calls the settling of a judgment."""
    return f"settle/{judgment}"


# Evidence


def passages(evidence: str) -> tuple[str, ...]:
    """The passages that somebody took as evidence, one a line."""
    return tuple(line for line in map(str.strip, evidence.splitlines()) if line)


def marked(response: str, evidence: Iterable[str]) -> list[tuple[str, bool]]:
    """A response in parts, each with whether it stands in a passage of the evidence."""
    inside = [False] * len(response)
    for passage in evidence:
        for start, end in _find(passage, response):
            inside[start:end] = [True] * (end - start)
    edges = [k for k in range(1, len(response)) if inside[k] != inside[k - 1]]
    starts, ends = [0, *edges], [*edges, len(response)]
    return [(response[a:b], inside[a]) for a, b in zip(starts, ends, strict=True) if b > a]


def _find(passage: str, response: str) -> Iterator[tuple[int, int]]:
    """Where a passage stands; for people type it, spaces, capitals and quotes are alike."""
    pattern = r"\s+".join(re.escape(word) for word in passage.split())
    for alike in ("'‘’", '"“”'):
        pattern = re.sub(f"[{alike}]", f"[{alike}]", pattern)
    return (match.span() for match in re.finditer(pattern, response, re.IGNORECASE))


# Who is how far


def states(blind: Blind, rater: str, work: Work) -> tuple[Progress, ...]:
    """How far a labeller is with each judgment, in their order; empty where somebody is none."""
    seat = blind.seat(rater)
    asked = label_questions("")
    return tuple(
        progress(asked, work.get(label_task(name), {})) for name in (seat.judgments if seat else ())
    )


def handed_in(work: Work) -> bool:
    """Whether a labeller has committed."""
    return HANDED_IN in work.get(FINISHED, {})


def awaited(blind: Blind, works: Works, revoked: Set[str]) -> tuple[str, ...]:
    """The labellers that settling waits for: who have not committed, and still can.

    Args:
        blind: Of the audit.
        works: Of labellers.
        revoked: Whose links are switched off.
    """
    there = [seat.id for seat in blind.seats if seat.id in works and seat.id not in revoked]
    return tuple(rater for rater in there if not handed_in(works[rater]))


def is_open(blind: Blind, works: Works, revoked: Set[str]) -> bool:
    """Whether settling has begun: somebody labels or has labelled, and nobody is waited for."""
    anybody = any(seat.id in works for seat in blind.seats)
    return anybody and not awaited(blind, works, revoked)


def disputed(blind: Blind, works: Works, revoked: Set[str]) -> tuple[str, ...]:
    """The judgments to settle: present to one and absent to another, or somebody is unsure.

    In an order that is nobody's; none before settling has begun.
    """
    if not is_open(blind, works, revoked):
        return ()
    found = []
    for name in blind.judgments:
        says = {answers["says"].value for answers in _answers(blind, works, name).values()}
        if len(says) > 1 or Reading.unsure in says:
            found.append(name)
    Random(f"{blind.seed}/{blind.adjudicator.id}").shuffle(found)
    return tuple(found)


def thin(blind: Blind, works: Works, revoked: Set[str], rater: str) -> tuple[int, int]:
    """What somebody leaves thin who has withdrawn or whose link is off, once all others are done.

    Returns:
        Of the rater's judgments, how many will be labelled by nobody, and how many by one alone.
    """
    seat = blind.seat(rater)
    coming = set(awaited(blind, works, revoked))
    found = []
    for name in seat.judgments if seat else ():
        others = {each.id for each in blind.seats if each.id in coming and name in each.judgments}
        found.append(len(others | _answers(blind, works, name).keys()))
    return found.count(0), found.count(1)


@dataclass(frozen=True, slots=True)
class Given:
    """What one labeller said of a judgment, without whose it is."""

    says: Reading
    evidence: tuple[str, ...]
    note: str


def given(blind: Blind, works: Works, judgment: str) -> tuple[Given, ...]:
    """What was said of a judgment, in an order that tells nobody whose it is."""
    found = [
        Given(
            Reading(answers["says"].value),
            passages(_text(answers, "evidence")),
            _text(answers, "note"),
        )
        for answers in _answers(blind, works, judgment).values()
    ]
    Random(f"{blind.seed}/{judgment}").shuffle(found)
    return tuple(found)


def labels(plan: AuditPlan, works: Works) -> list[Label]:
    """An audit's labels: all that labellers gave, and beside them what was settled.

    A label's note begins with the words taken as evidence, a line each, in quotation marks.

    Args:
        plan: Of the audit.
        works: Of labellers and of the adjudicator.

    Returns:
        In the order of the sample, a judgment's settled one last. What was only begun is not in it.
    """
    blind = plan.blind()
    settled = works.get(plan.adjudicator.id, {})
    found: list[Label] = []
    for name in blind.judgments:
        for rater, answers in _answers(blind, works, name).items():
            quoted = [f"“{passage}”" for passage in passages(_text(answers, "evidence"))]
            note = "\n".join([*quoted, *filter(None, [_text(answers, "note")])])
            found.append(_label(rater, name, answers, note))
        final = settled.get(settle_task(name), {})
        if "says" in final and "reason" in final:
            by = plan.adjudicator.id
            found.append(_label(by, name, final, _text(final, "reason"), adjudicated=True))
    return found


def _label(
    rater: str,
    judgment: str,
    answers: Mapping[str, Answer],
    note: str,
    *,
    adjudicated: bool = False,
) -> Label:
    said = answers["says"]
    at = datetime.fromisoformat(said.at)
    return Label(rater, judgment, Reading(said.value), note, at, adjudicated)


def _answers(blind: Blind, works: Works, judgment: str) -> dict[str, Mapping[str, Answer]]:
    """What each labeller answered who labels a judgment, in the order of seats."""
    task = label_task(judgment)
    found = {seat.id: works.get(seat.id, {}).get(task, {}) for seat in blind.seats}
    return {rater: answers for rater, answers in found.items() if "says" in answers}


def _text(answers: Mapping[str, Answer], field: str) -> str:
    return answers[field].value if field in answers else ""


# The whole


@dataclass(frozen=True, slots=True)
class Standing:
    """How far one labeller is.

    Attributes:
        n: Judgments of theirs.
        minutes: That are expected for all of them.
        revoked: Whether their link is switched off.
    """

    rater: str
    role: str
    n: int
    done: int
    skipped: int
    handed_in: bool
    withdrawn: bool
    revoked: bool
    minutes: float


def standings(blind: Blind, works: Works, revoked: Set[str]) -> Sequence[Standing]:
    """How far each labeller is; nothing of what they said."""
    found = []
    for seat in blind.seats:
        work = works.get(seat.id, {})
        of = states(blind, seat.id, work)
        found.append(
            Standing(
                rater=seat.id,
                role=seat.role,
                n=len(of),
                done=of.count(Progress.done),
                skipped=of.count(Progress.skipped),
                handed_in=handed_in(work),
                withdrawn=seat.id not in works,
                revoked=seat.id in revoked,
                minutes=blind.minutes(seat.judgments),
            )
        )
    return found


def n_settled(blind: Blind, works: Works, revoked: Set[str]) -> tuple[int, int]:
    """How many of the disputed judgments are settled, and how many there are."""
    of = disputed(blind, works, revoked)
    work = works.get(blind.adjudicator.id, {})
    return sum(
        progress(SETTLE_QUESTIONS, work.get(settle_task(name), {})) is Progress.done for name in of
    ), len(of)


@dataclass(frozen=True, slots=True)
class Whole:
    """Where an audit stands.

    Attributes:
        awaited: Whom settling waits for.
        open: Whether settling has begun.
        settles: Whether the adjudicator is there, with a link that is not switched off.
        n_disputed: Judgments to settle; 0 before settling has begun.
    """

    standings: Sequence[Standing]
    awaited: tuple[str, ...]
    open: bool
    settles: bool
    n_settled: int
    n_disputed: int


def whole(blind: Blind, works: Works, revoked: Set[str]) -> Whole:
    """Where an audit stands; nothing of what anybody said."""
    adjudicator = blind.adjudicator.id
    settled, of = n_settled(blind, works, revoked)
    return Whole(
        standings=standings(blind, works, revoked),
        awaited=awaited(blind, works, revoked),
        open=is_open(blind, works, revoked),
        settles=adjudicator in works and adjudicator not in revoked,
        n_settled=settled,
        n_disputed=of,
    )
