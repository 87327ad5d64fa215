"""A study's page: decisions first, every number behind them, and nobody's words as markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, sync_playwright

from careeval.core.rating import Comment, PointsView, Rater, Rating, Role, Scale, Subject
from careeval.core.scenario import Rubric
from careeval.report.study import render_study, write_study_page
from careeval.results.study import RoundSaid, Seated, StudyResults, Terms, study_results

CHROMIUM = Path("/usr/bin/chromium")
HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(1)> {{ 7 * 7 }} \x07"'

PANEL = [
    *(Rater(f"r0{n}", Role.occupational_therapist) for n in range(1, 6)),
    *(Rater(f"r0{n}", Role.family_caregiver) for n in (6, 7)),
    Rater("r08", Role.roboticist),
]
"""Nobody: roles as in the paper's panel."""

REALISM = {
    "bathing-001": [5, 5, 4, 4, 5, 4, 5, 5],
    "dressing-001": [5, 4, 4, 3, 5, 4, 2, 4],
    "eating-001": [1, 2, 1, 2, 4, 3, 1, 5],
    "grooming-001": [],
}
"""Made up: kept, to be revised, dropped, not rated."""


def made_up(words: str = "Her shoulder first.") -> StudyResults:
    """A made-up study of four scenarios, with an objection to a −2 and a comment."""
    ratings = []
    for name, values in REALISM.items():
        about = Subject(name, 1, 1)
        for rater, value in zip(PANEL, values, strict=False):
            ratings.append(Rating(rater, about, Scale.realism, value))
            ratings.append(Rating(rater, about, Scale.validity, 5))
    item = Subject("bathing-001", 1, 1, Rubric.actions, "pulls-arm")
    ratings += [Rating(rater, item, Scale.relevance, 4) for rater in PANEL]
    views = (PointsView(PANEL[0], item, -2, -1), PointsView(PANEL[1], item, -2, -2))
    comments = (
        Comment(PANEL[0], item, words),
        Comment(PANEL[6], Subject("dressing-001", 1, 1), words),
    )
    seats = tuple(Seated(rater, tuple(REALISM)) for rater in PANEL)
    said = RoundSaid(1, dict.fromkeys(REALISM, 1), seats, tuple(ratings), views, comments)
    return study_results(f"Pilot {words}", "made-up", "1-A", [said])


class _Tags(HTMLParser):
    """Counts tags, and gathers the words between them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag begins; of its attributes only the names count."""
        self.tags.append(" ".join([tag, *(name for name, _ in attrs)]))

    def handle_data(self, data: str) -> None:
        """Words between tags."""
        self.words.append(data)


def words_of(html: str) -> str:
    """What a reader reads, spaces as one."""
    return " ".join(" ".join(_Tags(html).words).split())


def test_decisions_come_first_worst_first() -> None:
    """The counts stand first, then what is dropped, revised and undecided, in that order."""
    html = render_study(made_up())
    words = words_of(html)
    assert "Keep 1 Revise 1 Drop 1 Undecided 1" in words
    assert re.findall(r'<h3 id="s-([a-z]+)', html) == ["eating", "dressing", "grooming", "bathing"]
    assert html.index('id="answer"') < html.index('id="s-eating-001"') < html.index('id="panel"')


def test_a_decision_stands_with_its_numbers_and_comments() -> None:
    """Reason, count, exact interval, the other cut, V, kappa and the comment are in one article."""
    html = render_study(made_up())
    article = words_of(html.partition('id="s-dressing-001"')[2].partition("</article>")[0])
    for said in (
        "realism: 6 of 8 endorse it, the rule asks for 7",
        "6 of 8 endorse it (I-CVI 0.75, 95% 0.35 to 0.97)",
        "At 3 or more: 7 of 8; this decides otherwise",
        "Aiken’s V 0.72",
        "modified kappa 0.72",
        "a family caregiver rated its realism 2",
        "Her shoulder first.",
        "r07, family caregiver",
    ):
        assert said in article


def test_a_bar_says_what_it_draws() -> None:
    """A bar names the count of each category that was given, and its parts fill it."""
    html = render_study(made_up())
    bar = re.search(r'<svg class="bar"[^>]*realism: 1 gave 2, 1 gave 3.*?</svg>', html)
    assert bar is not None
    assert "4 gave 4, 2 gave 5" in bar[0]
    widths = [float(width) for width in re.findall(r'width="([\d.]+)" height', bar[0])]
    assert widths == [30, 30, 120, 60]


def test_few_raters_of_a_role_are_shown_as_they_are() -> None:
    """Two caregivers stand with their ratings and the lowest, five therapists with a verdict."""
    html = render_study(made_up())
    row = words_of(html.partition("Realism, by role")[2].partition("dressing-001")[2])
    assert row.startswith("4/5 0.28 to 0.99 passes alone 1/2 gave 2, 4 lowest 2 1/1 gave 4")


def test_power_is_told() -> None:
    """The page says how often seven of eight pass, and what is unknown has its reason."""
    words = words_of(render_study(made_up()))
    assert "8 7 of 8 25.5% 50.3% 81.3% 94.3%" in words
    assert "grooming-001 realism nobody has rated it unknown" in words


def test_words_of_raters_are_no_markup() -> None:
    """Hostile words add no tag, run no template and lose their control characters."""
    plain, hostile = render_study(made_up()), render_study(made_up(HOSTILE))
    assert _Tags(plain).tags == _Tags(hostile).tags
    assert "{{ 7 * 7 }}" in hostile
    assert "\x07" not in hostile


def test_the_page_needs_no_network() -> None:
    """No address is in the page but the names that SVG and the policy need."""
    html = render_study(made_up())
    assert re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', html) == []
    assert 'style="' not in html


def test_nothing_rated_is_a_page_too() -> None:
    """A study without a rating has a page that decides nothing."""
    said = RoundSaid(1, {"eating-001": 1}, (Seated(PANEL[0], ("eating-001",)),), (), (), ())
    words = words_of(render_study(study_results("Pilot", "made-up", "1-A", [said])))
    assert "Keep 0 Revise 0 Drop 0 Undecided 1" in words
    assert "Nobody has written any." in words


def test_the_same_results_make_the_same_page() -> None:
    """Rendering twice makes the same text; another cut makes another."""
    found = made_up()
    assert render_study(found) == render_study(found)
    said = found.rounds
    other = study_results("Pilot", "made-up", "1-A", said, terms=Terms(cut=3, other_cut=4))
    assert "a rating of 3 or more endorses it" in words_of(render_study(other))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser that keeps to itself."""
    if not CHROMIUM.exists():
        pytest.skip(f"no browser: {CHROMIUM} is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
        )
        yield browser
        browser.close()


@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Browser, tmp_path: Path, scheme: str) -> None:
    """With everything unfolded, axe finds no fault, and 320 px hold the page without a side bar."""
    path = tmp_path / "study.html"
    write_study_page(made_up(), path)
    page = browser.new_page(color_scheme="dark" if scheme == "dark" else "light")
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text))
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((part) => part.open = true)")
    assert Axe().run(page).response["violations"] == []
    page.set_viewport_size({"width": 320, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert errors == []
    page.close()
