"""The site in a browser: sorting, filters, accessibility and print."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect

from careeval.report.site import write_site
from careeval.results.findings import findings
from support.chromium import IN_A_BROWSER

from .conftest import half_resolved, whole

pytestmark = IN_A_BROWSER

SYSTEMS = ("alpha", "beta", "gamma")

KINDS = (
    "index.html", "models/alpha.html", "compare.html", "scenarios.html",
    "scenarios/dressing-001.html", "evidence.html", "about.html",
)  # fmt: skip
"""One page of each kind."""


CONTRAST = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
"""The only rule that depends on the colour scheme."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of three systems."""
    folder = tmp_path_factory.mktemp("site")
    write_site(findings(whole(SYSTEMS)), folder, canary="canary of the tests")
    return folder


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of nine systems."""
    folder = tmp_path_factory.mktemp("many")
    write_site(findings(whole([f"system-{n}" for n in range(1, 10)])), folder)
    return folder


ZEROS = """key => {
    const at = [...document.querySelectorAll('table.board thead th')]
        .findIndex((head) => head.classList.contains(`of-${key}`));
    return [...document.querySelectorAll('table.board tbody tr')].map((row) => {
        const line = row.cells[at].querySelector('.zero').getBoundingClientRect();
        return [line.x, line.y, row.getBoundingClientRect().y];
    });
}"""


def _address(root: Path, kind: str) -> str:
    return sorted(root.glob(kind))[0].as_uri()


def _names(page: Page) -> list[str]:
    """The systems of the ranked table that are shown, in order."""
    return page.locator("table.board").first.locator("tbody tr:visible th a").all_text_contents()


def test_pages_make_no_requests_and_no_errors(page: Page, root: Path) -> None:
    """Opened from a disk, no page complains or asks for another address."""
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    addresses = [_address(root, kind) for kind in KINDS]
    for address in addresses:
        page.goto(address)
    assert complaints == []
    assert [url for url in asked if not url.startswith("data:")] == addresses


@pytest.mark.parametrize("kind", KINDS)
def test_pages_are_accessible(kind: str, page: Page, root: Path) -> None:
    """No rule of axe is broken, in dark no contrast is too low, and 320 pixels are wide enough."""
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.goto(_address(root, kind))
    page.evaluate("document.querySelectorAll('details').forEach((part) => part.open = true)")
    axe_result = Axe().run(page)
    assert axe_result.violations_count == 0, axe_result.generate_report()
    page.emulate_media(color_scheme="dark")
    axe_result = Axe().run(page, options=CONTRAST)
    assert axe_result.violations_count == 0, axe_result.generate_report()
    page.set_viewport_size({"width": 320, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_the_table_sorts_by_keyboard(page: Page, root: Path) -> None:
    """A head's button sorts by its column, says so, and turns the order when pressed again."""
    page.goto(_address(root, "index.html"))
    by_rank = _names(page)
    head = page.locator("table.board").first.locator("thead th", has_text="Worst of 2")
    head.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    first = _names(page)
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert sorted(_names(page)) == sorted(first) == sorted(by_rank)
    column = page.locator("table.board").first.locator("tbody tr td:nth-child(6)")
    keys = [float(cell.get_attribute("data-key") or "nan") for cell in column.all()]
    assert keys == sorted(keys)


def test_the_order_that_a_table_comes_in_is_said(page: Page, root: Path) -> None:
    """The ranked table's rank head says that it is in ascending order before anybody sorts."""
    page.goto(_address(root, "index.html"))
    heads = page.locator("table.board").first.locator("th[aria-sort]")
    assert heads.all_text_contents() == ["Rank by score"]
    assert heads.first.get_attribute("aria-sort") == "ascending"


def test_a_phone_shows_both_numbers_without_scrolling(page: Page, root: Path) -> None:
    """On a phone severe errors, the score and the worst stand in its width."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(_address(root, "index.html"))
    row = page.locator("table.board").first.locator("tbody tr").first
    severe, score = (row.locator("td.n").nth(place) for place in (0, 1))
    for cell in (severe, score, score.get_by_text("Worst of 2")):
        expect(cell).to_be_visible()
        box = cell.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 390
    assert not page.locator("td.of-worst_at_n, th.of-worst_at_n").first.is_visible()


def test_eight_systems_stand_above_the_fold(page: Page, many: Path) -> None:
    """On a desk the first screen has eight whole rows, each about 50 pixels high."""
    page.goto(_address(many, "index.html"))
    boxes = [row.bounding_box() for row in page.locator("table.board tbody tr").all()]
    heights = [box["height"] for box in boxes if box]
    assert len(heights) == 9
    assert max(heights) <= 54
    assert sum(box["y"] + box["height"] <= 900 for box in boxes if box) >= 8


def test_a_column_is_one_dot_plot(page: Page, many: Path) -> None:
    """The dots of a column share one line at 0, unbroken from row to row, and the head's axis."""
    page.goto(_address(many, "index.html"))
    for key in ("severe", "score"):
        zeros = page.evaluate(ZEROS, key)
        assert len({round(x, 1) for x, _, _ in zeros}) == 1
        assert all(top <= row_top + 1 for _, top, row_top in zeros)
    head = page.locator("table.board th.of-score")
    assert "100%" in head.locator("svg").text_content()
    assert not page.locator("table.board .rail").first.is_visible()
    head.get_by_role("button").click()
    assert page.locator("main > [role=status]").inner_text().startswith("Sorted by Score actions")
    assert "100%" not in page.locator("main > [role=status]").inner_text()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_reason_of_a_grey_row_stays_in_its_cell(width: int, page: Page, tmp_path: Path) -> None:
    """However long the reason, it does not run into the numbers beside it."""
    write_site(findings(half_resolved()), tmp_path)
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(_address(tmp_path, "index.html"))
    cell = page.locator("tr.grey th")
    reason = cell.get_by_text("not ranked: 8 of 16 judgments")
    ends = [box["x"] + box["width"] for at in (cell, reason) if (box := at.bounding_box())]
    assert ends[1] <= ends[0]
    assert reason.evaluate("part => part.scrollWidth <= part.parentElement.clientWidth")


def test_the_filter_is_kept_in_the_address(page: Page, root: Path) -> None:
    """A search hides other systems, counts the rest, and is restored from the address."""
    page.goto(_address(root, "index.html"))
    page.get_by_label("Find").fill("bet")
    assert _names(page) == ["beta"]
    expect(page.locator("#filter output")).to_have_text("1 of 3 entries")
    chosen = page.url
    page.goto("about:blank")
    page.goto(chosen)
    assert _names(page) == ["beta"]
    page.get_by_label("cost known only").check()
    expect(page.locator("#filter output")).to_have_text("0 of 3 entries")


def test_scenarios_are_filtered_and_searched(page: Page, root: Path) -> None:
    """An activity or words leave the scenarios that fit, and an order puts the lowest first."""
    page.goto(_address(root, "scenarios.html"))
    shown = page.locator(".scene:visible")
    assert shown.count() == 7
    page.get_by_label("Activity").select_option("eating")
    assert shown.count() == 2
    page.get_by_label("Find").fill("no such words")
    assert shown.count() == 0
    page.get_by_label("Find").fill("arm WEAK")
    assert shown.count() == 2
    page.get_by_label("Activity").select_option("")
    page.get_by_label("Order").select_option("mean")
    means = [float(item.get_attribute("data-mean") or "nan") for item in shown.all()]
    assert means == sorted(means)


def test_the_site_works_without_scripts(browser: Browser, root: Path) -> None:
    """With scripts off there is no filter to try, and links and folds work."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(_address(root, "index.html"))
    assert not page.locator("#filter").is_visible()
    page.locator("table.board tbody th a").first.click()
    expect(page.locator("article.card")).to_be_visible()
    page.goto(_address(root, "scenarios/dressing-001.html"))
    last = page.locator("details.more").last
    error = last.locator("article.error").first
    assert not error.is_visible()
    last.locator("summary").click()
    assert error.is_visible()
    context.close()


def test_a_page_prints(page: Page, root: Path) -> None:
    """In print there is neither navigation nor filter, and the table is there."""
    page.goto(_address(root, "index.html"))
    page.emulate_media(media="print")
    assert not page.get_by_role("navigation").is_visible()
    assert not page.locator("#filter").is_visible()
    assert page.locator("table.board").first.is_visible()
