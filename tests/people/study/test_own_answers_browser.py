"""Own answers in a real browser: with scripts and by keyboard, and without scripts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from careeval.bank import load_bank
from careeval.core.rating import Role
from careeval.people.store import Store
from careeval.people.study.questions import HANDED_IN
from support import review_browser
from support.bank_folder import GOOD_BANK
from support.chromium import IN_A_BROWSER
from support.review_browser import Served, check, click, press
from support.review_study import made_plan

pytestmark = IN_A_BROWSER

TASK = "answer/dressing-001@1"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The study, served as the command does it."""
    path = tmp_path_factory.mktemp("answers") / "study.db"
    bank = load_bank(GOOD_BANK, probes=False)
    plan = made_plan(bank, [Role.other] * 2, answers=1, told="Be brief.")
    store = Store.create(path, "study", plan.json_text())
    tokens = {seat.id: store.add_rater(seat.rater) for seat in plan.seats}
    store.close()
    with review_browser.served("study", path, GOOD_BANK) as address:
        yield Served(address, path, tokens)


def test_an_answer_by_keyboard(page: Page, served: Served) -> None:
    """By keyboard an answer saves itself, is handed in and then stands; axe finds nothing."""
    page.goto(f"{served.address}/i/{served.tokens['r01']}")
    for text in ("Start", "I agree", "rather not say"):
        press(page, text)
    assert page.url.endswith("/answer/1")
    check(page, "answer")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_role("textbox").focus()
    page.keyboard.type("I stop the sleeve.")
    expect(page.locator("#saved")).to_contain_text("Saved")
    assert served.work("r01")[TASK]["answer"].value == "I stop the sleeve."
    page.goto(f"{served.address}/rate/1")
    assert page.url.endswith("/answers")
    check(page, "answers")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(f"{served.address}/overview")
    check(page, "overview")
    page.goto(f"{served.address}/answers")
    press(page, "Hand in my answers")
    assert page.url.endswith("/practice/1")
    page.goto(f"{served.address}/answer/1")
    assert page.locator("textarea").count() == 0
    check(page, "answer that stands")


def test_an_answer_without_scripts(browser: Browser, served: Served) -> None:
    """With scripts off the buttons save, and what somebody would rather not give is left out."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{served.address}/i/{served.tokens['r02']}")
    for name in ("Start", "I agree", "rather not say"):
        click(page, name)
    click(page, "Save and next")
    expect(page.locator(".summary")).to_contain_text("or say that you would rather not")
    page.get_by_role("textbox").fill("Half a thought")
    click(page, "I would rather not")
    click(page, "Go on without an answer of mine")
    assert page.url.endswith("/practice/1")
    context.close()
    work = served.work("r02")
    assert HANDED_IN in work
    assert set(work[TASK]) == {"answer", "skipped"}
