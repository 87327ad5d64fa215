"""The contents of the site: entries, boards and systems, with their addresses."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from careeval.core.scenario import Rubric
from careeval.core.vendors import vendor
from careeval.report.panels.entries import days
from careeval.report.texts import simulated
from careeval.results.compare import Basis, Ranked, Ranking, basis
from careeval.results.entry import Entry
from careeval.results.findings import Findings
from careeval.results.references import Reference, by_scale, references_beside, scale_of
from careeval.sheets.words import brief_grader_names

RUBRICS = tuple(sorted(Rubric))
"""The rubrics in the order of the pages: actions first."""


@dataclass(frozen=True, eq=False)
class SiteEntry:
    """One entry on the site: a system graded by one grader on one rubric, ranked or not."""

    entry: Entry  # The entry, with its numbers and its public words
    system_slug: str  # Slug of the page of the system
    anchor: str  # Anchor of the entry on that page; empty if the system has no other entry
    ranked: Ranked | None  # Ranks of the entry; `None` if it is not ranked
    n_ranked: int  # Number of ranked entries on the same board
    not_ranked_reason: str  # Reason why the entry is not ranked; empty if it is

    @property
    def vendor(self) -> str | None:
        """Vendor of the system; `None` if the name of the system does not tell."""
        return vendor(self.entry.asked)

    @property
    def date(self) -> str | None:
        """Day on which the run began, ISO 8601; `None` if no log records it."""
        return next(iter(days(self.entry.responses)), None)

    @property
    def system_page(self) -> str:
        """Path of the page of its system in the site."""
        return f"models/{self.system_slug}.html"

    @property
    def page(self) -> str:
        """Path of the page of its system, with the anchor of the entry if any."""
        return self.system_page + (f"#{self.anchor}" if self.anchor else "")

    @property
    def name(self) -> str:
        """Name of the system, with its condition where needed."""
        return self.entry.name

    @property
    def rubric(self) -> Rubric:
        """Rubric that the entry was graded on."""
        return self.entry.rubric


@dataclass(frozen=True, eq=False)
class Board:
    """A board: entries that share bank, protocols, grader and rubric, so can be compared."""

    ranking: Ranking
    ranked: tuple[SiteEntry, ...]  # Ranked entries, best first; may be empty
    left_out: tuple[SiteEntry, ...]  # Entries that may not be ranked, by name
    slug: str  # Anchor of the board and suffix of its file names; empty for the first board

    @property
    def entries(self) -> tuple[SiteEntry, ...]:
        """All entries, the ranked ones first."""
        return (*self.ranked, *self.left_out)

    @property
    def basis(self) -> Basis:
        """Bank, protocols, grader and rubric that all entries of the board share."""
        return self.ranking.basis

    @property
    def title(self) -> str:
        """Rubric, bank and protocols as text, without the grader."""
        basis = self.basis
        return (
            f"{rubric_words(basis.rubric)} of {basis.bank} {basis.bank_n} "
            f"(scenarios {basis.bank_hash}), asked by protocol {basis.protocol_n}, "
            f"judged by protocol {basis.grading_n}"
            f"{f', {basis.condition}' if basis.condition else ''}"
        )

    def file(self, name: str) -> str:
        """Return the name of a data file of this board."""
        return f"{name}-{self.slug}" if self.slug else name


@dataclass(frozen=True, eq=False)
class Contents:
    """The contents of the site: what all pages are made from."""

    findings: Findings
    title: str
    boards: tuple[Board, ...]  # Boards, the board with the most ranked entries first
    scenarios: dict[tuple[str, str], str]
    """(edition of a bank, public scenario) → slug of its page, in order."""
    graders: dict[str, str]  # Grader → anchor of its card on the evidence page
    banners: tuple[str, ...]  # Warnings shown on every page
    provenances: tuple[str, ...]  # The provenance of each bank, without repeats
    canary: str | None
    """Text that marks the bank's words, to find them in training data; `None` if unknown."""
    repository: str | None  # Address to send runs to; `None` if runs are not accepted

    @cached_property
    def entries(self) -> tuple[SiteEntry, ...]:
        """All entries, in the order of the boards."""
        return tuple(entry for board in self.boards for entry in board.entries)

    @cached_property
    def by_system(self) -> Mapping[str, Sequence[SiteEntry]]:
        """System → its entries, both in the order of the boards."""
        by_name: dict[str, list[SiteEntry]] = {}
        for entry in self.entries:
            by_name.setdefault(entry.name, []).append(entry)
        return by_name

    @cached_property
    def references(self) -> list[list[Reference]]:
        """The references below each board: the first board of a scale has those of the scale."""
        beside = {
            scale: references_beside(entries)
            for scale, entries in by_scale(self.findings.entries).items()
        }
        shown = [[e.entry for e in board.entries if e.entry.public] for board in self.boards]
        return [beside.pop(scale_of(own[0]), []) if own else [] for own in shown]

    def entries_over(self, edition: str) -> list[SiteEntry]:
        """Return the entries over one edition of a bank."""
        return [entry for entry in self.entries if entry.entry.edition == edition]

    def first_entries(self, edition: str, rubric: Rubric | None = None) -> list[SiteEntry]:
        """Return the first entry of each system over an edition of a bank.

        Args:
            edition: Edition of the bank.
            rubric: Rubric of the entry; any by default.
        """
        first: dict[str, SiteEntry] = {}
        for entry in self.entries_over(edition):
            if rubric in {None, entry.rubric}:
                first.setdefault(entry.name, entry)
        return list(first.values())

    def first_board(self, edition: str) -> tuple[SiteEntry, ...]:
        """Return the entries of the first board over an edition, ranked or not."""
        boards = (board.entries for board in self.boards if board.entries)
        return next((each for each in boards if each[0].entry.edition == edition), ())

    def headings(self, parts: Iterable[tuple[Basis, str]]) -> list[str]:
        """Return the headings of boards, or of entries: rubric, condition and grader.

        Args:
            parts: The basis, and what to add if two headings would be the same.
        """
        short_names = brief_grader_names(self.graders)
        headings = [
            (
                f"{rubric_words(own.rubric)}{f', {own.condition}' if own.condition else ''}, "
                f"graded by {short_names[own.grader]}",
                more,
            )
            for own, more in parts
        ]
        n_by_heading = Counter(heading for heading, _ in headings)
        return [
            heading + more if n_by_heading[heading] > 1 else heading for heading, more in headings
        ]

    @cached_property
    def board_headings(self) -> list[str]:
        """The heading of each board."""
        return self.headings((board.basis, f": {board.title}") for board in self.boards)

    def grader_card(self, entry: SiteEntry) -> str:
        """Return the address of the card that says how far an entry's grader can be trusted."""
        return f"evidence.html#{self.graders[entry.entry.grader]}"

    def scenario_page(self, edition: str, scenario: str) -> str:
        """Return the path of a scenario's page; empty if the scenario is not public."""
        slug = self.scenarios.get((edition, scenario))
        return f"scenarios/{slug}.html" if slug else ""

    def page_of(self, entry: SiteEntry, scenario: str) -> str:
        """Return the path of a scenario's page; empty if not public for this entry."""
        if scenario not in entry.entry.public:
            return ""
        return self.scenario_page(entry.entry.edition, scenario)


def contents(
    findings: Findings,
    title: str | None = None,
    canary: str | None = None,
    repository: str | None = None,
) -> Contents:
    """Return the contents of a site of these findings.

    Args:
        findings: The results to show.
        title: Title of the site; a question by default.
        canary: Canary of the bank, as in `Contents`.
        repository: Address to send runs to, as in `Contents`.
    """
    entries = findings.entries
    provenances = dict.fromkeys(summary.bank_provenance for summary in entries)
    return Contents(
        findings=findings,
        title=title or "Which systems decide like an expert caregiver?",
        boards=_boards(findings),
        scenarios=_scenario_slugs(findings.public.scenarios),
        graders=slugs((s.grader for s in entries), "grader"),
        banners=simulated(entries),
        provenances=tuple(provenances),
        canary=canary,
        repository=repository,
    )


def rubric_words(rubric: Rubric) -> str:
    """Return the name of a rubric with a capital letter, for headings."""
    return rubric.value.capitalize()


def _scenario_slugs(public: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return a slug per scenario, from its id, with the edition if two editions share the id."""
    n_by_id = Counter(name for _, name in public)
    names = {key: key[1] if n_by_id[key[1]] == 1 else " ".join(key) for key in public}
    by_name = slugs(names.values(), "scenario")
    return {key: by_name[name] for key, name in names.items()}


def _boards(findings: Findings) -> tuple[Board, ...]:
    """Return a board for each ranking: most ranked entries first, the lexical grader last."""
    sizes = {basis(entry): entry.n_scenarios for entry in findings.entries}

    def order(ranking: Ranking) -> tuple[object, ...]:
        own = ranking.basis
        few = -len(ranking.ranked), own.grader.is_lexical, own.rubric, -sizes[own]
        return *few, own.condition, own.texts

    rankings = sorted(findings.rankings, key=order)
    files = _board_slugs([ranking.basis for ranking in rankings])
    systems = slugs((s.name for s in findings.entries), "system")
    anchors = _anchors(findings.entries)
    boards = []
    for at, ranking in enumerate(rankings):
        reasons = {
            place: ranking.left_out.get(graded.system) or _no_interval(graded)
            for place, graded in enumerate(findings.entries)
            if basis(graded) == ranking.basis
        }
        ranked = {r.place: r for r in ranking.ranked if not reasons[r.place]}
        entries = [
            SiteEntry(
                graded := findings.entries[place],
                system_slug=systems[graded.name],
                anchor=anchors[place],
                ranked=ranked.get(place),
                n_ranked=len(ranked),
                not_ranked_reason=reasons[place],
            )
            for place in (*ranked, *(place for place, reason in reasons.items() if reason))
        ]
        n = len(ranked)
        slug = files[ranking.basis] if at else ""
        boards.append(Board(ranking, tuple(entries[:n]), tuple(entries[n:]), slug))
    return tuple(boards)


def _board_slugs(bases: Sequence[Basis]) -> dict[Basis, str]:
    """Return a slug per board, from rubric and grader; from more if two boards share both."""
    plain = {key: f"{key.rubric} {key.grader.model}" for key in bases}
    n_by_name = Counter(plain.values())
    names = {
        key: name if n_by_name[name] == 1 else " ".join(key.texts).strip()
        for key, name in plain.items()
    }
    by_name = slugs(names.values(), "board")
    return {key: by_name[name] for key, name in names.items()}


def _anchors(entries: Sequence[Entry]) -> list[str]:
    """Return an anchor per entry, unique within its system; empty if its system has no other."""
    shown = {s.grader: s.grader.model for s in entries}
    n_by_name = Counter(shown.values())
    shown = {grader: name if n_by_name[name] == 1 else grader for grader, name in shown.items()}
    graders = slugs(shown.values(), "grader")
    protocols = slugs((str(s.grading_protocol) for s in entries), "protocol")
    anchors = []
    for s in entries:
        alike = [other for other in entries if other.name == s.name]
        parts = [s.rubric.value] if len(alike) > 1 else []
        alike = [other for other in alike if other.rubric is s.rubric]
        if len({other.grader for other in alike}) > 1:
            parts.append(graders[shown[s.grader]])
        alike = [other for other in alike if other.grader == s.grader]
        if len(alike) > 1:
            parts.append(f"protocol-{protocols[str(s.grading_protocol)]}")
        anchors.append("--".join(parts))
    return anchors


def _no_interval(summary: Entry) -> str:
    """Return why the entry must not be ranked if its score has no interval; else empty."""
    return "" if summary.score.ci95 else f"its score has no interval: {summary.score.reason}"


MAX_SLUG = 60
"""Characters of a slug without its hash."""

# reserved by Windows, with any suffix
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)$")


def slugs(names: Iterable[str], otherwise: str) -> dict[str, str]:
    """Return name → slug of lower-case letters, digits and hyphens, safe in a path and unique.

    A slug depends on other names only if two names would share a slug; then each of the two gets a
    hash of its name.

    Args:
        names: Any texts.
        otherwise: Slug for a name that has no letter or digit.
    """
    different = sorted(set(names))
    plain = {name: _slug(name) or otherwise for name in different}
    n_by_slug = Counter(plain.values())
    hashed = {name: f"{slug}-{_hash(name)}" for name, slug in plain.items() if n_by_slug[slug] > 1}
    alone = {name: slug for name, slug in plain.items() if n_by_slug[slug] == 1}
    # another name may be equal to a hashed slug
    taken = set(hashed.values())
    return {
        name: hashed.get(name) or (f"{slug}-{_hash(name)}" if slug in taken else slug)
        for name, slug in (hashed | alone).items()
    }


def _slug(name: str) -> str:
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", ascii_only).strip("-")
    if len(slug) > MAX_SLUG:
        slug = f"{slug[:MAX_SLUG].rstrip('-')}-{_hash(name)}"
    return f"{slug}-{_hash(name)}" if _DEVICES.match(slug) or slug == "index" else slug


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
