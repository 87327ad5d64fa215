"""A study's form for paper, in a real browser: what holds together, and how it looks."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page

from careeval.people.paper import numbered_questions, render_form
from careeval.people.study.plan import planned_scenarios
from support.chromium import IN_A_BROWSER
from support.review_study import Study

pytestmark = IN_A_BROWSER


@pytest.fixture(params=[False, True], ids=["clear", "large"])
def large(request: pytest.FixtureRequest) -> bool:
    """Return whether the print is large."""
    return bool(request.param)


@pytest.fixture
def paper(study: Study, tmp_path: Path, large: bool) -> Path:
    """The form of the first rater."""
    path = tmp_path / "r01.html"
    scenarios = planned_scenarios(study.plan, study.bank)
    text = render_form(study.plan, scenarios, study.plan.seats[0], {}, large=large)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("width", "height"), [(673, 986), (695, 920)], ids=["A4", "Letter"])
def test_no_question_is_split(
    page: Page, study: Study, paper: Path, large: bool, width: int, height: int
) -> None:
    """On paper, no question is parted from its choices."""
    page.goto(paper.as_uri())
    page.emulate_media(media="print")
    # columns of a page's size are filled as pages are; and only they tell what stands in which
    page.add_style_tag(
        content=f"main {{ column-width: {width}px; column-fill: auto; column-gap: 0;"
        f" width: {width}px; height: {height}px }}"
    )
    assert page.evaluate("document.querySelector('main').scrollWidth") > (5 if large else 4) * width
    columns = page.evaluate(
        f"""Array.from(document.querySelectorAll('.question'), (q) =>
          new Set(Array.from(q.querySelectorAll('*'), (e) => Array.from(e.getClientRects(),
            (r) => Math.floor(r.left / {width}))).flat()).size)"""
    )
    seat = study.plan.seats[0]
    asked = numbered_questions(study.plan, planned_scenarios(study.plan, study.bank), seat, {})
    assert columns == [1] * len(asked)


def test_clear_and_black_on_white(page: Page, paper: Path, large: bool) -> None:
    """No word is under 12 points (large print: 18) or grey, in a dark browser neither."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.emulate_media(color_scheme="dark")
    page.goto(paper.as_uri())
    looks = page.evaluate(
        """(least) => Array.from(document.querySelectorAll('main *'), (e) => {
          const s = getComputedStyle(e); return [parseFloat(s.fontSize) >= least, s.color];
        })""",
        24 if large else 16,
    )
    assert {tuple(look) for look in looks} == {(True, "rgb(0, 0, 0)")}
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert asked == [paper.as_uri()]
    page.set_viewport_size({"width": 320, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_everyone_can_read_the_form(page: Page, paper: Path) -> None:
    """An automatic check finds no barrier in it."""
    browser = page.context.browser
    assert browser is not None
    # the file forbids every script; the checker's is let in
    context = browser.new_context(bypass_csp=True)
    tab = context.new_page()
    tab.goto(paper.as_uri())
    found = Axe().run(tab)
    context.close()
    assert found.violations_count == 0, found.generate_report()
