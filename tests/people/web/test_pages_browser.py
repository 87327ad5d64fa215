"""A study in a real browser on the real server: by keyboard, without scripts, for everyone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from careeval.bank import load_bank
from careeval.core.rating import Role
from careeval.core.scenario import Rubric
from careeval.people.store import Store
from support.bank_folder import GOOD_BANK
from support.chromium import IN_A_BROWSER
from support.review_browser import ACTIVE, Served, check, click, press, serving
from support.review_study import made_plan

pytestmark = IN_A_BROWSER


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The study on a server of its own, which ends when it is told to."""
    path = tmp_path_factory.mktemp("served") / "study.db"
    bank = load_bank(GOOD_BANK, probes=False)
    plan = made_plan(bank, [Role.other] * 6, rubrics=[Rubric.ladder], relevance=False)
    store = Store.create(path, "study", plan.json_text())
    tokens = {seat.id: store.add_rater(seat.rater) for seat in plan.seats}
    store.close()
    with serving(path, tokens, GOOD_BANK) as served:
        yield served
    assert not path.with_name("study.db-wal").exists()  # closed whole: one file


def test_a_study_by_keyboard(page: Page, served: Served) -> None:
    """A rater does all of it with Tab, arrows, digits, Space and Enter, and it is all stored."""
    page.goto(f"{served.address}/i/{served.tokens['r01']}")
    for text in ("Start", "I agree", "rather not", "See what", "Go on", "See what", "Go on"):
        press(page, text)
    assert page.url.endswith("/rate/1")
    chosen = 0
    for _ in range(60):
        page.keyboard.press("Tab")
        active: dict[str, Any] = page.evaluate(ACTIVE)
        if active["type"] == "radio" and not active["checked"]:
            chosen += 1
            page.keyboard.press("4" if "realism" in active["name"] else "Space")
            if "validity" in active["name"]:
                page.keyboard.press("ArrowRight")
        elif active["tag"] == "TEXTAREA" and active["name"] == "q.comment":
            page.keyboard.type("typed")
        elif "Save and next" in active["text"]:
            break
    assert chosen == 8
    expect(page.locator("#saved")).to_contain_text("Saved")
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    assert page.url.endswith("/finish")
    press(page, "I have finished")
    assert page.locator("h1").inner_text() == "Thank you"
    answers = served.work("r01")["1/dressing-001@1"]
    assert {name: a.value for name, a in answers.items() if "/" not in name} == {
        "realism": "4", "validity": "2", "information": "enough", "comment": "typed"
    }  # fmt: skip
    assert [a.value for name, a in answers.items() if name.endswith("/points")] == ["agree"] * 5


def test_practice_takes_the_same_keys(page: Page, served: Served) -> None:
    """The keys 1 to 5 choose while a question of practice has the focus, unless turned off."""
    served.enter(page, "r03")
    for chosen in (True, False):
        page.goto(f"{served.address}/practice/1")
        page.locator("#q1").focus()
        page.keyboard.press("4")
        expect(page.locator("[name='q.realism'][value='4']")).to_be_checked(checked=chosen)
        page.goto(f"{served.address}/help")
        page.get_by_role("checkbox").set_checked(not chosen)
        click(page, "Save this choice")


def test_a_study_without_scripts(browser: Browser, served: Served) -> None:
    """With scripts off the buttons save, what is missing is linked, and the end is reached."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    served.enter(page, "r02")
    page.get_by_role("radio", name="5, extremely realistic: happens just like this").check()
    page.get_by_label("Comment on this scenario").fill("without scripts")
    click(page, "Save and next")
    assert "7 questions are not answered yet" in page.locator(".summary").inner_text()
    expect(page.locator(".summary")).to_be_focused()
    page.locator(".summary a").first.click()
    assert page.evaluate("document.activeElement.name") == "q.validity"
    for group in page.locator("fieldset").all()[1:]:
        group.get_by_role("radio").last.check()
    click(page, "Save and next")
    click(page, "I have finished")
    assert page.locator("h1").inner_text() == "Thank you"
    context.close()
    answers = served.work("r02")["1/dressing-001@1"]
    assert answers["comment"].value == "without scripts"
    assert answers["ladder/-2/points"].value == "cannot-judge"


def test_everyone_can_use_every_page(page: Page, served: Served) -> None:
    """A check finds nothing on any page, light or dark; none is too wide or has small targets."""
    token = served.tokens["r03"]
    served.enter(page, "r03")
    places = [f"i/{token}", "i/wrong", "consent", "about", "practice/1", "overview"]
    places += ["rate/1?missing=1", "finish", "pause", "withdraw", "help", "accessibility"]
    for place in places:
        page.goto(f"{served.address}/{place}")
        check(page, place)
    page.get_by_role("link", name="Overview").click()
    page.goto(f"{served.address}/practice/2")
    click(page, "See what")
    check(page, "practice with notes")
    page.goto(f"{served.address}/about")
    page.locator("#years").fill("many")
    click(page, "Save")
    expect(page.locator("#years")).to_be_focused()
    check(page, "about with an error")


def test_twice_the_text_size(page: Page, served: Served) -> None:
    """With text twice as large nothing is cut off at the side of a small desk's window."""
    served.enter(page, "r03")
    page.set_viewport_size({"width": 640, "height": 800})
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert page.evaluate("document.documentElement.scrollWidth") <= 640


def _covered(page: Page) -> bool:
    """Tell whether anything at the window's edges covers any of the focused element."""
    return bool(
        page.evaluate("""() => {
          const active = document.activeElement;
          const one = (active.closest("label") ?? active).getBoundingClientRect();
          return [...document.querySelectorAll("#standing, .again")].some((line) => {
            const edge = line.getBoundingClientRect();
            const apart = one.bottom <= edge.top || one.top >= edge.bottom;
            return edge.height && !line.contains(active) && !apart;
          });
        }""")
    )


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_the_scenario_stays_in_sight(
    browser: Browser, served: Served, size: tuple[int, int], scripts: bool
) -> None:
    """Above every item that has the focus, forwards and back, its first words stand uncovered."""
    width, height = size
    context = browser.new_context(
        java_script_enabled=scripts, viewport={"width": width, "height": height}
    )
    page = context.new_page()
    served.enter(page, "r06")
    words = page.locator(".again p").first
    n_seen = 0
    for key in ["Tab"] * 40 + ["Shift+Tab"] * 40:
        page.keyboard.press(key)
        if page.evaluate("document.activeElement === document.body"):
            continue  # past the last, or before the first
        assert not _covered(page), page.evaluate("document.activeElement.outerHTML")
        if page.evaluate("document.activeElement.closest('.item') !== null"):
            n_seen += 1
            box = words.bounding_box()
            assert box is not None
            assert 0 <= box["y"] < height / 2
    assert n_seen >= 20
    context.close()


@pytest.mark.parametrize(("size", "percent"), [((390, 844), 100), ((320, 640), 200)])
def test_whether_it_is_saved_is_seen(
    page: Page, served: Served, size: tuple[int, int], percent: int
) -> None:
    """Wherever somebody is on a page they see it, and it lies over nothing that has the focus."""
    served.enter(page, "r03")
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.evaluate(f"document.documentElement.style.fontSize = '{percent}%'")
    page.get_by_role("radio", name="4, ").first.click()
    expect(page.locator("#saved")).to_contain_text("Saved")
    expect(page.locator("#saved")).to_be_in_viewport(ratio=1)
    for said in ("saved", "unsaved"):
        if said == "unsaved":
            page.context.set_offline(True)
            page.evaluate("scrollTo(0, 0)")
            page.get_by_role("radio", name="3, ").first.click()
            expect(page.locator("#unsaved")).to_contain_text("Not saved yet")
            expect(page.locator("#saved")).to_be_empty()
        assert page.locator("#standing").bounding_box()["height"] < size[1] / 2  # type: ignore[index]
        for _ in range(30):
            expect(page.locator(f"#{said}")).to_be_in_viewport(ratio=1)
            assert not _covered(page), page.evaluate("document.activeElement.outerHTML")
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.closest('footer') !== null"):
                break
    page.emulate_media(media="print")
    assert not page.locator("#unsaved").is_visible()
    page.context.set_offline(False)
    page.emulate_media(media="screen")
    expect(page.locator("#saved")).to_contain_text("Saved")


def test_saved_goes_away_while_a_change_waits(page: Page, served: Served) -> None:
    """From the first letter typed until it is saved, and while a choice is sent, none is seen."""
    held: list[Route] = []
    served.enter(page, "r03")
    saved, comment = page.locator("#saved"), page.get_by_label("Comment on this scenario")
    page.get_by_role("radio", name="2, ").first.check()
    expect(saved).to_contain_text("Saved")
    page.route("**/rate/*", lambda route: held.append(route))
    comment.press_sequentially("a")
    expect(saved).to_be_empty()
    _first_of(held, page).continue_()
    expect(saved).to_contain_text("Saved")
    page.get_by_role("radio", name="3, ").first.check()
    expect(saved).to_be_empty()
    comment.press_sequentially("b")
    _first_of(held, page).continue_()
    last = _first_of(held, page)
    expect(saved).to_be_empty()  # the comment is still on its way
    last.continue_()
    expect(saved).to_contain_text("Saved")


def _first_of(held: list[Route], page: Page) -> Route:
    """Wait for a request that is held back, and take it from the list."""
    while not held:
        page.wait_for_timeout(20)
    return held.pop(0)


def test_an_answer_is_taken_back(page: Page, browser: Browser, served: Served) -> None:
    """“Clear” does it by keyboard, at once and for good, and without scripts; Enter never does."""
    served.enter(page, "r06")
    clear = page.get_by_role("button", name="Clear the answer: How realistic")
    expect(clear).to_be_hidden()
    page.get_by_role("radio", name="4, ").first.press("Space")
    expect(page.locator("#saved")).to_contain_text("Saved")
    with page.expect_response(lambda answer: answer.request.method == "POST"):
        page.get_by_role("radio", name="3, ").last.press("Space")
    assert set(served.work("r06")["1/dressing-001@1"]) == {"realism", "validity"}
    page.get_by_role("radio", name="4, ").first.focus()
    page.keyboard.press("Tab")
    expect(clear).to_be_focused()
    with page.expect_response(lambda answer: answer.request.method == "POST"):
        page.keyboard.press("Enter")
    assert set(served.work("r06")["1/dressing-001@1"]) == {"validity"}
    assert page.evaluate("document.activeElement.name") == "q.realism"
    page.get_by_role("button", name="Skip for now").click()  # its form says nothing of the question
    page.goto(f"{served.address}/rate/1")
    assert page.locator("[name='q.realism']:checked").count() == 0
    with page.expect_navigation():
        page.get_by_role("radio", name="3, ").last.press("Enter")
    assert "missing=1" in page.url
    context = browser.new_context(java_script_enabled=False)
    other = context.new_page()
    served.enter(other, "r06")
    other.get_by_role("radio", name="happens just like this").check()
    other.get_by_label("Comment on this scenario").fill("kept")
    other.get_by_role("button", name="Clear the answer: How well").click()
    assert other.locator("[name='q.validity']:checked").count() == 0
    expect(other.get_by_label("Comment on this scenario")).to_have_value("kept")
    context.close()
    answers = served.work("r06")["1/dressing-001@1"]
    assert {name: each.value for name, each in answers.items()} == {
        "realism": "5",
        "comment": "kept",
    }


def test_nothing_is_lost_offline(page: Page, served: Served) -> None:
    """Without a connection the page says so, and saves once there is one: also after a reload."""
    served.enter(page, "r04")
    page.context.set_offline(True)
    page.get_by_role("radio", name="5, extremely realistic: happens just like this").check()
    expect(page.locator("#unsaved")).to_contain_text("It is kept in this browser")
    page.context.set_offline(False)
    expect(page.locator("#saved")).to_contain_text("Saved")
    expect(page.locator("#unsaved")).to_be_hidden()
    page.context.set_offline(True)
    page.get_by_label("Comment on this scenario").fill("typed offline")
    expect(page.locator("#unsaved")).to_contain_text("It is kept in this browser")
    page.close()  # with what it could not send
    page.context.set_offline(False)
    again = page.context.new_page()
    again.goto(f"{served.address}/rate/1")
    expect(again.get_by_label("Comment on this scenario")).to_have_value("typed offline")
    assert served.work("r04")["1/dressing-001@1"]["realism"].value == "5"


def test_two_windows(page: Page, served: Served) -> None:
    """The window that saves later is told at once what the other had chosen."""
    served.enter(page, "r05")
    other = page.context.new_page()
    other.goto(page.url)
    other.get_by_role("radio", name="5, extremely realistic: happens just like this").check()
    expect(other.locator("#saved")).to_contain_text("Saved")
    page.get_by_role("radio", name="1, not at all realistic: could not happen like this").check()
    expect(page.locator("#notices")).to_contain_text("In another window you changed realism to “5")
    assert served.work("r05")["1/dressing-001@1"]["realism"].value == "1"


def test_it_asks_nothing_of_others(page: Page, served: Served) -> None:
    """Every request of a rater's browser goes to the study's own address."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    served.enter(page, "r06")
    assert len(asked) > 5
    assert all(url.startswith(f"{served.address}/") for url in asked)
