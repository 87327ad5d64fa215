"""All of the site: every page and every data file, as text by its path, and as a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from careeval.files import write_text
from careeval.report import charts
from careeval.report.documents import Drawn, document, drawn
from careeval.report.site import (
    audited,
    boards,
    evidence,
    grader_cards,
    items,
    pairs,
    parts,
    systems,
)
from careeval.report.site.contents import RUBRICS, Contents, Listed, System, contents
from careeval.report.site.scenarios import Explorer
from careeval.report.site.scenes import Scene
from careeval.report.site.sheets import Sheet, data_files
from careeval.results.findings import Findings
from careeval.results.summary import NOT_COMPARABLE, Summary
from careeval.sheets.words import remarks, sentence

Files = Iterator[tuple[str, str]]
"""Path in the site, with slashes → text."""

MANIFEST = ".careeval-site"
"""Lists what a site wrote into its folder."""

MAX_PATH = 250
"""Characters of a path in a site; a longer one is none that was written."""

HALF = 544
"""Width in pixels of a figure that has another beside it."""

STYLES = ("base.css", "site/site.css")

ROBOTS = """\
# The scenarios are there to be read, and not to train on.
User-agent: *
Disallow: /data/
Disallow: /scenarios/

User-agent: GPTBot
User-agent: ClaudeBot
User-agent: anthropic-ai
User-agent: Google-Extended
User-agent: Applebot-Extended
User-agent: CCBot
User-agent: Bytespider
User-agent: meta-externalagent
Disallow: /
"""


def write_site(
    found: Findings,
    folder: Path,
    *,
    title: str | None = None,
    canary: str | None = None,
    repository: str | None = None,
) -> int:
    """Write `render_site` into a folder, which is made where it is not there.

    Files that an earlier site wrote there and this one has not are taken away, so that no page of
    a system that is gone stays; whatever else stands there is left alone.

    Returns:
        The size of what was written, in bytes.

    Raises:
        OSError: A file cannot be written.
    """
    earlier = _written(folder)
    files = dict(render_site(found, title=title, canary=canary, repository=repository))
    files[MANIFEST] = "".join(f"{path}\n" for path in sorted(files))
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, text)
    for file in earlier - {(folder / path).resolve() for path in files}:
        file.unlink(missing_ok=True)
    return sum(len(text.encode()) for text in files.values())


def _written(folder: Path) -> set[Path]:
    """What an earlier site wrote into a folder, by its own list; nothing outside the folder."""
    try:
        text = (folder / MANIFEST).read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, IsADirectoryError):
        return set()
    # of a damaged list what can be a path still is one
    paths = [path for path in text.splitlines() if path.isprintable() and len(path) < MAX_PATH]
    files = {(folder / path).resolve() for path in paths if path}
    return {file for file in files if file.is_relative_to(folder.resolve()) and file.is_file()}


def render_site(
    found: Findings,
    *,
    title: str | None = None,
    canary: str | None = None,
    repository: str | None = None,
) -> Files:
    """Every file of the site: the same for the same arguments.

    Args:
        found: All that is known.
        title: Of the site; a question where not given.
        canary: Of the bank, for the files that have its words.
        repository: Web address where runs may be sent to; without one the site asks for none.
    """
    site = contents(found, title, canary, repository)
    explorer = Explorer(site)
    couples = [pair for board in site.boards for pair in pairs.pairs(board)]
    yield "index.html", _leaderboard(site)
    for system in site.systems:
        yield system.page, _system(site, system)
    yield "compare.html", _compare(site)
    for pair in couples:
        yield pair.page, _pair(site, pair)
    yield "scenarios.html", _explorer(site, explorer)
    for scene in explorer.scenes:
        yield scene.page, _scene(site, explorer, scene)
    yield "evidence.html", _evidence(site)
    yield "about.html", _page(site, "about", "about.html", head="About this leaderboard")
    provenance = " ".join(site.provenances)
    yield from data_files(_sheets(site, explorer, couples), canary, provenance).items()
    yield "robots.txt", ROBOTS
    yield ".nojekyll", ""


def _leaderboard(site: Contents) -> str:
    cards = {card.whole: card for card in grader_cards.cards(site)}
    return _page(
        site,
        "leaderboard",
        "index.html",
        head=site.title,
        boards=[
            (board, boards.board_sheet(board, site), cards[board.basis.grader], heading)
            for board, heading in zip(site.boards, boards.headings(site), strict=True)
        ],
        any_ranked=any(board.ranked for board in site.boards),
        first=boards.headings(site)[0] if site.boards else "",
        vendors=boards.vendors(site),
        n=len(site.listed),
        figures=_scatters(site),
        ranks=boards.ABOUT_RANKS,
        remarks=_remarks(site),
    )


def _system(site: Contents, system: System) -> str:
    return _page(
        site,
        "system",
        system.page,
        head=system.name,
        system=system,
        entries=[
            _entry(site, listed, heading)
            for listed, heading in zip(system.entries, systems.headings(system, site), strict=True)
        ],
    )


def _entry(site: Contents, listed: Listed, heading: str) -> dict[str, Any]:
    """What the section of one entry shows."""
    others = (division.sheet(listed) for division in parts.OTHERS)
    return {
        "listed": listed,
        "id": listed.anchor or "entry",
        "heading": heading,
        "sentence": sentence(listed.summary),
        "standing": systems.standing(listed),
        "tiles": [*systems.headline(listed, site.corrected(listed))],
        "card": f"evidence.html#{site.graders[listed.summary.grader]}",
        "tried": _tried(site, listed),
        "corrected": audited.corrected_of(listed, site),
        "figures": _curves(listed),
        "by_adl": parts.BY_ADL.sheet(listed),
        "parts": [sheet for sheet in others if sheet.rows],
        "domains": parts.by_domain(listed),
        "directions": systems.direction_sheet(
            listed, site.found.cards[listed.summary.grader].probes
        ),
        "harms": systems.harm_list(listed, site),
        "lowest": systems.lowest(listed, site),
        "facts": systems.facts(listed),
        "citation": systems.citation(listed),
        "remarks": _own_remarks(listed),
    }


def _compare(site: Contents) -> str:
    found = [board for board in site.boards if len(board.ranked) > 1]
    return _page(
        site,
        "compare",
        "compare.html",
        head="Compare two systems",
        boards=[
            (board, pairs.matrices(board), heading)
            for board, heading in zip(site.boards, boards.headings(site), strict=True)
            if board in found
        ],
        chooser=_chooser(site),
        most=pairs.MOST_SYSTEMS,
        crowded=[board.title for board in found if len(board.ranked) > pairs.MOST_SYSTEMS],
    )


def _pair(site: Contents, pair: pairs.Pair) -> str:
    return _page(
        site,
        "pair",
        pair.page,
        head=f"{pair.a.name} and {pair.b.name}",
        pair=pair,
        verdicts=pairs.verdicts(pair),
        sheets=pairs.tables(pair),
        to_severe=pairs.flips(pair.comparison.to_severe, pair.b, site),
        to_safe=pairs.flips(pair.comparison.to_safe, pair.a, site),
        chooser=_chooser(site),
    )


def _explorer(site: Contents, explorer: Explorer) -> str:
    return _page(
        site,
        "scenarios",
        "scenarios.html",
        head="Scenarios",
        scenes=explorer.scenes,
        options=explorer.options(),
        private=True,
    )


def _scene(site: Contents, explorer: Explorer, scene: Scene) -> str:
    rubrics = (explorer.rubric(scene, rubric) for rubric in RUBRICS)
    return _page(
        site,
        "scenario",
        scene.page,
        head=scene.id,
        scene=scene,
        systems=[*explorer.systems(scene)],
        rubrics=[sheet for sheet in rubrics if sheet],
        answers=explorer.answers(scene),
        private=True,
    )


def _evidence(site: Contents) -> str:
    return _page(
        site,
        "evidence",
        "evidence.html",
        head="How far to trust these numbers",
        banks=_banks(site.found.summaries),
        cards=grader_cards.cards(site),
        contradictions=evidence.contradictions(site),
        pairs=evidence.grader_pairs(site),
        noise=evidence.noise(site),
        suspects=items.suspects(site),
    )


def _sheets(site: Contents, explorer: Explorer, couples: Sequence[pairs.Pair]) -> Iterator[Sheet]:
    """Every table as data."""
    for board in site.boards:
        yield boards.board_sheet(board, site)
        yield pairs.all_pairs(board)
    yield boards.all_entries(site)
    for of in parts.PARTS:
        yield parts.all_parts(site, of)
    yield from pairs.all_tables(couples)
    yield explorer.scenes_sheet()
    yield explorer.scores_sheet()
    yield explorer.items_sheet()
    for make in (
        grader_cards.by_points,
        grader_cards.by_trap,
        audited.corrected,
        evidence.contradictions,
        evidence.grader_pairs,
        evidence.noise,
        items.items,
    ):
        yield make(site)


def _page(site: Contents, template: str, path: str, *, head: str, **more: Any) -> str:
    """One page.

    Args:
        site: What it is a part of.
        template: Name of its template.
        path: Where it stands in the site.
        head: Its heading.
        more: What else its template shows.
    """
    values = {
        "site": site,
        "path": path,
        "root": "../" * path.count("/"),
        "title": head,
        "head": head,
        "not_comparable": NOT_COMPARABLE,
        "private": False,
    }
    return document(
        f"site/{template}.html", values | more, styles=STYLES, scripts=("tables.js", "site/site.js")
    )


@dataclass(frozen=True)
class Figure:
    """A figure and how to read it."""

    drawn: Drawn
    caption: str


def _figure(name: str, title: str, caption: str, draw: Callable[[int], charts.Figure]) -> Figure:
    return Figure(drawn(draw(HALF), draw(charts.NARROW), name, title), caption)


def _scatters(site: Contents) -> list[Figure]:
    """Score against cost, and mean against worst, of the first board's ranked entries."""
    if not site.boards or len(site.boards[0].ranked) < 2:
        return []
    rubric = site.boards[0].basis.rubric
    ranked = [listed.summary for listed in site.boards[0].ranked]
    worst = boards.worst_of(site.boards[0].ranked)
    return [
        _figure(
            "cost",
            "Score against cost",
            f"Score on the {rubric} against the cost of asking for one response.",
            lambda width: charts.cost_scatter(ranked, width),
        ),
        _figure(
            "worst",
            f"{worst} against score",
            f"{worst} against the score, on the {rubric}: of two equal scores, the one that stands "
            "lower varies more.",
            lambda width: charts.worst_scatter(ranked, width),
        ),
    ]


def _curves(listed: Listed) -> list[Figure]:
    """How the worst falls with more responses, how the scenarios spread, and the domains."""
    s, d, rubric = [listed.summary], [listed.detail], listed.rubric.value
    of = listed.anchor or "entry"
    return [
        _figure(
            f"{of}-curve",
            "Worst of k",
            f"The score, {rubric}, if the lowest of k responses counts, and how often one of them "
            "has a severe error.",
            lambda width: charts.worst_at_k(s, d, width),
        ),
        _figure(
            f"{of}-spread",
            "Scores by scenario",
            f"How the scenarios’ scores spread, {rubric}.",
            lambda width: charts.distributions(s, d, width),
        ),
        _figure(
            f"{of}-domains",
            "Domains of competence",
            f"By domain of competence, {rubric}.",
            lambda width: charts.domains(s, width),
        ),
    ]


def _tried(site: Contents, listed: Listed) -> str:
    """What the page of an entry says of its grader."""
    (card,) = (c for c in grader_cards.cards(site) if c.whole == listed.summary.grader)
    return f"{card.tried} {card.audited}"


def _remarks(site: Contents) -> list[str]:
    """What must be read with the tables, but for what the page says itself."""
    said = [*remarks(site.found.summaries), *site.found.public.runs.notes]
    return [r for r in dict.fromkeys(said) if not _elsewhere(r)]


def _own_remarks(listed: Listed) -> list[str]:
    return [r for r in remarks([listed.summary]) if not _elsewhere(r)]


def _elsewhere(remark: str) -> bool:
    """Whether the page says it in its own place: under a table, in the banner, in the lead."""
    return (
        remark.startswith(("*", "Bank ")) or "not for ranking" in remark or remark == NOT_COMPARABLE
    )


def _chooser(site: Contents) -> list[tuple[str, list[Listed]]]:
    """What two systems may be chosen from, by the board that they share."""
    return [
        (f"{board.title}, by {board.basis.grader}", [*board.ranked])
        for board in site.boards
        if 1 < len(board.ranked) <= pairs.MOST_SYSTEMS
    ]


def _banks(summaries: Sequence[Summary]) -> list[tuple[str, str]]:
    """Each bank, and how it was made and vetted."""
    found = {f"{s.bank} {s.bank_version}": s.bank_provenance for s in summaries}
    return list(found.items())
