"""The labels of an audit, the disagreements to settle, its progress, and typed labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from random import Random

from careeval.core.rating import Label, Reading
from careeval.core.text import counted
from careeval.people.audit.plan import AuditPlan, BlindPlan
from careeval.people.deck import FINISHED, Progress, Question, progress
from careeval.people.store import Answer, Store, Work
from careeval.people.typed_forms import TypedPage, TypedPages, read_rows

HANDED_IN = "handed-in"
"""The field of the task FINISHED for a labeller who has handed in, and can change nothing now."""

MAX_PASSAGES = 20
"""The largest number of passages of evidence for one judgment."""


@dataclass(frozen=True, slots=True)
class EvidenceQuestion(Question):
    """The question which passages show an item; they must be copied from the response."""

    response: str = ""

    def read(self, text: str) -> str | None:
        """Return the passages as the store keeps them, one per line: see `Question.read`.

        Raises:
            ValueError: There are more than `MAX_PASSAGES`, or one is not in the response.
        """
        words = Question.read(self, text)
        lines = evidence_passages(words or "")
        if len(lines) > MAX_PASSAGES:
            raise ValueError(
                f"There are {len(lines)} lines here; at most {MAX_PASSAGES} passages can be kept: "
                "this is not saved yet."
            )
        for passage in lines:
            if not any(_find(passage, self.response)):
                raise ValueError(
                    f"“{passage}” is not in the response. Copy the words just as they "
                    "are there, one passage a line: this is not saved yet."
                )
        return words


LABEL_QUESTION = Question(
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
    """Return the questions that a labeller is asked about a judgment on a response."""
    evidence = EvidenceQuestion(
        "evidence",
        "comment",
        "The words that show it",
        "the words that show it",
        hint="If you like. Copied from the response, one passage a line.",
        required=False,
        response=response,
    )
    return LABEL_QUESTION, evidence, _NOTE


SETTLE_QUESTIONS = (LABEL_QUESTION, _REASON)
"""The questions that the adjudicator is asked about a judgment."""


def label_task(judgment: str) -> str:
    """Return the name that the store gives to the labelling of a judgment."""
    return f"label/{judgment}"


def settle_task(judgment: str) -> str:
    """Return the name that the store gives to the settling of a judgment."""
    return f"settle/{judgment}"


# Evidence


def evidence_passages(evidence: str) -> tuple[str, ...]:
    """Return the passages typed as evidence: one per line that is not empty."""
    return tuple(line for line in map(str.strip, evidence.splitlines()) if line)


def mark_evidence(response: str, evidence: Iterable[str]) -> list[tuple[str, bool]]:
    """Split a response into parts, and return for each whether it belongs to the evidence."""
    inside = [False] * len(response)
    for passage in evidence:
        for start, end in _find(passage, response):
            inside[start:end] = [True] * (end - start)
    edges = [k for k in range(1, len(response)) if inside[k] != inside[k - 1]]
    starts, ends = [0, *edges], [*edges, len(response)]
    return [(response[a:b], inside[a]) for a, b in zip(starts, ends, strict=True) if b > a]


def _find(passage: str, response: str) -> Iterator[tuple[int, int]]:
    """Return where a passage occurs in a response; spaces, case and kinds of quotes may differ."""
    pattern = r"\s+".join(re.escape(word) for word in passage.split())
    for alike in ("'‘’", '"“”'):
        pattern = re.sub(f"[{alike}]", f"[{alike}]", pattern)
    return (match.span() for match in re.finditer(pattern, response, re.IGNORECASE))


# Labels and progress


@dataclass(frozen=True, slots=True)
class AnonymousLabel:
    """One label of a judgment, without its labeller."""

    says: Reading
    evidence: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class LabellerProgress:
    """The progress of one labeller with their judgments."""

    rater: str
    role: str
    n: int  # The number of their judgments
    done: int
    skipped: int
    handed_in: bool
    withdrawn: bool
    revoked: bool  # True if their link is switched off


def has_handed_in(work: Work) -> bool:
    """Tell whether a labeller has handed in their labels."""
    return HANDED_IN in work.get(FINISHED, {})


@dataclass(frozen=True)
class LabelledAudit:
    """An audit with the labels of its people."""

    blind: BlindPlan
    works: Mapping[str, Work]  # Rater id → their answers; people who have withdrawn are no keys
    revoked: Set[str] = frozenset()  # The ids of people whose links are switched off

    @cached_property
    def awaited(self) -> tuple[str, ...]:
        """The labellers who have not handed in but still can; settling waits for them."""
        present = [seat.id for seat in self.blind.seats if seat.id in self.works]
        return tuple(
            rater
            for rater in present
            if rater not in self.revoked and not has_handed_in(self.works[rater])
        )

    @property
    def is_settling_open(self) -> bool:
        """True if settling has begun: a labeller has not withdrawn, and no hand-in is awaited."""
        return any(seat.id in self.works for seat in self.blind.seats) and not self.awaited

    @property
    def can_be_settled(self) -> bool:
        """True if there is an adjudicator whose link works."""
        adjudicator = self.blind.adjudicator.id
        return adjudicator in self.works and adjudicator not in self.revoked

    @cached_property
    def disputed(self) -> tuple[str, ...]:
        """The judgments to settle: labels differ, or one is unsure.

        Their order is random, so that it tells nothing about a labeller. Before settling has begun,
        there are none.
        """
        names = []
        for name in self.blind.judgments if self.is_settling_open else ():
            says = {answers["says"].value for answers in self._answers(name).values()}
            if len(says) > 1 or Reading.unsure in says:
                names.append(name)
        Random(f"{self.blind.seed}/{self.blind.adjudicator.id}").shuffle(names)
        return tuple(names)

    @property
    def n_settled(self) -> int:
        """The number of disputed judgments that are settled."""
        work = self.works.get(self.blind.adjudicator.id, {})
        states = (progress(SETTLE_QUESTIONS, work.get(settle_task(n), {})) for n in self.disputed)
        return sum(state is Progress.done for state in states)

    def count_thin(self, rater: str) -> tuple[int, int]:
        """Count the judgments left with no label or one label now that this rater gives no more.

        Args:
            rater: A labeller who has withdrawn or whose link is switched off.

        Returns:
            The rater's judgments that nobody will have labelled once all others have handed in, and
            those that one labeller alone will have.
        """
        seat = self.blind.seat(rater)
        coming = [each for each in self.blind.seats if each.id in self.awaited]
        n_labellers = []
        for name in seat.judgments if seat else ():
            others = {each.id for each in coming if name in each.judgments}
            n_labellers.append(len(others | self._answers(name).keys()))
        return n_labellers.count(0), n_labellers.count(1)

    def departure_notes(self, person: str) -> Iterator[str]:
        """Yield notes on the labels that will be missing once a person has left."""
        if seat := self.blind.seat(person):
            n_none, n_one = self.count_thin(person)
            yield (
                f"Of the {counted(len(seat.judgments), 'judgment')} of {person}, {n_none} will "
                f"have been labelled by nobody and {n_one} by one person alone, once everybody "
                "else has handed in."
            )
        yield from self.settling_notes()

    def settling_notes(self) -> Iterator[str]:
        """Yield notes on how far settling is, and whom it waits for."""
        if self.awaited:
            yield (
                f"Settling begins when all have handed in. It waits for {', '.join(self.awaited)}."
            )
        elif self.is_settling_open:
            disagreements = counted(len(self.disputed), "disagreement is", "disagreements are")
            yield f"{self.n_settled} of {disagreements} settled."
        else:
            yield "All labellers have left, or their links are off: no more labels will come."
        if not self.can_be_settled:
            adjudicator = self.blind.adjudicator.id
            reason = "has withdrawn. Name another adjudicator: careeval audit adjudicator"
            if adjudicator in self.revoked:
                reason = "has a link that is off. For a new link: careeval audit link"
            yield f"Disagreements cannot be settled: {adjudicator} {reason}."

    def unfinished_notes(self) -> Iterator[str]:
        """Yield notes on the labellers whose labels count although they have not handed in."""
        late = [each for each in self.labellers if not (each.handed_in or each.withdrawn)]
        if off := [each.rater for each in late if each.revoked]:
            yield (
                "Link turned off before they handed in; their labels so far count: "
                f"{', '.join(off)}."
            )
        if awaited := [each.rater for each in late if not each.revoked]:
            yield f"Not handed in yet; their labels so far count: {', '.join(awaited)}."

    def anonymous_labels(self, judgment: str) -> tuple[AnonymousLabel, ...]:
        """Return the labels of a judgment, shuffled and without their labellers."""
        anonymous = [
            AnonymousLabel(
                Reading(answers["says"].value),
                evidence_passages(_text(answers, "evidence")),
                _text(answers, "note"),
            )
            for answers in self._answers(judgment).values()
        ]
        Random(f"{self.blind.seed}/{judgment}").shuffle(anonymous)
        return tuple(anonymous)

    @property
    def labels(self) -> list[Label]:
        """The labels of labellers, and beside them those of the adjudicator.

        They are in the order of the sample, an adjudicator's after the others of its judgment. A
        label's note begins with the passages of evidence, in quotation marks, one per line. An
        adjudicator's reading without a reason is left out.
        """
        by = self.blind.adjudicator.id
        settled = self.works.get(by, {})
        labels: list[Label] = []
        for name in self.blind.judgments:
            for rater, answers in self._answers(name).items():
                passages = evidence_passages(_text(answers, "evidence"))
                lines = [*(f"“{passage}”" for passage in passages), _text(answers, "note")]
                labels.append(_label(rater, name, answers, "\n".join(filter(None, lines))))
            final = settled.get(settle_task(name), {})
            if "says" in final and "reason" in final:
                labels.append(_label(by, name, final, _text(final, "reason"), adjudicated=True))
        return labels

    @property
    def labellers(self) -> tuple[LabellerProgress, ...]:
        """The progress of each labeller, without any of their labels."""
        asked = label_questions("")
        rows = []
        for seat in self.blind.seats:
            work = self.works.get(seat.id, {})
            states = [progress(asked, work.get(label_task(name), {})) for name in seat.judgments]
            rows.append(
                LabellerProgress(
                    rater=seat.id,
                    role=seat.role,
                    n=len(states),
                    done=states.count(Progress.done),
                    skipped=states.count(Progress.skipped),
                    handed_in=has_handed_in(work),
                    withdrawn=seat.id not in self.works,
                    revoked=seat.id in self.revoked,
                )
            )
        return tuple(rows)

    def _answers(self, judgment: str) -> dict[str, Mapping[str, Answer]]:
        """Return rater → answers on a judgment, for those who have labelled it, in seat order."""
        task = label_task(judgment)
        by_rater = {seat.id: self.works.get(seat.id, {}).get(task, {}) for seat in self.blind.seats}
        return {rater: answers for rater, answers in by_rater.items() if "says" in answers}


def read_audit(store: Store) -> tuple[AuditPlan, LabelledAudit]:
    """Return the newest plan of an audit, and the labels that its file has now."""
    plan = AuditPlan.read(store.plans("audit")[-1])
    return plan, LabelledAudit(plan.blind(), store.all_work(), store.revoked_ids())


def _label(
    rater: str,
    judgment: str,
    answers: Mapping[str, Answer],
    note: str,
    *,
    adjudicated: bool = False,
) -> Label:
    reading = answers["says"]
    at = datetime.fromisoformat(reading.at)
    return Label(rater, judgment, Reading(reading.value), note, at, adjudicated)


def _text(answers: Mapping[str, Answer], field: str) -> str:
    return answers[field].value if field in answers else ""


# Labels typed from paper


_READINGS = {short: reading.value for reading in Reading for short in (reading.value, reading[0])}
_SHORT = re.compile(r"([a-z]+)0*([0-9]+)", re.IGNORECASE)


def read_typed_labels(
    path: Path, blind: BlindPlan, store: Store, *, replace: bool = False, hand_in: bool = False
) -> tuple[TypedPage, ...]:
    """Return the labels of a file, checked against the audit and against earlier answers.

    The columns are `rater`, `judgment`, `label`, `evidence` and `note`. A row without the last
    three counts as not labelled yet.

    Args:
        path: The file, separated by commas or semicolons.
        blind: The part of the audit that labellers may see.
        store: The audit's.
        replace: Whether earlier answers may be replaced by different ones.
        hand_in: Whether the labellers whose labels are in the file hand in with it.

    Raises:
        ReviewError: A row cannot be used; the message names the line of each problem.
    """
    pages = TypedPages(store, replace=replace)
    done = {name for name, work in store.all_work().items() if has_handed_in(work)}
    by_short = {_short_name(name): name for name in blind.judgments}

    def take(line: int, row: Mapping[str, str]) -> None:
        label, rater = row["label"].lower(), row["rater"]
        answers = {"says": _READINGS.get(label, label)}
        answers |= {name: row[name] for name in ("evidence", "note")}
        if not any(answers.values()):
            return
        seat = blind.seat(rater) if pages.has(rater) else None
        if seat is None:
            raise ValueError(f"{rater!r} is not a labeller of this audit, or has withdrawn")
        if rater in done:
            raise ValueError(
                f"{rater} has handed in, so their labels can no longer be changed: remove the row"
            )
        name = by_short.get(_short_name(row["judgment"]), "")
        if name not in seat.judgments:
            raise ValueError(f"{row['judgment']!r} is not a judgment of {seat.id}")
        if label and label not in _READINGS:
            short = ", ".join(reading[0] for reading in Reading)
            raise ValueError(
                f"label must be one of {', '.join(Reading)}, or {short}, not {row['label']!r}"
            )
        page = pages.page(seat.id, label_task(name), seat.judgments.index(name) + 1)
        for question in label_questions(blind.judgments[name].response):
            column = "label" if question.field == "says" else question.field
            pages.note(page, question, answers[question.field], line, column)

    needed = ("rater", "judgment", "label")
    read_rows(path, needed, (*needed, "evidence", "note"), take)
    if hand_in:
        for rater in sorted({page.rater for page in pages.filled()}):
            pages.page(rater, FINISHED, None).values[HANDED_IN] = "yes"
    return pages.filled()


def _short_name(judgment: str) -> str:
    """Return the short form of a judgment's name, in lower case: j12 for j00012 and for J12."""
    match = _SHORT.fullmatch(judgment)
    return f"{match[1]}{match[2]}".lower() if match else judgment
