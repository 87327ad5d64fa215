"""What the site is made of, before any of it is drawn: its tables' entries and their addresses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from careeval.core.grader import Grader
from careeval.core.scenario import Rubric
from careeval.report.site.names import slugs
from careeval.results.findings import Findings, Graded
from careeval.results.score.summary import Summary
from careeval.results.vendors import vendor
from careeval.results.versus.comparable import Basis, basis
from careeval.results.versus.ranking import Ranked, Ranking
from careeval.sheets.sheet import Sheet
from careeval.sheets.words import brief_grader_names

RUBRICS = tuple(sorted(Rubric))
"""In the order in which pages show them: the actions first."""

SIMULATED = "SIMULATED"
"""How the provenance of runs begins that stand for nothing."""


@dataclass(frozen=True, eq=False)
class Listed:
    """One entry on the site: a system as one grader judged it on one rubric, ranked or not.

    Attributes:
        graded: The entry, with its numbers and what may be shown of it.
        system_slug: Of its system's page.
        anchor: Of its section there; empty where its system has no other entry.
        vendor: Who made the system; `None` where its name does not say.
        ranked: Where it stands; `None` if it is not ranked.
        n_ranked: Entries that its ranks are among.
        why_not: Why it is not ranked; else empty.
        date: When its run was begun, ISO 8601; empty where no log says.
    """

    graded: Graded
    system_slug: str
    anchor: str
    vendor: str | None
    ranked: Ranked | None
    n_ranked: int
    why_not: str
    date: str

    @property
    def page(self) -> str:
        """The path of its system's page in the site, with its anchor if any."""
        return f"models/{self.system_slug}.html" + (f"#{self.anchor}" if self.anchor else "")

    @property
    def name(self) -> str:
        """Name of the system."""
        return self.summary.system

    @property
    def summary(self) -> Summary:
        """Its numbers."""
        return self.graded.summary

    @property
    def rubric(self) -> Rubric:
        """What was judged."""
        return self.summary.rubric


@dataclass(frozen=True, eq=False)
class Board:
    """Entries that compare with each other: one bank, protocols, grader and rubric.

    Attributes:
        ranked: Best first; may be empty.
        left_out: What may not be ranked, by name.
        slug: Its anchor, and the end of its files' names; empty for the first board.
    """

    ranking: Ranking
    ranked: tuple[Listed, ...]
    left_out: tuple[Listed, ...]
    slug: str

    @property
    def listed(self) -> tuple[Listed, ...]:
        """All of them, the ranked ones first."""
        return (*self.ranked, *self.left_out)

    @property
    def n_pairs(self) -> int:
        """Pairs of ranked entries: what a difference in score is held up against."""
        return len(self.ranking.pairs)

    @property
    def basis(self) -> Basis:
        """What its entries have in common."""
        return self.ranking.basis

    @property
    def title(self) -> str:
        """What its entries have in common, in words, but for the grader."""
        of = self.basis
        return (
            f"{rubric_words(of.rubric)} of {of.bank} {of.bank_n} (scenarios {of.bank_hash}), asked "
            f"by protocol {of.protocol_n}, judged by protocol {of.grading_n}"
        )

    def file(self, name: str) -> str:
        """Name of one of its data files."""
        return f"{name}-{self.slug}" if self.slug else name


@dataclass(frozen=True, eq=False)
class System:
    """One system, with its entries board by board."""

    entries: tuple[Listed, ...]

    @property
    def name(self) -> str:
        """Its name."""
        return self.entries[0].name

    @property
    def page(self) -> str:
        """Its page's path in the site."""
        return f"models/{self.entries[0].system_slug}.html"


@dataclass(frozen=True, eq=False)
class Contents:
    """All that the site shows.

    Attributes:
        boards: The one with the most ranked entries first.
        scenarios: Edition of a bank and public scenario → slug of its page, in order.
        graders: Grader → its anchor among the evidence.
        banners: What a reader must see on every page.
        provenances: Of the banks, each once.
        canary: Of the bank; `None` where it is not known.
        repository: Where runs may be sent to; `None` where nobody takes any.
    """

    findings: Findings
    title: str
    boards: tuple[Board, ...]
    scenarios: dict[tuple[str, str], str]
    graders: dict[str, str]
    banners: tuple[str, ...]
    provenances: tuple[str, ...]
    canary: str | None
    repository: str | None

    @cached_property
    def listed(self) -> tuple[Listed, ...]:
        """All entries, board by board."""
        return tuple(listed for board in self.boards for listed in board.listed)

    @cached_property
    def systems(self) -> tuple[System, ...]:
        """All systems, in the order of their first entries."""
        by_name: dict[str, list[Listed]] = {}
        for listed in self.listed:
            by_name.setdefault(listed.name, []).append(listed)
        return tuple(System(tuple(entries)) for entries in by_name.values())

    def over(self, edition: str) -> list[Listed]:
        """Return the entries over an edition of a bank."""
        return [listed for listed in self.listed if listed.graded.edition == edition]

    def first_entries(self, edition: str, rubric: Rubric | None = None) -> list[Listed]:
        """Return the first entry of each system over an edition of a bank, where there is one.

        Args:
            edition: Of the bank.
            rubric: That it was judged on; any where not given.
        """
        first: dict[str, Listed] = {}
        for listed in self.over(edition):
            if rubric in {None, listed.rubric}:
                first.setdefault(listed.name, listed)
        return list(first.values())

    def first_board(self, edition: str) -> tuple[Listed, ...]:
        """Return the entries of the first board over an edition, ranked or not."""
        boards = (board.listed for board in self.boards if board.listed)
        return next((each for each in boards if each[0].graded.edition == edition), ())

    @cached_property
    def judges(self) -> dict[str, str]:
        """Grader → as much of its name as tells it from the others."""
        return brief_grader_names(self.graders)

    def card(self, listed: Listed) -> str:
        """Return the address of the card of an entry's grader."""
        return f"evidence.html#{self.graders[listed.summary.grader]}"

    def scenario_page(self, edition: str, scenario: str) -> str:
        """Return the path of a scenario's page; empty where it is not public."""
        slug = self.scenarios.get((edition, scenario))
        return f"scenarios/{slug}.html" if slug else ""

    def page_of(self, listed: Listed, scenario: str) -> str:
        """Path of a scenario's page; empty unless all that this entry has of it may be shown."""
        if scenario not in listed.graded.public.scenarios:
            return ""
        return self.scenario_page(listed.graded.edition, scenario)


def with_pages(sheet: Sheet, listed: Iterable[Listed]) -> Sheet:
    """Return a sheet with the address of each row's entry, under `page`.

    Args:
        sheet: A row an entry.
        listed: The entries, in the same order.
    """
    return sheet.adding(rows=({"page": each.page} for each in listed))


def contents(
    findings: Findings,
    title: str | None = None,
    canary: str | None = None,
    repository: str | None = None,
) -> Contents:
    """Return what a site of these findings shows.

    Args:
        findings: All that is known.
        title: Of the site; a question where not given.
        canary: Of the bank.
        repository: Where runs may be sent to.
    """
    summaries = findings.summaries
    provenances = dict.fromkeys(summary.bank_provenance for summary in summaries)
    return Contents(
        findings=findings,
        title=title or "Which systems decide like an expert caregiver?",
        boards=_boards(findings),
        scenarios=_scenario_slugs(findings.public.scenarios),
        graders=slugs((s.grader for s in summaries), "grader"),
        banners=tuple(text for text in provenances if text.startswith(SIMULATED)),
        provenances=tuple(provenances),
        canary=canary,
        repository=repository,
    )


def rubric_words(rubric: Rubric) -> str:
    """What a rubric is called where it begins a heading."""
    return rubric.value.capitalize()


def _scenario_slugs(public: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """A slug for each: of its id alone, unless another edition has that id too."""
    n_of = Counter(name for _, name in public)
    names = {key: key[1] if n_of[key[1]] == 1 else " ".join(key) for key in public}
    by_name = slugs(names.values(), "scenario")
    return {key: by_name[name] for key, name in names.items()}


def _boards(findings: Findings) -> tuple[Board, ...]:
    """Return a board for each ranking, the one with the most ranked entries first."""
    rankings = sorted(
        findings.rankings, key=lambda each: (-len(each.ranked), each.basis.rubric, each.basis)
    )
    files = _board_slugs([ranking.basis for ranking in rankings])
    systems = slugs((s.system for s in findings.summaries), "system")
    anchors = _anchors(findings.summaries)
    boards = []
    for at, ranking in enumerate(rankings):
        why_not = {
            place: ranking.left_out.get(graded.summary.system) or _no_interval(graded.summary)
            for place, graded in enumerate(findings.graded)
            if basis(graded.entry) == ranking.basis
        }
        ranked = {r.place: r for r in ranking.ranked if not why_not[r.place]}
        listed = [
            _listed(
                findings.graded[place],
                slug=systems[findings.graded[place].summary.system],
                anchor=anchors[place],
                ranked=ranked.get(place),
                n_ranked=len(ranked),
                why_not=why_not[place],
            )
            for place in (*ranked, *(place for place, why in why_not.items() if why))
        ]
        n = len(ranked)
        slug = files[ranking.basis] if at else ""
        boards.append(Board(ranking, tuple(listed[:n]), tuple(listed[n:]), slug))
    return tuple(boards)


def _listed(
    graded: Graded, *, slug: str, anchor: str, ranked: Ranked | None, n_ranked: int, why_not: str
) -> Listed:
    maker = vendor(graded.summary.asked)
    date = _date(graded.entry.responses)
    return Listed(graded, slug, anchor, maker, ranked, n_ranked, why_not, date)


def _board_slugs(bases: Sequence[Basis]) -> dict[Basis, str]:
    """A slug for each: of its rubric and grader alone, unless another board has the same."""
    plain = {of: f"{of.rubric} {Grader.parse(of.grader).model}" for of in bases}
    n_of = Counter(plain.values())
    names = {of: name if n_of[name] == 1 else " ".join(of) for of, name in plain.items()}
    by_name = slugs(names.values(), "board")
    return {of: by_name[name] for of, name in names.items()}


def _anchors(summaries: Sequence[Summary]) -> list[str]:
    """What tells each entry from the others of its system; empty where there is no other."""
    shown = {s.grader: Grader.parse(s.grader).model for s in summaries}
    n_of = Counter(shown.values())
    shown = {grader: name if n_of[name] == 1 else grader for grader, name in shown.items()}
    graders = slugs(shown.values(), "grader")
    protocols = slugs((str(s.grading_protocol) for s in summaries), "protocol")
    anchors = []
    for s in summaries:
        alike = [other for other in summaries if other.system == s.system]
        parts = [s.rubric.value] if len(alike) > 1 else []
        alike = [other for other in alike if other.rubric is s.rubric]
        if len({other.grader for other in alike}) > 1:
            parts.append(graders[shown[s.grader]])
        alike = [other for other in alike if other.grader == s.grader]
        if len(alike) > 1:
            parts.append(f"protocol-{protocols[str(s.grading_protocol)]}")
        anchors.append("--".join(parts))
    return anchors


def _no_interval(summary: Summary) -> str:
    """Why an entry that could be ranked is not shown so: no number stands without its interval."""
    return "" if summary.score.ci95 else f"its score has no interval: {summary.score.reason}"


def _date(responses: pl.DataFrame) -> str:
    moments = responses["created"].drop_nulls()
    return "" if moments.is_empty() else str(moments.min())[:10]
