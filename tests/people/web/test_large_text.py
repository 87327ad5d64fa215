"""Large text and narrow screens, in a real browser: no page is cut off, or wider than its window.

The pages come from the app itself, by way of the browser's network, so that none needs a server.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Route
from starlette.testclient import TestClient

from careeval.bank import Bank
from careeval.people.plan import Consent
from careeval.people.study.plan import StudyPlan
from support.chromium import IN_A_BROWSER
from support.review_audit import Audit
from support.review_study import ORIGIN, Study, fill, made_plan, put

pytestmark = IN_A_BROWSER

SIZES = [(1280, 200), (640, 200), (320, 100), (320, 200)]
"""Width of the window in pixels, and the size of the text in percent."""

CUT = """() => {
  const wrong = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const parent = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !parent.checkVisibility()) continue;
    if (parent.closest('.sr, .skip, option')) continue;
    const range = document.createRange();
    range.selectNodeContents(walk.currentNode);
    for (const box of range.getClientRects()) {
      let out = box.left < -1 || box.right > document.documentElement.clientWidth + 1;
      for (let e = parent; e; e = e.parentElement) {
        if (getComputedStyle(e).overflow === 'visible') continue;
        const frame = e.getBoundingClientRect();
        out ||= box.left < frame.left - 1 || box.right > frame.right + 1 ||
          (getComputedStyle(e).overflowY === 'hidden' && box.bottom > frame.bottom + 1);
      }
      if (out) wrong.push(walk.currentNode.data.trim());
    }
  }
  for (const e of document.querySelectorAll('button, .choices label, textarea, input, select, a')) {
    if (e.checkVisibility() && !e.closest('.sr, .skip') && e.scrollWidth > e.clientWidth + 1 &&
        getComputedStyle(e).display !== 'inline') wrong.push(e.outerHTML);
  }
  const targets = [...document.querySelectorAll('button, .choices label, .button, .main-button')]
    .filter((e) => e.checkVisibility()).map((e) => [e, e.getBoundingClientRect()]);
  targets.forEach(([e, one], k) => targets.slice(k + 1).forEach(([f, other]) => {
    const apart = one.right <= other.left + 1 || other.right <= one.left + 1 ||
      one.bottom <= other.top + 1 || other.bottom <= one.top + 1;
    if (!apart) wrong.push(`${e.outerHTML} lies over ${f.outerHTML}`);
  }));
  return wrong;
}"""
"""Words outside the window or what holds them, controls that hide words, and controls that lie
over each other."""


def _through(page: Page, client: TestClient) -> None:
    """Have a browser reach the app."""

    def answer(route: Route) -> None:
        address = urlsplit(route.request.url)
        found = client.get(address.path + (f"?{address.query}" if address.query else ""))
        route.fulfill(status=found.status_code, headers=dict(found.headers), body=found.content)

    page.unroute_all()
    page.route("**/*", answer)


@pytest.fixture
def study_pages(make_study: Callable[[StudyPlan], Study], bank: Bank) -> tuple[TestClient, Any]:
    """A study whose title, contact and comments are long, and its pages."""
    consent = Consent(
        text="We ask you to rate.\n\nYour answers are kept.",
        ethics="Research Ethics Committee of the Faculty of Rehabilitation, approval 2026/00123",
        contact="Study office, https://www.rehabilitation.example.org/studies/care-situations/2026,"
        " occupational.therapy.research.group@rehabilitation.example.org",
    )
    title = "Are these situations of physical caregiving realistic, and occupationally right?"
    study = make_study(made_plan(bank, title=title, consent=consent))
    client = study.client("r01")
    fill(client, 1, {"q.comment": "W" * 300, "q.realism": "4"}, "skip")
    link = f"/i/{study.tokens['r01']}"
    return client, ["/rate/1?missing=1", "/rate/2", "/overview", "/finish", link, *COMMON]


COMMON = ["/consent", "/about", "/practice/1", "/help", "/accessibility", "/withdraw", "/i/none"]


@pytest.fixture
def audit_pages(audit: Audit) -> tuple[TestClient, Any]:
    """An audit, and its pages."""
    client = audit.client("r01")
    put(client, "/label/1", {"q.note": "W" * 300}, "skip")
    return client, ["/label/1?missing=1", "/label/2", "/overview", "/finish", "/practice/1"]


@pytest.mark.parametrize("which", ["study_pages", "audit_pages"])
def test_nothing_is_cut_off(page: Page, which: str, request: pytest.FixtureRequest) -> None:
    """With text twice as large, and on 320 pixels, no page scrolls sideways or hides a word."""
    client, places = request.getfixturevalue(which)
    _through(page, client)
    for place in places:
        page.goto(f"{ORIGIN}{place}")
        assert page.evaluate("document.styleSheets.length") == 1
        page.evaluate("document.querySelectorAll('details').forEach((part) => part.open = true)")
        for width, percent in SIZES:
            page.set_viewport_size({"width": width, "height": 800})
            page.evaluate(f"document.documentElement.style.fontSize = '{percent}%'")
            where = f"{place} at {width} pixels, {percent}% text"
            assert page.evaluate("document.documentElement.scrollWidth") <= width, where
            assert page.evaluate(CUT) == [], where


@pytest.mark.parametrize(
    "fault",
    [
        "main.style.cssText = 'width: 150vw; max-width: none'",
        "main.querySelector('h1').style.cssText = 'overflow: hidden; height: 1rem'",
        "main.querySelector('.scenario p').style.cssText = 'position: relative; left: -3rem'",
        "main.querySelector('.buttons button').style.cssText = 'width: 2rem; white-space: nowrap'",
        "main.querySelectorAll('.choices label')[4].style.marginTop = '-4rem'",
    ],
)
def test_what_is_cut_off_is_found(
    page: Page, study_pages: tuple[TestClient, Any], fault: str
) -> None:
    """A page with something cut off, hidden or covered does not pass as whole."""
    _through(page, study_pages[0])
    page.goto(f"{ORIGIN}/rate/2")
    page.set_viewport_size({"width": 320, "height": 800})
    assert page.evaluate(CUT) == []
    page.evaluate(f"const main = document.querySelector('main'); {fault}")
    assert page.evaluate(CUT) != []
