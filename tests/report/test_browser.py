"""The report in a browser: no requests, no errors, accessible, and its controls work."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import polars as pl
import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, ViewportSize, expect

from careeval.report.page import write_page
from careeval.results.findings import Findings, findings
from careeval.results.tables import Runs
from careeval.sheets.words import headline_sentence
from support.chromium import IN_A_BROWSER, settle

from .conftest import whole

pytestmark = IN_A_BROWSER

OPEN_ALL = "document.querySelectorAll('details').forEach((part) => part.open = true)"
PHONE: ViewportSize = {"width": 390, "height": 844}
DESK: ViewportSize = {"width": 1280, "height": 900}
TOP = "section => section.getBoundingClientRect().top"
FILLED = "#reader .answer:has(.words, p.none)"
ALL = 28
"""Public responses."""


@pytest.fixture(scope="module")
def address(two_systems: Findings, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Address of the page of two systems."""
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_page(two_systems, path)
    return path.as_uri()


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page of nine systems, whose lists are long."""
    path = tmp_path_factory.mktemp("many") / "page.html"
    write_page(findings(whole([f"system-{n}" for n in range(1, 10)])), path)
    return path.as_uri()


def _open(page: Page, address: str) -> None:
    """Open the page and wait until its responses are unpacked."""
    page.goto(address)
    page.locator("html[data-ready]").wait_for(state="attached")


def _field(page: Page, name: str, section: str = "responses") -> str:
    return f"#{section} .filter [name={name}]"


def _count(page: Page) -> str:
    return page.locator("#reader-count").inner_text()


def test_page_makes_no_requests_and_no_errors(page: Page, address: str) -> None:
    """Opened and used, the page asks for no other address, and no response's script runs."""
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    _open(page, address)
    page.evaluate(OPEN_ALL)
    page.locator(_field(page, "points")).select_option("-2")
    page.locator("#beside-form [name=s]").select_option("dressing-001")
    assert complaints == []
    assert [url for url in asked if not url.startswith(("data:", "blob:"))] == [address]
    assert page.evaluate("window.broken") is None


@pytest.mark.parametrize(
    ("scheme", "media"), [("light", "screen"), ("dark", "screen"), ("dark", "print")]
)
def test_page_is_accessible(
    page: Page,
    address: str,
    scheme: Literal["light", "dark"],
    media: Literal["screen", "print"],
) -> None:
    """An accessibility check of the page finds nothing, on light, dark and, from dark, paper."""
    page.emulate_media(color_scheme=scheme, media=media)
    _open(page, f"{address}#at=responses&adl=dressing&system=alpha&epoch=2")
    page.evaluate("document.querySelectorAll('details').forEach((part, n) => part.open = n < 8)")
    axe_result = Axe().run(page, options={"resultTypes": ["violations"]})
    assert axe_result.violations_count == 0, axe_result.generate_report()


def test_page_fits_a_phone(page: Page, address: str) -> None:
    """At 320 pixels the page never scrolls sideways, and shows the figures made for that width."""
    page.set_viewport_size({"width": 320, "height": 800})
    _open(page, address)
    page.evaluate(OPEN_ALL)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert page.locator("#more .narrow").first.is_visible()
    assert not page.locator("#more figure .wide").first.is_visible()
    assert page.locator(".scale .heat-below").first.is_visible()


@pytest.mark.parametrize(
    "at", ["situations", "responses", "beside", "methods", "at=harms&points=-2", "at=beside"]
)
@pytest.mark.parametrize("width", [390, 1280])
def test_an_address_lands_where_it_leads(width: int, at: str, page: Page, many: str) -> None:
    """Opened at a section, the page shows its beginning, whatever is drawn above it afterwards."""
    page.set_viewport_size({"width": width, "height": 600})
    _open(page, f"{many}#{at}")
    name = at.partition("&")[0].removeprefix("at=")
    settle(page)
    assert 0 <= page.locator(f"#{name}").evaluate(TOP) <= 20


def test_a_reader_who_scrolled_stays(page: Page, many: str) -> None:
    """A reader who scrolls before the responses are unpacked is not scrolled back."""
    page.goto(f"{many}#overview")
    page.mouse.wheel(0, 200)
    page.locator("html[data-ready]").wait_for(state="attached")
    settle(page)
    assert page.locator("#overview").evaluate(TOP) < -100


def test_the_choice_is_kept_in_the_address(page: Page, address: str) -> None:
    """A choice leaves what fits, counts it, and comes back with the address, in both forms."""
    _open(page, address)
    assert _count(page) == f"{ALL} responses, the first 20 shown"
    page.locator(_field(page, "adl")).select_option("eating")
    page.locator(_field(page, "system")).select_option("beta")
    expect(page.locator("#reader-count")).to_have_text("4 responses")
    assert page.locator("#reader .answer").count() == 4
    assert page.locator(_field(page, "system", "harms")).input_value() == "beta"
    chosen, errors = page.url, page.locator("#error-list-count").inner_text()
    page.goto("about:blank")
    _open(page, chosen)
    assert page.locator("#reader-count").inner_text() == "4 responses"
    assert page.locator("#error-list-count").inner_text() == errors
    assert page.locator(_field(page, "system")).input_value() == "beta"
    assert page.evaluate("document.activeElement.textContent") == "Every response beside its rubric"


def test_responses_can_be_filtered_by_judgment(
    page: Page, address: str, two_systems: Findings
) -> None:
    """Filtering by −2 leaves as many responses as the tables have, and only their errors."""
    _open(page, address)
    page.locator(_field(page, "points", "harms")).select_option("-2")
    severe = two_systems.public.runs.judgments.filter(present=True, points=-2).to_dicts()
    n = len(
        {(j["system"], j["scenario"], j["epoch"]) for j in severe if "bathing" not in j["scenario"]}
    )
    assert _count(page) == f"{n} responses"
    assert page.locator("#error-list .error.mild").count() == 0
    # the first judgment of all is the one that is unresolved, of the +2
    page.locator(_field(page, "points", "harms")).select_option("2")
    page.locator(_field(page, "mark", "harms")).select_option("unresolved")
    assert _count(page) == "1 response"
    page.locator(_field(page, "mark", "harms")).select_option("absent")
    absent = two_systems.public.runs.judgments.filter(present=False, points=2).to_dicts()
    n = len(
        {(j["system"], j["scenario"], j["epoch"]) for j in absent if "bathing" not in j["scenario"]}
    )
    assert _count(page) == f"{n} responses"


def test_domain_and_points_are_of_one_item(page: Page, address: str) -> None:
    """Filters by points and domain must match the same item."""
    _open(page, address)
    page.locator(_field(page, "points")).select_option("-2")
    n = _count(page)
    page.locator(_field(page, "domain")).select_option(label="Functional safety")
    assert _count(page) == n
    assert page.locator(f"{_field(page, 'domain')} option").count() == 2


def test_words_can_be_looked_for(page: Page, address: str) -> None:
    """A search finds the one response with its words, markup and all, and shows it as text."""
    _open(page, address)
    page.locator(_field(page, "q")).fill("<SCRIPT>window.broken")
    expect(page.locator("#reader-count")).to_have_text("1 response")
    assert "{{ 7 * 7 }} {% raw %}" in page.locator("#reader .words").inner_text()
    page.locator("#responses .filter button[type=reset]").click()
    expect(page.locator("#reader-count")).to_have_text(f"{ALL} responses, the first 20 shown")


def test_all_words_must_be_there(page: Page, address: str) -> None:
    """Words are looked for apart, in any order, and a response must have every one."""
    _open(page, address)
    page.locator(_field(page, "q")).fill("elbow  sleeve")
    expect(page.locator("#reader-count")).not_to_have_text(f"{ALL} responses, the first 20 shown")
    n = int(_count(page).split()[0])
    assert 0 < n < ALL
    page.locator(_field(page, "q")).fill("elbow quickly")
    expect(page.locator("#reader-count")).to_have_text("No response fits.")


def test_more_responses_are_shown_by_keyboard(page: Page, address: str) -> None:
    """The button shows the rest, and focus moves to the first of them."""
    _open(page, address)
    button = page.locator("#reader-more")
    button.focus()
    button.press("Enter")
    assert page.locator("#reader .answer").count() == ALL
    assert not button.is_visible()
    answers, focused = "document.querySelectorAll('#reader .answer')", "document.activeElement"
    assert page.evaluate(f"[...{answers}].indexOf({focused}.parentElement)") == 20


def test_an_error_leads_to_its_response(page: Page, address: str) -> None:
    """The link of an error shows the one response that it was found in, opened."""
    _open(page, address)
    first = page.locator("#error-list .error:has(blockquote:not(.silent))").first
    words = first.locator("blockquote").inner_text()
    first.get_by_role("link", name="Read the response").click()
    expect(page.locator("#reader-count")).to_have_text("1 response")
    assert words in page.locator("#reader .answer[open] .words").inner_text()


def test_a_response_that_is_read_stands_alone(page: Page, many: str) -> None:
    """On a phone an error's response is on the first screen, without the filters, and one only."""
    page.set_viewport_size(PHONE)
    _open(page, many)
    page.locator("#error-list").get_by_role("link", name="Read the response").first.click()
    expect(page.locator("#reader-count")).to_have_text("1 response")
    assert page.locator("#reader .answer").count() == 1
    assert 0 < page.locator("#reader .answer").evaluate(TOP) < PHONE["height"] / 2
    assert not page.locator("#responses form").is_visible()
    page.get_by_role("button", name="Show all responses that fit").click()
    assert page.locator("#responses form").is_visible()
    assert page.locator("#reader .answer").count() == 20


def test_all_navigation_is_reached_on_a_phone(page: Page, address: str) -> None:
    """Each link of the navigation stands whole within the width of a phone."""
    page.set_viewport_size(PHONE)
    _open(page, address)
    ends = page.locator("nav a").evaluate_all("a => a.map(a => a.getBoundingClientRect().right)")
    assert len(ends) > 8
    assert max(ends) <= PHONE["width"]


def test_a_clipped_table_says_that_it_scrolls(page: Page, address: str) -> None:
    """A table that is cut off says that it scrolls; others do not."""
    scroll_state = """[...document.querySelectorAll('.scroll')]
        .filter((each) => each.clientWidth).map((each) => [each.scrollWidth > each.clientWidth,
         getComputedStyle(each, '::before').content.includes('Scrolls sideways')])"""
    for size in (PHONE, DESK):
        page.set_viewport_size(size)
        _open(page, address)
        page.evaluate(OPEN_ALL)
        page.wait_for_function(f"{scroll_state}.every(([scrolls, says]) => scrolls === says)")
    page.set_viewport_size(PHONE)
    page.wait_for_function(f"{scroll_state}.some(([scrolls]) => scrolls)")


def test_one_line_stands_out(page: Page, many: str) -> None:
    """Pointing at or focusing a line highlights that system in both panels; others are pale."""
    _open(page, many)
    page.locator("#more summary").first.click()
    lines = page.locator("#more .wide svg").first.locator("g")
    assert lines.count() == 9
    pale = "lines => lines.map((line) => Number(getComputedStyle(line).opacity) < 0.5)"
    assert not any(lines.evaluate_all(pale))
    page.keyboard.press("Tab")
    lines.nth(3).focus()
    assert lines.evaluate_all(pale) == [n != 3 for n in range(9)]
    assert lines.nth(3).locator("polyline").count() == 2
    page.evaluate("document.activeElement.blur()")
    lines.nth(5).locator("text").first.hover()
    assert lines.evaluate_all(pale) == [n != 5 for n in range(9)]
    axe_result = Axe().run(page, context="#more", options={"resultTypes": ["violations"]})
    assert axe_result.violations_count == 0, axe_result.generate_report()


def test_a_jump_leaves_the_error_list_as_it_is(page: Page, address: str) -> None:
    """A jump filters the reader alone, and Back is the same length and the same place."""
    _open(page, f"{address}#at=harms&system=beta")
    before = page.locator("#error-list-count").inner_text()
    if page.locator("#error-list-more").is_visible():
        page.locator("#error-list-more").click()
    n = page.locator("#error-list .error").count()
    link = page.locator("#error-list .error a").nth(n // 2)
    link.scroll_into_view_if_needed()
    top = page.evaluate("scrollY")
    link.click()
    expect(page.locator("#reader-count")).to_have_text("1 response")
    assert page.locator("#error-list .error").count() == n
    assert page.locator(_field(page, "scenario", "harms")).input_value() == ""
    page.go_back()
    expect(page.locator("#reader-count")).not_to_have_text("1 response")
    page.wait_for_function(f"Math.abs(scrollY - {top}) < 2")
    assert page.locator("#error-list .error").count() == n
    assert "beta" in page.locator(_field(page, "system", "harms")).input_value()
    assert before.split(",")[0] in page.locator("#error-list-count").inner_text()
    assert page.evaluate("document.activeElement.textContent") == "Read the response"


def test_the_address_holds_everything_at_once(page: Page, address: str) -> None:
    """Filters, side by side and order come back together, no system too; nonsense is dropped."""
    _open(page, address)
    page.locator(_field(page, "adl")).select_option("eating")
    page.locator("#beside-form [name=s]").select_option("eating-002")
    for name in ("alpha", "beta"):
        page.get_by_role("checkbox", name=name, exact=True).uncheck()
    page.locator("#answer summary", has_text="The numbers in full").click()
    page.locator("#answer th button").nth(1).click()
    page.locator("#answer th button").nth(1).click()
    page.locator(_field(page, "points")).select_option("-2")
    chosen = page.url
    page.goto("about:blank")
    _open(page, chosen)
    assert page.locator(_field(page, "adl")).input_value() == "eating"
    assert page.locator(_field(page, "points", "harms")).input_value() == "-2"
    assert page.locator("#beside-form [name=s]").input_value() == "eating-002"
    assert page.locator("#beside-form [name=with]:checked").count() == 0
    assert page.locator("#answer th").nth(1).get_attribute("aria-sort") == "ascending"
    page.goto("about:blank")
    _open(page, f"{address}#at=responses&adl=nonsense&with=nobody&sort=999.0.a")
    assert page.locator(_field(page, "adl")).input_value() == ""
    assert _count(page) == f"{ALL} responses, the first 20 shown"
    assert page.locator("#beside-form [name=with]:checked").count() == 2


def test_a_card_has_its_two_numbers_first(page: Page, address: str, two_systems: Findings) -> None:
    """On a desk the numbers stand in a row, severe errors left; on a phone two, and none is cut."""
    for width, n_rows in ((1280, 1), (390, 2)):
        page.set_viewport_size({"width": width, "height": 900})
        _open(page, address)
        card = page.locator(".card").first
        assert headline_sentence(two_systems.entries[0]) in card.inner_text()
        boxes = [dt.bounding_box() for dt in card.locator("dt").all()]
        heads = [(round(box["y"]), box["x"]) for box in boxes if box]
        assert card.locator("dt").all_inner_texts()[:2] == ["Severe errors", "Score, actions"]
        assert heads == sorted(heads)
        assert len({y for y, _ in heads}) == n_rows
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_may_not_be_ranked_is_grey(
    page: Page, one_system: Findings, tmp_path: Path, scheme: Literal["light", "dark"]
) -> None:
    """No number of an entry that may not be ranked has a colour of its own, and all can be read."""
    path = tmp_path / "page.html"
    write_page(one_system, path)
    page.emulate_media(color_scheme=scheme)
    _open(page, path.as_uri())
    colours = page.evaluate(
        "[...document.querySelectorAll('.unranked :is(h4, p, dt, b, small)')]"
        ".map((each) => getComputedStyle(each).color)"
    )
    assert len(colours) > 10
    assert len(set(colours)) == 1
    axe_result = Axe().run(page, context=".unranked", options={"resultTypes": ["violations"]})
    assert axe_result.violations_count == 0, axe_result.generate_report()


def test_two_rubrics_of_a_response_stand_apart(
    page: Page, both_rubrics: Runs, tmp_path: Path
) -> None:
    """A response that was judged on both rubrics has each under its name, and one can be chosen."""
    path = tmp_path / "page.html"
    write_page(findings(both_rubrics), path)
    _open(page, f"{path.as_uri()}#at=responses&scenario=eating-001&system=alpha&epoch=2")
    answer = page.locator("#reader .answer").first
    assert answer.locator(".beside h4").all_inner_texts() == [
        f"{name}{points} points" for name, points in (("Actions", "8 of 8"), ("Ladder", "3 of 3"))
    ]
    labels = answer.locator(".lines b").all_inner_texts()
    assert [label[0] for label in labels].count("A") == 1
    page.locator(_field(page, "grader")).select_option(label="ladder")
    assert page.locator("#reader .answer .beside h4").all_inner_texts() == ["Ladder3 of 3 points"]


def test_only_what_scrolls_is_a_stop(page: Page, address: str) -> None:
    """Only a table that is cut off can be focused with the keyboard."""
    wrong = """[...document.querySelectorAll('.scroll')].filter((each) =>
        (each.scrollWidth > each.clientWidth) !== (each.tabIndex === 0)).length"""
    _open(page, address)
    assert page.evaluate(wrong) == 0
    page.set_viewport_size({"width": 390, "height": 800})
    page.evaluate(OPEN_ALL)
    page.wait_for_function(f"{wrong} === 0")
    assert page.locator(".scroll[tabindex]").count() > 0


def test_a_quote_leads_to_its_item(page: Page, address: str) -> None:
    """A quote's button, reached by keyboard, lights its item and its words and leads to it."""
    _open(page, f"{address}#at=responses&scenario=dressing-003&epoch=2")
    reference = page.locator("#reader .ref").first
    reference.focus()
    item = page.locator(f"#reader .beside li[data-of='{reference.get_attribute('data-of')}']").first
    assert "lit" in (item.get_attribute("class") or "")
    assert page.locator("mark.lit").count() > 0
    reference.press("Enter")
    assert item.evaluate("element => element === document.activeElement")


def test_systems_stand_side_by_side(page: Page, address: str) -> None:
    """Chosen systems answer one scenario next to each other, and the address brings them back."""
    _open(page, address)
    page.locator("#beside-form [name=s]").select_option("eating-002")
    page.locator("#beside-form [name=n]").select_option("2")
    assert page.locator("#columns article").count() == 2
    assert page.locator("#columns tbody tr").count() == 6
    chosen = page.url
    page.goto("about:blank")
    _open(page, chosen)
    assert page.locator("#beside-form [name=s]").input_value() == "eating-002"
    assert page.locator("#columns .scenario-head").inner_text().startswith("eating-002")
    page.get_by_role("checkbox", name="beta", exact=True).uncheck()
    assert page.locator("#columns article").count() == 1


def test_side_by_side_opens_on_the_largest_flip(page: Page, tmp_path: Path) -> None:
    """Side by side opens at the scenario in which the first two systems differ most."""
    runs, column = whole(), pl.col
    flipped = (column("system") == "beta") & (column("scenario") == "eating-002")
    smaller = (column("system") == "beta") & (column("scenario") == "dressing-002")
    judgments = runs.judgments.with_columns(
        pl.when(column("scenario") == "dressing-001")
        .then(column("points") > 0)
        .when(flipped & (column("epoch") == 2))
        .then(column("points") < 0)
        .when(smaller & (column("item") == "pulls-arm"))
        .then(~column("present"))
        .otherwise(column("present"))
        .alias("present")
    )
    path = tmp_path / "page.html"
    write_page(findings(Runs(runs.responses, judgments, runs.notes)), path)
    _open(page, path.as_uri())
    form = page.locator("#beside-form")
    assert form.locator("[name=s]").input_value() == "eating-002"
    assert form.locator("[name=n]").input_value() == "2"
    assert page.locator("#columns .scenario-head").inner_text().startswith("eating-002")
    _open(page, f"{path.as_uri()}?#at=beside&s=dressing-001&n=1")
    assert form.locator("[name=s]").input_value() == "dressing-001"


def test_a_table_sorts_by_keyboard(page: Page, address: str) -> None:
    """A column head sorts numbers descending, then ascending, and says which."""
    _open(page, address)
    page.locator("#answer summary", has_text="The numbers in full").click()
    table = page.locator("#answer table").first
    head = table.get_by_role("columnheader", name="Score")
    button = head.get_by_role("button")

    def scores() -> list[float]:
        texts = table.locator("tbody td:nth-child(3)").all_inner_texts()
        return [float(text.partition("%")[0].replace("−", "-")) for text in texts]

    button.focus()
    button.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert scores() == sorted(scores(), reverse=True)
    status = page.locator("main > [role=status].sr")
    assert status.inner_text() == "Sorted by Score, actions, descending."
    button.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert scores() == sorted(scores())


def test_paper_has_all_sections_and_no_controls(page: Page, address: str) -> None:
    """In print every section is there, folded tables are open, and nothing is to be clicked."""
    _open(page, address)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for section in ("answer", "overview", "harms", "situations", "responses", "methods"):
        assert page.locator(f"#{section} h2").is_visible() or section == "answer"
    assert page.locator("#overview details table").first.is_visible()
    assert page.locator("#reader .answer").count() == page.locator(FILLED).count()
    assert page.locator("#reader .answer .words").last.is_visible()
    printed = page.locator("#reader-paper").inner_text()
    assert (
        printed == f"Printed: 20 of {ALL} responses that fit, of {ALL}. Nothing was filtered out."
    )
    for there in ("#error-list-count", "#reader-count", "#error-list-paper", "#columns"):
        assert page.locator(there).is_visible()
    for control in ("nav", "form.filter", "#reader-more", "#beside-form"):
        assert not page.locator(control).first.is_visible()


def test_the_first_stop_skips_to_the_answer(page: Page, address: str) -> None:
    """The first thing that the keyboard reaches is a link past the navigation, then visible."""
    page.goto(address)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the answer"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0


def test_it_works_without_scripts(browser: Browser, address: str) -> None:
    """With scripts off numbers, figures, tables and the first errors stand, and no dead control."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    for there in (".card .sentence", "#overview svg", "#error-list .error", "#situations table"):
        assert page.locator(there).first.is_visible()
    assert "needs scripts" in page.locator("#responses").inner_text()
    for absent in ("form.filter", "#beside", "#reader-more", "thead button"):
        assert page.locator(absent).count() == 0 or not page.locator(absent).first.is_visible()
    context.close()


def test_a_browser_that_cannot_unpack_is_told(page: Page, address: str) -> None:
    """Without DecompressionStream the page says that it cannot unpack; the rest is shown."""
    page.add_init_script("delete globalThis.DecompressionStream")
    page.goto(address)
    expect(page.locator("#reader-count")).to_contain_text("cannot unpack the responses")
    assert page.locator("#reader-count").is_visible()
    assert page.locator("#error-list .error").first.is_visible()
