"""An audit in a real browser on the real server: labelled by keyboard, without scripts, settled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from careeval.people.audit.labels import LabelledAudit
from careeval.people.audit.results import audit_results
from careeval.results.grader_accuracy import LabelCounts
from support.chromium import IN_A_BROWSER
from support.review_audit import FINAL, FIRST, SECOND, Audit, audit_plan
from support.review_browser import ACTIVE, Served, check, click, press, serving

pytestmark = IN_A_BROWSER

PLAN = audit_plan()


@contextmanager
def _serving(path: Path) -> Iterator[Served]:
    """A new audit on a server of its own, which ends when it is told to."""
    audit = Audit.new(PLAN, path)
    audit.close()
    with serving(path, audit.tokens) as served:
        yield served


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """An audit that nobody has touched."""
    with _serving(tmp_path / "audit.db") as served:
        yield served


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """An audit that several tests take their turn with."""
    with _serving(tmp_path_factory.mktemp("served") / "audit.db") as served:
        yield served


def _digit(page: Page) -> str:
    return page.locator("[name=task]").input_value()[-1]


def test_an_audit_from_end_to_end(page: Page, browser: Browser, served: Served) -> None:
    """One labels by keyboard, one without scripts, one settles: results are those by hand."""
    _by_keyboard(page, served)
    context = browser.new_context(java_script_enabled=False)
    _without_scripts(context.new_page(), served)
    page.context.clear_cookies()
    _settle(page, served)
    context.close()
    works = {rater: served.work(rater) for rater in served.tokens}
    given = LabelledAudit(PLAN.blind(), works).labels
    assert [x.note for x in given if x.judgment == "j00001"] == ["“wait beside”\nby keyboard", ""]
    found = audit_results(PLAN.sample, given)
    assert found.counts == LabelCounts(found=2, missed=1, invented=1, cleared=2, unresolved=0)
    assert found.overall.sensitivity.value == pytest.approx(2 / 3)
    assert found.people.same.value == pytest.approx(4 / 5)


def _by_keyboard(page: Page, served: Served) -> None:
    page.goto(f"{served.address}/i/{served.tokens['r01']}")
    for text in ("Start", "I agree", "rather not", "See what", "Go on", "Skip the practice"):
        press(page, text)
    for n in range(1, 7):
        # a browser keeps the fragment of the page before through a redirect
        assert page.url.partition("#")[0].endswith(f"/label/{n}")
        digit = _digit(page)
        for _ in range(30):
            page.keyboard.press("Tab")
            active = page.evaluate(ACTIVE)
            if active["type"] == "radio":
                page.keyboard.press(FIRST[digit][0])  # p, a or u
            elif "Save and next" in active["text"] and digit != "1":
                break
            elif active["tag"] == "SUMMARY" and "words that show it" in active["text"]:
                page.keyboard.press("Enter")
            elif active["name"] == "q.evidence":
                page.keyboard.type("wait beside")
            elif active["name"] == "q.note":
                page.keyboard.type("by keyboard")
                break
        expect(page.locator("#saved")).to_contain_text("Saved")
        with page.expect_navigation():
            page.keyboard.press("Control+Enter")
    press(page, "Hand in")
    assert page.locator("h1").inner_text() == "Thank you"


def _without_scripts(page: Page, served: Served) -> None:
    served.enter(page, "r02")
    click(page, "Save and next")
    assert "1 question is not answered yet" in page.locator(".summary").inner_text()
    page.locator(".summary a").click()
    assert page.evaluate("document.activeElement.name") == "q.says"
    assert not page.locator("#take").is_visible()
    for n in range(1, 7):
        assert f"/label/{n}" in page.url
        page.get_by_role("radio", name=SECOND[_digit(page)].capitalize()).check()
        if n == 1:
            page.locator(".why summary").click()
            page.get_by_label("The words that show it").fill("of no response")
            click(page, "Save and next")
            assert "is not in the response" in page.locator(".summary").inner_text()
            page.get_by_label("The words that show it").fill("")
        click(page, "Save and next")
    click(page, "Hand in")
    assert page.locator("h1").inner_text() == "Thank you"


def _settle(page: Page, served: Served) -> None:
    served.enter(page, "a01")
    for n in (1, 2):
        assert page.url.partition("#")[0].endswith(f"/settle/{n}")
        page.get_by_role("radio", name=FINAL[_digit(page)].capitalize()).check()
        page.get_by_label("Why?").fill("read again")
        click(page, "Save and next")
    click(page, "I have finished")
    assert "All 2 disagreements are done" in page.locator("main").inner_text()


def test_selected_words_are_taken(page: Page, begun: Served) -> None:
    """Words selected in the response go into the field by one press, are saved, and are marked."""
    begun.enter(page, "r02")
    page.locator(".why summary").click()
    page.get_by_role("button", name="Take the words").click()
    expect(page.locator("#taken")).to_have_text("Select words in the response first.")
    page.evaluate("getSelection().selectAllChildren(document.getElementById('response')); 0")
    words = page.locator("#response").inner_text()
    page.get_by_role("button", name="Take the words").click()
    expect(page.locator("#saved")).to_contain_text("Saved")
    page.reload()
    assert page.locator("mark").inner_text() == words
    assert page.get_by_label("The words that show it").input_value() == " ".join(words.split())


def test_control_and_enter_save_from_anywhere(page: Page, served: Served) -> None:
    """They save and go on wherever the focus is, as the help says; on a link they are its own."""
    served.enter(page, "r02")
    page.get_by_role("radio", name="Present").check()
    expect(page.locator("#saved")).to_contain_text("Saved")
    page.reload()
    left = page.url.partition("#")[0]
    page.get_by_role("link", name="Help").focus()
    page.keyboard.press("Control+Enter")
    assert page.url.partition("#")[0] == left
    page.evaluate("document.activeElement.blur()")
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    assert page.url.endswith("/label/2")


def test_a_press_that_begins_while_it_is_saved_is_not_lost(page: Page, served: Served) -> None:
    """At the end of a page a button stays under the finger when “Saved” comes and goes."""
    served.enter(page, "r02")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_role("radio", name="Present").check()
    page.locator(".why summary").click()
    page.locator('[name="q.note"]').fill("by keyboard")
    expect(page.locator("#saved")).to_contain_text("Saved")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    button = page.get_by_role("button", name="Save and next")
    box = button.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 20, box["y"] + 5)
    page.mouse.down()  # the note is left, which saves it once more
    assert button.bounding_box() == box
    with page.expect_navigation():
        page.mouse.up()


def test_nothing_overtakes_a_form_that_is_on_its_way(page: Page, served: Served) -> None:
    """A note typed while an earlier save is on its way goes with the form that a button sends."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        if len(held) < 2:
            held.append(route)
        else:
            route.continue_()

    served.enter(page, "r02")
    left = page.url.partition("#")[0]
    page.locator(".why summary").click()
    page.route("**/label/*", hold)
    page.get_by_role("radio", name="Present").check()
    page.locator('[name="q.note"]').fill("by keyboard")
    page.locator('[name="q.note"]').press("Control+Enter", no_wait_after=True)
    while len(held) < 2:
        page.wait_for_timeout(20)
    first_save, form = held
    with page.expect_response(lambda answer: answer.request == first_save.request):
        first_save.continue_()
    form.continue_()
    page.wait_for_url(lambda url: url.partition("#")[0] != left)
    assert "again" not in page.url
    ((answers),) = [x for x in served.work("r02").values() if "note" in x]
    assert answers["note"].value == "by keyboard"


def test_everyone_can_use_every_page_of_an_audit(page: Page, begun: Served) -> None:
    """A check finds nothing on any page, light or dark; none is too wide or has small targets."""
    begun.enter(page, "r01")
    page.get_by_role("radio", name="Unsure").check()
    page.locator(".why summary").click()
    page.get_by_label("The words that show it").fill("I")
    click(page, "Save and next")
    for place in ("label/2?missing=1", "overview", "finish"):
        page.goto(f"{begun.address}/{place}")
        check(page, place)
    click(page, "Hand in")
    check(page, "handed in")
    page.goto(f"{begun.address}/help")
    check(page, "help")
    page.goto(f"{begun.address}/practice/1")
    click(page, "See what")
    check(page, "practice with notes")
    page.context.clear_cookies()
    begun.enter(page, "a01")
    check(page, "waiting")
    page.context.clear_cookies()
    begun.enter(page, "r02")
    page.goto(f"{begun.address}/finish")
    click(page, "Hand in")
    page.context.clear_cookies()
    begun.enter(page, "a01")
    assert page.url.endswith("/settle/1")
    check(page, "settle")
    click(page, "Save and next")
    check(page, "settle, missing")
