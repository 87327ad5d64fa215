"""A report as a tree of sections, each of which is declared once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from careeval.report.payload import Payload
from careeval.report.words import score_name
from careeval.results.findings import Findings, Graded
from careeval.results.score.summary import Summary
from careeval.sheets.words import entry_names


@dataclass(frozen=True, eq=False)
class Report:
    """All that the sections of a report may show.

    Attributes:
        findings: All that is found; may be of nothing.
        words_shown: Whether the words of responses, quotes and reasons are in it.
        read: The responses, as its reader has them.
    """

    findings: Findings
    words_shown: bool
    read: Payload

    @property
    def graded(self) -> Sequence[Graded]:
        """The entries with their numbers."""
        return self.findings.graded

    @property
    def summaries(self) -> Sequence[Summary]:
        """The summary of each."""
        return self.findings.summaries

    @property
    def is_of_one(self) -> bool:
        """Whether it is of one entry, whose name stands in no table."""
        return len(self.summaries) == 1

    @cached_property
    def unranked(self) -> frozenset[str]:
        """The names of entries that may not be ranked."""
        names = entry_names(self.summaries)
        pairs = zip(names, self.summaries, strict=True)
        return frozenset(name for name, s in pairs if s.not_ranked)

    @cached_property
    def rubrics(self) -> tuple[str, ...]:
        """The rubrics that are judged."""
        return distinct(s.rubric.value for s in self.summaries)

    @property
    def score_name(self) -> str:
        """The score with the name of its rubric; of entries on several, their own names have it."""
        return score_name(self.summaries)

    @cached_property
    def banks(self) -> tuple[str, ...]:
        """The banks, with their versions."""
        return distinct(f"{s.bank} {s.bank_version}" for s in self.summaries)

    @cached_property
    def protocols(self) -> tuple[str, ...]:
        """Every version of the protocol that asked or judged."""
        both = ((s.protocol, s.grading_protocol) for s in self.summaries)
        return distinct(version for versions in both for version in versions if version)

    @cached_property
    def dates(self) -> tuple[str, ...]:
        """The days on which runs were begun, in order."""
        moments = self.findings.public.runs.responses["created"].drop_nulls()
        return distinct(sorted(moment[: len("2026-11-20")] for moment in moments))


def distinct(values: Iterable[str]) -> tuple[str, ...]:
    """Return each value once, in order."""
    return tuple(dict.fromkeys(values))


def has_numbers(report: Report) -> bool:
    """Tell whether anything was graded."""
    return bool(report.summaries)


@dataclass(frozen=True)
class Section:
    """One section of a report.

    Attributes:
        id: Where links to it lead.
        title: In the navigation.
        template: Its file among the templates.
        fill: Returns what the template is filled with, besides `report`.
        is_there: Tells whether a report has it.
        needs_scripts: Whether it is hidden until a script shows it.
        parts: Sections that stand behind it, and are there only where it is.
    """

    id: str
    title: str
    template: str
    fill: Callable[[Report], Mapping[str, Any]]
    is_there: Callable[[Report], bool] = has_numbers
    needs_scripts: bool = False
    parts: tuple[Section, ...] = ()


def sections_of(report: Report, tree: Iterable[Section]) -> Iterator[Section]:
    """Yield the sections that a report has, each before its parts."""
    for section in tree:
        if section.is_there(report):
            yield section
            yield from sections_of(report, section.parts)
