"""A study's page: decisions first, every number behind them, and nobody's words as markup."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, sync_playwright

from careeval.core.rating import STEPS, Comment, PointsView, Rater, Rating, Role, Scale, Subject
from careeval.core.scenario import Rubric
from careeval.people.study.decisions import DecisionTerms
from careeval.people.study.documents import CUT_OFF_NOTE, study_document
from careeval.people.study.page import COVERAGE, render_study, write_study_page
from careeval.people.study.results import StudyResults, chance_of_passing, study_results
from careeval.people.study.rounds import RoundAnswers, RoundRater
from careeval.sheets.markup import markdown
from careeval.stats.estimate import Estimate
from careeval.stats.validity import EndorsementRule
from support.outline import Outline, text_of

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
    years = [3, 12, 8, 22, 30, 5, 6, 4]
    seats = tuple(
        RoundRater(rater, tuple(REALISM), agreed=True, years=y)
        for rater, y in zip(PANEL, years, strict=True)
    )
    texts = {item: f"Pulls the arm. {words}", Subject("bathing-001", 1, 1): f"He sits. {words}"}
    round_ratings = RoundAnswers(
        1, dict.fromkeys(REALISM, 1), seats, tuple(ratings), views, comments, words=texts
    )
    return study_results(f"Pilot {words}", "aaaa", "made-up", "1-A", [round_ratings])


def test_decisions_come_first_worst_first() -> None:
    """The counts stand first, then what is dropped, revised and undecided, in that order."""
    html = render_study(made_up())
    words = text_of(html)
    assert "Keep 1 Revise 1 Drop 1 Undecided 1" in words
    assert re.findall(r'<h3 id="s-([a-z]+)', html) == ["eating", "dressing", "grooming", "bathing"]
    assert html.index('id="answer"') < html.index('id="s-eating-001"') < html.index('id="panel"')


def article_of(html: str, name: str) -> str:
    """Return the visible words of a scenario's card."""
    return text_of(html.partition(f'id="s-{name}"')[2].partition("</article>")[0])


def test_a_decision_stands_with_its_count_and_comments() -> None:
    """Count, what was needed, what the other cut would do, and the comment are in one card."""
    article = article_of(render_study(made_up()), "dressing-001")
    for text in (
        "6 of 8 gave 4 or 5; 7 were needed. With 3 counted too it would pass.",
        "8 of 8 gave 4 or 5; 7 were needed.",
        "To be read when it is revised a family caregiver rated its realism 2",
        "Her shoulder first. r07, family caregiver",
    ):
        assert text in article


def test_a_card_speaks_no_statistics() -> None:
    """No card has a coefficient, an interval or the name of a rule; the folded table has them."""
    html = render_study(made_up())
    for name in REALISM:
        article = article_of(html, name)
        assert article
        for word in ("I-CVI", "kappa", "Aiken", "95%", "endorse", "rule"):
            assert word not in article
    row = text_of(html.partition('id="whole"')[2].partition("dressing-001")[2])
    assert row.startswith("realism 6/8 0.75 0.35 to 0.97 7/8 6/8 0.72 0.72 0.55 to 0.84 no yes")


def test_an_item_stands_with_its_words_and_all_that_was_said_of_it() -> None:
    """A kept scenario's item has text, name, objection and comment together, to be read first."""
    article = article_of(render_study(made_up()), "bathing-001")
    assert "What raters read He sits. Her shoulder first." in article
    assert article.endswith(
        "To be read before it is accepted Pulls the arm. Her shoulder first. actions/pulls-arm "
        "1 of 2 would not give it −2 Her shoulder first. r01, occupational therapist"
    )


def test_comments_stand_once() -> None:
    """A comment is in its card, and the section of comments links there."""
    html = render_study(made_up("Nowhere else."))
    # in the title, the card's comment; in the other card text, item and comment, and in the table
    assert text_of(html.partition('id="comments"')[2].partition("</section>")[0]).endswith(
        "dressing-001 , revise: 1 comment bathing-001 , keep: 1 comment"
    )
    assert html.count("<blockquote") == 2


def test_comments_of_an_earlier_round_stay() -> None:
    """A scenario that is rated again keeps what was written of its first version, on its card."""
    (first,) = made_up().rounds
    name = "dressing-001"
    again = tuple(
        Rating(rater, Subject(name, 2, 2), scale, 5)
        for rater in PANEL
        for scale in (Scale.realism, Scale.validity)
    )
    seats = tuple(RoundRater(rater, (name,)) for rater in PANEL)
    second = RoundAnswers(2, {name: 2}, seats, again, (), ())
    html = render_study(study_results("Pilot", "aaaa", "made-up", "1-A", [first, second]))
    card = text_of(article_of(html, name))
    assert "Comments of round 1 Her shoulder first. r07, family caregiver" in card


def test_the_words_that_raters_saw_stand_once() -> None:
    """Each scale's ends are told as the app has them, once."""
    html = render_study(made_up())
    for low, *_, high in STEPS.values():
        assert (text_of(html).count(f"1, {low}"), text_of(html).count(f"5, {high}")) == (1, 1)


def test_who_was_invited_who_rated_and_for_how_long() -> None:
    """Invited and rated are apart, years are told of five therapists and not of two caregivers."""
    study = made_up()
    words = text_of(render_study(study))
    assert "Rated by 8 of the 8 who were invited: 4 scenarios" in words
    assert "occupational therapist 5 5 20 35 0 0 15.0 3 to 30, of 5" in words
    assert "family caregiver 2 2 8 14 0 0 unknown fewer than three of this role" in words
    assert "All who rated agreed to the terms of the study." in words
    first = study.rounds[0]
    alone = replace(
        first,
        ratings=first.ratings[:2],
        seats=tuple(replace(seat, agreed=False) for seat in first.seats),
    )
    words = text_of(render_study(study_results("Pilot", "aaaa", "made-up", "1-A", [alone])))
    assert "Rated by 1 of the 8 who were invited" in words
    assert "Whether the raters agreed to the terms of the study is not recorded here." in words
    assert "occupational therapist 5 1 20 2 0 0 unknown" in words


def test_a_missing_interval_has_its_reason() -> None:
    """AC1 of three scenarios on which all agree stands with why it has no interval."""
    words = text_of(render_study(made_up()).partition('id="agreement"')[2])
    assert "validity 1 8 3 3 1.00 1.00 no interval: fewer than five scenarios" in words


def test_an_interval_that_is_cut_says_so() -> None:
    """An end at −1 is "≤ −1" on the page and where printed, with a remark; another has neither."""
    study = made_up()
    first, *others = study.agreement
    for low, cut in ((-1.0, True), (-0.5, False)):
        icc = Estimate(0.1, 0.1, 0.1, (low, 0.95))
        shown = replace(study, agreement=(replace(first, icc=icc), *others))
        words = text_of(render_study(shown))
        assert ("0.10 ≤ −1 to 0.95" in words) == cut
        assert ("0.10 −0.50 to 0.95" in words) != cut
        assert (CUT_OFF_NOTE in words) == cut
        printed = markdown(study_document(shown))
        assert ("0.10 [≤ −1, 0.95]" in printed) == cut
        assert ("0.10 [−0.50, 0.95]" in printed) != cut
        assert (CUT_OFF_NOTE in printed) == cut


def test_two_raters_have_a_count_and_no_coefficient() -> None:
    """Modified kappa and V of two raters are unknown, with the reason; the count stands."""
    first = made_up().rounds[0]
    two = tuple(r for r in first.ratings if r.rater.id in ("r01", "r02"))
    html = render_study(
        study_results("Pilot", "aaaa", "made-up", "1-A", [replace(first, ratings=two)])
    )
    row = text_of(html.partition('id="whole"')[2].partition("bathing-001")[2])
    why = "unknown fewer than three raters decide nothing: 2 " * 4
    assert row.startswith(f"realism 2/2 1.00 0.16 to 1.00 2/2 2/8 {why}")


def test_coverage_is_as_it_was_simulated() -> None:
    """The stated coverage is the simulated one for panels of five and eight."""
    path = Path(__file__).parents[3] / "bench" / "results" / "agreement.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    held = [row["coverage"] for row in rows if row["panel"].startswith(("5 raters", "8 raters"))]
    assert {row["n_scenarios"] for row in rows} == {6, 8, 12, 20, 40, 80}
    assert f"{100 * min(held):.0f} to {100 * max(held):.0f}%" == COVERAGE


def test_a_bar_says_what_it_draws() -> None:
    """A bar names the count of each category that was given, and its parts fill it."""
    html = render_study(made_up())
    bar = re.search(r"<svg [^>]*realism: 1 gave 2, 1 gave 3.*?</svg>", html)
    assert bar is not None
    assert "4 gave 4, 2 gave 5" in bar[0]
    widths = [float(width) for width in re.findall(r'width="([\d.]+)" height', bar[0])]
    assert widths == [30, 30, 120, 60]


def test_few_raters_of_a_role_are_shown_as_they_are() -> None:
    """Two caregivers stand with their ratings and the lowest, five therapists with a verdict."""
    html = render_study(made_up())
    row = text_of(html.partition("Realism, by role")[2].partition("dressing-001")[2])
    assert row.startswith("4/5 0.28 to 0.99 passes alone 1/2 gave 2, 4 lowest 2 1/1 gave 4")


def test_power_is_of_one_scale_and_both_are_needed() -> None:
    """The table is of one scale, the words of both, as computed; what is unknown has its reason."""
    words = text_of(render_study(made_up()))
    assert "Chance that a scale passes" in words
    one = chance_of_passing(8, 0.9, EndorsementRule.paper)
    assert f"kept {one:.0%} of the time where the same raters endorse both" in words
    assert f"and {one**2:.0%} where the scales are independent" in words
    assert f"{1 - one:.0%} to {1 - one**2:.0%}".replace("%", "") + " fall by chance" in words
    assert "8 7/8 25.5% 50.3% 81.3% 94.3%" in words
    assert f"grooming-001 realism {'unknown nobody has rated it ' * 8}" in words


def test_words_of_raters_are_no_markup() -> None:
    """Hostile words add no tag, run no template and lose their control characters."""
    plain, hostile = render_study(made_up()), render_study(made_up(HOSTILE))
    one, other = (
        [(tag, [*attrs]) for tag, attrs in Outline(page).tags] for page in (plain, hostile)
    )
    assert one == other
    assert "{{ 7 * 7 }}" in hostile
    assert "\x07" not in hostile


def test_the_page_needs_no_network() -> None:
    """No address is in the page but the names that SVG and the policy need."""
    html = render_study(made_up())
    assert re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', html) == []
    assert 'style="' not in html


def test_nothing_rated_is_a_page_too() -> None:
    """A study without a rating has a page that decides nothing."""
    empty = RoundAnswers(1, {"eating-001": 1}, (RoundRater(PANEL[0], ("eating-001",)),), (), (), ())
    words = text_of(render_study(study_results("Pilot", "aaaa", "made-up", "1-A", [empty])))
    assert "Keep 0 Revise 0 Drop 0 Undecided 1" in words
    assert "There are no comments." in words


def test_the_same_results_make_the_same_page() -> None:
    """Rendering twice makes the same text; another cut makes another."""
    study = made_up()
    assert render_study(study) == render_study(study)
    rounds = study.rounds
    other = study_results(
        "Pilot", "aaaa", "made-up", "1-A", rounds, terms=DecisionTerms(cut=3, other_cut=4)
    )
    assert "at least eight in ten of its raters gave 3, 4 or 5" in text_of(render_study(other))
    assert "With 3 not counted it would not pass." in text_of(render_study(other))


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


@pytest.mark.parametrize("width", [320, 390])
def test_narrow_tables_are_cards(browser: Browser, tmp_path: Path, width: int) -> None:
    """On a phone no table scrolls: decisions and coefficients are on the screen."""
    path = tmp_path / "study.html"
    write_study_page(made_up(), path)
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((part) => part.open = true)")
    regions = page.locator(".scroll").all()
    assert all(r.evaluate("(e) => e.scrollWidth <= e.clientWidth") for r in regions)
    for head in ("Decision", "Gwet’s AC2", "ICC(2,k)"):
        box = page.locator(f'td[data-head="{head}"]').first.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    page.close()


@pytest.mark.parametrize("width", [1280, 700, 320])
def test_numbers_in_bars_are_readable_or_not_there(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    """A number that is drawn in a bar is at least nine pixels high, and fits its part."""
    path = tmp_path / "study.html"
    write_study_page(made_up(), path)
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(path.as_uri())
    shown = page.evaluate("""() => [...document.querySelectorAll('.parted text')]
      .filter((text) => text.getClientRects().length)
      .map((text) => {
        const [box, part] = [text, text.previousElementSibling].map(e => e.getBoundingClientRect());
        const scale = text.getScreenCTM().a;
        return [scale * parseFloat(getComputedStyle(text).fontSize), part.width - box.width];
      })""")
    assert shown or width == 700
    assert all(size >= 9 and room >= 0 for size, room in shown)
    page.close()
