"""The sections of a report, and the data that they show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from careeval.report.payload import Payload
from careeval.report.words import score_name
from careeval.results.findings import EntryFindings, Findings
from careeval.results.summary import Summary
from careeval.sheets.words import entry_names


@dataclass(frozen=True, eq=False)
class Report:
    """The data that the sections of a report show."""

    findings: Findings  # The results; may be empty
    words_shown: bool  # True if the texts of responses, quotes and reasons are included
    payload: Payload  # The responses in the form of the response reader

    @property
    def graded(self) -> Sequence[EntryFindings]:
        """Entries with their numbers: each is one system as one grader judged it on one rubric."""
        return self.findings.graded

    @property
    def summaries(self) -> Sequence[Summary]:
        """Summary of each entry."""
        return self.findings.summaries

    @property
    def has_one_entry(self) -> bool:
        """Tell whether there is only one entry; tables then leave out its name."""
        return len(self.summaries) == 1

    @cached_property
    def unranked(self) -> frozenset[str]:
        """Names of the entries that may not be ranked."""
        names = entry_names(self.summaries)
        pairs = zip(names, self.summaries, strict=True)
        return frozenset(name for name, s in pairs if s.not_ranked)

    @cached_property
    def rubrics(self) -> tuple[str, ...]:
        """Rubrics that were judged."""
        return distinct(s.rubric.value for s in self.summaries)

    @property
    def score_name(self) -> str:
        """Name of the score, with the rubric if all entries have the same rubric."""
        return score_name(self.summaries)

    @cached_property
    def banks(self) -> tuple[str, ...]:
        """Banks with their versions."""
        return distinct(f"{s.bank} {s.bank_version}" for s in self.summaries)

    @cached_property
    def protocols(self) -> tuple[str, ...]:
        """Versions of the protocol used for asking or grading."""
        both = ((s.protocol, s.grading_protocol) for s in self.summaries)
        return distinct(version for versions in both for version in versions if version)

    @cached_property
    def dates(self) -> tuple[str, ...]:
        """Days on which runs began, in order."""
        moments = self.findings.public.runs.responses["created"].drop_nulls()
        return distinct(sorted(moment[: len("2026-11-20")] for moment in moments))


def distinct(values: Iterable[str]) -> tuple[str, ...]:
    """Return each distinct value once, in order of first use."""
    return tuple(dict.fromkeys(values))


def has_numbers(report: Report) -> bool:
    """Tell whether a report has any graded entry."""
    return bool(report.summaries)


@dataclass(frozen=True)
class Section:
    """One section of a report."""

    id: str  # Anchor of the section
    title: str  # Title in the navigation
    template: str  # Name of its template
    fill: Callable[[Report], Mapping[str, Any]]
    """Returns the variables of the template other than `report`."""
    is_shown: Callable[[Report], bool] = has_numbers  # Tells whether a report has the section
    needs_scripts: bool = False  # True if the section is hidden until a script shows it
    parts: tuple[Section, ...] = ()  # Subsections, shown only if the section is


def sections_of(report: Report, tree: Iterable[Section]) -> Iterator[Section]:
    """Yield the sections that a report shows, each before its parts."""
    for section in tree:
        if section.is_shown(report):
            yield section
            yield from sections_of(report, section.parts)
