"""The page in a real browser: it asks for nothing, reports nothing, and can be used by everyone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect, sync_playwright

from careeval.report.page import write_page
from careeval.results.summary import Summary
from careeval.results.tables import Runs

CHROMIUM = Path("/usr/bin/chromium")

pytestmark = [
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser: {CHROMIUM} is not installed"),
    pytest.mark.xdist_group("browser"),
]

QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


OPEN_SOME = "document.querySelectorAll('details').forEach((part, n) => part.open = n < 6)"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser that keeps to itself."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(runs: Runs, summaries: list[Summary], tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where the page is."""
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_page(runs, summaries, path)
    return path.as_uri()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """An empty tab on a desk."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(5000)
    yield page
    page.close()


def _shown(page: Page) -> int:
    return page.locator(".answer:not([hidden])").count()


def test_it_is_quiet(page: Page, address: str) -> None:
    """Opened and used, the page asks for no other address, and no response's script runs."""
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    page.locator("input[name=severe]").check()
    assert complaints == []
    assert [url for url in asked if not url.startswith("data:")] == [address]
    assert page.evaluate("window.broken") is None


@pytest.mark.parametrize(
    ("scheme", "media"), [("light", "screen"), ("dark", "screen"), ("dark", "print")]
)
def test_everyone_can_read_it(
    page: Page,
    address: str,
    scheme: Literal["light", "dark"],
    media: Literal["screen", "print"],
) -> None:
    """An accessibility check of the page finds nothing, on light, dark and, from dark, paper."""
    page.emulate_media(color_scheme=scheme, media=media)
    page.goto(address)
    page.evaluate(OPEN_SOME)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_it_fits_a_phone(page: Page, address: str) -> None:
    """At 320 pixels the page never scrolls sideways, and shows the figures made for that width."""
    page.set_viewport_size({"width": 320, "height": 800})
    page.goto(address)
    page.evaluate(OPEN_SOME)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert page.locator("#activities .narrow").is_visible()
    assert not page.locator("#activities .wide").is_visible()


def test_the_filter_is_kept_in_the_address(page: Page, address: str) -> None:
    """A choice hides what does not fit, counts what does, and comes back with the address."""
    page.goto(address)
    everything = _shown(page)
    page.locator("select[name=adl]").select_option("eating")
    page.locator("select[name=system]").select_option("beta")
    assert 0 < _shown(page) < everything
    assert page.locator("output").text_content() == f"{_shown(page)} of {everything} responses"
    assert not page.get_by_role("heading", name="Dressing").is_visible()
    chosen, n = page.url, _shown(page)
    page.goto("about:blank")
    page.goto(chosen)
    assert _shown(page) == n
    assert page.locator("select[name=system]").input_value() == "beta"


def test_the_severe_errors_are_one_link_away(page: Page, address: str) -> None:
    """The link under the errors leads to the responses that have one, and shows no other."""
    page.goto(address)
    everything, n = _shown(page), page.locator(".answer[data-severe]").count()
    page.get_by_role("link", name="Read the responses with a severe error").click()
    # the address changes first, and the page follows it
    expect(page.locator("output")).to_have_text(f"{n} of {everything} responses")
    assert _shown(page) == n > 0
    assert page.locator("#responses h2").is_visible()


def test_a_quote_leads_to_its_item(page: Page, address: str) -> None:
    """A quote's mark, reached by keyboard, lights its item and its words and leads to it."""
    page.goto(address)
    page.evaluate("document.querySelectorAll('details').forEach((part) => part.open = true)")
    reference = page.locator(".ref").first
    reference.focus()
    item = page.locator(f"[id='{reference.get_attribute('href')[1:]}']")  # type: ignore[index]
    assert "lit" in (item.get_attribute("class") or "")
    assert page.locator("mark.lit").count() > 0
    reference.press("Enter")
    assert page.evaluate("location.hash") == reference.get_attribute("href")
    assert item.is_visible()


def test_the_first_stop_skips_to_the_answer(page: Page, address: str) -> None:
    """The first thing that the keyboard reaches is a link past the navigation, then visible."""
    page.goto(address)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the answer"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0


def test_it_works_without_scripts(browser: Browser, address: str) -> None:
    """With scripts off all responses open by hand, and no filter is offered."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert not page.locator("#filter").is_visible()
    second = page.locator(".scenario").nth(1)
    assert not second.locator(".asked").is_visible()
    second.locator("summary").first.click()
    assert second.locator(".asked").is_visible()
    context.close()
