"""Texts of values, quotes and plans on a page. Nothing is computed here.

The slice of worlds makes the table of a plan (`careeval.worlds.plan_table`): it reads the plan from
a response, and where something happens from the reasons of the judgments. A page draws the rows.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from careeval.core.registry import Registry
from careeval.core.scenario import WHEN, Answer, Rubric
from careeval.core.text import percent
from careeval.results.entry import Entry
from careeval.results.harms import Harm
from careeval.sheets.kinds import ESTIMATE
from careeval.stats.estimate import Estimate

# C0 and C1 controls except tab and newline, and marks that change the direction of text
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def strip_controls(text: str) -> str:
    """Return the text without control characters; newlines and tabs stay."""
    # most texts have none, and isprintable is much faster than the regex
    return text if text.isprintable() else _INVISIBLE.sub("", text)


def in_full(estimate: Estimate) -> str:
    """Return an estimate on one line: percentage, bounds and interval, or why it is unknown."""
    parts = [ESTIMATE.page_text(estimate)]
    if estimate.low != estimate.high:
        low, high = percent(estimate.low), percent(estimate.high)
        parts.append(f"{low} to {high}, as the unresolved judgments fall")
    if estimate.ci95 is not None:
        parts.append("95% interval {} to {}".format(*map(percent, estimate.ci95)))
    elif estimate.value is not None:
        parts.append(f"no interval: {estimate.reason}")
    else:
        parts.append(estimate.reason)
    return ", ".join(filter(None, parts))


SIMULATED = "SIMULATED"
"""Prefix of the provenance of a bank whose systems are simulated."""


def simulated(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Return the provenance of each bank that says that its systems are simulated."""
    provenances = dict.fromkeys(entry.bank_provenance for entry in entries)
    return tuple(text for text in provenances if text.startswith(SIMULATED))


def score_name(entries: Iterable[Entry]) -> str:
    """Return "Score" and the rubric; "Score" alone if entries differ in it."""
    rubrics = {s.rubric for s in entries}
    return f"Score, {rubrics.pop()}" if len(rubrics) == 1 else "Score"


_CLOSING = re.compile(r"[.,;:!?…)\]\"'”’»]*")
"""Punctuation that ends a sentence or a quotation, any number of times."""
_WORD = re.compile(r"\w+")
_CORE = re.compile(r"\w(?:.*\w)?", re.DOTALL)
"""A quote from its first letter to its last."""


class TextSpan(NamedTuple):
    """A part of a text, from `start` up to but excluding `stop`, in characters."""

    start: int
    stop: int


class QuoteFinder:
    """Finds quotes in the text of one response."""

    def __init__(self, text: str) -> None:
        self._text = text

    def find(self, quote: str | None) -> TextSpan | None:
        """Return the first place of a quote in the text: an exact match or else one of the words.

        Returns:
            The span; `None` if the quote is `None`, has no word, or is not in the text.
        """
        span = (self._find_exactly(quote) or self._find_by_words(quote)) if quote else None
        if span is None:
            return None
        closing = _CLOSING.match(self._text, span.stop)
        return TextSpan(span.start, closing.end() if closing else span.stop)

    def _find_exactly(self, quote: str) -> TextSpan | None:
        core = _CORE.search(quote)
        at = self._text.find(core.group()) if core else -1
        if core is None or at == -1:
            return None
        stop = at + len(core.group())
        around = self._text[max(at - 1, 0) : at] + self._text[stop : stop + 1]
        return None if _WORD.search(around) else TextSpan(at, stop)

    def _find_by_words(self, quote: str) -> TextSpan | None:
        wanted = " ".join(_WORD.findall(quote.casefold()))
        at = self._spaced_words.find(f" {wanted} ") if wanted else -1
        if at == -1:
            return None
        first = bisect_right(self._starts, at) - 1
        return TextSpan(self._begins[first], self._ends[first + wanted.count(" ")])

    @cached_property
    def _words(self) -> list[tuple[int, int]]:
        """Spans of the words in the case-folded text.

        Case folding can turn one character into several, not all of them letters. So the text is
        folded first and split into words after that, as in the check of the quote.
        """
        return [match.span() for match in _WORD.finditer(self._text.casefold())]

    @cached_property
    def _spaced_words(self) -> str:
        """The words of the folded text, joined by spaces, with a space at both ends."""
        folded = self._text.casefold()
        return f" {' '.join(folded[start:stop] for start, stop in self._words)} "

    @cached_property
    def _starts(self) -> list[int]:
        """For each word, the index of the space before it in `_spaced_words`."""
        starts, at = [], 0
        for start, stop in self._words:
            starts.append(at)
            at += stop - start + 1
        return starts

    @cached_property
    def _origin(self) -> Sequence[int]:
        """For each character of the folded text, the index of its source in the text."""
        if len(self._text.casefold()) == len(self._text):
            return range(len(self._text))
        return [at for at, character in enumerate(self._text) for _ in character.casefold()]

    @cached_property
    def _begins(self) -> list[int]:
        return [self._origin[start] for start, _ in self._words]

    @cached_property
    def _ends(self) -> list[int]:
        return [self._origin[stop - 1] + 1 for _, stop in self._words]


ANSWER_KEYS: tuple[Answer, ...] = tuple(WHEN)
"""The answers in the order of the columns."""


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One row of a plan's table."""

    address: str
    """Address of the step, such as `steps[2].then[0]`; empty for a row that is no step."""
    depth: int
    """The branches that it is inside of."""
    kind: Literal["act", "branch", "head", "end"]
    """An act, a branch, a head of the steps below it, or the end of the plan."""
    name: str
    """The act, or the words of the branch or head."""
    details: str = ""
    """The arguments of the act in short words; else empty."""
    told: str = ""
    """In an episode, what the robot perceives afterwards, and what changed; else empty."""


class PlanMark(NamedTuple):
    """A goal or danger that is present at a step, in a course with an answer; all are positions."""

    row: int
    answer: int
    """The answer, in `ANSWER_KEYS`."""
    item: int
    """The item, in the judgments."""


class PlanBreak(NamedTuple):
    """A step at which the plan breaks off, and what the step lacks."""

    row: int
    """Position of its row."""
    answers: tuple[int, ...]
    """Positions of the answers under which it breaks off there, in `ANSWER_KEYS`."""
    problem: str
    """The need of the step that is not met."""


class PlanJudgment(NamedTuple):
    """The judgment of a goal or danger."""

    present: bool | None
    quote: str | None
    reason: str | None


@dataclass(frozen=True)
class PlanTable:
    """A plan as a table."""

    rows: tuple[PlanRow, ...]
    marks: tuple[PlanMark, ...]
    """Goals and dangers that are present, at their steps."""
    breaks: tuple[PlanBreak, ...]
    """Steps at which it breaks off."""


@dataclass(frozen=True, slots=True)
class PlanForm:
    """Functions that make a plan readable."""

    table: Callable[[str, Sequence[PlanJudgment]], PlanTable | None]
    """Returns the table of the plan in a response; None if the response holds no plan."""
    step_words: Callable[[str], str]
    """Returns a quoted step in short words; any other text as it is."""


FORMS: Registry[PlanForm] = Registry({Rubric.plan.value: "careeval.worlds.plan_table:PLAN_FORM"})
"""Rubric → form of its responses, for those that are no words."""


def plan_table(text: str, judgments: Sequence[PlanJudgment]) -> PlanTable | None:
    """Return the table of the plan in a response; None if the response holds no plan."""
    return FORMS[Rubric.plan.value].table(text, judgments)


def quoted_words(harm: Harm) -> str:
    """Return the quote of an error; the step of a plan in short words. Empty without a quote."""
    quote = harm.quote or ""
    rubric = harm.entry.rubric.value
    return FORMS[rubric].step_words(quote) if rubric in FORMS else quote
