"""All of the site: every page and every data file, as text by its path, and as a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from careeval.files import write_text
from careeval.report import charts
from careeval.report.documents import Drawn, document, drawn
from careeval.report.site import evidence, leaderboard, pairs, scenarios, systems
from careeval.report.site.contents import Contents, Listed, System, contents
from careeval.report.site.data import data_files
from careeval.report.site.item_errors import ItemErrors, item_errors
from careeval.report.site.public_scenarios import Scene, options, scenes
from careeval.report.site.worst_responses import answers
from careeval.results.findings import Findings
from careeval.results.parts import By
from careeval.results.score.summary import NOT_COMPARABLE, Summary
from careeval.sheets.entries.numbers import parts_sheet
from careeval.sheets.scenarios import shown_scenarios_sheet
from careeval.sheets.sheet import Sheet
from careeval.sheets.trust.graders import grader_pairs_sheet, grading_noise_sheet
from careeval.sheets.trust.single_grader import (
    contradictions_sheet,
    probes_by_points_sheet,
    probes_by_trap_sheet,
)
from careeval.sheets.words import remarks, sentence, worst_n

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
    findings: Findings,
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
    files = dict(render_site(findings, title=title, canary=canary, repository=repository))
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
    findings: Findings,
    *,
    title: str | None = None,
    canary: str | None = None,
    repository: str | None = None,
) -> Files:
    """Every file of the site: the same for the same arguments.

    Args:
        findings: All that is known.
        title: Of the site; a question where not given.
        canary: Of the bank, for the files that have its words.
        repository: Web address where runs may be sent to; without one the site asks for none.
    """
    site = contents(findings, title, canary, repository)
    shown = scenes(site)
    couples = [pair for board in site.boards for pair in pairs.pairs(board)]
    yield "index.html", _leaderboard(site)
    for system in site.systems:
        yield system.page, _system(site, system)
    yield "compare.html", _compare(site)
    for pair in couples:
        yield pair.page, _pair(site, pair)
    yield "scenarios.html", _explorer(site, shown)
    errors = item_errors(site)
    for scene in shown:
        yield scene.page, _scene(site, scene, errors.get((scene.edition, scene.id), []))
    yield "evidence.html", _evidence(site)
    yield "about.html", _page(site, "about", "about.html", head="About this leaderboard")
    provenance = " ".join(site.provenances)
    for name, sheet in _sheets(site, shown, couples):
        yield from data_files(name, sheet, canary, provenance)
    yield "robots.txt", ROBOTS
    yield ".nojekyll", ""


def _leaderboard(site: Contents) -> str:
    cards = evidence.cards(site)
    return _page(
        site,
        "leaderboard",
        "index.html",
        head=site.title,
        boards=[
            (board, leaderboard.board_table(board, site), cards[board.basis.grader], heading)
            for board, heading in zip(site.boards, leaderboard.headings(site), strict=True)
        ],
        any_ranked=any(board.ranked for board in site.boards),
        first=leaderboard.headings(site)[0] if site.boards else "",
        vendors=leaderboard.vendors(site),
        n=len(site.listed),
        figures=_scatters(site),
        ranks=leaderboard.ABOUT_RANKS,
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
    others = (systems.part_table(by, listed) for by in systems.OTHER_PARTS)
    return {
        "listed": listed,
        "id": listed.anchor or "entry",
        "heading": heading,
        "sentence": sentence(listed.summary),
        "standing": systems.standing(listed),
        "tiles": systems.headline(listed, site),
        "card": site.card(listed),
        "tried": _tried(site, listed),
        "corrected": systems.corrected_table(listed),
        "figures": _curves(listed),
        "by_adl": systems.part_table(By.adl, listed),
        "parts": [table for table in others if table.rows],
        "domains": systems.part_table(By.domain, listed),
        "directions": systems.direction_table(listed, site),
        "harms": systems.harm_list(listed, site),
        "lowest": systems.lowest(listed, site),
        "facts": systems.facts(listed),
        "citation": systems.citation(listed),
        "remarks": _own_remarks(listed),
    }


def _compare(site: Contents) -> str:
    ranked = [board for board in site.boards if len(board.ranked) > 1]
    return _page(
        site,
        "compare",
        "compare.html",
        head="Compare two systems",
        boards=[
            (board, pairs.matrices(board), heading)
            for board, heading in zip(site.boards, leaderboard.headings(site), strict=True)
            if board in ranked
        ],
        chooser=_chooser(site),
        most=pairs.MOST_SYSTEMS,
        crowded=[board.title for board in ranked if len(board.ranked) > pairs.MOST_SYSTEMS],
    )


def _pair(site: Contents, pair: pairs.Pair) -> str:
    return _page(
        site,
        "pair",
        pair.page,
        head=f"{pair.a.name} and {pair.b.name}",
        pair=pair,
        verdicts=pairs.verdicts(pair),
        tables=pairs.tables(pair),
        to_severe=pairs.flips(pair.comparison.to_severe, pair.b, site),
        to_safe=pairs.flips(pair.comparison.to_safe, pair.a, site),
        chooser=_chooser(site),
    )


def _explorer(site: Contents, shown: Sequence[Scene]) -> str:
    return _page(
        site,
        "scenarios",
        "scenarios.html",
        head="Scenarios",
        scenes=shown,
        options=options(shown),
        private=True,
    )


def _scene(site: Contents, scene: Scene, errors: Sequence[ItemErrors]) -> str:
    return _page(
        site,
        "scenario",
        scene.page,
        head=scene.id,
        scene=scene,
        systems=[*scenarios.score_tables(site, scene)],
        rubrics=[*scenarios.rubric_tables(site, scene)],
        answers=answers(site, scene.edition, scene.id),
        errors=errors,
        private=True,
    )


def _evidence(site: Contents) -> str:
    return _page(
        site,
        "evidence",
        "evidence.html",
        head="How far to trust these numbers",
        banks=_banks(site.findings.summaries),
        cards=[
            (card, evidence.card_tables(card.of, site)) for card in evidence.cards(site).values()
        ],
        contradictions=evidence.contradictions(site),
        pairs=evidence.grader_pairs(site),
        noise=evidence.noise(site),
        suspects=evidence.suspects(site),
    )


def _sheets(
    site: Contents, shown: Iterable[Scene], couples: Sequence[pairs.Pair]
) -> Iterator[tuple[str, Sheet]]:
    """Yield every table as data, with the name of its files."""
    for board in site.boards:
        yield board.file("leaderboard"), leaderboard.board_table(board, site).sheet
        yield board.file("pairs"), pairs.all_pairs(board)
    yield "entries", leaderboard.all_entries(site)
    graded = [listed.graded for listed in site.listed]
    for by in By:
        yield f"by-{by}", parts_sheet(by, graded)
    for sheet in pairs.all_tables(couples):
        yield sheet.name.replace("_", "-"), sheet
    yield "scenarios", shown_scenarios_sheet(scene.shown for scene in shown)
    yield "scenario-scores", scenarios.scores(site)
    yield "items", scenarios.presences(site)
    yield "probes-by-points", probes_by_points_sheet(site.findings)
    yield "probes-by-trap", probes_by_trap_sheet(site.findings)
    yield "corrected-scores", evidence.corrected(site)
    yield "contradictions", contradictions_sheet(site.findings)
    yield "grader-pairs", grader_pairs_sheet(site.findings)
    yield "grading-noise", grading_noise_sheet(site.findings)
    yield "item-statistics", evidence.items(site)


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
    worst = f"Worst of {worst_n(ranked)}"
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
    """How the worst falls with more responses, and how the scenarios spread."""
    graded, rubric = [listed.graded], listed.rubric.value
    of = listed.anchor or "entry"
    return [
        _figure(
            f"{of}-curve",
            "Worst of k",
            f"The score, {rubric}, if the lowest of k responses counts, and how often one of them "
            "has a severe error.",
            lambda width: charts.worst_at_k(graded, width),
        ),
        _figure(
            f"{of}-spread",
            "Scores by scenario",
            f"How the scenarios’ scores spread, {rubric}.",
            lambda width: charts.distributions(graded, width),
        ),
    ]


def _tried(site: Contents, listed: Listed) -> str:
    """What the page of an entry says of its grader."""
    card = evidence.cards(site)[listed.summary.grader]
    return f"{card.tried} {card.audited}"


def _remarks(site: Contents) -> list[str]:
    """What must be read with the tables, but for what the page says itself."""
    said = [*remarks(site.findings.summaries), *site.findings.public.runs.notes]
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
    return list({f"{s.bank} {s.bank_version}": s.bank_provenance for s in summaries}.items())
